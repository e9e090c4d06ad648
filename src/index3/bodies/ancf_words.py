"""From a user's words to an undeformed beam: readers that return clean values or name the beam."""

from __future__ import annotations

import math
import operator
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.ancf_histories import rows
from index3.bodies.ancf_reference import Section, gradients
from index3.bodies.ancf_shapes import cubic, gauss
from index3.bodies.marker import as_number, as_numbers, as_positive, as_vector
from index3.errors import ModelError, warn

MOST = 100_000
"""Elements of a beam: their matrices take some kilobytes each."""
LOCKED = 0.1
"""By how much too stiff curved elements may be without a warning."""


def as_count(value: Any, owner: str, what: str) -> int:
    """A whole number, at least 1."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if isinstance(value, bool):  # True is no count
        number = 0
    if number < 1:
        raise ModelError(f"{owner} has {what} {short(value)}. Give a whole number, at least 1.")
    if number > MOST:
        raise ModelError(f"{owner} has {what} {short(value)}. Give at most {MOST}.")
    return number


def as_damping(value: Any, owner: str) -> tuple[float, float]:
    """(per stiffness [s], per mass [1/s]) from a time constant, or from the pair (per mass, per stiffness)."""
    pair = as_numbers(value, owner, "damping") if np.ndim(value) else (0.0, as_number(value, owner, "damping"))
    if len(pair) != 2:
        raise ModelError(f"{owner} has damping {short(value)}. Give a time constant, or (per mass, per stiffness).")
    drag, lag = map(float, pair)
    if drag < 0.0 or lag < 0.0:
        raise ModelError(f"{owner} has damping {short(value)}, which adds energy. Give zero or a positive number.")
    return lag, drag


def as_section(
    owner: str, height: Any, width: Any, density: Any, young: Any, poisson: Any, law: str, plane: str
) -> Section:
    """Section and material of a beam."""
    numbers = {"height": height, "width": width, "density": density, "young": young}
    clean = {what: as_positive(value, owner, what) for what, value in numbers.items()}
    return Section.of(**clean, poisson=as_poisson(poisson, owner), law=law, plane=plane)


def as_poisson(value: Any, owner: str) -> float:
    """Poisson's ratio."""
    ratio = as_number(value, owner, "poisson")
    if not -1.0 < ratio < 0.5:
        raise ModelError(f"{owner} has poisson {ratio}. Give a number above -1 and below 0.5.")
    return ratio


def solid_section(owner: str, height: Any, width: Any, radius: Any) -> tuple[float, tuple[float, float], float]:
    """Area [m^2], second moments of area of the height and of the width [m^4], half the height [m]."""
    if radius is not None:
        if height is not None or width is not None:
            raise ModelError(f"{owner} has a radius and also a height or width. Leave one out.")
        r = as_positive(radius, owner, "radius")
        return math.pi * r**2, (0.25 * math.pi * r**4, 0.25 * math.pi * r**4), r
    if height is None or width is None:
        raise ModelError(f"{owner} has no section. Give height and width, or radius.")
    h, w = as_positive(height, owner, "height"), as_positive(width, owner, "width")
    return h * w, (w * h**3 / 12.0, h * w**3 / 12.0), 0.5 * h


def points_of(owner: str, start: Any, end: Any, points: Any) -> np.ndarray:
    """Points (n, 3) on an undeformed axis: those given, or its start and end."""
    if points is None:
        if start is None or end is None:
            raise ModelError(f"{owner} has no {'start' if start is None else 'end'}. Give start and end, or points.")
        found = np.array([in_space(start, owner, "start"), in_space(end, owner, "end")])
    else:
        if start is not None or end is not None:
            raise ModelError(f"{owner} has points and also start or end. Leave one out.")
        try:
            found = np.array([in_space(point, owner, "point") for point in points])
        except TypeError:
            found = np.zeros((0, 3))
        if len(found) < 2:
            raise ModelError(f"{owner} has points {short(points)}. Give at least two points.")
    return found


def given_points(owner: str, start: Any, end: Any, points: Any) -> np.ndarray:
    """Points (n, 3) on the undeformed axis in its plane, two for a straight one."""
    found = points_of(owner, start, end, points)
    if np.ptp(found[:, 2]) > 1e-12 * max(1.0, float(np.abs(found).max())):
        raise ModelError(
            f"{owner} leaves its plane: its points have z from {found[:, 2].min()} to "
            f"{found[:, 2].max()}. Give points with equal z."
        )
    same = np.flatnonzero(np.hypot(*np.diff(found[:, :2], axis=0).T) <= 1e-12 * max(1.0, float(np.abs(found).max())))
    if same.size:
        raise ModelError(
            f"{owner} has length zero between {found[same[0]].tolist()} and the next point. Give points that differ."
        )
    return found


def in_space(value: Any, owner: str, what: str) -> np.ndarray:
    """Three numbers, or two with z = 0."""
    if np.shape(value) == (2,):
        return np.append(as_vector(value, owner, what, 2), 0.0)
    return as_vector(value, owner, what)


