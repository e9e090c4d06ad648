"""The coordinate u_i . (r_j - r_i) of a point j along an axis u of marker i, and its derivatives; d = r_j - r_i."""

from __future__ import annotations

from index3.algebra.vectors import add, cross, scale, skew
from index3.compiled.interface import helper
from index3.constraints.products import turn_first, turning
from index3.constraints.rows import add_block


@helper
def add_projection_curvature(H, i, j, u, d, c):
    """Add c times the second derivatives to H; i and j number the first of the two blocks of each marker."""
    cross_u = skew(u)
    add_block(H, i, i + 1, cross_u, c)  # du = dtheta_i x u = -u x dtheta_i
    add_block(H, j, i + 1, cross_u, -c)
    add_block(H, i + 1, i + 1, turn_first(u, d), c)
    add_block(H, i + 1, i, cross_u, -c)
    add_block(H, i + 1, j, cross_u, c)


@helper
def projection_second_rate_gradient(u, d, w, rate):
    """Gradients by r_j and theta_i of the second rate at constant twists; by r_i it is minus the first.

    w is the angular velocity of marker i, `rate` the velocity of point j minus that of point i.
    """
    by_u = add(turning(w, d), scale(-2.0, cross(w, rate)))
    return turning(w, u), cross(u, by_u)
