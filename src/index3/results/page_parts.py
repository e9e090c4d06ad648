"""What a page draws of a body in its own frame: its shape with struts to its joints, or bars between them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from index3.results.arrays import plain

SOLID = ("rod", "box", "cylinder", "sphere", "ring", "mesh")


def encode(array: np.ndarray) -> str:
    """Base64 of little-endian float32."""
    with np.errstate(over="ignore"):  # what float32 cannot hold is not drawn
        return base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode("ascii")


def outline(body: dict[str, Any], attached: list[np.ndarray]) -> np.ndarray:
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
    elif kind == "mesh":
        points = np.asarray(shape["vertices"], float)
    elif kind in ("cylinder", "ring"):
        half = np.where(np.arange(3) == "xyz".index(shape.get("axis", "z")), shape["length"] / 2, shape["radius"])
        points = corners * half
    else:
        points = np.zeros((1, 3))
    return np.vstack([points, *attached])


def parts_of(body: dict[str, Any], attached: list[np.ndarray], thick: float) -> list[dict[str, Any]]:
    """What to draw of a body: its shape, and thin struts to joints that lie outside it."""
    shape = plain(body["shape"])
    kind = shape.get("type", "none")
    if kind not in SOLID:
        return _skeleton(body, attached)
    parts = [packed(shape) if kind == "mesh" else shape]
    for point in attached:
        near = _nearest(shape, point)
        if np.linalg.norm(near - point) > 1.5 * thick:
            parts.append({"type": "strut", "ends": [near.tolist(), point.tolist()]})
    return parts


def packed(mesh: dict[str, Any]) -> dict[str, Any]:
    """A mesh with its numbers as a page takes them."""
    return {**mesh, "vertices": encode(np.asarray(mesh["vertices"])), "faces": encode(np.asarray(mesh["faces"]))}


def _nearest(shape: dict[str, Any], point: np.ndarray) -> np.ndarray:
    """The point of a shape closest to a point of its body; the point itself if it lies inside."""
    if shape["type"] == "rod":
        start, end = np.asarray(shape["ends"], float)
        along = end - start
        return start + np.clip((point - start) @ along / (along @ along), 0.0, 1.0) * along
    if shape["type"] == "box":
        half = np.asarray(shape["size"], float) / 2
        return np.clip(point, -half, half)
    if shape["type"] == "mesh":
        vertices = np.asarray(shape["vertices"], float)
        return vertices[np.argmin(np.linalg.norm(vertices - point, axis=1))]
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
