"""The static-order solver of a pattern: its index arrays and tables (kernels: `static_lu`, `static_substitution`,
`complex_lu`)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from index3.compiled.interface import Kernel, Slot, Table
from index3.compiled.workspace import Workspace
from index3.linear import (
    complex_lu,
    contract,
    ordering_kernels,
    static_factor,
    static_substitution,
    supernode_kernels,
    symbolic_kernels,
)
from index3.linear import static_lu as lu
from index3.linear.ordering import elimination_order
from index3.linear.solver import NEEDS, Bordered, Solver
from index3.linear.supernodes import find_supernodes
from index3.registry import register


@register
class StaticLU(Solver):
    """LU in an order fixed by the mechanism, without pivoting.

    Parameters
    ----------
    given : pattern and mechanism
    rule : "R" or "F" to choose the rule of elimination; None takes the one with fewer operations

    >>> lu = StaticLU(Bordered(1, 1, [0, 2, 4], [0, 1, 0, 1], [0, 1], 1, [[0, -1]]))
    >>> lu.factor([2.0, 1.0, 1.0, 0.0])
    0
    >>> lu.solve([3.0, 1.0])
    array([1., 1.])
    """

    name: ClassVar[str] = "static"
    arrays_alone: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(NEEDS)
    slots: ClassVar[tuple[Slot, ...]] = lu.SLOTS
    kernels: ClassVar[tuple[Kernel, ...]] = (
        static_factor.factor, static_substitution.solve, static_substitution.solve_refined,
        static_substitution.determine,
    )  # fmt: skip
    complex_kernels: ClassVar[tuple[Kernel, ...]] = (complex_lu.factor, complex_lu.solve)
    analysis_kernels: ClassVar[tuple[Kernel, ...]] = (
        ordering_kernels.choose, symbolic_kernels.count, symbolic_kernels.fill, supernode_kernels.measure,
        supernode_kernels.fill,
    )  # fmt: skip

    def __init__(self, given: Bordered, rule: str | None = None) -> None:
        super().__init__(given)
        self.sift = given.mostly_zero  # solving passes over zeros of the factors
        self.rule, self.pattern = elimination_order(
            self.entries.indptr, self.entries.indices, np.asarray(given.node_of_scalar), given.n_bodies,
            given.joint_bodies, rule,
        )  # fmt: skip
        self.take_numbers()
        self.share(self._index_arrays([row for row, _ in given.augmentation]))

    def take_numbers(self) -> None:
        """The weights of the augmentation."""
        self.weights = np.array([weight for _, weight in self.given.augmentation], float)

    def _index_arrays(self, augmentation_rows: list[int]) -> dict[Slot, np.ndarray]:
        """What every table of this pattern shares."""
        pattern, augmentation = self.pattern, self.augmentation_arrays(augmentation_rows)
        return {
            lu.CI: pattern.pinv[self.entries.indices],
            lu.PERM: pattern.perm,
            lu.PINV: pattern.pinv,
            lu.LP: pattern.lp,
            lu.LI: pattern.li,
            lu.WIDTH: pattern.width,
            lu.UP: pattern.up,
            lu.UI: pattern.ui,
            **augmentation,
            **self._supernode_arrays(augmentation),
        }

    def _supernode_arrays(self, augmentation: dict[Slot, np.ndarray]) -> dict[Slot, np.ndarray]:
        """For symmetric matrices."""
        apart, products = self.given.between_bodies, augmentation[lu.AUG_MAP]
        used = np.ones(len(self.entries.indices), bool) if apart is None else ~apart
        used[products] = True
        nodes = find_supernodes(self.pattern, self.entries, used, self.n)
        number = np.full(len(used), -1, np.int32)  # of each entry among those that are eliminated
        number[nodes.source] = np.arange(len(nodes.source), dtype=np.int32)
        augmented = number[products]
        self.block_sizes = {lu.BLOCKS: nodes.size, lu.BUFFER: 2 * nodes.widest}
        return {
            lu.NODE_FIRST: nodes.first,
            lu.NODE_BELOW: nodes.below,
            lu.NODE_ROWS: nodes.rows,
            lu.NODE_START: nodes.start,
            lu.NODE_TARGETS: nodes.targets,
            lu.TARGET: nodes.target,
            lu.TARGET_ROW: nodes.row,
            lu.TARGET_SHIFT: nodes.shift,
            lu.SHIFTS: nodes.shifts,
            lu.SOURCE: nodes.source,
            lu.SOURCE_ROW: nodes.source_row,
            lu.SOURCE_P: nodes.source_columns,
            lu.SOURCE_AUG: augmented[augmented >= 0],
            lu.PLACE: nodes.place,
            lu.UPPER_P: nodes.upper_columns,
            lu.UPPER_I: nodes.upper_rows,
            lu.UPPER: nodes.upper,
            lu.PAIRS: nodes.pairs,
        }

    def augmentation_arrays(self, augmentation_rows: list[int]) -> dict[Slot, np.ndarray]:
        """Rows to augment with, and where they and the products of their entries stand in the matrix."""
        entries = self.entries
        coord, ptr = entries.ragged(augmentation_rows, entries.before(self.n))
        counts = np.diff(ptr)
        several = np.repeat(counts, counts)  # with how many entries of its row each one is multiplied
        first = np.repeat(ptr[:-1], counts) - (np.cumsum(several) - several)
        others = np.arange(int(np.sum(several))) + np.repeat(first, several)
        return {
            lu.AUG_ROW: np.array(augmentation_rows, np.int64),
            lu.AUG_PTR: ptr,
            lu.AUG_COORD: coord,
            lu.AUG_POS: entries.places(np.repeat(augmentation_rows, counts), coord),
            lu.AUG_MAP: entries.places(np.repeat(coord, several), coord[others]),
        }

    def constants(self, find_rank: bool, definite: bool) -> dict[Slot, np.ndarray]:
        """Kernels, weights and settings."""
        tolerance = self.given.row_tolerance if find_rank else 0.0
        return super().constants(find_rank, definite) | {
            lu.AUG_WEIGHT: self.once("no weights", [0.0] * len(self.weights)) if definite else self.weights,
            lu.SETTINGS: self.once(tolerance, [tolerance, lu.BODY_PIVOT, float(self.sift)]),
        }

    def own_shapes(self) -> dict[Slot, tuple[int, ...]]:
        """Right-hand side, factors, and what elimination works with."""
        size, below, above = self.n + self.m, len(self.pattern.li), len(self.pattern.ui)
        lengths = {
            lu.LX: below, lu.UX: above, lu.UD: size, lu.VALUES: len(self.entries.indices), lu.LIMIT: size,
            lu.NOISE: size, lu.INVERSE: self.n, lu.AUG_G: len(self.shared[lu.AUG_COORD]), lu.RHS: size,
            lu.RESIDUAL: size, lu.WORK: size, lu.KEPT_OUT: size, lu.CHOICE: lu.CHOICE_SIZE,
            **self.block_sizes,
        }  # fmt: skip
        for pointers, indices, sifted, count in (
            (lu.SLP, lu.SLI, lu.SLX, below),
            (lu.SUP, lu.SUI, lu.SUX, above),
        ):
            count = count if self.sift else 0
            lengths |= {pointers: size + 1, indices: count, sifted: count}
        return super().own_shapes() | {slot: (length,) for slot, length in lengths.items()}

    def complex_table(self, real: Table) -> Table:
        """The table of a complex matrix on the pattern of `real`, with its order and the rows it left out."""
        table = Table(len(complex_lu.SLOTS))
        table[contract.COMPLEX_KERNELS] = np.array([kernel.address for kernel in self.complex_kernels], np.int64)
        size, nnz = self.n + self.m, len(self.entries.indices)
        lengths = {complex_lu.A: nnz + 1, complex_lu.LX: len(self.pattern.li), complex_lu.UX: len(self.pattern.ui)}
        own = complex_lu.A, complex_lu.LX, complex_lu.UX, complex_lu.UD, complex_lu.X, complex_lu.WORK
        table.fill({slot: (lengths.get(slot, size),) for slot in own} | {complex_lu.REAL: (1,)})
        table[complex_lu.REAL][0] = real.handle
        return table

    def lend_complex(self, workspace: Workspace, real: Table) -> Table:
        """The same, of a workspace."""
        if not self.arrays_alone:
            return self.complex_table(real)
        kind = self.name, "complex"
        table = workspace.again(kind) or workspace.keep(kind, self.complex_table(real))
        table[complex_lu.REAL][0] = real.handle
        return table
