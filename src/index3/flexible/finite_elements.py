"""A structure of finite elements: its matrices, its nodes, what is drawn of it and how it is stressed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.modal_body import ModalBody
from index3.bodies.modal_matrices import node_number
from index3.bodies.modal_stress import Recovery
from index3.errors import ModelError


@dataclass
class FiniteElements:
    """Matrices of a free structure and all that a `ModalBody` wants to know.

    Attributes
    ----------
    mass_matrix, stiffness_matrix : sparse, six rows for each node (ux, uy, uz, rx, ry, rz) or three
    nodes : (N, 3) places [m]
    names : of nodes, to their numbers
    members, faces : nodes joined by lines (pairs) and by faces (triples)
    stress : what gives stresses from displacements
    radius : of what is drawn along members [m]
    """

    mass_matrix: Any
    stiffness_matrix: Any
    nodes: np.ndarray
    names: dict[str, int] = field(default_factory=dict)
    members: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), int))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))
    stress: Recovery | None = None
    radius: float = 0.0

    def node(self, name: Any) -> int:
        """The number of a node, given by its number or name."""
        return node_number(name, self.nodes, self.names, "The structure")

    def where(self, condition: Callable[[np.ndarray], np.ndarray]) -> list[int]:
        """Numbers of the nodes that a condition on places (N, 3) picks out, such as `lambda x: x[:, 0] < 1e-6`."""
        found = np.asarray(condition(self.nodes))
        if found.shape != (len(self.nodes),) or found.dtype != bool:
            raise ModelError(
                f"where: the condition gives {short(found.tolist())}. Give True or False for each of the "
                f"{len(self.nodes)} nodes, whose places are rows: where(lambda x: x[:, 0] < 1e-6)."
            )
        return np.flatnonzero(found).tolist()

    def body(self, name: str, *, interface: Any, **settings: Any) -> ModalBody:
        """A `ModalBody` of the structure; its settings are those of `ModalBody`."""
        return ModalBody(
            name, self.mass_matrix, self.stiffness_matrix, self.nodes, interface=interface, **self._own(), **settings
        )

    def body_of_modes(self, name: str, modes: Any, **settings: Any) -> ModalBody:
        """A `ModalBody` that deforms in given shapes alone; settings are those of `ModalBody.from_modes`."""
        return ModalBody.from_modes(
            name, modes, self.mass_matrix, self.stiffness_matrix, self.nodes, **self._own(), **settings
        )

    def _own(self) -> dict[str, Any]:
        """What a body takes over besides matrices and nodes."""
        return {key: getattr(self, key) for key in ("names", "members", "faces", "radius", "stress")}
