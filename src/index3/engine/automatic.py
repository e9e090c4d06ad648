"""What `method="auto"` means: a method from the stiffness, size and tolerance of a run.

Stiff is a state whose fastest free vibration or decay would hold an explicit method to steps far smaller than accuracy
asks for (`methods.rates`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.methods import audit, projection_kernels, rates, run
from index3.methods.method import Method
from index3.methods.projection import Projector
from index3.methods.registry import choose
from index3.methods.run_table import Run
from index3.system.addresses import with_core
from index3.system.state import State

EXPLICIT_LIMIT = 3.0
"""Largest (rate * h) of explicit Runge-Kutta methods of order 5 to 8 on decays and vibrations, roughly."""
STIFF = 0.2
"""An explicit method must get along with at least this part of the step that accuracy asks for."""
TIGHT, FINE, FINE_LONG = 1e-4, 1e-7, 1e-4
"""Tolerances from which methods of higher order pay: for stiff motions, for others, and for others in long runs."""
FEW_STEPS = 0.01
"""Part of a run that accuracy may ask for as a step when a transient is over; if explicit steps are shorter: SOON."""
RECONSIDER, SOON = 100, 20
"""Accepted steps between two looks at the choice of an automatic run, and between the first few after a choice that may
be fleeting: a look costs some 30 solves."""
LONG, ENDLESS = 200, 2000
"""Steps that are left of a run when it counts as long, and when vibrations that are hidden are no longer followed."""
HIDDEN = 0.1
"""Part of its tolerance by which no coordinate is accelerated within a step where vibrations are hidden: they are far
smaller than anything positions can show, and steps are held by the tolerance of velocities alone."""
QUICK, ACCURATE, STEADY, ROBUST = "dopri5", "dop853", "radau5", "hht-i3"
"""Not stiff, at loose or tight tolerances: least work on the library's mechanisms, output included. Stiff at tight
tolerances, or with states of the user, which may rise and fall by powers of ten: at equal rtol it costs as much as HHT
to five times as much, and errs hundreds of times less. All else."""


class Choice(NamedTuple):
    """A method's key and why it was taken; `fleeting` if the motion may become stiff once a transient is over."""

    key: str
    reason: str
    fleeting: bool = False

    @property
    def keeps(self) -> float:
        """What a loss of energy counts in a run by this choice (`methods.audit.KEEPS`)."""
        return audit.CHOSEN if self.key in (QUICK, ACCURATE) else 0.0


BLANK = Table(len(rates.SLOTS))
CHOOSING = (rates.fastest_rates,)
"""Kernels of a choice."""


def fastest_rates(state: State, projector: Projector) -> tuple[float, float]:
    """(largest angular frequency, largest decay rate) of small motions about the present state [1/s], estimated."""
    system = state.system
    n, entries = (system.n,), (len(state[s.MATRIX]),)
    shapes = {rates.LINK: (1,), rates.STIFF: entries, rates.DAMP: entries, rates.DIRECTION: n, rates.START: n}
    table = state.workspace.filled("rates", BLANK, system.structure.room("rates", lambda: shapes | {rates.RATES: (2,)}))
    table[rates.LINK][0] = projector.factors.handle
    table[rates.START][:] = np.cos(np.arange(1.0, system.n + 1.0) ** 2)  # in no direction of symmetry
    system.addresses.load_once(CHOOSING)
    if rates.fastest_rates(state.handle, table.handle):
        return np.inf, np.inf
    squared, decay = table[rates.RATES].tolist()
    return float(np.sqrt(squared)), decay


@np.errstate(over="ignore", invalid="ignore")  # the run itself says if numbers are beyond all bounds
def size_of(x: np.ndarray) -> float:
    """The Euclidean length."""
    return float(np.linalg.norm(x))


