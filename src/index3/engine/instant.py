"""One instant of a run, as functions of the user see it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from index3.bodies.marker import Marker
from index3.bodies.moving_marker import MovingMarker
from index3.results.result import Result

KINEMATIC = frozenset({
    "name", "type", "coordinates", "unique", "row_labels", "known", "quantities", "position", "velocity", "rotation",
    "orientation", "euler", "angular_velocity", "angle", "angle_rate", "angles", "angle_rates", "spin", "displacement",
    "displacement_rate", "x", "x_rate", "y", "y_rate", "length", "length_rate", "q", "v", "points", "curvature",
    "modal", "depth", "normal", "friction", "point",
})  # fmt: skip
"""Names of what positions and velocities alone give; all else takes a solution of the equations of motion."""


class Instant:
    """One instant of a run by names: `state["ball"].position` is (3,), `state["hinge"].angle` a number.

    Positions and velocities are those of the method. Accelerations and reactions cost a solution of the equations of
    motion, at the state closed onto the constraints; they are worked out when first asked for.
    """

    def __init__(self, result: Result, closed: Callable[[], Result] | None = None) -> None:
        self._result, self._close = result, closed

    @cached_property
    def _closed(self) -> Result:
        return self._result if self._close is None else self._close()

    @property
    def t(self) -> float:
        """The time."""
        return float(self._result.t[0])

    @property
    def q(self) -> np.ndarray:
        """All coordinates."""
        return self._result.q[0]

    @property
    def v(self) -> np.ndarray:
        """Their rates."""
        return self._result.v[0]

    @property
    def a(self) -> np.ndarray:
        """Their second derivatives."""
        return self._closed.a[0]

    @property
    def lam(self) -> np.ndarray:
        """Multipliers of all rows; those of open joints are zero."""
        return self._closed.lam[0]

    @property
    def states(self) -> dict[str, np.ndarray]:
        """Blocks of first-order states by name, (number of states,) each."""
        return {name: values[0] for name, values in self._result.states.items()}

    def __getitem__(self, name: str) -> Any:
        if isinstance(name, str) and "." in name and name not in self._result.names:  # a history
            words = name.split(".")
            free = words[0] in self._result.states or not KINEMATIC.isdisjoint(words)
            return (self._result if free else self._closed)[name][0]
        return _First(self._result[name], lambda: self._closed[name])

    def marker(self, marker: Marker | MovingMarker) -> Any:
        """The motion of a marker."""
        return _First(self._result.marker(marker), lambda: self._closed.marker(marker))


class _First:
    """A view of a result whose histories are single values; what needs accelerations comes from the closed state."""

    def __init__(self, view: Any, closed: Callable[[], Any]) -> None:
        self._view, self._closed = view, closed

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._view if name in KINEMATIC else self._closed(), name)
        return value[0] if isinstance(value, np.ndarray) else value
