"""Every method on every kind of flexible body, against a tight run of another method."""

from __future__ import annotations

import functools

import pytest
from flexible_models import beam

import index3 as ix

SOFT = {"height": 0.02, "width": 0.02, "young": 1e6, "density": 1000.0}
END = 0.15


def planar(**settings):
    return ix.AncfBeam("line", (0, 0), (0.5, 0), elements=2, poisson=0.3, **SOFT, **settings)


KINDS = {
    "continuum": planar,
    "elastic-line": lambda: planar(law="elastic-line"),
    "cholesky": lambda: planar(coordinates="cholesky"),
    "damped": lambda: planar(law="elastic-line", damping=1e-4),
    "cable": lambda: ix.AncfCable("line", (0, 0, 0), (0.5, 0, 0), elements=2, **SOFT),
    "space": lambda: ix.AncfBeam3D("line", (0, 0, 0), (0.5, 0, 0), elements=1, poisson=0.3, **SOFT),
    "modes": lambda: beam(3, length=0.5, young=2e8).body("line", interface=["A", "B"], modes=0),
}


def pendulum(kind):
    """It falls on a ball joint from the horizontal; a spring across makes the bodies of space leave the plane."""
    model = ix.Model(kind, gravity=(0, -9.81, 0))
    line = model.add(KINDS[kind]())
    model.add(ix.Spherical("pin", model.ground, line, at=(0, 0, 0)))
    tip = line.marker(node="B") if kind == "modes" else line.marker(s=0.5)
    if not line.planar:
        model.add(ix.SpringDamper("pull", model.ground.marker((0.5, 0, 0.3)), tip, stiffness=2.0, damping=0.1))
    return model, tip


@functools.cache
def exact(kind):
    """The end of the tip's path, by dop853 at tolerances far below those of the test."""
    model, tip = pendulum(kind)
    return ix.simulate(model, (0.0, END), "dop853", rtol=1e-10, atol=1e-13).marker(tip).position[-1]


@pytest.mark.parametrize("method", sorted(ix.METHODS))
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_takes_every_kind(kind, method):
    """S4-115, S1-34: modes, beams and cables by each of them."""
    model, tip = pendulum(kind)
    result = ix.simulate(model, (0.0, END), method, rtol=1e-5, atol=1e-7)
    assert result.success, result.message
    assert result.marker(tip).position[-1] == pytest.approx(
        exact(kind), abs=2e-4
    )  # rtol^(2/3) of 0.5 m; 1.2e-4 by bdf-i3


def long_beam(elements=60, clamp=False):
    """6 coordinates a node; the pin takes two of them, the clamp all of one node."""
    model = ix.Model("long", gravity=(0, -9.81, 0))
    line = model.add(ix.AncfBeam("line", (0, 0), (1, 0), elements=elements, poisson=0.3, law="elastic-line", **SOFT))
    joint = ix.Fixed("wall", model.ground, line, at=(0, 0, 0), clamp=True) if clamp else None
    model.add(joint or ix.Spherical("pin", model.ground, line, at=(0, 0, 0)))
    return model


STATE_SPACE = ("state space", "descriptor", "first order")


@pytest.mark.parametrize("method", sorted(key for key, made in ix.METHODS.items() if made.family in STATE_SPACE))
def test_state_space_families_refuse_flexible_models_of_many_degrees_of_freedom(method):
    message = (
        f"Method '{method}' takes models with flexible bodies of at most 200 degrees of freedom; this one has 364, "
        r"AncfBeam 'line' alone 366 coordinates. Use method='hht-i3' or 'radau5', or fewer elements or modes\."
    )
    with pytest.raises(ix.ModelError, match=message):
        ix.simulate(long_beam(), (0.0, 1e-3), method)


@pytest.mark.parametrize(("elements", "taken"), [(33, True), (34, False)])
def test_the_limit_counts_independent_coordinates(elements, taken):
    """Clamped beams of 204 and 210 coordinates have 198 and 204 degrees of freedom."""
    model = long_beam(elements, clamp=True)
    assert model.check().dof == (198 if taken else 204)
    if taken:
        assert ix.simulate(model, (0.0, 1e-4), "firstorder-sdirk4", rtol=1e-3).success
    else:
        with pytest.raises(ix.ModelError, match="at most 200 degrees of freedom; this one has 204"):
            ix.simulate(model, (0.0, 1e-4), "firstorder-sdirk4", rtol=1e-3)


@pytest.mark.parametrize("method", sorted(key for key, made in ix.METHODS.items() if made.family not in STATE_SPACE))
def test_all_others_take_them(method):
    """They fall alike for the moment in which nothing but weight moves them."""
    model = long_beam()
    result = ix.simulate(model, (0.0, 1e-3), method, rtol=1e-4)
    assert result.success, result.message
    fall = result["line"].points(0.9)[-1, 0, 1]
    assert fall == pytest.approx(-0.5 * 9.81 * 1e-6, abs=5e-7)  # atol is 1e-6; seen: 2e-7 by bdf-i3


def test_rigid_chains_of_many_degrees_of_freedom_are_taken():
    """The limit is one of flexible bodies: a chain of 210 hinged rods is sparse, and runs."""
    assert ix.simulate(ix.library.chain(210), (0.0, 1e-3), "firstorder-sdirk4", rtol=1e-3).success