@np.errstate(over="ignore", invalid="ignore")
def wanted_step(state: State, rtol: float, before: float = 0.0) -> float:
    """The step that accuracy asks of a method of order 5, from the time in which the motion changes by itself.

    `before` is the size of the accelerations a step ago: a vibration has none where it passes the middle.
    """
    q, v, a = (size_of(state[slot]) for slot in (s.Q, s.V, s.A))
    a = max(a, before)
    times = [v / a if a > 0.0 else np.inf, np.sqrt(q / a) if a > 0.0 else np.inf, q / v if v > 0.0 else np.inf]
    time = min((x for x in times if x > 0.0), default=np.inf)
    return float(time) * rtol ** (1.0 / 5.0)


def pick(
    state: State, projector: Projector, rtol: float, span: float, before: float = 0.0, early: float = np.inf
) -> Choice:
    """The method for a run from a consistent state; `before` as for `wanted_step`.

    `early` is the longest first step where functions of time act: at rest nothing else tells what accuracy asks for.
    """
    fastest = max(fastest_rates(state, projector))
    projection_kernels.assemble_accelerations(state.handle, projector.handle)
    limit = EXPLICIT_LIMIT / max(fastest, 1e-300)
    wanted = wanted_step(state, rtol, before)
    wanted = min(wanted if wanted < np.inf else early, span)
    steps = f"rates up to {fastest:.3g} 1/s allow explicit steps of {limit:.2g} s, accuracy asks for {wanted:.2g} s"
    if fastest == 0.0:
        steps = "nothing vibrates or decays"
    if limit < STIFF * wanted:
        loose = rtol > TIGHT and not state.system.user_states
        why = f"rtol above {TIGHT:g}" if loose else f"rtol {TIGHT:g} or less, or user-defined states"
        return Choice(ROBUST if loose else STEADY, f"stiff: {steps}; {why}")
    why = f"rtol above {FINE:g}" if rtol > FINE else f"rtol {FINE:g} or less"
    return Choice(QUICK if rtol > FINE else ACCURATE, f"not stiff: {steps}; {why}", limit < STIFF * FEW_STEPS * span)


