"""Steps of the diagonally implicit methods: tries, error estimates, control; the compiled step loop of four methods.

The stages are those of `sdirk`. [NegrutThesis]; bare numbers are its equations.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.linear import contract
from index3.methods import manifold, refusals, run
from index3.methods.filtering import filter_error
from index3.methods.state_space import frame
from index3.methods.state_space.sdirk import (
    AFTER_REJECTION,
    CONVERGED,
    ERR_Q,
    ERR_V,
    ERROR_Q,
    ERROR_V,
    ETA_OLD,
    EXPONENT,
    FAILED_IN_ROW,
    FILTERED,
    FLAGS,
    FRAME,
    FRESH,
    GAMMA,
    KNOWN_Q,
    KNOWN_V,
    LASTING,
    MEMORY,
    OUT_Q,
    OUT_V,
    PLACES,
    RENEW,
    RENEW_RATE,
    RUN,
    SETTINGS,
    SLOW,
    STAGE_A,
    STAGE_LAM,
    STAGE_N,
    STALLED,
    START_GAP,
    TURNING,
    WORST_RATE,
    add_recovered,
    solve_stages,
)

LARGE, AGREE, PASSED = 10.0, 0.005, 0.5
"""Where a force jumps before the first stage: the least error by this that is looked at, in parts of what is allowed;
part of it that stages differ by at most, and part of it that passes the filter at least."""


@helper
def return_to_start(T, F, R):
    """The reference at the start of the step, if the last accepted step left none."""
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW]
    run.copy(view(T, s.Q), view(R, run.NEW_Q))
    run.copy(view(T, s.V), view(R, run.NEW_V))
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    code = run.core(T, s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_JACOBIAN)
    return run.EVALUATION_FAILED if code != OK else frame.take_reference(T, F)


@helper
def try_step(T, E, R, F, S, t, h):
    """The stages with the linearisation kept from earlier steps, and again with a fresh one if that fails."""
    flags, memory, code = view(E, FLAGS), view(E, MEMORY), OK
    if memory[TURNING] > 0.0:
        memory[TURNING] -= 1.0
    elif memory[WORST_RATE] > SLOW:
        memory[TURNING] = view(E, SETTINGS)[LASTING]
    if memory[WORST_RATE] > view(E, SETTINGS)[RENEW_RATE] or run.begins_otherwise(T, R):
        flags[RENEW] = 1
    flags[FRESH] = 0
    if view(F, frame.FLAGS)[frame.MISSING] == 1:
        code = return_to_start(T, F, R)
    if code == OK:
        code = solve_stages(T, E, R, F, S, t, h)
        if code == STALLED and flags[FRESH] == 0:
            flags[RENEW] = 1
            memory[ETA_OLD] = 1.0
            code = solve_stages(T, E, R, F, S, t, h)
    if code != CONVERGED:
        view(R, run.COUNTS)[run.N_NEWTON_FAILED] += 1
        flags[RENEW] = 1
        memory[ETA_OLD] = 1.0
    return code


@helper
def add_crosswise(T, S, e_q, out_q):
    """Positions may err across velocity-level rows, which restrain velocities only: that passes the filter."""
    phi_q, row, column, level = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL), view(T, s.LEVEL)
    x, n = view(S, contract.X), e_q.shape[0]
    for k in range(x.shape[0]):
        x[k] = 0.0
    for e in range(phi_q.shape[0]):
        if level[row[e]] == 1:
            x[n + row[e]] += phi_q[e] * e_q[column[e]]
    contract.solve(T, S)
    for k in range(n):
        out_q[k] += x[k]


@helper
def step_error(T, E, R, F, S, h):
    """RMS over the weights of the difference to the embedded formula."""
    w_q, w_v, past = view(E, ERROR_Q), view(E, ERROR_V), view(E, STAGE_A)
    e_q, e_v, n = view(E, ERR_Q), view(E, ERR_V), view(E, ERR_Q).shape[0]
    for k in range(n):
        e_q[k] = 0.0
        e_v[k] = 0.0
        for j in range(w_v.shape[0]):
            e_q[k] += h * h * w_q[j] * past[j, k]
            e_v[k] += h * w_v[j] * past[j, k]
    add_recovered(E, e_q, w_v, w_v.shape[0], h)
    if view(E, SETTINGS)[FILTERED] == 1.0:
        mass, stiff, damp = view(F, frame.MASS), view(F, frame.STIFF), view(F, frame.DAMP)
        g, out_q, out_v = view(E, SETTINGS)[GAMMA] * h, view(E, OUT_Q), view(E, OUT_V)
        filter_error(T, S, mass, stiff, damp, e_q, e_v, out_q, out_v, g)
        if view(E, STAGE_N).shape[0] > 0:
            add_crosswise(T, S, e_q, out_q)
        return manifold.error_norm(R, out_q, out_v)
    return manifold.error_norm(R, e_q, e_v)


@helper
def unseen_start(T, E, R, F, S, h, error):
    """The error that a force leaves which jumps before the first stage, if more than `error`, that of the stages.

    All stages then agree with each other, but not with the acceleration at the start. Neither does that where a stiff
    part comes to rest within the step: but there the stages differ too, and the filter takes most of it away.
    """
    gap, past, a0 = view(E, START_GAP), view(E, STAGE_A), view(R, run.NEW_A)
    e_q, e_v, out_q, out_v = view(E, KNOWN_Q), view(E, KNOWN_V), view(E, OUT_Q), view(E, OUT_V)
    if gap.shape[0] == 0:
        return error
    for k in range(e_v.shape[0]):
        e_v[k] = gap[0] * a0[k]
        for j in range(past.shape[0]):
            e_v[k] += gap[j + 1] * past[j, k]
        e_v[k] *= h
        e_q[k] = h * e_v[k]
    jump = manifold.error_norm(R, e_q, e_v)
    if jump <= LARGE or AGREE * jump < error:
        return error
    mass, stiff, damp = view(F, frame.MASS), view(F, frame.STIFF), view(F, frame.DAMP)
    filter_error(T, S, mass, stiff, damp, e_q, e_v, out_q, out_v, view(E, SETTINGS)[GAMMA] * h)
    passed = manifold.error_norm(R, out_q, out_v)
    return passed if passed > PASSED * jump else error


@helper
def next_step(E, R, error):
    """(4.8): the next step size; kept if it would hardly grow (section 2.2)."""
    flags = view(E, FLAGS)
    factor = 0.9 * max(error, 1e-10) ** (-view(E, SETTINGS)[EXPONENT])
    run.grow_or_keep(R, max(0.2, min(1.0 if flags[AFTER_REJECTION] == 1 else 5.0, factor)))
    flags[AFTER_REJECTION] = 0


@helper
def accept(T, E, R, F):
    """Make the trial state the new one, and the reference of the next step."""
    code = frame.take_reference(T, F)
    if code != OK:
        return code
    last = view(E, PLACES).shape[0] - 1
    run.copy(view(T, s.A), view(E, STAGE_A)[last])
    run.copy(view(T, s.LAM), view(E, STAGE_LAM)[last])
    return run.accept(T, R)


@kernel
def attempt(T, E):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    R, F = view(E, RUN)[0], view(E, FRAME)[0]
    S = view(R, run.LINK)[run.LINK_SOLVER]
    flags = view(E, FLAGS)
    t, h = run.step_tried(R)
    frame.set_reach(F, R, h)
    code = try_step(T, E, R, F, S, t, h)
    if code != CONVERGED:
        flags[AFTER_REJECTION] = 1
        return run.answer_failure(R, flags[FAILED_IN_ROW:], code)
    flags[FAILED_IN_ROW] = 0
    if view(R, run.CLOCK)[run.STEP] > 0.0:
        return accept(T, E, R, F)
    error = step_error(T, E, R, F, S, h)
    if error <= 1.0:
        error = unseen_start(T, E, R, F, S, h, error)
    if not error <= 1.0:
        factor = 0.9 * error ** (-view(E, SETTINGS)[EXPONENT]) if error < 1e100 else 0.2
        flags[AFTER_REJECTION] = 1
        run.retry(R, max(0.2, min(0.9, factor)))
        return OK
    if refusals.is_refused(T, R):
        flags[AFTER_REJECTION] = 1
        return OK
    next_step(E, R, error)
    return accept(T, E, R, F)
