"""What acts inside spatial beams in absolute nodal coordinates, from whole histories.

All functions take (constants, q, v, a, s, ...) as results have them and return arrays with time first. Forces and
moments act on the face of a section towards the end of the beam, in the axes of the section; they follow from the
equilibrium of the elements (`index3.bodies.ancf_equilibrium`) and hold the part of damping.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.ancf_beam3d_rules import make_rule
from index3.bodies.ancf_beam3d_shapes import R_X, R_Y, R_Z, R, along_axis, marker_rows, rows
from index3.bodies.ancf_equilibrium import Histories, Interior, MarkerCoefficients, section_wrench
from index3.bodies.ancf_histories import as_places, check_across
from index3.bodies.ancf_space import Rule
from index3.bodies.ancf_space_histories import Constants, curvature_of, gauss_history, vectors_of


def points(
    constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any, y: Any = 0.0, z: Any = 0.0
) -> np.ndarray:
    """Material points s, y, z in ground (n_t, n_s, 3) [m]."""
    r, r_y, r_z = (along_axis(constants, q, s, vector) for vector in (R, R_Y, R_Z))
    y, z = (np.asarray(x, float)[..., None] for x in (y, z))
    return r + y * r_y + z * r_z


def section_loads(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Forces along the axes of the sections at s, and moments about them: (n_t, n_s, 6)."""
    s = as_places(s)
    force, moment = section_wrench(SPATIAL, constants, Histories(*(vectors_of(x) for x in (q, v, a))), s)
    y, z = (along_axis(constants, q, s, vector) for vector in (R_Y, R_Z))
    x = np.cross(y, z)
    x, y = (d / np.linalg.norm(d, axis=-1, keepdims=True) for d in (x, y))
    axes = np.stack([x, y, np.cross(x, y)], -2)
    return np.concatenate([np.einsum("tsij,tsj->tsi", axes, b) for b in (force, moment)], -1)


def rule_of(constants: Constants, n: int) -> Rule:
    """Mass and points of an element."""
    ends = np.asarray(constants["nodes"][n : n + 2], float).reshape(8, 3)
    return make_rule(constants, ends, float(constants["lengths"][n]))


def elastic(rule: Rule, c: np.ndarray, rates: np.ndarray, lag: float) -> np.ndarray:
    """Elastic and damping forces (n_t, 8, 3) of an element, as `index3.bodies.ancf_beam3d_kernels` has them."""
    force = np.zeros_like(c)
    for a, b, stiffness, rest in rule.points[0]:
        (x, y), (x_rate, y_rate) = ([np.einsum("i,tik->tk", row, z) for row in (a, b)] for z in (c, rates))
        strain = (x * y).sum(-1) - rest + lag * ((x_rate * y).sum(-1) + (x * y_rate).sum(-1))
        stress = (stiffness * strain)[:, None]
        force += np.asarray(a)[:, None] * (stress * y)[:, None] + np.asarray(b)[:, None] * (stress * x)[:, None]
    for point in rule.points[1]:
        strain, slope = bend(point, c)
        strain = strain + lag * (slope * rates).sum((1, 2))
        force += point[6] * strain[:, None, None] * slope
    return force


def bend(point: tuple, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The strain (n_t,) of a point that bends or twists, and its derivative (n_t, 8, 3) by the vectors."""
    a, b, d, divided, partner, shear, _, rest = point
    x, y, u = (np.einsum("i,tik->tk", row, c) for row in (a, b, d))
    size = np.linalg.norm(y, axis=-1, keepdims=True)
    stretch = np.linalg.norm(u, axis=-1, keepdims=True) if divided else np.ones_like(size)
    n = y / size
    along = (x * n).sum(-1, keepdims=True)
    slopes = (n / stretch, (x - along * n) / (size * stretch), -along / stretch**3 * u)
    slope = sum(np.asarray(row)[:, None] * by[:, None] for row, by in zip((a, b, d), slopes, strict=True))
    strain = (along / stretch)[:, 0] - rest
    for one, factor in ((1, shear), (5, -shear)):
        two = one - 1 + partner
        strain = strain + factor * (c[:, one] * c[:, two]).sum(-1)
        slope[:, one] += factor * c[:, two]
        slope[:, two] += factor * c[:, one]
    return strain, slope


def material(constants: Constants, n: int, rule: Rule, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n, 4, 8) of four points across sections, with their second moments, and masses per length."""
    length, ends = float(constants["lengths"][n]), np.asarray(constants["nodes"][n : n + 2], float).reshape(8, 3)
    r, points = rows(x, length, R), []
    for vector, second in zip((R_Y, R_Z), constants["second_moments"], strict=True):
        away = np.sqrt(2.0 * second / constants["area"]) * rows(x, length, vector)
        points += [r + away, r - away]
    size = np.linalg.norm(rows(x, length, R_X) @ ends, axis=1)
    return np.stack(points, 1), 0.25 * constants["density"] * constants["area"] * size[:, None] * np.ones(4)


def marker_coefficients(constants: Constants, position: Any, part: str | None) -> MarkerCoefficients:
    """How a marker takes hold of its element."""
    element, _, (point, along, across), _ = marker_rows(constants, position, part)
    return MarkerCoefficients(element, point, along, across)


SPATIAL = Interior(rule_of, elastic, material, lambda length, x: rows(np.array([x]), length, R)[0], marker_coefficients)


def axial_force(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Force across the sections at s (n_t, n_s) [N], tension positive."""
    return section_loads(constants, q, v, a, s)[..., 0]


def shear_force(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Forces along y and z of the sections at s (n_t, n_s, 2) [N]."""
    return section_loads(constants, q, v, a, s)[..., 1:3]


def moment(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Torsion and the moments about y and z of the sections at s (n_t, n_s, 3) [N m]."""
    return section_loads(constants, q, v, a, s)[..., 3:]


def curvature(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """How fast the tangent of the axis turns along it (n_t, n_s) [1/m], never negative."""
    return gauss_history(constants, q, s, curvature_of)


def stress(
    constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any, y: Any = 0.0, z: Any = 0.0
) -> np.ndarray:
    """Stress of beam theory along the axis (n_t, n_s) [N/m^2] at material points: of axial force and moments."""
    for value, half, word in zip((y, z), constants["half"], ("y", "z"), strict=True):
        check_across(np.asarray(value, float), half, word)
    places = np.stack(np.broadcast_arrays(as_places(s), y, z), -1).astype(float)
    return stresses(constants, q, v, a, places)[0]


def von_mises(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, places: Any) -> np.ndarray:
    """Equivalent stress (n_t, n) [N/m^2] of axial force, moments and torsion at material points `places`: s, y, z,
    or s alone on the axis."""
    along, torsion = stresses(constants, q, v, a, np.asarray(places, float))
    return np.sqrt(along**2 + 3.0 * torsion**2)


def stresses(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, places: np.ndarray) -> Any:
    """Stress along the axis and stress of torsion, as of a round section, (n_t, n) each."""
    if places.ndim == 1:  # on the axis
        places = np.stack([places, 0.0 * places, 0.0 * places], axis=1)
    s, back = np.unique(places[:, 0], return_inverse=True)
    normal, _, _, twist, by_y, by_z = np.moveaxis(section_loads(constants, q, v, a, s)[:, back], -1, 0)
    (about_z, about_y), (y, z) = constants["second_moments"], places[:, 1:].T
    along = normal / constants["area"] + by_y * z / about_y - by_z * y / about_z
    return along, twist * np.hypot(y, z) / (about_y + about_z)
