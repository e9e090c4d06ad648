"""Lines of output where they are written: one array per column, reached by kernels through a table."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from math import prod

import numpy as np

from index3.compiled import columns
from index3.compiled.interface import Room, Table

NOWHERE = {"coordinate": 0, "row": 0, "joint": 0, "measured_angle": 0}
"""Sizes of an output that takes no lines."""
FLOAT = np.dtype(float)
SMALL = 4096
"""Bytes up to which all columns are in one piece of memory, which is quicker; larger ones can be freed one by one."""


@functools.cache
def no_output() -> Output:
    """An output that takes no lines, for all runs that have no other yet."""
    return Output(NOWHERE, 0)


Shape = tuple[int, ...]
Places = tuple[Room, list[tuple[str, Shape, int]]]
"""Where columns stand in one piece of memory: for a table, and as name, shape and first byte."""


@functools.lru_cache(64)
def layout(lines: int, sizes: tuple[tuple[str, int], ...]) -> tuple[dict[str, Shape], Places | None]:
    """Shapes of the columns by name, and their places in one piece of memory if they are small."""
    shapes = columns.shapes(lines, dict(sizes))
    if 8 * sum(map(prod, shapes.values())) > SMALL:
        return shapes, None
    slots = dict(zip(columns.STORED, shapes.values(), strict=True))
    room = Room({**slots, columns.REDUNDANT: (lines,), columns.STAGE: (lines,)})
    return shapes, (room, [(slot.name, shape, room.places[slot.index][2]) for slot, shape in slots.items()])


class Output:
    """Room for some lines: a run writes them one behind the other, a projector closes them where they stand.

    Parameters
    ----------
    sizes : of the dimensions of the columns
    lines : room for so many
    places : where each row of the equations stands among those of the column `lam`, if some are left out

    Attributes
    ----------
    room : the number of lines for which there is room in all
    """

    _arrays: dict[str, np.ndarray] | None
    _columns: list[tuple[str, Shape, int]]
    _layout: tuple[dict[str, Shape], Places | None] | None

    def __init__(self, sizes: Mapping[str, int], lines: int, places: np.ndarray | None = None) -> None:
        self.sizes, self.room, self._layout = dict(sizes), 0, None
        self.table = Table(len(columns.SLOTS))
        self.table[columns.COUNT] = np.zeros(1, np.int64)
        self.table[columns.PLACES] = np.arange(sizes["row"]) if places is None else places
        self.renew(lines)

    @classmethod
    def over(cls, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int], stage: np.ndarray) -> Output:
        """An output of lines that are there already, with the stage of each."""
        output = cls(sizes, 0)
        output._arrays, output.room = dict(arrays), len(stage)
        for slot in columns.STORED:
            output.table[slot] = output.arrays[slot.name]
        output.table[columns.STAGE], output.table[columns.REDUNDANT] = stage, np.zeros(len(stage), np.int64)
        output.count = len(stage)
        return output

    def empty(self) -> None:
        """Forget all lines, as if it were new."""
        self.table.clear()
        for slot in (*columns.STORED, columns.REDUNDANT, columns.STAGE):
            self.table[slot].fill(0)
        self.count = 0

    def renew(self, lines: int) -> None:
        """Go on in new arrays, and leave the old ones to whoever has them."""
        if self._layout is None or lines != self.room:
            self._layout = layout(lines, tuple(self.sizes.items()))
        shapes, places = self._layout
        if places is not None:
            room, self._columns = places
            self.table._rooms = ()  # those before belong to whoever has them
            self.table.fill(room)
            self._arrays = None
        else:
            self._arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
            for slot, array in zip(columns.STORED, self._arrays.values(), strict=True):
                self.table[slot] = array
            self.table[columns.REDUNDANT], self.table[columns.STAGE] = np.zeros((2, lines), np.int64)
        self.count, self.room = 0, lines

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every column by name, with `room` lines; those behind the first `count` mean nothing."""
        arrays = self._arrays
        if arrays is None:
            block = self.table._rooms[0][1]
            arrays = {name: np.ndarray(shape, FLOAT, block, first) for name, shape, first in self._columns}
            self._arrays = arrays
        return arrays

    @property
    def handle(self) -> int:
        """The number by which kernels know the table."""
        return self.table.handle

    @property
    def count(self) -> int:
        """The number of lines written."""
        return int(self.table[columns.COUNT][0])

    @count.setter
    def count(self, lines: int) -> None:
        self.table[columns.COUNT][0] = lines

    def add(self, lines: Mapping[str, np.ndarray]) -> None:
        """Write lines behind the last one, as a run does: columns by name, `lam` for the rows of the equations."""
        first, count = self.count, self.count + len(lines["t"])
        self.arrays["lam"][first:count] = 0.0  # rows of joints that are open
        for name, array in lines.items():
            if name == "lam":
                self.arrays["lam"][first:count, self.table[columns.PLACES]] = array
            else:
                self.arrays[name][first:count] = array
        self.count = count
