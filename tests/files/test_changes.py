"""Changed numbers of a model: made by the classes of the elements, checked by them."""

import warnings

import numpy as np
import pytest
from file_examples import EXAMPLES

import index3 as ix
from index3.errors import ModelError
from index3.files.changes import change, changed_model
from index3.files.write import data_of


@pytest.fixture
def model():
    made = ix.Model("ball on a coil")
    ball = made.add(ix.RigidBody("ball", 2.0, (0.1, 0.2, 0.3), position=(0, 0, -1), velocity=(1, 0, 0)))
    made.add(ix.SpringDamper("coil", made.ground.marker(), ball.marker((0, 0, 0.1)), stiffness=50.0, length=0.8))
    return made


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"NaturalLinkage"}))
def test_an_element_made_again_is_the_same(name):
    """Every element that model files know: no field is lost on the way through its class."""
    model = EXAMPLES[name]()
    copy = model.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as derivatives that would be taken anew
        for element in [*copy]:
            change(copy, copy[element], {})
    assert data_of(copy) == data_of(model)


def test_functions_that_files_cannot_hold_stay():
    model = ix.library.pendulum()
    slopes = lambda t, x, rate: (-3.0, -0.5)  # noqa: E731
    model.add(ix.Actuator("motor", model["pivot"], lambda t, x, rate: -3.0 * x - 0.5 * rate, derivatives=slopes))
    copy = changed_model(model, {"motor.coordinate": "angle"})
    assert (copy["motor"].f, copy["motor"].derivatives) == (model["motor"].f, slopes)


def test_numbers_vectors_and_inertia(model):
    copy = changed_model(
        model,
        {"ball.mass": 3.0, "ball.inertia": np.diag([1.0, 2.0, 2.5]), "ball.position": (0, 1, 0), "coil.damping": 4.0,
         "gravity": (0, 0, -1.6)},
    )  # fmt: skip
    assert copy["ball"].mass == 3.0
    assert np.diag(copy["ball"].inertia).tolist() == [1.0, 2.0, 2.5]
    assert copy["ball"].q0[:3].tolist() == [0, 1, 0]
    assert copy["ball"].v0[:3].tolist() == [1, 0, 0]
    assert (copy["coil"].stiffness, copy["coil"].damping, copy["coil"].length) == (50.0, 4.0, 0.8)
    assert copy.gravity.tolist() == [0, 0, -1.6]
    assert copy["coil"].markers[1].body is copy["ball"]
    assert copy["ball"].model is copy
    assert model["ball"].mass == 2.0
    assert model["coil"].damping == 0.0


def test_a_start_set_apart_is_kept(model):
    model["ball"].q0[:3] = (5, 6, 7)
    model["ball"].v0[0] = -2.0
    copy = changed_model(model, {"ball.mass": 3.0})
    assert copy["ball"].q0[:3].tolist() == [5, 6, 7]
    assert copy["ball"].v0[0] == -2.0
    assert changed_model(model, {"ball.q0": (1, 2, 3, 1, 0, 0, 0)})["ball"].q0[:3].tolist() == [1, 2, 3]
    with pytest.raises(ModelError, match=r"RigidBody 'ball': its q0 was set apart from position. Change q0 instead"):
        changed_model(model, {"ball.position": (0, 0, 0)})


def test_states_of_a_force_belong_to_the_changed_model():
    model = EXAMPLES["Tyre"]()
    name = next(name for name, force in model.forces.items() if force.own_states)
    copy = changed_model(model, {f"{name}.friction": 0.5})
    assert all(block.model is copy for block in copy[name].own_states)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"coli.stiffness": 1.0}, "no element 'coli'. Did you mean 'coil'"),
        ({"coil.stifness": 1.0}, "SpringDamper 'coil' has no field 'stifness' to change. Did you mean 'stiffness'"),
        ({"coil": 1.0}, "'coil' is no field of an element"),
        ({3: 1.0}, "3 is no field of an element"),
        ({"coil.first": 1.0}, "SpringDamper 'coil': first names other parts of the model"),
        ({"coil.points": 1.0}, "points is a short form"),
        ({"ball.mass": -1.0}, "RigidBody 'ball' has mass -1"),
        ({"ball.inertia": (1.0, 1.0)}, "RigidBody 'ball' has inertia"),
        ({"ball.position": (0, 0, float("nan"))}, "RigidBody 'ball' has position"),
        ({"ball.q0": (0, 0, 0)}, "RigidBody 'ball' has q0"),
        ({"gravity": 9.81}, "has gravity 9.81"),
        ({"ground.mass": 1.0}, "Ground 'ground' has no fields to change"),
    ],
)
def test_wrong_changes_are_named(model, changes, message):
    with pytest.raises(ModelError, match=message):
        changed_model(model, changes)


def test_elements_without_fields_are_named(model):
    model.add(ix.UserForce("push", [model["ball"].marker()], lambda t, r, A, v, w, p, out: None))
    with pytest.raises(ModelError, match=r"UserForce 'push' has no fields to change: it holds functions of Python"):
        changed_model(model, {"push.parameters": (1.0,)})
    linkage = EXAMPLES["NaturalLinkage"]()
    with pytest.raises(ModelError, match=r"built step by step \(steps\)"):
        changed_model(linkage, {"bars.q0": (1.0,)})
