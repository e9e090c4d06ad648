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
