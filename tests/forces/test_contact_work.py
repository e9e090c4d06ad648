"""What heaps of bodies that touch with friction cost: steps, tries, matrices. Counters only, no clocks."""

import numpy as np
import pytest

import index3 as ix

G = 9.80665


def box(count, **law):
    """Balls of 1 kg in layers of two by two above the floor of a box, shifted at random by up to 1 cm."""
    model, random = ix.Model("box"), np.random.default_rng(1)
    shapes = []
    for k in range(count):
        place = 0.25 * np.array([k % 2, k // 2 % 2, k // 4]) + (0.125, 0.125, 0.15) + random.uniform(-0.01, 0.01, 3)
        ball = model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=tuple(place)))
        shapes.append((ball, ix.Sphere(0.1)))
    sides = [((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (1, 0, 0)), ((0.5, 0, 0), (-1, 0, 0))]
    sides += [((0, 0, 0), (0, 1, 0)), ((0, 0.5, 0), (0, -1, 0))]
    shapes += [(model.ground.marker(p, z=n), ix.Plane()) for p, n in sides]
    model.add(ix.ContactSet("all", shapes, stiffness=1e5, damping=0.2, **law))
    return model


def test_friction_does_not_stall_the_corrector():
    """Balls that come to stick on each other: shortened corrections, not smaller steps, find the end of a step."""
    result = ix.simulate(box(8, friction=0.3), (0.0, 0.5), "hht-i3", rtol=1e-3, t_eval=[0.5], progress=False)
    tried = result.stats["steps"] + result.stats["rejected"]
    # 152 tries, none of which stalls; by undamped corrections 182 of 431 do
    assert result.stats["newton_failed"] <= 0.02 * tried
    assert tried < 200
    assert result.stats["factorisations"] < 600  # 429, against 1038


@pytest.mark.parametrize("stick_velocity", [1e-2, 1e-3])
@pytest.mark.parametrize("method", ["hht-i3", "generalized-alpha"])
def test_sled_comes_to_rest_with_constant_steps(method, stick_velocity):
    """A block that slides to a stop; steps of 10 ms, in which friction changes the speed by 5 or 50 stick velocities.

    Undamped corrections go from sliding one way to sliding the other and back, and the run ends there.
    """
    sides, depth = (0.2, 0.2, 0.1), (G / 4 / 1e5) ** (1 / 1.5)
    model = ix.Model("sled", gravity=(0, 0, -G))
    sled = model.add(ix.RigidBody.box("sled", sides, mass=1.0, position=(0, 0, 0.05 - depth), velocity=(1.0, 0.3, 0.0)))
    law = {"stiffness": 1e5, "damping": 1.0, "friction": 0.5, "stick_velocity": stick_velocity}
    model.add(ix.Contact("floor", sled, model.ground, (ix.Box(sides), ix.Plane()), **law))
    result = ix.simulate(model, (0.0, 0.5), method, step=0.01, progress=False, on_failure="raise")
    x, y, _ = result["sled"].position[-1]
    way = 1.09 / (2 * 0.5 * G)  # v^2 / (2 mu g)
    assert np.hypot(x, y) == pytest.approx(way, rel=0.01)  # the stop falls inside a step: up to mu g h^2 / 2 = 0.2 mm
    assert y / x == pytest.approx(0.3, rel=1e-3)  # straight on, but for the tilt of the block on its springs
    assert np.ptp(result["sled"].position[-10:, :2], axis=0).max() < 1e-4  # it sticks; rocking on its springs is left
