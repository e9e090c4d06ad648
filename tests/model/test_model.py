"""The model as a named list: order, lookup, refusals that leave it unchanged, copies."""

import math
import pickle
import re
import sys
import types

import numpy as np
import pytest

from index3.bodies.ground import Ground
from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.errors import Index3Error, ModelError
from index3.joints import CoordinateConstraint, Cylindrical, Motion, Revolute, Spherical
from index3.model.model import Model


class Push:
    """A force element as the model sees it."""

    element = "force"

    def __init__(self, name, *markers, joint=None):
        self.name = name
        self.markers = markers
        if joint is not None:
            self.joint = joint


def refused(text):
    return pytest.raises(ModelError, match=re.escape(text))


def rod(name="rod"):
    return RigidBody.rod(name, (0, 0, 0), (1, 0, 0), mass=1.0)


def pin(first, second, name="pin", joint=Revolute):
    return joint(name, first, second, at=(0, 0, 0), axis=(0, 1, 0))


def pendulum(name="pendulum"):
    model = Model(name)
    model.add(rod())
    model.add(pin(model.ground, model["rod"]))
    model.add(Motion("drive", model["pin"], math.sin, math.cos, math.exp))
    model.add(Push("push", model["rod"].marker((0.5, 0, 0))))
    return model


def contents(model):
    return [dict(table) for table in (model.bodies, model.joints, model.motions, model.forces)]


def test_a_new_model():
    model = Model()
    assert model.name == "model"
    assert model.gravity.tolist() == [0, 0, -9.80665]
    assert model.ground.name == "ground"
    assert model.ground.model is model
    assert len(model) == 0
    assert model
    assert repr(model) == "Model('model', empty)"


@pytest.mark.parametrize("gravity", [(0, 0), 9.81, (0, 0, math.nan), "down"])
def test_gravity_is_three_finite_numbers(gravity):
    with refused("Model 'm' has gravity"):
        Model("m", gravity=gravity)


@pytest.mark.parametrize("name", ["", " ", None, 5])
def test_a_model_has_a_name(name):
    with refused("Model has the name"):
        Model(name)


def test_add_returns_the_element_and_sorts_by_kind():
    model = Model("m")
    body = rod()
    assert model.add(body) is body
    assert body.model is model
    joint = model.add(pin(model.ground, body))
    motion = model.add(Motion("drive", joint, 0.0))
    force = model.add(Push("push", body.marker()))
    assert contents(model) == [{"rod": body}, {"pin": joint}, {"drive": motion}, {"push": force}]
    assert repr(model) == "Model('m', 1 body, 1 joint, 1 motion, 1 force)"


def test_several_are_added_at_once():
    model = Model("m")
    a, b = rod("a"), rod("b")
    assert model.add(a, b) == (a, b)
    with refused("was already added"):
        model.add(rod("c"), a)
    assert list(model) == ["a", "b", "c"]  # what came before the refused one stays


def test_what_nothing_needs_is_removed():
    model = Model("m")
    body = model.add(rod())
    joint = model.add(pin(model.ground, body))
    force = model.add(Push("push", body.marker()))
    with refused("RigidBody 'rod' cannot be removed: Revolute 'pin', Push 'push' need it"):
        model.remove("rod")
    assert model.remove("pin") is joint
    assert model.remove(force) is force
    assert model.remove(body) is body
    assert len(model) == 0
    assert body.model is None
    assert Model("other").add(body) is body
    with refused("has no element"):
        model.remove(joint)
    with refused("has no element 'pin'"):
        model.remove("pin")


def test_order_of_adding_is_kept():
    model = Model()
    names = ["c", "a", "b"]
    for name in names:
        model.add(PointMass(name, 1.0))
    assert list(model.bodies) == list(model) == names
    assert repr(model) == "Model('model', 3 bodies)"


def test_lookup():
    model = pendulum()
    assert model["rod"] is model.bodies["rod"]
    assert model["pin"] is model.joints["pin"]
    assert model["drive"] is model.motions["drive"]
    assert model["push"] is model.forces["push"]
    assert model["ground"] is model.ground
    assert "rod" in model
    assert "ground" in model
    assert "crank" not in model
    assert len(model) == 4
    assert list(model) == ["rod", "pin", "drive", "push"]


def test_unknown_names_are_refused_with_near_ones():
    with refused("Model 'pendulum' has no element 'rud'. Did you mean 'rod'?"):
        pendulum()["rud"]
    with refused("Model 'pendulum' has no element 'xyz'. It has ['rod', 'pin', 'drive', 'push']."):
        pendulum()["xyz"]


@pytest.mark.parametrize("element", [None, "rod", 3, RigidBody, rod().marker(), Model()])
def test_only_elements_are_added(element):
    model = pendulum()
    before = contents(model)
    with refused("Model 'pendulum' cannot add"):
        model.add(element)
    assert contents(model) == before


def test_ground_is_there_already():
    model = Model("m")
    for ground in (model.ground, Ground()):
        with refused("Model 'm' has a ground already"):
            model.add(ground)
    assert len(model) == 0


@pytest.mark.parametrize("name", ["", "a.b", "ground", None])
def test_names_are_checked_for_any_element(name):
    with refused("Push has the name"):
        Model().add(Push(name))


@pytest.mark.parametrize("name", ["rod", "pin", "drive", "push"])
def test_names_are_unique_across_kinds(name):
    model = pendulum()
    before = contents(model)
    body = rod(name)
    with refused(f"RigidBody '{name}' has the name of a {type(model[name]).__name__} in model 'pendulum'."):
        model.add(body)
    assert contents(model) == before
    assert body.model is None


