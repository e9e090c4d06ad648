"""The penalty equations of the augmented Lagrangian family: matrix, projections, accelerations.

(M + alpha Phi_q^T Phi_q) x = r - alpha Phi_q^T b is solved as [M, Phi_q^T; Phi_q, -1/alpha] [x; mu] = [r; -b]: the same
x, with mu = alpha (Phi_q x + b), the increment of the multipliers. Nothing large is ever added to M, so alpha costs no
digits. Every pivot is safe, also with redundant rows and in singular positions: -1/alpha bounds what a row can do.

[CardenalMultiIndex]: bare numbers are its equations, 6.x and corrections are in docs/theory/augmented.md.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, slots, view
from index3.linear import contract
from index3.methods import projection_kernels, run

(
    LINK, SETTINGS, MEMORY, FLAGS, TALLY, CHANGES, SCALE, DELTA, TRIAL_Q, TRIAL_V, TRIAL_LAM,
) = SLOTS = slots(
    link=("i8", 1),  # handles: the run's table, the solver of the mass matrix
    settings=("f8", 1), memory=("f8", 1), flags=("i8", 1),
    tally=("i8", 1),  # steps by index 1 and 3, changes of index, overruns
    changes=("f8", 2),  # time and index of the start and of the changes
    scale=("f8", 1),  # of each row: (P M P^T)_rr / (P P^T)_rr^2 by the diagonal of M, the unit of its penalty
    delta=("f8", 1),  # q_{n+1} - q_n of the trial
    trial_q=("f8", 1), trial_v=("f8", 1), trial_lam=("f8", 1),
)  # fmt: skip

RUN, MASS_SOLVER = range(2)
"""Places in LINK."""
PENALTY, PENALTY_3, UPPER, LOWER, H_SWITCH, MAX_FAILURES, MAX_ITERATIONS, KIND, GUARD, BUDGET, ENERGY_UNIT = range(11)
"""Places in SETTINGS: alpha of projections and index 1, alpha of index 3 (0: by the step); bounds of the invariant's
change (0: from the tolerances); h of the change of index; failures in a row that force index 1; corrections per try; 1,
3, or 0 for both indices; local error of a step that is allowed, in parts of the tolerance; corrections after which a
step ends, converged or not (0: no such number); what atol = 1 is as an energy [J]."""
(
    H_FACTORED, RATE_LAST, ENERGY_OLD, KINETIC_MOST, WORK_MOST, WORK_STEP, ENERGY_TRIAL, KINETIC_TRIAL, ERROR_LAST,
    H_FAILED, RATE_MEAN, MEMORY_SIZE,
) = range(12)  # fmt: skip
"""Places in MEMORY: step of the kept factorisation, last rate of convergence, T + V at the last accepted state, largest
T and |work| so far, work in the step tried, T + V and T at its end, change of the invariant in the last accepted step,
step at which the iteration failed last, mean rate of convergence in the last step by index 1."""
INDEX, RENEW, FRESH, FAILURES, BROKEN_IN_ROW, WORKS, WAIT, FLAGS_SIZE = range(8)
"""Places in FLAGS: index in use, factorise before the next correction, the factorisation belongs to this step, rejected
tries in a row, failed evaluations in a row, whether anything is not conservative (ALONE if no reaction is in that),
steps until the size at which the iteration failed may be tried again."""
ALONE = 2
STEPS_1, STEPS_3, SWITCHES, OVERRUNS = range(4)
"""Places in TALLY."""
ROUNDING = 4e-15
"""What counts as rounding of coordinates, and of sums of some ten terms."""


@helper
def border(T, E, S, alpha):
    """Put -1/alpha (times each row's unit) on the rows' diagonal of MATRIX."""
    matrix, diagonal, scale, n = view(T, s.MATRIX), view(S, contract.DIAGONAL), view(E, SCALE), view(T, s.Q).shape[0]
    for k in range(scale.shape[0]):
        matrix[diagonal[n + k]] = -1.0 / (alpha * scale[k])


@helper
def factor(T, E, R, S, alpha):
    """Border and factor the matrix for the coefficients in COEF; forces and Jacobian stand at the present point."""
    counts, link = view(R, run.COUNTS), view(R, run.LINK)
    run.copy(view(T, s.Q_MASS), view(T, s.Q))
    if run.core(T, s.CORE_MATRIX) != OK:
        return run.EVALUATION_FAILED
    border(T, E, S, alpha)
    counts[run.N_FACTOR] += 1
    code = contract.factor(T, S)
    if code != OK:  # the run's own solver names the body to the user
        bad, own = view(S, contract.INFO), view(link[run.LINK_SOLVER], contract.INFO)
        own[contract.BAD_SCALAR], own[contract.STATUS] = bad[contract.BAD_SCALAR], bad[contract.STATUS]
    return OK if code == OK else run.BODY_SINGULAR if code == contract.BODY_SINGULAR else run.NOT_FINITE


@helper
def factor_mass(T, E, R, alpha):
    """The leading matrix of (6), factored at the present point."""
    coef = view(T, s.COEF)
    for k in range(coef.shape[0]):
        coef[k] = 0.0
    coef[s.C_M] = 1.0
    return factor(T, E, R, view(E, LINK)[MASS_SOLVER], alpha)


@helper
def solve_rows(T, E, values):
    """The mass-orthogonal step that lets the rows change by -values (6.3); left in the solver's X."""
    S = view(E, LINK)[MASS_SOLVER]
    x, n = view(S, contract.X), view(T, s.Q).shape[0]
    for k in range(n):
        x[k] = 0.0
    for k in range(values.shape[0]):
        x[n + k] = -values[k]
    contract.solve(T, S)
    return x


@helper
def project_positions(T, E, R):
    """Sweeps of q to Phi = 0 with the factored mass matrix; OK, 1 if q stays away from it, or a reason to stop."""
    q, phi, size, level = view(T, s.Q), view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.LEVEL)
    before = 1e300
    for _ in range(12):
        view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
        if run.core(T, s.CORE_FORCES) != OK:
            return run.EVALUATION_FAILED
        worst = 0.0
        for k in range(phi.shape[0]):
            if level[k] == 1:
                phi[k] = 0.0
            x = abs(phi[k]) / max(1.0, size[k])
            if not x <= worst:
                worst = x
        if worst <= ROUNDING or (worst > 0.3 * before and worst <= 1e-12):
            return OK
        if not worst < 2.0 * before:
            return 1
        before = worst
        x = solve_rows(T, E, phi)
        for k in range(q.shape[0]):
            q[k] += x[k]
    return OK if before <= 1e-10 else 1  # in a singular position sweeps are slow


