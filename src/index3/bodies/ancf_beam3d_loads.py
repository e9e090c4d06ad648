"""What acts inside spatial beams in absolute nodal coordinates, from whole histories.

All functions take (constants, q, v, a, s, ...) as results have them and return arrays with time first. Forces and
moments act on the face of a section towards the end of the beam, in the axes of the section; damping is not part of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from index3.bodies.ancf_beam3d_shapes import R_X, R_Y, R_Z, XX, YX, R, along_axis
from index3.bodies.ancf_histories import place
from index3.bodies.ancf_space import Constants, curvature_of, gauss_history, rest_of, simpson_history


def points(
    constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any, y: Any = 0.0, z: Any = 0.0
) -> np.ndarray:
    """Material points s, y, z in ground (n_t, n_s, 3) [m]."""
    r, r_y, r_z = (along_axis(constants, q, s, vector) for vector in (R, R_Y, R_Z))
    y, z = (np.asarray(x, float)[..., None] for x in (y, z))
    return r + y * r_y + z * r_z


def green_strain(constants: Constants, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """(|r_x|^2 / |r_x|^2 at rest - 1) / 2."""
    size, rest = ((along_axis(constants, x, s, R_X) ** 2).sum(-1) for x in (q, rest_of(constants)))
    return 0.5 * (size / rest - 1.0)


def at_nodes(constants: Constants, q: np.ndarray, vector: int) -> np.ndarray:
    """r_x . r_y or r_x . r_z at the nodes (n_t, number of nodes)."""
    ends = np.concatenate([[0.0], np.cumsum(constants["lengths"])])
    return (along_axis(constants, q, ends, R_X) * along_axis(constants, q, ends, vector)).sum(-1)


def ends_history(constants: Constants, q: np.ndarray, s: Any, vector: int) -> np.ndarray:
    """r_x . r_y or r_x . r_z, linear between the nodes, where it is measured."""
    lengths = np.asarray(constants["lengths"], float)
    element, x = place(lengths, np.atleast_1d(np.asarray(s, float)))
    at, t = at_nodes(constants, q, vector), x / lengths[element]
    return (1.0 - t) * at[:, element] + t * at[:, element + 1]


def axial_force(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Tension along the axis at s (n_t, n_s) [N]."""
    size = np.linalg.norm(along_axis(constants, q, s, R_X), axis=-1)
    return constants["stiffness"]["axial"] * simpson_history(constants, q, s, green_strain) * size


def shear_force(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Forces along y and z of the sections at s (n_t, n_s, 2) [N]."""
    rest = rest_of(constants)
    shear = [ends_history(constants, q, s, d) - ends_history(constants, rest, s, d) for d in (R_Y, R_Z)]
    return constants["stiffness"]["shear"] * np.stack(shear, -1)


def moment(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Torsion and the moments about y and z of the sections at s (n_t, n_s, 3) [N m]."""
    k, values = constants["stiffness"], []
    for x in (q, rest_of(constants)):
        by_y, by_z = (gauss_history(constants, x, s, bending(d)) for d in (R_Y, R_Z))
        bend = np.stack([k["torsion"] * twist(constants, x, s), -k["bending"][1] * by_z, k["bending"][0] * by_y], -1)
        values.append(bend)
    return values[0] - values[1]


def bending(vector: int) -> Callable[..., np.ndarray]:
    """The bending strain towards r_y or r_z: r_xx . r_y / (|r_y| |r_x|) less the rate of the shear."""

    def strain(constants: Constants, q: np.ndarray, s: np.ndarray) -> np.ndarray:
        lengths = np.asarray(constants["lengths"], float)
        element, _ = place(lengths, s)
        r_x, r_xx, d = (along_axis(constants, q, s, x) for x in (R_X, XX, vector))
        bend = (r_xx * d).sum(-1) / np.linalg.norm(d, axis=-1) / np.linalg.norm(r_x, axis=-1)
        shear = at_nodes(constants, q, vector)
        return bend - (shear[:, element + 1] - shear[:, element]) / lengths[element]

    return strain


def twist(constants: Constants, q: np.ndarray, s: Any) -> np.ndarray:
    """r_yx . r_z / |r_z| in the middle of the elements that s lies in."""
    lengths = np.asarray(constants["lengths"], float)
    element, _ = place(lengths, np.atleast_1d(np.asarray(s, float)))
    middle = (np.cumsum(lengths) - 0.5 * lengths)[element]
    r_yx, r_z = along_axis(constants, q, middle, YX), along_axis(constants, q, middle, R_Z)
    return (r_yx * r_z).sum(-1) / np.linalg.norm(r_z, axis=-1)


def curvature(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """How fast the tangent of the axis turns along it (n_t, n_s) [1/m], never negative."""
    return gauss_history(constants, q, s, curvature_of)
