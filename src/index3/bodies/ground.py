"""Ground: the body that stands still, and its markers that move as functions of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.kinematics import Kinematics, still
from index3.bodies.moving_marker import MovingMarker, moving_marker


class Ground(Body):
    """The frame that does not move: no coordinates, always part of a model as `model.ground`."""

    kind_name = "ground"

    def __init__(self) -> None:
        super().__init__("ground", "ground")

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """None."""
        zero = np.zeros((len(q), 3))
        return Kinematics(zero, zero, zero, still(len(q)), zero, zero)

    def moving_marker(
        self,
        position: Any = (0, 0, 0),
        *,
        path: Any = None,
        rotation: Any = None,
        axis: Any = None,
        x: Any = None,
        z: Any = None,
        name: str | None = None,
    ) -> MovingMarker:
        """A marker whose point and axes follow functions of time, for joints and forces like any other.

        Parameters
        ----------
        position : the point, where `path` does not give it, in ground [m]
        path : function of t [s] that returns the point in ground, three numbers [m]; or three such functions (or
            constants): it and its first and second derivative
        rotation : function of t that returns the rotation vector (axis times angle [rad], in ground) that turns the
            marker's axes; or three functions, as for `path`. With `axis` it returns the angle alone.
        axis : direction in ground of a rotation about a fixed axis
        x, z : directions of the axes before they are turned
        name : str, for messages

        Missing derivatives are taken by differences with a step of 0.001 s, with a warning. The work of what moves the
        marker is part of `result.energy.work`.

        >>> from math import cos, sin
        >>> path = (lambda t: (0, 0, sin(t)), lambda t: (0, 0, cos(t)), lambda t: (0, 0, -sin(t)))
        >>> Ground().moving_marker(path=path, name="pivot")
        <MovingMarker 'pivot' on 'ground'>
        """
        return moving_marker(self, position, x, z, path, rotation, axis, name)
