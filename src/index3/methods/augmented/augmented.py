"""Augmented Lagrangian formulations of index 1 and 3 with the trapezoidal rule, and the change between them: the step loop.

[Cardenal] = paper 001; bare numbers are its equations, 6.x are those of docs/theory/augmented.md. Ours differs:
- penalty matrices are bordered, not summed (`penalty`), and the multipliers take the linearised increment
  alpha (Phi + Phi_q dq) instead of alpha Phi(q + dq): equal to second order, without the rounding of Phi times alpha;
- index 3: the unknown is q_{n+1} - q_n, so that v and a lose fewer digits at small steps; alpha grows as 1/h^2 (with the
  paper's constant 1e7 the multipliers converge slowly at small steps); the iteration starts from extrapolated a and lam
  of the step before instead of lam = 0;
- both indices end a step with a and lam of (6) at the projected q, v. So residuals vanish at three levels, and nothing is
  to be recomputed when the index changes;
- (12) counts the work of non-conservative forces and of motions only.
Constants not in the paper: failures in a row before index 1 (4), rate of convergence that keeps a matrix (0.25).
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, view
from index3.linear import static_lu
from index3.methods import closure, run
from index3.methods.augmented import penalty as p
from index3.methods.augmented.penalty import DELTA, FLAGS, LINK, MEMORY, SETTINGS, TALLY, TRIAL_LAM, TRIAL_Q, TRIAL_V

(
    H_FACTORED, RATE_LAST, ENERGY_OLD, KINETIC_MOST, WORK_MOST, WORK_STEP, ENERGY_TRIAL, KINETIC_TRIAL, ERROR_LAST,
    H_FAILED,
) = range(10)  # fmt: skip
"""Places in MEMORY: step of the kept factorisation, last rate of convergence, T + V at the last accepted state, largest T
and |work| so far, work in the step tried, T + V and T at its end, change of the invariant in the last accepted step,
step at which the iteration failed last."""
INDEX, RENEW, FRESH, FAILURES, BROKEN_IN_ROW, WORKS, WAIT = range(7)
"""Places in FLAGS: index in use, factorise before the next correction, the factorisation belongs to this step, rejected
tries in a row, failed evaluations in a row, whether anything is not conservative, steps
until the size at which the iteration failed may be tried again."""
STEPS_1, STEPS_3, SWITCHES = range(3)
"""Places in TALLY."""
RENEW_RATE = 0.05
SOFTER, SOFT_LIMIT = 1e-4, 1e3
"""Index 1 in a singular position: part of the penalty to try again with, and correction that may be left in the usual unit."""
STRENGTH = 1e9
"""alpha h^2/4 of index 3 unless alpha is given. Per correction the multipliers converge by 1/(1 + mu alpha h^2/4), mu the
eigenvalues of Phi_q M^-1 Phi_q^T in the rows' units: 1e-4 in a chain of a hundred links, 0 in a singular position."""
ROW_TOLERANCE = 1e-12
"""Scaled position residual that the corrections of index 3 may leave: some thousand roundings."""
PATIENCE = 50
"""Steps that stay below the size at which the iteration failed, lest every second step fail (index 1 with stiff forces)."""
CONVERGED, STALLED = 0, 1


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
    flags[RENEW] = 0
    flags[FRESH] = 1
    view(E, MEMORY)[H_FACTORED] = h
    return p.factor(T, E, R, S, 0.25 * h * h * c[p.PENALTY_3] if c[p.PENALTY_3] > 0.0 else STRENGTH)


@helper
def fill_residual(T, S, h):
    """Minus h^2/4 (M a + Phi_q^T lam - Q) and -Phi into the right-hand side; whether all of it is rounding."""
    x, ma, g = view(S, static_lu.X), view(T, s.MA), view(T, s.G)
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
    return closed and worst <= 100.0 * p.ROUNDING * terms  # forces: sums of products of reactions and gradients


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
    """RMS of a correction of the velocities, scale times x, over what may be left; whether scale x is their rounding."""
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
    view(E, MEMORY)[RATE_LAST] = rate
    if rate >= 1.0 or (rate > 0.9 and iteration > 3):
        return STALLED
    return CONVERGED if rate / (1.0 - rate) * size <= 1.0 and rate * rows <= 1.0 else -1