@pytest.mark.parametrize("name", ["rod", "pin", "drive", "push"])
def test_an_element_is_added_once(name):
    model = pendulum()
    before = contents(model)
    with refused(f"'{name}' was already added to model 'pendulum'."):
        model.add(model[name])
    assert contents(model) == before


def test_a_body_belongs_to_one_model():
    first, second = pendulum("first"), Model("second")
    with refused("RigidBody 'rod' belongs to model 'first'."):
        second.add(first["rod"])
    assert first["rod"].model is first
    assert len(second) == 0


def test_elements_of_bodies_not_added_are_refused():
    model = Model("m")
    stray = rod("stray")
    text = "refers to RigidBody 'stray', which is not in model 'm'. Add that first."
    elements = (
        pin(model.ground, stray),
        CoordinateConstraint("hold", stray, "x"),
        Push("push", model.ground.marker(), stray.marker()),
    )
    for element in elements:
        with refused(f"{type(element).__name__} '{element.name}' {text}"):
            model.add(element)
    assert len(model) == 0
    model.add(stray)
    for element in elements:
        model.add(element)
    assert len(model) == 4


def test_elements_of_another_model_are_refused():
    model, other = pendulum("m"), pendulum("other")
    text = "which belongs to model 'other'. Use one from model 'm'."
    before = contents(model)
    for element in (
        pin(model.ground, other["rod"], "new"),
        pin(other.ground, model["rod"], "new"),
        Push("new", other["rod"].marker()),
        Motion("new", other["pin"], 0.0),
        Push("new", joint=other["pin"]),
    ):
        with refused(text):
            model.add(element)
    assert contents(model) == before


def test_joints_not_added_are_refused():
    model = Model("m")
    body = model.add(rod())
    joint = pin(model.ground, body)
    for element in (Motion("drive", joint, 0.0), Push("spring", joint=joint)):
        with refused(f"'{element.name}' refers to Revolute 'pin', which is not in model 'm'. Add that first."):
            model.add(element)
    model.add(joint)
    model.add(Motion("drive", joint, 0.0))
    model.add(Push("spring", joint=joint))


def test_a_joint_of_the_same_name_is_not_the_same_joint():
    model = pendulum()
    twin = pin(model.ground, model["rod"])
    with refused("which is not in model 'pendulum'"):
        model.add(Motion("second", twin, 0.0))


def test_contradictory_motions_are_refused():
    model = Model("m")
    body = model.add(rod())
    joint = model.add(pin(model.ground, body, joint=Cylindrical))
    model.add(Motion("turn", joint, 0.0, coordinate="angle"))
    model.add(Motion("slide", joint, 0.0, coordinate="displacement"))
    with refused("Motion 'again' and Motion 'turn' both drive the angle of Cylindrical 'pin': contradictory motions."):
        model.add(Motion("again", joint, 1.0, coordinate="angle"))
    assert list(model.motions) == ["turn", "slide"]


def test_errors_are_index3_errors_and_value_errors():
    with pytest.raises(Index3Error):
        Model().add(None)
    with pytest.raises(ValueError, match="cannot add"):
        Model().add(None)


@pytest.mark.parametrize("again", [Model.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_complete_and_independent(again):
    model = pendulum()
    twin = again(model)
    assert list(twin) == list(model)
    assert twin.name == model.name
    assert np.array_equal(twin.gravity, model.gravity)
    assert twin["rod"] is not model["rod"]
    assert twin["rod"].model is twin
    assert twin.ground.model is twin
    assert twin["pin"].first.body is twin.ground
    assert twin["pin"].second.body is twin["rod"]
    assert twin["drive"].joint is twin["pin"]
    assert twin["push"].markers[0].body is twin["rod"]
    assert twin["drive"].functions == model["drive"].functions
    twin["rod"].q0[0] = 7.0
    twin.add(rod("other"))
    assert model["rod"].q0[0] == 0.5
    assert "other" not in model


def test_functions_without_a_name_can_be_copied():
    model = Model()
    joint = model.add(pin(model.ground, model.add(rod())))
    motion = model.add(Motion("drive", joint, lambda t: t, 1.0))
    assert model.copy()["drive"].functions[0] is motion.functions[0]


def test_check_asks_the_analysis(monkeypatch):
    module = types.ModuleType("index3.analysis.check")
    module.check = lambda model: ("checked", model)
    monkeypatch.setitem(sys.modules, "index3.analysis.check", module)
    model = Model()
    assert model.check() == ("checked", model)


def test_bodies_of_all_kinds_live_together():
    model = Model()
    for body in (rod("a"), PlanarBody("b", 1, 1), PointMass("c", 1)):
        model.add(body)
    model.add(Spherical("joint", model["a"], model["c"], at=(0, 0, 0)))
    assert [body.kind for body in model.bodies.values()] == ["rigid", "planar", "point"]


def chain(n):
    model = Model("chain")
    previous = model.ground
    for k in range(n):
        body = model.add(RigidBody.rod(f"link{k}", (k, 0, 0), (k + 1, 0, 0), mass=1.0))
        model.add(Revolute(f"joint{k}", previous, body, at=(k, 0, 0), axis=(0, 1, 0) if k % 2 else (0, 0, 1)))
        previous = body
    return model


def test_a_long_chain_can_be_pickled_and_copied():
    model = chain(1000)
    assert len(pickle.loads(pickle.dumps(model))) == len(model.copy()) == 2000  # no recursion from link to link
