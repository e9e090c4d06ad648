"""What a flexible body with modes is made of: its nodes, their shapes in every mode, and the invariants of its inertia.

A field of displacements d of a structure has three numbers for every node, or six: displacement and rotation. A body
that moves at v and w (body axes, v at the centre of mass) and deforms at d' has at every node the velocity

    v + w x (s_0 + d_u) + d_u'    and the angular velocity    w + w x d_r + d_r',

the latter in the axes of the node. Between the nodes the mass matrix M of the structure interpolates: the kinetic
energy is V^T M V / 2 with V of all nodes, and its coefficients are the invariants here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class InertiaData:
    """Coefficients of the kinetic energy about the centre of mass, body axes; n modes of unit modal mass.

    inertia (3, 3): J_0; moment (n, 3): P_k; turn (n, 3): H_0k; change (n, 3, 3): J_k; pairs (n, n, 3, 3): J_kl,
    symmetric matrices; turns (n, n, 3): H_kl. `index3.bodies.modal_inertia` says what they stand for.
    """

    inertia: np.ndarray
    moment: np.ndarray
    turn: np.ndarray
    change: np.ndarray
    pairs: np.ndarray
    turns: np.ndarray


@dataclass
class ModalData:
    """A structure reduced to n modes of unit modal mass.

    Attributes
    ----------
    nodes : (N, 3) without deformation, in the frame in which the structure was given [m]
    names : of the nodes that have one, to their numbers
    shapes : (N, 6, n) displacement and rotation of each node in each mode
    turning : (N,) bool, whether a node has rotations
    stiffness : (n,) squares of the angular frequencies [rad^2/s^2]
    mass, centre : [kg], centre of mass (3,) in that frame [m]
    inertia : InertiaData
    lines, faces : nodes joined by lines (pairs) and by faces (triples), to be drawn; `radius` of the lines [m]
    stress : what gives stresses from modal coordinates, or None (`index3.bodies.modal_stress`)
    """

    nodes: np.ndarray
    names: dict[str, int]
    shapes: np.ndarray
    turning: np.ndarray
    stiffness: np.ndarray
    mass: float
    centre: np.ndarray
    inertia: InertiaData
    lines: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), int))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))
    radius: float = 0.0
    stress: Any = None


def rigid_motions(nodes: np.ndarray, centre: np.ndarray, per_node: int) -> np.ndarray:
    """The six motions of a rigid body (per_node N, 6): three translations and three rotations about the centre."""
    motions = np.zeros((len(nodes), per_node, 6))
    motions[:, :3, :3] = np.eye(3)
    for k, axis in enumerate(np.eye(3)):
        motions[:, :3, 3 + k] = np.cross(axis, nodes - centre)
        if per_node == 6:
            motions[:, 3 + k, 3 + k] = 1.0
    return motions.reshape(-1, 6)


def turned(fields: np.ndarray) -> list[np.ndarray]:
    """e x every three numbers of the columns of `fields`, for the three axes e."""
    triples = fields.reshape(-1, 3, fields.shape[1])
    return [np.cross(axis, triples, axis=1).reshape(fields.shape) for axis in np.eye(3)[:, None, :, None]]


def invariants(M: Any, modes: np.ndarray, rigid: np.ndarray) -> InertiaData:
    """Those of modes (columns) of unit modal mass, from the mass matrix and the rigid motions about the centre."""
    n = modes.shape[1]
    around, M_modes = turned(modes), M @ modes
    M_around = [M @ field for field in around]
    change, pairs, turns = np.empty((n, 3, 3)), np.empty((n, n, 3, 3)), np.empty((n, n, 3))
    for i in range(3):
        turns[:, :, i] = around[i].T @ M_modes
        for j in range(3):
            change[:, i, j] = rigid[:, 3 + i] @ M_around[j]
            pairs[:, :, i, j] = around[i].T @ M_around[j]
    J = rigid[:, 3:].T @ (M @ rigid[:, 3:])
    change = change + change.transpose(0, 2, 1)
    pairs = 0.5 * (pairs + pairs.transpose(0, 1, 3, 2))
    moment, turn = M_modes.T @ rigid[:, :3], M_modes.T @ rigid[:, 3:]
    return InertiaData(0.5 * (J + J.T), moment, turn, change, pairs, turns)


def free_frequencies(data: ModalData) -> np.ndarray:
    """Frequencies (n,) of the free body [Hz]: those of its modes, unless given modes move its centre or turn it.

    The frame then moves against them, and the modes have the mass I - P P^T / m - H J^-1 H^T, with the moments P and H
    of the modes.
    """
    P, H = data.inertia.moment, data.inertia.turn
    moving = P @ P.T / data.mass + H @ np.linalg.pinv(data.inertia.inertia, hermitian=True) @ H.T
    if np.abs(moving).max(initial=0.0) < 1e-12:
        return np.sqrt(data.stiffness) / (2.0 * np.pi)
    import scipy.linalg

    squares = scipy.linalg.eigh(np.diag(data.stiffness), np.eye(len(moving)) - moving, eigvals_only=True)
    return np.sqrt(squares) / (2.0 * np.pi)
