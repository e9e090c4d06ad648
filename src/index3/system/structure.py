"""The structure of a compiled model: all that does not depend on its numbers, found once and shared by its systems."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Room, Slot, Table
from index3.compiled.workspace import Workspace
from index3.errors import ModelError
from index3.record import Record, fresh
from index3.system.addresses import Addresses
from index3.system.parts import Group
from index3.system.sparsity import Sparsity

BODY = (
    "type", "coordinates", "own rows", "coordinates of its own rows", "own matrix block", "axes without inertia",
    "plane", "tie to ground", "coordinates that turn it", "blocks of coordinates",
)  # fmt: skip
GROUP = (
    "type", "markers", "constraint rows", "curvature of its rows", "rows left out in the plane",
    "rows that stand in for missing inertia", "rotations alone in its second derivatives", "held coordinate",
    "coordinates that move its markers", "switching", "dependence on reactions", "dependence on accelerations", "pairs",
)  # fmt: skip
"""What the structure takes from a body, and from a joint, motion or force: words for messages."""


Part = tuple[str, tuple[str, ...], tuple[Any, ...]]
"""The label of an element, words for what the structure takes from it, and the values."""


class Structure(Record):
    """Numbers of rows and places, patterns and maps; and what they follow from, to tell another structure apart.

    `fixed` holds the arrays of slots that are structure alone.
    """

    parts: list[Part]
    sparsity: Sparsity
    fixed: dict[Slot, np.ndarray]
    row_names: list[str]
    row_labels: list[str]
    addresses: Addresses | None = None  # of the kernels; the first system has them loaded
    solvers: dict[str, Any] = fresh(default_factory=dict)  # analyses of the pattern, by the solver's name
    kept: dict[Hashable, Any] = fresh(default_factory=dict)  # what others work out of it once, by who does
    free: list[Workspace] = fresh(default_factory=list)  # of runs that have ended, for those to come

    def take_workspace(self) -> Workspace:
        """What a run of a system of this structure works with, until `give_back`; taken by one run alone."""
        try:
            workspace = self.free.pop()
        except IndexError:
            return Workspace()
        workspace.begin()
        return workspace

    def give_back(self, workspace: Workspace) -> bool:
        """Let another run have what nobody uses any more, unless it is so large that it should not stay; whether."""
        if workspace.is_small:
            self.free.append(workspace)
        return workspace.is_small

    @cached_property
    def blank(self) -> Table:
        """A table of a state with the arrays of `fixed`."""
        table = Table(s.SIZE)
        for slot, array in self.fixed.items():
            table[slot] = array
        return table

    def room(self, who: Hashable, shapes: Callable[[], Mapping[Slot, tuple[int, ...]]]) -> Room:
        """The room for arrays of these shapes, worked out once; `who` tells what they follow from beside it."""
        room: Room | None = self.kept.get(who)
        if room is None:
            room = self.kept[who] = Room(shapes())
        return room

    def check(self, parts: list[Part]) -> None:
        """Raise, naming the element and what differs, unless these parts give the same structure.

        Raises
        ------
        ModelError : they do not.
        """
        if self.parts == parts:
            return
        advice = "The equations would have another structure. Prepare the changed model anew."
        for one, two in itertools.zip_longest(self.parts, parts):
            if two is None:
                raise ModelError(f"{one[0]} is missing. {advice}")
            if one is None:
                raise ModelError(f"{two[0]} is new. {advice}")
            if one[0] != two[0]:
                raise ModelError(f"{two[0]} stands where {one[0]} stood. {advice}")
        pairs = list(zip(self.parts, parts, strict=True))
        for (label, words, values), (_, _, changed) in (*pairs[1:], pairs[0]):  # elements before the model as a whole
            for word, value, other in zip(words, values, changed, strict=True):
                if value != other:
                    raise ModelError(f"{label}: the change alters its {word}. {advice}")


KEPT, MOST_SCALARS = 8, 20_000
"""Structures that are kept for models to come, and the most unknowns of all of them: some ten megabytes."""
_kept: list[Structure] = []
_lock = threading.Lock()


def known_structure(parts: list[Part]) -> Structure | None:
    """A structure found before that has these parts, in this process; the last ones are kept."""
    with _lock:
        for structure in _kept:
            usable = structure.addresses is not None and not structure.addresses.refused
            if usable and len(structure.parts) == len(parts) and structure.parts == parts:
                _kept.remove(structure)
                _kept.append(structure)
                return structure
    return None


def keep_structure(structure: Structure) -> None:
    """Keep a structure for models to come, in place of the one that was not asked for longest."""
    with _lock:
        _kept.append(structure)
        while len(_kept) > KEPT or (_kept and sum(one.sparsity.size for one in _kept) > MOST_SCALARS):
            _kept.pop(0)


def body_part(body: Any, lacks_inertia: bool) -> Part:
    """What the structure takes from a body or block of states."""
    own = body.__dict__  # couplings of the class follow from the type
    couplings = tuple([part.tobytes() for part in body.couplings]) if "couplings" in own else ()
    return body.label, BODY, (
        type(body), body.coordinate_names, body.own_rows, body.own_columns, couplings, lacks_inertia, body.planar,
        body.held, body.turning, list(map(list, body.blocks)) if body.deforms else (),
    )  # fmt: skip


def marker_parts(markers: Sequence[Any], order: dict[int, int]) -> list[tuple]:
    """What the structure takes from each marker; `order` numbers bodies by their id."""
    return [(k, order.get(id(marker.body), -1), marker.oriented, type(marker)) for k, marker in enumerate(markers)]


def group_part(group: Group, order: dict[int, int], marks: Sequence[tuple]) -> Part:
    """What the structure takes from a joint, motion or force; `marks` are the parts of all markers."""
    element = group.element
    markers = tuple([marks[k] for k in group.marker_numbers])
    ties = () if group.ties is None else (group.ties.shape, group.ties.tobytes())
    if not group.primitives:  # as of many forces
        return f"{type(element).__name__} '{group.name}'", GROUP, (
            type(element), markers, (), group.curved, group.reduced, group.full, group.turning, [], group.coordinates,
            getattr(element, "switched", False), getattr(element, "reads_reactions", False),
            getattr(element, "reads_accelerations", False), ties,
        )  # fmt: skip
    rows = tuple((p.kind, p.labels, p.fields.get("level", 0)) for p in group.primitives)
    held = [(order[id(element.body)], p.fields["index"]) for p in group.primitives if p.kind == "coordinate"]
    flags = (getattr(element, name, False) for name in ("switched", "reads_reactions", "reads_accelerations"))
    return f"{type(element).__name__} '{group.name}'", GROUP, (
        type(element), markers, rows, group.curved, group.reduced, group.full, group.turning, held,
        group.coordinates, *flags, ties,
    )  # fmt: skip
