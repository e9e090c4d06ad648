"""Starting values of BDF runs with constant steps: extrapolated implicit Euler steps.

The stabilised form at order 1 with directions M^-1 Phi_q^T that stay fixed over a big step is the implicit Euler method
for an ordinary differential equation in local coordinates, so its error has an expansion in powers of the step: results
with 1, 2, ..., k+1 substeps extrapolate to order k+1 (Deuflhard, Hairer, Zugck 1987), for stiff models too.
"""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.errors import Index3Error
from index3.methods import run
from index3.methods.direct import bdf, newton
from index3.methods.direct.tables import newton_table
from index3.methods.projection import Projector
from index3.methods.run_table import Run

NEWTON_TOL = 1e-13
"""Extrapolation multiplies what Newton leaves by up to 6^5/5! = 65; this keeps it below the 1e-11 of the run."""
State = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def fill_bdf(table: Table, progress: Run, order: int, lowest: int, highest: int) -> None:
    """The slots of `bdf` for a run that stands at its start, without given states."""
    n, m, past = progress.system.n, progress.system.m, bdf.PAST
    table[bdf.ORDERS] = np.array([order, lowest, highest, 1, 0, 0], np.int64)
    table[bdf.W] = np.zeros(past)
    table[bdf.PAST_T] = np.full(past, progress.t)
    table[bdf.PAST_Q] = np.tile(progress[run.NEW_Q], (past, 1))
    table[bdf.PAST_V] = np.tile(progress[run.NEW_V], (past, 1))
    table[bdf.PAST_LAM] = np.tile(progress[run.NEW_LAM], (past, 1)).reshape(past, m)
    give_start(table, [], n, m)


def give_start(table: Table, states: list[State], n: int, m: int) -> None:
    """Hand states at the first step ends over to the step loop."""
    slots = (bdf.START_Q, bdf.START_V, bdf.START_A, bdf.START_LAM)
    for slot, part, width in zip(slots, range(4), (n, n, n, m), strict=True):
        table[slot] = np.array([state[part] for state in states], float).reshape(len(states), width)


def step_ends(progress: Run, count: int) -> list[float]:
    """The ends of the first steps, as the step loop will choose them."""
    clock = progress[run.CLOCK]
    ends, step = [], clock[run.STEP]
    for k in range(1, count + 1):
        later = clock[run.T_START] + k * step
        last = later >= clock[run.T_END] - 1e-10 * step
        ends.append(float(clock[run.T_END] if last else later))
        if last:
            break
    return ends


def starting_values(progress: Run, order: int) -> list[State]:
    """States at the first order - 1 step ends; fewer if Newton's iteration fails. The run's state is left as it was."""
    state = progress.state
    keep = {slot: state[slot].copy() for slot in (s.TIME, s.Q, s.V, s.A, s.LAM, s.Q_MASS, s.ANGLE_REF)}
    starter = Starter(progress, order + 1)
    found: list[State] = []
    now, t = tuple(progress[slot].copy() for slot in (run.NEW_Q, run.NEW_V, run.NEW_A, run.NEW_LAM)), progress.t
    for end in step_ends(progress, order - 1):
        later = starter.big_step(t, end, now)
        if later is None:
            break
        found.append(later)
        t, now = end, later
    for name in ("newton", "evaluations", "jacobians", "factorisations"):
        progress[run.COUNTS][run.COUNTERS.index(name)] += starter.work[name]
    for slot, array in keep.items():
        state[slot][:] = array
    return found


class Starter:
    """Big steps of extrapolated implicit Euler on the state of a run."""

    def __init__(self, progress: Run, columns: int) -> None:
        self.state, self.columns = progress.state, columns
        clock = progress[run.CLOCK]
        self.run = Run(
            progress.state, progress.solver, (clock[run.T_NEW], clock[run.T_END]), rtol=1e-6, atol=progress[run.ATOL],
            newton_tol=NEWTON_TOL, t_eval=np.zeros(0), step=clock[run.STEP], max_step=np.inf, max_steps=None,
        )  # fmt: skip
        self.run[run.LIMITS][run.TRACK_WORK] = 0
        self.table = newton_table(self.run, len(bdf.SLOTS), kappa=1.0, max_iterations=15, stabilised=True)
        fill_bdf(self.table, self.run, 1, 1, 1)
        self.projector = Projector(progress.state, progress.solver)
        self.angle = progress.state[s.ANGLE_REF].copy()  # unwrapped angles where the last small step ended
        self.work = dict.fromkeys(run.COUNTERS, 0)

    def big_step(self, t: float, end: float, start: tuple) -> State | None:
        """The state at `end`, or None."""
        self.place(t, start)
        if bdf.fix_directions(self.state.handle, self.table.handle):
            return None
        rows: list[np.ndarray] = []
        for count in range(1, self.columns + 1):  # Aitken-Neville in the step, harmonic sequence
            row = self.small_steps(t, end, start, count)
            if row is None:
                return None
            rows.append(row)
            for k in range(count - 1, 0, -1):
                rows[k - 1] = rows[k] + (rows[k] - rows[k - 1]) * k / (count - k)
        q, v = rows[0]
        try:
            lines = self.projector.project_block(
                np.array([end]), q[None], v[None], start[2][None], start[3][None], self.angle[None], project=True
            )
        except Index3Error:
            return None
        self.state[s.ANGLE_REF][:] = lines["angle"][0]
        return tuple(lines[name][0] for name in ("q", "v", "a", "lam"))

    def place(self, t: float, start: tuple) -> None:
        """Put the run and its state at the start of a big step."""
        clock = self.run[run.CLOCK]
        self.state.move(t, start[0], start[1])
        self.state[s.A][:] = start[2]
        self.state[s.LAM][:] = start[3]
        for slots, value in zip(((run.OLD_Q, run.NEW_Q), (run.OLD_V, run.NEW_V), (run.OLD_A, run.NEW_A),
                                 (run.OLD_LAM, run.NEW_LAM)), start, strict=True):  # fmt: skip
            for slot in slots:
                self.run[slot][:] = value
        clock[[run.T_OLD, run.T_NEW, run.T_START, run.T_PAST]] = t
        self.run[run.COUNTS][:] = 0
        self.table[bdf.PAST_T][:] = t
        for slot, value in ((bdf.PAST_Q, start[0]), (bdf.PAST_V, start[1]), (bdf.PAST_LAM, start[3])):
            self.table[slot][:] = value
        self.table[bdf.ORDERS][bdf.FILLED] = 1

    def small_steps(self, t: float, end: float, start: tuple, count: int) -> np.ndarray | None:
        """q and v at `end` after `count` implicit Euler steps, or None."""
        before = self.state[s.ANGLE_REF].copy()
        self.place(t, start)
        clock = self.run[run.CLOCK]
        clock[[run.T_END, run.STEP]] = end, (end - t) / count
        self.table[newton.FLAGS][newton.RENEW] = 1
        code = self.run.advance(bdf.attempt, self.table, 10 * count)
        for name, number in self.run.counters().items():
            self.work[name] += number
        self.angle, self.state[s.ANGLE_REF][:] = self.state[s.ANGLE_REF].copy(), before
        return np.array([self.run[run.NEW_Q], self.run[run.NEW_V]]) if code == run.DONE else None
