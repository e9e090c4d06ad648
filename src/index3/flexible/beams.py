"""Beams of Euler and Bernoulli in space with round sections: twelve coordinates each, consistent masses.

An element has linear shapes along and about its axis and cubic ones across, the mass of its cross-section in
translation and, about its axis, its polar moment; no rotary inertia in bending, no shear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from index3.bodies.marker import frame as axes_along
from index3.bodies.modal_stress import Recovery

ALONG, ABOUT = (0, 6), (3, 9)
ACROSS_Y, ACROSS_Z = (1, 5, 7, 11), (2, 4, 8, 10)
"""Coordinates of bending along y, with rotations about z, and along z, with rotations about y."""
LOADS = np.array((0, 4, 5, 3))
"""Normal force, two bending moments and torque among the six forces at the end of an element."""


class Section(NamedTuple):
    """A round section: area, moment of inertia about a diameter, outer radius [m^2, m^4, m]."""

    area: float
    inertia: float
    radius: float


class Material(NamedTuple):
    """Young's modulus, shear modulus, density [Pa, Pa, kg/m^3]."""

    young: float
    shear: float
    density: float


def beam_matrices(length: float, section: Section, material: Material) -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness matrix (12, 12) of an element along x."""
    L, A, inertia, polar = length, section.area, section.inertia, 2.0 * section.inertia
    M, K = np.zeros((12, 12)), np.zeros((12, 12))
    for places, heavy, stiff in (
        (ALONG, material.density * A, material.young * A),
        (ABOUT, material.density * polar, material.shear * polar),
    ):
        M[np.ix_(places, places)] = heavy * L / 6.0 * np.array(((2.0, 1.0), (1.0, 2.0)))
        K[np.ix_(places, places)] = stiff / L * np.array(((1.0, -1.0), (-1.0, 1.0)))
    m = np.array(((156, 22, 54, -13), (22, 4, 13, -3), (54, 13, 156, -22), (-13, -3, -22, 4)), float)
    k = np.array(((12, 6, -12, 6), (6, 4, -6, 2), (-12, -6, 12, -6), (6, 2, -6, 4)), float)
    for four, sign in ((ACROSS_Y, 1.0), (ACROSS_Z, -1.0)):  # dv/dx is the rotation about z, dw/dx minus that about y
        scale = np.array((1.0, sign * L, 1.0, sign * L))
        both = np.outer(scale, scale)
        M[np.ix_(four, four)] = material.density * A * L / 420.0 * both * m
        K[np.ix_(four, four)] = material.young * inertia / L**3 * both * k
    return M, K


def assembled(
    nodes: np.ndarray, lines: np.ndarray, sections: Sequence[Section], material: Material
) -> tuple[sp.csc_matrix, sp.csc_matrix, Recovery]:
    """Mass and stiffness matrix of beams between nodes, and how their ends are stressed."""
    size = 6 * len(nodes)
    places, masses, stiffnesses, loads = [], [], [], []
    for (first, second), section in zip(lines, sections, strict=True):
        d = nodes[second] - nodes[first]
        M, K = beam_matrices(float(np.linalg.norm(d)), section, material)
        turn = np.kron(np.eye(4), axes_along(None, d, "The frame").T)
        places.append(np.concatenate([6 * first + np.arange(6), 6 * second + np.arange(6)]))
        masses.append(turn.T @ M @ turn)
        stiffnesses.append(turn.T @ K @ turn)
        loads.append((K @ turn)[np.concatenate([LOADS, 6 + LOADS])])
    at = np.array(places)
    rows, columns = np.repeat(at, 12, axis=1).ravel(), np.tile(at, (1, 12)).ravel()
    M, K = (sp.csc_matrix((np.ravel(x), (rows, columns)), shape=(size, size)) for x in (masses, stiffnesses))
    load_rows = np.repeat(np.arange(8 * len(lines)), 12)
    recovery = sp.csr_matrix((np.ravel(loads), (load_rows, np.repeat(at, 8, axis=0).ravel())),
                             shape=(8 * len(lines), size))  # fmt: skip
    per = np.array([(1.0 / s.area, s.radius / s.inertia, 0.5 * s.radius / s.inertia) for s in sections])
    return M, K, Recovery("tube", lines.ravel(), recovery, np.repeat(per, 2, axis=0))
