"""The angle of marker j about the z axis of marker i, and its derivatives.

theta = atan2(s, c) with c = x_i . x_j and s = y_i . x_j. It is exact also where the two z axes are not aligned.
d(theta) = n . (dtheta_j - dtheta_i); aligned, n is the common axis.
"""

from __future__ import annotations

from math import atan2, floor, pi

from index3.algebra.vectors import add, apply_transposed, cross, dot, outer, scale, sub
from index3.compiled.interface import helper
from index3.constraints.products import (
    second_rate,
    second_rate_by_first,
    second_rate_by_second,
    turn_first,
    turn_second,
)


@helper
def angle_near(xi, yi, xj, near):
    """The angle, by the whole turn that brings it nearest to `near`."""
    theta = atan2(dot(yi, xj), dot(xi, xj))
    return theta + 2.0 * pi * floor((near - theta) / (2.0 * pi) + 0.5)


@helper
def angle_gradient(xi, yi, xj):
    """n: the gradient of the angle by theta_j; by theta_i it is -n."""
    c, s = dot(xi, xj), dot(yi, xj)
    return scale(1.0 / (c * c + s * s), sub(scale(c, cross(xj, yi)), scale(s, cross(xj, xi))))


@helper
def combine(a, A, b, B):
    """a A + b B for 9-tuples."""
    return (
        a * A[0] + b * B[0], a * A[1] + b * B[1], a * A[2] + b * B[2],
        a * A[3] + b * B[3], a * A[4] + b * B[4], a * A[5] + b * B[5],
        a * A[6] + b * B[6], a * A[7] + b * B[7], a * A[8] + b * B[8],
    )  # fmt: skip


@helper
def angle_curvature(xi, yi, xj):
    """(dn/dtheta_i, dn/dtheta_j) as 9-tuples."""
    c, s = dot(xi, xj), dot(yi, xj)
    d = 1.0 / (c * c + s * s)
    nc, ns, n = cross(xj, xi), cross(xj, yi), angle_gradient(xi, yi, xj)
    change = combine(d, outer(ns, nc), -d, outer(nc, ns))  # by the changes of c, s in the numerator ...
    change = combine(1.0, change, -2.0 * d, outer(n, add(scale(c, nc), scale(s, ns))))  # ... and in the denominator
    by_j = combine(c * d, turn_first(xj, yi), -s * d, turn_first(xj, xi))
    by_i = combine(c * d, turn_second(xj, yi), -s * d, turn_second(xj, xi))
    return combine(1.0, by_i, -1.0, change), combine(1.0, by_j, 1.0, change)


@helper
def angle_second_rate_gradient(xi, yi, xj, wi, wj):
    """Gradients by theta_i and theta_j of the second rate of the angle at constant angular velocities."""
    c, s = dot(xi, xj), dot(yi, xj)
    d = 1.0 / (c * c + s * s)
    w = sub(wj, wi)
    nc, ns = cross(xj, xi), cross(xj, yi)
    c1, s1 = dot(nc, w), dot(ns, w)
    c2, s2 = second_rate(xi, wi, xj, wj), second_rate(yi, wi, xj, wj)
    t_c, t_s = -s * d, c * d  # derivatives of atan2; theta is harmonic in (c, s): t_ss = -t_cc and so on
    t_cc, t_cs = 2.0 * c * s * d * d, (s * s - c * c) * d * d
    t_ccc, t_ccs = 2.0 * s * d * d - 8.0 * c * c * s * d**3, 2.0 * c * d * d - 8.0 * c * s * s * d**3
    # the second rate is t_c c2 + t_s s2 + t_cc (c1^2 - s1^2) + 2 t_cs c1 s1
    by_c = t_cc * c2 + t_cs * s2 + t_ccc * (c1 * c1 - s1 * s1) + 2.0 * t_ccs * c1 * s1
    by_s = t_cs * c2 - t_cc * s2 + t_ccs * (c1 * c1 - s1 * s1) - 2.0 * t_ccc * c1 * s1
    by_c1, by_s1 = 2.0 * (t_cc * c1 + t_cs * s1), 2.0 * (t_cs * c1 - t_cc * s1)
    along = add(scale(by_c, nc), scale(by_s, ns))
    gi = add(
        scale(by_c1, apply_transposed(turn_second(xj, xi), w)), scale(by_s1, apply_transposed(turn_second(xj, yi), w))
    )
    gj = add(
        scale(by_c1, apply_transposed(turn_first(xj, xi), w)), scale(by_s1, apply_transposed(turn_first(xj, yi), w))
    )
    gi = add(
        gi, add(scale(t_c, second_rate_by_first(xi, wi, xj, wj)), scale(t_s, second_rate_by_first(yi, wi, xj, wj)))
    )
    gj = add(
        gj, add(scale(t_c, second_rate_by_second(xi, wi, xj, wj)), scale(t_s, second_rate_by_second(yi, wi, xj, wj)))
    )
    return sub(gi, along), add(gj, along)
