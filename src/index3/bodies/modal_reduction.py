"""Craig-Bampton reduction of a structure: component modes with interfaces, made orthonormal, without rigid motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from index3.bodies.modal_data import rigid_motions
from index3.errors import ModelError

# Largest force of the stiffness matrix against a rigid motion, relative to the sum of its absolute terms: matrices
# printed with seven digits pass, a support of a thousandth of the stiffness does not.
FREE = 1e-6
# Largest difference of the masses along x, y and z, relative; as above.
SAME_MASS = 1e-6
# Square of a frequency relative to the largest one below which a mode is a rigid motion or a mechanism: the rounding of
# eigenvalues, with room for matrices printed with a few digits.
STILL = 1e-12
# Least eigenvalue of the products of modes and rigid motions of unit mass for which they are independent.
INDEPENDENT = 1e-9
# Coordinates up to which eigenvalues are found by dense algebra.
DENSE = 2000


@dataclass
class Interface:
    """A node, or several that move as one rigid spider; `centre` is where its six coordinates are."""

    nodes: list[int]
    centre: np.ndarray
    name: str = ""


@dataclass
class Structure:
    """Matrices of a structure that were checked, its nodes and the coordinates of each (3 or 6), and its owner."""

    owner: str
    M: Any
    K: Any
    nodes: np.ndarray
    per_node: int


def interface_matrix(structure: Structure, interfaces: Sequence[Interface]) -> sp.csc_matrix:
    """Displacements of the structure from those of the interfaces (6 each), then those of all other nodes."""
    per, tied = structure.per_node, {node for interface in interfaces for node in interface.nodes}
    free = [node for node in range(len(structure.nodes)) if node not in tied]
    rows, columns, values = [], [], []
    for k, interface in enumerate(interfaces):
        ends = rigid_motions(structure.nodes[interface.nodes], interface.centre, per)
        i, j = np.nonzero(ends)
        rows.append(np.array([per * node + c for node in interface.nodes for c in range(per)])[i])
        columns.append(6 * k + j)
        values.append(ends[i, j])
    own = np.array([per * node + c for node in free for c in range(per)], int)
    rows.append(own)
    columns.append(6 * len(interfaces) + np.arange(len(own)))
    values.append(np.ones(len(own)))
    size = (per * len(structure.nodes), 6 * len(interfaces) + len(own))
    return sp.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=size)


def component_modes(
    structure: Structure, interfaces: Sequence[Interface], count: int | None, max_frequency: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shapes (coordinates, n) of unit modal mass, those of the interfaces (k, 6, n), the squares of frequencies (n,).

    Of the modes with interfaces held, `count` are kept, or those up to `max_frequency` [Hz], or all.
    """
    owner, ties, held = structure.owner, interface_matrix(structure, interfaces), 6 * len(interfaces)
    M, K = (ties.T @ matrix @ ties for matrix in (structure.M, structure.K))
    M, K = sp.csc_matrix(M), sp.csc_matrix(K)
    inside = K.shape[0] - held
    basis = np.zeros((K.shape[0], held))
    basis[:held] = np.eye(held)
    if inside:
        K_ii, K_ib = K[held:, held:].tocsc(), K[held:, :held].toarray()
        basis[held:] = -held_solution(owner, K_ii, K_ib)
        shapes = held_modes(owner, M[held:, held:].tocsc(), K_ii, count, max_frequency)
        basis = np.hstack([basis, np.vstack([np.zeros((held, shapes.shape[1])), shapes])])
    elif count:
        raise too_many(owner, count, 0)
    rigid = np.zeros((basis.shape[1], 6))
    for k, interface in enumerate(interfaces):
        centres = rigid_motions(interface.centre[None], np.zeros(3), 6)
        rigid[6 * k : 6 * k + 6] = centres
    shapes, squares = orthonormal(owner, basis.T @ (M @ basis), basis.T @ (K @ basis), rigid)
    whole = basis @ shapes
    return ties @ whole, whole[:held].reshape(len(interfaces), 6, -1), squares


