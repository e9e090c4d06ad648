"""A falling arm as a beam in absolute nodal coordinates and as a body with modes: the same motion where both hold."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix

SIDE, LENGTH, YOUNG, DENSITY, FALL = 0.005, 1.0, 1.6e10, 1000.0, 1.0
# a tube with the area and the moment of inertia of a square section
OUTER, INNER = (SIDE * np.sqrt(0.5 * (1.0 / 3.0 + sign / np.pi)) for sign in (1, -1))


def arm(kind):
    """An arm on a hinge in weak gravity, horizontal and at rest: the model and a marker at its end."""
    model = ix.Model("arm", gravity=(0, -FALL, 0))
    if kind == "modes":
        tube = ix.flexible.frame(
            {"A": (0, 0, 0), "B": (LENGTH, 0, 0)}, ["AB"], outer_diameter=2.0 * OUTER, wall=OUTER - INNER, young=YOUNG,
            poisson=0.0, density=DENSITY, elements=8,
        )  # fmt: skip
        body = model.add(tube.body("arm", interface=["A", "B"], modes=4))
        ends = body.marker(node="A"), body.marker(node="B")
    elif kind == "nodes":
        settings = {"elements": 8, "young": YOUNG, "poisson": 0.0, "density": DENSITY, "law": "elastic-line"}
        body = model.add(ix.AncfBeam("arm", (0, 0), (LENGTH, 0), height=SIDE, width=SIDE, **settings))
        ends = body.marker(s=0.0), body.marker(s=LENGTH)
    else:
        mass = DENSITY * SIDE**2 * LENGTH
        body = model.add(ix.RigidBody.rod("arm", (0, 0, 0), (LENGTH, 0, 0), mass=mass))
        ends = body.marker((-0.5 * LENGTH, 0, 0)), body.marker((0.5 * LENGTH, 0, 0))
    model.add(ix.Revolute("pin", model.ground.marker(), ends[0]))
    return model, ends[1]


def test_a_falling_arm_bends_alike():
    """S2-02: floating frame and absolute coordinates; what tension stiffens, of second order in the speed, is small."""
    places = {}
    for kind in ("modes", "nodes", "rigid"):
        model, end = arm(kind)
        result = ix.simulate(model, (0, 0.3), "hht-i3", rtol=1e-6, atol=1e-9, t_eval=0.02)
        assert result.success, result.message
        places[kind] = result.marker(end).position
    bent = np.abs(places["nodes"] - places["rigid"]).max()
    assert bent == pytest.approx(1.78e-4, rel=0.05)  # it does bend: this much by the beam
    assert np.abs(places["modes"] - places["nodes"]).max() < 0.02 * bent  # 0.6 percent seen, 5 at ten times the gravity
