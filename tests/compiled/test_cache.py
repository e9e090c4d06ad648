"""The user's cache: which folder it is, and whose code is never loaded from it."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from index3.compiled import build, cache, store, workers
from index3.compiled.interface import JIT
from index3.errors import Index3Error

pytestmark = [
    pytest.mark.skipif(not JIT, reason="plain kernels need no cache"),
    pytest.mark.skipif(sys.platform == "win32", reason="owners and modes mean nothing there"),
]
as_root = pytest.mark.skipif(sys.platform != "win32" and os.geteuid() != 0, reason="only root gives files away")
SOMEBODY = 4321  # a user who is not the one that runs the tests
TEMPORARY = "are kept for this process only. Set INDEX3_CACHE to a folder that only you can write to."
HIT = ("7.0 False\n", "")
LARGE = "from index3.system.evaluate import forces\nprint(forces.address != 0)"  # its object takes more than 4 kB


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A home folder, no variable set, and nothing in a temporary folder."""
    for name in ("INDEX3_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(cache, "_temporary", [])
    return tmp_path


@pytest.mark.parametrize("value", ["", "relative", "./here", "~nobody-of-this-name/x"])
def test_an_empty_or_relative_folder_counts_as_not_set(home, monkeypatch, value):
    monkeypatch.setenv("INDEX3_CACHE", value)
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert cache.cache_directory() == home / ".cache" / "index3"
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/other")
    assert cache.cache_directory() == Path("/var/other/index3")


def test_a_tilde_is_the_home_folder(home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "~/far")
    assert cache.cache_directory() == home / "far" / "index3"
    monkeypatch.setenv("INDEX3_CACHE", "~/near")
    assert cache.cache_directory() == home / "near"


@pytest.mark.parametrize("value", ["", "relative"])
def test_no_home_folder_is_no_cache(home, monkeypatch, capsys, value):
    monkeypatch.setenv("HOME", value)
    assert cache.cache_directory() is None
    assert cache.directories() == []
    folder = cache.build_directory()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache.build_directory() == folder
    assert cache.directories() == [folder]
    assert (
        capsys.readouterr().err
        == f"index3: kernels cannot be stored in a cache (there is no home folder) and {TEMPORARY}\n"
    )


def test_a_run_without_a_home_folder(workshop):
    """A user whom the system does not know, and who has no HOME."""
    code = "import os\nos.environ.pop('HOME', None)\nimport pwd\npwd.getpwuid = lambda uid: {}[uid]\n"
    sample = (Path(__file__).parent / "conftest.py").read_text("utf-8").split('RUN = """')[1].split('"""')[0]
    output, messages = workshop.run(code + sample, INDEX3_CACHE="", XDG_CACHE_HOME="")
    assert output == "7.0 False\n"
    assert f"(there is no home folder) and {TEMPORARY}" in messages


def test_the_folder_and_its_files_are_the_users_alone_whatever_the_umask(workshop, tmp_path):
    made = tmp_path / "deep" / "cache"
    code = "import os\nos.umask(0)\nfrom index3.sample import fill_length\nfill_length.address"
    workshop.run(code, INDEX3_CACHE=str(made))
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    (file,) = made.glob("*.kob")
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert workshop.run(INDEX3_CACHE=str(made)) == HIT


@pytest.fixture
def kept(tmp_path):
    """A folder of the user with one object."""
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    file = folder / "one.kob"
    file.write_bytes(store.pack("symbol", b"code"))
    file.chmod(0o644)
    assert store.unpack(file, trusted=False) == ("symbol", b"code")
    return file


@pytest.mark.parametrize("mode", [0o020, 0o002, 0o022])
def test_what_others_may_write_is_not_loaded(kept, mode):
    kept.chmod(0o644 | mode)
    assert store.unpack(kept, trusted=False) is None
    kept.chmod(0o644)
    kept.parent.chmod(0o700 | mode)
    assert store.unpack(kept, trusted=False) is None
    assert store.unpack(kept) == ("symbol", b"code")  # as an installed one: the package's files are trusted as such


@as_root
def test_what_belongs_to_somebody_else_is_not_loaded(kept):
    os.chown(kept, SOMEBODY, -1)
    assert store.unpack(kept, trusted=False) is None
    os.chown(kept, 0, -1)
    os.chown(kept.parent, SOMEBODY, -1)
    assert store.unpack(kept, trusted=False) is None


def test_a_link_to_another_file_is_not_loaded(kept):
    link = kept.with_name("link.kob")
    link.symlink_to(kept)
    assert store.unpack(link, trusted=False) is None


def test_a_run_loads_nothing_that_others_could_have_written(workshop, tmp_path):
    """The object is there and whole; with the folder open to others it is built anew, somewhere else."""
    folder = tmp_path / "cache"
    workshop.run(INDEX3_CACHE=str(folder))
    before = [path.stat() for path in folder.iterdir()]
    folder.chmod(0o777)
    output, messages = workshop.run(INDEX3_CACHE=str(folder))
    assert output == "7.0 False\n"
    assert f"{folder} (it belongs to someone else, or others can write to it) and {TEMPORARY}" in messages
    assert [path.stat() for path in folder.iterdir()] == before
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777  # a folder that the user names is left as it is


def test_the_packages_own_folder_is_closed_to_others(home):
    folder = home / ".cache" / "index3"
    folder.mkdir(parents=True)
    folder.chmod(0o775)  # as made by a system that lets a user's group write
    assert cache.build_directory() == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@as_root
def test_a_folder_of_somebody_else_is_not_used(home, monkeypatch, capsys):
    folder = home / "cache"
    folder.mkdir(mode=0o700)
    os.chown(folder, SOMEBODY, -1)
    monkeypatch.setenv("INDEX3_CACHE", str(folder))
    assert cache.build_directory() != folder
    assert "it belongs to someone else" in capsys.readouterr().err


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def fail(source, destination):
        assert Path(source).is_file()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        build.write(tmp_path / "one.kob", b"content")
    assert list(tmp_path.iterdir()) == []


@as_root
@pytest.mark.parametrize("room", [0, 4096])
def test_a_full_disk(workshop, tmp_path, room):
    """Full from the beginning, or in the middle of the first object."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        with open(small / "filler", "wb", buffering=0) as file:
            file.write(bytes(65536 - room))
        output, messages = workshop.run(LARGE, INDEX3_CACHE=str(small))
        assert [path.name for path in small.iterdir()] == ["filler"]
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert output == "True\n"
    assert f"{small} (No space left on device) and {TEMPORARY}" in messages


def test_what_was_stored_before_the_disk_was_full_is_not_built_again(home, monkeypatch):
    asked = []

    def build_one(keys, directory, jobs=None, report=None):
        asked.append((list(keys), directory))
        if len(asked) == 1:
            symbol = "6index36forces4load6forces"  # as Numba forms it
            (directory / store.file_name(*keys[0])).write_bytes(store.pack(symbol, b"code"))
            raise workers.NotStored("No space left on device")

    monkeypatch.setattr(store, "INSTALLED", str(home / "none"))
    monkeypatch.setattr(workers, "build", build_one)
    keys = [("index3.forces.load", name) for name in ("forces", "force_derivatives")]
    store._build(keys)
    assert asked == [(keys, home / ".cache" / "index3"), (keys[1:], cache.directories()[1])]
    assert cache.build_directory() == cache.directories()[1]  # the disk is not tried again


def test_where_both_folders_are_full_objects_are_held_in_memory(home, monkeypatch, capsys):
    def build_in_memory(keys, directory, jobs=None, report=None):
        if directory is not None:
            raise workers.NotStored("No space left on device")
        return {".".join(key): store.pack("symbol", b"code") for key in keys}

    monkeypatch.setattr(store, "INSTALLED", str(home / "none"))
    monkeypatch.setattr(store, "_held", {})
    monkeypatch.setattr(workers, "build", build_in_memory)
    key = ("index3.system.evaluate", "forces")
    store._build([key])
    assert store.read(*key) == (None, "symbol", b"code")
    assert store.find(*key) is None
    said = capsys.readouterr().err
    assert re.search(r"nor in .*index3-.* \(No space left on device\)\. Make room.* rebuilds its kernels\.", said)
    store._build([("index3.system.evaluate", "mass")])
    assert "Make room" not in capsys.readouterr().err  # said once


NOWHERE = """
import tempfile
def refuse(*arguments, **settings):
    raise OSError(28, "No space left on device")
tempfile.mkdtemp = tempfile.TemporaryFile = refuse
"""


def test_a_run_where_nothing_can_be_stored(workshop):
    """No home folder and no temporary one: kernels come through pipes, and the next process builds them anew."""
    for _ in range(2):
        output, messages = workshop.run(NOWHERE + workshop.sample, INDEX3_CACHE="", XDG_CACHE_HOME="", HOME="")
        assert output == "7.0 False\n"
        assert "nor in a temporary folder (No space left on device)" in messages
        assert "building 1 kernel" in messages


def test_no_temporary_folder_at_all_is_an_error(home, monkeypatch):
    def refuse(prefix):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(Index3Error, match=r"\(there is no home folder\), nor in a temporary folder \(No usable"):
        cache.build_directory()
