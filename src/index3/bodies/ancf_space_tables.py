"""The tables of cables and spatial beams in absolute nodal coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies import ancf_space_elements as e
from index3.compiled.interface import Slot, Table


def space_table(bodies: list[Any], sites: list[Any], places: np.ndarray, points: tuple[Slot, Slot]) -> Table:
    """Elements, rules, markers, and the two kinds of points of the elastic law; `places` are in MATRIX."""
    lists: dict[Any, list[tuple]] = {slot: [] for slot in (e.BODIES, e.ELEMENTS, e.RULES, e.MARKS, *points)}
    begin = 0
    for body, site in zip(bodies, sites, strict=True):
        vectors, element, rule = 2 * body.node_vectors, len(lists[e.ELEMENTS]), len(lists[e.RULES])
        width = 3 * vectors
        for own in body.rules:
            record = [vectors]
            for slot, more in zip(points, own.points, strict=True):
                record += [len(lists[slot]), len(more)]
                lists[slot] += more
            mass, moment = np.zeros(e.MOST**2), np.zeros(e.MOST)
            mass[: vectors**2], moment[:vectors] = own.mass.ravel(), own.moment
            lists[e.RULES].append((*record, mass, moment))
        for n, number in enumerate(body.rule_of):
            first = site.first + n * width // 2
            lists[e.ELEMENTS].append((first, rule + number, begin + n * width**2, body.lag, body.drag))
        lists[e.BODIES].append((element, len(body.rule_of)))
        for number, marker in enumerate(site.markers, site.marker):
            mark = body.mark(marker)
            first = site.first + 3 * (mark.element * vectors // 2 + mark.shift)
            place = begin + mark.element * width**2 + (width + 1) * 3 * mark.shift
            lists[e.MARKS].append((number, first, mark.vectors, place, width, mark.frame, *mark.rows, mark.rest))
        begin += len(body.rule_of) * width**2
    made = Table(6 + len(points))
    for slot, records in lists.items():
        made[slot] = np.array(records, slot.dtype)
    made[e.MAP], made[e.ROOM] = np.ascontiguousarray(places), np.zeros(e.INNER + e.SPARE)
    return made
