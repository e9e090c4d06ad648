"""A wheel that touches a plane: k . d - R sigma - rho = 0, the height of its lowest point (see `wheel`); d = r_j - r_i.

k is the z axis of marker i, the normal of the plane; n the z axis of marker j, the axis of the wheel.
"""

from __future__ import annotations

from typing import Any

from index3.algebra.vectors import absolute, add, apply_transposed, cross, dot, load, load_at, outer, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.planar import Pose, check_wheel
from index3.constraints.products import (
    second_rate,
    second_rate_by_first,
    second_rate_by_second,
    turn_first,
    turn_second,
)
from index3.constraints.projection import add_projection_curvature, projection_second_rate_gradient
from index3.constraints.rows import add_block, axis, clear_hessian, put_gradient, row_dtype, use_hessian
from index3.constraints.turning_angle import combine
from index3.constraints.wheel import FLAT, steepness

TOUCHING = row_dtype(("radius", "f8"), ("tread", "f8"))
AXES = ("first", "second")  # whose axes its rows use
(ROWS,) = slots(rows=(TOUCHING, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["radius"], fields["tread"])


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """The row, for a wheel that stays in the plane."""
    check_wheel(fields, first, second)
    return 1, 0.0


@kernel
def constraints(T, E):
    """PHI and ROW_G of every row; the number of a wheel that lies flat."""
    rows, A, r = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        i, j, R, rho = rows[e].i, rows[e].j, rows[e].radius, rows[e].tread
        k, n, d = axis(A, i, 2), axis(A, j, 2), sub(load(r, j), load(r, i))
        height, by_turn = rho, (0.0, 0.0, 0.0)
        if R > 0.0:
            sigma = steepness(k, n)
            if sigma < FLAT:
                return e + 1
            height += R * sigma
            by_turn = scale(R * dot(k, n) / sigma, cross(k, n))  # -R d(sigma) = R gamma / sigma d(gamma)
        phi[rows[e].row] = dot(k, d) - height
        size[rows[e].row] = absolute(k, load(r, i)) + absolute(k, load(r, j)) + height
        put_gradient(g, rows[e].gradient, scale(-1.0, k), add(cross(k, d), by_turn), k, scale(-1.0, by_turn))
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, r, V, h3 = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.ROW_H3)
    for e in range(rows.shape[0]):
        i, j, R, hessian = rows[e].i, rows[e].j, rows[e].radius, clear_hessian(T)
        k, n, d = axis(A, i, 2), axis(A, j, 2), sub(load(r, j), load(r, i))
        wi, wj = load_at(V, i, 3), load_at(V, j, 3)
        add_projection_curvature(hessian, 0, 2, k, d, 1.0)
        by_d, gi = projection_second_rate_gradient(k, d, wi, sub(load(V, j), load(V, i)))
        gj = (0.0, 0.0, 0.0)
        if R > 0.0:
            # f = -R sigma as a function of gamma = k . n: f' = R gamma/sigma, f'' = R/sigma^3, f''' = 3 R gamma/sigma^5
            gamma, sigma, a, w = dot(k, n), steepness(k, n), cross(k, n), sub(wi, wj)
            f1, f2, f3 = R * gamma / sigma, R / sigma**3, 3.0 * R * gamma / sigma**5
            square = outer(a, a)
            by_i, by_j = combine(f1, turn_first(k, n), f2, square), combine(f1, turn_second(k, n), -f2, square)
            add_block(hessian, 1, 1, by_i, 1.0)
            add_block(hessian, 1, 3, by_j, 1.0)
            add_block(hessian, 3, 1, by_i, -1.0)
            add_block(hessian, 3, 3, by_j, -1.0)
            rate = dot(a, w)  # of gamma; its gradient is V^T H of k . n
            along = scale(f2 * second_rate(k, wi, n, wj) + f3 * rate * rate, a)
            turn_i, turn_j = apply_transposed(turn_first(k, n), w), apply_transposed(turn_second(k, n), w)
            gi = add(gi, add(along, scale(2.0 * f2 * rate, turn_i)))
            gi = add(gi, scale(f1, second_rate_by_first(k, wi, n, wj)))
            gj = sub(scale(2.0 * f2 * rate, turn_j), along)
            gj = add(gj, scale(f1, second_rate_by_second(k, wi, n, wj)))
        use_hessian(T, rows, e, hessian)
        put_gradient(h3, rows[e].gradient, scale(-1.0, by_d), gi, by_d, gj)
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
