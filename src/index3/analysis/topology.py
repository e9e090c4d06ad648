"""The graph of a model: spanning tree, cut joints, order of bodies and joints.

[NegrutThesis] section 3.4.3.3: bodies are vertices, joints edges. A tree of joints that reaches every body from ground
gives relative coordinates, joints that it leaves out ("cut") give constraint equations between them. Bodies numbered
with descendants before ancestors let the tree's composite inertia matrix be factored without fill-in (Lemma 2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from index3.engine.settings import check_model
from index3.joints.primitive import CoordinateConstraint
from index3.linear.envelope import draw, joint_graph, number_joints, widths, work
from index3.model.model import Model
from index3.system.parts import joint_group

GROUND = "ground"


@dataclass(frozen=True)
class Edge:
    """A joint as the graph sees it: what it ties, and its constraint rows."""

    name: str
    bodies: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Topology:
    """The graph of a model by names; prints as a readable text.

    Attributes
    ----------
    model : name
    edges : joint -> `Edge`, in the order of the model
    inboard : body -> (body before it in the tree, joint between them); the joint of a floating base is None
    freedoms : body -> relative coordinates between it and the body before it
    cut : joints that close loops, in the order of their names
    driven : number of rows of motions
    bodies : names, descendants before ancestors
    joints : names in an order that keeps the reduced matrix narrow
    """

    model: str
    edges: dict[str, Edge]
    inboard: dict[str, tuple[str, str | None]]
    freedoms: dict[str, int]
    cut: tuple[str, ...]
    driven: int
    bodies: tuple[str, ...]
    joints: tuple[str, ...]

    @property
    def coordinates(self) -> int:
        """Number of relative coordinates."""
        return sum(self.freedoms.values())

    @property
    def cut_rows(self) -> int:
        """Number of constraint rows between them."""
        return sum(self.edges[name].rows for name in self.cut)

    @property
    def dof(self) -> int:
        """Degrees of freedom if no row is redundant; `check` finds out whether."""
        return self.coordinates - self.cut_rows - self.driven

    @property
    def bases(self) -> tuple[str, ...]:
        """Bodies that float: nothing ties them, or what hangs on them, to ground."""
        return tuple(body for body, (_, joint) in self.inboard.items() if joint is None)

    def path(self, body: str) -> list[str]:
        """The body and its ancestors, ground left out."""
        found = []
        while body != GROUND:
            found.append(body)
            body = self.inboard[body][0]
        return found

    def children(self, body: str) -> list[str]:
        """Bodies that hang on a body, or on "ground", in the order of their names."""
        return sorted(name for name, (before, _) in self.inboard.items() if before == body)

    def graph(self, order: Iterable[str] | None = None) -> tuple[list[str], list[set[int]]]:
        """Joints by name, and for each the numbers of those that share a body with it."""
        names = list(self.joints if order is None else order)
        number = {body: k for k, body in enumerate(self.bodies)}
        return names, joint_graph([[number.get(body, -1) for body in self.edges[name].bodies] for name in names])

    def bandwidth(self, order: Iterable[str] | None = None) -> int:
        """Block bandwidth of the reduced matrix Phi_q M^-1 Phi_q^T with the joints in this order, or in the best."""
        names, graph = self.graph(order)
        return max(widths(graph, range(len(names))), default=0)

    def work(self, order: Iterable[str] | None = None) -> int:
        """Bound on the block operations of its envelope factorisation."""
        names, graph = self.graph(order)
        return work(widths(graph, range(len(names))))

    def pattern(self, order: Iterable[str] | None = None) -> str:
        """Its pattern as text, one line for each joint."""
        names, graph = self.graph(order)
        return draw(graph, range(len(names)))

    def __str__(self) -> str:
        lines = [
            f"model '{self.model}'",
            f"  bodies, joints        {len(self.inboard):6d}{len(self.edges):6d}",
            f"  loops                 {len(self.cut):6d}",
            f"  relative coordinates  {self.coordinates:6d}",
            f"  cut-joint rows        {self.cut_rows:6d}",
            *([f"  driven rows           {self.driven:6d}"] if self.driven else []),
            f"  cut joints            {', '.join(self.cut) or 'none'}",
            "  tree",
        ]
        stack = [(child, 0) for child in reversed(self.children(GROUND))]
        while stack:
            body, depth = stack.pop()
            joint = self.inboard[body][1]
            lines.append(f"    {'  ' * depth}{body} ({'free' if joint is None else joint})")
            stack += [(child, depth + 1) for child in reversed(self.children(body))]
        return "\n".join(lines)


def topology(model: Model) -> Topology:
    """The spanning tree of a model, its cut joints, and good orders of bodies and joints.

    The tree takes joints with many rows first, so that relative coordinates are few; then those close to ground, then
    by name: the answer does not depend on the order in which the model was written. Rows on more than two bodies or on
    single coordinates are always cut. A part of the mechanism that no joint ties to ground floats on its body with the
    most joints.

    >>> import index3 as ix
    >>> print(ix.topology(ix.library.four_bar()))
    model 'four-bar'
      bodies, joints             3     4
      loops                      1
      relative coordinates       3
      cut-joint rows             5
      cut joints            C
      tree
        crank (A)
          coupler (B)
        rocker (D)
    """
    check_model(model, "topology")
    angles = [joint for joint in model.joints.values() if "angle" in joint.coordinates]
    edges = {}
    for name, joint in model.joints.items():
        rows = 1 if isinstance(joint, CoordinateConstraint) else joint_group(joint, angles).rows
        bodies = tuple(body.name for body in joint.bodies)
        edges[name] = Edge(name, bodies if len(bodies) > 1 else (*bodies, GROUND), rows)
    freedom = {body.name: body.size - len(body.own_rows) for body in model.bodies.values()}
    inboard = grow_tree(
        freedom, edges, {name for name, joint in model.joints.items() if isinstance(joint, CoordinateConstraint)}
    )
    used = {joint for _, joint in inboard.values()}
    cut = tuple(sorted(set(edges) - used))
    names = sorted(edges)
    numbers = {body: k for k, body in enumerate(sorted(freedom))}
    graph = joint_graph([[numbers.get(body, -1) for body in edges[name].bodies] for name in names])
    return Topology(
        model=model.name, edges=edges, inboard=inboard,
        freedoms={b: freedom[b] - (0 if j is None else edges[j].rows) for b, (_, j) in inboard.items()},
        cut=cut, driven=len(model.motions), bodies=tuple(reversed(inboard)),
        joints=tuple(names[k] for k in number_joints(graph)),
    )  # fmt: skip


def grow_tree(freedom: dict[str, int], edges: dict[str, Edge], never: set[str]) -> dict[str, tuple[str, str | None]]:
    """Body -> (body before it, joint), bodies in the order in which the tree reached them (ancestors first)."""
    inboard: dict[str, tuple[str, str | None]] = {}
    depth = {GROUND: 0}
    usable = [edge for edge in edges.values() if len(edge.bodies) == 2 and edge.name not in never]
    degree = {body: sum(body in edge.bodies for edge in usable) for body in freedom}
    while len(inboard) < len(freedom):
        reached = []
        for edge in usable:
            for before, body in (edge.bodies, edge.bodies[::-1]):
                if before in depth and body not in depth and edge.rows <= freedom[body]:
                    reached.append((-edge.rows, depth[before], edge.name, body, before))
        if reached:
            _, _, joint, body, before = min(reached)
            inboard[body], depth[body] = (before, joint), depth[before] + 1
        else:
            body = min(freedom.keys() - inboard.keys(), key=lambda name: (-degree[name], name))
            inboard[body], depth[body] = (GROUND, None), 1
    return inboard
