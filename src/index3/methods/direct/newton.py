"""The equations of a step of the direct methods: unknowns a, lam, with q and v linear in a; `corrector` solves them.

A method writes one step as

    q = q_base + c_q a,    v = v_base + c_v a,    c_m M(q_mass) a + (Phi_q^T lam - Q) + g_add = 0

(HHT: c_q = beta h^2, c_v = gamma h; BDF: c_q = g^2, c_v = g) and adds Phi(q) / c_q = 0, the scaling that
keeps the matrix well conditioned as h -> 0 ([NegrutHHT] (13)); velocity-level rows are divided by c_v. The
matrix is [c_m M + c_q ((M a)_q + (Phi_q^T lam)_q - Q_q) - c_v Q_v, Phi_q^T; Phi_q, 0], kept until it stops paying.

*Stabilised index 2* (PROJECTOR set): the rows are Phi_q v + Phi_t = 0, divided by c_v, and q_base moves along
M^-1 Phi_q^T until Phi(q) = 0: what q' = v + M^-1 Phi_q^T mu means for a formula that gives q = q_base + c_q a. Terms of
the matrix that are O(h) smaller ((Phi_q v)_q, derivatives of mu) are left out; they cost no order, only convergence
rate.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, slots, view
from index3.linear import contract
from index3.methods import manifold, projection_kernels, run
from index3.methods.rounding import part_of

(
    RUN, SETTINGS, MEMORY, FLAGS, PROJECTOR, Q_BASE, V_BASE, G_ADD, WEIGHTS, WEIGHTS_Q, GUESS_A, GUESS_LAM, GUESS_Q,
    STEP_A, STEP_LAM,
) = SLOTS = slots(
    run=("i8", 1),  # handle of the run's table
    settings=("f8", 1), memory=("f8", 1), flags=("i8", 1),
    projector=("i8", 1),  # handle of the projector that holds the directions M^-1 Phi_q^T, 0 for index 3
    q_base=("f8", 1), v_base=("f8", 1), g_add=("f8", 1),
    weights=("f8", 1),  # allowed for SIZE times a correction
    weights_q=("f8", 1),  # allowed for a move of q_base
    guess_a=("f8", 1), guess_lam=("f8", 1), guess_q=("f8", 1),  # where the iteration starts: a, lam, q_base
    step_a=("f8", 1), step_lam=("f8", 1),  # a correction that may be shortened
)  # fmt: skip

KAPPA, MAX_ITERATIONS, PAPER_NORM, RENEW_RATE, RENEW_BELOW, RENEW_ABOVE, LEAPS = range(7)
"""Places in SETTINGS. KAPPA is c of (46): the corrector may add this part of the tolerance to the error; LEAPS is
what is asked of velocities (`leaps`)."""
C_MASS, C_POSITION, C_VELOCITY, SIZE, C_FACTORED, RATE_LAST, LEAP, REFUSED, NOISY, MEMORY_SPACE = range(10)
"""Places in MEMORY: c_m, c_q, c_v; what turns a correction of a into an error; c_v of the kept factorisation; last
convergence rate; of `leaps`: that of the step refused last, how many in a row, steps without a look."""
RENEW, FRESH, FAILED_IN_ROW, KEEP_DIRECTIONS, SLIDES, FLAGS_SPACE = range(6)
"""Places in FLAGS: factorise before the next correction, whether the factorisation belongs to this step, failed tries
in a row, whether the directions of the projector stay as they are, whether the matrix factored last has friction."""
ROUNDING = 4e-15
"""Corrections below this part of the coordinates, and residuals below this part of their terms, are rounding: a few
units in the last place through sums of some ten terms."""


@helper
def move(T, E, R):
    """q and v of the present a, and the configuration of the mass term."""
    c, q, v, a, q_mass = view(E, MEMORY), view(T, s.Q), view(T, s.V), view(T, s.A), view(T, s.Q_MASS)
    q_base, v_base = view(E, Q_BASE), view(E, V_BASE)
    for k in range(q.shape[0]):
        q[k] = q_base[k] + c[C_POSITION] * a[k]
        v[k] = v_base[k] + c[C_VELOCITY] * a[k]
        q_mass[k] = q[k]


@helper
def evaluate(T, E, R):
    """Everything the residual needs at the present a, lam."""
    move(T, E, R)
    code = run.core(T, s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_MASS)
    if code == OK and view(E, PROJECTOR)[0] != 0:
        code = run.core(T, s.CORE_JACOBIAN)
        run.core(T, s.CORE_RATES)
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    return run.EVALUATION_FAILED if code != OK else OK


@helper
def factorise(T, E, R, S, secants):
    """The matrix at the present iterate, factored; a rank lower than seen before is used once only.

    With `secants` of friction, not its slopes; whether there is any is in FLAGS then.
    """
    c, coef, status, flags, counts = (
        view(E, MEMORY), view(T, s.COEF), view(T, s.STATUS), view(E, FLAGS), view(R, run.COUNTS),
    )  # fmt: skip
    C = view(E, PROJECTOR)[0]
    coef[s.C_M] = c[C_MASS]
    coef[s.C_MA] = c[C_MASS] * c[C_POSITION]
    coef[s.C_K] = c[C_POSITION]
    coef[s.C_D] = c[C_VELOCITY]
    coef[s.C_V] = c[C_POSITION] / c[C_VELOCITY]
    coef[s.C_R] = 1.0
    code = run.core(T, s.CORE_JACOBIAN)
    status[s.SECANTS], status[s.SLIDES] = 1 if secants else 0, 0
    if code == OK:
        code = run.core(T, s.CORE_MATRIX)
    flags[SLIDES], status[s.SECANTS] = status[s.SLIDES], 0
    counts[run.N_JACOBIANS] += 1
    if code != OK:
        return run.EVALUATION_FAILED
    run.note_acting(T, R)
    run.note_distance(T, S)
    code = contract.factor(T, S)
    counts[run.N_FACTOR] += 1
    if code == OK and C != 0 and flags[KEEP_DIRECTIONS] == 0:
        code = projection_kernels.factor_mass(T, C, view(T, s.Q)[:0])
        counts[run.N_FACTOR] += 1
    if code != OK:
        return run.BODY_SINGULAR if code == contract.BODY_SINGULAR else run.NOT_FINITE
    flags[RENEW] = 1 if contract.lost_rank(S) else 0
    flags[FRESH] = 1
    c[C_FACTORED] = c[C_VELOCITY]
    c[RATE_LAST] = 0.0
    return OK


@helper
def project_base(T, E, ahead):
    """Stabilised index 2: move q_base along M^-1 Phi_q^T by the step that closes Phi; the size of that step in weights.

    The correction of a to come moves the positions by -(c_q/c_v) times the rates it removes; `ahead` allows for that.
    """
    C, phi, level, rate, c = view(E, PROJECTOR)[0], view(T, s.PHI), view(T, s.LEVEL), view(T, s.RATE), view(E, MEMORY)
    if C == 0:
        return 0.0
    base, w, total, gap = view(E, Q_BASE), view(E, WEIGHTS_Q), 0.0, view(T, s.GAMMA)
    part = c[C_POSITION] / c[C_VELOCITY] if ahead else 0.0
    for k in range(phi.shape[0]):
        gap[k] = phi[k] - part * rate[k] if level[k] == 0 else 0.0
    x = manifold.solve_rows(T, C, gap)
    for k in range(base.shape[0]):
        base[k] += x[k]
        total += (x[k] / w[k]) * (x[k] / w[k])
    return sqrt(total / base.shape[0])


@helper
def fill_residual(T, E, S):
    """Minus the residual into the solver's right-hand side; whether it is rounding."""
    c, stabilised = view(E, MEMORY), view(E, PROJECTOR)[0] != 0
    x, ma, g, g_add = view(S, contract.X), view(T, s.MA), view(T, s.G), view(E, G_ADD)
    phi, level, size = view(T, s.PHI), view(T, s.LEVEL), view(T, s.PHI_SCALE)
    lam, rate = view(T, s.LAM), view(T, s.RATE)
    n, worst, terms, closed, fastest = g.shape[0], 0.0, 0.0, True, largest_speed(T)
    for k in range(n):
        m_a = c[C_MASS] * ma[k]
        x[k] = -(m_a + g[k] + g_add[k])
        worst = max(worst, abs(x[k]))
        terms = max(terms, abs(m_a) + abs(g[k]) + abs(g_add[k]))
    for k in range(phi.shape[0]):
        if stabilised:
            x[n + k] = -rate[k] / c[C_VELOCITY]
            closed = closed and abs(rate[k]) <= 10.0 * ROUNDING * fastest
        else:
            x[n + k] = -phi[k] / (c[C_POSITION] if level[k] == 0 else c[C_VELOCITY])
        terms = max(terms, abs(lam[k]))
        if not abs(phi[k]) <= ROUNDING * max(1.0, size[k]):
            closed = False
    return closed and worst <= 100.0 * ROUNDING * terms  # forces: sums of products of reactions and gradients