class Automatic:
    """The method of an automatic run, and its changes on the way; `choice` is the first one, if it was made before."""

    def __init__(self, state: State, projector: Projector, plan: Any, t: float, choice: Choice | None = None) -> None:
        self.state, self.projector, self.rtol, self.end = state, projector, plan.rtol, plan.span[1]
        if choice is not None:
            self.choice = choice
        elif plan.options:  # settings say which method is meant
            self.choice = Choice(ROBUST, "its options were given")
        else:
            self.choice = self.pick(t, early=plan.early)
        self.choices = [(t, self.choice)]
        self.story = f"{self.choice.key} ({self.choice.reason})"
        self.method: Method = choose(self.choice.key, plan.options)
        kernels = (*self.method.kernels, *projector.solver.kernels_for(self.method.needs))
        state.system.addresses.load(with_core(kernels))

    def next_look(self, asked: int, earlier: int) -> int:
        """Accepted steps at which to reconsider, if the last look was after `asked` of them, `earlier` of them in the
        segments before."""
        if self.choice.fleeting and asked < earlier + RECONSIDER:
            return max(asked, earlier) + SOON
        return asked + RECONSIDER

    def pick(self, t: float, before: float = 0.0, early: float = np.inf) -> Choice:
        """The method for the rest of the run from t, at the state as it is; `before` and `early` as for `pick`."""
        return pick(self.state, self.projector, self.rtol, self.end - t, before, early)

    def follow(self, before: Automatic, t: float) -> None:
        """Tell the story on from the choice before a restart at t."""
        changed = self.choice.key != before.choice.key
        self.story = f"{before.story}, from t = {t:.4g} {self.story}" if changed else before.story

    def reconsider(self, progress: Run, failed: bool, slow: bool = False) -> Table | None:
        """The table of another method if the present one failed, is too slow or has become unfit, else None."""
        hidden = not failed and self.hides_vibrations(progress)
        if self.choice.key == ROBUST or (self.choice.key == STEADY and not failed and not hidden):
            return None
        state, t = self.state, progress.t
        trial = state.save() if failed else None
        state.move(t, progress[run.NEW_Q], progress[run.NEW_V])
        solved = projection_kernels.assemble_accelerations(state.handle, self.projector.handle) == 0
        choice = self.damping(progress) if hidden and solved else None
        if choice is None and solved and (failed or self.choice.key != STEADY):
            choice = self.pick(t, size_of(progress[run.OLD_A]))
        if choice is not None and choice.key not in (STEADY, ROBUST) and not slow:
            choice = None if failed else self.longer(progress)  # failed: steps became too small, at a singularity
        if choice is None:
            if trial is not None:
                state.restore(trial)  # the reason is looked for at the point that failed
            return None
        if failed:
            choice = Choice(ROBUST, "the steps led nowhere" if slow else "the step became too small")
        return self.take(progress, t, choice)

    @np.errstate(over="ignore", invalid="ignore")
    def hides_vibrations(self, progress: Run) -> bool:
        """Whether steps are endlessly many and far shorter than any position asks for."""
        clock = progress[run.CLOCK]
        h = max(clock[run.H_LAST], clock[run.H_NEXT])
        few = progress[run.COUNTS][run.N_STEPS] < RECONSIDER or self.end - progress.t < ENDLESS * h
        if few or h > 0.5 * clock[run.MAX_STEP] or self.state.system.user_states:
            return False
        a = np.maximum(np.abs(progress[run.OLD_A]), np.abs(progress[run.NEW_A]))
        return bool(np.all(h * h * a < HIDDEN * progress.weights))

    def damping(self, progress: Run) -> Choice | None:
        """The method that damps hidden vibrations, None if nothing vibrates as fast as the steps are short."""
        h = max(progress[run.CLOCK][run.H_LAST], progress[run.CLOCK][run.H_NEXT])
        frequency = fastest_rates(self.state, self.projector)[0]
        if frequency * h < HIDDEN:
            return None
        left = (self.end - progress.t) / h
        return Choice(
            ROBUST,
            f"vibrations of up to {frequency:.3g} 1/s held steps to {h:.2g} s, {left:.2g} to go, "
            f"and move nothing by as much as its tolerance: {ROBUST} damps them. method={STEADY!r} follows them; "
            "damping= of flexible bodies lets them fade",
        )

    def longer(self, progress: Run) -> Choice | None:
        """The method of higher order if it pays because many steps are left, else None."""
        if progress[run.COUNTS][run.N_STEPS] < RECONSIDER:
            return None  # an early look, for stiffness alone
        clock = progress[run.CLOCK]
        h, bounded = clock[run.H_LAST], clock[run.H_LAST] > 0.5 * clock[run.MAX_STEP]
        if self.choice.key != QUICK or self.rtol > FINE_LONG or bounded or self.end - progress.t < LONG * h:
            return None
        return Choice(ACCURATE, f"not stiff: more than {LONG} steps to go; rtol {FINE_LONG:g} or less")

    def take(self, progress: Run, t: float, choice: Choice) -> Table:
        """Let another method take over at time t, from the accelerations of the state; its table."""
        state = self.state
        self.choice = choice
        self.choices.append((t, choice))
        self.story += f", from t = {t:.4g} {choice.key} ({choice.reason})"
        self.method = choose(choice.key, {})
        progress[run.AUDIT][audit.KEEPS] = choice.keeps
        progress[run.LIMITS][[run.QUINTIC, run.ROUGH_LAM, run.BY_RATES]] = 0
        progress[run.LIMITS][run.TRACK_WORK] = int(not progress.system.conservative)
        progress[run.NEW_A][:], progress[run.NEW_LAM][:] = state[s.A], state[s.LAM]
        return self.method.start(progress, None)
