"""HHT on the index-3 equations of motion: the compiled step loop.

[NegrutHHT] sections 2-3; bare numbers are its equations; corrections in docs/theory/hht.md. Unknowns a, lam of (11).
Ours differs:
- (11a) pairs M(q_{n+1}) with an acceleration of t_{n+1} + alpha h, first order when M depends on q: M is taken at
  (1+alpha) q_{n+1} - alpha q_n instead (option `mass="end"` keeps the print);
- a_n belongs to t_n + alpha h_{n-1}: a step of another size starts from a_n shifted to t_n + alpha h, which keeps
  second order for any sequence of steps (option `shift=False` keeps the print);
- velocity-level rows are scaled by 1/(gamma h), as position rows by 1/(beta h^2).
Constants not in the paper: growth of a step only by 1.2 and more (a new step costs a factorisation), at most 2; a
Jacobian is renewed when corrections shrink by less than 4, or h left its range of 0.7..1.4.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, slots, view
from index3.linear import static_lu
from index3.methods import run

(
    RUN, SETTINGS, MEMORY, FLAGS, G_OLD, A_START, PAST_T, PAST_TL, PAST_A, PAST_LAM, WEIGHTS,
) = SLOTS = slots(
    run=("i8", 1),  # handle of the run's table
    settings=("f8", 1), memory=("f8", 1), flags=("i8", 1),
    g_old=("f8", 1),  # Phi_q^T lam - Q at the last accepted state
    a_start=("f8", 1),  # a_n shifted to t_n + alpha h
    past_t=("f8", 1), past_tl=("f8", 1), past_a=("f8", 2), past_lam=("f8", 2),  # latest first, for the predictor
    weights=("f8", 1),  # error allowed in each coordinate during this step
)  # fmt: skip

ALPHA, MASS_AT_END, SHIFT, KAPPA, MAX_ITERATIONS, RENEW_RATE, PAPER_NORM = range(7)
"""Places in SETTINGS. KAPPA is c of (46): the corrector may add this part of the tolerance to the error."""
H_FACTORED, RATE_LAST, H_BEFORE = range(3)
"""Places in MEMORY: step of the kept factorisation, last convergence rate, step before the last accepted one."""
RENEW, FILLED, DEGREE, FRESH, MAX_DEGREE, FAILED_IN_ROW = range(6)
"""Places in FLAGS: factorise before the next correction, past points known, predictor degree, whether the factorisation
belongs to this step, highest degree allowed, failed evaluations in a row."""
PAST = 4
ROUNDING = 4e-15
"""Corrections below this part of the coordinates, and residuals below this part of their terms, are rounding: a few
units in the last place through sums of some ten terms."""

CONVERGED, STALLED, BROKEN = 0, 1, 2


@helper
def parameters(alpha):
    """(beta, gamma) of alpha: (6)."""
    return (1.0 - alpha) * (1.0 - alpha) / 4.0, 0.5 - alpha


@helper
def error_constant(alpha):
    """C of (25): the error of a step is C h^2 (a_{n+1} - a_n)."""
    return parameters(alpha)[0] - 1.0 / (6.0 * (1.0 + alpha))


@helper
def past_weight(times, j, degree, t):
    """Lagrange weight at t of past point j in the polynomial through the latest degree + 1 points."""
    x = 1.0
    for k in range(degree + 1):
        if k != j:
            x *= (t - times[k]) / (times[j] - times[k])
    return x


@helper
def predict(T, E, R, h):
    """Starting values of the new a and lam by extrapolation of the past, and the start of the step."""
    c, flags, clock = view(E, SETTINGS), view(E, FLAGS), view(R, run.CLOCK)
    times, lam_times, past_a, past_lam = view(E, PAST_T), view(E, PAST_TL), view(E, PAST_A), view(E, PAST_LAM)
    a, lam, start = view(T, s.A), view(T, s.LAM), view(E, A_START)
    tau, degree, alpha = clock[run.T_NEW] + h + c[ALPHA] * h, flags[DEGREE], c[ALPHA]
    for k in range(a.shape[0]):
        a[k] = 0.0
        start[k] = past_a[0, k]
    for k in range(lam.shape[0]):
        lam[k] = 0.0
    for j in range(degree + 1):
        w, w_lam = past_weight(times, j, degree, tau), past_weight(lam_times, j, degree, clock[run.T_NEW] + h)
        for k in range(a.shape[0]):
            a[k] += w * past_a[j, k]
        for k in range(lam.shape[0]):
            lam[k] += w_lam * past_lam[j, k]
    if c[SHIFT] == 1.0 and flags[FILLED] > 1 and view(R, run.COUNTS)[run.N_STEPS] > 0:
        x = alpha * (h - clock[run.H_LAST]) / (times[0] - times[1])
        if x != 0.0:
            for k in range(a.shape[0]):
                start[k] += x * (past_a[0, k] - past_a[1, k])


@helper
def move(T, E, R, h):
    """q and v from a by Newmark's formulas (2), and the configuration of the mass term."""
    c = view(E, SETTINGS)
    alpha = c[ALPHA]
    beta, gamma = parameters(alpha)
    q, v, a, q_mass, start = view(T, s.Q), view(T, s.V), view(T, s.A), view(T, s.Q_MASS), view(E, A_START)
    q0, v0 = view(R, run.NEW_Q), view(R, run.NEW_V)
    shift = 0.0 if c[MASS_AT_END] == 1.0 else alpha
    for k in range(q.shape[0]):
        q[k] = q0[k] + h * v0[k] + h * h * ((0.5 - beta) * start[k] + beta * a[k])
        v[k] = v0[k] + h * ((1.0 - gamma) * start[k] + gamma * a[k])
        q_mass[k] = (1.0 + shift) * q[k] - shift * q0[k]


