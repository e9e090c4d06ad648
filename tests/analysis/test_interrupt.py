"""Ctrl-C returns what was computed."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import numpy as np
import pytest
from small_models import particle, pendulum

import index3 as ix


def check(result, t_end):
    assert not result.success
    assert result.status == 2
    assert "Interrupted at t = " in result.message
    assert 0.0 < result.t[-1] < t_end
    assert np.all(np.diff(result.t) > 0)
    assert np.all(np.isfinite(result.q))


@pytest.mark.parametrize("t_eval", [None, 0.001])
def test_in_a_callback(t_eval):
    def callback(t, q, v):
        if t > 0.2:
            raise KeyboardInterrupt

    check(ix.simulate(pendulum(), (0.0, 100.0), t_eval=t_eval, callback=callback), 100.0)


def test_in_the_first_call_of_a_callback():
    def callback(t, q, v):
        raise KeyboardInterrupt

    check(ix.simulate(pendulum(), (0.0, 100.0), callback=callback), 100.0)


def test_in_a_progress_function():
    def progress(t, t1):
        if t > 0.2:
            raise KeyboardInterrupt

    check(ix.simulate(pendulum(), (0.0, 100.0), progress=progress), 100.0)


def test_in_a_force():
    def f(t, r, A, v, w, p, out):
        out[0, 0] = -r[0, 0]
        if t > 0.2:
            raise KeyboardInterrupt

    model, bob = particle(position=(1, 0, 0))
    model.add(ix.UserForce("pull", bob, f))
    check(ix.simulate(model, (0.0, 100.0)), 100.0)


def test_in_a_function_of_time():
    """Even where a smaller step would have passed."""
    begun, raised = [], []  # before the run f is asked at later times, for its derivative is given

    def f(t):
        if begun and t > 0.2 and not raised:
            raised.append(t)
            raise KeyboardInterrupt
        return 2 * t

    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], f, 2.0, 0.0))
    check(ix.simulate(model, (0.0, 1000.0), max_step=1e-3, callback=lambda t, q, v: begun.append(t)), 1000.0)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_real_signal():
    script = """
        import numpy as np, index3 as ix
        calls = []
        def progress(t, t1):
            calls.append(t)
            if len(calls) == 3:
                print("running", flush=True)
        result = ix.simulate(ix.library.four_bar(), (0.0, 1e4), t_eval=0.01, progress=progress)
        assert np.all(np.diff(result.t) > 0) and np.allclose(np.diff(result.t), 0.01, atol=1e-9)
        print(result.status, result.success, len(result.t), result.message, flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )  # fmt: skip
    try:
        assert process.stdout.readline() == "running\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out.startswith("2 False "), errors
    assert int(out.split()[2]) > 10
    assert "Interrupted at t = " in out
