"""Fields that hold many numbers: names of files beside the model file, and arrays in one of them."""

from __future__ import annotations

import base64
import binascii
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field as Checked

from index3.bodies.modal_motion import packed
from index3.errors import ModelError
from index3.files.kinds import Kind, Place, Strict

LARGEST = 2_000_000_000
"""Bytes of a file of arrays."""


class ArrayEntry(Strict):
    """An array in the model file itself: its shape, and its numbers of eight bytes each, base64, last index first."""

    shape: Annotated[list[int], Checked(max_length=8)]
    bytes: str


@dataclass(frozen=True)
class FileName(Kind):
    """A file, found from the folder of the model file."""

    wanted: str = "the name of a file"

    def read(self, value: Any, place: Place) -> Any:
        """Its path."""
        place.factor(None)  # its numbers have units of their own
        return str(place.folder / value)

    def write(self, value: Any, place: Place) -> Any:
        """None is ever written: what was read from it is."""
        return str(value)


@dataclass(frozen=True)
class Arrays(Kind):
    """Arrays by name: in an .npz file beside the model file, or, where there is no file, in the text."""

    type: Any = str | dict[str, ArrayEntry]
    wanted: str = "the name of an .npz file, or arrays {name: {shape, bytes}}"

    def read(self, value: Any, place: Place) -> Any:
        """The arrays."""
        place.factor(None)
        if isinstance(value, str):
            return place.beside[value] if value in place.beside else loaded(value, place)
        return {key: unpacked(key, entry) for key, entry in value.items()}

    def argument(self, value: Any) -> Any:
        """The arrays of (name of the element, arrays)."""
        return value[1]

    def write(self, value: Any, place: Place) -> Any:
        """The name of the file that is to hold the arrays of (name of the element, arrays), or the arrays."""
        name, arrays = value
        if place.stem is None:
            return {key: packed(array) for key, array in arrays.items()}
        plain = re.sub(r"[^\w-]", "_", name)
        base = f"{place.stem}.{plain}"
        file, number = f"{base}.npz", 2
        while file in place.beside:
            file, number = f"{base}.{number}.npz", number + 1
        place.beside[file] = arrays
        return file


def unpacked(key: str, entry: Mapping[str, Any]) -> np.ndarray:
    """The array again."""
    try:
        numbers = np.frombuffer(base64.b64decode(entry["bytes"], validate=True), "<f8")
        if min(entry["shape"], default=0) < 0:
            raise ValueError("negative")
        return numbers.reshape(entry["shape"])
    except (ValueError, binascii.Error, OverflowError):
        raise ModelError(f"{key} is not an array of shape {entry['shape']}.") from None


def loaded(name: str, place: Place) -> dict[str, np.ndarray]:
    """The arrays of a file beside the model file."""
    path = place.folder / name
    try:
        if path.stat().st_size > LARGEST:
            raise ModelError(f"'{name}' has more than {LARGEST / 1e9:.0f} GB.")
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except (OSError, ValueError, AttributeError, zipfile.BadZipFile, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not an .npz file"
        raise ModelError(f"'{name}' cannot be read: {reason}.") from None


def as_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The content of an .npz file."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()
