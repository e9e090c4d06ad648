"""One step by the augmented Lagrangian of index 3 or of index 1, with the trapezoidal rule: q, v, a before projection.

[CardenalMultiIndex]: bare numbers are its equations, 6.x are those of docs/theory/augmented.md. Ours differs:
- penalty matrices are bordered, not summed (`penalty`), and the multipliers take the linearised increment
  alpha (Phi + Phi_q dq) instead of alpha Phi(q + dq): equal to second order, without the rounding of Phi times alpha;
- index 3: the unknown is q_{n+1} - q_n, so that v and a lose fewer digits at small steps; alpha grows as 1/h^2 (with
  the paper's constant 1e7 the multipliers converge slowly at small steps); the iteration starts from an extrapolated a
  and the lam of the step before instead of lam = 0.
Constants not in the paper: STRENGTH, RENEW_RATE, SOFTER, SOFT_LIMIT below, chosen by trial on the library's models.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.linear import contract
from index3.methods import projection_kernels, run
from index3.methods.augmented import penalty as p
from index3.methods.augmented.penalty import DELTA, FLAGS, MEMORY, SETTINGS, TALLY, TRIAL_LAM

RENEW_RATE = 0.05
"""Index 3 takes a new matrix when corrections shrink by less than this."""
SOFTER, SOFT_LIMIT = 1e-4, 1e3
"""Index 1 in a singular position: part of the penalty to try again with, and correction that may be left in the usual
unit."""
STRENGTH = 1e9
"""alpha h^2/4 of index 3 unless alpha is given. Per correction the multipliers converge by 1/(1 + mu alpha h^2/4), mu
the eigenvalues of Phi_q M^-1 Phi_q^T in the rows' units: 1e-4 in a chain of 100 links, 0 in a singular position."""
ROW_TOLERANCE = 1e-12
"""Scaled position residual that the corrections of index 3 may leave: some thousand roundings."""
CONVERGED, STALLED = run.CONVERGED, run.STALLED


@helper
def predict(T, R, h):
    """Starting value of the new a: the line through the last two, if it is not stretched far."""
    clock, a, a0, a1 = view(R, run.CLOCK), view(T, s.A), view(R, run.NEW_A), view(R, run.OLD_A)
    x = 0.0
    if view(R, run.COUNTS)[run.N_STEPS] > 0 and h <= 2.1 * clock[run.H_LAST]:
        x = h / clock[run.H_LAST]
    for k in range(a.shape[0]):
        a[k] = a0[k] + x * (a0[k] - a1[k])


@helper
def correction_limit(R, k):
    """The part of velocity k that the iteration may leave: newton_tol of it, or a small part of rtol."""
    tolerance, v = view(R, run.TOLERANCE), view(R, run.NEW_V)
    part = tolerance[run.NEWTON_TOL]
    if view(R, run.CLOCK)[run.STEP] == 0.0:
        part = max(part, 1e-4 * tolerance[run.RTOL])
    return part * max(1.0, abs(v[k]))


@helper
def move(T, E, R, h):
    """q, v, a from the increment of q by the trapezoidal rule (6.1)."""
    q, v, a, delta = view(T, s.Q), view(T, s.V), view(T, s.A), view(E, DELTA)
    q0, v0, a0 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    for k in range(q.shape[0]):
        q[k] = q0[k] + delta[k]
        v[k] = 2.0 / h * delta[k] - v0[k]
        a[k] = 4.0 / h * (delta[k] / h - v0[k]) - a0[k]
    run.copy(view(T, s.Q_MASS), q)


