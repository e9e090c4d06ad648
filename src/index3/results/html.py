"""One self-contained page that plays a run: own canvas drawing, no requests, opens by double click.

Python decides what to draw (parts of each body in its own frame, symbols of joints, sizes, the first view); the parts
`page*.js` and `page.css` beside this file only draw it.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable
from importlib.resources import files
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import ModelError
from index3.registry import ELEMENTS
from index3.results.export import plain
from index3.results.page_motion import PageMotion
from index3.results.writing import replaced

if TYPE_CHECKING:
    from index3.results.result import Result

MOST_FRAMES = 600  # unless bodies turn so fast that these would show them wrongly
MOST_TURN = 0.25  # rad between frames: interpolated bars then stay together at their joints to 1e-4 of their length
MOST_NUMBERS = 2_000_000  # of all poses together; about 11 MB of text, which browsers still load at once
SCRIPTS = ("page_motion.js", "page_scene.js", "page_draw.js", "page_parts.js", "page_charts.js", "page.js")
SPEEDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def write_html(result: Result, path: str | PathLike[str], title: str | None = None, fps: float = 60.0) -> None:
    """Write a page that shows the motion, the energies, the constraint residuals and the run's statistics.

    At most 600 of the result's own times are kept (more only where a body turns fast), fewer if `fps` frames per
    second of playing time need fewer; the page interpolates between them. z is up, or the axis that gravity points
    against; in a model of planar bodies, y. A file already there is replaced.

    Raises
    ------
    ModelError : the result has no times, or `fps` is not positive.
    FileError : the page cannot be written.
    """
    if not np.isfinite(result.q).all(axis=1).any():
        raise ModelError(f"Result of model '{result.layout.model}' has no times to show. {result.message}".rstrip())
    if not fps > 0:
        raise ModelError(f"fps is {fps}. Give a positive number of frames per second.")
    room = files("index3.results")
    title = title or result.layout.model
    data = json.dumps(payload(result, title, fps), allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": html.escape(title),
        "STYLE": room.joinpath("page.css").read_text("utf-8"),
        "DATA": data.replace("<", "\\u003c"),  # no name can close the script element
        "SCRIPT": "\n".join(room.joinpath(name).read_text("utf-8") for name in SCRIPTS),
    }
    template = room.joinpath("page.html").read_text("utf-8")
    pieces = template.split("@@")  # text, key, text, key, ..., text: inserted text is never searched again
    page = "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(pieces))
    with replaced(path) as unfinished:
        unfinished.write_text(page, "utf-8")


def payload(result: Result, title: str, fps: float = 60.0) -> dict[str, Any]:
    """Everything the page knows, ready for JSON; arrays are base64 of little-endian float32, time first."""
    rows = np.flatnonzero(np.isfinite(result.q).all(axis=1))  # a run may end in numbers that cannot be drawn
    duration = float(result.t[rows[-1]] - result.t[rows[0]])
    speed = playing_speed(duration)
    moving = PageMotion(result)
    turned = max((_turned(result.t[rows], motion.angular_velocity[rows]) for motion in moving.motions), default=0.0)
    wanted = max(min(MOST_FRAMES, fps * duration / speed + 1), turned / MOST_TURN + 1)
    frames = rows[frame_numbers(result.t[rows], min(wanted, MOST_NUMBERS / max(moving.width, 7)))]
    energy = result.energy
    return {
        "title": title,
        "success": result.success,
        "message": result.message,
        "method": result.method or "unknown method",
        "run": _run_table(result),
        "times": encode(result.t[frames]),
        "poses": encode(moving.poses(frames)),
        "points": encode(moving.points(frames)),
        "energy": encode(np.column_stack([energy.kinetic, energy.potential, energy.balance])[frames]),
        "residuals": encode(_peaks(result.arrays["violation_scaled"], frames)) if result.lam.shape[1] else "",
        "up": _up(result),
        "speed": speed,
        "speeds": SPEEDS,
        **_scene(result, moving, frames),
    }


def _scene(result: Result, moving: PageMotion, frames: np.ndarray) -> dict[str, Any]:
    """What is drawn, and how large it is: bodies, joints, forces, the reach of the motion."""
    layout = result.layout
    attached = _attachments(result, moving)
    outlines = [_outline(body, attached[body["name"]]) for body in layout.bodies]
    places = [np.tile(np.array(attached["ground"]).reshape(-1, 3), (len(frames), 1, 1))]
    places += [moving.points(frames), moving.own_places(frames)]
    for k, (body, points) in enumerate(zip(layout.bodies, outlines, strict=True)):
        motion = moving.motions[k]
        places.append(motion.position[frames, None] + np.einsum("tij,kj->tki", motion.rotation[frames], points))
        if body["name"] in moving.lines:
            outlines[k] = np.vstack([moving.points(frames[:1])[0, i : i + n] for i, n in moving.lines[body["name"]]])
    cloud = np.concatenate(places, axis=1)
    if not cloud.size:  # neither bodies nor anything fixed to ground
        cloud = np.zeros((len(frames), 1, 3))
    size, thick = _sizes(cloud, outlines)
    drawn = [_lines(b, moving) or _parts(b, attached[b["name"]], thick) for b in layout.bodies]
    pairs = [(joint, (joint["first"], joint["second"])) for joint in layout.joints if symbol(joint, "dot")]
    return {
        "bodies": [{"name": b["name"], "parts": parts} for b, parts in zip(layout.bodies, drawn, strict=True)],
        "joints": [_element(joint, "dot", markers, moving) for joint, markers in pairs if all(markers)],
        "forces": [_element(force, "line", force["markers"], moving) for force in layout.forces],
        "low": cloud.min(axis=(0, 1)).tolist(),
        "high": cloud.max(axis=(0, 1)).tolist(),
        "outer": _outer_points(cloud.reshape(-1, 3)).tolist(),
        "size": size,
        "thick": thick,
    }


def encode(array: np.ndarray) -> str:
    """Base64 of little-endian float32."""
    with np.errstate(over="ignore"):  # what float32 cannot hold is not drawn
        return base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode("ascii")


def frame_numbers(t: np.ndarray, most: float) -> np.ndarray:
    """Which rows to show: evenly spread in time, first and last included, about `most` of them but at least 2.

    >>> frame_numbers(np.array([0.0, 0.1, 0.2, 0.9, 1.0]), 3).tolist()
    [0, 2, 4]
    """
    if len(t) <= most:
        return np.arange(len(t))
    wanted = np.linspace(t[0], t[-1], max(int(most), 2))
    middles = 0.5 * (t[1:] + t[:-1])
    return np.unique(np.searchsorted(middles, wanted))  # the nearest row to each wanted time


def playing_speed(duration: float) -> float:
    """Real time where that plays in 2 to 30 s; otherwise the speed that comes closest to 8 s.

    >>> playing_speed(5.0), playing_speed(0.03)
    (1.0, 0.005)
    """
    if duration <= 0 or 2.0 <= duration <= 30.0:
        return 1.0
    return min(SPEEDS, key=lambda speed: abs(np.log(duration / speed / 8.0)))


def _turned(t: np.ndarray, angular_velocity: np.ndarray) -> float:
    """All turning of a body put together, rad, by the largest of its rates at both ends of each interval."""
    rate = np.linalg.norm(np.nan_to_num(angular_velocity), axis=1)
    return float(np.sum(np.diff(t) * np.maximum(rate[1:], rate[:-1])))


def _peaks(values: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Largest value of each interval between shown frames, so that leaving frames out hides no peak."""
    starts = np.concatenate([[0], frames[:-1] + 1])
    return np.fmax.reduceat(values, starts, axis=0)


