"""Stops of joint coordinates."""

from math import pi, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix


def slider(speed=2.0, **settings):
    """A mass on a straight guide that runs into a stop at 0.5 m."""
    model = ix.Model("buffer", gravity=(0, 0, 0))
    block = model.add(ix.RigidBody.box("block", (0.1, 0.1, 0.1), mass=2.0, velocity=(speed, 0, 0)))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.JointLimit("stop", guide, upper=0.5, **settings))
    return model


def test_elastic_stop_returns_all():
    """Half a period of a spring in contact, at depth v sqrt(m/k) at most."""
    stiffness, speed = 800.0, 2.0
    turn = pi / sqrt(stiffness / 2.0)
    result = ix.simulate(slider(speed, stiffness=stiffness), (0.0, 0.5 + turn), rtol=1e-8, t_eval=0.01)
    assert result.success, result.message
    x = result["guide"].displacement
    assert x[-1] == pytest.approx(0.5 - speed * (0.5 + turn - 0.25 - turn), abs=1e-5)  # rtol 1e-8, a kink at contact
    assert x.max() == pytest.approx(0.5 + speed * sqrt(2.0 / stiffness), abs=1e-3)  # seen every 0.01 s
    assert result["block"].velocity[-1, 0] == pytest.approx(-speed, abs=1e-5)
    assert np.ptp(result.energy.total) < 1e-4 * result.energy.kinetic[0]
    assert not result.energy.work.any()


def damped_end(stiffness, damping, onset):
    """Velocity after the contact, from the equation of motion, begun at the contact."""

    def rate(t, y):
        u = min(max(y[0], 0.0) / onset, 1.0)
        push = stiffness * y[0] + damping * u * u * (3.0 - 2.0 * u) * y[1]
        return y[1], -max(push, 0.0) / 2.0 if y[0] > 0.0 else 0.0

    return solve_ivp(rate, (0.0, 0.35), (0.0, 2.0), rtol=1e-9, atol=1e-11, max_step=1e-3).y[1, -1]


def test_damped_stop_takes_energy_and_never_pulls():
    settings = {"stiffness": 800.0, "damping": 40.0, "onset": 0.01}
    # as it leaves, the block is pushed once more for 1 ms, which longer steps would pass over
    result = ix.simulate(slider(**settings), (0.0, 0.6), "dop853", rtol=1e-8, max_step=5e-4, t_eval=0.001)
    assert result["block"].acceleration[:, 0].max() < 1e-9  # the stop only pushes back
    assert result["block"].velocity[-1, 0] == pytest.approx(damped_end(**settings), abs=1e-5)  # rtol 1e-8, a kink
    assert result.energy.kinetic[-1] < 0.2 * result.energy.kinetic[0]
    assert np.ptp(result.energy.balance) < 1e-3 * result.energy.kinetic[0]
    # without a jump: damping sets in over the onset of 0.01 m, passed in 5 ms
    jump = np.abs(np.diff(result["block"].acceleration[:, 0])).max()
    assert jump < 0.5 * settings["damping"] * 2.0 / 2.0


def test_limit_beyond_a_full_turn():
    """A rotor that may turn by two and a half turns, both ways; exponent 1.5: U = k d^2.5 / 2.5."""
    model = ix.Model("rotor", gravity=(0, 0, 0))
    rotor = model.add(ix.RigidBody.cylinder("rotor", 0.2, 0.1, mass=1.0, angular_velocity=(0, 0, 8.0)))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.JointLimit("stop", pin, lower=-5 * pi, upper=5 * pi, stiffness=2.0, exponent=1.5))
    result = ix.simulate(model, (0.0, 10.0), rtol=1e-8, t_eval=0.01)
    depth = (0.5 * 0.02 * 64.0 * 2.5 / 2.0) ** 0.4
    assert result["pin"].angle.max() == pytest.approx(5 * pi + depth, abs=5e-3)  # seen every 0.01 s
    assert result["pin"].angle.min() == pytest.approx(-5 * pi - depth, abs=5e-3)
    assert np.ptp(result.energy.total) < 1e-4 * 0.64


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stiffness": 1.0}, "JointLimit 'l' has no limits. Give lower, upper, or both"),
        ({"stiffness": 1.0, "lower": 1.0, "upper": 1.0}, "Give lower below upper"),
        ({"stiffness": 0.0, "lower": 1.0}, "has stiffness 0.0. Give a positive number"),
        ({"stiffness": 1.0, "lower": 1.0, "damping": -1.0}, "has damping -1.0. Give at least 0"),
        ({"stiffness": 1.0, "lower": 1.0, "exponent": 0.5}, "has exponent 0.5. Give at least 1"),
        ({"stiffness": 1.0, "lower": 1.0, "onset": 0.0}, "has onset 0.0. Give a positive number"),
        ({"stiffness": 1.0, "lower": float("nan")}, "has lower nan. Give a finite number"),
        ({"stiffness": 1.0, "lower": 1.0, "coordinate": "length"}, "has no coordinate 'length' to act on"),
    ],
)
def test_words_that_are_refused(given, message):
    model = slider(stiffness=1.0)
    with pytest.raises(ix.ModelError, match=message):
        ix.JointLimit("l", model["guide"], **given)


def test_joints_that_are_refused():
    model = ix.Model("m")
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0))
    pin = model.add(ix.Spherical("pin", model.ground, ball, at=(0, 0, 0)))
    sleeve = model.add(ix.Cylindrical("sleeve", model.ground, ball, at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(ix.ModelError, match="acts on Spherical 'pin', which has no angle or displacement"):
        ix.JointLimit("l", pin, lower=0.0, stiffness=1.0)
    with pytest.raises(ix.ModelError, match="Give coordinate='angle' or coordinate='displacement'"):
        ix.JointLimit("l", sleeve, lower=0.0, stiffness=1.0)
    with pytest.raises(ix.ModelError, match="cannot act on RigidBody"):
        ix.JointLimit("l", ball, lower=0.0, stiffness=1.0)
