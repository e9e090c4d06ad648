"""Lines of output are closed as the longer way closes them, with no more factorisations than they need."""

from itertools import pairwise

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.engine.equations import Equations
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
    """The lines closed as output is, and how many matrices were factored to place and to complete them."""
    projection = equations.projection
    output = Output(projection.sizes, LINES)
    output.add(lines)
    before = [counted(table) for table in (projection.table, projection.completion.table)]
    good, error = projection.project_lines(output, 0, LINES, project=True)
    assert (good, error) == (LINES, None)
    after = [counted(table) for table in (projection.table, projection.completion.table)]
    return output.arrays, [y - x for x, y in zip(before, after, strict=True)]


def counted(table):
    """Matrices that were factored for lines of output."""
    return int(table[projection_kernels.REPORT][projection_kernels.N_LINE_FACTOR])


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


PLAIN = ["chain", "andrews", "slider_crank"]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-5])
def test_a_line_costs_one_acceleration_solve(name, off):
    equations = Equations(MODELS[name](), "simulate")
    assert closed(equations, raw_lines(equations, off))[1][1] == LINES


@pytest.mark.parametrize("name", PLAIN)
def test_lines_that_are_closed_are_not_closed_again(name):
    equations = Equations(MODELS[name](), "simulate")
    lines = raw_lines(equations, 0.0)
    arrays, (placing, _) = closed(equations, lines)
    assert placing == 0
    assert np.array_equal(arrays["q"], lines["q"])
    assert np.array_equal(arrays["v"], lines["v"])


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("off", [1e-9, 1e-7])
def test_lines_of_a_run_share_a_factorisation(name, off):
    equations = Equations(MODELS[name](), "simulate")
    output = Output(equations.projection.sizes, LINES)
    output.add(raw_lines(equations, off))
    before = counted(equations.projection.table)
    assert equations.projection.place_lines(output, 0, LINES, True) == (LINES, None)
    assert counted(equations.projection.table) == before + 1


@pytest.mark.parametrize("name", PLAIN)
def test_other_lines_are_closed_as_if_there_were_no_others(name):
    """3: at the line, and twice on the way. The last line is the first one again."""
    equations = Equations(MODELS[name](), "simulate")
    lines = raw_lines(equations, 1e-2)
    lines["q"][-1], lines["v"][-1] = lines["q"][0], lines["v"][0]
    arrays, (placing, _) = closed(equations, lines)
    assert LINES <= placing <= 3 * LINES
    assert np.array_equal(arrays["q"][-1], arrays["q"][0])
    assert np.array_equal(arrays["v"][-1], arrays["v"][0])


def test_blocks_do_not_matter():
    """The factors that a line is closed with are those that the line before has left, in whatever block it came."""
    lines, found = None, []
    for block in (LINES, 2, 1):
        equations = Equations(MODELS["andrews"](), "simulate")
        lines = raw_lines(equations, 1e-4) if lines is None else lines
        equations.close(0.0)
        output = Output(equations.projection.sizes, LINES)
        output.add(lines)
        equations.projection.table[projection_kernels.REPORT][projection_kernels.KEPT] = 0
        for first in range(0, LINES, block):
            end = min(first + block, LINES)
            assert equations.projection.place_lines(output, first, end, True) == (end, None)
        found.append(output.arrays)
    for other in found[1:]:
        assert np.array_equal(found[0]["q"], other["q"])
        assert np.array_equal(found[0]["v"], other["v"])


def test_velocities_that_are_no_numbers_do_not_keep_a_line():
    """With directions of the line before, which shrink nothing, closing them went on for ever."""
    equations = Equations(MODELS["slider_crank"](), "simulate")
    output = Output(equations.projection.sizes, LINES)
    output.add(raw_lines(equations, 1e-7))
    output.arrays["v"][1] = np.nan
    assert equations.projection.place_lines(output, 0, LINES, True) == (LINES, None)
    assert np.isnan(output.arrays["v"][1]).any()
    assert np.isfinite(np.delete(output.arrays["v"], 1, axis=0)).all()


WRITTEN = ("t", "q", "v", "a", "lam", "angle", "work")


@pytest.mark.parametrize(("name", "end"), [("slider_crank", 1.0), ("chain", 1.0), ("andrews", 0.05)])
def test_lines_of_a_coarse_run_do_not_depend_on_each_other(name, end):
    """1 % of the largest closing; Andrews has 0.5 %, others nothing. With a first step along directions that are then
    given up the slider-crank had a quarter of it, the chain 7 %.
    """
    model, times = MODELS[name](), np.linspace(0, end, 31)
    raw = ix.simulate(model, (0, end), "hht-i3", rtol=1e-3, t_eval=times, project=False, progress=False)
    equations = Equations(model, "simulate")
    equations.assemble()
    found = []
    for stops in (range(len(times) + 1), (0, len(times))):
        output = Output(equations.projection.sizes, len(times))
        output.add({column: raw.arrays[column] for column in WRITTEN})
        for first, end_ in pairwise(stops):
            equations.projection.forget_directions()
            assert equations.projection.place_lines(output, first, end_, True) == (end_, None)
        found.append({x: output.arrays[x].copy() for x in "qv"})
    for x in "qv":
        moved = np.abs(found[0][x] - getattr(raw, x)).max()
        assert np.abs(found[1][x] - found[0][x]).max() < 0.01 * moved