def _run_table(result: Result) -> list[list[str]]:
    """Rows of the statistics card: label and text."""
    names = {"rejected": "rejected steps", "newton": "Newton iterations", "newton_failed": "failed Newton solves"}
    names |= {"rtol": "relative tolerance", "atol": "absolute tolerance", "seconds": "time taken [s]"}
    settings = [(key, result.options.get(key)) for key in ("rtol", "atol", "step")]
    numbers = {key: value for key, value in result.stats.items() if not isinstance(value, list)}
    counts = [(key, value) for key, value in numbers.items() if value or key == "rejected"]
    rows = [(key, value) for key, value in (*settings, *counts) if value is not None]
    rows += [("output times", len(result)), ("coordinates", result.q.shape[1])]
    rows += [("constraint rows", result.lam.shape[1])]
    if result.audit is not None:
        rows.append(("audit", result.audit.line().removeprefix("audit: ")))
    table = []
    for key, value in rows:
        value = plain(value)
        text = f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
        table.append([names.get(key, key.replace("_", " ")), text])
    return table


def _up(result: Result) -> str:
    kinds = {body["kind"] for body in result.layout.bodies}
    gravity = np.asarray(result.layout.gravity, float)
    if kinds == {"planar"}:
        gravity = gravity * (1.0, 1.0, 0.0)  # what acts in the plane
    axis = int(np.argmax(np.abs(gravity)))
    if gravity[axis] < 0:
        return "xyz"[axis]
    return "y" if kinds == {"planar"} else "z"


def symbol(element: dict[str, Any], usual: str) -> str:
    """What its class says the page draws of a joint or force; of a class that is not registered, the usual."""
    return ELEMENTS[element["type"]].symbol if element["type"] in ELEMENTS else usual


def _element(
    element: dict[str, Any], usual: str, markers: Iterable[dict[str, Any]], moving: PageMotion
) -> dict[str, Any]:
    """A joint or force as the page knows it."""
    drawn = {"name": element["name"], "type": element["type"], "symbol": symbol(element, usual)}
    return {**drawn, "markers": [moving.place(marker) for marker in markers]}


