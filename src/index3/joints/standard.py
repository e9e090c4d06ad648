"""The joints of machines: spherical, revolute, prismatic, cylindrical, planar, universal, fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.vectors import cross, dot, scale, skew, sub
from index3.bodies.marker import Marker, Vector, as_flag, frame
from index3.errors import ModelError
from index3.fields import FLAG, declare
from index3.joints.base import (
    ANGLE,
    COINCIDENT,
    DISPLACEMENT,
    IN_PLANE,
    PARALLEL_Z,
    Joint,
    Primitive,
    TwoAxes,
    X,
    Y,
    Z,
    in_plane,
    perpendicular,
)
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker

# Largest cosine between the axes given to a Universal: data printed with six digits pass; the second axis is corrected.
PERPENDICULAR = 1e-6
# Cosine of the angle between the shafts of a constant-velocity joint beyond which they count as folded back.
FOLDED = -0.99
# Sine of the angle between the axes of two beams from which on they meet at a corner: common gradients are soft there.
CORNER = 0.05
EQUAL_TURN = Primitive("constant_velocity", ("turn",))


@register
class Spherical(Joint):
    """Two points stay together: 3 rows.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.point_mass import PointMass
    >>> Spherical("pin", Ground(), PointMass("bob", 1.0), at=(0, 0, 0)).row_labels
    ('x', 'y', 'z')
    """

    required = ("at",)
    symbol = "ball"
    recipe = (COINCIDENT,)


@register
class PointCoincidence(Spherical):
    """The primitive "coincident points" as a joint: the same as `Spherical`."""


@register
class Revolute(Joint):
    """Two points stay together and the z axes parallel: 5 rows; coordinate `angle`."""

    symbol = "hinge"
    recipe = (COINCIDENT, *PARALLEL_Z)
    measures = ANGLE


@register
class Prismatic(Joint):
    """The second body slides along z of the first marker without turning: 5 rows; coordinate `displacement`."""

    symbol = "slider"
    recipe = (in_plane(X), in_plane(Y), *PARALLEL_Z, perpendicular(X, Y))
    measures = DISPLACEMENT


@register
class Cylindrical(Joint):
    """The second body slides along z of the first marker and turns about it: 4 rows; `angle`, `displacement`."""

    symbol = "sleeve"
    recipe = (in_plane(X), in_plane(Y), *PARALLEL_Z)
    measures = ANGLE | DISPLACEMENT


@register
class Planar(Joint):
    """The second point stays in the x-y plane of the first marker, z axes parallel: 3 rows; `angle`, `x`, `y`."""

    symbol = "plate"
    recipe = (in_plane(Z), *PARALLEL_Z)
    measures = ANGLE | IN_PLANE


@register
class Fixed(Joint):
    """The two marker frames coincide: 6 rows. Frames that differ at the start are brought together by assembly.

    With `clamp` it holds all that a node of a beam in absolute nodal coordinates has: besides the position all position
    gradients, where otherwise the section may stretch and shear. `force` and `torque` are then those of all its rows.
    Of an `AncfCable`, which has no axes across its tangent, it holds point and tangent: 5 rows.
    """

    required = ("at",)
    symbol = "weld"
    recipe: tuple[Primitive, ...] = (COINCIDENT, perpendicular(X, Y), *PARALLEL_Z)
    fields = declare(Joint.fields, clamp=FLAG)

    def _join(self, first: Any, second: Any) -> None:
        lines = [marker.body.line for marker in (first, second)]
        if not any(lines):
            super()._join(first, second)
            return
        line, other = (first, second) if lines[0] else (second, first)
        if not other.oriented:
            raise ModelError(
                f"{self.label} holds the tangent of {line.body.label} to {other.body.label}, which has no orientation. "
                "Put a RigidBody between them, or use a joint of points: Spherical."
            )
        # x of both markers along the tangent as it is to be, so that x of the line alone is asked for
        along, across = line.with_axes(np.eye(3)), other.with_axes(other.axes @ line.axes.T)
        self.recipe = (COINCIDENT, *(perpendicular(X, k) if lines[0] else perpendicular(k, X) for k in (Y, Z)))
        self.first, self.second = (along, across) if lines[0] else (across, along)

    def __init__(
        self, name: str, first: BodyOrMarker, second: BodyOrMarker, *,
        at: ArrayLike | None = None, axis: ArrayLike | None = None, x: ArrayLike | None = None, clamp: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name, first, second, at=at, axis=axis, x=x)
        self.clamp = as_flag(clamp, self.label, "clamp")
        self.arms: tuple[Marker, ...] = ()
        if not self.clamp:
            return
        ends = (self.first, self.second)
        both = [arms for end in ends if len(arms := end.body.clamp_arms(end))]
        if not both:
            raise ModelError(f"{self.label} has clamp, and neither body has gradients. Leave clamp out.")
        if len(both) == 2 and _sine(both[0][0], both[1][0]) > CORNER:
            raise ModelError(
                f"{self.label} has clamp, and the axes of its beams meet at an angle: with common gradients the shear "
                "of a node would open the corner. Leave clamp out."
            )
        arms = both[0]
        self.arms = tuple(end.body.marker_beside(end, arm) for arm in arms for end in ends)
        pairs = (
            Primitive("coincident", tuple(f"arm{k}.{c}" for c in "xyz"), {"pair": k}) for k in range(1, len(arms) + 1)
        )
        self.recipe = (COINCIDENT, *pairs)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Its two markers, and with `clamp` those at the ends of arms along the gradients."""
        return (self.first, self.second, *self.arms)


