"""The TLISMNI methods as a user sees them: their settings, and how a run of one is set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Table
from index3.methods import run
from index3.methods.method import Method
from index3.methods.options import check_choice, check_range
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.methods.tlismni import formulas, parts, tlismni
from index3.registry import register

OUTER_FREE, OUTER_CONSTANT = 10, 100
"""Most corrections by default: with error control (a smaller step is the better answer), and with constant steps."""

STAGES = np.array(
    [
        [0, 0, 0, 0, 0],
        [1 / 2, 0, 0, 0, 0],
        [0, 1 / 2, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [5 / 32, 7 / 32, 13 / 32, -1 / 32, 0],
        [1 / 6, 1 / 3, 1 / 3, 1 / 6, 0],  # the classical Runge-Kutta method
        [2 / 3, -2, -2, -2, 16 / 3],  # minus the embedded method of order 3
    ]
)
"""Zonneveld's pair 4(3) for the start: stages, result, error."""


@dataclass(frozen=True)
class Tlismni(Method):
    """Two-loop implicit integration on the constraint manifold without derivatives of forces; common to all formulas.

    Parameters
    ----------
    max_outer : most corrections per try (n_it of the paper); None: 10 with error control, 100 with constant steps
    corrections : 0 iterates until the corrector is satisfied; k makes exactly k corrections (an explicit method with
        damping of its own), the step being judged by its truncation error alone
    controller : "error" judges steps by the truncation error, "paper" by the last change of the iteration, with the
        paper's step sizes
    kappa : part of the tolerance that the iteration may leave in a step
    newton_tol : with constant steps, relative size of what the iteration leaves
    norm : "contract" is the RMS over atol + rtol |y|, "paper" the Euclidean norm against rtol alone
    parametrization : of the manifold; "tangent-plane" is the only one
    """

    max_outer: int | None = None
    corrections: int = 0
    controller: str = "error"
    kappa: float = 0.1
    newton_tol: float = 1e-11
    norm: str = "contract"
    parametrization: str = "tangent-plane"

    family: ClassVar[str] = "tlismni"
    implicit: ClassVar[bool] = True
    stiff: ClassVar[bool] = False
    paper: ClassVar[str] = "Shabana, Zhang, Wang (TLISMNI/Adams)"
    kernel: ClassVar[Kernel] = tlismni.attempt
    needs: ClassVar[frozenset[str]] = frozenset()  # accelerations alone
    formula: ClassVar[tuple[int, int, int]]
    """Kind, points of the predictor, order: see `formulas`."""

    def __post_init__(self) -> None:
        owner = f"Method '{self.key}'"
        if self.max_outer is not None:
            check_range(owner, "max_outer", self.max_outer, 1, 100_000, whole=True)
        check_range(owner, "corrections", self.corrections, 0, 100, whole=True)
        check_choice(owner, "controller", self.controller, ("error", "paper"))
        check_range(owner, "kappa", self.kappa, 1e-8, 1.0)
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_choice(owner, "norm", self.norm, ("contract", "paper"))
        check_choice(owner, "parametrization", self.parametrization, ("tangent-plane",))

    @property
    def audited(self) -> bool:
        """The paper's norm and control of steps say little of the error."""
        return "paper" not in (self.norm, self.controller)

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start.
        """
        self.prepare(progress)
        clock = progress[run.CLOCK]
        constant = clock[run.STEP] > 0.0
        limit = self.max_outer or (OUTER_CONSTANT if constant else OUTER_FREE)
        projectors = [Projector(progress.state, progress.solver) for _ in range(2)]
        progress.owned += projectors
        table = empty_table(progress.system.n)
        table[parts.RUN] = np.array([progress.table.handle], np.int64)
        table[parts.PROJECTORS] = np.array([projector.handle for projector in projectors], np.int64)
        table[parts.FORMULA] = np.array(self.formula, np.int64)
        table[parts.SETTINGS] = np.array(
            [getattr(self, "alpha", 0.0), max(limit, self.corrections), self.corrections, self.kappa,
             self.controller == "paper", self.norm == "paper" and not constant, first_step or 0.0],
            float,
        )  # fmt: skip
        table[parts.PAST_T][0] = progress.t
        for past, source in ((parts.PAST_Q, s.Q), (parts.PAST_V, s.V), (parts.PAST_A, s.A)):
            table[past][0] = progress.state[source]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or progress.choose_first_step(4)
        progress[run.LIMITS][[run.QUINTIC, run.BY_RATES]] = 1
        return table


def empty_table(n: int) -> Table:
    """The slots of a run with n coordinates that begin with zeros, and those that are the same for every run."""
    table, stages, past = Table(len(parts.SLOTS)), STAGES.shape[1], formulas.PAST
    shapes: dict = dict.fromkeys((parts.PAST_Q, parts.PAST_V, parts.PAST_A), (past, n))
    shapes |= dict.fromkeys((parts.STAGE_V, parts.STAGE_A), (stages, n))
    vectors = (parts.LAST_Q, parts.LAST_V, parts.LAST_A, parts.NEXT_Q, parts.NEXT_V, parts.ALLOWED_Q, parts.ALLOWED_V)
    shapes |= dict.fromkeys(vectors, (n,))
    shapes |= {parts.PAST_T: (past,), parts.NODES: (past + 1,), parts.SCRATCH: (past + 2,)}
    shapes |= {parts.WEIGHTS: (3, 5, past + 1), parts.MEMORY: (7,)}
    for slot, shape in shapes.items():
        table[slot] = np.zeros(shape)
    table[parts.STAGES] = STAGES.copy()
    table[parts.MEMORY][[parts.PROSPECT, parts.H_FAILED]] = 1.0, 1e300
    table[parts.FLAGS] = np.array([1, 1, 0, 0], np.int64)  # one past point, not yet factorised
    return table


@register
@dataclass(frozen=True)
class TlismniTrapezoidal(Tlismni):
    """Trapezoidal rule, predicted by the midpoint rule: second order, no damping once converged."""

    key: ClassVar[str] = "tlismni-trapezoidal"
    damps: ClassVar[bool] = False
    order: ClassVar[int] = 2
    summary: ClassVar[str] = "constraints at all levels, forces without derivatives; no damping"
    formula: ClassVar[tuple[int, int, int]] = (formulas.ADAMS, 0, 2)


@register
@dataclass(frozen=True)
class TlismniAdams3(Tlismni):
    """Implicit Adams formula of third order, predicted by the explicit one of second order.

    >>> TlismniAdams3(max_outer=3).order
    3
    """

    key: ClassVar[str] = "tlismni-adams3"
    damps: ClassVar[bool] = False
    ends_at_switches: ClassVar[bool] = False  # its past is no guide behind one
    order: ClassVar[int] = 3
    summary: ClassVar[str] = "constraints at all levels, forces without derivatives; smooth motions"
    formula: ClassVar[tuple[int, int, int]] = (formulas.ADAMS, 2, 3)


@register
@dataclass(frozen=True)
class TlismniAdams4(Tlismni):
    """Implicit Adams formula of fourth order, predicted by the explicit one of third order."""

    key: ClassVar[str] = "tlismni-adams4"
    damps: ClassVar[bool] = False
    ends_at_switches: ClassVar[bool] = False  # its past is no guide behind one
    order: ClassVar[int] = 4
    summary: ClassVar[str] = "constraints at all levels, forces without derivatives; smooth motions, small errors"
    formula: ClassVar[tuple[int, int, int]] = (formulas.ADAMS, 3, 4)


@register
@dataclass(frozen=True)
class TlismniHHT(Tlismni):
    """Hilber-Hughes-Taylor formula on the independent states: second order, damping by alpha (-1/3 to 0)."""

    alpha: float = -0.1

    key: ClassVar[str] = "tlismni-hht"
    order: ClassVar[int] = 2
    summary: ClassVar[str] = "like tlismni-trapezoidal, with numerical damping by alpha"
    formula: ClassVar[tuple[int, int, int]] = (formulas.HHT, 2, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"Method '{self.key}'", "alpha", self.alpha, -1.0 / 3.0, 0.0)


@register
@dataclass(frozen=True)
class TlismniBDF2(Tlismni):
    """Backward differentiation formula of second order: strong numerical damping."""

    key: ClassVar[str] = "tlismni-bdf2"
    order: ClassVar[int] = 2
    summary: ClassVar[str] = "like tlismni-trapezoidal, with the strong damping of backward differences"
    formula: ClassVar[tuple[int, int, int]] = (formulas.BDF2, 0, 2)
