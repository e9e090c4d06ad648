"""DOPRI5 as a user sees it, and how a run of an explicit Runge-Kutta formula is set up."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled.interface import Kernel, Slot, Table
from index3.errors import ModelError
from index3.linear import contract
from index3.methods import projection_kernels, run
from index3.methods.explicit import points
from index3.methods.explicit import runge_kutta as rk
from index3.methods.explicit.point_table import point_table
from index3.methods.explicit.tableaus import DOPRI5, Tableau
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.methods.state_space import frame
from index3.methods.state_space.frame_table import Frame, frame_kernels
from index3.registry import register

STAGES = ("auto", "free", "closed")
STABILIZATIONS = {"projection": points.RECOVER_FULLY, "post": points.MOVE_ONCE, "baumgarte": points.STAY}
"""What `stabilization` does at the end of a step."""

OWN_SHAPES: dict[Slot, tuple[int, ...]] = {rk.RUN: (1,), rk.PROJECTORS: (4,), rk.FLAGS: (9,), rk.SETTINGS: (7,)}
"""Shapes of the arrays of a step that no model alters."""

STEP_KERNELS = (points.evaluate, rk.stages)
"""Kernels that `rk.LINK` holds the addresses of, in its order."""


def step_kernels(parametrization: str) -> tuple[Kernel, ...]:
    """Kernels that a step of this family calls."""
    return STEP_KERNELS + (frame_kernels(parametrization) if parametrization == "partition" else ())


def baumgarte_terms(baumgarte: tuple[float, float]) -> tuple[float, float]:
    """Factors of Phi' and Phi: 2 alpha, beta^2."""
    return 2.0 * baumgarte[0], baumgarte[1] ** 2


def runge_kutta_table(
    progress: Run,
    tableau: Tableau,
    stages: str,
    stabilization: str = "projection",
    baumgarte: tuple[float, float] = (0.0, 0.0),
    *,
    parametrization: str = "tangent-plane",
    size: int = len(rk.SLOTS),
    kernels: tuple[Kernel, ...] = STEP_KERNELS,
    spare: bool = False,
) -> Table:
    """The table of `runge_kutta.attempt` for a run, which owns what the table points to.

    `kernels` are for `rk.LINK`; `spare` projectors serve lines of output by the formula itself.
    """
    terms = baumgarte_terms(baumgarte) if stabilization == "baumgarte" else ()
    kind = tableau, size, kernels, "closed" if parametrization == "partition" else stages, stabilization
    if parametrization == "partition":
        partition = Frame(progress, parametrization)
        partition.table[frame.SETTINGS][frame.REACH] = np.inf  # jumps are looked for in a way of their own
        progress.owned.append(partition)
        whole = make_tables(progress, *kind, terms, spare, partition.table)
    else:
        make = functools.partial(make_tables, progress, *kind, terms, spare)
        whole = progress.whole((*kind, terms, spare), make)
    table, point, _ = whole
    progress.owned += whole
    table[rk.RUN][0] = point[points.RUN][0] = progress.table.handle
    return table


def make_tables(
    progress: Run, tableau: Tableau, size: int, kernels: tuple[Kernel, ...], stages: str, stabilization: str,
    terms: tuple[float, ...], spare: bool, partition: Table | None = None,
) -> tuple[Table, Table, list[Projector]]:  # fmt: skip
    """The table of a step and that of its points, and the projectors that the first refers to."""

    def begin(table: Table) -> None:
        how = STABILIZATIONS[stabilization]
        table[rk.LINK][1:] = [kernel.address for kernel in kernels]
        table[rk.FLAGS][:] = (
            0, stages == "closed", stages == "auto", 1, tableau.end_in_error, len(tableau.error), 0, 0, how,
        )  # fmt: skip
        table[rk.SETTINGS][:] = tableau.exponent, tableau.memory, tableau.shrink, tableau.grow, 1e-4, 0.9, 0.0

    n, formula = progress.system.n, (tableau, size, kernels)
    room = progress.system.structure.room(formula, lambda: own_shapes(n, tableau.stages + 1, len(kernels)))
    kind = *formula, stages, stabilization
    table = progress.state.workspace.filled(kind, constants(tableau, size), room, begin)
    point = point_table(progress, terms, partition)
    projectors = [Projector(progress.state, progress.solver) for _ in range(4 if spare else 2)]
    table[rk.LINK][rk.POINT] = point.handle
    table[rk.PROJECTORS][: len(projectors)] = [projector.handle for projector in projectors]
    return table, point, projectors


def own_shapes(n: int, points_of_step: int, kernels: int) -> dict[Slot, tuple[int, ...]]:
    """Shapes of the arrays of a step, for n coordinates, so many points of a step and kernels that it calls."""
    own = OWN_SHAPES | {rk.K_Q: (points_of_step, n), rk.K_V: (points_of_step, n)}
    return own | {rk.K_POWER: (points_of_step,), rk.END_Q: (n,), rk.LINK: (1 + kernels,)}


