"""Lines of output are closed with one factorisation each, and as the longer way closes them."""

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.linear import contract
from index3.methods import projection_kernels
from index3.methods.output import Output

LINES = 5
MODELS = {
    "chain": lambda: ix.library.chain(4, springs=True),
    "andrews": ix.library.andrews,
    "slider_crank": ix.library.slider_crank,
    "redundant": ix.library.four_bar,
}


def raw_lines(equations, off):
    """Lines near the start of a model, off the constraints by about `off`."""
    equations.close(0.0)
    state, random = equations.state, np.random.default_rng(0)
    system, angles = equations.system, len(state[s.ANGLE_REF])
    q = state[s.Q] + off * random.normal(size=(LINES, system.n))
    v = state[s.V] + off * random.normal(size=(LINES, system.n))
    angle = np.tile(state[s.ANGLE_REF], (LINES, 1)) if angles else np.zeros((LINES, 0))
    empty = {"a": np.zeros((LINES, system.n)), "lam": np.zeros((LINES, system.m)), "work": 0.0}
    return {"t": np.zeros(LINES), "q": q, "v": v, "angle": angle, **empty}


def closed(equations, lines):
    """The lines closed as output is, and how many matrices were factored for them."""
    output = Output(equations.projection.sizes, LINES)
    output.add(lines)
    before = equations.projection.factors[contract.INFO][contract.N_FACTOR]
    good, error = equations.projection.close_lines(output, 0, LINES, project=True)
    assert (good, error) == (LINES, None)
    return output.arrays, equations.projection.factors[contract.INFO][contract.N_FACTOR] - before


def the_longer_way(equations, lines, k):
    """(q, v, a, lam) of one line, closed by Newton's iteration and a factorisation at the closed point."""
    state = equations.state
    state.move(0.0, lines["q"][k], lines["v"][k])
    equations.project(projection_kernels.assemble_positions, projection_kernels.assemble_accelerations)
    return [state[slot].copy() for slot in (s.Q, s.V, s.A, s.LAM)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("off", [1e-7, 1e-3])
def test_lines_are_closed_as_by_the_longer_way(name, off):
    equations = Equations(MODELS[name](), "simulate")
    lines = raw_lines(equations, off)
    arrays, _ = closed(equations, lines)
    assert arrays["violation_scaled"].max() < 1e-11  # positions to 1e-12, Andrews' rates are some hundreds
    for k in range(LINES):
        for name_, expected in zip(("q", "v", "a", "lam"), the_longer_way(equations, lines, k), strict=True):
            # directions of a point `off` away move what is corrected, about `off`, by its square along the constraints,
            # times curvatures and rates: 2.3e3 for Andrews' links of 0.02 m that turn with some hundreds of rad/s;
            # 1e-10: both are closed to 1e-12 m only, which Andrews' links of 0.02 m and stiff spring amplify
            apart = np.abs(arrays[name_][k] - expected).max() / max(1.0, np.abs(expected).max())
            assert apart < 1e-10 + 5e3 * off**2


@pytest.mark.parametrize("name", ["chain", "andrews", "slider_crank"])
@pytest.mark.parametrize("off", [0.0, 1e-9])
def test_a_line_costs_one_factorisation(name, off):
    equations = Equations(MODELS[name](), "simulate")
    assert closed(equations, raw_lines(equations, off))[1] == LINES


@pytest.mark.parametrize("name", ["chain", "andrews", "slider_crank"])
@pytest.mark.parametrize("off", [1e-7, 1e-5])
def test_a_line_far_off_costs_at_most_one_factorisation_more(name, off):
    """Where the matrix of the point off the constraints does not serve the accelerations at the closed one."""
    equations = Equations(MODELS[name](), "simulate")
    assert closed(equations, raw_lines(equations, off))[1] <= 2 * LINES
