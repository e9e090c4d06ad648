"""Mechanisms whose motion is known in closed form: the pendulum of the library, the mass-spring system."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import index3 as ix


def swing(t, length, gravity=9.80665):
    """Angle below the horizontal of a uniform rod released from the horizontal at rest (Jacobi elliptic functions)."""
    k = np.sin(np.pi / 4)  # amplitude of 90 degrees about the vertical
    rate = np.sqrt(1.5 * gravity / length)
    sn = ellipj(ellipk(k**2) - rate * np.asarray(t), k**2)[0]
    return np.pi / 2 - 2 * np.arcsin(k * sn)


def test_pendulum():
    t = np.linspace(0.0, 3.0, 31)
    result = ix.simulate(ix.library.pendulum(length=0.7, mass=2.0), (0.0, 3.0), rtol=1e-9, atol=1e-11, t_eval=t)
    assert result.success, result.message
    assert np.max(np.abs(result["pivot"].angle - swing(t, 0.7))) < 4e-5  # 1.3e-5 seen; goes with rtol^(2/3)


def test_pendulum_reaction_at_release():
    result = ix.simulate(ix.library.pendulum(length=0.7, mass=2.0), (0.0, 0.1), rtol=1e-6)
    # Released from the horizontal, a rod falls with 3/4 g at its centre, so the pivot carries a quarter of the weight.
    assert np.allclose(
        result["pivot"].force[0], (0.0, 0.0, 0.25 * 2.0 * 9.80665), rtol=0.0, atol=1e-9
    )  # one linear solve, in N


def test_mass_spring():
    t = np.linspace(0.0, 0.02, 21)
    result = ix.simulate(ix.library.mass_spring(), (0.0, 0.02), rtol=1e-6, atol=1e-10, t_eval=t)
    assert result.success, result.message
    for name in ("mass1", "mass2", "mass3"):
        assert np.max(np.abs(result[name].position[:, 0] - 0.01 * np.cos(1e3 * t))) < 7e-5  # 2.2e-5 seen
        assert result[name].velocity[0] == pytest.approx(np.zeros(3), abs=1e-12)  # released at rest


def test_mass_spring_stiff_springs_are_damped_not_followed():
    model = ix.library.mass_spring(k=(1e6, 1e8, 1e12))
    result = ix.simulate(model, (0.0, 0.002), "hht-i3", step=1e-5, t_eval=1e-4)
    assert result.success, result.message
    first, _, third = (result[f"mass{i}"].position[:, 0] for i in (1, 2, 3))
    # omega h = 0.01: the period is wrong by about (omega h)^2 / 10 in 2 rad; 2.3e-7 m seen.
    assert np.max(np.abs(first - 0.01 * np.cos(1e3 * result.t))) < 1e-6
    # omega h = 10: every step takes away almost half, so nothing but rounding is left after 200 steps.
    assert np.abs(third[-1]) < 1e-14


def test_a_dumbbell_in_orbit_librates():
    """Two masses 100 m apart, 7000 km from the centre: pitch cos(sqrt(3) n t) about the local vertical.

    Rows between points far from the origin must close to what the rounding of their coordinates allows, not further.
    """
    mu, radius, length, pitch = 3.986e14, 7e6, 100.0, 0.002
    rate = np.sqrt(mu / radius**3)
    model = ix.Model("dumbbell", gravity=(0, 0, 0))
    half = 0.5 * length * np.array((np.cos(pitch), np.sin(pitch), 0.0))
    ends = [np.array((radius, 0.0, 0.0)) + side * half for side in (1.0, -1.0)]
    masses = [
        model.add(ix.PointMass(name, 50.0, position=at, velocity=np.cross((0, 0, rate), at)))
        for name, at in zip("AB", ends, strict=True)
    ]
    model.add(ix.Distance("bar", *masses, points=ends))
    for pull in ix.PointGravity.field("earth", masses, (0, 0, 0), mu=mu):
        model.add(pull)
    t = np.linspace(0.0, 2.0 * np.pi / rate, 51)
    result = ix.simulate(model, (0.0, t[-1]), rtol=1e-9, t_eval=t, max_steps=1000)
    assert result.success, result.message
    assert result.method == "dop853"
    line, up = (result["A"].position + s * result["B"].position for s in (-1.0, 1.0))
    found = np.unwrap(np.arctan2(line[:, 1], line[:, 0]) - np.arctan2(up[:, 1], up[:, 0]))
    assert np.abs(found - pitch * np.cos(np.sqrt(3.0) * rate * t)).max() < 1e-6  # 2e-8: amplitude; 1e-11: rounding
