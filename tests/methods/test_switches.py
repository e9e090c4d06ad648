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
    monkeypatch.setattr(Runner, "until_look", lambda self: 1)
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


@pytest.mark.jit_off
@pytest.mark.parametrize("add", [limited, touching, rolling])
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
        gap = 0.5 - abs(z) if add is limited else z - 0.5
        assert value == pytest.approx(gap, abs=1e-12) or value > 0.0  # of pairs far apart a bound


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
