"""Element kinds as the compiler sees them: which module holds the kernels of a kind, and what makes its table."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from index3.bodies import (
    euler_kernels,
    natural_kernels,
    natural_tables,
    planar_kernels,
    point_kernels,
    rigid_kernels,
    states_kernels,
)
from index3.compiled.interface import Table
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


BodyTable = Callable[[list[Any], list[Site], np.ndarray], Table]
"""(bodies of a kind, their sites, the places of all their blocks in MATRIX) -> the kind's table."""


def recorded(module: ModuleType, record: Callable[[Any, Site], tuple]) -> tuple[ModuleType, BodyTable]:
    """The entry of a kind with one record and one line of places per body."""

    def table(bodies: list[Any], sites: list[Site], places: np.ndarray) -> Table:
        made = Table(2)
        records = [record(body, site) for body, site in zip(bodies, sites, strict=True)]
        made[module.BODIES] = np.array(records, module.BODIES.dtype)
        made[module.MAP] = places.reshape(len(bodies), -1)
        return made

    return module, table


BODIES: dict[str, tuple[ModuleType, BodyTable]] = {
    "rigid": recorded(rigid_kernels, lambda b, at: (*at[:5], b.mass, tuple(np.ravel(b.inertia)))),
    "euler": recorded(
        euler_kernels,
        lambda b, at: (at.first, *at[3:5], b.mass, tuple(np.ravel(b.inertia)), tuple(np.ravel(b.reference))),
    ),
    "natural": (natural_kernels, natural_tables.table),
    "planar": recorded(planar_kernels, lambda b, at: (at.first, *at[3:5], b.mass, float(b.inertia))),
    "point": recorded(point_kernels, lambda b, at: (at.first, *at[3:5], b.mass)),
}
"""Body kind -> module of its kernels, and what makes its table."""

STATES: dict[str, tuple[ModuleType, BodyTable]] = {"states": (states_kernels, states_kernels.table)}
"""Blocks of first-order states, which the equations see as bodies."""

STAGES = ("place", "restrain", "push", "gather", "mass", "tangent", "own_rows", "body_matrix", "curve", "stiffen",
          "bias", "second", "energies", "measure")  # fmt: skip
"""Names of the evaluation's stages, in the order of their numbers in `compiled.slots`."""


def is_curved(primitive: Primitive) -> bool:
    """Whether a primitive has second derivatives in twists."""
    return primitive.kind not in PRIMITIVES or "curve" in PRIMITIVES[primitive.kind].STAGES


def level(primitive: Primitive) -> int:
    """0 for rows that restrain positions, 1 for rows that restrain velocities."""
    if primitive.kind not in PRIMITIVES:  # a user's rows say it themselves
        return int(primitive.fields.get("level", 0))
    return getattr(PRIMITIVES[primitive.kind], "LEVEL", 0)


def module_of(kind: str) -> ModuleType:
    """The module of a kind of force or user's constraint, by its name."""
    return kernels_of(kind, "STAGES", "table")
