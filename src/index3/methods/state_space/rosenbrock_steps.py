"""Stages and steps of the Rosenbrock-Nystrom method: the compiled step loop.

Basis and derivatives are those of `rosenbrock`. [NegrutThesis] section 4.4; bare numbers are its equations.
"""

from __future__ import annotations

from index3.algebra.dense import add_matrix, substitute
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.methods import manifold, refusals, run
from index3.methods.state_space import frame
from index3.methods.state_space.rosenbrock import (
    A_W,
    AFTER_REJECTION,
    E_ROOT,
    E_W,
    EP_W,
    ERR_V,
    ERR_Y,
    EV_W,
    F_T,
    FAILED_IN_ROW,
    FILTERED,
    FLAGS,
    FRAME,
    H_TIMED,
    J1,
    LU,
    OUT_Q,
    OUT_V,
    P_W,
    PIVOT,
    RIGHT,
    ROOM,
    RUN,
    S_W,
    SETTINGS,
    SHIFT,
    STAGE,
    STALE,
    STUCK,
    TABLE_C,
    TABLE_D,
    TABLE_T,
    TABLE_W,
    TIMED,
    VECTORS,
    F,
    U,
    Y,
    add_basis,
    decompose_step,
    prepare,
    take_independent,
)

LONGER = 5.0
"""How many times longer a try may have been whose derivative by time is kept: differences over 1e-2 of the step."""


@helper
def accelerate(T, E, R, F_, t):
    """From the formula's q and v in T: recovery at time t, accelerations there, and their independent part in F."""
    view(T, s.TIME)[0] = t
    frame.reset_normals(F_)
    code = frame.project_within(T, F_, 1e-13, 1e-14, False)
    if code == OK:
        code = manifold.accelerate(T, view(E, STAGE)[0], R)
    if code == OK:
        take_independent(E, view(T, s.A), view(E, F))
    return code


@helper
def depart(T, E, R, h):
    """q and v after a time h without independent accelerations; dependent ones, in ROOM, ease the recovery."""
    q, v, q0, v0, rest = view(T, s.Q), view(T, s.V), view(R, run.NEW_Q), view(R, run.NEW_V), view(E, ROOM)
    for k in range(q.shape[0]):
        q[k] = q0[k] + h * (v0[k] + 0.5 * h * rest[k])
        v[k] = v0[k] + h * rest[k]


@helper
def move(T, E, R, i, h):
    """q and v of stage i as the formula gives them."""
    q, v, u, t_, w = view(T, s.Q), view(T, s.V), view(E, U), view(E, TABLE_T), view(E, TABLE_W)
    depart(T, E, R, h * view(E, VECTORS)[A_W, i])
    for j in range(i):
        add_basis(E, u[j], h * t_[i, j], q)
        add_basis(E, u[j], w[i, j], v)


@helper
def fill_time_derivative(T, E, R, F_, h):
    """F_T = (df/dt + J1 w') h^2 e / e_i for all stages: the part that has the factor e_i.

    It does not depend on h but for the differences, and stands for other tries from the same start.
    """
    f, f_t, y, clock, settings = view(E, F), view(E, F_T), view(E, Y), view(R, run.CLOCK), view(E, SETTINGS)
    if h <= settings[H_TIMED] <= LONGER * h:
        return OK
    for i in range(f_t.shape[0]):
        f_t[i] = 0.0
    if view(E, FLAGS)[TIMED] == 1:
        delta = 1e-3 * h
        take_independent(E, view(R, run.NEW_A), f_t)
        for side in range(2):
            run.copy(view(T, s.Q), view(R, run.NEW_Q))
            run.copy(view(T, s.V), view(R, run.NEW_V))
            code = accelerate(T, E, R, F_, clock[run.T_NEW] + (1 + side) * delta)
            if code != OK:
                return code
            for i in range(f_t.shape[0]):  # (-3 f0 + 4 f1 - f2) / (2 delta)
                f_t[i] = (4.0 * f[i] - 3.0 * f_t[i]) if side == 0 else (f_t[i] - f[i]) / (2.0 * delta)
    take_independent(E, view(R, run.NEW_V), y)
    add_matrix(view(E, J1), y, 1.0, f_t)
    settings[H_TIMED] = h
    return OK


@helper
def solve_stage(E, i, h):
    """S u_i = h e f + h^2 e e_i (f_t + J1 w') + e sum c_ij u_j + h^2 e J1 sum d_ij u_j: (4.49), corrected."""
    c, d, e_i, u, f = view(E, TABLE_C), view(E, TABLE_D), view(E, VECTORS)[E_W], view(E, U), view(E, F)
    f_t, right, shift, e = view(E, F_T), view(E, RIGHT), view(E, SHIFT), view(E, SETTINGS)[E_ROOT]
    for k in range(f.shape[0]):
        right[k] = h * e * (f[k] + h * e_i[i] * f_t[k])
        shift[k] = 0.0
        for j in range(i):
            right[k] += e * c[i, j] * u[j, k]
            shift[k] += d[i, j] * u[j, k]
    add_matrix(view(E, J1), shift, h * h * e, right)
    substitute(view(E, LU), view(E, PIVOT), right)
    run.copy(u[i], right)


