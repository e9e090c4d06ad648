"""Kernel addresses: built together before a run, stood in for otherwise, never wrong."""

from __future__ import annotations

import ast
import gc
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.compiled import store
from index3.compiled.interface import JIT, Kernel
from index3.errors import Index3Error
from index3.methods.registry import METHODS
from index3.system import evaluate, kinds, scatter, structure
from index3.system.addresses import CORE, INERTIAL_STAGES, STAGES_OF, with_core
from index3.system.compile import compile_model
from index3.system.state import State

compiled_only = pytest.mark.skipif(not JIT, reason="plain kernels are not built")


def kernels():
    """All that there are; `isinstance` would ask proxies of what is gone."""
    return [thing for thing in gc.get_objects() if type(thing) is Kernel]


@pytest.fixture
def loads(monkeypatch):
    """A process in which no kernel is loaded; each load is written down.

    Afterwards kernels are where they were before. Those of modules imported meanwhile are loaded anew: the addresses
    that they had in the test would be unknown to the store.
    """
    before = {id(kernel): (kernel, kernel._address) for kernel in kernels()}
    for kernel, _ in before.values():
        kernel._address = kernel._compiled = None
    monkeypatch.setattr(store, "_addresses", {})
    monkeypatch.setattr(structure, "_kept", [])  # with addresses of kernels that were loaded
    done, load = [], store._load
    monkeypatch.setattr(store, "_load", lambda keys: (done.append(keys), load(keys)))
    yield done
    for kernel in kernels():
        kernel._address, kernel._compiled = before.get(id(kernel), (kernel, None))[1], None


def names(loaded):
    """Names such as "rigid_kernels.second_derivatives" of the kernels of one load."""
    return {f"{module.rpartition('.')[2]}.{name}" for module, name in loaded}


def test_core_kernels_are_in_the_order_of_their_numbers():
    assert [kernel.name for kernel in CORE] == [
        name[5:].lower() for _, name in sorted((n, name) for name, n in vars(s).items() if name.startswith("CORE_"))
    ]


def test_stages_of_the_evaluator_are_those_in_its_source():
    """Read from the syntax tree: the stages that a kernel runs itself, or through helpers of its module."""
    assert "run_stage" not in inspect.getsource(scatter)  # whose helpers it calls too
    functions = {
        node.name: node for node in ast.parse(inspect.getsource(evaluate)).body if isinstance(node, ast.FunctionDef)
    }

    def stages(name, seen=()):
        found = set()
        for call in ast.walk(functions[name]):
            if isinstance(call, ast.Attribute) and call.attr == "WORKING":
                found.add("energies")  # some lines of that stage
            if isinstance(call, ast.Attribute) and call.attr == "WORKING_FORCES":
                found.add("forces")
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                if call.func.id == "run_stage":
                    found.add(call.args[1].attr.lower())
                elif call.func.id in functions and call.func.id not in seen:
                    found |= stages(call.func.id, (*seen, name))
        return found

    assert {kernel.name: stages(kernel.name) for kernel in CORE} == {
        kernel.name: {*STAGES_OF.get(kernel.name, ()), *INERTIAL_STAGES.get(kernel.name, ())} for kernel in CORE
    }
    assert set().union(*STAGES_OF.values()) == set(kinds.STAGES)


def test_what_a_kernel_calls_is_read_from_its_sources():
    found = with_core([METHODS["hht-i3"].kernel])
    assert METHODS["hht-i3"].kernel in found
    assert evaluate.mass in found
    assert evaluate.derivatives not in found
    assert evaluate.derivatives in with_core([METHODS["rosenbrock4"].kernel])


@compiled_only
@pytest.mark.parametrize("step", [None, 0.01])
@pytest.mark.parametrize("key", METHODS)
def test_a_method_loads_all_its_kernels_at_once(loads, key, step):
    """One build for a run, with or without error control: nothing is left to stand-ins or to single builds later."""
    ix.simulate(ix.library.slider_crank(), (0.0, 0.05), key, step=step, progress=False)
    assert len(loads) == 1, [names(load) for load in loads[1:]]


@compiled_only
@pytest.mark.parametrize("key", ["hht-i3", "dopri5"])
def test_forces_of_accelerations_load_their_stages_too(loads, key):
    model = ix.Model("ball")
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0))
    model.add(ix.AddedMass("water", ball, 1.0))
    ix.simulate(model, (0.0, 0.05), key, progress=False)
    assert len(loads) == 1, [names(load) for load in loads[1:]]


@compiled_only
def test_an_automatic_run_loads_twice(loads):
    ix.simulate(ix.library.four_bar(), (0.0, 0.05), progress=False)
    assert len(loads) == 2, [names(load) for load in loads[2:]]  # the model and what chooses; the method
    unused = {
        "evaluate.derivatives",
        "rigid_kernels.second_derivatives",
        "angle.constraints",
        "angle.hessians",
        "hht.attempt",
    }
    assert not unused & (names(loads[0]) | names(loads[1]))


@compiled_only
def test_a_stand_in_builds_its_kernel_with_its_stages_and_lets_it_take_its_place(loads):
    system = compile_model(ix.library.pendulum())
    state = State(system)
    assert not loads
    before = state[s.CORE].copy()
    evaluate.poses(state.handle, 0)  # itself loaded by the call; its stage is stood in for
    assert [names(load) for load in loads] == [{"evaluate.poses"}, {"rigid_kernels.poses", "angle.count_turns"}]
    expected = state[s.MARKER_R].copy()
    state[s.MARKER_R][state[s.MARKERS]["body"] >= 0] = np.inf
    assert state.run(evaluate.poses) == 0
    np.testing.assert_array_equal(state[s.MARKER_R], expected)
    assert len(loads) == 2
    assert state[s.CORE][s.CORE_POSES] == evaluate.poses.address != before[s.CORE_POSES]
    first = [stage for stage, _, _ in system.stages].index("poses")
    assert state[s.STAGES][first] == system.addresses.of_stage("poses")[0].address
    state.run(evaluate.forces)
    assert "rigid_kernels.gather" in names(loads[2])
    assert len(loads) == 3


@compiled_only
def test_stand_ins_give_way_while_other_threads_run(loads):
    """Every thread meets stand-ins or kernels, as it comes, and finds the same."""
    system = compile_model(ix.library.slider_crank())
    states = [State(system) for _ in range(4)]
    kernels = (evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.matrix)
    gate = threading.Barrier(len(states))

    def work(state):
        state[s.COEF][:] = 1.0
        gate.wait()
        return [kernel(state.handle, 0) for kernel in kernels]

    assert not loads
    with ThreadPoolExecutor(len(states)) as pool:
        assert list(pool.map(work, states)) == [[0] * len(kernels)] * len(states)
    assert all(np.array_equal(state[s.MATRIX], states[0][s.MATRIX]) for state in states)
    assert states[0][s.MATRIX].any()
    loaded = [key for load in loads for key in load]
    assert len(loaded) == len(set(loaded))


@compiled_only
def test_a_kernel_that_cannot_be_built_ends_a_run_with_the_reason(loads, monkeypatch):
    system = compile_model(ix.library.pendulum())
    state = State(system)
    attempts = []

    def refuse(keys):
        attempts.append(keys)
        raise Index3Error("Kernels could not be built: no space left")

    place = evaluate.poses.address
    monkeypatch.setattr(store, "prepare", refuse)
    assert place
    for _ in range(2):
        assert evaluate.poses(state.handle, 0) != 0
    assert len(attempts) == 1  # not again at every step
    assert "no space left" in system.explain(state)
    assert str(system.take_failures()[0]).endswith("no space left")
