"""What kernel objects ask of the process that loads them, and so the systems on which a wheel with them runs.

Objects are not linked: who loads them looks up by bare name what they leave open, so no version of a symbol is bound
to them. A wheel therefore runs wherever these names exist. Those of the C library are all in the first glibc for
x86-64 (2.2.5), those of Python in the stable ABI of CPython 3; the rest are stubs that `store` provides. So the tag of
the wheel may be `manylinux_2_17`, the oldest that package indexes recommend; wheels of Numba and llvmlite, which bring
compiled libraries of their own, may ask for a newer glibc.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from index3.compiled.store import STUBS, unpack

MANYLINUX = "manylinux_2_17_x86_64"
C_LIBRARY = frozenset(
    [
        "memset",
        "memcpy",
        "memmove",
        "pow",
        "sqrt",
        "sin",
        "cos",
        "sincos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "exp",
        "exp2",
        "log",
        "log10",
        "fabs",
        "fmod",
        "hypot",
        "tanh",
        "sinh",
        "cosh",
        "cbrt",
        "floor",
        "ceil",
        "fmin",
        "fmax",
        "ldexp",
        "frexp",
    ]
)
PYTHON = frozenset(  # of Numba's error paths
    [
        "PyErr_Clear",
        "PyErr_SetNone",
        "PyErr_SetString",
        "PyErr_WriteUnraisable",
        "PyExc_RuntimeError",
        "PyExc_StopIteration",
        "PyExc_SystemError",
        "PyBytes_FromStringAndSize",
        "PyUnicode_FromString",
        "Py_DecRef",
        "Py_IncRef",
    ]
)
PORTABLE = C_LIBRARY | PYTHON | set(STUBS)
ELF64 = b"\x7fELF\x02\x01"  # of 64 bits, low byte first
SYMBOLS = 2  # type of the section that holds the table of symbols


def open_symbols(code: bytes) -> set[str]:
    """Names that an ELF object of 64 bits leaves to be found by who loads it.

    Raises
    ------
    ValueError : it is no such object.
    """
    if not code.startswith(ELF64):
        raise ValueError("not an ELF object of 64 bits")
    (start,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQII", code, start + k * size) for k in range(count)]
    found = set()
    for _, kind, _, _, offset, length, names, _ in sections:
        if kind != SYMBOLS:
            continue
        for place in range(offset, offset + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", code, place)
            if name and section == 0:  # a name without a section: it is elsewhere
                first = sections[names][4] + name
                found.add(code[first : code.index(b"\0", first)].decode())
    return found


def check_portable(files: Iterable[Path]) -> None:
    """Raise unless every kernel object needs only what each system of the wheel's tag has.

    Raises
    ------
    RuntimeError : with the kernel and the names that are not known to be everywhere.
    """
    for file in files:
        content = unpack(file)
        strange = {"a readable object"} if content is None else open_symbols(content[1]) - PORTABLE
        if strange:
            raise RuntimeError(
                f"{file.name} needs {', '.join(sorted(strange))}, which may not be on every system with glibc 2.17. "
                "Enter it in index3/compiled/symbols.py if that glibc has it, or leave it out of the kernel."
            )
