"""The run of a model through time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from index3.analysis.assemble import assemble_state
from index3.analysis.layout import describe
from index3.analysis.progress import reporter
from index3.compiled import slots as s
from index3.errors import Index3Error, ModelError, SimulationFailed
from index3.linear import static_lu
from index3.methods import run
from index3.methods.closing import Closer, singular_body
from index3.methods.registry import choose
from index3.methods.runner import Run
from index3.results.result import Result
from index3.system.compile import compile_model
from index3.system.system import State, System

STOPPED, INTERRUPTED, CLOSURE_FAILED = 1, 2, 3
"""Values of `status` beside 0 (reached the end) and the negative ones (failed, minus the reason of `methods.run`)."""
BUDGET_SECONDS = 0.1


def simulate(
    model: Any,
    t_span: tuple[float, float],
    method: Any = "auto",
    *,
    rtol: float = 1e-6,
    atol: Any = None,
    step: float | None = None,
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    first_step: float | None = None,
    max_step: float = math.inf,
    max_steps: int | None = None,
    project: bool = True,
    progress: Any = "auto",
    callback: Callable[[float, np.ndarray, np.ndarray], Any] | None = None,
    on_failure: str = "return",
    **options: Any,
) -> Result:
    """Integrate a model's equations of motion and return its motion, reactions, energy and residuals.

    Parameters
    ----------
    model : Model
    t_span : (t0, t1) [s], t0 < t1
    method : key of `index3.METHODS`, an instance such as `HHT(alpha=-0.1)`, or "auto"
    rtol, atol : error allowed per step in each coordinate: atol + rtol * (largest magnitude so far); atol may be an
        array with one number per coordinate; by default it is rtol/100 (1e-8 at the default rtol), so that rtol alone
        sets the accuracy
    step : constant step [s] instead of error control; a failed step then ends the run
    t_eval : output times: None for every accepted step, a number for t0, t0 + dt, ... and t1, or an increasing array
    first_step, max_step : of the steps chosen by the method [s]
    max_steps : give up after this many accepted steps
    project : project a copy of every output state onto the constraints (see "Projection" in the manual)
    progress : "auto" (a bar on a terminal), True, False, or a function of (t, t1)
    callback : function of (t, q, v) called at every output time; returning True stops the run
    on_failure : "return" a result that says `success=False`, or "raise" SimulationFailed with the result in it
    options : settings of the method, such as alpha=-0.1

    Raises
    ------
    ModelError, AssemblyError, SingularError : before the first step, if the model or a setting is wrong.
    SimulationFailed : with on_failure="raise".

    >>> import index3 as ix
    >>> result = ix.simulate(ix.library.pendulum(), (0.0, 0.1), t_eval=0.05)
    >>> len(result.t)
    3
    """
    chosen = choose(method, options)
    span = check_span(t_span)
    constant_step = check_settings(method, rtol, step, first_step, max_step, max_steps, on_failure)
    for name, value in (("dense_output", dense_output), ("events", events)):
        if value:
            raise ModelError(f"simulate: {name} is not available yet. Use t_eval for output at the times you need.")
    times = output_times(t_eval, span)
    system = compile_model(model)
    state = State(system)
    closer = Closer(state)
    assemble_state(state, closer, span[0])
    progress_run = Run(
        state, closer.solver, span, rtol=rtol, atol=absolute_tolerance(atol, rtol, system), newton_tol=chosen.newton_tol,
        t_eval=times, step=constant_step, max_step=max_step, max_steps=max_steps,
    )  # fmt: skip
    table = chosen.start(progress_run, first_step)
    drive = Drive(model, system, state, closer, progress_run, project, callback)
    with reporter(progress, model.name, span) as report:
        drive.go(chosen.kernel, table, report)
    result = drive.result(chosen, {"rtol": rtol, "step": step, **options})
    if not result.success and on_failure == "raise":
        raise SimulationFailed(result.message, result) from drive.cause
    return result


def check_span(t_span: Any) -> tuple[float, float]:
    """Two finite numbers, the first smaller."""
    try:
        t0, t1 = (float(x) for x in t_span)
    except (TypeError, ValueError):
        raise ModelError(f"simulate: t_span = {t_span!r}. Give two numbers (t0, t1).") from None
    if not (math.isfinite(t0) and math.isfinite(t1) and t0 < t1):
        raise ModelError(f"simulate: t_span = ({t0:g}, {t1:g}). Give finite times with t0 < t1.")
    return t0, t1


def check_settings(method: Any, rtol: float, step: Any, first_step: Any, max_step: Any, max_steps: Any, on_failure: str) -> float:
    """Raise for settings out of range; the constant step, or 0.0."""
    if not (isinstance(rtol, int | float) and 1e-13 <= rtol <= 0.1):
        raise ModelError(f"simulate: rtol = {rtol!r}. Give a number from 1e-13 to 0.1.")
    if step is not None and method == "auto":
        raise ModelError("simulate: a constant step needs a method. Name one, for example method='hht-i3'.")
    if step is not None and first_step is not None:
        raise ModelError("simulate: step and first_step exclude each other. Give one of them.")
    for name, value in (("step", step), ("first_step", first_step), ("max_step", max_step)):
        if value is not None and not (isinstance(value, int | float | np.floating) and value > 0.0):
            raise ModelError(f"simulate: {name} = {value!r}. Give a positive number of seconds.")
    if step is not None and not math.isfinite(step):
        raise ModelError(f"simulate: step = {step!r}. Give a finite number of seconds.")
    if max_steps is not None and not (isinstance(max_steps, int) and max_steps > 0):
        raise ModelError(f"simulate: max_steps = {max_steps!r}. Give a positive whole number.")
    if on_failure not in ("return", "raise"):
        raise ModelError(f"simulate: on_failure = {on_failure!r}. Choose 'return' or 'raise'.")
    return 0.0 if step is None else float(step)


def absolute_tolerance(atol: Any, rtol: float, system: System) -> np.ndarray:
    """One positive number per coordinate."""
    if atol is None:
        atol = 0.01 * rtol
    try:
        values = np.broadcast_to(np.asarray(atol, float), (system.n,))
    except ValueError:
        raise ModelError(f"simulate: atol has the wrong shape. Give a number, or {system.n} numbers.") from None
    if not (np.all(np.isfinite(values)) and np.all(values > 0.0)):
        raise ModelError("simulate: atol must be positive and finite, for coordinates may pass through zero.")
    return values


def output_times(t_eval: Any, span: tuple[float, float]) -> np.ndarray | None:
    """The output times as an array, or None for every step."""
    t0, t1 = span
    if t_eval is None:
        return None
    if np.ndim(t_eval) == 0:
        dt = float(t_eval)
        if not (math.isfinite(dt) and dt > 0.0):
            raise ModelError(f"simulate: t_eval = {t_eval!r}. Give a positive interval, or an array of times.")
        count = math.floor((t1 - t0) / dt * (1.0 + 1e-12) + 1e-9)
        times = t0 + dt * np.arange(count + 1)
        if t1 - times[-1] > 1e-9 * dt:
            times = np.append(times, t1)
        times[-1] = t1
        return times
    times = np.array(t_eval, float)
    if times.ndim != 1 or len(times) == 0 or not np.all(np.isfinite(times)):
        raise ModelError("simulate: t_eval must be an interval or a one-dimensional array of finite times.")
    if np.any(np.diff(times) <= 0.0) or times[0] < t0 or times[-1] > t1:
        raise ModelError(f"simulate: t_eval must increase and stay inside ({t0:g}, {t1:g}).")
    return times


class Drive:
    """Calls a method's `advance` until the end, closes and collects the output between calls."""

    def __init__(
        self, model: Any, system: System, state: State, closer: Closer, progress: Run, project: bool,
        callback: Callable[[float, np.ndarray, np.ndarray], Any] | None,
    ) -> None:  # fmt: skip
        self.model, self.system, self.state, self.closer = model, system, state, closer
        self.run, self.project, self.callback = progress, project, callback
        self.blocks: list[dict[str, np.ndarray]] = []
        self.status, self.message = 0, ""
        self.cause: BaseException | None = None
        self.seconds = 0.0

    def go(self, kernel: Any, table: Any, report: Callable[[float], None]) -> None:
        """Run to the end, to a failure, or to an interrupt."""
        steps = 100
        try:
            while True:
                start = time.perf_counter()
                code = self.run.advance(kernel, table, steps)
                spent = time.perf_counter() - start
                self.seconds += spent
                if code == run.BUDGET:  # aim at a return every 0.1 s, so that progress and Ctrl-C feel immediate
                    steps = int(np.clip(steps * BUDGET_SECONDS / max(spent, 1e-6), 1, 10 * steps))
                if not self.collect():
                    return
                report(self.run.t)
                if code == run.DONE:
                    self.message = f"Reached t = {self.run.t:g} in {self.run.counters()['steps']} steps."
                    return
                if code not in (run.BLOCK_FULL, run.BUDGET):
                    self.fail(code)
                    return
        except KeyboardInterrupt:
            self.collect()
            self.status, self.message = INTERRUPTED, f"Interrupted at t = {self.run.t:g}."

    def collect(self) -> bool:
        """Close and keep the output written so far; False if the run is to stop here."""
        block = self.run.take_block()
        if not len(block["t"]):
            return True
        work = block.pop("work")
        try:
            lines = self.closer.close_block(**block, project=self.project)
        except Index3Error as error:
            lines = error.lines  # type: ignore[attr-defined]
            self.status, self.cause = -CLOSURE_FAILED, error
            self.message = str(error)
        lines["work"] = work[: len(lines["t"])]
        stop = self.ask_callback(lines)
        self.blocks.append(lines)
        if stop and self.status == 0:
            self.status, self.message = STOPPED, f"The callback stopped the run at t = {lines['t'][-1]:g}."
        return self.status == 0

    def ask_callback(self, lines: dict[str, np.ndarray]) -> bool:
        """Call the user's callback line by line; if it wants to stop, what comes later is dropped."""
        if self.callback is None:
            return False
        for k, t in enumerate(lines["t"]):
            if self.callback(float(t), lines["q"][k], lines["v"][k]) is True:
                for name, array in lines.items():
                    lines[name] = array[: k + 1]
                return True
        return False

    def fail(self, code: int) -> None:
        """Say why a run stopped early."""
        t, h = self.run.t, float(self.run[run.CLOCK][run.H_NEXT])
        self.status = -code
        raised = [getattr(force, "failure", None) for force in self.model.forces.values()]
        failures = [*self.system.failures, *(error for error in raised if error is not None)]
        if failures:
            self.cause = failures[0]
            if isinstance(self.cause, KeyboardInterrupt):
                self.status, self.message = INTERRUPTED, f"Interrupted at t = {t:g}."
                return
        rows = self.system.worst_rows(self.state[s.PHI])
        why = {
            run.NEWTON_FAILED: f"Newton's iteration failed in the step from t = {t:g} (worst rows: {rows}). "
            "Give a smaller step, or let the method choose it.",
            run.STEP_TOO_SMALL: f"The step became too small at t = {t:g} (h = {h:.3g}; worst rows: {rows}). "
            "The motion is not smooth there, or the tolerance is beyond rounding.",
            run.EVALUATION_FAILED: self.system.explain(self.state),
            run.NOT_FINITE: f"The equations contain numbers that are not finite at t = {t:g} (worst rows: {rows}).",
            run.TOO_MANY_STEPS: f"Gave up at t = {t:g} after max_steps = {self.run.counters()['steps']} steps.",
        }
        self.message = why[code] if code in why else str(singular_body(self.system, self.run.factors))

    def result(self, method: Any, options: dict[str, Any]) -> Result:
        """Everything collected, as a Result."""
        names = ("t", "q", "v", "a", "lam", "angle", "wrench", "energy", "violation", "scaled", "work")
        joined = {name: np.concatenate([block[name] for block in self.blocks]) for name in names}
        energy = joined.pop("energy")
        joined |= {"kinetic": energy[:, 0].copy(), "potential": energy[:, 1].copy()}
        joined["violation_scaled"] = joined.pop("scaled")
        stats = {**self.run.counters(), "seconds": self.seconds}
        info = {
            "status": self.status, "message": self.message, "success": self.status in (0, STOPPED), "stats": stats,
            "method": method.key, "options": {key: value for key, value in options.items() if value is not None},
        }  # fmt: skip
        return Result(describe(self.model, self.system, self.unique_rows()), joined, info)

    def unique_rows(self) -> np.ndarray:
        """Whether each row's multiplier is determined: rows outside the null space of Phi_q^T at the last output."""
        factors = self.closer.factors
        unique = np.ones(self.system.m, bool)
        if factors[static_lu.INFO][static_lu.N_ZERO] > 0 and self.blocks:
            unique = ~self.closer.null_rows()
        return unique
