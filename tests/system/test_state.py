"""One System, many States: runs in threads, failures that stay in their run, states written and read back."""

from __future__ import annotations

import gc
import math
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import index3 as ix
from index3.compiled import callbacks
from index3.compiled import slots as s
from index3.compiled.interface import JIT
from index3.errors import ModelError
from index3.methods.registry import METHODS
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

sys.path.insert(0, str(Path(__file__).parents[1] / "contracts"))
import menagerie
from ownership import content, run_on

RUNS = 4
compiled_only = pytest.mark.skipif(not JIT, reason="too slow as plain Python")


def in_threads(count, work):
    """What work(k) gives for k = 0, 1, ..., all begun at the same time in threads of their own."""
    gate = threading.Barrier(count)

    def begin(k):
        gate.wait()
        return work(k)

    with ThreadPoolExecutor(count, thread_name_prefix="run") as pool:
        return list(pool.map(begin, range(count)))


def check_same(one, other):
    """Two runs are the same, bit by bit."""
    for name in ("t", "q", "v", "a", "lam", "angle", "work"):
        assert one[name].tobytes() == other[name].tobytes(), name
    assert one["message"] == other["message"] == ""
    assert one["state"] == other["state"]


@compiled_only
@pytest.mark.parametrize("key", ["hht-i3", "dopri5", "radau5", "bdf-si2", "al-index3", "rosenbrock4"])
@pytest.mark.parametrize(("make", "end"), [(menagerie.everything, 0.03), (menagerie.heap, 2.0)])
def test_runs_that_share_a_system_are_as_runs_alone(key, make, end):
    """Each with its own start; contacts, springs, functions of the user and all others keep their memory apart."""
    method, model = METHODS[key](), make()
    starts = menagerie.other_starts(compile_model(model), RUNS)
    alone = [run_on(compile_model(model), method, end, v) for v in starts]
    assert not np.array_equal(alone[0]["q"][-1], alone[1]["q"][-1])
    system = compile_model(model)
    together = in_threads(RUNS, lambda k: run_on(system, method, end, starts[k]))
    for k in range(RUNS):
        check_same(together[k], alone[k])


def unlucky():
    """Raise in one of the threads."""
    if threading.current_thread().name == "run_2":
        raise ZeroDivisionError("bad luck")


def drag(t, r, A, v, w, p, out):
    if t > 0.01:
        unlucky()
    menagerie.drag(t, r, A, v, w, p, out)


def shake(x):
    if x > 0.08:
        unlucky()
    return math.sin(x)


def hardening(x):
    unlucky()
    return menagerie.hardening(x)


UNLUCKY = pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"drag": drag}, "UserForce 'drag': its function f raised ZeroDivisionError"),
        ({"shake": shake}, "MovingMarker 'shaker': its function of time raised ZeroDivisionError"),
        ({"hardening": hardening}, "SpringDamper 'cord': the function of its stiffness raised"),
    ],
    ids=["force", "time", "curve"],
)


@UNLUCKY
def test_a_failure_waits_in_its_thread(given, message):
    system = compile_model(menagerie.everything(**given))

    def evaluate_forces():
        state = State(system)
        state.move(0.02, system.q0, system.v0)
        return state, state.run(evaluate.forces)

    with ThreadPoolExecutor(1, initializer=lambda: setattr(threading.current_thread(), "name", "run_2")) as pool:
        state, code = pool.submit(evaluate_forces).result()
        assert code > 0
        assert evaluate_forces()[1] == 0  # here, while it waits there
        assert system.take_failures() == []
        assert message in pool.submit(system.explain, state).result()
        assert [type(error) for error in pool.submit(system.take_failures).result()] == [ZeroDivisionError]


