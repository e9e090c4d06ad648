"""The joints of machines: spherical, revolute, prismatic, cylindrical, planar, universal, fixed."""

from __future__ import annotations

from index3.algebra.vectors import dot, scale, sub
from index3.bodies.marker import Vector
from index3.errors import ModelError
from index3.joints.base import (
    ANGLE,
    COINCIDENT,
    DISPLACEMENT,
    PARALLEL_Z,
    Joint,
    TwoAxes,
    X,
    Y,
    Z,
    in_plane,
    perpendicular,
)

# Largest cosine between the axes given to a Universal: data printed with six digits pass; the second axis is corrected.
PERPENDICULAR = 1e-6


class Spherical(Joint):
    """Two points stay together: 3 rows.

    >>> from index3.bodies.body import Ground
    >>> from index3.bodies.point_mass import PointMass
    >>> Spherical("pin", Ground(), PointMass("bob", 1.0), at=(0, 0, 0)).row_labels
    ('x', 'y', 'z')
    """

    required = ("at",)
    recipe = (COINCIDENT,)


class PointCoincidence(Spherical):
    """The primitive "coincident points" as a joint: the same as `Spherical`."""


class Revolute(Joint):
    """Two points stay together and the z axes parallel: 5 rows; coordinate `angle`."""

    recipe = (COINCIDENT, *PARALLEL_Z)
    measures = ANGLE


class Prismatic(Joint):
    """The second body slides along z of the first marker without turning: 5 rows; coordinate `displacement`."""

    recipe = (in_plane(X), in_plane(Y), *PARALLEL_Z, perpendicular(X, Y))
    measures = DISPLACEMENT


class Cylindrical(Joint):
    """The second body slides along z of the first marker and turns about it: 4 rows; `angle`, `displacement`."""

    recipe = (in_plane(X), in_plane(Y), *PARALLEL_Z)
    measures = ANGLE | DISPLACEMENT


class Planar(Joint):
    """The second point stays in the x-y plane of the first marker, z axes parallel: 3 rows; `angle`, `x`, `y`."""

    recipe = (in_plane(Z), *PARALLEL_Z)
    measures = ANGLE | {"x": in_plane(X, label="x"), "y": in_plane(Y, label="y")}


class Fixed(Joint):
    """The two marker frames coincide: 6 rows. Frames that differ at the start are brought together by assembly."""

    required = ("at",)
    recipe = (COINCIDENT, perpendicular(X, Y), *PARALLEL_Z)


class Universal(TwoAxes):
    """Two points stay together and the two z axes, of a Cardan joint's cross, perpendicular: 4 rows.

    The first axis, z of the first marker, is fixed to the first body; the second, z of the second, to the second body.
    """

    recipe = (COINCIDENT, perpendicular(Z, Z))

    def _correct(self, z1: Vector, z2: Vector) -> tuple[Vector, Vector]:
        cosine = dot(z1, z2)
        if abs(cosine) > PERPENDICULAR:
            raise ModelError(f"{self.label} has axes with cosine {cosine:.3g} between them. Give perpendicular axes.")
        return z1, sub(z2, scale(cosine, z1))
