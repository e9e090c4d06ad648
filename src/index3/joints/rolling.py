"""Constraints on velocities: blades, and wheels that roll without slip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.vectors import dot
from index3.bodies.marker import Vector, as_direction, as_number, as_positive, as_vector, frame
from index3.constraints.wheel import arm
from index3.errors import ModelError
from index3.fields import DIRECTION, LENGTH, PAIR, POINT, declare, short_form
from index3.joints.base import Joint, Primitive, X, Y, Z, perpendicular
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker

# Largest cosine between the axis of a standing cylinder and the normal of its plane, and smallest sine for a disc.
LEANING = 1e-6


@register
class KnifeEdge(Joint):
    """A blade on the second body that cannot slide sideways on the first: one velocity-level row.

    `axis` is the direction across the blade, fixed in the second body; along the blade and about it the body is free.
    """

    recipe = (Primitive("knife_edge", ("sideways",), {"axis_second": Z}),)


class Rolling(Joint):
    """Base of wheels (second body) that touch a plane (first body) and roll on it without slip.

    z of the first marker is the normal of the plane, which passes through its point; z of the second is the axis of the
    wheel, its point the centre. Short form: two bodies, `at` = the centre, `axis` and `normal` in ground; the plane
    then passes through the lowest point of the wheel. Without slip, the contact point moves with the plane.
    """

    required: tuple[str, ...] = ("at", "axis", "normal")
    fields = declare(
        PAIR, radius=LENGTH, at=short_form(POINT), normal=short_form(DIRECTION), axis=short_form(DIRECTION)
    )

    def __init__(
        self, name: str, first: BodyOrMarker, second: BodyOrMarker, radius: float, tread: float, *,
        at: ArrayLike | None = None, axis: ArrayLike | None = None, normal: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self._set_name(name)
        size = {"radius": radius, "tread": tread}
        along = tuple(Primitive("rolling", (f"{'xy'[k]}1.slip",), {"axis_first": k, **size}) for k in (X, Y))
        self.recipe = (Primitive("touching", ("height",), size), *along, *self.recipe)
        bodies = self._short_form(first, second, at=at, axis=axis, normal=normal)
        if bodies is not None:
            centre = as_vector(at, self.label, "at")
            k, n = as_direction(normal, self.label, "normal"), self._axis(axis)
            self._check_lean(k, n)
            contact = centre + np.array(arm(radius, tread, k, n))
            second = bodies[1].marker_at_pose(centre, frame(n, None, self.label))
            first = bodies[0].marker_at_pose(contact, frame(k, None, self.label))
        self._join(first, second)

    def solids(self) -> list[dict[str, Any]]:
        """The wheel and the plane it rolls on."""
        return [{"marker": 1, **self._wheel()}, {"marker": 0, "type": "plane"}]

    def _wheel(self) -> dict[str, Any]:
        """The wheel as a solid."""
        raise NotImplementedError

    def _axis(self, axis: Any) -> Vector:
        """The axis of the wheel; any for a ball."""
        return (0.0, 0.0, 1.0) if axis is None else as_direction(axis, self.label, "axis")

    def _check_lean(self, k: Vector, n: Vector) -> None:
        """Raise unless a wheel with this axis can roll on a plane with this normal."""

    def explain(self, stage: str, t: float) -> str:
        """What the kernels found wrong."""
        return f"{self.label} lies flat on its plane at t = {t:.6g}, where it has no lowest point and cannot roll."


@register
class RollingDisc(Rolling):
    """A wheel that rolls without slip and may lean and turn: 1 row for the contact, 2 velocity-level rows.

    Parameters
    ----------
    name, first, second : as in every joint; `first` carries the plane, `second` is the wheel
    radius : float, of the circle in the middle of the wheel [m]
    tread : float, radius of a round tread on that circle [m]; 0 for a thin disc. The wheel measures radius + tread.
    at, axis, normal : short form: centre, axis of the wheel and normal of the plane, in ground
    """

    fields = declare(Rolling.fields, tread=LENGTH)

    def __init__(
        self, name: str, first: BodyOrMarker, second: BodyOrMarker, *, radius: float, tread: float = 0.0,
        at: ArrayLike | None = None, axis: ArrayLike | None = None, normal: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self._set_name(name)
        self.radius, self.tread = as_positive(radius, self.label, "radius"), as_number(tread, self.label, "tread")
        if self.tread < 0.0:
            raise ModelError(f"{self.label} has tread {self.tread}. Give 0 or a positive number.")
        super().__init__(name, first, second, self.radius, self.tread, at=at, axis=axis, normal=normal)

    def _wheel(self) -> dict[str, Any]:
        length = max(2.0 * self.tread, 0.06 * self.radius)
        return {"type": "cylinder", "radius": self.radius + self.tread, "length": length}

    def _check_lean(self, k: Vector, n: Vector) -> None:
        if 1.0 - abs(dot(k, n)) < LEANING**2:
            raise ModelError(f"{self.label} lies flat on its plane. Give an axis across the normal, or leaning.")


class RollingRound(Rolling):
    """Base of what is round where it touches: the contact is `radius` below the centre, however the axis leans."""

    def __init__(
        self, name: str, first: Any, second: Any, *, radius: float,
        at: Any = None, axis: Any = None, normal: Any = None,
    ) -> None:  # fmt: skip
        self._set_name(name)
        self.radius = as_positive(radius, self.label, "radius")
        super().__init__(name, first, second, 0.0, self.radius, at=at, axis=axis, normal=normal)


@register
class RollingBall(RollingRound):
    """A ball that rolls without slip: 1 row for the contact, 2 velocity-level rows; it may spin about the normal.

    Short form: two bodies with `at`, the centre, and `normal`, in ground; `radius` in m.
    """

    required = ("at", "normal")

    def _wheel(self) -> dict[str, Any]:
        return {"type": "sphere", "radius": self.radius}


@register
class RollingCylinder(RollingRound):
    """A cylinder that rolls without slip on a line of contact: it stays on its side and cannot turn about the normal.

    2 rows (contact, axis parallel to the plane) and 3 velocity-level rows: one degree of freedom is left. Short form:
    two bodies with `at`, a point of the axis, `axis` and `normal` in ground; `radius` in m.
    """

    recipe = (perpendicular(Z, Z), Primitive("angular_rate", ("z1.w",), {"axis_first": Z}))

    def _wheel(self) -> dict[str, Any]:
        return {"type": "cylinder", "radius": self.radius, "length": 1.5 * self.radius}

    def _check_lean(self, k: Vector, n: Vector) -> None:
        if abs(dot(k, n)) > LEANING:
            raise ModelError(f"{self.label} does not lie on its plane. Give an axis perpendicular to the normal.")
