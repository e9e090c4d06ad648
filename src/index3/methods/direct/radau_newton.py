"""The three coupled stages of Radau IIA on the stabilised index-2 equations: a real and a complex system per iteration.

[HairerWanner] IV.8, VII.4, [GearGuptaLeimkuhler]. With A the matrix of the formula and a_j the accelerations of stages

    q_i = q_n + c_i h v_n + h^2 sum (A A)_ij a_j + p_i,   Phi(q_i) = 0,    M a_i + Phi_q^T lam_i = Q,
    v_i = v_n + h sum A_ij a_j,                           Phi_q v_i + Phi_t = 0,

p_i along M^-1 Phi_q^T of the start of the step. M, D = -Q_v, K = (M a)_q + (Phi_q^T lam)_q - Q_q and Phi_q are taken at
one point, the middle stage, so that a_i = sum_k s_ik w_k, with s_k the eigenvectors of A, splits the linear system: for
each eigenvalue z of A (one real, one pair of conjugates) one bordered system with M + z h D + (z h)^2 K and right-hand
sides sum_i l_ki r_i for the forces, sum_i l_ki (Phi_q v_i + Phi_t) / (z h) for the rows. Left out of it are the
derivatives of the rates by q (but for velocity-level rows), which are smaller by h. Matrices are kept over steps; a new
h costs two factorisations and no evaluation.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.methods import manifold, run
from index3.methods.direct import radau_system as rs
from index3.methods.rates import length_of
from index3.methods.rounding import part_of

CONVERGED, STALLED, GO_ON = run.CONVERGED, run.STALLED, 2
MIDDLE = 1
FIXED_KAPPA = 0.01
"""With constant steps: what is left in a step adds up over thousands of them, and would hide the order."""
STRICT, LOOSE = 1e-3, 1e-2
"""Bounds of what the iteration may leave in a step if it was not told: errors of steps are far below loose tolerances,
and what is left of every iteration adds up. Above LOOSE errors of a spinning top grow, below STRICT none falls."""
ROUNDING = 4e-15


@helper
def predict(E, R, h):
    """Starting values: the parabola through the stages of the last step; before the first one the start."""
    p = view(E, rs.STAGE_P)
    c, past, lams = view(E, rs.NODES), view(E, rs.PAST_A), view(E, rs.PAST_LAM)
    a, lam, before = view(E, rs.STAGE_A), view(E, rs.STAGE_LAM), view(E, rs.MEMORY)[rs.H_PAST]
    for i in range(rs.STAGES):
        for k in range(p.shape[1]):
            p[i, k] = 0.0
        if before == 0.0:
            run.copy(a[i], view(R, run.NEW_A))
            run.copy(lam[i], view(R, run.NEW_LAM))
            continue
        for k in range(a.shape[1]):
            a[i, k] = 0.0
        for k in range(lam.shape[1]):
            lam[i, k] = 0.0
        for j in range(rs.STAGES):
            w = 1.0
            for o in range(rs.STAGES):
                if o != j:
                    w *= (1.0 + c[i] * h / before - c[o]) / (c[j] - c[o])
            for k in range(a.shape[1]):
                a[i, k] += w * past[j, k]
            for k in range(lam.shape[1]):
                lam[i, k] += w * lams[j, k]


@helper
def move(E, R, h):
    """q and v of the stages for their present accelerations."""
    c, A, mu, a, q, v = (
        view(E, rs.NODES), view(E, rs.WEIGHT_A), view(E, rs.WEIGHT_MU),
        view(E, rs.STAGE_A), view(E, rs.STAGE_Q), view(E, rs.STAGE_V),
    )  # fmt: skip
    q0, v0, p = view(R, run.NEW_Q), view(R, run.NEW_V), view(E, rs.STAGE_P)
    for i in range(rs.STAGES):
        g, m0, m1, m2 = h * c[i], h * h * mu[i, 0], h * h * mu[i, 1], h * h * mu[i, 2]
        w0, w1, w2 = h * A[i, 0], h * A[i, 1], h * A[i, 2]
        for k in range(q0.shape[0]):
            x, y, z, u = a[0, k], a[1, k], a[2, k], v0[k]
            q[i, k] = q0[k] + (g * u + (m0 * x + m1 * y + m2 * z)) + p[i, k]
            v[i, k] = u + (w0 * x + w1 * y + w2 * z)


@helper
def evaluate_stage(T, E, R, i, t, h, linearised):
    """T at stage i, and what is left of its equations: forces, rates of rows over h, rows.

    How marker Jacobians change along v is found where the equations are `linearised`.
    """
    c, rest, counts, n = view(E, rs.NODES)[i], view(E, rs.RESIDUAL), view(R, run.COUNTS), view(T, s.Q).shape[0]
    view(T, s.TIME)[0] = t if c == 1.0 else t - (1.0 - c) * h
    run.copy(view(T, s.Q), view(E, rs.STAGE_Q)[i])
    run.copy(view(T, s.Q_MASS), view(E, rs.STAGE_Q)[i])
    run.copy(view(T, s.V), view(E, rs.STAGE_V)[i])
    run.copy(view(T, s.A), view(E, rs.STAGE_A)[i])
    run.copy(view(T, s.LAM), view(E, rs.STAGE_LAM)[i])
    counts[run.N_EVALUATIONS] += 1
    code = run.core(T, s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_MASS)
    if code == OK:
        code = run.core(T, s.CORE_JACOBIAN if linearised else s.CORE_GRADIENTS)
    if code != OK:
        return run.EVALUATION_FAILED
    run.core(T, s.CORE_RATES)
    ma, g, phi, rate, level = view(T, s.MA), view(T, s.G), view(T, s.PHI), view(T, s.RATE), view(T, s.LEVEL)
    for k in range(n):
        rest[i, k] = -(ma[k] + g[k])
    for k in range(phi.shape[0]):
        rest[i, n + k] = -rate[k] / h
        view(E, rs.STAGE_PHI)[i, k] = phi[k] if level[k] == 0 else 0.0
    return OK


@helper
def project_stages(T, E, h):
    """Move p_i along the directions of the start by the step that closes Phi(q_i).

    The correction of a to come takes the rates to zero, and so moves Phi(q_i) by -h sum A_ij (rates of j).
    """
    A, phi, rest, p = view(E, rs.WEIGHT_A), view(E, rs.STAGE_PHI), view(E, rs.RESIDUAL), view(E, rs.STAGE_P)
    gap, level, n = view(T, s.GAMMA), view(T, s.LEVEL), p.shape[1]
    for i in range(rs.STAGES):
        for k in range(gap.shape[0]):
            gap[k] = phi[i, k]
            if level[k] == 0:
                for j in range(rs.STAGES):
                    gap[k] += h * h * A[i, j] * rest[j, n + k]
        x = manifold.solve_rows(T, view(E, rs.LINK)[rs.PROJECTOR], gap)
        for k in range(n):
            p[i, k] += x[k]
            view(E, rs.STAGE_Q)[i, k] = x[k]  # the move itself, for `correct`


@helper
def correct(T, E, R, h):
    """Apply the corrections in RESIDUAL; their RMS in q and v of the stages over the weights, largest part of v."""
    A, mu, rest = view(E, rs.WEIGHT_A), view(E, rs.WEIGHT_MU), view(E, rs.RESIDUAL)
    a, lam = view(E, rs.STAGE_A), view(E, rs.STAGE_LAM)
    n, fixed, tolerance = a.shape[1], view(R, run.CLOCK)[run.STEP] > 0.0, view(R, run.TOLERANCE)[run.NEWTON_TOL]
    moved, v, total, most, largest = view(E, rs.STAGE_Q), view(E, rs.STAGE_V), 0.0, 0.0, 1.0
    states, most_x, largest_x = view(R, run.LIMITS)[run.FIRST_STATE], 0.0, 0.0
    for k in range(n):
        per_q = 1.0 / (h * tolerance if fixed else run.weight(R, k))
        per_v = 1.0 / (tolerance if fixed else run.weight_v(R, k))
        x, y, z = rest[0, k], rest[1, k], rest[2, k]
        for i in range(rs.STAGES):
            d_q = moved[i, k] + h * h * (mu[i, 0] * x + mu[i, 1] * y + mu[i, 2] * z)
            d_v = h * (A[i, 0] * x + A[i, 1] * y + A[i, 2] * z)
            size = abs(v[i, k])
            most, largest = max(most, abs(d_v)), max(largest, size)
            if k >= states:
                most_x, largest_x = max(most_x, abs(d_v)), max(largest_x, size)
            d_q, d_v = d_q * per_q, d_v * (per_v / max(1.0, size) if fixed else per_v)
            total += d_q * d_q + d_v * d_v
        a[0, k] += x
        a[1, k] += y
        a[2, k] += z
    for i in range(rs.STAGES):
        for k in range(lam.shape[1]):
            lam[i, k] += rest[i, n + k]
    size = sqrt(total / (2.0 * rs.STAGES * n))
    return size, part_of(size, most, largest, most_x, largest_x)


@helper
def row_size(T):
    """Largest scaled residual of rows and of their rates at T's stage."""
    phi, rate, size, v, worst, fastest = (
        view(T, s.PHI), view(T, s.RATE), view(T, s.PHI_SCALE), view(T, s.V), 0.0, 1.0,
    )  # fmt: skip
    for k in range(v.shape[0]):
        fastest = max(fastest, abs(v[k]))
    for k in range(phi.shape[0]):
        x = max(abs(phi[k]) / max(1.0, size[k]), abs(rate[k]) / fastest)
        if not x <= worst:
            worst = x
    return worst


