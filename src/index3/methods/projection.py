"""The Python side of `projection_kernels`: its table, and consistent states for whoever asks."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Room, Table
from index3.errors import Index3Error
from index3.linear.registry import DEFAULT, solver_class, solver_of
from index3.linear.solver import DIAGONAL, Solver
from index3.methods import line_kernels, output_kernels, projection_kernels, work
from index3.methods.completion import Completion
from index3.methods.output import Output
from index3.methods.projection_errors import failure
from index3.system.state import State
from index3.system.system import System

CLOSED = 1e-12
"""Scaled position residual that counts as closed: some thousand roundings."""

KERNELS = (
    projection_kernels.assemble_positions, projection_kernels.assemble_velocities,
    projection_kernels.assemble_accelerations, projection_kernels.project_rates, projection_kernels.shorten,
    output_kernels.project_lines, output_kernels.complete_lines, line_kernels.project_line, work.add_work,
    work.add_work_alone,
)  # fmt: skip
"""Kernels that a projector of any model calls, those of its solver apart."""


CALLED = (
    projection_kernels.assemble_positions, projection_kernels.project_rates, projection_kernels.shorten,
    line_kernels.project_line,
)  # fmt: skip
"""Kernels that others call by the addresses in LINK, in its order."""


def blank(system: System) -> tuple[Table, Room]:
    """What the tables of all projectors of a system have in common, and what each has for itself."""
    table, n = Table(len(projection_kernels.SLOTS)), (system.n,)
    table[projection_kernels.WRENCHES] = wrench_places(system)
    own = {projection_kernels.LINK: (len(CALLED) + 3,), projection_kernels.SETTINGS: (3,)}
    own[projection_kernels.REPORT] = (projection_kernels.REPORT_SIZE,)
    own[projection_kernels.LINES] = (projection_kernels.LINES_SIZE,)
    return table, Room(own | {projection_kernels.HEAVY_Q: n, projection_kernels.HEAVY_V: n})


def projector_table(state: State) -> Table:
    """The table of a projector of a state, but for the factors in its LINK."""
    kept = state.system.structure.kept
    if "projector" not in kept:
        kept["projector"] = blank(state.system)
    common, room = kept["projector"]
    iterates = len(state[s.ROW_R]) > 0 or len(state[s.A_NOW]) > 0
    return state.workspace.filled(("projector", iterates), common, room, begin_iterating if iterates else begin)


def begin(table: Table) -> None:
    """Write what every projector begins with."""
    table[projection_kernels.SETTINGS][:] = CLOSED, 50.0, 1e-10
    table[projection_kernels.LINK][2:] = [*(kernel.address for kernel in CALLED), 0]


def begin_iterating(table: Table) -> None:
    """The same where forces depend on reactions or accelerations."""
    begin(table)
    table[projection_kernels.LINK][-1] = projection_kernels.iterate_solution.address


def kernels_for(model: Any, method: Any = None, linear: str = DEFAULT) -> tuple[Kernel, ...]:
    """Kernels that projectors of a model and a method call, for `compile_model` to build along with the elements'."""
    reads = any(force.reads_reactions or force.reads_accelerations for force in model.forces.values())
    own = () if method is None else method.kernels
    kernels = (*solver_class(linear).kernels_for(() if method is None else method.needs), *KERNELS, *own)
    return (*kernels, projection_kernels.iterate_solution) if reads else kernels


def smallest(state: State, solver: Solver) -> Table | None:
    """Factors that all projectors of a state use for the length of a call; None if there is nothing to shorten, since
    no row is ever left out."""
    if DIAGONAL not in solver.offers:
        return None
    if solver.name not in state.scratch:
        values = state[s.MATRIX]
        state.scratch[solver.name] = solver.lend(state.workspace, values, find_rank=False, definite=True)
    return state.scratch[solver.name]