@UNLUCKY
@compiled_only
def test_a_function_that_raises_in_one_thread_ends_that_run_alone(given, message):
    method, model = ix.HHT(), menagerie.everything(**given)
    expected = run_on(compile_model(model), method, 0.03)
    system = compile_model(model)

    def attempt(k):
        try:
            return run_on(system, method, 0.03)
        except ModelError as error:
            return {"message": str(error), "failures": [error.__cause__]}

    results = in_threads(RUNS, attempt)
    failed = [result for result in results if result["message"]]
    assert len(failed) == 1
    assert message in failed[0]["message"]
    assert isinstance(failed[0]["failures"][-1], ZeroDivisionError)
    for result in results:
        if result is not failed[0]:
            assert result["failures"] == []
            check_same(result, expected)


def test_a_new_state_forgets_what_was_raised_before():
    calls = []

    def once(t, r, A, v, w, p, out):
        calls.append(t)
        if len(calls) == 1:
            raise ValueError("not yet")

    model = ix.Model("late")
    model.add(ix.UserForce("push", model.add(ix.PointMass("mass", 1.0)), once))
    system = compile_model(model)
    state = State(system)
    assert state.run(evaluate.forces) > 0
    assert State(system).run(evaluate.forces) == 0
    assert system.take_failures() == []


@pytest.mark.jit_off
def test_arguments_of_functions_belong_to_the_state():
    """Also those that a function keeps beyond the life of its run."""
    kept = []

    def keep(t, r, A, v, w, p, out):
        kept.append(r)
        out[0, 0] = r[0, 0]

    model = ix.Model("kept")
    model.add(ix.UserForce("push", model.add(ix.PointMass("mass", 1.0)), keep))
    system = compile_model(model)
    states = [State(system) for _ in range(3)]
    for k in (0, 1, 2, 1):
        states[k].move(0.0, np.array([10.0 + k, 0, 0]), np.zeros(3))
        assert states[k].run(evaluate.forces) == 0
        assert states[k][s.G][0] == -(10.0 + k)
    del states, system
    gc.collect()
    assert [r[0, 0] for r in kept] == [10.0, 11.0, 12.0, 11.0]


def test_many_states_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(callbacks, "BLOCKS_KNOWN", 2)
    model = ix.Model("many")
    model.add(ix.UserForce("drag", model.add(ix.PointMass("mass", 1.0)), menagerie.drag, (1.0,)))
    system = compile_model(model)
    states, gone = [State(system) for _ in range(5)], []
    for state in states:
        assert state.run(evaluate.forces) == 0
        gone.append(weakref.ref(state.memory[0].arrays[2]))
    del states, state
    gc.collect()
    assert sum(blocks() is not None for blocks in gone) <= 2


@pytest.mark.jit_off
def test_saved_arrays_are_copies_and_of_one_model():
    system, other = compile_model(ix.library.pendulum()), compile_model(ix.library.four_bar())
    state = State(system)
    saved = state.save()
    state.move(1.0, system.q0 + 1.0, system.v0)
    assert saved["time"][0] == 0.0
    state.restore(saved)
    assert np.array_equal(state[s.Q], system.q0)
    with pytest.raises(ModelError, match="does not fit model 'four-bar': 'a' differs"):
        State(other).restore(saved)
    with pytest.raises(ModelError, match="'lam' differs"):
        state.restore({name: array for name, array in saved.items() if name != "lam"})
    with pytest.raises(ModelError, match="'more' differs"):
        state.restore({**saved, "more": np.zeros(1)})


def test_saved_states_go_through_files(tmp_path):
    """The memory of contacts, springs and equations of the user too: evaluations go on bit by bit."""
    system = compile_model(menagerie.everything())
    one, other = State(system), State(system)
    one[s.STATUS][s.STEPPING] = 1
    assert one.run(evaluate.forces) == 0
    np.savez(tmp_path / "state.npz", **one.save())
    with np.load(tmp_path / "state.npz") as saved:
        other.restore(saved)
    for k in (1, 2, 3):
        for state in (one, other):
            state.move(0.01 * k, system.q0 + 1e-4 * k, (1.0 + 0.1 * k) * system.v0)
            assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.matrix) == 0
        assert content(one) == content(other)