@helper
def factorise(T, E, R, S, h):
    """The tangent M + h/2 C + h^2/4 (K + alpha Phi_q^T Phi_q) of 6.1, factored at the present iterate."""
    c, coef, flags = view(E, SETTINGS), view(T, s.COEF), view(E, FLAGS)
    coef[s.C_M] = 1.0
    coef[s.C_MA] = 0.25 * h * h
    coef[s.C_K] = 0.25 * h * h
    coef[s.C_D] = 0.5 * h
    coef[s.C_V] = 0.5 * h
    view(R, run.COUNTS)[run.N_JACOBIANS] += 1
    if run.core(T, s.CORE_JACOBIAN) != OK:
        return run.EVALUATION_FAILED
    flags[p.RENEW] = 0
    flags[p.FRESH] = 1
    view(E, MEMORY)[p.H_FACTORED] = h
    return p.factor(T, E, R, S, 0.25 * h * h * c[p.PENALTY_3] if c[p.PENALTY_3] > 0.0 else STRENGTH)


@helper
def fill_residual(T, S, h):
    """Minus h^2/4 (M a + Phi_q^T lam - Q) and -Phi into the right-hand side.

    Returns whether all of it is rounding, and the unbalanced part of the forces.
    """
    x, ma, g = view(S, contract.X), view(T, s.MA), view(T, s.G)
    phi, level, size, lam = view(T, s.PHI), view(T, s.LEVEL), view(T, s.PHI_SCALE), view(T, s.LAM)
    n, worst, terms, closed = g.shape[0], 0.0, 0.0, True
    for k in range(n):
        x[k] = -0.25 * h * h * (ma[k] + g[k])
        worst = max(worst, abs(ma[k] + g[k]))
        terms = max(terms, abs(ma[k]) + abs(g[k]))
    for k in range(phi.shape[0]):
        x[n + k] = -phi[k] if level[k] == 0 else -0.5 * h * phi[k]
        terms = max(terms, abs(lam[k]))
        if not abs(phi[k]) <= p.ROUNDING * max(1.0, size[k]):
            closed = False
    unbalance = worst / terms if terms > 0.0 else 0.0
    return closed and unbalance <= 100.0 * p.ROUNDING, unbalance  # forces: sums of products of reactions and gradients


@helper
def row_size(T):
    """Largest scaled row residual, in parts of what may be left of it."""
    phi, size, worst = view(T, s.PHI), view(T, s.PHI_SCALE), 0.0
    for k in range(phi.shape[0]):
        x = abs(phi[k]) / max(1.0, size[k])
        if not x <= worst:
            worst = x
    return worst / ROW_TOLERANCE


@helper
def correction_size(T, R, x, scale):
    """RMS of a correction of the velocities, scale times x, over what may be left; whether it is their rounding."""
    v, n, total, largest, fastest = view(T, s.V), view(T, s.V).shape[0], 0.0, 0.0, 0.0
    for k in range(n):
        y = scale * x[k] / correction_limit(R, k)
        total += y * y
        largest = max(largest, abs(scale * x[k]))
        fastest = max(fastest, abs(v[k]))
    return sqrt(total / n), largest <= p.ROUNDING * fastest


@helper
def is_tiny(T, x):
    """Whether a correction of the coordinates is their rounding."""
    q, largest, most = view(T, s.Q), 0.0, 0.0
    for k in range(q.shape[0]):
        largest = max(largest, abs(q[k]))
        most = max(most, abs(x[k]))
    return most <= p.ROUNDING * largest


@helper
def judge(E, iteration, size, before, rows):
    """What a correction of this size means: CONVERGED, STALLED or -1 to go on."""
    if not size < 1e200:
        return STALLED
    if iteration == 0:
        return CONVERGED if 1e3 * size <= 1.0 and rows <= 1.0 else -1
    rate = size / before if before > 0.0 else 0.0
    view(E, MEMORY)[p.RATE_LAST] = rate
    if rate >= 1.0 or (rate > 0.9 and iteration > 3):
        return STALLED
    return CONVERGED if rate / (1.0 - rate) * size <= 1.0 and rate * rows <= 1.0 else -1


