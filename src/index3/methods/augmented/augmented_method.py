"""The augmented Lagrangian methods as a user sees them: settings, and how a run of them is set up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Slot, Table
from index3.errors import ModelError
from index3.linear import contract
from index3.linear.solver import DIAGONAL, STIFFNESS, UNSYMMETRIC
from index3.methods import run
from index3.methods.augmented import augmented
from index3.methods.augmented import penalty as p
from index3.methods.method import Method, table_of
from index3.methods.options import check_range
from index3.methods.run_table import Run
from index3.registry import register
from index3.system import evaluate


@dataclass(frozen=True)
class AugmentedLagrangian(Method):
    """What the three methods of the family share: trapezoidal rule, projections, steps by the energy invariant.

    Parameters
    ----------
    newton_tol : with constant steps, relative size of the last correction of the velocities
    penalty : alpha of the projections and of index 1, in units of the mass that each row carries
    penalty_3 : alpha of index 3 [1/s^2], same units; None for 4e9/h^2, which keeps the multipliers' convergence fast
    upper, lower : change of the energy invariant in a step [J] that is allowed, and below which steps grow; None for
        rtol * max(kinetic energy, work so far) + atol (for 1 kg and more; less in proportion to the largest mass), and
        1/250 of the upper one
    guard : local error of a step that is allowed, in parts of the tolerance: of q, as by hht-i3, and of states; None
        for the paper's rule, which cannot see the error of motions whose energy the trapezoidal rule keeps: linear
        vibrations, bodies that turn freely
    max_iterations : corrections per try
    corrections : with constant steps, corrections after which a step ends, converged or not, each step with one new
        matrix: work that is bounded, for simulations in real time. `stats["overruns"]` counts the steps that ended
        so, and the message tells; what they leave of the motion is the user's to judge. 0: all steps converge
    """

    newton_tol: float = 1e-11
    penalty: float = 1e7
    penalty_3: float | None = None
    upper: float | None = None
    lower: float | None = None
    guard: float | None = 1.0
    max_iterations: int = 12
    corrections: int = field(default=0, kw_only=True)

    family: ClassVar[str] = "augmented"
    order: ClassVar[int] = 2
    implicit: ClassVar[bool] = True
    controls_velocities: ClassVar[bool] = False
    paper: ClassVar[str] = "Cardenal, Cuadrado, Bayo 1997"
    kernel: ClassVar[Kernel] = augmented.attempt
    needs: ClassVar[frozenset[str]] = frozenset({STIFFNESS, UNSYMMETRIC, DIAGONAL})
    takes_reactions: ClassVar[bool] = False
    index: ClassVar[int]

    def __post_init__(self) -> None:
        owner = f"Method '{self.key}'"
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        check_range(owner, "penalty", self.penalty, 1e3, 1e12)
        check_range(owner, "max_iterations", self.max_iterations, 2, 100, whole=True)
        check_range(owner, "corrections", self.corrections, 0, self.max_iterations, whole=True)
        for name, value in (
            ("upper", self.upper),
            ("lower", self.lower),
            ("penalty_3", self.penalty_3),
            ("guard", self.guard),
        ):
            if value is not None:
                check_range(owner, name, value, 1e-300, 1e300)
        if self.lower is not None and self.upper is None:
            raise ModelError(f"{owner}: lower = {self.lower!r} without upper. Give both, or upper alone.")
        if self.upper is not None and self.lower is not None and not self.lower < self.upper:
            raise ModelError(
                f"{owner}: lower = {self.lower!r} is not below upper = {self.upper!r}. Give a smaller one."
            )

    def switching(self) -> tuple[float, float]:
        """h of the change of index, and failures in a row that force index 1."""
        return 0.0, 0.0

    @property
    def audited(self) -> bool:
        """Steps follow the energy itself."""
        return False

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start.
        """
        self.prepare(progress)
        clock, limits = progress[run.CLOCK], progress[run.LIMITS]
        if self.corrections > 0 and clock[run.STEP] == 0.0:
            raise ModelError(
                f"Method '{self.key}': corrections = {self.corrections} ends steps that have not converged, which "
                "error control cannot judge. Give step=..., or leave corrections out."
            )
        clock[run.H_NEXT] = clock[run.STEP] or first_step or progress.choose_first_step(self.order)
        if not progress.system.conservative:
            limits[run.TRACK_WORK] = run.OWN_WORK  # the method measures the work before it accepts a step
        limits[[run.QUINTIC, run.BY_RATES]] = 1
        h_switch, failures = self.switching()
        progress.factors, mass_solver = (
            progress.solver.table(progress.state[s.MATRIX], find_rank=False) for _ in range(2)
        )  # the rows' diagonal is not zero, so none of them is redundant
        progress[run.LINK][run.LINK_SOLVER] = progress.factors.handle
        flags = np.zeros(p.FLAGS_SIZE, np.int64)
        flags[p.INDEX] = self.index or (1 if clock[run.H_NEXT] < h_switch else 3)
        flags[p.RENEW] = 1
        works = not progress.system.conservative
        flags[p.WORKS] = p.ALONE if works and not progress.system.reactions_work else works
        mass = mass_diagonal(progress)
        settings = [self.penalty, self.penalty_3 or 0.0, self.upper or 0.0, self.lower or 0.0, h_switch, failures]
        settings += [self.max_iterations, self.index, self.guard or 0.0, self.corrections, energy_unit(progress, mass)]
        changes = np.zeros((MOST_CHANGES, 2))
        changes[0] = clock[run.T_NEW], flags[p.INDEX]
        table = table_of(
            {
                p.LINK: np.array([progress.table.handle, mass_solver.handle], np.int64),
                p.SETTINGS: np.array(settings, float),
                p.FLAGS: flags,
                p.TALLY: np.zeros(len(TALLY_NAMES), np.int64),
                p.CHANGES: changes,
                **work_arrays(progress, mass),
            }
        )
        progress.owned.append(mass_solver)
        progress.own_counters = lambda: dict(zip(TALLY_NAMES, map(int, table[p.TALLY]), strict=True))
        progress.index_changes = lambda: changes[: 1 + table[p.TALLY][p.SWITCHES]].tolist()
        return table


