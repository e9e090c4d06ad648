"""What is remembered of the sources is what they say, or it is not used."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import pytest

import index3
from index3.compiled import memory, sources, target

MODULE = "index3.forces.load"
PATTERN = re.compile(r"\bs\.CORE_(\w+)")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, with a cache of its own; files count as finished at once."""
    ignored = shutil.ignore_patterns("__pycache__", "kernels")
    shutil.copytree(Path(index3.__file__).parent, tmp_path / "index3", ignore=ignored)
    monkeypatch.setattr(sources, "PACKAGE", str(tmp_path / "index3"))
    monkeypatch.setattr(memory, "QUIET", -60.0)
    monkeypatch.setenv("INDEX3_CACHE", str(tmp_path / "cache"))
    sources.forget_sources()
    yield tmp_path / "index3"
    sources.forget_sources()


def new_process():
    """Forget what the process knows; the digest it then finds, and how many sources it reads for that."""
    sources.forget_sources()
    found = memory.digest(MODULE, target.QUICK), memory.words("index3.methods.stepping", PATTERN)
    read = sources.text.cache_info().misses
    memory.save()
    return *found, read


def record_file(package):
    (file,) = (package.parent / "cache").iterdir()
    return file


def test_a_second_process_reads_no_source(package):
    first = new_process()
    second = new_process()
    assert first[2] > 10
    assert second == (*first[:2], 0)
    assert first[0] == sources.digest(MODULE, target.QUICK)
    assert first[1] == sources.words("index3.methods.stepping", PATTERN)
    assert "ANGLES" in first[1]


def edit(package):
    path = package / "forces" / "load.py"
    path.write_text(path.read_text("utf-8").replace("load", "Load", 1), "utf-8")


def edit_unseen(package):
    """Same size, same time of the edit."""
    info = (package / "forces" / "load.py").stat()
    edit(package)
    os.utime(package / "forces" / "load.py", ns=(info.st_atime_ns, info.st_mtime_ns))


def edit_deeper(package):
    path = package / "algebra" / "vectors.py"
    path.write_text(path.read_text("utf-8") + "\n", "utf-8")


def hide(package):
    """What was a package becomes a module."""
    (package / "compiled.py").write_text("# hides the folder", "utf-8")


@pytest.mark.parametrize("change", [edit, edit_unseen, edit_deeper, hide])
def test_a_change_of_a_source_is_seen(package, change):
    before = new_process()
    change(package)
    after = new_process()
    assert after[0] != before[0]
    assert after[2] > 10
    assert new_process() == (*after[:2], 0)


def test_what_else_a_digest_stands_for_counts_as_well(package, monkeypatch):
    before = new_process()
    with monkeypatch.context() as patch:
        patch.setattr(sources, "INTERFACE", -1)
        assert new_process()[0] != before[0]
    with monkeypatch.context() as patch:
        patch.setattr(target, "ENVIRONMENT", {**target.ENVIRONMENT, "NUMBA_OPT": "3"})
        target.description.cache_clear()
        assert new_process()[0] != before[0]
    target.description.cache_clear()
    assert new_process()[0] == before[0]


def test_another_numba_is_seen(package, monkeypatch, tmp_path):
    before = new_process()
    (tmp_path / "_version.py").write_text("version = '0'", "utf-8")
    files = [*memory.version_files()[:1], str(tmp_path / "_version.py")]
    monkeypatch.setattr(memory, "version_files", lambda: files)
    assert new_process()[2] == before[2]
    assert new_process()[2] == 0
    time.sleep(0.02)  # coarser than the clock of file systems
    (tmp_path / "_version.py").write_text("version = '1'", "utf-8")
    assert new_process()[2] == before[2]


def test_sources_that_were_just_written_are_not_remembered(package, monkeypatch):
    monkeypatch.setattr(memory, "QUIET", 10.0)
    assert new_process()[2] == new_process()[2] > 10
    assert not (package.parent / "cache").exists()


def test_an_edit_while_a_process_runs_does_not_reach_what_it_knew_before(package):
    new_process()
    sources.forget_sources()
    known = memory.digest(MODULE, target.QUICK)
    edit(package)
    memory.digest("index3.forces.bushing", target.QUICK)
    sources.text(MODULE)  # as a digest would that is made from it
    memory.save()
    assert new_process()[0] != known


DAMAGE = {
    "cut": lambda data: data[:-1],
    "empty": lambda data: b"",
    "changed": lambda data: data.replace(b"\t2", b"\t3"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_record_is_not_used(package, damage):
    first = new_process()
    file = record_file(package)
    file.write_bytes(damage(file.read_bytes()))
    assert new_process() == first
    assert new_process()[2] == 0


@pytest.mark.skipif(os.name == "nt", reason="others have no such rights there")
def test_a_record_that_others_may_write_is_not_used(package):
    first = new_process()
    record_file(package).chmod(0o666)
    assert new_process() == first


def test_without_a_cache_nothing_is_remembered(package, monkeypatch):
    monkeypatch.setattr("index3.compiled.cache.cache_folder", lambda: None)
    assert new_process()[2] == new_process()[2] > 10


def test_modules_outside_the_package_are_always_read(package):
    new_process()
    sources.forget_sources()
    memory.digest(__name__, target.QUICK)
    assert sources.text.cache_info().misses > 0
    assert not any("digest" in key and __name__ in key for key in memory.record().answers)
