"""A compiled model at rest: unbalanced forces, steps that reduce them, stability.

At rest the accelerations a of `[M Phi_q^T; Phi_q 0] [a; lam] = [Q; 0]` vanish exactly in equilibrium, and M a is the
force that the constraints leave unbalanced, whatever lam was before. A step solves

    [K + sigma M, Phi_q^T; Phi_q, 0] [dq; .] = [M a; 0],    K = (Phi_q^T lam)_q - Q_q

and closes the positions again: Newton's step for sigma = 0, a step of size 1/sigma along the overdamped motion
M q' = Q - Phi_q^T lam, implicit, for sigma > 0. Velocity-level rows take part in Phi_q: dq moves as they allow.

First-order states are the velocities of their blocks: a point u holds them in place of the blocks' coordinates, and the
columns of K that belong to them are those of D = -Q_v.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from index3.analysis.instants import movement
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.errors import AssemblyError
from index3.linear import contract, solver
from index3.linear.reference import free_space, sparse_matrix
from index3.methods import projection_kernels
from index3.methods.projection_errors import singular_body
from index3.methods.state_space.partition import dense_rows
from index3.system import evaluate

LARGEST = 0.25
"""Largest movement of a step, as `instants.movement` measures it: a quarter of the size, or of a radian."""
HELD = 1e-10
"""The smallest sigma, as part of the largest stiffness over mass: it holds directions that nothing holds."""
ROUNDING = 1e-8
"""Unbalance, as a part of the largest force, at which steps that no longer help are as good as numbers allow."""
ROUNDED, FINEST, STILL = 1e-5, 1e-3, 1e-9
"""Unbalance that the rounding of a stiff, deforming body may explain; the same where Newton's steps have come to rest,
and the movement of such a step, as `instants.movement` measures it."""
NEUTRAL, ROUNDED_STIFFNESS = 1e-9, 1e-14
"""Stiffness of a direction below this part of the terms that it is made of counts as none, and below this part of the
largest one: rounding leaves less. A pendulum that stands upright falls, however stiff a spring elsewhere is."""
SLENDER, THIN = 1e-4, 1e-7
"""Factors of HELD and NEUTRAL where bodies deform: a slender beam is 1e10 times as stiff along as in bending. A strip
of a ten-thousandth of its length is softer yet: held by the first, its steps fall short, and the second is tried."""
CLOSED = 1e-11
"""What `RestState.project_to_gap` leaves of a position row."""
DENSE = 3000
"""Coordinates up to which stability is decided by dense eigenvalues."""


class StiffnessModes(NamedTuple):
    """The free directions of a configuration at rest, softest first.

    Where bodies deform, the stiffness is that of unit changes of the coordinates: over the mass, that of the sections
    of a slender beam is 1e16 times that of its bending, which rounding then hides with its sign.
    """

    stiffness: np.ndarray  # over mass [1/s^2], or of unit changes; of both the signs are the same
    directions: np.ndarray  # (n, dof)
    none: np.ndarray  # what counts as no stiffness in each direction
    rate: float  # stiffness over mass of the softest [1/s^2]
    waves: bool  # if some motion grows in waves, as loads can make it that have no potential


class NarrowPattern(NamedTuple):
    """A pattern by columns with the integers that SuperLU takes."""

    indptr: np.ndarray
    indices: np.ndarray


class RestState:
    """A state at rest at one time, moved from configuration to configuration."""

    def __init__(self, equations: Equations) -> None:
        self.equations, self.state, self.t = equations, equations.state, equations.t
        state = self.state
        self.n = state.system.n
        self.states = np.arange(self.n) >= state.system.first_state
        self.idle = state[s.Q][self.states].copy()  # coordinates of blocks of states: nothing depends on them
        self.iterations = 0
        self.gap: np.ndarray | None = None  # what position rows are to be, if not zero
        self.deforms = any(body.deforms for body in state.system.bodies)
        self.finer = SLENDER if self.deforms else 1.0
        self.weakest = self.finer * HELD
        starts = zip(state.system.bodies, state.system.starts, strict=False)
        self.turning = [np.array(x.turning) + first for x, first in starts if len(x.turning) and not x.deforms]
        self.index_matrix()
        self.weight = max(body.mass for body in state.system.bodies) * float(np.linalg.norm(state[s.GRAVITY]))
        self.update_forces()

    def index_matrix(self) -> None:
        """Where entries of MATRIX stand: rows and columns, those of coordinates alone, the diagonal."""
        sparsity = self.state.system.sparsity
        size = len(sparsity.indptr) - 1
        columns = np.repeat(np.arange(size), np.diff(sparsity.indptr))
        self.places = sparsity.indices, columns
        self.inside = (sparsity.indices < self.n) & (columns < self.n)
        self.coordinates = sparsity.indices[self.inside], columns[self.inside]
        self.diagonal = sparsity.places(np.arange(size), np.arange(size))
        self.pattern = NarrowPattern(sparsity.indptr.astype(np.int32), sparsity.indices.astype(np.int32))

    @property
    def point(self) -> np.ndarray:
        """Coordinates, and first-order states in place of theirs."""
        return np.where(self.states, self.state[s.V], self.state[s.Q])

    def place(self, u: np.ndarray) -> None:
        """Put the state at rest at a point."""
        q = u.copy()
        q[self.states] = self.idle
        self.state.move(self.t, q, np.where(self.states, u, 0.0))

    def entries(self, coefficient: int) -> np.ndarray:
        """Entries of the bordered matrix of M (C_M), K (C_K) or D (C_D) alone; MATRIX holds them too."""
        self.state[s.COEF][:] = 0.0
        self.state[s.COEF][coefficient] = 1.0
        self.equations.evaluate(evaluate.matrix)
        return self.state[s.MATRIX][:-1].copy()

    def sparse(self, entries: np.ndarray) -> Any:
        """A matrix with these entries, sparse by columns."""
        return sparse_matrix(self.pattern, entries)

    def update_forces(self) -> None:
        """Accelerations from rest, multipliers and unbalanced forces at the present point."""
        state, n = self.state, self.n
        self.place(self.point)
        state[s.LAM][:] = state[s.A][:] = 0.0
        self.equations.evaluate(evaluate.forces, evaluate.jacobian)
        self.entries(s.C_M)
        largest = max(self.weight, np.abs(state[s.MARKER_F]).max(initial=0.0))  # of single forces, which may cancel
        factors = self.equations.projection.factors
        if solver.factor(factors):
            raise singular_body(state.system, factors)
        x = factors[contract.X]
        x[:n], x[n:] = -state[s.G], 0.0
        applied = -state[s.G].copy()
        solver.solve_refined(factors)
        self.a, self.lam = x[:n].copy(), x[n:].copy()
        reaction = np.bincount(state[s.BLOCK_COL], weights=state[s.PHI_Q] * self.lam[state[s.BLOCK_ROW]], minlength=n)
        self.force = applied - reaction
        self.rows = np.flatnonzero(factors[contract.ZERO][n:] == 0)
        scale = max(largest, np.abs(applied).max(initial=0.0), np.abs(reaction).max(initial=0.0))
        self.residual, self.scale = float(np.abs(self.force).max(initial=0.0) / scale) if scale > 0.0 else 0.0, scale
        self.size = float(np.sqrt(abs(self.force @ self.a)))  # in the norm of the kinetic energy

    def update_stiffness(self) -> None:
        """Entries of K and M at the present point, on the pattern of MATRIX, and the smallest sigma to go with them.

        K is bordered by Phi_q, with rows that are redundant replaced by those of the unit matrix; M is not.
        """
        state, rows, columns = self.state, self.places[0], self.places[1]
        state[s.LAM][:] = self.lam
        self.equations.evaluate(evaluate.forces, evaluate.jacobian)
        self.mass = np.where(self.inside, self.entries(s.C_M), 0.0)
        stiffness = self.entries(s.C_K)
        if self.states.any():
            of_states = self.inside & (columns >= state.system.first_state)
            stiffness = np.where(of_states, self.entries(s.C_D), stiffness)
        out = np.ones(len(self.diagonal), bool)
        out[: self.n] = out[self.n + self.rows] = False
        stiffness[out[rows] | out[columns]] = 0.0
        stiffness[self.diagonal[out]] = 1.0
        self.stiffness = stiffness
        self.held = self.weakest * self.largest_rate() or 1e-12

    def rounding(self, most: float = ROUNDED) -> float:
        """What rounding of coordinates leaves of the unbalance, as a part of the largest force: 4 eps |K| |q|.

        Fine elements of a stiff beam have some 1e-7 of a small load. Never more than `most`.
        """
        moved = np.abs(self.state[s.Q])
        left = 4.0 * np.finfo(float).eps * self.on_coordinates(np.abs(self.stiffness), moved).max(initial=0.0)
        return max(ROUNDING, min(most, float(left) / self.scale if self.scale > 0.0 else 0.0))

    def largest_rate(self) -> float:
        """The largest stiffness of a coordinate over its mass [1/s^2]."""
        masses, held = self.mass[self.diagonal[: self.n]], np.abs(self.stiffness[self.diagonal[: self.n]])
        for turning in self.turning:  # a single Euler parameter has next to no inertia where it is close to 1
            masses[turning], held[turning] = masses[turning].max(), held[turning].max()
        ratio = held[masses > 0.0] / masses[masses > 0.0]
        return float(ratio.max(initial=0.0))

    def step(self, sigma: float, shift: np.ndarray | None = None, force: np.ndarray | None = None) -> np.ndarray | None:
        """dq for a sigma, or None if the matrix is singular; with a `shift`, what moves position rows by that much.

        It takes out the unbalance, or another `force`.
        """
        from scipy.sparse.linalg import splu

        try:
            self.factors = splu(self.sparse(self.stiffness + max(sigma, self.held) * self.mass))
        except RuntimeError:
            return None
        dq = self.correction(self.force if force is None else force, shift)
        return dq if np.all(np.isfinite(dq)) else None

    def correction(self, force: np.ndarray, shift: np.ndarray | None = None) -> np.ndarray:
        """What the matrix of the last step makes of a force, and of a shift of the rows that are not redundant."""
        right = np.concatenate([force, np.zeros(len(self.diagonal) - self.n)])
        if shift is not None:
            right[self.n + self.rows] = shift[self.rows]
        return self.factors.solve(right)[: self.n]

    def on_coordinates(self, entries: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Part of a matrix, K or M, that belongs to the coordinates, times vectors (n, ...)."""
        if x.ndim > 1:
            return self.sparse(entries)[: self.n, : self.n] @ x
        rows, columns = self.coordinates  # as a sparse matrix of SciPy adds up, which takes ten times as long to make
        return np.bincount(rows, entries[self.inside] * x[columns], minlength=self.n)

    def move(self, u: np.ndarray) -> bool:
        """Go to the point on the constraints near u and update the forces; without one, go back and return False."""
        before = self.point
        self.iterations += 1
        self.place(u)
        try:
            if self.gap is None:
                self.equations.project(projection_kernels.assemble_positions)
            elif not self.project_to_gap(self.gap):
                raise AssemblyError("the gap cannot be kept")
            self.update_forces()
            return True
        except (AssemblyError, ValueError):  # also a ModelError: a force has no value there
            self.state.system.take_failures()
            self.return_to(before)
            return False

    def project_to_gap(self, gap: np.ndarray, most: int = 20) -> bool:
        """Newton's iteration on Phi(q) = gap with mass-orthogonal steps; whether it got there."""
        state, factors, positions = self.state, self.equations.projection.factors, self.state[s.LEVEL] == 0
        last = np.inf
        for _ in range(most):
            self.equations.evaluate(evaluate.forces, evaluate.jacobian)
            left = np.where(positions, gap - state[s.PHI], 0.0)
            size = float(np.abs(left).max(initial=0.0))
            if size <= CLOSED or (size < 1e3 * CLOSED and size > 0.5 * last):  # rounding
                return True
            if not size < 2.0 * last:
                return False
            last = size
            self.entries(s.C_M)
            if solver.factor(factors):
                return False
            x = factors[contract.X]
            x[: self.n], x[self.n :] = 0.0, left
            solver.solve_refined(factors)
            self.place(self.point + x[: self.n])
        return False

    def return_to(self, u: np.ndarray) -> None:
        """Return to a point whose forces were evaluated before."""
        self.place(u)
        self.update_forces()

    def limited(self, dq: np.ndarray, largest: float = LARGEST) -> float:
        """The part of a step that moves nothing too far."""
        size = movement(self.state, dq)
        return 1.0 if size <= largest else largest / size


