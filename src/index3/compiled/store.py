"""Kernel objects: found by the content of their sources, built when missing, loaded without Numba.

One file per kernel, named by a digest of its module's source and of every source of the package that it imports, so an
edited file is never served from an old object. A file begins with a digest of the rest of it, so a damaged one is never
loaded. Files are looked for in the installed package (put there by the build hook), then in the user's cache, where a
miss is built by worker processes (`crew`). A kernel's key is (module, name).
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from index3.compiled import crew, sources
from index3.compiled.notice import Notice
from index3.compiled.sources import PACKAGE, Key
from index3.errors import Index3Error

INSTALLED = PACKAGE / "kernels"
STUBS = (  # Numba's error paths, never reached by kernels that do not raise
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_unpickle",
    "numba_runtime_build_excinfo_struct",
    "numba_do_raise",
    "NRT_Free",
    "NRT_MemInfo_call_dtor",  # views own nothing: reference counts that are not optimised away meet a null owner
)
UNUSED = 30 * 86400.0  # seconds after which an object of sources that are gone is removed from the cache

_addresses: dict[Key, int] = {}
_engines: list[Any] = []  # own the code behind every address
_temporary: list[Path] = []  # where objects go if the cache cannot be written
_lock = threading.Lock()


def cache_directory() -> Path:
    """Where objects built on this machine are kept (`INDEX3_CACHE` overrides it)."""
    if "INDEX3_CACHE" in os.environ:
        return Path(os.environ["INDEX3_CACHE"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "index3"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "index3"


def file_name(module: str, name: str) -> str:
    """The name of a kernel's object file."""
    return f"{module.removeprefix('index3.')}.{name}-{sources.digest(module)}.kob"


def find(module: str, name: str) -> Path | None:
    """The intact object file of a kernel, or None if it must be built."""
    for directory in (INSTALLED, cache_directory(), *_temporary):
        path = directory / file_name(module, name)
        if unpack(path) is not None:
            return path
    return None


def pack(symbol: str, code: bytes) -> bytes:
    """The content of an object file: the kernel's symbol and its object code."""
    content = json.dumps(symbol).encode() + b"\n" + code
    return hashlib.sha256(content).digest() + content


def unpack(path: Path) -> tuple[str, bytes] | None:
    """Symbol and code packed into a file; None if there is no such file, or it is not what was once written."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    check, content = data[:32], data[32:]
    if hashlib.sha256(content).digest() != check:
        return None
    head, _, code = content.partition(b"\n")
    return json.loads(head), code


def prune(directory: Path) -> None:
    """Remove objects that no present source would give and that were not loaded for a month."""
    import time

    present = {file_name(*key) for key in sources.kernels(sources.kernel_modules())}
    for path in directory.glob("*.kob"):
        try:
            if path.name not in present and time.time() - path.stat().st_mtime > UNUSED:
                path.unlink()
        except OSError:  # someone else has removed it
            continue


def build_directory() -> Path:
    """Where a miss is stored: the user's cache or, if that cannot be written, a directory for this process only."""
    import shutil
    import tempfile

    directory = cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError as problem:
        if not _temporary:
            _temporary.append(Path(tempfile.mkdtemp(prefix="index3-")))
            atexit.register(shutil.rmtree, _temporary[0], ignore_errors=True)
            print(
                f"index3: kernels cannot be stored in {directory} ({problem.strerror}) and are kept for this process "
                "only. Set INDEX3_CACHE to a folder that can be written.",
                file=sys.stderr,
            )
        return _temporary[0]


def prepare(keys: Iterable[Key]) -> None:
    """Load these kernels, building what is missing or damaged.

    Raises
    ------
    Index3Error : kernels cannot be built.
    """
    with _lock:
        wanted = [key for key in dict.fromkeys(keys) if key not in _addresses]
        missing = [key for key in wanted if find(*key) is None]
        if missing:
            notice = Notice(len(missing))
            directory = build_directory()
            crew.build(missing, directory, report=notice.report)
            prune(directory)
            notice.finish()
        if wanted:
            _load(wanted)


def is_loaded(module: str, name: str) -> bool:
    """Whether a kernel has an address in this process."""
    return (module, name) in _addresses


def loaded_addresses() -> list[int]:
    """The addresses of all kernels of this process."""
    return list(_addresses.values())


def address(module: str, name: str) -> int:
    """The address of one kernel, built and loaded if need be."""
    prepare([(module, name)])
    return _addresses[module, name]


@ctypes.CFUNCTYPE(None)
def _stop() -> None:
    """Stands for what kernels never reach; there is no way back from there."""
    os.abort()


def _load(keys: list[Key]) -> None:
    import llvmlite.binding as llvm

    if not _engines:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for symbol in STUBS:
            llvm.add_symbol(symbol, ctypes.cast(_stop, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    symbols: dict[Key, str] = {}
    for key in keys:
        path = find(*key)
        found = None if path is None else unpack(path)
        if path is None or found is None:
            raise Index3Error(
                f"Kernel {'.'.join(key)} was built but cannot be read. Is {cache_directory()} being cleared?"
            )
        symbols[key], code = found
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        _note_use(path)
    engine.finalize_object()
    _engines.append(engine)
    for key, symbol in symbols.items():
        _addresses[key] = engine.get_function_address(symbol)


def _note_use(path: Path) -> None:
    """Let the time of an object in the cache say when it was last loaded, to the day."""
    import time

    try:
        if path.parent != INSTALLED and time.time() - path.stat().st_mtime > 86400.0:
            os.utime(path)
    except OSError:  # a cache that cannot be written serves as well
        pass
