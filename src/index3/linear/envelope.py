"""Numbering of joints that keeps the reduced matrix Phi_q M^-1 Phi_q^T narrow, and what it costs to factor it.

In the reduced matrix two joints meet if they share a body. With the joints in some order, width i is the distance from
joint i back to the first joint it meets; between that one and the diagonal a Cholesky factor fills up, elsewhere it
stays zero. [NegrutThesis] (3.123)-(3.126), Algorithm 3; the thesis uses the orders of Gibbs-King and of
Gibbs-Poole-Stockmeyer. Ours takes the best of the order of Cuthill-McKee reversed, the order of King and its reverse,
each from both ends of a long shortest path, and the order given.
"""

from __future__ import annotations

from collections.abc import Sequence

Graph = Sequence[set[int]]


def joint_graph(joint_bodies: Sequence[Sequence[int]]) -> list[set[int]]:
    """The neighbours of each joint: joints that share a body with it. Ground (-1) makes nobody neighbours.

    >>> joint_graph([[-1, 0], [0, 1], [1, -1]])
    [{1}, {0, 2}, {1}]
    """
    at: dict[int, list[int]] = {}
    for joint, bodies in enumerate(joint_bodies):
        for body in bodies:
            if body >= 0:
                at.setdefault(body, []).append(joint)
    near: list[set[int]] = [set() for _ in joint_bodies]
    for joints in at.values():
        for joint in joints:
            near[joint].update(other for other in joints if other != joint)
    return near


def widths(graph: Graph, order: Sequence[int]) -> list[int]:
    """How far back the first neighbour stands, for each place of the order.

    >>> widths([{1}, {0, 2}, {1}], [0, 1, 2]), widths([{1}, {0, 2}, {1}], [0, 2, 1])
    ([0, 1, 1], [0, 0, 2])
    """
    place = {joint: k for k, joint in enumerate(order)}
    return [max(0, k - min((place[near] for near in graph[joint]), default=k)) for k, joint in enumerate(order)]


def work(back: Sequence[int]) -> int:
    """Multiplications of an envelope Cholesky factorisation with these widths, at most (3.126).

    >>> work([0, 1, 1, 1])
    6
    """
    return sum(width * (width + 3) for width in back) // 2


def number_joints(graph: Graph) -> list[int]:
    """An order of the joints with a small envelope; components one after the other."""

    def cost(choice: list[int]) -> int:
        return work(widths(graph, choice))

    order: list[int] = []
    for component in components(graph):
        ends = far_ends(graph, component)
        kings = [king(graph, end) for end in ends]
        choices: list[list[int]] = [component, *kings]
        choices += [cuthill_mckee(graph, end)[::-1] for end in ends] + [k[::-1] for k in kings]
        best = min(choices, key=cost)
        order += best
    return order


def components(graph: Graph) -> list[list[int]]:
    """The connected parts, each ascending."""
    left, parts = set(range(len(graph))), []
    while left:
        part = {joint for level in levels(graph, min(left)) for joint in level}
        left -= part
        parts.append(sorted(part))
    return parts


def levels(graph: Graph, root: int) -> list[list[int]]:
    """Joints by distance from a root."""
    seen, found = {root}, [[root]]
    while True:
        following = sorted({near for joint in found[-1] for near in graph[joint]} - seen)
        if not following:
            return found
        seen.update(following)
        found.append(following)


def far_ends(graph: Graph, component: Sequence[int]) -> tuple[int, int]:
    """Both ends of a long shortest path: step to a farthest joint of least degree while that gets farther."""
    start, depth = min(component, key=lambda joint: (len(graph[joint]), joint)), 0
    while True:
        found = levels(graph, start)
        end = min(found[-1], key=lambda joint: (len(graph[joint]), joint))
        if len(found) <= depth:
            return start, end
        start, depth = end, len(found)


def cuthill_mckee(graph: Graph, start: int) -> list[int]:
    """Neighbours of what is numbered, in turn, those of small degree first."""
    order, seen = [start], {start}
    for joint in order:
        following = sorted(graph[joint] - seen, key=lambda near: (len(graph[near]), near))
        seen.update(following)
        order += following
    return order


def king(graph: Graph, start: int) -> list[int]:
    """The next joint is always the one that brings the fewest new neighbours into the front."""
    order, numbered, front = [start], {start}, set(graph[start])
    while front:
        joint = min(front, key=lambda near: (len(graph[near] - numbered - front), near))
        order.append(joint)
        numbered.add(joint)
        front = (front | graph[joint]) - numbered
    return order


def draw(graph: Graph, order: Sequence[int]) -> str:
    """The pattern of the reduced matrix as text: # a block, . a block that fills up at most, blank outside.

    >>> print(draw([{1}, {0, 2}, {1}], [0, 2, 1]))
    #
     #
    ###
    """
    back = widths(graph, order)
    lines = []
    for k, joint in enumerate(order):
        marks = ["#" if order[j] in graph[joint] else "." for j in range(k - back[k], k)]
        lines.append(" " * (k - back[k]) + "".join(marks) + "#")
    return "\n".join(lines)
