"""Stepping by hand: the motion of `simulate`, numbers that change on the way, controllers that go on."""

import numpy as np
import pytest
from test_controller import cart

import index3 as ix
from index3.errors import ModelError


def bob():
    m = ix.Model("bob", gravity=(0, 0, 0))
    bob = m.add(ix.PointMass("bob", 1.0, position=(0, 0, -1.5)))
    m.add(ix.SpringDamper("coil", m.ground, bob, points=((0, 0, 0), (0, 0, -1.5)), stiffness=100.0, length=1.0))
    return m


@pytest.mark.parametrize("method", ["auto", "hht-i3", "bdf-si2", "dopri5", "al-index3"])
def test_the_same_motion_as_simulate(method):
    model = ix.library.four_bar()
    times = np.linspace(0.0, 0.5, 6)
    stepper = ix.prepare(model, method, rtol=1e-7).stepper(0.0)
    for t in times[1:]:
        stepper.advance(t)
    whole = ix.simulate(model, (0.0, 0.5), method, rtol=1e-7, discontinuities=times[1:-1], t_eval=times, progress=False)
    joint = next(name for name in model.joints)
    # both restart at the same times, one from projected states: apart by what the projection moves
    assert stepper.get(f"{joint}.angle") == pytest.approx(whole[joint].angle[-1], abs=2e-5)
    assert stepper.t == 0.5
    assert stepper.result.t.tolist() == [times[-2], 0.5]


def test_numbers_change_on_the_way():
    stepper = ix.prepare(bob(), rtol=1e-9).stepper(0.0)
    assert stepper.get("bob.position").tolist() == [0.0, 0.0, -1.5]
    assert stepper.get("coil.tension") == pytest.approx(50.0)
    half = np.pi / 10.0  # half a period of 10 rad/s
    stepper.advance(half)
    assert stepper.get("coil.length") == pytest.approx(0.5, abs=1e-7)
    stepper.set("coil.stiffness", 400.0)
    stepper.advance(1.5 * half)
    assert stepper.get("coil.length") == pytest.approx(1.5, abs=1e-6)
    assert stepper.get("coil.tension") == pytest.approx(200.0, abs=1e-3)
    assert stepper.get("energy.kinetic") == pytest.approx(0.0, abs=1e-6)
    assert stepper.get("bob.velocity.z") == pytest.approx(0.0, abs=1e-5)


def test_two_steppers_do_not_disturb_each_other():
    simulation = ix.prepare(bob())
    one, other = simulation.stepper(0.0), simulation.stepper(0.0)
    one.set("bob.mass", 4.0)
    one.advance(0.1)
    other.advance(0.1)
    alone = simulation.stepper(0.0)
    alone.advance(0.1)
    assert other.get("bob.position").tolist() == alone.get("bob.position").tolist()
    assert one.get("bob.position.z") != other.get("bob.position.z")


def test_starts_elsewhere():
    stepper = ix.prepare(ix.library.pendulum()).stepper(
        2.0, initial={f"{next(iter(ix.library.pendulum().joints))}.angle": 0.3}
    )
    assert stepper.t == 2.0
    assert stepper.get(f"{next(iter(ix.library.pendulum().joints))}.angle") == pytest.approx(0.3, abs=1e-12)


def test_controllers_keep_their_clock_and_memory():
    def count(t, u, memory):
        memory[0] += 1.0
        return memory[0] - 3.0

    model = cart(count, memory=1)
    whole = ix.simulate(model, (0.0, 0.33), rtol=1e-8, progress=False)
    simulation = ix.prepare(model, rtol=1e-8)
    one, other = simulation.stepper(0.0), simulation.stepper(0.0)
    for t in (0.03, 0.1, 0.22, 0.33):
        one.advance(t)
        other.advance(0.5 * t)
    assert one.result["pilot"].t == pytest.approx(whole["pilot"].t)
    assert np.array_equal(one.result["pilot"].y, whole["pilot"].y)
    assert one.get("rail.displacement") == pytest.approx(whole["rail"].displacement[-1], abs=1e-7)
    assert one.get("pilot.outputs") == whole["pilot"].y[-1, 0]
    assert one.get("motor.tension") == pytest.approx(-whole["pilot"].y[-1, 0])


def test_nonsense_is_refused():
    stepper = ix.prepare(bob()).stepper(0.0)
    stepper.advance(0.1)
    with pytest.raises(ModelError, match=r"advance to t = 0\.05, but t = 0\.1 is reached"):
        stepper.advance(0.05)
    with pytest.raises(ModelError, match="has no field 'stifness' to change"):
        stepper.set("coil.stifness", 3.0)
    with pytest.raises(ModelError, match="has length -1"):
        stepper.set("coil.length", -1.0)
    with pytest.raises(ModelError, match="has no 'coill'"):
        stepper.get("coill.tension")
    with pytest.raises(ModelError, match="stepper: events has no meaning here"):
        ix.prepare(bob()).stepper(0.0, events=lambda t, state: t)
    stepper.advance(0.2)
