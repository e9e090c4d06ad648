"""HHT-I3 as a user sees it: its settings, and how a run of it is set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Slot, Table
from index3.methods import run
from index3.methods.direct import hht
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
        state, n, m = progress.state, progress.system.n, progress.system.m
        table = Table(len(hht.SLOTS))
        table[hht.RUN] = np.array([progress.table.handle], np.int64)
        table[hht.SETTINGS] = np.array(
            [self.alpha, self.mass == "end", self.shift, self.kappa, self.max_iterations, 0.25, self.norm == "paper"],
            float,
        )
        table[hht.MEMORY] = np.zeros(3)
        table[hht.FLAGS] = np.array([1, 1, 0, 0, self.predictor_degree, 0], np.int64)
        shapes: dict[Slot, tuple[int, ...]] = {hht.A_START: (n,), hht.WEIGHTS: (n,)}
        shapes |= {hht.PAST_T: (hht.PAST,), hht.PAST_TL: (hht.PAST,)}
        shapes |= {hht.PAST_A: (hht.PAST, n), hht.PAST_LAM: (hht.PAST, m)}
        for slot, shape in shapes.items():
            table[slot] = np.zeros(shape)
        self.prepare(progress)
        table[hht.G_OLD] = state[s.G].copy()
        table[hht.PAST_T][:] = progress.t
        table[hht.PAST_TL][:] = progress.t
        table[hht.PAST_A][:] = state[s.A]
        table[hht.PAST_LAM][:] = state[s.LAM]
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or self.first_step(progress)
        return table

    def first_step(self, progress: Run) -> float:
        """A first step whose error is sure to be small: as if the acceleration began from nothing."""
        clock, w = progress[run.CLOCK], progress.weights
        size = np.sqrt(np.mean((progress[run.NEW_A] / w) ** 2))
        speed = np.sqrt(np.mean((progress[run.NEW_V] / w) ** 2))
        beta = (1.0 - self.alpha) ** 2 / 4.0
        h = clock[run.MAX_STEP]
        if size > 0.0:
            h = min(h, np.sqrt(0.01 / (beta * size)))
        if speed > 0.0:  # a rate may start to change as fast as it is
            h = min(h, 10.0 / speed)
        return float(max(h, 1e-12 * clock[run.MAX_STEP]))
