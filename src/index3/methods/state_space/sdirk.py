"""Diagonally implicit Runge-Kutta methods in the state space: the stages of four methods.

[NegrutThesis] sections 3.2-3.4, 4.1-4.3, 4.5; bare numbers are its equations, corrections in
docs/theory/state_space.md. A stage has known parts q_b, v_b and the unknown acceleration a: q* = q_b + (gamma h)^2 a,
v* = v_b + gamma h a, then (q, v) from (q*, v*) by recovery (`frame`), with M a + Phi_q^T lam = Q and Phi_q a = gamma
there. The trapezoidal rule is a tableau of two stages, the first explicit.
Ours differs:
- the integration Jacobian (3.46), (3.103) is used before its reduction: M - gamma h Q_v + (gamma h)^2 ((M a)_q +
  (Phi_q^T lam)_q - Q_q) bordered by Phi_q, sparse, without the derivatives of the recovery, which are smaller by h; it
  is kept over stages and steps, and a new h costs a factorisation but no evaluation;
- "statespace" and "firstorder" iterate on independent accelerations only (dependent ones and multipliers follow in
  every iteration), "descriptor" on a and lam (lam is fitted to the starting a once per stage); the unknown of
  "firstorder", z_i = h sum a_ij g_j, is equivalent: gamma h a_i = z_i' - h sum_{j<i} a_ij a_j;
- the convergence test and forecast of 4.5.2 serve all of them (future work in the thesis's chapter 6 (d)).
Constants not in the thesis: a Jacobian is renewed for the next step when corrections shrink by less than 4, M and Phi_q
in each stage by SLOW; points of the iteration are closed by CLOSER.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, slots, view
from index3.linear import contract
from index3.methods import manifold, run
from index3.methods.rounding import part_of
from index3.methods.state_space import frame

(
    RUN, FRAME, SETTINGS, MEMORY, FLAGS, WEIGHT_A, WEIGHT_MU, PLACES, ERROR_V, ERROR_Q, START_GAP, STARTS,
    STAGE_A, STAGE_LAM, STAGE_N, FIRSTS, KNOWN_Q, KNOWN_V, ERR_Q, ERR_V, OUT_Q, OUT_V,
) = SLOTS = slots(
    run=("i8", 1), frame=("i8", 1),  # handles of the run's table and of the frame
    settings=("f8", 1), memory=("f8", 1), flags=("i8", 1),
    weight_a=("f8", 2), weight_mu=("f8", 2), places=("f8", 1),  # A, A A, c
    error_v=("f8", 1), error_q=("f8", 1),  # b - bhat, (b - bhat) A
    start_gap=("f8", 1),  # weights of (a_n, stages), see `Tableau.start_gap`
    starts=("f8", 2),  # starting values from (a_n, stages before)
    stage_a=("f8", 2), stage_lam=("f8", 2),
    stage_n=("f8", 2),  # what the recovery added to the stages' velocities; empty without velocity-level rows
    firsts=("f8", 2),  # of each stage in the last step: what its first correction changed, see `correction_size`
    known_q=("f8", 1), known_v=("f8", 1),
    err_q=("f8", 1), err_v=("f8", 1), out_q=("f8", 1), out_v=("f8", 1),  # error as it comes, and as it is judged
)  # fmt: skip

KAPPA, MAX_ITERATIONS, RENEW_RATE, FILTERED, REDUCED, EXPONENT, GAMMA, LASTING = range(8)
"""Places in SETTINGS. KAPPA of (4.91); REDUCED: only independent accelerations are unknown; EXPONENT of the control;
LASTING: steps for which slow convergence is remembered, see SLOW."""
H_FACTORED, ETA_OLD, WORST_RATE, RATE_LAST, TURNING = range(5)
"""Places in MEMORY: step of the kept factorisation, last eta, slowest convergence of this step, last rate, steps in
which each stage is still to have masses and directions of its own."""
RENEW, FRESH, AFTER_REJECTION, FAILED_IN_ROW = range(4)
"""Places in FLAGS: linearise before the next correction; whether the linearisation belongs to this step."""
CONVERGED, STALLED, GO_ON = run.CONVERGED, run.STALLED, 2
EPSILON = 2.2e-16
CLOSER = 1e-3
"""What a point of the iteration may lie off the constraints, in parts of the correction that led to it: corrections
shrink by 3 to 100 each, so the next one hardly sees it. With 1e-2 it did: Andrews' mechanism took a quarter more steps
at twice the error."""
FIXED_SETTLED, SHRINKS = 1e-9, 0.5
"""With constant steps: last correction of multipliers, in parts of the largest one (else it is kappa). And part of the
one before that a correction must be at most, or a new Jacobian is taken."""
FIXED_KAPPA = 0.01
"""With constant steps: what is left in a stage adds up over thousands of steps, and would hide the order."""
MISSED = 10.0
"""How many times smaller a first correction may be than that of the last step, for which its point was closed, before
the point is closed anew."""
SLOW = 0.05
"""Rate in a step above which the stages of the next LASTING steps get M and Phi_q of their own: bodies turn within a
step, and forces change less. Half of the corrections are left where that is so; elsewhere one step in 20 shows it."""


@helper
def add_recovered(E, target, weights, count, h):
    """target += h sum of weights times what the recovery added to velocities, where velocity-level rows make it count.

    Without such rows it lies along the directions of the recovery of positions, which leaves nothing of it.
    """
    past = view(E, STAGE_N)
    for j in range(min(count, past.shape[0])):
        for k in range(target.shape[0]):
            target[k] += h * weights[j] * past[j, k]


@helper
def start_stage(T, E, R, i, t, h):
    """Known parts of stage i (3.1), its time, and starting values."""
    A, mu, c, starts = view(E, WEIGHT_A), view(E, WEIGHT_MU), view(E, PLACES), view(E, STARTS)
    known_q, known_v, past_a, past_lam = view(E, KNOWN_Q), view(E, KNOWN_V), view(E, STAGE_A), view(E, STAGE_LAM)
    q0, v0, a0, lam0, a, lam = (
        view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A), view(R, run.NEW_LAM), view(T, s.A), view(T, s.LAM),
    )  # fmt: skip
    view(T, s.TIME)[0] = t if c[i] == 1.0 else t - (1.0 - c[i]) * h
    for k in range(known_q.shape[0]):
        known_q[k] = q0[k] + h * c[i] * v0[k]
        known_v[k] = v0[k]
        a[k] = starts[i, 0] * a0[k]
    for k in range(lam.shape[0]):
        lam[k] = starts[i, 0] * lam0[k]
    for j in range(i):
        for k in range(known_q.shape[0]):
            known_q[k] += h * h * mu[i, j] * past_a[j, k]
            known_v[k] += h * A[i, j] * past_a[j, k]
            a[k] += starts[i, j + 1] * past_a[j, k]
        for k in range(lam.shape[0]):
            lam[k] += starts[i, j + 1] * past_lam[j, k]
    add_recovered(E, known_q, A[i], i, h)
    last = view(R, run.CLOCK)[run.H_LAST]  # 0 before the first step
    first = i == 0 or (i == 1 and A[0, 0] == 0.0)
    if first and h * c[i] <= 2.0 * last:  # no earlier implicit stage: the slope of the last step
        old_a, old_lam = view(R, run.OLD_A), view(R, run.OLD_LAM)
        x = h * c[i] / last
        for k in range(a.shape[0]):
            a[k] += x * (a0[k] - old_a[k])
        for k in range(lam.shape[0]):
            lam[k] += x * (lam0[k] - old_lam[k])


@helper
def move(T, E, g):
    """The formula's q and v for the present accelerations."""
    q, v, a, known_q, known_v = view(T, s.Q), view(T, s.V), view(T, s.A), view(E, KNOWN_Q), view(E, KNOWN_V)
    for k in range(q.shape[0]):
        q[k] = known_q[k] + g * g * a[k]
        v[k] = known_v[k] + g * a[k]


