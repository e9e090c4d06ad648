"""The pattern of the factors, found once for a given order of elimination.

Eliminating a scalar joins all its remaining neighbours, so column k of L holds what column k of the matrix and the
columns of its children in the elimination tree hold below the diagonal; the parent of a column is its first entry. The
matrix is structurally symmetric: U has the transposed pattern.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from index3.compiled.interface import Table
from index3.linear import symbolic_kernels as kernels
from index3.linear.symbolic_kernels import PANEL as PANEL

OF_PATTERN = (kernels.PERM, kernels.PINV, kernels.LP, kernels.LI, kernels.UP, kernels.UI, kernels.WIDTH)
"""Where a table has the arrays below."""


class Pattern(NamedTuple):
    """Factors L U of the matrix with rows and columns in the order `perm`; entries by columns, rows ascending."""

    perm: np.ndarray  # perm[k]: the scalar eliminated as number k
    pinv: np.ndarray  # pinv[i]: when scalar i is eliminated
    lp: np.ndarray  # column k of L is li[lp[k]:lp[k+1]], below the diagonal (which is 1)
    li: np.ndarray
    up: np.ndarray  # column k of U is ui[up[k]:up[k+1]], above the diagonal (which is kept apart)
    ui: np.ndarray
    width: np.ndarray  # how many columns of L, from k on, have nested patterns: 1 ... PANEL at the start of a panel
    flops: int  # multiplications and additions of one factorisation, zero multipliers not skipped


def analyse(
    indptr: np.ndarray, indices: np.ndarray, perm: np.ndarray, pinv: np.ndarray, used: np.ndarray | None = None
) -> Pattern:
    """Pattern of the factors of a structurally symmetric matrix given by columns (`indptr`, `indices`) in the order
    `perm`, the inverse of which is `pinv`; if given, `used` tells which entries are there.

    Raises
    ------
    ValueError
        If an entry of the matrix has no counterpart across the diagonal.
    """
    table = table_for(kernels.SLOTS, indptr, indices, used)
    table[kernels.PERM], table[kernels.PINV] = perm, pinv
    check(kernels.count.alone(0, table.handle))
    return filled(table)


def check(status: int) -> None:
    """Raise unless all entries of a matrix have a counterpart across the diagonal."""
    if status == kernels.NOT_SYMMETRIC:
        raise ValueError("The pattern of the matrix is not symmetric. Give every entry its counterpart.")


def table_for(slots: tuple, indptr: np.ndarray, indices: np.ndarray, used: np.ndarray | None = None) -> Table:
    """A table of these slots, those of `symbolic_kernels` first, with a matrix and room to count in."""
    table, size = Table(len(slots)), len(indptr) - 1
    for slot, array in ((kernels.INDPTR, indptr), (kernels.INDICES, indices)):
        table[slot] = np.ascontiguousarray(array, np.int64)
    table[kernels.USED] = np.ones(len(indices), np.uint8) if used is None else used.view(np.uint8)
    table[kernels.COLUMNS], table[kernels.COUNTS] = np.empty((kernels.LINES, size), np.int64), np.empty(size, np.int64)
    table[kernels.INFO] = np.zeros(kernels.INFO_SIZE, np.int64)
    table[kernels.LP], table[kernels.LI] = np.empty(size + 1, np.int64), np.empty(0, np.int32)
    return table


def filled(table: Table) -> Pattern:
    """The pattern whose columns are counted in a table."""
    size, entries = len(table[kernels.COUNTS]), int(table[kernels.COUNTS].sum())
    table[kernels.LI], table[kernels.UI] = np.empty(entries, np.int32), np.empty(entries, np.int32)
    table[kernels.UP], table[kernels.WIDTH] = np.empty(size + 1, np.int64), np.empty(size, np.int64)
    kernels.fill.alone(0, table.handle)
    return Pattern._make([*(table[slot] for slot in OF_PATTERN), int(table[kernels.INFO][kernels.FLOPS])])


class Entries:
    """The entries of a matrix by columns, and where to find them."""

    def __init__(self, indptr: np.ndarray, indices: np.ndarray) -> None:
        self.indptr, self.indices = indptr, indices
        self.size = len(indptr) - 1
        self._keys = np.repeat(np.arange(self.size), np.diff(indptr)) * self.size + indices
        if np.any(np.diff(self._keys) <= 0):
            raise ValueError("Rows must ascend within each column of the matrix. Sort them and sum duplicates.")

    def before(self, row: int) -> np.ndarray:
        """For each column the place of the first entry at or below a row."""
        return np.searchsorted(self._keys, np.arange(self.size) * self.size + row)

    def places(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Where the entries (rows[i], columns[i]) are.

        Raises
        ------
        ValueError
            If one of them is not part of the pattern.
        """
        wanted = columns * self.size + rows
        found = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        missing = np.flatnonzero(self._keys[found] != wanted)
        if missing.size:
            row, column = rows[missing[0]], columns[missing[0]]
            raise ValueError(f"The pattern lacks entry ({row}, {column}). Put it in, with value 0 if need be.")
        return found

    def ragged(self, columns: list[int], ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the entries of some columns up to the places `ends`, list after list, and where each list starts."""
        lists = [self.indices[self.indptr[c] : ends[c]] for c in columns]
        return joined(lists), np.cumsum([0, *map(len, lists)])


def joined(lists: list[np.ndarray]) -> np.ndarray:
    """Index arrays one after the other; empty if there are none."""
    return np.concatenate([np.empty(0, np.int64), *lists])
