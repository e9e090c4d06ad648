"""The exact derivatives J1 = dw''/dw and J2 = dw''/dw' of the independent accelerations, dense.

For analyses and tests; the compiled methods have a column-wise version of their own. [NegrutThesis] chapter 3 and
appendix A; corrections in docs/theory/state_space.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from index3.compiled import slots as s
from index3.errors import ModelError, SingularError
from index3.methods.projection_kernels import CONVERGED, MOST_ITERATIONS
from index3.methods.state_space.partition import Partition, choose_partition, dense_rows
from index3.system import evaluate
from index3.system.state import State


@dataclass(frozen=True)
class Parts:
    """Everything that enters the derivatives, at one (t, q, v) with its a and lam; redundant rows left out."""

    partition: Partition
    mass: np.ndarray  # M - Q_a
    metric: np.ndarray  # M
    stiffness: np.ndarray  # (M a)_q + (Phi_q^T lam)_q - Q_q
    damping: np.ndarray  # -Q_v
    phi_q: np.ndarray
    phiv_q: np.ndarray  # (Phi_q v)_q
    phia_q: np.ndarray  # (Phi_q a)_q
    gamma_q: np.ndarray
    gamma_v: np.ndarray


def bordered(state: State, c_m: float, c_k: float, c_d: float, c_r: float = 0.0) -> np.ndarray:
    """The coordinate block of the evaluator's matrix, dense."""
    n, sparsity = state.system.n, state.system.sparsity
    state[s.COEF][:] = c_m, c_k, c_k, c_d, 0.0, c_r
    if state.run(evaluate.matrix):
        raise ModelError(state.system.explain(state))
    dense = np.zeros((n + state.system.m,) * 2)
    dense[sparsity.indices, np.repeat(np.arange(len(dense)), np.diff(sparsity.indptr))] = state[s.MATRIX][:-1]
    return dense[:n, :n]


def evaluate_parts(state: State) -> Parts:
    """Evaluate at the state's (t, q, v), which lie on the constraints; a and lam are solved for there."""
    state[s.A][:] = state[s.LAM][:] = 0.0
    state[s.Q_MASS][:] = state[s.Q]
    if state.run(evaluate.forces, evaluate.jacobian, evaluate.levels):
        raise ModelError(state.system.explain(state))
    partition = choose_partition(state)
    metric, phi_q = bordered(state, 1.0, 0.0, 0.0), dense_rows(state)[partition.rows]
    mass = solve_motion(state, partition, metric, phi_q)
    if state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.derivatives):
        raise ModelError(state.system.explain(state))
    rows = {slot: dense_rows(state, slot)[partition.rows] for slot in (s.PHIV_Q, s.PHIA_Q, s.GAMMA_Q, s.GAMMA_V)}
    stiffness, damping = bordered(state, 0.0, 1.0, 0.0), bordered(state, 0.0, 0.0, 1.0)
    return Parts(partition, mass, metric, stiffness, damping, phi_q, *rows.values())


def solve_motion(state: State, partition: Partition, metric: np.ndarray, phi_q: np.ndarray) -> np.ndarray:
    """Put a and lam of the kept rows into a state evaluated at zero ones; returns M - Q_a there.

    One solve, or Newton's iteration where forces depend on accelerations.
    """
    n, mass, a, lam, rows = state.system.n, metric, state[s.A], state[s.LAM], partition.rows
    for _ in range(MOST_ITERATIONS):
        if state.system.reads_accelerations:
            mass = bordered(state, 1.0, 0.0, 0.0, 1.0)
        left = np.concatenate([-state[s.G] - metric @ a, state[s.GAMMA][rows] - phi_q @ a])
        change = np.linalg.solve(augmented(mass, phi_q), left)
        a += change[:n]
        lam[rows] += change[n:]
        largest = max(1.0, np.abs(a).max(), np.abs(lam).max(initial=0.0))
        if not state.system.reads_accelerations or np.abs(change).max() <= CONVERGED * largest:
            return mass
        if state.run(evaluate.forces, evaluate.jacobian, evaluate.levels):
            raise ModelError(state.system.explain(state))
    raise SingularError(f"Accelerations do not converge with {', '.join(state.system.readers('accelerations'))}.")


def augmented(mass: np.ndarray, phi_q: np.ndarray) -> np.ndarray:
    """[M Phi_q^T; Phi_q 0]."""
    m = len(phi_q)
    return np.block([[mass, phi_q.T], [phi_q, np.zeros((m, m))]])


def by_columns(parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """J1 and J2 column-wise with the augmented matrix, independent coordinates as in the partition (appendix A)."""
    w = parts.partition.independent
    j1, j2 = solve_columns(parts, *recovered(parts))
    return j1[w], j2[w]


def recovered(parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """Displacements of all coordinates and the velocities that go with them, (n, ndof), by independent ones: H, J."""
    u, w = parts.partition.dependent, parts.partition.independent
    phi_u = parts.phi_q[:, u]
    q_k = np.zeros((len(parts.mass), len(w)))
    q_k[w] = np.eye(len(w))
    q_k[u] = -np.linalg.solve(phi_u, parts.phi_q[:, w])
    v_k = np.zeros_like(q_k)
    v_k[u] = -np.linalg.solve(phi_u, parts.phiv_q @ q_k)
    return q_k, v_k


def solve_columns(parts: Parts, q_k: np.ndarray, v_k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of all accelerations for displacements q_k with their velocities v_k, and for velocities q_k."""
    n = len(parts.mass)
    return solve_change(parts, q_k, v_k)[:n], solve_change(parts, np.zeros_like(q_k), q_k)[:n]


def solve_change(parts: Parts, dq: np.ndarray, dv: np.ndarray) -> np.ndarray:
    """Changes of accelerations and multipliers (n + rows, k) for changes dq, dv (n, k) of the state."""
    top = -parts.damping @ dv - parts.stiffness @ dq
    bottom = parts.gamma_v @ dv - (parts.phia_q - parts.gamma_q) @ dq
    return np.linalg.solve(augmented(parts.mass, parts.phi_q), np.vstack([top, bottom]))
