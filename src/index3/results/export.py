"""Histories of a result by name, and as text."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from index3.bodies.body import COORDINATES
from index3.compiled import columns
from index3.errors import ModelError
from index3.results.bodies import BodyResult
from index3.results.writing import replaced

if TYPE_CHECKING:
    from index3.results.layout import Layout
    from index3.results.result import Result

# What a history is called: its unit and the names of its columns.
BODY_QUANTITIES = {
    "position": ("m", "xyz"),
    "velocity": ("m/s", "xyz"),
    "acceleration": ("m/s²", "xyz"),
    "orientation": ("", "wxyz"),
    "angular_velocity": ("rad/s", "xyz"),
    "angular_acceleration": ("rad/s²", "xyz"),
    "angle": ("rad", ""),
    "spin": ("rad/s", ""),
}
JOINT_QUANTITIES = {
    "force": ("N", "xyz"),
    "torque": ("N m", "xyz"),
    "angle": ("rad", ""),
    "angle_rate": ("rad/s", ""),
}
for _name in ("displacement", "x", "y", "length"):
    JOINT_QUANTITIES |= {_name: ("m", ""), f"{_name}_rate": ("m/s", "")}
ENERGIES = ("kinetic", "potential", "total", "work", "balance")
LEVELS = ("position", "velocity", "acceleration")


def shapes(n_t: int, n: int, m: int, n_joints: int, n_angles: int) -> dict[str, tuple[int, ...]]:
    """Shape of every array of a result, by name."""
    return columns.shapes(n_t, {"coordinate": n, "row": m, "joint": n_joints, "measured_angle": n_angles})


def empty_arrays(n_t: int, n: int, m: int, n_joints: int, n_angles: int) -> dict[str, np.ndarray]:
    """Zeros of the right shapes, for the arrays of a `Result`.

    >>> empty_arrays(3, 7, 5, 1, 1)["wrench"].shape
    (3, 1, 6)
    """
    return {name: np.zeros(shape) for name, shape in shapes(n_t, n, m, n_joints, n_angles).items()}


def wrench_names(layout: Layout) -> list[str]:
    """One name per wrench: joints, and behind them such as "gear.3" for the other markers of joints with several."""
    names = [joint["name"] for joint in layout.joints]
    return names + [f"{joint['name']}.{k}" for joint in layout.joints for k in joint.get("further", ())]


def check_shapes(layout: Layout, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise unless the arrays of a result have the shapes that its layout says."""
    n = sum(owner["size"] for owner in (*layout.bodies, *layout.states))
    n_angles = 1 + max((joint["angle"] for joint in layout.joints), default=-1)
    n_t = len(arrays["t"]) if "t" in arrays else 0
    n_wrenches = len(wrench_names(layout))
    for name, wanted in shapes(n_t, n, len(layout.row_names), n_wrenches, n_angles).items():
        if name not in arrays:
            raise ModelError(f"Result of model '{layout.model}' lacks the array '{name}'. Give it shape {wanted}.")
        shape = arrays[name].shape
        if name == "angle" and shape[:1] == wanted[:1] and len(shape) == 2 and shape[1] >= wanted[1]:
            continue  # angles may be measured for motions and forces too
        if shape != wanted:
            raise ModelError(f"Array '{name}' of model '{layout.model}' has shape {shape}. It must be {wanted}.")


