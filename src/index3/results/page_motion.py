"""What moves on a page: frames of bodies, frames of markers that follow no body's frame, points of lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.results.arrays import plain
from index3.results.kinematics import Kinematics, kind_of, marker_kinematics, quaternions

if TYPE_CHECKING:
    from index3.results.result import Result


class PageMotion:
    """Histories of all that a page moves.

    Attributes
    ----------
    motions : one per frame: the bodies, then the markers of joints and forces on bodies that deform or have parts
    lines : body name -> first point and number of points of each of its lines, or of its nodes
    values : body name -> histories (n_t, points) that colour its points
    """

    def __init__(self, result: Result) -> None:
        bodies = result.layout.bodies
        self.result = result
        self.numbers = {body["name"]: k for k, body in enumerate(bodies)} | {"ground": -1}
        elements = [(joint["first"], joint["second"], *joint.get("markers", ())) for joint in result.layout.joints]
        elements += [tuple(force["markers"]) for force in result.layout.forces]
        markers = [marker for group in elements for marker in group if marker and not self.follows(marker)]
        own = list({key(marker): marker for marker in markers}.values())
        self.frames = {key(marker): len(bodies) + k for k, marker in enumerate(own)}
        self.views = [result[body["name"]] for body in bodies]
        self.motions: list[Kinematics] = [*(view.motion for view in self.views), *map(self.motion, own)]
        self.lines: dict[str, list[tuple[int, int]]] = {}
        self.sections: list[np.ndarray] = []  # histories of all points of lines, (n_t, 3) each
        for body in bodies:
            if body["shape"].get("type") == "lines":
                self.lines[body["name"]] = [self.add_line(body, line) for line in body["shape"]["lines"]]
            elif body["shape"].get("type") == "faces":
                self.lines[body["name"]] = [self.add_nodes(body)]
        self.values = {body["name"]: self.coloured(body) for body in bodies if "values" in body["shape"]}

    @property
    def width(self) -> int:
        """Numbers that each frame of time takes."""
        return 7 * len(self.motions) + 3 * len(self.sections) + sum(x.shape[1] for x in self.values.values())

    def follows(self, marker: Mapping[str, Any]) -> bool:
        """Whether a marker is fixed to the frame of its body."""
        entry = self.result.entry(marker["body"])
        return marker.get("part") is None and not kind_of(entry).deforms

    def motion(self, marker: Mapping[str, Any]) -> Kinematics:
        """Motion of a marker, given as in a layout."""
        return marker_kinematics(self.result.entry(marker["body"]), marker, *self.result.columns(marker["body"]))

    def add_line(self, body: Mapping[str, Any], line: list[dict[str, Any]]) -> tuple[int, int]:
        """Take in the points of a line; its first point and their number."""
        first = len(self.sections)
        self.sections += [self.motion({"body": body["name"], **section}).position for section in line]
        return first, len(line)

    def add_nodes(self, body: Mapping[str, Any]) -> tuple[int, int]:
        """Take in the nodes of a body; the first and their number."""
        first, entry, (q, _, _) = len(self.sections), self.result.entry(body["name"]), self.result.columns(body["name"])
        nodes = body["shape"]["nodes"]
        places = kind_of(entry).section_places(entry.get("constants") or {}, nodes, q)
        self.sections += list(np.moveaxis(places, 1, 0))
        return first, len(nodes)

    def coloured(self, body: Mapping[str, Any]) -> np.ndarray:
        """What colours the points of a body (n_t, points)."""
        quantity, asked = body["shape"]["values"]
        return np.asarray(getattr(self.result[body["name"]], quantity)(asked))

    def place(self, marker: Mapping[str, Any]) -> dict[str, Any]:
        """A marker as the page knows it: the number of a frame (ground -1), its point and directions x and z there."""
        if key(marker) in self.frames:
            return {"body": self.frames[key(marker)], "at": [0.0, 0.0, 0.0], "x": [1.0, 0.0, 0.0], "z": [0.0, 0.0, 1.0]}
        axes = np.asarray(marker["axes"], float)
        place = {"body": self.numbers[marker["body"]], "at": plain(marker["position"])}
        return place | {"x": axes[:, 0].tolist(), "z": axes[:, 2].tolist()}

    def poses(self, rows: np.ndarray) -> np.ndarray:
        """Positions and Euler parameters of all frames at some times, (n, number of frames, 7)."""
        poses = np.zeros((len(rows), len(self.motions), 7))
        for k, motion in enumerate(self.motions):
            parameters = self.views[k].orientation if k < len(self.views) else quaternions(motion.rotation)
            poses[:, k, :3], poses[:, k, 3:] = motion.position[rows], parameters[rows]
        return poses

    def points(self, rows: np.ndarray) -> np.ndarray:
        """All points of lines at some times, (n, number of points, 3)."""
        return beside([point[rows] for point in self.sections], len(rows))

    def own_places(self, rows: np.ndarray) -> np.ndarray:
        """Origins of the markers that have frames of their own, (n, number of them, 3)."""
        return beside([motion.position[rows] for motion in self.motions[len(self.views) :]], len(rows))


def key(marker: Mapping[str, Any]) -> str:
    """What tells a marker from others: elements and files give the same marker more than once."""
    return repr([plain(marker.get(word)) for word in ("body", "part", "position", "axes")])


def beside(histories: list[np.ndarray], n_t: int) -> np.ndarray:
    """Histories of points (n_t, 3), perhaps none, as one array (n_t, number of points, 3)."""
    return np.stack(histories, axis=1) if histories else np.zeros((n_t, 0, 3))
