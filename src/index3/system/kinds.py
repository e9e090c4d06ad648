"""Every element kind the package has: which module holds its kernels, and what its record says.

The only place that knows them all; a new primitive or body kind is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
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
from index3.constraints import (
    angle,
    angular_rate,
    coincident,
    constant_velocity,
    coordinate,
    coupler,
    distance,
    in_plane,
    knife_edge,
    on_curve,
    perpendicular,
    rolling,
    touching,
)
from index3.joints import Primitive

PRIMITIVES: dict[str, tuple[ModuleType, Callable[[dict[str, Any]], tuple]]] = {
    "coincident": (coincident, lambda f: (f["count"],)),
    "perpendicular": (perpendicular, lambda f: (f["axis_first"], f["axis_second"], f["cosine"])),
    "in_plane": (in_plane, lambda f: (f["axis_first"], f["offset"], f.get("function", -1))),
    "distance": (distance, lambda f: (f["length"],)),
    "angle": (angle, lambda f: (f["offset"], f.get("function", -1))),
    "knife_edge": (knife_edge, lambda f: (f["axis_second"],)),
    "coupler": (coupler, coupler.record),
    "constant_velocity": (constant_velocity, lambda f: ()),
    "angular_rate": (angular_rate, lambda f: (f["axis_first"], f.get("function", -1))),
    "touching": (touching, lambda f: (f["radius"], f["tread"])),
    "rolling": (rolling, lambda f: (f["axis_first"], f["radius"], f["tread"])),
    "on_curve": (on_curve, lambda f: (0, len(f["segments"]), int(f["closed"]))),
}
"""Primitive kind -> module, and its own fields of the record (after the common ones of `constraints.rows`).

A module with more than records in its table has `fill(table, fields)`, called with the fields of all its primitives.
"""

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
"""(bodies of a kind, their sites, the places of all their couplings in MATRIX) -> the kind's table."""


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
    return primitive.kind not in PRIMITIVES or "curve" in PRIMITIVES[primitive.kind][0].STAGES


def level(primitive: Primitive) -> int:
    """0 for rows that restrain positions, 1 for rows that restrain velocities."""
    if primitive.kind not in PRIMITIVES:  # a user's rows say it themselves
        return int(primitive.fields.get("level", 0))
    return getattr(PRIMITIVES[primitive.kind][0], "LEVEL", 0)


def module_of(kind: str) -> ModuleType:
    """The module of a kind of force or user's constraint, by its name."""
    return import_module(kind)
