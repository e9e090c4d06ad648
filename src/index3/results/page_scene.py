"""What a page shows of a run: bodies, joints, forces with their solids, and how large all of it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.registry import ELEMENTS
from index3.results.arrays import plain
from index3.results.page_motion import PageMotion
from index3.results.page_parts import encode, outline, parts_of

if TYPE_CHECKING:
    from index3.results.result import Result

CLEAR = 0.4  # how much one sees of a plane, of a road, and of a contact shape around the shape of its body
FREE, TIED = 1.5, 2.5  # sizes of the mechanism, free or tied to ground, that a body travels when the camera follows it


def scene(result: Result, moving: PageMotion, frames: np.ndarray) -> dict[str, Any]:
    """What is drawn, and how large it is: bodies, joints, forces, the reach of the motion."""
    layout = result.layout
    attached = attachments(result, moving)
    outlines = [outline(body, attached[body["name"]]) for body in layout.bodies]
    places = [np.tile(np.array(attached["ground"]).reshape(-1, 3), (len(frames), 1, 1))]
    places += [moving.points(frames), moving.own_places(frames)]
    for k, (body, points) in enumerate(zip(layout.bodies, outlines, strict=True)):
        motion = moving.motions[k]
        places.append(motion.position[frames, None] + np.einsum("tij,kj->tki", motion.rotation[frames], points))
        if body["name"] in moving.lines:
            outlines[k] = np.vstack([moving.points(frames[:1])[0, i : i + n] for i, n in moving.lines[body["name"]]])
    places += [reach for force in layout.forces for reach in wheel_places(force, moving, frames)]
    cloud = np.concatenate(places, axis=1)
    if not cloud.size:  # neither bodies nor anything fixed to ground
        cloud = np.zeros((len(frames), 1, 3))
    lead = leading(result, moving, frames, cloud[:, places[0].shape[1] :])
    outer = cloud
    if lead >= 0:
        travelled = moving.motions[lead].position[frames]
        outer = cloud[:, places[0].shape[1] :] - (travelled - travelled[0])[:, None]  # without points of ground
    size, thick = sizes(outer, outlines)
    drawn = [lines(b, moving) or parts_of(b, attached[b["name"]], thick) for b in layout.bodies]
    solids = Solids(result, moving, cloud)
    return {
        "bodies": [
            {"name": b["name"], "type": b["kind"], "color": numbers_of(b.get("color")), "parts": parts}
            for b, parts in zip(layout.bodies, drawn, strict=True)
        ],
        "joints": [solids.element(joint, "dot", markers) for joint, markers in drawn_joints(result)],
        "forces": [solids.element(force, "line", force["markers"]) for force in layout.forces],
        "floor": solids.floor,
        "lead": lead,
        "low": solids.low.tolist(),
        "high": solids.high.tolist(),
        "outer": outer_points(outer.reshape(-1, 3)).tolist(),
        "size": size,
        "thick": thick,
    }


def drawn_joints(result: Result) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Joints that the page shows, with their markers, in its order."""
    joints = [(j, list(j.get("markers") or (j["first"], j["second"]))) for j in result.layout.joints]
    known = [(joint, markers) for joint, markers in joints if markers and all(markers)]
    return [(joint, markers) for joint, markers in known if symbol(joint, "dot") or joint.get("solids")]


