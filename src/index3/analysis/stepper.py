"""A run in the caller's hands: advance to a time, look, change a number, advance further."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.engine.sampling import Sampling
from index3.engine.settings import check_time
from index3.engine.timing import CpuSeconds
from index3.engine.variants import Variant
from index3.errors import ModelError, SimulationFailed
from index3.results.applied import ModelOfRun
from index3.results.export import quantity
from index3.results.result import Result

if TYPE_CHECKING:
    from index3.analysis.simulation import Simulation


class Stepper:
    """A run that goes on when it is told to; made by `Simulation.stepper`.

    `advance` steps as `simulate` does, with error control; the method starts anew at each of its times, as it does at
    `discontinuities`. Controllers go on with their clocks and memories.

    Attributes
    ----------
    t : the time reached
    result : Result of the last `advance`, with its first and last time; None before
    """

    def __init__(self, simulation: Simulation, t0: float, initial: Any, settings: Mapping[str, Any]) -> None:
        self.t = check_time(t0, "stepper")
        self.result: Result | None = None
        self._simulation, self._settings, self._start = simulation, settings, initial
        self._changes: dict[str, Any] = {}
        self._sampling: Sampling | None = None
        self._here = self._instant()

    def __repr__(self) -> str:
        return f"<Stepper of '{self._simulation.model.name}' at t = {self.t:g}>"

    def _instant(self) -> Result:
        """The state at the start, where controllers are asked for the first time."""
        model = self._simulation.model
        variant = Variant(model, partial(self._simulation.compile, model), "stepper", linear=self._simulation.linear)
        sampling = Sampling(model, variant.whole, self.t)
        sampling.source = ModelOfRun(model)
        sampling.activate()
        start = variant.start(self._start, self.t)
        variant.close(self.t, start)
        sampling.first(variant, self.t)
        variant.close(self.t, start)
        self._sampling = sampling if model.controllers else None
        here = sampling.instant(variant, sampling.line(variant, self.t))
        here.controllers = sampling.to_list()
        self._start = here
        return here

    def set(self, name: str, value: Any) -> None:
        """Change a number from now on: "coil.stiffness", "gravity", ... as in `changes` of `Simulation.run`.

        Raises
        ------
        ModelError : an unknown name, or a value that the element refuses; nothing has changed then.
        """
        if not isinstance(name, str):
            raise ModelError(f"set: {short(name)} is not a name. Give one such as 'coil.stiffness'.")
        changes = {**self._changes, name: value}
        with self._simulation.changed(changes):
            self._changes = changes

    def get(self, name: str) -> Any:
        """A number or a vector by its name in results: "pin.angle", "arm.position", "coil.tension", "energy.total" ...

        Forces are those with which the last `advance` ended.

        Raises
        ------
        ModelError : an unknown name.
        """
        values = quantity(self._here, name).values[-1]
        return float(values[0]) if len(values) == 1 else values.copy()

    def advance(self, t: float) -> Result:
        """Go on to time t; the result has the two ends of the way.

        Raises
        ------
        ModelError : t is not later than the time reached.
        SimulationFailed : the run failed on the way; the stepper stays where it was.
        """
        t = check_time(t, "stepper")
        if not t > self.t:
            raise ModelError(f"stepper: advance to t = {t:g}, but t = {self.t:g} is reached. Give a later time.")
        asked = {**self._settings, "t_eval": np.array([self.t, t])}
        sampling = None if self._sampling is None else self._sampling.copy()
        result, cause = self._simulation.run_on(
            (self.t, t), self._start, self._changes or None, asked, CpuSeconds(), sampling
        )
        if not result.success or result.t[-1] != t:
            raise SimulationFailed(result.message, result) from cause
        self.t, self.result, self._sampling = t, result, sampling
        self._here = self._start = result
        return result
