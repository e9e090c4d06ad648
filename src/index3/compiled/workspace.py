"""Tables that one run after another works with: made for the first, put back to how they began for the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from index3.compiled.interface import Room, Table

MOST = 8
"""Tables that are kept of one kind: a run without restarts needs no more. Others go with whoever asked for them."""
LARGEST = 4_000_000
"""Bytes up to which a workspace is worth keeping: beside what runs of larger models do, to make it takes no time."""
LARGEST_IMAGE = 100_000
"""Bytes up to which it is kept how a table began, to be copied for the next run; larger ones are written anew."""


Made = tuple[Table, list[tuple[np.ndarray, np.ndarray]] | None]
"""A table, and of a small one its memory with how that began."""


def images_of(table: Table) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """The memory of a table and how it is now, unless it is large."""
    return [(block, block.copy()) for _, block in table._rooms] if table.room_size <= LARGEST_IMAGE else None


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
        self.made: dict[Hashable, list[Made]] = {}
        self.lent: dict[Hashable, int] = {}
        self.kept: dict[Hashable, Any] = {}  # what else goes from run to run, by who knows it

    def begin(self) -> None:
        """Another run begins: whatever was lent is free."""
        self.lent.clear()

    def table(self, kind: Hashable, make: Callable[[], Table], begin: Callable[[Table], None] | None = None) -> Table:
        """The next table of a kind, as it began: `make` makes one of zeros, into which `begin` writes.

        What `begin` writes must follow from the kind alone.
        """
        return self.again(kind, begin) or self.keep(kind, make(), begin)

    def keep(self, kind: Hashable, table: Table, begin: Callable[[Table], None] | None = None) -> Table:
        """Write into a new table, of zeros, what it begins with; it is there for the next run."""
        if begin is not None:
            begin(table)
        known = self.made.setdefault(kind, [])
        if len(known) < MOST:
            known.append((table, images_of(table)))
        return table

    def again(self, kind: Hashable, begin: Callable[[Table], None] | None = None) -> Table | None:
        """The next table of a kind as it began, if there is one, as for `table`; if not, one is to be made, for `keep`.

        Whoever asks many times a run asks here first, and says how a table is made only if there is none.
        """
        number = self.lent.get(kind, 0)
        self.lent[kind] = number + 1
        known = self.made.get(kind)
        if known is None or number >= len(known):
            return None
        table, images = known[number]
        if images is None:
            table.clear()
            if begin is not None:
                begin(table)
        else:
            for block, image in images:
                block[:] = image
        return table

    def filled(self, kind: Hashable, common: Table, room: Room, begin: Callable[[Table], None] | None = None) -> Table:
        """The next table of a kind: the arrays of `common`, and zeros of its own, into which `begin` writes."""
        return self.again(kind, begin) or self.keep(kind, filled(common, room), begin)

    def blocks(self) -> list[np.ndarray]:
        """The memory of all tables that are lent at present, in a fixed order."""
        lent = [table for kind, count in self.lent.items() for table, _ in self.made[kind][:count]]
        return [block for table in lent for _, block in table._rooms]

    @property
    def is_small(self) -> bool:
        """Whether it is worth keeping, by what its tables do not share with others; looked at once."""
        if "small" not in self.kept:
            size = sum(table.room_size for tables in self.made.values() for table, _ in tables)
            self.kept["small"] = size <= LARGEST
        small: bool = self.kept["small"]
        return small


def filled(common: Table, room: Room) -> Table:
    """A table with the arrays of another, and zeros of its own."""
    table = common.sharing()
    table.fill(room)
    return table
