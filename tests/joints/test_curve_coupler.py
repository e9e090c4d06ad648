"""A joint coordinate as a function of another; and steps that would pass over a cam's lift."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix

Z = (0, 0, 1)
TURN = np.linspace(0.0, 2.0 * np.pi, 145)
LIFT = 0.2 * np.maximum(0.0, 1.0 - ((TURN - np.pi) / np.radians(15.0)) ** 2) ** 4
"""A cam that dwells for 330 degrees of its turn."""


def cam(kind, planar, lift=LIFT):
    """A cam of 2 kg m^2 at 3 rad/s that lifts a follower of 1 kg: by a coupler of coordinates, or by its curve."""
    model = ix.Model("cam", gravity=(0, 0, 0))
    if planar:
        disc = model.add(ix.PlanarBody("disc", 5.0, 2.0, spin=3.0))
        follower = model.add(ix.PlanarBody("follower", 1.0, 0.1, position=(1, 0)))
    else:
        disc = model.add(ix.RigidBody("disc", 5.0, (1, 1, 2), angular_velocity=(0, 0, 3)))
        follower = model.add(ix.RigidBody("follower", 1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    axle = model.add(ix.Revolute("axle", model.ground, disc, at=(0, 0, 0), axis=Z))
    guide = model.add(ix.Prismatic("guide", model.ground, follower, at=(1, 0, 0), axis=(1, 0, 0)))
    if kind == "coupler":
        model.add(ix.CurveCoupler("lift", axle, guide, TURN, lift, period=2 * np.pi))
    else:
        radius = 1.0 + lift[:-1]  # the lift is the same forwards and backwards
        outline = radius[:, None] * np.column_stack([np.cos(TURN[:-1]), np.sin(TURN[:-1])])
        model.add(ix.PointOnCurve("lift", disc, follower, outline, closed=True, at=(1, 0, 0)))
    return model


def turned(times):
    """The angle of the disc by its energy, (2 + y'(x)^2) x'^2 = const."""
    from scipy.interpolate import CubicSpline

    slope = CubicSpline(TURN, LIFT, bc_type="periodic").derivative()

    def rate(t, x):
        return [np.sqrt(18.0 / (2.0 + slope(np.mod(x[0], 2 * np.pi)) ** 2))]

    return solve_ivp(rate, (0, times[-1]), [0.0], rtol=1e-9, atol=1e-10, max_step=0.01, t_eval=times).y[0]


@pytest.mark.parametrize(("kind", "planar"), [("coupler", True), ("coupler", False), ("curve", True)])
@pytest.mark.parametrize(
    ("method", "limit"), [("auto", 0.003), ("hht-i3", 0.1), ("radau5", 0.001), ("al-index3", 0.01)]
)
def test_no_step_passes_over_the_lift(kind, planar, method, limit):
    """Where the cam dwells nothing accelerates, and steps led over the whole lift.

    `radau5` took 8 steps for five turns at rtol 1e-6, and the follower never moved. Limits in rad, of 30: about three
    times what was seen.
    """
    times = np.linspace(0, 10, 201)
    result = ix.simulate(cam(kind, planar), (0, 10), method, rtol=1e-6, t_eval=times)
    assert result.success, result.message
    assert result["axle"].angle == pytest.approx(turned(times), abs=limit)
    if kind == "coupler":
        assert result["guide"].displacement.max() > 0.1


@pytest.mark.parametrize("kind", ["coupler", "curve"])
def test_smooth_cams_take_as_many_steps_as_ever(kind):
    """A harmonic lift is told by the ends of nearly all steps that the error test allows."""
    result = ix.simulate(cam(kind, True, 0.05 * (1 - np.cos(TURN))), (0, 10), "dopri5", rtol=1e-4)
    assert result.stats["passed"] <= 6  # of 44; 4 seen


def test_constant_steps_are_warned_of():
    """Steps of 2.7 rad end at 0, 2.7 and 5.4 rad: the lift is between the last two."""
    with pytest.warns(UserWarning, match="A part of the curve of .* 'lift' was met and left .* ends at t = 1.8"):
        ix.simulate(cam("coupler", True), (0, 3), "hht-i3", step=0.9)


def test_reactions_are_those_of_the_slope():
    """The follower's force is m y'' x'^2 + m y' x'', the torque on the cam -y' times it."""
    lift = 0.05 * (1 - np.cos(TURN))
    result = ix.simulate(cam("coupler", False, lift), (0, 3), rtol=1e-9, t_eval=0.1)
    force = result["follower"].acceleration[:, 0]
    x = result["axle"].angle
    assert result["guide"].displacement == pytest.approx(0.05 * (1 - np.cos(x)), abs=1e-8)  # spline of 145 points
    assert result["lift"].on(3)[0][:, 0] == pytest.approx(force, abs=1e-10)
    assert result["lift"].on(1)[1][:, 2] == pytest.approx(-0.05 * np.sin(x) * force, abs=1e-5)  # slope of the spline
    assert result.energy.balance == pytest.approx(9.0, abs=1e-7)


def test_the_end_of_a_curve_ends_the_run():
    model = ix.library.pendulum()
    pin = model["pivot"]
    block = model.add(ix.RigidBody("block", 1.0, (1, 1, 1), position=(3, 0, 0)))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(3, 0, 0), axis=(1, 0, 0)))
    model.add(ix.CurveCoupler("knee", pin, guide, [-1, -0.5, 0, 0.5], [0.4, 0.1, 0, 0.1]))
    result = ix.simulate(model, (0, 3))
    assert not result.success
    assert "CurveCoupler 'knee': the angle of Revolute 'pivot' leaves the range of x" in result.message


def test_what_is_refused():
    model = cam("coupler", True)
    joints = model["axle"], model["guide"]
    for points, words in [
        (([0, 1, 2], [0, 1, 2]), "at least 4"), (([0, 1, 2, 3], [0, 1, 2]), "4 numbers x and 3 numbers y"),
        (([0, 2, 1, 3], [0, 1, 2, 3]), "does not increase"),
    ]:  # fmt: skip
        with pytest.raises(ix.errors.ModelError, match=words):
            ix.CurveCoupler("c", *joints, *points)
    with pytest.raises(ix.errors.ModelError, match="the period"):
        ix.CurveCoupler("c", *joints, [0, 1, 2, 3], [0, 1, 1, 0], period=6.28)
