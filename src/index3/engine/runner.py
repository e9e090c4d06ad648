"""The loop around the compiled step loop of a run: output, callbacks, interrupts, and the reason of an early end."""

from __future__ import annotations

import contextlib
import math
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.engine.audit import complaint, examine, losses
from index3.engine.collector import Collector
from index3.engine.dense import StepLog
from index3.engine.events import Events, Hit
from index3.engine.interrupts import Watch
from index3.engine.layout import describe, mark_unique, moving_markers
from index3.engine.momentum import Momenta
from index3.engine.reasons import evaluation_fails, near_branch, reason
from index3.engine.resuming import Keeper
from index3.engine.sampling import Sampling
from index3.engine.segments import END_STATE, NUDGE, Plan, Segment, begin, start_time
from index3.engine.stalling import Stalling, Zeno
from index3.engine.suspects import suspects
from index3.engine.switching import Jump, Switch
from index3.engine.timing import CpuSeconds
from index3.errors import AssemblyError, SimulationFailed, SingularError, warn
from index3.linear import contract
from index3.methods import audit, run
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.results.journal import StoreFailed
from index3.results.result import Result
from index3.results.sinks import SINKS, Sink
from index3.system.system import State, System

STOPPED, INTERRUPTED, CLOSURE_FAILED, STORE_FAILED = 1, 2, 3, 4
"""Values of `status` beside 0 (reached the end) and the negative ones (failed, minus the reason of `methods.run`)."""
RECONSIDER = 100
"""Accepted steps between two looks at the choice of an automatic run: a look costs some 30 solves."""
UNMET = (AssemblyError, SingularError, SimulationFailed)
"""What a state may lack at an event; other errors are the user's, and are raised."""
SMALL_JUMP = 1e-9
"""Part of the kinetic energy that a declared discontinuity may change by rounding."""
Callback = Callable[[float, np.ndarray, np.ndarray], Any]


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
        self.layout = describe(segment.variant.model, whole, np.ones(whole.m, bool))
        sizes = self.projection.sizes | {"row": whole.m}
        lines = None if plan.t_eval is None else len(plan.t_eval)
        self.collector = Collector(sink or SINKS["memory"](), self.layout, sizes, lines)
        self.collector.follow(segment)
        self.jumps: list[Jump] = []
        self.status, self.message = 0, ""
        self.cause: BaseException | None = None
        self.log: StepLog | None = None  # with dense output: every accepted step
        self.events: Events | None = None  # functions to be asked after every accepted step
        self.sampling: Sampling | None = None  # controllers
        self.seconds = 0.0
        self.stalling, self.zeno = Stalling(plan.span), Zeno(plan.span)
        self.asked = 0  # steps at the last look at the choice of the method
        myself = weakref.proxy(self)  # no cycle: the tables of a run go with it
        self.watch = Watch(lambda: myself.run)
        self.near_branch = False  # whether a warning was given
        self.momenta = Momenta(segment)
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
        counters = self.segment.counters()
        return counters["steps"] + counters["rejected"]

    def run_to_end(self, report: Callable[[float], None]) -> None:
        """Run to the end, to a failure, or to an interrupt."""
        try:
            with self.watch:
                self.step_to_end(report)
        except KeyboardInterrupt:
            self.callback = None
            self.collect()
            self.status, self.message = INTERRUPTED, f"Interrupted at t = {self.run.t:g}."
        except StoreFailed as error:
            self.end_for_store(error)

    def end_for_store(self, error: StoreFailed) -> None:
        """The run ends because its store cannot be written; what is in it stays."""
        self.status, self.cause = -STORE_FAILED, error
        self.message = f"{self.message} {error} Once that is mended, index3.resume goes on with the run.".strip()

    def step_to_end(self, report: Callable[[float], None]) -> None:
        """Run to the end, to a failure, or until Ctrl-C is noted."""
        while self.status == 0:
            if self.keeper is not None:
                self.keeper.look(self)
            start = time.perf_counter()
            if self.sampling is not None:
                self.sampling.activate()
            with self.watch.stepping():
                code = self.run.advance(self.segment.method.kernel, self.segment.table, self.until_look())
            self.seconds += time.perf_counter() - start
            if code == run.BUDGET and self.stalling.is_stalled(self.tried, self.run.t):
                code = run.STEP_TOO_SMALL
            trouble = self.trouble(code) or self.momentum_lost(code)  # before the output, which moves the state
            if code != run.DONE and self.change_method(code, trouble is not None):
                trouble, code = None, run.BUDGET
            hit = self.look()
            self.collect(math.inf if hit is None else hit.t)
            report(self.run.t)
            if self.status == 0 and hit is not None:
                self.meet(hit)
            elif self.status == 0 and trouble is not None:
                self.status, self.message, self.cause = trouble
            elif code == run.DONE and self.status == 0:
                if self.segment.end == self.plan.span[1]:
                    break
                self.pass_stop()
        if self.status == 0:
            self.conclude()

    def until_look(self) -> int:
        """How many steps may be tried before the next decision about the run.

        Decisions come after counted steps whatever the machine's speed, so that a run can be repeated to the last bit.
        """
        if self.log is not None or self.events is not None:
            return 1
        steps = max(1, min(self.stalling.next_look, self.momenta.next_look) - self.tried)
        if self.segment.choice is not None:  # no step if a block was full right then: the rest of its lines is written
            steps = min(steps, max(0, self.asked + RECONSIDER - self.segment.counters()["steps"]))
        return steps

    def look(self) -> Hit | None:
        """The event of the last accepted step that ends the run or has an action, if there is one."""
        try:
            return None if self.events is None else self.events.look()
        except UNMET as error:  # an event asked for reactions where there are none
            self.status, self.message, self.cause = -CLOSURE_FAILED, str(error), error
            return None

    def conclude(self) -> None:
        """Say that the end was reached, and by which methods."""
        by = "" if self.segment.choice is None else f" Method: {self.segment.choice.story}."
        self.message = f"Reached t = {self.plan.span[1]:g} in {self.segment.counters()['steps']} steps.{by}"

    def change_method(self, code: int, failed: bool) -> bool:
        """Let another method take over: after a budget of steps, or where the steps became too small."""
        choice, steps = self.segment.choice, self.segment.counters()["steps"]
        early = code == run.BUDGET and steps < self.asked + RECONSIDER
        if choice is None or early or code == run.BLOCK_FULL:  # how large blocks are must not matter
            return False
        self.asked = steps
        table = choice.reconsider(self.run, failed) if code in (run.BUDGET, run.STEP_TOO_SMALL) else None
        if table is not None:
            self.segment.method, self.segment.table = choice.method, table
        return table is not None

    def collect(self, before: float = math.inf, line: dict[str, np.ndarray] | None = None) -> None:
        """Close and keep the output written so far, up to a time, and a line more if it is given.

        Sets a status if the run is to stop here.
        """
        with self.cpu.part("output"):
            self.collect_lines(before, line)

    def collect_lines(self, before: float, line: dict[str, np.ndarray] | None) -> None:
        """Close new lines, show them to the user's callback and hand them on."""
        if self.log is not None and before == math.inf:
            self.log.note()
        collector = self.collector
        collector.drop(before)
        if line is not None:
            collector.add(line)
        first = collector.closed
        with self.watch.closing_lines():
            error = collector.close(self.plan.project)
        if error is not None:
            self.status, self.message, self.cause = -CLOSURE_FAILED, str(error), error.__cause__ or error
        stops = self.wants_stop(first)
        t = float(collector.output.arrays["t"][collector.closed - 1]) if collector.closed else math.nan
        if (collector.hand_on() or stops) and self.status == 0:
            self.status, self.message = STOPPED, f"The callback stopped the run at t = {t:g}."

    def meet(self, hit: Hit) -> None:
        """End the run at a terminal event, or go on with what the action of another makes of it."""
        assert self.events is not None
        state = self.events.instant(hit.t)
        line = self.events.line(hit.t)
        if self.log is not None and hit.t > self.log.t[-1]:  # the dense output ends inside the step, too
            closed = self.projection.close_block(**line, project=True)
            self.log.keep(hit.t, line["q"][0], line["v"][0], closed["a"][0])
        t = self.segment.end if self.segment.end - hit.t <= 2 * NUDGE * np.spacing(abs(hit.t)) else hit.t
        if hit.action is None or self.plan.t_eval is None or t == self.plan.span[1]:
            self.collect(hit.t, line)
        if hit.action is None:
            self.status, self.message = STOPPED, f"Event {hit.name} ended the run at t = {hit.t:g}."
        gathering = None if hit.action is None else self.zeno.gathers(hit.function, hit.t)
        if self.status == 0 and gathering is not None:
            self.status = -run.STEP_TOO_SMALL
            self.message = (
                f"Event {hit.name} comes ever faster, without end before t = {gathering:.9g}. Let its action change "
                "the motion for good once that is slow: close a joint, or make the event terminal."
            )
        if self.status == 0:
            switch = Switch(self.segment.variant, t, (line["q"][0], line["v"][0], line["angle"][0]), state)
            self.restart(switch, line, hit)

    def pass_stop(self) -> None:
        """Restart at a declared discontinuity, or where controllers are asked; velocities jump if a motion's do."""
        progress = self.run
        line = {name: progress[slot][None].copy() for name, slot in END_STATE.items()}
        line |= {"t": np.array([progress.t]), "angle": self.state[s.ANGLE_REF][None].copy()}
        line["work"] = progress[run.WORK][run.WORK_NEW : run.WORK_NEW + 1].copy()
        place = (line["q"][0], line["v"][0], line["angle"][0])
        try:
            if self.sampling is not None:
                self.sampling.ask(self.segment.variant, self.segment.end, line)
        except UNMET as error:
            self.status, self.message, self.cause = -CLOSURE_FAILED, str(error), error
            return
        self.restart(Switch(self.segment.variant, self.segment.end, place), line, None)

    def restart(self, switch: Switch, line: dict[str, np.ndarray], hit: Hit | None) -> None:
        """Go on at the time of a switch in another segment; its energy before and after enters the balance."""
        try:
            closed = self.projection.close_block(**line, project=True)
            before = float(closed["kinetic"][0]), float(closed["potential"][0])
            if hit is not None and hit.action is not None:
                hit.action(switch)
            variant, gap, after = switch.finish(start_time(self.plan, switch.t))
        except UNMET as error:
            self.status, self.message, self.cause = -CLOSURE_FAILED, str(error), error
            return
        jump = switch.jump("" if hit is None else hit.name, gap, (before[0], after[0]))
        if hit is not None or abs(jump.kinetic_lost) > SMALL_JUMP * max(before[0], after[0]):
            self.jumps.append(jump)
        if switch.t == self.plan.span[1]:
            return
        work = float(line["work"][0]) + sum(after) - sum(before)
        self.segment = begin(self.plan, variant, switch.t, after=self.segment, work=work)
        self.collector.follow(self.segment)
        if self.log is not None:
            self.log.begin(self.run, switch.t)
        if hit is not None and hit.action is not None:  # a bounce must not be over within a step
            self.run.shorten_next(self.zeno.last_gap(hit.function, self.plan.span[0]))
        if self.events is not None:
            self.events.resume(self.segment, None if hit is None else hit.function)

    def wants_stop(self, first: int) -> bool:
        """Call the user's callback for every new line; if it wants to stop, what comes later is dropped."""
        if self.callback is None:
            return False
        t, q, v = (self.collector.output.arrays[name] for name in ("t", "q", "v"))
        for k in range(first, self.collector.closed):
            answer = self.callback(float(t[k]), q[k].copy(), v[k].copy())
            if isinstance(answer, bool | np.bool_) and answer:
                self.collector.cut(k + 1)
                return True
        return False

    def trouble(self, code: int) -> tuple[int, str, BaseException | None] | None:
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
        if going:  # a function that failed in a trial may succeed in a smaller step
            return None
        message = message or reason(self.segment, code, self.plan.max_steps) + self.stalling.note
        return -code, message, failures[-1] if broken and failures else None

    def momentum_lost(self, code: int) -> tuple[int, str, BaseException | None] | None:
        """Status and message if a free part of the model is found to have another momentum than at the start."""
        told = "" if self.jumps else self.momenta.lost(self.segment, self.tried, code == run.DONE)
        return (-run.GAINED, told, None) if told else None

    def keep_result(self, error: Exception, options: dict[str, Any]) -> None:
        """Give an error of a user's function, which ends the run, the result so far as its attribute `result`."""
        if not self.collector.given + self.collector.closed:
            return
        self.status = -run.EVALUATION_FAILED
        self.message = f"{type(error).__name__} in a function of the user ended the run at t = {self.run.t:g}: {error}"
        with contextlib.suppress(
            Exception
        ):  # of a sink that failed, or an error without attributes: the first one counts
            error.result = self.result(options)  # type: ignore[attr-defined]
            error.add_note("index3: the result so far is in the attribute 'result' of this error.")

    def result(self, options: dict[str, Any], note: str = "") -> Result:
        """Everything collected, as a Result; `note` is added to its message."""
        whole, sink = self.segment.variant.whole, self.collector.sink
        try:
            self.collector.give(more=False)
        except StoreFailed as error:
            self.end_for_store(error)
        stats: dict[str, Any] = {**self.segment.counters(), "seconds": self.seconds}
        stats["work_error"] = float(self.run[run.WORK][run.WORK_ERROR])
        changes = self.segment.index_changes()
        if changes:
            stats["index_changes"] = changes
        if self.jumps:
            stats |= {"jumps": len(self.jumps), "kinetic_lost": sum(jump.kinetic_lost for jump in self.jumps)}
        stats |= self.cpu.stats()
        if stats["stiff"]:
            self.message += f" {stats['stiff']} steps looked stiff: a method for stiff systems may need far fewer."
        misled = suspects(self.segment, self.status, stats)
        if misled:
            self.message += f" {misled}"
            if self.status >= 0:
                warn(misled)
        arrays = sink.arrays
        remark = self.segment.method.remark(arrays) if len(arrays["t"]) else ""
        if remark:
            self.message += f" {remark}"
            warn(remark)
        unique = self.unique_rows()  # before the audit, which moves the state
        audited = self.audit(arrays)
        info = {
            "status": self.status, "message": self.message + note, "success": self.status in (0, STOPPED),
            "stats": stats, "method": self.segment.method.key,
            "options": {key: value for key, value in options.items() if value is not None},
            "audit": audited,
            "jumps": [asdict(jump) for jump in self.jumps],
            "controllers": [] if self.sampling is None else self.sampling.to_list(),
        }  # fmt: skip
        if self.events is not None:
            found = {"t_events": self.events.times(), "y_events": self.events.states()}
            info |= {key: [values.tolist() for values in lists] for key, lists in found.items()}
        mark_unique(self.layout, unique)
        try:
            sink.finish(self.layout, info)
        except StoreFailed as error:
            self.end_for_store(error)
            info |= {"status": self.status, "message": self.message + note, "success": False}
        result = Result(self.layout, sink.arrays, info)
        result.moving = moving_markers(whole)
        result.sol = None if self.log is None else self.log.solution()
        return result

    def audit(self, arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]] | None:
        """The audit of the run in plain numbers and words; what is out of bounds is told."""
        found = examine(self.segment, arrays, self.momenta, project=self.plan.project, jumped=bool(self.jumps))
        if found is None:
            return None
        said = "" if self.status == -run.GAINED else complaint(found, self.segment)
        if said:
            self.message += f" {said}"
            if self.run[run.AUDIT][audit.MODE] != audit.REPORT:
                warn(said)
        lost, grave = losses(self.segment)
        self.message += f" {lost}" if lost else ""
        if grave:
            warn(lost)
        return found.to_list()

    def unique_rows(self) -> np.ndarray:
        """Whether each row's multiplier is determined: rows outside the null space of Phi_q^T at the last output."""
        unique = np.ones(self.segment.variant.whole.m, bool)
        if self.projection.factors[contract.INFO][contract.N_ZERO] > 0:
            unique[self.segment.variant.columns] = ~self.projection.null_rows()
        return unique