@helper
def project_velocities(T, E, R):
    """Sweeps of v to Phi_q v + Phi_t = 0 with the factored mass matrix, down to rounding; the forces follow v."""
    v, rate = view(T, s.V), view(T, s.RATE)
    before, fastest = 1e300, 1.0
    for k in range(v.shape[0]):
        fastest = max(fastest, abs(v[k]))
    for _ in range(6):
        run.core(T, s.CORE_RATES)
        worst = 0.0
        for k in range(rate.shape[0]):
            worst = max(worst, abs(rate[k]))
        if worst <= ROUNDING * fastest or worst > 0.3 * before:
            break
        before = worst
        x = solve_rows(T, E, rate)
        for k in range(v.shape[0]):
            v[k] += x[k]
    return run.evaluate_forces(T, R)


@helper
def sweep(T, E, lam):
    """One sweep of (6), (7) as increments of a and lam; forces without reactions, Jacobian and GAMMA stand at (q, v).

    Returns whether the residuals before the sweep were rounding, and the solver's X with the increments.
    """
    S = view(E, LINK)[MASS_SOLVER]
    x, a, g, ma, gamma = view(S, contract.X), view(T, s.A), view(T, s.G), view(T, s.MA), view(T, s.GAMMA)
    phi_q, row, column, n = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL), view(T, s.A).shape[0]
    run.copy(view(T, s.Q_MASS), view(T, s.Q))
    run.core(T, s.CORE_MASS)
    forces, turns = 0.0, 1.0
    for k in range(n):
        x[k] = -(ma[k] + g[k])
        forces = max(forces, abs(ma[k]) + abs(g[k]))
        turns = max(turns, abs(a[k]))
    for k in range(gamma.shape[0]):
        x[n + k] = gamma[k]
        forces = max(forces, abs(lam[k]))
        turns = max(turns, abs(gamma[k]))
    for e in range(phi_q.shape[0]):
        x[column[e]] -= phi_q[e] * lam[row[e]]
        x[n + row[e]] -= phi_q[e] * a[column[e]]
    rounding = True
    for k in range(x.shape[0]):
        rounding = rounding and abs(x[k]) <= 10.0 * ROUNDING * (forces if k < n else turns)
    contract.solve(T, S)
    for k in range(n):
        a[k] += x[k]
    for k in range(lam.shape[0]):
        lam[k] += x[n + k]
    return rounding, x


@helper
def solve_accelerations(T, E, R):
    """Sweeps of a and lam to (6) at (t, q, v). From lam = 0 redundant rows get the multipliers that are shortest in the
    rows' units."""
    a, lam = view(T, s.A), view(T, s.LAM)
    if run.core(T, s.CORE_LEVELS) != OK:
        return run.EVALUATION_FAILED
    before = 1e300
    for _ in range(12):
        rounding, x = sweep(T, E, lam)
        size = 0.0
        for k in range(a.shape[0]):
            size = max(size, abs(x[k]))
        if rounding or size > 0.5 * before:
            break
        before = size
    return OK


@helper
def project_rates(T, E, R, renew):
    """At closed positions: project v, then a and lam there; with a fresh matrix, or this step's matrix and lam."""
    code = OK if projection_kernels.evaluate(T) == OK else run.EVALUATION_FAILED
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    if code == OK and renew:
        code = factor_mass(T, E, R, view(E, SETTINGS)[PENALTY])
    if code == OK:
        code = project_velocities(T, E, R)
    if code == OK:
        if not renew:
            run.copy(view(T, s.LAM), view(E, TRIAL_LAM))
        code = solve_accelerations(T, E, R)
    return code