def _sine(a: np.ndarray, b: np.ndarray) -> float:
    """Sine of the angle between two directions."""
    return float(np.linalg.norm(np.cross(a, b)) / (np.linalg.norm(a) * np.linalg.norm(b)))


@register
class Universal(TwoAxes):
    """Two points stay together and the two z axes, of a Cardan joint's cross, perpendicular: 4 rows.

    The first axis, z of the first marker, is fixed to the first body; the second, z of the second, to the second body.
    Results have its two `angles`.
    """

    symbol = "cross"
    crossed = True
    recipe = (COINCIDENT, perpendicular(Z, Z))

    def _frames(self, z1: Vector, z2: Vector) -> tuple[np.ndarray, np.ndarray]:
        cosine = dot(z1, z2)
        if abs(cosine) > PERPENDICULAR:
            raise ModelError(f"{self.label} has axes with cosine {cosine:.3g} between them. Give perpendicular axes.")
        return super()._frames(z1, sub(z2, scale(cosine, z1)))


@register
class ConstantVelocity(TwoAxes):
    """Two shafts that meet in a point and turn equally, at any angle between them: 4 rows.

    z of each marker is the axis of its shaft, both in the sense from the first body to the second; the angular
    velocities of the shafts about their axes are equal, relative to a housing that holds both. Short form: `axes` =
    (first shaft, second shaft) in ground. Straight shafts may bend by less than 180 degrees.
    """

    recipe: tuple[Primitive, ...] = (COINCIDENT, EQUAL_TURN)

    def _frames(self, z1: Vector, z2: Vector) -> tuple[np.ndarray, np.ndarray]:
        cosine = dot(z1, z2)
        if cosine < FOLDED:
            raise ModelError(
                f"{self.label} has shafts with cosine {cosine:.3g} between them, folded back on each other. "
                "Give both axes in the sense from the first body to the second."
            )
        axes = frame(z1, None, self.label)
        v = cross(z1, z2)  # turn the axes of the first by the smallest rotation from z1 to z2
        bend = cosine * np.eye(3) + np.reshape(skew(v), (3, 3)) + np.outer(v, v) / (1.0 + cosine)
        return axes, bend @ axes


@register
class ShaftCoupling(ConstantVelocity):
    """Two shafts turn equally about their axes, at any angle between them and wherever they are: 1 row.

    The last row of a `ConstantVelocity` alone; `at` is where its markers are, which moves nothing. `torque` is what the
    shafts transmit.
    """

    recipe = (EQUAL_TURN,)