class Projector:
    """Projects states of one system; has factorisations of its own, so a method keeps what it has.

    Parameters
    ----------
    state : to project
    solver : of the system's matrix; by default the usual one
    """

    def __init__(self, state: State, solver: Solver | None = None) -> None:
        self.state = state
        self.solver = solver or solver_of(state.system)
        self.factors = self.solver.lend(state.workspace, state[s.MATRIX])
        self.smallest = smallest(state, self.solver)
        self.late: dict[str, Completion] = {}
        self.table = projector_table(state)
        link = self.table[projection_kernels.LINK]
        link[projection_kernels.LINK_SOLVER] = self.factors.handle
        link[projection_kernels.LINK_SMALLEST] = 0 if self.smallest is None else self.smallest.handle

    @classmethod
    def of(cls, state: State, solver: Solver) -> Projector:
        """The projector of a run and what completes its lines: those of the run before, as if they were new."""
        if not solver.arrays_alone:
            return cls(state, solver)
        solver.enter(state.workspace)
        projector: Projector = state.workspace.whole(
            (id(state), "projector of", solver.name), functools.partial(cls._with_completion, state, solver)
        )
        projector.solver = solver
        if projector.smallest is not None:
            state.scratch[solver.name] = projector.smallest
        return projector

    @classmethod
    def _with_completion(cls, state: State, solver: Solver) -> Projector:
        """A projector, and what completes its lines."""
        made = cls(state, solver)
        _ = made.completion
        return made

    @property
    def system(self) -> System:
        """The equations that the state is of."""
        return self.state.system

    @property
    def handle(self) -> int:
        """The number by which kernels know this projector's table."""
        return self.table.handle

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the dimensions of the columns of output."""
        joints, angles = len(self.table[projection_kernels.WRENCHES]), len(self.system.angle_joints)
        return {"coordinate": self.system.n, "row": self.system.m, "joint": joints, "measured_angle": angles}

    def project_block(
        self, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, lam: np.ndarray, angle: np.ndarray,
        work: Any = 0.0, *, project: bool,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """All columns of some lines of output, closed; the arrays given stay as they are.

        Raises
        ------
        ModelError, AssemblyError, SingularError : a line cannot be closed.
        """
        output = Output(self.sizes, len(t))
        output.add({"t": t, "q": q, "v": v, "a": a, "lam": lam, "angle": angle, "work": work})
        error = self.project_lines(output, 0, len(t), project)[1]
        if error is not None:
            raise error
        return output.arrays

    def project_lines(self, output: Output, first: int, end: int, project: bool) -> tuple[int, Index3Error | None]:
        """Close lines of output where they stand, each as if there were no others, and fill all their columns.

        Returns the number of the first line that is not closed: `end`, or that of one which cannot be, and why.
        """
        good, error = first, None
        while good < end and error is None:
            self.forget_directions()
            good, error = self.place_lines(output, good, good + 1, project)
        done, late = self.completion.fill(output, first, good, check=project)
        return (good, error) if late is None else (done, late)

    def forget_directions(self) -> None:
        """Let the next line be closed along directions of its own."""
        self.table[projection_kernels.REPORT][projection_kernels.KEPT] = 0

    def place_lines(self, output: Output, first: int, end: int, project: bool) -> tuple[int, Index3Error | None]:
        """Close positions and velocities of lines where they stand, with the factors that the line before has left.

        Returns as `project_lines` does. What remains to be filled is in the column STAGE of the output.
        """
        table = self.table
        table[projection_kernels.LINES][:] = output.handle, first, end, int(project)
        accepted = self.state[s.ANGLE_REF].copy()
        code = self.state.call(output_kernels.project_lines, self.handle)
        self.state[s.ANGLE_REF][:] = accepted
        if not code:
            return end, None
        failed = int(table[projection_kernels.REPORT][projection_kernels.FAILED_LINE])
        return failed, self.failure(code, float(output.arrays["t"][failed]))

    @property
    def completion(self) -> Completion:
        """What completes lines that are placed, made when first asked for; it is no part of what a checkpoint keeps."""
        if "completion" not in self.late:
            self.late["completion"] = Completion(self.state, self.solver, self.table, projector_table(self.state))
        return self.late["completion"]

    def null_rows(self) -> np.ndarray:
        """Rows whose multipliers redundancy leaves open, at the configuration of the last projection.

        lam minus the shortest lam with the same forces lies in the null space of Phi_q^T; a few random lam find it all.
        """
        random = np.random.default_rng(0)
        open_rows = np.zeros(self.system.m, bool)
        lam = self.state[s.LAM]
        keep = lam.copy()
        for _ in range(3):
            trial = random.normal(size=self.system.m)
            lam[:] = trial
            projection_kernels.shorten(self.state.handle, self.handle)
            open_rows |= np.abs(trial - lam) > 1e-6  # components of a random direction of size 1
        lam[:] = keep
        return open_rows

    def failure(self, code: int, t: float) -> Index3Error:
        """The error of a closing that gave up, naming rows or bodies."""
        return failure(code, t, self.state, self.table, self.factors)


def wrench_places(system: System) -> np.ndarray:
    """For each column of reactions: first row, number of rows, place of its marker's gradient, stride.

    One column per joint and motion, of its second marker (of its only one; none for held coordinates), and behind them
    those of the other markers of joints with more than two.
    """
    groups = groups_with_reactions(system)
    pairs = [(group, min(1, len(group.markers) - 1)) for group in groups]
    pairs += [(group, k) for group in groups for k in further_markers(group)]
    places = [
        (group.row, group.rows if k >= 0 else 0, group.gradient + 6 * k, 6 * len(group.markers)) for group, k in pairs
    ]
    return np.array(places, np.int64).reshape(-1, 4)


def further_markers(group: Any) -> list[int]:
    """The markers of a group whose reactions do not follow from the one on the second marker."""
    return [k for k in range(len(group.markers)) if k != 1] if len(group.markers) > 2 else []


def groups_with_reactions(system: System) -> list[Any]:
    """The groups that carry rows or belong to joints: one line of reactions each."""
    return [group for group in system.groups if getattr(group.element, "element", "") in ("joint", "motion")]
