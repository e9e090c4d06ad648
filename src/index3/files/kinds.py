"""Kinds of fields: how a value stands in a file, what it becomes in Python, and back.

A kind has `type`, what pydantic checks and publishes in the schema; `wanted`, the words of an error message; and `read`
and `write`. Dimensions are those of `index3.files.units`, given as `index3.fields` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict
from pydantic import Field as Checked

from index3.bodies.body import Body
from index3.errors import ModelError
from index3.fields import Dimension
from index3.files.units import Units, near
from index3.model.model import Model

LONGEST = 1_000_000
"""Numbers in one list of a file."""

Float = Annotated[float, Checked(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Checked(strict=True, allow_inf_nan=False, gt=0.0)]
Floats = Annotated[list[Float], Checked(max_length=LONGEST, fail_fast=True)]
Vector3 = Annotated[list[Float], Checked(min_length=3, max_length=3)]
Matrix3 = Annotated[list[Vector3], Checked(min_length=3, max_length=3)]
LEFT_OUT: Any = Checked(default=None)
"""The default of a field of an entry that may be left out; null is no value."""


class Strict(BaseModel):
    """A group of fields in which no other field is allowed, and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass
class Place:
    """Where a value stands while it is read or written.

    The model so far, the units, the entry around the value; and the markers so far with their entries: while a file is
    read those that elements share, by their id in the file; while it is written all, and how many are shared. Files
    beside the model file are found from its `folder`; while it is written, they are named after its `stem`, and their
    arrays are gathered in `beside`.
    """

    model: Model
    units: Units = field(default_factory=lambda: Units({}))
    entry: Mapping[str, Any] = field(default_factory=dict)
    markers: dict[int, tuple[dict[str, Any], Any]] = field(default_factory=dict)
    shared: int = 0
    folder: Path = field(default_factory=Path)
    stem: str | None = None
    beside: dict[str, Mapping[str, np.ndarray]] = field(default_factory=dict)

    def factor(self, dimension: Dimension) -> float:
        """What turns a number of the file into SI."""
        if self.units.is_si:
            return 1.0
        known = dimension(self) if callable(dimension) else dimension
        if known is None:
            given = ", ".join(f"{key} in {unit}" for key, unit in self.units.given.items())
            raise ModelError(f"its unit is not fixed, and the file has {given}. Write this model in SI units.")
        return self.units.factor(known)

    def body(self, name: str) -> Body:
        """A body of the model, or ground."""
        if name == "ground":
            return self.model.ground
        if name not in self.model.bodies:
            raise ModelError(f"there is no body '{name}'. {near(name, ['ground', *self.model.bodies])}")
        return self.model.bodies[name]

    def joint(self, name: str) -> Any:
        """A joint of the model, above this element in the file."""
        if name not in self.model.joints:
            raise ModelError(f"there is no joint '{name}' before this. {near(name, self.model.joints)}")
        return self.model.joints[name]


@dataclass(frozen=True)
class Kind:
    """A kind of field that stands in a file as it is in Python; the others say what they do differently."""

    type: Any = str
    wanted: str = "text"

    def read(self, value: Any, place: Place) -> Any:
        """The Python value of a checked value from a file."""
        return value

    def write(self, value: Any, place: Place) -> Any:
        """The value in a file, in SI units."""
        return value

    def argument(self, value: Any) -> Any:
        """What makes an element with this value again, if that is not the value itself."""
        return value

    @property
    def put(self) -> Callable[[Any, Any], None] | None:
        """What sets a value on an element once it is made; None for arguments of its constructor."""
        return None


@dataclass(frozen=True)
class Number(Kind):
    """A number with a dimension."""

    type: Any = Float
    wanted: str = "a finite number"
    dimension: Dimension = None

    def read(self, value: Any, place: Place) -> Any:
        """The number in SI."""
        return place.factor(self.dimension) * value

    def write(self, value: Any, place: Place) -> Any:
        """The number."""
        return float(value)


@dataclass(frozen=True)
class Numbers(Kind):
    """A list, or a list of lists, of numbers of one dimension."""

    type: Any = Floats
    wanted: str = "a list of finite numbers"
    dimension: Dimension = None

    def read(self, value: Any, place: Place) -> Any:
        """The numbers in SI."""
        factor = place.factor(self.dimension)
        return value if factor == 1.0 else (factor * np.array(value, float)).tolist()

    def write(self, value: Any, place: Place) -> Any:
        """The numbers as lists."""
        return np.asarray(value, float).tolist()


@dataclass(frozen=True)
class Inertia(Numbers):
    """Three principal values or a matrix; written as three if it is diagonal."""

    type: Any = Vector3 | Matrix3
    wanted: str = "three numbers (Ixx, Iyy, Izz) or a 3x3 matrix"
    dimension: Dimension = "mass*length^2"

    def write(self, value: Any, place: Place) -> Any:
        """Three values or a matrix."""
        matrix = np.asarray(value, float)
        diagonal = matrix.ndim == 2 and not np.any(matrix - np.diag(np.diag(matrix)))
        return (np.diag(matrix) if diagonal else matrix).tolist()


@dataclass(frozen=True)
class Block(Inertia):
    """As `Inertia`, or one number for all three axes."""

    type: Any = Float | Vector3 | Matrix3
    wanted: str = "a number, three numbers or a 3x3 matrix"


