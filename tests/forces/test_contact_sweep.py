"""Shapes that pass through each other within one step: the step is tried again, or a constant one is warned of."""

import numpy as np
import pytest

import index3 as ix
from index3.methods.method import METHODS

SPEED, FROM = 1000.0, -1.0
LAW = {"stiffness": 1e9}


def pellet_and_target(kind, aside=0.002, planar=False):
    """A pellet of 1 cm that meets a target after 1 m, `aside` from its middle."""
    model = ix.Model("pellet", gravity=(0, 0, 0))
    if planar:
        pellet = model.add(
            ix.PlanarBody("pellet", mass=0.01, inertia=1e-7, position=(FROM, aside), velocity=(SPEED, 0))
        )
        target = model.add(ix.PlanarBody("target", mass=0.1, inertia=4e-6))
    else:
        place, velocity = (FROM, aside, 0), (SPEED, 0, 0)
        pellet = model.add(ix.RigidBody.sphere("pellet", 0.005, mass=0.01, position=place, velocity=velocity))
        target = model.add(ix.RigidBody.sphere("target", 0.01, mass=0.1))
    ball = ix.Sphere(0.005)
    if kind == "set":
        model.add(ix.ContactSet("hit", [(pellet, ball), (target, ix.Sphere(0.01))], **LAW))
        return model
    second, shape = {
        "sphere": (target, ix.Sphere(0.01)),
        "cylinder": (target, ix.Cylinder(0.01, 0.1)),
        "strip": (target.marker(z=(1, 0, 0)), ix.Strip(0.03)),
        "sprocket": (target, ix.Sprocket(0.01, 12)),
        "box": (target, ix.Box((0.02, 0.03, 0.04))),
        "plate": (target, ix.Box((0.001, 0.03, 0.04))),
    }[kind]
    law = {"stiffness": 1e11} if kind in ("strip", "plate") else LAW  # it has no more depth than the pellet to stop it
    model.add(ix.Contact("hit", pellet, second, (ball, shape), **law))
    return model


def velocities(result):
    return np.array([result[name].velocity[-1][:2] for name in ("pellet", "target")])


def run(model, method, **settings):
    return ix.simulate(model, (0.0, 0.004), method, progress=False, **{"rtol": 1e-6, **settings})


@pytest.mark.parametrize("method", sorted(METHODS))
def test_no_method_flies_through(method):
    """Against short steps; a thousandth of the speed is what the loosest error test leaves of a blow."""
    exact = velocities(run(pellet_and_target("sphere"), "dop853", rtol=1e-9, max_step=2e-6))
    result = run(pellet_and_target("sphere"), method)
    assert result.success
    assert result.stats["passed"] >= 1
    assert velocities(result) == pytest.approx(exact, abs=1e-3 * SPEED)
    assert 0.01 * velocities(result)[0] + 0.1 * velocities(result)[1] == pytest.approx((10.0, 0.0), abs=1e-3)


@pytest.mark.parametrize("method", ["dopri5", "hht-i3"])
@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("kind", ["set", "cylinder", "strip", "sprocket", "box", "plate"])
def test_every_shape_is_met(kind, planar, method):
    model = pellet_and_target(kind, planar=planar)
    exact = velocities(run(model, "dop853", rtol=1e-9, max_step=2e-6))
    result = run(model, method)
    assert result.success
    assert np.abs(exact[1]).max() > 10.0  # it was a blow
    assert velocities(result) == pytest.approx(exact, abs=1e-3 * SPEED)


@pytest.mark.parametrize("kind", ["sphere", "set", "cylinder", "strip"])
def test_a_near_miss_costs_nothing(kind):
    """A millimetre beside the target: as many steps as without one."""
    aside = 0.021 if kind == "strip" else 0.016
    result = run(pellet_and_target(kind, aside), "dopri5")
    assert result.success
    assert velocities(result)[0] == pytest.approx((SPEED, 0.0), abs=1e-9)
    assert (result.stats["rejected"], result.stats["passed"]) == (0, 0)


def test_a_ball_on_an_arm_that_spins_is_not_missed():
    """A free planar body may turn as often as it likes in a step: its angle has no error."""
    model = ix.Model("arm", gravity=(0, 0, 0))
    arm = model.add(ix.PlanarBody("arm", mass=1.0, inertia=0.1, spin=1000.0))
    target = model.add(ix.PlanarBody("target", mass=1.0, inertia=0.1, position=(0.0, 0.5)))
    model.add(ix.Contact("hit", arm.marker((0.5, 0, 0)), target, (ix.Sphere(0.02), ix.Sphere(0.02)), stiffness=1e10))
    exact = ix.simulate(model, (0.0, 0.003), "dop853", rtol=1e-9, max_step=1e-5, progress=False)
    result = ix.simulate(model, (0.0, 0.003), "dopri5", progress=False)
    assert np.abs(exact["target"].velocity[-1]).max() > 10.0
    assert result["target"].velocity[-1] == pytest.approx(exact["target"].velocity[-1], abs=0.5)  # of some 400 m/s


def test_constant_steps_are_left_and_warned_of():
    with pytest.warns(UserWarning, match=r"'hit'.*met and left again.*t = 0\.00[12]"):
        result = run(pellet_and_target("sphere"), "hht-i3", step=4e-4)
    assert result.stats["steps"] == 10
    assert velocities(result)[0] == pytest.approx((SPEED, 0.0))
    with pytest.warns(UserWarning, match=r"'hit\[0, 1\]'"):
        run(pellet_and_target("set"), "dopri5", step=4e-4)
