"""What acts inside planar beams in absolute nodal coordinates: section forces and stress, from whole histories.

All functions take (constants, q, v, a, s, ...) as results have them and return arrays with time first. Forces and
moments act on the face of a section towards the end of the beam, follow from the equilibrium of the elements
(`index3.bodies.ancf_equilibrium`) and hold the part of damping.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from index3.bodies.ancf_equilibrium import Histories, Interior, MarkerCoefficients, section_wrench
from index3.bodies.ancf_histories import as_places, check_across, marker_rows, place, rows, spread, vectors, with_zero
from index3.bodies.ancf_reference import ACROSS, Rule, Section, curvature, in_section_axes, make_rule, stretch_rows
from index3.bodies.ancf_shapes import gauss, planar

Constants = Mapping[str, Any]


def at(constants: Constants, x: np.ndarray, s: np.ndarray, y: np.ndarray, by_x: int = 0, by_y: int = 0) -> np.ndarray:
    """Histories (n_t, ..., 2) of r or of its derivatives at material points."""
    return spread(rows(constants, s, y, by_x, by_y), x)


def rest_of(constants: Constants) -> np.ndarray:
    """The plane vectors of the undeformed beam, as a history of one instant."""
    return np.asarray(constants["nodes"], float).reshape(1, -1, 2)


def deformation(constants: Constants, q: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The deformation gradient (n_t, ..., 2, 2): columns along and across the undeformed section."""
    x, rest = vectors(constants, q), rest_of(constants)
    columns = np.stack([at(constants, x, s, y, 1), at(constants, x, s, y, 0, 1)], -1)
    return columns @ np.linalg.inv(in_section_axes(at(constants, rest, s, y, 1), at(constants, rest, s, y, 0, 1)))


def strain(F: np.ndarray) -> np.ndarray:
    """Green strain (..., 3): xx, yy and twice xy."""
    u, w = F[..., 0], F[..., 1]
    return 0.5 * np.stack([(u * u).sum(-1) - 1.0, (w * w).sum(-1) - 1.0, 2.0 * (u * w).sum(-1)], -1)


def plane_stress(section: Section, e: np.ndarray) -> np.ndarray:
    """Second Piola-Kirchhoff stress (..., 3) of the continuum law: xx, yy, xy."""
    pressure, double = section.both * (e[..., 0] + e[..., 1]), 2.0 * section.shear
    return np.stack([pressure + double * e[..., 0], pressure + double * e[..., 1], section.shear * e[..., 2]], -1)


