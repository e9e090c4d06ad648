"""Compile kernels into object files; run by the workers of `workers` and by the package's build hook."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from index3.compiled import outside, sources, store, target, workers
from index3.compiled.interface import BUILDING


def build_kernel(module: str, name: str, directory: Path | None) -> bytes:
    """Write the object file of one kernel, which appears whole or not at all; without a directory, its content."""
    from index3.compiled.emit import compile_kernel

    content = store.pack(*compile_kernel(getattr(outside.load(module), name)))
    if directory is None:
        return content
    try:
        write(directory / store.file_name(module, name, target.ways()[0]), content)
    except OSError as problem:
        raise workers.NotStored(problem.strerror or str(problem)) from problem
    return b""


def write(path: Path, content: bytes) -> None:
    """Write a file that only its owner may write, whatever the process allows by default."""
    scratch = path.with_suffix(f".{os.getpid()}")
    try:
        with open(scratch, "wb", opener=lambda name, flags: os.open(name, flags, 0o644)) as file:
            file.write(content)
        os.replace(scratch, path)
    except PermissionError:  # Windows: another process has just written the same file and someone is reading it
        if store.unpack(path) is None:
            raise
    finally:
        scratch.unlink(missing_ok=True)


def build_all(directory: Path | str, jobs: int | None = None) -> list[Path]:
    """Build the objects of every kernel that `directory` lacks; objects of older sources are removed."""
    directory = Path(directory)
    workers.stop_idle()  # workers know the sources of old
    sources.forget_sources()
    keys = sources.kernels(sources.kernel_modules())
    files = {key: [directory / store.file_name(*key, way) for way in target.ways()] for key in keys}
    wanted = {path for paths in files.values() for path in paths}
    for old in directory.glob("*.kob"):
        if old not in wanted:
            old.unlink()
    missing = [key for key, paths in files.items() if all(store.unpack(path) is None for path in paths)]
    if missing:
        workers.build(missing, directory, jobs)
        workers.stop_idle()
    return sorted(path for path in wanted if path.is_file())


def serve(directory: Path | None, lines: Any, answer: Callable[[str], Any]) -> None:
    """Build kernels named line by line, each line a module and its kernels, and name each one that is done.

    Without a directory the object follows the name.

    Raises
    ------
    SystemExit : with a code of `workers`, if a kernel is refused or cannot be written.
    """
    if not BUILDING:
        raise SystemExit("index3.compiled.build: set INDEX3_BUILDING=1 to build named kernels")
    if target.ways()[0] == target.QUICK:
        from index3.compiled.frontend import speed_up_numba

        speed_up_numba()
    from index3.compiled.emit import Refused

    for line in lines:
        token, *names = line.split()
        module = outside.told(token)
        for name in names:
            try:
                content = build_kernel(module, name, directory)
            except Refused as problem:
                end(workers.REFUSED, str(problem))
            except workers.NotStored as problem:
                end(workers.NOT_STORED, str(problem))
            answer(f"{module}.{name} {base64.b64encode(content).decode()}".strip() + "\n")


def end(code: int, text: str) -> NoReturn:
    """Leave, with a message."""
    print(text, file=sys.stderr)
    raise SystemExit(code)


def main(arguments: list[str]) -> None:
    """Build all kernels into a directory, or with a second argument "-" (a worker) those named on standard input."""
    directory, *rest = arguments
    if rest != ["-"]:
        build_all(directory)
        return

    def answer(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    serve(Path(directory) if directory else None, sys.stdin, answer)


if __name__ == "__main__":
    main(sys.argv[1:])
