"""The pattern of the factors, found once for a given order of elimination.

Eliminating a scalar joins all its remaining neighbours, so column k of L holds what column k of the matrix and the
columns of its children in the elimination tree hold below the diagonal; the parent of a column is its first entry. The
matrix is structurally symmetric: U has the transposed pattern.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

PANEL = 3  # columns handled at once: 1.3 times faster than 1 on chains, 1.6 on lattices; 4 gains nothing more


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


class Elimination(NamedTuple):
    """What a matrix fills in, eliminated in the order `perm`: rows below the diagonal of each column of L."""

    perm: np.ndarray
    pinv: np.ndarray
    columns: list[set[int]]

    @property
    def flops(self) -> int:
        """Multiplications and additions of one factorisation."""
        return 2 * sum(len(column) ** 2 for column in self.columns)


def analyse(n_scalars: int, indptr: np.ndarray, indices: np.ndarray, perm: np.ndarray) -> Pattern:
    """Pattern of the factors of a matrix given by columns (`indptr`, `indices`) in the order `perm`.

    Raises
    ------
    ValueError
        If an entry of the matrix has no counterpart across the diagonal.
    """
    return pattern_of(eliminate(n_scalars, indptr, indices, perm))


def eliminate(n_scalars: int, indptr: np.ndarray, indices: np.ndarray, perm: np.ndarray) -> Elimination:
    """The first half of `analyse`, which tells what an order costs."""
    perm = np.asarray(perm)
    pinv = np.empty(n_scalars, np.int64)
    pinv[perm] = np.arange(n_scalars)
    return Elimination(perm, pinv, _factor_columns(*_lower_part(n_scalars, indptr, indices, pinv)))


def pattern_of(found: Elimination) -> Pattern:
    """The second half of `analyse`: the pattern by arrays."""
    perm, pinv, columns = found
    n_scalars = len(columns)
    counts = np.fromiter(map(len, columns), np.int64, n_scalars)
    lp = np.concatenate(([0], np.cumsum(counts)))
    li = np.fromiter((i for column in columns for i in sorted(column)), np.int32, int(lp[-1]))
    of_column = np.repeat(np.arange(n_scalars, dtype=np.int32), counts)
    up = np.concatenate(([0], np.cumsum(np.bincount(li, minlength=n_scalars))))
    ui = of_column[np.argsort(li, kind="stable")]
    return Pattern(perm, pinv, lp, li, up, ui, _panel_widths(counts, lp, li), found.flops)


def _lower_part(
    n_scalars: int, indptr: np.ndarray, indices: np.ndarray, pinv: np.ndarray
) -> tuple[list[int], list[int]]:
    """Entries below the diagonal of the reordered matrix: where each column starts, and the rows."""
    columns = pinv[np.repeat(np.arange(n_scalars), np.diff(indptr))]
    rows = pinv[indices]
    below, above = rows > columns, rows < columns
    keys = np.sort(columns[below] * n_scalars + rows[below])
    if not np.array_equal(keys, np.sort(rows[above] * n_scalars + columns[above])):
        raise ValueError("The pattern of the matrix is not symmetric. Give every entry its counterpart.")
    starts = np.searchsorted(keys, np.arange(n_scalars + 1) * n_scalars)
    return starts.tolist(), (keys % n_scalars).tolist()


def _factor_columns(starts: list[int], rows: list[int]) -> list[set[int]]:
    """Rows below the diagonal of each column of L."""
    columns = [set(rows[a:b]) for a, b in itertools.pairwise(starts)]
    for column in columns:
        if column:
            parent = min(column)
            above = columns[parent]
            above |= column  # the parent comes later, so it has not been handed on yet
            above.discard(parent)
    return columns


def _panel_widths(counts: np.ndarray, lp: np.ndarray, li: np.ndarray) -> np.ndarray:
    """Cut runs of columns, each the next one plus that one's diagonal, into panels of up to PANEL columns."""
    last = len(counts) - 1
    shorter = np.flatnonzero(counts[:-1] == counts[1:] + 1)
    nested = np.zeros(len(counts), bool)
    nested[shorter] = li[lp[shorter]] == shorter + 1
    runs = nested.tolist()
    width = np.ones(len(counts), np.int64)
    start = 0
    while start <= last:
        end = start
        while runs[end] and end - start < PANEL - 1:
            end += 1
        width[start] = end - start + 1
        start = end + 1
    return width


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
