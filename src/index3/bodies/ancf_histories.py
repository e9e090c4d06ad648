"""Motion of planar beams in absolute nodal coordinates from whole histories, time first, and what acts inside them.

`constants` is what `AncfBeam.constants` gives: plain numbers, from which the undeformed beam is made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.ancf_shapes import planar
from index3.bodies.kinematics import Kinematics
from index3.errors import Index3Error

FRAMES = ("section", "tangent")
"""What the axes of a marker turn with: y with r_y, or x with r_x."""


def as_places(s: Any) -> np.ndarray:
    """Places along the axis, one number or a list of them, as an array (n_s,)."""
    try:
        places = np.atleast_1d(np.asarray(s, float))
    except (TypeError, ValueError):
        places = np.zeros((0, 0))
    if places.ndim != 1:
        raise Index3Error(f"s is {short(s)}. Give a place along the axis [m], or a list of places.")
    return places


def check_across(value: Any, half: float, word: str) -> None:
    """Raise for a place outside of the section."""
    if not np.all(np.abs(value) <= half * (1.0 + 1e-9)):  # NaN is not
        raise Index3Error(f"{word} is {short(np.asarray(value).tolist())}. Give {word} from {-half:g} to {half:g} m.")


def place(lengths: np.ndarray, s: Any) -> tuple[np.ndarray, np.ndarray]:
    """The element that s [m] along the undeformed axis lies in, and how far along the element."""
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    s = np.asarray(s, float)
    slack = 1e-12 * ends[-1]  # rounding of sums of lengths
    if np.any(s < -slack) or np.any(s > ends[-1] + slack) or not np.all(np.isfinite(s)):
        raise Index3Error(f"s is {s.tolist()}. Give places along the axis, from 0 to {ends[-1]:.12g} m.")
    s = np.clip(s, 0.0, ends[-1])
    near = ends[np.argmin(np.abs(s[..., None] - ends), axis=-1)]
    s = np.where(np.abs(s - near) <= slack, near, s)  # at a node exactly
    element = np.clip(np.searchsorted(ends, s, side="right") - 1, 0, len(lengths) - 1)
    return element, np.where(s == ends[element + 1], lengths[element], s - ends[element])  # the end itself is a node


def rows(constants: Mapping[str, Any], s: Any, y: Any, by_x: int = 0, by_y: int = 0) -> np.ndarray:
    """Coefficients (..., number of plane vectors) of r, or of its derivatives, at material points."""
    lengths = np.asarray(constants["lengths"], float)
    s, y = np.broadcast_arrays(np.asarray(s, float), np.asarray(y, float))
    element, x = place(lengths, s)
    whole = np.zeros((*s.shape, 3 * (len(lengths) + 1)))
    local = planar(x / lengths[element], y, 1.0, by_x, by_y)  # of an element of unit length
    scale = lengths[element][..., None]
    local = local * np.where(np.isin(np.arange(6), (1, 4)), scale, 1.0) / scale**by_x
    np.put_along_axis(whole, 3 * element[..., None] + np.arange(6), local, axis=-1)
    return whole


def vectors(constants: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """Histories of all plane vectors of the nodes, (n_t, number, 2)."""
    if "cholesky" in constants:
        return to_nodal(constants["cholesky"], x)
    return np.asarray(x, float).reshape(len(x), x.shape[1] // 2, 2)


def to_nodal(bands: Any, x: np.ndarray) -> np.ndarray:
    """Histories of plane vectors from those of Cholesky coordinates; `bands` are the diagonals of L^T."""
    band = np.asarray(bands, float)
    count = band.shape[1]
    upper = sum((np.diag(band[k, : count - k], k) for k in range(len(band))), np.zeros((count, count)))
    flat = np.asarray(x, float).reshape(len(x), count, 2).transpose(1, 0, 2)
    return np.linalg.solve(upper, flat.reshape(count, -1)).reshape(flat.shape).transpose(1, 0, 2)


def spread(coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Histories (n_t, ..., 2) of sums of plane vectors."""
    return np.einsum("...i,tik->t...k", coefficients, x)


def with_zero(x: np.ndarray, value: float = 0.0) -> np.ndarray:
    """Plane vectors with a third number."""
    return np.concatenate([x, np.full((*x.shape[:-1], 1), value)], axis=-1)


def motion(
    constants: Mapping[str, Any], point: np.ndarray, direction: np.ndarray, tangent: bool, axes: Any, *histories: Any
) -> Kinematics:
    """Of a frame whose origin and direction are sums of the plane vectors."""
    q, v, a = (vectors(constants, x) for x in histories)
    r, r_v, r_a = (spread(point, x) for x in (q, v, a))
    z, z_v, z_a = (x[:, 0] + 1j * x[:, 1] for x in (spread(direction, y) for y in (q, v, a)))
    spin = z_v / z
    u = z / np.abs(z) if tangent else -1j * z / np.abs(z)
    zero = 0.0 * u.real
    A = np.stack([u.real, -u.imag, zero, u.imag, u.real, zero, zero, zero, zero + 1.0], axis=-1).reshape(-1, 3, 3)
    w, w_dot = (with_zero(np.zeros((len(z), 2)), 0.0) for _ in range(2))
    w[:, 2], w_dot[:, 2] = spin.imag, (z_a / z - spin**2).imag
    height = float(constants["height"])
    return Kinematics(with_zero(r, height), with_zero(r_v), with_zero(r_a), A @ np.asarray(axes, float), w, w_dot)


def marker_rows(constants: Mapping[str, Any], position: Any, part: str | None) -> tuple[np.ndarray, np.ndarray, bool]:
    """Coefficients of a marker's point and of the direction it turns with, and whether that is its x axis.

    A marker stands at s, y of its `position`. A part "arm u w" displaces its point by u r_x + w r_y.
    """
    s, y = float(position[0]), float(position[1])
    words = (part or "section").split()
    point, tangent = rows(constants, s, y), words[0] == "tangent"
    if words[0] == "arm":
        point = point + float(words[1]) * rows(constants, s, y, 1) + float(words[2]) * rows(constants, s, y, 0, 1)
    return point, rows(constants, s, y, 1) if tangent else rows(constants, s, y, 0, 1), tangent


def points(constants: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any, y: Any = 0.0) -> Any:
    """Material points s, y in ground (n_t, n_s, 3) [m]."""
    place_rows = rows(constants, as_places(s), y)
    return with_zero(spread(place_rows, vectors(constants, q)), float(constants["height"]))