@helper
def fill_residual(T, E, S, h):
    """Minus the residual (11), rows scaled as (13), into the solver's right-hand side; whether it is rounding."""
    alpha = view(E, SETTINGS)[ALPHA]
    beta, gamma = parameters(alpha)
    x, ma, g, g_old = view(S, static_lu.X), view(T, s.MA), view(T, s.G), view(E, G_OLD)
    phi, level, size, lam = view(T, s.PHI), view(T, s.LEVEL), view(T, s.PHI_SCALE), view(T, s.LAM)
    n, worst, terms, closed = g.shape[0], 0.0, 0.0, True
    for k in range(n):
        m_a = ma[k] / (1.0 + alpha)
        x[k] = -(m_a + g[k] - alpha / (1.0 + alpha) * g_old[k])
        worst = max(worst, abs(x[k]))
        terms = max(terms, abs(m_a) + abs(g[k]) + abs(g_old[k]))
    for k in range(phi.shape[0]):
        x[n + k] = -phi[k] / (beta * h * h) if level[k] == 0 else -phi[k] / (gamma * h)
        terms = max(terms, abs(lam[k]))
        if not abs(phi[k]) <= ROUNDING * max(1.0, size[k]):
            closed = False
    return closed and worst <= 100.0 * ROUNDING * terms  # forces: sums of products of reactions and gradients


@helper
def factorise(T, E, R, S, h):
    """The matrix (14) at the present iterate, factored; a rank lower than seen before is used once only."""
    c, coef, flags, counts = view(E, SETTINGS), view(T, s.COEF), view(E, FLAGS), view(R, run.COUNTS)
    alpha, link = c[ALPHA], view(R, run.LINK)
    beta, gamma = parameters(alpha)
    coef[s.C_M] = 1.0 / (1.0 + alpha)
    coef[s.C_MA] = beta * h * h / (1.0 + alpha) if c[MASS_AT_END] == 1.0 else beta * h * h
    coef[s.C_K] = beta * h * h
    coef[s.C_D] = gamma * h
    coef[s.C_V] = beta * h / gamma
    code = core_matrix(T)
    counts[run.N_JACOBIANS] += 1
    if code != OK:
        return run.EVALUATION_FAILED
    code = call(link[run.LINK_FACTOR], T, S)
    counts[run.N_FACTOR] += 1
    if code != OK:
        return run.BODY_SINGULAR if code == static_lu.BODY_SINGULAR else run.NOT_FINITE
    info = view(S, static_lu.INFO)
    flags[RENEW] = 1 if info[static_lu.N_ZERO] > info[static_lu.FEWEST_ZERO] else 0
    flags[FRESH] = 1
    view(E, MEMORY)[H_FACTORED] = h
    return OK


