"""One joint coordinate as a function of another: x2 - y(x1) = 0 with a cubic spline y; cams, variable ratios, knees.

Both are measured as in `index3.constraints.coupler`, with two markers each; those of x1 come first. With the gradient g
of x1, its second derivatives H = dg/dxi and its second rate r = V^T H V at fixed twists, y(x1) has y' g and
y' H + y'' g g^T, and the rate y' r + y'' w^2, w = g . V, whose gradient is y' r_xi + (y'' r + y''' w^2) g
+ 2 y'' w V^T H.

What a step passes over of the curve is looked at before it is accepted (`passes`): where nothing accelerates, as while
a cam dwells, steps grow, and one that begins and ends in dwells would not know of the lift between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.algebra.cubics import cubic, cubic_slope
from index3.algebra.vectors import absolute, cross, dot, load, load_at, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.constraints.coupler import ANGLE, ends
from index3.constraints.passing import HALF, MOST, SURELY, cubic_between, next_records
from index3.constraints.projection import add_projection_curvature, projection_second_rate_gradient
from index3.constraints.rows import add_block, add_vector, axis, clear_hessian, row_dtype, use_hessian
from index3.constraints.turning_angle import angle_curvature, angle_gradient, angle_near, angle_second_rate_gradient

WIDE = 12
"""Places of two markers in a gradient."""
CURVE_COUPLER = row_dtype(
    ("kind", "i8", 2),
    ("at_i", "i8", 2),
    ("at_j", "i8", 2),
    ("number", "i8", 2),
    ("zero", "f8", 2),
    ("first", "i8"),  # its pieces
    ("count", "i8"),
    ("period", "f8"),  # of x1, 0 if there is none
    ("advance", "f8"),  # of y in a period
    ("range", "f8"),  # of all values of y at the points
)
AXES = ("first", "second")  # whose axes its rows use
RESOLVED = 0.02
"""Part of its rise by which a curve may leave the cubic through both ends of a step: a harmonic one does in 1 rad."""
FAINT = 1e-4
"""Part of its whole height below which what a curve does is no feature: ripples of a spline beside a lift."""
START, A0, A1, A2, A3, COLUMNS = range(6)
"""Columns of a piece: where it begins, coefficients of the cubic from there; after the last one a row with its end."""
ROWS, PIECES, BEGIN = slots(rows=(CURVE_COUPLER, 1), pieces=("f8", 2), begin=("f8", 1))  # x1 where the step begins
MEMORY = (BEGIN,)


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record, from terms as those of a coupler; where its pieces begin is filled in later."""
    kind, at_i, at_j, number, _, zero = zip(*fields["terms"], strict=True)
    pieces, height = fields["pieces"], np.ptp(fields["pieces"][:-1, A0])
    return (kind, at_i, at_j, number, zero, 0, len(pieces) - 1, fields["period"], fields["advance"], height)


def fill(table: Table, fields: list[dict[str, Any]]) -> None:
    """Put the pieces of all rows one after the other, and say in the records where each row's begin."""
    counts = [len(f["pieces"]) for f in fields]
    table[ROWS]["first"] = np.cumsum([0, *counts])[:-1]
    table[BEGIN] = np.zeros(len(fields))
    table[PIECES] = np.ascontiguousarray(np.concatenate([f["pieces"] for f in fields]))


@helper
def coordinate(T, row, k):
    """The coordinate of a term from its zero, and the size of what it is made of."""
    A, r, near = view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.ANGLE_REF)
    i, j, _, _ = ends(T, row, k)
    if row.kind[k] == ANGLE:
        x = angle_near(axis(A, i, 0), axis(A, i, 1), axis(A, j, 0), near[row.number[k]])
        return x - row.zero[k], abs(x) + abs(row.zero[k])
    u = axis(A, i, row.number[k])
    size = absolute(u, load(r, i)) + absolute(u, load(r, j))
    return dot(u, sub(load(r, j), load(r, i))) - row.zero[k], size + abs(row.zero[k])


