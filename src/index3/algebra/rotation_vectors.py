"""Rotation vectors: phi = theta n turns by the angle theta about the unit vector n, R = exp(skew(phi)).

With the angular velocity w, in the axes that R turns to, phi' = S(phi) w and a torque tau = S(phi)^T f does the work of
f along phi: S(phi) = I - skew(phi)/2 + c skew(phi)^2, c = (1 - h cot h) / theta^2 with h = theta / 2. Smooth for
theta < pi.
"""

from __future__ import annotations

from math import atan2, sqrt, tan

from index3.algebra.vectors import add, cross, dot, outer, scale, skew, sub
from index3.compiled.interface import helper

SMALL = 0.1
"""theta^2 below which series are used: their first neglected terms are about 1e-14 there, and so is the cancellation in
the closed forms above it."""


@helper
def rotation_vector(R):
    """(phi, theta) of a rotation matrix, a 9-tuple row by row; at theta = pi, where there are two, phi is zero."""
    a = (0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1]))  # sin(theta) n
    cosine, square = 0.5 * (R[0] + R[4] + R[8] - 1.0), dot(a, a)
    sine = sqrt(square)
    theta = atan2(sine, cosine)
    factor = 1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0))
    if square > 1e-6 or cosine < 0.0:
        factor = theta / sine if sine > 0.0 else 0.0
    return scale(factor, a), theta


@helper
def log_coefficients(phi):
    """c of S(phi), and e with dc = e phi . dphi."""
    x = dot(phi, phi)
    if x < SMALL:  # |B_2n| x^(n-1) / (2n)!, with Bernoulli's numbers
        c = 1.0 / 12.0 + x * (1.0 / 720.0 + x * (1.0 / 30240.0 + x * (1.0 / 1209600.0 + x / 47900160.0)))
        e = 1.0 / 360.0 + x * (1.0 / 7560.0 + x * (1.0 / 201600.0 + x * (1.0 / 5987520.0 + x / 189243758.0)))
        return c, e
    theta = sqrt(x)
    cot = 1.0 / tan(0.5 * theta)
    c = (1.0 - 0.5 * theta * cot) / x
    slope = 0.5 * cot - 0.25 * theta * (1.0 + cot * cot)  # of h cot h by theta
    return c, -(slope / theta + 2.0 * c) / x


@helper
def log_apply(phi, x, half, c):
    """x + half phi x x + c phi x (phi x x): S(phi) x for half = -1/2, S(phi)^T x for half = 1/2."""
    once = cross(phi, x)
    return add(x, add(scale(half, once), scale(c, cross(phi, once))))


@helper
def log_matrix(phi, c):
    """S(phi) as a 9-tuple."""
    a, b, square = skew(phi), outer(phi, phi), dot(phi, phi)
    d = 1.0 - c * square
    return (
        c * b[0] + d, c * b[1] - 0.5 * a[1], c * b[2] - 0.5 * a[2],
        c * b[3] - 0.5 * a[3], c * b[4] + d, c * b[5] - 0.5 * a[5],
        c * b[6] - 0.5 * a[6], c * b[7] - 0.5 * a[7], c * b[8] + d,
    )  # fmt: skip


@helper
def log_change(phi, x, half, c, e):
    """The derivative of `log_apply` by phi at constant x, as a 9-tuple."""
    along = dot(phi, x)
    column = add(scale(-2.0 * c, x), scale(e, sub(scale(along, phi), scale(dot(phi, phi), x))))
    A, B, C = outer(phi, scale(c, x)), outer(column, phi), skew(x)
    d = c * along
    return (
        A[0] + B[0] + d, A[1] + B[1] - half * C[1], A[2] + B[2] - half * C[2],
        A[3] + B[3] - half * C[3], A[4] + B[4] + d, A[5] + B[5] - half * C[5],
        A[6] + B[6] - half * C[6], A[7] + B[7] - half * C[7], A[8] + B[8] + d,
    )  # fmt: skip
