"""The undeformed line of a beam: nodes with unit tangents, lengths of elements, the place nearest to a point.

Arrays of points have a row for each; all functions work in the plane as in space. An element's line is the cubic of its
two nodes (`index3.bodies.ancf_shapes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.ancf_histories import place
from index3.bodies.ancf_shapes import cubic, gauss
from index3.bodies.ancf_words import points_of
from index3.errors import ModelError


def given_line(owner: str, start: Any, end: Any, points: Any) -> np.ndarray:
    """Points (n, 3) on the undeformed line, two for a straight one."""
    found = points_of(owner, start, end, points)
    gaps = np.linalg.norm(np.diff(found, axis=0), axis=1)
    same = np.flatnonzero(gaps <= 1e-12 * max(1.0, float(np.abs(found).max())))
    if same.size:
        raise ModelError(
            f"{owner} has length zero between {found[same[0]].tolist()} and the next point. Give points that differ."
        )
    return found


def nodes_along(points: np.ndarray, elements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places and unit tangents of the nodes, and lengths of the elements, along a smooth curve through the points."""
    if len(points) == 2:
        edge = points[1] - points[0]
        length = float(np.linalg.norm(edge))
        places = points[0] + np.outer(np.arange(elements + 1) / elements, edge)
        return places, np.tile(edge / length, (elements + 1, 1)), np.full(elements, length / elements)
    from scipy.interpolate import CubicSpline  # here: 0.1 s that straight beams need not pay

    chords = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    curve = CubicSpline(chords, points)
    fine = np.linspace(0.0, chords[-1], 20 * max(elements, len(points)) + 1)
    x, w = gauss(4)
    inner = fine[:-1, None] + np.diff(fine)[:, None] * x
    arc = np.concatenate([[0.0], np.cumsum(np.diff(fine) * (np.linalg.norm(curve(inner, 1), axis=-1) @ w))])
    at = np.interp(np.linspace(0.0, arc[-1], elements + 1), arc, fine)
    places, slopes = curve(at), curve(at, 1)
    tangents = slopes / np.linalg.norm(slopes, axis=1)[:, None]
    guess = float(arc[-1]) / elements
    lengths = [own_length(places[n : n + 2], tangents[n : n + 2], guess) for n in range(elements)]
    return places, tangents, np.array(lengths)


def own_length(places: np.ndarray, tangents: np.ndarray, guess: float) -> float:
    """The length that the cubic between two nodes has if that length is its parameter, so that s is the arc length."""
    x, w = gauss(8)
    vectors, length = np.stack([places[0], tangents[0], places[1], tangents[1]]), guess
    for _ in range(30):  # the end slopes change it little: a contraction by more than 10
        found = length * float(w @ np.linalg.norm(cubic(x * length, length, 1) @ vectors, axis=-1))
        if abs(found - length) <= 1e-15 * length:
            break
        length = found
    return length


def line_rows(lengths: np.ndarray, s: Any, derivative: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The element of each place s, and the coefficients (..., 4) of its (r1, r1_x, r2, r2_x) in r or a derivative."""
    element, x = place(lengths, s)
    size = lengths[element]
    rows = cubic(x / size, 1.0, derivative)
    return element, rows * np.stack([size**0, size, size**0, size], -1) / size[..., None] ** derivative


def nearest_place(lengths: np.ndarray, line: np.ndarray, point: np.ndarray) -> tuple[float, float]:
    """The s of the point of a line nearest to a point, and its distance; `line` (nodes, 2, 3) has r and r_x."""
    ends = np.concatenate([[0.0], np.cumsum(lengths)])

    def at(s: Any, derivative: int = 0) -> np.ndarray:
        element, rows = line_rows(lengths, s, derivative)
        vectors = np.stack([line[element, 0], line[element, 1], line[element + 1, 0], line[element + 1, 1]], -2)
        return (rows[..., None] * vectors).sum(-2)

    s = (ends[:-1, None] + np.linspace(0.0, 1.0, 17) * lengths[:, None]).ravel()
    best = float(s[np.argmin(np.linalg.norm(at(s) - point, axis=-1))])
    for _ in range(50):  # along the tangent; halves the error at least where the line is curved less than the distance
        along = at(best, 1)
        found = min(max(best + float((point - at(best)) @ along / (along @ along)), 0.0), float(ends[-1]))
        if abs(found - best) <= 1e-15 * ends[-1]:
            break
        best = found
    near = float(ends[np.argmin(np.abs(ends - best))])
    best = near if abs(near - best) <= 1e-12 * ends[-1] else best  # at a node but for rounding
    return best, float(np.linalg.norm(at(best) - point))
