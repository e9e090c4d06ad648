"""Results as netCDF files and as xarray datasets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from index3 import __version__
from index3.compiled.columns import COLUMNS
from index3.errors import Index3Error
from index3.results.arrays import plain, wrench_names
from index3.results.checksums import (
    CHECKSUM,
    attribute_checksum,
    check_file,
    check_variable,
    damaged,
    is_sealed,
    seal_file,
    sealed,
)
from index3.results.export import BODY_QUANTITIES, LEVELS, coordinate_labels
from index3.results.lazy import NAMES, LazyArrays
from index3.results.wrenches import FORCES, Applied
from index3.results.writing import check_room, replaced

if TYPE_CHECKING:
    from index3.results.layout import Layout
    from index3.results.result import Result

FORMAT = 2  # of the netCDF file; a reader refuses a larger number. Files of format 1 have no checksums
TABLES = 1 << 17
"""Bytes that the tables of a file take, more or less: 60 kB for a four-bar."""
TIME = "t"  # the column that is a coordinate of the file, named `time` there


def to_xarray(result: Result) -> Any:
    """An `xarray.Dataset` with every stored array and, by name, histories of every body and force."""
    dataset = described(result.layout, result.arrays, result.info)
    dataset = dataset.assign(variables(result.arrays, NAMES))
    dataset = dataset.assign_coords(axis=list("xyz"), parameter=list("wxyz"))
    for body in result.layout.bodies:
        view = result[body["name"]]
        for key, (unit, letters) in BODY_QUANTITIES.items():
            if not letters and body["kind"] != "planar":
                continue  # only planar bodies have an angle
            dims = ("time", *{"xyz": ("axis",), "wxyz": ("parameter",), "": ()}[letters])
            dataset[f"{view.name}.{key}"] = (dims, getattr(view, key), {"units": unit})
    if result.knows_forces:
        for force in result.layout.forces:
            view = result[force["name"]]
            for key, (unit, _) in view.quantities.items():
                values = np.asarray(getattr(view, key))
                dims = {1: ("time",), 2: ("time", "axis"), 3: ("time", f"{view.name}.pair", "axis")}[values.ndim]
                if not view.single and values.ndim == 2:
                    dims = ("time", f"{view.name}.pair")
                dataset[f"{view.name}.{key}"] = (dims, values, {"units": unit})
    return dataset


def described(layout: Layout, arrays: Mapping[str, np.ndarray], info: Mapping[str, Any]) -> Any:
    """A dataset with the names along every axis, the layout and what is known of the run, but no histories."""
    import xarray as xr

    angles = [f"angle {k}" for k in range(arrays["angle"].shape[1])]
    for joint in layout.joints:
        if joint["angle"] >= 0:
            angles[joint["angle"]] = joint["name"]
    coordinates: dict[str, Any] = {
        "time": ("time", arrays[TIME], {"units": "s"}),
        "coordinate": np.array(coordinate_labels(layout), dtype=object),
        "row": np.array(layout.row_names, dtype=object),
        "joint": np.array(wrench_names(layout), dtype=object),
        "measured_angle": np.array(angles, dtype=object),
        "component": ["fx", "fy", "fz", "tx", "ty", "tz"],
        "level": list(LEVELS),
    }
    attributes = {
        "title": layout.model,
        "source": f"index3 {__version__}",
        "index3_format": FORMAT,
        "units": "SI, radians; quaternions w, x, y, z, body to ground",
    }
    # As variables, not attributes: HDF5 holds at most 64 KiB in an attribute, and a layout of 1000 bodies is larger.
    texts = {
        "layout": ((), json.dumps(layout.to_dict()), {"long_name": "what bodies, joints and rows are, as JSON"}),
        "info": ((), json.dumps(plain(info)), {"long_name": "how the run went, as JSON"}),
    }
    return xr.Dataset(texts, coordinates, attributes)


def variables(arrays: Mapping[str, np.ndarray], names: tuple[str, ...]) -> dict[str, Any]:
    """Some columns with their dimensions, units and meanings."""
    return {
        column.name: (
            ("time", *column.dimensions), arrays[column.name], {"units": column.unit, "long_name": column.meaning},
        )
        for column in COLUMNS
        if column.name in names and column.name != TIME
    }  # fmt: skip


def force_variables(layout: Layout, forces: Applied) -> dict[str, Any]:
    """What force elements do, as variables of a dataset."""
    return {
        "force_wrench": (
            ("time", "force_marker", "component"), forces.wrench,
            {"units": "N, N m", "long_name": "of each force on each of its markers, ground axes"},
        ),
        "force_power": (
            ("time", "force"), forces.power, {"units": "W", "long_name": "power that each force gives to the bodies"},
        ),
        "force": ("force", np.array([force["name"] for force in layout.forces], dtype=object)),
    }  # fmt: skip


def write_netcdf(
    layout: Layout,
    arrays: Mapping[str, np.ndarray],
    info: Mapping[str, Any],
    path: str | os.PathLike[str],
    forces: Any = None,
) -> None:
    """Write a result; an existing file is replaced, and only once the new one is complete and on the disk.

    Columns that are read when asked for go through memory one by one: `arrays` may be larger than that.

    Raises
    ------
    FileError : the file cannot be written.
    """
    import xarray as xr

    dataset = described(layout, arrays, info)
    if forces is not None:
        dataset = dataset.assign(force_variables(layout, forces))
    with replaced(path) as unfinished:
        if isinstance(arrays, LazyArrays):
            write_part(sealed(dataset), unfinished, "w")
            for name in NAMES:
                one = xr.Dataset(variables({name: arrays.glance(name)}, (name,)))
                write_part(sealed(one).drop_attrs(deep=False), unfinished, "a")
        else:
            write_part(sealed(dataset.assign(variables(arrays, NAMES))), unfinished, "w")
        seal_file(unfinished)


def write_part(dataset: Any, path: Path, mode: Literal["w", "a"]) -> None:
    """Write variables to a file, or add them to it, if there is room for them."""
    texts = sum(len(str(text)) for name in ("layout", "info") if name in dataset for text in [dataset[name].item()])
    check_room(path, dataset.nbytes + texts + TABLES)
    dataset.to_netcdf(path, mode=mode, engine="h5netcdf")


def read_netcdf(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Layout, arrays (of forces too, if there are some) and information on the run from a file of `write_netcdf`.

    Raises
    ------
    Index3Error : there is no such file, it is no result, of a newer format, or not what was saved.
    """
    import h5py

    if not Path(path).is_file():
        raise Index3Error(f"There is no file '{path}'. Give the path of a saved result.")
    check_file(path)
    try:
        with h5py.File(path, "r"):  # if even this fails, h5netcdf would complain aloud besides
            pass
        with opened(path) as file:
            dataset = file.load()
    except Exception as error:  # every reader has its own errors for a damaged file
        raise Index3Error(f"File '{path}' is not netCDF: {error}. Give the path of a saved result.") from error
    check_attributes(dataset, path)
    try:
        arrays = {name: column(dataset, name, path) for name in NAMES}
        for name in dataset.variables:
            check_variable(dataset, str(name), path)
        arrays |= {name: column(dataset, name, path) for name in FORCES if name in dataset}
        return json.loads(dataset["layout"].item()), arrays, json.loads(dataset["info"].item())
    except (KeyError, ValueError, TypeError) as error:
        raise damaged(path, str(error)) from error


