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

import heapq
from collections.abc import Sequence

import numpy as np

from index3.linear.symbolic import Elimination, Pattern, eliminate, pattern_of

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
    """
    node_of_scalar = np.asarray(node_of_scalar)
    n_nodes = n_bodies + len(joint_bodies)
    adjacency = node_graph(indptr, indices, node_of_scalar, n_nodes)
    weights = np.bincount(node_of_scalar, minlength=n_nodes).tolist()
    orders: list[list[int]] = []
    found: dict[str, Elimination] = {}
    for name in RULES if rule is None else (rule,):
        order = order_nodes(adjacency, weights, n_bodies, joint_bodies, name)
        if order not in orders:  # both rules often agree
            orders.append(order)
            found[name] = eliminate(len(node_of_scalar), indptr, indices, scalar_order(order, node_of_scalar))
    best = min(found, key=lambda name: found[name].flops)
    return best, pattern_of(found[best])


def node_graph(indptr: np.ndarray, indices: np.ndarray, node_of_scalar: np.ndarray, n_nodes: int) -> list[set[int]]:
    """The neighbours of each node: nodes with an entry of the matrix between them."""
    columns = np.repeat(node_of_scalar, np.diff(indptr))
    pairs = np.sort(columns.astype(np.int64) * n_nodes + node_of_scalar[indices])
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs
    adjacency: list[set[int]] = [set() for _ in range(n_nodes)]
    for a, b in zip((pairs // n_nodes).tolist(), (pairs % n_nodes).tolist(), strict=True):
        if a != b:
            adjacency[a].add(b)
    return adjacency


def scalar_order(order: Sequence[int], node_of_scalar: np.ndarray) -> np.ndarray:
    """Scalars in the order of their nodes; inside a node ascending, so that coordinates precede rows."""
    place = np.empty(len(order), np.int64)
    place[np.asarray(order, np.int64)] = np.arange(len(order))
    return np.argsort(place[node_of_scalar], kind="stable")


def order_nodes(
    adjacency: Sequence[set[int]],
    weights: Sequence[int],
    n_bodies: int,
    joint_bodies: Sequence[Sequence[int]],
    rule: str,
) -> list[int]:
    """Nodes in the order of elimination: least weight of remaining neighbours first among the nodes the rule allows.

    A joint that the rule refuses is put aside and asked again when a body is gone whose elimination can change the
    answer, so the work stays proportional to the number of joints.

    >>> order_nodes([{2}, {2, 3}, {0, 1}, {1}], [7, 7, 5, 5], 2, [[0, 1], [1, -1]], "R")
    [0, 1, 2, 3]
    """
    near = [set(neighbours) for neighbours in adjacency]
    weight_of = weights.__getitem__
    degree = [sum(map(weight_of, neighbours)) for neighbours in near]
    gate = _Gate(n_bodies, joint_bodies, forest=rule == "F")
    waiting: list[list[int]] = [[] for _ in range(n_bodies)]  # joints to ask again when the body is gone
    aside = [False] * len(near)
    queue = [(d, k) for k, d in enumerate(degree)]
    heapq.heapify(queue)
    done = [False] * len(near)
    order: list[int] = []
    while queue:
        d, k = heapq.heappop(queue)
        if done[k] or d != degree[k]:
            continue
        if k >= n_bodies and (reasons := gate.refusal(k - n_bodies)):
            aside[k] = True
            for body in reasons:
                waiting[body].append(k)
            continue
        done[k] = True
        order.append(k)
        front = near[k]
        for a in front:
            mine = near[a]
            mine |= front
            mine.discard(a)
            mine.discard(k)
            degree[a] = sum(map(weight_of, mine))
            if not aside[a]:
                heapq.heappush(queue, (degree[a], a))
        if k < n_bodies:
            gate.pass_body(k)
            for joint in waiting[k]:
                aside[joint] = False
                heapq.heappush(queue, (degree[joint], joint))
        else:
            gate.pass_joint(k - n_bodies)
    return order


class _Gate:
    """Which joints may be eliminated now; keeps the components of eliminated bodies and their ties (union-find)."""

    def __init__(self, n_bodies: int, joint_bodies: Sequence[Sequence[int]], forest: bool) -> None:
        self.ground = n_bodies  # one more vertex: components tied to ground are merged with it
        self.forest = forest
        # Rows on one body alone hold it to something that does not move with it: ground, even if that is not said.
        self.touched = [
            tuple(self.ground if b < 0 else b for b in (bodies if len(bodies) > 1 else (*bodies, -1)))
            for bodies in joint_bodies
        ]
        self.gone = [False] * n_bodies + [True]
        self.link = list(range(n_bodies + 1))
        self.anchor: dict[int, int] = {}  # root of a component -> the remaining body it is tied to
        self.anchored: dict[int, list[int]] = {}  # that body -> members of the components tied to it

    def root(self, body: int) -> int:
        """The body that stands for a component."""
        link = self.link
        while link[body] != body:
            link[body] = link[link[body]]
            body = link[body]
        return body

    def ties(self, roots: set[int]) -> list[int]:
        """What components are tied to: one entry for each tie."""
        found = [self.anchor[r] for r in roots if r in self.anchor]
        return [*found, self.ground] if self.root(self.ground) in roots else found

    def refusal(self, joint: int) -> list[int]:
        """Remaining bodies, one of which must go before the joint may; empty if it may go now."""
        touched, gone = self.touched[joint], self.gone
        remaining = [b for b in touched if not gone[b]]
        if not self.forest:
            return remaining[:1]
        if len(remaining) > 1 or (remaining and len(touched) > 2):
            return remaining
        ties = self.ties({self.root(b) for b in touched if gone[b]})
        if len(ties) + len(remaining) <= 1:
            return []
        return remaining + [b for b in ties if b != self.ground]

    def pass_body(self, body: int) -> None:
        """Note that a body is gone: the components anchored at it become one with it."""
        self.gone[body] = True
        for member in self.anchored.pop(body, ()):
            r = self.root(member)
            self.anchor.pop(r, None)
            self.link[r] = self.root(body)

    def pass_joint(self, joint: int) -> None:
        """Note that a joint is gone: it makes its eliminated bodies one component and its remaining body the anchor."""
        if not self.forest:
            return
        touched = self.touched[joint]
        roots = {self.root(b) for b in touched if self.gone[b]}
        anchors = [self.anchor.pop(r) for r in roots if r in self.anchor] + [b for b in touched if not self.gone[b]]
        first = roots.pop()
        for r in roots:
            self.link[r] = first
        for body in anchors:  # one at most
            self.anchor[first] = body
            self.anchored.setdefault(body, []).append(first)
