"""Drives on joint coordinates: constant, of time, of the state; Numba; failures."""

import pickle
from math import cos, exp, sin

import numpy as np
import pytest

import index3 as ix


def rotor(f, **settings):
    """A rotor of inertia 0.02 with a drive; no gravity."""
    model = ix.Model("rotor", gravity=(0, 0, 0))
    body = model.add(ix.RigidBody.cylinder("rotor", 0.2, 0.1, mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Actuator("motor", pin, f, **settings))
    return model


def test_constant_and_function_of_time():
    result = ix.simulate(rotor(0.06), (0.0, 2.0), rtol=1e-8, t_eval=0.5)
    assert result["pin"].angle == pytest.approx(1.5 * result.t**2, abs=1e-6)
    assert result.energy.work == pytest.approx(0.06 * result["pin"].angle, abs=1e-6)  # torque times angle
    result = ix.simulate(rotor(cos), (0.0, 2.0), "dop853", rtol=1e-9, t_eval=0.5)
    assert result["pin"].angle == pytest.approx(50.0 * (1.0 - np.cos(result.t)), rel=1e-6)  # rtol 1e-9 per step


def servo(t, x, rate):
    """Brings the rotor to 1 rad, critically damped with w = 5: J (w^2 (1 - x) - 2 w x')."""
    return 0.02 * (25.0 * (1.0 - x) - 10.0 * rate)


def servo_slopes(t, x, rate):
    return -0.5, -0.2


@pytest.mark.parametrize("method", ["hht-i3", "dop853", "rosenbrock4"])
@pytest.mark.parametrize("derivatives", [None, servo_slopes], ids=["differences", "given"])
def test_controller(derivatives, method):
    result = ix.simulate(rotor(servo, derivatives=derivatives), (0.0, 2.0), method, rtol=1e-7, t_eval=0.25)
    expected = 1.0 - (1.0 + 5.0 * result.t) * np.exp(-5.0 * result.t)
    assert result["pin"].angle == pytest.approx(expected, abs=1e-4)  # rtol 1e-7 by a second-order method at worst
    assert np.ptp(result.energy.balance) < 1e-3


def test_force_on_a_displacement():
    """A speed controller in time: m v' = 3 (1 - v), along a tilted guide without gravity."""
    model = ix.Model("cart", gravity=(0, 0, 0))
    cart = model.add(ix.RigidBody.box("cart", (0.1, 0.1, 0.1), mass=3.0))
    guide = model.add(ix.Prismatic("guide", model.ground, cart, at=(0, 0, 0), axis=(1, 1, 0)))
    model.add(ix.Actuator("drive", guide, lambda t, x, rate: 3.0 * (1.0 - rate)))
    result = ix.simulate(model, (0.0, 1.0), "dop853", rtol=1e-9, t_eval=0.25)
    assert result["guide"].displacement_rate == pytest.approx([1.0 - exp(-t) for t in result.t], abs=1e-8)


def test_numba_gives_the_same():
    numba = pytest.importorskip("numba")
    compiled = rotor(numba.njit(servo), derivatives=numba.njit(servo_slopes))
    ends = [
        ix.simulate(model, (0.0, 0.5), "hht-i3", t_eval=0.5).q[-1]
        for model in (rotor(servo, derivatives=servo_slopes), compiled)
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12  # rounding


def test_what_a_function_raises_is_shown():
    def broken(t, x, rate):
        if t > 0.1:
            raise ValueError("no power")
        return 1.0

    result = ix.simulate(rotor(broken), (0.0, 0.5))
    assert not result.success
    assert "Actuator 'motor': its function f raised ValueError" in result.message
    with pytest.raises(ix.ModelError, match="Actuator 'motor': its function f gave numbers that are not finite"):
        ix.simulate(rotor(lambda t, x, rate: float("nan")), (0.0, 0.5))
    with pytest.raises(ix.ModelError, match="Actuator 'motor' gave a value that is not a finite number"):
        ix.simulate(rotor(lambda t: float("inf")), (0.0, 0.5))


@pytest.mark.parametrize(
    ("f", "settings", "message"),
    [
        ("full", {}, r"Actuator 'motor' has f 'full'. Give a number, a function f\(t\), or a function f\(t, x, rate\)"),
        (lambda t, x: 0.0, {}, "Give a number, a function"),
        (float("nan"), {}, "has f nan. Give a finite number"),
        (sin, {"derivatives": servo_slopes}, "Leave them out: f is of t alone"),
        (servo, {"derivatives": cos}, r"Give a function derivatives\(t, x, rate\)"),
        (servo, {"coordinate": "displacement"}, "has no coordinate 'displacement' to act on. Choose from angle"),
    ],
)
def test_words_that_are_refused(f, settings, message):
    with pytest.raises(ix.ModelError, match=message):
        rotor(f, **settings)


def no_return(t, x, rate):
    5.0 * x


@pytest.mark.parametrize("kind", ["time", "plain", "numba", "derivatives"])
def test_a_function_without_return_is_told_so(kind):
    if kind == "numba":
        f, settings = pytest.importorskip("numba").njit(no_return), {}
    elif kind == "derivatives":
        f, settings = (lambda t, x, rate: -x), {"derivatives": no_return}
    else:
        f, settings = no_return if kind == "plain" else (lambda t: None), {}
    what = "derivatives" if kind == "derivatives" else "f"
    try:
        said = ix.simulate(rotor(f, **settings), (0.0, 0.1), "hht-i3").message  # derivatives are first asked in a step
    except ix.ModelError as error:
        said = str(error)
    assert f"Actuator 'motor': its function {what} returns None" in said


def test_copies_and_pickles():
    model = rotor(servo, derivatives=servo_slopes)
    for other in (model.copy(), pickle.loads(pickle.dumps(model))):
        assert other["motor"].f is servo
        assert other["motor"].joint is other["pin"]
