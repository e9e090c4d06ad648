"""The static-order solver of a compiled system."""

from __future__ import annotations

from index3.linear.static_lu import DEFAULTS
from index3.linear.static_solver import StaticLU
from index3.system.system import System

SMALLEST_TOLERANCE = 1e-12
"""Of rows where masses are very far apart: thousands of roundings, below which redundant rows cannot be told apart."""


def solver_of(system: System) -> StaticLU:
    """The solver of a system; the bordered matrix is analysed once for all systems of the same structure."""
    kept = system.structure.solvers
    if "static" not in kept:
        kept["static"] = analysed(system)
    solver: StaticLU = kept["static"]
    return solver.with_numbers([weight for _, weight in system.augmentation], row_tolerance(system))


def analysed(system: System) -> StaticLU:
    """Order and analyse the bordered matrix of a system."""
    sparsity = system.sparsity
    return StaticLU(
        system.n,
        system.m,
        sparsity.indptr,
        sparsity.indices,
        system.node_of_scalar,
        system.n_blocks,
        system.joint_blocks,
        [(system.n + row, weight) for row, weight in system.augmentation],
        sift=system.mostly_apart,
        row_tolerance=row_tolerance(system),
    )


def row_tolerance(system: System) -> float:
    """The size of pivot of a redundant row, below the pivots of rows that hold a heavy body by a light one.

    These are as small as the masses are apart, times what geometry makes of it: some hundredths.
    """
    masses = [body.mass for body in system.bodies if body.kind != "states" and body.mass > 0.0]
    apart = max(masses) / min(masses) if masses else 1.0
    return max(SMALLEST_TOLERANCE, min(DEFAULTS[0], 0.01 / apart))
