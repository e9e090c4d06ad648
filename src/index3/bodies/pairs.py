"""The bodies and markers that an element lies between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import Marker
from index3.errors import ModelError


def check_pair(owner: str, first: Any, second: Any, remedy: str) -> bool:
    """Raise unless `first` and `second` are two bodies (returns True) or markers on two bodies (returns False).

    `remedy` says what goes with two bodies, for example "at=... and axis=...".
    """
    are_bodies = [isinstance(end, Body) for end in (first, second)]
    for end, is_body in zip((first, second), are_bodies, strict=True):
        if not is_body and not isinstance(end, Marker):
            raise ModelError(f"{owner} cannot join {short(end)}. Give two bodies with {remedy}, or two markers.")
    if are_bodies[0] != are_bodies[1]:
        raise ModelError(
            f"{owner} mixes a body and a marker. Give two bodies with {remedy}, or two markers (body.marker(...))."
        )
    body, other = (first, second) if are_bodies[0] else (first.body, second.body)
    if body is other:
        ends = "two different bodies" if are_bodies[0] else "markers on two different bodies"
        raise ModelError(f"{owner} joins body '{body.name}' to itself. Give it {ends}.")
    return are_bodies[0]


def joint_point(first: Body, second: Body, point: np.ndarray) -> np.ndarray:
    """Where a joint of two bodies is that is to be at a point: on the axis of a beam, if one of them is one."""
    return second.joint_point(first.joint_point(point))


def as_markers(owner: str, markers: Any) -> tuple[Marker, ...]:
    """A marker or body, or a sequence of them, as markers; a body stands for one at its origin with its axes."""
    given = [markers] if isinstance(markers, Marker | Body) else markers
    if not isinstance(given, Sequence) or not given:
        raise ModelError(f"{owner} has markers {short(markers)}. Give a marker or body, or a list of them.")
    for end in given:
        if not isinstance(end, Marker | Body):
            raise ModelError(f"{owner} cannot act on {short(end)}. Give a body or a marker.")
    return tuple(end.marker() if isinstance(end, Body) else end for end in given)


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Length of the line between two points, 0 where it is only rounding."""
    length = math.dist(first, second)
    scale = max(1.0, *map(abs, first.tolist()), *map(abs, second.tolist()))
    return length if length > 1e-12 * scale else 0.0  # 1e-12: thousands of roundings of coordinates of this size
