"""The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab, Proc. R. Soc. A 463 (2007) 1955-1982."""

from math import cos, pi, sin

import numpy as np
import pytest
from scipy.linalg import expm

import index3 as ix

ACROSS = (0, 1, 0)

PUBLISHED = {
    0.0: (-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393),
    4.0: (-12.15861426576447, -1.42944427361326, 0.41325331521125 + 3.07910818603206j),
    5.0: (-14.07838969279822, -0.32286642900409, -0.77534188219585 + 4.46486771378823j),
    10.0: (-24.62459635017404, 0.161053386531720, -3.72016840372874 + 10.90681139476287j),
}
"""Speed [m/s] -> eigenvalues [1/s] (table 2): castering, capsize, weave; of a pair one."""


def bicycle(speed):
    """Upright, x ahead, z down, origin at the rear contact point (table 1)."""
    base, trail, tilt, rear, front = 1.02, 0.08, pi / 10, 0.3, 0.35
    model = ix.Model("bicycle", gravity=(0, 0, 9.81))
    ahead = {"velocity": (speed, 0, 0)}
    spins = [{"angular_velocity": (0, -speed / radius, 0), **ahead} for radius in (rear, front)]
    back = ix.RigidBody("rear wheel", 2.0, (0.0603, 0.12, 0.0603), position=(0, 0, -rear), **spins[0])
    rider = ix.RigidBody("rider", 85.0, [[9.2, 0, 2.4], [0, 11, 0], [2.4, 0, 2.8]], position=(0.3, 0, -0.9), **ahead)
    fork = ix.RigidBody(
        "fork", 4.0, [[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]], position=(0.9, 0, -0.7), **ahead
    )
    wheel = ix.RigidBody("wheel", 3.0, (0.1405, 0.28, 0.1405), position=(base, 0, -front), **spins[1])
    for body in (back, rider, fork, wheel):
        model.add(body)
    model.add(ix.Revolute("rear hub", rider, back, at=(0, 0, -rear), axis=ACROSS))
    model.add(ix.Revolute("head", rider, fork, at=(base + trail, 0, 0), axis=(sin(tilt), 0, cos(tilt))))
    model.add(ix.Revolute("hub", fork, wheel, at=(base, 0, -front), axis=ACROSS))
    up = (0, 0, -1)
    model.add(ix.RollingDisc("rear contact", model.ground, back, radius=rear, at=(0, 0, -rear), axis=ACROSS, normal=up))
    model.add(
        ix.RollingDisc("contact", model.ground, wheel, radius=front, at=(base, 0, -front), axis=ACROSS, normal=up)
    )
    return model


@pytest.mark.parametrize("speed", PUBLISHED)
def test_published_eigenvalues(speed):
    linear = ix.linearize(bicycle(speed))
    assert len(linear.A) == 10  # 4 contact rows of velocities: 7 positions, 3 rates
    found = linear.eigenvalues
    for value in PUBLISHED[speed]:
        assert np.abs(found - value).min() < 1e-8  # printed to 1e-14; 2e-12 seen
    assert np.sum(found != 0.0) == len(PUBLISHED[speed])  # place, heading, speed are not felt


def test_a_gentle_push_moves_it_as_the_linear_model_says():
    push, t = 0.1, np.linspace(0.0, 2.0, 21)
    linear = ix.linearize(bicycle(5.0), inputs=["rider.force.y"], outputs=["head.angle", "rider.angular_velocity.x"])
    k = len(linear.A)
    grown = np.zeros((k + 1, k + 1))  # x' = A x + B u, u' = 0
    grown[:k, :k], grown[:k, k] = linear.A, linear.B[:, 0] * push
    expected = np.array([linear.C @ expm(grown * time)[:k, k] for time in t])
    model = bicycle(5.0)
    model.add(ix.Force("push", model["rider"], (0, push, 0)))
    result = ix.simulate(model, t[[0, -1]], "dop853", rtol=1e-9, atol=1e-12, t_eval=t)
    assert result.success, result.message
    found = np.column_stack([result["head"].angle, result["rider"].angular_velocity[:, 0]])
    size = np.abs(expected).max(axis=0)
    assert np.all(size > 1e-4)
    assert np.all(np.abs(found - expected).max(axis=0) < 1e-5 * size)  # curvature, of the order of the angles squared
