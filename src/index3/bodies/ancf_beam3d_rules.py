"""Elements of spatial beams: mass, and where which strain is measured with which stiffness (docs/theory/ancf3d.md).

`solid` is a beam's section and material in plain numbers, as `AncfBeam3D.solid` gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from index3.bodies.ancf_beam3d_shapes import R_X, R_Y, R_Z, XX, YX, R, products, rows
from index3.bodies.ancf_shapes import gauss
from index3.bodies.ancf_space import Rule

Solid = Mapping[str, Any]
BEND_POINTS = 3


def make_rule(solid: Solid, vectors: np.ndarray, length: float) -> Rule:
    """Mass and points of an element with the undeformed `vectors` (8, 3)."""
    x, weight = gauss(6, length)
    weight = solid["density"] * weight * np.linalg.norm(rows(x, length, R_X) @ vectors, axis=1)
    mass = solid["area"] * products(weight, rows(x, length, R))
    for vector, second in zip((R_Y, R_Z), solid["second_moments"], strict=True):
        mass += second * products(weight, rows(x, length, vector))
    moment = solid["area"] * weight @ rows(x, length, R)
    return Rule(mass, moment, (strains(solid, vectors, length), bends(solid, vectors, length)))


def strains(solid: Solid, vectors: np.ndarray, length: float) -> list[tuple]:
    """The products of gradients that have stiffness: where, of which, how stiff, times which power of |r_x|."""
    k, simpson, ends = solid["stiffness"], ((0.0, 0.5, 1.0), (1 / 6, 4 / 6, 1 / 6)), ((0.0, 1.0), (0.5, 0.5))
    terms = [
        (simpson, R_X, R_X, 0.25 * k["axial"], 4),
        (ends, R_Y, R_Y, 0.25 * k["axial"], 0),
        (ends, R_Z, R_Z, 0.25 * k["axial"], 0),
        (ends, R_Y, R_Z, k["distortion"], 0),
        (ends, R_X, R_Y, k["shear"], 2),
        (ends, R_X, R_Z, k["shear"], 2),
    ]
    found = []
    for (at, share), first, second, stiffness, power in terms:
        x = length * np.asarray(at)
        a, b = rows(x, length, first), rows(x, length, second)
        rest = np.full(len(x), float(first == second))
        if not solid["straight"]:
            rest = ((a @ vectors) * (b @ vectors)).sum(1)
        weight = length * stiffness * np.asarray(share) * stretch(solid, vectors, x, length) ** (1 - power)
        found += [(tuple(a[n]), tuple(b[n]), weight[n], rest[n]) for n in range(len(x))]
    return found


def bends(solid: Solid, vectors: np.ndarray, length: float) -> list[tuple]:
    """Bending to y and z, r_xx . r_y / (|r_y| |r_x|) less the rate of the shear; torsion r_yx . r_z / |r_z|."""
    k, middle = solid["stiffness"], (np.array([0.5]), np.array([1.0]))
    terms = [
        (gauss(BEND_POINTS), XX, R_Y, 1.0 / length, k["bending"][0]),
        (gauss(BEND_POINTS), XX, R_Z, 1.0 / length, k["bending"][1]),
        (middle, YX, R_Z, 0.0, k["torsion"]),
    ]
    found = []
    for (at, share), first, second, shear, stiffness in terms:
        x = length * at
        a, b = rows(x, length, first), rows(x, length, second)
        bends_axis, partner = first == XX, 2 if second == R_Y else 3
        c = rows(x, length, R_X) if bends_axis else np.zeros((len(x), 8))
        rest, size = np.zeros(len(x)), stretch(solid, vectors, x, length)
        if not solid["straight"]:
            u, w = a @ vectors, b @ vectors
            rest = (u * w).sum(1) / np.linalg.norm(w, axis=1) / (size if bends_axis else 1.0)
            rest += shear * (vectors[1] @ vectors[partner] - vectors[5] @ vectors[4 + partner])
        weight = length * stiffness * share / size  # strains are per length of the undeformed axis
        for n in range(len(x)):
            coefficients = (tuple(a[n]), tuple(b[n]), tuple(c[n]), int(bends_axis), partner, shear)
            found.append((*coefficients, weight[n], rest[n]))
    return found


def stretch(solid: Solid, vectors: np.ndarray, x: np.ndarray, length: float) -> np.ndarray:
    """|r_x| of the undeformed axis: 1 but for the error of the cubic of a curved one."""
    if solid["straight"]:
        return np.ones(len(x))
    return np.linalg.norm(rows(x, length, R_X) @ vectors, axis=1)
