"""Shapes of contact: what the surface of a body is like around a marker.

A contact is computed at *points*: each a ball (a corner is one of radius 0) or a disc's rim on the first shape, against
the surface of the second. A shape says which points it has and how far it reaches from its marker.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from index3.bodies.marker import as_flag, as_positive, as_vector
from index3.element_type import ElementType
from index3.errors import ModelError

Point = tuple[tuple[float, float, float], float, int]
"""Centre in the marker's axes, radius, and 1 for a disc (its axis is the marker's z) or 0 for a ball."""


@dataclass(frozen=True)
class Plane(metaclass=ElementType):
    """The xy plane of its marker, without end; outside is where z is positive."""

    reach: float = math.inf

    def __repr__(self) -> str:
        return "Plane()"

    def solid(self) -> dict[str, Any]:
        """What a page draws of it."""
        return {"type": "plane"}


@dataclass(frozen=True)
class Sphere(metaclass=ElementType):
    """A ball around its marker.

    Parameters
    ----------
    radius : float [m]

    >>> Sphere(0.1).reach
    0.1
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", as_positive(self.radius, "Sphere", "radius"))

    @property
    def reach(self) -> float:
        """Largest distance of its surface from the marker [m]."""
        return self.radius

    def solid(self) -> dict[str, Any]:
        """What a page draws of it."""
        return {"type": "sphere", "radius": self.radius}

    def points(self) -> list[Point]:
        """The ball itself."""
        return [((0.0, 0.0, 0.0), self.radius, 0)]


@dataclass(frozen=True)
class Box(metaclass=ElementType):
    """A block around its marker, edges along the marker's axes; it touches a plane with its eight corners, and spheres.

    Parameters
    ----------
    size : three edge lengths [m]

    >>> len(Box((1.0, 2.0, 3.0)).points())
    8
    """

    size: Sequence[float]

    def __post_init__(self) -> None:
        edges = as_vector(self.size, "Box", "size")
        object.__setattr__(self, "size", tuple(as_positive(edge, "Box", "size") for edge in edges.tolist()))

    @property
    def reach(self) -> float:
        """Largest distance of its surface from the marker [m]."""
        return 0.5 * math.hypot(*self.size)

    def solid(self) -> dict[str, Any]:
        """What a page draws of it."""
        return {"type": "box", "size": list(self.size)}

    def points(self) -> list[Point]:
        """Its corners."""
        signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
        return [(tuple(corner), 0.0, 0) for corner in (signs * self.size).tolist()]


@dataclass(frozen=True)
class Cylinder(metaclass=ElementType):
    """A cylinder around its marker's z axis, its middle at the marker.

    Parameters
    ----------
    radius, length : float [m]
    hollow : bool, True for a ring that is touched from inside: a track or a bearing; it must be the second shape
    """

    radius: float
    length: float
    hollow: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", as_positive(self.radius, "Cylinder", "radius"))
        object.__setattr__(self, "length", as_positive(self.length, "Cylinder", "length"))
        object.__setattr__(self, "hollow", as_flag(self.hollow, "Cylinder", "hollow"))

    @property
    def reach(self) -> float:
        """Largest distance of its surface from the marker [m]."""
        return math.hypot(self.radius, 0.5 * self.length)

    def solid(self) -> dict[str, Any]:
        """What a page draws of it."""
        size = {"radius": self.radius, "length": self.length}
        if self.hollow:
            return {"type": "ring", "radius": 1.12 * self.radius, "inner": self.radius, "length": self.length}
        return {"type": "cylinder", **size}

    def points(self) -> list[Point]:
        """The rims of its ends; on the axis of another cylinder they count as balls."""
        return [((0.0, 0.0, side * self.length), self.radius, 1) for side in (-0.5, 0.5)]


@dataclass(frozen=True)
class Strip(metaclass=ElementType):
    """A flat face on the xy plane of its marker that ends at half its length along x, touched from either side.

    Beyond its ends it is touched at its edges. Along y it counts as endless.

    Parameters
    ----------
    length : float [m]

    >>> Strip(0.3).reach
    0.15
    """

    length: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", as_positive(self.length, "Strip", "length"))

    @property
    def reach(self) -> float:
        """Largest distance of its ends from the marker [m]."""
        return 0.5 * self.length

    def solid(self) -> dict[str, Any]:
        """What a page draws of it."""
        return {"type": "box", "size": [self.length, 0.5 * self.length, 0.01 * self.length]}


@dataclass(frozen=True)
class Sprocket(metaclass=ElementType):
    """A toothed wheel about its marker's z axis, whose gaps take the pins of a chain: spheres.

    In each gap, one of them on x, two flat flanks at 45 degrees to the radius meet. A pin whose centre is on the pitch
    circle touches both; pressed in, it meets the stiffness of the contact along the radius and along the circle alike.
    It leaves freely: there is no pull. A flank ends where the next gap begins; along z it counts as endless.

    Parameters
    ----------
    radius : float, of the circle on which the centres of seated pins lie [m]
    teeth : int, at least 11: pins of a chain that leaves straight would meet the pointed teeth of a smaller wheel

    >>> Sprocket.of_pitch(0.3, 18)
    Sprocket(radius=0.8638155724715452, teeth=18)
    """

    radius: float
    teeth: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", as_positive(self.radius, "Sprocket", "radius"))
        if self.teeth != int(self.teeth) or self.teeth < 11:
            raise ModelError(f"Sprocket has teeth {self.teeth}. Give a whole number, at least 11.")
        object.__setattr__(self, "teeth", int(self.teeth))

    @classmethod
    def of_pitch(cls, pitch: float, teeth: int) -> Sprocket:
        """The wheel for a chain whose pins are so far apart [m]."""
        return cls(0.5 * as_positive(pitch, "Sprocket", "pitch") / math.sin(math.pi / teeth), teeth)

    @property
    def reach(self) -> float:
        """Distance of a pin's centre from the axis on top of a tooth [m]."""
        half = math.pi / self.teeth
        return self.radius * math.sin(0.25 * math.pi) / math.sin(0.25 * math.pi - half)

    def solid(self) -> dict[str, Any]:
        """What a page draws of it."""
        return {"type": "gear", "radius": self.radius, "teeth": self.teeth, "length": 0.1 * self.radius}


Shape = Plane | Sphere | Box | Cylinder | Strip | Sprocket
