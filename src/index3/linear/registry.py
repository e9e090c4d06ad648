"""The solvers by name, and the solver of a compiled system."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from index3.errors import ModelError
from index3.linear.solver import NEEDS, ROW_TOLERANCE, SOLVERS, Bordered, Solver
from index3.system.system import System

DEFAULT, PARTIAL = "static", "partial"
MOST_SCALARS = 4000
"""Up to which a pattern that is mostly zero is given to PARTIAL, whose factors have room for a full matrix."""
SMALLEST_TOLERANCE = 1e-12
"""Of rows where masses are very far apart: thousands of roundings, below which redundant rows cannot be told apart."""


def solver_class(linear: Any = DEFAULT) -> type[Solver]:
    """The class of a solver.

    Raises
    ------
    ModelError : there is none of this name.
    """
    if not isinstance(linear, str) or linear not in SOLVERS:
        raise ModelError(f"There is no linear solver {linear!r}. Choose linear={' or '.join(map(repr, SOLVERS))}.")
    found: type[Solver] = SOLVERS[linear]
    return found


def check_needs(linear: Any, needs: Iterable[str], who: str) -> None:
    """Raise ModelError if a solver lacks what `who` needs of it (keys of `solver.NEEDS`)."""
    lacking = [what for key, what in NEEDS.items() if key in set(needs) - solver_class(linear).offers]
    if lacking:
        raise ModelError(f"{who} needs {lacking[0]}, which linear={linear!r} cannot take. Use linear={DEFAULT!r}.")


def solver_of(system: System, linear: str = DEFAULT) -> Solver:
    """The solver of a system; the bordered matrix is analysed once for all systems of the same structure."""
    kept, of_system = system.structure.solvers, system.solvers
    if linear not in kept:
        given = bordered(system)
        kept[linear] = solver_class(PARTIAL if linear == DEFAULT and uses_few_entries(given) else linear)(given)
    if linear not in of_system:
        known, rows, tolerance = kept[linear], augmentation(system), row_tolerance(system)
        if known.arrays_alone and (rows, tolerance) == (known.given.augmentation, known.given.row_tolerance):
            of_system[linear] = known
        else:
            of_system[linear] = known.with_numbers(known.given.with_numbers(rows, tolerance, system.failures))
    solver: Solver = of_system[linear]
    return solver


def uses_few_entries(given: Bordered) -> bool:
    """Whether it pays to analyse the part of a pattern that is in use, again and again, instead of all of it."""
    return given.mostly_zero and given.n + given.m <= MOST_SCALARS


def bordered(system: System) -> Bordered:
    """What a system gives to a solver."""
    return Bordered(
        system.n,
        system.m,
        system.sparsity.indptr,
        system.sparsity.indices,
        system.node_of_scalar,
        system.n_blocks,
        system.joint_blocks,
        augmentation(system),
        row_tolerance=row_tolerance(system),
        mostly_zero=system.has_rare_contacts,
        between_bodies=between_bodies(system),
        failures=system.failures,
    )


def between_bodies(system: System) -> np.ndarray:
    """Which entries of the matrix couple coordinates of two bodies."""
    sparsity = system.sparsity
    body = np.full(system.n + system.m, -1)
    body[: system.n] = np.repeat(np.arange(len(system.bodies)), np.diff(system.starts))
    row, column = body[sparsity.indices], np.repeat(body, np.diff(sparsity.indptr))
    return (row >= 0) & (column >= 0) & (row != column)


def augmentation(system: System) -> list[tuple[int, float]]:
    """The rows whose squares make body blocks definite, as scalars, with their weights."""
    return [(system.n + row, weight) for row, weight in system.augmentation]


def row_tolerance(system: System) -> float:
    """The size of pivot of a redundant row, below the pivots of rows that hold a heavy body by a light one.

    These are as small as the masses are apart, times what geometry makes of it: some hundredths.
    """
    masses = [body.mass for body in system.bodies if body.kind != "states" and body.mass > 0.0]
    apart = max(masses) / min(masses) if masses else 1.0
    return max(SMALLEST_TOLERANCE, min(ROW_TOLERANCE, 0.01 / apart))
