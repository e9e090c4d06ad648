"""The kind of field that holds a marker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field as Checked

from index3.bodies.marker import Marker, as_direction
from index3.bodies.moving_marker import MovingMarker
from index3.bodies.smooth import Components
from index3.bodies.time_functions import Vector, complete, derivative
from index3.errors import ModelError
from index3.files.kinds import LEFT_OUT, LONGEST, Kind, Matrix3, Place, Strict, Vector3
from index3.files.laws import Timed, TimeFunction, TimeVector

PATH, TURN, ANGLE = TimeVector(dimension="length"), TimeVector(dimension="angle"), TimeFunction(dimension="angle")
NAMES = ("function", "first derivative", "second derivative")


class MarkerEntry(Strict):
    """A point and axes on a body. In the body frame: `position`, and `axes` or directions `z`, `x`. In ground at the
    start: `at`, and directions `z`, `x`. On ground it may move: `path`, `rotation`, with `axis` an angle about it.
    Entries with the same `id` are one marker."""

    body: str
    position: Vector3 = LEFT_OUT
    axes: Annotated[Matrix3, Checked(description="the three axes x, y, z, each in the body frame")] = LEFT_OUT
    z: Vector3 = LEFT_OUT
    x: Vector3 = LEFT_OUT
    at: Vector3 = LEFT_OUT
    name: str = LEFT_OUT
    part: str = LEFT_OUT
    path: PATH.type = LEFT_OUT  # type: ignore[name-defined]
    rotation: Timed | TURN.type = LEFT_OUT  # type: ignore[name-defined]
    axis: Vector3 = LEFT_OUT
    id: int = LEFT_OUT


@dataclass(frozen=True)
class End(Kind):
    """A marker; in files written by hand also the name of a body."""

    type: Any = str | MarkerEntry
    wanted: str = "the name of a body, or a marker {body, position, z, x}"

    def read(self, value: Any, place: Place) -> Any:
        """The body or the marker."""
        if isinstance(value, str):
            return place.body(value)
        number = value.get("id")
        if number is None or number not in place.markers:
            made = read_marker(value, place)
            if number is not None:
                place.markers[number] = (value, made)
            return made
        entry, known = place.markers[number]
        if entry != value:
            raise ModelError(f"the marker with id {number} differs from the one before. Give each marker its own id.")
        return known

    def write(self, value: Any, place: Place) -> Any:
        """The marker in full; `axes` are left out where they are the body's."""
        if id(value) not in place.markers:
            place.markers[id(value)] = (write_marker(value, place), value)
            return place.markers[id(value)][0]
        entry = place.markers[id(value)][0]
        if "id" not in entry:
            place.shared += 1
            entry["id"] = place.shared
        return dict(entry)


def read_marker(value: dict[str, Any], place: Place) -> Marker:
    """The marker of a checked entry."""
    for first, others in (("at", ("position", "axes", "part", "path")), ("axes", ("z", "x")), ("path", ("position",))):
        clash = [key for key in others if key in value]
        if first in value and clash:
            raise ModelError(f"a marker has {first} and also {' and '.join(clash)}. Leave one out.")
    body, name, part = place.body(value["body"]), value.get("name"), value.get("part")
    directions = {"z": value.get("z"), "x": value.get("x"), "name": name}
    length = place.factor("length")
    if "at" in value:
        return body.marker_at(length * np.array(value["at"], float), **directions)
    position = length * np.array(value.get("position", (0.0, 0.0, 0.0)), float)
    if "path" in value or "rotation" in value or "axis" in value:
        return read_moving(value, place, position)
    if "axes" not in value and part is None:
        return body.marker(position, **directions)
    if part is None:
        body.marker(position)  # for the checks of its kind: a point mass has no arm
    elif not body.has_part(part):
        raise ModelError(f"body '{body.name}' has no part '{part}'.")
    return Marker(body, position, np.array(value.get("axes", np.eye(3)), float).T, name, part)


def read_moving(value: dict[str, Any], place: Place, position: np.ndarray) -> Marker:
    """The marker of a checked entry with functions of time."""
    body, owner = place.body(value["body"]), "MovingMarker"
    if body is not place.model.ground:
        raise ModelError(f"a marker that moves by functions of time sits on ground, not on '{value['body']}'.")
    if "path" not in value and "rotation" not in value:
        raise ModelError("a marker has an axis and no rotation about it. Give rotation.")
    about_axis = "axis" in value
    path = turn = None
    if "path" in value:
        path = complete(owner, NAMES, (Components(owner, "path", PATH.read(value["path"], place)), None, None), 3)
    if "rotation" in value and about_axis is isinstance(value["rotation"], list):
        raise ModelError("the rotation of a marker is one function with axis, and a list of three without.")
    if "rotation" in value and about_axis:
        turn = complete(owner, NAMES, (ANGLE.read(value["rotation"], place), None, None))
    elif "rotation" in value:
        turn = complete(
            owner, NAMES, (Components(owner, "rotation", TURN.read(value["rotation"], place)), None, None), 3
        )
    axes = np.array(value["axes"], float).T if "axes" in value else body.marker(z=value.get("z"), x=value.get("x")).axes
    axis = unit_axis(value["axis"], owner) if about_axis else None
    return MovingMarker(body, position, axes, value.get("name"), path=path, turn=turn, axis=axis)


def unit_axis(value: list[float], owner: str) -> tuple[float, float, float]:
    """A direction as a unit vector; one that is so already, but for rounding, is kept as it is."""
    x, y, z = map(float, value)
    return (x, y, z) if abs(x * x + y * y + z * z - 1.0) < 1e-15 else as_direction(value, owner, "axis")


def write_marker(marker: Marker, place: Place) -> dict[str, Any]:
    """The entry of a marker."""
    entry: dict[str, Any] = {"body": marker.body.name}
    if not isinstance(marker, MovingMarker) or marker.path is None:
        entry["position"] = marker.position.tolist()
    if not np.array_equal(marker.axes, np.eye(3)):
        entry["axes"] = marker.axes.T.tolist()
    entry |= {key: word for key, word in (("name", marker.name), ("part", marker.part)) if word is not None}
    if isinstance(marker, MovingMarker):
        if marker.path is not None:
            entry["path"] = PATH.write(with_own_derivatives(marker.path), place)
        if marker.turn is not None:
            kind = TURN if marker.axis is None else ANGLE
            entry["rotation"] = kind.write(with_own_derivatives(marker.turn), place)
        if marker.axis is not None:
            entry["axis"] = list(marker.axis)
    return entry


def with_own_derivatives(functions: tuple[Any, Any, Any]) -> Any:
    """A function of time whose derivatives are its own."""
    f, df, ddf = functions
    if (df, ddf) != (derivative(f), derivative(f, 2)):
        raise ModelError("a file cannot hold derivatives given apart. Give Expressions or TimeTables, which have them.")
    return f.f if isinstance(f, Vector) else f


END = End()


@dataclass(frozen=True)
class Ends(Kind):
    """Several markers in order."""

    type: Any = Annotated[list[str | MarkerEntry], Checked(min_length=2, max_length=LONGEST)]
    wanted: str = "a list of two or more names of bodies, or markers {body, position, z, x}"

    def read(self, value: Any, place: Place) -> Any:
        """The bodies and markers."""
        return [END.read(one, place) for one in value]

    def write(self, value: Any, place: Place) -> Any:
        """The markers in full."""
        return [END.write(one, place) for one in value]
