"""Planar beams in absolute nodal coordinates: force is the gradient of the energy, the tangent that of the force."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from test_derivatives import check_matrix

import index3 as ix
from index3.bodies.ancf_cholesky import from_nodal
from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

CASES = [
    {"coordinates": "cholesky", "damping": (0.2, 0.3)},
    {"law": "continuum"},
    {"law": "continuum", "plane": "stress", "damping": (0.3, 0.2)},
    {"law": "elastic-line"},
    {"law": "elastic-line", "damping": 0.1},
]


def disturb(beam, rng):
    """Move the nodal coordinates of a beam at random."""
    away = 0.1 * rng.normal(size=beam.size)
    beam.q0[:] += away if beam.factor is None else from_nodal(beam.factor, away.reshape(-1, 2))


def deformed(settings, seed=4):
    """A curved beam far from its undeformed shape, with a torque and a force on two of its markers."""
    rng = np.random.default_rng(seed)
    model = ix.Model("deformed", gravity=(0.4, -2.0, 0.0))
    beam = model.add(zoo.make_beam("beam", rng, **settings))
    disturb(beam, rng)
    model.add(ix.Torque("torque", beam.marker(0.3, 0.05, frame="tangent"), (0, 0, 1.5)))
    model.add(ix.Torque("other", beam.marker(0.0), (0, 0, -0.7)))
    model.add(ix.Force("force", beam.marker(1.1, -0.05), (1.0, 2.0, 0), follower=True))
    return zoo.random_state(compile_model(model), seed=7)


@pytest.mark.jit_off
@pytest.mark.parametrize("settings", CASES, ids=str)
def test_tangent_is_the_derivative_of_the_forces(settings):
    """S3-04: with damping and torques, also by velocities."""
    check_matrix(deformed(settings))


@pytest.mark.parametrize("settings", CASES, ids=str)
def test_force_is_the_gradient_of_the_energy(settings):
    """S3-04, S3-09: elastic forces and weight; S3-33: nothing else depends on the velocity where nothing is damped."""
    rng = np.random.default_rng(2)
    model = ix.Model("alone", gravity=(0.4, -2.0, 0.0))
    beam = model.add(zoo.make_beam("beam", rng, **settings))
    disturb(beam, rng)
    state = zoo.random_state(compile_model(model), seed=7)
    v = state[s.V].copy()
    assert state.run(evaluate.forces, evaluate.energy) == 0
    moving, power = state[s.G].copy(), state[s.ENERGY][s.POWER]
    state[s.V][:] = 0.0
    assert state.run(evaluate.forces) == 0
    still = state[s.G].copy()
    for d in np.eye(beam.size):
        slope = zoo.difference(state, s.ENERGY, (evaluate.forces, evaluate.energy), "q", d)[s.POTENTIAL]
        assert still @ d == pytest.approx(slope, abs=1e-7 * max(1.0, np.abs(still).max()))  # differences of 1e-6
    if beam.conservative:
        np.testing.assert_array_equal(moving, still)
    # what is not elastic takes out energy at the rate that the power says
    assert -(moving - still) @ v == pytest.approx(power, rel=1e-12, abs=1e-12)
    assert power < 0.0 or beam.conservative


def test_shear_of_the_elastic_line_has_the_factor_of_a_rectangle():
    """S3-05: a straight beam whose sections lean by a small angle holds 1/2 (5/6) G A angle^2 per length."""
    model = ix.Model("leaning", gravity=(0, 0, 0))
    size = {"height": 0.1, "width": 0.2, "young": 2e7, "poisson": 0.25, "density": 1000.0}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1.5, 0), elements=3, law="elastic-line", **size))
    angle, nodes = 1e-3, beam.q0.reshape(-1, 6)  # of each: place, r_x, r_y
    nodes[:, 4:] = -np.sin(angle), np.cos(angle)
    state = State(compile_model(model))
    assert state.run(evaluate.forces, evaluate.energy) == 0
    modulus = 2e7 / (2.0 * 1.25)
    held = 0.5 * 5.0 / 6.0 * modulus * 0.1 * 0.2 * np.sin(angle) ** 2 * 1.5
    assert state[s.ENERGY][s.POTENTIAL] == pytest.approx(held, rel=1e-9)
