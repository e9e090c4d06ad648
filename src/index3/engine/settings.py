"""Checks of what a user gives to an analysis: nothing out of range passes, nothing is clamped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.engine.balance import MODES
from index3.errors import ModelError, warn
from index3.linear.registry import check_needs
from index3.linear.solver import NEEDS, RANK, UNSYMMETRIC
from index3.methods.registry import METHODS
from index3.model.model import Model
from index3.results.result import Result

MOST_TIMES = 100_000_000
"""Output times beyond which an interval is taken for a slip: one coordinate of them fills 0.8 GB."""
LARGEST_ATOL = 1e100
"""Energies of errors of this size are still numbers; beyond it nothing is."""
MOST_STEPS = 2**62
"""Steps that can be counted, and more than any computer takes."""


def check_model(model: Any, analysis: str) -> None:
    """Raise unless this is a model."""
    if not isinstance(model, Model):
        raise ModelError(
            f"{analysis}: the model is {short(model)}. Give an index3.Model, such as index3.library.four_bar()."
        )


def is_number(value: Any) -> bool:
    """Whether this is a real number, and not True or False."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        float(value)
    except OverflowError:  # whole numbers may be larger than any float
        return False
    return True


def listed(values: Any, what: str, advice: str) -> list[Any]:
    """One thing or several as a list; `what` begins the message if they are neither."""
    if isinstance(values, str):
        return [values]
    try:
        return list(values)
    except TypeError:
        raise ModelError(f"{what} {short(values)}. {advice}") from None


def check_result(result: Any, analysis: str) -> None:
    """Raise unless this is what a run returned."""
    if not isinstance(result, Result):
        raise ModelError(f"{analysis}: the result is {short(result)}. Give what simulate returned.")


def check_span(t_span: Any, analysis: str = "simulate") -> tuple[float, float]:
    """Two finite numbers, the first smaller."""
    try:
        t0, t1 = (float(x) for x in t_span)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{analysis}: t_span = {short(t_span)}. Give two numbers (t0, t1).") from None
    if not (math.isfinite(t0) and math.isfinite(t1) and t0 < t1):
        raise ModelError(f"{analysis}: t_span = ({t0:g}, {t1:g}). Give finite times with t0 < t1.")
    return t0, t1


def check_time(t: Any, analysis: str) -> float:
    """One finite time."""
    if not (is_number(t) and math.isfinite(t)):
        raise ModelError(f"{analysis}: t = {short(t)}. Give a finite number of seconds.")
    return float(t)


def check_steps(method: Any, rtol: Any, step: Any, first_step: Any, max_step: Any, max_steps: Any) -> float:
    """Raise for tolerances and steps out of range; the constant step, or 0.0."""
    if not (is_number(rtol) and 1e-13 <= rtol <= 0.1):
        raise ModelError(f"simulate: rtol = {short(rtol)}. Give a number from 1e-13 to 0.1.")
    if step is not None and isinstance(method, str) and method == "auto":
        raise ModelError("simulate: a constant step needs a method. Name one, for example method='hht-i3'.")
    if step is not None and first_step is not None:
        raise ModelError("simulate: step and first_step exclude each other. Give one of them.")
    for name, value in (("step", step), ("first_step", first_step), ("max_step", max_step)):
        if (value is not None or name == "max_step") and not (is_number(value) and value > 0.0):
            raise ModelError(f"simulate: {name} = {short(value)}. Give a positive number of seconds.")
    if step is not None and not math.isfinite(step):
        raise ModelError(f"simulate: step = {short(step)}. Give a finite number of seconds.")
    whole = is_number(max_steps) and isinstance(max_steps, Integral)
    if max_steps is not None and not (whole and 0 < int(max_steps) < MOST_STEPS):
        raise ModelError(f"simulate: max_steps = {short(max_steps)}. Give a positive whole number.")
    return 0.0 if step is None else float(step)


def check_choices(project: Any, callback: Any, on_failure: Any, analysis: str = "simulate", audit: Any = "off") -> None:
    """Raise for settings that are none of their choices."""
    if not isinstance(project, bool | np.bool_):
        raise ModelError(f"simulate: project = {short(project)}. Choose True or False.")
    if callback is not None and not callable(callback):
        raise ModelError(f"simulate: callback = {short(callback)}. Give a function of (t, q, v).")
    if not isinstance(audit, str) or audit not in MODES:
        raise ModelError(f"simulate: audit = {short(audit)}. Choose 'fail', 'warn' or 'off'.")
    if not (isinstance(on_failure, str) and on_failure in ("return", "raise")):
        raise ModelError(f"{analysis}: on_failure = {short(on_failure)}. Choose 'return' or 'raise'.")


def check_solver(linear: Any, method: Any, model: Model) -> None:
    """Raise if there is no such linear solver, or if the method (None: any) or a force needs more of it than it offers.

    Redundant rows are found out at the start.
    """
    if method is None:
        check_needs(linear, set(NEEDS) - {RANK}, "method='auto'")
    else:
        check_needs(linear, method.needs, f"Method '{method.key}'")
    for force in model.forces.values():
        if force.reads_reactions or force.reads_accelerations:
            what = "reactions" if force.reads_reactions else "accelerations"
            check_needs(linear, {UNSYMMETRIC}, f"{force.label}, which depends on {what},")


