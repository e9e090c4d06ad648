"""What acts inside planar beams in absolute nodal coordinates: section forces and stress, from whole histories.

All functions take (constants, q, v, a, s, ...) as results have them and return arrays with time first. Forces and
moments act on the face of a section towards the end of the beam; damping is not part of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from index3.bodies.ancf_histories import rows, spread, vectors
from index3.bodies.ancf_reference import ACROSS, SHEAR_FACTOR, Section, curvature, in_section_axes
from index3.bodies.ancf_shapes import gauss

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


def section_loads(constants: Constants, q: np.ndarray, s: Any) -> np.ndarray:
    """Force along the normal of the section, force along r_y, and moment about z: (n_t, n_s, 3)."""
    section, s = Section(**constants["section"]), np.atleast_1d(np.asarray(s, float))
    force, moment = (section_traction if section.law == "continuum" else line_force)(constants, section, q, s)
    across = at(constants, vectors(constants, q), s, np.zeros_like(s), 0, 1)
    across = across / np.linalg.norm(across, axis=-1)[..., None]
    normal = force[..., 0] * across[..., 1] - force[..., 1] * across[..., 0]
    return np.stack([normal, (force * across).sum(-1), moment], -1)


def section_traction(constants: Constants, section: Section, q: np.ndarray, s: np.ndarray) -> tuple[Any, Any]:
    """Force and moment of the stress of the continuum law on a section, by Gauss points across it."""
    y, weight = gauss(ACROSS, section.height)
    along, across = np.meshgrid(s, y - 0.5 * section.height, indexing="ij")
    F = deformation(constants, q, along, across)
    S = plane_stress(section, strain(F))
    traction = section.width * weight[:, None] * (F[..., 0] * S[..., :1] + F[..., 1] * S[..., 2:])
    x = vectors(constants, q)
    arm = at(constants, x, along, across) - at(constants, x, along, 0.0 * across)
    moment = (arm[..., 0] * traction[..., 1] - arm[..., 1] * traction[..., 0]).sum(-1)
    return traction.sum(-2), moment


def line_force(constants: Constants, section: Section, q: np.ndarray, s: np.ndarray) -> tuple[Any, Any]:
    """Force and moment of the law "elastic-line": what does work on r_x, less the rate of the moment across it."""
    y = np.zeros_like(s)
    F = deformation(constants, q, s, y)
    e, u, w = strain(F), F[..., 0], F[..., 1]
    stiffness, bending = section.beam * section.area, section.beam * section.second_moment
    bend, rate = bends(constants, q, s)
    normal = np.stack([-u[..., 1], u[..., 0]], -1) / (u * u).sum(-1)[..., None]
    shear = SHEAR_FACTOR * section.shear * section.area * e[..., 2:]
    return stiffness * e[..., :1] * u + shear * w - bending * rate[..., None] * normal, bending * bend


def bends(constants: Constants, q: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Change of the curvature, and its rate along the axis."""
    values = []
    for x in (vectors(constants, q), rest_of(constants)):
        first, second, third = (at(constants, x, s, np.zeros_like(s), by) for by in (1, 2, 3))
        u, w, w_x = (z[..., 0] + 1j * z[..., 1] for z in (first, second, third))
        values.append((curvature(first, second), (w_x / u - (w / u) ** 2).imag))
    (now, rate), (rest, rest_rate) = values
    return now - rest, rate - rest_rate


def axial_force(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Force along the normal of the sections at s (n_t, n_s) [N], tension positive."""
    return section_loads(constants, q, s)[..., 0]


def shear_force(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Force along r_y on the sections at s (n_t, n_s) [N]."""
    return section_loads(constants, q, s)[..., 1]


def moment(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Moment about +z, about the axis, on the sections at s (n_t, n_s) [N m]."""
    return section_loads(constants, q, s)[..., 2]


def axis_curvature(constants: Constants, q: Any, v: Any, a: Any, s: Any) -> np.ndarray:
    """Rate at which the tangent of the axis turns along the undeformed axis, at s (n_t, n_s) [1/m]."""
    s, x = np.atleast_1d(np.asarray(s, float)), vectors(constants, q)
    return curvature(*(at(constants, x, s, np.zeros_like(s), by) for by in (1, 2)))


def stress(constants: Constants, q: Any, v: Any, a: Any, s: Any, y: Any = 0.0) -> np.ndarray:
    """Stress xx, yy, xy (n_t, n_s, 3) [N/m^2] at material points, in the axes of the undeformed section.

    Second Piola-Kirchhoff stress of the continuum law; for "elastic-line" that of beam theory: xx from stretch and
    change of curvature, xy the parabola of the shear force.
    """
    section = Section(**constants["section"])
    s, y = np.broadcast_arrays(np.atleast_1d(np.asarray(s, float)), np.asarray(y, float))
    if section.law == "continuum":
        return plane_stress(section, strain(deformation(constants, q, s, y)))
    e, (bend, _) = strain(deformation(constants, q, s, 0.0 * y)), bends(constants, q, s)
    parabola = 1.5 / section.area * (1.0 - (2.0 * y / section.height) ** 2)
    shear = parabola * shear_force(constants, q, v, a, s)
    return np.stack([section.beam * (e[..., 0] - y * bend), section.beam * e[..., 1], shear], -1)
