"""How a number that a model gives depends on its parameters, by differences of runs with common steps.

Runs with error control choose their steps anew for every parameter value: what they return jumps by some part of the
tolerance, and differences of it are noise. Here all runs of one question take the same constant step, so their errors
are smooth functions of the parameters and all but cancel.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.analysis.simulate import simulate
from index3.engine.settings import check_model, check_span, is_number
from index3.errors import ModelError, SimulationFailed
from index3.model.model import Model
from index3.results.export import quantity as find_quantity

MOST_STEPS = 100_000
"""Constant steps of a run, at most, if the step is chosen here."""
SHORT = 0.1
"""The constant step is this quantile of the steps that error control would take."""


@dataclass
class Sensitivity:
    """Derivatives of a quantity by parameters; prints as a table.

    Attributes
    ----------
    value : the quantity at the given parameters, a float or an array
    parameters : name -> value
    derivatives : name -> d quantity / d parameter
    errors : name -> estimate of the error of the differences (the common time discretisation is not in it)
    method, step : how the runs were made; "" and None where no run was asked for
    """

    value: Any
    parameters: dict[str, float]
    derivatives: dict[str, Any]
    errors: dict[str, Any]
    method: str = ""
    step: float | None = None

    def __getitem__(self, name: str) -> Any:
        if name not in self.derivatives:
            raise ModelError(f"sensitivity: '{name}' is not a parameter. There are: {', '.join(self.derivatives)}.")
        return self.derivatives[name]

    def __str__(self) -> str:
        size = float(np.abs(self.value).max())
        lines = [f"quantity {np.array2string(np.asarray(self.value), precision=8)}"]
        lines.append(f"{'parameter':<20}{'value':>13}{'derivative':>16}{'error':>11}{'% per %':>11}")
        for name, value in self.parameters.items():
            slope, error = (float(np.abs(x).max()) for x in (self.derivatives[name], self.errors[name]))
            sign = math.copysign(1.0, self.derivatives[name]) if np.ndim(self.derivatives[name]) == 0 else 1.0
            relative = f"{sign * slope * value / size:>11.4g}" if size > 0.0 else f"{'':>11}"
            lines.append(f"{name:<20}{value:>13.6g}{sign * slope:>16.8g}{error:>11.1e}{relative}")
        if self.step is not None:
            lines.append(f"runs by {self.method} with the common step {self.step:.4g} s")
        return "\n".join(lines)


def sensitivity(
    build: Callable[..., Any],
    parameters: Mapping[str, float],
    quantity: str | Callable[[Any], Any],
    t_span: tuple[float, float] | None = None,
    *,
    relative_step: float = 1e-3,
    method: str = "auto",
    step: float | None = None,
    rtol: float = 1e-6,
    **options: Any,
) -> Sensitivity:
    """Differentiate a quantity of a model with respect to the model's parameters.

    Parameters
    ----------
    build : function that builds the model: build(**parameters) -> Model
    parameters : name -> value, about which to differentiate
    quantity : with `t_span`, a function of the result of a run, or a name such as "tip.position" (its last value);
        without, a function of the model, for example `lambda m: ix.linearize(m).frequencies[0]`. Gives a number or an
        array
    t_span : (t0, t1) of the runs [s]
    relative_step : change of a parameter as a part of its value, or of 1 where that is zero; twice that is tried too
    method, step : of the runs; by default the method that `simulate` would choose, and a constant step as small as its
        small ones at `rtol`. All runs take the same
    options : further settings of `simulate`, such as events=...

    Central differences with two steps, extrapolated; four runs for each parameter and one for the value.

    Raises
    ------
    ModelError : `build` gives no model, the quantity is no finite number, or a setting is out of range.
    SimulationFailed : a run ended early.

    >>> import index3 as ix
    >>> def frequency(model):
    ...     return ix.linearize(model, initial=ix.static(model)).frequencies[0]
    >>> found = ix.sensitivity(ix.library.pendulum, {"length": 2.0}, frequency)
    >>> round(float(found["length"] / found.value), 6)  # frequency ~ length^(-1/2)
    -0.25
    """
    if not callable(build):
        raise ModelError(f"sensitivity: build is {build!r}. Give a function that returns a model.")
    if not isinstance(parameters, Mapping) or not all(is_number(x) and math.isfinite(x) for x in parameters.values()):
        raise ModelError(f"sensitivity: parameters are {short(parameters)}. Give names with finite numbers.")
    if not parameters or not all(isinstance(name, str) for name in parameters):
        raise ModelError(f"sensitivity: parameters are {short(parameters)}. Give names with finite numbers.")
    if not (is_number(relative_step) and 0.0 < relative_step < 0.5):
        raise ModelError(f"sensitivity: relative_step = {relative_step!r}. Give a number between 0 and 0.5.")
    base = {name: float(value) for name, value in parameters.items()}
    check_parameters(build, base)
    if t_span is None:
        if not callable(quantity):
            raise ModelError("sensitivity: without t_span the quantity must be a function of the model.")
        question = Question(build, quantity)
    else:
        span = check_span(t_span, "sensitivity")
        method, step = common_step(made(build, base), span, method, step, rtol, options)
        question = Question(build, quantity, span, {"method": method, "step": step, "rtol": rtol, **options})
    value = question(base)
    derivatives, errors = {}, {}
    for name, number in base.items():
        h = relative_step * (abs(number) or 1.0)
        slopes = []
        for width in (h, 2.0 * h):
            ends = [question({**base, name: number + side * width}) for side in (1.0, -1.0)]
            slopes.append((ends[0] - ends[1]) / (2.0 * width))
        derivatives[name] = (4.0 * slopes[0] - slopes[1]) / 3.0
        rounding = 4.0 * np.finfo(float).eps * np.abs(value) / h
        errors[name] = np.abs(slopes[0] - slopes[1]) / 3.0 + rounding
    if t_span is None:
        return Sensitivity(value, base, derivatives, errors)
    return Sensitivity(value, base, derivatives, errors, method, step)


@dataclass
class Question:
    """A number or array as a function of parameters: build, run if there is a span, ask."""

    build: Callable[..., Any]
    quantity: Any
    span: tuple[float, float] | None = None
    settings: Mapping[str, Any] | None = None

    def __call__(self, parameters: Mapping[str, float]) -> Any:
        """The quantity at these parameters."""
        model = made(self.build, parameters)
        if self.span is None:
            return as_finite(self.quantity(model))
        result = simulate(model, self.span, progress=False, on_failure="raise", **(self.settings or {}))
        if callable(self.quantity):
            return as_finite(self.quantity(result))
        return as_finite(np.squeeze(find_quantity(result, str(self.quantity)).values[-1]))


def check_parameters(build: Callable[..., Any], parameters: Mapping[str, float]) -> None:
    """Raise if the function does not take these parameters, or needs others."""
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):  # of some functions written in C there is none
        return
    try:
        signature.bind(**parameters)
    except TypeError as error:
        raise ModelError(f"sensitivity: parameters are {short(parameters)}, but build{signature}: {error}.") from None


def made(build: Callable[..., Any], parameters: Mapping[str, float]) -> Any:
    """The model at these parameters."""
    model = build(**parameters)
    check_model(model, "sensitivity")
    return model


def as_finite(value: Any) -> Any:
    """A float or an array of finite numbers."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError, OverflowError):
        array = np.array(np.nan)
    if not np.all(np.isfinite(array)):
        raise ModelError(f"sensitivity: the quantity gave {value!r}. Return a finite number, or an array of them.")
    return float(array) if array.ndim == 0 else array


def common_step(
    model: Model, span: tuple[float, float], method: str, step: float | None, rtol: float, options: Mapping[str, Any]
) -> tuple[str, float]:
    """The method and the constant step of all runs."""
    if step is not None and method != "auto":
        return method, float(step)
    free = {key: value for key, value in options.items() if key not in ("t_eval", "events", "callback")}
    trial = simulate(model, span, method, rtol=rtol, progress=False, **free)
    if not trial.success:
        raise SimulationFailed(trial.message, trial)
    length = span[1] - span[0]
    if step is None:
        count = min(math.ceil(length / float(np.quantile(np.diff(trial.t), SHORT))), MOST_STEPS)
        step = length / count
    return trial.method, float(step)
