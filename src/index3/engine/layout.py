"""From a compiled system to the layout of its results."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import Marker
from index3.bodies.moving_marker import MovingMarker
from index3.compiled import slots as s
from index3.methods.projection import further_markers, groups_with_reactions
from index3.model.model import Model
from index3.results.kinematics import cross_angles
from index3.results.layout import Layout
from index3.system.parts import measured
from index3.system.system import System


def describe(model: Model, system: System, unique: np.ndarray | None = None) -> Layout:
    """What the columns of a run's arrays mean; `unique` tells for each row whether its multiplier is determined, if
    not all are.

    It is worked out once for a system, and shared by all its runs in which reactions are determined alike.
    """
    if system.described is None and system.altered is not None and system.altered[0].described is not None:
        system.described = described_again(system, *system.altered)
    elif system.described is None:
        system.described = describe_system(model, system)
    known: Layout = system.described
    return known if unique is None else with_unique(known, unique)


def describe_system(model: Model, system: System) -> Layout:
    """What the columns mean, all reactions taken to be determined."""
    bodies = [
        describe_body(body, int(start))
        for body, start in zip(system.bodies, system.starts, strict=False)
        if body.kind != "states"
    ]
    states = [
        {"name": body.name, "start": int(start), "size": body.size, "names": list(body.coordinate_names)}
        for body, start in zip(system.bodies, system.starts, strict=False)
        if body.kind == "states"
    ]
    groups, moving = groups_with_reactions(system), moving_markers(system)
    joints = [describe_joint(system, group, moving) for group in groups]
    column = len(groups)
    for joint, group in zip(joints, groups, strict=True):
        others = further_markers(group)
        joint["further"] = {str(k): column + place for place, k in enumerate(others)}  # keys of JSON are strings
        column += len(others)
    forces = []
    for name, force in model.forces.items():
        markers = [describe_marker(marker, moving) for marker in force.markers if marker.body.kind != "states"]
        along = [entry if entry == "line" else [entry[0].name, entry[1]] for entry in force.along]
        spread = force.spread
        several = not spread and (len(force.parts) != 1 or force.parts[0] is not force)
        entry = {"name": name, "type": type(force).__name__, "markers": markers, "law": force.law_in_numbers}
        entry |= {"on": force.reported, "along": along, "set": several} | ({"spread": spread} if spread else {})
        forces.append({**entry, "symbol": force.symbol, "solids": force.solids()})
    return Layout(
        model=model.name, bodies=bodies, joints=joints, forces=forces, states=states, row_names=system.row_names,
        gravity=[float(x) for x in model.gravity], controllers=list(model.controllers),
    )  # fmt: skip


def describe_body(body: Body, start: int) -> dict[str, Any]:
    """One body whose coordinates begin there."""
    return {
        "name": body.name,
        "kind": body.kind,
        "start": start,
        "size": body.size,
        "shape": body.drawing(),
        "color": body.color,
        "mass": body.mass,
        "constants": body.constants(),
    }


def described_again(system: System, other: System, bodies: list[Any]) -> Layout:
    """The layout of another system, with bodies described anew."""
    anew = {body.name: body for body in bodies}
    entries = [describe_body(anew[x["name"]], x["start"]) if x["name"] in anew else x for x in other.described.bodies]
    return copied(other.described, bodies=entries)


def copied(layout: Layout, **changes: Any) -> Layout:
    """A layout with the same entries, but for some."""
    other = object.__new__(Layout)
    other.__dict__.update(layout.__dict__, **changes)
    return other


def describe_joint(system: System, group: Any, moving: list[Any]) -> dict[str, Any]:
    """One joint or motion: its markers, rows and coordinates."""
    element = group.element
    joint = getattr(element, "joint", element)
    rows = list(range(group.row, group.row + group.rows))
    coordinates = joint.coordinates if group.markers else ()
    angle = system.angle_joints.index(joint) if "angle" in coordinates else -1
    zeros = {name: 0.0 if name == "length" else measured(joint, name) for name in coordinates if name != "angle"}
    if angle >= 0:
        zeros["angle"] = float(system.initial[s.ANGLE_REF][angle])
    cross = {}
    if getattr(joint, "crossed", False) and group.markers:
        axes = (marker.pose()[1][None] for marker in (joint.first, joint.second))
        cross = {"cross": cross_angles(*axes)[0].tolist()}
    markers = [describe_marker(marker, moving) for marker in group.markers]
    first, second = (markers if len(markers) > 1 else [None, None, *markers][-2:])[:2]
    return {
        "name": group.name,
        "type": type(element).__name__,
        "first": first,
        "second": second,
        "markers": markers,
        "rows": rows,
        "row_labels": [label for primitive in group.primitives for label in primitive.labels],
        "coordinates": list(coordinates),
        "angle": angle,
        "angle_zero": zeros["angle"] if angle >= 0 else 0.0,
        "zeros": {name: zeros[name] for name in coordinates},
        "unique": True,
        "clamp": bool(getattr(joint, "clamp", False)),
        "symbol": element.symbol,
        "solids": element.solids() if group.markers else [],
    } | cross


def describe_marker(marker: Marker, moving: list[Any]) -> dict[str, Any]:
    """A marker in plain numbers; one that moves as it stands at t = 0, with its number in `moving`."""
    position, axes = marker.position, marker.axes
    number = next((k for k, other in enumerate(moving) if other is marker), None)
    if number is not None:
        position, axes = marker.pose()
    described = {
        "body": marker.body.name,
        "position": position.tolist(),
        "axes": axes.tolist(),
        "part": marker.part,
    }
    return described if number is None else {**described, "moving": number}


def moving_markers(system: System) -> list[MovingMarker]:
    """The markers of a system that move as functions of time, in a fixed order."""
    if "moving" not in system.found:
        unique = {id(marker): marker for group in system.groups for marker in group.markers}
        system.found["moving"] = [marker for marker in unique.values() if isinstance(marker, MovingMarker)]
    return list(system.found["moving"])


def with_unique(layout: Layout, unique: np.ndarray) -> Layout:
    """A layout that says of each joint whether its reactions are determined, given the same of each row."""
    joints = [{**joint, "unique": bool(np.all(unique[joint["rows"]]))} for joint in layout.joints]
    return copied(layout, joints=joints)
