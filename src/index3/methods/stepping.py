"""The step loop of every method: open output is written, a step is tried, until there is a reason to return.

A method is a kernel `attempt(T, E)` that tries one step, of size H_TRIED to T_TRIED: it accepts its end (`run.accept`)
or not (`run.retry`), and sets the size that the next one should have. It returns OK in both cases, else the reason to
stop.
"""

from __future__ import annotations

from index3.compiled.interface import OK, call, helper, kernel, view
from index3.methods import lines, run, switches

HELD, FREE = 0.7, 8.0
"""Part of a step that failed which is tried next at most, and growth per step that hinders no method."""
SOON, MOST_OFTEN = 10, 6
"""Accepted steps within which another failure counts as the same trouble; failures after which growth is slowest."""


@helper
def next_time(R):
    """End and size of the next step: constant steps by multiplication, the last step to the end."""
    clock = view(R, run.CLOCK)
    t, end = clock[run.T_NEW], clock[run.T_END]
    if clock[run.STEP] > 0.0:
        later = clock[run.T_START] + (view(R, run.COUNTS)[run.N_STEPS] + 1) * clock[run.STEP]
        if later >= end - 1e-10 * clock[run.STEP]:
            return end, end - t
        return later, clock[run.STEP] if later + clock[run.STEP] < end else later - t
    h = min(clock[run.H_NEXT], clock[run.MAX_STEP])
    if clock[run.H_WORK] > 0.0:
        h = min(h, clock[run.H_WORK])
    left = end - t
    if h >= left * (1.0 - 1e-10):
        return end, left
    if h > 0.5 * left:
        h = 0.5 * left
    return t + h, h


@helper
def too_small(R, t, h):
    """Whether a step is lost in the rounding of the time reached, or near time zero is nothing beside the span."""
    clock = view(R, run.CLOCK)
    return h <= max(4e-16 * abs(t), 1e-30 * (clock[run.T_END] - clock[run.T_START]))


@helper
def may_go_on(R, budget):
    """A reason to return from `advance` although there is room for output, or GO_ON."""
    clock, counts, limits = view(R, run.CLOCK), view(R, run.COUNTS), view(R, run.LIMITS)
    if clock[run.T_NEW] >= clock[run.T_END]:
        return run.DONE
    if counts[run.N_STEPS] + counts[run.N_REJECTED] >= budget or limits[run.LOOK_UP] == 1:
        return run.BUDGET
    if counts[run.N_STEPS] >= limits[run.MAX_STEPS]:
        return run.TOO_MANY_STEPS
    return run.GO_ON


@helper
def hold_back(R, steps, failed):
    """Let steps grow slowly where Newton's iteration fails again and again; `steps` and `failed` count those before.

    What an error test allows may be far more than the iteration can solve. Without a memory a method would ask for that
    after every second step, and spend most of its work on steps that fail.
    """
    clock, counts = view(R, run.CLOCK), view(R, run.COUNTS)
    if counts[run.N_STEPS] == steps:
        if counts[run.N_NEWTON_FAILED] > failed:
            if clock[run.HELD_FOR] > 0.0 and clock[run.H_TRIED] > clock[run.H_LAST]:
                clock[run.HELD_OFTEN] = min(clock[run.HELD_OFTEN] + 1.0, float(MOST_OFTEN))
            clock[run.HELD_FOR] = 0.0
            clock[run.H_HELD] = HELD * clock[run.H_TRIED]
        return
    if clock[run.H_HELD] == 0.0:
        return
    clock[run.H_HELD] *= FREE ** (0.5 ** clock[run.HELD_OFTEN])
    clock[run.HELD_FOR] += 1.0
    if clock[run.HELD_FOR] >= SOON:
        clock[run.HELD_FOR] = 0.0
        clock[run.HELD_OFTEN] -= 1.0
        if clock[run.HELD_OFTEN] < 0.0:
            clock[run.HELD_OFTEN] = 0.0
            clock[run.H_HELD] = 0.0
            return
    room = clock[run.H_HELD] if clock[run.H_HELD] >= run.KEEP * clock[run.H_TRIED] else clock[run.H_TRIED]
    clock[run.H_NEXT] = min(clock[run.H_NEXT], room)


@kernel
def advance(T, R):
    """Step until the end, a full block of output, the budget of steps, or a reason to stop."""
    clock, counts, link = view(R, run.CLOCK), view(R, run.COUNTS), view(R, run.LINK)
    budget = counts[run.N_STEPS] + counts[run.N_REJECTED] + view(R, run.LIMITS)[run.BUDGET_STEPS]
    while True:
        if lines.emit(T, R) != OK:
            return run.BLOCK_FULL
        code = may_go_on(R, budget)
        if code != run.GO_ON:
            return code
        t, h = next_time(R)
        if too_small(R, t, h):
            return run.STEP_TOO_SMALL
        clock[run.T_TRIED] = t
        clock[run.H_TRIED] = h
        steps, failed, rejected = counts[run.N_STEPS], counts[run.N_NEWTON_FAILED], counts[run.N_REJECTED]
        code = call(link[run.LINK_ATTEMPT], T, link[run.LINK_METHOD])
        if clock[run.STEP] == 0.0:
            hold_back(R, steps, failed)
        if code != OK:
            return code
        if counts[run.N_REJECTED] == rejected:
            switches.after_acceptance(R)
        else:
            switches.after_rejection(T, R)
