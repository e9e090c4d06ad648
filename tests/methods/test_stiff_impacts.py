"""Motions behind stiff impacts, by methods that keep derivatives over steps or leap across a contact."""

import math
import warnings

import numpy as np
import pytest

import index3 as ix


def block(stiffness, speed):
    """A block between two stops, without gravity: it keeps its speed."""
    model = ix.Model(gravity=(0.0, 0.0, 0.0))
    body = model.add(ix.RigidBody("block", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(speed, 0.0, 0.0)))
    rail = model.add(ix.Prismatic("rail", model.ground, body, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    model.add(ix.JointLimit("stops", rail, lower=-0.3, upper=0.3, stiffness=stiffness))
    return model


def ball(stiffness, height, exponent):
    """A ball above an elastic floor."""
    model = ix.Model(gravity=(0.0, 0.0, -9.81))
    body = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(0.0, 0.0, 0.1 + height)))
    shapes = (ix.Sphere(0.1), ix.Plane())
    model.add(ix.Contact("floor", body, model.ground, shapes, stiffness=stiffness, exponent=exponent, damping=0.0))
    return model


@pytest.mark.parametrize(
    ("key", "rtol", "speed"),
    [("descriptor-sdirk4", 1e-3, 5.0), ("firstorder-sdirk4", 1e-4, 0.5), ("firstorder-sdirk4", 1e-3, 0.5)],
)
def test_a_stop_that_was_left_does_not_brake(key, rtol, speed):
    """With the stop's stiffness kept in the matrix the free flight behind it lost 50 to 90 % of its energy, unseen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ix.simulate(block(5e8, speed), (0.0, 1.2 / speed), key, rtol=rtol)
    assert result.success, result.message
    energy = result.energy.kinetic + result.energy.potential
    assert np.abs(energy / energy[0] - 1.0).max() < 10.0 * rtol ** (2.0 / 3.0)  # what the audit lets a run gain


@pytest.mark.parametrize(("key", "height", "exponent"), [("dopri5", 1.0, 1.5), ("dopri5", 5.0, 1.0)])
def test_a_rebound_is_not_higher_than_the_fall(key, height, exponent):
    """One step of contact gained 7 % of the energy at rtol 1e-3; it may gain a twentieth of the 10 % of a run."""
    span = 2.4 * math.sqrt(2.0 * height / 9.81)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ix.simulate(ball(1e8, height, exponent), (0.0, span), key, rtol=1e-3)
    assert result.success, result.message
    energy = result.energy.kinetic + result.energy.potential
    assert abs(energy[-1] - energy[0]) < 0.02 * 9.81 * height  # an impact takes a few steps
