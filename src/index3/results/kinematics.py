"""Motion of bodies and markers from stored coordinates, whole histories at once, as the body kinds know it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from index3.bodies.body import KINDS, Body
from index3.bodies.ground import Ground
from index3.bodies.kinematics import Kinematics
from index3.errors import Index3Error
from index3.registry import ELEMENTS


def kind_of(body: Mapping[str, Any]) -> type[Body]:
    """The class that knows how a body (its entry in a layout) moves.

    Raises
    ------
    Index3Error : no class of that kind is imported.
    """
    if body["kind"] == Ground.kind_name:
        return Ground
    if body["kind"] not in KINDS:
        for place in ELEMENTS.places.values():  # the package's own; others are imported by whoever uses them
            if place.startswith("index3.bodies."):
                import_module(place.partition(":")[0])
    if body["kind"] not in KINDS:
        raise Index3Error(
            f"Body '{body.get('name')}' is of the kind '{body['kind']}', which is not known here. Import the module "
            "that defines it first."
        )
    return KINDS[body["kind"]]


def body_kinematics(
    body: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray, part: str | None = None
) -> Kinematics:
    """Motion of the frame of a body (its entry in a layout) or of one of its parts, from its columns of q, v and a."""
    return kind_of(body).frame_motion(body.get("constants", {}), part, q, v, a)


def marker_kinematics(
    body: Mapping[str, Any], marker: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> Kinematics:
    """Motion of a marker (its entry in a layout) of a body (the same), from the body's columns of q, v and a."""
    return kind_of(body).marker_motion(body.get("constants", {}), marker, q, v, a)


def quaternions(A: np.ndarray) -> np.ndarray:
    """Euler parameters (n_t, 4) of rotation matrices (n_t, 3, 3), each with the sign nearest to the one before.

    4 p p^T is linear in A: its largest diagonal entry says which column loses no digits.
    """
    d = np.einsum("tii->ti", A)
    trace = d.sum(axis=1)
    square = np.empty((len(A), 4, 4))
    square[:, 0, 0] = 1.0 + trace
    square[:, [1, 2, 3], [1, 2, 3]] = 1.0 + 2.0 * d - trace[:, None]
    axial = np.stack([A[:, 2, 1] - A[:, 1, 2], A[:, 0, 2] - A[:, 2, 0], A[:, 1, 0] - A[:, 0, 1]], axis=1)
    square[:, 0, 1:] = square[:, 1:, 0] = axial
    for i, j in ((0, 1), (0, 2), (1, 2)):
        square[:, 1 + i, 1 + j] = square[:, 1 + j, 1 + i] = A[:, i, j] + A[:, j, i]
    largest = np.argmax(np.einsum("tii->ti", square), axis=1)
    p = square[np.arange(len(A)), largest]
    p /= np.linalg.norm(p, axis=1)[:, None]
    flips = np.sum(p[1:] * p[:-1], axis=1) < 0.0
    signs = np.concatenate([[-1.0 if len(p) and p[0, 0] < 0.0 else 1.0], np.where(flips, -1.0, 1.0)])[: len(p)]
    return p * np.cumprod(signs)[:, None]


def cross_angles(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Of axes of two markers, (n, 3, 3) each, whose z axes are those of a cross, the turns about both, (n, 2)."""
    in_first = np.einsum("tji,tj->ti", first, second[:, :, 2])  # the second axis, as the first marker sees it
    in_second = np.einsum("tji,tj->ti", second, first[:, :, 2])
    turns = (np.arctan2(in_first[:, 1], in_first[:, 0]), -np.arctan2(in_second[:, 1], in_second[:, 0]))
    return np.stack(turns, axis=1)
