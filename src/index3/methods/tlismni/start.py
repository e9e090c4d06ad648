"""The start of TLISMNI: steps of a Runge-Kutta pair on the constraint manifold, until the formulas have their past."""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.methods import run
from index3.methods.tlismni import parts


@helper
def stage(T, E, j, h, count):
    """NEXT_Q, NEXT_V: the last accepted state moved by h times row j of the Runge-Kutta table."""
    table, q, v = view(E, parts.STAGES), view(E, parts.PAST_Q)[0], view(E, parts.PAST_V)[0]
    stage_v, stage_a = view(E, parts.STAGE_V), view(E, parts.STAGE_A)
    next_q, next_v = view(E, parts.NEXT_Q), view(E, parts.NEXT_V)
    for k in range(q.shape[0]):
        x, y = 0.0, 0.0
        for i in range(count):
            x += table[j, i] * stage_v[i, k]
            y += table[j, i] * stage_a[i, k]
        next_q[k] = q[k] + h * x
        next_v[k] = v[k] + h * y


@helper
def starting_step(T, E, R, t, h):
    """One step of the Runge-Kutta pair 4(3) to t; its error is left in START_ERROR.

    Rows of STAGES: stages, result, error.
    """
    table, memory = view(E, parts.STAGES), view(E, parts.MEMORY)
    stage_v, stage_a = view(E, parts.STAGE_V), view(E, parts.STAGE_A)
    count = table.shape[1]
    run.copy(stage_v[0], view(E, parts.PAST_V)[0])
    run.copy(stage_a[0], view(E, parts.PAST_A)[0])
    code = OK
    for j in range(1, count + 1):
        past = 0.0
        for i in range(count):
            past += table[j, i]
        view(T, s.TIME)[0] = t if j == count else t - h + past * h
        stage(T, E, j, h, min(j, count))
        code = parts.project_state(T, E)
        if code == OK:
            code = parts.evaluate(T, E, R)
        if code != OK:
            return code
        if j < count:
            run.copy(stage_v[j], view(T, s.V))
            run.copy(stage_a[j], view(T, s.A))
    stage(T, E, count + 1, h, count)
    next_q, next_v = view(E, parts.NEXT_Q), view(E, parts.NEXT_V)
    q, v = view(E, parts.PAST_Q)[0], view(E, parts.PAST_V)[0]
    for k in range(q.shape[0]):
        next_q[k] -= q[k]
        next_v[k] -= v[k]
    memory[parts.START_ERROR] = parts.tangential_size(T, E)
    memory[parts.ITERATIONS] = 0.0
    return parts.CONVERGED
