"""Joints and motions in model files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field as Checked

from index3.files.fields import (
    BODY,
    DIRECTION,
    FLAG,
    JOINT,
    LEFT_OUT,
    TEXT,
    Float,
    Kind,
    Numbers,
    Place,
    Strict,
    number,
    points,
)
from index3.files.word import (
    FORM,
    LENGTH,
    PAIR,
    POINT,
    RATIO,
    TWO_POINTS,
    Field,
    Word,
    coordinate_dimension,
    fields,
    function,
)
from index3.files.word import short as short_form
from index3.joints import (
    ConstantVelocity,
    CoordinateConstraint,
    Coupler,
    Cylindrical,
    Distance,
    Fixed,
    Gear,
    Inline,
    InPlane,
    KnifeEdge,
    Motion,
    Orientation,
    ParallelAxes,
    PerpendicularAxes,
    Planar,
    PointCoincidence,
    PointInPlane,
    PointOnCurve,
    Prismatic,
    RackPinion,
    RelativeAngularVelocity,
    RelativeCoordinate,
    Revolute,
    RollingBall,
    RollingCylinder,
    RollingDisc,
    Screw,
    ShaftCoupling,
    Spherical,
    Universal,
)


class TermEntry(Strict):
    """A coefficient times a coordinate of a joint."""

    coefficient: Float
    joint: str
    coordinate: str = LEFT_OUT


@dataclass(frozen=True)
class Terms(Kind):
    """The terms of a coupler."""

    type: Any = Annotated[list[TermEntry], Checked(min_length=2, max_length=3)]
    wanted: str = "two or three terms {coefficient, joint, coordinate}"

    def read(self, value: Any, place: Place) -> Any:
        """Coefficient, joint and coordinate of each; units of coefficients are those of no single quantity."""
        place.factor(None)
        return [(term["coefficient"], place.joint(term["joint"]), term.get("coordinate")) for term in value]

    def write(self, value: Any, place: Place) -> Any:
        """Their entries."""
        return [{"coefficient": a, "joint": joint.name, "coordinate": name} for a, joint, name in value]


TERMS = Terms()
PATH = Numbers(points("length", 2, 4).type | points("length", 3, 4).type, "at least 4 rows of 2 or 3 numbers", "length")
TWO_AXES = fields(PAIR, at=short_form(POINT), axes=short_form(points("1", 3, 2, 2)))
COORDINATES = {
    "x": "length",
    "y": "length",
    "z": "length",
    "angle": "angle",
    "e0": "1",
    "e1": "1",
    "e2": "1",
    "e3": "1",
}
"""Dimensions of coordinates of bodies; of others they are not known."""


def body_coordinate_dimension(place: Place) -> str | None:
    """Of the coordinate that an entry names."""
    return COORDINATES.get(place.entry.get("coordinate", ""))


def term(index: int) -> Field:
    """The joint of a term of a gear."""
    return Field(JOINT, lambda gear: gear.terms[index][1])


def functions(dimension: Any, count: int = 3) -> dict[str, Field]:
    """f, df and ddf."""
    return {key: function(k, dimension) for k, key in enumerate(("f", "df", "ddf")[:count])}


ROLLING = fields(PAIR, radius=LENGTH, at=short_form(POINT), normal=short_form(DIRECTION))
ROLLING_AXIS = fields(axis=short_form(DIRECTION))
PLAIN = (
    Spherical, PointCoincidence, Revolute, Prismatic, Cylindrical, Planar, Fixed, KnifeEdge,
    Inline, Orientation, ParallelAxes,
)  # fmt: skip

JOINTS = [
    *(Word(cls, PAIR, FORM) for cls in PLAIN),
    *(Word(cls, TWO_AXES) for cls in (Universal, ConstantVelocity, ShaftCoupling)),
    Word(PerpendicularAxes, TWO_AXES, cosine=RATIO),
    *(Word(cls, PAIR, FORM, offset=LENGTH) for cls in (PointInPlane, InPlane)),
    Word(Distance, PAIR, TWO_POINTS, length=LENGTH),
    Word(Screw, PAIR, FORM, pitch=LENGTH),
    Word(RelativeCoordinate, PAIR, FORM, functions("length")),
    Word(RelativeAngularVelocity, PAIR, FORM, functions("angle/time", 2)),
    Word(PointOnCurve, PAIR, points=PATH, closed=FLAG, at=short_form(POINT)),
    Word(RollingDisc, ROLLING, ROLLING_AXIS, tread=LENGTH),
    Word(RollingCylinder, ROLLING, ROLLING_AXIS),
    Word(RollingBall, ROLLING, ROLLING_AXIS),
    Word(Gear, first=term(0), second=term(1), ratio=RATIO),
    Word(RackPinion, pinion=term(0), rack=term(1), radius=number("length/angle")),
    Word(Coupler, terms=TERMS, constant=number(None)),
    Word(CoordinateConstraint, body=BODY, coordinate=TEXT, value=number(body_coordinate_dimension)),
    Word(Motion, functions(coordinate_dimension), joint=JOINT, coordinate=TEXT),
]
