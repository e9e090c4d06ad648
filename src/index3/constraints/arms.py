"""How far markers are from the origins of their bodies: what the rounding of their points is measured by."""

from __future__ import annotations

from index3.algebra.vectors import load, norm
from index3.compiled import slots as s
from index3.compiled.interface import helper, view


@helper
def arm(T, i):
    """The distance of a marker from the origin of its body.

    A point is r + A s: where the two terms are large and cancel, as at the end of a long rod, its rounding is theirs.
    """
    return norm(load(view(T, s.LOCAL_R), i))


@helper
def arms(T, i, j):
    """The sum of the distances of two markers from the origins of their bodies."""
    return arm(T, i) + arm(T, j)
