"""What cables and spatial beams in absolute nodal coordinates share: nodes, markers, motion, drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from index3.bodies.ancf_curve import given_line, nearest_place, nodes_along
from index3.bodies.ancf_histories import place
from index3.bodies.ancf_space_elements import MOST
from index3.bodies.ancf_space_histories import Constants, turn_history, vectors_of
from index3.bodies.ancf_space_marks import mark_axes
from index3.bodies.ancf_words import as_count, as_damping
from index3.bodies.body import Body, box_of
from index3.bodies.kinematics import Kinematics
from index3.bodies.marker import Marker, as_number, as_vector, check_name, frame
from index3.bodies.transport import Places
from index3.errors import Index3Error, ModelError


class Mark(NamedTuple):
    """A marker in numbers: element, first vector and number of vectors there, what it turns with, coefficients."""

    element: int
    shift: int
    vectors: int
    frame: int
    rows: tuple[np.ndarray, np.ndarray, np.ndarray]  # of its point and of the two vectors that it turns with
    rest: np.ndarray


@dataclass
class Rule:
    """What elements of one undeformed shape share: mass, its first moment, and the points of the elastic law."""

    mass: np.ndarray
    moment: np.ndarray
    points: tuple[list[tuple], ...]


class SpaceLine(Body):
    """Base of `AncfCable` and `AncfBeam3D`: a line of elements between nodes of `node_vectors` vectors each."""

    deforms = True
    node_vectors: ClassVar[int]
    node_words: ClassVar[tuple[str, ...]]
    quantities: ClassVar[Mapping[str, Callable[..., Any]]]
    mass: float
    reach: float  # how far from the line a joint may be put [m]

    def _lay(self, start: Any, end: Any, points: Any, elements: Any, damping: Any) -> None:
        """The undeformed line: `nodes` (number, node_vectors, 3), with unit tangents, and `lengths` of elements."""
        owner = self.label
        self.lag, self.drag = as_damping(damping, owner)
        given = given_line(owner, start, end, points)
        self.straight = len(given) == 2
        places, tangents, self.lengths = nodes_along(given, as_count(elements, owner, "elements"))
        self.nodes = self._gradients(places, tangents)
        count, width = len(self.lengths), 3 * self.node_vectors
        self.coordinate_names = tuple(f"{word}{n}" for n in range(count + 1) for word in self.node_words)
        self.size = self.translations = width * (count + 1)
        self.turning = tuple(range(self.size))
        inside, first = np.arange(2 * width), width * np.arange(count)[:, None]
        self.couplings = (first + np.repeat(inside, 2 * width)).ravel(), (first + np.tile(inside, 2 * width)).ravel()
        self.rules, self.rule_of = [], []
        for n, length in enumerate(self.lengths.tolist()):
            if n == 0 or not self.straight:
                self.rules.append(self._rule(self.nodes[n : n + 2].reshape(-1, 3), length))
            self.rule_of.append(len(self.rules) - 1)
        moment = np.zeros(len(self.nodes) * self.node_vectors)
        for n, number in enumerate(self.rule_of):
            moment[self.node_vectors * n :][: 2 * self.node_vectors] += self.rules[number].moment
        self.mass = float(moment[:: self.node_vectors].sum())
        self.centre = moment / self.mass

    def _gradients(self, places: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """The vectors of all nodes."""
        raise NotImplementedError

    def _rule(self, vectors: np.ndarray, length: float) -> Rule:
        """Mass and points of an element with these undeformed vectors."""
        raise NotImplementedError

    def _start(self, velocity: Any, angular_velocity: Any) -> None:
        """Coordinates and rates of the undeformed line in rigid motion about its centre of mass."""
        self.q0, self.v0 = self.nodes.ravel().copy(), np.zeros(self.size)
        self.velocity_given, self.angular_velocity_given = velocity is not None, angular_velocity is not None
        vectors, rates = self.q0.reshape(-1, 3), self.v0.reshape(-1, 3)
        origins = np.arange(len(vectors)) % self.node_vectors == 0
        if angular_velocity is not None:
            w = as_vector(angular_velocity, self.label, "angular velocity")
            rates[:] = np.cross(w, vectors - np.where(origins[:, None], self.centre @ vectors, 0.0))
        if velocity is not None:
            rates[origins] += as_vector(velocity, self.label, "velocity")

    @property
    def extent(self) -> float:  # type: ignore[override]  # of most kinds it is a constant
        """Diagonal of the box around its nodes [m]."""
        return box_of(self.nodes[:, 0])

    @property
    def length(self) -> float:
        """Of the undeformed line [m]."""
        return float(self.lengths.sum())

    @property
    def blocks(self) -> list[range]:
        """One for each node."""
        width = 3 * self.node_vectors
        return [range(k, k + width) for k in range(0, self.size, width)]

    @property
    def conservative(self) -> bool:  # type: ignore[override]  # of most kinds it is a constant
        """Whether it has no damping."""
        return self.lag == 0.0 and self.drag == 0.0

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        vectors = np.arange(self.size).reshape(-1, 3)
        return Places(vectors, (np.arange(len(vectors)) % self.node_vectors == 0).astype(float))

    def given_rates(self) -> np.ndarray:
        """All, if any were given."""
        return np.full(self.size, self.velocity_given or self.angular_velocity_given)

    def constants(self) -> dict[str, Any]:
        """The undeformed line."""
        return {
            "coordinates": list(self.coordinate_names),
            "lengths": self.lengths.tolist(),
            "nodes": self.nodes.tolist(),
            "centre": self.centre.tolist(),
            "straight": self.straight,
            "damping": [self.lag, self.drag],
        }

    def mark(self, marker: Marker) -> Mark:
        """A marker in numbers, on the vectors of one node if these are enough."""
        constants = {"lengths": self.lengths, "nodes": self.nodes}
        element, code, rows, rest = self.marker_rows(constants, marker.position, marker.part)
        count = self.node_vectors
        used = [any(np.any(row[k : k + count]) for row in rows) for k in (0, count)]
        shift, count = (0, 2 * count) if all(used) else (0 if used[0] else count, count)
        padded = [np.zeros(MOST) for _ in rows]
        for row, full in zip(padded, rows, strict=True):
            row[:count] = full[shift : shift + count]
        return Mark(element, shift, count, code, (padded[0], padded[1], padded[2]), rest)

    def span(self, marker: Marker) -> range:
        """The coordinates of its element, or of its node."""
        mark = self.mark(marker)
        first = 3 * (self.node_vectors * mark.element + mark.shift)
        return range(first, first + 3 * mark.vectors)

    @classmethod
    def marker_rows(
        cls, constants: Constants, position: Any, word: str | None
    ) -> tuple[int, int, tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """Element, code of its frame, coefficients there of a marker's point and vectors, and its axes at rest."""
        raise NotImplementedError

    def place_of(self, s: Any) -> float:
        """s, by default the middle, checked."""
        owner = f"Marker of {self.label}"
        number = 0.5 * self.length if s is None else as_number(s, owner, "s")
        try:
            place(self.lengths, number)
        except Index3Error:
            raise ModelError(f"{owner} has s = {number:.12g}. Give s from 0 to {self.length:.12g} m.") from None
        return number

    def _placed(self, position: Any, z: Any, x: Any, name: Any, word: str | None) -> Marker:
        """A marker at (s, y, z) with directions in its frame."""
        owner = f"Marker of {self.label}"
        if name is not None:
            check_name(name, owner)
        return Marker.placed(self, np.array(position, float), frame(z, x, owner), name, word)

    def joint_point(self, point: np.ndarray) -> np.ndarray:
        """The point of the line nearest to a point where a joint is to be."""
        return self.marker_pose(self._nearest(point))[0]

    def _nearest(self, point: np.ndarray) -> Marker:
        """A marker on the line as near as can be to a point of ground at the start."""
        line = self.q0.reshape(-1, self.node_vectors, 3)[:, :2]
        s, away = nearest_place(self.lengths, line, np.asarray(point, float))
        if away > self.reach * (1.0 + 1e-9):
            raise ModelError(
                f"The point {np.asarray(point).tolist()} is {away:.6g} m from the line of {self.label}, more than half "
                "its thickness. Give a point on it, or a marker(s=...)."
            )
        return Marker.placed(self, np.array((s, 0.0, 0.0)), np.eye(3), None, self._word)

    _word: ClassVar[str | None] = None  # the frame of markers that say nothing else

    def marker_at_pose(self, point: np.ndarray, axes: np.ndarray, name: str | None = None) -> Marker:
        """A marker on the line, in the place nearest to `point`, with `axes` in ground at the start."""
        marker = self._nearest(point)
        return Marker.placed(self, marker.position, self.marker_pose(marker)[1].T @ axes, name, marker.part)

    def own_marker_at(self, point: np.ndarray) -> Marker:
        """A marker on the line, in the place nearest to `point`, with its own axes there."""
        return self._nearest(point)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass, and axes in the middle of the line, at the initial configuration."""
        motion = self.frame_motion(self.constants(), None, *self._at_start())
        return motion.position[0], motion.rotation[0]

    def marker_pose(self, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
        """As its motion has it."""
        entry = {"position": marker.position, "axes": marker.axes, "part": marker.part}
        motion = self.marker_motion({"lengths": self.lengths, "nodes": self.nodes}, entry, *self._at_start())
        return motion.position[0], motion.rotation[0]

    def _at_start(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        zero = np.zeros((1, self.size))
        return self.q0[None], zero, zero

    @classmethod
    def frame_motion(
        cls, constants: Constants, part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """The centre of mass, with axes that turn as a marker in the middle of the line."""
        middle = {"position": (0.5 * float(np.sum(constants["lengths"])), 0.0, 0.0), "axes": np.eye(3)}
        motion, centre = cls.marker_motion(constants, middle, q, v, a), np.asarray(constants["centre"], float)
        r, r_v, r_a = (np.einsum("i,tik->tk", centre, vectors_of(x)) for x in (q, v, a))
        return motion._replace(position=r, velocity=r_v, acceleration=r_a)

    @classmethod
    def marker_motion(
        cls, constants: Constants, marker: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """Of a material point, with axes that turn with the gradients there."""
        element, code, rows, rest = cls.marker_rows(constants, marker["position"], marker.get("part"))
        first = cls.node_vectors * element
        inside = [vectors_of(x)[:, first : first + 2 * cls.node_vectors] for x in (q, v, a)]
        (r, d, e), (r_v, d_v, e_v), (r_a, d_a, e_a) = ([np.einsum("i,tik->tk", row, x) for row in rows] for x in inside)
        w, w_dot = turn_history(code, (d, d_v, d_a), (e, e_v, e_a))
        axes = [mark_axes(code, rest, tuple(x), tuple(y)) for x, y in zip(d.tolist(), e.tolist(), strict=True)]
        A = np.array(axes).reshape(-1, 3, 3).transpose(0, 2, 1)  # axes as columns
        return Kinematics(r, r_v, r_a, A @ np.asarray(marker["axes"], float), w, w_dot)
