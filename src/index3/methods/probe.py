"""The state of a run at any time of its last accepted step, for events."""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.methods import run

RUN, TIME, KEPT = SLOTS = slots(run=("i8", 1), time=("f8", 1), kept=("f8", 1))


@kernel
def at_time(T, E):
    """Put q and v of a time in the last accepted step into T, and measure the joint angles there."""
    R, t = view(E, RUN)[0], view(E, TIME)[0]
    clock, near, old = view(R, run.CLOCK), view(T, s.ANGLE_REF), view(R, run.ANGLE_OLD)
    q, v = view(T, s.Q), view(T, s.V)
    view(T, s.TIME)[0] = t
    x = 1.0
    if t == clock[run.T_NEW]:
        run.copy(q, view(R, run.NEW_Q))
        run.copy(v, view(R, run.NEW_V))
    else:
        x = (t - clock[run.T_OLD]) / (clock[run.T_NEW] - clock[run.T_OLD])
        run.output_state(T, R, t, q, v)
        view(T, s.TIME)[0] = t
    kept = view(E, KEPT)
    run.copy(kept, near)
    for k in range(near.shape[0]):  # the turn nearest to the straight line between the two accepted angles
        near[k] = (1.0 - x) * old[k] + x * kept[k]
    code = run.core(T, s.CORE_POSES)
    if code == OK:
        code = run.core(T, s.CORE_ANGLES)
    run.copy(near, kept)
    return code
