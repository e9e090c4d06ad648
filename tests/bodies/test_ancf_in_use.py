"""Beams in absolute nodal coordinates among other elements: on a spinning hub, in contact, watched by an event."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import eigh

import index3 as ix
from index3.bodies.ancf_shapes import gauss

SOFT = {"height": 0.02, "width": 0.03, "young": 2e8, "poisson": 0.0, "density": 1000.0, "law": "elastic-line"}
FIRST = 3.5160153 * math.sqrt(SOFT["young"] / (12.0 * SOFT["density"])) * SOFT["height"]
"""First bending frequency of a cantilever of 1 m [rad/s]."""


def push(t):
    """A load per length for a tenth of pi seconds, across the beam."""
    return 0.0, 0.05 * math.sin(10.0 * t) ** 2 if t < 0.1 * math.pi else 0.0, 0.0


def bending_frequency(speed):
    """Of a beam of 1 m on the rim of a hub of 1 m that spins: free vibration after a push, from its zero crossings."""
    model = ix.Model("rotor", gravity=(0, 0, 0))
    hub = model.add(ix.PlanarBody("hub", 1.0, 1.0, spin=speed))
    beam = model.add(
        ix.AncfBeam("beam", (1, 0), (2, 0), elements=4, damping=2e-3, velocity=(0, 1.5 * speed), spin=speed, **SOFT)
    )
    pin = model.add(ix.Revolute("pin", model.ground, hub, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("drive", pin, lambda t: speed * t, lambda t: speed, lambda t: 0.0))
    model.add(ix.Fixed("root", hub, beam, at=(1, 0, 0), clamp=True))
    model.add(ix.DistributedLoad("push", beam, push, frame="section"))
    settings = {"rtol": 1e-6, "atol": 1e-7, "t_eval": 0.004}
    result = ix.simulate(model, (0.0, 2.4), "hht-i3", discontinuities=[0.05 * math.pi, 0.1 * math.pi], **settings)
    tip, t = result.marker(beam.marker(1.0)).position, result.t
    across = tip[:, 1] * np.cos(speed * t) - tip[:, 0] * np.sin(speed * t)
    free = t > 0.8  # what the push left of the second frequency has died away
    t, across = t[free], across[free]
    k = np.flatnonzero(across[:-1] * across[1:] < 0.0)
    crossings = t[k] - across[k] * (t[k + 1] - t[k]) / (across[k + 1] - across[k])
    return math.pi * (len(crossings) - 1) / (crossings[-1] - crossings[0])


def beam_theory(speed):
    """The same of a thin beam by Ritz's method: bending, the tension of the spin, and its pull across the beam."""
    x, w = gauss(12)
    n = np.arange(2, 9)[:, None]  # deflections x^n: seven of them give seven digits
    y, slope, bend = x**n, n * x ** (n - 1.0), n * (n - 1) * x ** (n - 2.0)
    tension = speed**2 * (1.0 - x + 0.5 * (1.0 - x**2))  # per mass: the hub's radius is the length
    mass = (w * y) @ y.T
    stiffness = (FIRST / 3.5160153) ** 2 * (w * bend) @ bend.T + (w * tension * slope) @ slope.T - speed**2 * mass
    return math.sqrt(eigh(stiffness, mass, eigvals_only=True)[0])


def test_spin_stiffens_a_beam():
    """Its first frequency rises from 9.1 to 15 rad/s."""
    assert beam_theory(0.0) == pytest.approx(FIRST, rel=1e-6)
    for speed in (0.0, FIRST):
        assert bending_frequency(speed) == pytest.approx(
            beam_theory(speed), rel=2e-3
        )  # shear, four elements, steps: 1e-3
    rise = (beam_theory(FIRST) / FIRST) ** 2 - 1.0
    assert 1.70 < rise < 0.193 + 1.571  # the bound that Rayleigh gives with the mode at rest


def test_tip_of_a_beam_lands_on_a_floor():
    """A marker of a beam takes a contact and an event as one of a rigid body does."""
    model = ix.Model("landing", gravity=(0, -9.81, 0))
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=3, damping=0.02, **SOFT))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    tip, floor = beam.marker(1.0), model.ground.marker((0, -0.06, 0), z=(0, 1, 0))
    model.add(ix.Contact("floor", tip, floor, (ix.Sphere(0.01), ix.Plane()), stiffness=1e5, exponent=1.0, damping=0.5))

    def touch(t, state):
        return state.marker(tip).position[1] + 0.05

    touch.direction = -1
    result = ix.simulate(model, (0.0, 1.5), "hht-i3", rtol=1e-5, events=touch, t_eval=0.01)
    (times,) = result.t_events
    before = result.t < times[0]
    assert before.sum() > 5
    assert not result["floor"].force[before].any()
    assert result["floor"].force[~before].any()
    height, weight = result.marker(tip).position[-1, 1], 9.81 * beam.mass
    assert height == pytest.approx(-0.05, abs=weight / 1e5)
    support = np.abs(result["floor"].force[-1, 1])
    assert support + result["wall"].force[-1, 1] == pytest.approx(weight, rel=1e-2)  # has come to rest by then


def test_few_elements_that_bend_far_are_stable():
    """A beam of two elements that hangs from a hinge with a spring, bent by 0.9 rad in the first: its slopes hold."""
    model = ix.Model("sagging", gravity=(0, -9.81, 0))
    beam = model.add(ix.AncfBeam("beam", (0, 0), (0.5, 0), elements=2, **(SOFT | {"width": 0.02, "young": 1e7})))
    pin = model.add(ix.Revolute("pin", model.ground, beam, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.RotationalSpringDamper("spring", pin, stiffness=5.0))
    found = ix.static(model)
    assert found.stable
    assert np.linalg.norm(found.q.reshape(-1, 3, 2)[:, 1], axis=1) == pytest.approx(1.0, abs=0.05)  # r_x of the nodes
    assert found["beam"].points(0.5)[0, 0] == pytest.approx([0.4355, -0.2339, 0.0], abs=2e-3)  # 8 elements: 2e-3 lower


@pytest.mark.parametrize("elements", [4, 16])
def test_a_fixed_root_is_as_stiff_as_its_beam(elements):
    """In the short form of `Fixed`, with any number of elements; held by its section the root gave way by 1 and 5 %."""
    model = ix.Model("cantilever", gravity=(0, 0, 0))
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=elements, **(SOFT | {"height": 0.05})))
    model.add(ix.Fixed("root", model.ground, beam, at=(0, 0, 0)))
    model.add(ix.Force("load", beam.marker(s=1.0), (0, 1e-3, 0)))
    tip = ix.static(model)["beam"].points(1.0).ravel()[1]
    # of a load so small that the deflection is linear; 1e-6 seen
    assert tip == pytest.approx(1e-3 * 12.0 / (3.0 * SOFT["young"] * 0.03 * 0.05**3), rel=1e-5)


def test_beams_at_a_corner_have_no_gradients_in_common():
    """The shear of their node would open the corner."""
    model = ix.Model("corner", gravity=(0, 0, 0))
    beams = [
        model.add(ix.AncfBeam(f"beam{k}", (1, 0), end, elements=2, **SOFT)) for k, end in enumerate([(2, 0), (1, 1)])
    ]
    with pytest.raises(ix.ModelError, match="meet at an angle"):
        ix.Fixed("corner", *beams, at=(1, 0, 0), clamp=True)
