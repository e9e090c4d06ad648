"""CPU seconds of a run, apart: set-up, steps, output."""

import time

import index3 as ix
from index3.engine import timing

PARTS = ("seconds_setup", "seconds_steps", "seconds_output")


def test_parts_are_counted_apart(monkeypatch):
    clock = iter([0.0, 1.0, 3.0, 6.0, 10.0, 15.0])
    monkeypatch.setattr(timing.time, "thread_time", lambda: next(clock))
    cpu = timing.CpuSeconds()  # at 0
    with cpu.part("steps"), cpu.part("output"):  # at 1 and at 3
        pass  # left at 6 and at 10
    assert cpu.stats() == {"seconds_setup": 1.0 + 5.0, "seconds_steps": 2.0 + 4.0, "seconds_output": 3.0}


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
