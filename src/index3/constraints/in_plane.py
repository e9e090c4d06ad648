"""A point in a plane: u_i . (r_j - r_i) - offset - f(t) = 0 (the thesis's dot-2, and every driven displacement)."""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, cross, dot, load, load_at, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.arms import arms
from index3.constraints.planar import Pose
from index3.constraints.planar import in_plane as has_part_in_plane
from index3.constraints.projection import add_projection_curvature, projection_second_rate_gradient
from index3.constraints.rows import axis, clear_hessian, put_gradient, row_dtype, use_hessian

IN_PLANE = row_dtype(("axis_i", "i8"), ("offset", "f8"), ("function", "i8"))
AXES = ("first",)  # whose axes its rows use
(ROWS,) = slots(rows=(IN_PLANE, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["axis_first"], fields["offset"], fields.get("function", -1))


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """The row, unless its plane is that of the motion."""
    u = first[1][:, fields["axis_first"]]
    if has_part_in_plane(u):
        return 1, 0.0
    return 0, float(u @ (second[0] - first[0]) - fields["offset"]) if "offset" in fields else 0.0


@kernel
def constraints(T, E):
    """PHI, its explicit derivatives by time, and ROW_G of every row."""
    rows, A, r, zero = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), (0.0, 0.0, 0.0)
    phi, phi_t, phi_tt, size = view(T, s.PHI), view(T, s.PHI_T), view(T, s.PHI_TT), view(T, s.PHI_SCALE)
    g, values = view(T, s.ROW_G), view(T, s.FUNCTION_VALUES)
    for e in range(rows.shape[0]):
        row, f = rows[e].row, rows[e].function
        u, ri, rj = axis(A, rows[e].i, rows[e].axis_i), load(r, rows[e].i), load(r, rows[e].j)
        d = sub(rj, ri)
        phi[row] = dot(u, d) - rows[e].offset
        size[row] = absolute(u, ri) + absolute(u, rj) + abs(rows[e].offset) + arms(T, rows[e].i, rows[e].j)
        if f >= 0:
            phi[row] -= values[f, 0]
            size[row] += abs(values[f, 0])
            phi_t[row] = -values[f, 1]
            phi_tt[row] = -values[f, 2]
        put_gradient(g, rows[e].gradient, scale(-1.0, u), cross(u, d), u, zero)
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, r, V = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V)
    h3, zero = view(T, s.ROW_H3), (0.0, 0.0, 0.0)
    for e in range(rows.shape[0]):
        i, j, hessian = rows[e].i, rows[e].j, clear_hessian(T)
        u, d = axis(A, i, rows[e].axis_i), sub(load(r, j), load(r, i))
        add_projection_curvature(hessian, 0, 2, u, d, 1.0)
        use_hessian(T, rows, e, hessian)
        by_d, by_turn = projection_second_rate_gradient(u, d, load_at(V, i, 3), sub(load(V, j), load(V, i)))
        put_gradient(h3, rows[e].gradient, scale(-1.0, by_d), by_turn, by_d, zero)
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