def plain(value: Any) -> Any:
    """The same in lists, dicts, strings and numbers; anything else becomes its `repr`."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return repr(value)


class Quantity(NamedTuple):
    """A history found by its name: `values` (n_t, k), one label per column ("" if there is only one)."""

    name: str
    unit: str
    labels: tuple[str, ...]
    values: np.ndarray


def as_names(names: Any) -> list[str]:
    """One name of a history or several as a list."""
    if isinstance(names, str):
        return [names]
    try:
        return list(names)
    except TypeError:
        raise ModelError(f"{short(names)} are no names of histories. Give some such as ['crank.position'].") from None


def quantity(result: Result, name: str) -> Quantity:
    """Find a history: "crank.position", "crank.position.z", "B.force", "B.angle", "energy", "violation.scaled", "q" ...

    A bare body means its position, a bare joint its first coordinate, or its force if it has none.
    """
    if not isinstance(name, str):
        raise ModelError(f"{short(name)} is no name of a history. Give one such as 'crank.position' or 'energy'.")
    owner, _, rest = name.partition(".")
    if owner == "energy" and owner not in result:
        return _pick(name, "J", ENERGIES, np.column_stack([getattr(result.energy, k) for k in ENERGIES]), rest)
    if owner == "violation" and owner not in result:
        scaled, _, level = rest.partition(".") if rest.startswith("scaled") else ("", "", rest)
        values = result.arrays["violation_scaled" if scaled else "violation"]
        return _pick(name, "" if scaled else "SI", LEVELS, values, level)
    if owner in ("q", "v", "a", "lam") and owner not in result:
        labels = tuple(result.layout.row_names) if owner == "lam" else coordinate_labels(result.layout)
        return _pick(name, "SI", labels, result.arrays[owner], rest)
    if owner in result.states:
        names = next(tuple(block["names"]) for block in result.layout.states if block["name"] == owner)
        if rest in ("", *names):  # else a history of the force that owns them
            return _pick(name, "", names, result.states[owner], rest)
    view = result[owner]
    known = BODY_QUANTITIES if isinstance(view, BodyResult) else getattr(view, "quantities", JOINT_QUANTITIES)
    if not rest:
        rest = "position" if known is BODY_QUANTITIES else (*getattr(view, "coordinates", ()), "force")[0]
    key, _, column = rest.partition(".")
    if not known:
        result.applied()  # raises: this is a force, and the result does not know its model
    if key not in known:
        raise ModelError(f"'{owner}' has no history '{key}'. Use one of {', '.join(known)}.")
    unit, letters = known[key]  # (unit, a letter for each column)
    try:
        values = getattr(view, key)
    except AttributeError as error:
        raise ModelError(str(error)) from error
    return _pick(
        f"{owner}.{rest}", unit, tuple(letters) or ("",), values.reshape(len(result), len(letters) or 1), column
    )


def _pick(name: str, unit: str, labels: tuple[str, ...], values: np.ndarray, column: str) -> Quantity:
    if not column:
        return Quantity(name, unit, labels, values)
    if column not in labels:
        raise ModelError(f"'{name}' does not name a column. Use one of {', '.join(labels)}.")
    k = labels.index(column)
    return Quantity(name, unit, ("",), values[:, k : k + 1])


def coordinate_labels(layout: Layout) -> tuple[str, ...]:
    """One name per column of q, such as "crank.e0"."""
    labels: list[str] = []
    for body in layout.bodies:
        names = body.get("constants", {}).get("coordinates") or COORDINATES.get(body["kind"], ())
        names = names if len(names) == body["size"] else tuple(f"q{k}" for k in range(body["size"]))
        labels += [f"{body['name']}.{name}" for name in names]
    labels += [f"{block['name']}.{name}" for block in layout.states for name in block["names"]]
    return tuple(labels)


def write_csv(result: Result, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> None:
    """Write `time` and the histories named (default: every body's position) as text columns, all digits kept.

    Raises
    ------
    FileError : the file cannot be written.
    """
    if names is None:
        names = [f"{body['name']}.position" for body in result.layout.bodies]
    found = [quantity(result, name) for name in as_names(names)]
    header = ["time", *(f"{q.name}.{label}" if label else q.name for q in found for label in q.labels)]
    table = np.column_stack([result.t, *(q.values for q in found)])
    quoted = io.StringIO()
    csv.writer(quoted, lineterminator="").writerow(header)  # names may hold commas and quotes
    with replaced(path) as unfinished:
        np.savetxt(
            unfinished, table, fmt="%.17g", delimiter=",", header=quoted.getvalue(), comments="", encoding="utf-8"
        )
