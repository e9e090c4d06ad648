"""A model as a plain system of ordinary differential equations y' = f(t, y), for solvers from elsewhere.

y holds independent coordinates and their rates; dependent ones are recovered at every evaluation, so constraints hold
to rounding whatever the solver does. [NegrutThesis] section 3.4.1, "First Order Reduction".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs
from scipy.sparse.linalg import LinearOperator, norm, onenormest, splu

from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.engine.settings import check_model
from index3.engine.start import initial_or_at
from index3.errors import ModelError, SingularError
from index3.methods import projection_kernels
from index3.methods.state_space.jacobian import by_columns, evaluate_parts
from index3.methods.state_space.partition import DENSE, Partition, choose_partition, dense_rows, sparse_rows
from index3.model.model import Model
from index3.system import evaluate

if TYPE_CHECKING:
    from index3.user_types import InitialState

CONDITION = 1e8
"""Condition number of the dependent columns (estimated, in the 1-norm) beyond which the coordinates chosen no longer
describe the motion."""
MOST_UNKNOWNS = 3000
"""Coordinates and rows up to which dense derivatives are made: 72 MB a matrix."""


class DenseFactors:
    """Factors of a small matrix: where SciPy's sparse ones cost a millisecond a piece, these take microseconds."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.size = np.abs(matrix).sum(axis=0).max(initial=0.0)
        self.factors, self.pivots, failed = dgetrf(matrix)
        if failed:
            raise RuntimeError("singular")

    def solve(self, values: np.ndarray) -> np.ndarray:
        """The solution for given values."""
        return dgetrs(self.factors, self.pivots, values)[0] if len(values) else values

    def condition(self) -> float:
        """Condition number, estimated in the 1-norm."""
        return float(1.0 / max(dgecon(self.factors, self.size)[0], 1e-300)) if self.size else 1.0


class SparseFactors:
    """Factors of a large matrix."""

    def __init__(self, matrix: Any) -> None:
        self.size = norm(matrix, 1)
        self.factors = splu(matrix)

    def solve(self, values: np.ndarray) -> np.ndarray:
        """The solution for given values."""
        return self.factors.solve(values)

    def condition(self) -> float:
        """Condition number, estimated in the 1-norm."""
        solve = self.factors.solve
        inverse = LinearOperator(self.factors.shape, matvec=solve, rmatvec=lambda x: solve(x, "T"))
        return float(self.size * onenormest(inverse))


