"""The table of contacts: pairs of shapes, points of the first of each, bounding spheres."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.compiled.interface import Table, slots
from index3.forces.contact_law import LAW

PLANE, SPHERE, CYLINDER, STRIP, SPROCKET, BLOCK = 0, 1, 2, 3, 4, 5
"""Surfaces of the second shape."""
PAIR = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("group", "i8"),  # its number in GROUPS
        ("stiffness_at", "i8"),  # first place in GROUP_K and GROUP_D
        ("first", "i8"),  # points of the first shape
        ("count", "i8"),
        ("surface", "i8"),
        ("side", "f8"),  # -1 inside a hollow cylinder, teeth of a sprocket, else 1
        ("radius", "f8"),  # of the second shape; half the length of a strip, half the first edge of a block
        ("reach", "f8"),  # distance from which on the shapes are surely apart
        *LAW.descr,
        ("half_y", "f8"),  # of a block: half its other edges
        ("half_z", "f8"),
    ]
)
POINT = np.dtype([("place", "f8", (3,)), ("radius", "f8"), ("disc", "i8")])
BOUND = np.dtype([("i", "i8"), ("j", "i8"), ("surface", "i8"), ("reach", "f8")])
"""What the test of bounding spheres needs of a pair: apart from the rest, so that many fit into the cache."""
(
    PAIRS, POINTS, BOUNDS, MARKS, SEEN, MARGIN, NEAR, NEAR_COUNT, REPORT, TIES, START_R, START_A, START_V,
) = TABLE = slots(
    pairs=(PAIR, 1),
    points=(POINT, 1),
    bounds=(BOUND, 1),
    marks=("i8", 1),  # the markers of all pairs
    seen=("f8", 2),  # where they were when the list was made
    margin=("f8", 1),
    near=("i8", 1),  # the list: numbers of pairs, NEAR_COUNT of them
    near_count=("i8", 1),
    report=("f8", 2),  # per pair what REPORTED names
    ties=("i8", 2),  # per pair the places of its markers in MARKS
    start_r=("f8", 2), start_a=("f8", 2), start_v=("f8", 2),  # pose and twist of all MARKS at the last accepted state
)  # fmt: skip
REPORTED = {
    "depth": ("m", slice(0, 1)),
    "normal": ("N", slice(1, 2)),
    "friction": ("N", slice(2, 5)),
    "force": ("N", slice(5, 8)),
    "point": ("m", slice(8, 11)),
}
MEMORY = (SEEN, NEAR, NEAR_COUNT, START_R, START_A, START_V)
ENDLESS = 1e299
"""Reach from which on shapes are never apart: the inside of a hollow cylinder."""
MARGIN_PART = 0.5
"""The margin of the list, as a part of the smallest reach: larger lists hold longer and have more pairs to test."""


def filled(pairs: np.ndarray, points: np.ndarray) -> Table:
    """A table of these rows."""
    result = Table(len(TABLE))
    result[PAIRS] = rows = pairs.view(np.recarray)
    result[BOUNDS] = rows[list(BOUND.names or ())].astype(BOUND).view(np.recarray)
    result[POINTS] = points.view(np.recarray)
    marked = np.zeros(1 + max(rows.i.max(), rows.j.max()), bool)
    marked[rows.i] = marked[rows.j] = True
    result[MARKS] = np.flatnonzero(marked)
    result[SEEN] = np.full((len(result[MARKS]), 3), np.nan)  # nowhere: the first evaluation makes the list
    result[MARGIN] = np.array([MARGIN_PART * np.min(rows.reach)])
    result[NEAR], result[NEAR_COUNT] = np.zeros(len(pairs), np.int64), np.zeros(1, np.int64)
    result[REPORT] = np.zeros((len(pairs), 11))
    result[TIES] = np.searchsorted(result[MARKS], np.stack([rows.i, rows.j], 1)).astype(np.int64)
    for slot, width in ((START_R, 3), (START_A, 9), (START_V, 6)):
        result[slot] = np.zeros((len(result[MARKS]), width))
    return result


def restored(law: dict[str, Any]) -> Table:
    """The table of a contact or set as its `law` describes it, its markers numbered from 0."""
    points = np.array([(tuple(place), radius, disc) for place, radius, disc in law["points"]], POINT)
    if "pairs" in law:  # row by row, of results saved before there were columns
        width = len(PAIR.names or ())  # blocks were not known then
        return filled(np.array([(*row, *[0.0] * (width - len(row))) for row in law["pairs"]], PAIR), points)
    rows = np.zeros(len(law["signs"]), PAIR)
    for name, column in law["columns"].items():
        rows[name] = column
    return filled(rows, points)
