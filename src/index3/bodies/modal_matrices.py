"""Readers of what a user says of a flexible structure: matrices, nodes, interfaces, checked to be physical."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from reprlib import repr as short
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from index3.bodies.modal_data import rigid_motions
from index3.bodies.modal_reduction import FREE, SAME_MASS, Interface, Structure, not_positive
from index3.errors import ModelError

# Largest difference of a matrix and its transpose, relative to its largest entry: printed data pass.
SYMMETRIC = 1e-6


def as_nodes(value: Any, owner: str) -> tuple[np.ndarray, dict[str, int]]:
    """Places (N, 3) of the nodes, and the numbers of those that have names; from rows, or from names to places."""
    names = {str(name): k for k, name in enumerate(value)} if isinstance(value, Mapping) else {}
    try:
        nodes = np.array(list(value.values()) if names else value, float)
    except (TypeError, ValueError, OverflowError):
        nodes = np.empty(0)
    if nodes.ndim != 2 or nodes.shape[1] != 3 or not len(nodes):
        raise ModelError(f"{owner} has nodes {short(value)}. Give the place of every node, three numbers each.")
    if not np.all(np.isfinite(nodes)):
        raise ModelError(f"{owner} has nodes whose places are not finite. Give finite numbers.")
    return nodes, names


def as_matrix(value: Any, owner: str, what: str) -> Any:
    """A symmetric matrix, dense or sparse, from NumPy, SciPy or a file (MatrixMarket, .npz)."""
    source = value
    if isinstance(value, str | Path):
        value = read_matrix(Path(value), owner, what)
    try:
        if np.iscomplexobj(value):
            raise ValueError("complex")
        matrix = sp.csc_matrix(value, dtype=float) if sp.issparse(value) else np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ModelError(
            f"{owner} has a {what} matrix {short(source)}. Give a square one of real numbers: an array, a "
            "sparse matrix of SciPy, or the name of a file (MatrixMarket or .npz)."
        )
    entries = matrix.data if sp.issparse(matrix) else matrix
    if not np.all(np.isfinite(entries)):
        raise ModelError(f"{owner} has a {what} matrix with entries that are not finite. Give finite numbers.")
    if abs(matrix - matrix.T).max() > SYMMETRIC * abs(matrix).max():
        raise ModelError(f"{owner} has a {what} matrix that is not symmetric. Give both halves of it.")
    return 0.5 * (matrix + matrix.T)


def read_matrix(path: Path, owner: str, what: str) -> Any:
    """A matrix from a file."""
    try:
        if path.suffix != ".npz":
            return scipy.io.mmread(path)
        with np.load(path) as stored:
            if "format" in stored:
                return sp.load_npz(path)
            known = [key for key in (f"{what}_matrix", what, *stored.files) if key in stored]
            if len(stored.files) > 1 and known[0] not in (f"{what}_matrix", what):
                raise ValueError(f"it holds {', '.join(stored.files)}; one is to be named {what}_matrix")
            return stored[known[0]]
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise ModelError(f"{owner} cannot read its {what} matrix from '{path}': {error}") from None


def as_structure(owner: str, mass: Any, stiffness: Any, nodes: np.ndarray) -> Structure:
    """Checked matrices of a structure that is free in space."""
    M, K = as_matrix(mass, owner, "mass"), as_matrix(stiffness, owner, "stiffness")
    per, odd = divmod(M.shape[0], len(nodes))
    if odd or per not in (3, 6):
        raise ModelError(
            f"{owner} has a mass matrix of {M.shape[0]} rows for {len(nodes)} nodes. Give six rows for every node "
            "(ux, uy, uz, rx, ry, rz), or three."
        )
    if K.shape != M.shape:
        raise ModelError(
            f"{owner} has a stiffness matrix of {K.shape[0]} rows and a mass matrix of {M.shape[0]}. Give one size."
        )
    if M.diagonal().min() < 0.0:
        raise not_positive(owner)
    rigid = rigid_motions(nodes, nodes.mean(axis=0), per)
    unbalance, scale = np.abs(K @ rigid).max(axis=0), (abs(K) @ np.abs(rigid)).max(axis=0)
    if np.any(unbalance > FREE * scale):
        raise ModelError(
            f"{owner} has a stiffness matrix that resists rigid motions. Give that of the free structure, without its "
            "supports, with the rows of each node in the order ux, uy, uz, rx, ry, rz."
        )
    return Structure(owner, M, K, nodes, per)


def mass_and_centre(structure: Structure) -> tuple[float, np.ndarray]:
    """Mass and centre of mass."""
    rigid = rigid_motions(structure.nodes, np.zeros(3), structure.per_node)
    block = rigid.T @ (structure.M @ rigid)
    masses = np.diag(block)[:3]
    mass = float(masses.mean())
    if mass <= 0.0:
        raise not_positive(structure.owner)
    if np.abs(block[:3, :3] - mass * np.eye(3)).max() > SAME_MASS * mass:
        raise ModelError(
            f"{structure.owner} has a mass matrix with the masses {masses.tolist()} along x, y and z. Give one in "
            "which a translation has the same mass in every direction."
        )
    moment = block[:3, 3:]  # m skew(centre) transposed: w x c = -c x w
    return mass, np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2], moment[0, 1] - moment[1, 0]]) * (
        0.5 / mass
    )


def node_number(node: Any, nodes: np.ndarray, names: Mapping[str, int], owner: str) -> int:
    """The number of a node, given by number or name."""
    if isinstance(node, str):
        if node not in names:
            raise ModelError(f"{owner} has no node '{node}'. Its named nodes: {short(list(names))}.")
        return names[node]
    if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < len(nodes):
        raise ModelError(f"{owner} has no node {short(node)}. Its nodes are 0 to {len(nodes) - 1}.")
    return int(node)


def as_names(names: Any, owner: str) -> dict[str, int]:
    """Names of nodes, none if they are not given."""
    if names is not None and not isinstance(names, Mapping):
        raise ModelError(f"{owner} has names {short(names)}. Give a dict from names to numbers of nodes.")
    return dict(names or {})


def as_named_structure(
    owner: str, mass: Any, stiffness: Any, nodes: Any, names: Any
) -> tuple[Structure, dict[str, int]]:
    """Checked matrices of a structure that is free in space, and the numbers of nodes that have names."""
    places, known = as_nodes(nodes, owner)
    known |= as_names(names, owner)
    for name, number in known.items():
        if not 0 <= number < len(places):
            raise ModelError(
                f"{owner} has the name '{name}' for node {number}. Give numbers from 0 to {len(places) - 1}."
            )
    return as_structure(owner, mass, stiffness, places), known


def as_interfaces(value: Any, structure: Structure, names: Mapping[str, int]) -> list[Interface]:
    """Nodes, and spiders of several nodes, from a list of them or from names to them."""
    owner, nodes = structure.owner, structure.nodes
    single = isinstance(value, str) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if single or not isinstance(value, Sequence | Mapping | np.ndarray):
        raise ModelError(f"{owner} has the interface {short(value)}. Give a list of nodes, or of lists of nodes.")
    keys = list(value) if isinstance(value, Mapping) else [""] * len(value)
    entries = list(value.values()) if isinstance(value, Mapping) else list(value)
    made = []
    for key, entry in zip(keys, entries, strict=True):
        several = isinstance(entry, Sequence | np.ndarray) and not isinstance(entry, str)
        group = [node_number(node, nodes, names, owner) for node in (entry if several else [entry])]
        if structure.per_node == 3:
            check_spider(owner, entry, nodes[group])
        made.append(Interface(group, nodes[group].mean(axis=0), str(key)))
    used = [node for interface in made for node in interface.nodes]
    twice = {node for node in used if used.count(node) > 1}
    if twice:
        raise ModelError(f"{owner} has node {min(twice)} in two interfaces. Give each node to one.")
    if not made:
        raise ModelError(
            f"{owner} has too few interface nodes: none. Name those at which joints and forces act, at least one."
        )
    return made


def check_spider(owner: str, entry: Any, places: np.ndarray) -> None:
    """Raise if nodes without rotations do not hold a rigid spider."""
    spread = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    if len(places) < 3 or spread[1] <= 1e-9 * max(spread[0], 1e-300):  # on one line, but for rounding
        raise ModelError(
            f"{owner} has too few interface nodes in {short(entry)}: its nodes have no rotations. Give at least three "
            "nodes that are not on one line; they move as a rigid spider."
        )


def as_count(modes: Any, owner: str) -> int | None:
    """A number of modes, or None."""
    if modes is None:
        return None
    if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or modes < 0:
        raise ModelError(f"{owner} has modes {short(modes)}. Give the number of modes to keep, or leave it out.")
    return int(modes)


def as_damping(damping: Any, frequencies: np.ndarray, owner: str) -> np.ndarray:
    """What multiplies the modal rates: 2 zeta w, from a ratio, one for each mode, or a function of the frequency."""
    ratios = [damping(float(f)) for f in frequencies] if callable(damping) else damping
    try:
        zeta = np.array(ratios, float)
        if zeta.ndim and zeta.shape != frequencies.shape:
            raise ValueError("one for each mode")
        zeta = np.broadcast_to(zeta, frequencies.shape)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"{owner} has damping {short(damping)} for {len(frequencies)} modes. Give one ratio to critical damping, "
            "one for each mode, or a function of the frequency."
        ) from None
    if not np.all(np.isfinite(zeta)) or np.any(zeta < 0.0):
        raise ModelError(f"{owner} has damping ratios that are negative or not finite. Give zero or positive numbers.")
    return 4.0 * np.pi * zeta * frequencies


def as_drawn(value: Any, size: int, nodes: np.ndarray, names: Mapping[str, int], owner: str) -> np.ndarray:
    """Groups of `size` nodes each."""
    what = "members" if size == 2 else "faces"
    try:
        value = [list(group) for group in value]
    except TypeError:
        raise ModelError(f"{owner} has {what} {short(value)}. Give lists of {size} nodes.") from None
    groups = [[node_number(node, nodes, names, owner) for node in group] for group in value]
    for group in groups:
        if len(group) != size:
            raise ModelError(f"{owner} has {what} of {len(group)} nodes. Give {size} each.")
    return np.array(groups, int).reshape(-1, size)
