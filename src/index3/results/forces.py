"""Histories of force elements of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.element_type import nearest
from index3.errors import ModelError
from index3.registry import ELEMENTS, kernels_of
from index3.results.joints import JointResult
from index3.results.markers import MarkerResult, marker_result
from index3.results.wrenches import columns

if TYPE_CHECKING:
    from index3.results.result import Result

XYZ, ALONE = ("x", "y", "z"), ("",)
EVERY = {"force": ("N", XYZ), "torque": ("N m", XYZ), "power": ("W", ALONE)}
LINE = {"tension": ("N", ALONE), "length": ("m", ALONE), "length_rate": ("m/s", ALONE)}
TURN = {"moment": ("N m", ALONE), "angle": ("rad", ALONE), "angle_rate": ("rad/s", ALONE)}


class ForceResult:
    """Histories of one force element; `quantities` names them, with their units and columns.

    `force` and `torque` (n_t, 3) act on the second body at its marker, or on the only one, of `Force` and `Torque` on
    the body that is given the vector, in ground axes; `on(k)` are those on any of its markers. `power` (n_t,) is given
    to the bodies. Elements along a line or a displacement also have `tension` (positive pulls the ends together),
    `length` and `length_rate`; those on an angle `moment` (on the second body about the axis), `angle`, `angle_rate`.

    Of a load along a beam `force` is the sum, and there is no `torque`.
    Contacts and tyres: the quantities of their page. Of a set of contacts they have the pairs along the second axis,
    and `power` is of all of them.
    """

    def __init__(self, result: Result, force: dict[str, Any]) -> None:
        self._result, self._force = result, force
        self.name: str = force["name"]
        self.type: str = force["type"]
        self.label = f"{self.type} '{self.name}'"
        self.single = not force.get("set", self.type == "ContactSet")
        along = force.get("along", ())
        self._joint = {entry[1]: entry[0] for entry in along if entry != "line"}  # coordinate -> joint
        self.quantities: dict[str, tuple[str, Any]] = {**EVERY} if self.single else {"power": EVERY["power"]}
        if force.get("spread"):
            del self.quantities["torque"]
        self.coordinates: tuple[str, ...] = ()
        if "line" in along or set(self._joint) - {"angle"}:
            self.quantities |= LINE
            self.coordinates += ("tension",)
        if "angle" in self._joint:
            self.quantities |= TURN
            self.coordinates += ("moment",)
        self._has = frozenset(self.quantities)
        if not result.knows_forces:
            self.quantities, self.coordinates = {}, ()
        if force.get("law"):
            self._report(force["law"])

    def _report(self, law: Mapping[str, Any]) -> None:
        """Take what the kernel `report` of a contact or tyre gives."""
        module = kernels_of(ELEMENTS[self.type].kind, "REPORTED", "REPORT", "report", "restored")
        values = histories(self._result, self._force, module)
        if "signs" in law:
            for name in ("friction", "force"):
                values[:, :, module.REPORTED[name][1]] *= np.array(law["signs"])[:, None]
        for name, (unit, column) in module.REPORTED.items():
            array = values[:, 0, column] if self.single else values[:, :, column]
            letters = ("x", "y", "z") if array.shape[-1] == 3 else ("",)
            pairs = [""] if self.single else [f"{k}." for k in range(values.shape[1])]
            self.quantities[name] = (unit, tuple(f"{pair}{letter}".strip(".") for pair in pairs for letter in letters))
            vars(self)[name] = array[..., 0] if array.shape[-1] == 1 else array

    def __getattr__(self, name: str) -> Any:
        """Say what there is instead of a name that the element does not have."""
        if hasattr(type(self), name) or name.startswith("_"):  # a history that says why it has no value
            return object.__getattribute__(self, name)
        known = list(vars(self).get("quantities", ()))
        raise AttributeError(f"{self.label} has no history '{name}'. {nearest(name, known)}It has {', '.join(known)}.")

    def __repr__(self) -> str:
        return f"<{self.label} at {len(self._result)} times: {', '.join(self.quantities)}>"

    @cached_property
    def force(self) -> np.ndarray:
        """Force on the second body, ground axes, (n_t, 3), N; the sum of a load along a beam."""
        if self._force.get("spread"):
            return sum(self.on(k)[0] for k in range(len(self._force["markers"])))  # type: ignore[return-value]
        return self.on(self._force.get("on", -1))[0]

    @cached_property
    def torque(self) -> np.ndarray:
        """Torque on the second body about its marker, ground axes, (n_t, 3), N m."""
        self._require("torque", {"torque": EVERY["torque"]})
        return self.on(self._force.get("on", -1))[1]

    @cached_property
    def power(self) -> np.ndarray:
        """Power that it gives to the bodies, (n_t,), W; of a spring that is stretched it is negative."""
        number = next(k for k, force in enumerate(self._result.layout.forces) if force["name"] == self.name)
        return self._result.applied().power[:, number]

    def on(self, marker: int) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque, (n_t, 3) each, on the body of a marker (0: first, 1: second, ...) at it, ground axes."""
        places = columns(self._result.layout)[self.name]
        if not places:
            raise AttributeError(f"{self.label} is a set: its pairs have forces, but it has no two markers.")
        if not -len(places) <= marker < len(places):
            raise ModelError(f"{self.label} has no marker {marker!r}. Count from 0.")
        wrench = self._result.applied().wrench[:, places[marker]]
        return wrench[:, :3], wrench[:, 3:]

    @cached_property
    def first(self) -> MarkerResult:
        """Motion of its first marker."""
        return marker_result(self._result, self._force["markers"][0], self.label, "first")

    @cached_property
    def second(self) -> MarkerResult:
        """Motion of its second marker."""
        return marker_result(self._result, self._force["markers"][1], self.label, "second")

    @property
    def tension(self) -> np.ndarray:
        """Force that pulls the ends together along their line or displacement, (n_t,), N."""
        return -np.sum(self.force * self._direction, axis=1)

    @property
    def length(self) -> np.ndarray:
        """Distance of the ends, or that of the second marker from the first along the displacement, (n_t,), m."""
        return np.sum((self.second.position - self.first.position) * self._direction, axis=1)

    @property
    def length_rate(self) -> np.ndarray:
        """Rate of `length`, (n_t,), m/s."""
        d, rate = self.second.position - self.first.position, self.second.velocity - self.first.velocity
        if self._axis is not None:
            rate = rate - np.cross(self.first.angular_velocity, d)  # as seen from the first marker
        return np.sum(rate * self._direction, axis=1)

    @cached_property
    def _axis(self) -> int | None:
        """The axis of the first marker that a displacement is along; None for the line between the markers."""
        self._require("tension", LINE)
        name = next((name for name in self._joint if name != "angle"), "")
        return {"displacement": 2, "x": 0, "y": 1}.get(name)

    @cached_property
    def _direction(self) -> np.ndarray:
        """Unit vectors from the first end to the second, or along the displacement, (n_t, 3)."""
        if self._axis is not None:
            return self.first.rotation[:, :, self._axis]
        d = self.second.position - self.first.position
        with np.errstate(invalid="ignore", divide="ignore"):  # ends at one point have no direction: NaN
            return d / np.linalg.norm(d, axis=1)[:, None]

    @property
    def moment(self) -> np.ndarray:
        """Torque on the second body about the axis of the angle, (n_t,), N m."""
        self._require("moment", TURN)
        return np.sum(self.torque * self.first.rotation[:, :, 2], axis=1)

    @property
    def angle(self) -> np.ndarray:
        """The angle of its joint, (n_t,), rad, zero at assembly, counting full turns."""
        return self._of_joint("angle").angle

    @property
    def angle_rate(self) -> np.ndarray:
        """Rate of `angle`, (n_t,), rad/s."""
        return self._of_joint("angle_rate").angle_rate

    def _of_joint(self, name: str) -> JointResult:
        self._require(name, TURN)
        return self._result[self._joint["angle"]]

    def _require(self, name: str, group: Mapping[str, Any]) -> None:
        if not group.keys() <= self._has:
            raise AttributeError(f"{self.label} has no history '{name}'. It has {', '.join(sorted(self._has))}.")


