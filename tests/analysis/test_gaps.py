"""Equilibria of bodies that deform from starts that do not close: their joints are drawn together step by step."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import index3 as ix
from index3.analysis import gaps

SPAN, LENGTH, RADIUS = 0.8, 1.0, 0.005
WEIGHT = 1000.0 * np.pi * RADIUS**2 * 9.81
"""Per length of the rope [N/m]."""


def slack(young, elements=8, bending=0.0):
    """A rope that lies straight, 1 m long, and is to hang between two points 0.8 m apart."""
    model = ix.Model("slack", gravity=(0, -9.81, 0))
    settings = {"radius": RADIUS, "elements": elements, "young": young, "density": 1000.0}
    rope = model.add(ix.AncfCable("rope", (0, 0, 0), (LENGTH, 0, 0), bending_stiffness=bending, **settings))
    model.add(ix.Spherical("left", model.ground.marker((0, 0, 0)), rope.marker(s=0.0)))
    model.add(ix.Spherical("right", model.ground.marker((SPAN, 0, 0)), rope.marker(s=LENGTH)))
    return model


@pytest.mark.parametrize("young", [1e9, 2e11])
def test_a_slack_rope_hangs_as_a_catenary(young):
    """E A is up to 2e7 times its weight, and nothing resists bending."""
    found = ix.static(slack(young))
    a = scipy.optimize.brentq(lambda x: 2 * x * np.sinh(0.5 * SPAN / x) - LENGTH, 0.1, 10.0)
    sag = a * (np.cosh(0.5 * SPAN / a) - 1.0)
    assert found.stable
    assert found["rope"].points(0.5 * LENGTH)[0, 0] == pytest.approx(
        [0.5 * SPAN, -sag, 0.0], abs=2e-5
    )  # 8 cubics: 8e-6
    assert found["right"].force == pytest.approx([WEIGHT * a, 0.5 * WEIGHT, 0.0], rel=1e-4, abs=1e-6)


def test_a_wire_that_bends_hard_hangs_downwards():
    """A steel wire of 98 N m^2 that its ends press together: an arch far above its weight, and the lower one of two."""
    found = ix.static(slack(2e11, bending=98.0))
    assert found.stable
    assert found["rope"].points(0.5 * LENGTH)[0, 0, 1] < -0.2
    assert found["right"].force[1] == pytest.approx(0.5 * WEIGHT, rel=1e-5)


def test_closed_starts_are_left_alone():
    """And so are mechanisms in which nothing deforms."""
    model = ix.Model("straight", gravity=(0, -9.81, 0))
    rope = model.add(ix.AncfCable("rope", (0, 0, 0), (1, 0, 0), radius=0.01, elements=2, young=1e6, density=1e3))
    model.add(ix.Fixed("wall", model.ground, rope, at=(0, 0, 0)))
    for each in (model, ix.library.four_bar()):
        equations = gaps.RestState(equations_of(each))
        assert gaps.open_rows(equations, equations.point) is None


def equations_of(model):
    from index3.engine.equations import Equations

    equations = Equations(model, "static")
    equations.assemble()
    return equations


@pytest.mark.parametrize("young", [2e7, 2e11])
def test_a_strut_too_long_for_its_gap_buckles(young):
    """A planar beam 1 % too long between two hinges: it arches as the elastica does, whatever its stiffness."""
    model = ix.Model("strut", gravity=(0, -1e-3, 0))
    section = {"height": 0.01, "width": 0.01, "poisson": 0.0, "density": 1000.0, "law": "elastic-line"}
    strut = model.add(ix.AncfBeam("strut", (0, 0), (1, 0), elements=8, young=young, **section))
    model.add(ix.Spherical("a", model.ground.marker((0, 0, 0)), strut.marker(s=0.0)))
    model.add(ix.Spherical("b", model.ground.marker((0.99, 0, 0)), strut.marker(s=1.0)))
    found = ix.static(model)
    assert found.stable
    deep = -found["strut"].points(0.5)[0, 0, 1]
    assert deep == pytest.approx(2.0 / np.pi * np.sqrt(0.01) * (1.0 - 0.01 / 8), rel=0.01)  # shortened by 8e-5 besides
    critical = np.pi**2 * young * 0.01**4 / 12
    assert abs(found["b"].force[0]) == pytest.approx(critical * (1.0 + 0.01 / 2), rel=0.01)
