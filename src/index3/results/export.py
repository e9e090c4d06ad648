"""Results to and from files, and histories by name: netCDF, xarray, CSV."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from index3 import __version__
from index3.bodies.body import COORDINATES
from index3.errors import Index3Error, ModelError
from index3.results.views import BodyResult

if TYPE_CHECKING:
    from index3.results.result import Layout, Result

FORMAT = 1  # of the netCDF file; a reader refuses a larger number

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

# Dimensions, unit and meaning of each stored array; the time axis itself is the coordinate `time`.
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "q": (("time", "coordinate"), "m, rad or 1", "coordinates"),
    "v": (("time", "coordinate"), "m/s, rad/s or 1/s", "rates of the coordinates"),
    "a": (("time", "coordinate"), "m/s2, rad/s2 or 1/s2", "second derivatives of the coordinates"),
    "lam": (("time", "row"), "N or N m", "Lagrange multipliers"),
    "wrench": (("time", "joint", "component"), "N, N m", "on the second body at its marker, ground axes"),
    "angle": (("time", "measured_angle"), "rad", "measured joint angles, unwrapped, as measured"),
    "kinetic": (("time",), "J", "kinetic energy"),
    "potential": (("time",), "J", "potential energy"),
    "work": (("time",), "J", "work of motions and non-conservative forces since the start"),
    "violation": (("time", "level"), "SI", "largest constraint residual"),
    "violation_scaled": (("time", "level"), "1", "the same, rows divided by max(1, sum of absolute terms)"),
}


def shapes(n_t: int, n: int, m: int, n_joints: int, n_angles: int) -> dict[str, tuple[int, ...]]:
    """Shape of every array of a result, by name."""
    sizes = {"time": n_t, "coordinate": n, "row": m, "joint": n_joints, "component": 6, "level": 3}
    sizes["measured_angle"] = n_angles
    return {"t": (n_t,)} | {name: tuple(sizes[d] for d in dims) for name, (dims, _, _) in VARIABLES.items()}


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


def quantity(result: Result, name: str) -> Quantity:
    """Find a history: "crank.position", "crank.position.z", "B.force", "B.angle", "energy", "violation.scaled", "q" ...

    A bare body means its position, a bare joint its first coordinate, or its force if it has none.
    """
    owner, _, rest = name.partition(".")
    if owner == "energy" and owner not in result:
        return _pick(name, "J", ENERGIES, np.column_stack([getattr(result.energy, k) for k in ENERGIES]), rest)
    if owner == "violation" and owner not in result:
        scaled, _, level = rest.partition(".") if rest.startswith("scaled") else ("", "", rest)
        values = result.arrays["violation_scaled" if scaled else "violation"]
        return _pick(name, "" if scaled else "SI", LEVELS, values, level)
    if owner in ("q", "v", "a", "lam") and owner not in result:
        labels = tuple(result.layout.row_names) if owner == "lam" else coordinate_labels(result)
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
    if key not in known:
        raise ModelError(f"'{owner}' has no history '{key}'. Use one of {', '.join(known)}.")
    unit, letters = known[key]  # (unit, a letter for each column)
    try:
        values = getattr(view, key)
    except AttributeError as error:
        raise ModelError(str(error)) from error
    return _pick(f"{owner}.{rest}", unit, tuple(letters) or ("",), values.reshape(len(result), -1), column)


def _pick(name: str, unit: str, labels: tuple[str, ...], values: np.ndarray, column: str) -> Quantity:
    if not column:
        return Quantity(name, unit, labels, values)
    if column not in labels:
        raise ModelError(f"'{name}' does not name a column. Use one of {', '.join(labels)}.")
    k = labels.index(column)
    return Quantity(name, unit, ("",), values[:, k : k + 1])


def coordinate_labels(result: Result) -> tuple[str, ...]:
    """One name per column of q, such as "crank.e0"."""
    labels: list[str] = []
    for body in result.layout.bodies:
        names = body.get("constants", {}).get("coordinates") or COORDINATES.get(body["kind"], ())
        names = names if len(names) == body["size"] else tuple(f"q{k}" for k in range(body["size"]))
        labels += [f"{body['name']}.{name}" for name in names]
    labels += [f"{block['name']}.{name}" for block in result.layout.states for name in block["names"]]
    return tuple(labels)


def to_xarray(result: Result) -> Any:
    """An `xarray.Dataset` with every stored array and, by name, the motion of every body."""
    dataset = _stored(result)
    dataset = dataset.assign_coords(axis=list("xyz"), parameter=list("wxyz"))
    for body in result.layout.bodies:
        view = result[body["name"]]
        for key, (unit, letters) in BODY_QUANTITIES.items():
            if not letters and body["kind"] != "planar":
                continue  # only planar bodies have an angle
            dims = ("time", *{"xyz": ("axis",), "wxyz": ("parameter",), "": ()}[letters])
            dataset[f"{view.name}.{key}"] = (dims, getattr(view, key), {"units": unit})
    return dataset


def _stored(result: Result) -> Any:
    import xarray as xr

    layout = result.layout
    angles = [f"angle {k}" for k in range(result.arrays["angle"].shape[1])]
    for joint in layout.joints:
        if joint["angle"] >= 0:
            angles[joint["angle"]] = joint["name"]
    coordinates: dict[str, Any] = {
        "time": ("time", result.t, {"units": "s"}),
        "coordinate": np.array(coordinate_labels(result), dtype=object),
        "row": np.array(layout.row_names, dtype=object),
        "joint": np.array(wrench_names(layout), dtype=object),
        "measured_angle": np.array(angles, dtype=object),
        "component": ["fx", "fy", "fz", "tx", "ty", "tz"],
        "level": list(LEVELS),
    }
    data: dict[str, Any] = {
        name: (dims, result.arrays[name], {"units": unit, "long_name": meaning})
        for name, (dims, unit, meaning) in VARIABLES.items()
    }
    info = {key: getattr(result, key) for key in ("status", "message", "success", "stats", "method", "options")}
    info["audit"] = None if result.audit is None else result.audit.to_list()
    attributes = {
        "title": layout.model,
        "source": f"index3 {__version__}",
        "index3_format": FORMAT,
        "units": "SI, radians; quaternions w, x, y, z, body to ground",
    }
    # As variables, not attributes: HDF5 holds at most 64 KiB in an attribute, and a layout of 1000 bodies is larger.
    data["layout"] = ((), json.dumps(layout.to_dict()), {"long_name": "what bodies, joints and rows are, as JSON"})
    data["info"] = ((), json.dumps(plain(info)), {"long_name": "how the run went, as JSON"})
    return xr.Dataset(data, coordinates, attributes)


def write_netcdf(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result; an existing file is replaced, and only once the new one is complete."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        _stored(result).to_netcdf(unfinished, engine="h5netcdf")
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def read_netcdf(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Layout, arrays and information on the run from a file that `write_netcdf` wrote."""
    import xarray as xr

    if not Path(path).is_file():
        raise Index3Error(f"There is no file '{path}'. Give the path of a saved result.")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as file:
            dataset = file.load()
    except Exception as error:  # every reader has its own errors for a damaged file
        raise Index3Error(f"File '{path}' is not netCDF: {error}. Give the path of a saved result.") from error
    number = dataset.attrs.get("index3_format")
    if number is None:
        raise Index3Error(f"File '{path}' is netCDF, but not a result of index3. Give the path of a saved result.")
    if number > FORMAT:
        raise Index3Error(f"File '{path}' has format {number}, newer than {FORMAT}. Install a newer index3 to read it.")
    try:
        arrays = {name: dataset[name].values for name in VARIABLES} | {"t": dataset["time"].values}
        return json.loads(dataset["layout"].item()), arrays, json.loads(dataset["info"].item())
    except (KeyError, ValueError) as error:
        raise Index3Error(f"File '{path}' is damaged: {error}. Save the result again.") from error


def write_csv(result: Result, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> None:
    """Write `time` and the histories named (default: every body's position) as text columns, all digits kept."""
    if names is None:
        names = [f"{body['name']}.position" for body in result.layout.bodies]
    found = [quantity(result, name) for name in names]
    header = ["time", *(f"{q.name}.{label}" if label else q.name for q in found for label in q.labels)]
    table = np.column_stack([result.t, *(q.values for q in found)])
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header=",".join(header), comments="")
