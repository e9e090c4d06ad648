"""Segments of a run: stretches between restarts, each with a variant of the model and a method started there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.engine.automatic import Automatic, Choice
from index3.engine.balance import watch
from index3.engine.variants import Variant
from index3.linear import contract
from index3.methods import audit, run
from index3.methods.method import Method
from index3.methods.run_table import Run
from index3.record import Record

NUDGE = 4
"""Roundings by which a segment ends before a declared discontinuity and the next begins after it, so that a function of
time is met on the right side whichever side it belongs to, and in spite of a rounding in the user's comparison."""

ORIGIN = {"q": s.Q, "v": s.V, "a": s.A, "lam": s.LAM, "angle": s.ANGLE_REF}
"""What a method starts from, and where it stands in a state."""

END_STATE = {"q": run.NEW_Q, "v": run.NEW_V, "a": run.NEW_A, "lam": run.NEW_LAM}
"""Columns of output that the last accepted step gives, and where it keeps them."""


class Plan(NamedTuple):
    """What the user asked of a run, checked; `method` is None for an automatic choice."""

    span: tuple[float, float]
    method: Method | None
    options: dict[str, Any]
    rtol: float
    atol: np.ndarray
    t_eval: np.ndarray | None
    step: float
    max_step: float
    max_steps: int | None
    first_step: float | None
    stops: np.ndarray  # discontinuities, declared or found
    early: float  # the longest first step, at the start and after a stop
    project: bool
    audit: str  # "fail", "warn" or "off"
    stored: bool = False  # whether it may have to be resumed

    def next_stop(self, t: float) -> float:
        """The first declared discontinuity after t, or the end."""
        k = int(np.searchsorted(self.stops, t, "right")) if len(self.stops) else 0
        return float(self.stops[k]) if k < len(self.stops) else self.span[1]

    def is_stop(self, t: float) -> bool:
        """Whether there is a discontinuity at t."""
        return len(self.stops) > 0 and bool(np.any(self.stops == t))


class Segment(Record):
    """A method under way on a variant of the model. `start` and `end` are its times as the user gave them."""

    variant: Variant
    run: Run
    method: Method
    choice: Automatic | None  # who chose the method, if not the user
    table: Table
    start: float
    end: float
    first: float  # time at which the method was started: `start`, or a few roundings after a discontinuity
    earlier: dict[str, int]  # work done in the segments before
    earlier_changes: list[list[float]]  # of index, there
    origin: dict[str, np.ndarray]  # of a run that may be resumed: the state from which the method was started

    def counters(self) -> dict[str, int]:
        """Work done since the start of the run, by name."""
        now = self.run.counters()
        if not self.earlier:
            return now
        return {name: self.earlier.get(name, 0) + now.get(name, 0) for name in {**self.earlier, **now}}

    def index_changes(self) -> list[list[float]]:
        """Times and indices of a method that works with several, since the start of the run; empty for others."""
        return self.earlier_changes + self.run.index_changes()

    def own_times(self, t: np.ndarray) -> np.ndarray:
        """Times of lines as the user gave them."""
        last = self.run[run.CLOCK][run.T_END]
        if self.first == self.start and last == self.end:
            return t
        return np.where(t == self.first, self.start, np.where(t == last, self.end, t))


def begin(
    plan: Plan, variant: Variant, t: float, *, after: Segment | None = None, work: float = 0.0,
    chosen: Choice | None = None,
) -> Segment:  # fmt: skip
    """A segment from a consistent state at time t, or from right after it where a discontinuity was declared.

    An automatic run begins with the method that it finds fit there, or that was `chosen` before.
    """
    origin = {name: variant.state[slot].copy() for name, slot in ORIGIN.items()} if plan.stored else {}
    first, end = start_time(plan, t), plan.next_stop(t)
    last = end if end == plan.span[1] and not plan.is_stop(end) else end - NUDGE * np.spacing(abs(end))
    if after is not None and last - first < NUDGE * np.spacing(abs(end)):
        last = first  # two stops that are one but for roundings: no step fits between them
    choice = None
    if plan.method is None:
        choice = Automatic(variant.state, variant.projection, plan, t, chosen)
        if after is not None and after.choice is not None:
            choice.follow(after.choice, t)
    method = plan.method or choice.method  # type: ignore[union-attr]  # one of them is there
    times, earlier = plan.t_eval, {} if after is None else after.counters()
    if times is not None and after is not None:
        seen = after.run[run.CLOCK][run.T_END] if t == after.end else np.nextafter(t, -np.inf)
        times = np.maximum(times[times > seen], first)
    if times is not None and end == plan.span[1] and last < end:
        times = np.minimum(times, last)
    progress = Run(
        variant.state, variant.projection.solver, (first, last), rtol=plan.rtol, atol=plan.atol,
        newton_tol=method.newton_tol, t_eval=times, step=plan.step, max_step=plan.max_step,
        max_steps=None if plan.max_steps is None else plan.max_steps - earlier.get("steps", 0),
    )  # fmt: skip
    progress[run.WORK][run.WORK_NEW] = work
    if after is not None:
        sums = [run.WORK_SIZE, run.WORK_ERROR, run.WORK_LEFT]
        progress[run.WORK][sums] = after.run[run.WORK][sums]
    known = variant.projection.factors[contract.INFO]  # the state is on the constraints
    progress.factors[contract.INFO][contract.FEWEST_ZERO] = known[contract.N_ZERO]
    rank = variant.system.m - known[contract.N_ZERO]
    progress[run.LIMITS][run.ALL_DRIVEN] = variant.system.first_state <= rank
    if after is not None:
        bodies = variant.system.first_state  # the size of states is the present one
        for slot in (run.LARGEST, run.LARGEST_V):
            old, new = after.run[slot][:bodies], progress[slot][:bodies]
            np.maximum(new, old, out=new)
    watch(progress, plan.audit, method.audited, None if after is None else after.run)
    progress[run.AUDIT][audit.KEEPS] = 0.0 if choice is None else choice.choice.keeps
    table = method.start(progress, plan.first_step if after is None else None)
    if after is not None or plan.first_step is None:
        progress.shorten_next(plan.early)
    changes = [] if after is None else after.index_changes()
    return Segment(variant, progress, method, choice, table, t, end, first, earlier, changes, origin)


def start_time(plan: Plan, t: float) -> float:
    """The time at which a method is started for a segment from t: a declared discontinuity is left behind."""
    return t + NUDGE * float(np.spacing(abs(t))) if plan.is_stop(t) else t