@helper
def correct(T, E, R, S, h, full):
    """The iteration of index 3 for one step; CONVERGED, STALLED, or a reason to stop (10 and above)."""
    c, flags, counts, delta = view(E, SETTINGS), view(E, FLAGS), view(R, run.COUNTS), view(E, DELTA)
    x, lam, n, before = view(S, static_lu.X), view(T, s.LAM), view(T, s.Q).shape[0], 0.0
    for iteration in range(int(c[p.MAX_ITERATIONS])):
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
        solved = fill_residual(T, S, h)
        rows = row_size(T)
        call(view(R, run.LINK)[run.LINK_SOLVE], T, S)
        counts[run.N_NEWTON] += 1
        size, _ = correction_size(T, R, x, 2.0 / h)
        if solved and iteration > 0 and size > 1.0:
            counts[run.N_STAGNATED] += 1  # corrections are amplified rounding: near a singular position
            return CONVERGED
        tiny = is_tiny(T, x)
        verdict = judge(E, iteration, size, before, rows)
        for k in range(n):
            delta[k] += x[k]
        for k in range(lam.shape[0]):
            lam[k] += 4.0 / (h * h) * x[n + k]
        if tiny and rows <= 1.0:
            return CONVERGED
        if verdict >= 0:
            return verdict
        before = size
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
    """Index 3 (8), (9): solve for q, then project v and take a from (6)."""
    flags, memory, S = view(E, FLAGS), view(E, MEMORY), view(R, run.LINK)[run.LINK_SOLVER]
    ratio = h / memory[H_FACTORED] if memory[H_FACTORED] > 0.0 else 0.0
    if ratio < 0.8 or ratio > 1.25 or memory[RATE_LAST] > RENEW_RATE:
        flags[RENEW] = 1
    flags[FRESH] = 0
    code = STALLED
    for trial in range(3):  # with the matrix kept, a fresh one, one in every iteration
        if code == STALLED and (trial != 1 or flags[FRESH] == 0):
            flags[RENEW] = 1 if trial > 0 else flags[RENEW]
            start_index_3(T, E, R, h)
            code = correct(T, E, R, S, h, trial == 2)
    if code != CONVERGED:
        flags[RENEW] = 1
        return code
    move(T, E, R, h)
    return p.close_rates(T, E, R, True)


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
    counts, lam, before = view(R, run.COUNTS), view(E, TRIAL_LAM), 0.0
    predict(T, R, h)
    run.copy(lam, view(R, run.NEW_LAM))
    for iteration in range(3 * int(view(E, SETTINGS)[p.MAX_ITERATIONS])):  # of linear convergence
        move_by_acceleration(T, R, h)
        broken = closure.evaluate(T) != OK or run.core(T, s.CORE_LEVELS) != OK
        counts[run.N_EVALUATIONS] += 1
        if broken:
            return run.EVALUATION_FAILED
        code = p.factor_mass(T, E, R, alpha) if iteration == 0 else OK
        if code != OK:
            return code
        rounding, x = p.sweep(T, E, R, lam)
        counts[run.N_NEWTON] += 1
        size, tiny = correction_size(T, R, x, 0.5 * h)
        verdict = judge(E, iteration, size, before, 0.0)
        if tiny or verdict == CONVERGED or (soft and iteration > 2 and size <= SOFT_LIMIT):
            return CONVERGED
        if rounding and iteration > 0:
            counts[run.N_STAGNATED] += 1  # corrections are amplified rounding
            return CONVERGED
        if verdict == STALLED and not (soft and 0 < iteration < 3):  # at first a soft penalty corrects itself
            return STALLED
        before = size
    return STALLED


