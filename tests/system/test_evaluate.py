"""The evaluator does no more than is asked for: accelerations need neither rates of rows nor changes of Jacobians."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.library import chain, four_bar, slider_crank
from index3.linear import contract
from index3.methods import projection_kernels
from index3.system import evaluate
from index3.system.state import State

pytestmark = pytest.mark.jit_off


@pytest.fixture(params=[lambda: chain(3), four_bar, slider_crank], ids=["chain", "four-bar", "slider-crank"])
def state(request) -> State:
    """A moving state, forces evaluated."""
    equations = Equations(request.param(), "test")
    equations.close(0.0)
    system, state = equations.system, equations.state
    state.move(0.0, state[s.Q].copy(), state[s.V] + 0.1 * np.sin(np.arange(system.n)))
    assert state.run(evaluate.forces) == 0
    return state


def test_gradients_are_those_of_the_jacobian(state: State) -> None:
    assert state.run(evaluate.jacobian) == 0
    expected, change = state[s.PHI_Q].copy(), state[s.MARKER_NV].copy()
    assert np.any(change)
    state[s.PHI_Q][:], state[s.MARKER_NV][:] = np.nan, 0.0
    assert state.run(evaluate.gradients) == 0
    assert np.array_equal(state[s.PHI_Q], expected)
    assert not np.any(state[s.MARKER_NV])  # left out
    assert state.run(evaluate.jacobian) == 0
    assert np.array_equal(state[s.MARKER_NV], change)  # asked for again


def test_gamma_is_that_of_the_levels(state: State) -> None:
    assert state.run(evaluate.jacobian, evaluate.levels) == 0
    expected, rate = state[s.GAMMA].copy(), state[s.RATE].copy()
    assert np.any(rate)
    state[s.GAMMA][:], state[s.RATE][:] = np.nan, 7.0
    assert state.run(evaluate.gamma) == 0
    assert np.array_equal(state[s.GAMMA], expected)
    assert np.all(state[s.RATE] == 7.0)
    assert state.run(evaluate.rates) == 0
    assert np.array_equal(state[s.RATE], rate)


def test_rows_alone_cost_no_forces(state: State) -> None:
    """Bodies fill their own rows where they gather forces, and leave these out where rows alone are wanted."""
    expected = state[s.PHI].copy(), state[s.PHI_SCALE].copy()
    state[s.G][:], state[s.PHI][:], state[s.PHI_SCALE][:] = 7.0, np.nan, np.nan
    assert state.run(evaluate.rows) == 0
    assert np.array_equal(state[s.PHI], expected[0])
    assert np.array_equal(state[s.PHI_SCALE], expected[1])
    assert np.all(state[s.G] == 7.0)
    assert state.run(evaluate.forces) == 0
    assert np.any(state[s.G] != 7.0)  # asked for again


def test_rows_alone_cost_no_elastic_forces() -> None:
    model = ix.Model("beam")
    material = {"width": 0.02, "height": 0.02, "young": 1e7, "density": 1000.0, "poisson": 0.3}
    model.add(ix.AncfBeam3D("beam", (0, 0, 0), (0.5, 0, 0), elements=1, **material))
    equations = Equations(model, "test")
    equations.close(0.0)
    equations.state[s.G][:] = 7.0
    assert equations.state.run(evaluate.rows) == 0
    assert np.all(equations.state[s.G] == 7.0)


def test_work_of_an_acceleration() -> None:
    """One factorisation and one solution; Baumgarte's terms ask for the rates that accelerations leave out."""
    equations = Equations(chain(3), "test")
    equations.close(0.0)
    before = equations.projection.factors[contract.INFO][contract.N_FACTOR]
    equations.state[s.RATE][:] = 7.0
    assert projection_kernels.assemble_accelerations(equations.state.handle, equations.projection.handle) == 0
    assert equations.projection.factors[contract.INFO][contract.N_FACTOR] == before + 1
    loose = ix.simulate(chain(3), (0.0, 0.5), "dopri5", stabilization="baumgarte", rtol=1e-6, progress=False)
    tight = ix.simulate(chain(3), (0.0, 0.5), "dopri5", rtol=1e-9, progress=False)
    assert loose.q[-1] == pytest.approx(tight.q[-1], abs=1e-4)  # rtol 1e-6 over some thirty steps, and slow decay


def test_work_of_an_acceleration_with_friction() -> None:
    """Three factorisations: masses, with what friction adds, masses again; five if each correction took one."""
    model = chain(3)
    for name in list(model.joints):
        model.add(ix.JointFriction(f"rub {name}", model.joints[name], 0.3, radius=0.05, stick_velocity=0.01))
    equations = Equations(model, "test")
    equations.close(0.0)
    state, projection = equations.state, equations.projection
    state.move(0.0, state[s.Q].copy(), state[s.V] + 3.0 * np.sin(np.arange(equations.system.n)))
    assert projection_kernels.assemble_velocities(state.handle, projection.handle) == 0
    before = int(projection.factors[contract.INFO][contract.N_FACTOR])
    assert projection_kernels.assemble_accelerations(state.handle, projection.handle) == 0
    assert projection.factors[contract.INFO][contract.N_FACTOR] == before + 3


def velocity_rows() -> ix.Model:
    """Rows of velocities of every kind, at bodies of several kinds, one at a support that moves."""
    model = ix.Model("rows of velocities")
    skate = model.add(ix.RigidBody("skate", 1.0, (1, 2, 3), position=(0.1, 0.2, 0.3)))
    other = model.add(ix.EulerAngleBody("other", 1.0, (1, 2, 3), position=(1.0, 0.5, 0.3)))
    model.add(ix.KnifeEdge("edge", skate, other, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(
        ix.RelativeAngularVelocity("spin", skate, other, lambda t: 2.0 + t, lambda t: 1.0, axis=(1, 0, 1), at=(0, 0, 0))
    )
    ball = model.add(ix.RigidBody("ball", 1.0, (1, 1, 1), position=(3.0, 0.0, 0.5)))
    model.add(ix.RollingBall("rolling", model.ground, ball, at=(3, 0, 0), normal=(0, 0, 1), radius=0.5))
    path = (lambda t: (t, 0, 0), lambda t: (1, 0, 0), lambda t: (0, 0, 0))

    def follow(t, r, A, v, w, p, out):
        out[0] = (v[1, 0] - v[0, 0]) * (1.0 + r[1, 1] ** 2) + w[1] @ A[1, :, 2] + 0.3

    ends = [model.ground.moving_marker(path=path), other.marker()]
    model.add(ix.UserConstraint("own", ends, follow, rows=1, level=1, jacobian="differences"))
    return model


def test_rates_of_velocity_rows_follow_from_one_evaluation() -> None:
    """They are affine in v: RATE at another v, without evaluating rows there, is what they say there."""
    equations = Equations(velocity_rows(), "test")
    state, direct = equations.state, equations.system.level == 1
    assert np.count_nonzero(direct) >= 5
    start = state[s.Q].copy()
    state.move(0.3, start, np.cos(np.arange(equations.system.n)))
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    v = np.sin(np.arange(equations.system.n))
    state[s.V][:] = v
    assert state.run(evaluate.rates) == 0
    rate = state[s.RATE].copy()
    state.move(0.3, start, v)
    assert state.run(evaluate.forces) == 0
    assert rate[direct] == pytest.approx(state[s.PHI][direct], abs=1e-12)  # sums of terms of size 10
    assert np.all(np.abs(rate[direct]) > 1e-3)
