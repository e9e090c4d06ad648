"""Joints and motions: recipes that list constraint primitives between two markers; no formulas.

Fields of a primitive speak of marker axes by number (0, 1, 2 = x, y, z). In the label of a row, x1 is the x axis of the
first marker, z2 the z axis of the second, d the second point minus the first: "x1.z2" and "x1.d" are dot products.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from reprlib import repr as short
from types import MappingProxyType
from typing import Any

from index3.algebra.vectors import dot, scale, sub
from index3.bodies.body import Body, check_pair, distance
from index3.bodies.marker import Marker, Vector, as_direction, as_number, as_positive, as_vector, check_name, frame
from index3.errors import ModelError

Function = Callable[[float], float]

X, Y, Z = 0, 1, 2
# Largest cosine between the axes given to a Universal: data printed with six digits pass; the second axis is corrected.
PERPENDICULAR = 1e-6
# Step of the differences that stand in for a motion's missing derivatives [s], the same at all times: for a motion of
# size and rate 1 the first derivative is good to about 1e-12, the second to about 1e-9 (rounding, eps / h^2).
DIFFERENCE_STEP = 1e-3


@dataclass(frozen=True)
class Primitive:
    """One constraint: its kind, a label for each of its rows, and the numbers it needs."""

    kind: str
    labels: tuple[str, ...]
    fields: dict[str, Any] = field(default_factory=dict)


def perpendicular(first: int, second: int, cosine: float = 0.0) -> Primitive:
    """An axis of the first marker times an axis of the second equals `cosine`."""
    label = f"{'xyz'[first]}1.{'xyz'[second]}2"
    return Primitive("perpendicular", (label,), {"axis_first": first, "axis_second": second, "cosine": cosine})


def in_plane(first: int, offset: float = 0.0, label: str = "") -> Primitive:
    """An axis of the first marker times (second point minus first point) equals `offset`."""
    return Primitive("in_plane", (label or f"{'xyz'[first]}1.d",), {"axis_first": first, "offset": offset})


COINCIDENT = Primitive("coincident", ("x", "y", "z"))  # second point minus first, ground axes
PARALLEL_Z = (perpendicular(X, Z), perpendicular(Y, Z))
ANGLE = {"angle": Primitive("angle", ("angle",), {"offset": 0.0})}
DISPLACEMENT = {"displacement": in_plane(Z, label="displacement")}


class Joint:
    """Two markers held together by a list of primitives.

    Short form: two bodies, the point `at` and, where the joint has one, the `axis`, in ground at the initial
    configuration; both markers get that pose (z along `axis`, x along `x` if given). Long form: two markers.

    Attributes
    ----------
    name : str
    first, second : Marker; coordinates and reactions are of the second body relative to the first

    Raises
    ------
    ModelError : names the joint and says what to give instead.
    """

    element = "joint"
    required: tuple[str, ...] = ("at", "axis")
    recipe: tuple[Primitive, ...] = ()
    measures: Mapping[str, Primitive] = MappingProxyType({})

    def __init__(self, name: str, first: Any, second: Any, *, at: Any = None, axis: Any = None, x: Any = None) -> None:
        self._set_name(name)
        if self._short_form(first, second, at=at, axis=axis, x=x):
            point, axes = as_vector(at, self.label, "at"), frame(axis, x, self.label, "axis")
            first, second = first.marker_at_pose(point, axes), second.marker_at_pose(point, axes)
        self._join(first, second)

    def _set_name(self, name: str) -> None:
        check_name(name, type(self).__name__)
        self.name = name

    def _short_form(self, first: Any, second: Any, **given: Any) -> bool:
        """True for two bodies with all that is required, False for two markers with nothing else."""
        remedy = " and ".join(f"{key}=..." for key in self.required)
        settings = [key for key, value in given.items() if value is not None]
        if check_pair(self.label, first, second, remedy):
            for key in self.required:
                if key not in settings:
                    raise ModelError(f"{self.label} joins two bodies without {key}. Give {remedy}, or two markers.")
            return True
        if settings:
            raise ModelError(
                f"{self.label} has two markers and also {' and '.join(settings)}. "
                "Leave that out, since markers carry points and axes, or give two bodies."
            )
        return False

    def _join(self, first: Marker, second: Marker) -> None:
        """Keep the markers, unless a row needs the axes of a point mass."""
        points = [marker.body.name for marker in (first, second) if marker.body.kind == "point"]
        kinds = {primitive.kind for primitive in self.recipe}
        if points and ("perpendicular" in kinds or "knife_edge" in kinds):
            raise ModelError(
                f"{self.label} needs the axes of PointMass '{points[0]}', which has no orientation. "
                "Use a RigidBody there, or a joint of points: Spherical, Distance, PointInPlane."
            )
        if first.body.kind == "point" and "in_plane" in kinds:
            advice = "Put ground or a body with axes first." if len(points) == 2 else "Swap first and second."
            raise ModelError(
                f"{self.label} takes its plane from PointMass '{points[0]}', which has no orientation. {advice}"
            )
        self.first, self.second = first, second

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {', '.join(repr(body.name) for body in self.bodies)})"

    @property
    def label(self) -> str:
        """How messages call this joint, for example "Revolute 'crank_pin'"."""
        return f"{type(self).__name__} '{self.name}'"

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies it acts on."""
        return (self.first.body, self.second.body)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that can be measured or driven."""
        return tuple(self.measures)

    @property
    def row_labels(self) -> tuple[str, ...]:
        """Labels of all rows, in the order of the primitives."""
        return tuple(label for primitive in self.recipe for label in primitive.labels)

    def primitives(self) -> list[Primitive]:
        """The constraints of this joint."""
        return list(self.recipe)

    def coordinate_primitive(self, name: str) -> Primitive:
        """The primitive that measures the coordinate `name` from the markers, so not yet zero at assembly."""
        if name not in self.measures:
            known = f"Its coordinates: {', '.join(self.measures)}." if self.measures else "It has none."
            raise ModelError(f"{self.label} has no coordinate {short(name)}. {known}")
        return self.measures[name]


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


class KnifeEdge(Joint):
    """A blade on the second body that cannot slide sideways on the first: one velocity-level row.

    `axis` is the direction across the blade, fixed in the second body; along the blade and about it the body is free.
    """

    recipe = (Primitive("knife_edge", ("sideways",), {"axis_second": Z}),)


class PointInPlane(Joint):
    """The second point keeps `offset` [m] from the plane through the first point normal to its z axis: 1 row."""

    def __init__(self, name: str, first: Any, second: Any, *, offset: float = 0.0, **form: Any) -> None:
        self._set_name(name)
        self.offset = as_number(offset, self.label, "offset")
        self.recipe = (in_plane(Z, self.offset),)
        super().__init__(name, first, second, **form)


class TwoAxes(Joint):
    """Base of joints with an axis on each body; short form: bodies, `at`, and `axes` = (first, second) in ground."""

    required = ("at", "axes")

    def __init__(self, name: str, first: Any, second: Any, *, at: Any = None, axes: Any = None) -> None:
        self._set_name(name)
        if self._short_form(first, second, at=at, axes=axes):
            point = as_vector(at, self.label, "at")
            z1, z2 = self._correct(*(as_direction(a, self.label, "axis") for a in as_pair(axes, self.label, "axes")))
            first = first.marker_at_pose(point, frame(z1, None, self.label))
            second = second.marker_at_pose(point, frame(z2, None, self.label))
        self._join(first, second)

    def _correct(self, z1: Vector, z2: Vector) -> tuple[Vector, Vector]:
        """The axes that the joint starts with."""
        return z1, z2


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


class PerpendicularAxes(TwoAxes):
    """The z axes of the two markers keep an angle with the given `cosine`, a right angle by default: 1 row."""

    def __init__(self, name: str, first: Any, second: Any, *, cosine: float = 0.0, **form: Any) -> None:
        self._set_name(name)
        self.cosine = as_number(cosine, self.label, "cosine")
        if abs(self.cosine) >= 1.0:
            raise ModelError(
                f"{self.label} has cosine {self.cosine}. One row holds no axes parallel: give -1 < cosine < 1."
            )
        self.recipe = (perpendicular(Z, Z, self.cosine),)
        super().__init__(name, first, second, **form)


class Distance(Joint):
    """Two points keep the distance `length` [m], by default the initial one: 1 row; coordinate `length`.

    Short form: two bodies and `points` = (on the first, on the second) in ground at the initial configuration.
    """

    required = ("points",)

    def __init__(self, name: str, first: Any, second: Any, *, length: float | None = None, points: Any = None) -> None:
        self._set_name(name)
        if self._short_form(first, second, points=points):
            start, end = (as_vector(p, self.label, "point") for p in as_pair(points, self.label, "points"))
            first, second = first.marker_at(start), second.marker_at(end)
        if length is None:
            length = distance(first.pose()[0], second.pose()[0])
        if length == 0.0:
            raise ModelError(f"{self.label} has length 0. Use Spherical to hold two points together.")
        self.length = as_positive(length, self.label, "length")
        self.recipe = (Primitive("distance", ("length",), {"length": self.length}),)
        self.measures = {"length": self.recipe[0]}
        self._join(first, second)


class CoordinateConstraint(Joint):
    """One coordinate of a body keeps a `value`, by default the initial one: 1 row.

    `coordinate` is one of `body.coordinate_names`. It has `.body` instead of two markers.

    >>> from index3.bodies.point_mass import PointMass
    >>> CoordinateConstraint("level", PointMass("bob", 1.0), "z", 0.5).primitives()[0].fields
    {'index': 2, 'value': 0.5}
    """

    def __init__(self, name: str, body: Body, coordinate: str, value: float | None = None) -> None:
        self._set_name(name)
        if not isinstance(body, Body):
            raise ModelError(f"{self.label} cannot hold {short(body)}. Give a body.")
        if coordinate not in body.coordinate_names:
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


def as_pair(value: Any, owner: str, what: str) -> tuple[Any, Any]:
    """Two things of any kind."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ModelError(f"{owner} has {what} {short(value)}. Give two: {what}=(first, second).") from None
    return first, second


