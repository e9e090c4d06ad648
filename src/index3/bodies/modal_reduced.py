"""A structure and its modes put together: all that a flexible body with modes is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.modal_data import ModalData, invariants, rigid_motions
from index3.bodies.modal_matrices import mass_and_centre
from index3.bodies.modal_reduction import Interface, Structure
from index3.bodies.modal_stress import as_recovery


def reduced(
    structure: Structure, names: dict[str, int], modes: np.ndarray, squares: np.ndarray, stress: Any
) -> ModalData:
    """A structure with its modes (coordinates, n) of unit modal mass."""
    mass, centre = mass_and_centre(structure)
    count, per = len(structure.nodes), structure.per_node
    shapes = np.zeros((count, 6, modes.shape[1]))
    shapes[:, :per] = modes.reshape(count, per, -1)
    inertia = invariants(structure.M, modes, rigid_motions(structure.nodes, centre, per))
    recovery = as_recovery(stress, count, per * count, structure.owner)
    return ModalData(
        structure.nodes, names, shapes, np.full(count, per == 6), squares, mass, centre, inertia,
        stress=None if recovery is None else recovery.of_modes(modes),
    )  # fmt: skip


def add_spiders(data: ModalData, interfaces: list[Interface], ends: np.ndarray) -> None:
    """Append the centres of spiders as nodes, and note the names of interfaces; `ends` are their shapes (k, 6, n)."""
    for interface, shapes in zip(interfaces, ends, strict=True):
        number = interface.nodes[0]
        if len(interface.nodes) > 1:
            number = len(data.nodes)
            data.nodes = np.vstack([data.nodes, interface.centre])
            data.shapes = np.concatenate([data.shapes, shapes[None]])
            data.turning = np.append(data.turning, True)
        if interface.name:
            data.names[interface.name] = number
