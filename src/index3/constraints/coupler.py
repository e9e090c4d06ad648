"""A linear relation of up to three joint coordinates: sum of c_k (x_k - zero_k) - offset = 0; gears, racks and screws.

Each term is the unwrapped angle of two markers of the group, or the displacement of one along an axis of the other.
"""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, cross, dot, load, load_at, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.constraints.projection import add_projection_curvature, projection_second_rate_gradient
from index3.constraints.rows import add_block, add_vector, axis, clear_hessian, row_dtype, use_hessian
from index3.constraints.turning_angle import angle_curvature, angle_gradient, angle_near, angle_second_rate_gradient

MOST = 3
"""Terms of a row at most."""
ANGLE, DISPLACEMENT = 0, 1
"""Kinds of terms."""
COUPLER = row_dtype(
    ("terms", "i8"),  # their number
    ("offset", "f8"),
    ("kind", "i8", MOST),
    ("at_i", "i8", MOST),  # the two markers of a term, by their place in the group
    ("at_j", "i8", MOST),
    ("number", "i8", MOST),  # of an angle: its place in ANGLE_REF; of a displacement: the axis of marker i
    ("coefficient", "f8", MOST),
    ("zero", "f8", MOST),  # the raw coordinate at assembly, where the joint's coordinate is zero
)
AXES = ("first", "second")  # whose axes its rows use
(ROWS,) = slots(rows=(COUPLER, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record, from terms (kind, at_i, at_j, number, coefficient, zero)."""
    terms = list(fields["terms"])
    columns = zip(*terms, *[(0,) * 6] * (MOST - len(terms)), strict=True)
    return (len(terms), fields["offset"], *columns)


@helper
def ends(T, row, k):
    """The two markers of a term, and the first places of their parts of a gradient."""
    members, first, at_i, at_j = view(T, s.GROUP_MARKERS), row.markers, row.at_i[k], row.at_j[k]
    return members[first + at_i], members[first + at_j], 6 * at_i, 6 * at_j


@kernel
def constraints(T, E):
    """PHI and ROW_G of every row; an angle is the turn nearest to its value at the last accepted step."""
    rows, A, r, near = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.ANGLE_REF)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        first, value, terms = rows[e].gradient, -rows[e].offset, abs(rows[e].offset)
        for k in range(6 * rows[e].marker_count):
            g[first + k] = 0.0
        for k in range(rows[e].terms):
            i, j, at_i, at_j = ends(T, rows[e], k)
            c, number = rows[e].coefficient[k], rows[e].number[k]
            if rows[e].kind[k] == ANGLE:
                xi, yi, xj = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0)
                x = angle_near(xi, yi, xj, near[number])
                n = angle_gradient(xi, yi, xj)
                terms += abs(c * x)
                add_vector(g, first + at_i + 3, n, -c)
                add_vector(g, first + at_j + 3, n, c)
            else:
                u, d = axis(A, i, number), sub(load(r, j), load(r, i))
                x = dot(u, d)
                terms += abs(c) * (absolute(u, load(r, i)) + absolute(u, load(r, j)))
                add_vector(g, first + at_i, u, -c)
                add_vector(g, first + at_i + 3, cross(u, d), c)
                add_vector(g, first + at_j, u, c)
            value += c * (x - rows[e].zero[k])
            terms += abs(c * rows[e].zero[k])
        phi[rows[e].row] = value
        size[rows[e].row] = terms
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, r, V, h3 = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.ROW_H3)
    for e in range(rows.shape[0]):
        first, hessian = rows[e].gradient, clear_hessian(T, rows[e].marker_count)
        for k in range(6 * rows[e].marker_count):
            h3[first + k] = 0.0
        for k in range(rows[e].terms):
            i, j, at_i, at_j = ends(T, rows[e], k)
            c, block_i, block_j = rows[e].coefficient[k], at_i // 3, at_j // 3
            if rows[e].kind[k] == ANGLE:
                xi, yi, xj = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0)
                by_i, by_j = angle_curvature(xi, yi, xj)
                add_block(hessian, block_j + 1, block_i + 1, by_i, c)
                add_block(hessian, block_j + 1, block_j + 1, by_j, c)
                add_block(hessian, block_i + 1, block_i + 1, by_i, -c)
                add_block(hessian, block_i + 1, block_j + 1, by_j, -c)
                gi, gj = angle_second_rate_gradient(xi, yi, xj, load_at(V, i, 3), load_at(V, j, 3))
                add_vector(h3, first + at_i + 3, gi, c)
                add_vector(h3, first + at_j + 3, gj, c)
            else:
                u, d = axis(A, i, rows[e].number[k]), sub(load(r, j), load(r, i))
                add_projection_curvature(hessian, block_i, block_j, u, d, c)
                by_d, by_turn = projection_second_rate_gradient(u, d, load_at(V, i, 3), sub(load(V, j), load(V, i)))
                add_vector(h3, first + at_i, by_d, -c)
                add_vector(h3, first + at_i + 3, by_turn, c)
                add_vector(h3, first + at_j, by_d, c)
        use_hessian(T, rows, e, hessian)
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