@helper
def solve_step(T, E, R, F_, S, t, h):
    """Four stages, three evaluations; then q and v at the end of the step, on the manifold to rounding."""
    clock, u, vectors, code = view(R, run.CLOCK), view(E, U), view(E, VECTORS), OK
    if view(E, FLAGS)[STALE] == 1:
        code = prepare(T, E, R, F_, S)
    if code == OK:
        code = fill_time_derivative(T, E, R, F_, h)
    if code != OK:
        return code
    if not decompose_step(E, h):
        return STUCK
    take_independent(E, view(R, run.NEW_A), view(E, F))
    run.copy(view(E, ROOM), view(R, run.NEW_A))
    add_basis(E, view(E, F), -1.0, view(E, ROOM))
    for i in range(4):
        if i == 1 or i == 2:
            move(T, E, R, i, h)
            code = accelerate(T, E, R, F_, clock[run.T_NEW] + vectors[A_W, i] * h)
            if code != OK:
                return code
        solve_stage(E, i, h)
    depart(T, E, R, h)
    for i in range(4):
        add_basis(E, u[i], h * vectors[P_W, i], view(T, s.Q))
        add_basis(E, u[i], vectors[S_W, i], view(T, s.V))
    view(T, s.TIME)[0] = t
    frame.reset_normals(F_)
    return frame.project_within(T, F_, 1e-13, 1e-14, False)


@helper
def step_error(E, R, h):
    """RMS over the weights of the difference to the embedded formula, filtered (5.6) unless asked not to."""
    e_y, e_v, right, u, vectors = view(E, ERR_Y), view(E, ERR_V), view(E, RIGHT), view(E, U), view(E, VECTORS)
    out_q, out_v, g = view(E, OUT_Q), view(E, OUT_V), h * view(E, SETTINGS)[E_ROOT]
    for k in range(e_y.shape[0]):
        e_y[k] = 0.0
        e_v[k] = 0.0
        for i in range(4):
            e_y[k] += h * vectors[EP_W, i] * u[i, k]
            e_v[k] += vectors[EV_W, i] * u[i, k]
    if view(E, SETTINGS)[FILTERED] == 1.0:
        run.copy(right, e_v)
        add_matrix(view(E, J1), e_y, g, right)
        substitute(view(E, LU), view(E, PIVOT), right)
        for k in range(e_y.shape[0]):
            e_v[k] = right[k]
            e_y[k] += g * right[k]  # (I - g G) e = err, its first row
    for k in range(out_q.shape[0]):
        out_q[k] = 0.0
        out_v[k] = 0.0
    add_basis(E, e_y, 1.0, out_q)
    add_basis(E, e_v, 1.0, out_v)
    return manifold.error_norm(R, out_q, out_v)


@helper
def accept(T, E, R):
    """Accelerations at the new state, which becomes the start of the next step."""
    code = manifold.accelerate(T, view(E, STAGE)[0], R)
    if code == OK and run.core(T, s.CORE_FORCES) != OK:  # reactions included, for power
        code = run.EVALUATION_FAILED
    view(E, FLAGS)[STALE] = 1
    if code == OK and refusals.is_refused(T, R):
        view(E, FLAGS)[AFTER_REJECTION] = 1
        return OK
    return code if code != OK else run.accept(T, R)


@kernel
def attempt(T, E):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    R, F_ = view(E, RUN)[0], view(E, FRAME)[0]
    S = view(R, run.LINK)[run.LINK_SOLVER]
    clock, flags, counts = view(R, run.CLOCK), view(E, FLAGS), view(R, run.COUNTS)
    t, h = run.step_tried(R)
    frame.set_reach(F_, R, h)
    code = solve_step(T, E, R, F_, S, t, h)
    fixed = clock[run.STEP] > 0.0
    if code != OK:
        counts[run.N_NEWTON_FAILED] += 1
        flags[FAILED_IN_ROW] += 1
        if fixed or (code != STUCK and flags[FAILED_IN_ROW] > run.MOST_FAILURES):
            return run.NEWTON_FAILED if code == STUCK else code
        flags[AFTER_REJECTION] = 1
        run.retry(R, 0.5 if code == STUCK else 0.25)
        return OK
    flags[FAILED_IN_ROW] = 0
    if fixed:
        return accept(T, E, R)
    error = step_error(E, R, h)
    factor = 0.9 * max(error, 1e-10) ** -0.25 if error < 1e100 else 0.2
    if not error <= 1.0:
        flags[AFTER_REJECTION] = 1
        run.retry(R, max(0.2, min(0.9, factor)))
        return OK
    planned = clock[run.H_NEXT] if h < clock[run.H_NEXT] else 0.0  # the last steps to the end are shortened
    largest = 1.0 if flags[AFTER_REJECTION] == 1 else 5.0
    flags[AFTER_REJECTION] = 0
    clock[run.H_NEXT] = max(planned, h * max(0.2, min(largest, factor)))
    return accept(T, E, R)
