"""What every joint is: two markers and a list of constraint primitives; no formulas.

Fields of a primitive speak of marker axes by number (0, 1, 2 = x, y, z). In the label of a row, x1 is the x axis of the
first marker, z2 the z axis of the second, d the second point minus the first: "x1.z2" and "x1.d" are dot products.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import Marker, Vector, as_direction, as_vector, check_name, frame
from index3.bodies.pairs import check_pair, joint_point
from index3.bodies.time_functions import derivative
from index3.errors import ModelError
from index3.fields import FORM, PAIR, POINT, Dimension, Field, Fields, declare, points, short_form, time_function
from index3.record import Record, fresh
from index3.registry import PRIMITIVES, Element

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker, PointPair

X, Y, Z = 0, 1, 2


class Primitive(Record, frozen=True, eq=True):
    """One constraint: its kind, a label for each of its rows, and the numbers it needs."""

    kind: str
    labels: tuple[str, ...]
    fields: dict[str, Any] = fresh(default_factory=dict)


def axes_of(primitive: Primitive) -> tuple[str, ...]:
    """Which markers' axes its rows use: none, "first", or both; the rows of users ask for none."""
    if primitive.kind == "user":
        return ()
    if primitive.kind not in PRIMITIVES:
        raise ModelError(f"There is no primitive '{primitive.kind}'. Register the module of its kernels.")
    return getattr(PRIMITIVES[primitive.kind], "AXES", ())


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
IN_PLANE = {"x": in_plane(X, label="x"), "y": in_plane(Y, label="y")}


