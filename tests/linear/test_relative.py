"""Relative coordinates beside absolute ones: the same poses, rates, accelerations and motions."""

from __future__ import annotations

import numpy as np
import pytest
from relative import Relative, cartesian, joint_values, random_links
from scipy.integrate import solve_ivp

import index3 as ix

TREES = {"chain": (-1, 0, 1, 2, 3, 4), "branches": (-1, 0, 0, 1, 1, 2)}


@pytest.fixture(scope="module", params=TREES)
def tree(request):
    """Links, joint coordinates and rates, and the same mechanism in absolute coordinates."""
    links = random_links(TREES[request.param], 3)
    rng = np.random.default_rng(1)
    size = sum(len(link.kind.split()) for link in links)
    q, v = rng.uniform(-1, 1, size), rng.uniform(-1, 1, size)
    return links, q, v, cartesian(links, q, v)


def test_poses_and_rates_are_those_of_absolute_coordinates(tree):
    """S4-08: joints of a run give the poses and rates of all bodies by the recursion, to 1e-12."""
    links, q, _, model = tree
    result = ix.simulate(model, (0.0, 0.4), "dop853", rtol=1e-9, t_eval=0.1)
    for k in range(len(result.t)):
        state = Relative(links, *joint_values(result, links, q, k))
        for j, link in enumerate(links):
            body, frame, rho = result[link.name], state.velocity(j), state.centre(j)
            scale = 1.0 + np.abs(body.position[k]).max() + np.abs(body.velocity[k]).max()
            assert np.abs(state.r[j] + rho - body.position[k]).max() < 1e-12 * scale
            assert np.abs(state.A[j] - body.rotation[k]).max() < 1e-12 * scale
            assert np.abs(frame[3:] - body.angular_velocity[k]).max() < 1e-12 * scale
            assert np.abs(frame[:3] + np.cross(frame[3:], rho) - body.velocity[k]).max() < 1e-12 * scale


def test_accelerations_by_the_recursion(tree):
    """S4-09, S4-10: Y, B, D, T and R of (3.131)-(3.136) and the bias terms: accelerations with all joints moving.

    Those of the run solve the augmented system of absolute coordinates.
    """
    links, q, v, model = tree
    result = ix.simulate(model, (0.0, 1e-3), "dop853", t_eval=[0.0])
    state = Relative(links, q, v)
    a = state.accelerations()
    for j, link in enumerate(links):
        frame, rho, w = state.body_acceleration(j, a), state.centre(j), state.Y[j][3:]
        centre = frame[:3] + np.cross(frame[3:], rho) + np.cross(w, np.cross(w, rho))
        body = result[link.name]
        scale = 1.0 + np.abs(body.acceleration[0]).max() + np.abs(body.angular_acceleration[0]).max()
        assert np.abs(centre - body.acceleration[0]).max() < 1e-12 * scale
        assert np.abs(frame[3:] - body.angular_acceleration[0]).max() < 1e-12 * scale


def test_rates_of_the_recursion_are_derivatives(tree):
    """S4-09: D is dB/dt times the rates, and rates are those of the poses, by central differences."""
    links, q, v, _ = tree
    h = 1e-6
    before, now, after = (Relative(links, q + x * h * v, v) for x in (-1, 0, 1))
    for j in range(len(links)):
        ends = np.concatenate([[0], np.cumsum([B.shape[1] for B in now.B])])
        own = v[ends[j] : ends[j + 1]]
        assert np.abs((after.B[j] - before.B[j]) @ own / (2 * h) - now.D[j]).max() < 1e-8  # rounding 1e-16 / h
        assert np.abs((after.r[j] - before.r[j]) / (2 * h) - now.velocity(j)[:3]).max() < 1e-8


def test_one_model_in_two_kinds_of_coordinates_moves_alike(tree):
    """S4-12: 0.5 s by relative coordinates, integrated by SciPy, and by absolute ones."""
    links, q, v, model = tree
    size = len(q)

    def rates(t, y):
        return np.concatenate([y[size:], Relative(links, y[:size], y[size:]).accelerations()])

    found = solve_ivp(rates, (0.0, 0.5), np.concatenate([q, v]), "DOP853", rtol=1e-9, atol=1e-10).y[:, -1]
    result = ix.simulate(model, (0.0, 0.5), "dop853", rtol=1e-10, atol=1e-12, t_eval=[0.5])
    coordinates, speeds = joint_values(result, links, q, 0)
    print(np.abs(found[:size] - coordinates).max(), np.abs(found[size:] - speeds).max())
    assert np.abs(found[:size] - coordinates).max() < 1e-7  # 100 rtol
    assert np.abs(found[size:] - speeds).max() < 1e-6
    assert np.abs(coordinates - q).max() > 0.3  # it moves
