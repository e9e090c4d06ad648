"""Derivatives of independent accelerations in the thesis's other forms, dense; properties of Runge-Kutta formulas.

[NegrutThesis] chapter 3 and appendix B; what the package computes is compared with them.
"""

from __future__ import annotations

import numpy as np

from index3.methods.state_space.jacobian import Parts, augmented, recovered, solve_columns
from index3.methods.state_space.partition import Partition


def by_reduction(parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """J1 and J2 by the thesis's matrices H, J, L, N, R, S (3.31)-(3.46), (3.88)-(3.99)."""
    u, w = parts.partition.dependent, parts.partition.independent
    M, K, D = parts.mass, parts.stiffness, parts.damping
    inverse = np.linalg.inv(parts.phi_q[:, u])
    tau_q, tau_v, curvature = parts.gamma_q, parts.gamma_v, parts.phia_q
    H = -inverse @ parts.phi_q[:, w]
    J = -inverse @ (parts.phiv_q[:, u] @ H + parts.phiv_q[:, w])
    bend = tau_q - curvature
    L = inverse @ (bend[:, u] @ H + bend[:, w] + tau_v[:, u] @ J)
    N = inverse @ (tau_v[:, u] @ H + tau_v[:, w])
    uu, uw, wu, ww = np.ix_(u, u), np.ix_(u, w), np.ix_(w, u), np.ix_(w, w)
    R = K[uu] @ H + K[uw] + D[uu] @ J + M[uu] @ L
    S = D[uu] @ H + D[uw] + M[uu] @ N
    M_hat = M[ww] + M[wu] @ H + H.T @ (M[uw] + M[uu] @ H)
    M1 = M[wu] @ N + H.T @ S + D[ww] + D[wu] @ H
    M2 = K[wu] @ H + K[ww] + D[wu] @ J + M[wu] @ L + H.T @ R
    return -np.linalg.solve(M_hat, M2), -np.linalg.solve(M_hat, M1)


def descriptor(parts: Parts, beta: float, gamma: float) -> np.ndarray:
    """Derivatives of the equations of motion and of the accelerations of the rows by all a and lam (section 3.3).

    Independent coordinates are w = known + beta w'', w' = known + gamma w'' (beta with h^2, gamma with h); dependent
    ones are recovered.
    """
    n, w = len(parts.mass), parts.partition.independent
    q_k, v_k = recovered(parts)
    dq, dv = beta * q_k, gamma * q_k + beta * v_k
    matrix = augmented(parts.mass, parts.phi_q)
    matrix[:n, w] += parts.stiffness @ dq + parts.damping @ dv
    matrix[n:, w] += (parts.phia_q - parts.gamma_q) @ dq - parts.gamma_v @ dv
    return matrix


def on_tangent_plane(parts: Parts, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J1 and J2 for w = V^T M q, V^T M V = I, V (n, ndof) spanning the null space of Phi_q (appendix B, metric M)."""
    n = len(parts.mass)
    matrix = augmented(parts.metric, parts.phi_q)
    v_k = np.linalg.solve(matrix, np.vstack([np.zeros((n, basis.shape[1])), -parts.phiv_q @ basis]))[:n]
    j1, j2 = solve_columns(parts, basis, v_k)
    dual = basis.T @ parts.metric
    return dual @ j1, dual @ j2


def condition(partition: Partition, phi_q: np.ndarray) -> float:
    """Condition number of the dependent columns of a dense Phi_q; grown by 1.25, a partition is chosen anew (4.1.2)."""
    return float(np.linalg.cond(phi_q[np.ix_(partition.rows, partition.dependent)])) if len(partition.rows) else 1.0


def order_conditions(A: np.ndarray, b: np.ndarray) -> dict[int, float]:
    """Largest mismatch of the Runge-Kutta conditions of each order up to 4.

    >>> residual = order_conditions(np.array([[0, 0], [0.5, 0.5]]), np.array([0.5, 0.5]))
    >>> residual[2] < 1e-15 < residual[3]
    True
    """
    c = A.sum(axis=1)
    conditions = {
        1: [b.sum() - 1],
        2: [b @ c - 1 / 2],
        3: [b @ c**2 - 1 / 3, b @ A @ c - 1 / 6],
        4: [b @ c**3 - 1 / 4, b @ (c * (A @ c)) - 1 / 8, b @ A @ c**2 - 1 / 12, b @ A @ A @ c - 1 / 24],
    }
    return {order: float(max(map(abs, values))) for order, values in conditions.items()}


def stability(A: np.ndarray, b: np.ndarray, z: complex) -> complex:
    """R(z) = 1 + z b^T (I - z A)^-1 1.

    >>> round(abs(stability(np.array([[0, 0], [0.5, 0.5]]), np.array([0.5, 0.5]), -1e9)), 6)
    1.0
    """
    one = np.ones(len(b))
    return complex(1 + z * b @ np.linalg.solve(np.eye(len(b)) - z * A, one))
