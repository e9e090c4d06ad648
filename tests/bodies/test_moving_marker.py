"""Markers of ground that move as functions of time: analytic cases, energy, planar bodies, words."""

import pickle
from math import cos, pi, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix

G = 9.80665
AMPLITUDE, OMEGA = 0.05, 20.0
SHAKE = (
    lambda t: (0.0, 0.0, AMPLITUDE * sin(OMEGA * t)),
    lambda t: (0.0, 0.0, AMPLITUDE * OMEGA * cos(OMEGA * t)),
    lambda t: (0.0, 0.0, -AMPLITUDE * OMEGA**2 * sin(OMEGA * t)),
)


def shaken_pendulum(path=SHAKE):
    """Kapitza's pendulum: a rod that stands above its pivot, which is shaken up and down."""
    model = ix.Model("Kapitza")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (0.6, 0, 0.8), mass=1.0))
    pivot = model.ground.moving_marker(path=path, z=(0, 1, 0), name="pivot")
    model.add(ix.Revolute("pin", pivot, rod.marker_at((0, 0, 0), z=(0, 1, 0))))
    return model, pivot


def kapitza(t):
    """Angle of the rod from its start, from its equation of motion; assembly turns the rod as the pivot sets off."""
    start = np.arctan2(0.6, 0.8)

    def rate(t, y):
        return y[1], 1.5 * (G + SHAKE[2](t)[2]) * sin(y[0])

    # the rod at rest is moved to the nearest velocities on the constraints: w = (3/2) 0.6 z'
    first = (start, 1.5 * 0.6 * AMPLITUDE * OMEGA)
    return solve_ivp(rate, (0.0, t[-1]), first, rtol=1e-11, atol=1e-12, t_eval=t).y[0] - start


FAMILIES = (
    "hht-i3",
    "bdf-si2",
    "radau5",
    "dop853",
    "hem4",
    "adams",
    "rosenbrock4",
    "al-index3",
    "tlismni-adams4",
    "descriptor-sdirk4",
)


@pytest.mark.parametrize("method", FAMILIES)
def test_kapitza_pendulum(method):
    model, pivot = shaken_pendulum()
    result = ix.simulate(model, (0.0, 0.5), method, rtol=1e-7, t_eval=0.05)
    assert result.success, result.message
    # rtol 1e-7 with a second-order method at worst, over three periods of the shaking; the angle reaches 1.2 rad
    assert np.abs(result["pin"].angle - kapitza(result.t)).max() < 2e-4
    assert result.violation.scaled.acceleration.max() < 1e-10  # closed exactly at output points
    height = np.array([SHAKE[0](t)[2] for t in result.t])
    assert np.abs(result["pin"].second.position[:, 2] - height).max() < 1e-11
    assert np.array_equal(result.marker(pivot).position, result["pin"].first.position)
    assert np.ptp(result.energy.balance) < 5e-3 * result.energy.kinetic.max()  # see test_energy: as its rtol 1e-6


def test_kapitza_pendulum_closely():
    model, _ = shaken_pendulum()
    result = ix.simulate(model, (0.0, 1.0), "dop853", rtol=1e-9, t_eval=0.05)
    assert np.abs(result["pin"].angle - kapitza(result.t)).max() < 1e-7
    assert np.ptp(result.energy.balance) < 1e-7 * result.energy.kinetic.max()
    assert np.ptp(result.energy.work) > 0.1 * result.energy.kinetic.max()
    # Newton: the pivot carries the weight and the acceleration of the centre
    assert result["pin"].force[:, 2] == pytest.approx(result["rod"].acceleration[:, 2] + G, abs=1e-9)


