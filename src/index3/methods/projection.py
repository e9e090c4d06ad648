"""The Python side of `projection_kernels`: its table, and consistent states for whoever asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.compiled import columns
from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Room, Table
from index3.errors import AssemblyError, Index3Error, ModelError, SimulationFailed, SingularError
from index3.linear import contract
from index3.linear.registry import DEFAULT, solver_class, solver_of
from index3.linear.solver import DIAGONAL, Solver
from index3.methods import line_kernels, output_kernels, projection_kernels, work
from index3.methods.output import Output
from index3.system.state import State
from index3.system.system import System

CLOSED = 1e-12
"""Scaled position residual that counts as closed: some thousand roundings."""
CONTRADICTION = 1e-7
"""Scaled residual of velocities or accelerations beyond which skipped rows contradict the others (rounding: 1e-12)."""
NEAR_SINGULAR = 1e-3
"""The same where more rows than usual are skipped: close to a singular position such a row is no exact copy of others.
Its pivot is below 1e-9 of its square, so what is left of it may be some 1e-4 of its terms."""


KERNELS = (
    projection_kernels.assemble_positions, projection_kernels.assemble_velocities,
    projection_kernels.assemble_accelerations, projection_kernels.close_rates, projection_kernels.shorten,
    output_kernels.close_lines, line_kernels.close_line, work.add_work,
    work.add_work_from_poses,
)  # fmt: skip
"""Kernels that a projector of any model calls, those of its solver apart."""


CALLED = (
    projection_kernels.assemble_positions, projection_kernels.close_rates, projection_kernels.shorten,
    line_kernels.close_line,
)  # fmt: skip
"""Kernels that others call by the addresses in LINK, in its order."""


def blank(system: System) -> tuple[Table, Room]:
    """What the tables of all projectors of a system have in common, and what each has for itself."""
    table, n = Table(len(projection_kernels.SLOTS)), (system.n,)
    table[projection_kernels.WRENCHES] = wrench_places(system)
    own = {projection_kernels.LINK: (len(CALLED) + 3,), projection_kernels.REPORT: (4,), projection_kernels.LINES: (4,)}
    own[projection_kernels.SETTINGS] = (3,)
    return table, Room(own | {projection_kernels.HEAVY_Q: n, projection_kernels.HEAVY_V: n})


def kernels_for(model: Any, method: Any = None, linear: str = DEFAULT) -> tuple[Kernel, ...]:
    """Kernels that projectors of a model and a method call, for `compile_model` to build along with the elements'."""
    reads = any(force.reads_reactions or force.reads_accelerations for force in model.forces.values())
    own = () if method is None else method.kernels
    kernels = (*solver_class(linear).kernels_for(() if method is None else method.needs), *KERNELS, *own)
    return (*kernels, projection_kernels.iterate_solution) if reads else kernels


