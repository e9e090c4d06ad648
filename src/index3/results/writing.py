"""Files of results appear whole or not at all; what keeps them from being written is named."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr as short

from index3.errors import FileError

NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place for a new file, which takes the place of `path` once it is complete and on the disk.

    Links are followed; a device or a pipe gets the bytes of the complete file, since not all writers can do without
    going back in it.

    Raises
    ------
    FileError : the file cannot be written; one that was there before is left as it was.
    """
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise FileError(f"{short(path)} is not a path of a file. Give one such as 'run.nc'.")
    target = Path(os.path.realpath(path))
    special = target.exists() and not target.is_file() and not target.is_dir()
    try:
        with tempfile.TemporaryDirectory() if special else contextlib.nullcontext(target.parent) as folder:
            unfinished = beside(Path(folder, target.name))
            clear_leftovers(Path(folder, target.name))
            try:
                yield unfinished
                finish(unfinished, target, special)
            finally:
                with contextlib.suppress(OSError):
                    unfinished.unlink()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        failure = FileError(f"File '{path}' cannot be written: {why}. Give another path, or make room there.")
        failure.errno, failure.strerror = error.errno, why
        raise failure from error


def beside(target: Path) -> Path:
    """Where this process writes a file before it takes its place."""
    return target.with_name(f".{os.getpid()}.{target.name}")


def clear_leftovers(target: Path) -> None:
    """Remove what processes that were killed left beside a file, or beside its journal and checkpoint."""
    name = re.compile(rf"\.(\d+)\.{re.escape(target.name)}(\.room|\.journal|\.checkpoint)?")
    with contextlib.suppress(OSError):
        for place in target.parent.iterdir():
            found = name.fullmatch(place.name)
            if found and not is_running(int(found[1])):
                place.unlink()


def is_running(process: int) -> bool:
    """Whether there is a process of this number, of whomever."""
    if os.name != "posix":
        return True  # unknown
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def finish(unfinished: Path, target: Path, special: bool) -> None:
    """Put a complete file in its place, or its bytes into a device."""
    if special:
        with open(unfinished, "rb") as file, open(target, "wb") as device:
            shutil.copyfileobj(file, device)
    else:
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, target)


def check_room(path: Path, size: int) -> None:
    """Raise an OSError unless a file of so many bytes fits beside a path.

    The HDF5 library does not survive a disk that becomes full while it writes: the process may crash at its end.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    place = path.with_name(f"{path.name}.room")
    try:
        with open(place, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno in NO_ROOM or not place.exists():
            raise  # otherwise this file system cannot reserve room, and its own errors must do
    finally:
        with contextlib.suppress(OSError):
            place.unlink()
