"""Coordinate partitioning: which coordinates are independent at a configuration (thesis section 3.1, 4.1.2).

Gaussian elimination of Phi_q with full pivoting: the pivot columns are the dependent coordinates, the others the
independent ones; rows without a pivot are redundant. Small systems are eliminated densely. Large ones row by row in
sparse form: each row is reduced by the rows before it that touch it, and its largest entry becomes its pivot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Slot
from index3.system.system import State

DENSE = 200
"""Coordinates up to which the elimination is dense, with full pivoting."""
ZERO = 1e-8
"""A pivot below this part of the largest entry of Phi_q belongs to a redundant row (rounding leaves 1e-13)."""
GROWTH = 1.25
"""Growth of the condition number of the dependent columns at which the partition is chosen anew (4.1.2, step 18)."""


@dataclass(frozen=True)
class Partition:
    """Dependent coordinates in the order of their pivots, independent ones ascending, the rows that carry pivots."""

    dependent: np.ndarray
    independent: np.ndarray
    rows: np.ndarray

    def condition(self, phi_q: np.ndarray) -> float:
        """Condition number of the dependent columns of a dense Phi_q."""
        if len(self.rows) == 0:
            return 1.0
        return float(np.linalg.cond(phi_q[np.ix_(self.rows, self.dependent)]))

    def outdated(self, phi_q: np.ndarray, condition_then: float) -> bool:
        """Whether the condition number has grown by the factor 1.25 since the partition was chosen."""
        return self.condition(phi_q) > GROWTH * condition_then


def dense_rows(state: State, slot: Slot = s.PHI_Q) -> np.ndarray:
    """A matrix stored like Phi_q, dense."""
    dense = np.zeros((state.system.m, state.system.n))
    np.add.at(dense, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), state[slot])
    return dense


def choose_partition(state: State) -> Partition:
    """The partition at the point where `forces` and `jacobian` were evaluated."""
    n, m = state.system.n, state.system.m
    if n <= DENSE:
        dependent, rows = eliminate_dense(dense_rows(state))
    else:
        dependent, rows = eliminate_sparse(state[s.BLOCK_ROW], state[s.BLOCK_COL], state[s.PHI_Q], m)
    independent = np.setdiff1d(np.arange(n), dependent)
    return Partition(np.array(dependent, int), independent, np.array(rows, int))


def eliminate_dense(matrix: np.ndarray) -> tuple[list[int], list[int]]:
    """Pivot columns and rows of an elimination with full pivoting, in order.

    >>> eliminate_dense(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]]))
    ([1], [1])
    """
    a = matrix.copy()
    limit = ZERO * np.abs(a).max(initial=0.0)
    columns: list[int] = []
    rows: list[int] = []
    while len(rows) < min(a.shape):
        i, j = np.unravel_index(np.argmax(np.abs(a)), a.shape)
        if abs(a[i, j]) <= limit:
            break
        factor = a[:, j] / a[i, j]
        pivot_row = a[i].copy()
        a -= np.outer(factor, pivot_row)
        a[i], a[:, j] = 0.0, 0.0
        rows.append(int(i))
        columns.append(int(j))
    return columns, rows


def eliminate_sparse(row: np.ndarray, column: np.ndarray, value: np.ndarray, m: int) -> tuple[list[int], list[int]]:
    """Pivot columns and rows of a sparse elimination row by row, each row by its largest entry.

    Rows are taken in the order of their last coordinate, so that in a chain only neighbours touch each other.
    """
    entries: list[dict[int, float]] = [{} for _ in range(m)]
    for i, j, x in zip(row.tolist(), column.tolist(), value.tolist(), strict=True):
        if x != 0.0:
            entries[i][j] = entries[i].get(j, 0.0) + x
    limit = ZERO * float(np.abs(value).max(initial=0.0))
    rounding = 1e-14 / ZERO * limit
    reduced: dict[int, dict[int, float]] = {}  # pivot column -> its reduced row
    order: dict[int, int] = {}
    columns: list[int] = []
    rows: list[int] = []
    for i in sorted(range(m), key=lambda k: (max(entries[k], default=-1), k)):
        work = entries[i]
        while True:
            known = [(order[j], j) for j in work if j in reduced]
            if not known:
                break
            _, j = min(known)  # in the order of elimination: nothing already cleared comes back
            pivot_row = reduced[j]
            factor = work.pop(j) / pivot_row[j]
            for k, x in pivot_row.items():
                if k != j:
                    y = work.get(k, 0.0) - factor * x
                    if abs(y) > rounding:
                        work[k] = y
                    else:
                        work.pop(k, None)
        if work:
            j = max(work, key=lambda k: abs(work[k]))
            if abs(work[j]) > limit:
                order[j] = len(rows)
                reduced[j] = work
                rows.append(i)
                columns.append(j)
    return columns, rows
