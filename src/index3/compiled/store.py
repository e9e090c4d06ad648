"""Kernel objects: found by the content of their sources, built when missing, loaded without Numba.

One file per kernel, named by a digest of its module's source, of every source of the package that it imports, and of
what it was compiled with and for (`target`), so an edited file is never served from an old object. A file begins with a
checksum of the rest of it, so a damaged one is never loaded. Files are looked for in the installed package (put there
by the build hook, and trusted as its sources are), then in the user's cache (`cache`), where a miss is built by worker
processes (`workers`). A kernel's key is (module, name).
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from index3.compiled import cache, loading, memory, sources, target
from index3.compiled.cache import cache_directory
from index3.compiled.notice import Notice, say
from index3.compiled.sources import PACKAGE, Key
from index3.errors import Index3Error

if TYPE_CHECKING:
    from pathlib import Path

INSTALLED = os.path.join(PACKAGE, "kernels")
STUBS = (  # Numba's error paths, never reached by kernels that do not raise
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_unpickle",
    "numba_runtime_build_excinfo_struct",
    "numba_do_raise",
    "NRT_Free",
    "NRT_MemInfo_call_dtor",  # views own nothing: reference counts that are not optimised away meet a null owner
)
CHECK = 16  # bytes of the checksum that a file begins with
UNUSED = 30 * 86400.0  # seconds after which an object of sources that are gone is removed from the cache

_addresses: dict[Key, int] = {}
_engines: list[Any] = []  # own the code behind every address
_held: dict[Key, bytes] = {}  # objects of this process that could be written nowhere
_lock = threading.Lock()


class Stored(NamedTuple):
    """A kernel's object: where it lies, None if in memory alone; its symbol and code."""

    path: str | None
    symbol: str
    code: bytes


def file_name(module: str, name: str, way: str = target.QUICK, digest: Callable[[str, str], str] | None = None) -> str:
    """The name of a kernel's object file, built in one way; the digest may be one that is remembered."""
    return f"{module.removeprefix('index3.')}.{name}-{(digest or sources.digest)(module, way)}.kob"


def read(module: str, name: str) -> Stored | None:
    """The intact object of a kernel, or None if it must be built."""
    for way in target.ways():
        file = file_name(module, name, way, memory.digest)
        for directory in folders():
            path = os.path.join(directory, file)
            found = unpack(path, trusted=directory == INSTALLED)
            if found is not None and belongs(found[0], module, name):
                return Stored(path, *found)
    held = opened(_held.get((module, name)))
    return None if held is None else Stored(None, *held)


def folders() -> Iterator[str]:
    """Where objects are looked for, one after the other."""
    yield INSTALLED
    yield from cache.folders()


def belongs(symbol: str, module: str, name: str) -> bool:
    """Whether a symbol, as Numba forms it, is that of a kernel: a file may lie under the name of another."""
    parts = (*module.split("."), name)
    return not all(part.isascii() for part in parts) or "".join(f"{len(part)}{part}" for part in parts) in symbol


def find(module: str, name: str) -> Path | None:
    """The intact object file of a kernel, or None if there is none."""
    from pathlib import Path

    found = read(module, name)
    return None if found is None or found.path is None else Path(found.path)


def pack(symbol: str, code: bytes) -> bytes:
    """The content of an object file: the kernel's symbol and its object code."""
    import json

    content = json.dumps(symbol).encode() + b"\n" + code
    return cache.checksum(content) + content


def unpack(path: str | Path, trusted: bool = True) -> tuple[str, bytes] | None:
    """Symbol and code packed into a file; None if there is no such file, or it is not what was once written.

    A file that is not trusted must be the user's own, in a folder of the user's own.
    """
    try:
        if not trusted:
            return opened(cache.read_private(path))
        handle = os.open(path, os.O_RDONLY | cache.BINARY)  # as below, in half the time that `open` takes
        try:
            return opened(os.read(handle, os.fstat(handle).st_size))
        finally:
            os.close(handle)
    except OSError:
        return None


def opened(data: bytes | None) -> tuple[str, bytes] | None:
    """Symbol and code out of what `pack` made of them; None if it is something else."""
    if data is None:
        return None
    if cache.checksum(memoryview(data)[CHECK:]) != data[:CHECK]:
        return None
    line = data.find(b"\n", CHECK)
    head, code = data[CHECK:line], data[line + 1 :]
    if b"\\" in head or not head.isascii():
        import json

        return json.loads(head), code
    return head[1:-1].decode(), code  # plain text in quotes, as all kernels have: the module json takes its time


