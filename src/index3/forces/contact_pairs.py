"""What two shapes make of a contact: which surfaces meet, and rows of `contact_table` for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from index3.compiled.interface import Table
from index3.forces.contact_law import LAW
from index3.forces.contact_settings import ContactLaw
from index3.forces.contact_table import BLOCK, CYLINDER, PAIR, PLANE, POINT, SPHERE, SPROCKET, STRIP, filled
from index3.forces.force import Place
from index3.forces.shapes import Box, Cylinder, Plane, Point, Shape, Sphere, Sprocket, Strip

SURFACES = {
    (Sphere, Plane): PLANE,
    (Box, Plane): PLANE,
    (Cylinder, Plane): PLANE,
    (Sphere, Sphere): SPHERE,
    (Sphere, Cylinder): CYLINDER,
    (Cylinder, Cylinder): CYLINDER,
    (Sphere, Strip): STRIP,
    (Cylinder, Strip): STRIP,
    (Sphere, Sprocket): SPROCKET,
    (Sphere, Box): BLOCK,
}
"""Pairs of shapes that can touch, and the surface of the second."""


def surface_of(first: Shape, second: Shape) -> int | None:
    """The surface of the second shape as the kernels know it; None if these shapes do not go together in this order."""
    if is_ring(first):
        return None
    return SURFACES.get((type(first), type(second)))


def is_ring(shape: Shape) -> bool:
    """Whether it is a hollow cylinder."""
    return isinstance(shape, Cylinder) and shape.hollow


def points_of(first: Shape, second: Shape) -> list[Point]:
    """Rows of `contact_table.POINT`."""
    points = first.points()  # type: ignore[union-attr]  # a plane is never first
    if isinstance(second, Sprocket):  # both flanks of a gap
        return [(place, radius, side) for place, radius, _ in points for side in (-1, 1)]
    return points if isinstance(second, Plane) else [(place, radius, 0) for place, radius, _ in points]


def numbers_of_second(second: Shape) -> tuple[float, float, float, float, float]:
    """`side`, `radius`, the shape's own part of `reach`, `half_y` and `half_z` in a row of `contact_table.PAIR`."""
    if is_ring(second):
        return -1.0, second.radius, 1e300, 0.0, 0.0  # type: ignore[union-attr]  # never apart
    if isinstance(second, Sphere | Cylinder):
        return 1.0, second.radius, second.radius, 0.0, 0.0
    if isinstance(second, Strip):
        return 1.0, second.reach, second.reach, 0.0, 0.0
    if isinstance(second, Sprocket):
        return float(second.teeth), second.radius, second.reach, 0.0, 0.0
    if isinstance(second, Box):
        x, y, z = second.size
        return 1.0, 0.5 * x, second.reach, 0.5 * y, 0.5 * z
    return 1.0, 0.0, 0.0, 0.0, 0.0


