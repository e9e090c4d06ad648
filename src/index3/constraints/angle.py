"""A driven or held angle: theta_j about z_i - offset - f(t) = 0, and the measuring of unwrapped joint angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.algebra.vectors import dot, load_at, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.rows import axis, clear_hessian, put_block, put_gradient, row_dtype, use_hessian
from index3.constraints.turning_angle import angle_curvature, angle_gradient, angle_near, angle_second_rate_gradient

ANGLE = row_dtype(("offset", "f8"), ("function", "i8"))
MEASURED = np.dtype(
    [
        ("i", "i8"),  # markers
        ("j", "i8"),
        ("planar", "i8"),  # 1: between planar bodies (or ground), whose angles count turns by themselves
        ("angle_i", "i8"),  # their coordinates, -1 for ground
        ("angle_j", "i8"),
        ("sign", "f8"),  # of the joint's axis along ground z
        ("offset", "f8"),
    ]
)
AXES = ("first", "second")  # whose axes its rows use
TURNING = True  # its second derivatives concern rotations alone
(ROWS,) = slots(rows=(ANGLE, 1))
(PAIRS,) = slots(pairs=(MEASURED, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["offset"], fields.get("function", -1))


@kernel
def constraints(T, E):
    """PHI, its explicit derivatives by time, and ROW_G; the turn is the one nearest to the prescribed angle."""
    rows, A, zero = view(E, ROWS), view(T, s.MARKER_A), (0.0, 0.0, 0.0)
    phi, phi_t, phi_tt, size = view(T, s.PHI), view(T, s.PHI_T), view(T, s.PHI_TT), view(T, s.PHI_SCALE)
    g, values = view(T, s.ROW_G), view(T, s.FUNCTION_VALUES)
    for e in range(rows.shape[0]):
        i, j, row, f = rows[e].i, rows[e].j, rows[e].row, rows[e].function
        target = rows[e].offset
        if f >= 0:
            target += values[f, 0]
            phi_t[row] = -values[f, 1]
            phi_tt[row] = -values[f, 2]
        xi, yi, xj = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0)
        theta = angle_near(xi, yi, xj, target)
        phi[row] = theta - target
        size[row] = abs(theta) + abs(target)
        n = angle_gradient(xi, yi, xj)
        put_gradient(g, rows[e].gradient, zero, scale(-1.0, n), zero, n)
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, A, V, zero = view(E, ROWS), view(T, s.MARKER_A), view(T, s.MARKER_V), (0.0, 0.0, 0.0)
    hessian, h3 = clear_hessian(T), view(T, s.ROW_H3)
    for e in range(rows.shape[0]):
        i, j, first = rows[e].i, rows[e].j, rows[e].gradient
        xi, yi, xj = axis(A, i, 0), axis(A, i, 1), axis(A, j, 0)
        by_i, by_j = angle_curvature(xi, yi, xj)
        put_block(hessian, 3, 1, by_i, 1.0)
        put_block(hessian, 3, 3, by_j, 1.0)
        put_block(hessian, 1, 1, by_i, -1.0)
        put_block(hessian, 1, 3, by_j, -1.0)
        use_hessian(T, rows, e, hessian)
        gi, gj = angle_second_rate_gradient(xi, yi, xj, load_at(V, i, 3), load_at(V, j, 3))
        put_gradient(h3, first, zero, gi, zero, gj)
    return OK


@kernel
def count_turns(T, E):
    """Between planar bodies the turn is known at any q: ANGLE_REF follows, however large a step is."""
    pairs, q, near = view(E, PAIRS), view(T, s.Q), view(T, s.ANGLE_REF)
    for e in range(pairs.shape[0]):
        if pairs[e].planar == 1:
            turn = 0.0
            if pairs[e].angle_j >= 0:
                turn += q[pairs[e].angle_j]
            if pairs[e].angle_i >= 0:
                turn -= q[pairs[e].angle_i]
            near[e] = pairs[e].sign * turn + pairs[e].offset
    return OK


@kernel
def measure(T, E):
    """Unwrapped joint angles: each the turn nearest to ANGLE_REF (its value at the last accepted step, or better).

    ANGLE_SPEED stays zero between planar bodies, whose turns need not be followed.
    """
    pairs, A, angles, near = view(E, PAIRS), view(T, s.MARKER_A), view(T, s.ANGLES), view(T, s.ANGLE_REF)
    V, speed = view(T, s.MARKER_V), view(T, s.ANGLE_SPEED)
    for e in range(pairs.shape[0]):
        i, j = pairs[e].i, pairs[e].j
        if pairs[e].planar == 0:
            w = sub(load_at(V, j, 3), load_at(V, i, 3))
            speed[e] = dot(w, w) ** 0.5
        angles[e] = angle_near(axis(A, i, 0), axis(A, i, 1), axis(A, j, 0), near[e])
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
