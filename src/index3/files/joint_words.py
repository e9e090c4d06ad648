"""Joints and motions in model files."""

from __future__ import annotations

from index3.files.fields import BODY, JOINT, TEXT, Place, number, points
from index3.files.word import FORM, LENGTH, PAIR, POINT, RATIO, TWO_POINTS, Word, coordinate_dimension, fields, function
from index3.files.word import short as short_form
from index3.joints import (
    CoordinateConstraint,
    Cylindrical,
    Distance,
    Fixed,
    KnifeEdge,
    Motion,
    PerpendicularAxes,
    Planar,
    PointCoincidence,
    PointInPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

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


JOINTS = [
    *(Word(cls, PAIR, FORM) for cls in (Spherical, PointCoincidence, Revolute, Prismatic, Cylindrical, Planar, Fixed)),
    Word(KnifeEdge, PAIR, FORM),
    Word(Universal, TWO_AXES),
    Word(PerpendicularAxes, TWO_AXES, cosine=RATIO),
    Word(PointInPlane, PAIR, FORM, offset=LENGTH),
    Word(Distance, PAIR, TWO_POINTS, length=LENGTH),
    Word(CoordinateConstraint, body=BODY, coordinate=TEXT, value=number(body_coordinate_dimension)),
    Word(
        Motion,
        joint=JOINT,
        f=function(0, coordinate_dimension),
        df=function(1, coordinate_dimension),
        ddf=function(2, coordinate_dimension),
        coordinate=TEXT,
    ),
]
