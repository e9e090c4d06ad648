"""Wheels that roll without slip: no velocity at the contact, energy, closed solutions, reactions, refusals."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mechanics import newton_euler
from scipy.spatial.transform import Rotation

import index3 as ix

G = 9.80665
UP = np.array([0.0, 0.0, 1.0])


def refused(text):
    return pytest.raises(ix.ModelError, match=re.escape(text))


def disc_model(lean=0.2, spin=12.0, turn=0.5, tread=0.0):
    """A disc that rolls on the ground, leaning, with a spin about its axis and a turn about the vertical."""
    radius, axis = 0.3, np.array([0.0, np.cos(lean), np.sin(lean)])
    centre = radius * np.array([0.0, -np.sin(lean), np.cos(lean)]) + tread * UP
    rate = spin * axis + turn * UP
    model = ix.Model("disc")
    disc = model.add(
        ix.RigidBody.cylinder(
            "disc", radius, 0.02, 2.0, position=centre, orientation=Rotation.align_vectors([axis], [UP])[0],
            angular_velocity=rate, velocity=np.cross(rate, centre),
        )
    )  # fmt: skip
    form = {"at": centre, "axis": axis, "normal": UP}
    model.add(ix.RollingDisc("rim", model.ground, disc, radius=radius, tread=tread, **form))
    return model


def contact(result, radius=0.3, tread=0.0):
    """Position and velocity of the contact point of the disc's material."""
    disc = result["disc"]
    n = disc.rotation[:, :, 2]
    slope = n[:, 2:] * n - UP
    arm = radius * slope / np.linalg.norm(slope, axis=1)[:, None] - tread * UP
    return disc.position + arm, disc.velocity + np.cross(disc.angular_velocity, arm)


@pytest.mark.parametrize("tread", [0.0, 0.05])
@pytest.mark.parametrize("method", ["auto", "bdf-si2", "al-index3", "dop853", "tlismni-adams4", "descriptor-sdirk4"])
def test_disc_rolls_without_slip_and_keeps_its_energy(method, tread):
    model = disc_model(tread=tread)
    assert model.check().dof == 3  # of velocity: 6 - 1 - 2
    result = ix.simulate(model, (0.0, 3.0), method=method, rtol=1e-7, t_eval=0.05)
    assert result.success
    point, velocity = contact(result, tread=tread)
    assert np.abs(point[:, 2]).max() < 1e-10  # closed at every output
    assert np.abs(velocity).max() < 1e-8
    assert result.violation.velocity.max() < 1e-10
    assert np.ptp(result["disc"].position[:, 0]) > 1.0  # it went somewhere ...
    assert np.ptp(result["disc"].rotation[:, 2, 2]) > 0.02  # ... and swayed
    loosest = 2e-4 if method == "al-index3" else 1e-4  # of the methods at rtol 1e-7, measured up to 1e-4 and 3e-5
    assert np.ptp(result.energy.total) < loosest * result.energy.total[0]
    assert newton_euler(model, result) < 1e-9


def test_disc_keeps_its_energy_as_well_as_the_tolerance_says():
    result = ix.simulate(disc_model(), (0.0, 3.0), method="dop853", rtol=1e-10, atol=1e-12, t_eval=0.05)
    assert np.ptp(result.energy.total) < 1e-8 * result.energy.total[0]
    assert np.abs(contact(result)[1]).max() < 1e-8


def test_disc_rolls_in_a_circle_at_the_speed_of_theory():
    """Steady rolling of a thin disc, axis at the height angle a above the plane, turning with W about the vertical.

    Euler's equation about the centre, I across and J along the axis, s the angular velocity along the axis in all:
    (J + m R^2) s W cos a - I W^2 cos a sin a + m g R sin a = 0.
    """
    mass, radius, lean, turn = 2.0, 0.3, 0.3, 2.0
    along = 0.5 * mass * radius**2
    across = mass * (3 * radius**2 + 0.02**2) / 12
    tilting = (across * turn**2 * np.cos(lean) - mass * G * radius) * np.sin(lean)
    spin = tilting / ((along + mass * radius**2) * turn * np.cos(lean))
    model = disc_model(lean=lean, spin=spin - turn * np.sin(lean), turn=turn)
    result = ix.simulate(model, (0.0, 2 * np.pi / turn), rtol=1e-9, t_eval=0.05)
    n = result["disc"].rotation[:, :, 2]
    np.testing.assert_allclose(n[:, 2], np.sin(lean), atol=1e-6)  # it keeps its lean: rtol 1e-9 over one round
    np.testing.assert_allclose(result["disc"].position[-1], result["disc"].position[0], atol=1e-5)


def test_ball_on_a_turntable_circles_at_two_sevenths():
    """S2-06: A solid ball on a table that turns at W runs in a circle, at rate 2 W / 7, about a fixed point."""
    rate, radius = 3.0, 0.1
    model = ix.Model("turntable")
    table = model.add(ix.RigidBody("table", 5.0, (1, 1, 2)))
    pivot = model.add(ix.Revolute("pivot", model.ground, table, at=(0, 0, 0), axis=UP))
    model.add(ix.Motion("drive", pivot, lambda t: rate * t, rate))
    # without slip: velocity at the contact is that of the table there
    start, speed = np.array([0.5, 0.0, radius]), np.array([0.2, 0.4, 0.0])
    slip = np.cross([0, 0, rate], start) - speed
    spin = -np.cross(UP, slip) / radius  # w x (-radius z) = slip
    ball = model.add(ix.RigidBody.sphere("ball", radius, 1.0, position=start, velocity=speed, angular_velocity=spin))
    model.add(ix.RollingBall("roll", table, ball, radius=radius, at=start, normal=UP))
    result = ix.simulate(model, (0.0, 7 * np.pi / rate), rtol=1e-9, t_eval=0.1)
    circle = 2.0 / 7.0 * rate
    turned = Rotation.from_rotvec(np.outer(circle * result.t, UP)).apply(speed)
    np.testing.assert_allclose(result["ball"].velocity, turned, atol=1e-5)  # rtol 1e-9 over one round
    np.testing.assert_allclose(result["ball"].position[-1], start, atol=1e-5)
    assert newton_euler(model, result) < 1e-9


