"""Forces along the line between two points, shared by springs, line actuators and point gravity.

With d = r_j - r_i, length L = |d|, direction u = d / L: the tension s(L, L') pulls the ends together.
"""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

from index3.algebra.vectors import add, add_at, dot, load, norm, outer, scale, sub
from index3.bodies.marker import Marker, as_vector
from index3.bodies.pairs import check_pair
from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.constraints.turning_angle import combine
from index3.errors import ModelError
from index3.forces.force import add_block

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def two_ends(owner: str, first: Any, second: Any, points: Any) -> tuple[Marker, Marker]:
    """The markers at the ends of a line: two given ones, or those at points of two bodies, in ground at the start."""
    if not check_pair(owner, first, second, "points=..."):
        if points is not None:
            raise ModelError(f"{owner} has two markers and also points. Leave points out, or give two bodies.")
        return first, second
    if points is None:
        raise ModelError(f"{owner} joins two bodies without points. Give points=(first, second), or two markers.")
    try:
        start, end = points
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner} has points {short(points)}. Give two: points=(first, second).") from None
    start, end = as_vector(start, owner, "point"), as_vector(end, owner, "point")
    return first.marker_at(start), second.marker_at(end)


def ends_meet(owner: str, t: float) -> str:
    """The message for a line without a direction."""
    return (
        f"{owner} has both ends at one point at t = {t:.6g}, so its force has no direction. "
        "Keep the ends apart, or replace it by springs along fixed directions."
    )


@helper
def stretch(T, i, j):
    """Length L, direction u (zero where there is none) and d' between markers i and j."""
    r, V = view(T, s.MARKER_R), view(T, s.MARKER_V)
    d = sub(load(r, j), load(r, i))
    length = norm(d)
    u = scale(1.0 / length, d) if length > 0.0 else (0.0, 0.0, 0.0)
    return length, u, sub(load(V, j), load(V, i))


@helper
def pull_together(T, i, j, tension, u):
    """Put a tension on both ends."""
    f = view(T, s.MARKER_F)
    add_at(f, i, 0, scale(tension, u))
    add_at(f, j, 0, scale(-tension, u))


@helper
def add_pair(group, first, B):
    """Add B to the diagonal blocks of the two points and -B off the diagonal."""
    add_block(group, first, 12, 0, 0, B, 1.0)
    add_block(group, first, 12, 2, 2, B, 1.0)
    add_block(group, first, 12, 0, 2, B, -1.0)
    add_block(group, first, 12, 2, 0, B, -1.0)


@helper
def add_line_stiffness(K, first, length, u, v, tension, k, c):
    """With k = ds/dL, c = ds/dL': k u u^T + s / L (I - u u^T) + c u (d' - L' u)^T / L, the derivative of s u by d."""
    across = tension / length
    row = add(scale(k - across, u), scale(c / length, sub(v, scale(dot(u, v), u))))
    add_pair(K, first, combine(1.0, outer(u, row), across, IDENTITY))
