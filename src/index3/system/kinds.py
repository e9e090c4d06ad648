"""Element kinds as the compiler sees them: which module holds the kernels of a kind, and what makes its table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from index3.compiled.interface import Slot, Table
from index3.constraints import coordinate
from index3.joints.base import Primitive
from index3.registry import PRIMITIVES, kernels_of

COORDINATE = coordinate
"""The one primitive that holds a coordinate instead of tying markers."""


class Site(NamedTuple):
    """Where a body stands: its first coordinate, own row and entry of PHI_Q, first marker, their number, the words."""

    first: int
    row: int
    entry: int
    marker: int
    marker_count: int
    markers: list[Any]


class BodyRecords(Table):
    """A table with one record for each body, in the slot `records`, and the site that each was made for."""

    records: Slot
    sites: list[Site]


BodyTable = Callable[[list[Any], list[Site], np.ndarray], Table]
"""(bodies of a kind, their sites, the places of all their couplings in MATRIX) -> the kind's table."""


def of_body(body: Any) -> tuple[ModuleType, BodyTable]:
    """The module of a body's kernels, and what makes the table of all bodies of its kind.

    That is the module's `table`, or else one record, which the body gives, and one line of places for each.
    """
    module = kernels_of(body.kernels, "STAGES")

    def recorded(bodies: list[Any], sites: list[Site], places: np.ndarray) -> Table:
        made = BodyRecords(2)
        records = [body.record(site) for body, site in zip(bodies, sites, strict=True)]
        made[module.BODIES] = np.array(records, module.BODIES.dtype)
        made[module.MAP] = places.reshape(len(bodies), -1)
        made.records, made.sites = module.BODIES, sites  # to write single records anew
        return made

    return module, getattr(module, "table", recorded)


STAGES = ("poses", "constraints", "forces", "gather", "mass", "jacobians", "own_rows", "body_matrix", "hessians",
          "force_derivatives", "bias", "second_derivatives", "energies", "measure", "switches",
          "passes")  # fmt: skip
"""Names of the evaluation's stages, in the order of their numbers in `compiled.slots`."""


class Recorded(Sequence[Any]):
    """The elements that the records of a table stand for, one after the other; of sets their parts."""

    def __init__(self, elements: Sequence[Any]) -> None:
        self.lists = [x.parts if getattr(x, "ties", None) is not None else (x,) for x in elements]
        self.ends = list(accumulate(map(len, self.lists)))

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def __getitem__(self, k: Any) -> Any:
        if not 0 <= k < len(self):
            raise IndexError(k)
        own = bisect_right(self.ends, k)
        return self.lists[own][k - self.ends[own] + len(self.lists[own])]


def recorded(elements: Sequence[Any]) -> Sequence[Any]:
    """The elements of a kind as its records stand for them: one each, but of sets all parts."""
    return Recorded(elements) if any(getattr(x, "ties", None) is not None for x in elements) else elements


def switches(elements: Sequence[Any], table: Table) -> int:
    """How many numbers a kind fills in SWITCH: one for each record, unless its table says otherwise."""
    return int(getattr(table, "switches", len(recorded(elements))))


def is_curved(primitive: Primitive) -> bool:
    """Whether a primitive has second derivatives in twists."""
    return primitive.kind not in PRIMITIVES or "hessians" in PRIMITIVES[primitive.kind].STAGES


def level(primitive: Primitive) -> int:
    """0 for rows that restrain positions, 1 for rows that restrain velocities."""
    if primitive.kind not in PRIMITIVES:  # a user's rows say it themselves
        return int(primitive.fields.get("level", 0))
    return getattr(PRIMITIVES[primitive.kind], "LEVEL", 0)


def module_of(kind: str) -> ModuleType:
    """The module of a kind of force or user's constraint, by its name."""
    return kernels_of(kind, "STAGES", "table")
