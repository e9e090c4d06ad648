"""Equilibria of bodies far stiffer along than in bending, or that turn far: against closed and integrated forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

import index3 as ix

STEEL = {"young": 2e11, "density": 7800.0}
GRAVITY = 9.81


def line(kind, length, height, elements, **settings):
    start, end, section = (0, 0, 0), (length, 0, 0), {"height": height, "width": height, "elements": elements}
    if kind == "cable":
        return ix.AncfCable("line", start, end, **section, **settings)
    if kind == "space":
        return ix.AncfBeam3D("line", start, end, **section, **settings)
    return ix.AncfBeam("line", start, end, poisson=0.0, law=kind, **section, **settings)


def heavy_elastica(length, stiffness, weight):
    """Tip of a cantilever under its own weight: EI theta'' = w (L - s) cos(theta), from light to heavy."""
    s = np.linspace(0.0, length, 400)
    shape = np.zeros((4, len(s)))  # theta, theta', x, y
    shape[2] = s

    def slopes(s, y, load):
        return np.array([y[1], load / stiffness * (length - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    def ends(a, b):
        return np.array([a[0], b[1], a[2], a[3]])

    for part in np.geomspace(1e-3, 1.0, 30):
        found = solve_bvp(lambda s, y, p=part: slopes(s, y, p * weight), ends, s, shape, tol=1e-9, max_nodes=100000)
        assert found.success
        s, shape = found.x, found.y
    return shape[2:, -1]


@pytest.mark.parametrize("kind", ["cable", "elastic-line", "space"])
@pytest.mark.parametrize(("height", "elements"), [(1e-3, 16), (1e-4, 32)])
def test_a_steel_strip_droops_under_its_weight(kind, height, elements):
    """A thousandth and a ten-thousandth of its length thick: its axis is 1e7 and 1e9 times as stiff as its bending."""
    model = ix.Model("strip", gravity=(0, -GRAVITY, 0))
    body = model.add(line(kind, 1.0, height, elements, **STEEL))
    model.add(ix.Fixed("wall", model.ground, body, at=(0, 0, 0), clamp=True))
    rest = ix.static(model)
    assert rest.stable
    tip = rest["line"].points([1.0]).ravel()[:2]
    exact = heavy_elastica(1.0, 2e11 * height**4 / 12, 7800.0 * GRAVITY * height**2)
    assert tip == pytest.approx(exact, abs=1e-4)  # seen: 3e-5 at the thinnest, where all bends in the first element


def test_a_long_soft_rope_hangs_as_the_elastic_catenary():
    """Sag w L^2 / (8 E A) + H/w (sqrt(1 + (w L / 2 H)^2) - 1), H from the span; seen: 3e-6 of it."""
    length, radius, young, density = 10.0, 0.01, 1e6, 1000.0
    area = np.pi * radius**2
    weight, stiffness = density * GRAVITY * area, young * area

    def span(H):
        return H * length / stiffness + 2 * H / weight * np.arcsinh(0.5 * weight * length / H)

    H = brentq(lambda H: span(H) - length, 1e-6, 1e6)
    sag = weight * length**2 / (8 * stiffness) + H / weight * (np.hypot(1.0, 0.5 * weight * length / H) - 1.0)
    model = ix.Model("rope", gravity=(0, -GRAVITY, 0))
    rope = model.add(
        ix.AncfCable("line", (0, 0, 0), (length, 0, 0), radius=radius, elements=16, young=young, density=density)
    )
    for name, s in (("left", 0.0), ("right", length)):
        model.add(ix.Spherical(name, model.ground, rope, at=(s, 0, 0)))
    rest = ix.static(model)
    assert rest.stable
    assert -rest["line"].points([0.5 * length]).ravel()[1] == pytest.approx(sag, rel=2e-5)
    assert abs(rest["left"].force[0]) == pytest.approx(H, rel=1e-3)  # its bending carries 4e-4


@pytest.mark.parametrize("section", [{"height": 0.02, "width": 0.01}, {"radius": 0.01}])
def test_a_strip_on_edge_between_two_balls_turns_to_its_flat(section):
    """It bends by its soft way then. A round one has no flat; what its discretisation prefers is found as well."""
    model = ix.Model("strip", gravity=(0, -GRAVITY, 0))
    strip = model.add(
        ix.AncfBeam3D("line", (0, 0, 0), (10, 0, 0), elements=8, young=1e7, poisson=0.3, density=1000.0, **section)
    )
    for name, s in (("left", 0.0), ("right", 10.0)):
        model.add(ix.Spherical(name, model.ground, strip, at=(s, 0, 0)))
    rest = ix.static(model)
    assert rest.stable
    if "height" in section:
        middle = rest.marker(strip.marker(s=5.0))
        assert abs(middle.rotation[1, 1]) < 1e-3  # y, along the height, lies level


def test_a_beam_that_balances_on_its_middle_stays_unfolded():
    """Free to turn about a ball: nothing holds that, and nothing of the beam may give way for it."""
    model = ix.Model("balance", gravity=(0, -GRAVITY, 0))
    beam = model.add(line("space", 1.0, 0.01, 4, **STEEL))
    model.add(ix.Spherical("ball", model.ground.marker((0, 0, 0)), beam.marker(s=0.5)))
    rest = ix.static(model)
    ends = rest["line"].points([0.0, 1.0]).reshape(2, 3)
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(1.0, abs=1e-5)
    assert rest.free


@pytest.mark.parametrize("kind", ["cable", "elastic-line", "space"])
def test_a_thin_strip_rolls_up_to_a_circle(kind):
    """L/1000 thick, steel, in one call: both ends meet, and the middle is a diameter away."""
    model = ix.Model("coil", gravity=(0, 0, 0))
    strip = model.add(line(kind, 1.0, 1e-3, 16, **STEEL))
    model.add(ix.Fixed("wall", model.ground, strip, at=(0, 0, 0), clamp=True))
    end = strip.marker(s=1.0, frame="tangent") if kind == "elastic-line" else strip.marker(s=1.0)
    model.add(ix.Torque("turn", end, (0, 0, 2 * np.pi * 2e11 * 1e-12 / 12)))
    middle, end = ix.static(model)["line"].points([0.5, 1.0]).reshape(2, 3)
    assert np.linalg.norm(end) < 2e-4  # 1e-4 of the length with 16 elements
    assert middle == pytest.approx((0.0, 1.0 / np.pi, 0.0), abs=1e-4)
