"""Derivatives of a dot product u . w of directions fixed in two markers: the mathematics behind every angular row.

With u turning by dtheta_i and w by dtheta_j: d(u . w) = n . (dtheta_i - dtheta_j), n = u x w.
"""

from __future__ import annotations

from index3.algebra.vectors import add, cross, dot, outer, scale, sub
from index3.compiled.interface import helper


@helper
def turn_first(u, w):
    """d(u x w)/dtheta_i = u w^T - (u . w) I, as a 9-tuple."""
    B, c = outer(u, w), dot(u, w)
    return (B[0] - c, B[1], B[2], B[3], B[4] - c, B[5], B[6], B[7], B[8] - c)


@helper
def turn_second(u, w):
    """d(u x w)/dtheta_j = (u . w) I - w u^T, as a 9-tuple."""
    B, c = outer(w, u), dot(u, w)
    return (c - B[0], -B[1], -B[2], -B[3], c - B[4], -B[5], -B[6], -B[7], c - B[8])


@helper
def turning(w, u):
    """Second rate of a direction u that turns with the constant angular velocity w: w x (w x u)."""
    return cross(w, cross(w, u))


@helper
def rate(u, wi, w, wj):
    """Rate of u . w, u turning with the angular velocity wi and w with wj."""
    return dot(sub(wi, wj), cross(u, w))


@helper
def second_rate(u, wi, w, wj):
    """Second time derivative of u . w at constant angular velocities."""
    return dot(turning(wi, u), w) + 2.0 * dot(cross(wi, u), cross(wj, w)) + dot(u, turning(wj, w))


@helper
def second_rate_by_first(u, wi, w, wj):
    """Gradient of `second_rate` by theta_i: u x (its gradient by u)."""
    by_u = add(add(turning(wi, w), scale(-2.0, cross(wi, cross(wj, w)))), turning(wj, w))
    return cross(u, by_u)


@helper
def second_rate_by_second(u, wi, w, wj):
    """Gradient of `second_rate` by theta_j."""
    return second_rate_by_first(w, wj, u, wi)
