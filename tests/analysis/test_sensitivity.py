"""Derivatives by parameters against closed ones."""

import numpy as np
import pytest
from scipy.special import ellipk
from small_models import G, particle

import index3 as ix


def down(t, state):
    """Zero where the rod of the library's pendulum hangs straight down."""
    return state["pivot"].angle - 0.5 * np.pi


def period(result):
    """Twice the time between two passages of the lowest point."""
    first, second = result.t_events[0][:2]
    return 2.0 * (second - first)


def test_period_of_a_pendulum():
    """Released from the horizontal: T = 4 sqrt(2 l / 3 g) K(1/2), so dT/dl = T / 2 l and dT/dm = 0."""
    found = ix.sensitivity(
        ix.library.pendulum, {"length": 1.5, "mass": 2.0}, period, (0.0, 2.5), events=down, rtol=1e-8
    )
    exact = 4.0 * np.sqrt(2.0 * 1.5 / (3.0 * G)) * ellipk(0.5)
    assert found.value == pytest.approx(exact, rel=1e-6)
    assert found["length"] == pytest.approx(exact / 3.0, rel=1e-6)
    assert abs(found["mass"]) < 1e-8
    assert abs(found["length"] - exact / 3.0) < 100.0 * found.errors["length"] + 1e-6
    assert "length" in str(found)
    assert found.method in ix.METHODS


def falling(height, gravity):
    model, _ = particle(gravity=(0, 0, -gravity), position=(0, 0, height))
    return model


def test_named_quantities_are_arrays():
    found = ix.sensitivity(falling, {"height": 2.0, "gravity": 9.0}, "bob.position", (0.0, 0.5))
    assert found.value == pytest.approx((0, 0, 2.0 - 9.0 / 8.0), abs=1e-9)
    assert found["height"] == pytest.approx((0, 0, 1.0), abs=1e-9)
    assert found["gravity"] == pytest.approx((0, 0, -0.125), abs=1e-9)  # linear in both: rounding alone


def test_common_steps_cancel_noise():
    """Differences over 1e-7 of a parameter agree with those over 1e-3, though the runs are good to 1e-4 only."""
    small, large = (
        ix.sensitivity(ix.library.pendulum, {"length": 1.0}, "rod.position.z", (0.0, 2.0), rtol=1e-4, relative_step=x)
        for x in (1e-7, 1e-3)
    )
    assert small["length"] == pytest.approx(large["length"], rel=1e-5)  # rounding 1e-15 over 1e-7, iterations 1e-12


def test_model_quantities_need_no_run():
    def frequency(model):
        return ix.linearize(model, at=ix.static(model)).frequencies[0]

    found = ix.sensitivity(ix.library.pendulum, {"length": 2.0}, frequency)
    assert found["length"] == pytest.approx(-0.25 * np.sqrt(1.5 * G / 2.0), rel=1e-7)
    assert found.errors["length"] < 1e-5
    assert found.step is None


def test_zero_values_take_absolute_steps():
    found = ix.sensitivity(
        lambda x: falling(x, 9.0), {"x": 0.0}, "bob.position.z", (0.0, 0.1), method="hht-i3", step=0.01
    )
    assert found["x"] == pytest.approx(1.0, abs=1e-9)
    assert (found.method, found.step) == ("hht-i3", 0.01)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"build": 3}, "build is 3"),
        ({"build": lambda length: length}, "sensitivity: the model is 1.0"),
        ({"parameters": {}}, "parameters are"),
        ({"parameters": {"length": np.nan}}, "parameters are"),
        ({"parameters": {"width": 1.0}}, "but build.*unexpected keyword argument 'width'"),
        ({"build": lambda length, mass: None}, "but build.*missing a required argument: 'mass'"),
        ({"relative_step": 0.0}, "relative_step"),
        ({"quantity": "rod.position"}, "without t_span"),
        ({"quantity": lambda model: np.inf}, "finite"),
        ({"quantity": lambda model: "far"}, "finite"),
        ({"t_span": (1.0, 0.0)}, "sensitivity: t_span"),
    ],
)
def test_bad_questions_are_named(settings, words):
    given = {"build": ix.library.pendulum, "parameters": {"length": 1.0}, "quantity": lambda model: 1.0} | settings
    with pytest.raises(ix.ModelError, match=words):
        ix.sensitivity(given.pop("build"), given.pop("parameters"), given.pop("quantity"), **given)


def test_unknown_parameter_is_named():
    found = ix.sensitivity(ix.library.pendulum, {"length": 2.0}, lambda model: 1.0)
    with pytest.raises(ix.ModelError, match="'width' is not a parameter"):
        found["width"]
