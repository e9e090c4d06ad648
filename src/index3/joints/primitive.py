"""Single constraints as joints: a point in a plane, axes at an angle, a distance, one coordinate of a body."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING

from index3.bodies.body import Body
from index3.bodies.marker import as_number, as_positive, as_vector
from index3.bodies.pairs import distance
from index3.bodies.time_functions import complete, is_zero
from index3.errors import ModelError
from index3.fields import BODY, LENGTH, PAIR, RATIO, TEXT, TWO_POINTS, declare, number
from index3.joints.base import (
    ANGLE,
    DISPLACEMENT,
    IN_PLANE,
    PARALLEL_Z,
    Joint,
    Primitive,
    TwoAxes,
    X,
    Y,
    Z,
    as_pair,
    functions,
    in_plane,
    perpendicular,
)
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker, PointPair, TimeFunction

DIMENSIONS = {
    "x": "length", "y": "length", "z": "length", "angle": "angle", "e0": "1", "e1": "1", "e2": "1", "e3": "1",
}  # fmt: skip
"""Of coordinates of bodies; of others they are not known."""


@register
class PointInPlane(Joint):
    """The second point keeps `offset` [m] from the plane through the first point normal to its z axis: 1 row."""

    measures = IN_PLANE
    fields = declare(Joint.fields, offset=LENGTH)

    def __init__(
        self, name: str, first: BodyOrMarker, second: BodyOrMarker, *, offset: float = 0.0,
        at: ArrayLike | None = None, axis: ArrayLike | None = None, x: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self._set_name(name)
        self.offset = as_number(offset, self.label, "offset")
        self.recipe = (in_plane(Z, self.offset),)
        super().__init__(name, first, second, at=at, axis=axis, x=x)


@register
class InPlane(PointInPlane):
    """The primitive "point in plane" by its usual name: the same as `PointInPlane`."""


@register
class Inline(Joint):
    """The second point stays on the z axis of the first marker: 2 rows; coordinate `displacement`."""

    recipe = (in_plane(X), in_plane(Y))
    measures = DISPLACEMENT


@register
class RelativeCoordinate(Joint):
    """The second point minus the first, along z of the first marker, follows a function of time: 1 row.

    It keeps its initial value plus f(t) [m], so by default it is held. As in a `Motion`, `df` and `ddf` are the
    derivatives of a function f, taken by differences, with a warning, if they are missing.
    """

    recipe = (Primitive("in_plane", ("z1.d",), {"axis_first": Z, "driven": True}),)

    fields = declare(Joint.fields, functions("length"))

    def __init__(
        self, name: str, first: BodyOrMarker, second: BodyOrMarker, f: TimeFunction = 0.0,
        df: TimeFunction | None = None, ddf: TimeFunction | None = None, *,
        at: ArrayLike | None = None, axis: ArrayLike | None = None, x: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self._set_name(name)
        self.functions = complete(self.label, ("f", "df", "ddf"), (f, df, ddf))
        super().__init__(name, first, second, at=at, axis=axis, x=x)


@register
class RelativeAngularVelocity(Joint):
    """The angular velocity of the second body relative to the first, along z of the first marker, is f(t) [rad/s].

    One velocity-level row: it says nothing about the angle. `df` is the derivative of a function f, taken by
    differences, with a warning, if it is missing. Short form: two bodies and the `axis` in ground.
    """

    required = ("axis",)
    recipe = (Primitive("angular_rate", ("z1.w",), {"axis_first": Z, "driven": True}),)
    row_rate = 0

    fields = declare(Joint.fields, functions("angle/time", 2))

    def __init__(
        self, name: str, first: BodyOrMarker, second: BodyOrMarker, f: TimeFunction = 0.0,
        df: TimeFunction | None = None, *,
        at: ArrayLike | None = None, axis: ArrayLike | None = None, x: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self._set_name(name)
        self.functions = complete(
            self.label, ("f", "df", "ddf"), (f, df, 0.0)
        )  # a rate has one derivative in the equations
        super().__init__(name, first, second, at=at, axis=axis, x=x)


@register
class Orientation(Joint):
    """The axes of the two markers stay parallel, the points are free: 3 rows. Short form: two bodies alone."""

    required = ()
    recipe = (*PARALLEL_Z, perpendicular(X, Y))


@register
class ParallelAxes(Joint):
    """The z axes of the two markers stay parallel: 2 rows; coordinate `angle`. Short form: two bodies and `axis`."""

    required = ("axis",)
    recipe = PARALLEL_Z
    measures = ANGLE


@register
class PerpendicularAxes(TwoAxes):
    """The z axes of the two markers keep an angle with the given `cosine`, a right angle by default: 1 row."""

    fields = declare(TwoAxes.fields, cosine=RATIO)

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        *,
        cosine: float = 0.0,
        at: ArrayLike | None = None,
        axes: PointPair | None = None,
    ) -> None:
        self._set_name(name)
        self.cosine = as_number(cosine, self.label, "cosine")
        if abs(self.cosine) >= 1.0:
            raise ModelError(
                f"{self.label} has cosine {self.cosine}. One row cannot keep axes parallel: give -1 < cosine < 1."
            )
        self.recipe = (perpendicular(Z, Z, self.cosine),)
        super().__init__(name, first, second, at=at, axes=axes)


@register
class Distance(Joint):
    """Two points keep the distance `length` [m], by default the initial one: 1 row; coordinate `length`.

    With a function f the distance is `length` + f(t), as of a rope that a winch hauls in or of a stroke that is given;
    it has to stay positive. As in a `Motion`, `df` and `ddf` are its derivatives, taken by differences, with a warning,
    if they are missing. Short form: two bodies and `points` = (on the first, on the second) in ground at the initial
    configuration.
    """

    required = ("points",)
    symbol = "bar"
    fields = declare(PAIR, TWO_POINTS, functions("length"), length=LENGTH)

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        *,
        length: float | None = None,
        points: PointPair | None = None,
        f: TimeFunction = 0.0,
        df: TimeFunction | None = None,
        ddf: TimeFunction | None = None,
    ) -> None:
        self._set_name(name)
        self.functions = complete(self.label, ("f", "df", "ddf"), (f, df, ddf))
        bodies = self._short_form(first, second, points=points)
        if bodies is not None:
            start, end = (as_vector(p, self.label, "point") for p in as_pair(points, self.label, "points"))
            first, second = bodies[0].marker_at(start), bodies[1].marker_at(end)
        if length is None:
            length = distance(first.pose()[0], second.pose()[0])
        if length == 0.0:
            raise ModelError(f"{self.label} has length 0. Use Spherical to hold two points together.")
        self.length = as_positive(length, self.label, "length")
        driven = {} if all(map(is_zero, self.functions)) else {"driven": True}
        self.recipe = (Primitive("distance", ("length",), {"length": self.length, **driven}),)
        self.measures = {"length": self.recipe[0]}
        self._join(first, second)

    def explain(self, stage: str, t: float) -> str:
        """What the kernels found wrong."""
        return (
            f"{self.label} has no positive length at t = {t:.6g}: its f takes away all of {self.length:.6g} m. "
            "Stop f before."
        )


@register
class CoordinateConstraint(Joint):
    """One coordinate of a body keeps a `value`, by default the initial one: 1 row.

    `coordinate` is one of `body.coordinate_names`. It has `.body` instead of two markers.

    >>> from index3.bodies.point_mass import PointMass
    >>> CoordinateConstraint("level", PointMass("bob", 1.0), "z", 0.5).primitives()[0].fields
    {'index': 2, 'value': 0.5}
    """

    fields = declare(
        body=BODY, coordinate=TEXT, value=number(lambda place: DIMENSIONS.get(place.entry.get("coordinate")))
    )

    def __init__(self, name: str, body: Body, coordinate: str, value: float | None = None) -> None:
        self._set_name(name)
        if not isinstance(body, Body):
            raise ModelError(f"{self.label} cannot hold {short(body)}. Give a body.")
        if not isinstance(coordinate, str) or coordinate not in body.coordinate_names:
            known = f"Choose from {', '.join(body.coordinate_names)}." if body.size else "Ground does not move."
            raise ModelError(f"{self.label}: body '{body.name}' has no coordinate {short(coordinate)}. {known}")
        index = body.coordinate_names.index(coordinate)
        self.body, self.coordinate = body, coordinate
        self.value = as_number(body.q0[index] if value is None else value, self.label, "value")
        self.recipe = (Primitive("coordinate", (coordinate,), {"index": index, "value": self.value}),)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The one body it holds."""
        return (self.body,)
