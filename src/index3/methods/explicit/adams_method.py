"""The Adams method as a user sees it: its settings, and how a run of it is set up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from index3.compiled.interface import Kernel, Table
from index3.errors import ModelError
from index3.methods import run
from index3.methods.explicit import adams
from index3.methods.explicit import adams_formulas as formulas
from index3.methods.explicit.runge_kutta_method import runge_kutta_table, step_kernels
from index3.methods.explicit.tableaus import DOP853
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.run_table import Run
from index3.registry import register

HIGHEST = 12
CONSTANT_STEP_ORDER = 5
"""The order for constant steps where none is given."""


def corrector_constants(count: int) -> np.ndarray:
    """|gamma*_0|, |gamma*_1|, ...: sum over j <= i of gamma*_j / (i + 1 - j) is 0 for i > 0 (backward differences).

    >>> corrector_constants(5) * 720
    array([720., 360.,  60.,  30.,  19.])
    """
    gamma = [Fraction(1)]
    for i in range(1, count):
        gamma.append(-sum((gamma[j] / (i + 1 - j) for j in range(i)), Fraction(0)))
    return np.array([float(abs(x)) for x in gamma])


@register
@dataclass(frozen=True)
class Adams(Method):
    """Adams-Bashforth-Moulton formulas of variable order and step, two evaluations a step: for smooth motion.

    Parameters
    ----------
    order : (1, 12) lets the method choose, (1, p) bounds it, one number fixes it. It is the order of the corrector, one
        more than that of the predictor (for order 1 both have it); constant steps without a number have order 5
    parametrization : "tangent-plane", or "partition": the formulas hold for a choice of the model's own coordinates
    newton_tol : scaled residual that the recovered prediction may keep with constant steps (else 1e-4 rtol, if more)

    >>> Adams().order
    (1, 12)
    """

    order: int | tuple[int, int] = (1, HIGHEST)  # type: ignore[misc]  # the default is what the class can do
    parametrization: str = "tangent-plane"
    newton_tol: float = 1e-13

    key: ClassVar[str] = "adams"
    family: ClassVar[str] = "explicit"
    damps: ClassVar[bool] = False
    implicit: ClassVar[bool] = False
    stiff: ClassVar[bool] = False
    paper: ClassVar[str] = "Shampine, Gordon 1975"
    summary: ClassVar[str] = "smooth motion, expensive forces, tight tolerances; two evaluations per step"
    kernel: ClassVar[Kernel] = adams.attempt
    needs: ClassVar[frozenset[str]] = frozenset()  # accelerations alone

    def __post_init__(self) -> None:
        owner = "Method 'adams'"
        check_choice(owner, "parametrization", self.parametrization, ("tangent-plane", "partition"))
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        if isinstance(self.order, tuple | list):
            if len(self.order) != 2 or self.order[0] != 1:
                raise ModelError(f"{owner}: order = {self.order!r}. Give one order, or (1, highest).")
            check_range(owner, "highest order", self.order[1], 2, HIGHEST, whole=True)
        else:
            check_range(owner, "order", self.order, 1, HIGHEST, whole=True)

    @property
    def helpers(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        """The other kernels of a run, to be built with `kernel`."""
        return (*step_kernels(self.parametrization), adams.dense)

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start.
        """
        n, count = progress.system.n, formulas.DIFFERENCES
        clock = progress[run.CLOCK]
        starter = runge_kutta_table(progress, DOP853, "auto", parametrization=self.parametrization)
        table = Table(len(formulas.SLOTS))
        table[formulas.RUN] = np.array([progress.table.handle], np.int64)
        table[formulas.STARTER] = np.array([starter.handle], np.int64)
        fixed = not isinstance(self.order, tuple | list) or clock[run.STEP] > 0.0
        order = self.order if not isinstance(self.order, tuple | list) else self.order[1]
        if clock[run.STEP] > 0.0 and isinstance(self.order, tuple | list):
            order = min(CONSTANT_STEP_ORDER, self.order[1])
        most = max(1, order - 1)
        k = most if clock[run.STEP] > 0.0 else 1
        flags = [k, 0, most, fixed, 1, 0, 0, 1, 0, order > 1]
        table[formulas.FLAGS] = np.array(flags, np.int64)
        table[formulas.MEMORY] = np.zeros(4)
        for slot in (formulas.PSI, formulas.PSI_OLD, formulas.ALPHA, formulas.BETA, formulas.SIGMA,
                     formulas.G, formulas.W):  # fmt: skip
            table[slot] = np.zeros(count + 2)
        table[formulas.GAMMA_STAR] = corrector_constants(count + 1)
        for slot in (formulas.PHI, formulas.STAR):
            table[slot] = np.zeros((count, 2 * n))
        for slot in (formulas.CHANGE, formulas.PREDICTED):
            table[slot] = np.zeros(2 * n)
        self.prepare(progress)
        table[formulas.PHI][0] = np.concatenate([progress[run.NEW_V], progress[run.NEW_A]])
        clock[run.H_NEXT] = clock[run.STEP] or first_step or progress.choose_first_step(1)
        progress[run.LIMITS][run.QUINTIC] = run.OWN
        progress[run.LINK][run.LINK_DENSE] = adams.dense.address
        return table
