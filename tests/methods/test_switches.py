"""Steps end where a force begins: located after a rejection, not hunted by more of them."""

import math

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.methods.method import METHODS
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

HEIGHT, RADIUS, END = 1.0, 0.1, 1.2
TOUCH = math.sqrt(2.0 * (HEIGHT - RADIUS) / 9.80665)
ONE_STEP = ("hem4", "dopri5", "dop853", "adams", "descriptor-sdirk4", "al-index3")
LEFT_ALONE = ("bdf-i3", "bdf-si2", "tlismni-adams3", "tlismni-adams4", "rosenbrock4", "radau5", "hht-i3")


def dropped(stiffness=1e6):
    model = ix.Model("ball")
    ball = model.add(ix.RigidBody.sphere("ball", RADIUS, mass=1.0, position=(0, 0, HEIGHT)))
    shapes = (ix.Sphere(RADIUS), ix.Plane())
    model.add(ix.Contact("floor", ball, model.ground, shapes, stiffness=stiffness, damping=0.2))
    return model


def run(model, method, **settings):
    return ix.simulate(model, (0.0, END), method, progress=False, audit="off", **{"rtol": 1e-6, **settings})


@pytest.mark.parametrize("method", ONE_STEP)
def test_first_contact_is_located(monkeypatch, method):
    """The first step that is not taken is tried again up to the touch: no other is rejected before it."""
    found = run(dropped(), method)
    before = found.t[found.t < TOUCH]
    longest = np.max(np.diff(before))
    assert TOUCH - before[-1] < 5e-3 * longest  # a thousandth of the step that was tried, and the error of it
    monkeypatch.setattr(METHODS[method], "ends_at_switches", False)
    hunted = run(dropped(), method)
    assert found.stats["rejected"] < 0.75 * hunted.stats["rejected"]
    assert found.stats["evaluations"] < 1.1 * hunted.stats["evaluations"]


@pytest.mark.parametrize("method", ["dopri5", "descriptor-sdirk4"])
def test_errors_stay_what_the_tolerance_says(monkeypatch, method):
    """Against a run at 1e-10; hunting gives errors of the same size."""
    exact = run(dropped(), "dop853", rtol=1e-10, atol=1e-12).q[-1, 2]
    found = abs(run(dropped(), method).q[-1, 2] - exact)
    monkeypatch.setattr(METHODS[method], "ends_at_switches", False)
    hunted = abs(run(dropped(), method).q[-1, 2] - exact)
    assert found < max(10.0 * hunted, 1e-4)  # one order: which steps are chosen behind the touch is chance


@pytest.mark.parametrize("method", LEFT_ALONE)
def test_methods_that_refuse_it_are_left_alone(monkeypatch, method):
    alone = run(dropped(), method)
    monkeypatch.setattr(METHODS[method], "ends_at_switches", True)
    assert run(dropped(), method).stats["rejected"] != alone.stats["rejected"]  # so it would have had an effect


def test_constant_steps_are_not_moved():
    result = run(dropped(1e4), "dopri5", step=1e-3)
    np.testing.assert_allclose(np.diff(result.t), 1e-3, rtol=1e-9)


def test_budgets_of_steps_do_not_change_what_is_located(monkeypatch):
    """Python may look up between a rejection and the step that ends at the touch."""
    from index3.engine.runner import Runner

    whole = run(dropped(), "dopri5")
    monkeypatch.setattr(Runner, "steps_until_check", lambda self: 1)
    single = run(dropped(), "dopri5")
    assert np.array_equal(whole.t, single.t)
    assert np.array_equal(whole.q, single.q)


