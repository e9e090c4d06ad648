"""Bodies of nodes that deform in modes: what all of them know of their markers and motion, however they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from index3.algebra.rotations import rotation
from index3.bodies.body import Body, box_of
from index3.bodies.kinematics import Kinematics
from index3.bodies.marker import Marker, as_vector, check_name, frame
from index3.bodies.modal_data import ModalData, free_frequencies
from index3.bodies.modal_matrices import node_number
from index3.bodies.modal_motion import FRAME, constants_of, frame_of, motion_of, node_of, node_places
from index3.bodies.modal_results import QUANTITIES
from index3.bodies.rigid_data import is_singular
from index3.bodies.transport import Places
from index3.errors import ModelError

# Largest distance of a joint from the nearest node, relative to the size of the body: farther away it is a slip.
REACH = 0.1


class BodyOfNodes(Body):
    """A floating frame with nodes that move in modes; `data` is the structure, `ModalBody` makes it."""

    own_rows: tuple[str, ...] = ("normalisation",)
    own_columns: tuple[tuple[int, ...], ...] = ((3, 4, 5, 6),)
    deforms = True
    quantities = QUANTITIES
    data: ModalData
    modes: int
    mass: float
    inertia: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """Of the free body's modes [Hz], by growing frequency."""
        return free_frequencies(self.data)

    @property
    def nodes(self) -> np.ndarray:
        """Places of the nodes without deformation, in the frame in which they were given; spiders come last."""
        return self.data.nodes

    @property
    def lacks_inertia(self) -> bool:
        """Whether it has no inertia about some axis."""
        return is_singular(self.inertia)

    def row_weights(self) -> list[float]:
        """4 tr(J)/3, the size of the p block of the mass matrix."""
        return [4.0 * max(float(np.trace(self.inertia)), 1e-6 * self.mass) / 3.0]

    def given_rates(self) -> np.ndarray:
        """A mask of the rates that the user gave; modes start at rest unless joints make them move."""
        given = super().given_rates()
        given[FRAME:] = True
        return given

    def constants(self) -> dict[str, Any]:
        """Names of the coordinates, and the nodes with their shapes."""
        return constants_of(self.data, self.coordinate_names, self.label)

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        return Places(np.array([[0, 1, 2]]), np.ones(1), quaternion=3)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Origin (3,) and axes (3, 3) of the body frame in ground at the initial configuration."""
        return self.q0[:3].copy(), np.array(rotation(self.q0[3:7].tolist())).reshape(3, 3)

    def marker_pose(self, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
        """As its motion has it."""
        entry = {"position": marker.position, "axes": marker.axes, "part": marker.part}
        still = np.zeros((1, self.size))
        motion = self.marker_motion(self.constants(), entry, self.q0[None], still, still)
        return motion.position[0], motion.rotation[0]

    def part_pose(self, part: str | None) -> tuple[np.ndarray, np.ndarray]:
        """That of a node, or of the body frame."""
        if part is None:
            return self.pose()
        return self.marker_pose(Marker.placed(self, np.zeros(3), np.eye(3), None, part))

    def is_oriented(self, part: str | None) -> bool:
        """Whether markers on a node turn with it; nodes with three coordinates have no rotations."""
        return part is None or bool(self.data.turning[node_of(part)])

    def has_part(self, part: str | None) -> bool:
        """Whether it has such a node."""
        number = (part or "node0").removeprefix("node")
        return number.isdecimal() and int(number) < len(self.data.nodes)

    def shapes_at(self, part: str | None) -> np.ndarray:
        """Displacement and rotation (modes, 6) of a node; none of the body frame."""
        return np.zeros((self.modes, 6)) if part is None else self.data.shapes[node_of(part)].T

    def rest_of(self, part: str | None) -> np.ndarray:
        """The place of a node without deformation in the body frame."""
        return np.zeros(3) if part is None else self.data.nodes[node_of(part)] - self.data.centre

    def marker(
        self, position: Any = (0, 0, 0), *, node: Any = None, x: Any = None, z: Any = None, name: str | None = None
    ) -> Marker:
        """A marker on a node, given by its number or name; `position` from it and directions in the body frame.

        Away from its node it moves as if on a rigid arm. A node with three coordinates gives no axes and no arm.
        Without a node it is the origin of the floating frame, for forces on the body as a whole.
        """
        owner = f"Marker of {self.label}"
        if node is None:
            if np.any(as_vector(position, owner, "position")):
                raise ModelError(f"{owner} is on no node. Give node=..., one of those the body was made with.")
            return self._on(None, np.zeros(3), frame(z, x, owner), name)
        number = node_number(node, self.data.nodes, self.data.names, self.label)
        arm = as_vector(position, owner, "position")
        if np.any(arm) and not self.data.turning[number]:
            raise ModelError(f"{owner} is on an arm at node {number}, which has no rotations. Use an interface.")
        return self._on(number, arm, frame(z, x, owner), name)

    def marker_at_pose(self, point: np.ndarray, axes: np.ndarray, name: str | None = None) -> Marker:
        """A marker with the pose (`point`, `axes`) in ground at the start, on the nearest node."""
        number, r, A = self._nearest(point)
        return self._on(number, A.T @ (point - r), A.T @ axes, name)

    def own_marker_at(self, point: np.ndarray) -> Marker:
        """A marker at a `point` of ground at the start, on the nearest node, with its axes."""
        number, r, A = self._nearest(point)
        return self._on(number, A.T @ (point - r), np.eye(3), None)

    def _on(self, number: int | None, arm: np.ndarray, axes: np.ndarray, name: str | None) -> Marker:
        if name is not None:
            check_name(name, f"Marker of {self.label}")
        return Marker.placed(self, arm, axes, name, None if number is None else f"node{number}")

    def _nearest(self, point: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """The number and pose of the node nearest to a point of ground, one with axes unless the point is at it."""
        r, A = self.pose()
        away = np.linalg.norm(self.data.nodes - self.data.centre - A.T @ (point - r), axis=1)
        size = float(np.ptp(self.data.nodes, axis=0).max())
        away[~self.data.turning & (away > 1e-9 * size)] = np.inf
        number = int(np.argmin(away))
        if away[number] > REACH * size:
            raise ModelError(
                f"{self.label} has no node within a tenth of its size of {point.tolist()}. Give a marker: "
                "marker(node=..., position=...)."
            )
        return number, *self.part_pose(f"node{number}")

    @property
    def extent(self) -> float:  # type: ignore[override]  # of most kinds it is a constant
        """Diagonal of the box around its nodes [m]."""
        return box_of(self.data.nodes)

    def sections(self) -> list[Mapping[str, Any]]:
        """All nodes."""
        return [{"part": f"node{k}"} for k in range(len(self.data.nodes))]

    def drawing(self) -> dict[str, Any]:
        """Bars along its members and its faces, coloured by stress where it is known; else its shape."""
        data = self.data
        drawn = np.unique(np.concatenate([data.lines.ravel(), data.faces.ravel()]))
        if not len(drawn):
            return self.shape
        at = {"position": [0.0, 0.0, 0.0], "axes": np.eye(3).tolist()}
        shape: dict[str, Any] = {"type": "faces", "nodes": [{**at, "part": f"node{k}"} for k in drawn.tolist()]}
        shape["members"], shape["faces"] = (np.searchsorted(drawn, x).tolist() for x in (data.lines, data.faces))
        shape["radius"], shape["rest"] = data.radius, (data.nodes[drawn] - data.centre).tolist()
        if data.stress is not None and np.isin(drawn, data.stress.nodes).all():
            shape["values"] = ["stress", drawn.tolist()]
        return shape

    @classmethod
    def section_places(
        cls, constants: Mapping[str, Any], sections: Sequence[Mapping[str, Any]], q: np.ndarray
    ) -> np.ndarray:
        """Of nodes, all at once."""
        return node_places(constants, [node_of(section["part"]) for section in sections], q)

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """Of the body frame, or of a node."""
        if part is None:
            return frame_of(q, v, a)
        return motion_of(constants, {"position": np.zeros(3), "axes": np.eye(3), "part": part}, q, v, a)

    @classmethod
    def marker_motion(
        cls, constants: Mapping[str, Any], marker: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """On a node."""
        return motion_of(constants, marker, q, v, a)
