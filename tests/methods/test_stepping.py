"""The step loop that all methods share: each kernel of a method tries one step, of the size that the loop gives it."""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import oscillator, start_run
from own_method import Taylor

import index3 as ix
from index3.methods import run
from index3.methods.method import METHODS


@pytest.mark.parametrize("key", list(ix.METHODS))
def test_a_method_tries_one_step_at_a_time(key):
    """With a budget of one step the loop comes back after one try, accepted or not, and the clock shows what became."""
    method = ix.METHODS[key]()
    progress, table = start_run(oscillator(100.0, damping=1.0), method, first_step=0.2, span=100.0)
    clock = progress[run.CLOCK]
    for tried in range(1, 13):
        before, accepted = clock[run.T_NEW], progress.counters()["steps"]
        assert progress.advance(method.kernel, table, 1) == run.BUDGET
        counters = progress.counters()
        assert counters["steps"] + counters["rejected"] == tried
        assert clock[run.T_TRIED] == pytest.approx(before + clock[run.H_TRIED], rel=1e-15)
        if counters["steps"] > accepted:
            assert (clock[run.T_OLD], clock[run.T_NEW]) == (before, clock[run.T_TRIED])
            assert clock[run.H_LAST] == clock[run.H_TRIED]
        else:
            assert clock[run.T_NEW] == before
            assert clock[run.H_NEXT] < clock[run.H_TRIED]
    assert counters["steps"] > 0


@pytest.mark.parametrize("key", list(ix.METHODS))
def test_constant_steps_end_at_products(key):
    result = ix.simulate(oscillator(10.0), (0.0, 0.35), key, step=0.1)
    np.testing.assert_array_equal(result.t, [0.0, 0.1, 0.2, 3 * 0.1, 0.35])


@pytest.mark.parametrize("key", list(ix.METHODS))
def test_a_constant_step_that_overflows_is_not_taken(key):
    """Each stage of an explicit formula squares the speed: inf, then NaN, which no comparison with a bound sees."""
    model = ix.Model("shot")
    ball = model.add(ix.PointMass("ball", 1.0, velocity=(1e3, 0, 0)))
    model.add(ix.Drag("air", ball, coefficient=1.0, area=1.0, density=1.0))
    result = ix.simulate(model, (0.0, 100.0), key, step=100.0)
    assert np.isfinite(result.q).all()
    assert np.isfinite(result.v).all()
    if key in ("adams", "dop853"):
        assert result.status == -run.OVERFLOWED
        assert "ended in numbers that are not finite" in result.message


@pytest.mark.parametrize(("key", "most"), [("radau5", 0.2), ("descriptor-sdirk4", 0.2), ("rosenbrock4", 0.2)])
def test_steps_that_the_iteration_cannot_solve_are_not_asked_for_again_and_again(key, most):
    """A top at a loose tolerance: its error test allows many times what the iteration solves.

    With growth as free as elsewhere 0.97, 1.14 and 0.97 tries fail for each step that is taken.
    """
    stats = ix.simulate(ix.library.spinning_top(), (0.0, 2.0), key, rtol=0.1, t_eval=2.0).stats
    assert stats["newton_failed"] < most * stats["steps"]


def test_steps_grow_freely_after_a_single_failure():
    """The hold is for trouble that lasts: ten steps later nothing of it is left."""
    method = ix.METHODS["radau5"]()
    progress, table = start_run(oscillator(10.0), method, first_step=1e-6, span=100.0)
    clock = progress[run.CLOCK]
    clock[run.H_HELD] = 1e-6  # as after one failure
    for _ in range(10):
        before = clock[run.H_NEXT]
        progress.advance(method.kernel, table, 1)
        assert clock[run.H_NEXT] == pytest.approx(8.0 * before) or before > 1e-3  # all that radau5 ever allows
    assert clock[run.H_HELD] == clock[run.HELD_OFTEN] == 0.0


def test_a_step_lost_in_rounding_ends_a_run():
    method = ix.METHODS["hht-i3"]()
    progress, table = start_run(oscillator(10.0), method)
    clock = progress[run.CLOCK]
    clock[[run.T_OLD, run.T_NEW, run.T_START]] = 1e3
    clock[run.T_END], clock[run.H_NEXT] = 2e3, 1e-13
    assert progress.advance(method.kernel, table, 1) == run.STEP_TOO_SMALL
    assert progress.counters()["steps"] == progress.counters()["rejected"] == 0


def test_a_method_of_ones_own_runs_as_those_of_the_package(monkeypatch):
    """Registered from a module outside: found by its key, with output, checkpoints of the clock and projection."""
    monkeypatch.setattr(METHODS, "added", dict(METHODS.added))
    ix.register(Taylor)
    model, errors = ix.library.four_bar(), []
    exact = ix.simulate(model, (0.0, 0.2), "dop853", rtol=1e-10, t_eval=0.1)
    for step in (2e-3, 1e-3):
        result = ix.simulate(model, (0.0, 0.2), "own-taylor", step=step, t_eval=0.1)
        assert result.success, result.message
        assert result.stats["steps"] == round(0.2 / step)
        assert result.violation.position.max() < 1e-11  # projected to rounding
        errors.append(np.abs(result.q - exact.q).max())
    assert 1.7 < errors[0] / errors[1] < 2.3  # first order: v is a step of Euler's
