"""The Python side of a run: its table, the calls of the step loop, and what its end means."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Room, Table
from index3.linear.solver import Solver
from index3.methods import acceptance, first_state, projection_kernels, run, stepping, work
from index3.methods.output import Output, no_output
from index3.methods.projection import Projector
from index3.system.state import State

BLANK = Table(len(run.SLOTS))
"""What the tables of all runs have in common: nothing."""
NO_TIMES = np.zeros(0)
ROUNDING = 1e-13
"""Least error relative to coordinates that is asked for by measuring them from the middle of a model: beyond that they
have no digits."""
NO_LIMIT = int(np.iinfo(np.int64).max)


def make_tables(state: State, solver: Solver) -> tuple[Table, Table, list[Projector]]:
    """Factors for a method, the table of a run, and what else that refers to."""
    system, kept, projectors = state.system, state.system.found, list[Projector]()
    if "run" not in kept:
        switches, angles = len(state[s.SWITCH]), len(system.angle_joints)
        kept["run"] = Room(
            run.array_shapes(system.n, system.m, angles, system.branching, switches, system.n - system.first_state)
        )
    factors = solver.lend(state.workspace, state[s.MATRIX])
    table = state.workspace.filled("run", BLANK, kept["run"])
    link = table[run.LINK]
    link[run.LINK_SOLVER], link[run.LINK_ACCEPT] = factors.handle, acceptance.accept.address
    if not system.conservative:
        add_work = work.add_work if system.reactions_work else work.add_work_alone
        link[run.LINK_WORK] = add_work.address
    if system.reactions_work:
        projectors = [Projector(state, solver)]
        link[run.LINK_ACCELERATE] = projection_kernels.assemble_accelerations.address
        link[run.LINK_PROJECTOR] = projectors[0].handle
    return factors, table, projectors


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
        system = self.system
        kind = "run of", system.conservative, system.reactions_work
        self.factors, self.table, projectors = self.whole(kind, functools.partial(make_tables, state, solver))
        self.owned += projectors
        table, self._arrays = self.table, self.table._arrays
        self.write_to(no_output())
        t0, t1 = span
        clock, tolerance, cursor = table[run.CLOCK], table[run.TOLERANCE], table[run.CURSOR]
        clock[run.T_OLD] = clock[run.T_NEW] = clock[run.T_START] = clock[run.T_PAST] = t0
        clock[run.T_END], clock[run.STEP], clock[run.MAX_STEP] = t1, step, min(max_step, t1 - t0)
        tolerance[run.RTOL], tolerance[run.NEWTON_TOL] = rtol, newton_tol
        table[run.ATOL][:] = atol
        table[run.LENGTHS][:] = system.lengths
        origin, part = system.far_origin
        if part < 1.0 and rtol * part > ROUNDING:
            table[run.ORIGIN][:] = origin
        limits = table[run.LIMITS]
        limits[run.MAX_STEPS] = NO_LIMIT if max_steps is None else max_steps
        limits[run.TRACK_WORK], limits[run.FIRST_STATE] = not system.conservative, system.first_state
        times = NO_TIMES if t_eval is None else np.ascontiguousarray(t_eval, float)
        if self._arrays[run.T_EVAL.index] is not times:
            table[run.T_EVAL] = times
        cursor[run.EVERY_STEP], cursor[run.PENDING] = t_eval is None, 1
        state.call(first_state.take, table.handle)

    def whole(self, kind: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        """What `make` makes of tables of factors and others: that of the run before, as if it were new."""
        if not self.solver.arrays_alone:
            return make()
        return self.state.workspace.whole((id(self.state), self.solver.name, *kind), make)

    def measure_start(self) -> None:
        """Fill the energies of the first state, and of errors as large as the weights allow, into AUDIT."""
        self.state.call(first_state.measure, self.table.handle)
        self.system.take_failures()

    def choose_first_step(self, order: int) -> float:
        """A first step for methods that control q and v, by a formula of this order; see `first_state.choose_step`."""
        clock = self.table[run.CLOCK]
        clock[run.ORDER] = order
        self.state.call(first_state.choose_step, self.table.handle)
        return float(clock[run.H_NEXT])

    def __getitem__(self, slot: Any) -> np.ndarray:
        array = self._arrays[slot.index]
        return self.table[slot] if array is None else array

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