@helper
def recover_accelerations(T, F, still):
    """Dependent accelerations: Phi_q a = gamma, relative to the largest; independent ones untouched."""
    a, gamma, rest, fixed = view(T, s.A), view(T, s.GAMMA), view(T, s.RATE), view(F, frame.FIXED)
    C, before, largest = view(F, frame.HANDLES)[frame.PROJECTOR], 1e300, 1.0
    for k in range(a.shape[0]):
        largest = max(largest, abs(a[k]))
    for _ in range(40):
        residual = 0.0
        for k in range(gamma.shape[0]):
            rest[k] = -gamma[k]
        frame.add_rows(T, view(T, s.PHI_Q), a, 1.0, rest, 0)
        for k in range(gamma.shape[0]):
            residual = max(residual, abs(rest[k]))
        if residual <= still * largest or not residual < 0.9 * before:
            break
        before = residual
        x = manifold.solve_rows(T, C, rest)
        for k in range(a.shape[0]):
            if fixed[k] == 0:
                a[k] += x[k]


@helper
def fill_residual(T, S):
    """Minus the equations of motion and of the constraints' accelerations into the solver's right-hand side."""
    x, ma, g, gamma, n = view(S, contract.X), view(T, s.MA), view(T, s.G), view(T, s.GAMMA), view(T, s.Q).shape[0]
    for k in range(n):
        x[k] = -(ma[k] + g[k])
    for k in range(gamma.shape[0]):
        x[n + k] = gamma[k]
    frame.add_rows(T, view(T, s.PHI_Q), view(T, s.A), -1.0, x, n)


