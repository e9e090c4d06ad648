"""The store: what is found, what is built, what is never served."""

from __future__ import annotations

import os
import shutil
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

from index3.compiled import sources, store
from index3.compiled.interface import JIT, Kernel
from index3.compiled.notice import duration
from index3.errors import Index3Error

pytestmark = pytest.mark.skipif(not JIT, reason="plain kernels need no store")

HIT = ("7.0 False\n", "")  # the value; Numba not imported; no message
PACKED = ("symbol", b"abc\n" + b"\0" * 100)


def test_a_miss_says_so_in_a_line_at_the_start_and_at_the_end(workshop):
    output, messages = workshop.first
    assert output == "7.0 False\n"  # not even then: it is built by workers
    start, end = messages.splitlines()
    versions = f"Numba {version('numba')} and llvmlite {version('llvmlite')}"
    assert start.startswith(f"index3: building 1 kernel (once for these sources, {versions}): about ")
    assert end.startswith("index3: kernels built in ")


def test_a_hit_is_silent_and_loads_no_numba(workshop):
    assert workshop.run() == HIT
    assert [path.name.partition("-")[0] for path in workshop.objects()] == ["sample.fill_length"]


def test_an_edited_helper_in_another_file_is_never_served_stale(workshop):
    helpers = workshop.package / "algebra" / "vectors.py"
    text = helpers.read_text("utf-8")
    before = workshop.objects()
    try:
        helpers.write_text(text + "\n\n@helper\ndef norm(x):\n    return 10.0 * sqrt(dot(x, x))\n", "utf-8")
        output, messages = workshop.run()
        assert output.split()[0] == "70.0"
        assert "building" in messages
    finally:
        helpers.write_text(text, "utf-8")
    assert workshop.run() == HIT  # the old object again, not a new one
    assert set(before) < set(workshop.objects())


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: data[:-1] + b"?"], ids=["cut", "changed"]
)
def test_a_damaged_object_is_built_again(workshop, damage):
    (path,) = (p for p in workshop.objects() if p.name == object_name(workshop))
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    output, messages = workshop.run()
    assert output == "7.0 False\n"
    assert "building" in messages
    assert store.unpack(path) is not None
    assert workshop.run() == HIT


def test_an_object_under_the_name_of_another_is_built_again(workshop):
    """Whole and undamaged, it would be called with the tables of another kernel."""
    (path,) = (p for p in workshop.objects() if p.name == object_name(workshop))
    symbol, code = store.unpack(path)
    assert store.belongs(symbol, "index3.sample", "fill_length")
    assert not store.belongs(symbol, "index3.sample", "fill")
    path.write_bytes(store.pack(symbol.replace("11fill_length", "10fill_width"), code))
    output, messages = workshop.run()
    assert output == "7.0 False\n"
    assert "building" in messages


def object_name(workshop):
    """The file that a run of the sample looks for."""
    return workshop.run(
        "from index3.compiled import store\nprint(store.file_name('index3.sample', 'fill_length'), end='')"
    )[0]


def test_two_processes_that_build_at_once(workshop, tmp_path):
    cache = tmp_path / "cache"
    processes = [workshop.start(INDEX3_CACHE=str(cache)) for _ in range(2)]
    for process in processes:
        output, messages = process.communicate(timeout=300)
        assert (process.returncode, output) == (0, "7.0 False\n"), messages
    (path,) = (path for path in cache.iterdir() if not path.name.startswith("sources-"))  # nothing half written
    assert store.unpack(path) is not None


