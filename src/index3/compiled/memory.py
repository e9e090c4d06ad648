"""What the sources of the package say, kept between processes: to read them all anew takes a tenth of a start.

Digests of kernel modules, and words in the sources they are made from, lie in the cache in a file of text for each
place of the package. It counts only if nothing has changed since: every source and folder that was looked at, and the
files that hold the versions of Numba and llvmlite, must have the size, times and number of then, and settings and
machine must be the same. A file that was written within the last seconds may be written again without a sign of it, so
nothing is kept then. Modules outside the package are always read.
"""

from __future__ import annotations

import os
import re
import sys
import time
from importlib.machinery import PathFinder

from index3.compiled import cache, outside, sources, target

FORMAT = 1
QUIET = 10.0  # seconds without a change before a file counts as finished; times of files may be as coarse as 2 s


class Record:
    """What is known of the sources; `new` if something of it is not on disk."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, ...], str] = {}
        self.stamps: dict[str, sources.Stamp] = {}
        self.new = False

    def text(self) -> str:
        """The content of the file, without its first line, the checksum."""
        stamps = ["\t".join(("stamp", path, *map(str, stamp))) for path, stamp in sorted(self.stamps.items())]
        answers = ["\t".join(("answer", *key, answer)) for key, answer in sorted(self.answers.items())]
        return "\n".join([conditions(), *stamps, *answers])

    def read(self, text: str) -> bool:
        """Take over the content of the file; False, and nothing, if it is of another time or place."""
        head, *lines = text.split("\n")
        if head != conditions():
            return False
        for line in lines:
            kind, *words = line.split("\t")
            if kind == "stamp":
                self.stamps[words[0]] = tuple(map(int, words[1:]))  # type: ignore[assignment]
            else:
                self.answers[tuple(words[:-1])] = words[-1]
        return all(unchanged(path, stamp) for path, stamp in self.stamps.items())


def unchanged(path: str, stamp: sources.Stamp) -> bool:
    """Whether a file or folder still has its stamp."""
    try:
        return sources.stamp(path) == stamp
    except OSError:
        return False


def version_files() -> list[str]:
    """The files that hold the versions of Numba and llvmlite; empty if one has none."""
    specs = [PathFinder.find_spec(package) for package in ("numba", "llvmlite")]
    files = [os.path.join(os.path.dirname(spec.origin), "_version.py") for spec in specs if spec and spec.origin]
    return files if len(files) == 2 and all(map(os.path.isfile, files)) else []


def conditions() -> str:
    """All that digests depend on besides files, in a line."""
    machine = os.uname().machine if hasattr(os, "uname") else ""
    here = sys.implementation.cache_tag, sys.platform, machine, sorted(target.ENVIRONMENT.items()), version_files()
    return repr((FORMAT, sources.INTERFACE, *here)).replace("\n", " ")


def place() -> str | None:
    """The file, one for each place of the package; None without a cache."""
    folder = cache.cache_folder()
    name = cache.checksum(repr((sources.PACKAGE, sys.implementation.cache_tag)).encode()).decode()
    return None if folder is None else os.path.join(folder, f"sources-{name}.txt")


@sources.until_forgotten
def record() -> Record:
    """What is kept, or an empty record."""
    path = place()
    data = cache.read_private(path) if path is not None else None
    check, _, content = (data or b"").partition(b"\n")
    found = Record()
    if data is None or cache.checksum(content) != check or not found.read(content.decode()):
        return Record()
    return found


def digest(module: str, way: str) -> str:
    """The digest of a module's sources, as `sources.digest`."""
    if outside.is_outside(module):
        return sources.digest(module, way)
    known, key = record(), ("digest", way, module)
    if key not in known.answers:
        known.answers[key], known.new = sources.digest(module, way), True
    return known.answers[key]


def words(module: str, pattern: re.Pattern[str]) -> frozenset[str]:
    """Every word that a pattern finds in the sources of a module's kernels, as `sources.words`."""
    if outside.is_outside(module):
        return sources.words(module, pattern)
    known, key = record(), ("words", pattern.pattern, module)
    if key not in known.answers:
        known.answers[key], known.new = " ".join(sorted(sources.words(module, pattern))), True
    return frozenset(known.answers[key].split())


def save() -> None:
    """Keep what is new, unless a file has just been written, or the cache cannot take it."""
    known = record()
    if not known.new:
        return
    from pathlib import Path

    from index3.compiled.build import write

    path, versions = place(), version_files()
    if path is None or not versions or cache.folders() != [os.path.dirname(path)]:
        return  # objects go elsewhere: it takes no more
    seen = {**sources.seen(), **{file: sources.stamp(file) for file in versions}}
    if any(known.stamps.get(file, stamp) != stamp for file, stamp in seen.items()):
        return  # one was edited after a part of this was read
    if any(mark in file for file in seen for mark in "\t\n"):
        return
    known.stamps |= seen
    if max(max(stamp[1:3]) for stamp in known.stamps.values()) > 1e9 * (time.time() - QUIET):
        return
    content = known.text().encode()
    try:
        folder = os.path.dirname(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if cache.is_private(os.stat(folder)):
            write(Path(path), cache.checksum(content) + b"\n" + content)
            known.new = False
    except OSError:  # a cache that cannot be written: it is found out anew
        return
