"""The Rosenbrock-Nystrom method as a user sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.callbacks import UserFunctions
from index3.compiled.interface import Kernel, Table
from index3.errors import ModelError, warn
from index3.methods import run
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.methods.state_space import rosenbrock, rosenbrock_steps
from index3.methods.state_space.frame_table import Frame, frame_kernels
from index3.methods.state_space.partition import MOST_FREEDOMS, check_flexible, choose_partition
from index3.methods.tableaus import ROSENBROCK4
from index3.registry import register
from index3.system import evaluate
from index3.system.system import System


@register
@dataclass(frozen=True)
class Rosenbrock4(Method):
    """Rosenbrock-Nystrom method (ForRosen): fourth order, L-stable, no iteration, exact Jacobian in every step.

    For few degrees of freedom, and forces with derivatives.

    Parameters
    ----------
    filtered : pass the error estimate through (I - gamma h J)^-1; without, stiff motions may get smaller steps
    newton_tol : not used (there is no iteration), for the sake of a common interface
    parametrization : "tangent-plane": coordinates along an orthonormal basis (in the metric of the kinetic energy) of
        the motions possible at the start of a step; "partition": a choice of the model's own coordinates

    >>> Rosenbrock4().order
    4
    """

    newton_tol: float = 1e-11
    filtered: bool = True
    parametrization: str = "tangent-plane"

    key: ClassVar[str] = "rosenbrock4"
    family: ClassVar[str] = "first order"
    order: ClassVar[int] = 4
    implicit: ClassVar[bool] = True
    stiff: ClassVar[bool] = True
    paper: ClassVar[str] = "Negrut 1998 (thesis)"
    summary: ClassVar[str] = "very stiff motions of few degrees of freedom; no iteration"
    kernel: ClassVar[Kernel] = rosenbrock_steps.attempt
    ends_at_switches: ClassVar[bool] = False  # stages lie beyond the end of the step
    needs: ClassVar[frozenset[str]] = frozenset()  # accelerations alone
    takes_velocity_rows: ClassVar[bool] = False
    takes_reactions: ClassVar[bool] = False

    def __post_init__(self) -> None:
        owner = "Method 'rosenbrock4'"
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_choice(owner, "filtered", self.filtered, (True, False))
        check_choice(owner, "parametrization", self.parametrization, ("tangent-plane", "partition"))

    @property
    def helpers(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        """The other kernels of a run, to be built with `kernel`."""
        return frame_kernels(self.parametrization)

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent; warns of forces without derivatives.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start, the model has velocity-level rows or a flat
            NaturalBody, or no or too many degrees of freedom.
        """
        self.prepare(progress)
        check_flexible(self.key, progress.state)
        flat = [body.label for body in progress.system.bodies if body.flat]
        if flat and self.parametrization == "tangent-plane":
            raise ModelError(
                f"Method 'rosenbrock4' is only of first order with {flat[0]}, whose mass matrix is singular: its "
                "kinetic energy gives no metric for a tangent plane. Give parametrization='partition'."
            )
        warn_of_missing_derivatives(progress.system)
        state, n = progress.state, progress.system.n
        state.run(evaluate.forces, evaluate.jacobian)
        independent = choose_partition(state).independent
        d = len(independent)
        if not 0 < d <= MOST_FREEDOMS:
            raise ModelError(
                f"Method 'rosenbrock4' takes models with 1 to {MOST_FREEDOMS} degrees of freedom; this one has {d}. "
                "Use method='firstorder-sdirk4'."
            )
        own = Table(len(rosenbrock.SLOTS))
        frame, stage = Frame(progress, self.parametrization), Projector(state, progress.solver)
        own.keep = (frame, stage)  # type: ignore[attr-defined]  # the kernel holds their handles
        own[rosenbrock.RUN] = np.array([progress.table.handle], np.int64)
        own[rosenbrock.FRAME] = np.array([frame.table.handle], np.int64)
        own[rosenbrock.STAGE] = np.array([stage.handle], np.int64)
        own[rosenbrock.SETTINGS] = np.array([float(self.filtered), ROSENBROCK4.root, 0.0])
        own[rosenbrock.FLAGS] = np.array([1, 0, 0, depends_on_time(progress.system)], np.int64)
        table = ROSENBROCK4.transformed()
        for slot, name in (
            (rosenbrock.TABLE_W, "w"), (rosenbrock.TABLE_C, "c"), (rosenbrock.TABLE_D, "d"), (rosenbrock.TABLE_T, "t"),
        ):  # fmt: skip
            own[slot] = np.ascontiguousarray(table[name])
        own[rosenbrock.VECTORS] = np.array([table[name] for name in ("s", "p", "ev", "ep", "e_i", "a_i")])
        own[rosenbrock.BASIS] = np.eye(n)[independent]
        shapes = {rosenbrock.DUAL: (d, n), rosenbrock.J1: (d, d), rosenbrock.J2: (d, d), rosenbrock.LU: (d, d)}
        shapes |= {rosenbrock.U: (4, d)}
        for slot, shape in shapes.items():
            own[slot] = np.zeros(shape)
        own[rosenbrock.PIVOT] = np.zeros(d, np.int64)
        for slot in (rosenbrock.F, rosenbrock.F_T, rosenbrock.Y, rosenbrock.RIGHT, rosenbrock.SHIFT, rosenbrock.ERR_Y,
                     rosenbrock.ERR_V):  # fmt: skip
            own[slot] = np.zeros(d)
        for slot in (rosenbrock.OUT_Q, rosenbrock.OUT_V, rosenbrock.ROOM):
            own[slot] = np.zeros(n)
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or progress.choose_first_step(3)
        return own


def depends_on_time(system: System) -> bool:
    """Whether any constraint or force may depend on time explicitly: functions of time, or others of users."""
    users = any(isinstance(group.element, UserFunctions) for group in system.groups)
    return users or len(system.fixed[s.FUNCTIONS]) > 0


def warn_of_missing_derivatives(system: System) -> None:
    """The order of a Rosenbrock method rests on exact derivatives (4.4.4): name the forces that have none."""
    for group in system.groups:
        jacobian = getattr(group.element, "jacobian", None)
        if isinstance(jacobian, str) and jacobian == "none":
            warn(
                f"{group.element.label} has no derivatives, and method 'rosenbrock4' is of fourth order only with "
                "exact ones. Give it jacobian='differences' or a function.",
            )
