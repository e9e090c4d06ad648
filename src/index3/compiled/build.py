"""Compile kernel modules into object files; run by the store's workers and by the package's build hook."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from index3.compiled import store
from index3.compiled.interface import BUILDING, Kernel

ALLOWED = re.compile(  # what an object may leave open: the C library's arithmetic, Python's and Numba's error paths
    r"(llvm\..*|Py\w+|_Py\w+|memset|memcpy|memmove|pow|sqrt|sin|cos|tan|asin|acos|atan|atan2|exp|log|log10|fabs|fmod|hypot"
    r"|tanh|sinh|cosh|cbrt|floor|ceil|fmin|fmax|ldexp|frexp|numba_gil_ensure|numba_gil_release|numba_unpickle"
    r"|numba_runtime_build_excinfo_struct|numba_do_raise|NRT_Free|NRT_MemInfo_call_dtor|\.const\..*|\.numba\..*)"
)


def compile_kernel(kernel: Kernel) -> tuple[str, bytes]:
    """Symbol and object code of one kernel.

    Raises
    ------
    RuntimeError
        If the code calls something that a kernel must not need, such as Numba's memory allocator.
    """
    import numba

    from index3.compiled.intrinsics import OPTIONS

    function: Any = numba.cfunc("int64(int64, int64)", **OPTIONS)(kernel.function)
    open_symbols = {
        match.group(1)
        for match in re.finditer(r'^declare [^@]*@"?([^"( ]+)"?\(', function.inspect_llvm(), re.MULTILINE)
        if not ALLOWED.fullmatch(match.group(1))
    }
    if open_symbols:
        raise RuntimeError(f"kernel {kernel.module}.{kernel.name} must not use {', '.join(sorted(open_symbols))}")
    return function._wrapper_name, function._library._get_compiled_object()


def build_module(name: str, directory: Path) -> Path:
    """Write the object file of one kernel module; the file appears whole or not at all."""
    module = importlib.import_module(name)
    kernels = {k.name: k for k in vars(module).values() if isinstance(k, Kernel) and k.module == name}
    head: dict[str, tuple[str, int, int]] = {}
    body = b""
    for kernel in kernels.values():
        symbol, code = compile_kernel(kernel)
        head[kernel.name] = (symbol, len(body), len(code))
        body += code
    text = json.dumps(head).encode()
    path = directory / store.file_name(name)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_bytes(len(text).to_bytes(8, "little") + text + body)
    os.replace(scratch, path)
    return path


def build_all(directory: Path | str, jobs: int | None = None) -> list[Path]:
    """Build the objects of every kernel module that `directory` lacks; objects of older sources are removed."""
    directory = Path(directory)
    store.forget_sources()
    wanted = {directory / store.file_name(name): name for name in store.kernel_modules()}
    for old in directory.glob("*.kob"):
        if old not in wanted:
            old.unlink()
    missing = [name for path, name in wanted.items() if not path.is_file()]
    if missing:
        store.build(missing, directory, jobs)
    return sorted(wanted)


def main(arguments: list[str]) -> None:
    """Build the modules named after the directory (worker), or all of them (no module named)."""
    directory, *modules = arguments
    if not modules:
        build_all(directory)
        return
    if not BUILDING:
        raise SystemExit("index3.compiled.build: set INDEX3_BUILDING=1 to build named modules")
    for name in modules:
        build_module(name, Path(directory))


if __name__ == "__main__":
    main(sys.argv[1:])
