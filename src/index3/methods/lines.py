"""Lines of output as a run writes them: at times between the last two accepted states."""

from __future__ import annotations

from index3.compiled import columns
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.methods import run
from index3.methods.hermite import hermite_between


@helper
def follow_angles(T, R, t):
    """Carry ANGLE_REF from the start of the last accepted step to near t, so that no turn is lost on the way.

    A step may hold several turns (a body spins at a constant rate without error). It is followed in pieces in which the
    two sides of a joint turn against each other by at most 0.5 rad, at the faster of their speeds at both ends of the
    step: far below the half turn that would be mistaken. Returns their number, usually 0, in which case nothing has
    moved; else t, q and v are left at the last of them.
    """
    clock, near = view(R, run.CLOCK), view(T, s.ANGLE_REF)
    count = int(min(2.0 * max(clock[run.SPEED_OLD], clock[run.SPEED_NEW]) * (t - clock[run.T_OLD]), 1e6))
    for k in range(1, count + 1):
        view(T, s.TIME)[0] = clock[run.T_OLD] + (t - clock[run.T_OLD]) * k / (count + 1)
        run.interpolate(R, view(T, s.TIME)[0], view(T, s.Q), view(T, s.V))
        run.core(T, s.CORE_POSES)
        run.core(T, s.CORE_ANGLES)
        run.copy(near, view(T, s.ANGLES))
    return count


@helper
def write_line(T, R, C, line, t):
    """One line of output at a time in the last accepted step; a step's end is not interpolated."""
    clock, work, places = view(R, run.CLOCK), view(R, run.WORK), view(C, columns.PLACES)
    q, v, a = view(C, columns.Q)[line], view(C, columns.V)[line], view(C, columns.A)[line]
    lam, out_work, out_angle = view(C, columns.LAM)[line], view(C, columns.WORK), view(C, columns.ANGLE)[line]
    a0, a1, lam0, lam1 = view(R, run.OLD_A), view(R, run.NEW_A), view(R, run.OLD_LAM), view(R, run.NEW_LAM)
    view(C, columns.T)[line] = t
    x = 1.0
    if t == clock[run.T_NEW]:
        run.copy(q, view(R, run.NEW_Q))
        run.copy(v, view(R, run.NEW_V))
        out_work[line] = work[run.WORK_NEW]
    else:
        h = clock[run.T_NEW] - clock[run.T_OLD]
        x = (t - clock[run.T_OLD]) / h
        own = run.output_state(T, R, t, q, v)
        if own and view(R, run.NODES)[run.OWN_ROWS] == 1:
            out_work[line] = work[run.WORK_OLD] + work[run.WORK_STEP]  # by the method's dense output
        else:
            out_work[line] = hermite_between(
                t, view(R, run.NODE_T), view(R, run.NODE_WORK), view(R, run.NODE_POWER), view(R, run.NODES)
            )
    for k in range(a.shape[0]):
        a[k] = (1.0 - x) * a0[k] + x * a1[k]
    for k in range(lam.shape[0]):
        lam[k] = 0.0  # rows of joints that are open
    for k in range(lam0.shape[0]):
        lam[places[k]] = (1.0 - x) * lam0[k] + x * lam1[k]
    if out_angle.shape[0] > 0:
        near, old, new, now = view(T, s.ANGLE_REF), view(R, run.ANGLE_OLD), view(T, s.ANGLES), view(T, s.TIME)[0]
        run.copy(out_angle, near)
        run.copy(near, old)
        follow_angles(T, R, t)
        view(T, s.TIME)[0] = t
        run.copy(view(T, s.Q), q)
        run.copy(view(T, s.V), v)
        run.core(T, s.CORE_POSES)
        run.core(T, s.CORE_ANGLES)
        view(T, s.TIME)[0] = now
        for k in range(near.shape[0]):
            near[k] = out_angle[k]
            out_angle[k] = new[k]


@helper
def emit(T, R):
    """Write the output times of the last accepted step; BLOCK_FULL if there is no room left for one of them."""
    cursor, t_eval, clock, C = view(R, run.CURSOR), view(R, run.T_EVAL), view(R, run.CLOCK), view(R, run.OUTPUT)[0]
    room, count = view(C, columns.T).shape[0], view(C, columns.COUNT)
    if cursor[run.EVERY_STEP] == 1:
        if cursor[run.PENDING] == 1:
            if count[0] == room:
                return run.BLOCK_FULL
            write_line(T, R, C, count[0], clock[run.T_NEW])
            count[0] += 1
    else:
        while cursor[run.NEXT_EVAL] < t_eval.shape[0] and t_eval[cursor[run.NEXT_EVAL]] <= clock[run.T_NEW]:
            if count[0] == room:
                return run.BLOCK_FULL
            write_line(T, R, C, count[0], t_eval[cursor[run.NEXT_EVAL]])
            count[0] += 1
            cursor[run.NEXT_EVAL] += 1
    cursor[run.PENDING] = 0
    return OK
