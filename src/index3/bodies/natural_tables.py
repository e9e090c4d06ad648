"""The table of bodies in natural coordinates: their structures as flat lists of terms."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies import natural_kernels as k
from index3.bodies.natural_structure import Frame, Structure, combine
from index3.compiled.interface import Table

STAGES = k.STAGES


def table(bodies: list[Any], sites: list[Any], places: np.ndarray) -> Table:
    """All rows, masses, moments and markers of the bodies; `places` are their full matrices, one after the other."""
    lists: dict[Any, list[tuple]] = {
        slot: [] for slot in (k.BODIES, k.ROWS, k.TERMS, k.MASSES, k.MOMENTS, k.FRAMES, k.FRAME_TERMS)
    }
    begin = 0
    for body, site in zip(bodies, sites, strict=True):
        structure: Structure = body.structure
        size = structure.size
        block = places[begin : begin + size * size].reshape(size, size)
        add_rows(lists, structure, site, block)
        M, mass, moment = structure.mass_matrix(), len(lists[k.MASSES]), len(lists[k.MOMENTS])
        for i, j in zip(*np.nonzero(M), strict=True):
            lists[k.MASSES].append((site.first + i, site.first + j, block[i, j], M[i, j]))
        for i in sorted({i for form in structure.moment for i in form}):
            values = tuple(form.get(i, 0.0) for form in structure.moment)
            lists[k.MOMENTS].append((site.first + i if i >= 0 else -1, values))
        lists[k.BODIES].append((mass, len(lists[k.MASSES]) - mass, moment, len(lists[k.MOMENTS]) - moment))
        for number, marker in enumerate(site.markers, site.marker):
            add_frame(lists, body.frame_of(marker.part), marker, (number, site.first), begin)
        begin += size * size
    made = Table(8)
    for slot, records in lists.items():
        made[slot] = np.array(records, slot.dtype)
    made[k.MAP] = np.ascontiguousarray(places)
    return made


def add_rows(lists: dict[Any, list[tuple]], structure: Structure, site: Any, block: np.ndarray) -> None:
    """The own rows of one body and their terms."""
    entry = site.entry
    for number, row in enumerate(structure.rows, site.row):
        columns = {i: entry + n for n, i in enumerate(row.columns)}
        entry += len(columns)
        pairs = [(pair, value) for pair, value in row.terms.items() if pair != (-1, -1)]
        lists[k.ROWS].append((number, len(lists[k.TERMS]), len(pairs), row.terms.get((-1, -1), 0.0)))
        for (i, j), value in pairs:
            if i < 0:
                lists[k.TERMS].append((site.first + j, -1, columns[j], 0, 0, 0, value))
            else:
                pair = (site.first + i, site.first + j, columns[i], columns[j], block[i, j], block[j, i])
                lists[k.TERMS].append((*pair, value))


def add_frame(lists: dict[Any, list[tuple]], frame: Frame, marker: Any, place: tuple[int, int], begin: int) -> None:
    """One marker, `place` its number and its body's first coordinate: point and axes as terms in the coordinates."""
    point = combine((1.0, frame.point), *zip(marker.position.tolist(), frame.axes, strict=True))
    axes = [combine(*zip(marker.axes[:, n].tolist(), frame.axes, strict=True)) for n in range(3)]
    first = len(lists[k.FRAME_TERMS])
    constants = [form.get(-1, 0.0) for form in (*point, *(axis[c] for c in range(3) for axis in axes))]
    for axis, vector in enumerate((point, *axes), -1):
        for component, form in enumerate(vector):
            lists[k.FRAME_TERMS] += [(axis, component, i, value) for i, value in form.items() if i >= 0]
    count = len(lists[k.FRAME_TERMS]) - first
    lists[k.FRAMES].append((*place, first, count, begin, tuple(constants)))