@helper
def step_index_1(T, E, R, h):
    """Index 1 (6), (7): a by sweeps, then project q and v, and take a from (6) there.

    Close to a singular position (relative distance sigma) the sweeps multiply errors by h |v| / sigma, but by no more than
    h |v| sqrt(alpha) / 2: what fails there is tried with a softer penalty.
    """
    alpha = view(E, SETTINGS)[p.PENALTY]
    code = STALLED
    for trial in range(2):
        if code == STALLED:
            code = iterate(T, E, R, h, alpha * SOFTER if trial == 1 else alpha, trial == 1)
            view(R, run.COUNTS)[run.N_STAGNATED] += trial
    if code == CONVERGED:
        move_by_acceleration(T, R, h)
        code = p.project_positions(T, E, R)
    return p.close_rates(T, E, R, False) if code == CONVERGED else code


@helper
def measure(T, E, R, t, h):
    """Energy at the end of the step tried and work in it, by Simpson's rule as `run.add_work`; T returns to the end."""
    memory, work, energy = view(E, MEMORY), view(R, run.WORK), view(T, s.ENERGY)
    if run.core(T, s.CORE_ENERGY) != OK:
        return run.EVALUATION_FAILED
    memory[KINETIC_TRIAL] = energy[s.KINETIC]
    memory[ENERGY_TRIAL] = energy[s.KINETIC] + energy[s.POTENTIAL]
    memory[WORK_STEP] = 0.0
    if view(E, FLAGS)[WORKS] == 0:
        return OK
    power = energy[s.POWER]
    q, v, lam, q1, v1 = view(T, s.Q), view(T, s.V), view(T, s.LAM), view(E, TRIAL_Q), view(E, TRIAL_V)
    q0, v0, a0, a1 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A), view(T, s.A)
    lam0, lam1 = view(R, run.NEW_LAM), view(E, TRIAL_LAM)
    run.copy(q1, q)
    run.copy(v1, v)
    run.copy(lam1, lam)
    for k in range(q.shape[0]):  # the dense output of degree 5 in the middle
        q[k] = 0.5 * (q0[k] + q1[k]) + h * (0.15625 * (v0[k] - v1[k]) + 0.015625 * h * (a0[k] + a1[k]))
        v[k] = 1.875 * (q1[k] - q0[k]) / h - 0.4375 * (v0[k] + v1[k]) + 0.03125 * h * (a1[k] - a0[k])
    for k in range(lam.shape[0]):
        lam[k] = 0.5 * (lam0[k] + lam1[k])
    view(T, s.TIME)[0] = t - 0.5 * h
    code = run.core(T, s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_ENERGY)
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    memory[WORK_STEP] = h / 6.0 * (work[run.POWER_NEW] + 4.0 * energy[s.POWER] + power)
    energy[s.POWER] = power
    run.copy(q, q1)
    run.copy(v, v1)
    run.copy(lam, lam1)
    view(T, s.TIME)[0] = t
    if code == OK:
        code = run.core(T, s.CORE_PLACE)
    return run.EVALUATION_FAILED if code != OK else OK


@helper
def bounds(E, R):
    """(U, L): the change of the invariant in a step that is allowed, and below which steps grow."""
    c, memory, atol = view(E, SETTINGS), view(E, MEMORY), view(R, run.ATOL)
    upper = c[p.UPPER]
    if upper == 0.0:
        least = atol[0]
        for k in range(atol.shape[0]):
            least = min(least, atol[k])
        kinetic = max(memory[KINETIC_MOST], memory[KINETIC_TRIAL])
        work = max(memory[WORK_MOST], abs(view(R, run.WORK)[run.WORK_NEW] + memory[WORK_STEP]))
        upper = view(R, run.TOLERANCE)[run.RTOL] * max(kinetic, work) + least
    return upper, c[p.LOWER] if c[p.LOWER] > 0.0 else upper / 250.0


@helper
def accept(T, E, R, t, h):
    """Make the step tried the accepted one; its work was measured already."""
    memory, tally, work, flags = view(E, MEMORY), view(E, TALLY), view(R, run.WORK), view(E, FLAGS)
    tally[STEPS_1 if flags[INDEX] == 1 else STEPS_3] += 1
    flags[FAILURES] = 0
    flags[BROKEN_IN_ROW] = 0
    code = run.accept_state(T, R, t, h)
    work[run.WORK_NEW] = work[run.WORK_OLD] + memory[WORK_STEP]
    work[run.POWER_NEW] = view(T, s.ENERGY)[s.POWER]
    memory[ENERGY_OLD] = memory[ENERGY_TRIAL]
    memory[KINETIC_MOST] = max(memory[KINETIC_MOST], memory[KINETIC_TRIAL])
    memory[WORK_MOST] = max(memory[WORK_MOST], abs(work[run.WORK_NEW]))
    return code


