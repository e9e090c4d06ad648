"""From words to numbered parts: bodies with coordinates, groups with markers and rows.

Between planar bodies (and ground) rows that a planar motion cannot violate are left out here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import methodcaller
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import Marker
from index3.constraints import coupler, perpendicular
from index3.constraints.planar import SLACK
from index3.errors import ModelError
from index3.joints.base import Joint, Primitive
from index3.model.model import Model
from index3.record import Record, fresh
from index3.registry import PRIMITIVES
from index3.system.kinds import is_curved


class Group(Record):
    """One joint, motion or force: its markers and rows, by number once the system is laid out.

    A set of like forces, with `ties` (see `ForceElement`), is many groups of the system; its numbers are of the first.
    """

    name: str
    element: Any
    markers: tuple[Marker, ...]
    primitives: list[Primitive] = fresh(default_factory=list)
    curved: bool = False
    damped: bool = False
    inertial: bool = False
    reduced: bool = False  # rows that planar motion cannot violate were left out
    full: bool = False  # a body of it lacks inertia: squares of its rows are added to the matrix
    marker_numbers: tuple[int, ...] = ()
    member: int = 0  # first place in GROUP_MARKERS
    row: int = 0  # first row
    gradient: int = 0
    block: int = 0
    stiffness: int = 0
    map: int = 0
    columns: int = 0  # first place in GROUP_COLUMNS
    coordinates: list[int] = fresh(default_factory=list)  # of all its markers, each once
    count: int = 0  # their number
    ties: np.ndarray | None = None  # of a set: which of its markers each group joins
    counts: np.ndarray | None = None  # of a set: the number of coordinates of each group

    @property
    def turning(self) -> bool:
        """Whether its second derivatives concern rotations alone, so that translations stay uncoupled."""
        return not self.full and bool(self.primitives) and all(map(turns_only, self.primitives))

    @property
    def several(self) -> int:
        """How many groups of the system it is."""
        return 1 if self.ties is None else len(self.ties)

    @property
    def tied_markers(self) -> int:
        """How many markers each of these has."""
        return len(self.markers) if self.ties is None else self.ties.shape[1]

    @property
    def tied_numbers(self) -> np.ndarray:
        """The numbers of their markers, (groups, markers of each)."""
        numbers = np.array(self.marker_numbers, np.int64)
        return numbers[None] if self.ties is None else numbers[self.ties]

    @property
    def coupled(self) -> bool:
        """Whether it has entries of its own in the matrix: second derivatives, stiffness or damping."""
        return bool(self.markers) and (self.curved or self.damped)

    @cached_property
    def rows(self) -> int:
        """Number of constraint rows."""
        return sum(len(p.labels) for p in self.primitives)


COUPLERS = ("coupler", "curve_coupler")
"""Primitives with terms, which are coordinates of other joints."""


def turns_only(primitive: Primitive) -> bool:
    """Whether a primitive has no second derivatives by translations."""
    angles = primitive.kind in COUPLERS and all(term[0] == coupler.ANGLE for term in primitive.fields["terms"])
    return angles or (primitive.kind in PRIMITIVES and getattr(PRIMITIVES[primitive.kind], "TURNING", False))


Pose = Callable[[Marker], tuple[np.ndarray, np.ndarray]]
"""What gives the point and the axes of a marker at the initial configuration."""
POSE: Pose = methodcaller("pose")


class Poses(dict[int, tuple[np.ndarray, np.ndarray]]):
    """The poses of markers by their id, each asked for once: a joint is looked at from several sides."""

    def __call__(self, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
        """Point and axes of a marker."""
        found = self.get(id(marker))
        if found is None:
            found = self[id(marker)] = marker.pose()
        return found


def initial_projection(joint: Joint, axis: int, pose: Pose = POSE) -> float:
    """The second point minus the first along an axis of the first marker, at the initial configuration."""
    (ri, Ai), (rj, _) = pose(joint.first), pose(joint.second)
    return float(Ai[:, axis] @ (rj - ri))


def angle_between(Ai: np.ndarray, Aj: np.ndarray) -> float:
    """The angle of a joint from the axes of its markers."""
    return float(np.arctan2(Ai[:, 1] @ Aj[:, 0], Ai[:, 0] @ Aj[:, 0]))


def measured(joint: Joint, coordinate: str, pose: Pose = POSE) -> float:
    """A joint coordinate at the initial configuration, as its markers stand."""
    primitive = joint.coordinate_primitive(coordinate)
    (ri, Ai), (rj, Aj) = pose(joint.first), pose(joint.second)
    if primitive.kind == "angle":
        return angle_between(Ai, Aj)
    if primitive.kind == "in_plane":
        return initial_projection(joint, primitive.fields["axis_first"], pose)
    return float(np.linalg.norm(rj - ri))


def joint_group(joint: Joint, angle_joints: Sequence[Joint] = (), function: int = -1, pose: Pose = POSE) -> Group:
    """The group of a joint, its rows reduced if it ties planar bodies.

    `angle_joints` are those whose unwrapped angles are measured, `function` is the number of the joint's own one.
    """
    primitives, recipe = [], joint.primitives()
    planar = all(body.planar or body.kind == "ground" for body in joint.bodies)
    for primitive in recipe:
        kept = in_plane_part(joint, primitive, pose) if planar else primitive
        if kept is not None:
            primitives.append(with_numbers(joint, kept, angle_joints, function, pose))
    square = [primitive for primitive in primitives if primitive.kind == "perpendicular"]
    for primitive, third in zip(square, perpendicular.thirds([p.fields for p in square]), strict=True):
        primitive.fields["third"] = third
    group = Group(joint.name, joint, joint.markers, primitives, curved=any(is_curved(p) for p in primitives))
    group.reduced = group.rows < sum(len(primitive.labels) for primitive in recipe)
    return group


def with_numbers(
    joint: Joint, primitive: Primitive, angle_joints: Sequence[Joint], function: int, pose: Pose
) -> Primitive:
    """The primitive with what is only known in the system: counts, initial values, numbers of angles and functions."""
    fields = dict(primitive.fields)
    if primitive.kind == "coincident":
        fields["count"] = len(primitive.labels)
    elif primitive.kind in COUPLERS:
        fields["terms"] = coupled_terms(joint, primitive, angle_joints, pose)
    elif fields.get("driven"):
        fields["function"] = function
        if primitive.kind == "in_plane":
            fields["offset"] = initial_projection(joint, fields["axis_first"], pose)
    return Primitive(primitive.kind, primitive.labels, fields)


def coupled_terms(joint: Joint, primitive: Primitive, angle_joints: Sequence[Joint], pose: Pose) -> list[tuple]:
    """The terms of a coupler in numbers, as `index3.constraints.coupler.record` takes them."""
    terms = []
    for k, (coefficient, other, coordinate) in enumerate(primitive.fields["terms"]):
        source = joint if other is None else other
        at = 0 if other is None else 2 * k
        measure = source.coordinate_primitive(coordinate)
        angular = measure.kind == "angle"
        number = angle_joints.index(source) if angular else measure.fields["axis_first"]
        kind = coupler.ANGLE if angular else coupler.DISPLACEMENT
        terms.append((kind, at, at + 1, number, coefficient, measured(source, coordinate, pose)))
    return terms


def in_plane_part(joint: Joint, primitive: Primitive, pose: Pose) -> Primitive | None:
    """What is left of a primitive between planar bodies: all, a part, or nothing.

    Raises
    ------
    ModelError : the part that planar motion cannot change is violated.
    """
    part = getattr(PRIMITIVES[primitive.kind], "planar_part", None) if primitive.kind in PRIMITIVES else None
    if part is None:
        return primitive
    try:
        left, violation = part(primitive.fields, pose(joint.first), pose(joint.second))
    except ModelError as error:
        raise ModelError(f"{joint.label} {error}") from None
    if left == len(primitive.labels):
        return primitive
    check_flat(joint, primitive, violation)
    return Primitive(primitive.kind, primitive.labels[:left], primitive.fields) if left else None


def check_flat(joint: Joint, primitive: Primitive, violation: float) -> None:
    """Raise if a row that planar bodies can never change is violated."""
    if abs(violation) > SLACK:
        raise ModelError(
            f"{joint.label} cannot be assembled: its row {primitive.labels[-1]} is off by {violation:.3g} and planar "
            "bodies cannot move out of the ground x-y plane. Put its markers in one plane, with axes along or across z."
        )


def motion_group(motion: Any, function: int, pose: Pose = POSE) -> Group:
    """The group of a motion: one driven row on the markers of its joint."""
    joint, source = motion.joint, motion.joint.coordinate_primitive(motion.coordinate)
    if source.kind == "distance":
        raise ModelError(
            f"{motion.label} drives the length that {joint.label} sets itself. Leave the motion out and give the "
            "function to the joint: Distance(..., f=..., df=..., ddf=...)."
        )
    planar = any(body.planar for body in joint.bodies)
    if source.kind == "angle" and planar and abs(pose(joint.first)[1][2, 2]) < 1.0 - SLACK:
        raise ModelError(f"{motion.label} turns {joint.label} out of the plane. Give that joint an axis along z.")
    fields = {**source.fields, "offset": measured(joint, motion.coordinate, pose), "function": function}
    primitive = Primitive(source.kind, (motion.coordinate,), fields)
    return Group(motion.name, motion, joint.markers, [primitive], curved=True)


def force_group(force: Any) -> Group:
    """The group of a force: no rows, only stiffness, damping and what depends on accelerations."""
    damped, inertial = bool(force.damped), bool(force.reads_accelerations)
    markers, ties = tuple(force.markers), force.ties
    return Group(force.name, force, markers, curved=True, damped=damped, inertial=inertial, ties=ties)


def number_markers(model: Model, groups: list[Group], apart: bool = False) -> list[Marker]:
    """Every marker that a group uses, those of one body together; each group gets the numbers of its own.

    `apart` gives every force markers of its own, so that wrenches on them are of that force alone.
    """
    order = {id(body): k for k, body in enumerate([*model.bodies.values(), *model.blocks, model.ground])}
    unique: dict[Any, Marker] = {}
    keys = []
    for k, group in enumerate(groups):
        own = apart and getattr(group.element, "element", "") == "force"
        places = enumerate(group.markers)
        keys.append([(id(m), k, p) if own and m.body.kind != "states" else id(m) for p, m in places])
        unique |= zip(keys[-1], group.markers, strict=True)
    ordered = sorted(unique, key=lambda key: order[id(unique[key].body)])
    numbers = {key: k for k, key in enumerate(ordered)}
    for group, own_keys in zip(groups, keys, strict=True):
        group.marker_numbers = tuple(numbers[key] for key in own_keys)
    return [unique[key] for key in ordered]


def coordinate_starts(bodies: list[Body]) -> np.ndarray:
    """First coordinate of each body, and the number of coordinates at the end."""
    return np.concatenate([[0], np.cumsum([body.size for body in bodies])]).astype(np.int64)
