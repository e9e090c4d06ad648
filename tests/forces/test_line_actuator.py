"""Thrust along a line: against closed solutions, with a controller, as messages say it."""

import numpy as np
import pytest

import index3 as ix


def cart(f, **settings):
    """A point mass of 2 kg on the x axis, 1 m from a point of ground, with a thrust between; no gravity."""
    model = ix.Model("cart", gravity=(0, 0, 0))
    mass = model.add(ix.PointMass("mass", 2.0, position=(1, 0, 0)))
    model.add(ix.LineActuator("ram", model.ground.marker(), mass.marker(), f, **settings))
    return model


def test_thrust_pushes_apart_and_tension_is_its_negative():
    result = ix.simulate(cart(3.0), (0.0, 2.0), rtol=1e-8, t_eval=0.5)
    assert result["mass"].position[:, 0] == pytest.approx(1.0 + 0.75 * result.t**2, abs=1e-6)
    assert result["ram"].tension == pytest.approx(-3.0)
    assert result["ram"].length == pytest.approx(result["mass"].position[:, 0])
    assert result["ram"].force == pytest.approx(np.tile([3.0, 0, 0], (len(result), 1)))
    assert result.energy.work == pytest.approx(3.0 * (result["ram"].length - 1.0), abs=1e-6)


def servo(t, length, rate):
    """Brings the length to 2 m, critically damped with w = 5."""
    return 2.0 * (25.0 * (2.0 - length) - 10.0 * rate)


def servo_slopes(t, length, rate):
    return -50.0, -20.0


@pytest.mark.parametrize("method", ["hht-i3", "dop853", "radau5"])
@pytest.mark.parametrize("derivatives", [None, servo_slopes], ids=["differences", "given"])
def test_length_under_control(derivatives, method):
    result = ix.simulate(cart(servo, derivatives=derivatives), (0.0, 2.0), method, rtol=1e-7, t_eval=0.25)
    expected = 2.0 - (1.0 + 5.0 * result.t) * np.exp(-5.0 * result.t)
    assert result["ram"].length == pytest.approx(expected, abs=1e-4)  # rtol 1e-7 by a second-order method at worst


def test_numba_gives_the_same():
    numba = pytest.importorskip("numba")
    models = cart(servo, derivatives=servo_slopes), cart(numba.njit(servo), derivatives=numba.njit(servo_slopes))
    ends = [ix.simulate(model, (0.0, 0.5), "hht-i3", t_eval=0.5).q[-1] for model in models]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12  # rounding


def test_a_boom_is_held_by_its_ram():
    """Bodies with points; the thrust that holds a boom of weight W: moments about the pin."""
    model = ix.Model("boom")
    boom = model.add(ix.RigidBody.rod("boom", (0, 0, 2), (4, 0, 2), mass=100.0))
    model.add(ix.Revolute("pin", model.ground, boom, at=(0, 0, 2), axis=(0, 1, 0)))
    direction = np.array([1.0, 0, 2]) / np.sqrt(5)
    arm = abs(np.cross(np.array([1.0, 0, 0]), direction)[1])
    thrust = 100.0 * 9.80665 * 2.0 / arm
    model.add(ix.LineActuator("ram", model.ground, boom, thrust, points=((0, 0, 0), (1, 0, 2))))
    result = ix.simulate(model, (0.0, 0.1), rtol=1e-9)
    assert np.abs(result["boom"].acceleration[0]).max() < 1e-9 * thrust


def test_a_controller_sets_it():
    model = cart(0.0)
    model.add(
        ix.Controller(
            "hold", 0.01, lambda t, u, memory: servo(t, *u), ["ram.length", "ram.length_rate"], [model["ram"]]
        )
    )
    result = ix.simulate(model, (0.0, 3.0), rtol=1e-6)
    assert result["ram"].length[-1] == pytest.approx(2.0, abs=1e-3)


def test_messages():
    with pytest.raises(
        ix.ModelError,
        match=r"LineActuator 'ram' has f 'much'. Give a number, a function f\(t\), or a function f\(t, length, rate\)",
    ):
        cart("much")
    with pytest.raises(ix.ModelError, match="LineActuator 'ram': its function f returns None"):
        ix.simulate(cart(lambda t, length, rate: None), (0.0, 1.0))
    with pytest.raises(ix.ModelError, match="LineActuator 'ram': its function f gave numbers that are not finite"):
        ix.simulate(cart(lambda t, length, rate: float("nan")), (0.0, 1.0))
    model = ix.Model("one")
    mass = model.add(ix.PointMass("mass", 2.0))
    with pytest.raises(ix.ModelError, match="LineActuator 'ram' joins two bodies without points"):
        ix.LineActuator("ram", model.ground, mass, 3.0)


def test_ends_that_meet_are_said():
    result = ix.simulate(cart(-3.0), (0.0, 2.0), rtol=1e-6)  # 0.75 t^2 = 1 at t = 1.15 s
    assert not result.success
    assert "LineActuator 'ram' has both ends at one point" in result.message
