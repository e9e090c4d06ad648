"""Flexible bodies with modes in every method and analysis, beside every other kind of body."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flexible_models import beam

import index3 as ix
from index3.shapes import Plane, Sphere

SIDE = 0.04  # of the square section of [HusseinHHT]'s pendulum


def soft_pendulum():
    """A soft tube that falls from the horizontal on a hinge: seven degrees of freedom."""
    model = ix.Model("soft")
    body = model.add(beam(3, young=2e8).body("beam", interface=["A", "B"], modes=0, damping=0.02))
    model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    return model


def tip(model, result):
    return result.marker(model["beam"].marker(node="B")).position


@pytest.fixture(scope="module")
def exact():
    model = soft_pendulum()
    return tip(model, ix.simulate(model, (0.0, 0.3), "radau5", rtol=1e-9))[-1]


@pytest.mark.parametrize("method", sorted(ix.METHODS))
def test_every_method_takes_modes(method, exact):
    model = soft_pendulum()
    result = ix.simulate(model, (0.0, 0.3), method, rtol=1e-5)
    assert result.success, result.message
    assert tip(model, result)[-1] == pytest.approx(exact, abs=1e-4)  # seen: 3.3e-5 by bdf-i3, most below 1e-6


def test_methods_for_few_degrees_of_freedom_refuse_many_modes_by_name():
    model = ix.Model("many")
    corners = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (1, 1, 0)}
    tubes = {"outer_diameter": 0.03, "wall": 0.003, "young": 2e11, "density": 7800.0, "elements": 12}
    body = model.add(ix.flexible.frame(corners, ["AB", "BC", "CA"], **tubes).body("frame", interface=["A", "B", "C"]))
    assert body.modes == 210
    with pytest.raises(ix.ModelError, match="'rosenbrock4' takes models with flexible bodies of at most 200 degrees"):
        ix.simulate(model, (0.0, 0.01), "rosenbrock4")


def driven(law):
    model = ix.Model("driven")
    body = model.add(beam(4).body("beam", interface=["A", "B"], modes=2, damping=0.05))
    pin = model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("turn", pin, ix.Expression(law)))
    return model


def test_a_held_tube_vibrates_as_a_cantilever():
    """Linearised with its hinge held: Euler and Bernoulli's first two frequencies, twice each."""
    model = driven("0*t")
    section = math.pi / 64.0 * (0.03**4 - 0.024**4), math.pi / 4.0 * (0.03**2 - 0.024**2)
    speed = math.sqrt(2e11 * section[0] / (7800.0 * section[1]))
    found = ix.linearize(model).frequencies[:4]
    exact = speed * np.array([1.8751041, 1.8751041, 4.6940911, 4.6940911]) ** 2
    assert found == pytest.approx(exact, rel=6e-3)  # of the second 0.5 % by what two modes with held ends leave out


def test_kinematics_stands_still_where_motions_do_not_decide():
    """Modes are degrees of freedom that no motion drives: kinematics says which."""
    with pytest.raises(ix.ModelError, match="beam"):
        ix.kinematics(driven("t"), (0.0, 1.0), t_eval=0.5)


def test_ends_in_contact():
    """A tube that falls on one end, then the other, and comes to lie: its weight is carried."""
    model = ix.Model("drop")
    tilt = (math.cos(0.1), 0.0, math.sin(0.1), 0.0)
    settings = {"interface": ["A", "B"], "modes": 2, "damping": 0.05, "position": (0, 0, 0.3), "orientation": tilt}
    body = model.add(beam(4).body("beam", **settings))
    law = {"stiffness": 1e5, "exponent": 1.0, "damping": 400.0, "onset": 1e-4, "friction": 0.3}
    for node in "AB":
        model.add(ix.Contact(f"foot {node}", body.marker(node=node), model.ground, (Sphere(0.03), Plane()), **law))
    result = ix.simulate(model, (0.0, 1.5), "hht-i3", rtol=1e-5, t_eval=0.1)
    load = sum(result[f"foot {node}"].force[-1, 2] for node in "AB")
    assert abs(load) == pytest.approx(body.mass * 9.80665, rel=0.02)  # what is left of its rocking
    assert result["beam"].position[-1, 2] == pytest.approx(0.03, abs=1e-3)


def floating_pendulum():
    """The pendulum of [HusseinHHT] by modes: a tube with the area and second moment of its square section."""
    total, difference = 16.0 * SIDE**2 / 12.0, 4.0 * SIDE**2 / math.pi  # D^2 + d^2 = 16 I / A, D^2 - d^2 = 4 A / pi
    outer, inner = math.sqrt(0.5 * (total + difference)), math.sqrt(0.5 * (total - difference))
    model = ix.Model("floating", gravity=(0, -9.81, 0))
    tube = {"outer_diameter": outer, "wall": 0.5 * (outer - inner), "young": 2e11, "density": 7800.0, "elements": 4}
    structure = ix.flexible.frame({"A": (0, 0, 0), "B": (0.4, 0, 0)}, ["AB"], **tube)
    turning = np.zeros((5, 6))  # rotary inertia of the section, which tubes leave out: 0.25 % of that about the pin
    turning[:, 4:] = 7800.0 * SIDE**4 / 12.0 * 0.1 * np.array((0.5, 0.5, 1.0, 1.0, 1.0))[:, None]
    structure.mass_matrix = structure.mass_matrix + np.diag(turning.ravel())
    body = model.add(structure.body("beam", interface=["A"], modes=2))
    model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    return model


def test_a_floating_frame_follows_stiff_beams_with_far_longer_explicit_steps():
    """S3-06: the tip of the pendulum at 2e11 N/m^2 within 1 mm of that in absolute nodal coordinates."""
    nodal, floating = ix.library.ancf_pendulum(2e11), floating_pendulum()
    times = np.linspace(0.0, 0.4, 41)
    runs = [ix.simulate(model, (0.0, 0.4), "hht-i3", rtol=1e-6, t_eval=times) for model in (nodal, floating)]
    path = runs[0]["beam"].points([0.4])[:, 0]
    assert np.abs(tip(floating, runs[1]) - path).max() < 1e-3  # seen: 2e-5
    steps = [ix.simulate(model, (0.0, 0.002), "dopri5", rtol=1e-5).stats["steps"] for model in (nodal, floating)]
    assert steps[0] > 10 * steps[1]


def test_the_multi_index_method_takes_flexible_bodies():
    """S1-34: the flexible pendulum of [HusseinHHT] falls as by HHT, within the tolerance of both."""
    model = ix.library.ancf_pendulum(2e7)
    ends = [
        ix.simulate(model, (0.0, 0.3), method, rtol=1e-6)["beam"].points([0.4])[-1, 0]
        for method in ("multi-index", "hht-i3")
    ]
    assert ends[0] == pytest.approx(ends[1], abs=4e-5)  # rtol^(2/3) of 0.4 m; seen: 5e-6
