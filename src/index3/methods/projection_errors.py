"""Why a closing of constraints gave up, in words that name rows or bodies."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.errors import AssemblyError, Index3Error, ModelError, SimulationFailed, SingularError
from index3.linear import contract
from index3.linear.registry import DEFAULT
from index3.methods import projection_kernels
from index3.system.state import State
from index3.system.system import System

COPY = 1e-8
"""Singular value of rows of size 1, as a part of the largest, below which a row is a copy of others: positions are
closed to 1e-12, and what a smaller one leaves of a row is far below what counts as a contradiction."""
MOST_ROWS = 400
"""Rows up to which singular values are asked for, to explain a failure."""


def failure(code: int, t: float, state: State, table: Table, factors: Table) -> Index3Error:
    """The error of a projection with a table of `projection_kernels` and factors."""
    system = state.system
    row = int(table[projection_kernels.REPORT][projection_kernels.WORST_ROW])
    if code in (projection_kernels.EVALUATION, projection_kernels.SINGULAR):
        problem: Index3Error = (
            ModelError(system.explain(state))
            if code == projection_kernels.EVALUATION
            else singular_body(system, factors)
        )
        for cause in system.take_failures():
            if not isinstance(cause, Exception):  # KeyboardInterrupt in a user's function, or in a solver
                raise cause
            problem.__cause__ = cause
        return problem
    if code == projection_kernels.POSITIONS:
        driven = any(group.rows and hasattr(group.element, "joint") for group in system.groups)
        motions = ", and whether motions contradict each other or a joint" if driven else ""
        return AssemblyError(
            f"No positions satisfy the constraints at t = {t:.6g}: worst rows "
            f"{system.worst_rows(state[s.PHI])}. "
            f"Check the geometry of {system.row_labels[row]} and of what is connected to it{motions}."
        )
    if code == projection_kernels.NOT_CONVERGED:
        return SimulationFailed(f"{not_converged(system)} at t = {t:.6g}.")
    rows = f"The rows of {system.row_labels[row]} (worst: {system.row_names[row]})"
    if light := too_light(state, factors):
        return AssemblyError(
            f"{rows} are independent of others at t = {t:.6g}, but masses differ so much that rounding hides it: "
            f"{light} is too light beside its neighbours. Give it more mass and inertia."
        )
    return AssemblyError(
        f"{rows} contradict others at t = {t:.6g}: "
        "no velocities or accelerations satisfy them all. Remove one of the constraints or motions that disagree."
    )


def too_light(state: State, factors: Table) -> str:
    """The lightest body, where rows were left out as redundant that are independent; empty elsewhere."""
    system = state.system
    masses = [(body.mass, body.label) for body in system.bodies if getattr(body, "mass", 0.0) > 0.0]
    rows = scaled_rows(state) if 0 < system.m <= MOST_ROWS and masses else np.zeros((0, 0))
    if not rows.size or not np.all(np.isfinite(rows)):
        return ""
    sizes = np.linalg.svd(rows, compute_uv=False)
    copies = system.m - int(np.count_nonzero(sizes > COPY * sizes[0]))
    return min(masses)[1] if factors[contract.INFO][contract.N_ZERO] > copies else ""


def singular_body(system: System, factors: Table) -> SingularError:
    """The error for a matrix that could not be factored, naming the body or the row."""
    scalar, status = (int(factors[contract.INFO][place]) for place in (contract.BAD_SCALAR, contract.STATUS))
    if status == contract.ROW_REDUNDANT:
        row = scalar - system.n
        return SingularError(
            f"Row {system.row_names[row]} of {system.row_labels[row]} is redundant, or too nearly so for this linear "
            f"solver. Use linear='{DEFAULT}', or remove the constraint."
        )
    if status == contract.UNSUITABLE:
        return SingularError(
            f"The equations are not of a kind that this linear solver accepts. Use linear='{DEFAULT}'."
        )
    if not 0 <= scalar < system.n:
        return SingularError("The equations of motion contain numbers that are not finite.")
    body = system.bodies[int(np.searchsorted(system.starts, scalar, "right")) - 1]
    if system.reads_accelerations:
        name = body.coordinate_names[scalar - system.starts[system.bodies.index(body)]]
        return SingularError(
            f"{body.label} has no inertia left along {name}: no acceleration balances its forces. Check the forces "
            f"that depend on accelerations ({', '.join(system.readers('accelerations'))}) and the inertia of the body."
        )
    return SingularError(
        f"{body.label} can turn about an axis about which it has no inertia. Give it inertia there, or a joint that "
        "prevents this rotation."
    )


def not_converged(system: System) -> str:
    """What is said where forces depend on reactions or accelerations and no solution is found."""
    if not system.reads_accelerations:
        return "Reactions and the friction that they cause do not converge: friction may be too strong for any motion"
    forces = ", ".join(system.readers("accelerations"))
    return (
        f"Accelerations and the forces that depend on them ({forces}) do not converge: "
        "such forces may leave bodies without inertia, or have jumps"
    )


def scaled_rows(state: State) -> np.ndarray:
    """The rows' gradients where the Jacobian stands evaluated, dense, whatever the units and the sizes of bodies."""
    rows = np.zeros((state.system.m, state.system.n))
    np.add.at(rows, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), state[s.PHI_Q])
    for axis in (0, 1, 0, 1):
        sizes = np.linalg.norm(rows, axis=axis, keepdims=True)
        rows /= np.where(sizes > 0.0, sizes, 1.0)
    return rows
