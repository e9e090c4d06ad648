"""Changed numbers of a model: made by the classes of the elements, checked by them."""

import warnings

import numpy as np
import pytest
from file_examples import EXAMPLES

import index3 as ix
from index3.errors import ModelError
from index3.files.changes import apply, change
from index3.files.write import data_of


def changed_model(model, changes):
    """A copy of a model with some fields changed."""
    copy = model.copy()
    apply(copy, changes)
    return copy


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
        ({"coil": 1.0}, "'coil' is not a field of an element"),
        ({3: 1.0}, "3 is not a field of an element"),
        ({"coil.first": 1.0}, "SpringDamper 'coil': first names other parts of the model"),
        ({"coil.points": 1.0}, "points is a short form"),
        ({"coil.stiffness": float("nan")}, "SpringDamper 'coil' has stiffness nan"),
        ({"coil.length": -1.0}, "SpringDamper 'coil' has length -1.0. Give a free length of at least 0"),
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
    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = z[0] - 1.0

    model.add(ix.UserEquations("push", model["ball"].marker(), residual, variables=(1.0,)))
    with pytest.raises(ModelError, match=r"UserEquations 'push' has no fields to change: it holds Python functions"):
        changed_model(model, {"push.parameters": (1.0,)})
    linkage = EXAMPLES["NaturalLinkage"]()
    with pytest.raises(ModelError, match=r"built step by step \(steps\). Name a number of one of its parts"):
        changed_model(linkage, {"bars.q0": (1.0,)})


def weight(t, r, A, v, w, p, out):
    out[0, 2] = -p[0]


def in_plane(t, r, A, v, w, p, out):
    out[0] = r[0, 2] - p[0]


def follow(t, x, v, p, out):
    out[:3] = -p[0] * x[:3]


def test_parameters_of_functions(model):
    """All that the element was made with stays, and its class checks the numbers."""
    ball = model["ball"]
    model.add(ix.UserForce("weight", ball, weight, (3.0,), "none", longest_step=0.2))
    model.add(ix.VectorForce("follow", model.ground, ball, follow, (2.0,), "none", at=(0, 0, 0)))
    fixed = {"rows": 1, "parameters": (-1.0,), "jacobian": "differences", "time_step": None, "scale": 2.0}
    model.add(ix.UserConstraint("plane", ball, in_plane, **fixed))
    copy = changed_model(model, {"weight.parameters": (5.0,), "follow.parameters": [7.0], "plane.parameters": (-1.5,)})
    assert [copy[name].parameters.tolist() for name in ("weight", "follow", "plane")] == [[5.0], [7.0], [-1.5]]
    assert (copy["weight"].f, copy["weight"].jacobian, copy["weight"].longest_step) == (weight, "none", 0.2)
    assert copy["weight"].markers[0].body is copy["ball"]
    assert (copy["plane"].rows, copy["plane"].time_step, copy["plane"].scale) == (1, None, 2.0)
    assert changed_model(model, {"plane.scale": 3.0})["plane"].scale == 3.0
    assert model["weight"].parameters.tolist() == [3.0]
    for changes, message in (
        ({"weight.parameters": ("a",)}, "UserForce 'weight' has parameters"),
        ({"weight.f": weight}, "UserForce 'weight' has no field 'f' to change"),
        ({"weight.markers": ball}, "UserForce 'weight': markers names other parts of the model"),
        ({"plane.scale": -1.0}, "UserConstraint 'plane' has scale -1"),
    ):
        with pytest.raises(ModelError, match=message):
            changed_model(model, changes)


def heavier(t, r, A, v, w, p, out, seen):
    out[0, 2] = p[0] * seen[0].out[0, 2]


def test_parameters_of_functions_that_read_others(model):
    """What is made again keeps its own markers, its function, and what it reads."""
    first = model.add(ix.UserForce("weight", model["ball"], weight, (3.0,)))
    model.add(ix.UserForce("more", model["ball"], heavier, (2.0,), reads=first))
    copy = changed_model(model, {"more.parameters": (5.0,)})
    assert len(copy["more"].markers) == len(model["more"].markers)
    run = ix.simulate(copy, (0.0, 0.01), "hht-i3", rtol=1e-6)
    assert run["more"].force[-1] == pytest.approx((0.0, 0.0, -15.0))


