"""What constraints along curves share to look at what a step passed over, for the stage "passes"."""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import helper, view

HALF = 0.5
"""The part of a step to try instead where it passed over something."""
SURELY = 10.0
"""How many times as much a curve must leave its cubic for a warning of a constant step."""
MOST = 512.0
"""Pieces of a curve that a step may pass over at most."""


@helper
def cubic_between(y0, m0, y1, m1, x):
    """The cubic from y0 to y1 at a part x of the way; m0 and m1 are slopes times the way."""
    y, rise = 1.0 - x, y1 - y0
    return y0 + x * rise + x * y * (y * (m0 - rise) + x * (rise - m1))


@helper
def next_records(T, count):
    """The number of the first of a kind's records in the stage "passes", which counts on."""
    status = view(T, s.STATUS)
    first = status[s.SWITCH_AT]
    status[s.SWITCH_AT] = first + count
    return first
