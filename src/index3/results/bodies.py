"""Bodies of a finished run, as arrays with time along the first axis."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.element_type import nearest
from index3.errors import ModelError
from index3.results.kinematics import Kinematics, body_kinematics, kind_of, quaternions
from index3.results.markers import FrameResult

if TYPE_CHECKING:
    from index3.results.result import Result

MOTION = ("position", "velocity", "acceleration", "orientation", "rotation", "angular_velocity", "angular_acceleration")


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


class Constants(dict[str, Any]):
    """What a kind of body needs to know besides its coordinates; of runs saved by older versions, not all of it."""

    def __missing__(self, name: str) -> Any:
        raise ModelError(
            f"This run was saved by an older version of index3 and lacks '{name}', which is needed here. Run it again."
        )


class BodyResult(FrameResult):
    """Motion of one body: `position`, `velocity`, `acceleration`, `orientation`, `rotation`, `angular_velocity`, ...

    Planar bodies also have `angle` and `spin`. Positions always have three columns.
    """

    def __init__(self, result: Result, body: dict[str, Any]) -> None:
        self.name: str = body["name"]
        self.kind: str = body["kind"]
        self.body, self.t = body, result.t
        self._known = {"t": result.t, "gravity": list(result.layout.gravity), "loads": partial(loads_on, result, body)}
        self._columns = partial(result.columns, self.name)
        self.q, self.v, _ = self._columns(accelerations=False)

    def __repr__(self) -> str:
        return f"<{self.kind} body '{self.name}' at {len(self.q)} times>"

    @cached_property
    def a(self) -> np.ndarray:
        """Second derivatives of its coordinates, (n_t, size)."""
        return self._columns()[2]

    def find_motion(self, full: bool) -> Kinematics:
        """Motion of its frame, with accelerations if it is to be full."""
        return body_kinematics(self.body, *self._columns(accelerations=full))

    def __getattr__(self, name: str) -> Any:
        """What the kind of the body has besides motion, such as `points(s)` of a beam."""
        if hasattr(type(self), name) or name in (
            "_known",
            "_columns",
        ):  # which has said why it has no value
            return object.__getattribute__(self, name)
        body: dict[str, Any] = self.__dict__.get("body", {})
        own = kind_of(body).quantities if body and not name.startswith("_") else {}
        if name not in own:
            known_words = [*MOTION, "euler(sequence)", *own]
            what = f"{nearest(name, known_words)}It has {', '.join(known_words)}."
            raise AttributeError(f"The result of body '{self.__dict__.get('name')}' has no '{name}'. {what}")
        known = (Constants(body["constants"] | self._known), self.q, self.v, self.a)
        quantity = own[name]
        work: Any = quantity.fget if isinstance(quantity, property) else partial(partial, quantity)
        return work(*known)

    def part(self, name: str | None) -> Kinematics:
        """Motion of one of the rigid parts of a body that has several, by name."""
        return body_kinematics(self.body, self.q, self.v, self.a, name)

    @property
    def orientation(self) -> np.ndarray:
        """Euler parameters (w, x, y, z), body to ground, (n_t, 4)."""
        known = self._placed.orientation
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
