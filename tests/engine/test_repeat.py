"""The same input gives the same bits, whenever Python looks up from the steps and however busy the machine is."""

import threading

import pytest

import index3 as ix
from index3.engine import interrupts, runner
from index3.methods.registry import METHODS


def chain_and_stiff_mount():
    """auto changes from dopri5 to a stiff method on the way, once the mount is loaded."""
    model = ix.Model("chain and mount", gravity=(0, 0, -9.81))
    link = model.add(ix.RigidBody.rod("link", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, link, at=(0, 0, 0), axis=(0, 1, 0)))
    mass = model.add(ix.PointMass("mass", 1.0, position=(0, 0, 2.0)))
    model.add(
        ix.Bushing(
            "mount", model.ground, mass, at=(0, 0, 2.0), stiffness=(1e7,) * 3, damping=(5e4,) * 3, free=(0.1, 0, 0)
        )
    )
    return model


def bits(model, method, span, **settings):
    result = ix.simulate(model, span, method, progress=False, **settings)
    arrays = (result.t, result.q, result.v, result.a, result.lam)
    return result.message, [array.tobytes() for array in arrays], {k: result.stats[k] for k in ("steps", "rejected")}


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_looks_do_not_change_what_is_computed(monkeypatch, method):
    model = ix.library.four_bar()
    monkeypatch.setattr(interrupts, "TICKER", interrupts.Ticker(1e6))
    undisturbed = bits(model, method, (0.0, 0.3))
    monkeypatch.setattr(interrupts, "TICKER", interrupts.Ticker(1e-4))  # returns every few steps
    assert bits(model, method, (0.0, 0.3)) == undisturbed


def test_auto_under_load(monkeypatch):
    monkeypatch.setattr(runner, "RECONSIDER", 20)
    quiet = bits(chain_and_stiff_mount(), "auto", (0.0, 0.3), rtol=1e-6)
    done = threading.Event()

    def busy():
        while not done.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        loaded = bits(chain_and_stiff_mount(), "auto", (0.0, 0.3), rtol=1e-6)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert ", from t = " in quiet[0]  # the method did change
    assert loaded == quiet


def test_a_function_that_fails_in_a_trial_is_asked_again(monkeypatch):
    """Whether Python looks up between the failure and the next trial, or not."""

    def run(tick):
        monkeypatch.setattr(interrupts, "TICKER", interrupts.Ticker(tick))

        def f(t, x, rate):
            if rate > 2.0 and t > 0.1:  # only a trial that goes too far
                raise ValueError("too fast")
            return 0.1

        model = ix.library.pendulum()
        model.add(ix.Actuator("servo", model["pivot"], f))
        return bits(model, "hht-i3", (0.0, 0.15), rtol=1e-4)

    assert run(1e6) == run(1e-4)


def test_the_least_step_follows_the_time_reached():
    """A vibration of 1e7 rad/s in a span of 1e9 s: its steps are far above the rounding of the times reached."""
    model = ix.Model("quick")
    mass = model.add(ix.PointMass("mass", 1.0, position=(1.1, 0, 0)))
    model.add(
        ix.SpringDamper("spring", model.ground, mass, points=((0, 0, 0), (1.1, 0, 0)), stiffness=1e14, length=1.0)
    )
    result = ix.simulate(model, (0.0, 1e9), "dopri5", max_steps=200, progress=False)
    assert "max_steps" in result.message
    assert 0.0 < result.t[-1] < 1e-3
