"""From the numbers of a model to the pattern of its matrix, and the maps from elements into it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Slot
from index3.system.numbering import Numbering
from index3.system.parts import Group
from index3.system.sparsity import Sparsity, pattern, square_keys


def find_maps(numbers: Numbering) -> tuple[Sparsity, dict[Slot, np.ndarray]]:
    """The pattern of the matrix, and the arrays of all slots that follow from the structure of the model."""
    n, size = numbers.n, numbers.n + numbers.m
    block_row, block_col = constraint_entries(numbers)
    keys, used = group_entries(numbers, size)
    own_rows = np.concatenate([numbers.first[id(body)] + body.couplings[0] for body in numbers.bodies])
    own_cols = np.concatenate([numbers.first[id(body)] + body.couplings[1] for body in numbers.bodies])
    entries = [own_rows, n + block_row], [own_cols, block_col]
    sparsity = pattern(size, *entries, keys if used.all() else keys[used])
    block_map = np.stack([sparsity.places(n + block_row, block_col), sparsity.places(block_col, n + block_row)], 1)
    return sparsity, {
        s.LEVEL: numbers.levels(),
        s.MARKERS: marker_records(numbers),
        s.SPANS: np.array([k for span in numbers.spans for k in span], np.int64),
        s.GROUP_MARKERS: joined([group.tied_numbers.ravel() for group in numbers.groups if group.markers]),
        s.GROUP_COLUMNS: np.array(numbers.columns, np.int64),
        s.GROUP_MAP: np.where(used, sparsity.numbers(keys), np.int32(len(sparsity.indices))),  # the rest: nowhere
        s.BLOCK_ROW: block_row.astype(np.int32),  # four bytes: these are read at every evaluation
        s.BLOCK_COL: block_col.astype(np.int32),
        s.ROW_COLUMNS: np.flatnonzero(np.bincount(block_col, minlength=n)).astype(np.int32),
        s.BLOCK_MAP: np.ascontiguousarray(block_map, np.int32),
    }


def constraint_entries(numbers: Numbering) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of PHI_Q: own rows of bodies first, then those of groups."""
    columns: list[int] = []
    counts: list[int] = []  # of each row; rows are numbered in this order
    for body in numbers.bodies:
        start = numbers.first[id(body)]
        for own in body.own_columns:
            columns += [start + k for k in own]
            counts.append(len(own))
    for group in numbers.groups:
        if group.rows:
            columns += group.coordinates * group.rows
            counts += [group.count] * group.rows
    return np.repeat(np.arange(len(counts)), counts), np.array(columns, np.int64)


def group_entries(numbers: Numbering, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Entries of groups in the matrix, by `Sparsity.keys`; and which of them can differ from zero."""
    turns = turning_coordinates(numbers)
    keys: list[np.ndarray] = []
    used: list[np.ndarray] = []
    coupled = (group for group in numbers.groups if group.coupled)
    for (is_set, _, turning), alike in itertools.groupby(coupled, key=likeness):
        if is_set:
            for group in alike:
                spans = [numbers.spans[k] for k in group.marker_numbers]
                keys.append(set_entries(spans, group.ties, group.counts, size))
                used.append(np.ones(len(keys[-1]), bool))
            continue
        lists = np.array([group.coordinates for group in alike], np.int64)
        keys.append(square_keys(lists, size).ravel())
        turning_pairs = turns[lists[:, :, None]] & turns[lists[:, None, :]]
        used.append(turning_pairs.ravel() if turning else np.ones(lists.size * lists.shape[1], bool))
    return joined(keys), np.concatenate([np.zeros(0, bool), *used])


def likeness(group: Group) -> tuple[bool, int, bool]:
    """What groups have in common whose entries are found together."""
    return group.ties is not None, group.count, bool(group.turning)


def set_entries(own: list[list[int]], ties: Any, counts: Any, size: int) -> np.ndarray:
    """The same of all groups of a set, one behind the other; `own` are the spans of its markers."""
    spans = np.full((len(own), max(map(len, own))), -1, np.int64)  # in lines of one length
    for line, span in zip(spans, own, strict=True):
        line[: len(span)] = span
    squares = counts**2
    begins, keys = np.cumsum(squares) - squares, np.empty(int(np.sum(squares)), np.int64)
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        some = np.flatnonzero(counts == count)
        coordinates = spans[ties[some]].reshape(len(some), -1)
        lists = coordinates[coordinates >= 0].reshape(len(some), count)
        keys[begins[some][:, None] + np.arange(count**2)] = square_keys(lists, size).reshape(len(some), -1)
    return keys


def group_records(numbers: Numbering) -> np.ndarray:
    """The lines of GROUPS."""
    groups = [group for group in numbers.groups if group not in numbers.held]
    records = np.array(
        [
            (g.member, g.tied_markers, g.row, g.rows, g.count, g.columns, g.gradient, g.block, g.stiffness, g.map,
             int(g.curved), int(g.damped), int(g.inertial))
            for g in groups
        ], s.GROUP,
    )  # fmt: skip
    if all(group.ties is None for group in groups):
        return records
    records = np.repeat(records, [group.several for group in groups])
    for group in groups:
        if group.counts is not None:
            first = numbers.group_numbers[id(group)]
            own, k = records[first : first + group.several], np.arange(group.several)
            own["markers"] += k * group.tied_markers
            own["count"] = group.counts
            own["stiffness"] += k * (6 * group.tied_markers) ** 2
            own["map"] += np.cumsum(group.counts**2) - group.counts**2
    return records


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
    return np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.int64, copy=False)
