"""Coordinate partitioning: which coordinates are independent at a configuration (thesis section 3.1, 4.1.2).

Gaussian elimination of Phi_q with full pivoting: the pivot columns are the dependent coordinates, the others the
independent ones; rows without a pivot are redundant. Small systems are eliminated densely, large ones row by row in
sparse form (`elimination`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Slot, Table
from index3.errors import ModelError
from index3.methods.state_space import elimination
from index3.methods.state_space.elimination import ZERO
from index3.system import evaluate
from index3.system.state import State
from index3.system.system import System

DENSE = 200
"""Coordinates up to which the elimination is dense, with full pivoting."""
MOST_FREEDOMS = 200
"""Degrees of freedom of models with flexible bodies, and those that dense matrices of a step are meant for."""


class Partition(NamedTuple):
    """Dependent coordinates in the order of their pivots, independent ones ascending, the rows that carry pivots."""

    dependent: np.ndarray
    independent: np.ndarray
    rows: np.ndarray


def dense_rows(state: State, slot: Slot = s.PHI_Q) -> np.ndarray:
    """A matrix stored like Phi_q, dense."""
    dense = np.zeros((state.system.m, state.system.n))
    np.add.at(dense, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), state[slot])
    return dense


def sparse_rows(state: State) -> Any:
    """Phi_q by columns, sparse."""
    from scipy.sparse import csc_matrix  # here: SciPy takes time to load

    entries = (state[s.PHI_Q], (state[s.BLOCK_ROW], state[s.BLOCK_COL]))
    return csc_matrix(entries, shape=(state.system.m, state.system.n))


def choose_partition(state: State) -> Partition:
    """The partition at the point where `forces` and `jacobian` were evaluated."""
    n = state.system.n
    dependent, rows = eliminate_dense(dense_rows(state)) if n <= DENSE else eliminate_sparse(state)
    independent = np.setdiff1d(np.arange(n), dependent)
    return Partition(np.array(dependent, int), independent, np.array(rows, int))


def check_flexible(method: str, state: State) -> None:
    """Raise if a model with flexible bodies has more than MOST_FREEDOMS independent coordinates."""
    system = state.system
    soft = [body for body in system.bodies if body.deforms]
    if not soft or system.n <= MOST_FREEDOMS:
        return
    state.run(evaluate.forces, evaluate.jacobian)
    count = len(choose_partition(state).independent)
    if count > MOST_FREEDOMS:
        largest = max(soft, key=lambda body: body.size)
        raise ModelError(
            f"Method '{method}' takes models with flexible bodies of at most {MOST_FREEDOMS} degrees of freedom; this "
            f"one has {count}, {largest.label} alone {largest.size} coordinates. Use method='hht-i3' or 'radau5', or "
            "fewer elements or modes."
        )


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


def eliminate_sparse(state: State) -> tuple[list[int], list[int]]:
    """Pivot columns and rows of a sparse elimination row by row, in order."""
    table = elimination_table(state)
    order, pivot = table[elimination.ORDER], table[elimination.PIVOT]
    rows = order[pivot[order] >= 0]
    return pivot[rows].tolist(), rows.tolist()


def elimination_table(state: State) -> Table:
    """The table of `elimination.eliminate`, after an elimination at the point where `jacobian` was evaluated.

    It has room for four times the entries found here; where a motion needs more, its partition stays as it was.
    """
    n, m, row, column = state.system.n, state.system.m, state[s.BLOCK_ROW], state[s.BLOCK_COL]
    table = Table(len(elimination.SLOTS))
    order = row_order(state.system, row, column)
    table[elimination.ORDER] = order
    table[elimination.START] = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))])
    table[elimination.ENTRY] = np.argsort(row, kind="stable").astype(np.int32)
    when, last = np.zeros(m, np.int32), np.full(n, -1, np.int32)
    when[order] = np.arange(m)
    np.maximum.at(last, column, when[row])
    table[elimination.LAST] = last
    table[elimination.PIVOT], table[elimination.RATIO] = np.full(m, -1), np.ones(m)
    table[elimination.PLACE], table[elimination.UP] = np.full(n, -1, np.int32), np.zeros(m + 1, np.int64)
    table[elimination.WORK] = np.zeros(n)
    for slot in (elimination.COUNT, elimination.LIST, elimination.MARK):
        table[slot] = np.zeros(n, np.int32)
    table[elimination.INFO] = np.zeros(4, np.int64)
    room, code = len(column) + n, elimination.FULL
    while code == elimination.FULL:
        give_room(table, room)
        code = elimination.eliminate(state.handle, table.handle)
        room *= 2
    give_room(table, 4 * int(table[elimination.INFO][elimination.ENTRIES]) + n)
    return table


def give_room(table: Table, size: int) -> None:
    """Room for this many entries of reduced rows."""
    table[elimination.UI], table[elimination.UX] = np.zeros(size, np.int32), np.zeros(size)


def row_order(system: System, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Rows furthest from ground first, by joints counted along the shortest way; those of one body together."""
    depth = depths(system)
    body = np.searchsorted(system.starts, column, "right") - 1
    keys = np.full(system.m, -1)  # depth of a row's deepest body and that body, in one number
    np.maximum.at(keys, row, depth[body] * len(depth) + body)
    return np.argsort(-keys, kind="stable")


def depths(system: System) -> np.ndarray:
    """For each body how many joints lie between it and ground; where nothing ties to ground, and the first body."""
    count = len(system.bodies)
    near: list[set[int]] = [set() for _ in range(count)]
    grounded: set[int] = set()
    for bodies in system.joint_bodies:
        for body in bodies:
            if body >= 0:
                near[body].update(bodies)
                if -1 in bodies:
                    grounded.add(body)
    depth = np.full(count, -1)
    for root in (sorted(grounded), *([body] for body in range(count))):
        level = [body for body in root if depth[body] < 0]
        steps = 0
        while level:
            depth[level] = steps
            level = sorted({other for body in level for other in near[body] if other >= 0 and depth[other] < 0})
            steps += 1
    return depth
