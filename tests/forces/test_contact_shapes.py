"""Strips, boxes and sprockets as shapes of contact, and sets of contacts between two lists."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError

LAW = {"stiffness": 1e4, "exponent": 1.0}


def force_on(first, second, place, orientation=(1, 0, 0, 0), **law):
    """Force at the start on a ball or roller (the first shape) at a place, against a shape on ground."""
    model = ix.Model("touch", gravity=(0, 0, 0))
    body = model.add(ix.RigidBody.box("body", (1, 1, 1), 1.0, position=place, orientation=orientation))
    model.add(ix.Contact("touch", model.ground, body, (second, first), **(LAW | law)))
    return ix.simulate(model, (0.0, 1e-6), "dopri5", t_eval=[0.0])["touch"].force[0]


def test_a_strip_is_a_plane_between_its_ends():
    """Above and below, at any y; a plane would be touched from above alone."""
    ball, strip = ix.Sphere(0.1), ix.Strip(0.4)
    assert force_on(ball, strip, (0.15, 3.0, 0.09)) == pytest.approx((0, 0, 100.0), abs=1e-9)
    assert force_on(ball, strip, (0.15, 3.0, -0.09)) == pytest.approx((0, 0, -100.0), abs=1e-9)
    assert force_on(ball, strip, (0.15, 3.0, 0.11)) == pytest.approx((0, 0, 0))


def test_a_strip_ends():
    """Beyond its end the edge is touched: 0.06 and 0.07 m off, the distance is 0.0922 m, along that line."""
    force = force_on(ix.Sphere(0.1), ix.Strip(0.4), (-0.26, 0.0, 0.07))
    away = np.array((-0.06, 0.0, 0.07))
    distance = np.linalg.norm(away)
    assert force == pytest.approx(1e4 * (0.1 - distance) * away / distance, abs=1e-9)
    assert force_on(ix.Sphere(0.1), ix.Strip(0.4), (-0.29, 0.0, 0.07)) == pytest.approx((0, 0, 0))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_face_of_a_box_is_a_plane(axis, side, inside):
    """Also for a ball so deep that its centre is behind the face, as long as that is the nearest one."""
    size, place, wanted = np.array((0.4, 0.6, 0.8)), np.array((0.03, -0.04, 0.02)), np.zeros(3)
    depth = 0.13 if inside else 0.01
    place[axis], wanted[axis] = side * (0.5 * size[axis] + 0.1 - depth), side * 1e4 * depth
    assert force_on(ix.Sphere(0.1), ix.Box(size), place) == pytest.approx(wanted, abs=1e-9)


def test_a_box_has_edges_and_corners():
    """Beyond two or three faces the ball touches the nearest point of the edge or the corner."""
    half = np.array((0.2, 0.3, 0.4))
    for away in ((0.05, 0.06, 0.0), (0.0, -0.03, 0.08), (-0.04, 0.05, -0.06)):
        beyond = np.array(away)
        place = np.where(beyond == 0.0, 0.1, np.sign(beyond) * half) + beyond
        distance = np.linalg.norm(beyond)
        force = force_on(ix.Sphere(0.1), ix.Box(2.0 * half), place)
        assert force == pytest.approx(1e4 * (0.1 - distance) * beyond / distance, abs=1e-9)


@pytest.mark.parametrize("method", ["auto", "hht-i3", "radau5"])
def test_a_box_and_a_ball_keep_energy_and_momentum(method):
    """A box that tumbles is hit near an edge; nothing else acts on the two, and nothing damps."""
    model = ix.Model("hit", gravity=(0, 0, 0))
    box = model.add(ix.RigidBody.box("box", (0.4, 0.6, 0.8), 5.0, angular_velocity=(0.5, 1.0, -0.7)))
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, 1.0, position=(0.6, 0.25, 0.1), velocity=(-3, 0, 0)))
    model.add(ix.Contact("hit", box, ball, (ix.Box((0.4, 0.6, 0.8)), ix.Sphere(0.1)), stiffness=1e5, exponent=1.5))
    result = ix.simulate(model, (0.0, 0.5), method, rtol=1e-7, t_eval=0.01)
    v = {name: result[name].velocity for name in ("box", "ball")}
    assert result["hit"].normal.max() > 100.0
    assert np.abs(v["ball"][-1] - v["ball"][0]).max() > 1.0  # it has left at an angle
    limit = 1e-5 if method == "radau5" else 2e-3
    np.testing.assert_allclose(5.0 * v["box"] + v["ball"], np.tile([-3.0, 0, 0], (len(result), 1)), atol=limit)
    assert np.ptp(result.energy.total) < 5.0 * limit
    spin = sum(
        np.cross(result[name].position, m * v[name])
        + np.einsum(
            "nij,nj->ni", A * np.array(J)[None, None, :], np.einsum("nji,nj->ni", A, result[name].angular_velocity)
        )
        for name, m, J in (("box", 5.0, box.inertia.diagonal()), ("ball", 1.0, ball.inertia.diagonal()))
        for A in [result[name].rotation]
    )
    np.testing.assert_allclose(spin, np.tile(spin[0], (len(result), 1)), atol=limit)


def test_a_roller_touches_a_strip_with_both_ends():
    """Its axis along the strip's y; both ends carry."""
    upright = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # z of the roller along -y
    force = force_on(ix.Cylinder(0.1, 0.5), ix.Strip(0.4), (0.1, 0.0, 0.09), upright)
    assert force == pytest.approx((0, 0, 200.0), abs=1e-9)