class Joint(Element):
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

    A class has `recipe`, its primitives (set in `__init__` if it depends on arguments); `measures`, its coordinates;
    `required`, what the short form needs; and what every `index3.registry.Element` says. Symbols: "dot", "hinge",
    "ball", "cross", "slider", "sleeve", "weld", "plate", "bar", "rope".
    """

    element = "joint"
    fields = declare(PAIR, FORM)
    symbol = "dot"
    page = "elements/joints.md"
    required: tuple[str, ...] = ("at", "axis")
    recipe: tuple[Primitive, ...] = ()
    measures: Mapping[str, Primitive] = MappingProxyType({})
    crossed = False  # a cross: one body turns about z of the first marker, the other about z of the second
    row_rate = 1  # of a joint with `functions`: which of them is the rate of its row

    @classmethod
    def check_declaration(cls) -> None:
        """Raise a ModelError if the class lacks something."""
        super().check_declaration()
        if not cls.recipe and cls.__init__ is Joint.__init__:
            raise ModelError("it has no recipe. Give the class a tuple of primitives.")

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        *,
        at: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        x: ArrayLike | None = None,
    ) -> None:
        self._set_name(name)
        bodies = self._short_form(first, second, at=at, axis=axis, x=x)
        if bodies is not None:
            axes = frame(axis, x, self.label, "axis")
            point = None  # where the place does not matter
            if at is not None:
                point = self._at(*bodies, at)
            first, second = (body.marker_at_pose(body.pose()[0] if point is None else point, axes) for body in bodies)
        self._join(first, second)

    def _set_name(self, name: str) -> None:
        check_name(name, type(self).__name__)
        self.name = name

    def _short_form(
        self, first: BodyOrMarker, second: BodyOrMarker, **given: ArrayLike | PointPair | None
    ) -> tuple[Body, Body] | None:
        """The two bodies, with all that is required; None for two markers with nothing else."""
        remedy = " and ".join(f"{key}=..." for key in self.required)
        settings = [key for key, value in given.items() if value is not None]
        check_pair(self.label, first, second, remedy)
        if isinstance(first, Body) and isinstance(second, Body):
            for key in self.required:
                if key not in settings:
                    raise ModelError(f"{self.label} joins two bodies without {key}. Give {remedy}, or two markers.")
            return first, second
        if settings:
            raise ModelError(
                f"{self.label} has two markers and also {' and '.join(settings)}. "
                "Leave that out, since markers carry points and axes, or give two bodies."
            )
        return None

    def _at(self, first: Body, second: Body, at: ArrayLike | None) -> np.ndarray:
        """The point of the short form, as the bodies take it."""
        try:
            return joint_point(first, second, as_vector(at, self.label, "at"))
        except ModelError as error:
            raise ModelError(f"{self.label} cannot be placed. {error}") from None

    def _join(self, first: Any, second: Any) -> None:
        """Keep the two markers, unless a row needs the axes of a point mass."""
        points = [marker.body.label for marker in (first, second) if not marker.oriented]
        axes = {side for primitive in self.recipe for side in axes_of(primitive)}
        if points and "second" in axes:
            raise ModelError(
                f"{self.label} needs the axes of {points[0]}, which has no orientation. "
                "Use a RigidBody there, or a joint of points: Spherical, Distance, PointInPlane."
            )
        if not first.oriented and "first" in axes:
            what = "curve" if any(primitive.kind == "on_curve" for primitive in self.recipe) else "plane"
            advice = "Put ground or a body with axes first." if len(points) == 2 else "Swap first and second."
            raise ModelError(f"{self.label} takes its {what} from {points[0]}, which has no orientation. {advice}")
        self.first, self.second = first, second

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {', '.join(repr(body.name) for body in self.bodies)})"

    @property
    def label(self) -> str:
        """How messages call this joint, for example "Revolute 'crank_pin'"."""
        return f"{type(self).__name__} '{self.name}'"

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it ties, the first two of them `first` and `second`."""
        return (self.first, self.second)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies it acts on."""
        return tuple(dict.fromkeys(marker.body for marker in self.markers))

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
        if not isinstance(name, str) or name not in self.measures:
            known = f"Its coordinates: {', '.join(self.measures)}." if self.measures else "It has none."
            raise ModelError(f"{self.label} has no coordinate {short(name)}. {known}")
        return self.measures[name]


class TwoAxes(Joint):
    """Base of joints with an axis on each body; short form: bodies, `at`, and `axes` = (first, second) in ground."""

    required = ("at", "axes")
    fields = declare(PAIR, at=short_form(POINT), axes=short_form(points("1", 3, 2, 2)))

    def __init__(
        self, name: str, first: BodyOrMarker, second: BodyOrMarker, *,
        at: ArrayLike | None = None, axes: PointPair | None = None,
    ) -> None:  # fmt: skip
        self._set_name(name)
        bodies = self._short_form(first, second, at=at, axes=axes)
        if bodies is not None:
            point = self._at(*bodies, at)
            z1, z2 = (as_direction(a, self.label, "axis") for a in as_pair(axes, self.label, "axes"))
            first_axes, second_axes = self._frames(z1, z2)
            first, second = bodies[0].marker_at_pose(point, first_axes), bodies[1].marker_at_pose(point, second_axes)
        self._join(first, second)

    def _frames(self, z1: Vector, z2: Vector) -> tuple[np.ndarray, np.ndarray]:
        """The axes of the two markers that the joint starts with."""
        return frame(z1, None, self.label), frame(z2, None, self.label)


def functions(dimension: Dimension, count: int = 3) -> Fields:
    """The fields f, df and ddf of an element with `functions`."""
    return {key: function(k, dimension) for k, key in enumerate(("f", "df", "ddf")[:count])}


def function(index: int, dimension: Dimension) -> Field:
    """One of them; what follows from those before it is not written."""

    def get(element: Any) -> Any:
        value, rate, second = element.functions
        if index == 0:
            return value
        if index == 1:
            return None if rate == derivative(value) else rate
        follows = derivative(value, 2) if rate == derivative(value) else derivative(rate)
        return None if second == follows else second

    def by_time(place: Any) -> str | None:
        base = dimension(place) if callable(dimension) else dimension
        return base if index == 0 else f"{base}/time^{index}"

    return time_function(by_time).found(get)


def as_pair(value: Any, owner: str, what: str) -> tuple[Any, Any]:
    """Two things of any kind."""
    try:
        first, second = value
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner} has {what} {short(value)}. Give two: {what}=(first, second).") from None
    return first, second