class FirstOrder:
    """y' = f(t, y) of a model: what an integrator of ordinary differential equations needs.

    Parameters
    ----------
    model : Model without velocity-level rows and first-order states
    independent : names of the coordinates to keep, such as ["crank.angle"]; by default those that Gaussian elimination
        leaves at the start (with full pivoting up to 200 coordinates). They must describe the motion to its end
    initial : the configuration to start from, as in `simulate`
    at : other name of `initial`

    Attributes
    ----------
    y0 : independent coordinates and their rates at the start
    names : of the entries of the first half of y

    Raises
    ------
    ModelError : the model is not of this kind, or a name is wrong.
    SingularError : the coordinates do not describe the motion, at the start or further on.

    >>> import index3 as ix
    >>> from scipy.integrate import solve_ivp
    >>> pendulum = ix.FirstOrder(ix.library.double_pendulum(), independent=["rod1.angle", "rod2.angle"])
    >>> run = solve_ivp(pendulum, (0.0, 0.1), pendulum.y0, method="Radau", jac=pendulum.jacobian)
    >>> run.success
    True
    """

    def __init__(
        self,
        model: Model,
        *,
        independent: Sequence[str] | None = None,
        initial: InitialState | None = None,
        at: InitialState | None = None,
    ) -> None:
        check_model(model, "FirstOrder")
        self._equations = Equations(model, "FirstOrder")
        self.system = system = self._equations.system
        if np.any(system.level == 1) or system.first_state != system.n or system.reads_reactions:
            raise ModelError(
                f"FirstOrder: model '{model.name}' has velocity-level rows, first-order states, or forces that "
                "depend on reactions. Use simulate."
            )
        self._state = state = self._equations.state
        self._equations.assemble(start=self._equations.start(initial_or_at(initial, at, "FirstOrder")))
        self._evaluate()
        self._partition = choose_partition(state) if independent is None else self._named(independent)
        if not self._is_regular(self._factor()):
            raise SingularError(
                f"FirstOrder: {', '.join(independent or ())} do not describe the motion. Choose others."
            )
        keep = self._partition.independent
        self.y0 = np.concatenate([state[s.Q][keep], state[s.V][keep]])
        names = [f"{body.name}.{name}" for body in system.bodies for name in body.coordinate_names]
        self.names = [names[k] for k in keep]

    def _named(self, independent: Sequence[str]) -> Partition:
        system = self.system
        names = [f"{body.name}.{name}" for body in system.bodies for name in body.coordinate_names]
        rows = choose_partition(self._state).rows
        for name in independent:
            if name not in names:
                raise ModelError(f"FirstOrder: there is no coordinate {name!r}. Choose from {', '.join(names)}.")
        if len(set(independent)) != system.n - len(rows):
            raise ModelError(
                f"FirstOrder: {len(set(independent))} independent coordinates are given, the model has "
                f"{system.n - len(rows)} degrees of freedom. Give as many."
            )
        keep = np.array(sorted(names.index(name) for name in independent), int)
        return Partition(np.setdiff1d(np.arange(system.n), keep), keep, rows)

    def _evaluate(self) -> None:
        self._equations.evaluate(evaluate.forces, evaluate.jacobian)

    def _factor(self) -> Any:
        """Factors of the dependent columns of Phi_q; None where these are singular."""
        rows, columns = self._partition.rows, self._partition.dependent
        try:
            if self.system.n <= DENSE:
                return DenseFactors(dense_rows(self._state)[np.ix_(rows, columns)])
            return SparseFactors(sparse_rows(self._state)[rows][:, columns].tocsc())
        except RuntimeError:
            return None

    @staticmethod
    def _is_regular(factors: Any) -> bool:
        """Whether the dependent columns, just factored, are far from singular."""
        return factors is not None and factors.condition() < CONDITION

    def _recover(self, t: float, y: np.ndarray) -> None:
        """Put all coordinates and rates of y into the state: Newton's iteration on the dependent ones."""
        state, (u, w) = self._state, (self._partition.dependent, self._partition.independent)
        y, rows = np.asarray(y, float), self._partition.rows
        state[s.TIME][0], state[s.Q][w], state[s.V][w] = t, y[: len(w)], y[len(w) :]
        before = np.inf
        for _ in range(30):
            self._evaluate()
            residual, factors = state[s.PHI][rows], self._factor()
            size = float(np.abs(residual).max(initial=0.0))
            if factors is None or size <= 1e-13 or (size < 1e-11 and size > 0.5 * before):
                break
            before = size
            state[s.Q][u] -= factors.solve(residual)
        else:
            size = np.inf
        if not size < 1e-11 or not self._is_regular(factors):
            raise SingularError(
                f"FirstOrder: at t = {t:.6g} the coordinates {', '.join(self.names)} no longer describe the motion. "
                "Choose others with independent=..., or start again from there."
            )
        state[s.V][u] = 0.0
        rate = state[s.PHI_T].copy()
        np.add.at(rate, state[s.BLOCK_ROW], state[s.PHI_Q] * state[s.V][state[s.BLOCK_COL]])
        state[s.V][u] = -factors.solve(rate[rows])
        state[s.Q_MASS][:] = state[s.Q]
        state[s.ANGLE_REF][:] = state[s.ANGLES]

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        """y' at (t, y)."""
        self._recover(t, y)
        self._equations.project(projection_kernels.assemble_accelerations)
        keep = self._partition.independent
        return np.concatenate([self._state[s.V][keep], self._state[s.A][keep]])

    def jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """df/dy at (t, y), exact: [0 1; J1 J2] (3.88)-(3.99).

        Raises
        ------
        ModelError : the model is too large for dense matrices.
        """
        size = self.system.n + self.system.m
        if size > MOST_UNKNOWNS:
            raise ModelError(
                f"FirstOrder.jacobian: the model has {size} coordinates and rows; dense matrices are made for up to "
                f"{MOST_UNKNOWNS}. Use a solver that needs no derivatives, or simulate."
            )
        self._recover(t, y)
        j1, j2 = by_columns(replace(evaluate_parts(self._state), partition=self._partition))
        count = len(j1)
        return np.block([[np.zeros((count, count)), np.eye(count)], [j1, j2]])

    def expand(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All coordinates and rates (q, v) that belong to y at time t, as `simulate(initial=...)` takes them."""
        self._recover(t, y)
        return self._state[s.Q].copy(), self._state[s.V].copy()