def prune(directory: Path) -> None:
    """Remove objects that no present source would give and that were not loaded for a month."""
    import time

    keys = sources.kernels(sources.kernel_modules())
    present = {file_name(*key, way) for key in keys for way in (target.QUICK, target.STANDARD)}
    for path in directory.glob("*.kob"):
        try:
            if path.name not in present and time.time() - path.stat().st_mtime > UNUSED:
                path.unlink()
        except OSError:  # someone else has removed it
            continue


def prepare(keys: Iterable[Key]) -> None:
    """Load these kernels, building what is missing or damaged.

    Raises
    ------
    Index3Error : kernels cannot be built.
    """
    with _lock:
        wanted = {key: read(*key) for key in dict.fromkeys(keys) if key not in _addresses}
        missing = [key for key, found in wanted.items() if found is None]
        if missing:
            _build(missing)
            wanted.update((key, read(*key)) for key in missing)
        if wanted:
            _load(wanted)
            memory.save()


def _build(missing: list[Key]) -> None:
    """Build kernels into the user's cache; if nothing can be stored anywhere, for this process alone."""
    from index3.compiled import workers  # here, as below: with all kernels in place there is no work for them

    notice = Notice(len(missing))
    try:
        _store(missing, notice)
    except cache.NotWritable as problem:
        if not _held:
            say(f"{problem} Until then each process rebuilds its kernels.")
        rest = {".".join(key): key for key in missing if find(*key) is None}
        objects = workers.build(rest.values(), None, report=notice.report)
        _held.update((rest[name], content) for name, content in objects.items())
    notice.finish()


def _store(missing: list[Key], notice: Notice) -> None:
    """Build kernels into the user's cache or, if it is full, into a folder for this process.

    Raises
    ------
    NotWritable : neither can be written.
    """
    from index3.compiled import workers

    directory = cache.build_directory()
    try:
        workers.build(missing, directory, report=notice.report)
    except workers.NotStored as problem:
        spare = cache.temporary_directory(f"in {directory}", str(problem))
        try:
            workers.build([key for key in missing if find(*key) is None], spare, report=notice.report)
        except workers.NotStored as second:
            raise cache.not_writable(f"in {directory}", str(problem), f"{spare} ({second})") from None
    prune(directory)


def stop_idle_workers() -> None:
    """End idle workers, if there ever were some: all kernels that are known to be needed are there."""
    workers = sys.modules.get("index3.compiled.workers")
    if workers is not None:
        workers.stop_idle()


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


def _load(objects: Mapping[Key, Stored | None]) -> None:
    """Give kernels addresses."""
    found = []
    for key, one in objects.items():
        if one is None:
            raise Index3Error(
                f"Kernel {'.'.join(key)} was built but cannot be read. Was a source edited meanwhile, or "
                f"{cache_directory()} cleared? Run again."
            )
        found.append((one.symbol, one.code))
        if one.path is not None:
            note_use(one.path)
    addresses = loading.load(found, dict.fromkeys(STUBS, ctypes.cast(_stop, ctypes.c_void_p).value or 0))
    _addresses.update(zip(objects, addresses or _load_by_llvm(found), strict=True))


def _load_by_llvm(objects: Iterable[tuple[str, bytes]]) -> list[int]:
    """The addresses of functions, one in each object, given by name and code."""
    import llvmlite.binding as llvm

    if not _engines:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for symbol in STUBS:
            if not llvm.address_of_symbol(symbol):  # Numba's own serve functions of users
                llvm.add_symbol(symbol, ctypes.cast(_stop, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    symbols = []
    for symbol, code in objects:
        symbols.append(symbol)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return [engine.get_function_address(symbol) for symbol in symbols]


def note_use(path: str | Path) -> None:
    """Let the time of an object in the cache say when it was last loaded, to the day."""
    import time

    try:
        if os.path.dirname(path) != INSTALLED and time.time() - os.stat(path).st_mtime > 86400.0:
            os.utime(path)
    except OSError:  # a cache that cannot be written serves as well
        pass
