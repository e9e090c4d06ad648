"""The constraint manifold for methods that integrate on it: recovery of q and v, accelerations.

State-space form without forming it: a formula is applied to all coordinates; what it leaves off the manifold is
removed along M^-1 Phi_q^T of a reference point, which does not touch the tangential components V^T q. So V^T q follows
the formula exactly (the tangent-plane parametrisation, thesis appendix B, with the mass matrix as metric), V is never
formed, everything is sparse, and redundant rows do no harm. `C` is the handle of a projector with factorisations of
its own.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.linear import contract
from index3.methods import projection_kernels, run


@helper
def solve_rows(T, C, values):
    """dq = the mass-orthogonal step with Phi_q dq = -values, for the matrix last factored; left in the solver's X."""
    link = view(C, projection_kernels.LINK)
    x, n = view(link[projection_kernels.LINK_SOLVER], contract.X), view(T, s.Q).shape[0]
    for k in range(n):
        x[k] = 0.0
    for k in range(values.shape[0]):
        x[n + k] = -values[k]
    contract.solve(T, link[projection_kernels.LINK_SOLVER])
    return x


@helper
def evaluate_values(T):
    """Rows at q, where gradients and sizes of those rows that take long are left out; and whether any were."""
    status = view(T, s.STATUS)
    status[s.INCOMPLETE] = 0
    status[s.VALUES_ALONE] = 1
    code = run.core(T, s.CORE_ROWS)
    status[s.VALUES_ALONE] = 0
    return code


@helper
def complete_rows(T):
    """What `evaluate_values` left out."""
    return run.core(T, s.CORE_ROWS) if view(T, s.STATUS)[s.INCOMPLETE] == 1 else OK


@helper
def recover_positions(T, C, tolerance):
    """Bring T's q onto Phi = 0 along the factored reference directions; a fresh Jacobian only if that is slow.

    Returns OK, STALLED-like 1 if it does not converge, or an evaluation's failure. The rows stand evaluated at q.
    """
    code = approach(T, C, tolerance)
    if code == OK and complete_rows(T) != OK:
        code = run.EVALUATION_FAILED
    return code


@helper
def approach(T, C, tolerance):
    """As `recover_positions`; rows may lack their gradients. Sizes of such rows are those of a point close by."""
    q, phi, level = view(T, s.Q), view(T, s.PHI), view(T, s.LEVEL)
    before = 1e300
    for _ in range(12):
        if evaluate_values(T) != OK:
            return run.EVALUATION_FAILED
        residual = projection_kernels.position_residual(T, C)
        if residual <= tolerance:
            return OK
        if residual > 0.5 * before:
            if residual < 1e-13:
                return OK  # rounding
            code = complete_rows(T)
            if code == OK:
                code = run.core(T, s.CORE_JACOBIAN)
            if code == OK:
                code = projection_kernels.factor_mass(T, C, q[:0])
            if code != OK:
                return run.NOT_FINITE
        if not residual < 1e100:
            return 1
        before = residual
        for k in range(phi.shape[0]):
            if level[k] == 1:
                phi[k] = 0.0
        x = solve_rows(T, C, phi)
        for k in range(q.shape[0]):
            q[k] += x[k]
    return 1


@helper
def largest_rate(T):
    """The largest |v| of a coordinate that occurs in rows, at least 1: what the rounding of their rates is measured by.

    What no row reads, a first-order state or a body in free flight, may be many orders larger.
    """
    v, columns, largest = view(T, s.V), view(T, s.ROW_COLUMNS), 1.0
    for k in range(columns.shape[0]):
        largest = max(largest, abs(v[columns[k]]))
    return largest


@helper
def velocity_residual(T):
    """Largest of Phi_q v + Phi_t at T's v, the Jacobian being at q."""
    rate, residual = view(T, s.RATE), 0.0
    run.core(T, s.CORE_RATES)
    for k in range(rate.shape[0]):
        if not abs(rate[k]) <= residual:
            residual = abs(rate[k]) if abs(rate[k]) < 1e300 else 1e300
    return residual


