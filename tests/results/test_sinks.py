"""Sinks by themselves: what is kept, what is copied, what is on the disk."""

from __future__ import annotations

import itertools
import pickle
import tracemalloc
from math import prod

import numpy as np
import pytest
import xarray as xr
from stored_four_bar import four_bar_result

import index3 as ix
from index3.compiled import columns
from index3.errors import Index3Error, ModelError
from index3.results import netcdf
from index3.results.result import Result
from index3.results.sinks import SINKS, SMALL, CallbackSink, FileSink, MemorySink, Sink

SIZES = {"coordinate": 21, "row": 23, "joint": 4, "measured_angle": 4}


def feed(sink, result, *ends, finish=True):
    """Give a sink the lines of a result in blocks that end at some lines."""
    sink.begin(result.layout, SIZES)
    for first, end in itertools.pairwise((0, *ends)):
        sink.take({name: np.array(x[first:end]) for name, x in result.arrays.items()})
    if finish:
        sink.finish(result.layout, result.info)
    return sink


def same(arrays, result):
    assert set(arrays) == set(result.arrays)
    for name, array in result.arrays.items():
        assert np.array_equal(arrays[name], array), name


def test_there_is_a_table_of_them():
    assert {"memory": MemorySink, "file": FileSink, "callback": CallbackSink}.items() <= SINKS.items()
    assert all(issubclass(kind, Sink) for kind in SINKS.values())


def test_a_sink_of_ones_own_goes_through_the_same_door(monkeypatch):
    monkeypatch.setattr(SINKS, "added", dict(SINKS.added))

    class Counter(Sink):
        name, lines = "counter", 0

        def take(self, block):
            self.lines += len(block["t"])

    assert ix.register(Counter) is SINKS["counter"]
    result = four_bar_result(5)
    assert feed(SINKS["counter"](), result, 2, 5).lines == 5

    class Silent(Sink):
        """Takes nothing."""

    with pytest.raises(ModelError, match=r"The sink 'Silent' cannot be registered: it has no name and no take\."):
        ix.register(Silent)

    class Memory(Counter):
        name = "memory"

    with pytest.raises(ModelError, match=r"'memory' of test_sinks cannot be registered: index3\.results\.sinks"):
        ix.register(Memory)


@pytest.mark.parametrize("kind", ["memory", "file", "callback"])
def test_a_run_without_lines_has_columns_of_the_right_shapes(tmp_path, kind):
    arguments = {"memory": (), "file": (tmp_path / "run.nc",), "callback": (print,)}[kind]
    result = four_bar_result(1)
    sink = feed(SINKS[kind](*arguments), result)
    assert len(Result(result.layout, dict(sink.arrays))) == 0  # refuses wrong shapes


def test_one_block_stays_where_it_is():
    result, sink = four_bar_result(5), MemorySink()
    block = {name: np.array(x) for name, x in result.arrays.items()}
    sink.begin(result.layout, SIZES)
    sink.take(block.copy())
    assert all(sink.arrays[name] is x for name, x in block.items())


def test_part_of_a_larger_block_does_not_keep_the_rest():
    result, sink = four_bar_result(600), MemorySink()
    sink.begin(result.layout, SIZES)
    sink.take({name: x[:2] for name, x in result.arrays.items()})
    assert all(x.base is None or x.base.nbytes <= SMALL for x in sink.arrays.values())
    assert all(len(x) == 2 for x in sink.arrays.values())
    assert sink.arrays["t"].base is None


def test_blocks_are_joined_in_order():
    result = four_bar_result(9)
    sink = feed(MemorySink(), result, 2, 3, 9)
    same(sink.arrays, result)
    assert sink.arrays["q"] is sink.arrays["q"]  # joined once


def test_joining_takes_one_more_column():
    """Parts of a column are free before the next one is joined."""
    result, sink = four_bar_result(5), MemorySink()
    sink.begin(result.layout, SIZES)
    tracemalloc.start()
    for _ in range(20):
        sink.take(columns.zeros(100, SIZES))
    stored = {name: 2000 * prod(shape) * 8 for name, shape in columns.shapes(1, SIZES).items()}
    assert len(sink.arrays["t"]) == 2000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (
        peak < sum(stored.values()) + max(stored.values()) + 1e5
    )  # 1e5: objects; all columns twice would be 1 MB more


