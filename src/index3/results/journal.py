"""A journal: lines of a run on the disk, block by block, while the run goes on.

The file begins with MAGIC, then come records: HEAD (kind, length of the data, checksum of kind, length and data), then
the data. The first record describes the model and the sizes of the columns; those of a run that can be resumed then say
what was asked of it, and what it began from; each of the next holds some lines, column behind column; the last, once
the run has ended, says how it went. Every record is on the disk before the next one is begun, so whatever ends the
process spoils at most the last one, and a reader takes all records before that. The file appears with its first
records complete.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from index3.compiled import columns
from index3.errors import Index3Error
from index3.results.arrays import plain
from index3.results.lazy import NAMES, LazyArrays
from index3.results.sinks import StoreFailed
from index3.results.writing import beside

if TYPE_CHECKING:
    from index3.results.layout import Layout

MAGIC = b"index3 journal 1\n"
HEAD = struct.Struct("<4sQI")
MODEL, RUN, START, LINES, END = b"MODL", b"RUN.", b"INIT", b"LINE", b"END."
SUFFIX = ".journal"
PIECE = 1 << 20  # bytes read at a time to form a checksum
NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


class JournalWriter:
    """A journal under way; `more` records (kind, data) are in the file when it appears.

    Raises
    ------
    Index3Error : the file is there already, or cannot be written.
    """

    def __init__(
        self, path: Path, layout: Layout, sizes: Mapping[str, int], more: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        self.path = path
        self.end = 0  # of the last whole record
        unfinished = beside(path)
        try:
            if path.exists():
                raise FileExistsError
            self.file: IO[bytes] = open(unfinished, "wb", buffering=0)  # noqa: SIM115  # as long as the run
            try:
                self.lock()
                self.put(MAGIC)
                self.end = len(MAGIC)
                head = {"columns": NAMES, "sizes": dict(sizes), "layout": layout.to_dict()}
                for kind, data in ((MODEL, as_json(head)), *more):
                    self.write(kind, [data])
                publish(unfinished, path)
            finally:
                unfinished.unlink(missing_ok=True)
        except FileExistsError:
            raise Index3Error(
                f"There is a journal '{path}' of a run that is still running or did not end. Continue it with "
                f"index3.resume('{path.name.removesuffix(SUFFIX)}'), or remove it, or give another file."
            ) from None
        except OSError as error:
            raise self.failure(error) from error

    @classmethod
    def reopened(cls, path: Path, end: int) -> JournalWriter:
        """A journal that is there, to go on from one of its records, whose place ends here.

        Raises
        ------
        Index3Error : another process writes to the file, or it cannot be written.
        """
        writer = cls.__new__(cls)
        writer.path, writer.end = path, end
        try:
            writer.file = open(path, "r+b", buffering=0)  # noqa: SIM115
            writer.lock()
            writer.file.truncate(end)
            writer.file.seek(end)
        except OSError as error:
            raise writer.failure(error) from error
        return writer

    def lock(self) -> None:
        """Keep other processes from writing to the same file, where the system offers that."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.flock(self.file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.file.close()
            raise Index3Error(
                f"Journal '{self.path}' is being written by a running simulation. Wait for it, or end it first."
            ) from None

    def write_lines(self, block: Mapping[str, np.ndarray]) -> None:
        """Put some lines on the disk; those for which there is room, if that is not all."""
        arrays = [np.ascontiguousarray(block[name], "<f8") for name in NAMES]

        def write(first: int, end: int) -> None:
            self.write(LINES, [array[first:end].reshape(-1).view(np.uint8) for array in arrays])

        first, count = 0, len(arrays[0])
        try:
            write(first, count)
        except StoreFailed as error:
            if not isinstance(error.__cause__, OSError) or error.__cause__.errno not in NO_ROOM:
                raise
            while count > 1:  # ever smaller pieces
                count = (count + 1) // 2
                with suppress(StoreFailed):
                    write(first, first + count)
                    first += count
            raise

    def write_end(self, layout: Layout, info: Mapping[str, Any]) -> None:
        """Say how the run went."""
        self.write(END, [as_json({"layout": layout.to_dict(), "info": plain(info)})])

    def write(self, kind: bytes, data: list[Any]) -> None:
        """Put a record on the disk."""
        length = sum(len(part) for part in data)
        check = checksum(kind, length)
        for part in data:
            check = zlib.crc32(part, check)
        try:
            if self.file.tell() != self.end:  # an interrupt left part of a record
                self.file.seek(self.end)
                self.file.truncate()
            for part in (HEAD.pack(kind, length, check), *data):
                self.put(part)
            os.fsync(self.file.fileno())
            self.end = self.file.tell()
        except OSError as error:
            with suppress(OSError):  # a record cut short is of no use, and takes room
                self.file.truncate(self.end)
            raise self.failure(error) from error

    def put(self, data: Any) -> None:
        """Write all of some bytes: the system may take a part of them at a time."""
        left = memoryview(data)
        while left:
            left = left[self.file.write(left) :]

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()

    def failure(self, error: OSError) -> StoreFailed:
        """The error of a journal that cannot be written."""
        return StoreFailed(
            f"Journal '{self.path}' cannot be written: {error.strerror or error}. Give an existing folder with "
            "room. What was written before stays in it."
        )


