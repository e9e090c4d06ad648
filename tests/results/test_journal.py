"""The journal of a run: whole blocks come back exactly, whatever happened to the last one."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from stored_four_bar import four_bar_result

from index3.errors import Index3Error
from index3.results.journal import HEAD, MAGIC, JournalWriter, read_journal

SIZES = {"coordinate": 21, "row": 23, "joint": 4, "measured_angle": 4}


def blocks(result, *ends):
    """The lines of a result in blocks that end at some lines."""
    spans = itertools.pairwise((0, *ends))
    return [{name: x[first:end] for name, x in result.arrays.items()} for first, end in spans]


def write(path, result, *ends, finish=False):
    """A journal of the lines of a result; the sizes of the file after each record."""
    writer = JournalWriter(path, result.layout, SIZES)
    marks = [path.stat().st_size]
    for block in blocks(result, *ends):
        writer.write_lines(block)
        marks.append(path.stat().st_size)
    if finish:
        writer.write_end(result.layout, result.info)
        marks.append(path.stat().st_size)
    writer.close()
    return marks


def same_lines(arrays, result, lines):
    assert set(arrays) == set(result.arrays)
    for name, array in result.arrays.items():
        assert arrays[name].tobytes() == np.ascontiguousarray(array[:lines]).tobytes(), name
        assert arrays[name].shape == array[:lines].shape


def test_lines_come_back_exactly(tmp_path):
    result = four_bar_result(9)
    result.arrays["work"][:4] = np.nan, -0.0, np.inf, 1e-310
    write(tmp_path / "run.journal", result, 2, 3, 9, finish=True)
    journal = read_journal(tmp_path / "run.journal")
    assert (journal.lines, journal.ignored, journal.sizes) == (9, 0, SIZES)
    assert journal.layout == result.layout.to_dict()
    assert journal.info["stats"] == result.stats
    assert not any(map(journal.arrays.is_filled, journal.arrays))
    same_lines(journal.arrays, result, 9)


def test_a_run_under_way_has_no_end(tmp_path):
    write(tmp_path / "run.journal", four_bar_result(5), 5)
    assert read_journal(tmp_path / "run.journal").info is None


@pytest.mark.parametrize("finish", [False, True], ids=["lines", "end"])
def test_whatever_is_left_of_the_last_record_the_others_are_read(tmp_path, finish):
    """Cut at every byte: a kill may leave any part of the record that was being written."""
    result, path = four_bar_result(5), tmp_path / "run.journal"
    marks = write(path, result, 2, 4, 5, finish=finish)
    data, last, lines = path.read_bytes(), marks[-2], 5 if finish else 4
    assert marks[-1] == len(data)
    for size in range(last, len(data)):
        path.write_bytes(data[:size])
        journal = read_journal(path)
        assert (journal.lines, journal.ignored, journal.info) == (lines, size - last, None)
        if size in (last, last + 1, last + HEAD.size, len(data) - 1):  # all columns, where the kinds of cut change
            same_lines(journal.arrays, result, lines)


def test_a_changed_byte_ends_what_is_trusted(tmp_path):
    result, path = four_bar_result(6), tmp_path / "run.journal"
    marks = write(path, result, 2, 4, 6)
    data = path.read_bytes()
    for place in (marks[1], marks[1] + 5, marks[1] + 13, marks[1] + HEAD.size + 40, marks[2] - 1):  # head and data
        spoilt = bytearray(data)
        spoilt[place] ^= 0x10
        path.write_bytes(spoilt)
        journal = read_journal(path)
        assert (journal.lines, journal.ignored) == (2, len(data) - marks[1])
        same_lines(journal.arrays, result, 2)


def test_what_an_interrupt_left_is_overwritten(tmp_path, monkeypatch):
    result, path = four_bar_result(6), tmp_path / "run.journal"
    first, second, third = blocks(result, 2, 3, 6)
    writer = JournalWriter(path, result.layout, SIZES)
    writer.write_lines(first)

    def interrupt(descriptor):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            writer.write_lines(third)  # longer than what comes in its place
    writer.write_lines(second)
    writer.close()
    journal = read_journal(path)
    assert (journal.lines, journal.ignored) == (3, 0)
    same_lines(journal.arrays, result, 3)


def test_every_block_is_on_the_disk_before_the_next(tmp_path, monkeypatch):
    """Each record is followed by fsync, and nothing of it is left in a buffer then."""
    sizes, real = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (sizes.append(os.fstat(file).st_size), real(file)))
    marks = write(tmp_path / "run.journal", four_bar_result(5), 2, 5, finish=True)
    assert sizes == marks


def test_an_earlier_journal_is_not_overwritten(tmp_path):
    path, result = tmp_path / "run.journal", four_bar_result(5)
    write(path, result, 5)
    with pytest.raises(Index3Error, match=r"journal '.*run\.journal' of a run that is still running or did not end"):
        write(path, result, 2)
    assert read_journal(path).lines == 5


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(Index3Error, match="cannot be written: No such file or directory"):
        write(tmp_path / "nowhere" / "run.journal", four_bar_result(2), 2)


def test_what_is_no_journal_is_refused(tmp_path):
    path = tmp_path / "run.journal"
    with pytest.raises(Index3Error, match="cannot be read: No such file"):
        read_journal(path)
    path.write_bytes(b"something else")
    with pytest.raises(Index3Error, match="is not a journal of index3"):
        read_journal(path)
    path.write_bytes(MAGIC + b"MODL")
    with pytest.raises(Index3Error, match="ends before its first line"):
        read_journal(path)


def test_other_columns_are_refused(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("index3.results.journal.NAMES", ("t", "q"))
        write(tmp_path / "run.journal", four_bar_result(2), 2)
    with pytest.raises(Index3Error, match="other columns than this version"):
        read_journal(tmp_path / "run.journal")