TALLY_NAMES = ("steps_index1", "steps_index3", "switches", "overruns")
MOST_CHANGES = 100_000
"""Changes of index that are noted, with the start: memory that is not written to is not taken."""


def work_arrays(progress: Run, mass: np.ndarray) -> dict[Slot, np.ndarray]:
    """What a step needs to remember, with the energy at the start, and the units of the rows."""
    state, n, m = progress.state, progress.system.n, progress.system.m
    state.run(evaluate.energy)
    energy, memory = state[s.ENERGY], np.zeros(p.MEMORY_SIZE)
    memory[p.ENERGY_OLD] = energy[s.KINETIC] + energy[s.POTENTIAL]
    memory[p.KINETIC_MOST] = energy[s.KINETIC]
    trial = {slot: np.zeros(n) for slot in (p.DELTA, p.TRIAL_Q, p.TRIAL_V)}
    return trial | {p.TRIAL_LAM: np.zeros(m), p.MEMORY: memory, p.SCALE: row_units(progress, mass)}


def mass_diagonal(progress: Run) -> np.ndarray:
    """The diagonal of M at the start, where the Jacobian is left as well."""
    state = progress.state
    state[s.COEF][:] = 0.0
    state[s.COEF][s.C_M] = 1.0
    state[s.Q_MASS][:] = state[s.Q]
    state.run(evaluate.jacobian, evaluate.matrix)
    return state[s.MATRIX][progress.factors[contract.DIAGONAL][: progress.system.n]]


def energy_unit(progress: Run, mass: np.ndarray) -> float:
    """What atol = 1 is as an energy [J]: 1, or the largest mass if that is smaller, since small models hold little."""
    return min(1.0, float(mass[: progress[run.LIMITS][run.FIRST_STATE]].max(initial=0.0)) or 1.0)


def row_units(progress: Run, mass: np.ndarray) -> np.ndarray:
    """The mass that each row carries at the start: the mean of M_ii by P_i^2, per sum of P_i^2; M as made definite.

    Not 1 / sum of P_i^2 / M_ii, what the row would move by itself: that is next to nothing for a weight at the end of
    an arm whose own inertia is next to nothing, while other rows let the arm turn with all of its weight only.
    """
    state, square = progress.state, np.zeros(progress.system.m)
    for number, weight in progress.system.augmentation:
        square[number] = weight
    row, column, phi_q = state[s.BLOCK_ROW], state[s.BLOCK_COL], state[s.PHI_Q]
    definite = mass.copy()
    np.add.at(definite, column, square[row] * phi_q**2)
    length, carried = np.zeros(progress.system.m), np.zeros(progress.system.m)
    np.add.at(length, row, phi_q**2)
    np.add.at(carried, row, phi_q**2 * definite[column])
    units = np.divide(carried, length**2, out=np.zeros_like(length), where=length > 0.0)
    typical = np.median(units[units > 0.0]) if np.any(units > 0.0) else 1.0
    return np.where(units > 0.0, units, typical)


@register
@dataclass(frozen=True)
class AugmentedIndex1(AugmentedLagrangian):
    """Augmented Lagrangian of index 1: accelerations by penalty, q and v projected; for small steps."""

    key: ClassVar[str] = "al-index1"
    stiff: ClassVar[bool] = False
    summary: ClassVar[str] = "small constant steps; redundant and singular mechanisms; energy controls the step"
    index: ClassVar[int] = 1


@register
@dataclass(frozen=True)
class AugmentedIndex3(AugmentedLagrangian):
    """Augmented Lagrangian of index 3: positions by penalty, v and a projected; for large steps."""

    key: ClassVar[str] = "al-index3"
    stiff: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "large steps, no numerical damping; redundant and singular mechanisms; energy controls the step"
    )
    index: ClassVar[int] = 3


@register
@dataclass(frozen=True)
class MultiIndex(AugmentedLagrangian):
    """Index 3 for large steps, index 1 for small ones and where index 3 fails, the energy invariant controls both.

    Parameters
    ----------
    h_switch : below this step [s] index 1 is used
    max_failures : rejected steps in a row after which index 1 is used

    See `AugmentedLagrangian` for the others.
    """

    h_switch: float = 1e-4
    max_failures: int = 4

    key: ClassVar[str] = "multi-index"
    stiff: ClassVar[bool] = True
    summary: ClassVar[str] = "switches between al-index3 and al-index1 according to the step size"
    index: ClassVar[int] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"Method '{self.key}'", "h_switch", self.h_switch, 0.0, 1e300)
        check_range(f"Method '{self.key}'", "max_failures", self.max_failures, 1, 1000, whole=True)

    def switching(self) -> tuple[float, float]:
        return self.h_switch, float(self.max_failures)
