"""The table of planar beams in absolute nodal coordinates: elements with like undeformed shapes share a rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies import ancf_elements as e
from index3.bodies.ancf_beam_kernels import STAGES
from index3.compiled.interface import Table

__all__ = ["MEMORY", "STAGES", "filled", "table"]
MEMORY = e.MEMORY


def table(bodies: list[Any], sites: list[Any], places: np.ndarray) -> Table:
    """Elements, rules, points and markers of all beams; `places` are the matrices of the elements."""
    made = Table(8)
    filled(made, bodies, sites, [site.first for site in sites])
    made[e.MAP] = np.ascontiguousarray(places)
    return made


def filled(made: Table, bodies: list[Any], sites: list[Any], starts: list[int]) -> None:
    """Fill all but the map of the matrices; `starts` are the first nodal coordinates of the beams."""
    slots = (e.BEAMS, e.ELEMENTS, e.RULES, e.STRETCHES, e.BENDS, e.MARKS)
    lists: dict[Any, list[tuple]] = {slot: [] for slot in slots}
    for number_of, (body, site, start) in enumerate(zip(bodies, sites, starts, strict=True)):
        begin, rule = len(lists[e.ELEMENTS]), len(lists[e.RULES])
        for own in body.rules:
            stretches, bends = lists[e.STRETCHES], lists[e.BENDS]
            counts = (len(stretches), len(own.stretches), len(bends), len(own.bends))
            lists[e.RULES].append((*counts, own.mass.ravel(), own.moment))
            stretches += own.stretches
            bends += own.bends
        for n, number in enumerate(body.rule_of):
            lists[e.ELEMENTS].append((start + 6 * n, rule + number, body.lag, body.drag))
        lists[e.BEAMS].append((begin, len(body.lengths), number_of))
        for number, marker in enumerate(site.markers, site.marker):
            mark = body.mark(marker)
            inside = e.INNER * (begin + mark.element) + (e.WIDTH + 1) * mark.shift
            numbers = (mark.vectors, inside, int(mark.tangent), mark.point, mark.direction, body.height_in_ground)
            lists[e.MARKS].append((number, start + 6 * mark.element + mark.shift, *numbers, number_of))
    for slot, records in lists.items():
        made[slot] = np.array(records, slot.dtype)
    made[e.ROOM] = np.zeros(e.ELASTIC + len(lists[e.ELEMENTS]))