def publish(unfinished: Path, path: Path) -> None:
    """Give a complete file its name, unless there is one of that name."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.replace(unfinished, path)


@dataclass(frozen=True)
class Journal:
    """What a journal holds: lines in `arrays` (each column read when first asked for), `info` if the run has ended.

    `ignored` counts the bytes behind the last whole record: what the end of the process spoilt. `asked` says what was
    asked of a run that can be resumed, `start` is what it began from, `end` the place behind that.
    """

    layout: dict[str, Any]
    sizes: dict[str, int]
    lines: int
    arrays: LazyArrays
    info: dict[str, Any] | None
    ignored: int
    asked: dict[str, Any] | None = None
    start: bytes = b""
    end: int = 0


def read_journal(path: str | os.PathLike[str]) -> Journal:
    """All whole records of a journal.

    Raises
    ------
    Index3Error : there is no such file, it is no journal, or not even its first record is whole.
    """
    place = Path(path).absolute()
    try:
        with open(place, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise Index3Error(f"File '{path}' is not a journal of index3. Give the path of one.")
            records, ignored = whole_records(file)
            data = {kind: read_data(file, first, length) for kind, first, length in records if kind != LINES}
    except OSError as error:
        raise Index3Error(f"Journal '{path}' cannot be read: {error.strerror or error}.") from error
    if MODEL not in data:
        raise Index3Error(f"Journal '{path}' ends before its first line: nothing can be read from it.")
    model = json.loads(data[MODEL])
    asked, end = (json.loads(data[kind]) if kind in data else None for kind in (RUN, END))
    if tuple(model["columns"]) != NAMES:
        raise Index3Error(f"Journal '{path}' has other columns than this version of index3. Read it with its own.")
    shapes = columns.shapes(1, model["sizes"])
    width = 8 * sum(prod(shape) for shape in shapes.values())
    blocks = [(first, length // width) for kind, first, length in records if kind == LINES]

    def read(name: str) -> np.ndarray:
        before = 8 * sum(prod(shapes[other]) for other in NAMES[: NAMES.index(name)])
        array = np.empty((sum(count for _, count in blocks), *shapes[name][1:]), "<f8")
        line = 0
        with open(place, "rb") as file:
            for first, count in blocks:
                file.seek(first + before * count)
                file.readinto(array[line : line + count].reshape(-1).view(np.uint8).data)
                line += count
        return array.astype(float, copy=False)

    layout = model["layout"] if end is None else end["layout"]
    lines, info = sum(count for _, count in blocks), None if end is None else end["info"]
    begun = sum(HEAD.size + length for kind, _, length in records if kind in (MODEL, RUN, START))
    return Journal(
        layout, model["sizes"], lines, LazyArrays(read), info, ignored, asked, data.get(START, b""), len(MAGIC) + begun
    )


def whole_records(file: IO[bytes]) -> tuple[list[tuple[bytes, int, int]], int]:
    """Kind, place and length of the data of every record up to the first that is not whole, and what is left behind."""
    size, first, records = os.fstat(file.fileno()).st_size, file.tell(), []
    while len(head := file.read(HEAD.size)) == HEAD.size:
        kind, length, check = HEAD.unpack(head)
        data = first + HEAD.size
        found, left = checksum(kind, length), length
        while left and (piece := file.read(min(left, PIECE))):
            found, left = zlib.crc32(piece, found), left - len(piece)
        if left or found != check:
            break
        records.append((kind, data, length))
        first = data + length
    return records, size - first


def checksum(kind: bytes, length: int) -> int:
    """Where the checksum of a record begins."""
    return zlib.crc32(struct.pack("<4sQ", kind, length))


def as_json(value: Any) -> bytes:
    """Plain data as the bytes of a record."""
    return json.dumps(value).encode()


def read_data(file: IO[bytes], first: int, length: int) -> bytes:
    """The data of a record."""
    file.seek(first)
    return file.read(length)