def test_a_cache_that_cannot_be_written(workshop, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    output, messages = workshop.run(INDEX3_CACHE=str(blocked / "cache"))
    assert output == "7.0 False\n"
    assert "kept for this process only" in messages
    assert "Set INDEX3_CACHE to a folder that only you can write to." in messages
    assert blocked.read_text() == "not a folder"


def test_the_temporary_cache_goes_with_the_process(workshop, tmp_path):
    shutil.copytree(workshop.cache, tmp_path / "kept")  # so that this needs no build
    code = "from index3.compiled import cache\nprint(cache.build_directory())"
    output, _ = workshop.run(code, INDEX3_CACHE=str(tmp_path / "kept" / object_name(workshop) / "cache"))
    assert not Path(output.strip()).exists()


def test_what_is_packed_is_unpacked(tmp_path):
    path = tmp_path / "one.kob"
    path.write_bytes(store.pack(*PACKED))
    assert store.unpack(path) == PACKED


@pytest.mark.parametrize("place", [0, 31, 32, 40, 60, -1])
def test_no_changed_byte_passes(tmp_path, place):
    data = bytearray(store.pack(*PACKED))
    data[place] ^= 1
    path = tmp_path / "one.kob"
    path.write_bytes(data)
    assert store.unpack(path) is None


@pytest.mark.parametrize("length", [0, 1, 32, 39, 40, 100])
def test_no_cut_file_passes(tmp_path, length):
    path = tmp_path / "one.kob"
    path.write_bytes(store.pack(*PACKED)[:length])
    assert store.unpack(path) is None


def test_a_missing_file_and_a_folder_are_no_objects(tmp_path):
    assert store.unpack(tmp_path / "nothing.kob") is None
    assert store.unpack(tmp_path) is None


def test_imports_reach_through_other_modules_but_no_further_than_needed():
    seen = sources.imports("index3.forces.spring_damper")
    assert {"index3.algebra.vectors", "index3.compiled.interface", "index3.compiled.slots"} <= seen
    assert "index3.compiled.intrinsics" in seen
    assert "index3.constraints.rows" in sources.imports("index3.forces.coordinate_spring")
    rooms = {name.split(".")[1] for name in seen if name.count(".")}
    assert not rooms & {"model", "methods", "analysis", "results"}  # an edit there builds no spring again


LOADED = """
import importlib, sys
from index3.compiled import sources
for name in sources.kernel_modules():
    for old in [key for key in sys.modules if key.startswith("index3")]:
        del sys.modules[old]
    importlib.import_module(name)
    loaded = [(key, module) for key, module in sys.modules.items() if key.startswith("index3.")]
    print(name, *(key for key, module in loaded if not hasattr(module, "__path__")))
"""


def test_imports_are_those_that_python_makes(workshop):
    """Read from the sources, they hold everything that is loaded when a kernel module is."""
    output, _ = workshop.run(LOADED, INDEX3_JIT="0")
    lines = [line.split() for line in output.splitlines()]
    assert {name for name, *_ in lines} >= set(sources.kernel_modules())
    for name, *loaded in lines:
        if name in sources.kernel_modules():
            # but for the table that says where things are declared, from which no kernel is made
            assert set(loaded) - {"index3.names"} <= sources.imports(name), name


def test_digests_differ_by_module_and_by_interface(monkeypatch):
    names = sources.kernel_modules()
    digests = {sources.digest(name) for name in names}
    assert len(digests) == len(names)
    monkeypatch.setattr(sources, "INTERFACE", -1)
    sources.forget_sources()
    changed = {sources.digest(name) for name in names}
    sources.forget_sources()
    assert not digests & changed


def test_kernel_modules_are_those_with_kernels():
    names = sources.kernel_modules()
    assert {"index3.system.evaluate", "index3.forces.user_kernels", "index3.methods.direct.hht"} <= set(names)
    assert "index3.compiled.interface" not in names


def test_kernels_of_a_module_are_those_that_python_sees():
    for module in sources.kernel_modules():
        kernels = [value for value in vars(import_module(module)).values() if isinstance(value, Kernel)]
        found = {kernel.name for kernel in kernels if kernel.module == module}
        assert {name for _, name in sources.kernels([module])} == found, module


SECOND = """

@kernel
def double(T, E):
    x = view(T, X)
    for k in range(4):
        x[k] = 2.0 * x[k]
    return OK
"""
BOTH = """
import numpy as np
from index3.compiled import store
from index3.compiled.interface import Table
from index3.pair import X, double, fill_length
table = Table(1)
table[X] = np.array([2.0, 3.0, 6.0, 0.0])
assert fill_length(table.handle, 0) == 0
print(store.is_loaded("index3.pair", "double"), len(list(store.cache_directory().glob("*.kob"))))
assert double(table.handle, 0) == 0
print(table[X][3], len(list(store.cache_directory().glob("*.kob"))))
"""


def test_only_the_kernel_that_is_called_is_built(workshop, tmp_path):
    sample = (workshop.package / "sample.py").read_text("utf-8")
    (workshop.package / "pair.py").write_text(sample + SECOND, "utf-8")
    output, messages = workshop.run(BOTH, INDEX3_CACHE=str(tmp_path / "cache"))
    assert output.splitlines() == ["False 1", "14.0 2"]
    assert messages.count("building 1 kernel") == 2


def test_a_build_removes_old_objects_of_sources_that_are_gone(workshop, tmp_path):
    shutil.copytree(workshop.cache, tmp_path / "cache")
    (present,) = (tmp_path / "cache" / object_name(workshop),)
    gone = {days: tmp_path / "cache" / f"sample.fill_length-{days:020d}.kob" for days in (29, 31)}
    other = tmp_path / "cache" / "notes.txt"
    for path in (*gone.values(), other):
        path.write_bytes(b"older")
    for days, path in ((29, gone[29]), (31, gone[31]), (400, present), (400, other)):
        os.utime(path, (time.time() - days * 86400.0,) * 2)
    assert workshop.run(INDEX3_CACHE=str(tmp_path / "cache")) == HIT
    assert gone[31].exists()  # nothing was built: nothing is removed
    assert time.time() - present.stat().st_mtime < 3600.0  # what is loaded counts as used
    (workshop.package / "pair.py").write_text((workshop.package / "sample.py").read_text("utf-8"), "utf-8")
    os.utime(present, (time.time() - 400 * 86400.0,) * 2)
    workshop.run("from index3.pair import fill_length\nfill_length.address", INDEX3_CACHE=str(tmp_path / "cache"))
    assert not gone[31].exists()
    assert gone[29].exists()
    assert present.exists()  # however old: its sources are here
    assert other.exists()


def test_objects_that_vanish_are_a_clear_error(monkeypatch):
    monkeypatch.setattr(store, "read", lambda module, name: None)
    monkeypatch.setattr(store, "_addresses", {})
    monkeypatch.setattr(store, "_build", lambda missing: None)
    with pytest.raises(Index3Error, match=r"Kernel index3.system.evaluate.forces was built but cannot be read"):
        store.prepare([("index3.system.evaluate", "forces")])


class Terminal:
    """A stream that is or is not a terminal, and what was written to it."""

    def __init__(self, live):
        self.live, self.text = live, ""

    def isatty(self):
        return self.live

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def follow(monkeypatch, live):
    """What a build of two kernels prints."""
    terminal = Terminal(live)
    monkeypatch.setattr("sys.stderr", terminal)
    notice = store.Notice(2)
    notice.report("index3.forces.load.forces")
    notice.report("index3.system.evaluate.mass")
    notice.finish()
    return terminal.text


def test_progress_on_a_terminal_is_one_line(monkeypatch):
    text = follow(monkeypatch, live=True)
    assert text.count("\n") == 1
    assert text.endswith("\n")
    pieces = text.split("\r")
    assert "building 2 kernels" in pieces[1]
    assert "): about 5 s ..." in pieces[1]
    assert "1 of 2, about 5 s left (forces.load.forces)" in pieces[2]
    assert "2 of 2, " in pieces[3]


def test_progress_in_a_pipe_is_two_lines(monkeypatch):
    text = follow(monkeypatch, live=False)
    assert len(text.splitlines()) == 2
    assert "): about 5 s ..." in text
    assert "\r" not in text


def test_a_long_build_in_a_pipe_goes_on_telling_how_far_it_is(monkeypatch):
    monkeypatch.setattr("index3.compiled.notice.PERIOD", 0.0)
    lines = follow(monkeypatch, live=False).splitlines()
    assert lines[1:3] == [f"index3: building kernels: {k} of 2, about 5 s left" for k in (1, 2)]


@pytest.mark.parametrize(("seconds", "words"), [(0.1, "5 s"), (23.0, "25 s"), (89.0, "90 s"), (130.0, "2 minutes")])
def test_an_estimate_is_told_as_one(seconds, words):
    assert duration(seconds) == words
