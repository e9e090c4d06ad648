"""What is left of a primitive between planar bodies, which can never violate some of its rows.

A primitive that can lose rows has `planar_part(fields, first, second)`, of the poses (point, axes) of its markers: the
number of its rows that are left, the first ones, and by how much the others are violated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.errors import ModelError

Pose = tuple[np.ndarray, np.ndarray]
SLACK = 1e-9
"""Largest violation of a row that is left out because planar motion cannot change it [m, or cosine]."""


def in_plane(*directions: np.ndarray) -> bool:
    """Whether directions have a part in the ground x-y plane."""
    return all(np.hypot(u[0], u[1]) > SLACK for u in directions)


def lies_in_plane(direction: np.ndarray) -> bool:
    """Whether a direction lies in the ground x-y plane."""
    return bool(np.hypot(direction[0], direction[1]) >= 1.0 - SLACK)


def check_wheel(fields: dict[str, Any], first: Pose, second: Pose) -> None:
    """Raise unless a wheel that rolls on the first marker's plane stays in the ground x-y plane."""
    if not lies_in_plane(first[1][:, 2]) or (fields["radius"] > 0.0 and abs(second[1][2, 2]) < 1.0 - SLACK):
        raise out_of_plane("the normal of the plane along it and the axis of the wheel along z")


def out_of_plane(wanted: str) -> ModelError:
    """An error that goes on after the name of a joint."""
    return ModelError(f"turns planar bodies out of the ground x-y plane. Give it {wanted}.")
