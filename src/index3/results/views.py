"""Bodies, joints and markers of a finished run, as arrays with time along the first axis.

Everything is worked out on request from the stored coordinates q, v, a and the joint wrenches; SI units, ground axes
unless a name says otherwise.
"""

from __future__ import annotations

from functools import cached_property, partial
from numbers import Integral
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import ModelError
from index3.results.kinematics import Kinematics, body_kinematics, kind_of, marker_kinematics, quaternions

if TYPE_CHECKING:
    from index3.results.result import Result

MOTION = ("position", "velocity", "acceleration", "orientation", "rotation", "angular_velocity", "angular_acceleration")


class _Frame:
    """The six histories that bodies and markers share."""

    motion: Kinematics

    @property
    def position(self) -> np.ndarray:
        """Origin in ground axes, (n_t, 3), m."""
        return self.motion.position

    @property
    def velocity(self) -> np.ndarray:
        """Velocity of the origin in ground axes, (n_t, 3), m/s."""
        return self.motion.velocity

    @property
    def acceleration(self) -> np.ndarray:
        """Acceleration of the origin in ground axes, (n_t, 3), m/s^2."""
        return self.motion.acceleration

    @property
    def rotation(self) -> np.ndarray:
        """Rotation matrices, own axes to ground, (n_t, 3, 3)."""
        return self.motion.rotation

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity in ground axes, (n_t, 3), rad/s."""
        return self.motion.angular_velocity

    @property
    def angular_acceleration(self) -> np.ndarray:
        """Angular acceleration in ground axes, (n_t, 3), rad/s^2."""
        return self.motion.angular_acceleration


class MarkerResult(_Frame):
    """Motion of a marker: `position`, `velocity`, `acceleration`, `rotation`, `angular_velocity`, ..."""

    def __init__(
        self, result: Result, body: str, position: Any, axes: Any, part: str | None = None, moving: Any = None
    ) -> None:
        self.body = body
        if moving is None:
            marker = {"position": position, "axes": axes, "part": part}
            entry, *histories = result.columns(body)
            self.motion = marker_kinematics(entry, marker, *histories)
        else:  # a marker of ground that follows functions of time
            self.motion = Kinematics(*moving.motion(result.t))

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


def loads_on(result: Result, body: dict[str, Any]) -> list[tuple[Any, Any, Any, Any]]:
    """Forces and joints with a marker on a body: its position and part, a call that gives force and torque, and of
    loads along a beam the piece that the marker stands for."""
    found = []
    for entries in (result.layout.joints, result.layout.forces):
        for entry in entries:
            pieces = entry.get("spread") or ()
            for k, marker in enumerate(() if entry.get("set") else entry.get("markers", ())):
                if marker["body"] == body["name"]:
                    wrench, piece = partial(wrench_on, result, entry["name"], k), pieces[k] if pieces else None
                    found.append((marker["position"], marker.get("part"), wrench, piece))
    return found


def wrench_on(result: Result, name: str, marker: int) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque on one of the markers of a joint or force."""
    return result[name].on(marker)