def test_the_file_is_the_one_that_save_writes(tmp_path):
    result = four_bar_result(9)
    result.save(tmp_path / "saved.nc")
    feed(FileSink(tmp_path / "run.nc"), result, 2, 3, 9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.nc", "saved.nc"]  # the journal is gone
    with (
        xr.open_dataset(tmp_path / "saved.nc", engine="h5netcdf") as saved,
        xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as written,
    ):
        assert written.identical(saved)  # names, dimensions, attributes and values
    same(Result.load(tmp_path / "run.nc").arrays, result)


def read_so_far(arrays):
    """The columns that were asked for."""
    return {name for name in arrays if arrays.is_filled(name)}


def test_columns_of_a_file_are_read_when_asked_for(tmp_path):
    result = four_bar_result(9)
    sink = feed(FileSink(tmp_path / "run.nc"), result, 4, 9)
    lazy = Result(result.layout, sink.arrays, result.info)
    assert read_so_far(lazy.arrays) == set()
    assert np.array_equal(lazy["crank"].position, result["crank"].position)
    assert read_so_far(lazy.arrays) == {"t", "q", "v"}  # the number of lines is that of t
    same(lazy.arrays, result)


def test_columns_that_are_read_later_pickle_and_save(tmp_path):
    result = four_bar_result(9)
    sink = feed(FileSink(tmp_path / "run.nc"), result, 9)
    lazy = Result(result.layout, sink.arrays, result.info)
    lazy.arrays["lam"][0, 0] = 7.0
    lazy.save(tmp_path / "copy.nc")
    copies = pickle.loads(pickle.dumps(lazy)), Result.load(tmp_path / "copy.nc")
    (tmp_path / "run.nc").unlink()
    for copy in copies:
        assert copy.lam[0, 0] == 7.0
        assert np.array_equal(copy.q, result.q)


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_a_file_that_is_another_one_now_is_not_read(tmp_path, change):
    result = four_bar_result(9)
    arrays = feed(FileSink(tmp_path / "run.nc"), result, 9).arrays
    assert len(arrays["t"]) == 9
    four_bar_result(5).save(tmp_path / "run.nc") if change == "replaced" else (tmp_path / "run.nc").unlink()
    with pytest.raises(Index3Error, match=r"run\.nc', which holds 'q' of this result, was replaced or removed"):
        arrays["q"]


def test_lines_can_be_read_while_the_run_goes_on(tmp_path):
    result = four_bar_result(9)
    sink = feed(FileSink(tmp_path / "run.nc"), result, 4, 9, finish=False)
    same(sink.arrays, result)
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc.journal"]


def test_if_the_file_cannot_be_written_the_journal_stays(tmp_path, monkeypatch):
    def full(*arguments, **settings):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", full)
    result = four_bar_result(9)
    sink = FileSink(tmp_path / "run.nc")
    with pytest.raises(Index3Error, match=r"run\.nc' cannot be written: No space left on device\. All lines"):
        feed(sink, result, 4, 9)
    same(sink.arrays, result)


def test_columns_go_to_the_file_one_by_one(tmp_path, monkeypatch):
    """No more than one history is in memory at a time when the journal becomes a file."""
    held, read, result = [], netcdf.LazyArrays.glance, four_bar_result(9)

    def glance(self, name):
        held.append(read_so_far(self))
        return read(self, name)

    monkeypatch.setattr(netcdf.LazyArrays, "glance", glance)
    feed(FileSink(tmp_path / "run.nc"), result, 9)
    assert held[-1] == {"t", "angle"}  # needed for the names along the axes


def test_a_callback_gets_every_block():
    result, seen = four_bar_result(9), []
    sink = CallbackSink(lambda block: seen.append(block["t"].copy()))
    feed(sink, result, 2, 3, 9)
    assert [len(t) for t in seen] == [2, 1, 6]
    assert np.array_equal(np.concatenate(seen), result.t)
    assert len(sink.arrays["t"]) == 0


def test_only_true_stops():
    sink = CallbackSink(lambda block: block["answer"])
    answers = (True, np.True_, False, None, 1, "yes")
    assert [sink.take({"answer": answer}) for answer in answers] == [True, True, False, False, False, False]
