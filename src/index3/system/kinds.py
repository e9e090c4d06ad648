"""Every element kind the package has: which module holds its kernels, and what its record says.

The only place that knows them all; a new primitive or body kind is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from index3.bodies import planar_kernels, point_kernels, rigid_kernels
from index3.constraints import angle, coincident, coordinate, distance, in_plane, knife_edge, perpendicular
from index3.joints import Primitive

PRIMITIVES: dict[str, tuple[ModuleType, Callable[[dict[str, Any]], tuple]]] = {
    "coincident": (coincident, lambda f: (f["count"],)),
    "perpendicular": (perpendicular, lambda f: (f["axis_first"], f["axis_second"], f["cosine"])),
    "in_plane": (in_plane, lambda f: (f["axis_first"], f["offset"], f.get("function", -1))),
    "distance": (distance, lambda f: (f["length"],)),
    "angle": (angle, lambda f: (f["offset"], f.get("function", -1))),
    "knife_edge": (knife_edge, lambda f: (f["axis_second"],)),
}
"""Primitive kind -> module, and its own fields of the record (after the common ones of `constraints.rows`)."""

COORDINATE = coordinate
"""The one primitive that holds a coordinate instead of tying markers."""

BODIES: dict[str, tuple[ModuleType, Callable[[Any, int, int, tuple[int, int]], tuple]]] = {
    "rigid": (
        rigid_kernels,
        lambda b, first, row, ends: (first, row, 4 * row, *ends, b.mass, tuple(np.ravel(b.inertia))),
    ),
    "planar": (planar_kernels, lambda b, first, row, ends: (first, *ends, b.mass, float(b.inertia))),
    "point": (point_kernels, lambda b, first, row, ends: (first, *ends, b.mass)),
}
"""Body kind -> module, and the record of a body: its first coordinate, own row, first marker and number of markers."""

STAGES = ("place", "restrain", "push", "gather", "mass", "tangent", "own_rows", "body_matrix", "curve", "stiffen",
          "bias", "second", "energies", "measure")  # fmt: skip
"""Names of the evaluation's stages, in the order of their numbers in `compiled.slots`."""


def is_curved(primitive: Primitive) -> bool:
    """Whether a primitive has second derivatives in twists."""
    return "curve" in PRIMITIVES[primitive.kind][0].STAGES


def level(primitive: Primitive) -> int:
    """0 for rows that restrain positions, 1 for rows that restrain velocities."""
    return 0 if primitive.kind not in PRIMITIVES else getattr(PRIMITIVES[primitive.kind][0], "LEVEL", 0)


def force_module(kind: str) -> ModuleType:
    """The module of a force kind, by its name."""
    return import_module(kind)
