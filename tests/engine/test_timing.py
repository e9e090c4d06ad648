"""CPU seconds of a run, apart: set-up, steps, output."""

import time

import index3 as ix
from index3.engine import timing
from index3.engine.interrupts import Watch

PARTS = ("seconds_setup", "seconds_steps", "seconds_output")


def test_parts_are_counted_apart(monkeypatch):
    clock = iter([0.0, 1.0, 3.0, 6.0, 10.0])
    monkeypatch.setattr(timing.time, "thread_time", lambda: next(clock))
    cpu = timing.CpuSeconds()  # at 0
    for part in ("steps", "output", "output", "steps"):  # at 1, 3 and 6; the same part again reads no clock
        cpu.enter(part)
    assert cpu.stats() == {"seconds_setup": 1.0, "seconds_steps": 2.0 + 4.0, "seconds_output": 3.0}


def test_a_run_reads_the_clock_four_times(monkeypatch):
    """At its start, before the first step, before its output, and for its counters: each time may take 2 us."""
    simulation, times = ix.prepare(ix.library.pendulum(), "dopri5", progress=False), []
    monkeypatch.setattr(Watch, "request_return", lambda watch: None)  # a tick inside the run shows its output twice
    own = time.thread_time
    monkeypatch.setattr(timing.time, "thread_time", lambda: times.append(own()) or times[-1])
    simulation.run((0.0, 0.1), t_eval=[0.1])
    assert len(times) == 4


def test_a_run_gives_seconds_of_its_parts():
    start = time.thread_time()
    stats = ix.simulate(ix.library.four_bar(), (0.0, 0.2), t_eval=0.01).stats
    spent = time.thread_time() - start
    assert all(stats[name] > 0.0 for name in PARTS)
    assert sum(stats[name] for name in PARTS) <= spent
    assert stats["seconds"] > 0.0


def test_time_in_a_callback_is_output():
    def burn(t, q, v):
        start = time.thread_time()
        while time.thread_time() < start + 0.02:
            pass

    stats = ix.simulate(ix.library.pendulum(), (0.0, 0.1), method="dopri5", t_eval=0.01, callback=burn).stats
    assert stats["seconds_output"] >= 11 * 0.02


def test_time_in_a_force_is_steps():
    def burn(t, r, A, v, w, p, out):
        start = time.thread_time()
        while time.thread_time() < start + 1e-4:
            pass
        out[:] = 0.0

    model = ix.library.pendulum()
    model.add(ix.UserForce("burn", [model.bodies["rod"].marker((0, 0, 0))], burn))
    stats = ix.simulate(model, (0.0, 1.0), method="dopri5", t_eval=[0.0, 1.0]).stats
    assert stats["evaluations"] > 100
    assert stats["seconds_steps"] >= 0.9e-4 * stats["evaluations"]  # the first few belong to the set-up
