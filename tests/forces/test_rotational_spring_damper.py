"""Springs on joint angles: words, law, derivatives, energy."""

from math import pi

import numpy as np
import pytest

from index3.bodies.ground import Ground
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.coordinate_spring import RotationalSpringDamper
from index3.joints import Cylindrical, Planar, Prismatic, Revolute

GROUND = Ground()
ARM = RigidBody.box("arm", (1, 1, 1), mass=1.0)
PIN = Revolute("pin", GROUND, ARM, at=(0, 0, 0), axis=(0, 0, 1))


def spring(**settings):
    return RotationalSpringDamper("coil", PIN, **settings)


@pytest.mark.parametrize("kind", [Revolute, Cylindrical, Planar])
def test_joints_with_an_angle(kind):
    joint = kind("hinge", GROUND, ARM, at=(0, 0, 0), axis=(0, 0, 1))
    coil = RotationalSpringDamper("coil", joint, stiffness=1.0)
    assert coil.joint is joint
    assert coil.markers == (joint.first, joint.second)


def test_what_the_system_asks():
    assert spring().kind == "index3.forces.coordinate_spring"
    assert spring(stiffness=1.0).conservative
    assert not spring(torque=1.0).conservative
    assert not spring(torque=1.0).damped
    assert spring(damping=1.0).damped
    assert not spring(damping=1.0).conservative


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: spring(stiffness=float("inf")), "RotationalSpringDamper 'coil' has stiffness inf"),
        (lambda: spring(damping=None), "RotationalSpringDamper 'coil' has damping None"),
        (lambda: spring(free_angle=float("nan")), "RotationalSpringDamper 'coil' has free_angle nan"),
        (lambda: spring(torque=(1, 2)), "RotationalSpringDamper 'coil' has torque (1, 2)"),
        (lambda: RotationalSpringDamper("coil", ARM), "cannot act on RigidBody('arm'). Give a joint"),
        (lambda: RotationalSpringDamper("coil", Revolute), "Give a joint"),
        (
            lambda: RotationalSpringDamper("coil", Prismatic("slide", GROUND, ARM, at=(0, 0, 0), axis=(0, 0, 1))),
            "RotationalSpringDamper 'coil' acts on Prismatic 'slide', which has no angle",
        ),
    ],
)
def test_errors_name_the_spring(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


def turned(angle):
    """Axes turned about z."""
    c, n = np.cos(angle), np.sin(angle)
    return [c, -n, 0, n, c, 0, 0, 0, 1]


@pytest.mark.jit_off
@pytest.mark.parametrize("turns", [0, 3, -2])
def test_law(bench, turns):
    """S2-10: Markers 0.5 rad apart at assembly, now turned by 0.25 rad and some whole turns."""
    b = bench([spring(stiffness=10.0, damping=3.0, free_angle=0.125, torque=0.5)], zero=0.5, near=0.7 + 2 * pi * turns)
    b[s.MARKER_A][:] = turned(0.3), turned(1.05)
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][0, 5], b[s.MARKER_V][1, 5] = 1.0, 3.0
    angle = 0.25 + 2 * pi * turns
    tau = -10.0 * (angle - 0.125) - 3.0 * 2.0 + 0.5
    expected = np.zeros((2, 6))
    expected[:, 5] = -tau, tau
    # rounding of angles of up to 20 rad, times the stiffness
    assert np.allclose(b.forces(), expected, rtol=0, atol=1e-13 * 10 * 20)
    potential, power = b.energies()
    assert potential == pytest.approx(5.0 * (angle - 0.125) ** 2, rel=1e-13)  # rounding
    assert power == pytest.approx((0.5 - 3.0 * 2.0) * 2.0, rel=1e-14)


@pytest.mark.jit_off
def test_derivatives_and_energy(bench):
    """Also where the two z axes are not parallel, as between Newton iterations."""
    b = bench(
        [
            spring(stiffness=2.0, damping=3.0, free_angle=0.1, torque=0.5),
            spring(stiffness=2.0, free_angle=3.0),
            spring(damping=1.0),
        ]
    )
    b.check_derivatives()
    b.check_energy()
