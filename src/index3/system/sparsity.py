"""The pattern of the bordered matrix and where each element's entries stand in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

CROWDED = 4
"""A matrix with fewer places per entry than this is looked up in a table of all places: no sorting, no searching."""


@dataclass(frozen=True)
class Sparsity:
    """A matrix of `size` rows by columns (CSC): `indptr`, `indices`; `keys` = column * size + row, ascending."""

    size: int
    indptr: np.ndarray
    indices: np.ndarray
    keys: np.ndarray

    def places(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Where entries (row, column) stand among the values."""
        wanted = columns * self.size + rows
        if self.size * self.size <= CROWDED * len(self.keys):
            return self._numbers[wanted].astype(np.int64)
        return np.searchsorted(self.keys, wanted).astype(np.int64)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The number of the entry at each place of the matrix."""
        numbers = np.zeros(self.size * self.size, np.int32)
        numbers[self.keys] = np.arange(len(self.keys), dtype=np.int32)
        return numbers


def pattern(size: int, rows: list[np.ndarray], columns: list[np.ndarray]) -> Sparsity:
    """The symmetric pattern of the given entries, with a full diagonal."""
    diagonal = np.arange(size, dtype=np.int64)
    rows, columns = [*rows, diagonal], [*columns, diagonal]
    if size * size <= CROWDED * sum(map(len, rows)):
        found = np.zeros(size * size, bool)
        for row, column in zip(rows, columns, strict=True):
            found[column * size + row] = True
            found[row * size + column] = True
        keys = np.flatnonzero(found)
    else:
        row, column = np.concatenate(rows), np.concatenate(columns)
        keys = np.sort(np.concatenate([column * size + row, row * size + column]))
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]  # np.unique imports numpy.ma, 0.02 s
    indices = (keys % size).astype(np.int64)
    indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size).astype(np.int64)
    return Sparsity(size, indptr, indices, keys)


def pairs(coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All (row, column) pairs of some coordinates, row by row; of several lists of them (lists, count), one by one."""
    lists = np.atleast_2d(coordinates)
    count = lists.shape[1]
    return np.repeat(lists, count, axis=1).ravel(), np.tile(lists, count).ravel()