def opened(path: str | os.PathLike[str]) -> Any:
    """A file as it is: numbers that stand for missing ones, or for times, mean nothing here."""
    import xarray as xr

    return xr.open_dataset(path, engine="h5netcdf", decode_cf=False)


def check_attributes(dataset: Any, path: str | os.PathLike[str]) -> None:
    """Raise unless the attributes are those of a result, of a format that is known."""
    number = dataset.attrs.get("index3_format")
    if number is None:
        raise Index3Error(f"File '{path}' is netCDF, but not a result of index3. Give the path of a saved result.")
    if not isinstance(number, int | np.integer) or number < 1:
        raise damaged(path, f"its format is {number!r}")
    if number > FORMAT:
        raise Index3Error(f"File '{path}' has format {number}, newer than {FORMAT}. Install a newer index3 to read it.")
    if is_sealed(dataset) and dataset.attrs.get(CHECKSUM) != attribute_checksum(dataset.attrs):
        raise damaged(path, "its attributes are not those that were saved")


def column(dataset: Any, name: str, path: str | os.PathLike[str]) -> np.ndarray:
    """A column of numbers."""
    values = dataset[variable(name)].values
    if values.dtype.kind != "f":
        raise damaged(path, f"'{name}' holds no numbers")
    return values


def stored_arrays(path: str | os.PathLike[str]) -> LazyArrays:
    """The columns of a file that `write_netcdf` wrote, each read when first asked for.

    Reading raises an `Index3Error` once the file was replaced or removed.
    """
    place = Path(path).absolute()
    found = identity(place)

    def read(name: str) -> np.ndarray:
        if identity(place) != found:
            raise Index3Error(
                f"File '{place}', which holds '{name}' of this result, was replaced or removed. Load the file anew, if "
                "it is still there."
            )
        with opened(place) as file:
            check_variable(file, variable(name), place)
            return column(file, name, place)

    return LazyArrays(read)


def identity(path: Path) -> tuple[int, ...] | None:
    """What tells a file from another one written in its place; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def variable(name: str) -> str:
    """What the file calls a column."""
    return "time" if name == TIME else name
