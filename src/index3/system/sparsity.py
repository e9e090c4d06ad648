"""The pattern of the bordered matrix and where each element's entries stand in it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from index3.record import Record

CROWDED = 4
"""A matrix with fewer places per entry than this is looked up in a table of all places: no sorting, no searching."""


class Sparsity(Record, frozen=True):
    """A matrix of `size` rows by columns (CSC): `indptr`, `indices`; `keys` = column * size + row, ascending."""

    size: int
    indptr: np.ndarray
    indices: np.ndarray
    keys: np.ndarray

    def places(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Where entries (row, column) stand among the values."""
        return self.numbers(columns * self.size + rows).astype(np.int64)

    def numbers(self, keys: np.ndarray) -> np.ndarray:
        """Where entries stand among the values, by their keys."""
        if self.size * self.size <= CROWDED * len(self.keys):
            return self._numbers[keys]
        return np.searchsorted(self.keys, keys).astype(np.int32)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The number of the entry at each place of the matrix."""
        numbers = np.zeros(self.size * self.size, np.int32)
        numbers[self.keys] = np.arange(len(self.keys), dtype=np.int32)
        return numbers


NOTHING = np.zeros(0, np.int64)


def pattern(size: int, rows: list[np.ndarray], columns: list[np.ndarray], symmetric: np.ndarray = NOTHING) -> Sparsity:
    """The symmetric pattern of the given entries, with a full diagonal; keys of a part that is `symmetric` itself."""
    row, column = (np.concatenate([NOTHING, *parts]) for parts in (rows, columns))
    given = column * size + row, row * size + column, np.arange(size, dtype=np.int64) * (size + 1), symmetric
    if size * size <= CROWDED * sum(map(len, given)):
        found = np.zeros(size * size, bool)
        for some in given:
            found[some] = True
        keys = np.flatnonzero(found)
    else:
        keys = np.sort(np.concatenate(given))
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]  # np.unique imports numpy.ma, 0.02 s
    indices = (keys % size).astype(np.int64)
    indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size).astype(np.int64)
    return Sparsity(size, indptr, indices, keys)


def square_keys(lists: np.ndarray, size: int) -> np.ndarray:
    """Keys of all (row, column) pairs of some coordinates, row by row; of several lists of them (lists, count)."""
    return lists[:, None, :] * size + lists[:, :, None]
