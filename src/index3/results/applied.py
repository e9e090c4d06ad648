"""What force elements do in a finished run: wrenches on their markers and power, by the compiled equations themselves.

The model is compiled with markers of its own for every force (`compile_model(..., apart=True)`): at each line of the
result one evaluation of all forces puts the wrench of each element where nothing else adds to it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.compiled import slots as s
from index3.errors import ModelError
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

if TYPE_CHECKING:
    from index3.model.model import Model
    from index3.results.layout import Layout
    from index3.results.result import Result
    from index3.results.wrenches import Applied


CHANGEABLE = (np.ndarray, dict, list)
"""What may be changed in place."""


class ModelOfRun:
    """A model as it was when a run began, whatever is done to it later; `model()` is a copy of it in that state.

    Functions of the user, curves, roads and markers are not copied at the start: they are taken to stay what they are.
    """

    def __init__(self, model: Model) -> None:
        self._parts = [model, *(model[name] for name in model), *model.blocks]
        self._evaluator: ForceEvaluator | None = None
        self._values = [{key: kept(value) for key, value in vars(part).items()} for part in self._parts]

    def again(self) -> ModelOfRun:
        """The same for another run of the model as it was then."""
        other = object.__new__(ModelOfRun)
        other._parts, other._evaluator, other._values = self._parts, None, self._values
        return other

    def model(self) -> Any:
        """The model of the run."""
        memo: dict[int, Any] = {}
        copies = copy.deepcopy(self._parts, memo)
        for part, now, then in zip(copies, map(vars, self._parts), self._values, strict=True):
            for key in now.keys() - then.keys():
                vars(part).pop(key, None)
            for key in (key for key, value in then.items() if now.get(key) is not value):
                vars(part)[key] = then[key] if callable(then[key]) else copy.deepcopy(then[key], memo)
        return copies[0]

    def __call__(self) -> Any:
        """The model of the run."""
        return self.model()

    def applied(self, result: Result) -> Applied:
        """Wrenches and power of all forces at every line of a result of this model; compiled once."""
        if self._evaluator is None:
            self._evaluator = ForceEvaluator(self.model(), result.layout)
        return self._evaluator.applied(result)


class ChangedModel(ModelOfRun):
    """The same with changes such as {"rod.mass": 2.0}, which are made when the model is asked for."""

    def __init__(self, source: ModelOfRun, changes: Mapping[str, Any]) -> None:
        self._source, self._changes = source, {key: kept(value) for key, value in changes.items()}
        self._evaluator = None

    def model(self) -> Any:
        """The model of the run."""
        from index3.files.changes import apply  # knows model files, which are slow to import

        model = self._source.model()
        apply(model, self._changes)
        return model


def kept(value: Any) -> Any:
    """What later changes in place would reach, copied."""
    return value.copy() if isinstance(value, CHANGEABLE) else value


class ForceEvaluator:
    """A model compiled with markers of their own for all forces."""

    def __init__(self, model: Model, layout: Layout) -> None:
        from index3.results.wrenches import columns

        system = compile_model(model, apart=True)
        self.model, self.state, places = model, State(system), columns(layout)
        numbers = {id(group.element): group.marker_numbers for group in system.groups}
        spatial = [body.kind != "states" for body in system.bodies] + [True]  # -1, ground, is the last
        in_space = np.array(spatial)[self.state[s.MARKERS]["body"]]
        forces = model.forces.values()
        parts = [force.parts if force.ties is None else (force,) for force in forces]
        acting = [[k for part in own for k in numbers[id(part)] if in_space[k]] for own in parts]
        self.single = [k for name, own in zip(model.forces, acting, strict=True) if places[name] for k in own]
        self.starts = np.cumsum([0, *map(len, acting)])
        self.every = np.array([k for own in acting for k in own], int)

    def applied(self, result: Result) -> Applied:
        """Wrenches and power of all force elements at every line of a result of this model.

        Lines that are not finite, as a run that failed may have at its end, give NaN.

        Raises
        ------
        ModelError : a force has no value at one of the lines.
        """
        from index3.results.controllers import held_outputs
        from index3.results.wrenches import Applied

        count, state = len(result), self.state
        wrench, power = np.full((count, len(self.single), 6), np.nan), np.full((count, len(self.starts) - 1), np.nan)
        held = [(self.model.controllers[x["name"]].held, held_outputs(x, result.t)) for x in result.controllers]
        for k in range(count):
            if not (np.isfinite(result.q[k]).all() and np.isfinite(result.v[k]).all()):
                continue
            for signal, values in held:
                signal.values[:] = values[k]
            place(state, result, k)
            wrench[k] = state[s.MARKER_F][self.single]
            powers = np.sum(state[s.MARKER_F][self.every] * state[s.MARKER_V][self.every], axis=1)
            sums = np.concatenate([[0.0], np.cumsum(powers)])
            power[k] = sums[self.starts[1:]] - sums[self.starts[:-1]]
        return Applied(wrench, power)


def place(state: State, result: Result, k: int) -> None:
    """Evaluate the forces at one line of a result."""
    state.move(float(result.t[k]), result.q[k], result.v[k])
    state[s.A][:], state[s.LAM][:] = result.a[k], result.lam[k]
    state[s.ANGLE_REF][:] = result.arrays["angle"][k][: len(state[s.ANGLE_REF])]
    if state.run(evaluate.forces):
        raise ModelError(state.system.explain(state))
