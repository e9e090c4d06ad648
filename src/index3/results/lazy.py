"""Columns of a result that are read, or worked out, when first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from index3.compiled.columns import COLUMNS, LATE

NAMES = tuple(column.name for column in COLUMNS)


class LazyArrays(Mapping[str, np.ndarray]):
    """Every column by name; `read` finds one, once. Pickled and copied as a dict of all of them.

    >>> arrays = LazyArrays(lambda name: np.zeros(2))
    >>> arrays["t"].shape, arrays.is_filled("t"), arrays.is_filled("q")
    ((2,), True, False)
    """

    def __init__(self, read: Callable[[str], np.ndarray]) -> None:
        self._read, self._found = read, dict[str, np.ndarray]()

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in NAMES:
            raise KeyError(name)
        self._found[name] = self.glance(name)
        return self._found[name]

    def glance(self, name: str) -> np.ndarray:
        """A column, without keeping it if nobody has asked for it."""
        return self._found[name] if name in self._found else self._read(name)

    def is_filled(self, name: str) -> bool:
        """Whether a column is there without work."""
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)


class LateArrays(LazyArrays):
    """Columns in memory, of which those in `LATE` are filled when the first of them is asked for, in whatever thread.

    Parameters
    ----------
    arrays : every column by name
    fill : fills the column of a name, perhaps with others; called until it has returned for that name once

    >>> arrays = {name: np.zeros(2) for name in NAMES}
    >>> late = LateArrays(arrays, lambda name: arrays[name].fill(7.0))
    >>> late["q"].tolist(), late["a"].tolist(), late.is_filled("lam")
    ([0.0, 0.0], [7.0, 7.0], False)
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], fill: Callable[[str], object]) -> None:
        super().__init__(arrays.__getitem__)
        self._arrays, self._fill, self._lock = arrays, fill, threading.Lock()

    def glance(self, name: str) -> np.ndarray:
        """A column, filled."""
        if name in LATE:
            with self._lock:
                self._fill(name)
        return self._arrays[name]

    def is_filled(self, name: str) -> bool:
        """Whether a column is there without work."""
        return name not in LATE or name in self._found

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a column, filled or not."""
        return self._arrays[name].shape
