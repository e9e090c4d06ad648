"""Motion of bodies and markers from stored coordinates: one function per body kind, whole histories at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from index3.algebra.rotations import rotation, spin


class Kinematics(NamedTuple):
    """Motion of a frame: its origin and its axes, (n_t, 3) each, the rotation (n_t, 3, 3)."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    rotation: np.ndarray
    angular_velocity: np.ndarray
    angular_acceleration: np.ndarray


def body_kinematics(
    body: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray, part: str | None = None
) -> Kinematics:
    """Motion of the frame of a body (its entry in a layout) or of one of its parts, from its columns of q, v and a."""
    return KINDS[body["kind"]](body.get("constants", {}), part, q, v, a)


def of_ground(constants: Mapping[str, Any], part: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Kinematics:
    """No motion."""
    zero = np.zeros((len(q), 3))
    return Kinematics(zero, zero, zero, still(len(q)), zero, zero)


def of_point(constants: Mapping[str, Any], part: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Kinematics:
    """q = (x, y, z)."""
    zero = np.zeros((len(q), 3))
    return Kinematics(q, v, a, still(len(q)), zero, zero)


def of_planar(constants: Mapping[str, Any], part: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Kinematics:
    """q = (x, y, angle)."""
    zero = np.zeros((len(q), 3))
    position, velocity, acceleration = (np.column_stack([x[:, :2], zero[:, 0]]) for x in (q, v, a))
    half = 0.5 * q[:, 2]
    p = (np.cos(half), zero[:, 0], zero[:, 0], np.sin(half))
    w, w_dot = (np.column_stack([zero[:, :2], x[:, 2]]) for x in (v, a))
    return Kinematics(position, velocity, acceleration, as_matrices(rotation(p)), w, w_dot)


def of_rigid(constants: Mapping[str, Any], part: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Kinematics:
    """q = (r, Euler parameters)."""
    p = tuple(q[:, 3:].T)
    w = np.column_stack(spin(p, tuple(v[:, 3:].T)))
    w_dot = np.column_stack(spin(p, tuple(a[:, 3:].T)))  # E(p') p' = 0, so the p'' term is all there is
    return Kinematics(q[:, :3], v[:, :3], a[:, :3], as_matrices(rotation(p)), w, w_dot)


def of_euler(constants: Mapping[str, Any], part: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Kinematics:
    """q = (r, 3-1-3 Euler angles), after a constant reference rotation."""
    R = np.asarray(constants["reference"], float)
    (cf, ct, cp), (sf, st, sp), zero = np.cos(q[:, 3:].T), np.sin(q[:, 3:].T), np.zeros(len(q))
    A = as_matrices(
        (
            cf * cp - sf * ct * sp, -cf * sp - sf * ct * cp, sf * st,
            sf * cp + cf * ct * sp, -sf * sp + cf * ct * cp, -cf * st,
            st * sp, st * cp, ct,
        )
    )  # fmt: skip
    b = np.stack([np.stack([zero, zero, zero + 1.0]), np.stack([cf, sf, zero]), np.stack([sf * st, -cf * st, ct])])
    b = np.einsum("ij,cjt->cti", R, b)  # axes of the three angles, (3, n_t, 3)
    w, w_dot = (np.einsum("cti,tc->ti", b, x[:, 3:]) for x in (v, a))
    for k, c in ((0, 1), (0, 2), (1, 2)):  # an angle carries the later axes along
        w_dot = w_dot + np.cross(b[k], b[c]) * (v[:, 3 + k] * v[:, 3 + c])[:, None]
    return Kinematics(q[:, :3], v[:, :3], a[:, :3], R @ A, w, w_dot)


def of_natural(constants: Mapping[str, Any], part: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Kinematics:
    """Point and axes linear in q; `constants` has the coefficients of every part, that of the body itself first."""
    frames = constants["frames"]
    C = np.asarray(frames[next(iter(frames)) if part is None else part], float)
    pose, rate, second = q @ C[:, :-1].T + C[:, -1], v @ C[:, :-1].T, a @ C[:, :-1].T
    A, A_rate, A_second = (x[:, 3:].reshape(-1, 3, 3) for x in (pose, rate, second))
    w, w_dot = (0.5 * np.cross(A, x, axis=1).sum(axis=2) for x in (A_rate, A_second))
    return Kinematics(pose[:, :3], rate[:, :3], second[:, :3], A, w, w_dot)


KINDS = {
    "ground": of_ground, "point": of_point, "planar": of_planar,
    "rigid": of_rigid, "euler": of_euler, "natural": of_natural,
}  # fmt: skip
"""Body kind -> its motion from (constants, part, q, v, a)."""


def still(n_t: int) -> np.ndarray:
    """Axes that never turn."""
    return np.tile(np.eye(3), (n_t, 1, 1))


def as_matrices(components: tuple[np.ndarray, ...]) -> np.ndarray:
    """Nine histories of entries, row by row, as (n_t, 3, 3)."""
    return np.stack(components, axis=-1).reshape(-1, 3, 3)


def marker_kinematics(body: Kinematics, position: Any, axes: Any) -> Kinematics:
    """Motion of a marker at `position` (3,) with `axes` (3, 3), columns x, y, z, both in its body's frame."""
    w, w_dot = body.angular_velocity, body.angular_acceleration
    arm = body.rotation @ np.asarray(position, float)
    turning = np.cross(w, arm)
    return Kinematics(
        body.position + arm,
        body.velocity + turning,
        body.acceleration + np.cross(w_dot, arm) + np.cross(w, turning),
        body.rotation @ np.asarray(axes, float),
        w,
        w_dot,
    )


def quaternions(A: np.ndarray) -> np.ndarray:
    """Euler parameters (n_t, 4) of rotation matrices (n_t, 3, 3), each with the sign nearest to the one before.

    4 p p^T is linear in A: its largest diagonal entry says which column loses no digits.
    """
    d = np.einsum("tii->ti", A)
    trace = d.sum(axis=1)
    square = np.empty((len(A), 4, 4))
    square[:, 0, 0] = 1.0 + trace
    square[:, [1, 2, 3], [1, 2, 3]] = 1.0 + 2.0 * d - trace[:, None]
    axial = np.stack([A[:, 2, 1] - A[:, 1, 2], A[:, 0, 2] - A[:, 2, 0], A[:, 1, 0] - A[:, 0, 1]], axis=1)
    square[:, 0, 1:] = square[:, 1:, 0] = axial
    for i, j in ((0, 1), (0, 2), (1, 2)):
        square[:, 1 + i, 1 + j] = square[:, 1 + j, 1 + i] = A[:, i, j] + A[:, j, i]
    largest = np.argmax(np.einsum("tii->ti", square), axis=1)
    p = square[np.arange(len(A)), largest]
    p /= np.linalg.norm(p, axis=1)[:, None]
    flips = np.sum(p[1:] * p[:-1], axis=1) < 0.0
    signs = np.concatenate([[-1.0 if len(p) and p[0, 0] < 0.0 else 1.0], np.where(flips, -1.0, 1.0)])[: len(p)]
    return p * np.cumprod(signs)[:, None]
