"""Curves and arrows of a page: reactions and coordinates of joints, histories of forces, what acts along beams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import Index3Error
from index3.results.along import UNITS as ALONG
from index3.results.along import along
from index3.results.page_motion import PageMotion
from index3.results.page_parts import encode
from index3.results.page_scene import drawn_joints

if TYPE_CHECKING:
    from index3.results.result import Result

MOST_NUMBERS = 600_000  # of all curves together, about 3 MB of text
UNITS = {"angle": "rad", "angle_rate": "rad/s", "force": "N", "torque": "N m", "length": "m", "displacement": "m"}
LETTERS = ["x", "y", "z"]
PLACES = 41  # along a beam


def curves(result: Result, moving: PageMotion, frames: np.ndarray) -> dict[str, Any]:
    """Curves by the names of elements, and forces as arrows; left out where they would make the page too large."""
    known: dict[str, list[dict[str, Any]]] = {}
    arrows: list[dict[str, Any]] = []
    left, most = MOST_NUMBERS, 0.0
    for kind, entries in (("joint", [joint for joint, _ in drawn_joints(result)]), ("force", result.layout.forces)):
        for number, entry in enumerate(entries):
            if left <= 0:
                break
            view, found = view_of(result, entry)
            if view is None:
                continue
            known[entry["name"]] = [curve(name, unit, values[frames]) for name, unit, values in found]
            left -= 4 * len(frames) * len(known[entry["name"]])
            force = next((values for name, _, values in found if name == "force"), None)
            markers = entry.get("markers") or [None, entry.get("second")]
            marker = markers[entry.get("on", -1) if kind == "force" else min(1, len(markers) - 1)]  # that of `force`
            if marker and isinstance(force, np.ndarray) and force.shape == (len(result), 3):
                vectors = np.nan_to_num(force[frames])
                most = max(most, float(np.percentile(lengths(vectors), 98.0)))
                arrow = {"kind": kind, "element": number, "marker": moving.place(marker)}
                arrows.append({**arrow, "vectors": encode(vectors)})
    for body in result.layout.bodies:
        found_along = along_axis(result, body, frames) if left > 0 else []
        if found_along:
            known[body["name"]] = found_along
            left -= sum(PLACES * len(frames) * len(entry["names"]) for entry in found_along)
    return {"curves": known, "arrows": {"list": arrows, "most": most}}


def along_axis(result: Result, body: dict[str, Any], frames: np.ndarray) -> list[dict[str, Any]]:
    """What acts along the axis of a beam or cable; nothing of other bodies, and of files that lack what it takes."""
    found: list[dict[str, Any]] = []
    if body.get("constants", {}).get("lengths") is None:
        return found
    for word in ("axial_force", "shear_force", "moment", "curvature"):
        try:
            s, columns, values = along(result, f"{body['name']}.{word}", PLACES)
        except Index3Error:
            continue
        names = list(columns) if len(columns) > 1 else [word.replace("_", " ")]
        title = f"{word.replace('_', ' ')} along s [{ALONG[word]}]"
        numbers = encode(np.nan_to_num(values[frames]))
        found.append({"title": title, "names": names, "length": float(s[-1]), "values": numbers})
    return found


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Lengths of rows, also of numbers whose squares are beyond all bounds; at most the largest number there is."""
    largest = max(float(np.abs(vectors).max(initial=0.0)), 1e-300)
    with np.errstate(over="ignore"):
        return np.nan_to_num(largest * np.linalg.norm(vectors / largest, axis=1))


def view_of(result: Result, entry: dict[str, Any]) -> tuple[Any, list[tuple[str, str, np.ndarray]]]:
    """An element with its histories; None where there are none, as of forces where a run failed."""
    try:
        view = result[entry["name"]]
        return view, histories(view, entry)
    except (Index3Error, KeyError):
        return None, []


def histories(view: Any, entry: dict[str, Any]) -> list[tuple[str, str, np.ndarray]]:
    """Names, units and histories of an element, those with one or three columns."""
    found: list[tuple[str, str, np.ndarray]] = []
    if hasattr(view, "quantities"):
        for name, (unit, columns) in view.quantities.items():
            values = np.asarray(getattr(view, name))
            if len(columns) in (1, 3) and values.ndim <= 2:
                found.append((name, unit, values))
        return found
    for name in (*entry.get("coordinates", ()), "force", "torque"):
        history = getattr(view, name, None)
        if isinstance(history, np.ndarray):
            found.append((name, UNITS.get(name, "m"), history))
    return found


def curve(name: str, unit: str, values: np.ndarray) -> dict[str, Any]:
    """A curve as the page knows it; numbers that are not finite are drawn at zero."""
    columns = values if values.ndim == 2 else values[:, None]
    names = LETTERS if columns.shape[1] == 3 else [name]
    return {"title": f"{name.replace('_', ' ')} [{unit}]", "names": names, "values": encode(np.nan_to_num(columns))}
