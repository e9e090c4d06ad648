"""The sources that kernels are made from: which modules declare kernels, and what an object's digest stands for.

A kernel's key is (module, name).
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from index3.compiled import outside, target
from index3.errors import Index3Error

INTERFACE = 2  # raise when the meaning of a table or of a kernel's signature changes
PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
IMPORTS = (  # at the left margin: what functions and type checkers import reaches no kernel
    r"(?m)^(?:from\s+(index3[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(index3[\w.]*))"
)
COMPILER = tuple(  # imported by none of them, but part of every kernel that is built
    f"index3.compiled.{name}" for name in ("emit", "intrinsics", "frontend", "indexing")
)
DECLARED = r"(?m)^@kernel\b[^\n]*\n(?:@[^\n]*\n)*def (\w+)"

Key = tuple[str, str]
Stamp = tuple[int, int, int, int]
Answer = TypeVar("Answer")
_memories: list[functools._lru_cache_wrapper[Any]] = []  # of what follows from the sources
_stamps: dict[str, Stamp] = {}  # of every file that was read, taken before
_folders: dict[str, Stamp | None] = {}  # where files were looked for, and their stamps before; None: there was none


def until_forgotten(function: Callable[..., Answer]) -> functools._lru_cache_wrapper[Answer]:
    """Let a function be asked once for each argument, until the sources are to be read anew."""
    _memories.append(functools.cache(function))
    return _memories[-1]


def stamp(path: str) -> Stamp:
    """What the file system says of a file or folder, which changes with its content: size, times, number."""
    info = os.stat(path)
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino


def look_in(folder: str) -> None:
    """Note the stamp of a folder before files are looked for in it."""
    if folder not in _folders:
        _folders[folder] = stamp(folder) if os.path.isdir(folder) else None


@until_forgotten
def source(module: str) -> str | None:
    """The file of a module, or None if it has none that kernels are made from."""
    if outside.is_outside(module):
        file = outside.file_of(module)
        return None if file is None else str(file)
    path = os.path.join(PACKAGE, *module.split(".")[1:])
    for candidate in (f"{path}.py", os.path.join(path, "__init__.py")):
        look_in(os.path.dirname(candidate))
        if os.path.isfile(candidate):
            return candidate
    return None


@until_forgotten
def text(module: str) -> str:
    """The source of a module."""
    path = source(module)
    if path is None:
        raise Index3Error(
            f"Module {module} has kernels, but no source file to build them from. Put them into a .py file and "
            "import that."
        )
    if not outside.is_outside(module):
        _stamps[path] = stamp(path)  # before it is read: an edit in between makes it another file
    with open(path, encoding="utf-8") as file:
        return file.read()


@until_forgotten
def imports(module: str) -> frozenset[str]:
    """Every module that the kernels of a module are made from, itself included: of the package, or beside it."""
    text(module)  # raises if there is none
    seen: set[str] = set()
    queue = [module, *COMPILER]
    while queue:
        name = queue.pop()
        if name in seen or source(name) is None:
            continue
        seen.add(name)
        for parent, names, plain in re.findall(IMPORTS, text(name)):
            queue.append(parent or plain)
            queue.extend(f"{parent}.{word}" for word in re.findall(r"\w+", names))
        if outside.is_outside(name):
            queue.extend(outside.neighbours(name, text(name)))
    return frozenset(seen)


@until_forgotten
def digest(module: str, way: str = target.QUICK) -> str:
    """What an object of this module must have been made from: sources, versions, settings and machine."""
    import hashlib  # takes 2 % of a start, which knows the digests from before

    content = hashlib.sha256(repr((INTERFACE, target.description(way))).encode())
    for name in sorted(imports(module)):
        content.update(name.encode() + b"\0" + text(name).encode() + b"\0")
    return content.hexdigest()[:20]


@until_forgotten
def words(module: str, pattern: re.Pattern[str]) -> frozenset[str]:
    """Every word that a pattern finds in the sources that the kernels of a module are made from."""
    return frozenset(word for name in imports(module) for word in pattern.findall(text(name)))


def seen() -> dict[str, Stamp]:
    """The stamps of all files of the package that were read, and of all folders in which they were looked for."""
    return {**{folder: taken for folder, taken in _folders.items() if taken is not None}, **_stamps}


def forget_sources() -> None:
    """Read the sources anew, in a long-lived process whose files were edited."""
    for memory in _memories:
        memory.cache_clear()
    _stamps.clear()
    _folders.clear()


def kernel_modules() -> list[str]:
    """Every module of the package that declares a kernel."""
    names = []
    from pathlib import Path  # takes 3 % of a start, and only who builds all asks

    for path in sorted(Path(PACKAGE).rglob("*.py")):
        if re.search(DECLARED, path.read_text("utf-8")):
            names.append(".".join(("index3", *path.relative_to(PACKAGE).with_suffix("").parts)))
    return names


def kernels(modules: Iterable[str]) -> list[Key]:
    """Every kernel that these modules declare."""
    return [(module, name) for module in modules for name in dict.fromkeys(re.findall(DECLARED, text(module)))]
