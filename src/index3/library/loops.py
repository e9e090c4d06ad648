"""Closed lines around circles: the pitch line of a belt or a chain."""

import math
from collections.abc import Sequence

import numpy as np

Circle = tuple[tuple[float, float], float]
"""Centre and radius, which is negative for a circle that lies outside the line."""


class Loop:
    """A line drawn tight around circles, counter-clockwise, as a function of arc length from where it leaves the first.

    Attributes
    ----------
    length : float
    pieces : list of (arc length at the start, length, point, heading [rad], curvature); lines and arcs in turn

    >>> round(Loop([((0.0, 0.0), 1.0), ((3.0, 0.0), 1.0)]).length - 6.0, 6)
    6.283185
    """

    def __init__(self, circles: Sequence[Circle]) -> None:
        lines = [tangent(*pair) for pair in zip(circles, [*circles[1:], circles[0]], strict=True)]
        headings = [math.atan2(*(end - begin)[::-1]) for begin, end in lines]
        self.pieces: list[tuple[float, float, np.ndarray, float, float]] = []
        self.length = 0.0
        for k, (begin, end) in enumerate(lines):
            following = (k + 1) % len(circles)
            radius = circles[following][1]
            turn = math.copysign(1.0, radius) * (headings[following] - headings[k]) % (2.0 * math.pi)
            self._append(float(np.linalg.norm(end - begin)), begin, headings[k], 0.0)
            self._append(turn * abs(radius), end, headings[k], 1.0 / radius)

    def _append(self, length: float, point: np.ndarray, heading: float, curvature: float) -> None:
        self.pieces.append((self.length, length, point, heading, curvature))
        self.length += length

    def at(self, s: float) -> tuple[np.ndarray, float, float]:
        """Point, heading [rad] and curvature at an arc length."""
        s %= self.length
        start, _, point, heading, curvature = next(piece for piece in reversed(self.pieces) if piece[0] <= s)
        now = heading + curvature * (s - start)
        if curvature == 0.0:
            return point + (s - start) * np.array((math.cos(heading), math.sin(heading))), heading, 0.0
        step = np.array((math.sin(now) - math.sin(heading), math.cos(heading) - math.cos(now))) / curvature
        return point + step, now, curvature


def tangent(first: Circle, second: Circle) -> tuple[np.ndarray, np.ndarray]:
    """Where the line leaves a circle and meets the following one."""
    (c1, r1), (c2, r2) = first, second
    d = np.subtract(c2, c1)
    turn = math.atan2(d[1], d[0]) - math.acos((r1 - r2) / float(np.linalg.norm(d)))
    outwards = np.array((math.cos(turn), math.sin(turn)))
    return np.array(c1) + r1 * outwards, np.array(c2) + r2 * outwards
