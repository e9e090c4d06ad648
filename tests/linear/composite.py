"""Accelerations in relative coordinates: the thesis's recursion and its factorisation Alg-S, plain, with counts.

[NegrutThesis] section 3.4.3. A body's twist is (velocity of its point at the ground origin, angular velocity), so
twists of different bodies add up. S_j spans the twists that the inboard joint of body j leaves free; with K_j the
inertia of the body and all that hangs on it, the block of bodies j and k of the composite inertia matrix is
S_j^T K_j S_k if k is j or an ancestor, else 0 (3.137)-(3.145).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from mechanisms import rate_matrix, skew

from index3.compiled import slots as s
from index3.linear.reference import null_space
from index3.methods.state_space.jacobian import bordered
from index3.methods.state_space.partition import dense_rows
from index3.system import evaluate


@dataclass
class Tree:
    """Bodies by number, descendants first: parents (-1: ground), free twists, inertias at the ground origin."""

    parents: list[int]
    free: list[np.ndarray]  # (6, relative coordinates)
    inertia: list[np.ndarray]

    @property
    def starts(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([S.shape[1] for S in self.free])])

    def path(self, j: int) -> list[int]:
        """The body and its ancestors."""
        found = []
        while j >= 0:
            found.append(j)
            j = self.parents[j]
        return found

    def columns(self, j: int) -> np.ndarray:
        """Relative coordinates of a body."""
        return np.arange(self.starts[j], self.starts[j + 1])

    def composite(self) -> np.ndarray:
        """The composite inertia matrix by the recursion from leaves to base."""
        K = [matrix.copy() for matrix in self.inertia]
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                assert parent > j  # descendants first
                K[parent] += K[j]
        M = np.zeros((self.starts[-1],) * 2)
        for j in range(len(K)):
            for k in self.path(j):
                block = self.free[j].T @ K[j] @ self.free[k]
                M[np.ix_(self.columns(j), self.columns(k))] = block
                M[np.ix_(self.columns(k), self.columns(j))] = block.T
        return M

    def motion(self, j: int) -> np.ndarray:
        """Twist of body j by relative rates, (6, coordinates)."""
        J = np.zeros((6, self.starts[-1]))
        for k in self.path(j):
            J[:, self.columns(k)] = self.free[k]
        return J

    def support(self, bodies: list[int]) -> list[int]:
        """Relative coordinates on the paths from some bodies to the base, ascending."""
        return sorted({int(c) for j in bodies if j >= 0 for k in self.path(j) for c in self.columns(k)})

    def below(self) -> list[list[int]]:
        """Rows below the diagonal that a column of L may have (Lemma 2)."""
        owner = np.repeat(np.arange(len(self.free)), np.diff(self.starts))
        return [[c for c in self.support([body]) if c > j] for j, body in enumerate(owner)]


def tree_of(state, graph) -> tuple[Tree, list[np.ndarray], dict[str, np.ndarray]]:
    """Tree of a model of spatial rigid bodies at a state; per body the map twist -> rates; cut rows (by twist)."""
    system = state.system
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    phi_q, mass = dense_rows(state), bordered(state, 1.0, 0.0, 0.0)
    number = {body.name: k for k, body in enumerate(system.bodies)}
    rows = {group.name: np.arange(group.row, group.row + group.rows) for group in system.groups}
    order = list(graph.bodies)
    maps, inertia = [], []
    for name in order:
        at = slice(system.starts[number[name]], system.starts[number[name] + 1])
        r, p = state[s.Q][at][:3], state[s.Q][at][3:]
        rates = np.zeros((7, 6))
        rates[:3, :3], rates[:3, 3:], rates[3:, 3:] = np.eye(3), -skew(r), rate_matrix(p).T / 4
        maps.append(rates)
        inertia.append(rates.T @ mass[at, at] @ rates)

    def by_twist(joint: str) -> dict[str, np.ndarray]:
        return {
            b: phi_q[rows[joint]][:, system.starts[number[b]] : system.starts[number[b] + 1]] @ maps[order.index(b)]
            for b in graph.edges[joint].bodies
            if b != "ground"
        }

    free = []
    for name in order:
        joint = graph.inboard[name][1]
        free.append(np.eye(6) if joint is None else null_space(by_twist(joint)[name]))
    parents = [order.index(before) if before != "ground" else -1 for before, _ in map(graph.inboard.get, order)]
    tree = Tree(parents, free, inertia)
    cut = {j: sum(G @ tree.motion(order.index(b)) for b, G in by_twist(j).items()) for j in graph.cut}
    return tree, maps, cut


def sparse_cholesky(M: np.ndarray, tree: Tree, counts: Counter) -> np.ndarray:
    """L L^T = M, touching only coordinates on the path to the base of each column (Lemma 2); counts what it does."""
    L = M.copy()
    for j, below in enumerate(tree.below()):
        L[j, j] = np.sqrt(L[j, j])
        L[below, j] /= L[j, j]
        counts.update(roots=1, divisions=len(below))
        for a, i in enumerate(below):
            L[below[a:], i] -= L[i, j] * L[below[a:], j]
            counts.update(products=len(below) - a, sums=len(below) - a)
    return np.tril(L)


def forward(L: np.ndarray, tree: Tree, b: np.ndarray, support: list[int], counts: Counter) -> np.ndarray:
    """L^-1 b, which is zero off the support."""
    y, inside, places = b.copy(), set(support), tree.below()
    for j in support:
        y[j] /= L[j, j]
        assert inside.issuperset(places[j])  # Lemma 3
        y[places[j]] -= L[places[j], j] * y[j]
        counts.update(divisions=1, products=len(places[j]), sums=len(places[j]))
    return y


def backward(L: np.ndarray, tree: Tree, b: np.ndarray, counts: Counter) -> np.ndarray:
    """L^-T b."""
    y = b.copy()
    for j, below in reversed(list(enumerate(tree.below()))):
        y[j] = (y[j] - L[below, j] @ y[below]) / L[j, j]
        counts.update(divisions=1, products=len(below), sums=len(below))
    return y


STEPS = ("1", "2", "3.1", "3.2", "3.3", "3.4", "3.5", "4")
"""Steps of Algorithm 4: L; L^-1 forces; T; right-hand side of the multipliers; T^T T; lam; forces less T lam; a."""


def one_block(size: int) -> Tree:
    """A tree of one body: what is dense."""
    return Tree([-1], [np.zeros((6, size))], [np.eye(6)])


def solve_tree(M, tree, rows, supports, forces, right) -> tuple[np.ndarray, np.ndarray, dict[str, Counter]]:
    """[M P^T; P 0] [a; lam] = [forces; right] through L, T = L^-1 P^T and T^T T (3.152), Algorithm 4, Alg-S.

    Operations are counted by step. With one block for a tree and full supports it is Alg-D.
    """
    counts: dict[str, Counter] = {step: Counter() for step in STEPS}
    L = sparse_cholesky(M, tree, counts["1"])
    T = np.column_stack([forward(L, tree, row, z, counts["3.1"]) for row, z in zip(rows, supports, strict=True)])
    y = forward(L, tree, forces, list(range(len(M))), counts["2"])
    m = len(rows)
    B, b = np.zeros((m, m)), np.zeros(m)
    for i in range(m):
        for j in range(i + 1):
            common = sorted(set(supports[i]).intersection(supports[j]))
            B[i, j] = B[j, i] = T[common, i] @ T[common, j]
            counts["3.3"].update(products=len(common), sums=len(common))
        b[i] = T[supports[i], i] @ y[supports[i]] - right[i]
        counts["3.2"].update(products=len(supports[i]), sums=len(supports[i]))
    full, count = one_block(m), counts["3.4"]
    R = sparse_cholesky(B, full, count)
    lam = backward(R, full, forward(R, full, b, list(range(m)), count), count)
    for i, z in enumerate(supports):
        y[z] -= T[z, i] * lam[i]
        counts["3.5"].update(products=len(z), sums=len(z))
    return backward(L, tree, y, counts["4"]), lam, counts


def gauss_counts(n: int) -> Counter:
    """Operations of Gaussian elimination with n unknowns and one right-hand side."""
    pairs = n * (n - 1) // 2
    products = (n - 1) * n * (2 * n - 1) // 6 + 2 * pairs
    return Counter(products=products, sums=products, divisions=pairs + n)
