"""A body kind that is not part of the package: a chain of nodes, coupled elastically, whose markers span one node each.

A node has eight coordinates: a point, an angle about z, a stretch and a gradient. They are numbered component by
component, so those of a node do not follow each other, and a span has them in yet another order. Mass and stiffness are
constant and couple a node to its neighbours; the gradient of the last node has unit length, by a row of the body's own.
"""

from __future__ import annotations

from typing import Any

import node_chain_kernels as kernels
import numpy as np

import index3 as ix
from index3.bodies.body import Body
from index3.bodies.kinematics import Kinematics
from index3.bodies.marker import Marker, as_vector, frame

NAMES = ("x", "y", "z", "angle", "stretch", "dx", "dy", "dz")
INERTIA = (1.0, 1.0, 1.0, 0.1, 0.2, 0.05, 0.06, 0.07)
"""Of each component, times the mass."""
ALONG = (40.0, 50.0, 60.0, 3.0, 5.0, 2.0, 2.0, 2.0)
"""Stiffness of each component between neighbours."""
WITHIN = (0.0, 0.0, 0.0, 1.0, 8.0, 3.0, 3.0, 3.0)
"""Stiffness of each component against its own rest."""
MIXED = 0.4
"""Stiffness between angle and stretch of a node."""


@ix.register
class NodeChain(Body):
    """Nodes along x from `position`, 0.25 m apart; `displaced` (nodes, 8) is how far they start from rest."""

    kind_name = "node chain"
    kernels = kernels.__name__
    no_file = "it is a body of the tests"
    deforms = True
    own_rows = ("director",)

    def __init__(
        self, name: str, *, mass: float = 2.0, position: Any = (0, 0, 0), displaced: Any = 0.0, nodes: int = 5
    ):
        super().__init__(name, self.kind_name)
        self.mass, self.nodes, self.size = mass, nodes, 8 * nodes
        self.coordinate_names = tuple(f"{component}{n}" for component in NAMES for n in range(nodes))
        self.translations, self.velocity_given = self.size, True
        rest = np.zeros((nodes, 8))
        rest[:, :3] = as_vector(position, self.label, "position")
        rest[:, 0] += 0.25 * np.arange(nodes)
        rest[:, 5] = 1.0
        start = rest + displaced
        start[-1, 5:] /= np.linalg.norm(start[-1, 5:])
        self.rest, self.q0, self.v0 = rest.T.ravel(), start.T.ravel(), np.zeros(self.size)
        self.own_columns = (tuple(self.number(nodes - 1, c) for c in (5, 6, 7)),)
        self.turning = tuple(self.number(n, kernels.ANGLE) for n in range(nodes))
        pairs = [(self.number(n, c), self.number(n, k)) for n in range(nodes) for c in range(8) for k in range(8)]
        for n in range(nodes - 1):
            ends = [(self.number(n, c), self.number(n + 1, c)) for c in range(8)]
            pairs += ends + [(j, i) for i, j in ends]
        rows, columns = zip(*pairs, strict=True)
        self.couplings = np.array(rows), np.array(columns)

    def number(self, node: int, component: int) -> int:
        """The number of a coordinate within the body."""
        return self.nodes * component + node

    @property
    def mass_matrix(self) -> np.ndarray:
        """That of linear shape functions between the nodes, for each component."""
        share = self.mass / (self.nodes - 1) / 6.0
        return np.kron(np.diag(INERTIA), along(self.nodes, 2.0 * share, share))

    @property
    def stiffness_matrix(self) -> np.ndarray:
        """Springs between neighbours and within the nodes."""
        K = np.kron(np.diag(ALONG), along(self.nodes, 1.0, -1.0)) + np.kron(np.diag(WITHIN), np.eye(self.nodes))
        for n in range(self.nodes):
            i, j = (self.number(n, c) for c in (kernels.ANGLE, kernels.STRETCH))
            K[i, j] = K[j, i] = MIXED
        return K

    @property
    def blocks(self):
        """One for each node."""
        return [[self.number(n, c) for c in range(8)] for n in range(self.nodes)]

    def span(self, marker):
        """The coordinates of its node, for a wide marker behind those of a neighbour, so that spans overlap."""
        node = self.node_of(marker)
        nodes = [node - 1 if node == self.nodes - 1 else node + 1, node] if marker.part.endswith("+") else [node]
        return [self.number(n, c) for n in nodes for c in kernels.ORDER]

    def row_weights(self):
        """About the mass of a gradient."""
        return [0.05 * self.mass / self.nodes]

    def constants(self):
        """Names, and how the coordinates are numbered."""
        return {"coordinates": list(self.coordinate_names), "nodes": self.nodes}

    @staticmethod
    def node_of(marker):
        """The number of the node that carries a marker."""
        return node_of(marker.part)

    def marker(self, position=(0, 0, 0), *, node=0, x=None, z=None, name=None, wide=False):
        """A marker at `position` in the frame of a node."""
        owner, part = f"Marker of {self.label}", f"node{node}{'+' * wide}"
        return Marker.placed(self, as_vector(position, owner, "position"), frame(z, x, owner), name, part)

    def marker_at_pose(self, point, axes, name=None):
        """A marker on the nearest node."""
        q = self.q0.reshape(8, self.nodes)
        node = int(np.argmin(np.linalg.norm(q[:3].T - point, axis=1)))
        A = turned(q[3:4, node])[0]
        reach = (1.0 + q[4, node]) * A + np.outer(q[5:, node], (1.0, 0.0, 0.0))
        return Marker.placed(self, np.linalg.solve(reach, point - q[:3, node]), A.T @ axes, name, f"node{node}")

    def own_marker_at(self, point):
        """A marker on the nearest node, with its axes."""
        marker = self.marker_at_pose(point, np.eye(3))
        return Marker.placed(self, marker.position, np.eye(3), None, marker.part)

    def pose(self):
        """That of the first node."""
        return self.part_pose("node0")

    def part_pose(self, part):
        """That of a node."""
        return self.marker_pose(Marker.placed(self, np.zeros(3), np.eye(3), None, part))

    def marker_pose(self, marker):
        """As its motion has it."""
        entry = {"position": marker.position, "axes": marker.axes, "part": marker.part}
        zero = np.zeros((1, self.size))
        motion = self.marker_motion(self.constants(), entry, self.q0[None], zero, zero)
        return motion.position[0], motion.rotation[0]

    @classmethod
    def frame_motion(cls, constants, part, q, v, a):
        """Of a node, by default the first."""
        return cls.marker_motion(constants, {"position": np.zeros(3), "axes": np.eye(3), "part": part}, q, v, a)

    @classmethod
    def marker_motion(cls, constants, marker, q, v, a):
        """x = r + (1 + stretch) Rz(angle) s + s_x d."""
        node = node_of(marker.get("part") or "node0")
        (r, angle, stretch, d), (r_v, w, rate, d_v), (r_a, w_dot, second, d_a) = (
            (c[:, :3], c[:, 3:4], c[:, 4:5], c[:, 5:]) for c in (x[:, node :: constants["nodes"]] for x in (q, v, a))
        )
        s, A = np.asarray(marker["position"], float), turned(angle[:, 0])
        u = A @ s
        ku = np.cross((0, 0, 1), u)
        kku, long = np.cross((0, 0, 1), ku), 1.0 + stretch
        velocity = r_v + s[0] * d_v + rate * u + long * w * ku
        acceleration = r_a + s[0] * d_a + second * u + (long * w_dot + 2 * rate * w) * ku + long * w**2 * kku
        spin, spin_rate = (np.concatenate([0 * x, 0 * x, x], axis=1) for x in (w, w_dot))
        point = r + long * u + s[0] * d
        return Kinematics(point, velocity, acceleration, A @ np.asarray(marker["axes"], float), spin, spin_rate)

    def drawing(self):
        """A line through its nodes."""
        sections = [{"position": [0, 0, 0], "axes": np.eye(3).tolist(), "part": f"node{n}"} for n in range(self.nodes)]
        return {"type": "lines", "lines": [sections], "radius": 0.02}


def node_of(part: str) -> int:
    """The number of the node that a part is: "node2", with a wide span "node2+"."""
    return int(part.removeprefix("node").removesuffix("+"))


def along(count: int, diagonal: float, beside: float) -> np.ndarray:
    """The sum over neighbours of (2, 2) matrices with these entries."""
    whole = np.zeros((count, count))
    for n in range(count - 1):
        whole[n : n + 2, n : n + 2] += [[diagonal, beside], [beside, diagonal]]
    return whole


def turned(angle: np.ndarray) -> np.ndarray:
    """Rotations about z (n_t, 3, 3)."""
    c, n, zero = np.cos(angle), np.sin(angle), 0.0 * angle
    return np.stack([c, -n, zero, n, c, zero, zero, zero, zero + 1.0], axis=-1).reshape(-1, 3, 3)