class Solids:
    """Makes the elements of a page with their solids; each solid of ground is shown once.

    Attributes
    ----------
    floor : height of a plane or road of ground across the upward direction, None if there is none
    """

    def __init__(self, result: Result, moving: PageMotion, cloud: np.ndarray) -> None:
        self.moving = moving
        self.result = result
        self.cloud = cloud
        self.shapes = {body["name"]: body["shape"] for body in result.layout.bodies}
        self.seen: set[str] = set()
        self.up = "xyz".index(up(result))
        self.floor: float | None = None
        self.low, self.high = cloud.min(axis=(0, 1)), cloud.max(axis=(0, 1))
        self.roads: dict[str, dict[str, Any]] = {}

    def element(self, element: dict[str, Any], usual: str, markers: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """A joint or force as the page knows it."""
        drawn = {"name": element["name"], "type": element["type"], "symbol": symbol(element, usual)}
        markers = list(markers)
        parts = [self.part(plain(solid), markers) for solid in element.get("solids") or ()]
        drawn["parts"] = [part for part in parts if part]
        return {**drawn, "markers": [self.moving.place(marker) for marker in markers]}

    def part(self, solid: dict[str, Any], markers: list[dict[str, Any]]) -> dict[str, Any] | None:
        """A solid as the page knows it; None if it is shown already."""
        marker = markers[solid["marker"]]
        fixed = marker["body"] == "ground"
        if solid["type"] == "plane":
            solid = self.plane(solid, marker)
        elif solid["type"] == "road":
            return self.road(solid, marker, markers[solid["wheel"]])
        elif solid["type"] in ("sphere", "box", "cylinder", "ring") and not fixed:
            shape = self.shapes[marker["body"]]
            if (same_solid(shape, solid) or tread(shape, solid)) and not np.any(marker["position"]):
                return None
            if shape.get("type", "none") != "none":
                solid["alpha"] = CLEAR
        if fixed and "moving" not in marker:
            key = repr((marker["position"], marker["axes"], {k: v for k, v in solid.items() if k != "marker"}))
            if key in self.seen:
                return None
            self.seen.add(key)
            self.level(solid, marker)
        return solid

    def level(self, solid: dict[str, Any], marker: dict[str, Any]) -> None:
        """Let the floor be at a plane or road that lies across the upward direction."""
        axes = np.asarray(marker["axes"], float)
        if solid["type"] in ("plane", "surface") and axes[self.up, 2] > 1.0 - 1e-9:
            height = marker["position"][self.up] + (solid["z"][0] if solid["type"] == "surface" else 0.0)
            self.floor = height if self.floor is None else min(self.floor, height)

    def plane(self, solid: dict[str, Any], marker: dict[str, Any]) -> dict[str, Any]:
        """A plane of ground as large as the picture, around the middle of what moves over it; of a body, as a pad."""
        local = self.local(marker, self.cloud)
        low, high = local.min(axis=(0, 1)), local.max(axis=(0, 1))
        middle, size = 0.5 * (low + high), 0.65 * float(np.max((high - low)[:2])) or 1.0
        if marker["body"] != "ground":
            middle, size = np.zeros(3), 0.15 * size
        solid = {**solid, "size": size * 1.15, "at": [*middle[:2].tolist(), 0.0], "alpha": CLEAR}
        return {**solid, "axes": np.eye(3).tolist()}

    def road(self, solid: dict[str, Any], marker: dict[str, Any], wheel: dict[str, Any]) -> dict[str, Any] | None:
        """The part of a road over which wheels roll, and a margin; one for all wheels on it, shown with the first."""
        track = self.local(marker, self.moving.motion(wheel).position)
        track = track[np.isfinite(track).all(axis=1)]
        margin = 1.2 * float(np.median(np.abs(track[:, 2]))) + 0.05 * float(np.ptp(track[:, 0]))
        margin = margin or 1.0
        shift = solid["speed"] * (self.result.t[-1] - self.result.t[0])
        low, high = track[:, 0].min() - margin + min(shift, 0.0), track[:, 0].max() + margin + max(shift, 0.0)
        y = [track[:, 1].min() - 0.6 * margin, track[:, 1].max() + 0.6 * margin]
        key = repr((marker["body"], marker["position"], marker["axes"], solid["x"], solid["z"], solid["speed"]))
        shown, first = self.roads.get(key), key not in self.roads
        if shown is None:
            shown = {"marker": solid["marker"], "type": "surface", "speed": solid["speed"], "alpha": 0.6}
            shown = self.roads[key] = {**shown, "reach": [low, high], "y": y}
        reach = shown["reach"] = [min(low, shown["reach"][0]), max(high, shown["reach"][1])]
        shown["y"] = [min(y[0], shown["y"][0]), max(y[1], shown["y"][1])]
        x, z = road_points(np.asarray(solid["x"]), np.asarray(solid["z"]), solid["period"], *reach)
        shown |= {"x": x.tolist(), "z": z.tolist()}
        self.level(shown, marker)
        return shown if first else None

    def local(self, marker: dict[str, Any], places: np.ndarray) -> np.ndarray:
        """Places given in ground axes, in those of a marker at the start."""
        motion = self.moving.motion(marker) if marker["body"] != "ground" else None
        origin = np.asarray(marker["position"], float) if motion is None else motion.position[0]
        axes = np.asarray(marker["axes"], float) if motion is None else motion.rotation[0]
        return (places - origin) @ axes


def leading(result: Result, moving: PageMotion, frames: np.ndarray, cloud: np.ndarray) -> int:
    """The body that the camera follows at first: the heaviest, if it travels far beyond the size of the mechanism.

    What swings about a point of ground travels at most twice as far as it is away from there, and stays in view.
    """
    masses = [float(body.get("mass") or 0.0) for body in result.layout.bodies]
    if not masses or not cloud.size:
        return -1
    heaviest = int(np.argmax(masses))
    held = anchors(result, result.layout.bodies[heaviest]["name"])
    whole = np.concatenate([cloud, np.tile(held, (len(cloud), 1, 1))], axis=1)
    size = float(np.median(np.linalg.norm(np.ptp(whole, axis=1), axis=1)))
    travel = float(np.ptp(moving.motions[heaviest].position[frames], axis=0).max())
    return heaviest if travel > (TIED if len(held) else FREE) * size > 0.0 else -1


def anchors(result: Result, body: str) -> np.ndarray:
    """Points of ground (k, 3) where joints hold a body, or bodies that joints connect it to."""
    ends = [[marker for marker in joint.get("markers", ()) if marker] for joint in result.layout.joints]
    names = [{marker["body"] for marker in markers} for markers in ends]
    found: set[str] = set()
    near = {body}
    while near - found:
        found |= near
        near = {name for group in names if group & found for name in group - {"ground"}}
    held = [m["position"] for markers, group in zip(ends, names, strict=True) if group & found for m in markers
            if m["body"] == "ground"]  # fmt: skip
    return np.array(held, float).reshape(-1, 3)


def road_points(x: np.ndarray, z: np.ndarray, period: float, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Points of a profile between two places: level outside of its own points, or again and again after a period."""
    if period > 0.0:
        grid = np.arange(low, high, min(period / 32, (high - low) / 2))[:4000]
        return grid, np.interp((grid - x[0]) % period + x[0], x, z)
    inside = (x > low) & (x < high)
    grid = np.concatenate([[low], x[inside], [high]])
    return grid, np.concatenate([[np.interp(low, x, z)], z[inside], [np.interp(high, x, z)]])


def tread(shape: dict[str, Any], solid: dict[str, Any]) -> bool:
    """Whether a sphere is what a wheel touches with: the shape of the wheel shows it well enough."""
    wheel = solid["type"] == "sphere" and shape.get("type") in ("cylinder", "ring")
    return wheel and bool(np.isclose(shape["radius"], solid["radius"]))


def same_solid(shape: dict[str, Any], solid: dict[str, Any]) -> bool:
    """Whether the shape of a body is that of a solid."""
    if shape.get("type") != solid["type"] or shape.get("axis", "z") != solid.get("axis", "z"):
        return False
    keys = [key for key in ("radius", "length", "size", "inner") if key in solid]
    return all(np.allclose(shape.get(key, np.nan), solid[key], rtol=1e-6) for key in keys)


def numbers_of(color: str | None) -> list[int] | None:
    """Red, green and blue of "#rrggbb"."""
    return None if not color else [int(color[k : k + 2], 16) for k in (1, 3, 5)]


def up(result: Result) -> str:
    """The upward axis: that which gravity points against; else z, or y in a model of planar bodies."""
    kinds = {body["kind"] for body in result.layout.bodies}
    gravity = np.asarray(result.layout.gravity, float)
    if kinds == {"planar"}:
        gravity = gravity * (1.0, 1.0, 0.0)  # what acts in the plane
    axis = int(np.argmax(np.abs(gravity)))
    if gravity[axis] < 0:
        return "xyz"[axis]
    return "y" if kinds == {"planar"} else "z"


def symbol(element: dict[str, Any], usual: str) -> str:
    """The sign for a joint or force; of an old file, what its class says, and of an unknown class the usual."""
    if "symbol" in element:
        return str(element["symbol"])
    return ELEMENTS[element["type"]].symbol if element["type"] in ELEMENTS else usual


def wheel_places(force: dict[str, Any], moving: PageMotion, frames: np.ndarray) -> list[np.ndarray]:
    """Places that the tyres of a force reach, (frames, 1, 3) each: around their centres."""
    found = []
    for solid in force.get("solids") or ():
        if solid["type"] == "tyre":
            centre = moving.motion(force["markers"][solid["marker"]]).position[frames, None]
            axes = solid["radius"] * np.asarray(force["markers"][1]["axes"], float)
            found += [centre + side * axes[:, k] for side in (-1.0, 1.0) for k in (0, 2)]
    return found


def lines(body: dict[str, Any], moving: PageMotion) -> list[dict[str, Any]]:
    """What to draw of a body that is shown by lines: which of the page's points each of them joins."""
    shape = body["shape"]
    settings: dict[str, Any] = {"type": "line", "radius": float(shape.get("radius", 0.0))}
    if shape.get("type") == "faces":
        settings |= {"type": "faces", "members": plain(shape["members"]), "faces": plain(shape["faces"])}
        if "rest" in shape:
            settings["rest"] = encode(np.asarray(shape["rest"], float))
    if body["name"] in moving.values:
        before = list(moving.values)[: list(moving.values).index(body["name"])]
        settings["value"] = sum(moving.values[name].shape[1] for name in before)
    if "section" in shape:
        settings["section"] = plain(shape["section"])
    return [{**settings, "first": first, "count": count} for first, count in moving.lines.get(body["name"], ())]


def attachments(result: Result, moving: PageMotion) -> dict[str, list[np.ndarray]]:
    """Points of each body (and of ground), in its frame, where joints and forces take hold that follow that frame."""
    layout = result.layout
    points: dict[str, list[np.ndarray]] = {name: [] for name in ("ground", *(body["name"] for body in layout.bodies))}
    markers = [marker for joint in layout.joints for marker in (joint["first"], joint["second"]) if marker]
    markers += [marker for force in layout.forces for marker in force["markers"]]
    for marker in filter(moving.follows, markers):
        place, known = np.asarray(marker["position"], float), points[marker["body"]]
        if all(np.linalg.norm(place - other) > 1e-6 * (1e-6 + np.linalg.norm(place)) for other in known):
            known.append(place)
    return points


def sizes(cloud: np.ndarray, outlines: list[np.ndarray]) -> tuple[float, float]:
    """Size of the mechanism, and the radius of a bar that looks right in it."""
    size = float(np.median(np.linalg.norm(np.ptp(cloud, axis=1), axis=1)))
    reaches = [float(np.linalg.norm(np.ptp(points, axis=0))) for points in outlines]
    reaches = [reach for reach in reaches if reach > 0]
    size = size or 1.0
    return size, min(0.013 * size, 0.07 * float(np.median(reaches or [size])))


def outer_points(points: np.ndarray) -> np.ndarray:
    """The points that lie farthest out in some direction: enough to fit a camera to all of them."""
    directions = np.indices((5, 5, 5)).reshape(3, -1) - 2.0
    return points[np.unique(np.argmax(points @ directions, axis=0))]
