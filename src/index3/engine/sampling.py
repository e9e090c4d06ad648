"""Controllers in a run: when they are asked, what they see, and what they said."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.compiled import slots as s
from index3.engine.layout import describe, moving_markers
from index3.engine.variants import Variant
from index3.errors import ModelError
from index3.methods.output import Output
from index3.model.model import Model
from index3.results.result import Result
from index3.system.system import System

if TYPE_CHECKING:
    from index3.model.controller import Controller

MOST = 10_000_000
SAME = 1e-6
"""Instants closer than this part of the shortest period are one instant."""


class Samples:
    """What one controller saw and said: memory, and lists of times, inputs and outputs."""

    def __init__(self, controller: Controller, t0: float) -> None:
        self.controller, self.t0 = controller, t0
        self.memory = controller.memory.copy()
        self.t: list[float] = []
        self.u: list[np.ndarray] = []
        self.y: list[np.ndarray] = []

    def is_due(self, t: float) -> bool:
        """Whether t is one of its instants."""
        count = (t - self.t0) / self.controller.period
        return abs(count - round(count)) < SAME

    def copy(self) -> Samples:
        """The same, with a memory and lists of its own."""
        other = copy.copy(self)
        other.memory, other.t, other.u, other.y = self.memory.copy(), self.t.copy(), self.u.copy(), self.y.copy()
        return other

    def to_dict(self) -> dict[str, Any]:
        """The samples in plain lists, for a result."""
        return {
            "name": self.controller.name, "period": self.controller.period, "t": list(self.t),
            "u": [x.tolist() for x in self.u], "y": [x.tolist() for x in self.y],
            "memory": self.memory.tolist(),
            "inputs": list(self.controller.inputs), "outputs": [force.name for force in self.controller.outputs],
        }  # fmt: skip


class Sampling:
    """All controllers of a run.

    Parameters
    ----------
    model : the model of the run
    whole : its system with every joint closed
    t0 : start of the run
    """

    source: Any = None  # what gives forces to results

    def __init__(self, model: Model, whole: System, t0: float) -> None:
        self.layout, self.moving, self.t0 = describe(model, whole), moving_markers(whole), t0
        self.samples = [Samples(controller, t0) for controller in model.controllers.values()]

    def restore(self, saved: Sequence[Mapping[str, Any]]) -> None:
        """Go on where another run was: what `to_list` gave there."""
        for one, lists in zip(self.samples, saved, strict=True):
            one.memory[:], one.t = lists["memory"], list(lists["t"])
            one.u, one.y = ([np.array(x, float) for x in lists[key]] for key in ("u", "y"))
        self.activate()

    def to_list(self) -> list[dict[str, Any]]:
        """What all of them saw and said, in plain lists."""
        return [one.to_dict() for one in self.samples]

    def activate(self) -> None:
        """Let forces give what this run holds: another run in the same thread may have set it."""
        for one in self.samples:
            one.controller.held.values[:] = one.y[-1] if one.y else 0.0

    def sample(self, variant: Variant, t: float, line: dict[str, np.ndarray]) -> bool:
        """Ask the controllers that are due at a line of raw output; whether there was one."""
        due = [one for one in self.samples if one.is_due(t) and (not one.t or one.t[-1] < t)]
        if due:
            result = self.instant(variant, line)
            seen = [inputs_of(one.controller, result) for one in due]
            for one, u in zip(due, seen, strict=True):
                one.t.append(t)
                one.u.append(u.copy())
                one.y.append(one.controller.ask(t, u, one.memory))
            self.activate()
        return bool(due)

    def instant(self, variant: Variant, line: dict[str, np.ndarray]) -> Result:
        """A line of raw output, closed, as a result."""
        rows = len(self.layout.row_names)
        output = Output(variant.projection.sizes | {"row": rows}, 1, variant.columns)
        output.add({name: line[name] for name in ("t", "q", "v", "a", "angle", "work")})
        error = variant.projection.project_lines(output, 0, 1, project=True)[1]
        if error is not None:
            raise error
        result = Result(self.layout, output.arrays)
        result.moving, result.source = self.moving, self.source
        return result

    def line(self, variant: Variant, t: float) -> dict[str, np.ndarray]:
        """The state of a variant as a line of raw output."""
        state = variant.state
        line = {name: state[slot][None].copy() for name, slot in (("q", s.Q), ("v", s.V), ("a", s.A))}
        return line | {"t": np.array([t]), "angle": state[s.ANGLE_REF][None].copy(), "work": np.zeros(1)}

    def first(self, variant: Variant, t: float) -> bool:
        """Ask the controllers that are due at the start of a run, where the variant is; whether there was one."""
        return self.sample(variant, t, self.line(variant, t))

    def copy(self) -> Sampling:
        """One that goes on from the same point, while this one stays as it is."""
        other = copy.copy(self)
        other.samples = [one.copy() for one in self.samples]
        return other


def inputs_of(controller: Controller, result: Result) -> np.ndarray:
    """The inputs of a controller at the only line of a result.

    Raises
    ------
    ModelError : the result has no such history.
    """
    try:
        from index3.results.export import quantity

        found = [quantity(result, name).values[0] for name in controller.inputs]
    except (ModelError, AttributeError) as error:
        raise ModelError(f"{controller.label} has an input that is not known: {error}") from error
    return np.concatenate([np.zeros(0), *found])


def instants(model: Model, span: tuple[float, float], first: float | None = None) -> np.ndarray:
    """When controllers are asked after the start and before the end of a run; `first` is when they first were.

    Raises
    ------
    ModelError : a period is so short that these are too many.
    """
    times, begin = [np.zeros(0)], span[0] if first is None else first
    for controller in model.controllers.values():
        period = controller.period
        if (span[1] - span[0]) / period > MOST:
            raise ModelError(
                f"{controller.label} has a period of {period:g} s, for more than {MOST} samples. Give more."
            )
        numbers = np.arange(int((span[0] - begin) / period), int((span[1] - begin) / period) + 2)
        own = begin + period * numbers
        times.append(own[(own > span[0] + SAME * period) & (own < span[1] - SAME * period)])
    return np.concatenate(times)


def with_instants(stops: np.ndarray, model: Model, span: tuple[float, float], first: float | None = None) -> np.ndarray:
    """Stops of a run and the instants of its controllers in order, those that are one but for rounding once."""
    stops = np.array(sorted({*stops.tolist(), *instants(model, span, first).tolist()}))
    shortest = min(controller.period for controller in model.controllers.values())
    return stops[np.diff(stops, prepend=-np.inf) > SAME * shortest]
