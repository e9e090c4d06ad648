"""What follows when a step is accepted: the last two states, largest magnitudes, joint angles, work, energy balance."""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, view
from index3.methods import audit, refusals, run
from index3.methods.hermite import hermite
from index3.methods.lines import follow_angles

POINTS = 32  # at which BRANCH is looked at inside a step
NEAR_FOLD, AT_FOLD = 1e-2, 1e-4
"""BRANCH below which a run warns, and ends: a joint of constant velocity bent by more than 168.5 and 178.9 degrees."""


@helper
def is_finite(T):
    """Whether all coordinates and rates in T are numbers: an error test sees to that, but constant steps have none."""
    q, v, finite = view(T, s.Q), view(T, s.V), True
    for k in range(q.shape[0]):
        finite = finite and abs(q[k]) < 1e300 and abs(v[k]) < 1e300  # also catches NaN
    return finite


@helper
def note_largest(R):
    """Remember the largest magnitude of every coordinate and rate; GREW if one is beyond all bounds.

    Of first-order states the present one: they may fall by many powers of ten and rise again, and what they do then
    depends on how small they were.
    """
    code, largest, largest_v, q, v = (
        OK,
        view(R, run.LARGEST),
        view(R, run.LARGEST_V),
        view(R, run.NEW_Q),
        view(R, run.NEW_V),
    )
    first, origin = view(R, run.LIMITS)[run.FIRST_STATE], view(R, run.ORIGIN)
    for k in range(q.shape[0]):
        largest[k] = max(largest[k], min(abs(q[k]), abs(q[k] - origin[k])))
        largest_v[k] = max(largest_v[k], abs(v[k])) if k < first else abs(v[k])
        if largest[k] > run.HUGE or largest_v[k] > run.HUGE:
            code = run.GREW
    return code


@helper
def watch_branches(T, R):
    """BRANCH_LOST if BRANCH of a row came too near zero in the last step, or changed its sign.

    Between the two states it is taken as cubic by its values and rates, so that a step across zero and back is seen.
    Near zero it is like (1 - cos y) / 2: if y changes by d in the step, the cubic errs by d^4 / 768 and the rate times
    the step changes by d^2 / 2. So the square of this change / 192 is the error, of which somewhat more is taken.
    """
    old, new, limits, clock = view(R, run.BRANCH), view(T, s.BRANCH), view(R, run.LIMITS), view(R, run.CLOCK)
    code, h = OK, clock[run.T_NEW] - clock[run.T_OLD]
    for k in range(old.shape[0]):
        sign, x0, x1, rate0, rate1 = old[k, 0], old[k, 1], new[k, 0], h * old[k, 2], h * new[k, 1]
        old[k, 1] = x1
        old[k, 2] = new[k, 1]
        least, error = min(sign * x0, sign * x1), (rate1 - rate0) ** 2 / 150.0
        if least - error - 4.0 / 27.0 * (abs(rate0) + abs(rate1)) < NEAR_FOLD:  # else the cubic is above that
            for i in range(1, POINTS):
                w = hermite(i / POINTS)
                x = w[0] * x0 + w[1] * rate0 + w[2] * x1 + w[3] * rate1
                least = min(least, sign * x - error)
        if least < AT_FOLD or (least < NEAR_FOLD and limits[run.NEAR_ROW] == 0):
            limits[run.NEAR_ROW] = k + 1
        if least < AT_FOLD:
            code = run.BRANCH_LOST
    return code


@helper
def follow_turns(T, R, t):
    """Unwrapped joint angles at the new state, where T stands; BRANCH_LOST if a row may have left its solutions."""
    clock, near, speed = view(R, run.CLOCK), view(T, s.ANGLE_REF), view(T, s.ANGLE_SPEED)
    if near.shape[0] + view(R, run.BRANCH).shape[0] == 0:
        return OK
    run.core(T, s.CORE_ANGLES)
    clock[run.SPEED_OLD] = clock[run.SPEED_NEW]
    clock[run.SPEED_NEW] = 0.0
    for k in range(speed.shape[0]):
        clock[run.SPEED_NEW] = max(clock[run.SPEED_NEW], speed[k])
    run.copy(view(R, run.ANGLE_OLD), near)
    if near.shape[0] > 0 and follow_angles(T, R, t) > 0:
        view(T, s.TIME)[0] = t
        run.copy(view(T, s.Q), view(R, run.NEW_Q))
        run.copy(view(T, s.V), view(R, run.NEW_V))
        run.core(T, s.CORE_POSES)
        run.core(T, s.CORE_ANGLES)
    run.copy(near, view(T, s.ANGLES))
    return watch_branches(T, R)


