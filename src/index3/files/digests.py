"""What stands for the elements of a model: a digest of each, to tell whether another model is the same."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from types import CodeType
from typing import Any

import numpy as np

from index3.bodies.marker import Marker
from index3.errors import ModelError
from index3.files.entries import SECTIONS
from index3.files.kinds import Place
from index3.files.write import entry_of
from index3.model.model import Model


def digests(model: Model) -> dict[str, str]:
    """A digest of every element, by its label, and of the model's own numbers.

    Elements count as a model file would have them; functions that no file can hold count by their code.

    >>> from index3.library import pendulum
    >>> sorted(digests(pendulum()))
    ["Model 'pendulum'", "Revolute 'pivot'", "RigidBody 'rod'"]
    """
    place, found = Place(model), {f"Model '{model.name}'": digest(told(model.gravity))}
    for section in SECTIONS:
        for element in getattr(model, section).values():
            try:
                data: Any = entry_of(element, place)
            except ModelError:
                data = made_of(element)
            found[f"{type(element).__name__} '{element.name}'"] = digest(json.dumps(data, sort_keys=True, default=told))
    for controller in model.controllers.values():
        found[controller.label] = digest(json.dumps(made_of(controller), sort_keys=True, default=told))
    return found


def check_same(model: Model, wanted: Mapping[str, str], who: str) -> None:
    """Raise, naming the first element that differs, unless the digests of a model are these.

    Raises
    ------
    ModelError : the model is another one.
    """
    found = digests(model)
    for label in wanted:
        if label not in found:
            raise ModelError(f"{who}: model '{model.name}' has no {label}. Give the model with which the run began.")
    for label, value in found.items():
        if label not in wanted:
            raise ModelError(f"{who}: {label} is new in model '{model.name}'. Give the model with which the run began.")
        if value != wanted[label]:
            raise ModelError(f"{who}: {label} is not what it was. Give the model with which the run began.")
    if list(found) != list(wanted):
        raise ModelError(f"{who}: the elements of model '{model.name}' are in another order. Add them as before.")


def made_of(element: Any) -> dict[str, Any]:
    """What an element has under the names of the arguments that make it; a body's start, too."""
    names = [*inspect.signature(type(element)).parameters, "markers", "q0", "v0"]
    return {name: told(getattr(element, name)) for name in names if hasattr(element, name)}


def told(value: Any) -> Any:
    """A value as plain data; what is neither numbers, text, elements nor functions counts by its type."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, np.ndarray | np.generic):
        return [str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes().hex()]
    if isinstance(value, Mapping):
        return [[told(key), told(part)] for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [told(part) for part in value]
    if isinstance(value, Marker):
        return [value.body.name, told(value.position), told(value.axes), value.part]
    if isinstance(value, CodeType):
        return [value.co_code.hex(), value.co_names, [told(part) for part in value.co_consts]]
    function = getattr(value, "py_func", value)
    if hasattr(function, "__code__"):
        cells = [told(cell.cell_contents) for cell in function.__closure__ or () if not callable(cell.cell_contents)]
        return [told(function.__code__), cells, told(function.__defaults__)]
    return [type(value).__name__, str(getattr(value, "name", ""))]


def digest(data: Any) -> str:
    """The digest of plain data."""
    return hashlib.sha256(repr(data).encode()).hexdigest()[:16]
