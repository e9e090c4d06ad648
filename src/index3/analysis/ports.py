"""Inputs and outputs of a linearised model by name: generalised forces, and changes of named quantities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from index3.analysis.instants import gradients
from index3.engine.layout import describe, moving_markers
from index3.engine.settings import listed
from index3.errors import ModelError
from index3.forces.driven import Driven
from index3.forces.line_actuator import LineActuator
from index3.forces.load import Load
from index3.forces.spring_damper import SpringDamper
from index3.methods.projection import Projector
from index3.model.model import Model
from index3.results.applied import ModelOfRun
from index3.results.export import quantity
from index3.results.result import Result
from index3.system.system import System

STEP = 1e-3
"""Of the five-point differences of outputs, as a part of each direction: truncation and rounding are near 1e-12."""
STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))


def as_names(names: Iterable[str], what: str) -> list[str]:
    """One name or several as a list."""
    found = listed(names, f"linearize: {what} =", "Give names.")
    for name in found:
        if not isinstance(name, str):
            raise ModelError(f"linearize: {what} holds {name!r}. Give names.")
    return found


def input_forces(model: Model, system: System, q: np.ndarray, t: float, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The generalised force (n,) of a unit of each input."""
    wanted = as_names(names, "inputs")
    if not wanted:
        return {}
    unit = gradients(model, system, q)
    return {name: input_force(model, unit, name, t) for name in wanted}


def input_force(model: Model, unit: Result, name: str, t: float) -> np.ndarray:
    """The generalised force of a unit of one input: the gradient of what it works on."""
    owner, _, rest = name.partition(".")
    if owner in model.bodies:
        part, _, axis = rest.partition(".")
        if part in ("force", "torque") and axis in ("x", "y", "z"):
            view = unit[owner]
            rates = view.velocity if part == "force" else view.angular_velocity
            return rates[:, "xyz".index(axis)]
        raise ModelError(f"linearize: '{name}' is not an input. Use '{owner}.force.x', '{owner}.torque.z' etc.")
    if owner in model.joints:
        return coordinate_gradient(model.joints[owner], unit, rest, name)
    if owner in model.motions:
        raise ModelError(
            f"linearize: Motion '{owner}' prescribes a motion, so no force on it has an effect. Remove it from the "
            f"model and use the joint '{model.motions[owner].joint.name}' as input."
        )
    if owner in model.forces:
        return element_gradient(model.forces[owner], unit, rest, name, t)
    model[owner]  # raises, with the nearest names
    raise ModelError(f"linearize: '{name}' is not an input.")


def coordinate_gradient(joint: Any, unit: Result, coordinate: str, name: str) -> np.ndarray:
    """The derivative of a joint coordinate by the coordinates of the model."""
    if not coordinate and len(joint.coordinates) == 1:
        coordinate = joint.coordinates[0]
    if coordinate not in joint.coordinates:
        known = ", ".join(f"'{joint.name}.{key}'" for key in joint.coordinates) or "none"
        raise ModelError(f"linearize: '{name}' is not an input. Coordinates of {joint.label}: {known}.")
    return getattr(unit[joint.name], f"{coordinate}_rate")


def element_gradient(force: Any, unit: Result, rest: str, name: str, t: float) -> np.ndarray:
    """What a unit of a force element does: along its direction or axis, its tension or thrust, its joint coordinate."""
    if isinstance(force, Load):
        axes = unit.marker(force.markers[0]).rotation[0] if force.follower else np.eye(3)
        direction = axes @ load_direction(force, rest, name, t)
        rates = [
            (view.velocity if force.part == 0 else view.angular_velocity) @ direction
            for view in map(unit.marker, force.markers)
        ]
        return rates[0] - (rates[1] if len(rates) > 1 else 0.0)
    if isinstance(force, Driven) and rest == "f":  # as `changes` and steppers call it
        rest = ""
    if isinstance(force, SpringDamper | LineActuator) and not rest:
        first, second = (unit.marker(marker) for marker in force.markers)
        line = second.position[0] - first.position[0]
        pull = (first.velocity - second.velocity) @ (line / np.linalg.norm(line))
        return pull if isinstance(force, SpringDamper) else -pull
    joint = getattr(force, "joint", None)
    if joint is not None:
        return coordinate_gradient(joint, unit, rest or getattr(force, "coordinate", ""), name)
    raise ModelError(
        f"linearize: {force.label} cannot be the input '{name}'. Use a force or torque on one of its bodies, such as "
        f"'{force.bodies[0].name}.force.x'."
    )


def load_direction(force: Any, rest: str, name: str, t: float) -> np.ndarray:
    """The unit vector of a load's input, in the axes in which the load is given."""
    if rest in ("x", "y", "z"):
        return np.eye(3)["xyz".index(rest)]
    if rest:
        raise ModelError(f"linearize: '{name}' is not an input. Use '{force.name}' or '{force.name}.x', '.y', '.z'.")
    vector = np.asarray(force.vector(t) if callable(force.vector) else force.vector, float)
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        raise ModelError(f"linearize: {force.label} is zero at t = {t:.6g}. Say which axis: '{force.name}.x', ...")
    return vector / size


def output_columns(
    model: Model, projection: Projector, point: dict[str, Any], lines: dict[str, np.ndarray], names: Iterable[str]
) -> tuple[list[str], np.ndarray]:
    """Names of the single outputs, and their derivatives (outputs, k) along k changes of q, v, a and lam."""
    wanted, changes = as_names(names, "outputs"), lines["q"].shape[1]
    if not wanted:
        return [], np.zeros((0, changes))
    if not changes:  # one line at least, to learn the labels
        lines = {key: np.zeros((len(x), 1)) for key, x in lines.items()}
    count = lines["q"].shape[1]
    system = projection.system
    layout = describe(model, system)
    slopes, labels, source, moving = None, [], ModelOfRun(model), moving_markers(system)
    for factor, weight in STENCIL:
        moved = {key: point[key] + STEP * factor * lines[key].T for key in ("q", "v", "a", "lam")}
        block = projection.project_block(
            np.full(count, point["t"]), **moved, angle=np.tile(point["angle"], (count, 1)), project=False
        )
        result = Result(layout, block)
        result.source, result.moving = source, moving
        found = [quantity(result, name) for name in wanted]
        labels = [f"{x.name}.{label}" if label else x.name for x in found for label in x.labels]
        values = np.vstack([x.values.T for x in found]) * (weight / STEP)
        slopes = values if slopes is None else slopes + values
    assert slopes is not None
    return labels, slopes[:, :changes]
