"""The kind of field that holds what a linkage in natural coordinates is made of: its points, vectors and parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field as Checked

from index3.bodies.natural_linkage import NaturalLinkage
from index3.bodies.natural_structure import Member
from index3.errors import ModelError
from index3.files.kinds import LEFT_OUT, LONGEST, Float, Kind, Matrix3, Place, Strict, Vector3
from index3.files.units import near

Place2or3 = Annotated[list[Float], Checked(min_length=2, max_length=3)]
Names = Annotated[list[str], Checked(max_length=LONGEST)]


class PointStep(Strict):
    """A point that moves."""

    kind: Literal["point"]
    name: str
    position: Place2or3
    velocity: Place2or3 = LEFT_OUT


class FixedStep(Strict):
    """A point of ground."""

    kind: Literal["fixed"]
    name: str
    position: Place2or3


class VectorStep(Strict):
    """A unit vector."""

    kind: Literal["vector"]
    name: str
    direction: Place2or3


class LengthStep(Strict):
    """A number that is the distance of two points."""

    kind: Literal["length"]
    name: str
    first: str
    second: str


class ComponentStep(Strict):
    """A number that is `zero` + `direction` . `point`."""

    kind: Literal["component"]
    name: str
    point: str
    direction: Place2or3
    zero: Float = LEFT_OUT


class RigidStep(Strict):
    """A rigid part of some points and vectors."""

    kind: Literal["rigid"]
    name: str
    members: Names
    mass: Float = LEFT_OUT
    inertia: Float | Vector3 | Matrix3 = LEFT_OUT
    centre: Place2or3 = LEFT_OUT


Step = Annotated[
    PointStep | FixedStep | VectorStep | LengthStep | ComponentStep | RigidStep, Checked(discriminator="kind")
]
DIMENSIONS = {
    "position": "length", "velocity": "length/time", "direction": "1", "zero": "length", "mass": "mass",
    "inertia": "mass*length^2", "centre": "length",
}  # fmt: skip


@dataclass(frozen=True)
class Steps(Kind):
    """The steps that build a linkage, in order."""

    type: Any = Annotated[list[Step], Checked(max_length=LONGEST)]
    wanted: str = "a list of steps of kind point, fixed, vector, length, component or rigid"

    def read(self, value: Any, place: Place) -> Any:
        """The steps in SI."""
        return [
            {
                key: (place.factor(DIMENSIONS[key]) * np.array(x, float)).tolist() if key in DIMENSIONS else x
                for key, x in step.items()
            }
            for step in value
        ]

    def write(self, value: Any, place: Place) -> Any:
        """The steps, members by name."""
        return [{key: plain(x) for key, x in step.items() if x is not None} for step in value]

    @property
    def put(self) -> Callable[[Any, Any], None]:
        """Steps are taken once there is a linkage."""
        return build


def plain(value: Any) -> Any:
    """An argument of a step as it stands in a file."""
    if isinstance(value, str):
        return value
    if isinstance(value, Member):
        return value.name
    if isinstance(value, list | tuple) and any(isinstance(x, Member) for x in value):
        return [x.name for x in value]
    return np.asarray(value, float).tolist()


def build(linkage: NaturalLinkage, steps: list[dict[str, Any]]) -> None:
    """Repeat the steps that built a linkage."""

    def find(name: str) -> Member:
        if name not in linkage.members:
            raise ModelError(f"there is no point or vector '{name}' before this. {near(name, linkage.members)}")
        return linkage.members[name]

    for step in steps:
        arguments = {key: x for key, x in step.items() if key != "kind"}
        for key in ("first", "second", "point"):
            if key in arguments:
                arguments[key] = find(arguments[key])
        if "members" in arguments:
            arguments["members"] = [find(name) for name in arguments["members"]]
        getattr(linkage, step["kind"])(**arguments)