@dataclass(frozen=True)
class Orientation(Kind):
    """A quaternion (w, x, y, z), or the rows of a matrix whose columns are the body's axes in ground."""

    type: Any = Annotated[list[Float], Checked(min_length=4, max_length=4)] | Matrix3
    wanted: str = "a quaternion [w, x, y, z] or a 3x3 matrix"

    def write(self, value: Any, place: Place) -> Any:
        """Lists of numbers; a Rotation of SciPy as a matrix."""
        return np.asarray(value.as_matrix() if hasattr(value, "as_matrix") else value, float).tolist()


@dataclass(frozen=True)
class BodyName(Kind):
    """The name of a body."""

    wanted: str = "the name of a body, or 'ground'"

    def read(self, value: Any, place: Place) -> Any:
        """The body."""
        return place.body(value)

    def write(self, value: Any, place: Place) -> Any:
        """Its name."""
        return value.name


@dataclass(frozen=True)
class JointName(Kind):
    """The name of a joint."""

    wanted: str = "the name of a joint"

    def read(self, value: Any, place: Place) -> Any:
        """The joint."""
        return place.joint(value)

    def write(self, value: Any, place: Place) -> Any:
        """Its name."""
        return value.name


class ShapeEntry(Strict):
    """What is drawn of a body, in its frame [m]."""

    type: Literal["none", "rod", "box", "cylinder", "sphere", "ring", "mesh"]
    ends: Annotated[list[Vector3], Checked(min_length=2, max_length=2)] = LEFT_OUT
    size: Vector3 = LEFT_OUT
    radius: Float = LEFT_OUT
    inner: Float = LEFT_OUT
    length: Float = LEFT_OUT
    axis: str = LEFT_OUT
    vertices: Annotated[list[Vector3], Checked(max_length=LONGEST)] = LEFT_OUT
    faces: Annotated[list[Annotated[list[int], Checked(min_length=3, max_length=3)]], Checked(max_length=LONGEST)] = (
        LEFT_OUT
    )


@dataclass(frozen=True)
class Shape(Kind):
    """What is drawn of a body."""

    type: Any = ShapeEntry
    wanted: str = "a shape such as {type: 'sphere', radius: 0.1}"

    def read(self, value: Any, place: Place) -> Any:
        """The shape in SI."""
        factor = place.factor("length")
        return {
            key: part if isinstance(part, str) or key == "faces" else (factor * np.array(part, float)).tolist()
            for key, part in value.items()
        }


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    @classmethod
    def of(cls, words: tuple[str, ...]) -> Choice:
        """The kind for these words."""
        return cls(Literal[words], f"one of {', '.join(map(repr, words))}")


Node = Annotated[int, Checked(strict=True, ge=0)] | str
NODES = Kind(
    Annotated[list[Node | list[Node]], Checked(max_length=LONGEST)], "a list of nodes, by number or name, or of lists"
)
NUMBERS_BY_NAME = Kind(dict[str, Annotated[int, Checked(strict=True, ge=0)]], "names with the numbers of nodes")
COUNT = Kind(Annotated[int, Checked(strict=True, ge=0)], "a whole number, zero or more")
RATIOS = Kind(Float | Floats, "a number, or a list of numbers")
TEXTS = Kind(Annotated[list[str], Checked(max_length=LONGEST)], "a list of names")


def number(dimension: Dimension, positive: bool = False) -> Number:
    """A number of a dimension."""
    return Number(Positive, "a positive number", dimension) if positive else Number(dimension=dimension)


def vector(dimension: Dimension, size: int = 3) -> Numbers:
    """Some numbers of one dimension."""
    exactly = Annotated[list[Float], Checked(min_length=size, max_length=size)]
    return Numbers(exactly, f"{size} finite numbers", dimension)


def points(dimension: Dimension, size: int, least: int, most: int | None = None) -> Numbers:
    """Rows of some numbers each."""
    row = Annotated[list[Float], Checked(min_length=size, max_length=size)]
    rows = Annotated[list[row], Checked(min_length=least, max_length=most or LONGEST, fail_fast=True)]
    count = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
    return Numbers(rows, f"{count} rows of {size} numbers each", dimension)


def path() -> Numbers:
    """Points of a curve, in a plane or in space."""
    types = [points("length", size, 4).type for size in (2, 3)]
    return Numbers(types[0] | types[1], "at least 4 rows of 2 or 3 numbers", "length")


def one_or_two(dimension: Dimension) -> Numbers:
    """A number, or two."""
    return Numbers(Float | vector(dimension, 2).type, f"a {dimension}, or two", dimension)


def flat_or_not() -> Numbers:
    """A point of the plane, or in space."""
    types = [vector("length", size).type for size in (2, 3)]
    return Numbers(types[0] | types[1], "2 or 3 finite numbers", "length")


def axis() -> Numbers:
    """Points of an axis, in a plane or in space."""
    types = [points("length", size, 2).type for size in (2, 3)]
    return Numbers(types[0] | types[1], "at least 2 rows of 2 or 3 numbers", "length")


@dataclass(frozen=True)
class Damping(Kind):
    """A time constant, or two numbers: per mass and per stiffness."""

    type: Any = Float | Annotated[list[Float], Checked(min_length=2, max_length=2)]
    wanted: str = "a time, or two numbers: per mass [1/time], per stiffness [time]"

    def read(self, value: Any, place: Place) -> Any:
        """In SI."""
        lag = place.factor("time")
        return lag * value if not isinstance(value, list) else [value[0] / lag, lag * value[1]]

    def write(self, value: Any, place: Place) -> Any:
        """Plain numbers."""
        return float(value) if np.ndim(value) == 0 else [float(x) for x in value]