@helper
def refresh_multipliers(T, S, passes):
    """Choose lam for the present accelerations: no force along the constraints is left over. G is linear in lam."""
    x, ma, g, lam, n = view(S, contract.X), view(T, s.MA), view(T, s.G), view(T, s.LAM), view(T, s.Q).shape[0]
    phi_q, row, column = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL)
    for _ in range(passes):
        for k in range(n):
            x[k] = -(ma[k] + g[k])
        for k in range(lam.shape[0]):
            x[n + k] = 0.0
        contract.solve(T, S)
        for k in range(lam.shape[0]):
            lam[k] += x[n + k]
        for e in range(phi_q.shape[0]):
            g[column[e]] += phi_q[e] * x[n + row[e]]


@helper
def evaluate_stage(T, E, F, g, closed, still, forecast):
    """q and v of the stage on the manifold, then everything the residual needs there."""
    move(T, E, g)
    code = frame.project_within(T, F, closed, still, forecast)
    if code != OK:
        return code
    if run.core(T, s.CORE_LEVELS) != OK:
        return run.EVALUATION_FAILED
    if view(E, SETTINGS)[REDUCED] == 1.0:
        recover_accelerations(T, F, still if still > 1e-14 else 0.0)
    run.copy(view(T, s.Q_MASS), view(T, s.Q))
    return run.EVALUATION_FAILED if run.core(T, s.CORE_MASS) != OK else OK


@helper
def factorise(T, E, R, F, S, h):
    """The iteration matrix for this step size; a rank lower than seen before is used once only."""
    flags, memory, code = view(E, FLAGS), view(E, MEMORY), OK
    if flags[RENEW] == 1:
        code = frame.linearise(T, F)
        run.note_acting(T, R)
        flags[FRESH] = 1
    if code == OK:
        code = frame.combine(T, F, R, S, view(E, SETTINGS)[GAMMA] * h)
    memory[H_FACTORED] = h
    flags[RENEW] = 1 if code != OK or contract.lost_rank(S) else 0
    return code


@helper
def renew_masses(T, E, F):
    """M and Phi_q of the iteration matrix at the present point; what forces add to it stays."""
    run.copy(view(T, s.Q_MASS), view(T, s.Q))
    view(E, MEMORY)[H_FACTORED] = 0.0
    return run.EVALUATION_FAILED if frame.fill_with(T, F, view(F, frame.MASS), 1.0, 0.0, 0.0) != OK else OK


