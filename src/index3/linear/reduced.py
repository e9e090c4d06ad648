"""Accelerations through the reduced matrix: multipliers first, then body by body.

[NegrutThesis] section 3.4.2: with B = Phi_q M^-1 Phi_q^T, B lam = Phi_q M^-1 Q - gamma, then M a = Q - Phi_q^T lam
(3.108)-(3.111). M is block diagonal, so nothing larger than a body's block or B is factored. B is positive definite if
no row is redundant; it is assembled body by body (3.109), (3.110) into the envelope of the order of `linear.envelope`
and factored there (Algorithm 3).

Ours differs: Euler parameters stay, with the body's block made definite by its normalisation row as in `static_lu`
(the thesis goes over to angular velocities, Algorithm 2). It is for comparison, and for matrices whose upper block
couples no two bodies; `StaticLU` takes all others and redundant rows too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import sqrt

import numpy as np

from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.errors import SingularError
from index3.linear.envelope import joint_graph, number_joints
from index3.linear.symbolic import Entries

# fmt: off
(
    VALUES, SIZES, BLOCK_START, BLOCK_PLACE, BLOCK, WEIGHT, COORDINATE,  # bodies: size, place and values of M's block
    TOUCH_START, TOUCH_ROW, TOUCH_PLACE, Y_START, Y,                     # rows on a body, as eliminated; L_b^-1 Phi^T
    OWN, FIRST, ROW_START, L, X, LAM,                                    # envelope of B by rows; right side, solution
) = SLOTS = slots(
    values=("f8", 1), sizes=("i8", 1), block_start=("i8", 1), block_place=("i8", 1), block=("f8", 1),
    weight=("f8", 1), coordinate=("i8", 1),
    touch_start=("i8", 1), touch_row=("i8", 1), touch_place=("i8", 1), y_start=("i8", 1), y=("f8", 1),
    own=("i8", 1), first=("i8", 1), row_start=("i8", 1), l=("f8", 1), x=("f8", 1), lam=("f8", 1),
)
# fmt: on


@helper
def factor_dense(a, at, n):
    """Cholesky of a dense block of n rows at `at`, in place; the number of the bad pivot + 1, or 0."""
    for i in range(n):
        for j in range(i + 1):
            x = a[at + i * n + j]
            for k in range(j):
                x -= a[at + i * n + k] * a[at + j * n + k]
            if j < i:
                a[at + i * n + j] = x / a[at + j * n + j]
            else:
                if not x > 0.0:
                    return i + 1
                a[at + i * n + i] = sqrt(x)
    return 0


@helper
def forward(a, at, n, y, first):
    """y := L^-1 y for a factored block."""
    for i in range(n):
        x = y[first + i]
        for k in range(i):
            x -= a[at + i * n + k] * y[first + k]
        y[first + i] = x / a[at + i * n + i]


@helper
def take_body(S, b):
    """Fill and factor the block of body b, and Y = L_b^-1 Phi^T of every row that touches it."""
    values, block, y, place = view(S, VALUES), view(S, BLOCK), view(S, Y), view(S, TOUCH_PLACE)
    n, at, source = view(S, SIZES)[b], view(S, BLOCK_START)[b], view(S, BLOCK_PLACE)
    first, last = view(S, TOUCH_START)[b], view(S, TOUCH_START)[b + 1]
    for k in range(n * n):
        block[at + k] = values[source[at + k]]
    start = view(S, Y_START)[b]
    for t in range(first, last):
        into = start + (t - first) * n
        for k in range(n):
            y[into + k] = values[place[into + k]]
        c = view(S, WEIGHT)[view(S, TOUCH_ROW)[t]]
        if c != 0.0:
            for i in range(n):
                for j in range(n):
                    block[at + i * n + j] += c * y[into + i] * y[into + j]
    if factor_dense(block, at, n) != 0:
        return b + 1
    for t in range(first, last):
        forward(block, at, n, y, start + (t - first) * n)
    return OK


@helper
def add_products(S, b):
    """B += Y^T Y of one body, lower half."""
    y, row, lower = view(S, Y), view(S, TOUCH_ROW), view(S, L)
    n, start, first, row_start = view(S, SIZES)[b], view(S, Y_START)[b], view(S, FIRST), view(S, ROW_START)
    begin, end = view(S, TOUCH_START)[b], view(S, TOUCH_START)[b + 1]
    for s in range(begin, end):
        for t in range(begin, s + 1):
            x = 0.0
            for k in range(n):
                x += y[start + (s - begin) * n + k] * y[start + (t - begin) * n + k]
            lower[row_start[row[s]] + row[t] - first[row[s]]] += x


@kernel
def assemble(T, S):
    """Body blocks and the reduced matrix from the values of the bordered one; the number of a singular body + 1."""
    lower = view(S, L)
    for k in range(lower.shape[0]):
        lower[k] = 0.0
    for b in range(view(S, SIZES).shape[0]):
        code = take_body(S, b)
        if code != OK:
            return code
        add_products(S, b)
    return OK


@kernel
def factor(T, S):
    """Cholesky inside the envelope; the number of a row without a positive pivot + 1."""
    lower, first, start = view(S, L), view(S, FIRST), view(S, ROW_START)
    for i in range(first.shape[0]):
        for j in range(first[i], i + 1):
            at = start[i] + j - first[i]
            x = lower[at]
            for k in range(max(first[i], first[j]), j):
                x -= lower[start[i] + k - first[i]] * lower[start[j] + k - first[j]]
            if j < i:
                lower[at] = x / lower[start[j] + j - first[j]]
            else:
                if not x > 1e-12 * lower[at]:
                    return i + 1
                lower[at] = sqrt(x)
    return OK


@helper
def solve_envelope(S, x):
    """x := B^-1 x."""
    lower, first, start = view(S, L), view(S, FIRST), view(S, ROW_START)
    size = first.shape[0]
    for i in range(size):
        for k in range(first[i], i):
            x[i] -= lower[start[i] + k - first[i]] * x[k]
        x[i] /= lower[start[i] + i - first[i]]
    for i in range(size - 1, -1, -1):
        x[i] /= lower[start[i] + i - first[i]]
        for k in range(first[i], i):
            x[k] -= lower[start[i] + k - first[i]] * x[i]


@helper
def scale_forces(S, sign):
    """Right side of the multipliers: LAM += sign * Y^T z, or z -= Y lam for sign 0, body by body."""
    x, lam, y, row, coordinate = view(S, X), view(S, LAM), view(S, Y), view(S, TOUCH_ROW), view(S, COORDINATE)
    sizes, start, touch = view(S, SIZES), view(S, Y_START), view(S, TOUCH_START)
    for b in range(sizes.shape[0]):
        n, c = sizes[b], coordinate[b]
        for t in range(touch[b], touch[b + 1]):
            into = start[b] + (t - touch[b]) * n
            for k in range(n):
                if sign != 0.0:
                    lam[row[t]] += sign * y[into + k] * x[c + k]
                else:
                    x[c + k] -= y[into + k] * lam[row[t]]


@kernel
def solve(T, S):
    """Replace X = (forces, gamma) by (accelerations, multipliers in the caller's order)."""
    x, lam, own, first = view(S, X), view(S, LAM), view(S, OWN), view(S, FIRST)
    block, sizes, at, coordinate = view(S, BLOCK), view(S, SIZES), view(S, BLOCK_START), view(S, COORDINATE)
    n = x.shape[0] - lam.shape[0]
    for i in range(first.shape[0]):
        lam[i] = -x[n + own[i]]
    for b in range(sizes.shape[0]):
        forward(block, at[b], sizes[b], x, coordinate[b])
    scale_forces(S, 1.0)
    solve_envelope(S, lam)
    scale_forces(S, 0.0)
    for b in range(sizes.shape[0]):
        size, c = sizes[b], coordinate[b]
        for i in range(size - 1, -1, -1):
            x[c + i] /= block[at[b] + i * size + i]
            for k in range(i):
                x[c + k] -= block[at[b] + i * size + k] * x[c + i]
    for i in range(lam.shape[0]):
        x[n + own[i]] = lam[i] + view(S, WEIGHT)[i] * x[n + own[i]]  # the augmented block took c gamma of it
    return OK


class ReducedSolver:
    """The reduced matrix of one pattern, behind the interface of `StaticLU`.

    Parameters
    ----------
    as for `StaticLU`; `order` gives the order of the joints (numbers of `joint_bodies`) instead of a good one

    Attributes
    ----------
    order : the joints in the order of their rows in B
    rows : the rows in that order
    envelope : entries kept of B, its diagonal included

    Raises
    ------
    ValueError
        If a row that makes a body's block definite touches another body.
    """

    def __init__(
        self,
        n: int,
        m: int,
        indptr: Sequence[int] | np.ndarray,
        indices: Sequence[int] | np.ndarray,
        node_of_scalar: Sequence[int] | np.ndarray,
        n_bodies: int,
        joint_bodies: Sequence[Sequence[int]],
        augmentation: Sequence[tuple[int, float]] = (),
        order: Sequence[int] | None = None,
    ) -> None:
        self.n, self.m = n, m
        entries, node = Entries(np.asarray(indptr, np.int64), np.asarray(indices, np.int64)), np.asarray(node_of_scalar)
        column = np.repeat(np.arange(n + m), np.diff(entries.indptr))
        upper = (entries.indices < n) & (column < n)
        self._coupling = np.flatnonzero(upper & (node[entries.indices] != node[column]))
        touching = (entries.indices < n) & (column >= n)
        pairs = set(zip((column[touching] - n).tolist(), node[entries.indices[touching]].tolist(), strict=True))
        if any((row - n, other) in pairs for row, _ in augmentation for other in set(range(n_bodies)) - {node[row]}):
            raise ValueError("A row that makes a body's block definite touches another body.")
        self.order = list(number_joints(joint_graph(joint_bodies)) if order is None else order)
        self.rows = self._row_order(node[n:], n_bodies, joint_bodies)
        self._fill(entries, node, n_bodies, pairs, dict(augmentation))

    def _row_order(self, node: np.ndarray, n_bodies: int, joint_bodies: Sequence[Sequence[int]]) -> np.ndarray:
        """Rows by joint; the own rows of a body stand before those of its first joint."""
        of_node: dict[int, list[int]] = {}
        for row, k in enumerate(node.tolist()):
            of_node.setdefault(k, []).append(row)
        rows: list[int] = []
        for joint in self.order:
            for body in sorted(b for b in joint_bodies[joint] if b >= 0):
                rows += of_node.pop(body, [])
            rows += of_node.pop(n_bodies + joint, [])
        return np.array(rows + [row for left in of_node.values() for row in left], np.int64)

    def _fill(
        self, entries: Entries, node: np.ndarray, n_bodies: int, pairs: set[tuple[int, int]], weights: dict[int, float]
    ) -> None:
        """Put all index arrays into the table."""
        n, m, nnz, table = self.n, self.m, len(entries.indices), Table(len(SLOTS))
        column = np.repeat(np.arange(n + m), np.diff(entries.indptr))
        where = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(entries.indices, column, strict=True))}
        coordinates = [np.flatnonzero(node[:n] == b) for b in range(n_bodies)]
        place = np.empty(m, np.int64)
        place[self.rows] = np.arange(m)
        touched: list[list[int]] = [[] for _ in range(n_bodies)]
        for row, body in pairs:
            touched[body].append(int(place[row]))
        touched = [sorted(rows) for rows in touched]
        blocks = [where.get((i, j), nnz) for own in coordinates for i in own.tolist() for j in own.tolist()]
        y_places = [
            where.get((k, n + int(self.rows[row])), nnz)
            for own, rows in zip(coordinates, touched, strict=True)
            for row in rows
            for k in own.tolist()
        ]
        sizes = np.array([len(own) for own in coordinates], np.int64)
        counts = np.array([len(rows) for rows in touched], np.int64)
        first = np.arange(m)
        for rows in touched:
            first[rows] = np.minimum(first[rows], min(rows, default=0))
        lengths = np.arange(m) - first + 1
        self.envelope = int(lengths.sum())
        arrays = {
            SIZES: sizes, BLOCK_START: starts(sizes**2), BLOCK_PLACE: blocks, TOUCH_START: [0, *np.cumsum(counts)],
            COORDINATE: [own[0] if len(own) else 0 for own in coordinates], TOUCH_ROW: list(itertools.chain(*touched)),
            TOUCH_PLACE: y_places, Y_START: starts(sizes * counts), OWN: self.rows, FIRST: first,
            ROW_START: starts(lengths),
        }  # fmt: skip
        for slot, array in arrays.items():
            table[slot] = np.ascontiguousarray(array, np.int64)
        floats = {VALUES: nnz + 1, BLOCK: len(blocks), Y: len(y_places), L: self.envelope, X: n + m, LAM: m, WEIGHT: m}
        for slot, length in floats.items():
            table[slot] = np.zeros(length)
        table[WEIGHT][:] = [weights.get(n + int(row), 0.0) for row in self.rows]
        self.table = table

    def factor(self, values: Sequence[float] | np.ndarray) -> None:
        """Take the values of the bordered matrix (a spare one at the end is ignored) and factor B.

        Raises
        ------
        ValueError
            If the upper block couples two bodies.
        SingularError
            If a body's block or the reduced matrix is not positive definite.
        """
        entries = self.table[VALUES]
        entries[:-1] = np.asarray(values, float)[: len(entries) - 1]
        if np.any(entries[self._coupling]):
            raise ValueError("The upper block couples two bodies. The reduced matrix is for the mass matrix alone.")
        body = assemble(0, self.table.handle)
        if body:
            raise SingularError(f"The mass matrix of body number {body - 1} is not positive definite.")
        row = factor(0, self.table.handle)
        if row:
            raise SingularError(f"Row {self.rows[row - 1]} is redundant: the reduced matrix is not positive definite.")

    def solve(self, b: Sequence[float] | np.ndarray) -> np.ndarray:
        """The solution for one right-hand side (forces, gamma)."""
        self.table[X][:] = b
        solve(0, self.table.handle)
        return self.table[X].copy()


def starts(lengths: np.ndarray) -> np.ndarray:
    """Where pieces of these lengths begin.

    >>> starts(np.array([2, 3, 1]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else np.zeros(0, np.int64)
