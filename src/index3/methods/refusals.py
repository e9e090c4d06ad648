"""Trials whose error is small enough and that are not taken all the same.

They gain or lose energy (`run.gains_too_much`), or something passed through something else between their two ends,
where no force was asked: elements tell so by the stage "passes".
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.methods import audit, run


@helper
def keep_start(T):
    """Let T's state, whose markers are placed, be the start of the next step for the stage "passes"."""
    sweep = view(T, s.SWEEP)
    if sweep.shape[0] > 0:
        sweep[s.SWEEP_H] = 0.0
        run.core(T, s.CORE_PASSES)


@helper
def part_passed(T, R):
    """The part of the step tried to try instead, because something was passed through in it; 1 if nothing was."""
    sweep = view(T, s.SWEEP)
    if sweep.shape[0] == 0:
        return 1.0
    room = 0.0
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        room = max(room, run.weight(R, k))
    sweep[s.SWEEP_H], sweep[s.SWEEP_ROOM] = view(R, run.CLOCK)[run.H_TRIED], room
    return sweep[s.SWEEP_PART] if run.core(T, s.CORE_PASSES) == OK else 1.0


@helper
def passes(T, R):
    """Whether the trial in T is to be tried again, up to where something touches that it passed through.

    What follows the trial takes it as one of that size: a force begins inside (`switches`).
    """
    clock = view(R, run.CLOCK)
    if clock[run.STEP] > 0.0:
        return False
    part = part_passed(T, R)
    if part >= 1.0:
        return False
    clock[run.H_TRIED] *= part
    view(R, run.AUDIT)[audit.FRESH] = 0.0
    view(R, run.COUNTS)[run.N_PASSED] += 1
    run.retry(R, 1.0)
    return True


@helper
def note_passes(T, R):
    """Of constant steps, which stay as they are: the first record that was passed through, and when."""
    clock, limits = view(R, run.CLOCK), view(R, run.LIMITS)
    if clock[run.STEP] > 0.0 and limits[run.PASSED] == 0 and part_passed(T, R) < 1.0:
        limits[run.PASSED] = int(view(T, s.SWEEP)[s.SWEEP_RECORD]) + 1
        clock[run.T_PASSED] = clock[run.T_TRIED]


@helper
def is_refused(T, R):
    """Whether the trial in T, where the forces were just evaluated and whose error is allowed, is to be tried again."""
    return passes(T, R) or run.gains_too_much(T, R)
