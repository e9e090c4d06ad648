"""What pages draw of beams in absolute nodal coordinates: their surface, coloured by stress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MOST = 200
"""Places along a beam where its surface has corners: a page holds them for every frame."""


def surface(lengths: np.ndarray, outline: np.ndarray, rest: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
    """A tube of triangles along a beam, for `Body.drawing`.

    `outline` (k, 2) are corners of the section, y and z, in the sense from y to z; `rest` gives the undeformed places
    of material points (n, 3) in the body frame.
    """
    length, count = float(np.sum(lengths)), len(lengths)
    places = np.linspace(0.0, length, min(max(16, 2 * count), max(count, MOST)) + 1)
    k = len(outline)
    nodes = np.column_stack([np.repeat(places, k), np.tile(outline, (len(places), 1))])
    ring, after = np.arange(k), (np.arange(k) + 1) % k
    faces = []
    for low in range(0, k * (len(places) - 1), k):
        one, two, three, four = low + ring, low + after, low + k + after, low + k + ring
        faces += [np.stack([one, two, three], 1), np.stack([one, three, four], 1)]
    fan, last = np.arange(1, k - 1), k * (len(places) - 1)
    faces += [np.stack([0 * fan, fan + 1, fan], 1), last + np.stack([0 * fan, fan, fan + 1], 1)]
    axes = np.eye(3).tolist()
    return {
        "type": "faces",
        "nodes": [{"position": node, "axes": axes} for node in nodes.tolist()],
        "members": [],
        "faces": np.concatenate(faces).tolist(),
        "rest": rest(nodes).tolist(),
        "values": ["von_mises", nodes.tolist()],
    }


def rectangle(height: float, width: float) -> np.ndarray:
    """Corners of a section, from y to z."""
    return 0.5 * np.array(((height, -width), (height, width), (-height, width), (-height, -width)))


def circle(radius: float, corners: int = 12) -> np.ndarray:
    """Corners of a round section."""
    angle = 2.0 * np.pi * np.arange(corners) / corners
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
