"""Error against the tolerance: models, references, measurement and the law that each class of methods must follow.

Used by `test_tolerance_law.py` and by `benchmarks/tolerance.py`. At every decade of rtol the error is the root mean
square over three runs, at a third of a decade more, at it and at a third less: a single run says little where the
error changes its sign on the way. One run is enough for the trapezoidal methods, whose thousands of steps scatter
little. Of a run the error is the largest of q over twenty times, for the same reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import index3 as ix

REFERENCE = Path(__file__).parents[1] / "reference"
DECADES = np.arange(3, 8)
AROUND = np.array((-1.0, 0.0, 1.0)) / 3
MODELS = {
    "andrews": (ix.library.andrews, 0.03),
    "stiff pendulum": (ix.library.double_pendulum, 2.0),
    "chain": (lambda: ix.library.chain(4, springs=True), 1.0),
}
ENERGY = ("al-index1", "al-index3", "multi-index")
"""Methods whose steps follow the energy: what they promise is the invariant."""
STEADY = ("statespace-trapezoidal", "descriptor-trapezoidal")
ORDERS = {"bdf-i3": (2, 3, 4, 5), "bdf-si2": (2, 3, 4, 5), "adams": (4, 6)}
"""Methods of variable order are measured with constant orders too."""


@dataclass(frozen=True)
class Case:
    """A method, its options, and the name of a model."""

    key: str
    model: str
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.key}{''.join(f' {name} {value}' for name, value in self.options.items())}, {self.model}"


@dataclass(frozen=True)
class Law:
    """Errors at the decades of rtol, and their fit to a power of it."""

    errors: np.ndarray
    steps: list[int]

    @property
    def slope(self) -> float:
        return float(self._fit()[0])

    @property
    def spread(self) -> float:
        """The largest factor by which an error leaves the power law."""
        return float(np.exp(np.abs(np.polyval(self._fit(), self._logs()) - np.log(self.errors)).max()))

    @property
    def monotone(self) -> bool:
        return bool(np.all(np.diff(self.errors) < 0))

    def _logs(self) -> np.ndarray:
        return -np.log(10.0) * DECADES

    def _fit(self) -> np.ndarray:
        return np.polyfit(self._logs(), np.log(self.errors), 1)


def cases() -> list[Case]:
    """Every registered method on the models it is meant for."""
    found = []
    for key, method in ix.METHODS.items():
        for name in MODELS:
            if name != "stiff pendulum" or method.stiff:
                found += [Case(key, name), *(Case(key, name, {"order": k}) for k in ORDERS.get(key, ()))]
    return found


def promised(case: Case) -> tuple[float, float]:
    """Least and largest slope of a method's class.

    Error per step with a method of order p and an estimate of order p + 1 gives p/(p + 1); with an estimate of order p,
    the result being one order better, 1. Energy: U ~ h^3 per step gives 2/3, but steps may stay where they are while
    the change of energy is anywhere between U/250 and U, by which a slope over four decades may be off.
    """
    method = ix.METHODS[case.key]
    order = case.options.get("order", 2 if isinstance(method.order, tuple) else method.order)
    if case.key in ENERGY:
        return 0.5, np.inf
    if method.family in ("state space", "descriptor", "first order") or case.key == "adams":
        return 0.85, 1.2
    if case.key in ("hht-i3", "generalized-alpha"):
        return 0.6, np.inf
    return order / (order + 1) - 0.1, np.inf


@cache
def reference(name: str) -> tuple[Any, float, np.ndarray, np.ndarray]:
    """A model, the end of its time, twenty times, and q there, to some 1e-11."""
    make, end = MODELS[name]
    model, times = make(), np.linspace(0.0, end, 21)[1:]
    if name == "stiff pendulum":
        return model, end, times, pendulum_coordinates(times)
    run = ix.simulate(model, (0.0, end), "dop853", rtol=1e-12, atol=1e-14, t_eval=times, progress=False)
    assert run.success, run.message
    return model, end, times, run.q[-len(times) :]


def pendulum_coordinates(times: np.ndarray) -> np.ndarray:
    """q of the stiff pendulum from the stored angles of a Radau integration in them, good to 7e-12."""
    rows = np.array(json.loads((REFERENCE / "stiff_double_pendulum" / "data.json").read_text())["rows"])
    a, b = rows[np.searchsorted(rows[:, 0], times - 1e-9), 1:3].T
    return np.stack(
        [np.cos(a), np.sin(a), a, 2 * np.cos(a) + 1.5 * np.cos(b), 2 * np.sin(a) + 1.5 * np.sin(b), b], axis=1
    )


def one_error(case: Case, rtol: float) -> tuple[float, int]:
    """The error of one run, atol = rtol / 100, and its steps."""
    model, end, times, exact = reference(case.model)
    run = ix.simulate(model, (0.0, end), case.key, rtol=rtol, t_eval=times, progress=False, **case.options)
    assert run.success, f"{case} at rtol {rtol:g}: {run.message}"
    if case.key in ENERGY:
        balance = run.energy.balance
        return float(np.abs(balance - balance[0]).max()), run.stats["steps"]
    return float(np.abs(run.q[-len(times) :] - exact).max()), run.stats["steps"]


def measure(case: Case) -> Law:
    """The law of a method on a model."""
    around = AROUND[1:2] if case.key in STEADY else AROUND
    runs = [[one_error(case, 10.0 ** (x - decade)) for x in around] for decade in DECADES]
    errors = np.array([[error for error, _ in row] for row in runs])
    return Law(np.sqrt(np.mean(errors**2, axis=1)), [row[len(around) // 2][1] for row in runs])