@helper
def judge(E, R, iteration, most, size, before, kappa, part, rows):
    """CONVERGED, STALLED or GO_ON after a correction ([HairerWanner] (IV.8.10), (IV.8.11)).

    `rows` is what the rows were off before the correction, in parts of what is allowed. The rate is the mean of the
    last two, which often alternate: what is left in rows and in forces feed each other.
    """
    memory = view(E, rs.MEMORY)
    if not size < 1e200:
        return STALLED
    if part <= ROUNDING and rows <= 1.0:
        return CONVERGED
    if iteration == 0:  # what was once seen of the rate counts for less with every step that does not see it anew
        memory[rs.ETA_OLD] = max(memory[rs.ETA_OLD], 1e-16) ** 0.8
        return CONVERGED if memory[rs.ETA_OLD] * size <= kappa and rows <= 1.0 else GO_ON
    last = size / before
    rate = last if iteration == 1 else sqrt(last * memory[rs.RATE_LAST])
    memory[rs.RATE_LAST] = last
    if rate > 0.5 and part <= 1e-11 and rows <= 1.0:  # the residual is rounding, amplified near a singular position
        view(R, run.COUNTS)[run.N_STAGNATED] += 1
        return CONVERGED
    if rate >= 1.0:
        return STALLED if iteration > 1 or last > 2.0 else GO_ON
    memory[rs.WORST_RATE] = max(memory[rs.WORST_RATE], rate)
    trusted = max(rate, min(last, 0.9))
    memory[rs.ETA_OLD] = trusted / (1.0 - trusted)
    if memory[rs.ETA_OLD] * size <= kappa and trusted * rows <= 1.0:
        return CONVERGED
    left = most - 1 - iteration  # with constant steps no smaller step would help: all iterations are tried
    fixed = view(R, run.CLOCK)[run.STEP] > 0.0
    return STALLED if not fixed and iteration > 1 and rate ** float(left) / (1.0 - rate) * size > kappa else GO_ON


