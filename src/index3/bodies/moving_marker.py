"""Markers of ground that move as functions of time: shaken supports, driven pivots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.algebra.rotations import about
from index3.bodies.marker import Marker, as_direction, as_vector, frame
from index3.bodies.moving_kernels import spin, spin_rate
from index3.bodies.time_functions import Function, complete
from index3.errors import ModelError

if TYPE_CHECKING:
    from index3.bodies.body import Body

Functions = tuple[Function, Function, Function]


class MovingMarker(Marker, frozen=True):
    """A marker of ground whose point and axes follow functions of time; made by `model.ground.moving_marker(...)`.

    Joints and forces take it as any marker. Its pose at t = 0 is the one that coordinates of joints start from.

    Attributes
    ----------
    position, axes : the point where `path` does not give it, and the axes before they are turned
    path : None, or functions of t that give the point and its first and second derivative, in ground [m, s]
    turn : None, or functions of t that give a rotation vector and its derivatives, or with `axis` an angle [rad, s]
    axis : None, or the fixed unit vector, in ground, about which the angle turns the axes
    """

    path: Functions | None = None
    turn: Functions | None = None
    axis: tuple[float, float, float] | None = None
    conservative: ClassVar[bool] = False

    def __init__(
        self, body: Body, position: np.ndarray, axes: np.ndarray, name: str | None = None, part: str | None = None,
        path: Functions | None = None, turn: Functions | None = None, axis: tuple[float, float, float] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(body, position, axes, name, part)
        vars(self).update(path=path, turn=turn, axis=axis)

    @property
    def label(self) -> str:
        """How messages call it."""
        return "MovingMarker" if self.name is None else f"MovingMarker '{self.name}'"

    def __repr__(self) -> str:
        return f"<{self.label} on '{self.body.name}'>"

    @property
    def functions(self) -> list[Functions]:
        """Those of `path` and `turn` that it has."""
        return [functions for functions in (self.path, self.turn) if functions is not None]

    def rotation_vector(self, t: float) -> np.ndarray:
        """What turns the axes at t: axis times angle, in ground."""
        if self.turn is None:
            return np.zeros(3)
        value = self.turn[0](t)
        return np.asarray(value if self.axis is None else np.multiply(value, self.axis), float)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Point (3,) and axes (3, 3, columns x, y, z) in ground at t = 0."""
        r = self.position if self.path is None else np.asarray(self.path[0](0.0), float)
        return r, np.array(about(tuple(self.rotation_vector(0.0).tolist()))).reshape(3, 3) @ self.axes

    def motion(self, times: np.ndarray) -> tuple[np.ndarray, ...]:
        """Point, velocity, acceleration, rotation, angular velocity and acceleration in ground, time first."""
        zero = np.zeros((len(times), 3))
        points = [zero + self.position, zero, zero]
        turns = [zero, zero, zero]
        if self.path is not None:
            points = [np.array([f(t) for t in times], float).reshape(-1, 3) for f in self.path]
        if self.turn is not None:
            values = [np.array([f(t) for t in times], float) for f in self.turn]
            turns = [x if self.axis is None else np.outer(x, self.axis) for x in values]
        lines = list(zip(*turns, strict=True))
        rotation = [np.array(about(phi)).reshape(3, 3) @ self.axes for phi, _, _ in lines]
        w = [spin(phi, rate) for phi, rate, _ in lines]
        w_dot = [spin_rate(phi, rate, second) for phi, rate, second in lines]
        shapes = ((-1, 3, 3), (-1, 3), (-1, 3))
        parts = (np.array(x, float).reshape(shape) for x, shape in zip((rotation, w, w_dot), shapes, strict=True))
        return (*points, *parts)

    def explain(self, stage: str, t: float) -> str:
        """The only way it breaks: it takes planar bodies out of their plane."""
        return (
            f"{self.label} leaves the plane of the PlanarBody that it holds at t = {t:.6g}. Let it move in x and y and "
            "turn about z alone, or use a RigidBody."
        )


def moving_marker(
    ground: Body, position: Any, x: Any, z: Any, path: Any, rotation: Any, axis: Any, name: str | None
) -> MovingMarker:
    """What `Ground.moving_marker` returns."""
    owner = "MovingMarker" if name is None else f"MovingMarker '{name}'"
    point, axes = as_vector(position, owner, "position"), frame(z, x, owner)
    if path is None and rotation is None:
        raise ModelError(f"{owner} does not move. Give path or rotation, or use ground.marker(...).")
    if axis is not None and rotation is None:
        raise ModelError(f"{owner} has an axis and no rotation about it. Give rotation, a function of t.")
    direction = None if axis is None else as_direction(axis, owner, "axis")
    functions: dict[str, Functions | None] = {}
    for what, given, size in (("path", path, 3), ("rotation", rotation, 3 if axis is None else 1)):
        if given is None:
            functions[what] = None
            continue
        three = given if isinstance(given, tuple | list) and len(given) == 3 and any(map(callable, given)) else None
        f, df, ddf = (given, None, None) if three is None else three
        if not callable(f):
            raise ModelError(f"{owner} has {what} {f!r}. Give a function of t, or three: it and its two derivatives.")
        names = (what, f"first derivative of its {what}", f"second derivative of its {what}")
        functions[what] = complete(owner, names, (f, df, ddf), size)
    return MovingMarker(ground, point, axes, name, path=functions["path"], turn=functions["rotation"], axis=direction)
