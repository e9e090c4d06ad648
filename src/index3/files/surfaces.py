"""Kinds of fields of contacts and tyres: shapes and roads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field as Checked

from index3.errors import ModelError
from index3.files.kinds import LONGEST, Float, Floats, Kind, Place, Positive, Strict, Vector3
from index3.files.markers import END, MarkerEntry
from index3.forces.road import COSINE, FLAT, HALF_CYLINDER, SINE, TABLE, Road
from index3.forces.shapes import Box, Cylinder, Plane, Sphere, Sprocket, Strip


class PlaneEntry(Strict):
    """The x-y plane of its marker; outside is where z is positive."""

    type: Literal["Plane"]


class SphereEntry(Strict):
    """A ball around its marker."""

    type: Literal["Sphere"]
    radius: Positive


class BoxEntry(Strict):
    """A block around its marker."""

    type: Literal["Box"]
    size: Vector3


class CylinderEntry(Strict):
    """A cylinder about z of its marker; a hollow one is touched from inside."""

    type: Literal["Cylinder"]
    radius: Positive
    length: Positive
    hollow: bool = False


class StripEntry(Strict):
    """A flat face on x-y of its marker, of this length along x."""

    type: Literal["Strip"]
    length: Positive


class SprocketEntry(Strict):
    """A toothed wheel about z of its marker; `radius` is that of the centres of seated pins."""

    type: Literal["Sprocket"]
    radius: Positive
    teeth: Annotated[int, Checked(ge=11)]


SurfaceEntry = Annotated[
    PlaneEntry | SphereEntry | BoxEntry | CylinderEntry | StripEntry | SprocketEntry, Checked(discriminator="type")
]
SURFACES = {"Plane": Plane, "Sphere": Sphere, "Box": Box, "Cylinder": Cylinder, "Strip": Strip, "Sprocket": Sprocket}
SURFACE_WORDS = (
    "{type: 'Plane'}, {type: 'Sphere', radius}, {type: 'Box', size}, {type: 'Cylinder', radius, length}, "
    "{type: 'Strip', length} or {type: 'Sprocket', radius, teeth}"
)


def read_surface(value: dict[str, Any], place: Place) -> Any:
    """The shape of a checked entry."""
    length = place.factor("length")
    numbers = {
        key: (length * np.array(value[key], float)).tolist() for key in ("radius", "size", "length") if key in value
    }
    flags = {key: value[key] for key in ("hollow", "teeth") if key in value}
    return SURFACES[value["type"]](**numbers, **flags)


def write_surface(shape: Any) -> dict[str, Any]:
    """The entry of a shape."""
    entry: dict[str, Any] = {"type": type(shape).__name__}
    if isinstance(shape, Box):
        entry["size"] = list(shape.size)
    elif isinstance(shape, Sphere | Cylinder | Sprocket):
        entry["radius"] = shape.radius
    if isinstance(shape, Strip):
        entry["length"] = shape.length
    if isinstance(shape, Sprocket):
        entry["teeth"] = shape.teeth
    if isinstance(shape, Cylinder):
        entry |= {"length": shape.length} | ({"hollow": True} if shape.hollow else {})
    return entry


@dataclass(frozen=True)
class TwoSurfaces(Kind):
    """The two shapes of a contact."""

    type: Any = Annotated[list[SurfaceEntry], Checked(min_length=2, max_length=2)]
    wanted: str = f"two shapes, each {SURFACE_WORDS}"

    def read(self, value: Any, place: Place) -> Any:
        """The shapes."""
        return [read_surface(part, place) for part in value]

    def write(self, value: Any, place: Place) -> Any:
        """Their entries."""
        return [write_surface(shape) for shape in value]


class PlacedEntry(Strict):
    """A shape on a marker or body."""

    on: str | MarkerEntry
    shape: SurfaceEntry


@dataclass(frozen=True)
class Surfaces(Kind):
    """The shapes of a set of contacts, each with its marker."""

    type: Any = Annotated[list[PlacedEntry], Checked(min_length=1, max_length=LONGEST)]
    wanted: str = f"a list of {{on: body or marker, shape}}, each shape {SURFACE_WORDS}"

    def read(self, value: Any, place: Place) -> Any:
        """Pairs of marker or body, and shape."""
        return [(END.read(part["on"], place), read_surface(part["shape"], place)) for part in value]

    def write(self, value: Any, place: Place) -> Any:
        """Their entries."""
        return [{"on": END.write(end, place), "shape": write_surface(shape)} for end, shape in value]


@dataclass(frozen=True)
class BodyPairs(Kind):
    """Pairs of bodies."""

    type: Any = Annotated[list[Annotated[list[str], Checked(min_length=2, max_length=2)]], Checked(max_length=LONGEST)]
    wanted: str = "a list of pairs of names of bodies"

    def read(self, value: Any, place: Place) -> Any:
        """The pairs."""
        return [tuple(map(place.body, pair)) for pair in value]

    def write(self, value: Any, place: Place) -> Any:
        """Their names."""
        return [[body.name for body in pair] for pair in value]


class FlatEntry(Strict):
    """A level road."""

    type: Literal["flat"]
    speed: Float = 0.0


class WaveEntry(Strict):
    """One wave (bump) or half a wave (ramp) of a cosine."""

    type: Literal["bump", "ramp"]
    start: Float
    length: Positive
    height: Float
    speed: Float = 0.0


class SineEntry(Strict):
    """A sine without end."""

    type: Literal["sine"]
    wavelength: Positive
    amplitude: Float
    start: Float = 0.0
    speed: Float = 0.0


class HalfCylinderEntry(Strict):
    """A half cylinder on a level road."""

    type: Literal["half_cylinder"]
    centre: Float
    radius: Positive
    speed: Float = 0.0


class RoadTableEntry(Strict):
    """Heights z at x."""

    type: Literal["table"]
    x: Floats
    z: Floats
    speed: Float = 0.0


RoadEntry = Annotated[
    FlatEntry | WaveEntry | SineEntry | HalfCylinderEntry | RoadTableEntry, Checked(discriminator="type")
]


@dataclass(frozen=True)
class RoadKind(Kind):
    """The profile of a road."""

    type: Any = RoadEntry
    wanted: str = "a road such as {type: 'bump', start, length, height}; also flat, ramp, sine, half_cylinder, table"

    def read(self, value: Any, place: Place) -> Any:
        """The road in SI."""
        length, speed = place.factor("length"), place.factor("length/time")
        numbers = {
            key: ((speed if key == "speed" else length) * np.array(part, float)).tolist()
            for key, part in value.items()
            if key != "type"
        }
        return getattr(Road, value["type"])(**numbers)

    def write(self, value: Any, place: Place) -> Any:
        """The entry of the road."""
        road: Road = value
        wave = {"start": road.start, "length": road.length, "height": road.height}
        forms: dict[tuple[int, float], tuple[str, dict[str, Any]]] = {
            (FLAT, 1.0): ("flat", {}),
            (COSINE, 1.0): ("bump", wave),
            (COSINE, 0.5): ("ramp", wave),
            (SINE, 1.0): ("sine", {"wavelength": road.length, "amplitude": road.height, "start": road.start}),
            (HALF_CYLINDER, 1.0): ("half_cylinder", {"centre": road.start, "radius": road.length}),
            (TABLE, 1.0): ("table", {"x": [k[0] for k in road.knots], "z": [k[1] for k in road.knots]}),
        }
        if (road.kind, road.turns) not in forms:
            raise ModelError(f"a file cannot hold {road!r}. Make it by Road.flat, .bump, .ramp, .sine or .table.")
        name, numbers = forms[road.kind, road.turns]
        return {"type": name, **numbers} | ({"speed": road.speed} if road.speed else {})
