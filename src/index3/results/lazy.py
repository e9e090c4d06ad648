"""Columns of a result that are read when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from index3.compiled.columns import COLUMNS

NAMES = tuple(column.name for column in COLUMNS)


class LazyArrays(Mapping[str, np.ndarray]):
    """Every column by name; `read` finds one, once. Pickled and copied as a dict of all of them.

    >>> arrays = LazyArrays(lambda name: np.zeros(2))
    >>> arrays["t"].shape, arrays.read_so_far
    ((2,), ('t',))
    """

    def __init__(self, read: Callable[[str], np.ndarray]) -> None:
        self._read, self._found = read, dict[str, np.ndarray]()

    @property
    def read_so_far(self) -> tuple[str, ...]:
        """Names of the columns that were asked for."""
        return tuple(self._found)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in NAMES:
            raise KeyError(name)
        self._found[name] = self.glance(name)
        return self._found[name]

    def glance(self, name: str) -> np.ndarray:
        """A column, without keeping it if nobody has asked for it."""
        return self._found[name] if name in self._found else self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)
