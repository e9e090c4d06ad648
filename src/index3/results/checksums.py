"""Checksums in netCDF files: what was saved is told from what became of it."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from index3.errors import Index3Error
from index3.results.arrays import plain

CHECKSUM = "checksum"
"""Attribute of every variable, and of the file for its other attributes; files of format 1 have none."""
SEAL = b"\nindex3 crc32 %08x of %016x bytes\n"
"""The last line of a file, behind what HDF5 reads."""


def damaged(path: str | os.PathLike[str], why: str) -> Index3Error:
    """The error of a file that is not what was saved."""
    return Index3Error(f"File '{path}' is damaged: {why}. Save the result again, or give a copy that is whole.")


def sealed(dataset: Any) -> Any:
    """The dataset with checksums: of every variable, and of the attributes of the file."""
    for name, content in dataset.variables.items():
        content.attrs[CHECKSUM] = checksum(name, content)
    return dataset.assign_attrs({CHECKSUM: attribute_checksum(dataset.attrs)})


def checksum(name: str, content: Any) -> str:
    """CRC-32 of a variable: its name, dimensions, unit, meaning and values."""
    known = [name, content.dims, content.shape, content.attrs.get("units", ""), content.attrs.get("long_name", "")]
    head, values = zlib.crc32(json.dumps(plain(known)).encode()), content.values
    if not values.size:  # a file gives no names back as no numbers
        return f"{head:08x}"
    if values.dtype.kind == "f":
        return f"{zlib.crc32(np.ascontiguousarray(values, '<f8').data.cast('B'), head):08x}"
    return f"{zlib.crc32(json.dumps(plain(values.tolist())).encode(), head):08x}"


def attribute_checksum(attributes: Mapping[str, Any]) -> str:
    """CRC-32 of the attributes of a file, but for the checksum itself."""
    known = {str(key): plain(value) for key, value in attributes.items() if key != CHECKSUM}
    return f"{zlib.crc32(json.dumps(known, sort_keys=True).encode()):08x}"


def is_sealed(dataset: Any) -> bool:
    """Whether the file has checksums, or must have them."""
    first = dataset.attrs.get("index3_format") == 1 and CHECKSUM not in dataset.attrs
    return not first or any(CHECKSUM in content.attrs for content in dataset.variables.values())


def seal_file(path: Path) -> None:
    """Add a line behind the end of a file with its size and checksum; readers of HDF5 do not look there."""
    size, value = path.stat().st_size, file_checksum(path, path.stat().st_size)
    with open(path, "ab") as file:
        file.write(SEAL % (value, size))


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise if the last line of a file tells that others of its bytes were changed.

    The HDF5 library may hang or crash on what has been damaged, so this comes before it.
    """
    size = os.path.getsize(path) - len(SEAL % (0, 0))
    if size < 0:
        return
    with open(path, "rb") as file:
        file.seek(size)
        last = file.read()
    if last.startswith(SEAL[:8]) and last != SEAL % (file_checksum(path, size), size):
        raise damaged(path, "its bytes are not those that were saved")


def file_checksum(path: str | os.PathLike[str], size: int) -> int:
    """CRC-32 of the first bytes of a file."""
    value = 0
    with open(path, "rb") as file:
        while size > 0 and (part := file.read(min(size, 1 << 20))):
            value, size = zlib.crc32(part, value), size - len(part)
    return value


def check_variable(dataset: Any, name: str, path: str | os.PathLike[str]) -> None:
    """Raise unless a variable is what was saved, as far as a file of its format can tell."""
    content = dataset.variables[name]
    if is_sealed(dataset) and content.attrs.get(CHECKSUM) != checksum(name, content):
        raise damaged(path, f"'{name}' is not what was saved")
