"""Histories of force elements of a finished run, worked out by their own kernels from the motion of their markers."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.registry import ELEMENTS, kernels_of
from index3.results.views import MarkerResult

if TYPE_CHECKING:
    from index3.results.result import Result


class ForceResult:
    """Histories of a contact or tyre; `quantities` names them, with their units and columns.

    Contact: `depth` (n_t,), `normal` (n_t,) and `friction` (n_t, 3), together `force` (n_t, 3), on the second body, in
    ground axes; `point` (n_t, 3), the centre of the normal forces, NaN while nothing touches. A set has the pairs along
    the second axis. Tyre: `deflection`, `vertical`, `longitudinal`, `lateral` (n_t,), `force` and `torque` on the wheel
    at the contact point, `point` (n_t, 3).
    """

    def __init__(self, result: Result, force: dict[str, Any]) -> None:
        self.name: str = force["name"]
        self.type: str = force["type"]
        law = force["law"]
        module = kernels_of(ELEMENTS[self.type].kind, "REPORTED", "REPORT", "report", "restored")
        values = histories(result, force, module)
        if "signs" in law:
            for name in ("friction", "force"):
                values[:, :, module.REPORTED[name][1]] *= np.array(law["signs"])[:, None]
        single = self.type != "ContactSet"
        self.quantities: dict[str, tuple[str, tuple[str, ...]]] = {}
        for name, (unit, columns) in module.REPORTED.items():
            array = values[:, 0, columns] if single else values[:, :, columns]
            letters = ("x", "y", "z") if array.shape[-1] == 3 else ("",)
            pairs = [""] if single else [f"{k}." for k in range(values.shape[1])]
            self.quantities[name] = (unit, tuple(f"{pair}{letter}".strip(".") for pair in pairs for letter in letters))
            setattr(self, name, array[..., 0] if array.shape[-1] == 1 else array)

    def __repr__(self) -> str:
        return f"<{self.type} '{self.name}': {', '.join(self.quantities)}>"


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
