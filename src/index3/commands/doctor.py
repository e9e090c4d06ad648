"""`index3 doctor`: look at everything that a run needs, run one, and say what to do about what is wrong."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import typer

from index3 import __version__
from index3.commands.common import FAILED

OLDEST = (3, 11)
EXTRAS = {  # what a user may want to add, and what for
    "plot": (("matplotlib",), "plots"),
    "control": (("control",), "linearize(...).to_control()"),
    "fe": (("scikit-fem",), "flexible bodies from meshes"),
    "mesh": (("trimesh",), "bodies from STL and OBJ files"),
    "sweep": (("dask", "distributed"), "sweeps on a cluster"),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "firefox", "safari", "microsoft-edge", "msedge")
ROOM = 200e6  # bytes: all kernels take 10 MB, the result of a long run some 100 MB
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)")


class Finding(NamedTuple):
    """A line of the report. `kind`: what was looked at, "note" or "wrong"."""

    kind: str
    text: str


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(doctor)


def doctor() -> None:
    """Look at the installation, run a self-test, and say what is wrong."""
    typer.echo(f"index3 {__version__} on {platform.system()} {platform.machine()}, {os.cpu_count()} processors")
    problems = 0
    for examine in EXAMINATIONS:
        for kind, text in examine():
            problems += kind == "wrong"
            typer.echo(f"wrong: {text}" if kind == "wrong" else f"{kind + ':':<11} {text}")
    if problems:
        raise typer.Exit(FAILED)
    typer.echo("all fine")


def python() -> Iterator[Finding]:
    """The interpreter."""
    yield Finding("Python", f"{platform.python_version()}, {sys.executable}")
    if sys.version_info < OLDEST:
        yield Finding("wrong", f"index3 needs Python {OLDEST[0]}.{OLDEST[1]} or newer: make an environment with one")
    if platform.python_implementation() != "CPython" or struct.calcsize("P") != 8:
        yield Finding("wrong", "index3 needs 64-bit CPython: install it")


def packages() -> Iterator[Finding]:
    """What index3 depends on, and whether the versions are those it asks for."""
    needs = requirements()
    if needs is None:
        yield Finding("wrong", "index3 is not installed as a package: run `pip install .` in its folder")
        return
    found, wrong = [], []
    for name, bounds in needs.items():
        version = installed(name)
        if version is None:
            wrong.append(f"{name} is not installed: pip install --force-reinstall index3")
        else:
            found.append(f"{name} {version}")
            if not meets(version, bounds):
                wrong.append(f'{name} {version} is not {bounds}: pip install "{name}{bounds}"')
    yield Finding("packages", ", ".join(found))
    for text in wrong:
        yield Finding("wrong", text)


def requirements() -> dict[str, str] | None:
    """Names and bounds of what index3 always needs, as it was installed; None if pip knows nothing of it."""
    try:
        lines = importlib.metadata.requires("index3") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [REQUIREMENT.match(line) for line in lines if "extra ==" not in line]
    return {one[1]: one[2].strip() for one in found if one}


def installed(name: str) -> str | None:
    """The version of a package, None without it."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def numbers(version: str) -> tuple[int, ...]:
    """`0.68.1rc1` as (0, 68, 1): enough for bounds of whole releases."""
    return tuple(int(part) for part in re.findall(r"\d+", re.match(r"[\d.]*", version)[0]))  # type: ignore[index]


def meets(version: str, bounds: str) -> bool:
    """Whether a version lies within bounds such as `<0.69,>=0.62`."""
    for bound in filter(None, bounds.replace(" ", "").split(",")):
        here = numbers(version)
        sign, limit = re.match(r"([<>=!~]*)", bound)[0], numbers(bound.lstrip("<>=!~"))  # type: ignore[index]
        if (sign == ">=" and here < limit) or (sign == "<" and here >= limit):
            return False
    return True