class ShapePairs:
    """Pairs of shapes in numbers.

    Attributes
    ----------
    shapes : those that differ from each other
    first, second : (pairs,) numbers of their shapes there, in the order in which the kernels take them
    laws, law : the laws that differ, and the number of each pair's
    """

    def __init__(
        self, shapes: list[Shape], first: np.ndarray, second: np.ndarray, laws: list[ContactLaw], law: np.ndarray
    ) -> None:
        self.shapes, self.first, self.second, self.laws, self.law = shapes, first, second, laws, law

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of PAIRS, of no markers and groups yet, and of POINTS, which pairs of equal shapes share."""
        rows = np.zeros(len(self.first), PAIR)
        family, surfaces = surface_table(self.shapes)
        rows["surface"] = surfaces[family[self.first], family[self.second]]
        seconds = np.array([numbers_of_second(shape) for shape in self.shapes]).reshape(-1, 5)[self.second]
        reach = np.array([shape.reach for shape in self.shapes])[self.first]
        rows["side"], rows["radius"], rows["reach"] = seconds[:, 0], seconds[:, 1], reach + seconds[:, 2]
        rows["half_y"], rows["half_z"] = seconds[:, 3], seconds[:, 4]
        laws = np.array([law.numbers() for law in self.laws]).reshape(-1, len(LAW.names or ()))[self.law]
        for name, column in zip(LAW.names or (), laws.T, strict=True):
            rows[name] = column
        rows["first"], rows["count"], points = self._points(family)
        return rows, points

    def _points(self, family: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First place and number of the points of each pair, and all points."""
        families = int(np.max(family, initial=0)) + 1
        key = self.first * families + family[self.second]
        used = np.zeros(len(self.shapes) * families, bool)
        used[key] = True
        example = np.zeros(len(used), np.int64)
        example[key] = self.second
        keys = np.flatnonzero(used).tolist()
        lists = [points_of(self.shapes[k // families], self.shapes[example[k]]) for k in keys]
        count, first = np.zeros(len(used), np.int64), np.zeros(len(used), np.int64)
        count[keys] = [len(own) for own in lists]
        first[keys] = np.cumsum(count[keys]) - count[keys]
        return first[key], count[key], np.array([point for own in lists for point in own], POINT)


def surface_table(shapes: Sequence[Shape]) -> tuple[np.ndarray, np.ndarray]:
    """The family of each shape, and which surface two families make in this order; -1: none."""
    families: dict[Any, int] = {}
    number = np.array([families.setdefault((type(x), is_ring(x)), len(families)) for x in shapes], np.int64)
    examples = [shapes[int(np.argmax(number == k))] for k in range(len(families))]
    found = [[surface_of(one, other) for other in examples] for one in examples]
    return number, np.array([[-1 if x is None else x for x in row] for row in found], np.int64)


def numbered(values: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """Values that differ from each other, and which of them each value is."""
    known: dict[int, int] = {}  # by identity: hashing a shape takes ten times as long
    equal: dict[Any, int] = {}
    for value in values:
        if id(value) not in known:
            known[id(value)] = equal.setdefault(value, len(equal))
    return list(equal), np.array([known[id(value)] for value in values], np.int64)


def pairs_of(contacts: Sequence[Any]) -> ShapePairs:
    """Single contacts in numbers."""
    shapes, number = numbered([shape for contact in contacts for shape in contact.shapes])
    laws = {id(contact.law): contact.law for contact in contacts}
    order = {key: k for k, key in enumerate(laws)}
    law = np.array([order[id(contact.law)] for contact in contacts], np.int64)
    return ShapePairs(shapes, number[0::2], number[1::2], list(laws.values()), law)


def table(elements: Sequence[Any], places: Sequence[Place]) -> Table:
    """The table of all contacts and sets of a system: pair by pair, in the order of their groups."""
    pieces = []
    for alone, some in groupby(zip(elements, places, strict=True), key=lambda each: each[0].ties is None):
        if alone:
            contacts, own = zip(*some, strict=True)
            groups = np.array([(place.group, place.stiffness) for place in own], np.int64)
            pieces.append((pairs_of(contacts), np.array([place.markers for place in own], np.int64), groups))
            continue
        for several, place in some:
            ends = np.asarray(place.markers, np.int64)[several.ties]
            number, square = np.arange(len(ends)), (6 * ends.shape[1]) ** 2
            groups = np.stack([place.group + number, place.stiffness + square * number], 1)
            pieces.append((several.in_numbers, ends, groups))
    return joined([numbered_rows(*piece) for piece in pieces])


def numbered_rows(pairs: ShapePairs, ends: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of PAIRS and POINTS; `ends` are the markers of each pair, `groups` (count, 2) its numbers in a system."""
    rows, points = pairs.rows()
    rows["i"], rows["j"] = ends.T
    rows["group"], rows["stiffness_at"] = groups.T
    return rows, points


def joined(pieces: Sequence[tuple[np.ndarray, np.ndarray]]) -> Table:
    """The table of several pieces of rows and points."""
    at = 0
    for rows, points in pieces:
        rows["first"] += at
        at += len(points)
    return filled(np.concatenate([rows for rows, _ in pieces]), np.concatenate([points for _, points in pieces]))


def law_of(pairs: ShapePairs, ends: np.ndarray, swapped: np.ndarray) -> dict[str, Any]:
    """Pairs in plain numbers, column by column, one number where all are equal; on which body forces are told."""
    rows, points = numbered_rows(pairs, ends, np.zeros((len(ends), 2), np.int64))
    columns = {}
    for name in PAIR.names or ():
        column = rows[name]
        columns[name] = column[0].item() if (column == column[0]).all() else column.tolist()
    plain = [list(point) for point in zip(*(points[key].tolist() for key in POINT.names or ()), strict=True)]
    return {"kind": "contact", "columns": columns, "points": plain, "signs": np.where(swapped, 1.0, -1.0).tolist()}
