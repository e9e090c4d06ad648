"""Shape functions of spatial beams in absolute nodal coordinates, and how their gradients are made of the nodes'.

r = cubic(x) + y ((1 - x/l) r1_y + x/l r2_y) + z ((1 - x/l) r1_z + x/l r2_z); an element has the vectors
(r1, r1_x, r1_y, r1_z, r2, r2_x, r2_y, r2_z).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.ancf_histories import as_places, place
from index3.bodies.ancf_shapes import cubic
from index3.bodies.ancf_space_elements import SECTION, TANGENT
from index3.errors import ModelError

R, R_X, XX, R_Y, R_Z, YX, ZX = range(7)
"""Position and gradients on the axis: r, r_x, r_xx, r_y, r_z, r_yx, r_zx."""


def rows(x: np.ndarray, length: Any, vector: int) -> np.ndarray:
    """Coefficients (n, 8) of the vectors of an element in r or a gradient on its axis, at places x along it."""
    found = np.zeros((len(x), 8))
    if vector <= XX:
        derivative, size = vector - R, np.broadcast_to(np.asarray(length, float), x.shape)
        part = cubic(x / size, 1.0, derivative)
        part = part * np.stack([size**0, size, size**0, size], -1) / size[:, None] ** derivative
        found[:, [0, 1, 4, 5]] = part
        return found
    first = 2 if vector in (R_Y, YX) else 3
    t, one = x / length, np.ones(len(x))
    ends = (1.0 - t, t) if vector in (R_Y, R_Z) else (-one / length, one / length)
    found[:, first], found[:, first + 4] = ends
    return found


def products(weight: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """sum of weight times shapes shapes^T."""
    return np.einsum("p,pi,pj->ij", weight, shapes, shapes)


def along_axis(constants: Any, q: np.ndarray, s: Any, vector: int) -> np.ndarray:
    """Histories (n_t, n_s, 3) of r or a gradient on the axis."""
    lengths = np.asarray(constants["lengths"], float)
    element, x = place(lengths, as_places(s))
    vectors = q.reshape(len(q), q.shape[1] // 3, 3)
    inside = vectors[:, 4 * element[:, None] + np.arange(8)]
    return np.einsum("si,tsik->tsk", rows(x, lengths[element], vector), inside)


def check_gradients(owner: str, nodes: np.ndarray, lengths: np.ndarray, outline: np.ndarray) -> None:
    """Raise where the material of an undeformed beam is turned inside out: curved more than its section allows.

    `nodes` (n, 4, 3) are the vectors of the nodes, `outline` (k, 2) corners of the section, y and z.
    """
    for n, length in enumerate(lengths.tolist()):
        x, vectors = length * np.linspace(0.0, 1.0, 9), nodes[n : n + 2].reshape(8, 3)
        r_x, r_y, r_z, r_yx, r_zx = (rows(x, length, each) @ vectors for each in (R_X, R_Y, R_Z, YX, ZX))
        normal = np.cross(r_y, r_z)
        for y, z in outline.tolist():
            if np.any(((r_x + y * r_yx + z * r_zx) * normal).sum(-1) <= 0.0):
                raise ModelError(
                    f"{owner} has inverted gradients in element {n}: it is curved more than its section allows. "
                    "Give points on a wider curve, more elements, or a smaller section."
                )


def marker_rows(
    constants: Any, position: Any, word: str | None
) -> tuple[int, int, tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Element, code of the frame, and coefficients of point and gradients of a marker, which has no axes at rest.

    A part "arm u v w" displaces the point by u r_x + v r_y + w r_z.
    """
    lengths, (s, y, z) = np.asarray(constants["lengths"], float), map(float, position)
    element, x = (value.item() for value in place(lengths, s))
    length, words = lengths[element], (word or "section").split()

    def at(vector: int) -> np.ndarray:
        return rows(np.array([x]), length, vector)[0]

    along = at(R_X) + y * at(YX) + z * at(ZX)
    point = at(R) + y * at(R_Y) + z * at(R_Z)
    if words[0] == "arm":
        u, v, w = map(float, words[1:])
        point = point + u * along + v * at(R_Y) + w * at(R_Z)
    if words[0] == "tangent":
        return element, TANGENT, (point, along, at(R_Y)), np.zeros(9)
    return element, SECTION, (point, at(R_Y), at(R_Z)), np.zeros(9)
