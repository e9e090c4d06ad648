"""Two marker axes at a fixed angle: u_i . w_j - cosine = 0 (the thesis's dot-1).

Two such rows that hold an axis square to two others leave it two directions, along the third and against it. The
cosine to the third axis tells them apart.
"""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, add, cross, dot, load_at, scale
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.constraints.planar import Pose, in_plane
from index3.constraints.products import rate, second_rate_by_first, second_rate_by_second, turn_first, turn_second
from index3.constraints.rows import axis, clear_hessian, put_block, put_gradient, row_dtype, use_hessian

PERPENDICULAR = row_dtype(("axis_i", "i8"), ("axis_j", "i8"), ("cosine", "f8"), ("third_i", "i8"), ("third_j", "i8"))
AXES = ("first", "second")  # whose axes its rows use
TURNING = True  # its second derivatives concern rotations alone
(ROWS,) = slots(rows=(PERPENDICULAR, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["axis_first"], fields["axis_second"], fields["cosine"], *fields.get("third", (-1, -1)))


def thirds(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """For each of the rows between two markers: axes of both that are parallel, or opposite, because of it and another.

    (-1, -1) if there are none.
    """
    found = [(-1, -1)] * len(rows)
    axes = [(row["axis_first"], row["axis_second"]) for row in rows]
    square = [row["cosine"] == 0.0 for row in rows]
    for k, (i, j) in enumerate(axes):
        for other, (ii, jj) in enumerate(axes):
            if square[k] and square[other] and j == jj and i != ii:
                found[k] = (3 - i - ii, j)
            elif square[k] and square[other] and i == ii and j != jj:
                found[k] = (i, 3 - j - jj)
    return found


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """The row, unless an axis stands across the plane."""
    u, w = first[1][:, fields["axis_first"]], second[1][:, fields["axis_second"]]
    return (1, 0.0) if in_plane(u, w) else (0, float(u @ w - fields["cosine"]))


@kernel
def constraints(T, E):
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


@helper
def fill_second_rates(T, E):
    """In ROW_VH what gives V^T H V with the twists: the rate of the gradient, (wi x u) x w + u x (wj x w)."""
    rows, A, V, vh, zero = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), view(T, s.ROW_VH), (0.0, 0.0, 0.0)
    for e in range(rows.shape[0]):
        i, j = rows[e].i, rows[e].j
        u, w = axis(A, i, rows[e].axis_i), axis(A, j, rows[e].axis_j)
        n = add(cross(cross(load_at(V, i, 3), u), w), cross(u, cross(load_at(V, j, 3), w)))
        put_gradient(vh, rows[e].gradient, zero, n, zero, scale(-1.0, n))


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, V, zero = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), (0.0, 0.0, 0.0)
    if view(T, s.STATUS)[s.GAMMA_ALONE] == 1:
        fill_second_rates(T, E)
        return OK
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


@kernel
def measure(T, E):
    """BRANCH of the rows that are two of a kind."""
    rows, A, V, branch = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), view(T, s.BRANCH)
    for e in range(rows.shape[0]):
        if rows[e].third_i >= 0:
            i, j = rows[e].i, rows[e].j
            u, w = axis(A, i, rows[e].third_i), axis(A, j, rows[e].third_j)
            branch[rows[e].row, 0] = dot(u, w)
            branch[rows[e].row, 1] = rate(u, load_at(V, i, 3), w, load_at(V, j, 3))
    return OK


STAGES = {"constraints": constraints, "hessians": hessians, "measure": measure}