class BodyResult(_Frame):
    """Motion of one body: `position`, `velocity`, `acceleration`, `orientation`, `rotation`, `angular_velocity`, ...

    Planar bodies also have `angle` and `spin`. Positions always have three columns.
    """

    def __init__(self, result: Result, body: dict[str, Any]) -> None:
        self.name: str = body["name"]
        self.kind: str = body["kind"]
        self.body, self.t = body, result.t
        self._known = {"t": result.t, "gravity": list(result.layout.gravity), "loads": partial(loads_on, result, body)}
        _, self.q, self.v, self.a = result.columns(self.name)

    def __repr__(self) -> str:
        return f"<{self.kind} body '{self.name}' at {len(self.q)} times>"

    @cached_property
    def motion(self) -> Kinematics:  # type: ignore[override]  # worked out once, when first asked for
        """All six histories together."""
        return self.part(None)

    def __getattr__(self, name: str) -> Any:
        """What the kind of the body has besides motion, such as `points(s)` of a beam."""
        if hasattr(type(self), name) or name == "_known":  # a property that has said itself why it has no value
            return object.__getattribute__(self, name)
        body: dict[str, Any] = self.__dict__.get("body", {})
        own = kind_of(body).quantities if body and not name.startswith("_") else {}
        if name not in own:
            what = f" It has {', '.join([*MOTION, *own])}."
            raise AttributeError(f"The result of body '{self.__dict__.get('name')}' has no '{name}'.{what}")
        known = (body["constants"] | self._known, self.q, self.v, self.a)
        quantity = own[name]
        work: Any = quantity.fget if isinstance(quantity, property) else partial(partial, quantity)
        return work(*known)

    def part(self, name: str | None) -> Kinematics:
        """Motion of one of the rigid parts of a body that has several, by name."""
        return body_kinematics(self.body, self.q, self.v, self.a, name)

    @property
    def orientation(self) -> np.ndarray:
        """Euler parameters (w, x, y, z), body to ground, (n_t, 4)."""
        known = self.motion.orientation
        return quaternions(self.rotation) if known is None else known

    def euler(self, sequence: str = "ZYX", *, degrees: bool = False) -> np.ndarray:
        """Three angles (n_t, 3) of successive turns, [rad] or in degrees, as SciPy's `Rotation.as_euler` has them.

        Capital letters are axes that turn along ("ZYX": yaw, pitch, roll), small ones those of ground.

        Raises
        ------
        ModelError : the sequence is none.
        """
        from scipy.spatial.transform import Rotation  # slow to import

        try:
            return Rotation.from_matrix(self.rotation).as_euler(sequence, degrees=degrees)
        except (TypeError, ValueError, OverflowError) as error:
            raise ModelError(
                f"Body '{self.name}': {sequence!r} is not a sequence of Euler angles: {error} Give one such as 'ZYX'."
            ) from None

    @property
    def angle(self) -> np.ndarray:
        """Angle of a planar body about ground z, (n_t,), rad, counting full turns."""
        return self._planar("angle", self.q)

    @property
    def spin(self) -> np.ndarray:
        """Rate of the angle of a planar body, (n_t,), rad/s."""
        return self._planar("spin", self.v)

    def _planar(self, name: str, columns: np.ndarray) -> np.ndarray:
        column = kind_of(self.body).angle_coordinate
        if column < 0:
            raise AttributeError(
                f"Body '{self.name}' is {self.kind}, only planar bodies have '{name}'. "
                "Use orientation, rotation or angular_velocity, or the angle of one of its joints."
            )
        return columns[:, column]


class JointResult:
    """Reactions and coordinates of one joint.

    `force` and `torque` act on the second body, at its marker, in ground axes; `on(k)` gives those on any marker of the
    joint (a gear ties four), `unique` says whether they are determined by the motion (with redundant constraints they
    may not be). Coordinates (`angle`, `displacement`, `x`,
    `y`, `length`, as the joint has them, each with its `_rate`) are of the second body relative to the first, zero at
    assembly except for `length`, which is the distance itself.
    """

    def __init__(self, result: Result, number: int) -> None:
        joint = result.layout.joints[number]
        self._result, self._joint = result, joint
        self.name: str = joint["name"]
        self.type: str = joint["type"]
        self.unique: bool = bool(joint["unique"])
        self.coordinates: tuple[str, ...] = tuple(joint["coordinates"])
        self.row_labels: tuple[str, ...] = tuple(joint["row_labels"])
        self.lam = result.lam[:, joint["rows"]]
        self.force = result.arrays["wrench"][:, number, :3]
        self.torque = result.arrays["wrench"][:, number, 3:]
        if joint.get("clamp"):
            self.force, self.torque = self._together(1)

    def __repr__(self) -> str:
        words = ", ".join(("force", "torque", *self.coordinates))
        return f"<{self.type} '{self.name}' at {len(self.force)} times: {words}>"

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
        force, torque = self.on(side)
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
            raise AttributeError(f"{self.type} '{self.name}' has no coordinate '{name}'. {has}")
