"""Files of results: whole or not at all, with the reason by name, and their bytes as they were saved."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import h5py
import pytest
from stored_four_bar import four_bar_result

from index3.errors import FileError, Index3Error
from index3.results.result import Result

WRITERS = {"run.nc": Result.save, "run.csv": Result.to_csv, "run.html": Result.to_html}


@pytest.mark.parametrize("name", WRITERS)
def test_files_that_cannot_be_written_are_named(tmp_path, name):
    write, result = WRITERS[name], four_bar_result(3)
    (tmp_path / "folder" / name).mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for folder, why in (("missing", "No such file"), ("folder", "Is a directory"), ("file", "Not a directory")):
        with pytest.raises(
            FileError, match=f"File '.*{name}' cannot be written: {why}.*[.] Give another path"
        ) as error:
            write(result, tmp_path / folder / name)
        assert isinstance(error.value, OSError)
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(["file", "folder", name])


@pytest.mark.skipif(sys.platform == "win32", reason="asks whether processes run as POSIX has it")
def test_what_killed_processes_left_goes_with_the_next_writing(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = "run.csv", "run.csv.room", "run.csv.journal", "run.csv.checkpoint"
    others = f".{os.getppid()}.run.csv", f".{ended.pid}.other.csv", ".run.csv", f"{ended.pid}.run.csv"
    for name in (*(f".{ended.pid}.{name}" for name in names), *others):
        (tmp_path / name).write_text("")
    four_bar_result(3).to_csv(tmp_path / "run.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"run.csv", *others}


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_without_room_keeps_the_old_file_and_the_process(tmp_path, name):
    """Files cannot grow beyond some bytes; HDF5 itself would crash at the end of the process."""
    code = f"""
import pathlib, resource, sys
sys.path.insert(0, {os.fspath(Path(__file__).parent)!r})
from stored_four_bar import four_bar_result
from index3.errors import FileError
from test_writing import WRITERS
write, result = WRITERS[{name!r}], four_bar_result(30)
pathlib.Path({name!r}).write_text("old")
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    write(result, {name!r})
except FileError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == f"File '{name}' cannot be written: File too large. Give another path, or make room there.\n"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "old")]
    assert done.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names")
def test_a_pipe_is_written_to_and_a_link_followed(tmp_path):
    result = four_bar_result(3)
    result.to_csv(tmp_path / "run.csv")
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE)
    writer = threading.Thread(target=result.to_csv, args=(tmp_path / "pipe",))
    writer.start()
    assert reader.communicate(timeout=60)[0] == (tmp_path / "run.csv").read_bytes()
    writer.join()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    (tmp_path / "link.nc").symlink_to("kept.nc")
    result.save(tmp_path / "link.nc")
    assert (tmp_path / "link.nc").is_symlink()
    assert len(Result.load(tmp_path / "kept.nc")) == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="devices of Linux")
def test_devices_get_the_bytes_of_a_complete_file(tmp_path):
    """HDF5 crashes on them; in a process of its own for that."""
    four_bar_result(3).save(tmp_path / "run.nc")
    code = """
from index3.results.result import Result
from index3.errors import FileError
result = Result.load("run.nc")
result.save("/dev/null")
try:
    result.save("/dev/full")
except FileError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("File '/dev/full' cannot be written: No space left on device.")


def test_changed_bytes_are_refused_before_hdf5_reads_them(tmp_path, monkeypatch):
    """The library may hang or crash on them."""
    path = tmp_path / "run.nc"
    four_bar_result(3).save(path)
    data = path.read_bytes()
    monkeypatch.setattr(h5py, "File", None)
    for changed in (data[:100] + b"!" + data[101:], data[:300] + data[400:], data[:50] + data[20:]):
        path.write_bytes(changed)
        with pytest.raises(Index3Error, match=r"run\.nc' is damaged: its bytes are not those that were saved"):
            Result.load(path)
    monkeypatch.undo()
    path.write_bytes(data[: data.rindex(b"\nindex3 crc32")])  # as saved before there was this line
    assert len(Result.load(path)) == 3
