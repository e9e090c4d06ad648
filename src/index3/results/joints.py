"""Joints of a finished run: their reactions and coordinates, as arrays with time along the first axis."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.element_type import nearest
from index3.errors import ModelError
from index3.results.kinematics import cross_angles
from index3.results.markers import MarkerResult, marker_result

if TYPE_CHECKING:
    from index3.results.result import Result


LINE = ("length",)
"""The row of a joint that is a line between points: a distance, a rope."""


class JointResult:
    """Reactions and coordinates of one joint.

    `force` and `torque` act on the second body, at its marker, in ground axes; `on(k)` gives those on any marker of the
    joint (a gear ties four), `unique` says whether they are determined by the motion (with redundant constraints they
    may not be). Coordinates (`angle`, `displacement`, `x`,
    `y`, `length`, as the joint has them, each with its `_rate`) are of the second body relative to the first, zero at
    assembly except for `length`, which is the distance itself. A universal joint has `angles` and `angle_rates`.
    `rotation` is that of the second marker as the first sees it, of any joint with two. Distances and ropes have a
    `tension`.
    """

    def __init__(self, result: Result, number: int) -> None:
        joint = result.layout.joints[number]
        self._result, self._joint = result, joint
        self.name: str = joint["name"]
        self.type: str = joint["type"]
        self.unique: bool = bool(joint["unique"])
        self.coordinates: tuple[str, ...] = tuple(joint["coordinates"])
        self.row_labels: tuple[str, ...] = tuple(joint["row_labels"])
        self._number = number

    def __getattr__(self, name: str) -> Any:
        """Say what there is instead of a name that joints do not have."""
        if hasattr(type(self), name) or name.startswith("_"):  # a coordinate that says why it has no value
            return object.__getattribute__(self, name)
        words = f"has no '{name}'. {nearest(name, self.known)}It has {', '.join(self.known)}."
        # without the object, from whose class Python would propose coordinates that other joints have
        raise AttributeError(f"The result of {self.type} '{self.name}' {words}", name=name, obj=None)

    @property
    def known(self) -> tuple[str, ...]:
        """Names of its histories: reactions, its coordinates and their rates."""
        cross = ("angles", "angle_rates") if "cross" in self._joint else ()
        pulls = ("tension",) if self.row_labels == LINE else ()
        own = (f"{name}{end}" for name in self.coordinates for end in ("", "_rate"))
        return ("force", "torque", *pulls, *own, *cross)

    def __repr__(self) -> str:
        words = ", ".join(("force", "torque", *self.coordinates))
        return f"<{self.type} '{self.name}' at {len(self._result)} times: {words}>"

    @cached_property
    def lam(self) -> np.ndarray:
        """Multipliers of its rows, (n_t, rows)."""
        return self._result.lam[:, self._joint["rows"]]

    @cached_property
    def _wrench(self) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque on the second body at its marker, ground axes, (n_t, 3) each."""
        if self._joint.get("clamp"):
            return self._together(1)
        return self._stored

    @property
    def _stored(self) -> tuple[np.ndarray, np.ndarray]:
        both = self._result.arrays["wrench"][:, self._number]
        return both[:, :3], both[:, 3:]

    @property
    def force(self) -> np.ndarray:
        """Force on the second body at its marker, ground axes, (n_t, 3), N."""
        return self._wrench[0]

    @property
    def torque(self) -> np.ndarray:
        """Torque on the second body about its marker, ground axes, (n_t, 3), N m."""
        return self._wrench[1]

    @cached_property
    def first(self) -> MarkerResult:
        """Motion of the joint's marker on the first body."""
        return self._marker("first")

    @cached_property
    def second(self) -> MarkerResult:
        """Motion of the joint's marker on the second body."""
        return self._marker("second")

    def _marker(self, side: str) -> MarkerResult:
        marker = self._joint[side]
        if marker is None:
            raise AttributeError(f"{self.type} '{self.name}' acts on one body and has no {side} marker.")
        return marker_result(self._result, marker, f"{self.type} '{self.name}'", side)

    def force_in(self, frame: str) -> np.ndarray:
        """The force on the second body in the axes of "ground", the "first" or the "second" marker, (n_t, 3), N."""
        return self._in(frame, self.force)

    def torque_in(self, frame: str) -> np.ndarray:
        """The torque on the second body about its marker, in the axes named as for `force_in`, (n_t, 3), N m."""
        return self._in(frame, self.torque)

    def _in(self, frame: str, vector: np.ndarray) -> np.ndarray:
        if isinstance(frame, str) and frame == "ground":
            return vector
        if not isinstance(frame, str) or frame not in ("first", "second"):
            raise ModelError(
                f"{self.type} '{self.name}' has no frame {short(frame)}. Use 'ground', 'first' or 'second'."
            )
        return np.einsum("tji,tj->ti", getattr(self, frame).rotation, vector)

    def on_first(self) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque on the first body at its own marker, ground axes.

        With two markers they are equal and opposite to those on the second, moved to that point.
        """
        return self._together(0) if self._joint.get("clamp") else self.on(0)

    def on(self, marker: int) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque, (n_t, 3) each, on the body of a marker (0: first, 1: second, ...) at it, ground axes."""
        if isinstance(marker, bool) or not isinstance(marker, Integral):
            raise ModelError(f"{self.type} '{self.name}' has no marker {short(marker)}. Count from 0.")
        column = self._joint.get("further", {}).get(str(marker))
        if column is not None:
            wrench = self._result.arrays["wrench"][:, column]
            return wrench[:, :3], wrench[:, 3:]
        if marker == (0 if len(self._joint.get("markers", (0, 1))) == 1 else 1):
            return self.force, self.torque
        if marker != 0:
            raise ModelError(f"{self.type} '{self.name}' has no marker {marker!r}. Count from 0.")
        arm = self.second.position - self.first.position
        return -self.force, -self.torque - np.cross(arm, self.force)

    def _together(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque about marker 0 or 1 of all that a clamp puts on the body of that marker."""
        force, torque = self._stored if side == 1 else self.on(side)
        place = (self.first if side == 0 else self.second).position
        for k in range(side + 2, len(self._joint["markers"]), 2):
            other, turn = self.on(k)
            marker = self._joint["markers"][k]
            arm = MarkerResult(self._result, *(marker[key] for key in ("body", "position", "axes", "part"))).position
            force, torque = force + other, torque + turn + np.cross(arm - place, other)
        return force, torque

    @property
    def angle(self) -> np.ndarray:
        """Angle of the second body about z of the first marker, (n_t,), rad, zero at assembly, counting full turns."""
        self._require("angle")
        return self._result.arrays["angle"][:, self._joint["angle"]] - self._joint["angle_zero"]

    @property
    def angle_rate(self) -> np.ndarray:
        """Rate of `angle`, (n_t,), rad/s."""
        self._require("angle")
        relative = self.second.angular_velocity - self.first.angular_velocity
        return np.sum(self.first.rotation[:, :, 2] * relative, axis=1)

    @property
    def displacement(self) -> np.ndarray:
        """Displacement of the second marker along z of the first, (n_t,), m, zero at assembly."""
        return self._along("displacement", 2)

    @property
    def displacement_rate(self) -> np.ndarray:
        """Rate of `displacement`, (n_t,), m/s."""
        return self._along_rate("displacement", 2)

    @property
    def x(self) -> np.ndarray:
        """Displacement of the second marker along x of the first, (n_t,), m, zero at assembly."""
        return self._along("x", 0)

    @property
    def x_rate(self) -> np.ndarray:
        """Rate of `x`, (n_t,), m/s."""
        return self._along_rate("x", 0)

    @property
    def y(self) -> np.ndarray:
        """Displacement of the second marker along y of the first, (n_t,), m, zero at assembly."""
        return self._along("y", 1)

    @property
    def y_rate(self) -> np.ndarray:
        """Rate of `y`, (n_t,), m/s."""
        return self._along_rate("y", 1)

    @property
    def tension(self) -> np.ndarray:
        """Force along a distance or a rope, (n_t,), N, positive where it pulls."""
        if self.row_labels != LINE:
            raise AttributeError(f"{self.type} '{self.name}' has no tension. It has {', '.join(self.known)}.")
        if not self.coordinates:  # a rope: the gradient of its row are unit vectors
            return self.lam[:, 0]
        d = self.second.position - self.first.position
        return -np.sum(d * self.force, axis=1) / np.linalg.norm(d, axis=1)

    @property
    def length(self) -> np.ndarray:
        """Distance of the two markers, (n_t,), m."""
        self._require("length")
        return np.linalg.norm(self.second.position - self.first.position, axis=1) - self._zero("length")

    @property
    def length_rate(self) -> np.ndarray:
        """Rate of `length`, (n_t,), m/s."""
        self._require("length")
        d = self.second.position - self.first.position
        return np.sum(d * (self.second.velocity - self.first.velocity), axis=1) / np.linalg.norm(d, axis=1)

    @property
    def rotation(self) -> np.ndarray:
        """Axes of the second marker in those of the first, (n_t, 3, 3)."""
        return np.swapaxes(self.first.rotation, 1, 2) @ self.second.rotation

    @property
    def angles(self) -> np.ndarray:
        """Of a universal joint the turns of its cross about z of the first marker, and of the second body about z of
        the second, (n_t, 2), rad; zero at assembly, without jumps from line to line.
        """
        self._require_cross("angles")
        raw = cross_angles(self.first.rotation, self.second.rotation) - np.array(self._joint["cross"])
        raw[:1] = np.arctan2(np.sin(raw[:1]), np.cos(raw[:1]))
        return np.unwrap(raw, axis=0)

    @property
    def angle_rates(self) -> np.ndarray:
        """Rates of `angles`, (n_t, 2), rad/s."""
        self._require_cross("angle_rates")
        relative = self.second.angular_velocity - self.first.angular_velocity
        axes = (marker.rotation[:, :, 2] for marker in (self.first, self.second))
        return np.stack([np.sum(axis * relative, axis=1) for axis in axes], axis=1)

    def _require_cross(self, name: str) -> None:
        if "cross" not in self._joint:
            raise AttributeError(f"{self.type} '{self.name}' has no {name}, which a Universal has. Did you mean angle?")

    def _along(self, name: str, axis: int) -> np.ndarray:
        self._require(name)
        d = self.second.position - self.first.position
        return np.sum(self.first.rotation[:, :, axis] * d, axis=1) - self._zero(name)

    def _along_rate(self, name: str, axis: int) -> np.ndarray:
        self._require(name)
        d = self.second.position - self.first.position
        d_rate = self.second.velocity - self.first.velocity - np.cross(self.first.angular_velocity, d)
        return np.sum(self.first.rotation[:, :, axis] * d_rate, axis=1)  # as seen from the first marker

    def _zero(self, name: str) -> float:
        return float(self._joint["zeros"].get(name, 0.0))

    def _require(self, name: str) -> None:
        if name not in self.coordinates or (name == "angle" and self._joint["angle"] < 0):
            has = f"It has {', '.join(self.coordinates)}." if self.coordinates else "It has no joint coordinates."
            has = "It has angles and angle_rates, of both axes." if "cross" in self._joint else has
            raise AttributeError(f"{self.type} '{self.name}' has no coordinate '{name}'. {has}")
