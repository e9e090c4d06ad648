"""Planes, hollow cylinders and stops that are met and left within one step, at the end of a swing or below it."""

import math
import warnings

import numpy as np
import pytest

import index3 as ix
from index3.forces import sweep
from index3.methods.method import METHODS

TIMES = np.linspace(0.0, 1.0, 41)
STIFF = {"stiffness": 1e10, "damping": 0.0}


def pendulum(kind, depth):
    """A ball on a massless rod of 1 m, let go from the horizontal; its way is `depth` behind a surface or a stop."""
    model = ix.Model("pendulum", gravity=(0, 0, -9.81))
    ball = model.add(ix.RigidBody.sphere("ball", 0.05, mass=1.0, position=(1, 0, 0)))
    pin = model.add(ix.Revolute("pin", model.ground, ball, at=(0, 0, 0), axis=(0, 1, 0)))
    if kind == "plane":
        floor = model.ground.marker((0, 0, depth - 1.05))
        model.add(ix.Contact("stop", ball, floor, (ix.Sphere(0.05), ix.Plane()), **STIFF))
    elif kind == "hollow":
        middle = model.ground.marker((0, 0, 3.0 + depth - 1.05), z=(0, 1, 0))
        model.add(ix.Contact("stop", ball, middle, (ix.Sphere(0.05), ix.Cylinder(3.0, 1.0, hollow=True)), **STIFF))
    elif kind == "limit":
        model.add(ix.JointLimit("stop", pin, lower=-9.0, upper=math.pi - depth, stiffness=1e10))
    return model


def run(model, method, span=1.0, **settings):
    return ix.simulate(model, (0.0, span), method, t_eval=TIMES * span, progress=False, **settings)


def exact_way(model, span=1.0):
    return run(model, "dop853", span, rtol=1e-9, max_step=5e-4)["ball"].position


@pytest.mark.parametrize("method", sorted(METHODS))
def test_no_method_swings_through_the_floor(method):
    """Its lowest point is 3 mm below the floor, so it turns back; it is 35 ms there, and some felt nothing of it."""
    model = pendulum("plane", 0.003)
    exact = exact_way(model)
    result = run(model, method, rtol=1e-3)
    assert result.success
    assert exact[:, 0].min() > 0.0
    assert result["ball"].position == pytest.approx(exact, abs=0.15)  # metres behind a stiff blow; 1.8 if it is missed


@pytest.mark.parametrize(
    ("kind", "method", "depth", "rtol"),
    [
        ("plane", "dop853", 3e-3, 1e-3),  # the cubic alone is off by 17 mm
        ("plane", "dop853", 1e-3, 1e-6),
        ("hollow", "dop853", 1e-3, 1e-6),
        ("hollow", "hht-i3", 1e-3, 1e-4),
        ("limit", "descriptor-sdirk4", 0.02, 1e-3),
        ("limit", "firstorder-sdirk4", 0.01, 1e-3),
        ("limit", "hht-i3", 0.005, 1e-3),
    ],
)
def test_short_contacts_are_met(kind, method, depth, rtol):
    span = 1.0 if kind != "limit" else 2.0
    model = pendulum(kind, depth)
    result = run(model, method, span, rtol=rtol)
    assert result.success
    assert result["ball"].position == pytest.approx(exact_way(model, span), abs=0.1)


@pytest.mark.parametrize("kind", ["plane", "hollow"])
def test_a_swing_beside_the_surface_costs_nothing(kind):
    """5 cm above the floor: the same steps as without one."""
    free = run(pendulum("", 0.0), "dopri5", rtol=1e-6)
    result = run(pendulum(kind, -0.05), "dopri5", rtol=1e-6)
    assert (result.stats["steps"], result.stats["passed"]) == (free.stats["steps"], 0)
    assert result.q == pytest.approx(free.q, abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "depth", "step"), [("plane", 0.003, 0.1), ("hollow", 0.003, 0.15), ("limit", 0.03, 0.1)]
)
def test_constant_steps_are_warned_of(kind, depth, step):
    with pytest.warns(UserWarning, match=r"'stop' was met and left again within the constant step"):
        run(pendulum(kind, depth), "hht-i3", 2.0, step=step)


@pytest.mark.parametrize("kind", ["plane", "hollow"])
def test_constant_steps_are_not_suspected(kind):
    """0.2 mm above the floor, in steps in which nobody can be sure of that: nothing is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(pendulum(kind, -2e-4), "hht-i3", step=0.1)


@pytest.mark.parametrize(
    ("cubic", "dips"),
    [
        ((1.0, -8.0, 1.0, 8.0), True),  # down to -1 in the middle
        ((1.0, -3.0, 1.0, 3.0), False),  # to 0.25
        ((1.0, 8.0, 1.0, -8.0), False),  # up
        ((-0.1, -8.0, 1.0, 8.0), False),  # it touches at the start
        ((1.0, 10.0, 0.5, 10.0), True),  # up, down and up again
        ((1.0, -1.0, 0.1, -0.8), False),  # straight
    ],
)
def test_dip(cubic, dips):
    part = sweep.dip(*cubic, 0.0, 0.0)
    x = np.linspace(0.0, 1.0, 10001)
    values = np.array([sweep.gap_between(*cubic, y) for y in x])
    assert (part < 1.0) == dips
    if dips:
        touch, deepest = x[np.argmax(values < 0.0)], x[np.argmin(values)]
        assert part == pytest.approx(touch + sweep.LANDING * (deepest - touch), abs=2e-4)  # of the grid


def test_a_cubic_that_is_not_sure_asks_for_half_of_the_step():
    cubic = (1.0, -3.9, 1.0, 3.9)  # down to 0.025
    assert sweep.dip(*cubic, 0.01, 0.0) == 1.0
    assert sweep.dip(*cubic, 0.01, 0.02) == 1.0
    assert sweep.dip(*cubic, 0.01, 0.03) == 0.5
    assert sweep.dip(*cubic, 0.04, 0.03) == 1.0