def kernels() -> Iterator[Finding]:
    """Compiled kernels: where they are, and what becomes of missing ones."""
    try:
        from index3.compiled import notice, sources, store, target
        from index3.compiled.cache import cache_directory

        keys = sources.kernels(sources.kernel_modules())
        places = [store.find(*key) for key in keys]
    except Exception as error:
        yield Finding("wrong", f"the kernel store cannot be read: {error}. Install index3 again.")
        return
    if os.environ.get("INDEX3_JIT") == "0":
        yield Finding(
            "note", "INDEX3_JIT=0: kernels run as plain Python, some hundred times slower; unset it to compile"
        )
    inside = sum(place is not None and str(place.parent) == store.INSTALLED for place in places)
    missing = sum(place is None for place in places)
    built = f"{len(keys) - missing} of {len(keys)} built"
    cached = "" if (folder := cache_directory()) is None else f" or {folder} ({len(keys) - missing - inside})"
    yield Finding("kernels", f"{built}, in {store.INSTALLED} ({inside}){cached}")
    if missing:
        wait = notice.duration(notice.START + notice.EACH * missing / (os.cpu_count() or 1))
        made_for = f"Numba {target.version('numba')} and llvmlite {target.version('llvmlite')}"
        yield Finding(
            "note",
            f"{missing} kernels for {made_for} are built when first needed; `index3 warmup` does it now (about {wait})",
        )


def cache() -> Iterator[Finding]:
    """The folder for kernels built on this machine: whose it is, and its disk; the disk for temporary files."""
    from index3.compiled import cache as store_cache

    folder = store_cache.cache_directory()
    advice = "Set INDEX3_CACHE to a folder that only you can write to; until then each process rebuilds its kernels."
    if folder is None:
        yield Finding("wrong", f"there is no home folder to keep kernels in. {advice}")
        return
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if there == folder:
        size = sum(file.stat().st_size for file in folder.glob("*.kob"))
        yield Finding("cache", f"{folder}: {size / 1e6:.1f} MB of kernels, {room(there)} free on its disk")
    else:
        yield Finding("cache", f"{folder} (not made yet), {room(there)} free on its disk")
    if not os.access(there, os.W_OK | os.X_OK):
        yield Finding("wrong", f"{there} cannot be written. {advice}")
    elif there == folder and not store_cache.is_private(folder.stat()):
        yield Finding("wrong", f"{folder} belongs to someone else, or others can write to it: chmod 700, or: {advice}")
    for place in (there, Path(tempfile.gettempdir()), Path.cwd()):
        if shutil.disk_usage(place).free < ROOM:
            yield Finding(
                "wrong", f"only {room(place)} are free on the disk of {place}: make room for kernels and results"
            )


def room(place: Path) -> str:
    """Free bytes on the disk of a folder, in words."""
    free = shutil.disk_usage(place).free
    return f"{free / 1e9:.1f} GB" if free >= 1e9 else f"{free / 1e6:.0f} MB"


def extras() -> Iterator[Finding]:
    """Packages that are needed for some things only."""
    missing = {extra for extra, (names, _) in EXTRAS.items() if any(installed(name) is None for name in names)}
    here = [f"{name} {installed(name)}" for extra in EXTRAS if extra not in missing for name in EXTRAS[extra][0]]
    yield Finding("extras", ", ".join(here) or "none")
    for extra in EXTRAS:
        if extra in missing:
            yield Finding("note", f'{EXTRAS[extra][1]}: pip install "index3[{extra}]"')


def browser() -> Iterator[Finding]:
    """What shows animated pages."""
    found = next(filter(shutil.which, BROWSERS), None)
    system = sys.platform in ("darwin", "win32")  # which have one that is not on the path
    yield Finding("browser", found or ("the system's own" if system else "none found"))
    if not found and not system:
        yield Finding("note", "pages of `--html` are single files: copy them to a machine with a browser")


def self_test() -> Iterator[Finding]:
    """Run a pendulum for a second and look at its energy and residuals."""
    start = time.perf_counter()
    try:
        import index3

        result = index3.simulate(index3.library.pendulum(), (0.0, 1.0), progress=False)
        residual = float(result.arrays["violation_scaled"][:, 0].max())
        drift = float(abs(result.energy.balance - result.energy.balance[0]).max() / result.energy.kinetic.max())
    except Exception as error:
        yield Finding("wrong", f"the self-test could not run: {type(error).__name__}: {error}")
        return
    yield Finding(
        "self-test",
        f"pendulum, 1 s: energy balance within {drift:.1e} of the largest kinetic energy, position residual "
        f"{residual:.1e}, {time.perf_counter() - start:.2f} s",
    )
    # limits: 3e-3 is what the default tolerance promises for a four-bar over 5 s; output is projected to rounding
    if not result.success or not drift < 3e-3 or not residual < 1e-10:
        yield Finding("wrong", f"the self-test gave a bad result: {result.message}")


EXAMINATIONS: tuple[Callable[[], Iterator[Finding]], ...] = (
    python, packages, kernels, cache, extras, browser, self_test,
)  # fmt: skip