@pytest.mark.parametrize("kind", ["rigid", "planar"])
@pytest.mark.parametrize("joint", ["RollingDisc", "RollingBall", "RollingCylinder"])
def test_rolling_down_a_slope(joint, kind):
    """Acceleration g sin(slope) / (1 + I / m r^2); the plane is in ground x-y, gravity along -y."""
    slope, radius, mass, inertia = 0.3, 0.2, 2.0, 0.05
    normal = np.array([np.sin(slope), np.cos(slope), 0.0])
    model = ix.Model("slope", gravity=(0, -G, 0))
    if kind == "planar":
        body = model.add(ix.PlanarBody("wheel", mass, inertia, position=(0, 0)))
    else:
        body = model.add(ix.RigidBody("wheel", mass, (inertia, inertia, inertia)))
    form = {"at": (0, 0, 0), "normal": normal} | ({} if joint == "RollingBall" else {"axis": (0, 0, 1)})
    model.add(getattr(ix, joint)("roll", model.ground, body, radius=radius, **form))
    check = model.check()
    assert check.dof == {"planar": 1, "rigid": 1 if joint == "RollingCylinder" else 3}[kind]
    assert not check.redundant
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1, rtol=1e-8)
    down = np.array([np.cos(slope), -np.sin(slope), 0.0])
    fall = G * np.sin(slope) / (1.0 + inertia / (mass * radius**2))
    np.testing.assert_allclose(result["wheel"].acceleration, np.outer(np.ones(len(result)), fall * down), atol=1e-9)
    spin = result["wheel"].angular_velocity[:, 2]
    np.testing.assert_allclose(spin, -fall * result.t / radius, atol=1e-4)  # of the method
    friction = result["roll"].force @ down
    np.testing.assert_allclose(friction, mass * (fall - G * np.sin(slope)), atol=1e-9)  # rounding of solves
    np.testing.assert_allclose(result["roll"].force @ normal, mass * G * np.cos(slope), atol=1e-9)
    assert newton_euler(model, result) < 1e-9


def test_long_form_takes_the_plane_from_the_first_marker():
    model = ix.Model("shelf")
    shelf = model.add(ix.RigidBody("shelf", 1.0, (1, 1, 1), position=(0, 0, 1)))
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, 1.0, position=(0, 0, 1.3)))
    model.add(ix.Fixed("wall", model.ground, shelf, at=(0, 0, 1)))
    model.add(ix.RollingBall("roll", shelf.marker((0, 0, 0.2), z=(0, 0, 1)), ball.marker(), radius=0.1))
    assert ix.assemble(model).moved == {}


def test_a_disc_that_falls_flat_is_named():
    model = disc_model(lean=1.2, spin=0.0, turn=0.0)
    result = ix.simulate(model, (0.0, 5.0))
    assert not result.success
    assert result.t[-1] < 1.0
    flat = ix.Model("flat")
    disc = flat.add(ix.RigidBody("disc", 1.0, (1, 1, 2)))
    flat.add(ix.RollingDisc("rim", flat.ground.marker(), disc.marker(), radius=0.3))
    with refused("RollingDisc 'rim' lies flat on its plane at t = 0"):
        ix.assemble(flat)


def test_refused_wheels():
    ground, body = ix.Model().ground, ix.RigidBody("b", 1.0, (1, 1, 1))
    form = {"at": (0, 0, 0), "axis": (0, 1, 0), "normal": (0, 0, 1)}
    for radius in (0.0, -1.0, np.nan, "big"):
        for word in (ix.RollingDisc, ix.RollingCylinder):
            with refused(f"{word.__name__} 'r' has radius"):
                word("r", ground, body, radius=radius, **form)
    with refused("RollingDisc 'r' has tread -0.1. Give 0 or a positive number."):
        ix.RollingDisc("r", ground, body, radius=1, tread=-0.1, **form)
    with refused("RollingDisc 'r' lies flat on its plane."):
        ix.RollingDisc("r", ground, body, radius=1, **form | {"axis": (0, 0, 1)})
    with refused("RollingCylinder 'r' does not lie on its plane."):
        ix.RollingCylinder("r", ground, body, radius=1, **form | {"axis": (0, 1, 0.1)})
    with refused("RollingBall 'r' joins two bodies without normal. Give at=... and normal=..."):
        ix.RollingBall("r", ground, body, radius=1, at=(0, 0, 0))
    with refused("RollingBall 'r' needs the axes of PointMass 'p', which has no orientation."):
        ix.RollingBall("r", ground, ix.PointMass("p", 1), radius=1, at=(0, 0, 0), normal=(0, 0, 1))
    model = ix.Model("plane")
    flat = model.add(ix.PlanarBody("flat", 1, 1))
    model.add(ix.RollingBall("r", model.ground, flat, radius=1, at=(0, 0, 0), normal=(0, 0, 1)))
    with refused("RollingBall 'r' turns planar bodies out of the ground x-y plane."):
        model.check()
