"""Kernel objects: found by the content of their sources, built when missing, loaded without Numba.

One file per kernel, named by a digest of its module's source and of every source of the package that it imports, so an
edited file is never served from an old object. A file begins with a digest of the rest of it, so a damaged one is never
loaded. Files are looked for in the installed package (put there by the build hook), then in the user's cache, where a
miss is built by worker processes. A kernel's key is (module, name).
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import hashlib
import json
import os
import platform
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from index3.compiled.notice import Notice
from index3.errors import Index3Error

INTERFACE = 2  # raise when the meaning of a table or of a kernel's signature changes
PACKAGE = Path(__file__).resolve().parent.parent
INSTALLED = PACKAGE / "kernels"
IMPORTS = re.compile(  # at the left margin: what functions and type checkers import reaches no kernel
    r"^(?:from\s+(index3[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(index3[\w.]*))", re.MULTILINE
)
COMPILER = "index3.compiled.intrinsics"  # imported by none of them, but part of every kernel that is built
STUBS = (  # Numba's error paths, never reached by kernels that do not raise
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_unpickle",
    "numba_runtime_build_excinfo_struct",
    "numba_do_raise",
    "NRT_Free",
    "NRT_MemInfo_call_dtor",  # views own nothing: reference counts that are not optimised away meet a null owner
)

DECLARED = re.compile(r"^@kernel\b[^\n]*\n(?:@[^\n]*\n)*def (\w+)", re.MULTILINE)
UNUSED = 30 * 86400.0  # seconds after which an object of sources that are gone is removed from the cache

Key = tuple[str, str]
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


@functools.cache
def source(module: str) -> Path | None:
    """The file of a module of this package, or None."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@functools.cache
def text(module: str) -> str:
    """The source of a module of this package."""
    path = source(module)
    assert path is not None
    return path.read_text("utf-8")


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Every module of the package that the kernels of a module are made from, itself included."""
    seen: set[str] = set()
    queue = [module, COMPILER]
    while queue:
        name = queue.pop()
        if name in seen or source(name) is None:
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
    """Read the sources anew (a long-lived process whose files were edited); workers know only the old ones."""
    dismiss()
    for memory in (source, text, imports, digest):
        memory.cache_clear()


def file_name(module: str, name: str) -> str:
    """The name of a kernel's object file."""
    return f"{module.removeprefix('index3.')}.{name}-{digest(module)}.kob"


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


def build(
    keys: Iterable[Key], directory: Path, jobs: int | None = None, report: Callable[[str], None] = lambda name: None
) -> None:
    """Compile kernels into `directory` in worker processes; `report` gets each one done.

    A worker is handed the kernels of one module at a time, which share helpers; large modules first.

    Raises
    ------
    Index3Error : a kernel cannot be compiled, or must not be; the message names it.
    """
    from concurrent.futures import ThreadPoolExecutor

    directory.mkdir(parents=True, exist_ok=True)
    names: dict[str, list[str]] = {}
    for module, name in keys:
        names.setdefault(module, []).append(name)
    waiting = deque((module, names[module]) for module in sorted(names, key=lambda name: -len(text(name))))
    jobs = min(jobs or os.cpu_count() or 1, len(waiting))
    with ThreadPoolExecutor(jobs) as pool:
        try:
            failures = list(filter(None, pool.map(lambda _: _employ(waiting, directory, report), range(jobs))))
        finally:
            waiting.clear()  # an interrupt: the workers end with what they have in hand
    if failures:
        raise Index3Error(f"Kernels could not be built:\n{failures[0]}")


class Worker:
    """A process that compiles kernels into a directory; what it has compiled once, helpers too, it keeps in mind."""

    def __init__(self, directory: Path) -> None:
        import subprocess  # imported here and below: only a miss needs them, and they take 0.02 s
        import tempfile

        environment = {**os.environ, "INDEX3_BUILDING": "1", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        command = [sys.executable, "-m", "index3.compiled.build", str(directory), "-"]
        pipe = subprocess.PIPE
        self.directory = directory
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by `end`)
        self.process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, stderr=self.errors, text=True
        )

    def make(self, module: str, names: list[str], report: Callable[[str], None]) -> bool:
        """Have kernels of one module built; False if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(" ".join((module, *names)) + "\n")
            self.process.stdin.flush()
        except OSError:
            return False
        for _ in names:
            done = self.process.stdout.readline()
            if not done:
                return False
            report(done.strip())
        return True

    def end(self) -> str:
        """Let the process end; what it says if it failed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self.errors:
            with contextlib.suppress(OSError):  # it may be gone already
                self.process.stdin.close()
            code = self.process.wait()
            self.process.stdout.close()
            if not code:
                return ""
            self.errors.seek(0)
            return self.errors.read() or f"A worker ended with code {code}."


_idle: list[Worker] = []  # workers that may be given more


def _employ(waiting: deque[tuple[str, list[str]]], directory: Path, report: Callable[[str], None]) -> str:
    """Hand modules to one worker, one at a time, until none is left; returns what it says if it fails."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = Worker(directory)
    if worker.directory != directory:
        worker.end()
        worker = Worker(directory)
    done = False
    try:
        while waiting:
            try:
                module, names = waiting.popleft()
            except IndexError:  # another worker took the last module
                break
            if not worker.make(module, names, report):
                waiting.clear()
                return worker.end() or "A worker ended before its kernels were built."
        done = True
    finally:
        if done:
            _idle.append(worker)
        elif not worker.errors.closed:
            worker.end()
    return ""


@atexit.register
def dismiss() -> None:
    """Let idle workers go. Whoever has all the kernels it needs says so; else they end with this process."""
    while _idle:
        _idle.pop().end()


def prune(directory: Path) -> None:
    """Remove objects that no present source would give and that were not loaded for a month."""
    import time

    present = {file_name(*key) for key in kernels(kernel_modules())}
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
            build(missing, directory, report=notice.report)
            prune(directory)
            notice.finish()
        if wanted:
            _load(wanted)


def is_loaded(module: str, name: str) -> bool:
    """Whether a kernel has an address in this process."""
    return (module, name) in _addresses


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
