"""Motion of frames from whole histories of coordinates, with time first: what the kinds of bodies give and share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Kinematics(NamedTuple):
    """Motion of a frame: its origin and its axes, (n_t, 3) each, the rotation (n_t, 3, 3).

    `orientation` (n_t, 4) are Euler parameters, where a kind has them at hand; else None.
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    rotation: np.ndarray
    angular_velocity: np.ndarray
    angular_acceleration: np.ndarray
    orientation: np.ndarray | None = None


def on_arm(r: np.ndarray, A: np.ndarray, s: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Point and axes fixed to a frame with origin r and axes A, of one instant or of many: r + A s and A times axes."""
    return r + A @ s, A @ axes


def carried(frame: Kinematics, position: Any, axes: Any) -> Kinematics:
    """Motion of a point at `position` (3,) with `axes` (3, 3), columns x, y, z, both fixed to a frame."""
    s, local = np.asarray(position, float), np.asarray(axes, float)
    w, w_dot = frame.angular_velocity, frame.angular_acceleration
    arm = frame.rotation @ s
    turning = np.cross(w, arm)
    point, turned = on_arm(frame.position, frame.rotation, s, local)
    acceleration = frame.acceleration + np.cross(w_dot, arm) + np.cross(w, turning)
    return Kinematics(point, frame.velocity + turning, acceleration, turned, w, w_dot)


def still(n_t: int) -> np.ndarray:
    """Axes that never turn."""
    return np.tile(np.eye(3), (n_t, 1, 1))


def as_matrices(components: tuple[np.ndarray, ...]) -> np.ndarray:
    """Nine histories of entries, row by row, as (n_t, 3, 3)."""
    return np.stack(components, axis=-1).reshape(-1, 3, 3)
