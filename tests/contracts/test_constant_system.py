"""A System never changes: evaluations and runs write to their own State, whatever the model holds."""

from __future__ import annotations

import force_zoo
import numpy as np
import pytest
import test_moving_markers
import test_user_rows
import zoo
from menagerie import everything, rubbing, swimming
from ownership import belongings, changed, content, run_on

import index3 as ix
from index3.compiled import slots as s
from index3.methods.registry import METHODS
from index3.registry import ELEMENTS, PRIMITIVES
from index3.system import kinds
from index3.system.addresses import CORE
from index3.system.compile import compile_model
from index3.system.state import State


def force_model(maker):
    return lambda: force_zoo.force_state(maker, maker.pairs[0], seed=3)


def random_state(model, *arguments):
    return lambda: zoo.random_state(compile_model(model(*arguments)), seed=4)


def held():
    model = zoo.body_model("rigid", seed=3)
    model.add(ix.CoordinateConstraint("held", model["body0"], "x", 0.5))
    return zoo.random_state(compile_model(model), seed=4)


STATES = {
    **{f"force {maker.label}": force_model(maker) for maker in force_zoo.MAKERS},
    **{f"row {kind}": random_state(zoo.primitive_model, kind, zoo.PAIRS[0], 3) for kind in zoo.PRIMITIVES},
    **{f"body {kind}": random_state(zoo.body_model, kind, 3) for kind in zoo.BODY_KINDS},
    "rows of the user": lambda: test_user_rows.evaluated(
        test_user_rows.user_model("in_plane", zoo.PAIRS[0], 3, False)[1]
    )[0],
    "moving markers": lambda: test_moving_markers.make_state("angle", "rigid", True, "both"),
    "a held coordinate": held,
}


def evaluate_all(state):
    """Every kernel of the evaluator, with all terms of the matrix, as while a method steps."""
    state[s.STATUS][s.STEPPING] = 1
    state[s.COEF][:] = 1.0
    state[s.TIME][0] += 0.01
    state[s.Q][:] += 1e-3
    state[s.V][:] *= 1.01
    state.run(*CORE)


@pytest.mark.parametrize("name", STATES)
def test_evaluations_of_every_kind_leave_the_system_alone(name):
    state = STATES[name]()
    before = belongings(state.system)
    for _ in range(2):
        evaluate_all(state)
    assert changed(before, state.system) == []


@pytest.mark.parametrize("name", STATES)
def test_a_state_of_every_kind_goes_on_where_it_was_saved(name):
    one = STATES[name]()
    evaluate_all(one)
    other = State(one.system)
    other.restore(one.save())
    for _ in range(2):
        for state in (one, other):
            evaluate_all(state)
        assert content(one) == content(other)


def test_every_kind_is_met():
    tables = [table for make in STATES.values() for table in make().tables]
    bodies = {cls.kernels for cls in ELEMENTS.values() if cls.element in ("body", "states")}
    rows = {module.__name__ for module in PRIMITIVES.values()} | {kinds.COORDINATE.__name__}
    others = {*force_zoo.registered(), "index3.constraints.user_rows", "index3.bodies.moving_kernels"}
    assert bodies | rows | others <= {table.kind for table in tables}


@pytest.mark.parametrize("key", METHODS)
@pytest.mark.parametrize("make", [everything, rubbing, swimming])
def test_runs_by_every_method_leave_the_system_alone(key, make):
    method = METHODS[key]()
    if make is not everything and not method.takes_reactions:
        pytest.skip("takes no forces that depend on reactions or accelerations")
    system = compile_model(make())
    run_on(system, method, 0.02, steps=1)  # what tables of runs share is kept when first asked for
    before = belongings(system)
    result = run_on(system, method, 0.02, steps=20)
    assert result["message"] == ""
    assert len(result["t"]) > 2
    assert changed(before, system) == []


@pytest.mark.parametrize("name", ix.library.names())
def test_runs_of_every_library_model_leave_the_system_alone(name):
    sizes = {"chain": 4, "belt_drive": 40, "crawler_track": True}  # small ones
    make = getattr(ix.library, name)
    system = compile_model(make(sizes[name]) if name in sizes else make())
    run_on(system, ix.HHT(), 0.01, steps=1)
    before = belongings(system)
    assert np.isfinite(run_on(system, ix.HHT(), 0.01, steps=20)["q"]).all()
    remembered = "._last"  # by an Expression: its last value, read and replaced as one, so threads may share it
    assert [what for what in changed(before, system) if remembered not in what] == []