@helper
def open_account(R):
    """Nodes at both ends of a step; a few of those before it are kept, unless the power there is not known."""
    nodes, clock, work = view(R, run.NODES), view(R, run.CLOCK), view(R, run.WORK)
    t, power, done, last = view(R, run.NODE_T), view(R, run.NODE_POWER), view(R, run.NODE_WORK), nodes[run.NODE_NEW]
    kept = min(last, run.HISTORY) if t[last] == clock[run.T_OLD] else 0
    for k in range(kept):
        t[k], power[k] = t[last - kept + k], power[last - kept + k]
    t[kept], power[kept], done[kept] = clock[run.T_OLD], work[run.POWER_OLD], work[run.WORK_OLD]
    t[kept + 1] = clock[run.T_NEW]
    nodes[run.NODE_OLD], nodes[run.NODE_NEW], nodes[run.OWN_ROWS] = kept, kept + 1, 0
    run.finish_account(R, work[run.WORK_OLD], work[run.POWER_OLD])


@helper
def keep_states(T, R):
    """First-order states before the old one, and rates at the new one, in T, before the old one is overwritten."""
    clock, first, old, g = view(R, run.CLOCK), view(R, run.LIMITS)[run.FIRST_STATE], view(R, run.OLD_V), view(T, s.G)
    past, rate = view(R, run.PAST_X), view(R, run.NEW_RATE)
    run.copy(view(R, run.OLD_RATE), rate)
    for k in range(rate.shape[0]):
        past[k], rate[k] = old[first + k], -g[first + k]
    clock[run.T_PAST] = clock[run.T_OLD]


@kernel
def accept(T, R):
    """Make the state in T, where the forces were just evaluated, the new one; angles and work follow."""
    clock, counts, limits, work = view(R, run.CLOCK), view(R, run.COUNTS), view(R, run.LIMITS), view(R, run.WORK)
    t = clock[run.T_TRIED]
    if not is_finite(T):
        return run.OVERFLOWED
    refusals.note_passes(T, R)
    refusals.keep_start(T)
    keep_states(T, R)
    run.copy(view(R, run.OLD_Q), view(R, run.NEW_Q))
    run.copy(view(R, run.OLD_V), view(R, run.NEW_V))
    run.copy(view(R, run.OLD_A), view(R, run.NEW_A))
    run.copy(view(R, run.OLD_LAM), view(R, run.NEW_LAM))
    run.copy(view(R, run.NEW_Q), view(T, s.Q))
    run.copy(view(R, run.NEW_V), view(T, s.V))
    run.copy(view(R, run.NEW_A), view(T, s.A))
    run.copy(view(R, run.NEW_LAM), view(T, s.LAM))
    clock[run.T_OLD] = clock[run.T_NEW]
    clock[run.T_NEW] = t
    clock[run.H_LAST] = clock[run.H_TRIED]
    counts[run.N_STEPS] += 1
    clock[run.H_USUAL] += (clock[run.H_LAST] - clock[run.H_USUAL]) / min(run.USUAL, counts[run.N_STEPS])
    work[run.WORK_OLD] = work[run.WORK_NEW]
    work[run.POWER_OLD] = work[run.POWER_NEW]
    grew = note_largest(R)
    run.note_away(R)
    lost = follow_turns(T, R, t)
    view(R, run.CURSOR)[run.PENDING] = 1
    if grew != OK or lost != OK:
        return max(grew, lost)
    watched = view(R, run.AUDIT)
    code = audit.measure(T, watched) if watched[audit.MODE] != audit.OFF or limits[run.TRACK_WORK] != 0 else OK
    touching, unsure = code == OK and audit.touches(T), work[run.WORK_ERROR]
    open_account(R)
    if limits[run.TRACK_WORK] != 0 and code == OK:
        code = call(view(R, run.LINK)[run.LINK_WORK], T, R)
    if code != OK:
        return run.EVALUATION_FAILED
    done, doubt = work[run.WORK_NEW] - work[run.WORK_OLD], work[run.WORK_ERROR]
    clear = done != 0.0 and not touching and watched[audit.TOUCHING] != 1.0
    in_doubt = audit.doubt_of_step(watched, doubt - unsure, t - clock[run.T_OLD]) if clear else 0.0
    audit.count_contact(watched, touching, work[run.WORK_NEW], doubt - unsure)
    if audit.judge(watched, work[run.WORK_NEW], done, in_doubt, doubt, t):
        return run.GAINED
    passed = (t - clock[run.T_START]) / (clock[run.T_END] - clock[run.T_START])
    if audit.gains_too_fast(watched, passed, doubt):
        audit.cut_tolerances(watched, view(R, run.TOLERANCE), view(R, run.ATOL))
    return OK
