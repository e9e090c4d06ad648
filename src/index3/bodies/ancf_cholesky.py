"""Cholesky coordinates of planar beams: the mass matrix is the identity [HusseinHHT, section 4].

With M = L L^T and p = L^T e, e the nodal coordinates, the kinetic energy is p'.p'/2. L has the bandwidth of an element,
but e = L^-T p is full, so elements, markers and joints depend on all coordinates: for small beams.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies import ancf_elements as e
from index3.bodies.ancf_cholesky_kernels import (
    CHOLESKY,
    DENSE,
    MEMORY,
    OWN,
    PLACES,
    PRODUCT,
    STAGES,
    TRANSFORM,
    TURNED,
)
from index3.bodies.ancf_tables import filled
from index3.compiled.interface import Table
from index3.errors import ModelError

__all__ = ["MEMORY", "STAGES", "table"]
KIND = "ancf beam in cholesky coordinates"
MOST = 50
"""Elements: beyond them the full matrices cost more than anything else."""


def check_elements(owner: str, count: int) -> None:
    """Raise if a beam is too long for full matrices."""
    if count > MOST:
        raise ModelError(
            f"{owner} has {count} elements and coordinates 'cholesky', which make full matrices. "
            f"Give at most {MOST} elements, or leave coordinates out."
        )


def factor(masses: list[np.ndarray]) -> np.ndarray:
    """L (n, n) of the mass matrix between the plane vectors of all nodes; `masses` (6, 6) are those of the elements."""
    M = np.zeros((3 * len(masses) + 3,) * 2)
    for n, mass in enumerate(masses):
        M[3 * n : 3 * n + 6, 3 * n : 3 * n + 6] += mass
    return np.linalg.cholesky(M)


def from_nodal(L: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """p = L^T e, flat, from plane vectors (n, 2)."""
    return (L.T @ vectors).ravel()


def bands(L: np.ndarray) -> list[list[float]]:
    """The diagonals of L^T that are not zero, from the main one on, padded with zeros: what results keep."""
    n = len(L)
    return [np.pad(np.diag(L, -k), (0, k)).tolist() for k in range(min(6, n))]


def table(bodies: list[Any], sites: list[Any], places: np.ndarray) -> Table:
    """As of other planar beams, with element coordinates of their own, and the way from and to those of the system."""
    made, records, maps = Table(8 + 7), [], []
    transforms: list[np.ndarray] = []
    own = matrix = turned = 0
    for body, site in zip(bodies, sites, strict=True):
        n = len(body.factor)
        inverse = np.linalg.inv(body.factor.T)
        records.append((site.first, own, n, sum(part.size for part in transforms), matrix, turned))
        transforms.append(inverse.ravel())
        inside, first = np.arange(12), 6 * np.arange(len(body.lengths))[:, None]
        rows, columns = first + np.repeat(inside, 12), first + np.tile(inside, 12)
        maps.append((matrix + 2 * n * rows + columns).ravel())
        own, matrix, turned = own + 2 * n, matrix + 4 * n * n, turned + len(site.markers)
    filled(made, bodies, sites, [record[1] for record in records])
    made[e.MAP] = np.concatenate(maps)
    made[CHOLESKY] = np.array(records, CHOLESKY.dtype)
    made[TRANSFORM], made[PLACES] = np.concatenate(transforms), np.ascontiguousarray(places)
    made[OWN], made[DENSE] = np.zeros((4, own)), np.zeros(matrix)
    made[PRODUCT], made[TURNED] = np.zeros(matrix), np.zeros(4 * 72)
    return made
