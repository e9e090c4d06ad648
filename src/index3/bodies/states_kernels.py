"""Blocks of first-order states: v = x, so that M a = Q with M = 1 reads x' = f; see `index3.bodies.states`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view

BLOCK = np.dtype(
    [
        ("first", "i8"),  # first coordinate
        ("count", "i8"),
        ("markers", "i8"),  # its markers, consecutive
        ("marker_count", "i8"),
        ("map", "i8"),  # first place in MAP
    ]
)
BODIES, MAP = slots(bodies=(BLOCK, 1), map=("i8", 1))
"""MAP: places in MATRIX of the diagonal entries."""


def table(bodies: Sequence[Any], sites: Sequence[Any], places: np.ndarray) -> Table:
    """The table of all blocks of a system."""
    result = Table(2)
    maps = accumulate((body.size for body in bodies), initial=0)
    records = [
        (site.first, body.size, site.marker, site.marker_count, first)
        for body, site, first in zip(bodies, sites, maps, strict=False)
    ]
    result[BODIES] = np.array(records, BLOCK)
    result[MAP] = places
    return result


@helper
def put_parts(T, E, x, out):
    """Give every marker the part of x that it spans."""
    blocks, markers, spans = view(E, BODIES), view(T, s.MARKERS), view(T, s.SPANS)
    for b in range(blocks.shape[0]):
        for m in range(blocks[b].markers, blocks[b].markers + blocks[b].marker_count):
            for c in range(markers[m].count):
                out[m, c] = x[spans[markers[m].span + c]]


@kernel
def poses(T, E):
    """The twist of every marker: its states."""
    put_parts(T, E, view(T, s.V), view(T, s.MARKER_V))
    return OK


@kernel
def gather(T, E):
    """G -= rates."""
    blocks, markers, spans, g, f = (
        view(E, BODIES),
        view(T, s.MARKERS),
        view(T, s.SPANS),
        view(T, s.G),
        view(T, s.MARKER_F),
    )
    for b in range(blocks.shape[0]):
        for m in range(blocks[b].markers, blocks[b].markers + blocks[b].marker_count):
            for c in range(markers[m].count):
                g[spans[markers[m].span + c]] -= f[m, c]
    return OK


@kernel
def mass(T, E):
    """MA += a."""
    blocks, a, ma = view(E, BODIES), view(T, s.A), view(T, s.MA)
    for b in range(blocks.shape[0]):
        for k in range(blocks[b].first, blocks[b].first + blocks[b].count):
            ma[k] += a[k]
    return OK


@kernel
def jacobians(T, E):
    """MARKER_J: ones where a component of the twist is a state."""
    blocks, markers, jacobian = view(E, BODIES), view(T, s.MARKERS), view(T, s.MARKER_J)
    for b in range(blocks.shape[0]):
        for m in range(blocks[b].markers, blocks[b].markers + blocks[b].marker_count):
            for c in range(markers[m].count):
                jacobian[markers[m].jacobian + c * markers[m].count + c] = 1.0
    return OK


@kernel
def body_matrix(T, E):
    """Ones on the diagonal of M."""
    places, values, c = view(E, MAP), view(T, s.MATRIX), view(T, s.COEF)
    for k in range(places.shape[0]):
        values[places[k]] += c[s.C_M]
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a."""
    put_parts(T, E, view(T, s.A), view(T, s.MARKER_X))
    return OK


STAGES = {
    "poses": poses,
    "gather": gather,
    "mass": mass,
    "jacobians": jacobians,
    "body_matrix": body_matrix,
    "second_derivatives": second_derivatives,
}
