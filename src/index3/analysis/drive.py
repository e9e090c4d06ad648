"""The loop around a method's compiled `advance`: output, callbacks, interrupts, and the reason of an early end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from index3.analysis.choice import Automatic
from index3.analysis.dense import StepLog
from index3.analysis.events import Events
from index3.analysis.layout import describe
from index3.compiled import slots as s
from index3.errors import Index3Error
from index3.linear import static_lu
from index3.methods import run
from index3.methods.closing import UNSETTLED, Closer, singular_body
from index3.methods.runner import Run
from index3.results.result import Result
from index3.system import evaluate
from index3.system.system import State, System

STOPPED, INTERRUPTED, CLOSURE_FAILED = 1, 2, 3
"""Values of `status` beside 0 (reached the end) and the negative ones (failed, minus the reason of `methods.run`)."""
BUDGET_SECONDS = 0.1
RECONSIDER = 100
"""Accepted steps between two looks at the choice of an automatic run: a look costs some 30 solves."""
Callback = Callable[[float, np.ndarray, np.ndarray], Any]


class Drive:
    """Calls a method's `advance` until the end, closes and collects the output between calls."""

    def __init__(
        self, model: Any, state: State, closer: Closer, progress: Run, project: bool, callback: Callback | None
    ) -> None:
        self.model, self.state, self.closer = model, state, closer
        self.system: System = state.system
        self.run, self.project, self.callback = progress, project, callback
        self.pending: dict[str, np.ndarray] | None = None  # taken from the run, not yet closed
        self.blocks: list[dict[str, np.ndarray]] = []
        self.status, self.message = 0, ""
        self.cause: BaseException | None = None
        self.log: StepLog | None = None  # with dense output: every accepted step
        self.choice: Automatic | None = None  # with method="auto": who decides
        self.events: Events | None = None  # functions to be asked after every accepted step
        self.seconds = 0.0
        self.asked = 0  # steps at the last look at the choice of the method

    def go(self, kernel: Any, table: Any, report: Callable[[float], None]) -> None:
        """Run to the end, to a failure, or to an interrupt."""
        free = self.log is None and self.events is None  # otherwise the run returns after every step
        steps = 100 if free else 1
        try:
            while self.status == 0:
                start = time.perf_counter()
                code = self.run.advance(kernel, table, steps)
                spent = time.perf_counter() - start
                self.seconds += spent
                if code == run.BUDGET and free:  # return every 0.1 s: progress and Ctrl-C feel immediate
                    steps = int(np.clip(steps * BUDGET_SECONDS / max(spent, 1e-6), 1, min(10 * steps, 1_000_000)))
                trouble = self.trouble(code)  # before the output is closed, which moves the state
                if self.choice is not None and code != run.DONE:
                    other = self.choice.reconsider(self.run, trouble is not None) if self.may_change(code) else None
                    if other is not None:
                        kernel, table, trouble, code = self.choice.method.kernel, other, None, run.BUDGET
                end = None if self.events is None else self.events.look()
                self.collect()
                if end is not None and self.status == 0:
                    self.cut(end)
                if trouble is not None and self.status == 0:
                    self.status, self.message, self.cause = trouble
                report(self.run.t)
                if code == run.DONE:
                    break
            if self.status == 0:
                by = "" if self.choice is None else f" Method: {self.choice.story}."
                self.message = f"Reached t = {self.run.t:g} in {self.run.counters()['steps']} steps.{by}"
        except KeyboardInterrupt:
            self.callback = None
            self.collect()
            self.status, self.message = INTERRUPTED, f"Interrupted at t = {self.run.t:g}."

    def may_change(self, code: int) -> bool:
        """Whether another method may take over: after a budget of steps, or where the steps became too small."""
        steps = self.run.counters()["steps"]
        if code == run.BUDGET and steps < self.asked + RECONSIDER:
            return False
        self.asked = steps
        return code in (run.BUDGET, run.STEP_TOO_SMALL)

    def collect(self) -> None:
        """Close and keep the output written so far; sets a status if the run is to stop here.

        What an interrupt leaves half done is done again by the next call.
        """
        if self.log is not None:
            self.log.note()
        if self.pending is None:
            self.pending = self.run.take_block()
        lines = self.closed(self.pending)
        if len(lines["t"]) or not self.blocks:  # one block at least, even if it is empty, gives the result its shapes
            self.blocks.append(lines)
        self.pending = None
        if self.wants_stop(lines) and self.status == 0:
            self.status, self.message = STOPPED, f"The callback stopped the run at t = {lines['t'][-1]:g}."

    def cut(self, t: float) -> None:
        """End the run at the time of a terminal event: later lines go, one at the event comes."""
        assert self.events is not None
        last = self.blocks[-1]
        before = int(np.count_nonzero(last["t"] < t))
        self.blocks[-1] = {name: array[:before] for name, array in last.items()}
        self.blocks.append(self.closed(self.events.line(t)))
        self.status, self.message = STOPPED, f"Event {self.events.ended} ended the run at t = {t:g}."

    def closed(self, block: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The lines of a block on the constraints, with what is derived from them; up to one that cannot be closed."""
        arrays = {name: array for name, array in block.items() if name != "work"}
        try:
            lines = self.closer.close_block(**arrays, project=self.project)
        except Index3Error as error:
            lines = error.lines  # type: ignore[attr-defined]
            self.status, self.message, self.cause = -CLOSURE_FAILED, str(error), error.__cause__ or error
        lines["work"] = block["work"][: len(lines["t"])]
        return lines

    def wants_stop(self, lines: dict[str, np.ndarray]) -> bool:
        """Call the user's callback line by line; if it wants to stop, what comes later is dropped."""
        if self.callback is None:
            return False
        for k, t in enumerate(lines["t"]):
            answer = self.callback(float(t), lines["q"][k].copy(), lines["v"][k].copy())
            if isinstance(answer, bool | np.bool_) and answer:
                for name, array in lines.items():
                    lines[name] = array[: k + 1]
                return True
        return False

    def trouble(self, code: int) -> tuple[int, str, BaseException | None] | None:
        """Status, message and cause if `advance` came back because it cannot go on, else None."""
        t = self.run.t
        going = code in (run.DONE, run.BLOCK_FULL, run.BUDGET)
        broken = not going and self.evaluation_fails(code)
        message = self.system.explain(self.state) if broken else ""
        failures = self.system.take_failures()  # so that functions of the user may be asked again
        if any(isinstance(error, KeyboardInterrupt) for error in failures):
            return INTERRUPTED, f"Interrupted at t = {t:g}.", None
        if going:  # a function that failed in a trial may succeed in a smaller step
            return None
        return -code, message or self.reason(code), failures[-1] if broken and failures else None

    def evaluation_fails(self, code: int) -> bool:
        """Whether the equations have no value at the point of the last trial."""
        if code == run.EVALUATION_FAILED:
            return True
        if code not in (run.STEP_TOO_SMALL, run.NEWTON_FAILED):
            return False
        status = self.state[s.STATUS]
        status[s.STEPPING] = 1  # as in the trial
        code = self.state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix)
        status[s.STEPPING] = 0
        return code != 0

    def reason(self, code: int) -> str:
        """Why a run stopped early although its equations have values."""
        t, h = self.run.t, float(self.run[run.CLOCK][run.H_NEXT])
        rows = self.system.worst_rows(self.state[s.PHI])
        worst = f"; worst rows: {rows}" if rows else ""
        why = {
            run.NEWTON_FAILED: f"Newton's iteration failed in the step from t = {t:g}{worst}. "
            "Give a smaller step, or let the method choose it.",
            run.STEP_TOO_SMALL: f"The step became too small at t = {t:g} (h = {h:.3g}{worst}). "
            "The motion is not smooth there, or the tolerance is beyond rounding.",
            run.NOT_FINITE: f"The equations contain numbers that are not finite at t = {t:g}{worst}.",
            run.UNSETTLED: f"{UNSETTLED} at t = {t:g}{worst}.",
            run.TOO_MANY_STEPS: f"Gave up at t = {t:g} after max_steps = {self.run.counters()['steps']} steps.",
        }
        return why[code] if code in why else str(singular_body(self.system, self.run.factors))

    def result(self, method: Any, options: dict[str, Any]) -> Result:
        """Everything collected, as a Result."""
        names = ("t", "q", "v", "a", "lam", "angle", "wrench", "energy", "violation", "scaled", "work")
        joined = {name: np.concatenate([block[name] for block in self.blocks]) for name in names}
        energy = joined.pop("energy")
        joined |= {"kinetic": energy[:, 0].copy(), "potential": energy[:, 1].copy()}
        joined["violation_scaled"] = joined.pop("scaled")
        stats = {**self.run.counters(), "seconds": self.seconds}
        if stats["stiff"]:
            self.message += f" {stats['stiff']} steps looked stiff: a method for stiff systems may need far fewer."
        info = {
            "status": self.status, "message": self.message, "success": self.status in (0, STOPPED), "stats": stats,
            "method": method.key, "options": {key: value for key, value in options.items() if value is not None},
        }  # fmt: skip
        result = Result(describe(self.model, self.system, self.unique_rows()), joined, info)
        result.sol = None if self.log is None else self.log.solution()
        if self.events is not None:
            result.t_events, result.y_events = self.events.times(), self.events.states()
        return result

    def unique_rows(self) -> np.ndarray:
        """Whether each row's multiplier is determined: rows outside the null space of Phi_q^T at the last output."""
        if self.closer.factors[static_lu.INFO][static_lu.N_ZERO] > 0:
            return ~self.closer.null_rows()
        return np.ones(self.system.m, bool)
