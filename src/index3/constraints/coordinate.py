"""A held coordinate: q_k - value = 0, one row on one generalised coordinate (an absolute constraint)."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view

COORDINATE = np.dtype([("coordinate", "i8"), ("row", "i8"), ("entry", "i8"), ("value", "f8")])
(ROWS,) = slots(rows=(COORDINATE, 1))


@kernel
def constraints(T, E):
    """PHI of every row, and its reaction, which acts on the coordinate itself."""
    rows, q, lam, g = view(E, ROWS), view(T, s.Q), view(T, s.LAM), view(T, s.G)
    phi, size = view(T, s.PHI), view(T, s.PHI_SCALE)
    for e in range(rows.shape[0]):
        k, row = rows[e].coordinate, rows[e].row
        phi[row] = q[k] - rows[e].value
        size[row] = abs(q[k]) + abs(rows[e].value)
        g[k] += lam[row]
    return OK


@kernel
def own_rows(T, E):
    """PHI_Q of every row: one."""
    rows, phi_q = view(E, ROWS), view(T, s.PHI_Q)
    for e in range(rows.shape[0]):
        phi_q[rows[e].entry] = 1.0
    return OK


STAGES = {"constraints": constraints, "own_rows": own_rows}
