"""Roads: the height z(x) of a profile across which tyres roll, with slope and curvature."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, inf, pi, sin, sqrt
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import as_number, as_positive
from index3.compiled.interface import helper
from index3.element_type import ElementType
from index3.errors import ModelError

if TYPE_CHECKING:
    from index3.user_types import ArrayLike

FLAT, COSINE, SINE, HALF_CYLINDER, TABLE = range(5)
ROAD_FIELDS = [
    ("road", "i8"),  # which of the above
    ("start", "f8"),
    ("length", "f8"),
    ("height", "f8"),
    ("turns", "f8"),  # of the cosine over the length: 1 for a bump, 1/2 for a ramp
    ("speed", "f8"),  # of the road against x
    ("knots", "i8"),  # of a table: first row in KNOTS
    ("knot_count", "i8"),
]


@dataclass(frozen=True)
class Road(metaclass=ElementType):
    """A profile z(x) [m] in the axes of the marker that carries it, the same for all y.

    Made by `Road.flat`, `.bump`, `.ramp`, `.sine`, `.half_cylinder` and `.table`. With `speed` [m/s] the road runs
    against x under the wheel, as a treadmill or test bench does: what lies at x + speed t is under x at time t.

    >>> Road.bump(start=10.0, length=1.0, height=0.05)(10.5)
    0.05
    """

    kind: int = FLAT
    start: float = 0.0
    length: float = 1.0
    height: float = 0.0
    turns: float = 1.0
    speed: float = 0.0
    knots: tuple[tuple[float, float, float], ...] = field(default=(), repr=False)  # x, z, slope

    @classmethod
    def flat(cls, *, speed: float = 0.0) -> Road:
        """z = 0."""
        return cls(FLAT, speed=as_number(speed, "Road", "speed"))

    @classmethod
    def bump(cls, start: float, length: float, height: float, *, speed: float = 0.0) -> Road:
        """One wave of a cosine: height (1 - cos(2 pi (x - start) / length)) / 2 between start and start + length."""
        return cls._wave(COSINE, start, length, height, 1.0, speed)

    @classmethod
    def ramp(cls, start: float, length: float, height: float, *, speed: float = 0.0) -> Road:
        """Half a wave of a cosine from 0 up to the height, which then stays."""
        return cls._wave(COSINE, start, length, height, 0.5, speed)

    @classmethod
    def sine(cls, wavelength: float, amplitude: float, start: float = 0.0, *, speed: float = 0.0) -> Road:
        """amplitude sin(2 pi (x - start) / wavelength), everywhere."""
        return cls._wave(SINE, start, wavelength, amplitude, 1.0, speed)

    @classmethod
    def half_cylinder(cls, centre: float, radius: float, *, speed: float = 0.0) -> Road:
        """A half cylinder on a flat road: sqrt(radius^2 - (x - centre)^2). Its edges are upright: see `Tyre`."""
        radius = as_positive(radius, "Road", "radius")
        return cls._wave(HALF_CYLINDER, centre, radius, radius, 1.0, speed)

    @classmethod
    def table(cls, x: ArrayLike, z: ArrayLike, *, speed: float = 0.0) -> Road:
        """Through given points, x rising; monotone cubics between them, level before the first and after the last."""
        try:
            xs, zs = np.array(x, float), np.array(z, float)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"Road has x {short(x)} and z {short(z)}. Give two lists of numbers.") from None
        if xs.ndim != 1 or xs.shape != zs.shape or len(xs) < 2:
            raise ModelError(f"Road has x of shape {xs.shape} and z of shape {zs.shape}. Give lists of one length.")
        if not (np.isfinite(xs).all() and np.isfinite(zs).all()):
            raise ModelError("Road has points that are not finite. Give finite numbers.")
        if np.any(np.diff(xs) <= 0.0):
            raise ModelError("Road has x that does not rise from point to point. Sort the points and drop doubles.")
        from scipy.interpolate import PchipInterpolator  # here: SciPy takes time to load

        slopes = PchipInterpolator(xs, zs).derivative()(xs)
        slopes[[0, -1]] = 0.0  # level outside
        knots = tuple(zip(xs.tolist(), zs.tolist(), slopes.tolist(), strict=True))
        return cls(TABLE, speed=as_number(speed, "Road", "speed"), knots=knots)

    @classmethod
    def _wave(cls, kind: int, start: float, length: float, height: float, turns: float, speed: float) -> Road:
        return cls(
            kind, as_number(start, "Road", "start"), as_positive(length, "Road", "length"),
            as_number(height, "Road", "height"), turns, as_number(speed, "Road", "speed"),
        )  # fmt: skip

    def __call__(self, x: float) -> float:
        """Height at x, at time 0."""
        row = np.zeros(1, ROAD_FIELDS).view(np.recarray)
        row[0] = self.record(0)
        return float(height_at(row[0], np.array(self.knots or [(0.0, 0.0, 0.0)]), float(x))[0])

    @property
    def shortest(self) -> float:
        """Half the length of its shortest feature [m]: who looks that often sees them all."""
        if self.kind == FLAT:
            return inf
        if self.kind == TABLE:
            return float(np.diff([x for x, _, _ in self.knots]).min())
        return self.length if self.kind == HALF_CYLINDER else 0.5 * self.length

    @property
    def profile(self) -> dict[str, Any]:
        """Its shape for a drawing: x and z of points through its features, and the period after which they return.

        Outside of the points it is level, unless there is a period.
        """
        if self.kind == FLAT:
            x = np.zeros(1)
        elif self.kind == TABLE:
            x = np.unique(np.linspace([a[0] for a in self.knots[:-1]], [b[0] for b in self.knots[1:]], 7))
        elif self.kind == HALF_CYLINDER:
            x = self.start - self.length * np.cos(np.linspace(0.0, pi, 33))
        else:
            x = self.start + self.length * np.linspace(0.0, 1.0, 33)
        period = self.length if self.kind == SINE else 0.0
        return {"x": x.tolist(), "z": [self(place) for place in x.tolist()], "period": period, "speed": self.speed}

    def record(self, first: int) -> tuple[Any, ...]:
        """Values of `ROAD_FIELDS`; `first` is the row of its first knot."""
        return (self.kind, self.start, self.length, self.height, self.turns, self.speed, first, len(self.knots))


@helper
def wave(road, x):
    """(z, z', z'') of one wave or half a wave of a cosine."""
    s, w = (x - road.start) / road.length, 2.0 * pi * road.turns / road.length
    if s <= 0.0:
        return 0.0, 0.0, 0.0
    if s >= 1.0:
        return road.height if road.turns < 1.0 else 0.0, 0.0, 0.0
    angle, half = w * (x - road.start), 0.5 * road.height
    return half * (1.0 - cos(angle)), half * w * sin(angle), half * w * w * cos(angle)


@helper
def table_height(road, knots, x):
    """(z, z', z'') of cubics between knots."""
    low, high = road.knots, road.knots + road.knot_count - 1
    if x <= knots[low, 0]:
        return knots[low, 1], 0.0, 0.0
    if x >= knots[high, 0]:
        return knots[high, 1], 0.0, 0.0
    while high - low > 1:
        middle = (low + high) // 2
        if x < knots[middle, 0]:
            high = middle
        else:
            low = middle
    h = knots[high, 0] - knots[low, 0]
    s, rise, a, b = (x - knots[low, 0]) / h, knots[high, 1] - knots[low, 1], knots[low, 2] * h, knots[high, 2] * h
    c2, c3 = 3.0 * rise - 2.0 * a - b, a + b - 2.0 * rise
    z = knots[low, 1] + s * (a + s * (c2 + s * c3))
    return z, (a + s * (2.0 * c2 + 3.0 * s * c3)) / h, (2.0 * c2 + 6.0 * s * c3) / (h * h)


@helper
def height_at(road, knots, x):
    """(z, z', z'') of a road."""
    if road.road == COSINE:
        return wave(road, x)
    if road.road == TABLE:
        return table_height(road, knots, x)
    if road.road == SINE:
        w = 2.0 * pi / road.length
        angle = w * (x - road.start)
        return road.height * sin(angle), road.height * w * cos(angle), -road.height * w * w * sin(angle)
    if road.road == HALF_CYLINDER:
        d = x - road.start
        square = road.length * road.length - d * d
        if square > 0.0:
            z = sqrt(square)
            return z, -d / z, -road.length * road.length / (z * square)
    return 0.0, 0.0, 0.0