@helper
def judge_budget(E, iteration, size, verdict):
    """The same where the number of corrections is given: the last one ends the step, which counts as an overrun."""
    budget = int(view(E, SETTINGS)[p.BUDGET])
    if budget == 0 or verdict == CONVERGED or not size < 1e200:
        return verdict
    if iteration + 1 < budget:
        return -1
    view(E, TALLY)[p.OVERRUNS] += 1
    return CONVERGED


@helper
def judge_tiny(E, R, iteration, unbalance, before):
    """The same for corrections that are rounding of q, as at small steps: what counts then is the balance of forces.

    Rounding of Phi moves q across the constraints, which the projection of v removes; an unbalance along them would add
    up from step to step.
    """
    limit = view(R, run.TOLERANCE)[run.NEWTON_TOL]
    if iteration > 0 and before > 0.0:
        view(E, MEMORY)[p.RATE_LAST] = unbalance / max(before, limit)
    return CONVERGED if unbalance <= limit or (iteration > 2 and unbalance > 0.3 * before) else -1


@helper
def evaluate_step(T, E, R, S, h, renew):
    """Forces and M a at the present iterate, and the tangent if it is to be renewed."""
    move(T, E, R, h)
    code = run.core(T, s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_MASS)
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    if code != OK:
        return run.EVALUATION_FAILED
    return factorise(T, E, R, S, h) if renew else OK


@helper
def correct(T, E, R, S, h, full):
    """The iteration of index 3 for one step; CONVERGED, STALLED, or a reason to stop (10 and above)."""
    flags, counts, delta = view(E, FLAGS), view(R, run.COUNTS), view(E, DELTA)
    x, lam, n, before, before_forces = view(S, contract.X), view(T, s.LAM), view(T, s.Q).shape[0], 0.0, 0.0
    for iteration in range(int(view(E, SETTINGS)[p.MAX_ITERATIONS])):
        code = evaluate_step(T, E, R, S, h, flags[p.RENEW] == 1 or full)
        if code != OK:
            return code
        solved, unbalance = fill_residual(T, S, h)
        rows = row_size(T)
        contract.solve(T, S)
        counts[run.N_NEWTON] += 1
        size, _ = correction_size(T, R, x, 2.0 / h)
        if solved and iteration > 0 and size > 1.0:
            counts[run.N_STAGNATED] += 1  # corrections are amplified rounding: near a singular position
            return CONVERGED
        if rows <= 1.0 and is_tiny(T, x):
            verdict = judge_tiny(E, R, iteration, unbalance, before_forces)
        else:
            verdict = judge(E, iteration, size, before, rows)
        verdict = judge_budget(E, iteration, size, verdict)
        for k in range(n):
            delta[k] += x[k]
        for k in range(lam.shape[0]):
            lam[k] += 4.0 / (h * h) * x[n + k]
        if verdict >= 0:
            return verdict
        before = size
        before_forces = unbalance
    return STALLED


@helper
def start_index_3(T, E, R, h):
    """The increment of q for predicted accelerations, lam of the step before."""
    predict(T, R, h)
    a, delta, v0, a0 = view(T, s.A), view(E, DELTA), view(R, run.NEW_V), view(R, run.NEW_A)
    for k in range(a.shape[0]):
        delta[k] = h * (v0[k] + 0.25 * h * (a0[k] + a[k]))
    run.copy(view(T, s.LAM), view(R, run.NEW_LAM))


