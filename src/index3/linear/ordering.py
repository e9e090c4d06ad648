"""The order of elimination that needs no pivoting: weighted minimum degree on the graph of bodies and joints.

Body nodes hold a body's coordinates and its own rows (normalisation), joint nodes the rows of one joint. A body that
deforms may have several nodes, blocks of its coordinates, which its mass and stiffness couple; what is said of bodies
below holds for blocks, since joints of such bodies name ground and so follow rule R. If every body block is definite,
the part of the matrix eliminated so far is singular only if the rows eliminated so far, restricted to the bodies
eliminated so far, are dependent. Two rules keep that from happening while Phi_q has full rank:

- R: a joint follows all its bodies, so the restriction drops nothing;
- F ("forest"): a joint of two bodies may also follow one of them, if the component of eliminated bodies it belongs to
  is not tied to anything yet. The remaining body is then the component's *anchor*. A component has one tie at most: one
  joint to its anchor, or any number of joints to ground. Dependent restricted rows would put a wrench on the anchor
  that does no work in any rigid motion of anchor and component together; through one joint that wrench is zero, and
  the rows were dependent to begin with. (Two joints to a flexible anchor would not do: it resists without moving.)

Rule F needs rows that a common rigid motion of their bodies leaves satisfied. All others must name ground among their
bodies: rows on coordinates, joints between bodies that cannot follow each other (planar and spatial). Rows that name
more than two, ground counted, follow all their bodies under either rule.

So a zero pivot of a row means a redundant row or a singular position, whatever the motion does to the numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from index3.compiled.interface import Table
from index3.linear import ordering_kernels, symbolic_kernels
from index3.linear import ordering_table as parts
from index3.linear.symbolic import Pattern, check, filled, table_for

RULES = ("R", "F")


def elimination_order(
    indptr: np.ndarray,
    indices: np.ndarray,
    node_of_scalar: np.ndarray,
    n_bodies: int,
    joint_bodies: Sequence[Sequence[int]],
    rule: str | None = None,
) -> tuple[str, Pattern]:
    """The rule with fewer operations (R in a tie) and the factors' pattern under it.

    Parameters
    ----------
    indptr, indices : pattern of the matrix by columns, structurally symmetric with a full diagonal
    node_of_scalar : node of each scalar; bodies are 0 ... n_bodies-1, joint j is n_bodies + j
    joint_bodies : for each joint the distinct bodies it touches; -1 is ground, also named by rows that a rigid motion
        of their bodies can violate
    rule : "R" or "F" to decide beforehand

    Raises
    ------
    ValueError
        If an entry of the matrix has no counterpart across the diagonal.
    """
    table = chosen(indptr, indices, node_of_scalar, n_bodies, joint_bodies, rule)
    return RULES[table[parts.NUMBERS][parts.RULE]], filled(table)


def chosen(
    indptr: np.ndarray,
    indices: np.ndarray,
    node_of_scalar: np.ndarray,
    n_bodies: int,
    joint_bodies: Sequence[Sequence[int]],
    rule: str | None = None,
) -> Table:
    """A table for `ordering_kernels` with the order found, for the same arguments."""
    size, n_nodes = len(node_of_scalar), n_bodies + len(joint_bodies)
    # Rows on one body alone hold it to something that does not move with it: ground, even if that is not said.
    touched = [bodies if len(bodies) > 1 else (*bodies, -1) for bodies in joint_bodies]
    flat = np.array(list(itertools.chain.from_iterable(touched)), np.int64)
    flat[flat < 0] = n_bodies  # ground: components tied to it are merged with it
    table = table_for(parts.SLOTS, indptr, indices)
    table[symbolic_kernels.PERM], table[symbolic_kernels.PINV] = np.empty(size, np.int64), np.empty(size, np.int64)
    table[parts.NODE] = np.asarray(node_of_scalar, np.int64)
    table[parts.TOUCHED_FIRST] = np.array([0, *itertools.accumulate(map(len, touched))], np.int64)
    table[parts.TOUCHED] = flat
    for slot, lines, count in (
        (parts.NODES, parts.NODE_LINES, n_nodes + 1),
        (parts.BODIES, parts.BODY_LINES, n_bodies + 1),
        (parts.JOINTS, parts.JOINT_LINES, len(joint_bodies)),
        (parts.TIES, parts.TIE_LINES, len(flat)),
        (parts.BEST, 3, size),
    ):
        table[slot] = np.empty((lines, count), np.int64)
    table[parts.NEAR], table[parts.SCALARS] = (
        np.empty(2 * len(indices) + n_nodes, np.int32),
        np.empty(size, np.int64),
    )
    numbers = table[parts.NUMBERS] = np.zeros(parts.NUMBERS_SIZE, np.int64)
    numbers[parts.N_BODIES], numbers[parts.WANTED] = n_bodies, 2 if rule is None else RULES.index(rule)
    status = ordering_kernels.choose.alone(0, table.handle)
    check(status)
    if status:
        raise ValueError("A joint has no place in the order of elimination. Name its bodies, each of them once.")
    return table
