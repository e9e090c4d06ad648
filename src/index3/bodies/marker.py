"""Markers: a point and three axes on a body, the only thing joints and forces know of bodies.

Also the readers of a user's words and numbers (`check_name`, `as_number`, `as_vector`, `frame`, ...), used by every
element: each returns clean values or raises a `ModelError` that begins with `owner`, for example "RigidBody 'crank'".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from index3.algebra.vectors import cross, dot
from index3.element_type import ElementType
from index3.errors import ModelError
from index3.record import Record

if TYPE_CHECKING:
    from index3.bodies.body import Body

Vector = tuple[float, float, float]

# Largest error of x.x = 1 and x.y = 0 in axes given as numbers: far above rounding, far below any typing error.
ORTHONORMAL = 1e-9
# Sine of the angle below which two directions count as parallel: what one has across the other is mostly rounding.
PARALLEL = 1e-9


def check_name(name: Any, word: str) -> None:
    """Raise unless `name` can name an element: a string, not empty, without a dot, not "ground"."""
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"{word} has the name {short(name)}. Give a string that is not empty.")
    if "." in name:
        raise ModelError(f"{word} has the name '{name}'. Leave out the dot: it separates a name from a quantity.")
    if name == "ground":
        raise ModelError(f"{word} has the name 'ground', which belongs to model.ground. Choose another name.")


def as_number(value: Any, owner: str, what: str) -> float:
    """One finite number as a float."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner} has {what} {short(value)}. Give a number.") from None
    if not math.isfinite(number):
        raise ModelError(f"{owner} has {what} {number}. Give a finite number.")
    return number


def as_flag(value: Any, owner: str, what: str) -> bool:
    """True or False; words such as "no" would count as True."""
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise ModelError(f"{owner} has {what} {short(value)}. Give True or False.")
    return bool(value)


