"""Constraint rows by a user's own function of the poses and velocities of its markers.

A row of positions is Phi(t, xi), one of velocities Psi(t, xi, V), affine in the twists V. Besides the value the
evaluator needs the gradient g (by xi, or by V), H = g_xi, and what the row does along the motion with constant twists:
D = d2 Phi/dt2 or d Psi/dt there, which gives gamma = -D - g . b and, by its derivative D_xi, gamma_q. What the user
does not give is taken by differences, of five points where errors would reach the motion;
`docs/howto/user_constraint.md` says what they leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from index3.algebra.vectors import norm
from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable
from index3.compiled.interface import OK, helper, kernel, view
from index3.constraints.arms import arm
from index3.constraints.rows import use_hessian
from index3.constraints.user_block import load_markers, moving_components, user_table
from index3.constraints.user_differences import (
    BLOCKS,
    FIRST,
    MEMBERS,
    MOVES,
    OFFSETS,
    ROWS,
    STRIDE,
    USERS,
    fill_along,
    fill_gradient,
    fill_slope,
    is_kept,
    keep,
    keep_values,
    moves,
    recalled,
    unit_of,
    value,
)

MEMORY = (BLOCKS,)
# Second derivatives by four points of the value (truncation h^2, rounding eps/h^2: 1e-8) ...
CROSS_STEP = 1e-4
# ... or by two of the gradient (truncation h^2, rounding eps/h: 1e-10).
GRADIENT_STEP = 1e-5


def table(elements: Sequence[Any], places: Sequence[Any]) -> CallbackTable:
    """The table of all user constraints of a system; here their functions become callable from kernels."""
    lines: list[int] = []
    records: list[tuple] = []
    for number, (element, place) in enumerate(zip(elements, places, strict=True)):
        lines.append(len(records))
        width = 6 * len(place.markers)
        ends = (place.markers[0], place.markers[-1])
        for r in range(element.rows):
            at = (place.row + r, place.gradient + r * width, place.stiffness)
            records.append((place.member, len(place.markers), *ends, *at, number))
    slots = (USERS, MEMBERS, BLOCKS, ROWS, MOVES)
    result = user_table(slots, elements, places, [element.form() for element in elements])
    result[USERS]["line"] = lines
    result[BLOCKS][result[USERS]["K"]] = np.nan  # no gradient is kept yet
    result[ROWS] = np.array(records, ROWS.dtype)
    lines_of_markers = [moving_components(marker) for element in elements for marker in element.markers]
    result[MOVES] = np.array(lines_of_markers, np.int64).reshape(-1, 6)
    return result


@helper
def write_row(T, E, user, r):
    """PHI, PHI_SCALE and ROW_G of one row, from `out` and `G`; PHI_T of rows of velocities."""
    rows, blocks, members = view(E, ROWS), view(E, BLOCKS), view(E, MEMBERS)
    g, V, width, at = view(T, s.ROW_G), view(T, s.MARKER_V), 6 * user.count, user.line + r
    row, first, phi, size = rows[at].row, rows[at].gradient, view(T, s.PHI), view(T, s.PHI_SCALE)
    rate, terms = 0.0, abs(phi[row])
    for c in range(width):
        x = blocks[user.G + r * width + c]
        g[first + c] = x
        rate += x * V[members[user.first + c // 6], c % 6]
        if c % 6 < 3:
            terms += abs(x * blocks[user.r + 3 * (c // 6) + c % 3])
        if c % 6 == 2:
            slope = norm((g[first + c - 2], g[first + c - 1], x))
            terms += slope * arm(T, members[user.first + c // 6])
    size[row] = terms
    if user.level == 1:
        size[row] = 1.0
        view(T, s.PHI_T)[row] = phi[row] - rate


@helper
def fill_values(T, E, user, t):
    """`out`, and P: what position rows change by with time alone."""
    blocks = view(E, BLOCKS)
    for r in range(user.rows):
        blocks[user.P + r] = 0.0
    code = OK
    if user.level == 0 and user.time_step > 0.0:
        for side in range(4):
            if code == OK:
                code = value(T, E, user, t + OFFSETS[side] * user.time_step, 0, 0.0, 0, 0.0, 0.0)
            for r in range(user.rows):
                blocks[user.P + r] += FIRST[side] * blocks[user.out + r] / user.time_step
    return value(T, E, user, t, 0, 0.0, 0, 0.0, 0.0) if code == OK else code


@kernel
def constraints(T, E):
    """PHI, its derivative by time alone, and ROW_G of every row."""
    users, rows, blocks, t = view(E, USERS), view(E, ROWS), view(E, BLOCKS), view(T, s.TIME)[0]
    phi, phi_t, status = view(T, s.PHI), view(T, s.PHI_T), view(T, s.STATUS)
    for e in range(users.shape[0]):
        user, code = users[e], OK
        known = recalled(T, E, user, t)
        if not (known and user.level == 0 and status[s.STEPPING] == 1):
            code = fill_values(T, E, user, t)
        for r in range(user.rows):
            phi[rows[user.line + r].row] = blocks[user.out + r]
            phi_t[rows[user.line + r].row] = blocks[user.P + r]
        if code == OK and not known:
            if status[s.VALUES_ALONE] == 1 and blocks[user.K] == blocks[user.K]:  # NaN before the first gradient
                status[s.INCOMPLETE] = 1
                continue
            keep_values(E, user)
            code = fill_gradient(T, E, user, t, 0, 0.0, 1)
            if code == OK:
                keep(T, E, user, t)
        if code != OK:
            return e + 1
        for r in range(user.rows):
            write_row(T, E, user, r)
    return OK


@helper
def fill_hessian_by_gradient(T, E, user, t):
    """H of all rows by two points of the gradient."""
    blocks, width = view(E, BLOCKS), 6 * user.count
    for k in range(user.rows * width * width):
        blocks[user.H + k] = 0.0
    for b in range(width):
        if not moves(E, user, b):
            continue
        for side in range(2):
            sign = 1.0 - 2.0 * side
            code = fill_gradient(T, E, user, t, b, sign * GRADIENT_STEP, 0)
            if code != OK:
                return code
            for k in range(user.rows * width):
                slope = sign * blocks[user.G + k] / (2.0 * GRADIENT_STEP * unit_of(user, b))
                blocks[user.H + k * width + b] += slope
    return OK


@helper
def turn_of(T, rows, at, a, b):
    """g . (e_a x e_b) for components a < b of one marker's rotation, else zero: H_ab - H_ba."""
    i, j = a % 6 - 3, b % 6 - 3
    if a // 6 != b // 6 or i < 0 or i == j:
        return 0.0
    x = view(T, s.ROW_G)[rows[at].gradient + 6 * (a // 6) + 6 - i - j]
    return -x if j == i + 2 else x


@helper
def fill_hessian_by_value(T, E, user, t):
    """H of all rows by four points of the value, for a <= b; the others follow, since rotations do not commute."""
    blocks, rows, width = view(E, BLOCKS), view(E, ROWS), 6 * user.count
    for k in range(user.rows * width * width):
        blocks[user.H + k] = 0.0
    for b in range(width):
        for a in range(b + 1):
            if not (moves(E, user, a) and moves(E, user, b)):
                continue
            area = 4.0 * CROSS_STEP * CROSS_STEP * unit_of(user, a) * unit_of(user, b)
            for side in range(4):
                x, y = 1.0 - 2.0 * (side % 2), 1.0 - 2.0 * (side // 2)
                code = value(T, E, user, t, b, y * CROSS_STEP, a, x * CROSS_STEP, 0.0)
                if code != OK:
                    return code
                for r in range(user.rows):
                    blocks[user.H + (r * width + a) * width + b] += x * y * blocks[user.out + r] / area
            for r in range(user.rows):
                h = blocks[user.H + (r * width + a) * width + b]
                blocks[user.H + (r * width + b) * width + a] = h - turn_of(T, rows, user.line + r, a, b)
    return OK


@helper
def fill_hessian(T, E, user, t):
    """H of all rows, unless it stands: it is kept with the gradient, by the poses of which it is known."""
    blocks = view(E, BLOCKS)
    load_markers(T, view(E, MEMBERS), blocks, user)
    known = is_kept(E, user, t)
    if known and blocks[user.K + 1] == 1.0:
        return OK
    if user.level == 0 and user.given == 0:
        code = fill_hessian_by_value(T, E, user, t)
    else:
        code = fill_hessian_by_gradient(T, E, user, t)
    blocks[user.K + 1] = 1.0 if known and code == OK else 0.0
    return code


@helper
def add_time(T, E, user, t):
    """Derivatives of the gradient by time alone, to H V, and where the rows are of positions to V^T H."""
    blocks, rows, width = view(E, BLOCKS), view(E, ROWS), 6 * user.count
    vh, hv = view(T, s.ROW_VH), view(T, s.ROW_HV)
    for side in range(4):
        code = fill_gradient(T, E, user, t + OFFSETS[side] * user.time_step, 0, 0.0, 0)
        if code != OK:
            return code
        for r in range(user.rows):
            first = rows[user.line + r].gradient
            for c in range(width):
                x = FIRST[side] * blocks[user.G + r * width + c] / user.time_step
                hv[first + c] += x
                vh[first + c] += x * (1.0 - user.level)
    return OK


@helper
def curve_one(T, E, user, t):
    """Second derivatives of the rows of one element; `status` of its function."""
    blocks, rows, width = view(E, BLOCKS), view(E, ROWS), 6 * user.count
    vh, V, members = view(T, s.ROW_VH), view(T, s.MARKER_V), view(E, MEMBERS)
    code = OK
    if view(T, s.STATUS)[s.GAMMA_ALONE] == 0:
        code = fill_curvature(T, E, user, t)
    else:
        for k in range(user.rows * width):
            vh[rows[user.line].gradient + k] = 0.0
    if code == OK:
        code = fill_along(T, E, user, t, 0, 0.0)
    for r in range(user.rows):  # the evaluator adds (V^T H) V again
        x, first = blocks[user.D + r], rows[user.line + r].gradient
        for c in range(width):
            x -= vh[first + c] * V[members[user.first + c // 6], c % 6]
        view(T, s.PHI_TT)[rows[user.line + r].row] = x
    return code


@helper
def fill_curvature(T, E, user, t):
    """H of the rows of one element and what is made from it."""
    blocks, rows, width, H = view(E, BLOCKS), view(E, ROWS), 6 * user.count, view(T, s.HESSIAN)
    vh = view(T, s.ROW_VH)
    code = fill_hessian(T, E, user, t)
    if code != OK:
        return code
    for r in range(user.rows):
        for a in range(width):
            for b in range(width):
                H[a, b] = blocks[user.H + (r * width + a) * width + b]
        use_hessian(T, rows, user.line + r, H)
    if user.level == 1:  # Psi by the poses at constant twists: V^T H, and what does not depend on V
        code = fill_slope(T, E, user, t, 0, 0.0, user.G, 0)
        for r in range(user.rows):
            for c in range(width):
                vh[rows[user.line + r].gradient + c] = blocks[user.G + r * width + c]
    if code == OK and user.time_step > 0.0:
        code = add_time(T, E, user, t)
    return code


@kernel
def hessians(T, E):
    """Second derivatives of every row, and its second derivative by time."""
    users, t = view(E, USERS), view(T, s.TIME)[0]
    for e in range(users.shape[0]):
        if curve_one(T, E, users[e], t) != OK:
            return e + 1
    return OK


@kernel
def second_derivatives(T, E):
    """D_xi of every row, by four points."""
    users, rows, blocks, t = view(E, USERS), view(E, ROWS), view(E, BLOCKS), view(T, s.TIME)[0]
    h3 = view(T, s.ROW_H3)
    for e in range(users.shape[0]):
        user = users[e]
        for c in range(6 * user.count):
            for r in range(user.rows):
                h3[rows[user.line + r].gradient + c] = 0.0
            if not moves(E, user, c):
                continue
            for side in range(4):
                if fill_along(T, E, user, t, c, OFFSETS[side] * STRIDE) != OK:
                    return e + 1
                for r in range(user.rows):
                    slope = FIRST[side] * blocks[user.D + r] / (STRIDE * unit_of(user, c))
                    h3[rows[user.line + r].gradient + c] += slope
    return OK


STAGES = {"constraints": constraints, "hessians": hessians, "second_derivatives": second_derivatives}
