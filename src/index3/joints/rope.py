"""A rope of given length that runs over points."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from index3.bodies.marker import Marker, as_positive
from index3.bodies.pairs import as_markers, distance
from index3.bodies.time_functions import complete, is_zero
from index3.errors import ModelError
from index3.fields import LENGTH, declare, field
from index3.joints.base import Joint, Primitive, functions
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import BodiesOrMarkers, TimeFunction


@register
class Rope(Joint):
    """A taut rope of given length that runs over points without friction, as over small pulleys: 1 row.

    The sum of the distances of neighbouring points is `length` [m] + f(t), by default the initial sum. The tension is
    the same all along, so a block that hangs on two strands carries twice of it. Two-sided, as a `Distance`: it can
    also push; a rope that becomes slack is opened by an event.

    Parameters
    ----------
    name : str
    points : two or more markers in the order of the rope; a body stands for a marker at its origin. Points of the same
        body may follow each other, as the pulleys of a frame
    length : float [m]
    f, df, ddf : change of the length as a function of time, as of a winch, and its derivatives, taken by differences,
        with a warning, if they are missing

    `result[name].tension` is positive where the rope pulls; `.on(k)` gives the force on point k.

    Raises
    ------
    ModelError : names the rope.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.point_mass import PointMass
    >>> left, right = PointMass("left", 1.0, position=(-1, 0, -2)), PointMass("right", 1.0, position=(1, 0, -1))
    >>> wheels = [Ground().marker((x, 0, 0)) for x in (-1, 1)]
    >>> Rope("rope", [left, *wheels, right]).length
    5.0
    """

    symbol = "rope"
    fields = declare(functions("length"), points=field("ends").found(lambda rope: rope.markers), length=LENGTH)

    def __init__(
        self,
        name: str,
        points: BodiesOrMarkers,
        *,
        length: float | None = None,
        f: TimeFunction = 0.0,
        df: TimeFunction | None = None,
        ddf: TimeFunction | None = None,
    ) -> None:
        self._set_name(name)
        self.functions = complete(self.label, ("f", "df", "ddf"), (f, df, ddf))
        self._markers = as_markers(self.label, points)
        if len(self._markers) < 2:
            raise ModelError(f"{self.label} has one point. Give the points that it runs over, two or more.")
        self.first, self.second = self._markers[:2]
        places = [marker.pose()[0] for marker in self._markers]
        parts = [distance(a, b) for a, b in itertools.pairwise(places)]
        if 0.0 in parts:
            k = parts.index(0.0)
            raise ModelError(
                f"{self.label} has its points {k} and {k + 1} in one place, where the part between them has no "
                "direction. Move them apart, or leave one out."
            )
        self.length = as_positive(math.fsum(parts) if length is None else length, self.label, "length")
        driven = {} if all(map(is_zero, self.functions)) else {"driven": True}
        self.recipe = (Primitive("rope", ("length",), {"length": self.length, "parts": len(parts), **driven}),)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The points that it runs over."""
        return self._markers

    def explain(self, stage: str, t: float) -> str:
        """What the kernels found wrong."""
        return (
            f"{self.label} has two neighbouring points in one place at t = {t:.6g}, where it has no direction. "
            "Stop the motion before, by a limit or an event."
        )
