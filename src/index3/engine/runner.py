"""The loop around the compiled step loop of a run: output, callbacks, interrupts, and the reason of an early end."""

from __future__ import annotations

import contextlib
import math
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.engine.collector import Callback, Collector
from index3.engine.interrupts import Watch
from index3.engine.layout import describe
from index3.engine.momentum import Momenta
from index3.engine.reasons import (
    CLOSURE_FAILED,
    INTERRUPTED,
    STOPPED,
    STORE_FAILED,
    UNMET,
    evaluation_fails,
    near_branch,
    passed_through,
    reason,
)
from index3.engine.run_result import result_of
from index3.engine.segments import Plan, Segment
from index3.engine.stalling import Allowance, Growth, Stalling, Zeno
from index3.engine.timing import CpuSeconds
from index3.errors import warn
from index3.methods import run
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.results.sinks import SINKS, Sink, StoreFailed
from index3.system.state import State
from index3.system.system import System

if TYPE_CHECKING:  # of runs that have them
    from index3.engine.dense import StepLog
    from index3.engine.events import Events, Hit
    from index3.engine.resuming import Keeper
    from index3.engine.sampling import Sampling
    from index3.results.jump import Jump


class Runner:
    """Lets a method step until the end, closes and collects the output between calls.

    Parameters
    ----------
    sink : where the output goes, if not into memory
    """

    def __init__(
        self, plan: Plan, segment: Segment, callback: Callback | None, cpu: CpuSeconds, sink: Sink | None = None
    ) -> None:
        self.plan, self.segment, self.callback, self.cpu = plan, segment, callback, cpu
        whole = segment.variant.whole
        self.layout = describe(segment.variant.model, whole)
        sizes = sizes_of(whole, self.projection)
        lines = None if plan.t_eval is None else len(plan.t_eval)
        self.momenta = Momenta(segment)
        late = (
            plan.project and whole.is_self_contained and not (self.momenta.parts or segment.variant.model.controllers)
        )
        workspace = segment.variant.state.workspace
        self.collector = Collector(sink or SINKS["memory"](), self.layout, sizes, lines, workspace, late=late)
        self.collector.follow(segment)
        self.jumps: list[Jump] = []
        self.status, self.message = 0, ""
        self.cause: BaseException | None = None
        self.log: StepLog | None = None  # with dense output: every accepted step
        self.events: Events | None = None  # functions to be asked after every accepted step
        self.sampling: Sampling | None = None  # controllers
        self.seconds = 0.0
        self.stalling, self.zeno = Stalling(plan.span), Zeno(plan.span)
        self.allowance, self.growth = Allowance(plan.span, plan.max_steps), Growth(plan.span)
        self.asked = 0  # steps at the last look at the choice of the method
        myself = weakref.proxy(self)  # no cycle: the tables of a run go with it
        self.watch = Watch(lambda: myself.run)
        self.near_branch = self.passed = False  # whether a warning was given
        self.keeper: Keeper | None = None  # of a run that can be resumed

    @property
    def run(self) -> Run:
        """The run of the present segment."""
        return self.segment.run

    @property
    def state(self) -> State:
        """The state of the present segment."""
        return self.segment.variant.state

    @property
    def system(self) -> System:
        """The equations of the present segment."""
        return self.segment.variant.system

    @property
    def projection(self) -> Projector:
        """What moves output of the present segment onto the constraints."""
        return self.segment.variant.projection

    @property
    def tried(self) -> int:
        """Steps tried so far, accepted or not."""
        counts, earlier = self.run[run.COUNTS], self.segment.earlier
        now = int(counts[run.N_STEPS] + counts[run.N_REJECTED])
        return now + earlier.get("steps", 0) + earlier.get("rejected", 0)

    @property
    def next_choice(self) -> int:
        """Accepted steps after which the choice of an automatic run is looked at again."""
        assert self.segment.choice is not None
        return self.segment.choice.next_look(self.asked, self.segment.earlier.get("steps", 0))

    @property
    def largest_rate(self) -> float:
        """The largest rate of a coordinate since the segment began."""
        return float(self.run[run.LARGEST_V].max(initial=0.0))

    def run_to_end(self, report: Callable[[float], None]) -> None:
        """Run to the end, to a failure, or to an interrupt."""
        try:
            with self.watch:
                self.step_to_end(report)
        except KeyboardInterrupt:
            self.callback = None
            if self.log is not None:
                self.log.note()
            self.collect()
            self.status, self.message = INTERRUPTED, f"Interrupted at t = {self.run.t:g}."
        except StoreFailed as error:
            self.end_for_store(error)

    def end_for_store(self, error: StoreFailed) -> None:
        """The run ends because its store cannot be written; what is in it stays."""
        self.status, self.cause = -STORE_FAILED, error
        self.message = f"{self.message} {error} Once that is fixed, index3.resume continues the run.".strip()

    def step_to_end(self, report: Callable[[float], None]) -> None:
        """Run to the end, to a failure, or until Ctrl-C is noted."""
        while self.status == 0:
            if self.keeper is not None:
                self.keeper.keep_if_due(self)
            self.cpu.enter("steps")
            start = time.perf_counter()
            if self.sampling is not None:
                self.sampling.activate()
            with self.watch.stepping():
                code = self.run.advance(self.segment.method.kernel, self.segment.table, self.steps_until_check())
            self.seconds += time.perf_counter() - start
            if code == run.BUDGET and self.stalling.is_stalled(self.tried, self.run.t):
                code = run.STEP_TOO_SMALL
            elif code == run.BUDGET and self.allowance.is_short(self.tried, self.run.t):
                code = run.TOO_MANY_STEPS
            elif code == run.BUDGET and self.growth.is_endless(self.tried, self.run.t, self.largest_rate):
                code = run.GREW
            failure = self.failure(code) or self.momentum_lost(code)  # before the output, which moves the state
            hit = self.find_event()  # these ask the method that took the step for what is inside it
            if self.log is not None and hit is None:
                self.log.note()
            if code != run.DONE and self.change_method(code, failure is not None):
                failure, code = None, run.BUDGET
            self.collect(math.inf if hit is None else hit.t)
            with self.watch.showing():
                report(self.run.t)
            if self.status == 0 and hit is not None:
                self.cpu.enter("steps")
                from index3.engine.restarts import handle_event  # of runs that have events

                handle_event(self, hit)
            elif self.status == 0 and failure is not None:
                self.status, self.message, self.cause = failure
            elif code == run.DONE and self.status == 0:
                if self.segment.end == self.plan.span[1]:
                    break
                self.cpu.enter("steps")
                from index3.engine.restarts import pass_stop  # of runs that have stops

                pass_stop(self)
        if self.status == 0:
            self.conclude()

    def steps_until_check(self) -> int:
        """How many steps may be tried before the next decision about the run.

        Decisions come after counted steps whatever the machine's speed, so that a run can be repeated to the last bit.
        """
        looks = (self.stalling.next_look, self.momenta.next_look, self.allowance.next_look, self.growth.next_look)
        steps = int(max(1, min(looks) - self.tried))
        if self.log is not None or self.events is not None:
            steps = 1
        if self.segment.choice is not None:  # no step if a block was full right then: the rest of its lines is written
            steps = min(steps, max(0, self.next_choice - self.segment.counters()["steps"]))
        return steps

    def find_event(self) -> Hit | None:
        """The event of the last accepted step that ends the run or has an action, if there is one."""
        try:
            return None if self.events is None else self.events.find_first()
        except UNMET as error:  # an event asked for reactions where there are none
            self.status, self.message, self.cause = -CLOSURE_FAILED, str(error), error
            return None

    @property
    def chosen(self) -> str:
        """What to say of the methods of an automatic run."""
        return "" if self.segment.choice is None else f" Method: {self.segment.choice.story}."

    def conclude(self) -> None:
        """Say that the end was reached, and by which methods."""
        segment = self.segment
        late = segment.run.own_counters().get("overruns", 0) + segment.earlier.get("overruns", 0)
        cut = f" {late} of them ended before their corrections had converged." if late else ""
        steps = int(segment.run[run.COUNTS][run.N_STEPS]) + segment.earlier.get("steps", 0)
        self.message = f"Reached t = {self.plan.span[1]:g} in {steps} steps.{cut}{self.chosen}"

    def change_method(self, code: int, failed: bool) -> bool:
        """Let another method take over: after a budget of steps, or where the steps became too small."""
        choice, steps = self.segment.choice, self.segment.counters()["steps"]
        if (
            choice is None or (code == run.BUDGET and steps < self.next_choice) or code == run.BLOCK_FULL
        ):  # how large blocks are must not matter
            return False
        self.asked = steps
        slow = self.allowance.note != ""
        curable = slow or code in (run.BUDGET, run.STEP_TOO_SMALL)
        table = choice.reconsider(self.run, failed, slow) if curable else None
        if table is not None:
            self.allowance.forgive()
            self.segment.method, self.segment.table = choice.method, table
        return table is not None

    def collect(self, before: float = math.inf, line: dict[str, np.ndarray] | None = None) -> None:
        """Close and keep the output written so far, up to a time, and a line more if it is given.

        Sets a status if the run is to stop here.
        """
        self.cpu.enter("output")
        self.collect_lines(before, line)

    def collect_lines(self, before: float, line: dict[str, np.ndarray] | None) -> None:
        """Close new lines, show them to the user's callback and hand them on."""
        collector = self.collector
        collector.make_room()
        collector.drop(before)
        if line is not None:
            collector.add(line)
        first = collector.closed
        error = collector.close(self.plan.project)
        if error is not None:
            self.status, self.message, self.cause = -CLOSURE_FAILED, str(error), error.__cause__ or error
        stops = self.callback is not None and self.show(self.callback, first)
        t = float(collector.output.arrays["t"][collector.closed - 1]) if collector.closed else math.nan
        if (collector.give_if_due() or stops) and self.status == 0:
            self.status, self.message = STOPPED, f"The callback stopped the run at t = {t:g}."

    def show(self, callback: Callback, first: int) -> bool:
        """Show the user's callback the lines from `first` on; whether it stops the run."""
        with self.watch.showing():
            return self.collector.show(callback, first)

    def failure(self, code: int) -> tuple[int, str, BaseException | None] | None:
        """Status, message and cause if the step loop came back because it cannot go on, else None."""
        t = self.run.t
        going = code in (run.DONE, run.BLOCK_FULL, run.BUDGET)
        broken = not going and evaluation_fails(self.segment, code)
        message = self.system.explain(self.state) if broken else ""
        failures = self.system.take_failures()  # so that functions of the user may be asked again
        noted = self.watch.interrupted and code != run.DONE
        if noted or any(isinstance(error, KeyboardInterrupt) for error in failures):
            return INTERRUPTED, f"Interrupted at t = {t:g}.", None
        if going and not self.near_branch and self.run[run.LIMITS][run.NEAR_ROW]:
            self.near_branch = True
            warn(f"simulate: until t = {t:g}, {near_branch(self.segment)}")
        if going and not self.passed and self.run[run.LIMITS][run.PASSED]:
            self.passed = True
            warn(f"simulate: {passed_through(self.segment)}")
        if going:  # a function that failed in a trial may succeed in a smaller step
            return None
        message = message or self.allowance.note or reason(self.segment, code, self.plan.max_steps)
        message += self.stalling.note + self.growth.note + (self.chosen if code == run.TOO_MANY_STEPS else "")
        return -code, message, failures[-1] if broken and failures else None

    def momentum_lost(self, code: int) -> tuple[int, str, BaseException | None] | None:
        """Status and message if a free part of the model is found to have another momentum than at the start."""
        told = "" if self.jumps else self.momenta.look(self.segment, self.tried, code == run.DONE)
        return (-run.GAINED, told, None) if told else None

    def keep_result(self, error: Exception, options: dict[str, Any]) -> None:
        """Give an error of a user's function, which ends the run, the result so far as its attribute `result`."""
        if not self.collector.given + self.collector.closed:
            return
        self.status = -run.EVALUATION_FAILED
        self.message = f"{type(error).__name__} in a user function ended the run at t = {self.run.t:g}: {error}"
        with contextlib.suppress(
            Exception
        ):  # of a sink that failed, or an error without attributes: the first one counts
            error.result = result_of(self, options)  # type: ignore[attr-defined]
            error.add_note("index3: the result so far is in the attribute 'result' of this error.")


def sizes_of(whole: System, projection: Projector) -> dict[str, int]:
    """Sizes of the dimensions of a result, found once for a model."""
    if "sizes" not in whole.found:
        whole.found["sizes"] = projection.sizes | {"row": whole.m}
    sizes: dict[str, int] = whole.found["sizes"]
    return sizes
