"""Writing model files: every element in its long form, in SI units, so that reading gives the same model again."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.body_fields import STATE
from index3.errors import ModelError
from index3.files.arrays import as_bytes
from index3.files.entries import SECTIONS, Entry, entry
from index3.files.kinds import Place
from index3.files.read import as_file, at, check_suffix, make
from index3.files.schema import VERSION
from index3.model.model import Model
from index3.registry import ELEMENTS

if TYPE_CHECKING:
    from index3.user_types import FilePath


def save_model(model: Model, path: FilePath) -> None:
    """Write a model to a file, JSON or TOML by its ending; `load_model` gives the same model again.

    Functions are written as formulas and tables, so those of a model must be numbers, `Expression`, `TimeTable` or
    `Curve`. A flexible body has a file of numbers (.npz) beside the model file, named after both. A file
    of this name is replaced once the new one is complete.

    Raises
    ------
    ModelError : names an element that a file cannot hold; nothing is written.
    """
    file = as_file(path, "save_model")
    if not isinstance(model, Model):
        raise ModelError(f"save_model writes a Model, not {type(model).__name__}.")
    with at(file.name):
        suffix = check_suffix(file)
        place = Place(model, folder=file.parent, stem=file.stem)
        data = data_of(model, place)
        text = json_text(data) if suffix == ".json" else toml_text(data)
        for name, arrays in place.beside.items():
            replace(file.parent / name, as_bytes(arrays))
        replace(file, text.encode("utf-8"))


def data_of(model: Model, place: Place | None = None) -> dict[str, Any]:
    """A model as the data of a file: dicts, lists, numbers and text; all in one without a place."""
    data: dict[str, Any] = {"index3": VERSION, "name": model.name, "gravity": model.gravity.tolist()}
    place = place or Place(model)
    for controller in model.controllers.values():
        raise ModelError(f"{controller.label} cannot be written to a file: it holds a Python function.")
    for section in SECTIONS:
        elements = getattr(model, section).values()
        if elements:
            data[section] = [entry_of(element, place) for element in elements]
    return data


def entry_of(element: Any, place: Place) -> dict[str, Any]:
    """One element."""
    cls = type(element)
    owner = f"{cls.__name__} '{element.name}'"
    if ELEMENTS.get(cls.__name__) is not cls:
        raise ModelError(
            f"{owner} cannot be written: its class is not registered. Call index3.register({cls.__name__})."
        )
    if cls.no_file:
        raise ModelError(f"{owner} cannot be written: {cls.no_file}.")
    kind = entry(cls, cls.written_by)
    data = {"type": kind.name, "name": element.name}
    for key, field in kind.kinds.items():
        value = None if kind.fields[key].short else kind.value(element, key)
        if value is None:
            continue
        with at(f"{owner}: {key}"):
            written = field.write(value, place)
        if kind.is_required(key) or not same(written, kind.default(key)):
            data[key] = written
    return data | (state_of(element, kind, data, place) if kind.section == "bodies" else {})


def same(data: Any, default: Any) -> bool:
    """Whether a value is the one that a field has when it is left out."""
    if isinstance(default, tuple):
        return bool(np.array_equal(np.asarray(data, object), np.asarray(default, object)))
    return type(data) is not list and default is not None and data == default


def state_of(body: Any, kind: Entry, data: dict[str, Any], place: Place) -> dict[str, Any]:
    """Coordinates and rates that do not follow from the body's fields, because they were changed since it was made."""
    again = make(kind, data, Place(place.model, entry=data, beside=place.beside))
    changed = [key for key in STATE if not np.array_equal(getattr(body, key), getattr(again, key))]
    return {key: getattr(body, key).tolist() for key in changed}


def json_text(data: dict[str, Any]) -> str:
    """JSON with one element on each line."""
    lines = []
    for key, value in data.items():
        if key in SECTIONS:
            entries = ",\n".join(f"    {json.dumps(entry, ensure_ascii=False, allow_nan=False)}" for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n{entries}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def toml_text(data: dict[str, Any]) -> str:
    """TOML, each element a table."""
    import tomli_w  # here: only who writes TOML needs it

    return "\n".join(compact(tomli_w.dumps(data).split("\n")))


def compact(lines: list[str]) -> Iterator[str]:
    """Lines of TOML with every array of numbers on one line; line breaks are never inside a text."""
    k = 0
    while k < len(lines):
        end = k
        if lines[k].endswith(" = ["):
            end = next(j for j in range(k + 1, len(lines)) if lines[j] == "]")
            part = "".join(line.strip() + " " for line in lines[k + 1 : end])
            if not set(part) - set("0123456789+-.e, []"):
                yield lines[k] + part.strip().rstrip(",").replace("[ ", "[").replace(", ]", "]") + "]"
                k = end + 1
                continue
        yield from lines[k : end + 1]
        k = end + 1


def replace(file: Path, content: bytes) -> None:
    """Put a content into a file at one stroke: a reader sees the old one or the new one."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", text=False)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            if file.exists():
                os.chmod(name, file.stat().st_mode)
            else:
                umask = os.umask(0)
                os.umask(umask)
                os.chmod(name, 0o666 & ~umask)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror}.") from None
