"""A wheel that rolls without slip: t . (velocity of its contact point relative to the plane there) = 0, velocity level.

t is an axis of marker i in the plane; d = r_j - r_i, c the arm from the wheel's centre to the contact point (`wheel`):
the row is t . s with the slip s = v_j - v_i - w_i x d + (w_j - w_i) x c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.algebra.vectors import add, cross, dot, load, load_at, multiply, norm, scale, skew, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.planar import SLACK, Pose, check_wheel
from index3.constraints.products import turn_second, turning
from index3.constraints.rows import axis, clear_hessian, put_block, put_gradient, row_dtype, use_hessian
from index3.constraints.turning_angle import combine
from index3.constraints.wheel import FLAT, arm, arm_derivatives, arm_gradient, arm_rate, steepness

LEVEL = 1  # rows of this kind restrain velocities, not positions
ROLLING = row_dtype(("axis_i", "i8"), ("radius", "f8"), ("tread", "f8"))
AXES = ("first", "second")  # whose axes its rows use
(ROWS,) = slots(rows=(ROLLING, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["axis_first"], fields["radius"], fields["tread"])


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """The row along the plane, for a wheel that stays in it."""
    check_wheel(fields, first, second)
    return int(np.hypot(*first[1][:2, fields["axis_first"]]) >= SLACK), 0.0


@kernel
def constraints(T, E):
    """PHI (the slip along t) and ROW_G of every row; the number of a wheel that lies flat."""
    rows, A, r, V = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        i, j = rows[e].i, rows[e].j
        k, n, t = axis(A, i, 2), axis(A, j, 2), axis(A, i, rows[e].axis_i)
        if rows[e].radius > 0.0 and steepness(k, n) < FLAT:
            return e + 1
        c, d = arm(rows[e].radius, rows[e].tread, k, n), sub(load(r, j), load(r, i))
        arm_i, arm_j = cross(t, add(d, c)), cross(c, t)
        velocity, wi, wj = sub(load(V, j), load(V, i)), load_at(V, i, 3), load_at(V, j, 3)
        phi[rows[e].row] = dot(t, velocity) + dot(arm_i, wi) + dot(arm_j, wj)
        size[rows[e].row] = norm(velocity) + norm(arm_i) * norm(wi) + norm(arm_j) * norm(wj)
        put_gradient(g, rows[e].gradient, scale(-1.0, t), arm_i, t, arm_j)
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, r, V = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V)
    hessian, h3 = clear_hessian(T), view(T, s.ROW_H3)
    for e in range(rows.shape[0]):
        i, j, R, rho = rows[e].i, rows[e].j, rows[e].radius, rows[e].tread
        k, n, t, d = axis(A, i, 2), axis(A, j, 2), axis(A, i, rows[e].axis_i), sub(load(r, j), load(r, i))
        c, cross_t = arm(R, rho, k, n), skew(t)
        by_i, by_j = arm_derivatives(R, rho, k, n)
        by_i, by_j = multiply(cross_t, by_i), multiply(cross_t, by_j)  # t x dc
        put_block(hessian, 0, 1, cross_t, 1.0)  # dt = dtheta_i x t = -t x dtheta_i
        put_block(hessian, 2, 1, cross_t, -1.0)
        put_block(hessian, 1, 0, cross_t, -1.0)
        put_block(hessian, 1, 2, cross_t, 1.0)
        put_block(hessian, 1, 1, combine(1.0, by_i, -1.0, turn_second(add(d, c), t)), 1.0)
        put_block(hessian, 1, 3, by_j, 1.0)
        put_block(hessian, 3, 1, combine(-1.0, by_i, 1.0, turn_second(c, t)), 1.0)
        put_block(hessian, 3, 3, by_j, -1.0)
        use_hessian(T, rows, e, hessian)
        # V^T H V = t . B, B = -w_i x (s + velocity) + w x c', w = w_j - w_i
        velocity, wi, wj = sub(load(V, j), load(V, i)), load_at(V, i, 3), load_at(V, j, 3)
        w = sub(wj, wi)
        slip = add(sub(velocity, cross(wi, d)), cross(w, c))
        B = sub(cross(w, arm_rate(R, rho, k, n, wi, wj)), cross(wi, add(slip, velocity)))
        by_d = turning(wi, t)
        P, Q = scale(-1.0, cross(w, cross(wi, t))), cross(t, w)
        gi, gj = arm_gradient(R, rho, k, n, wi, wj, P, Q)
        put_gradient(h3, rows[e].gradient, scale(-1.0, by_d), add(cross(t, B), gi), by_d, gj)
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