def _lines(body: dict[str, Any], moving: PageMotion) -> list[dict[str, Any]]:
    """What to draw of a body that is shown by lines: which of the page's points each of them joins."""
    settings = {"type": "line", "radius": float(body["shape"].get("radius", 0.0))}
    return [{**settings, "first": first, "count": count} for first, count in moving.lines.get(body["name"], ())]


def _attachments(result: Result, moving: PageMotion) -> dict[str, list[np.ndarray]]:
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


def _outline(body: dict[str, Any], attached: list[np.ndarray]) -> np.ndarray:
    """Points of a body, in its frame, that between them reach as far as its drawing does."""
    shape = body["shape"]
    kind = shape.get("type", "none")
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    if kind == "rod":
        points = np.asarray(shape["ends"], float)
    elif kind == "box":
        points = corners * np.asarray(shape["size"], float) / 2
    elif kind == "sphere":
        points = corners * shape["radius"]
    elif kind == "cylinder":
        half = np.where(np.arange(3) == "xyz".index(shape.get("axis", "z")), shape["length"] / 2, shape["radius"])
        points = corners * half
    else:
        points = np.zeros((1, 3))
    return np.vstack([points, *attached])


def _sizes(cloud: np.ndarray, outlines: list[np.ndarray]) -> tuple[float, float]:
    """Size of the mechanism, and the radius of a bar that looks right in it."""
    size = float(np.median(np.linalg.norm(np.ptp(cloud, axis=1), axis=1)))
    reaches = [float(np.linalg.norm(np.ptp(points, axis=0))) for points in outlines]
    reaches = [reach for reach in reaches if reach > 0]
    size = size or 1.0
    return size, min(0.013 * size, 0.07 * float(np.median(reaches or [size])))


def _outer_points(points: np.ndarray) -> np.ndarray:
    """The points that lie farthest out in some direction: enough to fit a camera to all of them."""
    directions = np.indices((5, 5, 5)).reshape(3, -1) - 2.0
    return points[np.unique(np.argmax(points @ directions, axis=0))]


def _parts(body: dict[str, Any], attached: list[np.ndarray], thick: float) -> list[dict[str, Any]]:
    """What to draw of a body: its shape, and thin struts to joints that lie outside it."""
    shape = plain(body["shape"])
    kind = shape.get("type", "none")
    if kind not in ("rod", "box", "cylinder", "sphere"):
        return _skeleton(body, attached)
    parts = [shape]
    for point in attached:
        near = _nearest(shape, point)
        if np.linalg.norm(near - point) > 1.5 * thick:
            parts.append({"type": "strut", "ends": [near.tolist(), point.tolist()]})
    return parts


def _nearest(shape: dict[str, Any], point: np.ndarray) -> np.ndarray:
    """The point of a shape closest to a point of its body; the point itself if it lies inside."""
    if shape["type"] == "rod":
        start, end = np.asarray(shape["ends"], float)
        along = end - start
        return start + np.clip((point - start) @ along / (along @ along), 0.0, 1.0) * along
    if shape["type"] == "box":
        half = np.asarray(shape["size"], float) / 2
        return np.clip(point, -half, half)
    radius = shape["radius"]
    if shape["type"] == "sphere":
        return point * min(1.0, radius / max(np.linalg.norm(point), 1e-300))
    axis = np.arange(3) == "xyz".index(shape.get("axis", "z"))
    across = np.where(axis, 0.0, point)
    across *= min(1.0, radius / max(np.linalg.norm(across), 1e-300))
    return np.where(axis, np.clip(point, -shape["length"] / 2, shape["length"] / 2), across)


def _skeleton(body: dict[str, Any], attached: list[np.ndarray]) -> list[dict[str, Any]]:
    """A body without a shape: bars between its joints, a plate through three or more, else a ball and its axes."""
    origin = np.zeros(3)
    ball = {"type": "ball"}
    if body["kind"] == "point" or not attached:
        return [ball] if body["kind"] == "point" else [ball, {"type": "axes"}]
    if len(attached) == 1:
        if not attached[0].any():
            return [ball, {"type": "axes"}]
        return [{"type": "rod", "ends": [attached[0].tolist(), origin.tolist()]}, ball, {"type": "axes"}]
    points = np.array(attached)
    centre = points.mean(axis=0)
    _, lengths, axes = np.linalg.svd(points - centre)
    flat = (points - centre) @ axes.T
    if len(points) == 2 or lengths[1] < 1e-3 * lengths[0]:
        order = np.argsort(flat[:, 0])
        return [{"type": "rod", "ends": points[order[[0, -1]]].tolist()}]
    order = np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))  # around the centre, seen across the plane of the points
    return [{"type": "plate", "points": points[order].tolist()}]