@helper
def step_index_3(T, E, R, h):
    """Index 3 (8), (9): q of the new state, v not yet projected."""
    flags, memory, S = view(E, FLAGS), view(E, MEMORY), view(R, run.LINK)[run.LINK_SOLVER]
    ratio = h / memory[p.H_FACTORED] if memory[p.H_FACTORED] > 0.0 else 0.0
    budget = view(E, SETTINGS)[p.BUDGET] > 0.0
    if ratio < 0.8 or ratio > 1.25 or memory[p.RATE_LAST] > RENEW_RATE or budget:
        flags[p.RENEW] = 1
    flags[p.FRESH] = 0
    code = STALLED
    for trial in range(1 if budget else 3):  # with the matrix kept, a fresh one, one in every iteration
        if code == STALLED and (trial != 1 or flags[p.FRESH] == 0):
            flags[p.RENEW] = 1 if trial > 0 else flags[p.RENEW]
            start_index_3(T, E, R, h)
            code = correct(T, E, R, S, h, trial == 2)
    if code == CONVERGED:
        move(T, E, R, h)
    else:
        flags[p.RENEW] = 1
    return code


@helper
def move_by_acceleration(T, R, h):
    """q and v from a by the trapezoidal rule (6.2)."""
    q, v, a = view(T, s.Q), view(T, s.V), view(T, s.A)
    q0, v0, a0 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    for k in range(q.shape[0]):
        v[k] = v0[k] + 0.5 * h * (a0[k] + a[k])
        q[k] = q0[k] + 0.5 * h * (v0[k] + v[k])


@helper
def iterate(T, E, R, h, alpha, soft):
    """The sweeps of index 1 with one matrix; CONVERGED, STALLED or a reason to stop.

    With a soft penalty the part of a that a nearly dependent row leaves open hardly converges: corrections that stay
    small are taken for the end then.
    """
    counts, lam, before, first = view(R, run.COUNTS), view(E, TRIAL_LAM), 0.0, 0.0
    predict(T, R, h)
    run.copy(lam, view(R, run.NEW_LAM))
    for iteration in range(3 * int(view(E, SETTINGS)[p.MAX_ITERATIONS])):  # of linear convergence
        move_by_acceleration(T, R, h)
        broken = projection_kernels.evaluate(T) != OK or run.core(T, s.CORE_LEVELS) != OK
        counts[run.N_EVALUATIONS] += 1
        if broken:
            return run.EVALUATION_FAILED
        code = p.factor_mass(T, E, R, alpha) if iteration == 0 else OK
        if code != OK:
            return code
        rounding, x = p.sweep(T, E, lam)
        counts[run.N_NEWTON] += 1
        size, tiny = correction_size(T, R, x, 0.5 * h)
        verdict = judge(E, iteration, size, before, 0.0)
        first = size if iteration == 0 else first
        view(E, MEMORY)[p.RATE_MEAN] = (size / first) ** (1.0 / iteration) if iteration > 0 and not soft else 0.0
        if tiny or verdict == CONVERGED or (soft and iteration > 2 and size <= SOFT_LIMIT):
            return CONVERGED
        if rounding and iteration > 0:
            counts[run.N_STAGNATED] += 1  # corrections are amplified rounding
            return CONVERGED
        verdict = judge_budget(E, iteration, size, verdict)
        if verdict == CONVERGED:
            return CONVERGED
        if verdict == STALLED and not (soft and 0 < iteration < 3):  # at first a soft penalty corrects itself
            return STALLED
        before = size
    return STALLED


@helper
def step_index_1(T, E, R, h):
    """Index 1 (6), (7): a of the new state by sweeps, then q projected, v not yet.

    Close to a singular position (relative distance sigma) the sweeps multiply errors by h |v| / sigma, but by no more
    than h |v| sqrt(alpha) / 2: what fails there is tried with a softer penalty.
    """
    alpha = view(E, SETTINGS)[p.PENALTY]
    code = STALLED
    for trial in range(1 if view(E, SETTINGS)[p.BUDGET] > 0.0 else 2):
        if code == STALLED:
            code = iterate(T, E, R, h, alpha * SOFTER if trial == 1 else alpha, trial == 1)
            view(R, run.COUNTS)[run.N_STAGNATED] += trial
    if code == CONVERGED:
        move_by_acceleration(T, R, h)
        code = p.project_positions(T, E, R)
    return code
