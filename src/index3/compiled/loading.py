"""Kernel objects put into memory without LLVM, whose library alone takes a fifth of the start of a process.

An object for x86-64 Linux is code, constants and a list of places that hold addresses: kernels are compiled for a
large address space, so each such place is a whole word of eight bytes and needs no more than the address written into
it. Objects of any other kind are left to LLVM (`store`), as are those that ask for a symbol that is not found. Code is
never writable once it may be executed, and stays in place up to the end of the process.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

ELF64 = b"\x7fELF\x02\x01"  # of 64 bits, low byte first
RELOCATABLE, X86_64 = 1, 62  # type and machine in its header
SYMBOLS, RELOCATIONS, EMPTY, UNWINDING = 2, 4, 8, 0x70000001  # types of sections
WRITABLE, ALLOCATED = 1, 2  # flags of sections
ADDRESS = 1  # R_X86_64_64: symbol and addend, a whole word
UNDEFINED = 0  # section number of symbols that are elsewhere


class NotKnown(Exception):
    """An object that is not of the kind this module understands."""


WORD = struct.Struct("<Q")
"""An address."""


class Image:
    """An object as it will lie in memory: fixed parts that may be executed, and parts that may be written.

    Raises
    ------
    NotKnown : it is of another kind, or has places that hold something else than whole addresses.
    """

    def __init__(self, code: bytes) -> None:
        if not code.startswith(ELF64) or struct.unpack_from("<HH", code, 16) != (RELOCATABLE, X86_64):
            raise NotKnown
        self.code = memoryview(code)
        self.parts: dict[int, tuple[bool, int, bool, int, int]] = {}  # writable, alignment, empty, offset, size
        self.symbols: list[tuple[int, int, int, int, int, int]] = []
        self.strings = b""
        words, links = [], []
        for k, line in enumerate(self.table("<IIQQQQIIQQ", *header(code))):
            _, kind, flags, _, offset, size, link, info, alignment, _ = line
            links.append((offset, size))
            if kind == SYMBOLS:
                self.symbols, names = list(self.table("<IBBHQQ", offset, size)), link
            elif kind == RELOCATIONS:
                words.append((info, offset, size))
            elif flags & ALLOCATED and size and kind != UNWINDING:
                self.parts[k] = bool(flags & WRITABLE), max(alignment, 1), kind == EMPTY, offset, size
        if self.symbols:
            first, size = links[names]
            self.strings = code[first : first + size]
        self.words = [(part, list(self.table("<QQq", *place))) for part, *place in words if part in self.parts]

    def table(self, line: str, first: int, size: int) -> Iterator[tuple[Any, ...]]:
        """The lines of a table."""
        return struct.iter_unpack(line, self.code[first : first + size])

    def layout(self, places: dict[bool, int]) -> dict[int, int]:
        """Where its parts go behind what is laid out already, by whether they may be written; counts on."""
        found = {}
        for k, (writable, step, _, _, size) in self.parts.items():
            found[k] = -(-places[writable] // step) * step
            places[writable] = found[k] + size
        return found

    def put(self, bases: Mapping[int, int], find: Callable[[str], int], memory: Memory) -> None:
        """Copy its parts to where they belong, and write the addresses into them."""
        start, content, write = memory.starts[False], memory.content, WORD.pack_into
        for k, (_, _, empty, offset, size) in self.parts.items():
            if not empty:
                first = bases[k] - start
                content[first : first + size] = self.code[offset : offset + size]
        found: dict[int, int] = {}
        for part, words in self.words:
            first = bases[part] - start
            for place, what, addend in words:
                target = found.get(what)
                if target is None:
                    if what & 0xFFFFFFFF != ADDRESS:
                        raise NotKnown
                    target = found[what] = self.address(what >> 32, bases, find)
                write(content, first + place, target + addend)

    def address(self, symbol: int, bases: Mapping[int, int], find: Callable[[str], int]) -> int:
        """The address of a symbol."""
        name, _, _, section, value, _ = self.symbols[symbol]
        if section == UNDEFINED:
            return find(self.strings[name : self.strings.index(b"\0", name)].decode())
        if section not in bases:  # of a part that is left out, or of none
            raise NotKnown
        return bases[section] + value

    def entry(self, name: str, bases: Mapping[int, int]) -> int:
        """The address of the function of this name."""
        wanted = name.encode() + b"\0"
        for first, _, _, section, value, _ in self.symbols:
            if section in bases and self.strings.startswith(wanted, first):
                return bases[section] + value
        raise NotKnown


def header(code: bytes) -> tuple[int, int]:
    """Where the table of sections of an object begins, and its size."""
    (start,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    return start, size * count


def load(objects: Sequence[tuple[str, bytes]], provided: Mapping[str, int]) -> list[int] | None:
    """The addresses of functions, one in each object, given by name and code; None if LLVM must load them.

    Parameters
    ----------
    provided : addresses of names that objects may ask for, before the process is searched for them
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        images = [Image(code) for _, code in objects]
        places = {False: 0, True: 0}
        layouts = [image.layout(places) for image in images]
        memory = Memory(places[False], places[True])
        find = functools.cache(lambda name: provided.get(name) or in_process(name))
        found = []
        for (name, _), image, layout in zip(objects, images, layouts, strict=True):
            bases = {k: memory.starts[image.parts[k][0]] + place for k, place in layout.items()}
            image.put(bases, find, memory)
            found.append(image.entry(name, bases))
        memory.close()
    except (NotKnown, OSError, struct.error):
        return None
    return found


@functools.cache
def process() -> ctypes.CDLL:
    """The C library and Python."""
    return ctypes.CDLL(None)


def in_process(name: str) -> int:
    """The address of a symbol of the C library or of Python."""
    try:
        return ctypes.cast(getattr(process(), name), ctypes.c_void_p).value or 0
    except AttributeError:
        raise NotKnown from None


class Memory:
    """Pages for code and, behind them, pages for what it may write, all zero.

    Raises
    ------
    OSError : the system gives none.
    """

    def __init__(self, fixed: int, writable: int) -> None:
        import mmap

        page, self.system = mmap.PAGESIZE, ctypes.CDLL(None, use_errno=True)
        self.fixed = -(-max(fixed, 1) // page) * page
        self.executable = mmap.PROT_READ | mmap.PROT_EXEC
        ask = self.system.mmap
        ask.restype = ctypes.c_void_p
        ask.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        both, alone = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        start = ask(None, self.fixed + writable, both, alone, -1, 0)
        if start is None or start == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "no memory for kernels")
        self.starts = {False: start, True: start + self.fixed}
        self.content = memoryview((ctypes.c_char * (self.fixed + writable)).from_address(start)).cast("B")

    def close(self) -> None:
        """Let the code be executed, and no longer written."""
        protect = self.system.mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if protect(self.starts[False], self.fixed, self.executable) != 0:
            raise OSError(ctypes.get_errno(), "memory of kernels cannot be made executable")
