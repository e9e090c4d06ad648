"""The tables of flexible bodies with modes: their records, and what fills them."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.compiled.interface import Table, slots

MODAL = np.dtype(
    [
        ("first", "i8"),  # first coordinate
        ("row", "i8"),  # normalisation row
        ("entry", "i8"),  # its first place in PHI_Q
        ("markers", "i8"),  # its markers, consecutive
        ("marker_count", "i8"),
        ("mark", "i8"),  # the first of them in MARKS
        ("mode", "i8"),  # its modes in MODES and in ROOM
        ("count", "i8"),
        ("pair", "i8"),  # its pairs of modes in PAIRS, row by row
        ("place", "i8"),  # its couplings in MAP, row by row
        ("mass", "f8"),
        ("inertia", "f8", 6),  # J_0: xx, yy, zz, xy, yz, zx
    ]
)
MODE = np.dtype(
    [
        ("moment", "f8", 3),  # P_k, the first moment of mass
        ("turn", "f8", 3),  # H_0k, the angular momentum
        ("inertia", "f8", 6),  # J_k, how the inertia changes
        ("stiffness", "f8"),
        ("damping", "f8"),
    ]
)
MARK = np.dtype([("marker", "i8"), ("shape", "i8"), ("rest", "f8", 3)])
"""A marker, where its node's shapes begin in SHAPES, and the node without deformation, from the centre of mass."""

BODIES, MODES, PAIRS, MARKS, SHAPES, MAP, ROOM = slots(
    bodies=(MODAL, 1),
    modes=(MODE, 1),
    pairs=("f8", 2),  # J_kl (6) and H_kl (3) of each pair of modes
    marks=(MARK, 1),
    shapes=("f8", 2),  # displacement and rotation (6) of a node in each mode
    map=("i8", 1),
    room=("f8", 2),  # five lines for each mode: see `modal_kernels`
)
LINES = 5


def table(bodies: list[Any], sites: list[Any], places: np.ndarray) -> Table:
    """Modes, pairs of modes and markers of all bodies."""
    records: list[tuple] = []
    marks: list[tuple] = []
    modes: list[tuple] = []
    pairs, shapes = [np.zeros((0, 9))], [np.zeros((0, 6))]
    place, pair = 0, 0
    for body, site in zip(bodies, sites, strict=True):
        count, given = body.modes, body.inertia_data
        records.append(
            (*site[:5], len(marks), len(modes), count, pair, place, body.mass, tuple(symmetric(given.inertia)))
        )
        modes += [
            (tuple(given.moment[k]), tuple(given.turn[k]), tuple(symmetric(given.change[k])), stiffness, damping)
            for k, (stiffness, damping) in enumerate(zip(body.stiffness, body.damping, strict=True))
        ]
        both = np.concatenate([symmetric(given.pairs), given.turns], axis=-1)
        pairs.append(both.reshape(-1, 9))
        place, pair = place + body.size**2, pair + count**2
        for number, marker in enumerate(site.markers, site.marker):
            shape = body.shapes_at(marker.part)
            marks.append((number, sum(map(len, shapes)), tuple(body.rest_of(marker.part))))
            shapes.append(shape)
    made = Table(7)
    made[BODIES], made[MODES], made[MARKS] = np.array(records, MODAL), np.array(modes, MODE), np.array(marks, MARK)
    made[PAIRS], made[SHAPES] = np.concatenate(pairs), np.concatenate(shapes)
    made[MAP], made[ROOM] = np.ascontiguousarray(places), np.zeros((LINES * max(len(modes), 1), 12))
    return made


def symmetric(matrices: np.ndarray) -> np.ndarray:
    """The six entries xx, yy, zz, xy, yz, zx of symmetric matrices (..., 3, 3)."""
    return matrices[..., [0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]]
