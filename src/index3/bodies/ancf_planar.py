"""Markers, motion and drawing of planar beams in absolute nodal coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from index3.bodies import ancf_histories
from index3.bodies.ancf_drawing import rectangle, surface
from index3.bodies.ancf_reference import Section
from index3.bodies.ancf_words import nearest_place
from index3.bodies.body import Body, box_of
from index3.bodies.kinematics import Kinematics
from index3.bodies.marker import Marker, as_choice, as_number, check_name
from index3.bodies.marker import frame as axes_along
from index3.errors import Index3Error, ModelError


class Mark(NamedTuple):
    """A marker in numbers: its element, where its coordinates begin there, their plane vectors, and coefficients."""

    element: int
    shift: int
    vectors: int
    tangent: bool
    point: np.ndarray
    direction: np.ndarray


class PlanarLine(Body):
    """What joints, forces and results ask of a planar beam; `AncfBeam` fills in its numbers."""

    planar = True
    deforms = True
    lengths: np.ndarray  # of the elements
    nodes: np.ndarray  # r, r_x and r_y of the undeformed beam (nodes, 6)
    section: Section
    factor: np.ndarray | None  # L of Cholesky coordinates

    @property
    def extent(self) -> float:  # type: ignore[override]  # of most kinds it is a constant
        """Diagonal of the box around its nodes [m]."""
        return box_of(self.nodes[:, :2])

    @property
    def length(self) -> float:
        """Of the undeformed axis [m]."""
        return float(self.lengths.sum())

    @property
    def stiff_frame(self) -> str:
        """What a moment has to take hold of to bend the beam. By "elastic-line" the axis bends, and a section passes a
        moment on by the shear of its node alone, which is the softer the shorter elements are."""
        return "tangent" if self.section.law == "elastic-line" else "section"

    @property
    def nodal(self) -> np.ndarray:
        """Plane vectors of the nodes at the start (number of them, 2)."""
        return ancf_histories.vectors(self.constants(), self.q0[None])[0]

    def mark(self, marker: Marker) -> Mark:
        """A marker in numbers, on the coordinates of one node if these are enough."""
        point, direction, tangent = ancf_histories.marker_rows(self.constants(), marker.position, marker.part)
        element = int(ancf_histories.place(self.lengths, marker.position[0])[0])
        point, direction = point[3 * element : 3 * element + 6], direction[3 * element : 3 * element + 6]
        used = [bool(np.any(point[k : k + 3]) or np.any(direction[k : k + 3])) for k in (0, 3)]
        shift, count = (0, 6) if all(used) else (0, 3) if used[0] else (6, 3)
        pick = slice(shift // 2, shift // 2 + count)
        padded = [np.concatenate([x[pick], np.zeros(6 - count)]) for x in (point, direction)]
        return Mark(element, shift, count, tangent, *padded)

    def span(self, marker: Marker) -> range:
        """The coordinates of its element, or of its node; all Cholesky coordinates."""
        if self.factor is not None:
            return range(self.size)
        mark = self.mark(marker)
        first = 6 * mark.element + mark.shift
        return range(first, first + 2 * mark.vectors)

    def marker(
        self, s: Any = None, y: float = 0.0, *, frame: Any = None, x: Any = None, z: Any = None, name: Any = None
    ) -> Marker:
        """A marker at s [m] along the undeformed axis, by default in its middle, and y [m] along r_y from it.

        Its z axis is that of ground. With `frame="section"` its y axis turns with r_y, with `"tangent"` its x axis with
        r_x; by default with what bends: the axis of "elastic-line", the sections of "continuum". With directions x, z
        its axes are others, given in that frame.
        """
        owner = f"Marker of {self.label}"
        if name is not None:
            check_name(name, owner)
        word = self.stiff_frame if frame is None else as_choice(frame, owner, "frame", ancf_histories.FRAMES)
        place = 0.5 * self.length if s is None else as_number(s, owner, "s")
        position = np.array((place, as_number(y, owner, "y"), 0.0))
        self.check_place(position, word)
        return Marker.placed(self, position, axes_along(z, x, owner), name, word)

    def check_place(self, position: np.ndarray, part: str | None) -> None:
        """Raise unless a marker can stand there."""
        owner = f"Marker of {self.label}"
        try:
            ancf_histories.place(self.lengths, position[0])
        except Index3Error:
            raise ModelError(f"{owner} has s = {position[0]:.12g}. Give s from 0 to {self.length:.12g} m.") from None
        if abs(position[1]) > 0.5 * self.section.height * (1.0 + 1e-9):
            raise ModelError(
                f"{owner} has y = {position[1]:.12g}. Give y within half the height {self.section.height}."
            )
        if not self.has_part(part):
            raise ModelError(f"{owner} has the frame {short(part)}. Give 'section' or 'tangent'.")

    def has_part(self, part: str | None) -> bool:
        """Whether markers can turn with it: "section", "tangent", or on an arm of the section."""
        words = (part or "section").split()
        return (len(words) == 1 and words[0] in ancf_histories.FRAMES) or (len(words) == 3 and words[0] == "arm")

    def joint_point(self, point: np.ndarray) -> np.ndarray:
        """The point of the axis nearest to a point where a joint is to be."""
        return self.marker_pose(self._nearest(point))[0]

    def _nearest(self, point: np.ndarray) -> Marker:
        """A marker on the axis as near as can be to a point of ground at the start."""
        s = nearest_place(self.lengths, self.nodal, np.asarray(point, float)[:2])
        marker = Marker.placed(self, np.array((s, 0.0, 0.0)), np.eye(3), None, self.stiff_frame)
        away = float(np.linalg.norm(self.marker_pose(marker)[0] - point))
        if away > 0.5 * self.section.height * (1.0 + 1e-9):
            raise ModelError(
                f"The point {np.asarray(point).tolist()} is {away:.6g} m from the axis of {self.label}, more than half "
                "its height. Give a point on the beam, or a marker: beam.marker(s=..., y=...)."
            )
        return marker

    def marker_at_pose(self, point: np.ndarray, axes: np.ndarray, name: str | None = None) -> Marker:
        """A marker on the axis, in the place nearest to `point`, with `axes` in ground at the start."""
        marker = self._nearest(point)
        return Marker.placed(self, marker.position, self.marker_pose(marker)[1].T @ axes, name, marker.part)

    def own_marker_at(self, point: np.ndarray) -> Marker:
        """A marker on the axis, in the place nearest to `point`, with the axes that bend."""
        return self._nearest(point)

    def clamp_arms(self, marker: Marker) -> list[np.ndarray]:
        """r_x and r_y, times the height so that rows are lengths."""
        x, (s, y) = self.nodal, marker.position[:2]
        both = (ancf_histories.rows(self.constants(), s, y, *by) @ x for by in ((1, 0), (0, 1)))
        return [np.append(self.section.height * arm, 0.0) for arm in both]

    def marker_beside(self, marker: Marker, arm: np.ndarray) -> Marker:
        """A marker displaced by the combination of r_x and r_y that is `arm` (in ground, at the start)."""
        constants, x = self.constants(), self.nodal
        s, y = marker.position[:2]
        along, across = (ancf_histories.rows(constants, s, y, *by) @ x for by in ((1, 0), (0, 1)))
        u, w = np.linalg.solve(np.stack([along, across], axis=1), arm[:2])
        return Marker.placed(self, marker.position, marker.axes, None, f"arm {float(u)!r} {float(w)!r}")

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass, and axes of the section in the middle of the axis, at the initial configuration."""
        return self._at_start(self.frame_motion(self.constants(), None, *self._histories()))

    def marker_pose(self, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
        """As its motion has it."""
        entry = {"position": marker.position, "axes": marker.axes, "part": marker.part}
        return self._at_start(self.marker_motion(self.constants(), entry, *self._histories()))

    def _histories(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        zero = np.zeros((1, self.size))
        return self.q0[None], zero, zero

    @staticmethod
    def _at_start(motion: Kinematics) -> tuple[np.ndarray, np.ndarray]:
        return motion.position[0], motion.rotation[0]

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """The centre of mass, with the axes of the section in the middle of the axis."""
        middle = ancf_histories.rows(constants, 0.5 * float(np.sum(constants["lengths"])), 0.0, 0, 1)
        centre = np.asarray(constants["centre"], float)
        return ancf_histories.motion(constants, centre, middle, False, np.eye(3), q, v, a)

    @classmethod
    def marker_motion(
        cls, constants: Mapping[str, Any], marker: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """Of a material point, with axes that turn with r_y or r_x."""
        rows = ancf_histories.marker_rows(constants, marker["position"], marker.get("part"))
        return ancf_histories.motion(constants, *rows, marker["axes"], q, v, a)

    def drawing(self) -> dict[str, Any]:
        """Its surface, coloured by stress."""
        return surface(self.lengths, rectangle(self.section.height, self.section.width), self._at_rest)

    def _at_rest(self, nodes: np.ndarray) -> np.ndarray:
        """Material points of the undeformed beam in its frame."""
        constants, q = {**self.constants(), "cholesky": None}, self.nodes.reshape(1, -1)
        del constants["cholesky"]
        frame = self.frame_motion(constants, None, q, 0.0 * q, 0.0 * q)
        sections = [{"position": node} for node in nodes.tolist()]
        return (self.section_places(constants, sections, q)[0] - frame.position[0]) @ frame.rotation[0]

    @classmethod
    def section_places(
        cls, constants: Mapping[str, Any], sections: Sequence[Mapping[str, Any]], q: np.ndarray
    ) -> np.ndarray:
        """Material points, also beside the plane of the axis, all at once."""
        s, y, z = np.array([section["position"] for section in sections]).T
        return ancf_histories.points(constants, q, q, q, s, y) + np.stack([0.0 * z, 0.0 * z, z], axis=1)
