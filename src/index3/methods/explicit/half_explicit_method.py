"""The half-explicit Runge-Kutta method as a user sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Table
from index3.linear.solver import UNSYMMETRIC
from index3.methods import run
from index3.methods.explicit import half_explicit, points
from index3.methods.explicit import runge_kutta as rk
from index3.methods.explicit.runge_kutta_method import STAGES, runge_kutta_table
from index3.methods.explicit.tableaus import HEM4
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.run_table import Run
from index3.registry import register

KERNELS = (points.evaluate, half_explicit.stages)
WEIGHT = 0.1
"""Of the derivative at the start in the error estimate; ours, so that errors are about what is allowed."""


def error_weights() -> np.ndarray:
    """Weights of the derivatives at the start and at the other stages in the estimate; see `half_explicit`.

    >>> bool(abs(error_weights().sum()) < 1e-14)
    True
    """
    weights = np.zeros(HEM4.stages)
    weights[0] = WEIGHT
    weights[2:] = -np.linalg.solve(np.array(HEM4.nodes[2:]) ** np.arange(3)[:, None], [WEIGHT, 0.0, 0.0])
    return weights


@register
@dataclass(frozen=True)
class Hem4(Method):
    """Brasey and Hairer's half-explicit Runge-Kutta method of order 4, with projection after every step.

    Velocity constraints hold at every stage; those of accelerations are not used.

    Parameters
    ----------
    stages : "auto" recovers the positions at every stage where rows are redundant, "closed" always, "free" never
    newton_tol : scaled residual that recovered stages may keep with constant steps (else 1e-4 rtol, if more)

    >>> Hem4().order
    4
    """

    stages: str = "auto"
    newton_tol: float = 1e-13

    key: ClassVar[str] = "hem4"
    family: ClassVar[str] = "explicit"
    damps: ClassVar[bool] = False
    order: ClassVar[int] = 4
    implicit: ClassVar[bool] = False
    stiff: ClassVar[bool] = False
    paper: ClassVar[str] = "Brasey, Hairer 1993"
    summary: ClassVar[str] = "like dopri5, without second derivatives of the constraints; for comparison"
    "comparison"
    kernel: ClassVar[Kernel] = rk.attempt
    needs: ClassVar[frozenset[str]] = frozenset({UNSYMMETRIC})  # rows of a stage, columns of another
    helpers: ClassVar[tuple[Kernel, ...]] = KERNELS
    takes_reactions: ClassVar[bool] = False

    def __post_init__(self) -> None:
        owner = f"Method '{self.key}'"
        check_choice(owner, "stages", self.stages, STAGES)
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start, or depend on reactions.
        """
        self.prepare(progress)
        n, size = progress.system.n, len(half_explicit.SLOTS)
        table = runge_kutta_table(progress, HEM4, self.stages, size=size, kernels=KERNELS)
        lines = HEM4.stages + 2  # the last: the estimate
        table[rk.ERROR_B] = np.eye(2, lines, lines - 1)
        table[rk.K_Q], table[rk.K_V] = np.zeros((lines, n)), np.zeros((lines, n))
        table[half_explicit.WEIGHTS] = error_weights()
        table[half_explicit.MATRIX] = np.zeros(len(progress.state[s.MATRIX]))
        table[half_explicit.FORCE] = np.zeros(n)
        progress[run.LIMITS][run.QUINTIC] = 1
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or progress.choose_first_step(3)
        return table