@helper
def add_gradient(T, row, k, g, first, c):
    """Add c times the gradient of the coordinate of a term."""
    A, r = view(T, s.MARKER_A), view(T, s.MARKER_R)
    i, j, at_i, at_j = ends(T, row, k)
    if row.kind[k] == ANGLE:
        n = angle_gradient(axis(A, i, 0), axis(A, i, 1), axis(A, j, 0))
        add_vector(g, first + at_i + 3, n, -c)
        add_vector(g, first + at_j + 3, n, c)
    else:
        u = axis(A, i, row.number[k])
        add_vector(g, first + at_i, u, -c)
        add_vector(g, first + at_i + 3, cross(u, sub(load(r, j), load(r, i))), c)
        add_vector(g, first + at_j, u, c)


@helper
def add_curvature(T, row, k, H, c):
    """Add c times the second derivatives of the coordinate of a term."""
    A, r = view(T, s.MARKER_A), view(T, s.MARKER_R)
    i, j, at_i, at_j = ends(T, row, k)
    block_i, block_j = at_i // 3, at_j // 3
    if row.kind[k] == ANGLE:
        by_i, by_j = angle_curvature(axis(A, i, 0), axis(A, i, 1), axis(A, j, 0))
        add_block(H, block_j + 1, block_i + 1, by_i, c)
        add_block(H, block_j + 1, block_j + 1, by_j, c)
        add_block(H, block_i + 1, block_i + 1, by_i, -c)
        add_block(H, block_i + 1, block_j + 1, by_j, -c)
    else:
        d = sub(load(r, j), load(r, i))
        add_projection_curvature(H, block_i, block_j, axis(A, i, row.number[k]), d, c)


@helper
def add_rate_gradient(T, row, k, h3, first, c):
    """Add c times the gradient of the second rate of the coordinate of a term."""
    A, r, V = view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V)
    i, j, at_i, at_j = ends(T, row, k)
    if row.kind[k] == ANGLE:
        x, y, other = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0)
        gi, gj = angle_second_rate_gradient(x, y, other, load_at(V, i, 3), load_at(V, j, 3))
        add_vector(h3, first + at_i + 3, gi, c)
        add_vector(h3, first + at_j + 3, gj, c)
    else:
        u, d, v = axis(A, i, row.number[k]), sub(load(r, j), load(r, i)), sub(load(V, j), load(V, i))
        by_d, by_turn = projection_second_rate_gradient(u, d, load_at(V, i, 3), v)
        add_vector(h3, first + at_i, by_d, -c)
        add_vector(h3, first + at_i + 3, by_turn, c)
        add_vector(h3, first + at_j, by_d, c)


@helper
def curve(pieces, row, x):
    """Whether x is in the range of a row's curve; its value there and three derivatives."""
    first, last, add = row.first, row.first + row.count, 0.0
    if row.period > 0.0:
        turns = np.floor((x - pieces[first, START]) / row.period)
        x -= turns * row.period
        add = turns * row.advance
    if not (pieces[first, START] <= x <= pieces[last, START]):
        return False, 0.0, 0.0, 0.0, 0.0
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if x < pieces[middle, START]:
            high = middle
        else:
            low = middle
    p, d = pieces[low], x - pieces[low, START]
    value, slope = cubic(p[A0], p[A1], p[A2], p[A3], d), cubic_slope(p[A1], p[A2], p[A3], d)
    return True, value + add, slope, 2.0 * p[A2] + 6.0 * p[A3] * d, 6.0 * p[A3]


@kernel
def constraints(T, E):
    """PHI and ROW_G of every row; or the number, from 1, of one whose first coordinate is beyond its curve."""
    rows, pieces = view(E, ROWS), view(E, PIECES)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        first = rows[e].gradient
        x1, size1 = coordinate(T, rows[e], 0)
        x2, size2 = coordinate(T, rows[e], 1)
        inside, y, y1, _, _ = curve(pieces, rows[e], x1)
        if not inside:
            return e + 1
        for k in range(6 * rows[e].marker_count):
            g[first + k] = 0.0
        add_gradient(T, rows[e], 0, g, first, -y1)
        add_gradient(T, rows[e], 1, g, first, 1.0)
        phi[rows[e].row] = x2 - y
        size[rows[e].row] = size2 + abs(y) + abs(y1) * size1
    return OK