@helper
def part_left(E, rtol):
    """The part of the tolerance that the iteration may leave in a step ([HairerWanner] IV.8: the root of rtol)."""
    kappa = view(E, rs.SETTINGS)[rs.KAPPA]
    return kappa if kappa > 0.0 else max(STRICT, min(LOOSE, sqrt(rtol)))


@helper
def iterate(T, E, R, S, t, h, full):
    """Newton's iteration of the stages of a step to t: simplified, or with matrices of every iterate."""
    memory, c, flags = view(E, rs.MEMORY), view(E, rs.SETTINGS), view(E, rs.FLAGS)
    fixed, tolerance, before = view(R, run.CLOCK)[run.STEP] > 0.0, view(R, run.TOLERANCE), 0.0
    kappa, most = FIXED_KAPPA if fixed else part_left(E, tolerance[run.RTOL]), int(c[rs.MAX_ITERATIONS])
    closed = 10.0 * tolerance[run.NEWTON_TOL] if fixed else max(1e-11, kappa * tolerance[run.RTOL])
    most = 3 * most if fixed else most
    memory[rs.WORST_RATE] = 0.0
    predict(E, R, h)
    for i in range(rs.STAGES):
        run.forget_undetermined(T, S, view(E, rs.STAGE_LAM)[i])
    for iteration in range(most):
        move(E, R, h)
        rows = 0.0
        for i in range(rs.STAGES):
            linearised = i == MIDDLE and (flags[rs.RENEW] == 1 or full)
            code = evaluate_stage(T, E, R, i, t, h, linearised)
            if code == OK and linearised:
                code = rs.linearise(T, E, R, S)
            if code != OK:
                return code
            rows = max(rows, row_size(T) / closed)
        if memory[rs.H_FACTORED] != h:
            code = rs.factorise(T, E, R, S, h)
            if code != OK:
                return code
        memory[rs.REST] = length_of(view(E, rs.RESIDUAL)[rs.STAGES - 1], view(T, s.Q).shape[0])
        project_stages(T, E, h)
        rs.solve(T, E, R, S)
        size, part = correct(T, E, R, h)
        memory[rs.LAST_SIZE] = size
        verdict = judge(E, R, iteration, most, size, before, kappa, part, rows)
        memory[rs.ITERATIONS] = iteration + 1.0
        if verdict != GO_ON:
            return verdict
        before = size
    return STALLED


@kernel
def stages(T, E):
    """Solve for the stages of the step to T's time: with kept matrices, with those of this step, of every iterate."""
    R, flags, memory = view(E, rs.RUN)[0], view(E, rs.FLAGS), view(E, rs.MEMORY)
    S, t, h = view(R, run.LINK)[run.LINK_SOLVER], view(T, s.TIME)[0], view(E, rs.MEMORY)[rs.H_STEP]
    if memory[rs.WORST_RATE] > view(E, rs.SETTINGS)[rs.RENEW_RATE]:
        flags[rs.RENEW] = 1
    flags[rs.FRESH] = 0
    code = STALLED
    for trial in range(3):
        if trial == 1 and flags[rs.FRESH] == 1:
            continue  # matrices of this very step did not help
        if trial > 0:
            flags[rs.RENEW] = 1
            memory[rs.ETA_OLD] = 1.0
        code = iterate(T, E, R, S, t, h, trial == 2)
        if code != STALLED:
            break
    if code != CONVERGED:
        view(R, run.COUNTS)[run.N_NEWTON_FAILED] += 1
        flags[rs.RENEW] = 1
        memory[rs.ETA_OLD] = 1.0
        return code
    move(E, R, h)
    return CONVERGED
