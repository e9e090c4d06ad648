"""The solver of one sparsity pattern: analysed once, factored per matrix, solved per right-hand side (`static_lu`)."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence

import numpy as np

from index3.compiled.interface import Slot, Table
from index3.linear import static_lu as lu
from index3.linear.ordering import elimination_order
from index3.linear.symbolic import Entries, joined


class StaticLU:
    """The solver of one sparsity pattern; `table()` gives as many independent factorisations as are wanted.

    Parameters
    ----------
    n, m : number of coordinates and of rows
    indptr, indices : pattern by columns, rows ascending, structurally symmetric, every diagonal entry present
    node_of_scalar : node of each of the n + m scalars: bodies 0 ... n_bodies-1 (coordinates and own rows), then joints
    joint_bodies : for each joint the distinct bodies it touches; -1 is ground, also named by rows that a rigid motion
        of their bodies can violate (see `linear.ordering`)
    augmentation : pairs (row, c): number of the scalar (n ... n+m-1) and weight, of rows that make body blocks definite
    rule : "R" or "F" to choose the rule of elimination; None takes the one with fewer operations
    row_tolerance : size, relative to what a row's pivot is made of, below which the row counts as redundant
    sift : whether solving passes over zeros of the factors; pays if most of the pattern is zero most of the time

    >>> lu = StaticLU(1, 1, [0, 2, 4], [0, 1, 0, 1], [0, 1], 1, [[0, -1]])
    >>> lu.factor([2.0, 1.0, 1.0, 0.0])
    0
    >>> lu.solve([3.0, 1.0])
    array([1., 1.])
    """

    def __init__(
        self,
        n: int,
        m: int,
        indptr: Sequence[int] | np.ndarray,
        indices: Sequence[int] | np.ndarray,
        node_of_scalar: Sequence[int] | np.ndarray,
        n_bodies: int,
        joint_bodies: Sequence[Sequence[int]],
        augmentation: Sequence[tuple[int, float]] = (),
        rule: str | None = None,
        sift: bool = False,
        row_tolerance: float = lu.DEFAULTS[0],
    ) -> None:
        self.n, self.m, self.sift, self.row_tolerance = n, m, sift, row_tolerance
        self.entries = Entries(np.asarray(indptr, np.int64), np.asarray(indices, np.int64))
        self.rule, self.pattern = elimination_order(
            self.entries.indptr, self.entries.indices, np.asarray(node_of_scalar), n_bodies, joint_bodies, rule
        )
        self.weights = np.array([c for _, c in augmentation], float)
        self.shared = self._index_arrays([row for row, _ in augmentation])
        self._own: Table | None = None

    def with_numbers(self, weights: Sequence[float], row_tolerance: float) -> StaticLU:
        """The solver of the same pattern with other weights of the augmentation and another tolerance."""
        other = copy.copy(self)
        other.weights, other.row_tolerance, other._own = np.array(weights, float), row_tolerance, None
        return other

    def _index_arrays(self, augmentation_rows: list[int]) -> dict[Slot, np.ndarray]:
        """What every table of this pattern shares."""
        entries, pattern = self.entries, self.pattern
        diagonal = np.arange(self.n + self.m)
        hend = entries.before(self.n)
        coord, ptr = entries.ragged(augmentation_rows, hend)
        squares = [coord[a:b] for a, b in itertools.pairwise(ptr)]
        arrays = {
            lu.AP: entries.indptr,
            lu.AI: entries.indices,
            lu.CI: pattern.pinv[entries.indices],
            lu.HEND: hend,
            lu.DIAGONAL: entries.places(diagonal, diagonal),
            lu.PERM: pattern.perm,
            lu.PINV: pattern.pinv,
            lu.LP: pattern.lp,
            lu.LI: pattern.li,
            lu.WIDTH: pattern.width,
            lu.UP: pattern.up,
            lu.UI: pattern.ui,
            lu.AUG_ROW: np.array(augmentation_rows, np.int64),
            lu.AUG_PTR: ptr,
            lu.AUG_COORD: coord,
            lu.AUG_POS: entries.places(np.repeat(augmentation_rows, np.diff(ptr)), coord),
            lu.AUG_MAP: entries.places(
                joined([np.repeat(c, len(c)) for c in squares]), joined([np.tile(c, len(c)) for c in squares])
            ),
        }
        return {slot: np.ascontiguousarray(array, lu.INDEX) for slot, array in arrays.items()}

    def table(self, values: np.ndarray | None = None) -> Table:
        """A fresh table: own factors, right-hand side and settings, A new (zero) or the array given.

        `values` has one entry more than the pattern, for assembly to write what belongs nowhere.
        """
        size, nnz = self.n + self.m, len(self.entries.indices)
        if values is None:
            values = np.zeros(nnz + 1)
        if values.shape != (nnz + 1,):
            raise ValueError(f"The matrix needs {nnz + 1} values (entries and one spare), not {values.shape}.")
        table = Table(len(lu.SLOTS))
        for slot, array in self.shared.items():
            table[slot] = array
        table[lu.A] = values
        table[lu.AUG_WEIGHT] = self.weights.copy()
        lengths = {lu.LX: len(self.pattern.li), lu.UX: len(self.pattern.ui), lu.VALUES: nnz, lu.INVERSE: self.n}
        lengths[lu.AUG_G] = len(self.shared[lu.AUG_COORD])
        for slot in (
            lu.LX,
            lu.UX,
            lu.UD,
            lu.VALUES,
            lu.LIMIT,
            lu.NOISE,
            lu.INVERSE,
            lu.AUG_G,
            lu.X,
            lu.RHS,
            lu.RESIDUAL,
            lu.WORK,
        ):
            table[slot] = np.zeros(lengths.get(slot, size))
        table[lu.ZERO] = np.zeros(size, np.int64)
        table[lu.INFO] = np.zeros(lu.INFO_SIZE, np.int64)
        table[lu.INFO][[lu.N_COORDINATES, lu.FEWEST_ZERO, lu.BAD_SCALAR, lu.SIFT]] = self.n, size, -1, int(self.sift)
        for pointers, indices, sifted, entries in (
            (lu.SLP, lu.SLI, lu.SLX, self.pattern.li),
            (lu.SUP, lu.SUI, lu.SUX, self.pattern.ui),
        ):
            count = len(entries) if self.sift else 0
            table[pointers], table[indices] = np.zeros(size + 1, lu.INDEX), np.zeros(count, lu.INDEX)
            table[sifted] = np.zeros(count)
        table[lu.SETTINGS] = np.array((self.row_tolerance, *lu.DEFAULTS[1:]))
        return table

    @property
    def own(self) -> Table:
        """The table behind `factor` and `solve`, made when first needed."""
        if self._own is None:
            self._own = self.table()
        return self._own

    def factor(self, values: Sequence[float] | np.ndarray) -> int:
        """Factor the matrix with these entries; returns the kernel's status."""
        self.own[lu.A][:-1] = values
        return lu.factor(0, self.own.handle)

    def solve(self, b: Sequence[float] | np.ndarray, refine: bool = False) -> np.ndarray:
        """The solution for one right-hand side, with one step of refinement if asked for."""
        self.own[lu.X][:] = b
        (lu.solve_refined if refine else lu.solve)(0, self.own.handle)
        return self.own[lu.X].copy()

    @property
    def zero_rows(self) -> np.ndarray:
        """Scalars whose pivot was zero in the last factorisation: redundant rows."""
        return np.flatnonzero(self.own[lu.ZERO])