@helper
def correction_size(T, R, S, g, fixed):
    """What the correction changes: RMS over q and v, in parts of what is allowed; `part_of`; in parts of v, of q."""
    x, q, v, n = view(S, contract.X), view(T, s.Q), view(T, s.V), view(T, s.Q).shape[0]
    newton_tol = view(R, run.TOLERANCE)[run.NEWTON_TOL]
    total, most, largest, far = 0.0, 0.0, 1.0, 1.0
    states, most_x, largest_x = view(R, run.LIMITS)[run.FIRST_STATE], 0.0, 0.0
    for k in range(n):
        dv = g * x[k]
        largest, far = max(largest, abs(v[k])), max(far, abs(q[k]))
        most = max(most, abs(dv))
        if k >= states:
            most_x, largest_x = max(most_x, abs(dv)), max(largest_x, abs(v[k]))
        if fixed:
            y = dv / (newton_tol * max(1.0, abs(v[k])))
            total += 2.0 * y * y
        else:
            y, z = dv / run.weight_v(R, k), g * dv / run.weight(R, k)
            total += y * y + z * z
    size = (total / (2.0 * n)) ** 0.5
    return size, part_of(size, most, largest, most_x, largest_x), most / largest, g * most / far


@helper
def iterations(E, fixed):
    """Corrections allowed: with constant steps three times as many, for these cannot shrink and go down to 1e-11."""
    return int(view(E, SETTINGS)[MAX_ITERATIONS]) * (3 if fixed else 1)


@helper
def judge(E, R, iteration, size, before, kappa, fixed, part):
    """CONVERGED, STALLED (4.5.2 (c1), (c2)), or GO_ON; keeps eta for the next first iteration (4.91).

    The rate is the mean of the last two: multipliers left over from another point enter the accelerations in one
    correction and leave them in the next, so that single rates alternate.
    """
    memory, most = view(E, MEMORY), iterations(E, fixed)
    if not size < 1e200:
        return STALLED
    if part <= 1e-14:
        return CONVERGED
    if iteration == 0:
        memory[ETA_OLD] = max(memory[ETA_OLD], EPSILON) ** 0.8
        eta = 1e3 if fixed else memory[ETA_OLD]
        return CONVERGED if eta * size <= kappa else GO_ON
    last = size / before
    rate = last if iteration == 1 else sqrt(last * memory[RATE_LAST])
    memory[RATE_LAST] = last
    if rate > 0.5 and part <= 1e-11:  # rounding: the residual's, amplified by stiffness or near a singular position
        view(R, run.COUNTS)[run.N_STAGNATED] += 1
        return CONVERGED
    if rate >= 1.0:
        return STALLED if iteration > 1 or last > 2.0 else GO_ON
    if iteration > 1:
        memory[WORST_RATE] = max(memory[WORST_RATE], rate)
    trusted = max(rate, last, 0.1 if fixed else 0.03)  # the first rates are often better than those that follow
    eta = trusted / (1.0 - trusted) if trusted < 1.0 else 1e3
    if eta * size <= kappa:
        memory[ETA_OLD] = eta
        return CONVERGED
    left = most - 1 - iteration
    return STALLED if iteration > 1 and rate ** float(left) / (1.0 - rate) * size > kappa else GO_ON


@helper
def judge_multipliers(E, loose, before, limit, last):
    """CONVERGED, STALLED or GO_ON by what the correction changes multipliers by, in parts of the largest one.

    Where only independent accelerations are unknown they converge without the multipliers of a part that is driven
    altogether, and these never converge with the Jacobian of a position a quarter of a turn ago. With one of this step
    they are as good as they get.
    """
    fresh = view(E, FLAGS)[FRESH] == 1
    if view(E, SETTINGS)[REDUCED] == 0.0 or loose <= limit or (last and fresh):
        return CONVERGED
    if loose < SHRINKS * before and not last:
        return GO_ON
    return CONVERGED if fresh else STALLED


@helper
def loosest(T, S):
    """The largest correction of a multiplier, in parts of the largest multiplier."""
    x, lam, n, most, largest = view(S, contract.X), view(T, s.LAM), view(T, s.Q).shape[0], 0.0, 0.0
    for k in range(lam.shape[0]):
        most, largest = max(most, abs(x[n + k])), max(largest, abs(lam[k]))
    return most / largest if most > 0.0 and largest > 0.0 else 0.0


