"""A blade that cannot slide sideways: u_j . (velocity of point j relative to body i there) = 0, a velocity-level row.

u is an axis of marker j, across the blade; d = r_j - r_i. The row is u . (v_j - v_i - w_i x d) = g . V.
"""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import add, cross, dot, load, load_at, outer, scale, skew, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.rows import axis, clear_hessian, put_block, put_gradient, row_dtype, use_hessian

LEVEL = 1  # rows of this kind restrain velocities, not positions
KNIFE_EDGE = row_dtype(("axis_j", "i8"))
AXES = ("first", "second")  # whose axes its rows use
(ROWS,) = slots(rows=(KNIFE_EDGE, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["axis_second"],)


@kernel
def constraints(T, E):
    """PHI (the sideways velocity) and ROW_G of every row."""
    rows, A, r, V, zero = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V), (0.0, 0.0, 0.0)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        i, j = rows[e].i, rows[e].j
        u, d = axis(A, j, rows[e].axis_j), sub(load(r, j), load(r, i))
        arm = scale(-1.0, cross(d, u))
        phi[rows[e].row] = dot(u, sub(load(V, j), load(V, i))) + dot(arm, load_at(V, i, 3))
        size[rows[e].row] = 1.0
        put_gradient(g, rows[e].gradient, scale(-1.0, u), arm, u, zero)
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, r, V = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V)
    hessian, h3 = clear_hessian(T), view(T, s.ROW_H3)
    for e in range(rows.shape[0]):
        i, j, first = rows[e].i, rows[e].j, rows[e].gradient
        u, d = axis(A, j, rows[e].axis_j), sub(load(r, j), load(r, i))
        cross_u, along, c = skew(u), outer(u, d), dot(u, d)
        put_block(hessian, 0, 3, cross_u, 1.0)  # du = dtheta_j x u = -u x dtheta_j
        put_block(hessian, 2, 3, cross_u, -1.0)
        put_block(hessian, 1, 0, cross_u, -1.0)
        put_block(hessian, 1, 2, cross_u, 1.0)
        turned = (along[0] - c, along[1], along[2], along[3], along[4] - c, along[5], along[6], along[7], along[8] - c)
        put_block(hessian, 1, 3, turned, 1.0)
        use_hessian(T, rows, e, hessian)
        # V^T H V = w . (w_j x u) + w_i . (u x w) + (w_i . u)(w_j . d) - (w_i . w_j)(d . u), w = v_j - v_i
        w, wi, wj = sub(load(V, j), load(V, i)), load_at(V, i, 3), load_at(V, j, 3)
        by_u = add(add(cross(w, wj), cross(w, wi)), sub(scale(dot(wj, d), wi), scale(dot(wi, wj), d)))
        by_d = sub(scale(dot(wi, u), wj), scale(dot(wi, wj), u))
        put_gradient(h3, first, scale(-1.0, by_d), (0.0, 0.0, 0.0), by_d, cross(u, by_u))
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
