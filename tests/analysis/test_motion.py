"""Driven joint coordinates against closed form: positions, rates, drive forces, unwrapped angles."""

import math

import numpy as np
import pytest
from small_models import G, X, Y, Z, four_bar, pendulum

import index3 as ix


def swing(t):
    return 0.5 * np.sin(3.0 * t) + 0.2 * t


def swing_rate(t):
    return 1.5 * np.cos(3.0 * t) + 0.2


def swing_second(t):
    return -4.5 * np.sin(3.0 * t)


def driven_pendulum(*functions):
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], *functions))
    return model


@pytest.mark.jit_off
def test_angle_follows_exactly_at_three_levels():
    """S2-07: A harmonic motion with a drift is kept at positions, rates and accelerations."""
    model = driven_pendulum(swing, swing_rate, swing_second)
    assert model.check().dof == 0
    result = ix.simulate(model, (0.0, 0.4), t_eval=0.1)
    t = result.t
    # positions are closed to 1e-12, rates and accelerations to rounding
    assert np.abs(result["pin"].angle - swing(t)).max() < 1e-11
    assert np.abs(result["pin"].angle_rate - swing_rate(t)).max() < 1e-11
    assert np.abs(result["rod"].angular_acceleration[:, 1] - swing_second(t)).max() < 1e-11
    for level in ("position", "velocity", "acceleration"):
        assert getattr(result.violation.scaled, level).max() < 1e-11


def test_drive_torque_of_a_pendulum():
    """Torque on the second body, about the joint's axis: J a = torque + weight's moment."""
    result = ix.simulate(driven_pendulum(swing, swing_rate, swing_second), (0.0, 2.0), t_eval=0.1)
    t = result.t
    rod_x = np.cos(swing(t))  # the rod turns about y from x towards -z
    expected = swing_second(t) / 3.0 - G * 0.5 * rod_x
    assert result["drive"].torque[:, 1] == pytest.approx(expected, abs=1e-9)  # rounding of reactions of size 10
    assert np.abs(result["drive"].torque[:, [0, 2]]).max() < 1e-9
    assert np.abs(result["drive"].force).max() < 1e-12
    assert result["drive"].unique


def test_drive_force_of_a_slider():
    model = ix.Model("slider")
    box = model.add(ix.RigidBody.box("box", (0.1, 0.1, 0.1), mass=2.0))
    slope = np.array((1.0, 0.0, 1.0)) / math.sqrt(2)
    guide = model.add(ix.Prismatic("guide", model.ground, box, at=(0, 0, 0), axis=slope))
    model.add(ix.Motion("drive", guide, lambda t: 0.3 * t**3, lambda t: 0.9 * t**2, lambda t: 1.8 * t))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1)
    assert np.abs(result["guide"].displacement - 0.3 * result.t**3).max() < 1e-12
    along = 2.0 * (1.8 * result.t + G / math.sqrt(2))
    assert result["drive"].force == pytest.approx(along[:, None] * slope, abs=1e-9)  # rounding
    normal = 2.0 * G / math.sqrt(2) * np.array((-1.0, 0.0, 1.0)) / math.sqrt(2)
    assert result["guide"].force == pytest.approx(np.tile(normal, (11, 1)), abs=1e-9)


def test_one_coordinate_of_several():
    model = ix.Model("screw-like", gravity=(0, 0, 0))
    nut = model.add(ix.RigidBody.cylinder("nut", 0.1, 0.1, mass=1.0))
    sleeve = model.add(ix.Cylindrical("sleeve", model.ground, nut, at=(0, 0, 0), axis=Z))
    model.add(ix.Motion("lift", sleeve, lambda t: 0.1 * t, 0.1, 0.0, coordinate="displacement"))
    model.add(ix.Motion("turn", sleeve, lambda t: 2.0 * t, 2.0, 0.0, coordinate="angle"))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.25)
    assert np.abs(result["sleeve"].displacement - 0.1 * result.t).max() < 1e-12
    assert np.abs(result["sleeve"].angle - 2.0 * result.t).max() < 1e-11
    assert np.abs(result["nut"].velocity[:, 2] - 0.1).max() < 1e-12


def test_missing_derivatives_by_differences():
    model = pendulum()
    with pytest.warns(UserWarning, match="Motion 'drive' has no df and ddf"):
        model.add(ix.Motion("drive", model["pin"], swing))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1)
    assert np.abs(result["pin"].angle_rate - swing_rate(result.t)).max() < 1e-9  # 3^5 h^4 / 30 with h = 1e-3
    assert np.abs(result["rod"].angular_acceleration[:, 1] - swing_second(result.t)).max() < 1e-7  # eps / h^2


def test_a_motion_moves_the_start_to_where_it_belongs():
    model = driven_pendulum(lambda t: 0.3 + t, 1.0, 0.0)
    assembly = ix.assemble(model)
    distance, turn = assembly.moved["rod"]
    assert turn == pytest.approx(0.3, abs=1e-9)  # positions are closed to 1e-12
    assert distance == pytest.approx(2 * 0.5 * math.sin(0.15), abs=1e-9)
    assert "rod moved by" in str(assembly)
    result = ix.simulate(model, (0.0, 0.5), t_eval=0.25)
    assert np.abs(result["pin"].angle - 0.3 - result.t).max() < 1e-11