def test_mass_on_a_shaken_spring():
    """z'' = -w^2 (z - s) with s = a sin(W t): the closed solution, and the work of the shaking."""
    model = ix.Model("shaken", gravity=(0, 0, 0))
    bob = model.add(ix.PointMass("bob", 2.0, position=(0, 0, 1)))
    top = model.ground.moving_marker(path=SHAKE, name="table")
    model.add(ix.SpringDamper("spring", top, bob.marker(), stiffness=50.0, length=1.0))
    result = ix.simulate(model, (0.0, 2.0), "dop853", rtol=1e-10, t_eval=0.1)
    w = 5.0
    x = w**2 * AMPLITUDE / (w**2 - OMEGA**2) * (np.sin(OMEGA * result.t) - OMEGA / w * np.sin(w * result.t))
    assert result["bob"].position[:, 2] - 1.0 == pytest.approx(x, abs=1e-8)  # rtol 1e-10 over two seconds
    assert np.ptp(result.energy.balance) < 1e-8
    assert np.ptp(result.energy.work) > 1e-3


def test_planar_body_on_a_turning_arm():
    """A planar rod hinged to a marker on a circle; the angle is that to the turning marker, over several turns."""
    rate, radius = 4.0 * pi, 0.5
    model = ix.Model("arm", gravity=(0, 0, 0))
    rod = model.add(ix.PlanarBody("rod", 1.0, 0.1, position=(radius, 0), velocity=(0, rate * radius), spin=0.0))
    path = (
        lambda t: (radius * cos(rate * t), radius * sin(rate * t), 0.0),
        lambda t: (-radius * rate * sin(rate * t), radius * rate * cos(rate * t), 0.0),
        lambda t: (-radius * rate**2 * cos(rate * t), -radius * rate**2 * sin(rate * t), 0.0),
    )
    hand = model.ground.moving_marker(path=path, rotation=(lambda t: rate * t, rate, 0.0), axis=(0, 0, 1))
    model.add(ix.Revolute("hinge", hand, rod.marker()))
    assert model.check().constraints == 2
    result = ix.simulate(model, (0.0, 1.0), rtol=1e-8, t_eval=[0.0, 0.3, 1.0])  # up to 1.4 turns between outputs
    assert result["hinge"].angle == pytest.approx(-rate * result.t, abs=1e-8)  # the rod itself does not turn
    assert np.abs(result["rod"].angle).max() < 1e-9
    force = -(rate**2) * result["rod"].position
    assert result["hinge"].force == pytest.approx(force, abs=1e-8)


def test_marker_that_leaves_the_plane_of_a_planar_body():
    model = ix.Model("flat")
    rod = model.add(ix.PlanarBody("rod", 1.0, 0.1))
    path = (lambda t: (0.0, 0.0, t), (0, 0, 1), (0, 0, 0))
    model.add(ix.Revolute("pin", model.ground.moving_marker(path=path, name="lift"), rod.marker()))
    with pytest.raises(ix.ModelError, match="MovingMarker 'lift' leaves the plane of the PlanarBody"):
        ix.simulate(model, (0.0, 1.0))


def test_all_six_coordinates_held():
    """A body fixed to a moving marker follows it in every respect, accelerations included."""
    turn = (lambda t: (t, 0.5 * t * t, sin(t)), lambda t: (1, t, cos(t)), lambda t: (0, 1, -sin(t)))
    path = (lambda t: (cos(t), t * t, 0.0), lambda t: (-sin(t), 2 * t, 0.0), lambda t: (-cos(t), 2.0, 0.0))
    model = ix.Model("hand")
    tool = model.add(ix.RigidBody("tool", 2.0, (0.1, 0.2, 0.3), position=(1, 0, 0)))
    hand = model.ground.moving_marker(path=path, rotation=turn, name="hand")
    model.add(ix.Fixed("grip", hand, tool.marker()))
    result = ix.simulate(model, (0.0, 2.0), t_eval=0.5)
    seen, moved = result["tool"], result.marker(hand)
    for name in ("position", "velocity", "acceleration", "rotation", "angular_velocity", "angular_acceleration"):
        # positions are closed to 1e-12, rates follow to some times that
        assert np.abs(getattr(seen, name) - getattr(moved, name)).max() < 1e-10, name
    inertia = moved.rotation @ np.diag((0.1, 0.2, 0.3)) @ moved.rotation.transpose(0, 2, 1)
    spin = np.einsum("tij,tj->ti", inertia, moved.angular_velocity)
    torque = np.einsum("tij,tj->ti", inertia, moved.angular_acceleration) + np.cross(moved.angular_velocity, spin)
    assert result["grip"].torque == pytest.approx(torque, abs=1e-9)  # Euler's equation, on the tool