def stiffness_modes(rest: RestState) -> StiffnessModes | None:
    """The stiffness of the free directions.

    None if there are too many, or first-order states, which no stiffness describes. Complex where circulatory forces
    (followers) leave no potential.
    """
    import scipy.linalg

    if rest.n > DENSE or rest.states.any():
        return None
    rest.update_stiffness()
    basis = free_space(dense_rows(rest.state)[rest.rows])
    if not basis.shape[1]:
        return StiffnessModes(np.zeros(0), basis, np.zeros(0), 0.0, False)
    stiffness, mass = (basis.T @ rest.on_coordinates(x, basis) for x in (rest.stiffness, rest.mass))
    size = np.abs(stiffness).max(initial=0.0)
    if np.abs(stiffness - stiffness.T).max(initial=0.0) <= 1e-8 * size:  # 1e-8: differences in a user's Jacobian
        metric = None if rest.deforms else 0.5 * (mass + mass.T)
        values, vectors = scipy.linalg.eigh(0.5 * (stiffness + stiffness.T), metric)
        waves = False
    else:
        values, vectors = scipy.linalg.eig(stiffness, mass)
        waves = bool(np.any(np.abs(values.imag) > 1e-6 * np.abs(values).max()))
        if rest.deforms:  # what falls away does so in any metric, along real directions
            waves = waves or slow_waves(stiffness, mass)
            values, vectors = scipy.linalg.eig(stiffness)
            values = np.where(np.abs(values.imag) > 1e-6 * np.abs(values), np.abs(values), values.real)
        order = np.argsort(values.real)
        values, vectors = values[order], vectors[:, order]
    first = vectors[:, 0].real
    rate = (first @ stiffness @ first) / (first @ mass @ first)
    directions = basis @ vectors
    return StiffnessModes(values, directions, no_stiffness(rest, values, directions), rate, waves)


