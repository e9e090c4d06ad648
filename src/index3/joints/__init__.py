"""Joints and motions: recipes that list constraint primitives between markers; no formulas."""

from index3.joints.base import (
    ANGLE,
    COINCIDENT,
    DISPLACEMENT,
    PARALLEL_Z,
    Joint,
    Primitive,
    TwoAxes,
    as_pair,
    in_plane,
    perpendicular,
)
from index3.joints.drives import Constant, Difference, Motion
from index3.joints.primitive import CoordinateConstraint, Distance, PerpendicularAxes, PointInPlane
from index3.joints.rolling import KnifeEdge
from index3.joints.standard import (
    Cylindrical,
    Fixed,
    Planar,
    PointCoincidence,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

__all__ = [
    "ANGLE",
    "COINCIDENT",
    "DISPLACEMENT",
    "PARALLEL_Z",
    "Constant",
    "CoordinateConstraint",
    "Cylindrical",
    "Difference",
    "Distance",
    "Fixed",
    "Joint",
    "KnifeEdge",
    "Motion",
    "PerpendicularAxes",
    "Planar",
    "PointCoincidence",
    "PointInPlane",
    "Primitive",
    "Prismatic",
    "Revolute",
    "Spherical",
    "TwoAxes",
    "Universal",
    "as_pair",
    "in_plane",
    "perpendicular",
]