def limited(model, body):
    slide = model.add(ix.Prismatic("slide", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.JointLimit("stop", slide, lower=-0.5, upper=0.5, stiffness=1e5))


def touching(model, body):
    model.add(ix.Contact("floor", body, model.ground, (ix.Sphere(0.5), ix.Plane()), stiffness=1e5))


def rolling(model, body):
    model.add(ix.Tyre("tyre", body.marker(z=(0, 1, 0)), model.ground, radius=0.5, stiffness=1e5))


CLEARANCE = ix.Curve([-1.0, -0.5, 0.5, 1.0], [-5e4, 0.0, 0.0, 5e4], interpolation="linear")


def sprung(model, body):
    ends = (model.ground.marker((0, 0, -5.0)), body.marker())
    model.add(ix.SpringDamper("stop", *ends, stiffness=CLEARANCE, length=5.0))


def slid(model, body):
    rail = model.add(ix.Inline("rail", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.TranslationalSpringDamper("stop", rail, stiffness=CLEARANCE))


def bushed(model, body):
    model.add(ix.Bushing("stop", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), stiffness=(0, 0, CLEARANCE)))


@pytest.mark.jit_off
@pytest.mark.parametrize("add", [limited, touching, rolling, sprung, slid, bushed])
def test_a_switch_is_negative_where_there_is_a_force(add):
    model = ix.Model("one", gravity=(0, 0, 0))
    body = model.add(ix.RigidBody("body", 1.0, (0.1, 0.1, 0.1)))
    add(model, body)
    system = compile_model(model)
    state = State(system)
    for z in (-0.7, -0.3, 0.2, 0.4, 0.6, 0.9):
        q = system.q0.copy()
        q[2] = z
        state.move(0.0, q, system.v0)
        assert state.run(evaluate.forces, evaluate.switches) == 0
        acts = bool(np.any(np.abs(state[s.MARKER_F]) > 0.0))
        (value,) = state[s.SWITCH]
        assert (value < 0.0) == acts
        gap = z - 0.5 if add in (touching, rolling) else 0.5 - abs(z)
        assert value == pytest.approx(gap, abs=1e-12) or value > 0.0  # of pairs far apart a bound


def turned(turn):
    """The switch of a rotational spring with a clearance, and its torque, on a wheel that was turned."""
    model = ix.Model("wheel", gravity=(0, 0, 0))
    wheel = model.add(ix.RigidBody("wheel", 1.0, (0.1, 0.1, 0.1)))
    pin = model.add(ix.Revolute("pin", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.RotationalSpringDamper("stop", pin, stiffness=CLEARANCE, free_angle=0.1))
    system = compile_model(model)
    state, q = State(system), system.q0.copy()
    q[3], q[6] = math.cos(turn / 2), math.sin(turn / 2)
    state.move(0.0, q, system.v0)
    assert state.run(evaluate.forces, evaluate.switches) == 0
    return state[s.SWITCH].tolist(), bool(np.any(np.abs(state[s.MARKER_F]) > 0.0))


@pytest.mark.jit_off
@pytest.mark.parametrize("turn", [-0.5, -0.3, 0.2, 0.5, 0.7])
def test_switch_of_a_rotational_spring(turn):
    values, acts = turned(turn)
    assert values == pytest.approx([0.5 - abs(turn - 0.1)])
    assert acts == (values[0] < 0.0)


@pytest.mark.parametrize(
    ("x", "y", "band"),
    [
        ([-1, 0, 1], [-1, 0, 1], None),
        ([-1, -0.5, 0.5, 1], [-5, 0, 0, 5], (-0.5, 0.5)),
        ([-1, 0, 0.1, 1, 2], [-5, 0, 0, 0, 5], (0.0, 1.0)),
        ([-1, 0, 1], [0, 0, 3], (-math.inf, 0.0)),
        ([0, 1], [0, 0], None),  # never acts
    ],
)
def test_dead_band_of_a_curve(x, y, band):
    assert ix.Curve(x, y, interpolation="linear").dead_band == band
    assert ix.Curve.from_function(lambda x: x, lambda x: 1.0).dead_band is None


def test_a_spring_without_a_dead_band_has_no_switch():
    model = ix.Model("one")
    body = model.add(ix.PointMass("body", 1.0, position=(0, 0, -1)))
    ends = (model.ground.marker(), body.marker())
    model.add(ix.SpringDamper("line", *ends, stiffness=ix.Curve([0, 1], [0, 9])))
    assert State(compile_model(model))[s.SWITCH].size == 0


def test_far_pairs_of_a_set_have_switches_too():
    model = ix.Model("three", gravity=(0, 0, 0))
    balls = [
        model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=(x, 0, 0))) for k, x in enumerate((0, 0.19, 9))
    ]
    model.add(ix.ContactSet("heap", [(ball, ix.Sphere(0.1)) for ball in balls], stiffness=1e5))
    state = State(compile_model(model))
    assert state.run(evaluate.poses, evaluate.switches) == 0
    assert np.sign(state[s.SWITCH]).tolist() == [-1.0, 1.0, 1.0]
    assert state[s.SWITCH][0] == pytest.approx(-0.01)
