"""The trapezoidal and SDIRK methods in the state space, as a user sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from index3.compiled.interface import Kernel, Table
from index3.methods import run
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.run_table import Run
from index3.methods.state_space import sdirk, sdirk_steps
from index3.methods.state_space.frame_table import Frame, frame_kernels
from index3.methods.state_space.partition import check_flexible
from index3.methods.tableaus import SDIRK4_15, SDIRK4_16, TRAPEZOIDAL, Tableau
from index3.registry import register

THESIS = "Negrut 1998 (thesis)"
LOOSE = 1e-3
"""The rtol down to which `kappa` holds as it is given."""
NEAR_SINGULAR = 1e-2
"""Smallest pivot of a row, in parts of the largest one seen in the run, at which a position counts as close to a
singular one. Pivots go with the square of the distance: a tenth of the way."""


@dataclass(frozen=True)
class StateSpaceMethod(Method):
    """What the diagonally implicit methods in the state space have in common.

    Parameters
    ----------
    newton_tol : with constant steps, relative size of the last correction of the velocities
    kappa : part of the tolerance that the iteration may leave in a stage, at rtol = 1e-3; below, where steps grow in
        number like rtol^-e (e = 1/2 for the trapezoidal rule, 1/4 for SDIRK), it is smaller by (rtol/1e-3)^e. The
        thesis's 1e-2 saves a third of the iterations, but what is left adds up and exceeds the truncation error
    max_iterations : corrections per stage (thesis: 7 to 10)
    filtered : pass the error estimate through (I - gamma h J)^-1, which takes out what stiff components do not suffer
    parametrization : "tangent-plane": what a formula leaves off the constraints is removed along M^-1 Phi_q^T;
        "partition": by the dependent coordinates of a partition alone
    """

    newton_tol: float = 1e-11
    kappa: float = 1e-4
    max_iterations: int = 10
    filtered: bool = True
    parametrization: str = "tangent-plane"

    implicit: ClassVar[bool] = True
    stiff: ClassVar[bool] = True
    paper: ClassVar[str] = THESIS
    kernel: ClassVar[Kernel] = sdirk_steps.attempt
    takes_reactions: ClassVar[bool] = False
    tableau: ClassVar[Tableau]
    reduced: ClassVar[bool] = False  # unknowns of the iteration are the independent accelerations only
    embedded_start: ClassVar[bool] = False  # the last stage starts from the embedded formula
    lasting: ClassVar[int] = 20  # steps whose stages have masses of their own, after a slow one; 0: never
    exponent: ClassVar[float]  # of the step control: 1 / (order of the embedded formula + 1)

    def __post_init__(self) -> None:
        owner = f"Method '{self.key}'"
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_range(owner, "kappa", self.kappa, 1e-8, 1.0)
        check_range(owner, "max_iterations", self.max_iterations, 2, 100, whole=True)
        check_choice(owner, "filtered", self.filtered, (True, False))
        check_choice(owner, "parametrization", self.parametrization, ("tangent-plane", "partition"))

    def share(self, progress: Run) -> float:
        """What is left of `kappa` at a tight tolerance: a run has more steps by its inverse, and remainders add up."""
        return min(1.0, (progress[run.TOLERANCE][run.RTOL] / LOOSE) ** self.exponent)

    @property
    def helpers(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        """The other kernels of a run, to be built with `kernel`."""
        return frame_kernels(self.parametrization)

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start, or depend on reactions; flexible bodies have too many
            degrees of freedom.
        """
        n, m, tableau = progress.system.n, progress.system.m, self.tableau
        self.prepare(progress)
        check_flexible(self.key, progress.state)
        own = Table(len(sdirk.SLOTS))
        frame = Frame(progress, self.parametrization, NEAR_SINGULAR)
        own.keep = frame  # type: ignore[attr-defined]  # the kernel holds its handle
        own[sdirk.RUN] = np.array([progress.table.handle], np.int64)
        own[sdirk.FRAME] = np.array([frame.table.handle], np.int64)
        settings: list[Any] = [
            self.kappa * self.share(progress), self.max_iterations, 0.25, self.filtered, self.reduced, self.exponent,
            tableau.gamma, self.lasting,
        ]  # fmt: skip
        own[sdirk.SETTINGS] = np.array([float(x) for x in settings])
        own[sdirk.MEMORY] = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
        own[sdirk.FLAGS] = np.array([1, 0, 0, 0], np.int64)
        fractions: dict[Any, Any] = {
            sdirk.WEIGHT_A: tableau.A, sdirk.WEIGHT_MU: tableau.mu, sdirk.PLACES: tableau.c,
            sdirk.ERROR_V: tableau.error, sdirk.ERROR_Q: tableau.product(tableau.error),
            sdirk.START_GAP: tableau.start_gap,
        }  # fmt: skip
        for slot, values in fractions.items():
            own[slot] = np.array(values, float)
        own[sdirk.STARTS] = tableau.starts(self.embedded_start)
        own[sdirk.STAGE_A], own[sdirk.STAGE_LAM] = np.zeros((tableau.stages, n)), np.zeros((tableau.stages, m))
        own[sdirk.STAGE_N] = np.zeros((tableau.stages if np.any(progress.system.level == 1) else 0, n))
        own[sdirk.FIRSTS] = np.zeros((tableau.stages, 2))
        for slot in (sdirk.KNOWN_Q, sdirk.KNOWN_V, sdirk.ERR_Q, sdirk.ERR_V, sdirk.OUT_Q, sdirk.OUT_V):
            own[slot] = np.zeros(n)
        progress[run.LIMITS][run.QUINTIC] = 1
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or progress.choose_first_step(round(1 / self.exponent) - 1)
        return own


