"""The tables of element kinds: one record per element, ready for the kernels of its kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from index3.bodies import moving_kernels
from index3.bodies.moving_marker import MovingMarker
from index3.bodies.time_functions import Sampler
from index3.compiled.interface import Table
from index3.registry import PRIMITIVES
from index3.system import kinds
from index3.system.parts import POSE, Group, Pose, measured
from index3.system.sparsity import Sparsity

KindTable = tuple[ModuleType, list[Any], Table]
"""The module of a kind, its elements in the order of the records, and their table."""


def of_bodies(
    bodies: list[Any], first: dict[int, int], own: dict[int, tuple[int, int]], markers: list[Any], sparsity: Sparsity
) -> Iterator[KindTable]:
    """Tables of the body kinds, made by the kinds themselves; `own` has each body's first own row and entry."""
    count: dict[int, int] = defaultdict(int)
    begin: dict[int, int] = {}
    for k, marker in enumerate(markers):
        begin.setdefault(id(marker.body), k)
        count[id(marker.body)] += 1
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for body in bodies:
        by_kind[body.kind].append(body)
    for members in by_kind.values():
        module, table = kinds.of_body(members[0])
        starts = [first[id(body)] for body in members]
        rows = np.concatenate([start + body.couplings[0] for start, body in zip(starts, members, strict=True)])
        columns = np.concatenate([start + body.couplings[1] for start, body in zip(starts, members, strict=True)])
        sites = []
        for start, body in zip(starts, members, strict=True):
            here, number = begin.get(id(body), 0), count[id(body)]
            sites.append(kinds.Site(start, *own[id(body)], here, number, markers[here : here + number]))
        yield module, members, table(members, sites, sparsity.places(rows, columns))


def of_primitives(groups: list[Group]) -> Iterator[KindTable]:
    """Tables of the constraint primitives between markers, one record per primitive."""
    records: dict[str, list[tuple]] = defaultdict(list)
    owners: dict[str, list[Any]] = defaultdict(list)
    fields: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for group in groups:
        row, gradient, width = group.row, group.gradient, 6 * len(group.markers)
        for primitive in group.primitives:
            own = PRIMITIVES[primitive.kind].record(primitive.fields)
            ends = (group.marker_numbers[0], group.marker_numbers[-1 if len(group.markers) == 1 else 1])
            place = (group.member, len(group.markers), *ends, row, gradient, group.stiffness)
            records[primitive.kind].append((*place, *own))
            owners[primitive.kind].append(group.element)
            fields[primitive.kind].append(primitive.fields)
            row += len(primitive.labels)
            gradient += width * len(primitive.labels)
    for kind, rows in records.items():
        module = PRIMITIVES[kind]
        table = Table(3)
        table[module.ROWS] = np.array(rows, module.ROWS.dtype)
        if hasattr(module, "fill"):
            module.fill(table, fields[kind])
        yield module, owners[kind], table


def of_held(groups: list[Group]) -> KindTable:
    """The table of held coordinates."""
    module = kinds.COORDINATE
    rows = [(group.coordinates[0], group.row, group.block, group.primitives[0].fields["value"]) for group in groups]
    table = Table(1)
    table[module.ROWS] = np.array(rows, module.ROWS.dtype)
    return module, [group.element for group in groups], table


def of_kinds(groups: list[Group], place: Callable[[Group], Any]) -> Iterator[KindTable]:
    """Tables of the kinds that make them themselves: forces and users' constraints."""
    by_kind: dict[str, list[Group]] = defaultdict(list)
    for group in groups:
        by_kind[group.element.kind].append(group)
    for kind, members in by_kind.items():
        module, elements = kinds.module_of(kind), [group.element for group in members]
        yield module, elements, module.table(elements, [place(group) for group in members])


def of_moving(markers: list[Any], groups: list[Group], add_function: Callable[[str, Any], int]) -> Iterator[KindTable]:
    """The table of ground markers that move; to come last, since its kernels add to what constraints wrote."""
    moving = [(k, marker) for k, marker in enumerate(markers) if isinstance(marker, MovingMarker)]
    if not moving:
        return
    tied = [group for group in groups if group.rows and any(isinstance(m, MovingMarker) for m in group.markers)]
    ties = [
        (group.row + r, group.gradient + 6 * (r * len(group.markers) + place), number)
        for group in tied
        for r in range(group.rows)
        for place, number in enumerate(group.marker_numbers)
        if isinstance(group.markers[place], MovingMarker)
    ]
    flat = {id(marker) for group in tied if group.reduced for marker in group.markers}
    records = []
    for number, marker in moving:
        rows = []
        for functions, size in ((marker.path, 3), (marker.turn, 3 if marker.axis is None else 1)):
            numbers = [-1, -1, -1]
            if functions is not None and size == 1:
                numbers[0] = add_function(marker.label, functions)
            elif functions is not None:
                samplers = [Sampler(marker.label, f) for f in functions]
                numbers = [add_function(marker.label, tuple(x.component(k) for x in samplers)) for k in range(3)]
            rows.append(tuple(numbers))
        height = float(marker.pose()[0][2])
        records.append((number, *rows, marker.axis or (0.0, 0.0, 0.0), int(id(marker) in flat), height))
    table = Table(3)
    table[moving_kernels.NOTED] = np.zeros(1)
    table[moving_kernels.MARKERS] = np.array(records, moving_kernels.MOVING)
    table[moving_kernels.TIES] = np.array(ties, moving_kernels.TIE)
    yield moving_kernels, [marker for _, marker in moving], table


def measured_angles(joints: list[Any], markers: list[Any], first: dict[int, int], pose: Pose = POSE) -> Table:
    """The table that measures the unwrapped angles of joints."""
    module, numbers = PRIMITIVES["angle"], {id(marker): k for k, marker in enumerate(markers)}
    table = Table(1)
    records = []
    for joint in joints:
        ends = (joint.first, joint.second)
        counting = [end.body.angle_coordinate >= 0 for end in ends]
        planar = all(counts or end.body.kind == "ground" for counts, end in zip(counting, ends, strict=True))
        planar = planar and not any(isinstance(end, MovingMarker) for end in ends)
        angles = [
            first[id(end.body)] + end.body.angle_coordinate if counts else -1
            for counts, end in zip(counting, ends, strict=True)
        ]
        sign = 1.0 if pose(joint.first)[1][2, 2] > 0.0 else -1.0
        turns = [
            end.body.q0[end.body.angle_coordinate] if counts else 0.0
            for counts, end in zip(counting, ends, strict=True)
        ]
        offset = measured(joint, "angle", pose) - sign * (turns[1] - turns[0]) if planar else 0.0
        records.append((*(numbers[id(end)] for end in ends), int(planar), *angles, sign, offset))
    table[module.PAIRS] = np.array(records, module.MEASURED)
    return table