@helper
def core_matrix(T):
    """Jacobian and matrix at the point where the forces were evaluated."""
    code = run.core(T, s.CORE_JACOBIAN)
    if code == OK:
        code = run.core(T, s.CORE_MATRIX)
    return code


@helper
def correction_size(T, E, S, h, scale):
    """RMS of the correction (scale h^2 da) over the weights; and whether it is rounding of the positions."""
    x, w, q, v = view(S, static_lu.X), view(E, WEIGHTS), view(T, s.Q), view(T, s.V)
    beta = parameters(view(E, SETTINGS)[ALPHA])[0]
    n, total, tiny = q.shape[0], 0.0, True
    largest = 0.0
    for k in range(n):
        largest = max(largest, abs(q[k]) + h * abs(v[k]))
    for k in range(n):
        y = x[k] * h * h
        if abs(beta * y) > ROUNDING * largest:
            tiny = False
        total += (scale * y / w[k]) * (scale * y / w[k])
    return sqrt(total / n), tiny


@helper
def row_size(T, tolerance):
    """Largest position residual, in parts of what may be left of it."""
    phi, size = view(T, s.PHI), view(T, s.PHI_SCALE)
    worst = 0.0
    for k in range(phi.shape[0]):
        x = abs(phi[k]) / max(1.0, size[k])
        if not x <= worst:
            worst = x
    return worst / tolerance


@helper
def correct(T, E, R, S, h, full):
    """Newton's iteration for one step, stopped as (46) says; CONVERGED, STALLED, or a reason to stop (10 and above)."""
    flags, c, memory, counts = view(E, FLAGS), view(E, SETTINGS), view(E, MEMORY), view(R, run.COUNTS)
    x, a, lam, link = view(S, static_lu.X), view(T, s.A), view(T, s.LAM), view(R, run.LINK)
    fixed = view(R, run.CLOCK)[run.STEP] > 0.0
    n, before, rate = a.shape[0], 0.0, memory[RATE_LAST]
    scale = parameters(c[ALPHA])[1] / h if fixed else error_constant(c[ALPHA])
    kappa = 1.0 if fixed else c[KAPPA]
    row_tolerance = (
        10.0 * view(R, run.TOLERANCE)[run.NEWTON_TOL]
        if fixed
        else max(1e-11, c[KAPPA] * view(R, run.TOLERANCE)[run.RTOL])
    )
    for iteration in range(int(c[MAX_ITERATIONS])):
        move(T, E, R, h)
        code = run.core(T, s.CORE_FORCES)
        if code == OK:
            code = run.core(T, s.CORE_MASS)
        counts[run.N_EVALUATIONS] += 1
        if code != OK:
            return run.EVALUATION_FAILED
        if flags[RENEW] == 1 or full:
            code = factorise(T, E, R, S, h)
            if code != OK:
                return code
        solved = fill_residual(T, E, S, h)
        rows = row_size(T, row_tolerance)
        call(link[run.LINK_SOLVE], T, S)
        counts[run.N_NEWTON] += 1
        size, tiny = correction_size(T, E, S, h, scale)
        if solved and iteration > 0 and size > kappa:
            # the residual is rounding, yet corrections are not small: near a singular position they are amplified noise
            counts[run.N_STAGNATED] += 1
            return CONVERGED
        if not size < 1e200:
            return STALLED
        for k in range(n):
            a[k] += x[k]
        for k in range(lam.shape[0]):
            lam[k] += x[n + k]
        if iteration > 0:
            rate = size / before if before > 0.0 else 0.0
            memory[RATE_LAST] = rate
        if tiny and rows <= 1.0:  # stagnation at rounding level
            if iteration > 0 and rate > 0.5:
                counts[run.N_STAGNATED] += 1
            return CONVERGED
        if iteration > 0:
            if rate >= 1.0 or (rate > 0.9 and iteration > 3):
                return STALLED
            if rate / (1.0 - rate) * size <= kappa and rate * rows <= 1.0:
                return CONVERGED
        elif 1e3 * size <= kappa and rows <= 1.0:  # a linear problem, or a perfect prediction
            return CONVERGED
        before = size
    return STALLED