def section_loads(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Force along the normal of the section, force across it, and moment about z: (n_t, n_s, 3)."""
    s = as_places(s)
    x = Histories(*(with_zero(vectors(constants, y)) for y in (q, v, a)))
    plane = {"gravity": np.asarray(constants.get("gravity", (0.0, 0.0, 0.0)), float) * (1.0, 1.0, 0.0)}
    force, moment = section_wrench(PLANAR, {**constants, **plane}, x, s)
    across = across_of(constants, q, s)
    normal = force[..., 0] * across[..., 1] - force[..., 1] * across[..., 0]
    return np.stack([normal, (force[..., :2] * across).sum(-1), moment[..., 2]], -1)


def across_of(constants: Constants, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The direction of shear forces (n_t, n_s, 2): along r_y, for the law "elastic-line" across r_x."""
    x, y = vectors(constants, q), np.zeros_like(s)
    if constants["section"]["law"] == "continuum":
        d = at(constants, x, s, y, 0, 1)
    else:
        d = at(constants, x, s, y, 1) @ np.array(((0.0, 1.0), (-1.0, 0.0)))
    return d / np.linalg.norm(d, axis=-1)[..., None]


def rule_of(constants: Constants, n: int) -> Rule:
    """Mass and points of an element."""
    ends = np.asarray(constants["nodes"][n : n + 2], float).reshape(6, 2)
    return make_rule(Section(**constants["section"]), ends, float(constants["lengths"][n]), constants["straight"])


def elastic(rule: Rule, c: np.ndarray, rates: np.ndarray, lag: float) -> np.ndarray:
    """Elastic and damping forces (n_t, 6, 3) of an element, as `index3.bodies.ancf_elements` has them."""
    a, b = (np.array([point[k] for point in rule.stretches]) for k in (0, 1))
    moduli = np.array([point[2:] for point in rule.stretches])
    (u, w), (u_rate, w_rate) = ([np.einsum("pi,tik->tpk", x, y) for x in (a, b)] for y in (c, rates))
    e = [0.5 * ((u * u).sum(-1) - 1.0), 0.5 * ((w * w).sum(-1) - 1.0), (u * w).sum(-1)]
    if lag:
        e[0] += lag * (u * u_rate).sum(-1)
        e[1] += lag * (w * w_rate).sum(-1)
        e[2] += lag * ((u_rate * w).sum(-1) + (u * w_rate).sum(-1))
    along, both, across, shear = moduli.T
    t = [(along * e[0] + both * e[1])[..., None], (both * e[0] + across * e[1])[..., None], (shear * e[2])[..., None]]
    force = np.einsum("pi,tpk->tik", a, t[0] * u + t[2] * w) + np.einsum("pi,tpk->tik", b, t[2] * u + t[1] * w)
    z, z_rate = (x[..., 0] + 1j * x[..., 1] for x in (c, rates))
    for a_row, b_row, stiffness, rest in rule.bends:
        (u, w), (u_rate, w_rate) = ([x @ np.asarray(row) for row in (a_row, b_row)] for x in (z, z_rate))
        by_u, by_w = -w / u**2, 1.0 / u
        bend = (w / u).imag - rest + lag * (by_u * u_rate + by_w * w_rate).imag
        for row, slope in ((a_row, by_u), (b_row, by_w)):
            by = stiffness * bend[:, None] * np.stack([slope.imag, slope.real, 0.0 * slope.real], -1)
            force += np.asarray(row)[:, None] * by[:, None]
    return force


def material(constants: Constants, n: int, rule: Rule, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n, 3, 6) of material points across sections of an element, and their masses per length."""
    section, length = Section(**constants["section"]), float(constants["lengths"][n])
    y, weight = gauss(ACROSS, section.height)
    along, across = np.meshgrid(x, y - 0.5 * section.height, indexing="ij")
    ends = np.asarray(constants["nodes"][n : n + 2], float).reshape(6, 2)
    _, _, volume = stretch_rows(ends, length, along, across, constants["straight"])
    return planar(along, across, length), rule.density * section.width * weight * volume


def marker_coefficients(constants: Constants, position: Any, part: str | None) -> MarkerCoefficients:
    """How a marker takes hold of its element."""
    point, direction, _ = marker_rows(constants, position, part)
    n = int(place(np.asarray(constants["lengths"], float), float(position[0]))[0])
    return MarkerCoefficients(n, point[3 * n : 3 * n + 6], direction[3 * n : 3 * n + 6], None)


PLANAR = Interior(rule_of, elastic, material, lambda length, x: planar(x, 0.0, length), marker_coefficients)


def axial_force(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Force along the normal of the sections, or along the axis, at s (n_t, n_s) [N], tension positive."""
    return section_loads(constants, q, v, a, s)[..., 0]


def shear_force(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Force along r_y, for the law "elastic-line" across the axis, on the sections at s (n_t, n_s) [N]."""
    return section_loads(constants, q, v, a, s)[..., 1]


def moment(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Moment about +z, about the axis, on the sections at s (n_t, n_s) [N m]."""
    return section_loads(constants, q, v, a, s)[..., 2]


def axis_curvature(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Rate at which the tangent of the axis turns along the undeformed axis, at s (n_t, n_s) [1/m]."""
    s, x = as_places(s), vectors(constants, q)
    return curvature(*(at(constants, x, s, np.zeros_like(s), by) for by in (1, 2)))


def stress(constants: Constants, q: Any, v: Any, a: Any, s: Any, y: Any = 0.0) -> np.ndarray:
    """Stress xx, yy, xy (n_t, n_s, 3) [N/m^2] at material points, in the axes of the undeformed section.

    Second Piola-Kirchhoff stress of the continuum law; for "elastic-line" that of beam theory: xx from axial force and
    moment, xy the parabola of the shear force, yy from the thickness of the nodes.
    """
    section = Section(**constants["section"])
    check_across(np.asarray(y, float), 0.5 * section.height, "y")
    s, y = np.broadcast_arrays(as_places(s), np.asarray(y, float))
    if section.law == "continuum":
        return plane_stress(section, strain(deformation(constants, q, s, y)))
    normal, shear, moment = np.moveaxis(section_loads(constants, q, v, a, s), -1, 0)
    parabola = 1.5 / section.area * (1.0 - (2.0 * y / section.height) ** 2)
    along = normal / section.area - moment * y / section.second_moment
    return np.stack([along, section.beam * thickness_strain(constants, q, s), parabola * shear], -1)


def thickness_strain(constants: Constants, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Green strain of the thickness (n_t, n_s), linear between the nodes, where it is measured."""
    lengths = np.asarray(constants["lengths"], float)
    r_y = vectors(constants, q)[:, 2::3]
    e, (n, x) = 0.5 * ((r_y * r_y).sum(-1) - 1.0), place(lengths, s)
    return e[:, n] + (e[:, n + 1] - e[:, n]) * x / lengths[n]


def von_mises(constants: Constants, q: Any, v: Any, a: Any, places: Any) -> np.ndarray:
    """Equivalent stress (n_t, n) [N/m^2] in the plane at material points `places`: s, y, or s alone on the axis."""
    places = np.asarray(places, float)
    if places.ndim == 1:
        places = np.stack([places, 0.0 * places], axis=1)
    own, back = np.unique(places[:, :2], axis=0, return_inverse=True)
    x, y, xy = np.moveaxis(stress(constants, q, v, a, own[:, 0], own[:, 1]), -1, 0)
    return np.sqrt(x * x + y * y - x * y + 3.0 * xy * xy)[:, back.ravel()]
