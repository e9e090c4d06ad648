"""The static-order solver of a compiled system."""

from __future__ import annotations

from index3.linear.static_solver import StaticLU
from index3.system.system import System


def solver_of(system: System) -> StaticLU:
    """Analyse the bordered matrix of a system, once for all its factorisations."""
    sparsity = system.sparsity
    return StaticLU(
        system.n,
        system.m,
        sparsity.indptr,
        sparsity.indices,
        system.node_of_scalar,
        len(system.bodies),
        system.joint_bodies,
        [(system.n + row, weight) for row, weight in system.augmentation],
        sift=system.mostly_apart,
    )
