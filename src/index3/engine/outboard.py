"""What a joint carries: the bodies beyond it move with its coordinate as one.

A joint that is part of no loop divides the model. If its coordinate changes, all that is beyond it (the side without
ground) can move as if it were one rigid body: deformations and all other joint coordinates stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from index3.bodies.transport import Displacement, Places, about, displaced, moving, turned
from index3.joints.base import Joint
from index3.model.model import Model


@dataclass(frozen=True, eq=False)
class OutboardBodies:
    """A coordinate of a joint with what it carries.

    Attributes
    ----------
    marker : number of the first marker of the joint, about or along whose axis the coordinate is
    end : number of the second marker
    axis : 2 for an angle; for a displacement the axis of the first marker
    angular : whether it is an angle
    sign : 1, or -1 if the first body's side is carried, against the growing coordinate
    bodies : first coordinate, number of coordinates and places of each body that is carried
    """

    marker: int
    end: int
    axis: int
    angular: bool
    sign: float
    bodies: tuple[tuple[int, int, Places], ...]

    def displacement(self, r: np.ndarray, A: np.ndarray, way: float) -> Displacement:
        """The motion by which the coordinate grows by `way`, at poses r (n, 3), A (n, 3, 3) of the markers."""
        axis = A[self.marker][:, self.axis]
        if self.angular:
            return about(r[self.end], axis, self.sign * way)
        return Displacement(axis, 0.0, self.sign * way * axis)

    def move(self, q: np.ndarray, v: np.ndarray, motion: Displacement, twist: np.ndarray) -> None:
        """Displace what is carried; its rates relative to a base with that twist (v of the origin, w) stay."""
        base = twist[:3], twist[3:]
        for first, size, places in self.bodies:
            own = slice(first, first + size)
            relative = v[own] - moving(places, q[own], *base)
            q[own] = displaced(places, q[own], motion)
            v[own] = turned(places, relative, motion) + moving(places, q[own], *base)

    def add_rate(self, q: np.ndarray, v: np.ndarray, r: np.ndarray, A: np.ndarray, rate: float) -> None:
        """Let the coordinate grow faster by `rate`, with what is carried."""
        axis = self.sign * rate * A[self.marker][:, self.axis]
        w = axis if self.angular else np.zeros(3)
        velocity = np.cross(r[self.end], axis) if self.angular else axis
        for first, size, places in self.bodies:
            own = slice(first, first + size)
            v[own] += moving(places, q[own], velocity, w)


def at_origin(r: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The twist (velocity at the origin of ground, angular velocity) of a marker at r with twist V (6,)."""
    return np.concatenate([V[:3] + np.cross(r, V[3:]), V[3:]])


def outboard_bodies(
    model: Model,
    joint: Joint,
    coordinate: str,
    markers: tuple[int, ...],
    starts: dict[str, int],
    without: Iterable[str],
) -> OutboardBodies | None:
    """What a coordinate of a joint carries; None if the joint is in a loop, or the coordinate is of another sort.

    `starts` has the first coordinate of each body.
    """
    measure = joint.measures[coordinate]
    if measure.kind not in ("angle", "in_plane"):
        return None
    first, second = (marker.body.name for marker in (joint.first, joint.second))
    here, beyond = (connected_bodies(model, name, {joint.name, *without}) for name in (first, second))
    if here & beyond:  # ground too, which is not passed
        return None
    sign, beyond = (-1.0, here) if "ground" in beyond else (1.0, beyond)
    bodies = []
    for body in (model.bodies[name] for name in beyond):
        if body.places is None:
            return None
        bodies.append((starts[body.name], body.size, body.places))
    axis = 2 if measure.kind == "angle" else int(measure.fields["axis_first"])
    return OutboardBodies(markers[0], markers[1], axis, measure.kind == "angle", sign, tuple(bodies))


def connected_bodies(model: Model, name: str, without: Iterable[str]) -> set[str]:
    """Names of all bodies that joints tie to a body, ground included but not passed, without some joints."""
    near: dict[str, set[str]] = defaultdict(set)
    for joint in model.joints.values():
        if joint.name not in without:
            tied = {body.name for body in joint.bodies}
            for one in tied:
                near[one] |= tied
    found, ahead = {name}, [name]
    while ahead:
        one = ahead.pop()
        if one != "ground":
            fresh = near[one] - found
            found |= fresh
            ahead += fresh
    return found
