"""Two marker axes at a fixed angle: u_i . w_j - cosine = 0 (the thesis's dot-1)."""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, cross, dot, load_at, scale
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.planar import Pose, in_plane
from index3.constraints.products import second_rate_by_first, second_rate_by_second, turn_first, turn_second
from index3.constraints.rows import axis, clear_hessian, put_block, put_gradient, row_dtype, use_hessian

PERPENDICULAR = row_dtype(("axis_i", "i8"), ("axis_j", "i8"), ("cosine", "f8"))
AXES = ("first", "second")  # whose axes its rows use
TURNING = True  # its second derivatives concern rotations alone
(ROWS,) = slots(rows=(PERPENDICULAR, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["axis_first"], fields["axis_second"], fields["cosine"])


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """The row, unless an axis stands across the plane."""
    u, w = first[1][:, fields["axis_first"]], second[1][:, fields["axis_second"]]
    return (1, 0.0) if in_plane(u, w) else (0, float(u @ w - fields["cosine"]))


@kernel
def restrain(T, E):
    """PHI and ROW_G of every row."""
    rows, A, zero = view(E, ROWS), view(T, s.MARKER_A), (0.0, 0.0, 0.0)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        u, w = axis(A, rows[e].i, rows[e].axis_i), axis(A, rows[e].j, rows[e].axis_j)
        phi[rows[e].row] = dot(u, w) - rows[e].cosine
        size[rows[e].row] = absolute(u, w) + abs(rows[e].cosine)
        n = cross(u, w)
        put_gradient(g, rows[e].gradient, zero, n, zero, scale(-1.0, n))
    return OK


@kernel
def curve(T, E):
    """Second and third derivatives of every row."""
    rows, A, V, zero = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), (0.0, 0.0, 0.0)
    hessian, h3 = clear_hessian(T), view(T, s.ROW_H3)
    for e in range(rows.shape[0]):
        i, j, first = rows[e].i, rows[e].j, rows[e].gradient
        u, w = axis(A, i, rows[e].axis_i), axis(A, j, rows[e].axis_j)
        put_block(hessian, 1, 1, turn_first(u, w), 1.0)
        put_block(hessian, 1, 3, turn_second(u, w), 1.0)
        put_block(hessian, 3, 1, turn_first(u, w), -1.0)
        put_block(hessian, 3, 3, turn_second(u, w), -1.0)
        use_hessian(T, rows, e, hessian)
        wi, wj = load_at(V, i, 3), load_at(V, j, 3)
        put_gradient(h3, first, zero, second_rate_by_first(u, wi, w, wj), zero, second_rate_by_second(u, wi, w, wj))
    return OK


STAGES = {"restrain": restrain, "curve": curve}
