"""Forces in the axes of a first marker i that depend on the motion of a second marker j as seen from there.

Relative coordinates y: x = A_i^T (r_j - r_i), and the rotation vector phi of A_i^T A_j. Rates: x' = A_i^T u with
u = v_j - v_i - w_i x d and d = r_j - r_i; the angular velocity w = A_i^T (w_j - w_i), with phi' = S(phi) w. In the
twists of the markers y' = Y V, so a force f along y gives the wrench Y^T f: it acts at r_j, its opposite on the first
body at the same point, and neither momentum nor angular momentum changes. Blocks are numbered r_i, theta_i, r_j,
theta_j.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.algebra.rotation_vectors import rotation_vector
from index3.algebra.vectors import add, add_at, cross, load, load_at, multiply, scale, skew, sub
from index3.bodies.marker import Marker, as_vector, frame
from index3.bodies.pairs import check_pair, joint_point
from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.constraints.rows import put_block
from index3.constraints.turning_angle import combine
from index3.errors import ModelError
from index3.forces.force import add_block

LIMIT = 3.0
"""Largest relative rotation [rad]; at pi rotation vectors jump."""


def relative_markers(owner: str, first: Any, second: Any, at: Any, axis: Any, x: Any) -> tuple[Marker, Marker]:
    """Two markers as given, or on two bodies with one pose in ground: at a point, z along `axis`, x along `x`."""
    if check_pair(owner, first, second, "at=..."):
        if at is None:
            raise ModelError(f"{owner} joins two bodies without at. Give at=..., or two markers.")
        point, axes = joint_point(first, second, as_vector(at, owner, "at")), frame(axis, x, owner, "axis")
        first, second = first.marker_at_pose(point, axes), second.marker_at_pose(point, axes)
    elif any(value is not None for value in (at, axis, x)):
        raise ModelError(
            f"{owner} has two markers and also at, axis or x. Leave that out, since markers carry points and axes."
        )
    if not first.oriented:
        raise ModelError(
            f"{owner} takes its axes from {first.body.label}, which has no orientation. "
            "Put a body with axes, or ground, first."
        )
    return first, second


def relative_pose(first: Marker, second: Marker) -> np.ndarray:
    """y at the initial configuration."""
    (ri, Ai), (rj, Aj) = first.pose(), second.pose()
    phi, _ = rotation_vector(tuple((Ai.T @ Aj).ravel().tolist()))
    return np.concatenate([Ai.T @ (rj - ri), phi])


@helper
def axes_of(T, marker):
    """A of a marker as a 9-tuple."""
    A = view(T, s.MARKER_A)
    return (
        A[marker, 0], A[marker, 1], A[marker, 2], A[marker, 3], A[marker, 4], A[marker, 5],
        A[marker, 6], A[marker, 7], A[marker, 8],
    )  # fmt: skip


@helper
def transposed(A):
    """A^T of a 9-tuple."""
    return (A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8])


@helper
def relative_point(T, i, j):
    """d and u, in ground axes."""
    r, V = view(T, s.MARKER_R), view(T, s.MARKER_V)
    d = sub(load(r, j), load(r, i))
    return d, sub(sub(load(V, j), load(V, i)), cross(load_at(V, i, 3), d))


@helper
def relative_spin(T, i, j):
    """w_j - w_i, in ground axes."""
    V = view(T, s.MARKER_V)
    return sub(load_at(V, j, 3), load_at(V, i, 3))


@helper
def relative_rotation(T, i, j):
    """phi and its length."""
    return rotation_vector(multiply(transposed(axes_of(T, i)), axes_of(T, j)))


@helper
def add_wrench(T, i, j, d, F, torque):
    """Put a force and a torque (ground axes) on marker j, and their opposites on body i at the same point."""
    f = view(T, s.MARKER_F)
    add_at(f, j, 0, F)
    add_at(f, j, 3, torque)
    add_at(f, i, 0, scale(-1.0, F))
    add_at(f, i, 3, scale(-1.0, add(torque, cross(d, F))))


@helper
def fill_gradient(Y, A, d, S):
    """Y = dy/dxi; with S = I it gives (x', w) instead of y'."""
    At = transposed(A)
    R = multiply(S, At)
    put_block(Y, 0, 0, At, -1.0)
    put_block(Y, 0, 1, multiply(At, skew(d)), 1.0)
    put_block(Y, 0, 2, At, 1.0)
    put_block(Y, 1, 1, R, -1.0)
    put_block(Y, 1, 3, R, 1.0)


@helper
def fill_rate_gradient(W, A, u, wi, w, S, N):
    """W = d(x', S w)/dxi at constant twists, N the derivative of S w by phi times S."""
    At = transposed(A)
    by_point = multiply(At, skew(wi))
    put_block(W, 0, 0, by_point, 1.0)
    put_block(W, 0, 1, multiply(At, skew(u)), 1.0)
    put_block(W, 0, 2, by_point, -1.0)
    R, turn = multiply(S, At), multiply(N, At)
    put_block(W, 1, 1, combine(-1.0, turn, 1.0, multiply(R, skew(w))), 1.0)
    put_block(W, 1, 3, turn, 1.0)


@helper
def add_turning(K, first, d, F, torque):
    """Minus the change of the wrench of a force and torque that turn with marker i."""
    B, C = skew(F), skew(torque)
    add_block(K, first, 12, 0, 1, B, -1.0)
    add_block(K, first, 12, 2, 1, B, 1.0)
    add_block(K, first, 12, 3, 1, C, 1.0)
    add_block(K, first, 12, 1, 0, B, 1.0)
    add_block(K, first, 12, 1, 2, B, -1.0)
    add_block(K, first, 12, 1, 1, combine(1.0, multiply(skew(d), B), 1.0, C), -1.0)


@helper
def add_product(group, first, size, Y, X):
    """Add Y^T X of `size` rows to a group's matrix."""
    for a in range(12):
        for k in range(size):
            y = Y[k, a]
            if y != 0.0:
                for b in range(12):
                    group[first + 12 * a + b] += y * X[k, b]


@helper
def clear_rows(X, size):
    """X = 0 for `size` rows."""
    for k in range(size):
        for a in range(12):
            X[k, a] = 0.0


@helper
def add_rows(X, size, M, Y):
    """X += M Y for `size` rows."""
    for k in range(size):
        for m in range(size):
            c = M[k, m]
            if c != 0.0:
                for a in range(12):
                    X[k, a] += c * Y[m, a]