@helper
def largest_speed(T):
    """max(1, |v|): what rates of constraints are measured by."""
    v, most = view(T, s.V), 1.0
    for k in range(v.shape[0]):
        most = max(most, abs(v[k]))
    return most


@helper
def correction_size(T, E, S):
    """RMS of SIZE times the correction over the weights; and whether it is rounding of positions (or velocities)."""
    c, x, w, q, v = view(E, MEMORY), view(S, contract.X), view(E, WEIGHTS), view(T, s.Q), view(T, s.V)
    n, total, tiny, largest, part = q.shape[0], 0.0, True, 0.0, c[C_POSITION]
    states, most_x, largest_x = view(view(E, RUN)[0], run.LIMITS)[run.FIRST_STATE], 0.0, 0.0
    for k in range(n):
        largest = max(largest, abs(q[k]) + c[C_VELOCITY] * abs(v[k]))
    if view(E, PROJECTOR)[0] != 0:
        largest, part = largest_speed(T), c[C_VELOCITY]
    for k in range(n):
        if abs(part * x[k]) > ROUNDING * largest:
            tiny = False
        if k >= states:
            most_x, largest_x = max(most_x, abs(c[C_VELOCITY] * x[k])), max(largest_x, abs(v[k]))
        y = c[SIZE] * x[k] / w[k]
        total += y * y
    size = sqrt(total / n)
    return size, tiny and part_of(size, 0.0, 1.0, most_x, largest_x) <= ROUNDING