def as_choice(value: Any, owner: str, what: str, words: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in words:
        raise ModelError(f"{owner} has {what} {short(value)}. Give {' or '.join(map(repr, words))}.")
    return value


def length_of(value: Any) -> int:
    """How many things this holds; none if it is no list."""
    try:
        return 0 if isinstance(value, str) else len(value)
    except TypeError:
        return 0


def as_positive(value: Any, owner: str, what: str) -> float:
    """One finite number above zero."""
    number = as_number(value, owner, what)
    if number <= 0.0:
        raise ModelError(f"{owner} has {what} {number}. Give a positive number.")
    return number


def as_mass(value: Any, owner: str) -> float:
    """The mass of a body."""
    return as_positive(value, owner, "mass")


def as_vector(value: Any, owner: str, what: str, size: int = 3) -> np.ndarray:
    """`size` finite numbers as a new float array."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner} has {what} {short(value)}. Give {size} numbers.") from None
    if array.shape != (size,):
        raise ModelError(f"{owner} has {what} {short(value)}. Give {size} numbers.")
    if not all(map(math.isfinite, array.tolist())):
        raise ModelError(f"{owner} has {what} {array.tolist()}. Give {size} finite numbers.")
    return array


def as_numbers(value: Any, owner: str, what: str) -> np.ndarray:
    """Any number of finite numbers as a new float array."""
    try:
        return as_vector(value, owner, what, len(value))
    except TypeError:  # no length
        raise ModelError(f"{owner} has {what} {short(value)}. Give a list of numbers.") from None


def as_direction(value: Any, owner: str, what: str) -> Vector:
    """A direction as a unit vector; its length does not matter, but it must not be zero."""
    x, y, z = as_vector(value, owner, what).tolist()
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        raise ModelError(f"{owner} has {what} (0, 0, 0), which has no direction. Give a vector that is not zero.")
    return unit((x / largest, y / largest, z / largest))  # scaled first: squares neither overflow nor vanish


def unit(a: Vector) -> Vector:
    """A vector of ordinary size divided by its length."""
    length = math.sqrt(dot(a, a))
    return (a[0] / length, a[1] / length, a[2] / length)


def frame(z: Any, x: Any, owner: str, z_word: str = "z axis") -> np.ndarray:
    """Right-handed orthonormal axes, as columns x, y, z of a 3x3 matrix, from directions for z, x, both or none.

    Given both, z is kept and x is made perpendicular to it. Given one, the other is the nearest to (1, 0, 0) for x and
    to (0, 0, 1) for z; where these are within about 25 degrees of the given one, (0, 1, 0) takes their place.
    Messages call z by `z_word`.

    >>> frame((0, 2, 0), None, "Marker").tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
    """
    if z is None and x is None:
        return np.eye(3)
    if z is None:
        x_axis = as_direction(x, owner, "x axis")
        near = (0.0, 0.0, 1.0) if abs(x_axis[2]) <= 0.9 else (0.0, 1.0, 0.0)
        y_axis = unit(cross(near, x_axis))
        z_axis = cross(x_axis, y_axis)
    else:
        z_axis = as_direction(z, owner, z_word)
        if x is None:
            near = (1.0, 0.0, 0.0) if abs(z_axis[0]) <= 0.9 else (0.0, 1.0, 0.0)
        else:
            near = as_direction(x, owner, "x axis")
        y_axis = cross(z_axis, near)
        if dot(y_axis, y_axis) < PARALLEL**2:
            raise ModelError(f"{owner} has parallel x and z axes. Give an x direction across z, or leave x out.")
        y_axis = unit(y_axis)
        x_axis = cross(y_axis, z_axis)
    return np.array((x_axis, y_axis, z_axis)).T + 0.0  # + 0.0 turns -0.0 into 0.0


def is_rotation(A: np.ndarray, slack: float) -> bool:
    """Whether the columns of a 3x3 array are right-handed, of unit length and perpendicular, within `slack`."""
    x, y, z = A.T.tolist()
    errors = (dot(x, x) - 1.0, dot(y, y) - 1.0, dot(z, z) - 1.0, dot(x, y), dot(y, z), dot(z, x))
    return -slack <= min(errors) and max(errors) <= slack and dot(cross(x, y), z) > 0.0


class Marker(Record, frozen=True, metaclass=ElementType):
    """A point and three axes fixed to a body; z is the axis of a joint placed there.

    Usually made by `body.marker(...)` or `body.marker_at(...)`.

    Parameters
    ----------
    body : Body
    position : 3 numbers, the point in the body frame [m]
    axes : 3x3, columns x, y, z in the body frame, orthonormal and right-handed
    name : str, optional
    part : name of the rigid part that it sits on, for bodies that have several

    >>> from index3.bodies.ground import Ground
    >>> Ground().marker((1, 0, 0)).position.tolist()
    [1.0, 0.0, 0.0]
    """

    body: Body
    position: np.ndarray
    axes: np.ndarray
    name: str | None = None
    part: str | None = None

    def __init__(
        self, body: Body, position: np.ndarray, axes: np.ndarray, name: str | None = None, part: str | None = None
    ) -> None:
        if getattr(body, "element", None) != "body" or isinstance(body, type):
            raise ModelError(f"A marker sits on a body, not on {short(body)}. Give a body or model.ground.")
        owner = f"Marker of body '{body.name}'"
        if name is not None:
            check_name(name, owner)
        point = as_vector(position, owner, "position")
        try:
            columns = np.array(axes, dtype=float)
        except (TypeError, ValueError, OverflowError):
            columns = np.empty(0)
        if columns.shape != (3, 3):
            raise ModelError(f"{owner} has axes {short(axes)}. Give a 3x3 matrix with columns x, y, z.")
        if not np.isfinite(columns).all() or not is_rotation(columns, ORTHONORMAL):
            raise ModelError(
                f"{owner} has axes that are not orthonormal and right-handed. "
                "Give unit columns x, y, z with z = x cross y, or use body.marker(position, z=..., x=...)."
            )
        self.__setstate__({"body": body, "position": point, "axes": columns, "name": name, "part": part})

    @classmethod
    def placed(
        cls, body: Body, position: np.ndarray, axes: np.ndarray, name: str | None, part: str | None = None
    ) -> Marker:
        """A marker from arrays of its own that are known to be right; checks would add up in big models."""
        marker = cls.__new__(cls)
        marker.__setstate__({"body": body, "position": position, "axes": axes, "name": name, "part": part})
        return marker

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Also used by pickle and copy, which would otherwise hand out writable arrays."""
        for key in ("position", "axes"):
            state[key].setflags(write=False)
        self.__dict__.update(state)

    def with_axes(self, axes: np.ndarray) -> Self:
        """The same marker with other axes."""
        other = copy(self)
        other.__setstate__({"position": self.position.copy(), "axes": np.array(axes, float)})
        return other

    @property
    def oriented(self) -> bool:
        """Whether it turns with its body; a marker on a point mass does not."""
        return self.body.is_oriented(self.part)

    def __repr__(self) -> str:
        label = "" if self.name is None else f" '{self.name}'"
        return f"<Marker{label} on '{self.body.name}' at {self.position.tolist()}>"

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Point (3,) and axes (3, 3, columns x, y, z) in ground at the initial configuration."""
        return self.body.marker_pose(self)
