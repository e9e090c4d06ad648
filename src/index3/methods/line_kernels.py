"""Positions and velocities of one line of output, closed along directions that are kept from line to line.

The directions are those of the mass matrix and the rows at an earlier line, or at this one (`manifold` has the theory).
An interpolated line is close to the constraints, and lines of a run are close to each other: a few solutions with the
factors that are there cost less than one factorisation. Where they shrink the residual too slowly, the matrix is
factored at the line itself, and the line is closed again from where it was: directions of another line have moved it
along the constraints, by as much of the way as they left of the residual. Lines are closed one after the other,
whatever the blocks that they come in, so a run can be repeated to the last bit.

Redundant rows and forces that depend on reactions or accelerations take the longer way of `projection_kernels`.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.linear import contract
from index3.methods import manifold, projection_kernels
from index3.methods.projection_kernels import (
    KEPT,
    LINK,
    LINK_SOLVER,
    N_LINE_FACTOR,
    N_LINE_SOLVE,
    REPORT,
    SETTINGS,
    TOLERANCE,
)
from index3.methods.run import core

OTHER_WAY = 99
"""Status of `project_line`: the line is to be closed in another way, from where it was."""
STILL, MOVING = 1e-13, 1e-10
"""Velocity rows, relative to the largest rate: what counts as closed, some hundred roundings; what does not."""
NEARER = 1e-2
"""Part of the tolerance of position rows that is aimed at: kept directions come closer by a factor at a time, where
Newton's iteration would leap from above the tolerance to rounding."""
MOST = 3
"""Solutions that may still be needed before a factorisation costs less: about that, and one solution with it."""
OWN = 2
"""What KEPT is while the factors are those of the line that is being closed; 1: of an earlier one."""
UNKNOWN = 1e301
"""More than any residual: those that are not finite count as 1e300."""
POOR = 0.3
"""Part of a residual that may be left by directions of another point; with more they lead astray."""


@helper
def is_slow(before, after, tolerance):
    """Whether MOST more solutions would not be enough if each shrinks the residual as the last one has."""
    left = after
    for _ in range(MOST):
        left *= after / before
    return not left <= tolerance


@helper
def renew(T, E):
    """Factor the mass matrix and the rows where T's rows stand evaluated; OTHER_WAY if one is redundant there."""
    report, S = view(E, REPORT), view(E, LINK)[LINK_SOLVER]
    if core(T, s.CORE_JACOBIAN) != OK:
        return projection_kernels.EVALUATION
    report[N_LINE_FACTOR] += 1
    if projection_kernels.factor_mass(T, E, view(T, s.V)[:0]) != OK or view(S, contract.INFO)[contract.N_ZERO] > 0:
        return OTHER_WAY
    report[KEPT] = OWN
    return OK


@helper
def step_along(T, E, values, x):
    """x += the step along the directions that are factored which takes away `values` of the rows."""
    S = view(E, LINK)[LINK_SOLVER]
    right, n = view(S, contract.X), x.shape[0]
    for k in range(n):
        right[k] = 0.0
    for k in range(values.shape[0]):
        right[n + k] = -values[k]
    view(E, REPORT)[N_LINE_SOLVE] += 1
    contract.solve(T, S)
    for k in range(n):
        x[k] += right[k]


@helper
def project_positions(T, E):
    """Move T's q onto the position rows, which stand evaluated; they and their gradients do so there in the end."""
    phi, level, report = view(T, s.PHI), view(T, s.LEVEL), view(E, REPORT)
    tolerance, before = view(E, SETTINGS)[TOLERANCE], projection_kernels.position_residual(T, E)
    goal, settled = tolerance if before <= tolerance else NEARER * tolerance, False
    while before > goal:
        fresh = report[KEPT] == 0
        if fresh:
            code = renew(T, E)
            if code != OK:
                return code
        for k in range(phi.shape[0]):
            if level[k] == 1:
                phi[k] = 0.0
        step_along(T, E, phi, view(T, s.Q))
        if core(T, s.CORE_ROWS) != OK:
            return projection_kernels.EVALUATION
        residual = projection_kernels.position_residual(T, E)
        if residual > goal and not residual < POOR * before:
            if (fresh or settled) and residual <= tolerance:
                return OK  # rounding is left, which may be less after every second step for ever
            if fresh or report[KEPT] != OWN or not residual < max(before, tolerance):
                return OTHER_WAY  # the directions lead astray
            settled = residual <= tolerance
            report[KEPT] = 0
        elif residual > tolerance and is_slow(before, residual, tolerance):
            if report[KEPT] != OWN:
                return OTHER_WAY
            report[KEPT] = 0
        before = residual
    return OK


@helper
def project_velocities(T, E):
    """Move T's v onto the velocity rows at closed positions."""
    v, report, largest, before, fresh = view(T, s.V), view(E, REPORT), manifold.largest_rate(T), UNKNOWN, False
    if core(T, s.CORE_JACOBIAN) != OK:
        return projection_kernels.EVALUATION
    while True:
        residual = manifold.velocity_residual(T)
        if residual <= STILL * largest or (fresh and not residual < POOR * before):
            break  # closed, or rounding is left
        slow = before < UNKNOWN and is_slow(before, residual, STILL * largest)
        if slow and report[KEPT] == 1:
            return OTHER_WAY
        if report[KEPT] == 0 or (slow and not fresh):
            fresh = True
            code = renew(T, E)
            if code != OK:
                return code
        before = residual
        step_along(T, E, view(T, s.RATE), v)
    return OK if residual <= MOVING * largest else OTHER_WAY


@kernel
def project_line(T, E):
    """Close positions and velocities from T's (t, q, v); OTHER_WAY if that is not for this kernel.

    Leaves markers at the closed positions.
    """
    S, report = view(E, LINK)[LINK_SOLVER], view(E, REPORT)
    report[KEPT] = min(report[KEPT], 1)
    if view(T, s.ROW_R).shape[0] > 0 or view(T, s.A_NOW).shape[0] > 0:
        return OTHER_WAY
    if view(S, contract.INFO)[contract.FEWEST_ZERO] > 0:
        return OTHER_WAY
    if core(T, s.CORE_ROWS) != OK:
        return projection_kernels.EVALUATION
    code = project_positions(T, E)
    return project_velocities(T, E) if code == OK else code
