"""Functions of users that Numba has compiled, kept on disk: found by all that their code follows from.

Numba takes seconds for a function, at every first use in a process. What it makes follows from the function's bytecode,
the values that this sees (closures, globals, other functions of Numba), and what it is compiled with and for. Where one
of these values cannot be told by its content, the function is not kept.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pickle
import re
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from index3.compiled import cache, sources, store, target

VERSIONED = ("builtins", "math", "cmath", "numpy", "numba")
"""Modules whose functions follow from versions that are part of every digest."""

READ = re.compile(r'load ptr, ptr @"?(_ZN08NumbaEnv[^",\s]+)')


class Unknown(Exception):
    """A value that cannot be told by its content."""


class Loaded(NamedTuple):
    """A function from the disk: its address, what Numba calls the type that it returns, and the owner of its code."""

    address: int
    returned: str
    owner: Any


def digest(function: Any, *form: Any) -> str | None:
    """What stands for a function of Numba called in one form; None if it cannot be kept."""
    try:
        told = described(function, (), {})
    except Unknown:
        return None
    content = repr((told, form, compiled_with())) + sources.text("index3.compiled.callbacks")
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def compiled_with() -> tuple[Any, ...]:
    """Versions, settings and the machine, for which Numba compiles functions of users."""
    import llvmlite.binding as llvm

    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    versions = sys.implementation.cache_tag, np.__version__, target.version("numba"), target.version("llvmlite")
    features = llvm.get_host_cpu_features().flatten()
    return versions, settings, llvm.get_default_triple(), llvm.get_host_cpu_name(), features


def described(value: Any, names: Iterable[str], seen: dict[int, int]) -> Any:
    """A value as nested tuples of strings and numbers; of a module, what code that uses `names` may see of it."""
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return type(value).__name__, repr(value)
    if type(value) is tuple:
        return "tuple", *(described(part, names, seen) for part in value)
    if type(value) is frozenset:  # in no certain order
        return "set", *sorted(repr(described(part, names, seen)) for part in value)
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        layout = np.asarray(value).flags
        return "array", str(value.dtype.descr), value.shape, layout.c_contiguous, value.tobytes().hex()
    if id(value) in seen:
        return "again", seen[id(value)]
    seen[id(value)] = len(seen)
    if isinstance(value, ModuleType):
        return described_module(value, names, seen)
    if isinstance(value, CodeType):
        return described_code(value, seen)
    if isinstance(value, np.ufunc):
        return "ufunc", value.__name__
    if hasattr(value, "py_func") and hasattr(value, "targetoptions"):
        given = () if getattr(value, "_can_compile", True) else [str(signature) for signature in value.signatures]
        return "jit", repr(sorted(value.targetoptions.items())), given, described_function(value.py_func, seen)
    if isinstance(value, BuiltinFunctionType | FunctionType | type) and is_versioned(value.__module__ or ""):
        return "named", value.__module__, value.__qualname__
    raise Unknown


def is_versioned(module: str) -> bool:
    """Whether a module changes with versions only."""
    return module.partition(".")[0] in VERSIONED


def described_module(module: ModuleType, names: Iterable[str], seen: dict[int, int]) -> Any:
    """The name of a module and, unless its version says all, what it has under these names."""
    if is_versioned(module.__name__):
        return "module", module.__name__
    parts = [(name, described(getattr(module, name), names, seen)) for name in names if hasattr(module, name)]
    return "module", module.__name__, *parts


def described_code(code: CodeType, seen: dict[int, int]) -> Any:
    """Bytecode, and the constants in it."""
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags
    handlers = getattr(code, "co_exceptiontable", b"")
    constants = [described(value, (), seen) for value in code.co_consts]
    return "code", code.co_code.hex(), handlers.hex(), names, counts, constants


def described_function(function: FunctionType, seen: dict[int, int]) -> Any:
    """A function: its code, its defaults, and the values of other names in it."""
    names = sorted(all_names(function.__code__))
    cells = [described(cell.cell_contents, names, seen) for cell in function.__closure__ or ()]
    outer = function.__globals__
    globals_ = [(name, described(outer[name], names, seen)) for name in names if name in outer]
    defaults = described(function.__defaults__, (), seen)
    return "function", described(function.__code__, (), seen), defaults, cells, globals_


def all_names(code: CodeType) -> set[str]:
    """Names of globals and attributes in code, and in the functions that it makes."""
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*map(all_names, inner))


def file_name(name: str) -> str:
    """The file of a function with this digest."""
    return f"function-{name}.kob"


def keep(name: str, compiled: Any, returned: str) -> None:
    """Write the object of a C function of Numba, unless it holds addresses of this process."""
    import llvmlite.binding as llvm

    from index3.compiled.build import write
    from index3.compiled.emit import OPEN

    text = compiled.inspect_llvm()
    try:
        environments = None if compiled._library.has_dynamic_globals else pickled_environments(text)
    except (ImportError, AttributeError):  # a version of Numba that works otherwise inside: it compiles every time
        return
    if environments is None:
        return
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3,
        reloc="static" if module.triple.startswith("x86_64") else "default", codemodel="jitdefault", jit=True,
    )  # fmt: skip
    needed = sorted({symbol for symbol in OPEN.findall(text) if not symbol.startswith("llvm.")})
    head = json.dumps([compiled.native_name, returned, needed, environments.hex()])
    try:
        write(cache.build_directory() / file_name(name), store.pack(head, machine.emit_object(module)))
    except OSError:  # a full disk: it is compiled anew next time
        return


def pickled_environments(text: str) -> bytes | None:
    """The objects of Python that compiled code reads, to build what it raises; None if they cannot be kept."""
    from numba.core import serialize
    from numba.core.environment import lookup_environment

    names = sorted(set(READ.findall(text)))
    environments = [lookup_environment(name) for name in names]
    if any(one is None or not one.can_cache() for one in environments):
        return None
    return serialize.dumps(dict(zip(names, environments, strict=True)))


def load(name: str) -> Loaded | None:
    """A function that was kept, or None if there is none that can be used."""
    for directory in cache.directories():
        path = directory / file_name(name)
        found = store.unpack(path, trusted=False)
        if found is not None:
            store.note_use(path)
            return link(json.loads(found[0]), found[1])
    return None


def link(head: tuple[str, str, list[str], str], code: bytes) -> Loaded | None:
    """Make an object callable, in an engine of its own: others may have functions of the same names."""
    import llvmlite.binding as llvm
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    symbol, returned, needed, environments = head
    rtsys.initialize(cpu_target.target_context)  # Numba's memory manager
    if not all(llvm.address_of_symbol(other) for other in needed):
        return None
    objects = pickle.loads(bytes.fromhex(environments))  # of a file that only the user can have written
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    for variable, value in objects.items():
        ctypes.c_void_p.from_address(engine.get_global_value_address(variable)).value = id(value)
    return Loaded(engine.get_function_address(symbol), returned, (engine, objects))
