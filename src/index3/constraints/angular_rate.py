"""A prescribed relative angular velocity: n_i . (w_j - w_i) - f(t) = 0, n an axis of marker i, a velocity-level row.

Of a velocity-level row PHI_T holds the part that is not g . V, here -f, and PHI_TT its rate.
"""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, cross, dot, load_at, scale, skew, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.planar import SLACK, Pose, out_of_plane
from index3.constraints.rows import axis, clear_hessian, put_block, put_gradient, row_dtype, use_hessian

LEVEL = 1  # rows of this kind restrain velocities, not positions
ANGULAR_RATE = row_dtype(("axis_i", "i8"), ("function", "i8"))
AXES = ("first", "second")  # whose axes its rows use
TURNING = True  # its second derivatives concern rotations alone
(ROWS,) = slots(rows=(ANGULAR_RATE, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["axis_first"], fields.get("function", -1))


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """The row, unless its axis lies in the plane."""
    if abs(first[1][2, fields["axis_first"]]) >= SLACK:
        return 1, 0.0
    if fields.get("driven"):
        raise out_of_plane("an axis along z")
    return 0, 0.0


@kernel
def constraints(T, E):
    """PHI, its explicit derivatives, and ROW_G of every row."""
    rows, A, V, zero = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), (0.0, 0.0, 0.0)
    phi, phi_t, phi_tt, size = view(T, s.PHI), view(T, s.PHI_T), view(T, s.PHI_TT), view(T, s.PHI_SCALE)
    g, values = view(T, s.ROW_G), view(T, s.FUNCTION_VALUES)
    for e in range(rows.shape[0]):
        row, f = rows[e].row, rows[e].function
        n, w = axis(A, rows[e].i, rows[e].axis_i), sub(load_at(V, rows[e].j, 3), load_at(V, rows[e].i, 3))
        phi[row] = dot(n, w)
        size[row] = absolute(n, w)
        if f >= 0:
            phi[row] -= values[f, 0]
            size[row] += abs(values[f, 0])
            phi_t[row] = -values[f, 0]
            phi_tt[row] = -values[f, 1]
        put_gradient(g, rows[e].gradient, zero, scale(-1.0, n), zero, n)
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, V, h3 = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), view(T, s.ROW_H3)
    hessian, zero = clear_hessian(T), (0.0, 0.0, 0.0)
    for e in range(rows.shape[0]):
        n, wi = axis(A, rows[e].i, rows[e].axis_i), load_at(V, rows[e].i, 3)
        cross_n = skew(n)
        put_block(hessian, 1, 1, cross_n, 1.0)  # dn = dtheta_i x n = -n x dtheta_i
        put_block(hessian, 3, 1, cross_n, -1.0)
        use_hessian(T, rows, e, hessian)
        w = sub(load_at(V, rows[e].j, 3), wi)
        put_gradient(h3, rows[e].gradient, zero, cross(n, cross(w, wi)), zero, zero)  # of (w_i x n) . w
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