def own_modes(structure: Structure, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Given modes (coordinates, n) made orthonormal, and the squares of their angular frequencies (n,)."""
    owner, M, K = structure.owner, structure.M, structure.K
    if not modes.shape[1]:
        raise ModelError(f"{owner} has no modes. Give at least one shape, or use a RigidBody.")
    scale = np.sqrt(np.maximum(np.einsum("ik,ik->k", modes, M @ modes), 0.0))
    if scale.min(initial=np.inf) == 0.0:
        raise not_positive(owner)
    modes = modes / scale
    rigid = rigid_motions(structure.nodes, structure.nodes.mean(axis=0), structure.per_node)
    rigid = rigid / np.sqrt(np.einsum("ik,ik->k", rigid, M @ rigid))
    both = np.hstack([rigid, modes])
    least = scipy.linalg.eigh(both.T @ (M @ both), eigvals_only=True)[0]
    if least < INDEPENDENT:
        raise ModelError(
            f"{owner} has modes that contain a rigid motion, or are not independent. Give shapes of deformation alone: "
            "the frame of the body does the rest."
        )
    squares, shapes = scipy.linalg.eigh(modes.T @ (K @ modes), modes.T @ (M @ modes))
    check_stiffness(owner, squares)
    return modes @ shapes, squares


def held_solution(owner: str, K: sp.csc_matrix, right: np.ndarray) -> np.ndarray:
    """K^-1 times columns, K the stiffness with interfaces held."""
    try:
        solution = scipy.sparse.linalg.splu(K).solve(right)
    except RuntimeError:
        solution = np.full_like(right, np.nan)
    if not np.all(np.isfinite(solution)) or np.abs(K @ solution - right).max() > FREE * max(
        np.abs(right).max(), 1e-300
    ):
        raise ModelError(
            f"{owner} has too few interface nodes, or parts that are not connected: with its interfaces fixed, it "
            "can still move without resistance. Give at least one node with rotations, or a spider of three nodes."
        )
    return solution


def held_modes(
    owner: str, M: sp.csc_matrix, K: sp.csc_matrix, count: int | None, max_frequency: float | None
) -> np.ndarray:
    """Shapes of the modes with interfaces held, as columns, by growing frequency."""
    size = K.shape[0]
    if count is not None and count > size:
        raise too_many(owner, count, size)
    if size <= DENSE or count is None or 3 * count > size:  # M x = K x / (2 pi f)^2: M may be singular, K is not
        try:
            inverse, shapes = scipy.linalg.eigh(M.toarray(), K.toarray())
        except np.linalg.LinAlgError:
            raise not_stiff(owner) from None
    else:
        inverse, shapes = scipy.sparse.linalg.eigsh(M, k=max(count, 1), M=K, which="LA")
    order = np.argsort(-inverse)
    inverse, shapes = inverse[order], shapes[:, order]
    if inverse[-1] < -1e-9 * max(inverse[0], 1e-300):  # far above rounding
        raise not_positive(owner)
    heavy = int(np.sum(inverse > STILL * inverse[0]))  # without the coordinates that have no mass
    if count is not None and count > heavy:
        raise too_many(owner, count, heavy)
    if max_frequency is not None:
        heavy = min(heavy, int(np.sum(inverse >= (2.0 * np.pi * max_frequency) ** -2)))
    return shapes[:, : heavy if count is None else min(count, heavy)]


def too_many(owner: str, count: int, most: int) -> ModelError:
    """More modes than there are."""
    return ModelError(f"{owner} asks for {count} modes, but with its interfaces held it has {most}. Ask for fewer.")


def not_positive(owner: str) -> ModelError:
    """A mass matrix of negative or no mass."""
    return ModelError(
        f"{owner} has a mass matrix that is not positive: some motion has no kinetic energy or less. "
        "Check its signs and the order of its rows."
    )


def orthonormal(owner: str, m: np.ndarray, k: np.ndarray, rigid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Modes of reduced matrices that are orthogonal to the rigid motions, and the squares of their frequencies.

    Coordinates are metres, angles and amplitudes: they and the rigid motions are brought to one size first, so that
    rounding counts alike for bodies of a micrometre and of a kilometre.
    """
    diagonal = np.diag(m)
    if diagonal.min() <= 0.0:
        raise not_positive(owner)
    unit = 1.0 / np.sqrt(diagonal)
    m, k = (0.5 * (unit[:, None] * (x + x.T) * unit) for x in (m, k))
    try:
        scipy.linalg.cholesky(m)
    except (np.linalg.LinAlgError, ValueError):
        raise not_positive(owner) from None
    momenta = m @ (rigid / unit[:, None])
    basis = scipy.linalg.null_space((momenta / np.linalg.norm(momenta, axis=0)).T)
    if not basis.shape[1]:
        raise ModelError(
            f"{owner} has no way to deform: one interface and no modes. Give modes=1 or more, or use a RigidBody."
        )
    squares, shapes = scipy.linalg.eigh(basis.T @ k @ basis, basis.T @ m @ basis)
    check_stiffness(owner, squares)
    return unit[:, None] * (basis @ shapes), squares


def not_stiff(owner: str) -> ModelError:
    """A stiffness matrix that gives energy back."""
    return ModelError(
        f"{owner} has a stiffness matrix that is not positive: some deformation releases energy. Check its signs and "
        "the order of its rows."
    )


def check_stiffness(owner: str, squares: np.ndarray) -> None:
    """Raise if a deformation meets no resistance, or less; `squares` are those of the frequencies."""
    largest = max(float(np.abs(squares).max(initial=0.0)), 1e-300)
    if squares.min(initial=0.0) < -STILL * largest:
        raise not_stiff(owner)
    loose = int(np.sum(squares < STILL * largest))
    if loose:
        raise ModelError(
            f"{owner} can move in {loose} ways besides those of a rigid body without resistance. "
            "Check that its stiffness matrix connects all of its parts."
        )