def absolute_tolerance(atol: Any, rtol: float, count: int) -> np.ndarray:
    """One positive number per coordinate."""
    try:
        values = np.broadcast_to(np.asarray(0.01 * rtol if atol is None else atol, float), (count,))
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"simulate: atol = {short(atol)}. Give a number, or {count} numbers.") from None
    if not (np.all(values < LARGEST_ATOL) and np.all(values > 0.0)):
        raise ModelError("simulate: atol must be positive and finite, since coordinates may pass through zero.")
    return values


def output_times(t_eval: Any, span: tuple[float, float], analysis: str = "simulate") -> np.ndarray | None:
    """The output times as an array, or None for every step."""
    if t_eval is None:
        return None
    if is_number(t_eval):
        if isinstance(t_eval, Integral) and int(t_eval) > max(1, span[1] - span[0]):
            warn(
                f"{analysis}: t_eval = {t_eval} is an interval in seconds, longer than the span: only start and "
                f"end are kept. For that many times give numpy.linspace({span[0]:g}, {span[1]:g}, {t_eval})."
            )
        return evenly(float(t_eval), span, analysis)
    t0, t1 = span
    try:
        times = np.array(t_eval, float)
    except (TypeError, ValueError, OverflowError):
        times = np.empty(0)
    if isinstance(t_eval, bool) or times.ndim != 1 or len(times) == 0 or not np.all(np.isfinite(times)):
        raise ModelError(f"{analysis}: t_eval must be an interval or a one-dimensional array of finite times.")
    near = 4.0 * float(np.spacing(max(abs(t0), abs(t1))))  # numpy.arange ends at 0.30000000000000004
    times[(times > t1) & (times <= t1 + near)] = t1
    times[(times < t0) & (times >= t0 - near)] = t0
    back = np.flatnonzero(np.diff(times) <= 0.0)
    if len(back):
        what = f"{times[back[0] + 1]!s} follows {times[back[0]]!s}"
        raise ModelError(f"{analysis}: t_eval must increase and stay inside ({t0:g}, {t1:g}): {what}.")
    if times[0] < t0 or times[-1] > t1:
        what = times[0] if times[0] < t0 else times[-1]
        raise ModelError(f"{analysis}: t_eval must increase and stay inside ({t0:g}, {t1:g}): it has {what!s}.")
    return times


def stop_times(times: Any, span: tuple[float, float]) -> np.ndarray:
    """Declared discontinuities inside the span, in order, each once."""
    t0, t1 = span
    try:
        stops = np.array(sorted(set(np.asarray(times, float).ravel().tolist())))  # np.unique imports numpy.ma
    except (TypeError, ValueError, OverflowError):
        stops = np.array([math.nan])
    if not np.all(np.isfinite(stops)):
        raise ModelError(f"simulate: discontinuities = {short(times)}. Give finite times.")
    return stops[(stops > t0) & (stops < t1)]


def evenly(dt: float, span: tuple[float, float], analysis: str = "simulate") -> np.ndarray:
    """t0, t0 + dt, ..., and t1 itself; rounding makes no extra point next to t1."""
    t0, t1 = span
    if not (math.isfinite(dt) and dt > 0.0):
        raise ModelError(f"{analysis}: t_eval = {dt!r}. Give a positive interval, or an array of times.")
    if (t1 - t0) / dt > MOST_TIMES:
        raise ModelError(
            f"{analysis}: t_eval = {dt!r} asks for {(t1 - t0) / dt:.3g} output times. Give a larger interval."
        )
    count = math.floor((t1 - t0) / dt * (1.0 + 1e-12) + 1e-9)
    times = t0 + dt * np.arange(count + 1)
    if t1 - times[-1] > 1e-9 * dt:
        times = np.append(times, t1)
    times[-1] = t1
    return times


def longest_step(model: Model) -> tuple[float, str]:
    """The longest step that the forces of a model allow, and which one sets it."""
    steps = [(force.longest_step, force.label) for force in model.forces.values()]
    return min(steps, default=(math.inf, ""))


INTERVALS = ("dt", "h", "timestep", "time_step", "step_size")
"""What others call one of two options."""


def check_names(options: Mapping[str, Any], own: Iterable[str], named: bool, analysis: str = "simulate") -> None:
    """Raise for options that no method has and that were meant for `simulate`, whose own settings these are.

    Those meant for a method that was `named` are left to it.
    """
    if not options:
        return
    own = list(own)
    of_methods = {name for method in METHODS.values() for name in method.options}
    for name in set(options) - of_methods:
        import difflib  # only for a mistake

        near = difflib.get_close_matches(name, own if named else [*own, *sorted(of_methods)], n=1, cutoff=0.65)
        if name in INTERVALS and "t_eval" in own:
            raise ModelError(
                f"{analysis} has no option '{name}'. Give t_eval for the interval of output, step for constant steps."
            )
        advice = f"Did you mean '{near[0]}'?" if near else f"It takes {', '.join(own)}, and options of its method."
        if near or not named:
            raise ModelError(f"{analysis} has no option '{name}'. {advice}")
