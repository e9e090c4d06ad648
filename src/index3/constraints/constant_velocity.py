"""Equal turning of two shafts along z_i and z_j: (x_i . y_j - y_i . x_j) / 2 = 0.

The rotation from marker i to marker j is then about an axis across both shafts, so that the plane that halves the angle
between them is one of symmetry. Between aligned shafts the row is the angle between them, and lam the torque.
A half turn about any axis solves the row, too: the two sets of solutions meet where one shaft points back along the
other. (x_i . x_j + y_i . y_j) / 2 is cos^2 of half the angle between the shafts in the first set, not positive in the
second.
"""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, cross, dot, load_at, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.planar import Pose, lies_in_plane, out_of_plane
from index3.constraints.products import rate, second_rate_by_first, second_rate_by_second, turn_first, turn_second
from index3.constraints.rows import axis, clear_hessian, put_block, put_gradient, row_dtype, use_hessian
from index3.constraints.turning_angle import combine

AXES = ("first", "second")  # whose axes its rows use
TURNING = True  # its second derivatives concern rotations alone
(ROWS,) = slots(rows=(row_dtype(), 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return ()


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """Nothing: shafts in the plane do not turn about their axes."""
    if not lies_in_plane(first[1][:, 2]):
        raise out_of_plane("shafts along it")
    return 0, float(0.5 * (first[1][:, 0] @ second[1][:, 1] - first[1][:, 1] @ second[1][:, 0]))


@kernel
def constraints(T, E):
    """PHI and ROW_G of every row."""
    rows, A, zero = view(E, ROWS), view(T, s.MARKER_A), (0.0, 0.0, 0.0)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        i, j = rows[e].i, rows[e].j
        xi, yi, xj, yj = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0), axis(A, j, 1)
        phi[rows[e].row] = 0.5 * (dot(xi, yj) - dot(yi, xj))
        size[rows[e].row] = 0.5 * (absolute(xi, yj) + absolute(yi, xj))
        n = scale(0.5, sub(cross(xi, yj), cross(yi, xj)))
        put_gradient(g, rows[e].gradient, zero, n, zero, scale(-1.0, n))
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, V, h3 = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), view(T, s.ROW_H3)
    hessian, zero = clear_hessian(T), (0.0, 0.0, 0.0)
    for e in range(rows.shape[0]):
        i, j = rows[e].i, rows[e].j
        xi, yi, xj, yj = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0), axis(A, j, 1)
        by_i = combine(0.5, turn_first(xi, yj), -0.5, turn_first(yi, xj))
        by_j = combine(0.5, turn_second(xi, yj), -0.5, turn_second(yi, xj))
        put_block(hessian, 1, 1, by_i, 1.0)
        put_block(hessian, 1, 3, by_j, 1.0)
        put_block(hessian, 3, 1, by_i, -1.0)
        put_block(hessian, 3, 3, by_j, -1.0)
        use_hessian(T, rows, e, hessian)
        wi, wj = load_at(V, i, 3), load_at(V, j, 3)
        gi = sub(second_rate_by_first(xi, wi, yj, wj), second_rate_by_first(yi, wi, xj, wj))
        gj = sub(second_rate_by_second(xi, wi, yj, wj), second_rate_by_second(yi, wi, xj, wj))
        put_gradient(h3, rows[e].gradient, zero, scale(0.5, gi), zero, scale(0.5, gj))
    return OK


@kernel
def measure(T, E):
    """BRANCH of every row."""
    rows, A, V, branch = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), view(T, s.BRANCH)
    for e in range(rows.shape[0]):
        i, j = rows[e].i, rows[e].j
        xi, yi, xj, yj = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0), axis(A, j, 1)
        wi, wj = load_at(V, i, 3), load_at(V, j, 3)
        branch[rows[e].row, 0] = 0.5 * (dot(xi, xj) + dot(yi, yj))
        branch[rows[e].row, 1] = 0.5 * (rate(xi, wi, xj, wj) + rate(yi, wi, yj, wj))
    return OK


STAGES = {"constraints": constraints, "hessians": hessians, "measure": measure}
