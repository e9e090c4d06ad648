"""Motion and strains of cables and spatial beams in absolute nodal coordinates from whole histories, time first.

`constants` is what `SpaceLine.constants` gives: plain numbers, from which results make the undeformed line again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from index3.algebra.frames import frame_turn, jets, line_turn, part
from index3.bodies.ancf_curve import line_rows
from index3.bodies.ancf_histories import as_places, place
from index3.bodies.ancf_shapes import gauss
from index3.bodies.ancf_space_elements import LINE

Constants = Mapping[str, Any]


def vectors_of(x: np.ndarray) -> np.ndarray:
    """Histories of the vectors of all nodes, (n_t, number, 3)."""
    return x.reshape(len(x), x.shape[1] // 3, 3)


def turn_history(code: int, along: tuple[np.ndarray, ...], across: tuple[np.ndarray, ...]) -> tuple[Any, Any]:
    """Angular velocity and acceleration (n_t, 3) of what turns with vectors, given with their two derivatives."""
    none = np.zeros((3, len(along[0])))
    a, b = (jets(x[0].T, x[1].T, none, none) for x in (along, across))
    a_rate, b_rate = (jets(x[1].T, x[2].T, none, none) for x in (along, across))
    turn = line_turn(a, a_rate) if code == LINE else frame_turn(a, b, a_rate, b_rate)
    return np.array(part(turn, 0)).T, np.array(part(turn, 1)).T


def along_line(constants: Constants, q: np.ndarray, s: Any, derivative: int = 0) -> np.ndarray:
    """Histories (n_t, n_s, 3) of the points of the line at s, or of a derivative of r by s."""
    lengths = np.asarray(constants["lengths"], float)
    element, rows = line_rows(lengths, as_places(s), derivative)
    count = len(lengths) + 1
    nodes = q.reshape(len(q), count, q.shape[1] // (3 * count), 3)[:, :, :2]
    ends = [nodes[:, element, 0], nodes[:, element, 1], nodes[:, element + 1, 0], nodes[:, element + 1, 1]]
    return sum(rows[:, k, None] * ends[k] for k in range(4))


def rest_of(constants: Constants) -> np.ndarray:
    """The coordinates of the undeformed line, as a history of one instant."""
    return np.asarray(constants["nodes"], float).reshape(1, -1)


def curvature_of(constants: Constants, q: np.ndarray, s: Any) -> np.ndarray:
    """How fast the tangent turns along the line (n_t, n_s) [1/m]: |r_x x r_xx| / |r_x|^2."""
    u, w = along_line(constants, q, s, 1), along_line(constants, q, s, 2)
    return np.linalg.norm(np.cross(u, w), axis=-1) / (u * u).sum(-1)


def gauss_history(constants: Constants, q: np.ndarray, s: Any, strain: Callable[..., np.ndarray]) -> np.ndarray:
    """A second derivative at s (n_t, n_s), linear between the two places in each element where cubics have it best."""
    lengths = np.asarray(constants["lengths"], float)
    element, x = place(lengths, as_places(s))
    size = lengths[element]
    first, (low, high) = (np.cumsum(lengths) - lengths)[element], gauss(2)[0]
    t = (x / size - low) / (high - low)
    return (1.0 - t) * strain(constants, q, first + low * size) + t * strain(constants, q, first + high * size)