@helper
def add_curve(T, row, H, h3, vh, y1, y2, y3):
    """Second and third derivatives of -y(x1); `vh` is scratch. H and h3 are zero before."""
    members, V, first, a0 = view(T, s.GROUP_MARKERS), view(T, s.MARKER_V), row.gradient, row.markers
    add_curvature(T, row, 0, H, 1.0)
    add_gradient(T, row, 0, h3, first, 1.0)  # g, for now
    rate, w = 0.0, 0.0
    for b in range(WIDE):
        vh[first + b] = 0.0
        for a in range(WIDE):
            vh[first + b] += V[members[a0 + a // 6], a % 6] * H[a, b]
        v = V[members[a0 + b // 6], b % 6]
        rate += vh[first + b] * v
        w += h3[first + b] * v
    for a in range(WIDE):
        for b in range(WIDE):
            H[a, b] = -y1 * H[a, b] - y2 * h3[first + a] * h3[first + b]
    for a in range(WIDE):
        h3[first + a] = -(y2 * rate + y3 * w * w) * h3[first + a] - 2.0 * y2 * w * vh[first + a]
    add_rate_gradient(T, row, 0, h3, first, -y1)


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, pieces, h3, vh = view(E, ROWS), view(E, PIECES), view(T, s.ROW_H3), view(T, s.ROW_VH)
    for e in range(rows.shape[0]):
        first, hessian = rows[e].gradient, clear_hessian(T, rows[e].marker_count)
        for k in range(6 * rows[e].marker_count):
            h3[first + k] = 0.0
        inside, _, y1, y2, y3 = curve(pieces, rows[e], coordinate(T, rows[e], 0)[0])
        if not inside:
            return e + 1
        add_curve(T, rows[e], hessian, h3, vh, y1, y2, y3)
        add_curvature(T, rows[e], 1, hessian, 1.0)
        add_rate_gradient(T, rows[e], 1, h3, first, 1.0)
        use_hessian(T, rows, e, hessian)
    return OK


@helper
def is_resolved(pieces, row, x0, x1, room, part_off):
    """Whether the cubic through both ends of a way along the curve, with their slopes, tells what is between them."""
    inside, y0, m0, _, _ = curve(pieces, row, x0)
    also, y1, m1, _, _ = curve(pieces, row, x1)
    way, mean = x1 - x0, (pieces[row.first + row.count, START] - pieces[row.first, START]) / row.count
    passed = abs(way) / mean
    if not inside or not also or passed <= 1.0:
        return True
    if passed > MOST:
        return False
    off, low, high, count = 0.0, min(y0, y1), max(y0, y1), 2 * int(passed) + 2
    for k in range(1, count):
        x = k / count
        _, y, _, _, _ = curve(pieces, row, x0 + x * way)
        off = max(off, abs(y - cubic_between(y0, m0 * way, y1, m1 * way, x)))
        low, high = min(low, y), max(high, y)
    return off <= max(room, part_off * max(high - low, FAINT / RESOLVED * row.range))


@kernel
def passes(T, E):
    """Whether the step that ends at T's state passed over what it cannot know of a curve, or keep its start: SWEEP."""
    rows, pieces, begin, sweep = view(E, ROWS), view(E, PIECES), view(E, BEGIN), view(T, s.SWEEP)
    at = next_records(T, rows.shape[0])
    for e in range(rows.shape[0]):
        x, _ = coordinate(T, rows[e], 0)
        if sweep[s.SWEEP_H] == 0.0:
            begin[e] = x
            continue
        limit = RESOLVED * (SURELY if sweep[s.SWEEP_SURE] == 1.0 else 1.0)
        if sweep[s.SWEEP_PART] > HALF and not is_resolved(pieces, rows[e], begin[e], x, sweep[s.SWEEP_ROOM], limit):
            sweep[s.SWEEP_PART], sweep[s.SWEEP_RECORD] = HALF, at + e
    return OK


STAGES = {"constraints": constraints, "hessians": hessians, "passes": passes}
