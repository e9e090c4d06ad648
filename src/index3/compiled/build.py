"""Compile kernels into object files; run by the workers of `crew` and by the package's build hook."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from index3.compiled import crew, outside, sources, store
from index3.compiled.interface import BUILDING, Kernel

ALLOWED = re.compile(  # what an object may leave open: the C library's arithmetic, Python's and Numba's error paths
    r"(llvm\..*|Py\w+|_Py\w+|memset|memcpy|memmove|pow|sqrt|sin|cos|tan|asin|acos|atan|atan2|exp|log|log10|fabs|fmod|hypot"
    r"|tanh|sinh|cosh|cbrt|floor|ceil|fmin|fmax|ldexp|frexp|numba_gil_ensure|numba_gil_release|numba_unpickle"
    r"|numba_runtime_build_excinfo_struct|numba_do_raise|NRT_Free|NRT_MemInfo_call_dtor|\.const\..*|\.numba\..*)"
)
OPEN = re.compile(r'^declare [^@]*@"?([^"( ]+)"?\(', re.MULTILINE)
RAISES = ".const.picklebuf"  # Numba keeps what a `raise` statement raises as a pickled constant of this name


def compile_kernel(kernel: Kernel) -> tuple[str, bytes]:
    """Symbol and object code of one kernel; after `make_quick`.

    Raises
    ------
    RuntimeError
        If the kernel raises, or calls something that it must not need, such as Numba's memory allocator.
    """
    import numba

    from index3.compiled.frontend import finish_kernel
    from index3.compiled.intrinsics import OPTIONS

    function: Any = numba.cfunc("int64(int64, int64)", **OPTIONS)(kernel.function)
    library = function._library
    module = finish_kernel(library)
    code = str(module)
    open_symbols = {name for name in OPEN.findall(code) if not ALLOWED.fullmatch(name)}
    if open_symbols:
        raise RuntimeError(f"kernel {kernel.module}.{kernel.name} must not use {', '.join(sorted(open_symbols))}")
    if RAISES in code:
        raise RuntimeError(f"kernel {kernel.module}.{kernel.name} can raise an exception. Return a status instead.")
    return function._wrapper_name, library._codegen._tm.emit_object(module)


def build_kernel(module: str, name: str, directory: Path) -> Path:
    """Write the object file of one kernel; the file appears whole or not at all."""
    kernel = getattr(outside.load(module), name)
    path = directory / store.file_name(module, name)
    scratch = path.with_suffix(f".{os.getpid()}")
    content = store.pack(*compile_kernel(kernel))
    try:
        scratch.write_bytes(content)
        os.replace(scratch, path)
    except PermissionError:  # Windows: another process has just written the same file and someone is reading it
        if not path.is_file():
            raise
    finally:
        scratch.unlink(missing_ok=True)
    return path


def build_all(directory: Path | str, jobs: int | None = None) -> list[Path]:
    """Build the objects of every kernel that `directory` lacks; objects of older sources are removed."""
    directory = Path(directory)
    crew.dismiss()  # workers know the sources of old
    sources.forget_sources()
    wanted = {directory / store.file_name(*key): key for key in sources.kernels(sources.kernel_modules())}
    for old in directory.glob("*.kob"):
        if old not in wanted:
            old.unlink()
    missing = [key for path, key in wanted.items() if store.unpack(path) is None]
    if missing:
        crew.build(missing, directory, jobs)
        crew.dismiss()
    return sorted(wanted)


def serve(directory: Path, lines: Any, answer: Callable[[str], Any]) -> None:
    """Build kernels named line by line, each line a module and its kernels, and name each one that is done."""
    if not BUILDING:
        raise SystemExit("index3.compiled.build: set INDEX3_BUILDING=1 to build named kernels")
    from index3.compiled.frontend import make_quick

    make_quick()
    for line in lines:
        token, *names = line.split()
        module = outside.told(token)
        for name in names:
            build_kernel(module, name, directory)
            answer(f"{module}.{name}\n")


def main(arguments: list[str]) -> None:
    """Build all kernels into a directory, or with a second argument "-" (a worker) those named on standard input."""
    directory, *rest = arguments
    if rest != ["-"]:
        build_all(directory)
        return

    def answer(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    serve(Path(directory), sys.stdin, answer)


if __name__ == "__main__":
    main(sys.argv[1:])
