"""Changed numbers inside an element: those of its markers, and of the points and parts of a linkage."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import Marker, as_vector, frame
from index3.bodies.moving_marker import MovingMarker
from index3.bodies.natural_linkage import NaturalLinkage
from index3.errors import ModelError
from index3.files.linkage import DIMENSIONS, build, plain
from index3.files.units import near
from index3.model.model import Model

PLACE = ("position", "z", "x")
"""Fields of a marker that can change: its point, and directions of its axes, in the body frame."""


def owner_of(model: Model, element: Any, part: str) -> Any:
    """What holds the numbers of "element.part.field": a marker, by its name or its end of an element, or a linkage.

    Raises
    ------
    ModelError : there is nothing of this name.
    """
    if isinstance(element, NaturalLinkage) and any(step["name"] == part for step in element.steps):
        return element
    known = markers_of(model, element)
    if part not in known:
        steps = [step["name"] for step in element.steps] if isinstance(element, NaturalLinkage) else []
        raise ModelError(
            f"changes: {element.label} has no marker or part '{part}' whose numbers could change. "
            f"{near(part, [*steps, *known])}"
        )
    return known[part]


def markers_of(model: Model, element: Any) -> dict[str, Marker]:
    """The markers of a body that have names, or those of a joint or force by its fields."""
    if isinstance(element, Body):
        used = (marker for other in acting(model) for marker in other.markers)
        return {marker.name: marker for marker in used if marker.body is element and marker.name is not None}
    ends = {key: getattr(element, key, None) for key in ("first", "second")}
    for key, get in ((key, field.get) for key, field in getattr(element, "fields", {}).items() if field.get):
        ends[key] = get(element)
    return {key: marker for key, marker in ends.items() if isinstance(marker, Marker)}


def acting(model: Model) -> Iterator[Any]:
    """All elements that sit on markers."""
    for element in (*model.joints.values(), *model.forces.values()):
        yield from getattr(element, "parts", None) or (element,)


def change_inner(owner: Any, element: Any, part: str, changes: Mapping[str, Any]) -> None:
    """Let a marker, or a linkage with one of its parts, become what the changed numbers make of it."""
    if isinstance(owner, Marker):
        vars(owner).update(vars(changed_marker(owner, f"changes: {element.label}, {part}", changes)))
    else:
        rebuild(owner, part, changes)


def changed_marker(marker: Marker, label: str, changes: Mapping[str, Any]) -> Marker:
    """The marker with another point or other axes."""
    for key in changes:
        if key not in PLACE:
            raise ModelError(f"{label}: a marker has no field '{key}' to change. {near(key, PLACE)}")
    position, axes = marker.position, marker.axes
    if "position" in changes:
        if isinstance(marker, MovingMarker) and marker.path is not None:
            raise ModelError(f"{label}: its path says where the marker is. Give a changed Model instead.")
        position = as_vector(changes["position"], label, "position")
        if marker.part is None:
            marker.body.marker(position)  # for the checks of its kind: a point mass has no arm
    if "z" in changes or "x" in changes:
        z = changes.get("z", marker.axes[:, 2])
        axes = frame(z, changes.get("x"), label)
    return marker.replaced(position=position, axes=axes)


def rebuild(linkage: NaturalLinkage, part: str, changes: Mapping[str, Any]) -> None:
    """Let a linkage become what the steps that built it make, the numbers of one of them changed.

    Raises
    ------
    ModelError : there is no such number, or the linkage refuses it; also if its q0 or v0 were set apart.
    """
    steps = [{key: plain(x) for key, x in step.items() if x is not None} for step in linkage.steps]
    again = built(linkage, steps)
    if not (np.array_equal(again.q0, linkage.q0) and np.array_equal(again.v0, linkage.v0)):
        raise ModelError(f"changes: {linkage.label}: its q0 or v0 was set apart. Give a changed Model instead.")
    step = next(step for step in steps if step["name"] == part)
    arguments = inspect.signature(getattr(NaturalLinkage, step["kind"])).parameters
    known = [key for key in DIMENSIONS if key in arguments]
    for key, value in changes.items():
        if key not in known:
            raise ModelError(
                f"changes: {linkage.label}: the {step['kind']} '{part}' has no number '{key}'. {near(key, known)}"
            )
        step[key] = value
    made = built(linkage, steps)
    made.shape = linkage.shape
    object.__setattr__(made, "model", linkage.model)
    vars(linkage).update(vars(made))


def built(linkage: NaturalLinkage, steps: list[dict[str, Any]]) -> NaturalLinkage:
    """Another linkage of this name, by these steps."""
    made = NaturalLinkage(linkage.name, planar=linkage.structure.planar)
    build(made, steps)
    return made
