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


def long_beam():
    """364 degrees of freedom."""
    model = ix.Model("long", gravity=(0, -9.81, 0))
    line = model.add(ix.AncfBeam("line", (0, 0), (1, 0), elements=60, poisson=0.3, law="elastic-line", **SOFT))
    model.add(ix.Spherical("pin", model.ground, line, at=(0, 0, 0)))
    return model


def test_the_method_with_dense_matrices_refuses_many_degrees_of_freedom():
    message = "'rosenbrock4' takes models with 1 to 200 degrees of freedom; this one has 364. Use method='firstorder-"
    with pytest.raises(ix.ModelError, match=message):
        ix.simulate(long_beam(), (0.0, 1e-3), "rosenbrock4")


@pytest.mark.parametrize("method", sorted(set(ix.METHODS) - {"rosenbrock4"}))
def test_all_others_are_sparse_and_take_them(method):
    """They fall alike for the moment in which nothing but weight moves them."""
    model = long_beam()
    result = ix.simulate(model, (0.0, 1e-3), method, rtol=1e-4)
    assert result.success, result.message
    fall = result["line"].points(0.9)[-1, 0, 1]
    assert fall == pytest.approx(-0.5 * 9.81 * 1e-6, abs=5e-7)  # atol is 1e-6; seen: 2e-7 by bdf-i3
