"""Kernels of flexible bodies with modes, by stage."""

from __future__ import annotations

from index3.bodies import modal_inertia, modal_markers, modal_matrix
from index3.bodies.modal_tables import BODIES, ROOM, table

__all__ = ["BODIES", "MEMORY", "STAGES", "table"]

MEMORY = (ROOM,)
STAGES = {
    "poses": modal_markers.poses, "gather": modal_inertia.gather, "mass": modal_inertia.mass,
    "jacobians": modal_markers.jacobians, "own_rows": modal_inertia.own_rows, "body_matrix": modal_matrix.body_matrix,
    "bias": modal_markers.bias, "second_derivatives": modal_markers.second_derivatives,
    "energies": modal_inertia.energies,
}  # fmt: skip
