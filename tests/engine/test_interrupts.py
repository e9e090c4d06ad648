"""The result so far is kept: Ctrl-C while compiled code steps or calls users' functions, errors in a callback."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import index3 as ix
from index3.engine.collector import Collector
from index3.engine.runner import Runner


def push(t, r, A, v, w, p, out):
    out[0, 0] = 0.1


ELEMENTS = {
    "Motion": lambda pin, rod: ix.Motion("drive", pin, lambda t: 0.1 * t, lambda t: 0.1, lambda t: 0.0),
    "Actuator": lambda pin, rod: ix.Actuator("servo", pin, lambda t, x, rate: 5.0 * (0.5 - x) - 0.1 * rate),
    "UserForce": lambda pin, rod: ix.UserForce("push", rod, push),
    "Torque": lambda pin, rod: ix.Torque("twist", rod, lambda t: (0, 0.1, 0)),
}


class Press:
    """A progress function: Ctrl-C, as the system sends it, some time after the first steps."""

    def __init__(self, seconds):
        self.timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))

    def __call__(self, t, t1):
        if t > 0.1 and not self.timer.ident:
            self.timer.start()


def check(result):
    assert result.status == 2
    assert not result.success
    assert result.message.startswith("Interrupted at t = ")
    assert len(result.t) > 1
    assert np.all(np.isfinite(result.q))


@pytest.fixture(autouse=True)
def keyboard():
    """Ctrl-C arrives also where a shell runs the tests in its background and lets them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@posix
@pytest.mark.parametrize("kind", [None, *ELEMENTS])
def test_ctrl_c_is_never_lost(kind):
    model = ix.library.pendulum()
    if kind is not None:
        model.add(ELEMENTS[kind](model["pivot"], next(iter(model.bodies.values()))))
    before = signal.getsignal(signal.SIGINT)
    ix.simulate(model, (0, 0.1), max_step=1e-3, progress=False)  # loads the code
    result = ix.simulate(model, (0, 1e4), max_step=1e-3, t_eval=0.01, progress=Press(0.15))
    check(result)
    assert signal.getsignal(signal.SIGINT) is before


@posix
def test_ctrl_c_while_output_is_closed(monkeypatch):
    """Compiled code calls functions of the user there as well, and would swallow what they raise."""
    close, pressed = Collector.close, []

    def close_and_press(self, project):
        if self.given + len(self.output.arrays["t"]) > 0 and not pressed:
            pressed.append(os.kill(os.getpid(), signal.SIGINT))
            time.sleep(0)  # the handler runs here at the latest
        return close(self, project)

    monkeypatch.setattr(Collector, "close", close_and_press)
    model = ix.library.pendulum()
    model.add(ELEMENTS["Actuator"](model["pivot"], None))
    check(ix.simulate(model, (0, 1e4), max_step=1e-3, progress=False))


@posix
def test_ctrl_c_in_a_function_that_is_called_between_steps(monkeypatch):
    """Compiled code that looks for a better method calls functions of the user, and would swallow what they raise."""
    change, deciding, pressed = Runner.change_method, [], []

    def change_method(self, code, failed):
        deciding.append(True)
        answer = change(self, code, failed)
        deciding.clear()
        return answer

    def press_between_steps(t, x, rate):
        if deciding and not pressed:
            pressed.append(t)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)  # the handler runs here at the latest
        return 0.1

    monkeypatch.setattr(Runner, "change_method", change_method)
    model = ix.library.pendulum()
    model.add(ix.Actuator("servo", model["pivot"], press_between_steps))
    result = ix.simulate(model, (0, 20), max_step=1e-3, progress=False)
    assert pressed
    check(result)


@posix
def test_ctrl_c_ends_a_callback_at_once():
    """Nothing compiled is under way there: what takes long in it need not be waited for."""
    finished = []

    def callback(t, q, v):
        if t > 0.1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)  # the handler runs here at the latest
            finished.append(t)

    check(ix.simulate(ix.library.pendulum(), (0, 1e4), max_step=1e-3, progress=False, callback=callback))
    assert not finished


@posix
def test_between_the_calls_of_a_slow_function():
    """Every step calls it many times: the run must not wait for the end of a step."""
    calls = []

    def slow(t, x, rate):
        calls.append(t)
        if len(calls) == 205:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)  # the handler runs here at the latest
        return 0.1

    model = ix.library.pendulum()
    model.add(ix.Actuator("servo", model["pivot"], slow))
    result = ix.simulate(model, (0, 1e4), "dop853", max_step=1e-3, progress=False)
    check(result)
    assert calls[204] > result.t[-1]  # it was pressed inside a step
    assert max(calls[205:], default=0.0) <= result.t[-1]  # afterwards asked for the output alone


def test_a_handler_of_the_user_is_left_in_place():
    seen = []

    def own(number, frame):
        seen.append(number)

    before = signal.signal(signal.SIGINT, own)
    try:
        result = ix.simulate(
            ix.library.pendulum(), (0, 0.1), callback=lambda t, q, v: seen.append(signal.getsignal(signal.SIGINT))
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.success
    assert set(seen) == {own}


def test_runs_in_other_threads_leave_signals_alone():
    results = []
    thread = threading.Thread(target=lambda: results.append(ix.simulate(ix.library.pendulum(), (0, 0.1))))
    before = signal.getsignal(signal.SIGINT)
    thread.start()
    thread.join()
    assert results[0].success
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_in_a_callback_carries_the_result():
    def callback(t, q, v):
        if t > 0.2:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        ix.simulate(ix.library.pendulum(), (0.0, 10.0), callback=callback)
    result = caught.value.result
    assert not result.success
    assert "ZeroDivisionError" in result.message
    assert result.t[0] == 0.0
    assert result.t[-1] > 0.2


def test_what_runs_away_is_named():
    model = ix.Model("cart")
    cart = model.add(ix.RigidBody.box("cart", (1, 1, 1), 1.0))
    slide = model.add(ix.Prismatic("slide", model.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.Actuator("feedback", slide, lambda t, x, rate: 50.0 * x + 0.1 * rate + 1e-3))
    result = ix.simulate(model, (0, 200), progress=False)
    assert not result.success
    assert "grew without bound" in result.message
    assert "'cart'" in result.message
    assert len(result.t) > 1
    assert np.all(np.isfinite(result.q))
