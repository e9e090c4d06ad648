"""Events: where a user's function of the state passes through zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.errors import ModelError
from index3.methods import probe, run
from index3.methods.runner import Run
from index3.results.export import empty_arrays
from index3.results.result import Layout, Result

LOCATION = 1e-12
"""An event is located to this part of its step: rounding of the dense output."""


class Instant:
    """One instant of a run by names: `state["ball"].position` is (3,), `state["hinge"].angle` a number.

    Positions, orientations, velocities and joint coordinates are there; accelerations and reactions are not.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

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

    def __getitem__(self, name: str) -> Any:
        return _First(self._result[name])

    def marker(self, marker: Any) -> Any:
        """The motion of a marker."""
        return _First(self._result.marker(marker))


class _First:
    """A view of a result whose histories are single values."""

    def __init__(self, view: Any) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._view, name)
        return value[0] if isinstance(value, np.ndarray) else value


class Events:
    """The event functions of a run, asked after every accepted step.

    Parameters
    ----------
    functions : one function of (t, state), or several; attributes `terminal` (True, or the number of the occurrence
        that ends the run) and `direction` (+1: only rising, -1: only falling) as in SciPy
    """

    def __init__(self, functions: Any, progress: Run, layout: Layout) -> None:
        self.functions: list[Callable[[float, Instant], float]] = as_functions(functions)
        self.progress, self.layout = progress, layout
        self.table = Table(len(probe.SLOTS))
        self.table[probe.RUN] = np.array([progress.table.handle], np.int64)
        self.table[probe.TIME] = np.zeros(1)
        self.table[probe.KEPT] = np.zeros(len(progress.state[s.ANGLE_REF]))
        self.found: list[list[tuple[float, np.ndarray, np.ndarray]]] = [[] for _ in self.functions]
        self.ended = ""  # name of the function that ended the run
        self.time = progress.t
        self.values = self.ask(progress.t)

    def instant(self, t: float) -> Instant:
        """The state at a time of the last accepted step."""
        state = self.progress.state
        self.table[probe.TIME][0] = t
        probe.at_time(state.handle, self.table.handle)
        system = self.progress.system
        arrays = empty_arrays(1, system.n, system.m, len(self.layout.joints), len(state[s.ANGLES]))
        arrays |= {"t": np.array([t]), "q": state[s.Q][None].copy(), "v": state[s.V][None].copy()}
        arrays["angle"] = state[s.ANGLES][None].copy()
        return Instant(Result(self.layout, arrays))

    def ask(self, t: float, only: int | None = None) -> list[float]:
        """Values of the functions (or of one) at a time."""
        instant = self.instant(t)
        chosen = self.functions if only is None else [self.functions[only]]
        return [as_number(function, function(t, instant)) for function in chosen]

    def look(self) -> float | None:
        """Find the events of the last accepted step; the time of the first terminal one, or None."""
        clock = self.progress[run.CLOCK]
        t0, t1 = float(clock[run.T_OLD]), float(clock[run.T_NEW])
        if t1 <= self.time:  # the last step was rejected
            return None
        self.time = t1
        before, self.values = self.values, self.ask(t1)
        hits = []
        for k, function in enumerate(self.functions):
            if passes(before[k], self.values[k], getattr(function, "direction", 0)):
                hits.append((self.locate(k, t0, t1, before[k]), k))
        for t, k in sorted(hits):
            instant = self.instant(t)
            self.found[k].append((t, instant.q.copy(), instant.v.copy()))
            limit = getattr(self.functions[k], "terminal", False)
            if limit and len(self.found[k]) >= int(limit):
                self.ended = getattr(self.functions[k], "__name__", repr(self.functions[k]))
                return t
        return None

    def line(self, t: float) -> dict[str, np.ndarray]:
        """One line of raw output at a time of the last accepted step."""
        instant, progress = self.instant(t), self.progress
        clock, work = progress[run.CLOCK], progress[run.WORK]
        h = clock[run.T_NEW] - clock[run.T_OLD]
        w = run.hermite((t - clock[run.T_OLD]) / h)
        done = w[0] * work[run.WORK_OLD] + w[2] * work[run.WORK_NEW]
        done += h * (w[1] * work[run.POWER_OLD] + w[3] * work[run.POWER_NEW])
        return {
            "t": np.array([t]), "q": instant.q[None], "v": instant.v[None], "a": progress[run.NEW_A][None].copy(),
            "lam": progress[run.NEW_LAM][None].copy(), "angle": progress.state[s.ANGLES][None].copy(),
            "work": np.array([done]),
        }  # fmt: skip

    def locate(self, k: int, t0: float, t1: float, before: float) -> float:
        """Bisection with secant steps (Illinois) on the dense output."""
        a, fa, b, fb = t0, before, t1, self.values[k]
        for _ in range(100):
            if b - a <= LOCATION * (t1 - t0) or fb == 0.0:
                break
            c = min(max(b - fb * (b - a) / (fb - fa), a + 1e-3 * (b - a)), b - 1e-3 * (b - a))
            fc = self.ask(c, k)[0]
            if fc == 0.0:
                return c
            if fc * fb < 0.0:
                a, fa = c, fc
                fb *= 0.5
            else:
                b, fb = c, fc
                fa *= 0.5
        return b

    def times(self) -> list[np.ndarray]:
        """Times of the events, one array per function."""
        return [np.array([t for t, _, _ in found]) for found in self.found]

    def states(self) -> list[np.ndarray]:
        """Coordinates and rates (k, 2, n) at the events, one array per function."""
        n = self.progress.system.n
        return [np.array([(q, v) for _, q, v in found]).reshape(-1, 2, n) for found in self.found]


def passes(before: float, after: float, direction: float) -> bool:
    """Whether a value went through zero in the wanted direction; standing at zero is no passage."""
    rising, falling = before < 0.0 <= after, before > 0.0 >= after
    return (rising and direction >= 0) or (falling and direction <= 0)


def as_functions(events: Any) -> list[Callable[[float, Instant], float]]:
    """One or several event functions as a list."""
    functions = [events] if callable(events) else list(events)
    for function in functions:
        if not callable(function):
            raise ModelError(f"simulate: events holds {function!r}. Give functions of (t, state).")
    return functions


def as_number(function: Callable, value: Any) -> float:
    """An event's value as a finite float."""
    name = getattr(function, "__name__", repr(function))
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"simulate: event {name} gave {value!r}. Return one number.") from None
    if not np.isfinite(number):
        raise ModelError(f"simulate: event {name} gave {number}. Return a finite number.")
    return number
