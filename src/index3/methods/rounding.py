"""Whether the last correction of an iteration is no more than rounding."""

from __future__ import annotations

from index3.compiled.interface import helper

SMALL = 0.1
"""Part of the error allowed below which corrections may count as rounding beside velocities of 1, in any unit."""


@helper
def part_of(size, most, largest, most_x, largest_x):
    """The largest correction, `most`, in parts of the largest velocity, which is at least 1.

    First-order states have units of their own: one of 1e-9 beside nothing else is not rounding. So a correction of
    theirs that is much of the error allowed, `size`, is measured by the largest of them.
    """
    part = most / largest
    if size > SMALL and most_x > 0.0:
        part = max(part, most_x / largest_x if largest_x > 0.0 else 1.0)
    return part
