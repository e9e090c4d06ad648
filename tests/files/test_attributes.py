"""Attributes of elements are checked when they are set, as when the element is made."""

import copy
import pickle
import re

import numpy as np
import pytest
from file_examples import EXAMPLES

import index3 as ix
from index3.errors import ModelError
from index3.files.changes import grown, refers
from index3.files.entries import ENTRIES
from index3.files.write import data_of
from index3.registry import checked_fields


@pytest.fixture
def car():
    m = ix.Model("car")
    body = m.add(ix.RigidBody.box("body", (1, 1, 1), mass=2.0))
    m.add(ix.SpringDamper("coil", m.ground, body, points=((0, 0, 2), (0, 0, 0)), stiffness=100.0))
    pin = m.add(ix.Revolute("pin", m.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    m.add(ix.JointFriction("rub", pin, 0.1, radius=0.1))
    m.add(ix.Actuator("servo", pin, 1.0))
    return m


@pytest.mark.parametrize(
    ("name", "key", "value", "said"),
    [
        ("coil", "stiffness", "soft", "SpringDamper 'coil' has stiffness 'soft'"),
        ("coil", "length", -0.5, "SpringDamper 'coil' has length -0.5"),
        ("coil", "stifness", 5.0, "SpringDamper 'coil' has no attribute 'stifness'. Did you mean 'stiffness'?"),
        ("body", "mass", -5, "RigidBody 'body' has mass -5"),
        ("body", "inertia", (1.0, 1.0), "RigidBody 'body'"),
        ("rub", "friction", -0.1, "JointFriction 'rub' has friction -0.1"),
        ("rub", "radios", 0.2, "JointFriction 'rub' has no attribute 'radios'. Did you mean 'radius'?"),
        ("servo", "f", "fast", "Actuator 'servo' has f 'fast'"),
        ("pin", "angel", 0.3, "Revolute 'pin' has no attribute 'angel'"),
    ],
)
def test_nonsense_is_refused_by_name(car, name, key, value, said):
    before = dict(vars(car[name]))
    with pytest.raises(ModelError, match=re.escape(said)):
        setattr(car[name], key, value)
    assert vars(car[name]).keys() == before.keys()
    assert all(vars(car[name])[key] is before[key] for key in before)


def test_what_is_set_is_what_runs(car):
    car["coil"].stiffness = 200
    car["body"].mass = 3.0
    car["servo"].f = lambda t, x, rate: -x
    assert isinstance(car["coil"].stiffness, float)
    assert not car["servo"].timed  # what follows from a field follows again
    assert car["coil"].length == 2.0
    assert car["body"].model is car
    made = ix.Model("car")
    body = made.add(ix.RigidBody.box("body", (1, 1, 1), mass=2.0))
    body.mass = 3.0
    assert np.array_equal(body.inertia, car["body"].inertia)


def test_copies_and_pickles_are_checked_too():
    for other in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        body = other(ix.PointMass("bob", 1.0))
        with pytest.raises(ModelError, match="has mass -1"):
            body.mass = -1.0


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_kind_of_element_checks_its_fields(name):
    model = EXAMPLES[name]()
    before = data_of(model)
    for element in (model[name] for name in model):
        with pytest.raises(ModelError, match="has no attribute 'nonsense'"):
            element.nonsense = 1.0
        entry = ENTRIES[type(element).__name__]
        keys = [key for key in sorted(checked_fields(type(element))) if not entry.fields[key].short]
        for key in [] if grown(entry) else keys:
            value = entry.value(element, key)
            if value is not None and not refers(value):
                setattr(element, key, entry.kinds[key].argument(value))
            if entry.fields[key].kind == "number":
                with pytest.raises(ModelError, match=f"'{element.name}'"):
                    setattr(element, key, "nonsense")
    assert data_of(model) == before


def test_a_model_has_no_other_attributes():
    m = ix.Model("moon")
    m.gravity = (0, 0, -1.6)
    assert m.gravity.tolist() == [0.0, 0.0, -1.6]
    with pytest.raises(ModelError, match="Model 'moon' has gravity 'down'"):
        m.gravity = "down"
    with pytest.raises(ModelError, match=r"Model 'moon' has no attribute 'gravty'\. Did you mean 'gravity'"):
        m.gravty = (0, 0, 0)


def test_a_new_name_is_the_one_that_the_model_and_results_know(car):
    before = ix.simulate(car, (0, 0.1), "hht-i3")
    assert before["coil"].tension.shape == before.t.shape
    for old, new in (("coil", "spring"), ("body", "box"), ("pin", "axle"), ("servo", "motor")):
        element = car[old]
        element.name = new
        assert car[new] is element
        assert old not in car
    assert list(car) == ["box", "axle", "spring", "rub", "motor"]  # places stay
    result = ix.simulate(car, (0, 0.1), "hht-i3")
    assert result["spring"].tension.tobytes() == before["coil"].tension.tobytes()
    assert result["axle"].angle.tobytes() == before["pin"].angle.tobytes()
    car.rename("box", "body")
    assert car["body"].name == "body"
    loose = ix.PointMass("bob", 1.0)
    loose.name = "ball"  # not in a model yet
    assert car.add(loose) is car["ball"]


def test_states_of_a_tyre_follow_its_name():
    model = ix.Model("wheel")
    wheel = model.add(ix.RigidBody("wheel", 10.0, (1, 1, 1), position=(0, 0, 0.4)))
    tyre = model.add(
        ix.Tyre(
            "tyre",
            wheel.marker(z=(0, 1, 0)),
            model.ground,
            radius=0.4,
            stiffness=1e5,
            cornering_stiffness=1e4,
            relaxation=0.3,
        )
    )
    tyre.name = "rubber"
    assert [block.name for block in model.blocks] == ["rubber"]
    assert "rubber" in ix.simulate(model, (0, 0.01), "hht-i3").names


@pytest.mark.parametrize(
    ("name", "key", "value", "said"),
    [
        ("coil", "name", "body", "SpringDamper 'coil' cannot become 'body': a RigidBody of model 'car' has that name"),
        ("coil", "name", "", "SpringDamper has the name ''"),
        ("body", "name", 5, "RigidBody has the name 5"),
        ("body", "name", "a.b", "RigidBody has the name 'a.b'. Leave out the dot"),
        ("coil", "markers", "nonsense", "SpringDamper 'coil': markers follows from what it was made with. Set first"),
        ("coil", "first", 3, "SpringDamper 'coil'"),
        ("pin", "first", "nonsense", "Revolute 'pin'"),
        ("pin", "second", None, "Revolute 'pin'"),
        ("rub", "joint", "pin", "JointFriction 'rub'"),
        ("body", "model", None, "RigidBody 'body': model follows"),
        ("body", "size", 3, "RigidBody 'body': size follows"),
        ("body", "q0", (0, 0, 0), "RigidBody 'body' has q0 (0, 0, 0). Give 7 numbers"),
        ("body", "shape", "round", "RigidBody 'body' has shape 'round'"),
    ],
)
def test_names_and_parts_are_checked(car, name, key, value, said):
    before = dict(vars(car[name]))
    with pytest.raises(ModelError, match=re.escape(said)):
        setattr(car[name], key, value)
    assert list(car) == ["body", "pin", "coil", "rub", "servo"]
    assert all(vars(car[name])[key] is before[key] for key in before)


def test_markers_can_be_replaced_by_others_of_the_model(car):
    body, coil, pin = car["body"], car["coil"], car["pin"]
    coil.first = car.ground.marker((0, 0, 3))
    assert coil.markers[0].position.tolist() == [0.0, 0.0, 3.0]
    assert coil.length == 2.0  # a number of its own by now
    pin.second = body.marker((0, 0, 0.5))
    assert pin.second.position.tolist() == [0.0, 0.0, 0.5]
    assert car["rub"].joint is pin
    other = ix.Model("other").add(ix.RigidBody.box("box", (1, 1, 1), mass=1.0))
    with pytest.raises(ModelError, match="Revolute 'pin' refers to RigidBody 'box', which belongs to model 'other'"):
        pin.second = other.marker()
    with pytest.raises(ModelError, match="Revolute 'pin'"):
        pin.second = car.ground.marker()
    assert pin.second.body is body


def test_controllers_and_models_are_checked(car):
    steer = car.add(ix.Controller("steer", 0.01, lambda t, u, memory: 0.0, ["pin.angle"], [car["servo"]]))
    for key, value, said in (
        ("period", -1.0, "Controller 'steer' has period -1.0"),
        ("function", 3, "Controller 'steer' has function 3"),
        ("inputs", 3, "Controller 'steer' has inputs 3"),
        ("memory", "much", "Controller 'steer' has memory 'much'"),
        ("outputs", [], "Controller 'steer': outputs is set when it is made"),
        ("perod", 0.1, "Controller 'steer' has no attribute 'perod'. Did you mean period?"),
    ):
        with pytest.raises(ModelError, match=re.escape(said)):
            setattr(steer, key, value)
    steer.period = 0.02
    steer.name = "pilot"
    assert car["pilot"] is steer
    with pytest.raises(
        ModelError, match="Revolute 'pin' cannot become 'axle': Controller 'pilot' reads it by its name"
    ):
        car["pin"].name = "axle"
    with pytest.raises(ModelError, match="Model 'car': bodies cannot be set"):
        car.bodies = {}
    with pytest.raises(ModelError, match="Model has the name 3"):
        car.name = 3
