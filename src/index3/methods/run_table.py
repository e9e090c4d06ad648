"""The Python side of a run: its table, the calls of the step loop, and what its end means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Room, Table
from index3.linear.solver import Solver
from index3.methods import acceptance, projection_kernels, run, stepping, work
from index3.methods.output import Output, no_output
from index3.methods.projection import Projector
from index3.system import evaluate
from index3.system.state import State

BLANK = Table(len(run.SLOTS))
"""What the tables of all runs have in common: nothing."""
NO_LIMIT = int(np.iinfo(np.int64).max)


class Run:
    """Clock, tolerances, counters and output of one run on one state.

    Parameters
    ----------
    state : a State at consistent q, v, a, lam
    t_eval : output times, increasing; none in an array without any; None for every accepted step
    step : constant step, or 0.0 for steps chosen by the method
    """

    def __init__(
        self, state: State, solver: Solver, span: tuple[float, float], *, rtol: float, atol: np.ndarray,
        newton_tol: float, t_eval: np.ndarray | None, step: float, max_step: float, max_steps: int | None,
    ) -> None:  # fmt: skip
        self.state, self.system, self.solver = state, state.system, solver
        self.owned: list[Any] = []  # what must live as long as the run: projectors whose handles a method's table holds
        self.own_counters: Callable[[], dict[str, int]] = dict  # counters that only the method of this run has
        self.index_changes: Callable[[], list[list[float]]] = list  # times and indices, of methods that change theirs
        n, m, n_angles = self.system.n, self.system.m, len(self.system.angle_joints)
        self.factors = solver.lend(state.workspace, state[s.MATRIX])
        self.table = state.workspace.filled("run", BLANK, self._room(n, m, n_angles))
        self.write_to(no_output())
        link = self.table[run.LINK]
        link[run.LINK_SOLVER], link[run.LINK_ACCEPT] = self.factors.handle, acceptance.accept.address
        if not self.system.conservative:
            add_work = work.add_work_from_poses if self.system.power_from_poses else work.add_work
            link[run.LINK_WORK] = add_work.address
        if self.system.reactions_work:
            projector = Projector(state, solver)
            self.owned.append(projector)
            link[run.LINK_ACCELERATE] = projection_kernels.assemble_accelerations.address
            link[run.LINK_PROJECTOR] = projector.handle
        t0, t1 = span
        clock = self.table[run.CLOCK]
        clock[run.T_OLD] = clock[run.T_NEW] = clock[run.T_START] = t0
        clock[run.T_END], clock[run.STEP], clock[run.MAX_STEP] = t1, step, min(max_step, t1 - t0)
        self.table[run.TOLERANCE][:] = rtol, newton_tol
        self.table[run.ATOL][:] = atol
        self.table[run.LENGTHS][:] = self.system.lengths
        limit = NO_LIMIT if max_steps is None else max_steps
        self.table[run.LIMITS][:] = 0, limit, int(not self.system.conservative), 0, self.system.first_state, 0, 0, 0
        self.table[run.T_EVAL] = np.zeros(0) if t_eval is None else np.array(t_eval, float)
        self.table[run.CURSOR][:] = 0, int(t_eval is None), 1
        for old, new, source in (
            (run.OLD_Q, run.NEW_Q, s.Q), (run.OLD_V, run.NEW_V, s.V), (run.OLD_A, run.NEW_A, s.A),
            (run.OLD_LAM, run.NEW_LAM, s.LAM),
        ):  # fmt: skip
            self.table[old][:] = state[source]
            self.table[new][:] = state[source]
        np.abs(state[s.Q], out=self.table[run.LARGEST])
        np.abs(state[s.V], out=self.table[run.LARGEST_V])
        self.table[run.ANGLE_OLD][:] = state[s.ANGLE_REF]
        if (n_angles or self.system.branching) and not state.run(evaluate.poses, evaluate.angles):
            clock[run.SPEED_NEW] = np.max(state[s.ANGLE_SPEED], initial=0.0)
            if self.system.branching:
                branch = self.table[run.BRANCH]
                branch[:, 0], branch[:, 1:] = np.sign(state[s.BRANCH][:, 0]), state[s.BRANCH]

    def _room(self, n: int, m: int, n_angles: int) -> Room:
        """The arrays of a run, worked out once for a structure."""
        kept, key = self.system.structure.kept, f"run {n_angles} {self.system.branching} {len(self.state[s.SWITCH])}"
        if key not in kept:
            kept[key] = Room(run.array_shapes(n, m, n_angles, self.system.branching, len(self.state[s.SWITCH])))
        room: Room = kept[key]
        return room

    def __getitem__(self, slot: Any) -> np.ndarray:
        return self.table[slot]

    @property
    def t(self) -> float:
        """The time reached."""
        return float(self.table[run.CLOCK][run.T_NEW])

    @property
    def weights(self) -> np.ndarray:
        """The error allowed in each coordinate now."""
        weights = self.table[run.ATOL] + self.table[run.TOLERANCE][run.RTOL] * self.table[run.LARGEST]
        weights[self.system.first_state :] = 1e200  # integrals of states do not count
        return weights

    @property
    def error_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """The errors allowed now in each coordinate and in each rate."""
        return self.weights, self.velocity_weights

    @property
    def velocity_weights(self) -> np.ndarray:
        """The error allowed in each rate now."""
        return self.table[run.ATOL] + self.table[run.TOLERANCE][run.RTOL] * self.table[run.LARGEST_V]

    def advance(self, attempt: Kernel, table: Table, steps: int) -> int:
        """Let a method, its kernel that tries a step and its table, step at most `steps` times."""
        limits, link = self.table[run.LIMITS], self.table[run.LINK]
        limits[run.BUDGET_STEPS], limits[run.LOOK_UP] = steps, 0
        link[run.LINK_ATTEMPT], link[run.LINK_METHOD] = attempt.address, table.handle
        self.state[s.STATUS][s.STEPPING] = 1
        self.state[s.FUNCTION_VALUES][-1] = np.nan  # Python may have changed what functions of t give: ask them again
        code = self.state.call(stepping.advance, self.table.handle)
        self.state[s.STATUS][s.STEPPING] = 0
        return code

    def shorten_next(self, h: float) -> None:
        """Let the next step be no longer than h, unless steps are constant; those after it grow as the method lets."""
        clock = self.table[run.CLOCK]
        if clock[run.STEP] == 0.0 and h > 0.0:
            clock[run.H_NEXT] = min(clock[run.H_NEXT], h)

    def write_to(self, output: Output) -> None:
        """Let lines of output be written there."""
        self.output = output
        self.table[run.OUTPUT][0] = output.handle

    def counters(self) -> dict[str, int]:
        """Work done so far, by name."""
        shared = dict(zip(run.COUNTERS, self.table[run.COUNTS].tolist(), strict=True))
        return shared | self.own_counters()
