"""HHT-I3 as a user sees it: its settings, and how a run of it is set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Table
from index3.errors import ModelError
from index3.methods import run
from index3.methods.direct import hht, leaps, transient
from index3.methods.direct import tables as steps
from index3.methods.direct.tables import fill_past, newton_table
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.run_table import Run
from index3.registry import register

RENEWAL = (0.2, 0.85, 1.15)
"""When a matrix is renewed (`tables.RENEWAL`): measured on beams of seven moduli, chains and vehicles, where it saves a
third, a tenth and a fifth of the corrections and no time is lost."""
DAMPED = -0.3
"""The numerical damping unless another is given."""
LITTLE_DAMPING = -0.1
"""The damping below which accelerations along constraints alternate for long."""
ROUNDING = 8 * np.finfo(float).eps
"""By which a number that a user rounded may lie beyond a bound that is worked out: 0.3025 for 0.55^2."""


@register
@dataclass(frozen=True)
class HHT(Method):
    """Hilber-Hughes-Taylor method on the index-3 equations: second order, for stiff and closed mechanisms.

    Parameters
    ----------
    alpha : numerical damping, from -1/3 (most) to 0 (none: multipliers oscillate, so give a constant step too); -0.3 by
        default, 0 with newmark
    newton_tol : with constant steps, relative size of the last correction of the velocities
    kappa : part of the tolerance that the corrector may leave in a step; the paper's 1e-3 saves one iteration in ten,
        but what is left adds up where errors of the method cancel (fast spin)
    max_iterations : corrections per try
    predictor_degree : highest degree of the extrapolation that starts the corrector, 0..3
    mass : "alpha" takes the mass matrix and the forces with the acceleration of the same instant (second order), "end"
        as the paper prints
    shift : move the old acceleration to its place in a step of another size (second order for any steps)
    norm : "contract" weighs errors by atol + rtol |q|, "paper" by rtol max(1, |q|)
    newmark : (beta, gamma) of Newmark's formulas, for alpha = 0 only; (1/4, 1/2) is the trapezoidal rule, all others
        that are stable at any step, gamma >= 1/2 and beta >= (gamma + 1/2)^2 / 4, damp and are of first order

    >>> HHT(alpha=-0.1).order
    2
    """

    alpha: float | None = None
    newton_tol: float = 1e-11
    kappa: float = 1e-5
    max_iterations: int = 10
    predictor_degree: int = 3
    mass: str = "alpha"
    shift: bool = True
    norm: str = "contract"
    newmark: tuple[float, float] | None = None

    key: ClassVar[str] = "hht-i3"
    family: ClassVar[str] = "direct"
    order: ClassVar[int] = 2
    implicit: ClassVar[bool] = True
    controls_velocities: ClassVar[bool] = False
    stiff: ClassVar[bool] = True
    paper: ClassVar[str] = "Negrut, Rampalli, Ottarsson, Sajdak 2005"
    summary: ClassVar[str] = "stiff mechanisms, closed loops, redundant constraints; numerical damping by alpha"
    kernel: ClassVar[Kernel] = hht.attempt
    helpers: ClassVar[tuple[Kernel, ...]] = (transient.shorten,)
    ends_at_switches: ClassVar[bool] = False  # short steps behind one double the steps of a heap, or make noise

    def __post_init__(self) -> None:
        owner = "Method 'hht-i3'"
        if self.alpha is None:
            object.__setattr__(self, "alpha", DAMPED if self.newmark is None else 0.0)
        check_range(owner, "alpha", self.alpha, -1.0 / 3.0, 0.0)
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_range(owner, "kappa", self.kappa, 1e-8, 1.0)
        check_range(owner, "max_iterations", self.max_iterations, 2, 100, whole=True)
        check_range(owner, "predictor_degree", self.predictor_degree, 0, hht.PAST - 1, whole=True)
        check_choice(owner, "mass", self.mass, ("alpha", "end"))
        check_choice(owner, "shift", self.shift, (True, False))
        check_choice(owner, "norm", self.norm, ("contract", "paper"))
        if self.newmark is not None:
            self._check_newmark(owner)

    def _check_newmark(self, owner: str) -> None:
        if not isinstance(self.newmark, tuple) or len(self.newmark) != 2:
            raise ModelError(f"{owner}: newmark = {self.newmark!r}. Give a pair (beta, gamma).")
        beta, gamma = self.newmark
        check_range(owner, "gamma of newmark", gamma, 0.5, 10.0)
        least = (gamma + 0.5) ** 2 / 4.0 * (1.0 - ROUNDING)
        check_range(owner, "beta of newmark", beta, least, 100.0)
        if self.alpha != 0.0:
            raise ModelError(f"{owner}: newmark with alpha = {self.alpha!r}. Leave alpha out; it sets both itself.")

    @property
    def parameters(self) -> tuple[float, float]:
        """(beta, gamma) of Newmark's formulas: those of alpha (6), unless given.

        >>> HHT(alpha=0.0).parameters
        (0.25, 0.5)
        """
        alpha = self.alpha or 0.0
        return self.newmark or ((1.0 - alpha) ** 2 / 4.0, 0.5 - alpha)

    def hint(self, code: int) -> str:
        """Why a run without damping ended early, and what may help."""
        return steps.undamped_hint(code, "alpha below 0, such as -0.05") if self.parameters[1] == 0.5 else ""

    @property
    def audited(self) -> bool:
        """The paper's norm is loose by intent."""
        return self.norm != "paper"

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start.
        """
        table = newton_table(
            progress,
            len(hht.SLOTS),
            kappa=self.kappa,
            max_iterations=self.max_iterations,
            paper_norm=self.norm == "paper",
            renewal=RENEWAL,
            doubted=leaps.DOUBTED if self.parameters[1] >= 0.5 - LITTLE_DAMPING else leaps.IGNORED,
        )
        table[hht.OPTIONS] = np.array([self.alpha, self.mass == "end", self.shift, *self.parameters], float)
        fill_past(table, progress, self.predictor_degree)
        self.prepare(progress)
        table[hht.G_OLD] = progress.state[s.G].copy()
        at_end = self.mass == "end"
        table[hht.A_OLD] = progress.state[s.A] * (0.0 if at_end else self.alpha)
        progress.state[s.A_PAST][:] = progress.state[s.A][: progress.state[s.A_PAST].size]
        progress[run.LIMITS][run.BY_RATES] = 1
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or steps.first_step(progress, self.parameters[0], table)
        return table
