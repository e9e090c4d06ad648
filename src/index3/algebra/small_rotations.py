"""Rotations by a vector theta of small angles, as nodes of flexible bodies have them; orthonormal for any theta.

C(theta) is the rotation of the Euler parameters (1, theta/2), divided by their length: to first order 1 + skew(theta),
turning by 2 atan(|theta|/2). All is rational in theta, so derivatives of any order are short.
Like `vectors`, for floats and for whole histories.
"""

from __future__ import annotations

from index3.algebra.rotations import rotation
from index3.algebra.vectors import add, cross, dot, scale, sub
from index3.compiled.interface import helper


@helper
def small_rotation(theta):
    """C(theta), a 9-tuple row by row."""
    A = rotation((1.0 + 0.0 * theta[0], 0.5 * theta[0], 0.5 * theta[1], 0.5 * theta[2]))
    c = 1.0 / (1.0 + 0.25 * dot(theta, theta))
    return (c * A[0], c * A[1], c * A[2], c * A[3], c * A[4], c * A[5], c * A[6], c * A[7], c * A[8])


@helper
def small_spin(theta, x):
    """T(theta) x: the angular velocity of C(theta) if theta changes at the rate x, in the axes that C starts from."""
    return scale(1.0 / (1.0 + 0.25 * dot(theta, theta)), add(x, scale(0.5, cross(theta, x))))


@helper
def small_spin_transposed(theta, x):
    """T(theta)^T x: what does the work of a torque x along theta."""
    return scale(1.0 / (1.0 + 0.25 * dot(theta, theta)), sub(x, scale(0.5, cross(theta, x))))


@helper
def small_spin_change(theta, x, spin, y):
    """How T(theta) x, given as `spin`, changes with theta along y."""
    change = sub(scale(0.5, cross(y, x)), scale(0.5 * dot(theta, y), spin))
    return scale(1.0 / (1.0 + 0.25 * dot(theta, theta)), change)