@helper
def step_error(T, E, h):
    """RMS of C h^2 (a_{n+1} - a_n) over the weights: (34), (25)."""
    a, start, w = view(T, s.A), view(E, A_START), view(E, WEIGHTS)
    scale, total = error_constant(view(E, SETTINGS)[ALPHA]) * h * h, 0.0
    for k in range(a.shape[0]):
        y = scale * (a[k] - start[k]) / w[k]
        total += y * y
    return sqrt(total / a.shape[0])


@helper
def choose_degree(T, E, t_a):
    """The predictor degree for the next step: the one that would have predicted this acceleration best."""
    flags, times, past, a = view(E, FLAGS), view(E, PAST_T), view(E, PAST_A), view(T, s.A)
    best, best_size = 0, -1.0
    for degree in range(min(flags[FILLED], flags[MAX_DEGREE] + 1)):
        w0, w1 = past_weight(times, 0, degree, t_a), 0.0
        w2, w3 = 0.0, 0.0
        if degree > 0:
            w1 = past_weight(times, 1, degree, t_a)
        if degree > 1:
            w2 = past_weight(times, 2, degree, t_a)
        if degree > 2:
            w3 = past_weight(times, 3, degree, t_a)
        size = 0.0
        for k in range(a.shape[0]):
            y = a[k] - w0 * past[0, k] - w1 * past[1, k] - w2 * past[2, k] - w3 * past[3, k]
            size += y * y
        if best_size < 0.0 or size < best_size:
            best, best_size = degree, size
    flags[DEGREE] = min(best, flags[FILLED])


@helper
def remember(T, E, t_new, h):
    """Push the accepted a and lam on the predictor's history."""
    flags, times, lam_times = view(E, FLAGS), view(E, PAST_T), view(E, PAST_TL)
    past_a, past_lam, a, lam = view(E, PAST_A), view(E, PAST_LAM), view(T, s.A), view(T, s.LAM)
    t_a = t_new + view(E, SETTINGS)[ALPHA] * h
    choose_degree(T, E, t_a)
    for j in range(PAST - 1, 0, -1):
        times[j] = times[j - 1]
        lam_times[j] = lam_times[j - 1]
        for k in range(a.shape[0]):
            past_a[j, k] = past_a[j - 1, k]
        for k in range(lam.shape[0]):
            past_lam[j, k] = past_lam[j - 1, k]
    times[0] = t_a
    lam_times[0] = t_new
    run.copy(past_a[0], a)
    run.copy(past_lam[0], lam)
    flags[FILLED] = min(PAST, flags[FILLED] + 1)


@helper
def accept(T, E, R, t, h):
    """Make the trial state the new one, and remember what the next step needs of it."""
    move(T, E, R, h)
    code = run.core(T, s.CORE_FORCES)
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    if code != OK:
        return run.EVALUATION_FAILED
    run.copy(view(E, G_OLD), view(T, s.G))
    view(E, MEMORY)[H_BEFORE] = view(R, run.CLOCK)[run.H_LAST]
    remember(T, E, t, h)
    return run.accept_state(T, R, t, h)


