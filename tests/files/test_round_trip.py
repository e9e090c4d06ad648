"""Every word through a file and back: the same tables bit for bit, and the same file again."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from counting import count_calls
from file_examples import EXAMPLES, moving_ground, rigid

import index3 as ix
from index3.compiled import slots as s
from index3.files.entries import ENTRIES
from index3.files.read import model_of, parse
from index3.files.write import data_of, json_text, toml_text
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

NOT_IN_FILES = {"Actuator": {"derivatives"}, "LineActuator": {"derivatives"}}  # functions of Python


def test_every_type_has_an_example():
    assert set(EXAMPLES) == {name for name in ENTRIES if "." not in name}


def test_what_files_cannot_hold():
    own = {name: cls for name, cls in ix.registry.ELEMENTS.items() if cls.__module__.startswith("index3.")}
    refused = {name for name, cls in own.items() if cls.no_file}
    assert refused == {"UserConstraint", "UserEquations", "UserForce", "VectorForce"}


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_every_argument_has_a_field(name):
    entry = ENTRIES[name]
    assert set(entry.arguments) - set(entry.fields) == NOT_IN_FILES.get(name, set())


ADDRESSES = {s.FUNCTIONS, s.CORE, s.STAGES}
"""Slots that hold addresses, which differ from system to system; and so do these fields of tables."""
ADDRESS_FIELDS = {"f", "df", "integral", "function", "derivative"}


def assert_same(model: ix.Model, other: ix.Model) -> None:
    """Raise unless two models have the same equations, to the last bit."""
    one, two = compile_model(model), compile_model(other)
    assert (one.n, one.m, one.row_names, one.row_labels) == (two.n, two.m, two.row_names, two.row_labels)
    np.testing.assert_array_equal(one.q0, two.q0)
    np.testing.assert_array_equal(one.v0, two.v0)
    for slot in set(one.fixed) - ADDRESSES:
        assert_same_array(one.fixed[slot], two.fixed[slot])
    for (stage, elements, table), (other_stage, others, other_table) in zip(one.stages, two.stages, strict=True):
        assert (stage, [e.name for e in elements]) == (other_stage, [e.name for e in others])
        for array, twin in zip(table.arrays, other_table.arrays, strict=True):
            assert_same_array(array, twin)
    states = [State(one), State(two)]
    for state in states:  # functions are seen only by their values
        state.move(0.4, state.system.q0, state.system.v0)
        assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
    for slot in (s.MARKER_F, s.FUNCTION_VALUES, s.PHI, s.PHI_Q, s.GAMMA):
        np.testing.assert_array_equal(states[0][slot], states[1][slot])


def assert_same_array(array: np.ndarray | None, twin: np.ndarray | None) -> None:
    """Compare two arrays of tables, but for addresses; a place may be empty."""
    if array is None:
        assert twin is None
        return
    for name in array.dtype.names or (...,):
        if name not in ADDRESS_FIELDS:
            np.testing.assert_array_equal(array[name], twin[name], err_msg=str(name))


def through(model: ix.Model, suffix: str) -> ix.Model:
    """A model written and read."""
    text = json_text(data_of(model)) if suffix == ".json" else toml_text(data_of(model))
    return model_of(parse(text, suffix))


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_word_is_the_same_after_a_file(name):
    model = EXAMPLES[name]()
    assert any(type(model[element]).__name__ == name for element in model)
    again = through(model, ".json")
    assert_same(model, again)
    assert data_of(again) == data_of(model)
    assert data_of(through(model, ".toml")) == data_of(model)


def test_markers_that_move_and_are_shared():
    model = moving_ground()
    again = through(model, ".json")
    assert_same(model, again)
    assert data_of(again) == data_of(model)
    spring = through(EXAMPLES["SpringDamper"](), ".json")
    assert spring["one"].markers[0] is spring["two"].markers[1]


def test_state_changed_after_making_is_kept():
    model = ix.Model("moved")
    body = model.add(rigid())
    body.q0[3:] += (0.05, -0.02, 0.03, 0.01)
    body.v0[0] = 7.0
    data = data_of(model)
    assert {"q0", "v0"} <= set(data["bodies"][0])
    assert_same(model, through(model, ".toml"))


def test_arguments_are_kept_as_they_were_given():
    place = np.array([1.0, 2.0, 3.0])
    model = ix.Model("moved")
    model.add(ix.PointMass("a", 1.0, position=place))
    place += 1.0
    assert data_of(model)["bodies"] == [{"type": "PointMass", "name": "a", "mass": 1.0, "position": [1.0, 2.0, 3.0]}]


@pytest.mark.parametrize("name", [name for name in ix.library.names() if name not in ("iltis", "chain")])
def test_library_goes_through_files(name, tmp_path):
    small = {"belt_drive": 40, "crawler_track": True}
    model = getattr(ix.library, name)(*([small[name]] if name in small else []))
    for suffix in (".json", ".toml"):
        model.save(tmp_path / f"a{suffix}")
        assert_same(model, ix.Model.load(tmp_path / f"a{suffix}"))


def test_work_on_a_file_grows_with_its_length(tmp_path):
    """Four times as many links: at most four times as many calls, and a little."""

    def round_trip(links):
        model = ix.library.chain(links)
        ix.save_model(model, tmp_path / "chain.json")
        assert len(ix.load_model(tmp_path / "chain.json")) == len(model)

    round_trip(4)  # imports, tables that are made once
    calls = {links: count_calls(lambda links=links: round_trip(links))[0] for links in (50, 200)}
    print(calls)
    assert calls[200] < 4.5 * calls[50]  # 4 if proportional, 16 as the square


def do_nothing(t, r, A, v, w, p, out):
    """A force of a user's."""


SINE = ix.Curve.from_function(math.sin, math.cos)
CODE = "a file cannot hold a Python function"
REFUSED = [
    (lambda a, pin: ix.UserForce("u", a, do_nothing), "UserForce 'u' cannot be written: it holds"),
    (lambda a, pin: ix.Force("f", a, lambda t: (0, 0, t)), f"Force 'f': vector: {CODE}"),
    (lambda a, pin: ix.Force("f", a, (0, 0, math.sin)), f"Force 'f': vector: {CODE}"),
    (lambda a, pin: ix.Motion("m", pin, math.sin, math.cos, 0.0), f"Motion 'm': f: {CODE}"),
    (lambda a, pin: ix.RotationalSpringDamper("s", pin, stiffness=SINE), "'s': stiffness: a file cannot hold a curve"),
]


@pytest.mark.parametrize(("element", "message"), REFUSED)
def test_what_a_file_cannot_hold_is_named_and_nothing_written(element, message, tmp_path):
    model = ix.Model("functions")
    a = model.add(rigid())
    pin = model.add(ix.Revolute("pin", model.ground, a, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(element(a, pin))
    file = tmp_path / "a.json"
    file.write_text("before")
    with pytest.raises(ix.ModelError, match=re.escape(message)):
        ix.save_model(model, file)
    assert file.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_words_of_others_are_refused(tmp_path):
    class Hinge(ix.Revolute):
        """A joint of a user's own."""

    model = ix.Model("own")
    model.add(Hinge("h", model.ground, model.add(rigid()), at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(ix.ModelError, match="Hinge 'h' cannot be written: its class is not registered"):
        ix.save_model(model, tmp_path / "a.json")


def test_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ix.ModelError, match="cannot be written: No such file"):
        ix.save_model(ix.library.pendulum(), tmp_path / "no" / "a.json")