@pytest.mark.parametrize("kind", ["spatial", "planar"])
def test_ten_turns_seen_at_few_times(kind):
    model = ix.Model("rotor", gravity=(0, 0, 0))
    if kind == "planar":
        rotor = model.add(ix.PlanarBody("rotor", 1.0, 0.1))
    else:
        rotor = model.add(ix.RigidBody.cylinder("rotor", 0.2, 0.1, mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=Z))
    rate = 20.0 * np.pi
    model.add(ix.Motion("drive", pin, lambda t: rate * t, rate, 0.0))
    result = ix.simulate(model, (0.0, 1.0), t_eval=[0.0, 0.37, 1.0])  # 3.7 and 6.3 turns apart
    assert result.success, result.message
    assert result["pin"].angle == pytest.approx(rate * result.t, abs=1e-9)
    if kind == "planar":
        assert result["rotor"].angle == pytest.approx(rate * result.t, abs=1e-9)


def test_free_rotor_keeps_counting():
    model = ix.Model("rotor", gravity=(0, 0, 0))
    rotor = model.add(ix.RigidBody.cylinder("rotor", 0.2, 0.1, mass=1.0, angular_velocity=(0, 0, -20 * np.pi)))
    model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=Z))
    result = ix.simulate(model, (0.0, 1.0), t_eval=[0.0, 1.0])
    assert result["pin"].angle[1] == pytest.approx(-20 * np.pi, rel=1e-3)  # rtol 1e-6 over ten turns


def test_spring_wound_by_several_turns():
    """Wound up by its own speed: 0.5 J w^2 = 0.5 k angle^2 at the turning point, 3.2 turns away."""
    inertia, stiffness, turns = 0.5 * 1.0 * 0.2**2, 0.05, 3.2
    speed = 2 * np.pi * turns * math.sqrt(stiffness / inertia)
    model = ix.Model("spring motor", gravity=(0, 0, 0))
    rotor = model.add(ix.RigidBody.cylinder("rotor", 0.2, 0.1, mass=1.0, angular_velocity=(0, 0, speed)))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=Z))
    model.add(ix.RotationalSpringDamper("spring", pin, stiffness=stiffness))
    omega = math.sqrt(stiffness / inertia)
    result = ix.simulate(model, (0.0, 2 * np.pi / omega), rtol=1e-7, t_eval=np.pi / (2 * omega))
    assert result.success, result.message
    expected = 2 * np.pi * turns * np.sin(omega * result.t)
    assert result["pin"].angle == pytest.approx(expected, abs=2e-2)  # rtol 1e-7 on 20 rad over 12.8 turns
    assert np.ptp(result.energy.balance) < 1e-3 * result.energy.kinetic.max()


def test_driven_four_bar_turns_fully():
    model = four_bar(angular_velocity=None)
    model.add(ix.Motion("drive", model["A"], lambda t: 2 * np.pi * t, 2 * np.pi, 0.0))
    result = ix.simulate(model, (0.0, 2.0), t_eval=0.05)
    assert result.success, result.message
    assert result["A"].angle[-1] == pytest.approx(4 * np.pi, abs=1e-10)
    assert result.violation.scaled.position.max() < 1e-10
    for history in (result["rocker"].position, result["drive"].torque):
        # one turn later all is the same, except for the numerical damping of the first, inconsistent jump: none
        assert np.abs(history[20:] - history[:21]).max() < 1e-6


def test_planar_motion_needs_an_axis_across_the_plane():
    model = ix.Model("tilted")
    body = model.add(ix.PlanarBody("bar", 1.0, 0.1))
    joint = model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=Z))
    model.add(ix.Motion("drive", joint, 0.0))
    assert ix.simulate(model, (0.0, 0.1)).success


def test_second_body_takes_the_torque():
    """With ground second, the torque on ground is the opposite of that on the rod."""
    model = ix.Model("reversed")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    pin = model.add(ix.Revolute("pin", rod, model.ground, at=(0, 0, 0), axis=Y))
    model.add(ix.Motion("drive", pin, 0.0))
    result = ix.simulate(model, (0.0, 0.1), t_eval=0.1)
    assert result["drive"].torque[:, 1] == pytest.approx(np.full(2, 0.5 * G), abs=1e-9)
    assert result["pin"].force[:, 2] == pytest.approx(np.full(2, -G), abs=1e-9)


def test_translation_along_two_axes_of_a_planar_joint():
    model = ix.Model("table", gravity=(0, 0, -G))
    puck = model.add(ix.RigidBody.box("puck", (0.1, 0.1, 0.1), mass=1.0))
    table = model.add(ix.Planar("table", model.ground, puck, at=(0, 0, 0), axis=Z, x=X))
    model.add(ix.Motion("mx", table, np.sin, np.cos, lambda t: -np.sin(t), coordinate="x"))
    model.add(ix.Motion("my", table, np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t), coordinate="y"))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.2)
    circle = np.column_stack([np.sin(result.t), np.cos(result.t)])
    assert np.abs(result["puck"].position[:, :2] - circle).max() < 1e-11
    force = result["mx"].force + result["my"].force
    assert force[:, :2] == pytest.approx(-circle, abs=1e-10)  # m a
