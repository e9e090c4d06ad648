"""Kernel objects: found by the content of their sources, built when missing, loaded without Numba.

One file per kernel module, named by a digest of the module's source and of every source of the package that it imports,
so an edited file is never served from an old object. Files are looked for in the installed package (put there by the
build hook), then in the user's cache, where a miss is built by worker processes.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from index3.errors import Index3Error

INTERFACE = 1  # raise when the meaning of a table or of a kernel's signature changes
PACKAGE = Path(__file__).resolve().parent.parent
INSTALLED = PACKAGE / "kernels"
IMPORTS = re.compile(
    r"^\s*(?:from\s+(index3[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(index3[\w.]*))", re.MULTILINE
)
STUBS = (  # Numba's error paths, never reached by kernels that do not raise
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_unpickle",
    "numba_runtime_build_excinfo_struct",
    "numba_do_raise",
    "NRT_Free",
    "NRT_MemInfo_call_dtor",  # views own nothing: reference counts that are not optimised away meet a null owner
)

_addresses: dict[tuple[str, str], int] = {}
_engines: list[Any] = []  # own the code behind every address


def cache_directory() -> Path:
    """Where objects built on this machine are kept (`INDEX3_CACHE` overrides it)."""
    if "INDEX3_CACHE" in os.environ:
        return Path(os.environ["INDEX3_CACHE"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "index3"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "index3"


@functools.cache
def source(module: str) -> Path | None:
    """The file of a module of this package, or None."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@functools.cache
def _text(path: Path) -> str:
    return path.read_text("utf-8")


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Every module of the package that a module imports, directly or not, itself included."""
    seen: set[str] = set()
    queue = [module]
    while queue:
        name = queue.pop()
        path = source(name)
        if name in seen or path is None:
            continue
        seen.add(name)
        for parent, names, plain in IMPORTS.findall(_text(path)):
            queue.append(parent or plain)
            queue.extend(f"{parent}.{word}" for word in re.findall(r"\w+", names))
    return frozenset(seen)


@functools.cache
def digest(module: str) -> str:
    """What an object of this module must have been made from."""
    content = hashlib.sha256(repr((INTERFACE, sys.platform, platform.machine())).encode())
    for name in sorted(imports(module)):
        path = source(name)
        assert path is not None
        content.update(name.encode() + b"\0" + _text(path).encode() + b"\0")
    return content.hexdigest()[:20]


def forget_sources() -> None:
    """Read the sources anew (a long-lived process whose files were edited)."""
    for memory in (source, _text, imports, digest):
        memory.cache_clear()


def file_name(module: str) -> str:
    """The name of a module's object file."""
    return f"{module.removeprefix('index3.')}-{digest(module)}.kob"


def find(module: str) -> Path | None:
    """The object file of a module, or None if it must be built."""
    for directory in (INSTALLED, cache_directory()):
        path = directory / file_name(module)
        if path.is_file():
            return path
    return None


def kernel_modules() -> list[str]:
    """Every module of the package that declares a kernel."""
    names = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if re.search(r"^@kernel\b", path.read_text("utf-8"), re.MULTILINE):
            names.append(".".join(("index3", *path.relative_to(PACKAGE).with_suffix("").parts)))
    return names


def build(modules: Iterable[str], directory: Path, jobs: int | None = None) -> None:
    """Compile kernel modules into `directory` in worker processes, the long ones first."""
    directory.mkdir(parents=True, exist_ok=True)
    waiting = sorted(modules, key=lambda name: -len(_text(source(name))))  # type: ignore[arg-type]
    environment = {**os.environ, "INDEX3_BUILDING": "1", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    environment["PYTHONPATH"] = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "index3.compiled.build", str(directory)]
    running: list[subprocess.Popen[str]] = []
    jobs = min(jobs or os.cpu_count() or 1, len(waiting))
    share: list[list[str]] = [[] for _ in range(jobs)]
    sizes = [0] * jobs
    for name in waiting:  # the longest-first rule: give each module to the worker with the least source so far
        k = sizes.index(min(sizes))
        share[k].append(name)
        sizes[k] += len(_text(source(name)))  # type: ignore[arg-type]
    for names in share:
        running.append(
            subprocess.Popen(
                [*command, *names], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
    failures = [text for worker in running if (text := _finish(worker))]
    if failures:
        raise Index3Error("Kernels could not be built:\n" + "\n".join(failures))


def _finish(worker: subprocess.Popen[str]) -> str:
    _, errors = worker.communicate()
    return errors if worker.returncode else ""


def prepare(modules: Iterable[str]) -> None:
    """Load the kernels of these modules, building what is missing."""
    wanted = [name for name in dict.fromkeys(modules) if (name, "") not in _addresses]
    if not wanted:
        return
    missing = [name for name in wanted if find(name) is None]
    if missing:
        start = time.perf_counter()
        print(
            f"index3: building {len(missing)} kernel modules (once for these sources) ...", file=sys.stderr, flush=True
        )
        build(missing, cache_directory())
        print(f"index3: kernels built in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    _load({name: find(name) for name in wanted})


def address(module: str, name: str) -> int:
    """The address of one kernel, its module built and loaded if need be."""
    prepare([module])
    return _addresses[module, name]


def _load(files: dict[str, Path | None]) -> None:
    import llvmlite.binding as llvm

    if not _engines:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        abort = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
        for symbol in STUBS:
            llvm.add_symbol(symbol, abort)
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    symbols: dict[tuple[str, str], str] = {}
    for module, path in files.items():
        assert path is not None
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        head, body = json.loads(data[8 : 8 + length]), data[8 + length :]
        for name, (symbol, first, size) in head.items():
            engine.add_object_file(llvm.ObjectFileRef.from_data(body[first : first + size]))
            symbols[module, name] = symbol
    engine.finalize_object()
    _engines.append(engine)
    for key, symbol in symbols.items():
        _addresses[key] = engine.get_function_address(symbol)
    for module in files:
        _addresses[module, ""] = 0
