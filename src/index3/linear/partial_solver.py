"""The static LU for patterns that are mostly zero: tables of `partial_lu`, which analyses the part in use."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from index3.compiled.interface import Kernel, Room, Slot, Table
from index3.linear import contract, partial_lu, static_factor, static_substitution
from index3.linear import static_lu as lu
from index3.linear.solver import Bordered, Solver, factor
from index3.linear.static_solver import StaticLU
from index3.linear.symbolic import Pattern, joined
from index3.registry import register

SHARED_WITH_INNER = (contract.X, contract.ZERO, contract.INFO, contract.MARGIN, contract.OFF)


@register
class PartialLU(StaticLU):
    """LU in an order found while it runs, on the blocks of the matrix that are in use.

    The whole pattern is analysed only where a method needs complex matrices: their tables follow a real one that keeps
    its order.

    Parameters
    ----------
    given : pattern and mechanism

    >>> lu = PartialLU(Bordered(1, 1, [0, 2, 4], [0, 1, 0, 1], [0, 1], 1, [[0, -1]]))
    >>> lu.factor([2.0, 1.0, 1.0, 0.0])
    0
    >>> lu.solve([3.0, 1.0])
    array([1., 1.])
    """

    name: ClassVar[str] = "partial"
    arrays_alone: ClassVar[bool] = False  # a table has an inner one
    slots: ClassVar[tuple[Slot, ...]] = partial_lu.SLOTS
    kernels: ClassVar[tuple[Kernel, ...]] = (
        partial_lu.factor, partial_lu.solve, partial_lu.solve_refined, partial_lu.determine,
    )  # fmt: skip
    inner_kernels: ClassVar[tuple[Kernel, ...]] = (
        static_factor.factor, static_substitution.solve, static_substitution.solve_refined,
        static_substitution.determine,
    )  # fmt: skip

    def __init__(self, given: Bordered) -> None:
        Solver.__init__(self, given)
        self.sift = False
        self._whole: list[StaticLU] = []  # the list is shared by all solvers of the pattern
        self.take_numbers()
        augmentation = self.augmentation_arrays([row for row, _ in given.augmentation])
        self.for_inner = {
            slot: np.ascontiguousarray(augmentation[slot], slot.dtype)
            for slot in (lu.AUG_ROW, lu.AUG_PTR, lu.AUG_COORD, lu.AUG_POS)
        }
        self.share(self._block_arrays(augmentation) | self._node_arrays())

    @property
    def whole(self) -> StaticLU:
        """The solver of the whole pattern, analysed when first asked for, with the numbers of this one."""
        if not self._whole:
            self._whole.append(StaticLU(self.given))
        return self._whole[0].with_numbers(self.given)

    @property
    def pattern(self) -> Pattern:  # type: ignore[override]  # not known beforehand
        """The factors of the whole pattern."""
        return self.whole.pattern

    def _block_arrays(self, augmentation: dict[Slot, np.ndarray]) -> dict[Slot, np.ndarray]:
        """Blocks of the pattern: entries between two nodes, in either direction."""
        entries, node = self.entries, np.asarray(self.given.node_of_scalar, np.int64)
        columns = np.repeat(np.arange(entries.size), np.diff(entries.indptr))
        one, other = node[entries.indices], node[columns]
        nodes = self.given.n_bodies + len(self.given.joint_bodies)
        key = np.minimum(one, other) * nodes + np.maximum(one, other)
        found = np.zeros(nodes * nodes, bool)
        found[key] = True
        keys = np.flatnonzero(found)
        block_of = (np.cumsum(found) - 1)[key]
        always = (keys // nodes == keys % nodes).astype(np.int64)
        for slot in (lu.AUG_POS, lu.AUG_MAP):
            always[block_of[augmentation[slot]]] = 1
        begins = np.ones(len(block_of), bool)
        begins[1:] = (np.diff(block_of) != 0) | (np.diff(columns) != 0)
        start = np.flatnonzero(begins)
        return {
            partial_lu.RUN_FIRST: np.searchsorted(start, entries.indptr),
            partial_lu.RUN_START: np.append(start, len(block_of)),
            partial_lu.RUN_BLOCK: block_of[start],
            partial_lu.BLOCK_ONE: keys // nodes,
            partial_lu.BLOCK_OTHER: keys % nodes,
            partial_lu.ALWAYS: always,
            partial_lu.PRODUCTS: augmentation[lu.AUG_MAP],
        }

    def _node_arrays(self) -> dict[Slot, np.ndarray]:
        """Scalars of nodes, and the bodies that joints wait for."""
        given, node = self.given, np.asarray(self.given.node_of_scalar, np.int64)
        nodes = given.n_bodies + len(given.joint_bodies)
        waits = [np.array([body for body in bodies if body >= 0], np.int64) for bodies in given.joint_bodies]
        counts = [*[0] * given.n_bodies, *map(len, waits)]
        return {
            partial_lu.NODE_FIRST: np.cumsum([0, *np.bincount(node, minlength=nodes)]),
            partial_lu.NODE_SCALARS: np.argsort(node, kind="stable"),
            partial_lu.WAIT_FIRST: np.cumsum([0, *counts]),
            partial_lu.WAITS: joined(waits),
        }

    def constants(self, find_rank: bool, definite: bool) -> dict[Slot, np.ndarray]:
        """Kernels; weights and settings belong to the inner table."""
        return Solver.constants(self, find_rank, definite)

    def table(self, values: np.ndarray | None = None, *, find_rank: bool = True, definite: bool = False) -> Table:
        """A fresh table: the whole matrix, and an inner table for the part in use."""
        table = super().table(values, find_rank=find_rank, definite=definite)
        inner = Table(len(lu.SLOTS))
        inner.fill(self.inner_room)
        for slot in SHARED_WITH_INNER:
            inner[slot] = table[slot]
        for slot, array in self.for_inner.items():
            inner[slot] = array
        inner[contract.KERNELS] = np.array([kernel.address for kernel in self.inner_kernels], np.int64)
        inner[lu.AUG_WEIGHT] = np.zeros_like(self.weights) if definite else self.weights
        inner[lu.SETTINGS] = np.array([self.given.row_tolerance if find_rank else 0.0, lu.BODY_PIVOT, 0.0])
        table[partial_lu.LAST_USE][:] = -partial_lu.MEMORY
        table[partial_lu.INNER][0] = inner.handle
        table.inner, table.choices = inner, (find_rank, definite)  # type: ignore[attr-defined]
        return table

    @cached_property
    def inner_room(self) -> Room:
        """The arrays of an inner table: room for every entry, and for full factors."""
        return Room(self._inner_shapes(self.n + self.m, len(self.entries.indices)))

    def own_shapes(self) -> dict[Slot, tuple[int, ...]]:
        """Right-hand side, and what the choice of the part works with."""
        nodes, blocks = len(self.shared[partial_lu.NODE_FIRST]) - 1, len(self.shared[partial_lu.BLOCK_ONE])
        return Solver.own_shapes(self) | self._shapes(nodes, blocks, len(self.entries.indices))

    def _inner_shapes(self, size: int, nnz: int) -> dict[Slot, tuple[int, ...]]:
        """Of the inner table: memory that is not touched is not used."""
        half = size * (size - 1) // 2
        lengths = {slot: half for slot in (lu.LI, lu.LX, lu.UI, lu.UX)}
        lengths |= {slot: nnz for slot in (contract.AI, lu.CI, lu.VALUES)}
        lengths |= {slot: size + 1 for slot in (contract.AP, lu.LP, lu.UP)}
        lengths |= {lu.INVERSE: self.n, lu.CHOICE: lu.CHOICE_SIZE, lu.AUG_G: len(self.for_inner[lu.AUG_COORD])}
        lengths[lu.AUG_MAP] = len(self.shared[partial_lu.PRODUCTS])
        for slot in (
            contract.HEND, contract.DIAGONAL, lu.PERM, lu.PINV, lu.WIDTH, lu.UD, lu.LIMIT, lu.NOISE, lu.RHS,
            lu.RESIDUAL, lu.WORK, lu.KEPT_OUT,
        ):  # fmt: skip
            lengths[slot] = size
        lengths |= dict.fromkeys((lu.SLP, lu.SLI, lu.SLX, lu.SUP, lu.SUI, lu.SUX, *lu.FOR_SYMMETRIC), 0)
        return {slot: (length,) for slot, length in lengths.items()}

    def _shapes(self, nodes: int, blocks: int, nnz: int) -> dict[Slot, tuple[int, ...]]:
        """Of the table itself, what it writes to."""
        p = partial_lu
        lengths = {p.INNER: 1, p.NUMBERS: p.NUMBERS_SIZE, p.IN_USE: blocks, p.LAST_USE: blocks}
        lengths |= {p.SOURCE: nnz, p.PLACE: nnz, p.DEGREE: nodes, p.GONE: nodes, p.ORDER: nodes, p.START: nodes + 1}
        lengths |= {p.FRONT_FIRST: nodes + 1, p.BACK_FIRST: nodes + 1}
        lengths |= {p.FRONT: nodes * (nodes - 1) // 2, p.BACK: nodes * (nodes - 1) // 2}
        return {slot: (length,) for slot, length in lengths.items()} | {p.NEAR: (nodes, nodes)}

    def complex_table(self, real: Table) -> Table:
        """The table of a complex matrix beside `real`, which from now on keeps the order of the whole pattern."""
        find_rank, definite = real.choices  # type: ignore[attr-defined]
        full = self.whole.table(real[contract.A], find_rank=find_rank, definite=definite)
        for slot in (contract.KERNELS, *lu.OWN):
            real[slot] = full[slot]
        if real[contract.INFO][contract.N_FACTOR]:
            factor(real)  # what was factored lies in the inner table
        return super().complex_table(real)