@helper
def solve_stage(T, E, R, F, S, i, t, h):
    """Newton's iteration of one stage; leaves its a and lam in T and in the table of stages."""
    flags, memory, c, counts = view(E, FLAGS), view(E, MEMORY), view(E, SETTINGS), view(R, run.COUNTS)
    fixed, a, lam, x = view(R, run.CLOCK)[run.STEP] > 0.0, view(T, s.A), view(T, s.LAM), view(S, contract.X)
    g, n, before, loose, first = c[GAMMA] * h, view(T, s.A).shape[0], 0.0, 1e300, view(E, FIRSTS)[i]
    part, moved, iteration, guessed = first[0], first[1], 0, True
    singular = view(S, contract.INFO)[contract.N_ZERO] > 0 or view(F, frame.FLAGS)[frame.SINGULAR] == 1
    closer = 0.0 if singular else CLOSER  # rows left out hold as far as others do
    kappa, settled = FIXED_KAPPA if fixed else c[KAPPA], FIXED_SETTLED if fixed else c[KAPPA]
    closed = 1e-13 if fixed else max(1e-13, 1e-4 * kappa * view(R, run.TOLERANCE)[run.RTOL])
    start_stage(T, E, R, i, t, h)
    frame.reset_normals(F)
    while iteration < iterations(E, fixed):
        code = evaluate_stage(T, E, F, g, max(closed, closer * moved), max(1e-14, closer * part), not guessed)
        if code != OK:
            return code
        if guessed and view(F, frame.FLAGS)[frame.SINGULAR] == 1:
            flags[RENEW] = 1
        if guessed and memory[TURNING] > 0.0 and flags[RENEW] == 0:
            code = renew_masses(T, E, F)
        if code == OK and (flags[RENEW] == 1 or memory[H_FACTORED] != h):
            code = factorise(T, E, R, F, S, h)
        if code != OK:
            return code
        if iteration == 0 or c[REDUCED] == 1.0:
            refresh_multipliers(T, S, 2 if iteration == 0 else 1)
        fill_residual(T, S)
        contract.solve(T, S)
        counts[run.N_NEWTON] += 1
        size, rounding, part, moved = correction_size(T, R, S, g, fixed)
        if guessed:
            guessed = False
            rough = first[1] > max(closed / CLOSER, MISSED * moved) or first[0] > max(1e-14 / CLOSER, MISSED * part)
            first[0], first[1] = part, moved
            if rough and closer > 0.0:
                continue  # the point was closed for a larger correction
        verdict, looser, loose = judge(E, R, iteration, size, before, kappa, fixed, rounding), loose, loosest(T, S)
        if verdict == CONVERGED:
            verdict = judge_multipliers(E, loose, looser, settled, iteration == iterations(E, fixed) - 1)
        if verdict == STALLED:
            return STALLED
        for k in range(n):
            a[k] += x[k]
        for k in range(lam.shape[0]):
            lam[k] += x[n + k]
        if verdict == CONVERGED:
            run.copy(view(E, STAGE_A)[i], a)
            run.copy(view(E, STAGE_LAM)[i], lam)
            if view(E, STAGE_N).shape[0] > 0:
                run.copy(view(E, STAGE_N)[i], view(F, frame.NORMAL_V))
            return CONVERGED
        before, iteration = size, iteration + 1
    return STALLED


@helper
def solve_stages(T, E, R, F, S, t, h):
    """All stages, then the new state on the manifold to rounding."""
    A, last = view(E, WEIGHT_A), view(E, PLACES).shape[0] - 1
    view(E, MEMORY)[WORST_RATE] = 0.0
    view(F, frame.SETTINGS)[frame.SHARE] = view(E, SETTINGS)[GAMMA] * h
    for i in range(last + 1):
        if A[i, i] == 0.0:
            run.copy(view(E, STAGE_A)[i], view(R, run.NEW_A))
            run.copy(view(E, STAGE_LAM)[i], view(R, run.NEW_LAM))
        else:
            code = solve_stage(T, E, R, F, S, i, t, h)
            if code != CONVERGED:
                return code
    move(T, E, view(E, SETTINGS)[GAMMA] * h)
    return frame.project_within(T, F, 1e-13, 1e-14, True)
