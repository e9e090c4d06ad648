"""BDF methods as a user sees them: their settings, and how a run of them is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled.interface import Kernel, Table
from index3.errors import ModelError
from index3.methods import run
from index3.methods.direct import bdf, tables, transient
from index3.methods.direct.bdf_start import fill_bdf, give_start, starting_values
from index3.methods.method import Method
from index3.methods.options import check_range
from index3.methods.run_table import Run
from index3.registry import register

GAIN = 0.1
"""Part of the largest energy in a motion that may come from nowhere without a word."""


@register
@dataclass(frozen=True)
class BDFIndex3(Method):
    """Backward differentiation formulas on the index-3 equations, order 1 to 5; errors of q are controlled.

    Right after changes of step or order, velocities are less accurate by one power of h, multipliers by two.

    Parameters
    ----------
    order : a fixed order 1..5, or the bounds (low, high) between which it is chosen; constant steps take the highest
    newton_tol : with constant steps, relative size of the last correction of the velocities
    kappa : part of the tolerance that the corrector may leave in a step
    max_iterations : corrections per try

    >>> BDFIndex3.order, BDFIndex3(order=2).order
    ((1, 5), 2)
    """

    order: int | tuple[int, int] = (1, bdf.MAX_ORDER)  # type: ignore[misc]  # of the class: the bounds
    newton_tol: float = 1e-11
    kappa: float = 1e-3
    max_iterations: int = 10

    key: ClassVar[str] = "bdf-i3"
    family: ClassVar[str] = "direct"
    implicit: ClassVar[bool] = True
    controls_velocities: ClassVar[bool] = False
    stiff: ClassVar[bool] = True
    paper: ClassVar[str] = "Gear 1971; Brenan, Campbell, Petzold 1996; Negrut et al. 2005 (for comparison)"
    summary: ClassVar[str] = "smooth motion at tight tolerances, strongly damped stiff models"
    kernel: ClassVar[Kernel] = bdf.attempt
    ends_at_switches: ClassVar[bool] = False  # its past is no guide behind one: errors of up to ten times as much
    helpers: ClassVar[tuple[Kernel, ...]] = (bdf.fix_directions, transient.shorten)  # first: of constant steps
    stabilised: ClassVar[bool] = False

    def __post_init__(self) -> None:
        owner = f"Method '{self.key}'"
        low, high = self.bounds()
        check_range(owner, "order", low, 1, bdf.MAX_ORDER, whole=True)
        check_range(owner, "order", high, low, bdf.MAX_ORDER, whole=True)
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_range(owner, "kappa", self.kappa, 1e-8, 1.0)
        check_range(owner, "max_iterations", self.max_iterations, 2, 100, whole=True)

    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest order allowed."""
        if not isinstance(self.order, tuple | list):
            return self.order, self.order
        if len(self.order) != 2:
            raise ModelError(f"Method '{self.key}': order = {self.order!r}. Give an order, or two bounds (low, high).")
        return self.order[0], self.order[1]

    def remark(self, energy: Mapping[str, np.ndarray], scale: float, gain: float) -> str:
        """A warning if energy came from nowhere: orders above 2 are unstable close to the imaginary axis."""
        balance = energy["kinetic"] + energy["potential"] - energy["work"]
        scale = max(scale, np.max(energy["kinetic"]), np.ptp(energy["potential"]), np.ptp(energy["work"]))
        gain = min(np.max(balance) - balance[0], gain)
        if self.bounds()[1] <= 2 or not gain > GAIN * scale:
            return ""
        return (
            f"Energy of {gain:.3g} J, {100 * gain / scale:.0f} % of the largest in the motion, came from nowhere: "
            "undamped fast oscillations grow with orders above 2, or the tolerance is too loose. Give order=(1, 2), a "
            "smaller rtol, or method='hht-i3'."
        )

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start.
        """
        low, high = self.bounds()
        clock, fixed = progress[run.CLOCK], progress[run.CLOCK][run.STEP] > 0.0
        table = tables.newton_table(
            progress, len(bdf.SLOTS), kappa=self.kappa, max_iterations=self.max_iterations, stabilised=self.stabilised
        )
        fill_bdf(table, progress, high if fixed else min(2, high), low, high)
        self.prepare(progress)
        if fixed:
            give_start(table, starting_values(progress, high), progress.system.n, progress.system.m)
            self.prepare(progress)  # again: the starting values moved the state
            progress[run.NEW_RATE][:] = progress[run.NEW_A][progress.system.first_state :]
        progress[run.LIMITS][[run.QUINTIC, run.BY_RATES]] = 1
        clock[run.H_NEXT] = clock[run.STEP] or first_step or tables.first_step(progress, 0.25)
        return table


@register
@dataclass(frozen=True)
class BDFStabilized(BDFIndex3):
    """Backward differentiation formulas on the stabilised index-2 equations (Gear, Gupta, Leimkuhler), order 1 to 5.

    Position and velocity constraints hold at every step; errors of q and v are controlled.

    Parameters
    ----------
    order : a fixed order 1..5, or the bounds (low, high) between which it is chosen; constant steps take the highest
    newton_tol : with constant steps, relative size of the last correction of the velocities
    kappa : part of the tolerance that the corrector may leave in a step
    max_iterations : corrections per try

    >>> BDFStabilised(order=(1, 2)).key
    'bdf-si2'
    """

    key: ClassVar[str] = "bdf-si2"
    paper: ClassVar[str] = "Gear, Gupta, Leimkuhler 1985"
    summary: ClassVar[str] = "like bdf-i3, with velocities and reactions as accurate as positions"
    stabilised: ClassVar[bool] = True
    controls_velocities: ClassVar[bool] = True


BDFStabilised = BDFStabilized  # as it was called first
