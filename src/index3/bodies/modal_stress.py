"""Stresses of flexible bodies with modes: von Mises' at the nodes, from modal coordinates.

A `Recovery` gives linear quantities at places of the structure from its displacements, some for each place, and every
place belongs to a node. Of a solid these are the six stresses xx, yy, zz, xy, yz, zx; of a round tube the normal force
N, the bending moments M_y, M_z and the torque T at the end of an element, whose largest equivalent stress is

    sqrt((|N|/A + |M| r/I)^2 + 3 (T r/J)^2)    on the outer surface, at radius r.

The stress of a node is the largest of its places.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short
from typing import Any

import numpy as np
import scipy.sparse as sp

from index3.bodies.modal_matrices import read_matrix
from index3.errors import ModelError

COMPONENTS = {"solid": 6, "tube": 4}


@dataclass
class Recovery:
    """How places of a structure are stressed.

    kind : "solid" or "tube"
    nodes : (S,) the node of every place
    matrix : (components S, coordinates of the structure or modes), the components of a place one after the other
    sections : (S, 3) of tubes 1/A, r/I and r/J; of solids (S, 0)
    """

    kind: str
    nodes: np.ndarray
    matrix: Any
    sections: np.ndarray

    def of_modes(self, modes: np.ndarray) -> Recovery:
        """The same from modal coordinates, for shapes (coordinates, n)."""
        return Recovery(self.kind, self.nodes, np.asarray(self.matrix @ modes), self.sections)

    def equivalent(self, x: np.ndarray) -> np.ndarray:
        """Von Mises' stress of every place (n_t, S), from histories (n_t, coordinates or modes) [Pa]."""
        y = np.asarray(self.matrix @ x.T).T.reshape(len(x), len(self.nodes), COMPONENTS[self.kind])
        if self.kind == "tube":
            per_area, per_bend, per_twist = self.sections.T
            normal = np.abs(y[:, :, 0]) * per_area + np.hypot(y[:, :, 1], y[:, :, 2]) * per_bend
            return np.hypot(normal, np.sqrt(3.0) * y[:, :, 3] * per_twist)
        xx, yy, zz, xy, yz, zx = np.moveaxis(y, 2, 0)
        square = 0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3.0 * (xy**2 + yz**2 + zx**2)
        return np.sqrt(square)

    def at_nodes(self, x: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The largest stress of the places of each node (n_t, k)."""
        chosen = np.isin(self.nodes, nodes)
        rows = np.repeat(chosen, COMPONENTS[self.kind])
        few = Recovery(self.kind, self.nodes[chosen], self.matrix[rows], self.sections[chosen])
        places = few.equivalent(x)
        stress = np.zeros((len(x), len(nodes)))
        for k, node in enumerate(nodes):
            stress[:, k] = places[:, few.nodes == node].max(axis=1)
        return stress


def as_recovery(value: Any, count: int, coordinates: int, owner: str) -> Recovery | None:
    """What `index3.flexible` made, or a matrix of six rows for every node of a solid, of which there are `count`."""
    if value is None:
        return None
    if isinstance(value, str | Path):
        value = read_matrix(Path(value), owner, "stress")
    if not isinstance(value, Recovery):
        try:
            matrix = sp.csr_matrix(value, dtype=float) if sp.issparse(value) else np.array(value, float)
        except (TypeError, ValueError, OverflowError):
            matrix = np.empty(0)
        if matrix.ndim == 2 and matrix.shape[0] == 6 * count:
            value = Recovery("solid", np.arange(count), matrix, np.zeros((count, 0)))
    if not isinstance(value, Recovery) or value.matrix.shape[1] != coordinates:
        raise ModelError(
            f"{owner} has stress {short(value)}. Give a matrix that maps {coordinates} displacements six stresses "
            "for each node (xx, yy, zz, xy, yz, zx), or what index3.flexible made."
        )
    return value
