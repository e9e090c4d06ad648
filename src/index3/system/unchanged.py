"""The system of a model that was compiled before and has not changed since.

A model counts as unchanged if it holds the same elements, with numbers, words and arrays equal to the last bit. What
cannot be compared so, functions above all and elements of other packages, lets it be compiled anew each time.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType
from typing import Any

import numpy as np

from index3.bodies.time_functions import Constant, Derived
from index3.compiled.failures import Failures
from index3.compiled.interface import Kernel
from index3.model.compiled import Compiled
from index3.model.model import Model
from index3.system.compile import compile_model
from index3.system.system import System

WORDS = frozenset([int, bool, str, bytes, NoneType])
LEFT = frozenset([Compiled, Failures])
"""What compiling and running leave in elements, and do not read."""
TOLD = (Constant, Derived)
"""Functions that are told by their attributes, as dataclasses are."""


class Unknown(Exception):
    """Something that cannot be compared."""


def system_of(model: Model, kernels: Iterable[Kernel], without: frozenset[str]) -> System:
    """The equations of a model as `compile_model` gives them, or gave them if nothing has changed since."""
    place: Compiled = model.__dict__.setdefault("_compiled", Compiled())
    before, systems = place.known
    if before is None or content_of(model) != before:
        systems = {}
    system = systems.get(without)
    if system is None or system.addresses.refused:
        system = compile_model(model, kernels, without=without)
        content = content_of(model)  # with what elements have worked out and kept meanwhile
        place.known = (None, {}) if content is None else (content, {**systems, without: system})
    system.addresses.load_once(tuple(kernels))
    return system


def content_of(model: Model) -> list[Any] | None:
    """All that a model holds, in a list that can be compared; None if something in it cannot be."""
    found: list[Any] = []
    try:
        add(model, found, {})
    except Unknown:
        return None
    return found


def add(value: Any, found: list[Any], seen: dict[int, int]) -> None:
    """Add the content of a value to a list; `seen` numbers objects by their id.

    Raises
    ------
    Unknown : it cannot be compared.
    """
    kind = type(value)
    if kind is float:
        found.append(value or str(value))  # zero has a sign
    elif kind in WORDS or kind is type:
        found.append(value)
    elif kind is np.ndarray:
        if value.dtype.hasobject:
            raise Unknown
        found += value.dtype, value.shape, value.tobytes()
    elif kind is tuple or kind is list:
        found += kind, len(value)
        for part in value:
            add(part, found, seen)
    elif kind is dict:
        found += kind, len(value)
        for key, part in value.items():
            add(key, found, seen)
            add(part, found, seen)
    else:
        add_object(value, kind, found, seen)


def add_object(value: Any, kind: type, found: list[Any], seen: dict[int, int]) -> None:
    """Add an object of the package: which it is, and all its attributes."""
    if isinstance(value, np.generic):
        found += value.dtype, value.tobytes()
        return
    if id(value) in seen:
        found.append(seen[id(value)])
        return
    calculates = callable(value) and not (hasattr(kind, "__dataclass_params__") or issubclass(kind, TOLD))
    if not kind.__module__.startswith("index3.") or calculates or not hasattr(value, "__dict__"):
        raise Unknown
    seen[id(value)] = len(seen)
    found += kind, id(value)  # which cannot be that of another one: the system holds what it was made from
    for key, part in vars(value).items():
        if type(part) not in LEFT:
            found.append(key)
            add(part, found, seen)
