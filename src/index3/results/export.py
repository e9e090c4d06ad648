"""Histories of a result by name, and as text."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from index3.bodies.body import COORDINATES
from index3.element_type import nearest
from index3.errors import ModelError
from index3.results.bodies import BodyResult
from index3.results.joints import JointResult
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
    "tension": ("N", ""),  # of a distance or a rope
    "angle": ("rad", ""),
    "angle_rate": ("rad/s", ""),
    "angles": ("rad", "12"),  # of a universal joint: about the axis of the first and of the second marker
    "angle_rates": ("rad/s", "12"),
}
for _name in ("displacement", "x", "y", "length"):
    JOINT_QUANTITIES |= {_name: ("m", ""), f"{_name}_rate": ("m/s", "")}
ENERGIES = ("kinetic", "potential", "total", "work", "balance")
LEVELS = ("position", "velocity", "acceleration")


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
        raise ModelError(f"{short(names)} are not names of histories. Give some such as ['crank.position'].") from None


def quantity(result: Result, name: str) -> Quantity:
    """Find a history: "crank.position", "crank.position.z", "B.force", "B.angle", "energy", "violation.scaled", "q" ...

    A bare body means its position, a bare joint its first coordinate, or its force if it has none.
    """
    if not isinstance(name, str):
        raise ModelError(f"{short(name)} is not the name of a history. Give one such as 'crank.position' or 'energy'.")
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
    known = BODY_QUANTITIES if isinstance(view, BodyResult) else JOINT_QUANTITIES
    if not isinstance(view, BodyResult | JointResult):
        known = getattr(view, "quantities", JOINT_QUANTITIES)
    if not rest:
        rest = "position" if known is BODY_QUANTITIES else (*getattr(view, "coordinates", ()), "force")[0]
    key, _, column = rest.partition(".")
    if not known:
        result.applied()  # raises: this is a force, and the result does not know its model
    if key not in known:
        own = getattr(view, "known", tuple(known)) if known is JOINT_QUANTITIES else tuple(known)
        raise ModelError(f"'{owner}' has no history '{key}'. {nearest(key, own)}Use one of {', '.join(own)}.")
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