@helper
def recover_velocities(T, C, tolerance):
    """At closed positions: bring T's v onto Phi_q v + Phi_t = 0 along the factored directions; fills PHI_Q.

    Those of another point shrink the residual by some factor only; if that is slow, directions of this point are
    factored, once, after which a residual that stays is rounding (or a singular position).
    """
    return run.EVALUATION_FAILED if run.core(T, s.CORE_JACOBIAN) != OK else move_velocities(T, C, tolerance, False)


@helper
def move_velocities(T, C, tolerance, fresh):
    """As `recover_velocities`, where PHI_Q stands evaluated; `fresh` if the directions in C are those of this point."""
    v, rate, before = view(T, s.V), view(T, s.RATE), 1e300
    for _ in range(30):
        residual = velocity_residual(T)
        if residual > 0.5 * before and not fresh and residual > 10.0 * tolerance:
            fresh = True
            if projection_kernels.factor_mass(T, C, v[:0]) != OK:
                return run.NOT_FINITE
        elif residual <= tolerance or residual > 0.5 * before:
            break
        before = residual
        x = solve_rows(T, C, rate)
        for k in range(v.shape[0]):
            v[k] += x[k]
    return run.EVALUATION_FAILED if run.core(T, s.CORE_FORCES) != OK else OK  # markers and forces follow v


@helper
def accelerate(T, C, R):
    """a and lam at T's (t, q, v): forces, Jacobian, gamma, a fresh factorisation (which is the next reference)."""
    if projection_kernels.evaluate(T) != OK:
        return run.EVALUATION_FAILED
    return accelerate_here(T, C, R)


@helper
def accelerate_here(T, C, R):
    """As `accelerate`, where forces after `forget_solution` and Jacobian stand evaluated at (t, q, v) already."""
    code = factor_here(T, C, R)
    return solve_here(T, C) if code == OK else code


@helper
def factor_here(T, C, R):
    """Factor the matrix of accelerations at T's (t, q), where PHI_Q stands evaluated."""
    counts = view(R, run.COUNTS)
    counts[run.N_EVALUATIONS] += 1
    counts[run.N_FACTOR] += 1
    code = projection_kernels.factor_mass(T, C, view(T, s.Q)[:0])
    if code == projection_kernels.EVALUATION:
        return run.EVALUATION_FAILED
    return run.BODY_SINGULAR if code != OK else OK


@helper
def solve_here(T, C):
    """a and lam by the matrix just factored, where forces after `forget_solution` stand evaluated at (t, q, v)."""
    link, n = view(C, projection_kernels.LINK), view(T, s.Q).shape[0]
    a, lam, g, gamma = view(T, s.A), view(T, s.LAM), view(T, s.G), view(T, s.GAMMA)
    x = view(link[projection_kernels.LINK_SOLVER], contract.X)
    if run.core(T, s.CORE_GAMMA) != OK:
        return run.EVALUATION_FAILED
    for k in range(n):
        x[k] = -g[k]
    for k in range(gamma.shape[0]):
        x[n + k] = gamma[k]
    contract.solve(T, link[projection_kernels.LINK_SOLVER])
    run.copy(a, x[:n])
    run.copy(lam, x[n:])
    code = projection_kernels.iterate_if_needed(T, C)
    if code != OK:
        return run.EVALUATION_FAILED if code == projection_kernels.EVALUATION else run.NOT_CONVERGED
    return OK


@helper
def error_norm(R, e_q, e_v):
    """RMS over the weights of an error in q and v together."""
    total, n = 0.0, e_q.shape[0]
    for k in range(n):
        x, y = e_q[k] / run.weight(R, k), e_v[k] / run.weight_v(R, k)
        total += x * x + y * y
    return (total / (2.0 * n)) ** 0.5
