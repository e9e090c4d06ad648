"""Closing one line of output with one factorisation: that of the mass matrix and the rows where the line was written.

An interpolated line is close to the constraints, so this matrix serves its positions and velocities as well (iteration
along fixed directions, `manifold`), and the accelerations at the closed point by corrections with the residual of the
equations there, which needs no other matrix. Where that is not quick enough the matrix is factored anew. Redundant rows
and forces that depend on reactions or accelerations take the longer way of `projection_kernels`.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.linear import contract
from index3.methods import manifold, projection_kernels
from index3.methods.projection_kernels import LINK, LINK_SOLVER, N_REDUNDANT, REPORT, SETTINGS, TOLERANCE
from index3.methods.run import copy, core

OTHER_WAY = 99
"""Status of `close_line`: the line is to be closed by the kernels of `projection_kernels`, from where it was."""
STILL = 2e-15
"""Velocity rows, relative to the largest rate: some roundings."""
ENOUGH, SLOW = 3e-8, 3e-5
"""Relative sizes of a correction of accelerations and multipliers: the next one would be its square, below rounding;
two more would not be enough."""


@helper
def find_residual(T, x):
    """x = (-G - M a - Phi_q^T lam, gamma - Phi_q a), G being evaluated without reactions; the largest of |G|, or -1."""
    a, lam, g, ma, gamma = view(T, s.A), view(T, s.LAM), view(T, s.G), view(T, s.MA), view(T, s.GAMMA)
    phi_q, row, column, n = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL), view(T, s.A).shape[0]
    if core(T, s.CORE_MASS) != OK:
        return -1.0
    largest = 0.0
    for k in range(n):
        x[k] = -(g[k] + ma[k])
        largest = max(largest, abs(g[k]))
    for k in range(gamma.shape[0]):
        x[n + k] = gamma[k]
    for e in range(phi_q.shape[0]):
        x[column[e]] -= phi_q[e] * lam[row[e]]
        x[n + row[e]] -= phi_q[e] * a[column[e]]
    return largest


@helper
def correct(T, S):
    """Correct a and lam once by the matrix that is factored; how large that was, relative to them, or -1."""
    a, lam, x, n = view(T, s.A), view(T, s.LAM), view(S, contract.X), view(T, s.A).shape[0]
    most_lam = find_residual(T, x)
    if most_lam < 0.0:
        return -1.0
    contract.solve(T, S)
    most_a, change_a, change_lam = 0.0, 0.0, 0.0
    for k in range(n):
        a[k] += x[k]
        most_a, change_a = max(most_a, abs(a[k])), max(change_a, abs(x[k]))
    for k in range(lam.shape[0]):
        lam[k] += x[n + k]
        most_lam, change_lam = max(most_lam, abs(lam[k])), max(change_lam, abs(x[n + k]))
    size_a = change_a / most_a if most_a > 0.0 else 0.0
    size_lam = change_lam / most_lam if most_lam > 0.0 else 0.0
    size = max(size_a, size_lam)
    return size if size < 1.0 else 1.0


@helper
def accelerate_line(T, E, near):
    """a and lam at the closed point, where forces (without reactions) and Jacobian stand evaluated.

    `near`: the matrix was factored at another point close by.
    """
    S, a, lam = view(E, LINK)[LINK_SOLVER], view(T, s.A), view(T, s.LAM)
    if core(T, s.CORE_LEVELS) != OK:
        return projection_kernels.EVALUATION
    copy(view(T, s.Q_MASS), view(T, s.Q))
    for tries in range(2):
        if tries == 1:  # what was near is not near enough
            code = projection_kernels.factor_mass(T, E, a[:0])
            if code != OK:
                return code
            if view(S, contract.INFO)[contract.N_ZERO] > 0:
                return OTHER_WAY
        for k in range(a.shape[0]):
            a[k] = 0.0
        for k in range(lam.shape[0]):
            lam[k] = 0.0
        size = correct(T, S)
        if size >= 0.0:
            size = correct(T, S)
        if size > ENOUGH and size <= SLOW and near:
            size = correct(T, S)
        if size < 0.0:
            return projection_kernels.EVALUATION
        if not near or tries == 1 or size <= ENOUGH:
            break
    return OK


@helper
def close_positions(T, E, before):
    """Move q along the directions that are factored until the rows hold, from a point with the residual `before`."""
    S, q, phi, level = view(E, LINK)[LINK_SOLVER], view(T, s.Q), view(T, s.PHI), view(T, s.LEVEL)
    x, n, tolerance = view(S, contract.X), view(T, s.Q).shape[0], view(E, SETTINGS)[TOLERANCE]
    while before > tolerance:
        for k in range(n):
            x[k] = 0.0
        for k in range(phi.shape[0]):
            x[n + k] = -phi[k] if level[k] == 0 else 0.0
        contract.solve(T, S)
        for k in range(n):
            q[k] += x[k]
        if core(T, s.CORE_FORCES) != OK:
            return OTHER_WAY
        residual = projection_kernels.position_residual(T, E)
        if residual > tolerance and not residual < 0.1 * before:
            return OTHER_WAY
        before = residual
    return OK


@kernel
def close_line(T, E):
    """Close positions, velocities and accelerations from T's (t, q, v); OTHER_WAY if that is not for this kernel.

    Leaves rates, gamma and all that `forces` and `jacobian` fill evaluated at the closed point, without reactions.
    """
    S, v, largest = view(E, LINK)[LINK_SOLVER], view(T, s.V), 1.0
    if view(T, s.ROW_R).shape[0] > 0 or view(T, s.A_NOW).shape[0] > 0:
        return OTHER_WAY
    if view(S, contract.INFO)[contract.FEWEST_ZERO] > 0:
        return OTHER_WAY
    if projection_kernels.evaluate(T) != OK:
        return projection_kernels.EVALUATION
    residual = projection_kernels.position_residual(T, E)
    if projection_kernels.factor_mass(T, E, v[:0]) != OK or view(S, contract.INFO)[contract.N_ZERO] > 0:
        return OTHER_WAY
    near = residual > view(E, SETTINGS)[TOLERANCE]
    if close_positions(T, E, residual) != OK:
        return OTHER_WAY
    for k in range(v.shape[0]):
        largest = max(largest, abs(v[k]))
    if manifold.recover_velocities(T, E, STILL * largest) != OK or view(S, contract.INFO)[contract.N_ZERO] > 0:
        return OTHER_WAY
    view(E, REPORT)[N_REDUNDANT] = 0
    return accelerate_line(T, E, near)
