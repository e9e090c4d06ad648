"""What acts inside cables in absolute nodal coordinates, from whole histories.

All functions take (constants, q, v, a, s, ...) as results have them and return arrays with time first. Forces act on
the face of a section towards the end and follow from the equilibrium of the elements
(`index3.bodies.ancf_equilibrium`): the strain of a cubic is poor in most places, and a bent wire would show tensions
that nothing pulls with. The moment is that of the law, since a chain without bending stiffness has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.ancf_curve import line_rows
from index3.bodies.ancf_equilibrium import Histories, Interior, MarkerCoefficients, section_wrench
from index3.bodies.ancf_histories import as_places, check_across
from index3.bodies.ancf_shapes import cubic, gauss
from index3.bodies.ancf_space import Rule
from index3.bodies.ancf_space_histories import Constants, along_line, curvature_of, gauss_history, rest_of, vectors_of

STRETCH_POINTS = np.array((0.0, 0.5, 1.0)), np.array((1.0, 4.0, 1.0)) / 6.0
"""Where an element measures its stretch, and weights: a node has one unknown for each of these, so nothing locks."""
BEND_POINTS = 3


def make_rule(constants: Constants, vectors: np.ndarray, length: float) -> Rule:
    """Mass and points of an element with the undeformed `vectors` (4, 3)."""
    x, weight = gauss(6, length)
    shapes, straight = cubic(x, length), constants["straight"]
    weight = constants["line_density"] * weight * np.linalg.norm(cubic(x, length, 1) @ vectors, axis=1)
    mass, moment = np.einsum("p,pi,pj->ij", weight, shapes, shapes), weight @ shapes
    at, share = STRETCH_POINTS
    a, stiffness = cubic(at * length, length, 1), constants["axial_stiffness"]
    rest = np.ones(len(at)) if straight else np.linalg.norm(a @ vectors, axis=1)
    stretches = [(tuple(a[k]), stiffness * length * share[k] / rest[k], rest[k]) for k in range(len(at))]
    x, weight = gauss(BEND_POINTS, length)
    a, b = cubic(x, length, 1), cubic(x, length, 2)
    u, w = a @ vectors, b @ vectors
    kappa = np.linalg.norm(np.cross(u, w), axis=1) / (u * u).sum(1) * (0.0 if straight else 1.0)
    weight = constants["bending_stiffness"] * weight / np.linalg.norm(u, axis=1)  # per length of the undeformed line
    bends = [(tuple(a[k]), tuple(b[k]), weight[k], kappa[k]) for k in range(BEND_POINTS)]
    return Rule(mass, moment, (stretches, bends))


def rule_of(constants: Constants, n: int) -> Rule:
    """Mass and points of an element."""
    ends = np.asarray(constants["nodes"][n : n + 2], float).reshape(4, 3)
    return make_rule(constants, ends, float(constants["lengths"][n]))


def dots(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Products (n_t, 1) of histories of vectors."""
    return (x * y).sum(-1, keepdims=True)


def elastic(rule: Rule, c: np.ndarray, rates: np.ndarray, lag: float) -> np.ndarray:
    """Elastic and damping forces (n_t, 4, 3) of an element, as `index3.bodies.ancf_cable_kernels` has them."""
    force = np.zeros_like(c)
    for a, stiffness, rest in rule.points[0]:
        u, u_rate = (np.einsum("i,tik->tk", a, x) for x in (c, rates))
        size = np.linalg.norm(u, axis=-1, keepdims=True)
        tension = stiffness * (size - rest + lag * dots(u, u_rate) / size)
        force += np.asarray(a)[:, None] * (tension * u / size)[:, None]
    for a, b, stiffness, rest in rule.points[1]:
        (u, w), (u_rate, w_rate) = ([np.einsum("i,tik->tk", row, x) for row in (a, b)] for x in (c, rates))
        size = dots(u, u)
        beta = dots(u, w) / size
        p, z = w - beta * u, w_rate - beta * u_rate
        kappa = np.sqrt(dots(p, p) / size)
        m = stiffness * (1.0 - rest / np.where(kappa > 0.0, kappa, np.inf)) if rest else stiffness
        m = np.where((kappa > 0.0) | (rest == 0.0), m, 0.0)
        rate = z - dots(u, z) / size * u - dots(u, u_rate) / size * p
        y = m * p + lag * stiffness * rate  # along p, and along the rate of the curvature where there is damping
        by_u = -(beta * y + dots(p, y) / size * u) / size
        force += np.asarray(a)[:, None] * by_u[:, None] + np.asarray(b)[:, None] * (y / size)[:, None]
    return force


