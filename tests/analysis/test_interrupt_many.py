"""Ctrl-C in analyses of many runs: none goes on with the next one."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import index3 as ix

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
SPAN = (0.0, 1e5)
"""Far longer than anybody waits."""


@pytest.fixture(autouse=True)
def press():
    """Ctrl-C after half a second, also where a shell runs the tests in its background and lets them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    ix.simulate(ix.library.pendulum(), (0.0, 0.1), "dop853")  # what is loaded at first is loaded
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    yield
    timer.cancel()
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_a_comparison_without_a_reference_is_none():
    with pytest.raises(KeyboardInterrupt):
        ix.compare(ix.library.pendulum(), SPAN[1])


def test_a_comparison_keeps_its_rows(monkeypatch):
    monkeypatch.setattr("index3.analysis.compare._reference", lambda model, t_end: (np.zeros(7), "none"))
    found = ix.compare(ix.library.pendulum(), SPAN[1], methods=["dopri5", "dop853"], tolerances=[1e-8])
    assert found.interrupted
    assert found.rows == []
    assert "interrupted" in str(found)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_batch_keeps_what_is_finished(workers):
    simulation = ix.prepare(ix.library.pendulum(), "dop853", rtol=1e-8, t_eval=[0.0, SPAN[1]])
    cases = [{"rod.mass": 1.0 + k} for k in range(4)]
    found = ix.batch(simulation, cases, SPAN, workers=workers)
    assert set(found.status.values) == {"failed"}
    begun = [str(text).startswith("Interrupted at t = ") for text in found.message.values]
    assert begun == [k < workers for k in range(4)]
    assert [str(text) for text in found.message.values[workers:]] == ["Interrupted before it began."] * (4 - workers)


def test_a_sweep_in_threads_leaves_no_run_behind():
    simulation = ix.prepare(ix.library.pendulum(), "dop853", rtol=1e-8, t_eval=[0.0, SPAN[1]])
    with pytest.raises(KeyboardInterrupt):
        ix.sweep(simulation, {"rod.mass": [1.0, 2.0]}, t_span=SPAN, measure={"t": lambda r: r.t[-1]}, isolate=False,
                 progress=False)  # fmt: skip
    time.sleep(0.1)
    assert not any(thread.name.startswith("index3 sweep") for thread in threading.enumerate())
