"""Given forces and torques: words, laws, derivatives, power."""

from math import sin

import numpy as np
import pytest

from index3.bodies.ground import Ground
from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.load import Force, Torque

GROUND = Ground()
BOX = RigidBody.box("box", (1, 1, 1), mass=1.0, position=(1, 0, 0), orientation=(0.8, 0, 0, 0.6))
OTHER = RigidBody.box("other", (1, 1, 1), mass=1.0, position=(-1, 0, 0))
BALL = PointMass("ball", 1.0, position=(0, 2, 0))


def test_a_body_stands_for_its_origin_and_axes():
    (marker,) = Force("push", BOX, (1, 2, 3)).markers
    assert marker.position.tolist() == [0, 0, 0]
    assert np.array_equal(marker.axes, np.eye(3))
    (marker,) = Force("push", BOX, (1, 2, 3), at=(1, 1, 0)).markers
    assert np.allclose(marker.pose()[0], (1, 1, 0), atol=1e-15)  # rounding
    assert np.array_equal(marker.axes, np.eye(3))
    given = BOX.marker((0, 0, 1))
    assert Torque("twist", given, (0, 0, 1)).markers == (given,)


def test_reaction():
    push = Force("push", BOX, (1, 0, 0), at=(1, 1, 0), reaction=OTHER)
    assert [marker.body for marker in push.markers] == [BOX, OTHER]
    assert np.allclose(push.markers[1].pose()[0], (1, 1, 0), atol=1e-15)  # rounding
    own = OTHER.marker((0, 0, 1))
    assert Force("push", BOX, (1, 0, 0), reaction=own).markers[1] is own
    assert Torque("twist", BOX, (1, 0, 0), reaction=GROUND).markers[1].body is GROUND


def test_what_the_system_asks():
    push = Force("push", BOX, (1, 0, 0))
    assert push.kind == "index3.forces.load"
    assert not push.conservative
    assert not push.damped
    assert not push.curved
    assert Torque("twist", BOX, (1, 0, 0), follower=True).curved


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Force("push", BOX, (1, 2)), "Force 'push' has vector (1, 2). Give 3 numbers"),
        (lambda: Force("push", BOX, (1, 2, float("nan"))), "Give 3 finite numbers"),
        (lambda: Force("a.b", BOX, (1, 2, 3)), "Leave out the dot"),
        (lambda: Force("push", "box", (1, 2, 3)), "Force 'push' cannot act on 'box'. Give a body or a marker"),
        (lambda: Force("push", BOX.marker(), (1, 2, 3), at=(0, 0, 0)), "has a marker and also at"),
        (lambda: Force("push", GROUND, (1, 2, 3)), "Force 'push' acts on ground"),
        (lambda: Torque("twist", GROUND, (1, 2, 3), reaction=BOX), "the body first and ground as reaction"),
        (lambda: Force("push", BOX, (1, 2, 3), reaction=BOX.marker()), "has its reaction on the same body 'box'"),
        (lambda: Force("push", BALL, (1, 2, 3), follower=True), "cannot turn with PointMass 'ball'"),
        (lambda: Torque("twist", BALL, (1, 2, 3)), "Torque 'twist' cannot turn PointMass 'ball'"),
        (lambda: Torque("twist", BOX, (1, 2, 3), reaction=BALL), "Torque 'twist' cannot turn PointMass 'ball'"),
        (lambda: Force("push", BALL, (1, 2, 3), at=(0, 0, 0)), "PointMass 'ball' has no extent"),
    ],
)
def test_errors_name_the_load(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


def test_planar_bodies_take_torques():
    assert Torque("motor", PlanarBody("rotor", 1.0, 0.1), (0, 0, 1)).markers[0].body.name == "rotor"


@pytest.mark.jit_off
def test_fixed_loads(bench):
    b = bench([Force("push", BOX, (1, 2, 3)), Torque("twist", BOX, (4, 5, 6), reaction=OTHER)])
    assert b.forces().tolist() == [[1, 2, 3, 0, 0, 0], [0, 0, 0, 4, 5, 6], [0, 0, 0, -4, -5, -6]]
    for matrix in b.matrices(0) + b.matrices(1):
        assert not matrix.any()
    b.check_energy()


@pytest.mark.jit_off
def test_functions_of_time(bench):
    b = bench([Force("push", BOX, lambda t: (t, 2.0 * t, sin(t)))])
    assert b.forces()[0].tolist() == [0.7, 1.4, sin(0.7), 0, 0, 0]
    b[s.TIME][0] = 2.0
    b.fill_functions()
    assert b.forces()[0].tolist() == [2.0, 4.0, sin(2.0), 0, 0, 0]
    b.check_energy()


def test_a_vector_function_is_called_once_for_its_components(bench):
    """Once each time they are filled: a controller may hold another vector at the same instant."""
    calls = []
    b = bench([Force("push", BOX, lambda t: calls.append(t) or np.array([t, 0, 0]))])
    assert calls == [0.7]
    b.fill_functions()
    assert calls == [0.7, 0.7]


@pytest.mark.parametrize("value", [1.0, (1, 2), None, ("a", "b", "c")])
def test_functions_must_return_three_numbers(bench, value):
    with pytest.raises(ModelError, match=r"Force 'push': its function of t returned .*Return three numbers"):
        bench([Force("push", BOX, lambda t: value)])


@pytest.mark.jit_off
def test_followers_turn_with_their_marker(bench):
    b = bench(
        [
            Force("push", BOX, (1, 2, 3), follower=True),
            Torque("twist", BOX, (4, 5, 6), follower=True),
            Force("pair", BOX, lambda t: (t, 2.0, 3.0), follower=True, reaction=OTHER),
            Torque("couple", BOX, (4, 5, 6), follower=True, reaction=OTHER),
        ]
    )
    forces, axes = b.forces(), b[s.MARKER_A].reshape(-1, 3, 3)
    expected = np.zeros((6, 6))
    expected[0, :3] = axes[0] @ (1, 2, 3)
    expected[1, 3:] = axes[1] @ (4, 5, 6)
    expected[2, :3] = axes[2] @ (0.7, 2, 3)
    expected[4, 3:] = axes[4] @ (4, 5, 6)
    expected[3], expected[5] = -expected[2], -expected[4]
    assert np.allclose(forces, expected, rtol=0, atol=1e-14)  # rounding
    b.check_derivatives()
    b.check_energy()