@register
@dataclass(frozen=True)
class StateSpaceTrapezoidal(StateSpaceMethod):
    """Trapezoidal rule on the independent coordinates (SspTrap): second order, A-stable, no numerical damping.

    The error is that of backward Euler, so steps are small and the result is better than asked for. The other settings
    are those of `StateSpaceMethod`.

    >>> StateSpaceTrapezoidal().order
    2
    """

    filtered: bool = False
    key: ClassVar[str] = "statespace-trapezoidal"
    damps: ClassVar[bool] = False
    family: ClassVar[str] = "state space"
    order: ClassVar[int] = 2
    summary: ClassVar[str] = "mildly stiff motions without numerical damping; cautious steps"
    tableau: ClassVar[Tableau] = TRAPEZOIDAL
    lasting: ClassVar[int] = 0  # with one implicit stage there is nothing to gain
    reduced: ClassVar[bool] = True
    exponent: ClassVar[float] = 0.5


@register
@dataclass(frozen=True)
class DescriptorTrapezoidal(StateSpaceMethod):
    """Trapezoidal rule in descriptor form (InflTrap): unknowns a and lam, only independent coordinates integrated.

    >>> DescriptorTrapezoidal().order
    2
    """

    filtered: bool = False
    key: ClassVar[str] = "descriptor-trapezoidal"
    damps: ClassVar[bool] = False
    family: ClassVar[str] = "descriptor"
    order: ClassVar[int] = 2
    summary: ClassVar[str] = "like statespace-trapezoidal, with the multipliers among the unknowns"
    tableau: ClassVar[Tableau] = TRAPEZOIDAL
    lasting: ClassVar[int] = 0  # with one implicit stage there is nothing to gain
    exponent: ClassVar[float] = 0.5


@register
@dataclass(frozen=True)
class DescriptorSDIRK4(StateSpaceMethod):
    """SDIRK4/16 in descriptor form (InflSDIRK): fourth order, L-stable, five implicit stages.

    >>> DescriptorSDIRK4().order
    4
    """

    key: ClassVar[str] = "descriptor-sdirk4"
    family: ClassVar[str] = "descriptor"
    order: ClassVar[int] = 4
    summary: ClassVar[str] = "very stiff motions, accurate"
    tableau: ClassVar[Tableau] = SDIRK4_16
    exponent: ClassVar[float] = 0.25


@register
@dataclass(frozen=True)
class FirstOrderSDIRK4(StateSpaceMethod):
    """SDIRK4/15 on the first-order reduction (ForSDIRK): fourth order, L-stable, five implicit stages.

    >>> FirstOrderSDIRK4().order
    4
    """

    key: ClassVar[str] = "firstorder-sdirk4"
    family: ClassVar[str] = "first order"
    order: ClassVar[int] = 4
    summary: ClassVar[str] = "very stiff motions, accurate; the best of the thesis at tight tolerances"
    tableau: ClassVar[Tableau] = SDIRK4_15
    reduced: ClassVar[bool] = True
    embedded_start: ClassVar[bool] = True
    exponent: ClassVar[float] = 0.25