def test_missing_derivatives_by_differences():
    with pytest.warns(UserWarning, match=r"MovingMarker 'pivot' has no first derivative of its path and second"):
        model, _ = shaken_pendulum(SHAKE[0])
    result = ix.simulate(model, (0.0, 0.5), "dop853", rtol=1e-9, t_eval=0.05)
    # five points, h = 1e-3: (20 h)^4 / 30 = 5e-9 of an acceleration of 20
    assert np.abs(result["pin"].angle - kapitza(result.t)).max() < 1e-6


def test_rates_that_do_not_fit_are_noticed():
    model, _ = shaken_pendulum((SHAKE[0], lambda t: (0.0, 0.0, AMPLITUDE * cos(OMEGA * t)), SHAKE[2]))
    with pytest.raises(ix.ModelError, match=r"MovingMarker 'pivot': df gives 0\.05 at t = 0, but f changes"):
        ix.simulate(model, (0.0, 0.01))


def test_events_see_the_joint():
    model, _ = shaken_pendulum()

    def upright(t, state):
        return state["pin"].angle - 0.5

    result = ix.simulate(model, (0.0, 0.5), "dop853", rtol=1e-8, events=upright)
    (times,) = result.t_events
    assert len(times) == 1
    assert kapitza(np.array((0.0, times[0])))[-1] == pytest.approx(0.5, abs=1e-6)  # rtol 1e-8


def test_what_a_function_raises_is_shown():
    def broken(t):
        if t > 0.1:
            raise ValueError("no signal")
        return 0.0, 0.0, 0.0

    model, _ = shaken_pendulum((broken, lambda t: (0, 0, 0), lambda t: (0, 0, 0)))
    result = ix.simulate(model, (0.0, 0.5))
    assert not result.success
    assert "MovingMarker 'pivot': its function of time raised ValueError" in result.message
    model, _ = shaken_pendulum((lambda t: (0, 0), lambda t: (0, 0, 0), lambda t: (0, 0, 0)))
    with pytest.raises(ix.ModelError, match=r"returned \(0, 0\). Return three numbers"):
        ix.simulate(model, (0.0, 0.5))


def still(t):
    return 0.0, 0.0, 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "MovingMarker 'm' does not move. Give path or rotation"),
        ({"axis": (0, 0, 1), "path": (still, still, still)}, "has an axis and no rotation about it"),
        ({"path": (1, 2, 3)}, "has path .*Give a function of t, or three"),
        ({"path": (still, 1.0, still)}, "has first derivative of its path 1.0. Give 3 numbers"),
        ({"rotation": (sin, cos, "x"), "axis": (0, 0, 1)}, "Give a function of t, or a number"),
        ({"rotation": (sin, cos, sin), "axis": (0, 0, 0)}, "has axis \\(0, 0, 0\\), which has no direction"),
        ({"path": (still, still, still), "z": (0, 0, 0)}, "MovingMarker 'm' has z axis"),
    ],
)
def test_words_that_are_refused(given, message):
    with pytest.raises(ix.ModelError, match=message):
        ix.Model("m").ground.moving_marker(name="m", **given)


def test_pose_is_that_of_the_start_and_pickles():
    marker = ix.Model("m").ground.moving_marker((1, 2, 3), rotation=(still, still, still), z=(1, 0, 0))
    r, A = pickle.loads(pickle.dumps(marker)).pose()
    assert r.tolist() == [1, 2, 3]
    assert A[:, 2].tolist() == [1, 0, 0]
    assert isinstance(marker, ix.MovingMarker)
