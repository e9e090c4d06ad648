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
NAMES = tuple((slot.index, slot.name) for slot in columns.STORED)
SMALL = 4096
"""Bytes up to which all columns are in one piece of memory, which is quicker; larger ones can be freed one by one."""


@functools.cache
def no_output() -> Output:
    """An output that takes no lines, for all runs that have no other yet."""
    return Output(NOWHERE, 0)


@functools.lru_cache(64)
def layout(lines: int, sizes: tuple[tuple[str, int], ...]) -> tuple[dict[str, tuple[int, ...]], Room | None]:
    """Shapes of the columns by name, and their places in one piece of memory if they are small."""
    shapes = columns.shapes(lines, dict(sizes))
    if 8 * sum(map(prod, shapes.values())) > SMALL:
        return shapes, None
    slots = dict(zip(columns.STORED, shapes.values(), strict=True))
    return shapes, Room({**slots, columns.REDUNDANT: (lines,), columns.STAGE: (lines,)})


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

    def __init__(self, sizes: Mapping[str, int], lines: int, places: np.ndarray | None = None) -> None:
        self.sizes = dict(sizes)
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
        shapes, room = layout(lines, tuple(self.sizes.items()))
        if room is not None:
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
        if self._arrays is None:
            (room, block), made = self.table._rooms[-1], self.table._arrays
            self._arrays = {}
            for index, name in NAMES:
                array = made[index]
                if array is None:
                    array = made[index] = room.array(index, block)
                self._arrays[name] = array
        return self._arrays

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