@helper
def reject(E, R, h, factor):
    """A smaller step; index 1 if it is small, or after several failures (6.5)."""
    c, flags, clock = view(E, SETTINGS), view(E, FLAGS), view(R, run.CLOCK)
    view(R, run.COUNTS)[run.N_REJECTED] += 1
    flags[FAILURES] += 1
    clock[run.H_NEXT] = h * factor
    if c[p.KIND] == 0.0 and flags[INDEX] == 3:
        if clock[run.H_NEXT] < c[p.H_SWITCH] or flags[FAILURES] > c[p.MAX_FAILURES]:
            flags[INDEX] = 1
            flags[FAILURES] = 0
            view(E, TALLY)[SWITCHES] += 1


@helper
def choose_step(E, R, h, error, upper, lower):
    """The size of the next step after an accepted one, and back to index 3 if it grows beyond the limit (6.4, 6.5)."""
    c, flags, clock, memory = view(E, SETTINGS), view(E, FLAGS), view(R, run.CLOCK), view(E, MEMORY)
    most = max(error, memory[ERROR_LAST])  # the invariant's change passes through zero: one small one says little
    memory[ERROR_LAST] = error
    flags[WAIT] = max(0, flags[WAIT] - 1)
    if most < lower:
        factor = min(2.0, (0.8 * upper / max(error, 1e-6 * lower)) ** (1.0 / 3.0))
        if flags[WAIT] > 0:
            factor = max(1.0, min(factor, 0.8 * memory[H_FAILED] / h))
        clock[run.H_NEXT] = max(clock[run.H_NEXT] if h < clock[run.H_NEXT] else 0.0, h * factor)
        if c[p.KIND] == 0.0 and flags[INDEX] == 1 and clock[run.H_NEXT] > c[p.H_SWITCH]:
            flags[INDEX] = 3
            flags[RENEW] = 1
            view(E, TALLY)[SWITCHES] += 1


@helper
def attempt(T, E, R):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    clock, flags, counts, memory = view(R, run.CLOCK), view(E, FLAGS), view(R, run.COUNTS), view(E, MEMORY)
    t, h = run.next_time(R)
    if run.too_small(R, t, h):
        return run.STEP_TOO_SMALL
    view(T, s.TIME)[0] = t
    code = step_index_1(T, E, R, h) if flags[INDEX] == 1 else step_index_3(T, E, R, h)
    fixed = clock[run.STEP] > 0.0
    if code == CONVERGED:
        code = measure(T, E, R, t, h)
    if code != CONVERGED:
        counts[run.N_NEWTON_FAILED] += 1
        flags[BROKEN_IN_ROW] += 1 if code != STALLED else 0
        if fixed or flags[BROKEN_IN_ROW] > 12:
            return run.NEWTON_FAILED if code == STALLED else code
        reject(E, R, h, 0.5 if code == STALLED else 0.25)
        memory[H_FAILED] = h
        flags[WAIT] = PATIENCE
        return OK
    if fixed:
        return accept(T, E, R, t, h)
    error = abs(memory[ENERGY_TRIAL] - memory[ENERGY_OLD] - memory[WORK_STEP])
    upper, lower = bounds(E, R)
    if not error <= upper:
        reject(E, R, h, max(0.1, min(0.5, (0.8 * upper / error) ** (1.0 / 3.0))))
        return OK
    choose_step(E, R, h, error, upper, lower)
    return accept(T, E, R, t, h)


@kernel
def advance(T, E):
    """Step until the end, a full block of output, the budget of steps, or a reason to stop."""
    R = view(E, LINK)[p.RUN]
    budget = run.step_budget(R)
    while True:
        code = run.before_step(T, R, budget)
        if code != run.GO_ON:
            return code
        code = attempt(T, E, R)
        if code != OK:
            return code
