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
Whole = tuple[Any, list[tuple[Hashable, Table]], list[tuple[np.ndarray, np.ndarray]]]
"""What is made of some tables, these with their kinds, and their memory with how that began."""


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
        self.wholes: dict[Hashable, list[Whole]] = {}
        self.lent: dict[Hashable, int] = {}
        self.kept: dict[Hashable, Any] = {}  # what else goes from run to run, by who knows it
        self.shared: list[np.ndarray] = []  # arrays that several tables refer to, and that no run changes
        self._parts: list[tuple[Hashable, Table]] | None = None  # tables of the whole that is being made
        self._large: set[Hashable] = set()  # kinds of wholes that are not kept in one piece

    def begin(self) -> None:
        """Another run begins: whatever was lent is free."""
        self.lent.clear()

    def table(self, kind: Hashable, make: Callable[[], Table], begin: Callable[[Table], None] | None = None) -> Table:
        """The next table of a kind, as it began: `make` makes one of zeros, into which `begin` writes.

        What `begin` writes must follow from the kind alone.
        """
        return self.again(kind, begin) or self.keep(kind, make(), begin)

    def whole(self, kind: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` makes of tables of this workspace, kept in one piece: the next run gets it with all its tables as
        they were when it was made, and nobody else gets one of them.

        What `make` writes must follow from the kind alone. What is large goes from run to run table by table.
        """
        if self._parts is not None:  # it is made for a larger one
            return make()
        number = self.lent.get(kind, 0)
        self.lent[kind] = number + 1
        known = self.wholes.setdefault(kind, [])
        if number < len(known):
            thing, _, images = known[number]
            for block, image in images:
                block[:] = image
            return thing
        if kind in self._large:
            return make()
        parts: list[tuple[Hashable, Table]] = []
        self._parts = parts
        try:
            thing = make()
        finally:
            self._parts = None
        tables = [table for _, table in parts]
        if sum(table.room_size for table in tables) > LARGEST_IMAGE:
            self._large.add(kind)
            for one, table in parts:
                self._note(one, table)
                self.lent[one] = self.lent.get(one, 0) + 1
        elif len(known) < MOST:
            known.append((thing, parts, [pair for table in tables for pair in images_of(table) or ()]))
        return thing

    def keep(self, kind: Hashable, table: Table, begin: Callable[[Table], None] | None = None) -> Table:
        """Write into a new table, of zeros, what it begins with; it is there for the next run."""
        if begin is not None:
            begin(table)
        if self._parts is None:
            self._note(kind, table)
        else:
            self._parts.append((kind, table))
        return table

    def _note(self, kind: Hashable, table: Table) -> None:
        """Let the next run have a table, unless there are many of its kind."""
        known = self.made.setdefault(kind, [])
        if len(known) < MOST:
            known.append((table, images_of(table)))

    def again(self, kind: Hashable, begin: Callable[[Table], None] | None = None) -> Table | None:
        """The next table of a kind as it began, if there is one, as for `table`; if not, one is to be made, for `keep`.

        Whoever asks many times a run asks here first, and says how a table is made only if there is none.
        """
        if self._parts is not None:
            return None
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
        blocks = []
        for kind, count in self.lent.items():
            blocks += [block for table, _ in self.made.get(kind, ())[:count] for _, block in table._rooms]
            blocks += [block for _, _, images in self.wholes.get(kind, ())[:count] for block, _ in images]
        return blocks

    def forget(self) -> None:
        """No run will have it any more: what is kept in one piece may know it, which would let its memory stay."""
        self.wholes.clear()
        self.kept.clear()

    @property
    def is_small(self) -> bool:
        """Whether it is worth keeping, by what its tables do not share with others; looked at once."""
        if "small" not in self.kept:
            size = sum(table.room_size for tables in self.made.values() for table, _ in tables)
            wholes = (whole for wholes in self.wholes.values() for whole in wholes)
            size += sum(table.room_size for _, parts, _ in wholes for _, table in parts)
            self.kept["small"] = size <= LARGEST
        small: bool = self.kept["small"]
        return small


def filled(common: Table, room: Room) -> Table:
    """A table with the arrays of another, and zeros of its own."""
    table = common.sharing()
    table.fill(room)
    return table
