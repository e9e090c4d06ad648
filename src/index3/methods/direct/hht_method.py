"""HHT-I3 as a user sees it: its settings, and how a run of it is set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Table
from index3.methods import run
from index3.methods.direct import hht
from index3.methods.direct import tables as steps
from index3.methods.direct.tables import fill_past, newton_table
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.runner import Run


@dataclass(frozen=True)
class HHT(Method):
    """Hilber-Hughes-Taylor method on the index-3 equations: second order, for stiff and closed mechanisms.

    Parameters
    ----------
    alpha : numerical damping, from -1/3 (most) to 0 (none, multipliers then oscillate)
    newton_tol : with constant steps, relative size of the last correction of the velocities
    kappa : part of the tolerance that the corrector may leave in a step; the paper's 1e-3 saves one iteration in ten,
        but what is left adds up where errors of the method cancel (fast spin)
    max_iterations : corrections per try
    predictor_degree : highest degree of the extrapolation that starts the corrector, 0..3
    mass : "alpha" takes the mass matrix where the acceleration belongs (second order), "end" as the paper prints
    shift : move the old acceleration to its place in a step of another size (second order for any steps)
    norm : "contract" weighs errors by atol + rtol |q|, "paper" by rtol max(1, |q|)

    >>> HHT(alpha=-0.1).order
    2
    """

    alpha: float = -0.3
    newton_tol: float = 1e-11
    kappa: float = 1e-5
    max_iterations: int = 10
    predictor_degree: int = 3
    mass: str = "alpha"
    shift: bool = True
    norm: str = "contract"

    key: ClassVar[str] = "hht-i3"
    family: ClassVar[str] = "direct"
    order: ClassVar[int] = 2
    implicit: ClassVar[bool] = True
    stiff: ClassVar[bool] = True
    paper: ClassVar[str] = "Negrut, Rampalli, Ottarsson, Sajdak 2005"
    summary: ClassVar[str] = "stiff, closed and redundant mechanisms; numerical damping by alpha"
    kernel: ClassVar[Kernel] = hht.advance

    def __post_init__(self) -> None:
        owner = "Method 'hht-i3'"
        check_range(owner, "alpha", self.alpha, -1.0 / 3.0, 0.0)
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_range(owner, "kappa", self.kappa, 1e-8, 1.0)
        check_range(owner, "max_iterations", self.max_iterations, 2, 100, whole=True)
        check_range(owner, "predictor_degree", self.predictor_degree, 0, hht.PAST - 1, whole=True)
        check_choice(owner, "mass", self.mass, ("alpha", "end"))
        check_choice(owner, "shift", self.shift, (True, False))
        check_choice(owner, "norm", self.norm, ("contract", "paper"))

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
        )
        table[hht.OPTIONS] = np.array([self.alpha, self.mass == "end", self.shift], float)
        fill_past(table, progress, self.predictor_degree)
        self.prepare(progress)
        table[hht.G_OLD] = progress.state[s.G].copy()
        clock = progress[run.CLOCK]
        beta = (1.0 - self.alpha) ** 2 / 4.0
        clock[run.H_NEXT] = clock[run.STEP] or first_step or steps.first_step(progress, beta)
        return table
