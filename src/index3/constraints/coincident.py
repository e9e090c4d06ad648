"""Coincident points: r_j - r_i = 0 in ground axes, three rows, or x and y alone between planar bodies.

A group of more than two markers may have several pairs of points, each with its primitive.
"""

from __future__ import annotations

from typing import Any

from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.arms import arms
from index3.constraints.planar import Pose
from index3.constraints.rows import row_dtype

COINCIDENT = row_dtype(("count", "i8"), ("pair", "i8"))
TURNING = True  # its second derivatives concern rotations alone
(ROWS,) = slots(rows=(COINCIDENT, 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return fields["count"], fields.get("pair", 0)


def planar_part(fields: dict[str, Any], first: Pose, second: Pose) -> tuple[int, float]:
    """The rows x and y."""
    return 2, float(second[0][2] - first[0][2])


@kernel
def constraints(T, E):
    """PHI and ROW_G of every point pair."""
    rows, r, members = view(E, ROWS), view(T, s.MARKER_R), view(T, s.GROUP_MARKERS)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        pair, row, first, width = 2 * rows[e].pair, rows[e].row, rows[e].gradient, 6 * rows[e].marker_count
        i, j = members[rows[e].markers + pair], members[rows[e].markers + pair + 1]
        reach = arms(T, i, j)
        for k in range(rows[e].count):
            phi[row + k] = r[j, k] - r[i, k]
            size[row + k] = abs(r[j, k]) + abs(r[i, k]) + reach
            g[first + width * k + 6 * pair + k] = -1.0
            g[first + width * k + 6 * pair + 6 + k] = 1.0
    return OK


STAGES = {"constraints": constraints}
