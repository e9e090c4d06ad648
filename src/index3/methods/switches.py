"""Where a force begins: the first change of sign in SWITCH inside a step that was not taken.

A step across the first touch of a contact fails its error test, since the force is not smooth there, and is cut down
until it ends before the touch, wherever that is. Here the time of the touch is found along the motion that the last
accepted state begins, and the next step ends there. Elements tell by the stage "switches" what changes its sign; forces
are not asked.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.methods import run

CLOSE, MOST = 1e-3, 20
"""Part of the step within which its end is found, and the most points that are looked at for that."""
LEAST = 0.05
"""Part of the step that was tried below which the switch is as good as reached: steps are left to the error test."""
NONE, AHEAD, BEHIND, SPENT, OFF = range(5)
"""Values of SWITCH in LIMITS: nothing is known; steps are to end at T_SWITCH; the last one did; it was no use, so that
the error test alone has its way until a step is taken; the method does not want it (`Method.ends_at_switches`)."""


@helper
def look(T, R, x):
    """SWITCH at a time x after the last accepted state, by its velocities and accelerations; whether it has any."""
    return run.extrapolate(T, R, x) == OK and run.core(T, s.CORE_SWITCHES) == OK


@helper
def first_change(T, R, h):
    """The number of the switch that is negative first on a step of size h, and when, by the values at both ends."""
    values, end, first, x = view(T, s.SWITCH), view(R, run.SWITCHED), -1, h
    if not look(T, R, h):
        return -1, h
    run.copy(end, values)
    if not look(T, R, 0.0):
        return -1, h
    for k in range(values.shape[0]):
        if values[k] > 0.0 and end[k] < 0.0:
            y = h * values[k] / (values[k] - end[k])
            if y < x:
                first, x = k, y
    return first, x


@helper
def time_of_switch(T, R, h):
    """How long after the last accepted state the first switch is met on a step of size h; 0 if none is."""
    number, x = first_change(T, R, h)
    if number < 0:
        return 0.0
    values = view(T, s.SWITCH)
    low, high, above, below = 0.0, h, values[number], view(R, run.SWITCHED)[number]
    for _ in range(MOST):  # false position, the value at an end that stays halved
        if not look(T, R, x):
            return 0.0
        y = values[number]
        if y > 0.0:
            low, above, below = x, y, 0.5 * below
        else:
            high, below, above = x, y, 0.5 * above
        if high - low <= CLOSE * h:
            break
        x = low + (high - low) * above / (above - below)
        x = min(max(x - 0.25 * CLOSE * h, low + 0.25 * CLOSE * h), high - 0.25 * CLOSE * h)
    return low


@helper
def after_rejection(T, R):
    """After a step that was not taken: let the next ones end where a force begins inside it, if one does."""
    clock, limits = view(R, run.CLOCK), view(R, run.LIMITS)
    if limits[run.SWITCH] == AHEAD:
        limits[run.SWITCH] = SPENT
    if limits[run.SWITCH] != NONE or view(T, s.SWITCH).shape[0] == 0 or clock[run.STEP] > 0.0:
        return
    h = clock[run.H_TRIED]
    x = time_of_switch(T, R, h)
    if x >= LEAST * h:
        limits[run.SWITCH] = AHEAD
        clock[run.T_SWITCH] = clock[run.T_NEW] + x
        if clock[run.H_BEHIND] == 0.0:
            clock[run.H_BEHIND] = CLOSE * h  # nothing is known of the force: as short as its beginning is known
        clock[run.H_BEHIND] = min(clock[run.H_BEHIND], clock[run.H_NEXT])
        clock[run.H_NEXT] = x


@helper
def after_acceptance(R):
    """After a step that was taken: the size of the next one on the way to a switch, or behind it."""
    clock, limits = view(R, run.CLOCK), view(R, run.LIMITS)
    if limits[run.SWITCH] == AHEAD:
        left = clock[run.T_SWITCH] - clock[run.T_NEW]
        if left > CLOSE * clock[run.H_TRIED]:
            clock[run.H_NEXT] = min(clock[run.H_NEXT], left)
        else:
            clock[run.H_NEXT] = min(clock[run.H_NEXT], clock[run.H_BEHIND])
            limits[run.SWITCH] = BEHIND
    elif limits[run.SWITCH] == BEHIND or limits[run.SWITCH] == SPENT:
        if limits[run.SWITCH] == BEHIND:
            clock[run.H_BEHIND] = clock[run.H_TRIED]
        limits[run.SWITCH] = NONE