def no_stiffness(rest: RestState, values: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """What counts as no stiffness in each direction.

    Where bodies deform, a part of the largest; elsewhere a part of the terms that the stiffness is made of, more of
    them where forces balance but for rounding.
    """
    largest = np.abs(values).max()
    if rest.deforms:
        return np.full(len(values), SLENDER * NEUTRAL * largest)
    sizes = np.abs(directions)
    terms = np.einsum("ik,ik->k", sizes, rest.on_coordinates(np.abs(rest.stiffness), sizes))
    moved = np.abs(np.einsum("ik,ik->k", directions.conj(), rest.on_coordinates(rest.mass, directions)))
    part = np.divide(terms, moved, out=np.zeros(len(values)), where=moved > 0.0)
    return np.minimum((NEUTRAL + 10.0 * rest.residual) * part + ROUNDED_STIFFNESS * largest, NEUTRAL * largest)


def slow_waves(stiffness: np.ndarray, mass: np.ndarray) -> bool:
    """Whether slow motions grow in waves, which beside those of thin sections only the compliance tells."""
    import scipy.linalg

    held = np.linalg.svd(stiffness, compute_uv=False)
    if not held.min() > SLENDER * NEUTRAL * held.max():  # something is free to move: no compliance
        return False
    inverse = scipy.linalg.eigvals(np.linalg.solve(stiffness, mass))
    slow = inverse[np.abs(inverse) > 1e-6 * np.abs(inverse).max(initial=0.0)]
    return bool(np.any(np.abs(slow.imag) > 1e-4 * np.abs(slow)))  # 1e-6: what rounding makes of double ones


def is_unstable(values: StiffnessModes | None) -> bool:
    """Whether some direction is known to have negative stiffness."""
    return values is not None and bool(np.any(values.stiffness.real < -values.none))


def flutters(values: StiffnessModes | None) -> bool:
    """Whether some motion is known to grow in waves."""
    return values is not None and values.waves
