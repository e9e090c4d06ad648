"""Rotation vectors against SciPy, and their derivatives against differences."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from index3.algebra.rotation_vectors import (
    SMALL,
    log_apply,
    log_change,
    log_coefficients,
    log_matrix,
    rotation_vector,
)

RNG = np.random.default_rng(3)
ANGLES = [0.0, 1e-9, 1e-4, 0.9e-3, 1.1e-3, 0.1, SMALL**0.5 - 1e-3, SMALL**0.5 + 1e-3, 1.0, 2.0, 2.99]
STEP = 1e-6


def vector(angle):
    x = RNG.normal(size=3)
    return angle * x / np.linalg.norm(x)


def as_matrix(nine):
    return np.reshape(nine, (3, 3))


@pytest.mark.parametrize("angle", ANGLES)
def test_back_from_the_matrix(angle):
    phi = vector(angle)
    found, theta = rotation_vector(tuple(Rotation.from_rotvec(phi).as_matrix().ravel()))
    # rounding of the matrix, magnified by theta / sin(theta) = 20 at 3 rad
    assert np.allclose(found, phi, rtol=0, atol=1e-14)
    assert theta == pytest.approx(angle, abs=1e-14)


def test_half_a_turn_has_an_angle_but_no_vector():
    assert rotation_vector((1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)) == ((0.0, 0.0, 0.0), np.pi)


@pytest.mark.parametrize("angle", ANGLES)
def test_rate(angle):
    """phi' = S(phi) w, by turning a little with w."""
    phi, w = vector(angle), RNG.normal(size=3)
    R = Rotation.from_rotvec(phi)
    ends = [(Rotation.from_rotvec(sign * STEP * w) * R).as_rotvec() for sign in (1, -1)]
    c, _ = log_coefficients(phi)
    # central differences with step 1e-6: rounding eps / h = 1e-10, magnified near 3 rad, truncation h^2 times 100
    assert np.allclose(log_apply(phi, w, -0.5, c), (ends[0] - ends[1]) / (2 * STEP), rtol=0, atol=1e-8)
    S = as_matrix(log_matrix(phi, c))
    assert np.allclose(S @ w, log_apply(phi, w, -0.5, c), rtol=1e-14, atol=1e-14)  # rounding
    assert np.allclose(S.T @ w, log_apply(phi, w, 0.5, c), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("half", [-0.5, 0.5])
@pytest.mark.parametrize("angle", ANGLES)
def test_change(angle, half):
    phi, x = vector(angle), RNG.normal(size=3)
    numeric = np.zeros((3, 3))
    for k, step in enumerate(STEP * np.eye(3)):
        ends = [np.array(log_apply(at, x, half, log_coefficients(at)[0])) for at in (phi + step, phi - step)]
        numeric[:, k] = (ends[0] - ends[1]) / (2 * STEP)
    # central differences with step 1e-6: rounding eps / h = 1e-10, truncation h^2 times third derivatives up to 1000
    assert np.allclose(as_matrix(log_change(phi, x, half, *log_coefficients(phi))), numeric, rtol=0, atol=2e-9)


def test_series_and_closed_forms_agree():
    below, above = (log_coefficients((0.0, np.sqrt(SMALL * (1 + d)), 0.0)) for d in (-1e-9, 1e-9))
    assert below == pytest.approx(above, rel=1e-10)  # 1e-9 apart, and rounding
