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
