"""Output of whole runs through sinks: the same lines wherever they go, few copies, nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest

import index3 as ix
from index3.compiled import columns
from index3.compiled.interface import WORDS
from index3.engine import collector
from index3.engine.reasons import STOPPED
from index3.methods.output import Output
from index3.results.journal import read_journal
from index3.results.sinks import SINKS, CallbackSink, FileSink, MemorySink

NAMES = [column.name for column in columns.COLUMNS]


def run(case):
    """One of several runs, each with other ways for lines to come."""
    if case == "steps":
        return ix.simulate(ix.library.four_bar(), (0.0, 0.5), "hht-i3", progress=False)
    if case == "times":
        return ix.simulate(ix.library.four_bar(), (0.0, 0.5), "dopri5", t_eval=0.004, progress=False)
    if case == "discontinuities":
        stops = {"discontinuities": (0.1, 0.2), "t_eval": 0.01}
        return ix.simulate(ix.library.four_bar(), (0.0, 0.5), "bdf-i3", **stops, progress=False)
    model = ix.library.free_double_pendulum()

    def event(t, state):
        return state["rod2"].velocity[1] + 0.5

    if case == "terminal event":
        event.terminal = True
    else:
        event.action = ix.open_joint("elbow")
    return ix.simulate(model, (0.0, 0.5), "hht-i3", events=event, t_eval=0.005, progress=False)


CASES = ["steps", "times", "discontinuities", "terminal event", "opened joint"]


def use(monkeypatch, make):
    """Let the next runs write to sinks made by a function, in small blocks."""
    monkeypatch.setattr(collector, "BLOCK_LINES", 7)
    monkeypatch.setattr(collector, "KEPT_BYTES", 40_000)
    monkeypatch.setitem(SINKS.added, "memory", make)


@pytest.mark.parametrize("case", CASES)
def test_lines_are_the_same_wherever_they_go(monkeypatch, tmp_path, case):
    expected, blocks = run(case), []
    assert expected.status == (STOPPED if case == "terminal event" else 0)
    assert len(expected.jumps) == (1 if case == "opened joint" else 0)
    use(monkeypatch, MemorySink)
    in_blocks = run(case)
    use(monkeypatch, lambda: FileSink(tmp_path / "run.nc"))
    in_file = run(case)
    use(monkeypatch, lambda: CallbackSink(lambda block: blocks.append({k: x.copy() for k, x in block.items()})))
    assert len(run(case)) == 0
    loaded = ix.Result.load(tmp_path / "run.nc")
    assert len(blocks) > 5
    for name in NAMES:
        for found in (in_blocks, in_file, loaded):
            assert found.arrays[name].tobytes() == expected.arrays[name].tobytes(), name
        assert np.concatenate([block[name] for block in blocks]).tobytes() == expected.arrays[name].tobytes()
    assert loaded.layout.to_dict() == expected.layout.to_dict()  # unique reactions are known at the end only
    assert loaded.message == in_file.message == expected.message


def test_lam_of_open_joints_is_zero(monkeypatch):
    """In arrays that are used again, too: a sink that keeps nothing gets every block in the same ones."""
    parts, jumps = [], run("opened joint").jumps
    use(monkeypatch, lambda: CallbackSink(lambda block: parts.append((block["t"].copy(), block["lam"].copy()))))
    run("opened joint")
    t, lam = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows = ix.simulate(ix.library.free_double_pendulum(), (0.0, 0.01)).layout.joints[-1]["rows"]
    assert np.all(lam[t >= jumps[0].t][:, rows] == 0.0)
    assert np.any(lam[t < jumps[0].t][:, rows] != 0.0)


def peak_of(make):
    """Result of a run, and the most memory that it had allocated at once beside what it had before."""
    make()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = make()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, peak - before


def test_memory_is_that_of_the_result():
    """Lines known in advance are written where they stay."""
    model = ix.library.chain(20)
    settings = {"step": 2.5e-4, "t_eval": 2.5e-4, "progress": False}
    result, peak = peak_of(lambda: ix.simulate(model, (0.0, 1.0), "hht-i3", **settings))
    stored = sum(array.nbytes for array in result.arrays.values())
    assert len(result) == 4001
    assert peak < stored + 4e6  # tables of the model and its solver, layout; one more copy of the lines would be 21 MB


def test_lines_of_unknown_number_come_in_few_blocks(monkeypatch):
    """Each block holds as many lines as all before it."""
    sink = MemorySink()
    monkeypatch.setitem(SINKS.added, "memory", lambda: sink)
    monkeypatch.setattr(collector, "BLOCK_LINES", 7)
    given, take = [], sink.take
    monkeypatch.setattr(sink, "take", lambda block: (given.append(len(block["t"])), take(block))[1])
    ix.simulate(ix.library.pendulum(), (0.0, 0.1), "hht-i3", step=1e-3, progress=False)
    assert given == [7, 7, 14, 28, 45]


def test_lines_known_in_advance_are_not_copied():
    result = ix.simulate(ix.library.pendulum(), (0.0, 0.1), t_eval=0.001, progress=False)
    assert all(array.base is None and array.flags.c_contiguous for array in result.arrays.values())


def test_few_lines_are_in_one_small_piece_that_no_later_run_writes_to():
    simulation = ix.prepare(ix.library.pendulum(), "dopri5", progress=False)
    first = simulation.run((0.0, 0.1), t_eval=[0.05, 0.1])
    before = {name: array.copy() for name, array in first.arrays.items()}
    assert len({id(array.base) for array in first.arrays.values()}) == 1
    assert first.q.base.nbytes < 8192  # 4096 bytes of numbers, each column at a multiple of 64
    second = simulation.run((0.0, 1.0), t_eval=[0.5, 1.0])
    assert not np.array_equal(first.q, second.q)
    assert all(np.array_equal(first.arrays[name], array) for name, array in before.items())


def test_lines_of_events_follow_when_all_known_lines_are_given():
    """The block of the lines asked for is the sink's by then."""

    def half(t, state):
        return t - 0.5

    half.terminal = True
    settings = {"t_eval": [0.1, 0.2], "events": half, "progress": False}
    result = ix.simulate(ix.library.pendulum(), (0.0, 1.0), "dopri5", **settings)
    assert result.t == pytest.approx([0.1, 0.2, 0.5], abs=1e-9)  # an event is located to rounding of the span


