"""A constraint primitive outside the package: two points keep a difference in height, z of ground."""

from __future__ import annotations

from typing import Any

from heights import rise

from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.rows import row_dtype

(ROWS,) = slots(rows=(row_dtype(("offset", "f8")), 1))


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record."""
    return (fields["offset"],)


@kernel
def constraints(T, E):
    """PHI and ROW_G of every row."""
    rows, r = view(E, ROWS), view(T, s.MARKER_R)
    phi, size, g = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G)
    for e in range(rows.shape[0]):
        i, j, row, first = rows[e].i, rows[e].j, rows[e].row, rows[e].gradient
        phi[row] = rise(r, i, j) - rows[e].offset
        size[row] = abs(r[j, 2]) + abs(r[i, 2]) + abs(rows[e].offset)
        g[first + 2] = -1.0
        g[first + 8] = 1.0
    return OK


STAGES = {"constraints": constraints}
