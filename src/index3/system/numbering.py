"""The numbers of everything in a model: coordinates, rows, markers, groups and their pieces of every ragged array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from index3.errors import ModelError
from index3.joints.primitive import CoordinateConstraint
from index3.model.model import Model
from index3.system import kinds
from index3.system.functions import Functions
from index3.system.parts import (
    Group,
    Poses,
    coordinate_starts,
    force_group,
    joint_group,
    motion_group,
    number_markers,
)


class Numbering:
    """A model in numbers.

    Attributes
    ----------
    n, m : numbers of coordinates and of rows
    bodies : bodies and blocks of states, these last
    starts, first : first coordinate of each body, in their order and by id
    own : first own row of each body, and its first entry in PHI_Q, by id
    lacks_inertia : bodies that have axes without inertia, by id
    groups, group_numbers : joints, motions and forces in this order; their first numbers in GROUPS, by id
    group_count : how many lines GROUPS has
    held : groups that hold a coordinate, without markers
    markers, spans : all markers, and the coordinates that move each of them
    columns : the place of each of these coordinates among those of its group (GROUP_COLUMNS)
    poses : of markers at the initial configuration
    angle_joints : joints whose angle is measured, in the order of ANGLES
    sizes : lengths of the ragged arrays
    """

    def __init__(self, model: Model, functions: Functions, without: frozenset[str], apart: bool) -> None:
        self.model, self.without, self.poses = model, without, Poses()
        self.bodies: list[Any] = [*model.bodies.values(), *model.blocks]
        if not self.bodies:
            raise ModelError(f"Model '{model.name}' has no bodies or states. Add at least one.")
        self.starts = coordinate_starts(self.bodies)
        self.first = {id(body): int(k) for body, k in zip(self.bodies, self.starts, strict=False)}
        self.n = int(self.starts[-1])
        for body in self.bodies:
            check_blocks(body)
            body.check_model(model)
        self.angle_joints = [joint for joint in model.joints.values() if "angle" in joint.coordinates]
        self.lacks_inertia = {id(body): body for body in self.bodies if body.lacks_inertia}
        self.own: dict[int, tuple[int, int]] = {}
        row, entry = self._number_own_rows()
        self.held: list[Group] = []
        self.groups = self._make_groups(functions)
        self.group_numbers, self.group_count = self._count_groups()
        self.markers = number_markers(model, self.groups, apart)
        self.spans = [self._span(marker) for marker in self.markers]
        self.columns: list[int] = []
        self._number_groups(row, entry)

    def _number_own_rows(self) -> tuple[int, int]:
        """Number the own rows of bodies and their entries in PHI_Q; the first numbers behind them."""
        row, entry = 0, 0
        for body in self.bodies:
            self.own[id(body)] = row, entry
            row += len(body.own_rows)
            entry += sum(map(len, body.own_columns))
        return row, entry

    def _make_groups(self, functions: Functions) -> list[Group]:
        """The groups of all joints, motions and forces, open ones without rows."""
        groups = []
        for joint in self.model.joints.values():
            if joint.name in self.without:
                group = Group(joint.name, joint, () if isinstance(joint, CoordinateConstraint) else joint.markers)
            elif isinstance(joint, CoordinateConstraint):
                group = Group(joint.name, joint, (), joint.primitives())
                self.held.append(group)
            else:
                own = getattr(joint, "functions", None)
                number = -1 if own is None else functions.add(joint.label, own)
                group = joint_group(joint, self.angle_joints, number, self.poses)
            groups.append(group)
        for motion in self.model.motions.values():
            if motion.name in self.without:
                groups.append(Group(motion.name, motion, motion.joint.markers))
            else:
                groups.append(motion_group(motion, functions.add(motion.label, motion.functions), self.poses))
        for force in self.model.forces.values():
            groups += map(force_group, force.parts if force.ties is None else (force,))
        for group in groups:  # the square of a row that makes up for missing inertia needs its places in the matrix
            group.full = group.rows > 0 and any(id(marker.body) in self.lacks_inertia for marker in group.markers)
            group.curved = group.curved or group.full
        return groups

    def _count_groups(self) -> tuple[dict[int, int], int]:
        """Number the lines of GROUPS: the first of each group, by id, and how many there are."""
        numbers, count = {}, 0
        for group in self.groups:
            if group not in self.held:
                numbers[id(group)] = count
                count += group.several
        return numbers, count

    def _number_groups(self, row: int, block: int) -> None:
        """Number the rows of groups from `row`, their entries in PHI_Q from `block`, pieces of other arrays from 0."""
        member, gradient, stiffness, map_ = 0, 0, 0, 0
        for group in self.groups:
            self._find_coordinates(group)
            group.row, group.gradient, group.block, group.stiffness, group.map = row, gradient, block, stiffness, map_
            group.member = member
            width = 6 * group.tied_markers
            member += group.several * group.tied_markers
            row += group.rows
            gradient += group.rows * width
            block += group.rows * group.count
            stiffness += group.several * width * width
            if group.coupled:
                map_ += group.count**2 if group.counts is None else int(np.sum(group.counts**2))
        self.m, self.sizes = row, {"gradient": gradient, "block": block, "stiffness": stiffness, "map": map_}

    def _span(self, marker: Any) -> list[int]:
        """The coordinates of the system that move a marker, in the order that its body's kernels know."""
        body = marker.body
        first, span = self.first.get(id(body), 0), body.span(marker)
        if not isinstance(span, range):
            check_places(span, body, f"The span of {marker!r}")
        return [first + k for k in span]

    def _find_coordinates(self, group: Group) -> None:
        """Give a group its coordinates, each once, and every coordinate of its markers a place among them."""
        if group in self.held:
            group.coordinates = [self.first[id(group.element.body)] + group.primitives[0].fields["index"]]
            group.count = 1
            return
        if group.ties is not None:
            group.counts = np.array([len(self.spans[k]) for k in group.marker_numbers])[group.ties].sum(axis=1)
            group.columns = len(self.columns)
            self.columns.extend(range(int(np.max(group.counts))))  # of all: markers on different bodies share nothing
            return
        spanned = [k for number in group.marker_numbers for k in self.spans[number]]
        group.coordinates = list(dict.fromkeys(spanned))
        group.count, group.columns = len(group.coordinates), len(self.columns)
        if group.count == len(spanned):
            self.columns.extend(range(len(spanned)))
        else:  # markers that share coordinates
            place = {k: number for number, k in enumerate(group.coordinates)}
            self.columns.extend([place[k] for k in spanned])

    def body_order(self) -> dict[int, int]:
        """The number of each body, by id."""
        return {id(body): k for k, body in enumerate(self.bodies)}

    def levels(self) -> np.ndarray:
        """The level of every row."""
        level = [0] * self.m
        for group in self.groups:
            row = group.row
            for primitive in group.primitives:
                own = kinds.level(primitive)
                for _ in primitive.labels:
                    level[row] = own
                    row += 1
        return np.array(level, np.int64)

    def row_names(self) -> tuple[list[str], list[str]]:
        """Names of the rows such as "B.x1.z2", and the labels of the elements they belong to."""
        names = [f"{body.name}.{label}" for body in self.bodies for label in body.own_rows]
        labels = [body.label for body in self.bodies for _ in body.own_rows]
        for group in self.groups:
            for primitive in group.primitives:
                names += [f"{group.name}.{label}" for label in primitive.labels]
                labels += [group.element.label] * len(primitive.labels)
        return names, labels

    def augmentation(self) -> list[tuple[int, float]]:
        """Rows whose weighted square makes body blocks definite: normalisation, joints of bodies without inertia."""
        weights: dict[int, float] = {}
        for body in self.bodies:
            weights.update(enumerate(body.row_weights(), self.own[id(body)][0]))
        for group in self.groups:
            bodies = [
                self.lacks_inertia[id(marker.body)] for marker in group.markers if id(marker.body) in self.lacks_inertia
            ]
            if bodies and group.rows:
                for r in range(group.rows):
                    weights[group.row + r] = max(body.mass for body in bodies)
        return sorted(weights.items())


def check_blocks(body: Any) -> None:
    """Raise unless every coordinate of a body is in one of its blocks."""
    blocks = body.blocks
    if len(blocks) == 1 and blocks[0] == range(body.size):  # as most are
        return
    numbers = [k for block in blocks for k in block]
    check_places(numbers, body, f"The list of the blocks of {body.label}")
    if len(numbers) < body.size:
        raise ModelError(f"{body.label} has coordinates in none of its blocks. Give each of them a block.")


def check_places(numbers: Sequence[int], body: Any, what: str) -> None:
    """Raise unless these are numbers of coordinates of a body, each once: kernels write where they say."""
    if len(set(numbers)) < len(numbers) or not all(0 <= k < body.size for k in numbers):
        raise ModelError(f"{what} is {list(numbers)}. Give numbers of the {body.size} coordinates, each once.")