@helper
def fill_weights(E, R):
    """The error allowed in each coordinate: the contract's, the paper's (34), or for constant steps that of Newton.

    With constant steps the corrections are judged as velocities: what is left in the positions is divided by h at each
    step and would hide the order of the method at small steps.
    """
    w, c, tolerance, largest = view(E, WEIGHTS), view(E, SETTINGS), view(R, run.TOLERANCE), view(R, run.LARGEST)
    v = view(R, run.NEW_V)
    fixed = view(R, run.CLOCK)[run.STEP] > 0.0
    for k in range(w.shape[0]):
        if fixed:
            w[k] = tolerance[run.NEWTON_TOL] * max(1.0, abs(v[k]))
        elif c[PAPER_NORM] == 1.0:
            w[k] = tolerance[run.RTOL] * max(1.0, largest[k])
        else:
            w[k] = run.weight(R, k)


@helper
def solve_step(T, E, R, S, h):
    """One step of size h from the new state: predict and correct, at last with a fresh matrix in every iteration."""
    flags, memory, counts = view(E, FLAGS), view(E, MEMORY), view(R, run.COUNTS)
    ratio = h / memory[H_FACTORED] if memory[H_FACTORED] > 0.0 else 0.0
    if ratio < 0.7 or ratio > 1.4 or memory[RATE_LAST] > view(E, SETTINGS)[RENEW_RATE]:
        flags[RENEW] = 1
    flags[FRESH] = 0
    fill_weights(E, R)
    predict(T, E, R, h)
    code = correct(T, E, R, S, h, False)
    if code == STALLED and flags[FRESH] == 0:
        flags[RENEW] = 1
        predict(T, E, R, h)
        code = correct(T, E, R, S, h, False)
    if code == STALLED:
        predict(T, E, R, h)
        code = correct(T, E, R, S, h, True)
    if code != CONVERGED:
        counts[run.N_NEWTON_FAILED] += 1
        flags[RENEW] = 1
    return code


@helper
def attempt(T, E, R, S):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    clock, flags, counts = view(R, run.CLOCK), view(E, FLAGS), view(R, run.COUNTS)
    t, h = run.next_time(R)
    if run.too_small(R, t, h):
        return run.STEP_TOO_SMALL
    view(T, s.TIME)[0] = t
    code = solve_step(T, E, R, S, h)
    fixed = clock[run.STEP] > 0.0
    if code >= run.NEWTON_FAILED or (fixed and code != CONVERGED):
        flags[FAILED_IN_ROW] += 1
        if fixed or flags[FAILED_IN_ROW] > 12:
            return run.NEWTON_FAILED if code == STALLED else code
    if code != CONVERGED:
        counts[run.N_REJECTED] += 1
        clock[run.H_NEXT] = (0.5 if code == STALLED else 0.25) * h
        return OK
    flags[FAILED_IN_ROW] = 0
    if fixed:
        return accept(T, E, R, t, h)
    error = step_error(T, E, h)
    factor = 0.9 * max(error, 1e-9) ** (-1.0 / 3.0)  # (37b): Theta^(-1/6), Theta the square of this error
    if not error <= 1.0:
        counts[run.N_REJECTED] += 1
        clock[run.H_NEXT] = h * max(0.2, min(0.9, factor))
        return OK
    if factor > 1.2:
        clock[run.H_NEXT] = max(clock[run.H_NEXT] if h < clock[run.H_NEXT] else 0.0, h * min(2.0, factor))
    elif factor < 1.0:
        clock[run.H_NEXT] = h * max(0.5, factor)
    elif clock[run.H_NEXT] > h and clock[run.H_NEXT] < 1.2 * h:
        clock[run.H_NEXT] = h
    return accept(T, E, R, t, h)


@kernel
def advance(T, E):
    """Step until the end, a full block of output, the budget of steps, or a reason to stop."""
    R = view(E, RUN)[0]
    S = view(R, run.LINK)[run.LINK_SOLVER]
    budget = run.step_budget(R)
    while True:
        code = run.before_step(T, R, budget)
        if code != run.GO_ON:
            return code
        code = attempt(T, E, R, S)
        if code != OK:
            return code