def undeformed(points: np.ndarray, elements: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Coordinates (elements + 1, 6) of the nodes, lengths of the elements, and whether the beam is straight."""
    if len(points) == 2:
        start, end = points
        length = float(np.hypot(*(end - start)))
        places = start + np.outer(np.arange(elements + 1) / elements, end - start)
        return (
            with_gradients(places, np.tile((end - start) / length, (elements + 1, 1))),
            np.full(elements, length / elements),
            True,
        )
    from scipy.interpolate import CubicSpline  # here: 0.1 s that straight beams need not pay

    chords = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    curve = CubicSpline(chords, points)
    fine = np.linspace(0.0, chords[-1], 20 * max(elements, len(points)) + 1)
    x, w = gauss(4)
    inner = fine[:-1, None] + np.diff(fine)[:, None] * x
    steps = np.diff(fine) * (np.hypot(*np.moveaxis(curve(inner, 1), -1, 0)) @ w)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.interp(np.linspace(0.0, arc[-1], elements + 1), arc, fine)
    tangents = curve(at, 1) / np.hypot(*curve(at, 1).T)[:, None]
    nodes = with_gradients(curve(at), tangents)
    return nodes, np.array([own_length(nodes[n : n + 2], arc[-1] / elements) for n in range(elements)]), False


def with_gradients(places: np.ndarray, tangents: np.ndarray) -> np.ndarray:
    """Nodes with r_x along unit tangents and r_y across."""
    return np.column_stack([places, tangents, -tangents[:, 1], tangents[:, 0]])


def own_length(ends: np.ndarray, guess: float) -> float:
    """The length that the cubic between two nodes has if that length is its parameter, so that s is the arc length."""
    x, w = gauss(8)
    vectors, length = np.concatenate([ends[:, :2], ends[:, 2:4]], axis=1).reshape(4, 2), guess
    for _ in range(30):  # the end slopes change it little: a contraction by more than 10
        slope = cubic(x * length, length, 1) @ vectors
        found = length * float(w @ np.hypot(slope[:, 0], slope[:, 1]))
        if abs(found - length) <= 1e-15 * length:
            break
        length = found
    return length


def check_gradients(owner: str, nodes: np.ndarray, lengths: np.ndarray, height: float) -> None:
    """Raise where the material of an undeformed beam is turned inside out: curved more than its height allows."""
    x = np.linspace(0.0, 1.0, 9)
    for n, length in enumerate(lengths):
        vectors = nodes[n : n + 2].reshape(6, 2)
        for y in (-0.5 * height, 0.5 * height):
            if np.any(np.linalg.det(gradients(vectors, length, length * x, np.full(9, y))) <= 0.0):
                raise ModelError(
                    f"{owner} has inverted gradients in element {n}: it is curved more than its height allows. "
                    "Give points on a wider curve, more elements, or a smaller height."
                )


def warn_of_locking(owner: str, nodes: np.ndarray, lengths: np.ndarray, height: float) -> None:
    """Warn where curved elements of the law "continuum" bend far too little.

    Their axis cannot bend without stretching: measured on arcs, an element that turns by an angle has 1/(1 + x^2/12) of
    its compliance, x = angle length / height (docs/theory/ancf.md).
    """
    along = nodes[:, 2:4]
    turns = np.abs(np.arctan2(*(f(along[:-1].T, along[1:].T) for f in (cross, dot))))
    x = float((turns * lengths).max() / height)
    if x**2 / 12.0 > LOCKED:
        enough = math.ceil(len(lengths) * math.sqrt(x / math.sqrt(12.0 * LOCKED)))
        warn(
            f"{owner} is curved and thin: its elements of law 'continuum' are about {1.0 + x**2 / 12.0:.3g} times too "
            f"stiff in bending. Give law='elastic-line', or at least {enough} elements."
        )


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b of plane vectors (2, n)."""
    return a[0] * b[1] - a[1] * b[0]


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a . b of plane vectors (2, n)."""
    return a[0] * b[0] + a[1] * b[1]


def nearest_place(lengths: np.ndarray, vectors: np.ndarray, point: np.ndarray) -> float:
    """The s of the point of an axis nearest to a point of its plane; `vectors` are those of the nodes."""
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    constants = {"lengths": lengths}
    s = (ends[:-1, None] + np.linspace(0.0, 1.0, 17) * lengths[:, None]).ravel()
    away = np.linalg.norm(rows(constants, s, 0.0) @ vectors - point, axis=1)
    best = float(s[np.argmin(away)])
    for _ in range(50):  # along the tangent; halves the error at least where the axis is curved less than the distance
        along = rows(constants, best, 0.0, 1) @ vectors
        step = float((point - rows(constants, best, 0.0) @ vectors) @ along / (along @ along))
        found = min(max(best + step, 0.0), float(ends[-1]))
        if abs(found - best) <= 1e-15 * ends[-1]:
            break
        best = found
    near = float(ends[np.argmin(np.abs(ends - best))])
    return near if abs(near - best) <= 1e-12 * ends[-1] else best  # at a node but for rounding
