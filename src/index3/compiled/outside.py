"""Kernels of modules outside the package: of a user's script, of a module of their own, of another package.

A worker that builds them executes only those statements of the module that its kernels are made from; the rest, such as
a run at the end of a script, is not repeated there.
"""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_files: dict[str, Path] = {}  # of modules that are not loaded here: what a worker was told, and their neighbours


def is_outside(module: str) -> bool:
    """Whether a module is not one of the package."""
    return module.partition(".")[0] != "index3"


def file_of(module: str) -> Path | None:
    """The file of a module outside the package; None if it has none, as in a notebook."""
    if module not in _files:
        from pathlib import Path  # here, since with modules of the package alone there is no need of it

        name = getattr(sys.modules.get(module), "__file__", None)
        if name is None or not Path(name).is_file():
            return None
        _files[module] = Path(name).resolve()
    return _files[module]


def token(module: str) -> str:
    """A module and, if it is outside the package, its file, in one word."""
    return f"{module}@{str(file_of(module)).encode().hex()}" if is_outside(module) else module


def told(token: str) -> str:
    """The module that a token names; its file is remembered."""
    from pathlib import Path

    module, _, file = token.partition("@")
    if file:
        _files[module] = Path(bytes.fromhex(file).decode())
    return module


def folder(module: str) -> Path:
    """Where the top of a module's package is, or the module itself."""
    file = _files[module]
    depth = module.count(".") + (file.name == "__init__.py")
    return file.parents[depth]


def neighbours(module: str, text: str) -> list[str]:
    """The modules of the same folder that a module outside the package imports at its left margin.

    Of a package, or among installed modules, only those of that package: others have versions, and no kernels.
    """
    found, top = [], module.partition(".")[0]
    alone = module != top or folder(module).name in ("site-packages", "dist-packages")
    for statement in ast.parse(text).body:
        for name in (name for name in imported(statement, module) if not alone or name.partition(".")[0] == top):
            path = folder(module).joinpath(*name.split("."))
            for file in (path.with_suffix(".py"), path / "__init__.py"):
                if file.is_file():
                    _files.setdefault(name, file)
                    found.append(name)
    return found


def imported(statement: ast.stmt, module: str) -> Iterator[str]:
    """Names of modules that a statement may import."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        base = statement.module or ""
        if statement.level:
            parts = [*module.split("."), *(["__init__"] if _files[module].name == "__init__.py" else [])]
            base = ".".join([*parts[: -statement.level], *filter(None, [base])])
        if base:
            yield base
        yield from (f"{base}.{alias.name}".lstrip(".") for alias in statement.names)


@functools.cache
def load(module: str) -> Any:
    """A module with kernels; of one outside the package only what they are made from is executed."""
    if not is_outside(module):
        return importlib.import_module(module)
    file = _files[module]
    if str(folder(module)) not in sys.path:
        sys.path.append(str(folder(module)))
    tree = ast.parse(file.read_text("utf-8"))
    made = ModuleType(module)
    made.__file__ = str(file)
    made.__package__ = module.rpartition(".")[0]
    kernels = [x.name for x in tree.body if isinstance(x, ast.FunctionDef) and any(map(is_kernel, x.decorator_list))]
    code = compile(ast.Module(needed(tree, kernels), []), str(file), "exec")
    exec(code, made.__dict__)
    return made


def is_kernel(decorator: ast.expr) -> bool:
    """Whether a decorator declares a kernel."""
    return getattr(decorator, "id", getattr(decorator, "attr", "")) == "kernel"


def needed(tree: ast.Module, names: Iterable[str]) -> list[ast.stmt]:
    """The statements of a module that some of its names are made from, in order."""
    binding = defaultdict(list)
    for k, statement in enumerate(tree.body):
        for name in bound(statement):
            binding[name].append(k)
    taken, queue = set(binding["*"]), list(names)
    while queue:
        for k in binding.pop(queue.pop(), []):
            taken.add(k)
            queue += [node.id for node in ast.walk(tree.body[k]) if isinstance(node, ast.Name)]
    return [tree.body[k] for k in sorted(taken)]


def bound(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a meaning; "*" for one that is always wanted."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.ImportFrom) and (statement.module == "__future__" or statement.names[0].name == "*"):
        return {"*"}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
