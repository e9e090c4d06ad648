"""The same input gives the same bits, whenever Python looks up from the steps and however busy the machine is."""

import hashlib
import os
import subprocess
import sys
import textwrap
import threading
from contextlib import contextmanager

import numpy as np
import pytest

import index3 as ix
from index3.engine import automatic, interrupts, runner, variants
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


def test_looks_do_not_change_where_equations_of_the_user_start(monkeypatch):
    """Their iteration begins at what they found last: in steps that of a step, in lines that of a line."""

    def lag(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = rate[0] + 50.0 * (x[0] - 1e-9 * v[0, 2])
        res[1] = z[0] * (1.0 + 1e4 * z[0]) - x[0]  # as small as what counts as solved
        out[0, 2] = -1e9 * z[0]

    model = ix.library.four_bar()
    states = model.add(ix.States("lagging", (1e-9,)))
    model.add(ix.UserEquations("lag", model["crank"].marker(), lag, states=states, variables=(0.0,)))
    times, until = np.linspace(0.0, 0.3, 40), runner.Runner.steps_until_check
    seldom = bits(model, "dopri5", (0.0, 0.3), t_eval=times)
    for steps in (1, 3):
        monkeypatch.setattr(runner.Runner, "steps_until_check", lambda run, steps=steps: min(steps, until(run)))
        assert bits(model, "dopri5", (0.0, 0.3), t_eval=times) == seldom


@contextmanager
def load(task):
    """Two threads that do something again and again beside the test."""
    done = threading.Event()

    def busy():
        while not done.is_set():
            task()

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def servo(t, x, rate):
    return 2.0 * np.sin(30.0 * t) - 0.3 * rate


def damped(t, x, rate):
    return -0.2 * rate - 0.1 * x * x


def mechanism(compiled=None):
    """A four-bar with functions of the user on two joints, one compiled by Numba if that is given."""
    model = ix.library.four_bar()
    model.add(ix.Actuator("servo", model["A"], servo))
    model.add(ix.Actuator("brake", model["B"], compiled or damped))
    return model


def digest(arrays):
    """Of times, coordinates and rates."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_every_run_of_a_model_is_the_same(method):
    """Fresh, prepared, after runs over other spans and with other numbers, beside others in threads, and in a batch."""
    fresh, settings = bits(mechanism(), method, (0.0, 0.05)), {"progress": False}
    simulation = ix.prepare(mechanism(), method, **settings)
    simulation.run((0.0, 0.01), changes={"crank.mass": 3.0})
    again = simulation.run((0.0, 0.05))
    assert [x.tobytes() for x in (again.t, again.q, again.v, again.a, again.lam)] == fresh[1]
    beside = ix.prepare(mechanism(), method, **settings)
    with load(lambda: beside.run((0.0, 0.02))):
        assert bits(mechanism(), method, (0.0, 0.05)) == fresh
    measure = {"digest": lambda result: int(digest((result.t, result.q, result.v))[:12], 16)}
    found = ix.batch(simulation, [None, {"crank.mass": 2.0}, None, None], (0.0, 0.05), measure=measure, workers=2)
    values = found.digest.values
    assert values[0] == values[2] == values[3] == measure["digest"](again)
    assert values[1] != values[0]


def test_functions_compiled_by_numba_repeat():
    numba = pytest.importorskip("numba")
    runs = [bits(mechanism(numba.njit(damped)), "hht-i3", (0.0, 0.05)) for _ in range(2)]
    assert runs[0] == runs[1]


def test_another_process_finds_the_same():
    """With other seeds of its hashes, and all methods one after the other in another order."""
    script = f"""
        import sys
        sys.path.insert(0, {__file__.rsplit("/", 1)[0]!r})
        from test_repeat import METHODS, bits, digest_of_runs
        print(digest_of_runs(sorted(METHODS, reverse=True)))
    """
    command, found = [sys.executable, "-c", textwrap.dedent(script)], set()
    for seed in ("1", "2"):
        found.add(subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True,
                                 check=True).stdout.strip())  # fmt: skip
    assert found == {digest_of_runs(list(METHODS))}


def digest_of_runs(methods):
    """Of short runs by some methods, whatever their order."""
    runs = {method: bits(mechanism(), method, (0.0, 0.02)) for method in methods}
    return hashlib.sha256(repr(sorted(runs.items())).encode()).hexdigest()


def test_auto_under_load(monkeypatch):
    monkeypatch.setattr(automatic, "RECONSIDER", 20)
    quiet = bits(chain_and_stiff_mount(), "auto", (0.0, 0.3), rtol=1e-6)
    with load(lambda: sum(range(1000))):
        loaded = bits(chain_and_stiff_mount(), "auto", (0.0, 0.3), rtol=1e-6)
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


def heap_of_four():
    """Balls with more pairs than bodies: their solver makes its tables anew for each run."""
    model = ix.Model("four")
    balls = [
        model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=(0.25 * k, 0, 0.3 + 0.05 * k))) for k in range(4)
    ]
    model.add(ix.ContactSet("heap", [(ball, ix.Sphere(0.1)) for ball in balls], stiffness=1e5, damping=0.2))
    return model


@pytest.mark.parametrize(
    ("make", "settings"), [(heap_of_four, {}), (ix.library.four_bar, {"linear": "scipy"})], ids=["heap", "scipy"]
)
def test_a_second_run_begins_with_tables_of_its_own(make, settings):
    """A start that was kept held addresses of factors that the first run had taken with it."""
    model = make()
    runs = [
        ix.simulate(model, (0.0, 0.06), method, rtol=1e-2, t_eval=0.03, progress=False, **settings)
        for method in ("hht-i3", "radau5", "hht-i3", "hht-i3")
        if method != "radau5" or not settings  # which needs complex matrices
    ]
    assert all(run.success for run in runs)
    assert np.array_equal(runs[0].q, runs[-1].q)


@pytest.mark.parametrize("build", [ix.library.four_bar, lambda: ix.library.chain(3)])
@pytest.mark.parametrize("method", ["auto", "hht-i3", "dopri5"])
def test_the_start_of_a_system_that_runs_again_is_kept(monkeypatch, build, method):
    """From the first prepared run on, or the second one of a model as it is; nothing is copied of one that runs once.

    All runs are the same.
    """
    closed, close = [], variants.Variant.close
    monkeypatch.setattr(variants.Variant, "close", lambda self, *given: closed.append(self) or close(self, *given))
    prepared, model, runs, counts = ix.prepare(build(), method, rtol=1e-4, progress=False), build(), [], []
    settings = {"rtol": 1e-4, "t_eval": 0.05, "progress": False}
    for _ in range(4):
        runs.append(ix.simulate(model, (0.0, 0.1), method, **settings))
        counts.append(len(closed))
    assert counts == [1, 2, 2, 2]
    closed.clear()
    for _ in range(3):
        runs.append(prepared.run((0.0, 0.1), t_eval=0.05))
        runs.append(ix.simulate(model.copy(), (0.0, 0.1), method, **settings))  # in the same workspace
    assert len(closed) == 1 + 3
    for name in ("t", "q", "v", "a", "lam"):
        assert len({getattr(run, name).tobytes() for run in runs}) == 1
