"""Rigid motions of bodies of any kind: what a displacement or a twist of the whole body does to its coordinates.

A kind says which of its coordinates are vectors (`Places`). A point goes to R x + d, a direction to R x; what is a sum
of points and directions takes the shift with the sum of the points' weights.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from index3.record import Record


class Places(Record, frozen=True):
    """Where a body's coordinates hold vectors, Euler parameters and an angle about z.

    Attributes
    ----------
    vectors : (k, 3) or, in the plane, (k, 2) numbers of coordinates
    weights : (k,) part of a shift that each vector takes: 1 of a point, 0 of a direction
    quaternion : first of four Euler parameters, or -1
    angle : an angle about z, or -1
    """

    vectors: np.ndarray
    weights: np.ndarray
    quaternion: int = -1
    angle: int = -1


class Displacement(NamedTuple):
    """A turn about a unit vector, then a shift: x goes to R x + d."""

    axis: np.ndarray
    turn: float
    shift: np.ndarray

    @property
    def rotation(self) -> np.ndarray:
        """R (3, 3)."""
        W = skew(self.axis)
        return np.eye(3) + math.sin(self.turn) * W + (1.0 - math.cos(self.turn)) * W @ W


def about(point: np.ndarray, axis: np.ndarray, turn: float) -> Displacement:
    """The turn about an axis through a point."""
    plain = Displacement(axis, turn, np.zeros(3))
    return plain._replace(shift=point - plain.rotation @ point)


def displaced(places: Places, q: np.ndarray, motion: Displacement) -> np.ndarray:
    """Coordinates of a body after a displacement."""
    return _carried(places, q, motion, motion.shift, motion.turn)


def turned(places: Places, v: np.ndarray, motion: Displacement) -> np.ndarray:
    """Rates of a body whose motion is displaced as well."""
    return _carried(places, v, motion, np.zeros(3), 0.0)


def moving(places: Places, q: np.ndarray, velocity: np.ndarray, angular_velocity: np.ndarray) -> np.ndarray:
    """Rates of a body that moves as if rigid; `velocity` is that of its point at the origin of ground."""
    rates, width = np.zeros_like(q), places.vectors.shape[1]
    W = skew(angular_velocity)[:width, :width]
    rates[places.vectors] = q[places.vectors] @ W.T + np.outer(places.weights, velocity[:width])
    if places.quaternion >= 0:
        own = slice(places.quaternion, places.quaternion + 4)
        rates[own] = 0.5 * product(np.array([0.0, *angular_velocity]), q[own])
    if places.angle >= 0:
        rates[places.angle] = angular_velocity[2]
    return rates


def _carried(places: Places, x: np.ndarray, motion: Displacement, shift: np.ndarray, angle: float) -> np.ndarray:
    carried, width, R = x.copy(), places.vectors.shape[1], motion.rotation
    carried[places.vectors] = x[places.vectors] @ R[:width, :width].T + np.outer(places.weights, shift[:width])
    if places.quaternion >= 0:
        own = slice(places.quaternion, places.quaternion + 4)
        half = 0.5 * motion.turn
        carried[own] = product(np.array([math.cos(half), *(math.sin(half) * motion.axis)]), x[own])
    if places.angle >= 0:
        carried[places.angle] += angle * motion.axis[2]
    return carried


def product(p: np.ndarray, e: np.ndarray) -> np.ndarray:
    """The product of two quaternions (w, x, y, z)."""
    return np.array([p[0] * e[0] - p[1:] @ e[1:], *(p[0] * e[1:] + e[0] * p[1:] + np.cross(p[1:], e[1:]))])


def skew(w: np.ndarray) -> np.ndarray:
    """The matrix of the cross product with w."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
