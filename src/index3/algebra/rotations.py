"""Rotations by Euler parameters p = (e0, e1, e2, e3), scalar first, body to ground.

`E(p) = [-e, e0 I + skew(e)]` gives the angular velocity in ground axes, w = 2 E(p) p'; with the minus sign before the
skew matrix it is `G(p)`, for body axes. E and G are linear in p and antisymmetric in their two arguments:
E(p) y = -E(y) p. The rotation matrix is E(p) G(p)^T.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from index3.compiled.interface import helper


@helper
def rotation(p):
    """The rotation matrix of Euler parameters, a 9-tuple row by row."""
    e0, e1, e2, e3 = p
    return (
        e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2.0 * (e1 * e2 - e0 * e3), 2.0 * (e1 * e3 + e0 * e2),
        2.0 * (e1 * e2 + e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2.0 * (e2 * e3 - e0 * e1),
        2.0 * (e1 * e3 - e0 * e2), 2.0 * (e2 * e3 + e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3,
    )  # fmt: skip


@helper
def E_times(p, y):
    """E(p) y."""
    return (
        -p[1] * y[0] + p[0] * y[1] - p[3] * y[2] + p[2] * y[3],
        -p[2] * y[0] + p[3] * y[1] + p[0] * y[2] - p[1] * y[3],
        -p[3] * y[0] - p[2] * y[1] + p[1] * y[2] + p[0] * y[3],
    )


@helper
def G_times(p, y):
    """G(p) y."""
    return (
        -p[1] * y[0] + p[0] * y[1] + p[3] * y[2] - p[2] * y[3],
        -p[2] * y[0] - p[3] * y[1] + p[0] * y[2] + p[1] * y[3],
        -p[3] * y[0] + p[2] * y[1] - p[1] * y[2] + p[0] * y[3],
    )


@helper
def E_transposed(p, x):
    """E(p)^T x."""
    return (
        -p[1] * x[0] - p[2] * x[1] - p[3] * x[2],
        p[0] * x[0] + p[3] * x[1] - p[2] * x[2],
        -p[3] * x[0] + p[0] * x[1] + p[1] * x[2],
        p[2] * x[0] - p[1] * x[1] + p[0] * x[2],
    )


@helper
def G_transposed(p, x):
    """G(p)^T x."""
    return (
        -p[1] * x[0] - p[2] * x[1] - p[3] * x[2],
        p[0] * x[0] - p[3] * x[1] + p[2] * x[2],
        p[3] * x[0] + p[0] * x[1] - p[1] * x[2],
        -p[2] * x[0] + p[1] * x[1] + p[0] * x[2],
    )


@helper
def spin(p, rate):
    """Angular velocity in ground axes of Euler parameters p changing at `rate`."""
    w = E_times(p, rate)
    return (2.0 * w[0], 2.0 * w[1], 2.0 * w[2])


@helper
def about(phi):
    """The rotation matrix of the rotation vector phi (axis times angle), a 9-tuple row by row."""
    x = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    angle = sqrt(x)
    part = 0.5 - x / 48.0 if x < 1e-6 else sin(0.5 * angle) / angle  # the series leaves out x^2 / 3840
    return rotation((cos(0.5 * angle), part * phi[0], part * phi[1], part * phi[2]))