@dataclass(frozen=True)
class Constant:
    """A function of time with one value."""

    value: float

    def __call__(self, t: float) -> float:
        """The value."""
        return self.value


@dataclass(frozen=True)
class Difference:
    """First or second derivative of `f` by five-point central differences with `DIFFERENCE_STEP`."""

    f: Callable[[float], float]
    order: int = 1

    def __call__(self, t: float) -> float:
        """The derivative at `t`; `f` is evaluated up to two steps before and after."""
        h = DIFFERENCE_STEP
        far_left, left, right, far_right = (self.f(t + k * h) for k in (-2, -1, 1, 2))
        if self.order == 1:
            return (far_left - 8.0 * left + 8.0 * right - far_right) / (12.0 * h)
        return (16.0 * (left + right) - far_left - far_right - 30.0 * self.f(t)) / (12.0 * h * h)


class Motion:
    """A coordinate of a joint follows a function of time.

    Parameters
    ----------
    name : str
    joint : Joint with a coordinate
    f, df, ddf : functions of t [s], or numbers for constants: value, rate and second derivative. Missing derivatives
        are taken by differences with a step of 0.001 s, so f must be smooth and defined 0.002 s beyond the run; this
        warns, except for constants.
    coordinate : name of the joint's coordinate; needed only if the joint has several

    Attributes `name`, `joint`, `coordinate` and `functions` = (f, df, ddf).

    Raises
    ------
    ModelError : names the motion; no coordinate, or which one is not clear, or not a function.
    """

    element = "motion"

    def __init__(
        self, name: str, joint: Joint, f: Any, df: Any = None, ddf: Any = None, *, coordinate: str | None = None
    ) -> None:
        check_name(name, "Motion")
        self.name = name
        if not isinstance(joint, Joint):
            raise ModelError(f"{self.label} cannot drive {short(joint)}. Give a joint.")
        if not joint.coordinates:
            raise ModelError(f"{self.label}: {joint.label} has no coordinate to drive. Use a joint that has one.")
        if coordinate is None and len(joint.coordinates) > 1:
            choice = " or ".join(f"coordinate='{key}'" for key in joint.coordinates)
            raise ModelError(f"{self.label}: {joint.label} has several coordinates. Give {choice}.")
        self.joint = joint
        self.coordinate = joint.coordinates[0] if coordinate is None else coordinate
        joint.coordinate_primitive(self.coordinate)  # raises if there is no such coordinate
        self.functions = self._complete(f, df, ddf)

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {self.joint.name!r}, coordinate={self.coordinate!r})"

    @property
    def label(self) -> str:
        """How messages call this motion."""
        return f"Motion '{self.name}'"

    def _complete(self, f: Any, df: Any, ddf: Any) -> tuple[Function, Function, Function]:
        """All three functions; those missing are constant where that is sure, else differences, with a warning."""
        value = self._function(f, "f")
        rate = derivative(value) if df is None else self._function(df, "df")
        if ddf is not None:
            second = self._function(ddf, "ddf")
        else:
            second = derivative(value, 2) if isinstance(rate, Difference) else derivative(rate)
        missing = [key for key, g in (("df", rate), ("ddf", second)) if isinstance(g, Difference)]
        if missing:
            warnings.warn(
                f"{self.label} has no {' and '.join(missing)}: taken by differences with step {DIFFERENCE_STEP} s. "
                "Give exact derivatives for full accuracy.",
                stacklevel=3,
            )
        return value, rate, second

    def _function(self, g: Any, what: str) -> Function:
        if isinstance(g, Real):
            return Constant(as_number(g, self.label, what))
        if not callable(g):
            raise ModelError(f"{self.label} has {what} {short(g)}. Give a function of t, or a number.")
        return g


def derivative(f: Function, order: int = 1) -> Function:
    """A derivative of a function of time: exact for constants, differences otherwise."""
    return Constant(0.0) if isinstance(f, Constant) else Difference(f, order)
