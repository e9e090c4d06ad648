"""Faults of disk and cache, each the beginning of a program whose folder it prepares."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from fuzz_draw import Draw

from index3.compiled import store

RUN = """
import pathlib, sys, warnings
import index3 as ix
from index3.compiled import store
store.INSTALLED = "nowhere"  # kernels of the cache alone
try:
    ball = ix.Model("ball")
    ball.add(ix.PointMass("ball", 1.0, velocity=(1.0, 0.0, 3.0)))
    result = ix.simulate(ball, (0.0, 0.5), "hht-i3", t_eval=0.1, progress=False)
    assert result.success, result.message
    fell = 3.0 * 0.5 - 0.5 * 9.80665 * 0.25
    assert abs(result["ball"].position[-1, 2] - fell) < 1e-6
    for write in (lambda p: result.save(p / "run.nc"), lambda p: result.to_csv(p / "run.csv"),
                  lambda p: result.to_html(p / "run.html"), lambda p: ball.save(p / "ball.json")):
        write(pathlib.Path("out"))
        assert not [left for left in pathlib.Path("out").iterdir() if left.name.startswith(".")]
    assert ix.Result.load("out/run.nc").success
    print("ran")
except ix.Index3Error as error:
    print(type(error).__name__, str(error))
"""
"""A run with kernels of the cache, its answer known, and all files that a result has."""


def filled(folder: Path) -> list[Path]:
    """A cache with the kernels of today, and a folder for files; the kernels."""
    cache = folder / "cache"
    cache.mkdir(mode=0o700)
    (folder / "out").mkdir()
    files = []
    for key in store.sources.kernels(store.sources.kernel_modules()):
        found = store.find(*key)
        if found is not None:
            files.append(Path(shutil.copy(found, cache / found.name)))
    return files


def truncated(draw: Draw, folder: Path) -> str:
    for file in filled(folder):
        if draw.chance(0.3):
            os.truncate(file, draw.whole(0, file.stat().st_size - 1))
    return ""


def flipped(draw: Draw, folder: Path) -> str:
    for file in filled(folder):
        data = bytearray(file.read_bytes())
        data[draw.whole(0, len(data) - 1)] ^= 1 << draw.whole(0, 7)
        if draw.chance(0.3):
            file.write_bytes(data)
    return ""


def exchanged(draw: Draw, folder: Path) -> str:
    """Each object lies under the name of another."""
    files = filled(folder)
    content = [file.read_bytes() for file in files]
    for file, other in zip(files, content[1:] + content[:1], strict=True):
        if draw.chance(0.3):
            file.write_bytes(other)
    return ""


def replaced(draw: Draw, folder: Path) -> str:
    """Folders, links that lead nowhere and files that others may write in place of objects."""
    for file in filled(folder):
        kind = draw.whole(0, 8)
        if kind < 2:
            file.unlink()
            if kind == 0:
                file.mkdir()
            else:
                file.symlink_to("nowhere")
        elif kind == 2:
            file.chmod(0o666)
        elif kind == 3:
            file.chmod(0)
    return ""


def no_folder(draw: Draw, folder: Path) -> str:
    """The cache is a file, or a link in a circle."""
    filled(folder)
    shutil.rmtree(folder / "cache")
    if draw.chance(0.5):
        (folder / "cache").write_text("no folder")
    else:
        (folder / "cache").symlink_to("cache")
    return ""


def small_files(draw: Draw, folder: Path) -> str:
    """Files cannot grow beyond some bytes, as on a disk that is full; kernels are there."""
    filled(folder)
    size = draw.pick((0, 10, 1000, 5000, 20000))
    return f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"


def no_output(draw: Draw, folder: Path) -> str:
    """Where files are to go there is a file, nothing, a link to itself, or a disk that nobody may write."""
    filled(folder)
    out = folder / "out"
    out.rmdir()
    kind = draw.whole(0, 3)
    if kind == 0:
        out.write_text("no folder")
    elif kind == 1:
        out.symlink_to("out")
    elif kind == 2:
        out.symlink_to("/proc/self")
    return ""


def taken_names(draw: Draw, folder: Path) -> str:
    """Folders under the names of the files to write."""
    filled(folder)
    for name in ("run.nc", "run.csv", "run.html", "ball.json"):
        if draw.chance(0.5):
            (folder / "out" / name).mkdir()
    return ""


FAULTS: dict[str, Callable[[Draw, Path], str]] = {
    "truncated kernels": truncated, "flipped kernels": flipped, "exchanged kernels": exchanged,
    "things in place of kernels": replaced, "no cache folder": no_folder, "full disk": small_files,
    "no output folder": no_output, "taken names": taken_names,
}  # fmt: skip
