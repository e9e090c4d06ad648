"""Tables that one run after another works with: made for the first, put back to how they began for the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np

from index3.compiled.interface import Room, Table

MOST = 8
"""Tables that are kept of one kind: a run without restarts needs no more. Others go with whoever asked for them."""
LARGEST = 4_000_000
"""Bytes up to which a workspace is worth keeping: beside what runs of larger models do, to make it takes no time."""
LARGEST_IMAGE = 100_000
"""Bytes up to which it is kept how a table began, to be copied for the next run; larger ones are written anew."""


class Workspace:
    """What a run works with, by kind and in the order in which it is asked for.

    A run begins by `begin`; it then gets the tables of the run before, as they began, so that nothing of that run is
    left. One run at a time may use it.

    >>> from index3.compiled.interface import slots
    >>> (X,) = slots(x=("f8", 1))
    >>> common, room, workspace = Table(1), Room({X: (2,)}), Workspace()
    >>> first = workspace.filled("numbers", common, room)
    >>> first[X][0] = 7.0
    >>> workspace.begin()
    >>> workspace.filled("numbers", common, room) is first, float(first[X][0])
    (True, 0.0)
    """

    def __init__(self) -> None:
        self.made: dict[Hashable, list[Table]] = {}
        self.images: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}  # how small ones began, by their id
        self.lent: dict[Hashable, int] = {}
        self.kept: dict[Hashable, Any] = {}  # what else goes from run to run, by who knows it

    def begin(self) -> None:
        """Another run begins: whatever was lent is free."""
        self.lent.clear()

    def table(self, kind: Hashable, make: Callable[[], Table], begin: Callable[[Table], None] | None = None) -> Table:
        """The next table of a kind, as it began: `make` makes one of zeros, into which `begin` writes.

        What `begin` writes must follow from the kind alone.
        """
        known = self.made.get(kind)
        if known is None:
            known = self.made[kind] = []
        number = self.lent.get(kind, 0)
        self.lent[kind] = number + 1
        if number < len(known):
            table = known[number]
            images = self.images.get(id(table))
            if images is not None:
                for block, image in images:
                    block[:] = image
            else:
                table.clear()
                if begin is not None:
                    begin(table)
            return table
        table = make()
        if begin is not None:
            begin(table)
        if number < MOST:
            known.append(table)
            if table.room_size <= LARGEST_IMAGE:
                self.images[id(table)] = [(block, block.copy()) for _, block in table._rooms]
        return table

    def filled(self, kind: Hashable, common: Table, room: Room, begin: Callable[[Table], None] | None = None) -> Table:
        """The next table of a kind: the arrays of `common`, and zeros of its own, into which `begin` writes."""
        return self.table(kind, partial(filled, common, room), begin)

    def blocks(self) -> list[np.ndarray]:
        """The memory of all tables that are lent at present, in a fixed order."""
        lent = [table for kind, count in self.lent.items() for table in self.made[kind][:count]]
        return [block for table in lent for _, block in table._rooms]

    @property
    def is_small(self) -> bool:
        """Whether it is worth keeping, by what its tables do not share with others; looked at once."""
        if "small" not in self.kept:
            size = sum(table.room_size for tables in self.made.values() for table in tables)
            self.kept["small"] = size <= LARGEST
        small: bool = self.kept["small"]
        return small


def filled(common: Table, room: Room) -> Table:
    """A table with the arrays of another, and zeros of its own."""
    table = common.sharing()
    table.fill(room)
    return table
