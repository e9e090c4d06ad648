"""Points of state-space methods are brought back onto rows of very different sizes."""

import pytest

import index3 as ix


def rack_and_pinion(place: float) -> ix.Model:
    """A pinion that turns at 50 rad/s and drives a rack that starts far along its guide."""
    model, radius, speed = ix.Model("rack and pinion", gravity=(0, 0, 0)), 0.3, 50.0
    inertia = (0.1, 0.1, 0.1)
    pinion = model.add(ix.RigidBody("pinion", 1.0, inertia, angular_velocity=(0, 0, speed)))
    rack = model.add(ix.RigidBody("rack", 1.0, inertia, position=(place, 0, 0), velocity=(radius * speed, 0, 0)))
    pin = model.add(ix.Revolute("pin", model.ground, pinion, at=(0, 0, 0), axis=(0, 0, 1)))
    guide = model.add(ix.Prismatic("guide", model.ground, rack, at=(place, 0, 0), axis=(1, 0, 0)))
    model.add(ix.RackPinion("mesh", pin, guide, radius=radius))
    return model


@pytest.mark.parametrize("method", ["descriptor-sdirk4", "firstorder-sdirk4", "rosenbrock4"])
def test_a_rack_far_away_costs_no_steps(method):
    """150 rad: at 1 km 14371, 15732 and 57244 steps, and 2818, 2874 and 4271 at the origin."""
    result = ix.simulate(rack_and_pinion(1000.0), (0.0, 3.0), method, rtol=1e-3, t_eval=[3.0])
    assert result["pin"].angle[-1] == pytest.approx(150.0, rel=1e-2)  # 10 rtol, of half a turn a step
    assert result.stats["steps"] < 600  # 240, 382 and 397
