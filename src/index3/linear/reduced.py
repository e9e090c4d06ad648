"""The solver by the reduced matrix: its index arrays and tables (equations and kernels: `reduced_kernels`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from index3.compiled.interface import Kernel, Slot, Table
from index3.errors import ModelError
from index3.linear import reduced_kernels as rm
from index3.linear.envelope import joint_graph, number_joints
from index3.linear.solver import Bordered, Solver
from index3.registry import register


@register
class ReducedSolver(Solver):
    """The reduced matrix of one pattern.

    Parameters
    ----------
    given : pattern and mechanism
    order : the order of the joints (numbers of `joint_bodies`) instead of a good one

    Attributes
    ----------
    order : the joints in the order of their rows in B
    rows : the rows in that order
    envelope : entries kept of B, its diagonal included

    Raises
    ------
    ModelError
        If a row that makes a body's block definite touches another body, or the coordinates of a body are scattered.
    """

    name: ClassVar[str] = "reduced"
    arrays_alone: ClassVar[bool] = True
    slots: ClassVar[tuple[Slot, ...]] = rm.SLOTS
    kernels: ClassVar[tuple[Kernel, ...]] = (rm.factor, rm.solve, rm.solve_refined, rm.determine)

    def __init__(self, given: Bordered, order: Sequence[int] | None = None) -> None:
        super().__init__(given)
        n, m, entries, node = self.n, self.m, self.entries, np.asarray(given.node_of_scalar)
        column = np.repeat(np.arange(n + m), np.diff(entries.indptr))
        upper = (entries.indices < n) & (column < n)
        coupling = np.flatnonzero(upper & (node[entries.indices] != node[column]))
        touching = (entries.indices < n) & (column >= n)
        pairs = set(zip((column[touching] - n).tolist(), node[entries.indices[touching]].tolist(), strict=True))
        bodies = range(given.n_bodies)
        if any((row - n, other) in pairs for row, _ in given.augmentation for other in bodies if other != node[row]):
            raise ModelError(
                "linear='reduced' cannot take a body without inertia of its own, for which a joint makes up. "
                "Use linear='static'."
            )
        self.order = list(number_joints(joint_graph(given.joint_bodies)) if order is None else order)
        self.rows = self._row_order(node[n:], given.n_bodies, given.joint_bodies)
        self.lengths: dict[Slot, int] = {}
        self._fill(node, pairs)
        self.take_numbers()
        self.share({rm.COUPLING: coupling})

    def _row_order(self, node: np.ndarray, n_bodies: int, joint_bodies: Sequence[Sequence[int]]) -> np.ndarray:
        """Rows by joint; the own rows of a body stand before those of its first joint."""
        of_node: dict[int, list[int]] = {}
        for row, owner in enumerate(node.tolist()):
            of_node.setdefault(owner, []).append(row)
        rows: list[int] = []
        for joint in self.order:
            for body in sorted(b for b in joint_bodies[joint] if b >= 0):
                rows += of_node.pop(body, [])
            rows += of_node.pop(n_bodies + joint, [])
        return np.array(rows + [row for left in of_node.values() for row in left], np.int64)

    def take_numbers(self) -> None:
        """The weights of the augmentation."""
        weights = dict(self.given.augmentation)
        self.weights = np.array([weights.get(self.n + int(row), 0.0) for row in self.rows], float)

    def _fill(self, node: np.ndarray, pairs: set[tuple[int, int]]) -> None:
        """The index arrays of every table."""
        n, m, entries, n_bodies = self.n, self.m, self.entries, self.given.n_bodies
        nnz = len(entries.indices)
        column = np.repeat(np.arange(n + m), np.diff(entries.indptr))
        where = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(entries.indices, column, strict=True))}
        coordinates = [np.flatnonzero(node[:n] == b) for b in range(n_bodies)]
        if any(len(own) and own[-1] - own[0] >= len(own) for own in coordinates):
            raise ModelError("linear='reduced' cannot take bodies with scattered coordinates. Use linear='static'.")
        place = np.empty(m, np.int64)
        place[self.rows] = np.arange(m)
        touched: list[list[int]] = [[] for _ in range(n_bodies)]
        for row, body in pairs:
            touched[body].append(int(place[row]))
        touched = [sorted(rows) for rows in touched]
        blocks = [where.get((i, j), nnz) for own in coordinates for i in own.tolist() for j in own.tolist()]
        y_places = [
            where.get((k, n + int(self.rows[row])), nnz)
            for own, rows in zip(coordinates, touched, strict=True)
            for row in rows
            for k in own.tolist()
        ]
        sizes = np.array([len(own) for own in coordinates], np.int64)
        counts = np.array([len(rows) for rows in touched], np.int64)
        first = np.arange(m)
        for rows in touched:
            first[rows] = np.minimum(first[rows], min(rows, default=0))
        lengths = np.arange(m) - first + 1
        self.envelope = int(lengths.sum())
        arrays = {
            rm.SIZES: sizes,
            rm.BLOCK_START: starts(sizes**2),
            rm.BLOCK_PLACE: blocks,
            rm.COORDINATE: [own[0] if len(own) else 0 for own in coordinates],
            rm.TOUCH_START: [0, *np.cumsum(counts)],
            rm.TOUCH_ROW: list(itertools.chain(*touched)),
            rm.TOUCH_PLACE: y_places,
            rm.Y_START: starts(sizes * counts),
            rm.OWN: self.rows,
            rm.FIRST: first,
            rm.ROW_START: starts(lengths),
        }
        self.share({slot: np.asarray(array) for slot, array in arrays.items()})
        self.lengths = {
            rm.VALUES: nnz + 1, rm.RHS: n + m, rm.BLOCK: len(blocks), rm.Y: len(y_places), rm.L: self.envelope,
            rm.LAM: m,
        }  # fmt: skip

    def table(self, values: np.ndarray | None = None, *, find_rank: bool = True, definite: bool = False) -> Table:
        """A fresh table of factors; rows must have a zero diagonal."""
        if definite or not find_rank:
            raise ValueError("The reduced matrix has no place for a diagonal of the rows.")
        return super().table(values)

    def constants(self, find_rank: bool, definite: bool) -> dict[Slot, np.ndarray]:
        """Kernels, weights and tolerance."""
        own = {rm.WEIGHT: self.weights, rm.TOLERANCE: np.array([self.given.row_tolerance])}
        return super().constants(find_rank, definite) | own

    def own_shapes(self) -> dict[Slot, tuple[int, ...]]:
        """Right-hand side, blocks, and the reduced matrix."""
        return super().own_shapes() | {slot: (length,) for slot, length in self.lengths.items()}


def starts(lengths: np.ndarray) -> np.ndarray:
    """Where pieces of these lengths begin.

    >>> starts(np.array([2, 3, 1]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else np.zeros(0, np.int64)