@helper
def row_size(T, E, tolerance):
    """Largest residual of positions, and of velocities if these are imposed, in parts of what may be left of it."""
    phi, size, rate = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.RATE)
    worst = 0.0
    for k in range(phi.shape[0]):
        x = abs(phi[k]) / max(1.0, size[k])
        if not x <= worst:
            worst = x
    if view(E, PROJECTOR)[0] != 0:
        fastest = largest_speed(T)
        for k in range(rate.shape[0]):
            x = abs(rate[k]) / fastest
            if not x <= worst:
                worst = x
    return worst / tolerance


@helper
def row_tolerance(E, R):
    """What may be left of a row, relative to its terms."""
    tolerance = view(R, run.TOLERANCE)
    if view(R, run.CLOCK)[run.STEP] > 0.0:
        return 10.0 * tolerance[run.NEWTON_TOL]
    return max(1e-11, view(E, SETTINGS)[KAPPA] * tolerance[run.RTOL])


@helper
def fill_weights(E, R, h):
    """The error allowed in each coordinate: the contract's, the paper's (34), or for constant steps that of Newton.

    Corrections of a first-order state are judged by what they add to its integral, h times what the state may be off.
    With constant steps, and where velocities are imposed, corrections are judged as velocities: what is left in
    positions is divided by h at each step and would hide the order of the method at small steps.
    """
    w, w_q, c, tolerance = view(E, WEIGHTS), view(E, WEIGHTS_Q), view(E, SETTINGS), view(R, run.TOLERANCE)
    v, q, largest = view(R, run.NEW_V), view(R, run.NEW_Q), view(R, run.LARGEST)
    fixed, stabilised = view(R, run.CLOCK)[run.STEP] > 0.0, view(E, PROJECTOR)[0] != 0
    for k in range(w.shape[0]):
        w_q[k] = tolerance[run.NEWTON_TOL] * max(1.0, abs(q[k])) if fixed else run.weight(R, k)
        if fixed:
            w[k] = tolerance[run.NEWTON_TOL] * max(1.0, abs(v[k]))
        elif stabilised:
            w[k] = run.weight_v(R, k)
        elif c[PAPER_NORM] == 1.0:
            w[k] = tolerance[run.RTOL] * max(1.0, largest[k])
        else:
            w[k] = run.weight(R, k)
    if not fixed:
        for k in range(view(R, run.LIMITS)[run.FIRST_STATE], w.shape[0]):
            w[k] = run.weight_v(R, k) if stabilised else h * run.weight_v(R, k)
