"""The sources that kernels are made from: which modules declare kernels, and what an object's digest stands for.

A kernel's key is (module, name). Modules outside the package may declare kernels too, once they are imported; those of
their imports count as sources that lie in the same folder or package.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from index3.errors import Index3Error

INTERFACE = 2  # raise when the meaning of a table or of a kernel's signature changes
PACKAGE = Path(__file__).resolve().parent.parent
IMPORTS = re.compile(  # at the left margin: what functions and type checkers import reaches no kernel
    r"^(?:from\s+(\w[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(\w[\w.]*))", re.MULTILINE
)
COMPILER = "index3.compiled.intrinsics"  # imported by none of them, but part of every kernel that is built
DECLARED = re.compile(r"^@kernel\b[^\n]*\n(?:@[^\n]*\n)*def (\w+)", re.MULTILINE)

Key = tuple[str, str]


@functools.cache
def source(module: str) -> Path | None:
    """The file of a module of this package, or of one outside that is imported; or None."""
    if top(module) != "index3":
        file = getattr(sys.modules.get(module), "__file__", None)
        return Path(file).resolve() if file and file.endswith(".py") else None
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@functools.cache
def text(module: str) -> str:
    """The source of a module."""
    path = source(module)
    assert path is not None
    return path.read_text("utf-8")


def top(module: str) -> str:
    """The first part of a module's name."""
    return module.partition(".")[0]


def folder(module: str) -> Path:
    """The folder in which a module with kernels is to be looked for.

    Raises
    ------
    Index3Error : the module cannot be imported by another process.
    """
    path = source(module)
    if module == "__main__" or path is None:
        raise Index3Error(
            f"The kernels of '{module}' cannot be built: no other process can import that module. Put them in a file "
            "of their own, which the script imports."
        )
    return path.parents[module.count(".") + (path.stem == "__init__")]


def belongs(name: str, module: str) -> bool:
    """Whether a module counts among the sources of another one that imports it."""
    if "index3" in (top(name), top(module)):
        return top(name) == "index3"
    file, other = source(name), source(module)
    return file is not None and other is not None and (top(name) == top(module) or file.parent == other.parent)


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Every module that the kernels of a module are made from, itself included."""
    seen: set[str] = set()
    queue = [module, COMPILER]
    while queue:
        name = queue.pop()
        if name in seen or not belongs(name, module) or source(name) is None:
            continue
        seen.add(name)
        for parent, names, plain in IMPORTS.findall(text(name)):
            queue.append(parent or plain)
            queue.extend(f"{parent}.{word}" for word in re.findall(r"\w+", names))
    return frozenset(seen)


@functools.cache
def digest(module: str) -> str:
    """What an object of this module must have been made from."""
    content = hashlib.sha256(repr((INTERFACE, sys.platform, platform.machine())).encode())
    for name in sorted(imports(module)):
        content.update(name.encode() + b"\0" + text(name).encode() + b"\0")
    return content.hexdigest()[:20]


def forget_sources() -> None:
    """Read the sources anew, in a long-lived process whose files were edited."""
    for memory in (source, text, imports, digest):
        memory.cache_clear()


def kernel_modules() -> list[str]:
    """Every module of the package that declares a kernel."""
    names = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if DECLARED.search(path.read_text("utf-8")):
            names.append(".".join(("index3", *path.relative_to(PACKAGE).with_suffix("").parts)))
    return names


def kernels(modules: Iterable[str]) -> list[Key]:
    """Every kernel that these modules declare."""
    return [(module, name) for module in modules for name in dict.fromkeys(DECLARED.findall(text(module)))]
