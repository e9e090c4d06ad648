"""The folder in which objects built on this machine are kept, and what of it may be loaded.

Objects are native code, so one is loaded only if file and folder belong to the user and nobody else may write them.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import zlib
from typing import TYPE_CHECKING

from index3.errors import Index3Error

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("INDEX3_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA", "HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH")
"""Variables that say where the cache is, or where a home folder is."""
BINARY = getattr(os, "O_BINARY", 0)
READ_PRIVATE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | BINARY
_temporary: list[str] = []  # where this process keeps objects that the cache cannot take


class NotWritable(Index3Error):
    """Objects can be written nowhere."""


def _named(variable: str) -> str | None:
    """The folder that an environment variable names; an empty or relative one counts as not set."""
    return _absolute(os.environ.get(variable, ""))


def _absolute(name: str) -> str | None:
    path = os.path.expanduser(name)  # "~" of somebody without a home folder stays
    return path if os.path.isabs(path) else None


def cache_directory() -> Path | None:
    """Where objects built on this machine are kept (`INDEX3_CACHE` overrides it); None if there is no home folder."""
    from pathlib import Path  # takes 3 % of a start, which asks for `cache_folder`

    folder = cache_folder()
    return None if folder is None else Path(folder)


def cache_folder() -> str | None:
    """The name of the same."""
    return _cache_folder(*map(os.environ.get, FOLDERS))


@functools.cache
def _cache_folder(*folders: str | None) -> str | None:
    """The same, which is asked for every object, while these are the values of the variables in FOLDERS."""
    chosen = _named("INDEX3_CACHE")
    if chosen is not None:
        return chosen
    if sys.platform == "win32":
        base = _named("LOCALAPPDATA") or _absolute("~")
    else:
        base = _named("XDG_CACHE_HOME") or (_absolute("~/.cache") if os.environ.get("HOME") != "" else None)
    return None if base is None else os.path.join(base, "index3")


def folders() -> list[str]:
    """Where to look for objects built on this machine."""
    return [folder for folder in (cache_folder(), *_temporary) if folder is not None]


def directories() -> list[Path]:
    """The same as paths."""
    from pathlib import Path

    return [Path(folder) for folder in folders()]


def checksum(content: bytes | memoryview) -> bytes:
    """Sixteen letters that damage to the content changes: its CRC-32 and its Adler-32.

    Whoever may write a file may write its checksum too, so no more is asked of it; and `hashlib` takes 4 % of a start.
    """
    return b"%08x%08x" % (zlib.crc32(content), zlib.adler32(content))


def is_private(info: os.stat_result) -> bool:
    """Whether a file or folder belongs to the user, and nobody else may write it."""
    if sys.platform == "win32":  # the folders used there are the user's own; these numbers mean nothing
        return True
    return info.st_uid == os.geteuid() and not info.st_mode & 0o022


def read_private(path: str | Path) -> bytes | None:
    """The content of a file that only the user can have written; None if it cannot be read or trusted."""
    try:
        if not is_private(os.stat(os.path.dirname(path))):
            return None
        with open(os.open(path, READ_PRIVATE), "rb") as file:
            return file.read() if is_private(os.fstat(file.fileno())) else None
    except OSError:
        return None


def build_directory() -> Path:
    """Where a new object goes: the user's cache or, if that cannot be, a folder for this process only."""
    import tempfile
    from pathlib import Path

    if _temporary:
        return Path(_temporary[0])
    directory = cache_directory()
    if directory is None:
        return temporary_directory("in a cache", "there is no home folder")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _named("INDEX3_CACHE") is None:
            close(directory)
        if not is_private(directory.stat()):
            return temporary_directory(f"in {directory}", "it belongs to someone else, or others can write to it")
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError as problem:
        return temporary_directory(f"in {directory}", problem.strerror or str(problem))


def close(directory: Path) -> None:
    """Let nobody else write the package's own folder, which systems that let a user's group write may have opened."""
    if not is_private(directory.stat()) and directory.stat().st_uid == os.geteuid():
        directory.chmod(0o700)


def temporary_directory(where: str, reason: str) -> Path:
    """A private folder that goes with the process; a line says why objects cannot be kept `where` they belong."""
    import shutil
    import tempfile
    from pathlib import Path

    if not _temporary:
        try:
            _temporary.append(tempfile.mkdtemp(prefix="index3-"))  # made 0700
        except OSError as problem:
            raise not_writable(where, reason, f"a temporary folder ({problem.strerror})") from None
        atexit.register(shutil.rmtree, _temporary[0], ignore_errors=True)
        print(
            f"index3: kernels cannot be stored {where} ({reason}) and are kept for this process only. "
            "Set INDEX3_CACHE to a folder that only you can write to.",
            file=sys.stderr,
        )
    return Path(_temporary[0])


def not_writable(where: str, reason: str, elsewhere: str) -> NotWritable:
    """The error of a machine on which objects can be written nowhere."""
    return NotWritable(
        f"Kernels cannot be stored {where} ({reason}), nor in {elsewhere}. "
        "Make room, or set INDEX3_CACHE to a folder that only you can write to."
    )