def test_markers(model):
    """A marker changes for all that share it; by its end of an element, or by its name."""
    tip = model["ball"].marker((0, 0, -0.2), name="tip")
    model.add(ix.SpringDamper("second coil", model.ground.marker((1, 0, 0)), tip, stiffness=5.0, length=1.0))
    model.add(ix.Spherical("pin", tip, model.ground.marker((0, 0, -1.2), name="pivot")))
    changes = {"coil.second.position": (0, 0, 0.3), "ball.tip.position": (0, 0, -0.4), "pin.second.z": (1, 0, 0)}
    copy = changed_model(model, changes)
    assert copy["coil"].markers[1].position.tolist() == [0, 0, 0.3]
    assert copy["pin"].first is copy["second coil"].markers[1]
    assert copy["pin"].first.position.tolist() == [0, 0, -0.4]
    assert copy["pin"].first.body is copy["ball"]
    np.testing.assert_allclose(copy["pin"].second.axes[:, 2], (1, 0, 0), atol=1e-15)
    assert changed_model(model, {"ground.pivot.position": (1, 0, 0)})["pin"].second.position.tolist() == [1, 0, 0]
    assert model["coil"].markers[1].position.tolist() == [0, 0, 0.1]
    moving = model.ground.moving_marker(path=(lambda t: (0, 0, t), lambda t: (0, 0, 1), lambda t: (0, 0, 0)))
    model.add(ix.SpringDamper("shaker", moving, model["ball"].marker(), stiffness=5.0, length=1.0))
    for wrong, message in (
        (
            {"coil.third.position": (0, 0, 0)},
            "SpringDamper 'coil' has no marker or part 'third'.*There are: first, sec",
        ),
        ({"ball.top.position": (0, 0, 0)}, "RigidBody 'ball' has no marker or part 'top'.*Did you mean 'tip'"),
        ({"coil.second.positon": (0, 0, 0)}, "coil', second: a marker has no field 'positon'.*Did you mean 'position'"),
        ({"coil.second.position": (0, 0)}, "SpringDamper 'coil', second has position"),
        ({"shaker.first.position": (0, 0, 0)}, "its path says where the marker is"),
    ):
        with pytest.raises(ModelError, match=message):
            changed_model(model, wrong)


def linkage(mass=1.0, height=1.0):
    model = ix.Model("bars")
    bars = ix.NaturalLinkage("bars", planar=True)
    A, D = bars.fixed("A", (0, 0)), bars.fixed("D", (3, 0))
    B, C = bars.point("B", (0, height)), bars.point("C", (2, 2))
    for name, ends, m in (("AB", (A, B), mass), ("BC", (B, C), 1.0), ("CD", (C, D), 1.0)):
        bars.rigid(name, list(ends), mass=m)
    model.add(bars)
    model.add(ix.SpringDamper("coil", model.ground.marker(), bars.point_marker(C), stiffness=50.0, length=1.0))
    return model


def test_parts_of_a_linkage():
    model = linkage()
    copy = changed_model(model, {"bars.AB.mass": 4.0, "bars.B.position": (0, 1.5)})
    wanted = linkage(mass=4.0, height=1.5)
    assert data_of(copy) == data_of(wanted)
    assert copy["bars"].mass == wanted["bars"].mass == 6.0
    assert copy["coil"].markers[1].body is copy["bars"]
    assert data_of(model) == data_of(linkage())
    for wrong, message in (
        ({"bars.AB.mass": -1.0}, "Part 'AB' of NaturalLinkage 'bars' has mass -1"),
        ({"bars.AB.length": 1.0}, "the rigid 'AB' has no number 'length'. There are: mass, inertia, centre"),
        ({"bars.AX.mass": 1.0}, "NaturalLinkage 'bars' has no marker or part 'AX'"),
    ):
        with pytest.raises(ModelError, match=message):
            changed_model(model, wrong)
    model["bars"].v0[0] = 1.0
    with pytest.raises(ModelError, match="its q0 or v0 was set apart"):
        changed_model(model, {"bars.AB.mass": 4.0})


def test_a_run_with_changes_inside_is_that_of_the_changed_model():
    """To the last bit; and nothing of a change is left in the next run."""
    prepared = ix.prepare(linkage(), "hht-i3", t_eval=0.02, progress=False)
    first = prepared.run((0.0, 0.1))
    changed = prepared.run((0.0, 0.1), changes={"bars.AB.mass": 4.0, "coil.first.position": (0.5, 0.0, 0.0)})
    wanted = linkage(mass=4.0)
    wanted = changed_model(wanted, {"coil.first.position": (0.5, 0.0, 0.0)})
    expected = ix.simulate(wanted, (0.0, 0.1), "hht-i3", t_eval=0.02, progress=False)
    np.testing.assert_array_equal(changed.q, expected.q)
    assert not np.array_equal(changed.q, first.q)
    np.testing.assert_array_equal(prepared.run((0.0, 0.1)).q, first.q)