class Projector:
    """Projects states of one system; has factorisations of its own, so a method keeps what it has."""

    def __init__(self, state: State, solver: Solver | None = None) -> None:
        self.state, self.system = state, state.system
        self.solver = solver or solver_of(self.system)
        self.factors = self.solver.table(state[s.MATRIX])
        self.smallest: Table | None = None
        if DIAGONAL in self.solver.offers:  # else no row is ever left out, and there is nothing to shorten
            key = f"smallest {self.solver.name}"
            if key not in state.scratch:
                state.scratch[key] = self.solver.table(state[s.MATRIX], find_rank=False, definite=True)
            self.smallest = state.scratch[key]
        kept = self.system.structure.kept
        if "projector" not in kept:
            kept["projector"] = blank(self.system)
        common, room = kept["projector"]
        self.table = common.sharing()
        self.table.fill(room)
        iterate = projection_kernels.iterate_solution.address if len(state[s.ROW_R]) or len(state[s.A_NOW]) else 0
        link = [self.factors.handle, 0 if self.smallest is None else self.smallest.handle]
        self.table[projection_kernels.SETTINGS][:] = CLOSED, 50.0, 1e-10
        self.table[projection_kernels.LINK][:] = [*link, *(kernel.address for kernel in CALLED), iterate]

    @property
    def handle(self) -> int:
        """The number by which kernels know this projector's table."""
        return self.table.handle

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the dimensions of the columns of output."""
        joints, angles = len(self.table[projection_kernels.WRENCHES]), len(self.system.angle_joints)
        return {"coordinate": self.system.n, "row": self.system.m, "joint": joints, "measured_angle": angles}

    def close_block(
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
        error = self.close_lines(output, 0, len(t), project)[1]
        if error is not None:
            raise error
        return output.arrays

    def close_lines(self, output: Output, first: int, end: int, project: bool) -> tuple[int, Index3Error | None]:
        """Close lines of output where they stand, and fill the columns that are derived from them.

        Returns the number of the first line that is not closed: `end`, or that of one which cannot be, and why.
        """
        table = self.table
        table[projection_kernels.LINES][:] = output.handle, first, end, int(project)
        accepted = self.state[s.ANGLE_REF].copy()
        code = output_kernels.close_lines(self.state.handle, self.handle)
        self.state[s.ANGLE_REF][:] = accepted
        good = end if code == 0 else int(table[projection_kernels.REPORT][projection_kernels.FAILED_LINE])
        if code == 0 and project:
            usual = self.factors[contract.INFO][contract.FEWEST_ZERO]
            redundant, scaled = output.table[columns.REDUNDANT][first:end], output.arrays["violation_scaled"][first:end]
            limit = np.where(redundant > usual, NEAR_SINGULAR, CONTRADICTION)
            contradicting = np.flatnonzero(~(scaled[:, 1:].max(axis=1) <= limit))
            if len(contradicting):
                good, code = first + int(contradicting[0]), projection_kernels.CONTRADICTION
        return good, self.failure(code, float(output.arrays["t"][good])) if code else None

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
        """The error of a projection that gave up, naming rows or bodies."""
        system = self.system
        row = int(self.table[projection_kernels.REPORT][projection_kernels.WORST_ROW])
        if code in (projection_kernels.EVALUATION, projection_kernels.SINGULAR):
            problem: Index3Error = (
                ModelError(system.explain(self.state))
                if code == projection_kernels.EVALUATION
                else singular_body(system, self.factors)
            )
            for cause in system.take_failures():
                if not isinstance(cause, Exception):  # KeyboardInterrupt in a user's function, or in a solver
                    raise cause
                problem.__cause__ = cause
            return problem
        if code == projection_kernels.POSITIONS:
            driven = any(group.rows and hasattr(group.element, "joint") for group in system.groups)
            motions = ", and whether motions contradict each other or a joint" if driven else ""
            return AssemblyError(
                f"No positions satisfy the constraints at t = {t:.6g}: worst rows "
                f"{system.worst_rows(self.state[s.PHI])}. "
                f"Check the geometry of {system.row_labels[row]} and of what is connected to it{motions}."
            )
        if code == projection_kernels.NOT_CONVERGED:
            return SimulationFailed(f"{not_converged(system)} at t = {t:.6g}.")
        return AssemblyError(
            f"The rows of {system.row_labels[row]} (worst: {system.row_names[row]}) contradict others at t = {t:.6g}: "
            "no velocities or accelerations satisfy them all. Remove one of the constraints or motions that disagree."
        )


def singular_body(system: System, factors: Table) -> SingularError:
    """The error for a matrix that could not be factored, naming the body or the row."""
    scalar, status = (int(factors[contract.INFO][place]) for place in (contract.BAD_SCALAR, contract.STATUS))
    if status == contract.ROW_REDUNDANT:
        row = scalar - system.n
        return SingularError(
            f"Row {system.row_names[row]} of {system.row_labels[row]} is redundant, or too nearly so for this linear "
            f"solver. Use linear='{DEFAULT}', or remove the constraint."
        )
    if status == contract.UNSUITABLE:
        return SingularError(
            f"The equations are not of a kind that this linear solver accepts. Use linear='{DEFAULT}'."
        )
    if not 0 <= scalar < system.n:
        return SingularError("The equations of motion contain numbers that are not finite.")
    body = system.bodies[int(np.searchsorted(system.starts, scalar, "right")) - 1]
    if system.reads_accelerations:
        name = body.coordinate_names[scalar - system.starts[system.bodies.index(body)]]
        return SingularError(
            f"{body.label} has no inertia left along {name}: no acceleration balances its forces. Check the forces "
            f"that depend on accelerations ({', '.join(system.readers('accelerations'))}) and the inertia of the body."
        )
    return SingularError(
        f"{body.label} can turn about an axis about which it has no inertia. Give it inertia there, or a joint that "
        "prevents this rotation."
    )


def not_converged(system: System) -> str:
    """What is said where forces depend on reactions or accelerations and no solution is found."""
    if not system.reads_accelerations:
        return "Reactions and the friction that they cause do not converge: friction may be too strong for any motion"
    forces = ", ".join(system.readers("accelerations"))
    return (
        f"Accelerations and the forces that depend on them ({forces}) do not converge: "
        "such forces may leave bodies without inertia, or have jumps"
    )


def wrench_places(system: System) -> np.ndarray:
    """For each column of reactions: first row, number of rows, place of its marker's gradient, stride.

    One column per joint and motion, of its second marker (of its only one; none for held coordinates), and behind them
    those of the other markers of joints with more than two.
    """
    groups = restrained(system)
    pairs = [(group, min(1, len(group.markers) - 1)) for group in groups]
    pairs += [(group, k) for group in groups for k in further(group)]
    places = [
        (group.row, group.rows if k >= 0 else 0, group.gradient + 6 * k, 6 * len(group.markers)) for group, k in pairs
    ]
    return np.array(places, np.int64).reshape(-1, 4)


def further(group: Any) -> list[int]:
    """The markers of a group whose reactions do not follow from the one on the second marker."""
    return [k for k in range(len(group.markers)) if k != 1] if len(group.markers) > 2 else []


def restrained(system: System) -> list[Any]:
    """The groups that carry rows or belong to joints: one line of reactions each."""
    return [group for group in system.groups if getattr(group.element, "element", "") in ("joint", "motion")]
