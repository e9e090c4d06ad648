"""From the numbers of a model to the pattern of its matrix, and the maps from elements into it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Slot
from index3.system.numbering import Numbering
from index3.system.sparsity import Sparsity, pairs, pattern


def find_maps(numbers: Numbering) -> tuple[Sparsity, dict[Slot, np.ndarray]]:
    """The pattern of the matrix, and the arrays of all slots that follow from the structure of the model."""
    n = numbers.n
    block_row, block_col = constraint_entries(numbers)
    rows, cols, used = group_entries(numbers)
    own_rows = np.concatenate([numbers.first[id(body)] + body.couplings[0] for body in numbers.bodies])
    own_cols = np.concatenate([numbers.first[id(body)] + body.couplings[1] for body in numbers.bodies])
    sparsity = pattern(n + numbers.m, [rows[used], own_rows, n + block_row], [cols[used], own_cols, block_col])
    block_map = np.stack([sparsity.places(n + block_row, block_col), sparsity.places(block_col, n + block_row)], 1)
    return sparsity, {
        s.LEVEL: numbers.levels(),
        s.MARKERS: marker_records(numbers),
        s.SPANS: np.array([k for span in numbers.spans for k in span], np.int64),
        s.GROUP_MARKERS: np.array([k for group in numbers.groups for k in group.marker_numbers], np.int64),
        s.GROUP_COLUMNS: np.array(numbers.columns, np.int64),
        s.GROUP_MAP: np.where(used, sparsity.places(rows, cols), len(sparsity.indices)),  # the rest: nowhere
        s.BLOCK_ROW: block_row.astype(np.int32),  # four bytes: these are read at every evaluation
        s.BLOCK_COL: block_col.astype(np.int32),
        s.BLOCK_MAP: np.ascontiguousarray(block_map, np.int32),
    }


def constraint_entries(numbers: Numbering) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of PHI_Q: own rows of bodies first, then those of groups."""
    rows, columns = [], []
    for body in numbers.bodies:
        if body.own_rows:
            row, start = numbers.own[id(body)][0], numbers.first[id(body)]
            for k, own in enumerate(body.own_columns):
                rows.append(np.full(len(own), row + k))
                columns.append(np.array(own) + start)
    for group in numbers.groups:
        for r in range(group.rows):
            rows.append(np.full(group.count, group.row + r))
            columns.append(np.array(group.coordinates, np.int64))
    return joined(rows), joined(columns)


def group_entries(numbers: Numbering) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of the entries of groups in the matrix, and which of them can differ from zero."""
    turns = turning_coordinates(numbers)
    rows, columns, used = [], [], []
    coupled = (group for group in numbers.groups if group.coupled)
    for (_, turning), alike in itertools.groupby(coupled, key=lambda group: (group.count, bool(group.turning))):
        some_rows, some_columns = pairs(np.array([group.coordinates for group in alike], np.int64))
        rows.append(some_rows)
        columns.append(some_columns)
        used.append(turns[some_rows] & turns[some_columns] if turning else np.ones(len(some_rows), bool))
    return joined(rows), joined(columns), joined(used).astype(bool)


def turning_coordinates(numbers: Numbering) -> np.ndarray:
    """Which coordinates turn the markers of their body."""
    turns = np.zeros(numbers.n, bool)
    for body in numbers.bodies:
        turns[[numbers.first[id(body)] + k for k in body.turning]] = True
    return turns


def marker_records(numbers: Numbering) -> np.ndarray:
    """The body of each marker, and where its coordinates and its Jacobian stand."""
    order = numbers.body_order()
    markers = np.zeros(len(numbers.markers), s.MARKER)
    markers["body"] = [order.get(id(marker.body), -1) for marker in numbers.markers]
    markers["count"] = [len(span) for span in numbers.spans]
    markers["span"] = np.cumsum(markers["count"]) - markers["count"]
    markers["jacobian"] = 6 * markers["span"]
    return markers


def joined(pieces: Iterable[np.ndarray]) -> np.ndarray:
    """Pieces one behind the other as integers; there may be none."""
    return np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.int64)