def histories(result: Result, force: dict[str, Any], module: ModuleType) -> np.ndarray:
    """What the kernel `report` of a kind gives at every time, (n_t, elements, columns)."""
    markers = [
        MarkerResult(result, marker["body"], marker["position"], marker["axes"], marker.get("part"))
        for marker in force["markers"]
    ]
    n_t, count = len(result), len(markers) + 1  # one more for states
    own, table = module.restored(force["law"]), Table(s.SIZE)
    table[s.TIME], table[s.MARKER_R] = np.zeros(1), np.zeros((count, 3))
    table[s.MARKER_A], table[s.MARKER_V] = np.zeros((count, 9)), np.zeros((count, 6))
    states = result.states.get(force["name"])
    values = np.empty((n_t, *own[module.REPORT].shape))
    for k in range(n_t):
        table[s.TIME][0] = result.t[k]
        for m, marker in enumerate(markers):
            table[s.MARKER_R][m], table[s.MARKER_A][m] = marker.position[k], marker.rotation[k].ravel()
            table[s.MARKER_V][m, :3], table[s.MARKER_V][m, 3:] = marker.velocity[k], marker.angular_velocity[k]
        if states is not None:
            table[s.MARKER_V][-1, : states.shape[1]] = states[k]
        module.report(table.handle, own.handle)
        values[k] = own[module.REPORT]
    return values
