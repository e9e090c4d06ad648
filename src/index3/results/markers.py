"""Markers of a finished run, as arrays with time along the first axis.

As for bodies, joints and forces, all is worked out on request from the stored coordinates q, v, a; SI units, ground
axes unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import ModelError
from index3.results.kinematics import Kinematics, marker_kinematics

if TYPE_CHECKING:
    from index3.results.result import Result


class FrameResult:
    """The six histories that bodies and markers share; positions and rates do without the accelerations of the run."""

    find_motion: Callable[[bool], Kinematics]
    """The motion, with accelerations or (if the argument is False) with something else in their place."""

    @cached_property
    def motion(self) -> Kinematics:
        """All six histories together."""
        return self.find_motion(True)

    @cached_property
    def _placed(self) -> Kinematics:
        return self.__dict__["motion"] if "motion" in self.__dict__ else self.find_motion(False)

    @property
    def position(self) -> np.ndarray:
        """Origin in ground axes, (n_t, 3), m."""
        return self._placed.position

    @property
    def velocity(self) -> np.ndarray:
        """Velocity of the origin in ground axes, (n_t, 3), m/s."""
        return self._placed.velocity

    @property
    def acceleration(self) -> np.ndarray:
        """Acceleration of the origin in ground axes, (n_t, 3), m/s^2."""
        return self.motion.acceleration

    @property
    def rotation(self) -> np.ndarray:
        """Rotation matrices, own axes to ground, (n_t, 3, 3)."""
        return self._placed.rotation

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity in ground axes, (n_t, 3), rad/s."""
        return self._placed.angular_velocity

    @property
    def angular_acceleration(self) -> np.ndarray:
        """Angular acceleration in ground axes, (n_t, 3), rad/s^2."""
        return self.motion.angular_acceleration


class MarkerResult(FrameResult):
    """Motion of a marker: `position`, `velocity`, `acceleration`, `rotation`, `angular_velocity`, ..."""

    def __init__(
        self, result: Result, body: str, position: Any, axes: Any, part: str | None = None, moving: Any = None
    ) -> None:
        self.body = body
        if moving is None:
            marker, entry = {"position": position, "axes": axes, "part": part}, result.entry(body)
            self.find_motion = lambda full: marker_kinematics(entry, marker, *result.columns(body, accelerations=full))
        else:  # a marker of ground that follows functions of time
            self.find_motion = lambda full: Kinematics(*moving.motion(result.t))

    def __repr__(self) -> str:
        return f"<marker on '{self.body}' at {len(self.position)} times>"


def marker_result(result: Result, marker: dict[str, Any], label: str, side: str) -> MarkerResult:
    """Motion of a marker of the layout, which the element `label` has as its `side` marker."""
    moving = None
    if "moving" in marker:
        if not result.moving:
            raise ModelError(
                f"{label} has a moving {side} marker, whose functions a file does not keep. "
                "Use the result of the run itself."
            )
        moving = result.moving[marker["moving"]]
    return MarkerResult(result, marker["body"], marker["position"], marker["axes"], marker.get("part"), moving)
