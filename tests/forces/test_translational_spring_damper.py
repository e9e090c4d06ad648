"""Springs on joint displacements: words, law, what a run makes of them."""

from math import cos, pi, sin

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError

GROUND = ix.Model("m").ground
BLOCK = ix.RigidBody.box("block", (1, 1, 1), mass=1.0)
HERE = {"at": (0, 0, 0), "axis": (0, 0, 1)}


@pytest.mark.parametrize("kind", [ix.Prismatic, ix.Cylindrical, ix.Inline])
def test_joints_with_one_displacement_need_no_coordinate(kind):
    spring = ix.TranslationalSpringDamper("s", kind("slide", GROUND, BLOCK, **HERE), stiffness=1.0)
    assert spring.coordinate == "displacement"
    assert spring.conservative
    assert not spring.damped


def test_what_is_conservative():
    slide = ix.Prismatic("slide", GROUND, BLOCK, **HERE)
    assert ix.TranslationalSpringDamper("s", slide, damping=1.0).damped
    assert not ix.TranslationalSpringDamper("s", slide, damping=1.0).conservative
    assert not ix.TranslationalSpringDamper("s", slide, force=1.0).conservative


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (ix.Prismatic, {"stiffness": -1.0}, "TranslationalSpringDamper 's' has stiffness -1.0"),
        (ix.Prismatic, {"free_displacement": "far"}, "'s' has free_displacement 'far'"),
        (ix.Revolute, {}, "acts on an angle of Revolute 'joint'. Use a RotationalSpringDamper"),
        (ix.Cylindrical, {"coordinate": "angle"}, "Use a RotationalSpringDamper"),
        (ix.Planar, {}, "has several coordinates. Give"),
    ],
)
def test_errors_name_the_spring(kind, settings, message):
    with pytest.raises(ModelError) as error:
        ix.TranslationalSpringDamper("s", kind("joint", GROUND, BLOCK, **HERE), **settings)
    assert message in str(error.value)


@pytest.mark.parametrize("method", ["auto", "hht-i3", "radau5"])
def test_a_block_swings_through_the_free_displacement(method):
    """x'' = -(k/m) (x - x0) - g with x(0) = 0: both signs of x, energy kept, the reaction along the axis zero."""
    k, mass, free, g = 18.0, 2.0, 0.3, 9.81
    model = ix.Model("buffer", gravity=(0, 0, -g))
    block = model.add(ix.RigidBody.box("block", (1, 1, 1), mass))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.TranslationalSpringDamper("buffer", guide, stiffness=k, free_displacement=free, force=4.0))
    result = ix.simulate(model, (0.0, pi), method, rtol=1e-8, t_eval=0.05)
    rest, rate = free + (4.0 - mass * g) / k, 3.0
    expected = rest - rest * np.cos(rate * result.t)
    # 3e-5 seen by hht-i3, which is of order 2; 1e-8 by the others
    assert result["guide"].displacement == pytest.approx(expected, abs=1e-4 if method == "hht-i3" else 1e-7)
    assert np.ptp(result.energy.balance) < 1e-3
    assert result["buffer"].force[:, 2] == pytest.approx(4.0 - k * (result["guide"].displacement - free), abs=1e-9)


def test_planar_slides_by_name_and_a_damper_that_is_a_curve():
    """Along y of a plane that is turned by 0.3 about z, with a quadratic damper: v' = -v |v|, so v = 1 / (1 + t)."""
    axis_x = (cos(0.3), sin(0.3), 0)
    along = np.array([-sin(0.3), cos(0.3), 0])
    model = ix.Model("plate", gravity=(0, 0, 0))
    plate = model.add(ix.RigidBody.box("plate", (1, 1, 1), 1.0, velocity=along))
    plane = model.add(ix.Planar("plane", model.ground, plate, at=(0, 0, 0), axis=(0, 0, 1), x=axis_x))
    drag = ix.Curve.from_function(lambda v: v * abs(v), lambda v: 2.0 * abs(v))
    model.add(ix.TranslationalSpringDamper("drag", plane, damping=drag, coordinate="y"))
    result = ix.simulate(model, (0.0, 2.0), rtol=1e-8, t_eval=0.5)
    assert result["plate"].velocity @ along == pytest.approx(1.0 / (1.0 + result.t), abs=1e-7)
    assert result.energy.work == pytest.approx(0.5 / (1.0 + result.t) ** 2 - 0.5, abs=1e-7)