def test_far_more_lines_than_memory(monkeypatch):
    """Room for lines that are known is not asked for beyond reason: a run may end early."""
    model, count = ix.library.chain(10), 3_000_000  # 8 GB

    def stop(t, q, v):
        return t > 0.0

    times = np.linspace(0.0, 1.0, count)
    tracemalloc.start()
    result = ix.simulate(model, (0.0, 1.0), t_eval=times, callback=stop, progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(result) == 2
    assert peak < 1.2 * collector.KEPT_BYTES


def test_a_sink_may_stop_the_run(monkeypatch):
    monkeypatch.setitem(SINKS.added, "memory", lambda: CallbackSink(lambda block: True))
    result = ix.simulate(ix.library.pendulum(), (0.0, 1e3), progress=False)
    assert result.status == STOPPED
    assert result.message.startswith("The callback stopped the run at t = ")


def test_the_callback_comes_before_the_sink(monkeypatch):
    """Lines after the one at which the user's callback stopped the run are in no sink."""
    times = []
    monkeypatch.setitem(SINKS.added, "memory", lambda: CallbackSink(lambda block: times.extend(block["t"])))
    ix.simulate(ix.library.pendulum(), (0.0, 1.0), t_eval=0.01, callback=lambda t, q, v: t >= 0.5, progress=False)
    assert len(times) == 51


def test_an_interrupt_while_a_block_is_written(monkeypatch, tmp_path):
    """Ctrl-C inside fsync: every line is there, and none twice."""
    real, calls = os.fsync, []

    def interrupted(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:  # 1: the description of the model
            raise KeyboardInterrupt
        real(descriptor)

    monkeypatch.setattr(os, "fsync", interrupted)
    use(monkeypatch, lambda: FileSink(tmp_path / "run.nc"))
    result = ix.simulate(ix.library.pendulum(), (0.0, 10.0), t_eval=0.01, progress=False)
    assert result.message.startswith("Interrupted at t = ")
    assert len(result) >= 14
    assert np.array_equal(result.t, np.arange(len(result)) * 0.01)


def test_a_kill_loses_only_the_last_block(tmp_path):
    """The process ends itself with SIGKILL at a line; the journal holds the blocks before it."""
    script = f"""
        import os, signal
        import index3 as ix
        from index3.engine import collector
        from index3.results.sinks import SINKS, FileSink

        collector.BLOCK_LINES = 10
        SINKS.added["memory"] = lambda: FileSink({str(tmp_path / "run.nc")!r})

        def kill(t, q, v):
            if t >= 0.255:
                os.kill(os.getpid(), signal.SIGKILL)

        ix.simulate(ix.library.four_bar(), (0.0, 0.5), "hht-i3", t_eval=0.005, callback=kill, progress=False)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=300)
    assert done.returncode == -signal.SIGKILL
    journal = read_journal(tmp_path / "run.nc.journal")
    assert (journal.lines, journal.ignored, journal.info) == (50, 0, None)
    expected = ix.simulate(ix.library.four_bar(), (0.0, 0.5), "hht-i3", t_eval=0.005, progress=False)
    for name in NAMES:
        assert journal.arrays[name].tobytes() == expected.arrays[name][:50].tobytes()
    assert not (tmp_path / "run.nc").exists()


def test_a_failed_run_is_in_the_file(monkeypatch, tmp_path):
    monkeypatch.setitem(SINKS.added, "memory", lambda: FileSink(tmp_path / "run.nc"))
    result = ix.simulate(ix.library.four_bar(), (0.0, 5.0), "hht-i3", max_steps=20, progress=False)
    loaded = ix.Result.load(tmp_path / "run.nc")
    assert not loaded.success
    assert loaded.message == result.message
    assert len(loaded) == 21


@pytest.mark.jit_off
def test_columns_are_written_by_plain_kernels_too():
    result = ix.simulate(ix.library.pendulum(), (0.0, 0.05), "hht-i3", t_eval=0.01, progress=False)
    assert list(result.arrays) == NAMES
    assert result.t == pytest.approx(np.linspace(0.0, 0.05, 6), abs=1e-15)
    assert np.all(result.energy.kinetic[1:] > 0.0)
    assert np.any(result["pivot"].force != 0.0)


@pytest.mark.parametrize(("wait", "blocks"), [(0.0, 12), (3.0, 4), (np.inf, 1)])
def test_lines_wait_for_their_block_as_long_as_the_sink_says(monkeypatch, wait, blocks):
    """The run returns after each of its 12 steps (after the first with two lines); each look at the clock takes 1 s."""
    seen, seconds = [], iter(range(1000))
    sink = CallbackSink(lambda block: seen.append(len(block["t"])))
    sink.wait = wait
    monkeypatch.setitem(SINKS.added, "memory", lambda: sink)
    monkeypatch.setattr(collector, "monotonic", lambda: next(seconds))
    settings = {"step": 0.01, "events": lambda t, state: 1.0, "progress": False}
    ix.simulate(ix.library.pendulum(), (0.0, 0.12), "hht-i3", **settings)
    assert (len(seen), sum(seen)) == (blocks, 13)


def test_blocks_do_not_decide_which_rows_contradict(monkeypatch):
    """A parallelogram that starts stretched out: close to that position rows are skipped that are no copies of others.

    Whether they are is asked of the line itself, not of the lines that happen to stand in the same block.
    """

    def folded():
        model = ix.Model("folded", gravity=(0, 0, -9.81))
        tip, end, foot = (1.0, 0.0, 0.0), (3.0, 0.0, 0.0), (2.0, 0.0, 0.0)
        first = model.add(ix.RigidBody.rod("first", (0, 0, 0), tip, mass=0.2))
        bar = model.add(ix.RigidBody.rod("bar", tip, end, mass=0.5))
        last = model.add(ix.RigidBody.rod("last", foot, end, mass=0.16))
        model.add(ix.Revolute("A", model.ground, first, at=(0, 0, 0), axis=(0, 1, 0)))
        model.add(ix.Revolute("B", first, bar, at=tip, axis=(0, 1, 0)))
        model.add(ix.Cylindrical("C", bar, last, at=end, axis=(0, 1, 0)))
        model.add(ix.Revolute("D", model.ground, last, at=foot, axis=(0, 1, 0)))
        points = ((0.0, 0.65, -1.2), (0.45, 0.86, -0.95))
        model.add(ix.SpringDamper("spring", model.ground, bar, points=points, stiffness=375.0, damping=8.7))
        return ix.simulate(model, (0.0, 0.3), "al-index1", upper=1e-3, max_steps=200, progress=False)

    with pytest.warns(
        UserWarning, match=r"fit the constraints to .* of their terms only"
    ):  # counted where they are filled
        whole = folded()
    monkeypatch.setattr(collector, "BLOCK_LINES", 5)
    again = folded()
    assert (again.message, again.t.tobytes()) == (whole.message, whole.t.tobytes())
    assert "contradict" not in whole.message


def test_an_output_of_few_lines_after_one_of_many_has_room_for_few():
    """Kernels write as many lines as the table says there are, whichever memory stood there in between."""
    output = Output({"coordinate": 6, "row": 4, "joint": 2, "measured_angle": 2}, 1)
    for lines in (1, 1, 400, 1):
        output.renew(lines)
        assert output.arrays["q"].shape == (lines, 6)
        for slot in (*columns.STORED, columns.STAGE):
            words = output.table.words[slot.index * WORDS :]
            assert tuple(words[1 : 1 + slot.ndim]) == output.table[slot].shape
            assert words[0] == output.table[slot].__array_interface__["data"][0]
            assert slot is columns.STAGE or np.shares_memory(output.table[slot], output.arrays[slot.name])
