"""Constraints of one kind in whole models: inline, parallel axes, driven coordinates and rates, a closed mechanism."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from mechanics import newton_euler
from scipy.integrate import solve_ivp

import index3 as ix

Z = (0, 0, 1)


def refused(text):
    return pytest.raises(ix.ModelError, match=re.escape(text))


def block(name="block", **pose):
    return ix.RigidBody(name, 2.0, (0.1, 0.2, 0.3), **pose)


def test_inline_bead_slides_along_a_turning_rod():
    """A point on the axis of a rod that turns at W runs outwards as cosh(W t)."""
    model = ix.Model("rod", gravity=(0, 0, 0))
    rod = model.add(block("rod"))
    bead = model.add(ix.PointMass("bead", 0.5, position=(0.1, 0, 0), velocity=(0, 0.2, 0)))
    pivot = model.add(ix.Revolute("pivot", model.ground, rod, at=(0, 0, 0), axis=Z))
    model.add(ix.Motion("drive", pivot, lambda t: 2.0 * t, 2.0))
    line = model.add(ix.Inline("line", rod, bead, at=(0.1, 0, 0), axis=(1, 0, 0)))
    assert (line.row_labels, model.check().dof) == (("x1.d", "y1.d"), 1)
    result = ix.simulate(model, (0.0, 1.5), rtol=1e-9, t_eval=0.1)
    wanted = 0.1 * np.cosh(2.0 * result.t) - 0.1
    np.testing.assert_allclose(result["line"].displacement, wanted, atol=1e-6)  # rtol 1e-9, growing as e^3


def test_relative_coordinate_follows_its_function():
    """S0-10: a prescribed height."""
    model = ix.Model("lift")
    body = model.add(block(position=(0.5, 0, 0.2)))
    ends = model.ground.marker((0, 0, 0)), body.marker((0.1, 0, 0))
    model.add(ix.RelativeCoordinate("height", *ends, math.sin, math.cos, lambda t: -math.sin(t)))
    model.add(ix.Orientation("upright", model.ground, body))
    assert model.check().dof == 2
    result = ix.simulate(model, (0.0, 3.0), rtol=1e-8, t_eval=0.1)
    np.testing.assert_allclose(result["block"].position[:, 2], 0.2 + np.sin(result.t), atol=1e-10)
    np.testing.assert_allclose(result["block"].rotation, np.tile(np.eye(3), (len(result), 1, 1)), atol=1e-10)
    np.testing.assert_allclose(result["height"].force[:, 2], 2.0 * (9.80665 - np.sin(result.t)), atol=1e-9)
    np.testing.assert_allclose(result.energy.balance, result.energy.balance[0], atol=1e-5)  # work by dense output
    assert newton_euler(model, result) < 1e-9


def test_relative_coordinate_is_held_by_default():
    """S0-10: a constant one."""
    model = ix.Model("held")
    body = model.add(block(position=(0.5, 0, 0.2), velocity=(1, 0, 0)))
    model.add(ix.RelativeCoordinate("height", model.ground.marker(), body.marker()))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1)
    np.testing.assert_allclose(result["block"].position[:, 2], 0.2, atol=1e-12)
    np.testing.assert_allclose(result["block"].position[:, 0], 0.5 + result.t, atol=1e-6)  # rtol 1e-6


def hauled_in(length=lambda t: -0.2 * t - 0.05 * math.sin(3 * t)):
    """A weight that swings on a rope of 1 m while a winch hauls it in."""
    model = ix.Model("winch")
    weight = model.add(ix.PointMass("weight", 2.0, position=(0.6, 0, -0.8)))
    rates = (lambda t: -0.2 - 0.15 * math.cos(3 * t), lambda t: 0.45 * math.sin(3 * t))
    points = ((0, 0, 0), (0.6, 0, -0.8))
    model.add(ix.Distance("rope", model.ground, weight, points=points, f=length, df=rates[0], ddf=rates[1]))
    return model


@pytest.mark.parametrize(
    ("method", "limit"), [("dop853", 1e-7), ("radau5", 1e-7), ("bdf-si2", 1e-4), ("hht-i3", 1e-2), ("al-index3", 1e-2)]
)
def test_a_distance_follows_its_function(method, limit):
    """Against the equation of its angle, L p'' = -g sin p - 2 L' p', by SciPy. Limits: five times what is seen."""
    result = ix.simulate(
        hauled_in(), (0.0, 3.0), method, rtol=1e-8 if method in ("dop853", "radau5") else 1e-6, t_eval=0.1
    )
    rope = lambda t: (1.0 - 0.2 * t - 0.05 * np.sin(3 * t), -0.2 - 0.15 * np.cos(3 * t))  # noqa: E731

    def swing(t, y):
        length, rate = rope(t)
        return [y[1], -(9.80665 * math.sin(y[0]) + 2.0 * rate * y[1]) / length]

    start = [math.atan2(0.6, 0.8), 0.0]
    angle = solve_ivp(swing, (0.0, 3.0), start, "DOP853", t_eval=result.t, rtol=1e-11, atol=1e-12).y[0]
    length, rate = rope(result.t)
    wanted = length[:, None] * np.stack([np.sin(angle), 0.0 * angle, -np.cos(angle)], axis=1)
    assert np.abs(result["weight"].position - wanted).max() < limit
    np.testing.assert_allclose(result["rope"].length, length, atol=1e-11)  # rows are closed to rounding
    np.testing.assert_allclose(result["rope"].length_rate, rate, atol=1e-11)
    pull = 2.0 * (result["weight"].acceleration + np.array([0, 0, 9.80665]))
    np.testing.assert_allclose(result["rope"].force, pull, atol=1e-9)
    assert np.ptp(result.energy.balance) < 15.0 * max(limit, 1e-6)  # of 15 J: the work of the winch is counted


def test_a_distance_has_a_positive_length():
    """The message says whose function is to blame."""
    model = ix.Model("winch", gravity=(0, 0, 0))
    weight = model.add(ix.PointMass("weight", 2.0, position=(0, 0, -1)))
    points = ((0, 0, 0), (0, 0, -1))
    model.add(ix.Distance("rope", model.ground, weight, points=points, f=lambda t: -2.0 * t, df=-2.0, ddf=0.0))
    with pytest.raises(
        ix.ModelError, match=r"Distance 'rope' has no positive length at t = 0\.6: its f takes away all"
    ):
        ix.assemble(model, 0.6)


@pytest.mark.parametrize("method", ["auto", "bdf-si2", "al-index1", "tlismni-hht"])
def test_relative_angular_velocity_follows_its_function(method):
    """S0-08: a prescribed relative speed."""
    model = ix.Model("spinner", gravity=(0, 0, 0))
    base = model.add(block("base", angular_velocity=(0.4, -0.2, 0.1)))
    wheel = model.add(block("wheel", position=(0, 0, 1)))
    model.add(ix.Revolute("axle", base, wheel, at=(0, 0, 1), axis=Z))
    speed = ix.RelativeAngularVelocity("speed", base, wheel, lambda t: 3.0 + math.sin(t), math.cos, axis=Z)
    model.add(speed)
    assert model.check().dof == 6
    result = ix.simulate(model, (0.0, 4.0), method=method, rtol=1e-7, t_eval=0.1)
    np.testing.assert_allclose(result["axle"].angle_rate, 3.0 + np.sin(result.t), atol=1e-9)
    np.testing.assert_allclose(result["axle"].angle, 3.0 * result.t + 1.0 - np.cos(result.t), atol=1e-3)  # integrated
    assert newton_euler(model, result) < 1e-9
    size = result.energy.kinetic.max()
    np.testing.assert_allclose(result.energy.balance / size, result.energy.balance[0] / size, atol=1e-4)  # rtol 1e-7


def test_relative_angular_velocity_by_default_is_zero():
    model = ix.Model("locked", gravity=(0, 0, 0))
    body = model.add(block(angular_velocity=(0.4, -0.2, 0)))
    model.add(ix.RelativeAngularVelocity("lock", model.ground, body, axis=Z))
    result = ix.simulate(model, (0.0, 2.0), t_eval=0.1)
    np.testing.assert_allclose(result["block"].angular_velocity[:, 2], 0.0, atol=1e-12)


def test_missing_derivatives_warn():
    with pytest.warns(UserWarning, match="RelativeAngularVelocity 'w' has no df: taken by differences") as caught:
        ix.RelativeAngularVelocity("w", ix.Model().ground, block(), math.sin, axis=Z)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="RelativeCoordinate 'c' has no df and ddf: taken by differences"):
        ix.RelativeCoordinate("c", ix.Model().ground, block(), math.sin, at=(0, 0, 0), axis=Z)
    with refused("RelativeCoordinate 'c' has f 'up'. Give a function of t, or a number."):
        ix.RelativeCoordinate("c", ix.Model().ground, block(), "up", at=(0, 0, 0), axis=Z)


def test_parallel_axes_count_turns_and_can_be_driven():
    model = ix.Model("parallel", gravity=(0, 0, 0))
    body = model.add(block(position=(1, 2, 3)))
    joint = model.add(ix.ParallelAxes("tilt", model.ground, body, axis=Z))
    model.add(ix.Motion("spin", joint, lambda t: 20.0 * t, 20.0))
    assert model.check().dof == 3
    result = ix.simulate(model, (0.0, 2.0), t_eval=0.1)
    np.testing.assert_allclose(result["tilt"].angle, 20.0 * result.t, atol=1e-10)


def test_in_plane_coordinates_can_be_driven():
    model = ix.Model("table")
    body = model.add(block())
    plane = model.add(ix.InPlane("table", model.ground, body, at=(0, 0, 0), axis=Z))
    model.add(ix.Motion("push", plane, lambda t: 0.5 * t, 0.5, coordinate="x"))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1)
    np.testing.assert_allclose(result["block"].position[:, [0, 2]], np.outer(result.t, [0.5, 0.0]), atol=1e-12)


def test_rows_between_planar_bodies():
    for word, form, labels in (
        (ix.Inline, {"at": (1, 0, 0), "axis": (1, 0, 0), "x": (0, 1, 0)}, ["x1.d"]),
        (ix.InPlane, {"at": (1, 0, 0), "axis": (0, 1, 0)}, ["z1.d"]),
        (ix.Orientation, {}, ["x1.y2"]),
        (ix.ParallelAxes, {"axis": Z}, []),
        (ix.ConstantVelocity, {"at": (1, 0, 0), "axes": ((1, 0, 0), (1, 1, 0))}, ["x", "y"]),
    ):
        trial = ix.Model("trial")
        first, second = (trial.add(ix.PlanarBody(name, 1.0, 0.1, position=(k, 0))) for k, name in enumerate("ab"))
        trial.add(word("j", first, second, **form))
        assert trial.check().constraints == len(labels), word
    twisted = ix.Model("twisted")
    flat = twisted.add(ix.PlanarBody("flat", 1.0, 0.1))
    twisted.add(ix.ConstantVelocity("cv", twisted.ground, flat, at=(0, 0, 0), axes=(Z, Z)))
    with refused("ConstantVelocity 'cv' turns planar bodies out of the ground x-y plane. Give it shafts along it."):
        twisted.check()


def closed_mechanism():
    """A loop with many of these joints: shafts, a bent coupling, gears, a rack that drives a screw."""
    model = ix.Model("loop")
    bend = np.array([math.cos(0.5), math.sin(0.5), 0.0])
    ground = model.ground
    shaft = model.add(block("shaft", position=(-0.5, 0, 0), angular_velocity=(4, 0, 0)))
    out = model.add(block("out", position=0.5 * bend))
    wheel = model.add(block("wheel", position=(0.5, 0.8, 0)))
    rack = model.add(block("rack", position=(0.4, 0.8, -0.2)))
    nut = model.add(block("nut", position=(0.4, 1.2, 0.1)))
    slider = model.add(block("slider", position=(0.2, 1.2, 0.1)))
    model.add(ix.Revolute("in bearing", ground, shaft, at=(-0.5, 0, 0), axis=(1, 0, 0)))
    model.add(ix.ConstantVelocity("coupling", shaft, out, at=(0, 0, 0), axes=((1, 0, 0), bend)))
    first = model.add(ix.Revolute("out bearing", ground, out, at=bend, axis=bend))
    second = model.add(ix.Revolute("wheel bearing", ground, wheel, at=(0.5, 0.8, 0), axis=(0, 1, 0)))
    model.add(ix.Gear("bevel", first, second, ratio=0.7))
    slide = model.add(ix.Prismatic("slide", ground, rack, at=(0.4, 0.8, -0.2), axis=(1, 0, 0)))
    model.add(ix.RackPinion("teeth", second, slide, radius=0.2))
    model.add(ix.Screw("thread", rack, nut, at=(0.4, 1.2, 0.1), axis=(1, 0, 0), pitch=0.3))
    model.add(ix.ParallelAxes("guide", ground, nut, axis=(1, 0, 0)))
    model.add(ix.Inline("rail", nut, slider, at=(0.2, 1.2, 0.1), axis=(0, 0.3, 1)))
    model.add(ix.Orientation("frame", ground, slider))
    model.add(ix.SpringDamper("spring", ground.marker((0, 1.2, 0)), slider.marker(), stiffness=40.0, length=0.3))
    return model


def test_reactions_of_a_closed_mechanism_satisfy_newton_and_euler():
    model = closed_mechanism()
    result = ix.simulate(model, (0.0, 3.0), rtol=1e-7, t_eval=0.05)
    assert result.success
    position = result["slider"].position
    d = position - (0, 1.2, 0)
    length = np.linalg.norm(d, axis=1)[:, None]
    pull = np.zeros((len(result), 6))
    pull[:, :3] = -40.0 * (length - 0.3) * d / length
    assert newton_euler(model, result, {"slider": pull}) < 1e-9
    assert np.ptp(result.energy.total) < 1e-4 * result.energy.kinetic.max()  # rtol 1e-7
    assert np.ptp(result["thread"].angle) > 1.0