@functools.cache
def constants(tableau: Tableau, size: int) -> Table:
    """What the tables of a formula have in common."""
    table = Table(size)
    table[rk.NODES], (table[rk.STAGE_A], table[rk.ERROR_B]) = np.array(tableau.nodes), tableau.dense()
    return table


class RungeKutta(Method):
    """What the explicit Runge-Kutta methods share; subclasses name their tableau."""

    stages: str
    parametrization: str
    stabilization: str
    baumgarte: tuple[float, float]
    tableau: ClassVar[Tableau]
    family: ClassVar[str] = "explicit"
    damps: ClassVar[bool] = False
    implicit: ClassVar[bool] = False
    stiff: ClassVar[bool] = False
    kernel: ClassVar[Kernel] = rk.attempt
    needs: ClassVar[frozenset[str]] = frozenset()  # accelerations alone
    own_output: ClassVar[bool]

    def __post_init__(self) -> None:
        owner = f"Method '{self.key}'"
        check_choice(owner, "stages", self.stages, STAGES)
        check_choice(owner, "parametrization", self.parametrization, ("tangent-plane", "partition"))
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_choice(owner, "stabilization", self.stabilization, tuple(STABILIZATIONS))
        if not isinstance(self.baumgarte, tuple | list) or len(self.baumgarte) != 2:
            raise ModelError(f"{owner}: baumgarte = {self.baumgarte!r}. Give two rates (alpha, beta) in 1/s.")
        for rate in self.baumgarte:
            check_range(owner, "baumgarte", rate, 0.0, 1e9)
        if self.parametrization == "partition" and self.stages == "free":
            raise ModelError(f"{owner}: stages='free' recovers no coordinates, which a partition needs. Leave it out.")
        if self.parametrization == "partition" and self.stabilization != "projection":
            raise ModelError(
                f"{owner}: stabilization={self.stabilization!r} does not recover dependent coordinates, as a partition "
                "needs it. Use 'projection'."
            )

    @property
    def helpers(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        """The other kernels of a run, to be built with `kernel`."""
        return (*step_kernels(self.parametrization), rk.dense)

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start; or Baumgarte's terms were asked for, and rows are
            redundant (off the constraints they contradict each other) or forces depend on reactions.
        """
        if self.stabilization == "baumgarte":
            self.check_terms(progress)
        own_output = self.own_output or not progress.system.conservative  # work between steps needs the formula too
        table = runge_kutta_table(
            progress,
            self.tableau,
            self.stages,
            self.stabilization,
            self.baumgarte,
            parametrization=self.parametrization,
            spare=own_output,
        )
        self.prepare(progress)
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or progress.choose_first_step(self.tableau.order)
        progress[run.LIMITS][run.QUINTIC] = 1
        if not progress.system.conservative:
            progress[run.LIMITS][run.TRACK_WORK] = run.OWN
        if own_output:
            progress[run.LIMITS][run.QUINTIC] = run.OWN
            progress[run.LINK][run.LINK_DENSE] = rk.dense.address
        return table

    def check_terms(self, progress: Run) -> None:
        """Raise where Baumgarte's terms make no sense."""
        projector = Projector(progress.state, progress.solver)
        projection_kernels.assemble_accelerations(progress.state.handle, projector.handle)
        skipped = projector.factors[contract.ZERO][progress.system.n :]
        reason = ""
        if skipped.any():
            row = int(np.flatnonzero(skipped)[0])
            reason = f"row {progress.system.row_names[row]} of {progress.system.row_labels[row]} is redundant"
        elif progress.system.reads_reactions:
            reason = "forces depend on reactions"
        if reason:
            raise ModelError(
                f"Method '{self.key}': stabilization='baumgarte' cannot be used where {reason}. Use 'projection'."
            )


@register
@dataclass(frozen=True)
class Dopri5(RungeKutta):
    """Dormand and Prince's explicit Runge-Kutta pair of order 5(4), with projection after every step.

    Parameters
    ----------
    stages : "auto" recovers the constraints at every stage where rows are redundant, "closed" always, "free" never
    parametrization : "tangent-plane", or "partition": the formula holds for a choice of the model's own coordinates,
        and every stage is recovered by the others
    newton_tol : scaled residual that recovered stages may keep with constant steps (else 1e-4 rtol, if more)
    stabilization : what the end of a step does: "projection" onto the constraints, "post" one step towards them,
        "baumgarte" nothing, but Phi'' = -2 alpha Phi' - beta^2 Phi in all accelerations
    baumgarte : (alpha, beta) in 1/s, for stabilization="baumgarte"

    >>> Dopri5().order
    5
    """

    stages: str = "auto"
    parametrization: str = "tangent-plane"
    newton_tol: float = 1e-13
    stabilization: str = "projection"
    baumgarte: tuple[float, float] = (10.0, 10.0)

    key: ClassVar[str] = "dopri5"
    order: ClassVar[int] = 5
    paper: ClassVar[str] = "Dormand, Prince 1980"
    summary: ClassVar[str] = "smooth motion without stiffness, tolerances 1e-3 to 1e-7"
    tableau: ClassVar[Tableau] = DOPRI5
    own_output: ClassVar[bool] = False
