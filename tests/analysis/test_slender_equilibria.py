"""Stability of slender struts, and what a report says of free and flexible bodies."""

from math import pi

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

import index3 as ix
from index3.analysis.instants import name_motions
from index3.engine.equations import Equations

YOUNG = 2e11


def strut(kind, length, height, load):
    """A clamped strut of steel under a dead load along its axis, in parts of Euler's."""
    model = ix.Model("strut", gravity=(0, 0, 0))
    settings = {"height": height, "width": height, "elements": 8, "young": YOUNG, "poisson": 0.0, "density": 7800.0}
    if kind == "AncfBeam":
        beam = ix.AncfBeam("strut", (0, 0), (length, 0), law="elastic-line", **settings)
    else:
        beam = ix.AncfBeam3D("strut", (0, 0, 0), (length, 0, 0), **settings)
    model.add(beam)
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    euler = pi**2 / 4 * YOUNG * height**4 / 12 / length**2
    model.add(ix.Force("load", beam.marker(s=length), (-load * euler, 0, 0)))
    return model


@pytest.mark.parametrize("kind", ["AncfBeam", "AncfBeam3D"])
@pytest.mark.parametrize(("length", "height"), [(1.0, 0.01), (10.0, 0.01), (20.0, 0.002)])
def test_struts_buckle_at_the_load_of_euler(kind, length, height):
    """However slender: over the mass, the stiffness of sections 2 mm thick hides that of bending with its sign."""
    for load, stable in ((0.98, True), (1.02, False)):
        rest = ix.static(strut(kind, length, height, load), method="newton")
        assert (rest.stable, rest.free) == (stable, [])  # nothing of a clamped strut is free


def test_a_slender_strut_bows_as_the_elastica():
    """Ten metres, a thousandth thick, 1.1 times Euler's load: K(k) = pi/2 sqrt(1.1), the ends 2 E/K - 1 apart."""
    rest = ix.static(strut("AncfBeam", 10.0, 0.01, 1.1))
    m = brentq(lambda m: ellipk(m) - 0.5 * pi * np.sqrt(1.1), 1e-9, 0.9)
    tip = rest["strut"].points(10.0).ravel() / 10.0
    assert rest.stable
    assert (tip[0], abs(tip[1])) == pytest.approx((2 * ellipe(m) / ellipk(m) - 1, 2 * m**0.5 / ellipk(m)), abs=1e-4)
    assert rest.moved["strut"][0] < 5.0  # of its centre of mass, in metres: slopes are none


def test_rounding_of_a_joint_is_not_taken_for_its_motion():
    """A weight slides freely beside a hinge: a direction in which the hinge turns by rounding is that of the weight."""
    model = ix.Model("beside", gravity=(0, 0, 0))
    weight = model.add(ix.PointMass("weight", 1.0))
    rod = model.add(ix.PlanarBody.rod("rod", (0, 0), (1, 0), 1.0))
    model.add(ix.Revolute("hinge", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    system = Equations(model, "static").system
    direction = np.array([1.0, 0.0, 0.0, 0.0, 0.5e-12, 1e-12])  # of weight x, y, z and rod x, y, angle
    q = np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0])
    assert name_motions(model, system, q, direction[:, None]) == [f"the position of {weight.label}"]
