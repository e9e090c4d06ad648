"""Generalized-alpha as a user sees it: its settings, and how a run of it is set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Table
from index3.methods import run
from index3.methods.direct import alpha, generalized_alpha, leaps, tables, transient
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.run_table import Run
from index3.registry import register


@register
@dataclass(frozen=True)
class GeneralizedAlpha(Method):
    """Generalized-alpha method on the index-3 equations, in the form of Arnold and Bruels: second order.

    Parameters
    ----------
    rho_inf : spectral radius at infinite frequency, from 0 (strongest damping) to 1 (none: give a constant step too)
    index : 3, or 2 to impose the velocity constraints as well (stabilised index 2)
    newton_tol : with constant steps, relative size of the last correction of the velocities
    kappa : part of the tolerance that the corrector may leave in a step
    max_iterations : corrections per try
    predictor_degree : highest degree of the extrapolation that starts the corrector, 0..3

    >>> GeneralizedAlpha(rho_inf=0.6).order
    2
    """

    rho_inf: float = 0.8
    index: int = 3
    newton_tol: float = 1e-11
    kappa: float = 1e-5
    max_iterations: int = 10
    predictor_degree: int = 3

    key: ClassVar[str] = "generalized-alpha"
    family: ClassVar[str] = "direct"
    order: ClassVar[int] = 2
    implicit: ClassVar[bool] = True
    controls_velocities: ClassVar[bool] = False
    stiff: ClassVar[bool] = True
    paper: ClassVar[str] = "Arnold, Bruels 2007; Chung, Hulbert 1993"
    summary: ClassVar[str] = "like hht-i3, set by the damping at infinite frequency"
    kernel: ClassVar[Kernel] = generalized_alpha.attempt
    helpers: ClassVar[tuple[Kernel, ...]] = (transient.shorten,)
    ends_at_switches: ClassVar[bool] = False  # short steps behind one double the steps of a heap, or make noise

    def __post_init__(self) -> None:
        owner = "Method 'generalized-alpha'"
        check_range(owner, "rho_inf", self.rho_inf, 0.0, 1.0)
        check_choice(owner, "index", self.index, (3, 2))
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_range(owner, "kappa", self.kappa, 1e-8, 1.0)
        check_range(owner, "max_iterations", self.max_iterations, 2, 100, whole=True)
        check_range(owner, "predictor_degree", self.predictor_degree, 0, alpha.PAST - 1, whole=True)

    def hint(self, code: int) -> str:
        """Why a run without damping ended early, and what may help."""
        return tables.undamped_hint(code, "rho_inf below 1, such as 0.95") if self.rho_inf == 1.0 else ""

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start.
        """
        table = tables.newton_table(
            progress, len(generalized_alpha.SLOTS), kappa=self.kappa, max_iterations=self.max_iterations,
            stabilised=self.index == 2, doubted=leaps.IGNORED,
        )  # fmt: skip
        table[alpha.OPTIONS] = np.array([self.rho_inf], float)
        tables.fill_past(table, progress, self.predictor_degree)
        self.prepare(progress)
        table[generalized_alpha.AUXILIARY] = progress.state[s.A].copy()
        progress[run.LIMITS][[run.QUINTIC, run.BY_RATES]] = 1
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or tables.first_step(progress, 0.25, table)
        return table