@pytest.mark.parametrize("gap", [0, 1, 8, 9, 13])
def test_a_seated_pin_meets_one_stiffness(gap):
    """Pressed in by 1 mm and moved along the circle by 0.4 mm, both flanks touch: k times either, along both."""
    wheel = ix.Sprocket.of_pitch(0.3, 18)
    angle = 2 * np.pi * gap / 18
    out, along = np.array((np.cos(angle), np.sin(angle), 0)), np.array((-np.sin(angle), np.cos(angle), 0))
    force = force_on(ix.Sphere(0.02), wheel, (wheel.radius - 1e-3) * out + 4e-4 * along + (0, 0, 5.0))
    assert force == pytest.approx(1e4 * (1e-3 * out - 4e-4 * along), abs=1e-7)  # 1e-11 m of places in the order of 1 m


def test_a_pin_leaves_its_gap_freely():
    """Lifted by 20 mm it may move by less than 20 mm to either side; further on it touches one flank, at 45 degrees."""
    wheel = ix.Sprocket.of_pitch(0.3, 18)
    for along in (-0.019, 0.0, 0.019):
        assert force_on(ix.Sphere(0.02), wheel, (wheel.radius + 0.02, along, 0)) == pytest.approx((0, 0, 0))
    force = force_on(ix.Sphere(0.02), wheel, (wheel.radius + 0.02, 0.022, 0))
    assert force == pytest.approx((10.0, -10.0, 0), abs=1e-7)  # k / sqrt(2) of 2 mm is the depth, half of k the force
    assert wheel.reach > wheel.radius + 0.15  # about the height of a tooth with flanks at 45 degrees


@pytest.mark.parametrize("shape", [ix.Strip(0.3), ix.Sprocket(0.5, 12)], ids=["strip", "sprocket"])
def test_energy_is_kept_on_edges_and_flanks(shape):
    """A ball thrown at an edge, and at a gap with its wheel free to turn: elastic, no friction, so nothing is lost."""
    model = ix.Model("throw", gravity=(0, 0, 0))
    wheel = model.add(ix.RigidBody.box("wheel", (0.3, 0.3, 0.3), 2.0))
    place, speed = ((0.17, 0, 0.12), (0, 0, -1)) if isinstance(shape, ix.Strip) else ((0.65, 0.03, 0), (-1, 0.2, 0))
    ball = model.add(ix.RigidBody.sphere("ball", 0.05, 1.0, position=place, velocity=speed))
    model.add(ix.Contact("meet", ball, wheel, (ix.Sphere(0.05), shape), stiffness=1e5))
    result = ix.simulate(model, (0.0, 0.4), "dop853", rtol=1e-11, atol=1e-13, t_eval=0.01)
    assert result["meet"].depth.max() > 1e-3  # they did meet
    assert np.ptp(result.energy.balance) < 1e-7  # of 0.5 J; it falls with the tolerance


def test_a_set_between_two_lists():
    """Balls against the floor, not against each other, and with the forces of single contacts."""
    model = ix.Model("floor")
    balls = [model.add(ix.RigidBody.sphere(f"b{k}", 0.1, 1.0, position=(0.15 * k, 0, 0.095))) for k in range(3)]
    ends = [(ball, ix.Sphere(0.1)) for ball in balls]
    floor = model.add(ix.ContactSet("floor", ends, against=[(model.ground, ix.Plane())], stiffness=1e4))
    assert [[end.body.name for end in pair.markers] for pair in floor.pairs] == [[f"b{k}", "ground"] for k in range(3)]
    result = ix.simulate(model, (0.0, 0.01), "hht-i3", t_eval=[0.0])
    assert result["floor"].normal[0] == pytest.approx(np.full(3, 1e4 * 0.005**1.5))


def test_a_set_between_lists_that_cannot_touch():
    """No pair at all is an error by name, and so is a sprocket of ten teeth."""
    balls = [ix.RigidBody.sphere(f"b{k}", 0.1, 1.0) for k in range(2)]
    with pytest.raises(ModelError, match="'planes' has no two shapes"):
        ix.ContactSet("planes", [(balls[0], ix.Strip(1))], against=[(balls[1], ix.Plane())], stiffness=1.0)
    with pytest.raises(ModelError, match="teeth 10"):
        ix.Sprocket(0.1, 10)
    with pytest.raises(ModelError, match="no contact between Strip"):
        ix.Contact("faces", *balls, (ix.Strip(1.0), ix.Strip(1.0)), stiffness=1.0)


@pytest.mark.parametrize("teeth", [11, 18])
def test_a_chain_leaves_its_sprocket_straight(teeth):
    """However far the wheel has turned: neither seated pins nor those on the tangent line are in a tooth."""
    wheel = ix.Sprocket.of_pitch(0.3, teeth)
    step, model = 2 * np.pi / teeth, ix.Model("chain", gravity=(0, 0, 0))
    for number, turn in enumerate(np.linspace(0.0, step, 9)[:-1]):
        last = wheel.radius * np.array((np.cos(turn), -np.sin(turn)))  # the last seated pin; the line is x = radius
        first = last[1] + np.sqrt(0.3**2 - (wheel.radius - last[0]) ** 2)
        x = (np.cos(turn), -np.sin(turn), 0.0)
        for k, place in enumerate([last, *((wheel.radius, first + 0.3 * m) for m in range(4))]):
            pin = model.add(ix.RigidBody.sphere(f"pin {number} {k}", 0.02, 1.0, position=(*place, 0.0)))
            ends = model.ground.marker((0, 0, 0), z=(0, 0, 1), x=x), pin
            model.add(ix.Contact(f"c {number} {k}", *ends, (wheel, ix.Sphere(0.02)), **LAW))
    result = ix.simulate(model, (0.0, 1e-6), "dopri5", t_eval=[0.0])
    assert max(result[name].depth[0] for name in model.forces) < 1e-12