def material(constants: Constants, n: int, rule: Rule, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n, 1, 4) of the line, and its mass per length."""
    length, ends = float(constants["lengths"][n]), np.asarray(constants["nodes"][n : n + 2], float).reshape(4, 3)
    size = np.linalg.norm(cubic(x, length, 1) @ ends, axis=1)
    return cubic(x, length)[:, None], constants["line_density"] * size[:, None]


def marker_coefficients(constants: Constants, position: Any, part: str | None) -> MarkerCoefficients:
    """How a marker takes hold of its element."""
    (element, point), (_, along) = (
        line_rows(np.asarray(constants["lengths"], float), float(position[0]), by) for by in (0, 1)
    )
    if part is not None:  # "arm u": displaced by u r_x
        point = point + float(part.split()[1]) * along
    return MarkerCoefficients(int(element), point, along, None)


LINE = Interior(rule_of, elastic, material, lambda length, x: cubic(np.array([x]), length)[0], marker_coefficients)


def section_loads(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Force along the tangent at s, and size of the force across it: (n_t, n_s, 2)."""
    s = as_places(s)
    force, _ = section_wrench(LINE, constants, Histories(*(vectors_of(x) for x in (q, v, a))), s)
    tangent = along_line(constants, q, s, 1)
    tangent = tangent / np.linalg.norm(tangent, axis=-1, keepdims=True)
    along = (force * tangent).sum(-1)
    return np.stack([along, np.linalg.norm(force - along[..., None] * tangent, axis=-1)], -1)


def points(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Material points of the line in ground (n_t, n_s, 3) [m]."""
    return along_line(constants, q, s)


def axial_force(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Force along the tangent at s (n_t, n_s) [N], tension positive."""
    return section_loads(constants, q, v, a, s)[..., 0]


def shear_force(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Size of the force across the tangent at s (n_t, n_s) [N]."""
    return section_loads(constants, q, v, a, s)[..., 1]


def curvature(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """How fast the tangent turns along the undeformed line (n_t, n_s) [1/m], never negative."""
    return gauss_history(constants, q, s, curvature_of)


def moment(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Bending moment (n_t, n_s) [N m]: bending stiffness times the change of the curvature."""
    now, rest = (gauss_history(constants, x, s, curvature_of) for x in (q, rest_of(constants)))
    return float(constants["bending_stiffness"]) * (now - rest)


def stress(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any, y: Any = 0.0) -> np.ndarray:
    """Stress along the line (n_t, n_s) [N/m^2] at a distance y [m] from it, away from the centre of the bend."""
    check_across(np.asarray(y, float), constants["reach"], "y")
    bent = moment(constants, q, v, a, s) * np.asarray(y, float) / constants["second_moment"]
    return axial_force(constants, q, v, a, s) / constants["area"] + bent


def von_mises(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, places: Any) -> np.ndarray:
    """Largest stress (n_t, n) [N/m^2] at `places`: rows of s and a distance from the line, or s alone on it."""
    places = np.asarray(places, float)
    s, y = places[:, :2].T if places.ndim > 1 else (places, 0.0 * places)
    bent = np.abs(moment(constants, q, v, a, s) * y) / constants["second_moment"]
    return np.abs(axial_force(constants, q, v, a, s)) / constants["area"] + bent
