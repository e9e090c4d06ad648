"""Radau IIA of order 5 as a user sees it: its coefficients, its settings, and how a run of it is set up."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Slot, Table
from index3.linear.solver import COMPLEX, STIFFNESS, UNSYMMETRIC
from index3.methods import run
from index3.methods.direct import radau, radau_newton, transient
from index3.methods.direct import radau_system as rs
from index3.methods.direct.tables import within_transient
from index3.methods.explicit import points
from index3.methods.explicit.point_table import point_table
from index3.methods.method import Method
from index3.methods.options import check_range
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.registry import register

RENEW_RATE = 0.02
"""Matrices are renewed once corrections shrink by less than 50: a renewal costs as much as two to four corrections."""
ROOT = np.sqrt(6.0)
NODES = np.array([(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0])
"""c: the zeros of d^2/dx^2 (x^2 (x - 1)^3)."""


def coefficients() -> dict[str, np.ndarray]:
    """A of the collocation formula with NODES, its eigenvalues and vectors, and the weights of the error estimate.

    `eigen` is the real eigenvalue, the one with positive imaginary part and its reciprocal, `left` the rows of the
    inverse matrix of eigenvectors; x = sum of right[:, k] (left[k] . x) over both, of which the real part is taken. The
    error weights belong to the embedded formula of order 3 with the weight `eigen[0]` of the derivative at the start.

    >>> parts = coefficients()
    >>> np.allclose(parts["A"].sum(axis=1), NODES)
    True
    """
    powers = np.arange(3)
    A = (NODES[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(NODES[:, None] ** powers)
    eigen, vectors = np.linalg.eig(A)
    order = np.argsort(eigen.imag)[[1, 2]]
    inverse = np.linalg.inv(vectors)
    # z0 y'_n + sum_i d_i y'_i vanishes for y' of degree 2: both formulas are exact there; d = A^T e
    difference = -np.linalg.solve(NODES ** powers[:, None], [eigen[order[0]].real, 0.0, 0.0])
    return {
        "A": A,
        "eigen": np.array([*eigen[order], 1.0 / eigen[order[1]]]),
        "left": np.ascontiguousarray(inverse[order].astype(complex)),
        "right": np.ascontiguousarray((vectors[:, order] * np.array([1.0, 2.0])).astype(complex)),
        "error": np.linalg.solve(A.T, difference),
    }


@functools.cache
def constants() -> Table:
    """What the tables of all runs have in common."""
    table, parts = Table(len(rs.SLOTS)), coefficients()
    table[rs.NODES], table[rs.WEIGHT_A], table[rs.WEIGHT_MU] = NODES.copy(), parts["A"], parts["A"] @ parts["A"]
    table[rs.EIGEN], table[rs.LEFT], table[rs.RIGHT] = parts["eigen"], parts["left"], parts["right"]
    table[rs.ERROR_E] = parts["error"]
    return table


def own_shapes(n: int, m: int, entries: int) -> dict[Slot, tuple[int, ...]]:
    """Shapes of the arrays of a run, for n coordinates, m rows and the entries of the matrix."""
    shapes: dict[Slot, tuple[int, ...]] = dict.fromkeys((rs.ERR_Q, rs.ERR_V, rs.OUT_Q, rs.OUT_V), (n,))
    shapes |= dict.fromkeys((rs.STAGE_A, rs.STAGE_Q, rs.STAGE_V, rs.STAGE_P, rs.PAST_A), (rs.STAGES, n))
    shapes |= dict.fromkeys((rs.STAGE_LAM, rs.STAGE_PHI, rs.PAST_LAM), (rs.STAGES, m))
    shapes |= dict.fromkeys((rs.MASS, rs.STIFF, rs.DAMP), (entries,))
    shapes |= {rs.RUN: (1,), rs.LINK: (5,), rs.SETTINGS: (3,)}
    shapes |= {rs.MEMORY: (rs.MEMORY_SPACE,), rs.FLAGS: (rs.FLAGS_SPACE,)}
    return shapes | {rs.RESIDUAL: (rs.STAGES, n + m)}


@register
@dataclass(frozen=True)
class Radau5(Method):
    """Radau IIA with three stages, order 5, on the stabilised index-2 equations; L-stable.

    Position and velocity constraints hold at every stage; errors of q and v are controlled.

    Parameters
    ----------
    newton_tol : with constant steps, relative size of the last correction of the velocities
    kappa : part of the tolerance that the iteration may leave in a step; None: the root of rtol, from 1e-3 to 1e-2
    max_iterations : corrections per try

    >>> Radau5().order
    5
    """

    newton_tol: float = 1e-11
    kappa: float | None = None
    max_iterations: int = 10

    key: ClassVar[str] = "radau5"
    family: ClassVar[str] = "direct"
    order: ClassVar[int] = 5
    implicit: ClassVar[bool] = True
    stiff: ClassVar[bool] = True
    paper: ClassVar[str] = "Hairer, Wanner 1996 (RADAU5); Gear, Gupta, Leimkuhler 1985"
    summary: ClassVar[str] = "very stiff motions at tight tolerances"
    kernel: ClassVar[Kernel] = radau.attempt
    ends_at_switches: ClassVar[bool] = False  # at loose tolerances a first step into a very stiff floor loses its way
    needs: ClassVar[frozenset[str]] = frozenset({STIFFNESS, UNSYMMETRIC, COMPLEX})
    helpers: ClassVar[tuple[Kernel, ...]] = (radau_newton.stages, points.evaluate, transient.shorten)

    def __post_init__(self) -> None:
        owner = f"Method '{self.key}'"
        check_range(owner, "newton_tol", self.newton_tol, 1e-15, 1e-3)
        if self.kappa is not None:
            check_range(owner, "kappa", self.kappa, 1e-8, 1.0)
        check_range(owner, "max_iterations", self.max_iterations, 2, 100, whole=True)

    def begin(self, table: Table) -> None:
        """Write what the tables of all runs by this method begin with."""
        table[rs.LINK][3:] = radau_newton.stages.address, points.evaluate.address
        table[rs.SETTINGS][:] = self.kappa or 0.0, self.max_iterations, RENEW_RATE
        table[rs.MEMORY][[rs.ETA_OLD, rs.ERROR_PAST]] = 1.0, 0.01
        table[rs.FLAGS][[rs.RENEW, rs.STALE]] = 1

    def make_tables(self, progress: Run) -> tuple[Table, Table, Projector]:
        """The table of a step, that of its points and a projector, to which the first refers."""
        sizes = progress.system.n, progress.system.m, len(progress.state[s.MATRIX])
        room = progress.system.structure.room(self.key, lambda: own_shapes(*sizes))
        kind = self.key, self.kappa, self.max_iterations
        table = progress.state.workspace.filled(kind, constants(), room, self.begin)
        point, projector = point_table(progress), Projector(progress.state, progress.solver)
        table[rs.LINK][1:3] = projector.handle, point.handle
        return table, point, projector

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's table for a run whose state is consistent.

        Raises
        ------
        ModelError : the forces cannot be evaluated at the start.
        """
        self.prepare(progress)
        kind = self.key, self.kappa, self.max_iterations
        table, point, projector = progress.whole(kind, functools.partial(self.make_tables, progress))
        partner = progress.solver.lend_complex(progress.state.workspace, progress.factors)
        progress.owned += [projector, partner, table, point]
        table[rs.RUN][0] = point[points.RUN][0] = progress.table.handle
        table[rs.LINK][0] = partner.handle
        progress[run.LIMITS][run.QUINTIC] = 1
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or within_transient(progress, progress.choose_first_step(3))
        return table
