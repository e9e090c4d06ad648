"""The system of a model that was compiled before and has not changed since.

A model counts as unchanged if it holds the same elements, with numbers, words and arrays equal to the last bit. So does
a function of the user: the same one, if all that it reads beside its arguments (defaults, variables around it, globals,
functions that it calls) is told by numbers, words and arrays, equal to the last bit. What cannot be compared so,
objects of users and elements of other packages, lets the model be compiled anew each time.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType, NoneType
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
"""Functions that are told by their attributes, as dataclasses are; those of a class with `told` by these alone."""
CONSTANT = frozenset([np.ufunc, BuiltinFunctionType, CodeType])
"""What a function may read that nobody changes."""
MODULES = frozenset(["math", "cmath", "numpy"])
"""Modules that functions may read from, as nobody changes what is in them."""


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
    """Add an object of the package: which it is, and all its attributes; or a function or a sparse matrix."""
    if isinstance(value, np.generic):
        found += value.dtype, value.tobytes()
        return
    if id(value) in seen:
        found.append(seen[id(value)])
        return
    seen[id(value)] = len(seen)
    if kind is FunctionType:
        add_function(value, found, seen)
        return
    if kind is MethodType:
        found.append(value.__func__)
        add(value.__self__, found, seen)
        return
    if kind.__module__.startswith("scipy.sparse.") and getattr(value, "format", "") in ("csc", "csr"):
        found.append(kind)
        for part in (value.shape, value.indptr, value.indices, value.data):
            add(part, found, seen)
        return
    told: tuple[str, ...] | None = vars(kind).get("told")
    calculates = callable(value) and not (hasattr(kind, "__dataclass_params__") or issubclass(kind, TOLD) or told)
    if not kind.__module__.startswith("index3.") or calculates or not hasattr(value, "__dict__"):
        raise Unknown
    found += kind, id(value)  # which cannot be that of another one: the system holds what it was made from
    for key, part in vars(value).items():
        if type(part) not in LEFT and (told is None or key in told):
            found.append(key)
            add(part, found, seen)


def add_function(function: FunctionType, found: list[Any], seen: dict[int, int]) -> None:
    """Add a function of Python: which it is, its code, and all that it reads beside its arguments.

    Raises
    ------
    Unknown : it reads something that cannot be compared.
    """
    found += function, function.__code__  # kept: no other function can come to have its id
    own = function.__defaults__, function.__kwdefaults__, vars(function)
    for part in (*own, *(cell_content(cell) for cell in function.__closure__ or ())):
        add(part, found, seen)
    for name in sorted(names_in(function.__code__)):
        if name in function.__globals__:
            found.append(name)
            add_global(function.__globals__[name], found, seen)


def cell_content(cell: Any) -> Any:
    """What a variable around a function holds.

    Raises
    ------
    Unknown : nothing yet.
    """
    try:
        return cell.cell_contents
    except ValueError:
        raise Unknown from None


def add_global(value: Any, found: list[Any], seen: dict[int, int]) -> None:
    """Add what a function reads by its name."""
    if type(value) is ModuleType:
        if value.__name__ not in MODULES:
            raise Unknown
        found.append(value.__name__)
    elif type(value) in CONSTANT:
        found.append(value)
    else:
        add(value, found, seen)


def names_in(code: CodeType) -> set[str]:
    """The names that a code and those inside it may read: globals, and attributes among them."""
    inner = (names_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)
