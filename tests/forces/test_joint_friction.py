"""Friction in joints: closed solutions, the same motion by every method that takes it, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix

G = 9.80665
TAKEN = ("hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5", "dopri5", "adams", "tlismni-adams3")
REFUSED = ("hem4", "al-index3", "multi-index", "firstorder-sdirk4", "rosenbrock4", "descriptor-trapezoidal")


def incline(angle, mu, **law):
    """A block of 2 kg on a guide that falls with `angle`, at rest."""
    model = ix.Model("incline", gravity=(0, 0, -G))
    down = (math.cos(angle), 0.0, -math.sin(angle))
    block = model.add(ix.RigidBody.box("block", (0.2, 0.2, 0.1), mass=2.0))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=down))
    model.add(ix.JointFriction("rub", guide, mu, **law))
    return model


@pytest.mark.parametrize("method", TAKEN)
def test_block_slides_down(method):
    """S2-05: x = (g sin - mu g cos) t^2 / 2 once it moves much faster than the regularisation velocity."""
    angle, mu = math.radians(30.0), 0.3
    result = ix.simulate(incline(angle, mu, stick_velocity=1e-4), (0.0, 1.0), method, rtol=1e-6, t_eval=0.1)
    a = G * (math.sin(angle) - mu * math.cos(angle))
    # friction lacks while the block reaches some 3e-4 m/s: that gains it less than 3e-4 m/s for the whole second
    assert result["guide"].displacement[-1] == pytest.approx(0.5 * a, abs=5e-4)
    assert np.linalg.norm(result["guide"].force[-1]) == pytest.approx(2.0 * G * math.cos(angle), rel=1e-9)
    # all of the lost energy is accounted for, to the accuracy of the motion itself
    assert np.ptp(result.energy.balance) < 1e-3 * result.energy.kinetic.max()


def test_block_creeps_below_the_friction_angle():
    """Below atan(mu) it stays below the stick velocity: (3 x - x^3) / 2 = tan(angle) / mu, x = v / stick_velocity."""
    angle, mu, slow = math.radians(10.0), 0.3, 1e-3
    result = ix.simulate(incline(angle, mu, stick_velocity=slow), (0.0, 2.0), "hht-i3", rtol=1e-7, t_eval=0.1)
    roots = np.roots([-0.5, 0.0, 1.5, -math.tan(angle) / mu])
    speed = slow * min(x.real for x in roots if x.real > 0.0)
    # the error allowed in positions, 1e-9, over the time constant v / (mu g) of 3e-4 s
    assert result["guide"].displacement_rate[-1] == pytest.approx(speed, rel=1e-4)


def test_static_friction_is_larger_at_rest():
    """Between the two friction angles the block stays, unless it already moves."""
    angle, law = math.radians(20.0), {"static_friction": 0.45, "stick_velocity": 1e-4, "decay_velocity": 1e-2}
    model = incline(angle, 0.3, **law)
    assert ix.simulate(model, (0.0, 1.0), "hht-i3")["guide"].displacement[-1] < 1e-3
    model = incline(angle, 0.3, **law)
    model["block"].v0[:3] = 0.1 * np.array([math.cos(angle), 0.0, -math.sin(angle)])
    moved = ix.simulate(model, (0.0, 1.0), "hht-i3")["guide"].displacement[-1]
    a = G * (math.sin(angle) - 0.3 * math.cos(angle))
    assert moved == pytest.approx(0.1 + 0.5 * a, rel=1e-3)  # what is left of `static` beyond 0.1 m/s: exp(-100)


def test_moment_loads_a_guide():
    """A force off the guide's line: the moment M adds M / arm across the axis, here perpendicular to the weight."""
    mu, arm, push = 0.2, 0.5, 40.0
    model = ix.Model("guide", gravity=(0, 0, -G))
    block = model.add(ix.RigidBody.box("block", (0.2, 0.2, 0.2), mass=2.0, velocity=(1, 0, 0)))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.Force("push", block.marker((0, 0.3, 0)), (push, 0, 0)))
    model.add(ix.JointFriction("rub", guide, mu, arm=arm))
    result = ix.simulate(model, (0.0, 0.1), "dopri5")
    load = math.hypot(2.0 * G, 0.3 * push / arm)
    # at 1 m/s friction is constant; the solve of the reactions is exact to 1e-11
    assert result["block"].acceleration[0, 0] == pytest.approx((push - mu * load) / 2.0, rel=1e-9)


def test_journal_slows_a_wheel():
    """A wheel on a loaded pin: the torque mu r m g stops it at a constant rate."""
    model = ix.Model("wheel", gravity=(0, -G, 0))
    wheel = model.add(ix.PlanarBody("wheel", 3.0, 0.5, spin=20.0))
    pin = model.add(ix.Revolute("pin", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.JointFriction("bearing", pin, 0.1, radius=0.02))
    result = ix.simulate(model, (0.0, 1.0), "dopri5", rtol=1e-8)
    # at 0.4 m/s of sliding friction is constant
    assert result["wheel"].spin[-1] == pytest.approx(20.0 - 0.1 * 0.02 * 3.0 * G / 0.5, abs=1e-7)


def test_reaction_and_friction_depend_on_each_other():
    """S2-05: A rod swings on a rough pin: friction equals mu r |reaction| with the reaction that friction changed."""
    mu, radius = 0.4, 0.1
    model = ix.Model("rod")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.JointFriction("rub", pin, mu, radius=radius, stick_velocity=1e-2))
    results = [ix.simulate(model, (0.0, 1.0), method, rtol=1e-9, t_eval=0.05) for method in ("dopri5", "dop853")]
    result = results[0]
    across = np.linalg.norm(result["pin"].force, axis=1)
    w = result["pin"].angle_rate
    x = np.clip(radius * w / 1e-2, -1.0, 1.0)
    torque = -radius * mu * 0.5 * (3.0 * x - x**3) * across
    arm = np.cross(result["rod"].position, (0.0, 0.0, -G))
    expected = (arm[:, 1] + torque) / (1.0 / 3.0)  # inertia of a rod of 1 kg and 1 m about its end
    assert np.abs(result["pin"].second.angular_acceleration[:, 1] - expected).max() < 1e-8  # rounding of the solve
    # two methods of different order agree to a hundred times their tolerance
    assert np.abs(results[0]["pin"].angle - results[1]["pin"].angle).max() < 1e-7


@pytest.mark.parametrize("method", REFUSED)
def test_methods_that_cannot_take_it_say_so(method):
    with pytest.raises(ix.ModelError, match=f"'{method}' cannot take JointFriction 'rub'"):
        ix.simulate(incline(0.5, 0.3), (0.0, 0.1), method)


def test_open_reactions_are_refused():
    """A door on two hinges: what each carries along the axis is open, but so are the other redundant rows."""
    model = ix.Model("door")
    door = model.add(ix.RigidBody.box("door", (1, 0.1, 2), mass=20.0, position=(0.5, 0, 1)))
    hinges = [
        model.add(ix.Revolute(f"hinge{k}", model.ground, door, at=(0, 0, k + 0.5), axis=(0, 0, 1))) for k in range(2)
    ]
    model.add(ix.JointFriction("rub", hinges[0], 0.2, radius=0.01))
    with pytest.raises(ix.ModelError, match=r"JointFriction 'rub'.*hinge0"):
        ix.simulate(model, (0.0, 0.1))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"friction": -0.1}, "friction -0.1"),
        ({"static_friction": 0.1}, "static_friction 0.1 below"),
        ({"stick_velocity": 0.0}, "stick_velocity"),
        ({"radius": 0.1}, "radius, but Prismatic 'guide' never turns"),
        ({"arm": -1.0}, "arm"),
        ({"preload": math.nan}, "preload"),
    ],
)
def test_bad_input(change, match):
    model = incline(0.3, 0.3)
    settings = {"friction": 0.3} | change
    with pytest.raises(ix.ModelError, match=match):
        ix.JointFriction("other", model["guide"], settings.pop("friction"), **settings)


def test_a_joint_without_axis_is_refused():
    model = ix.Model("ball")
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0))
    joint = model.add(ix.Spherical("joint", model.ground, ball, at=(0, 0, 0)))
    with pytest.raises(ix.ModelError, match="Revolute, Prismatic, Cylindrical or Inline"):
        ix.JointFriction("rub", joint, 0.3)
    with pytest.raises(ix.ModelError, match="Give radius"):
        ix.JointFriction("rub", ix.Revolute("pin", model.ground, ball, at=(0, 0, 0), axis=(0, 0, 1)), 0.3)


def test_an_open_joint_rubs_no_more():
    """A block on a level guide, slowed by the preload alone, until an event opens the guide."""
    model = ix.Model("guide", gravity=(0, 0, 0))
    block = model.add(ix.RigidBody.box("block", (0.2, 0.2, 0.2), mass=2.0, velocity=(1, 0, 0)))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.JointFriction("rub", guide, 0.2, preload=10.0))

    def half(t, state):
        return t - 0.5

    half.action = ix.open_joint("guide")
    result = ix.simulate(model, (0.0, 1.0), "dopri5", events=half, t_eval=0.1)
    # 0.2 * 10 N on 2 kg: 1 m/s^2 for half a second, then nothing; dopri5 is exact for such a motion
    assert result["block"].velocity[-1, 0] == pytest.approx(0.5, abs=1e-9)
    assert result["block"].velocity[-4, 0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("method", ["auto", "hht-i3", "radau5"])
def test_a_bead_on_a_rod_that_turns(method):
    """r'' = w^2 r - mu N with N^2 = (2 w r')^2 + g^2, the forces of Coriolis and weight that the rod bears."""
    w, mu, g, start = 3.0, 0.2, 9.81, 0.5
    model = ix.Model("rod", gravity=(0, 0, -g))
    rod = model.add(ix.RigidBody("rod", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, w)))
    bead = model.add(ix.PointMass("bead", 0.4, position=(start, 0, 0), velocity=(0.2, w * start, 0)))
    pin = model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("drive", pin, lambda t: w * t, w, 0.0))
    rail = model.add(ix.Inline("rail", rod, bead, at=(start, 0, 0), axis=(1, 0, 0)))
    model.add(ix.JointFriction("rub", rail, mu, stick_velocity=1e-3))
    result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-7, t_eval=0.1)
    run = solve_ivp(
        lambda t, y: (y[1], w * w * y[0] - mu * np.hypot(2 * w * y[1], g)), (0, 1), (start, 0.2),
        rtol=1e-11, atol=1e-12, t_eval=result.t,
    )  # fmt: skip
    assert result["rail"].displacement + start == pytest.approx(run.y[0], abs=1e-3 if method == "hht-i3" else 1e-5)
    push = 0.4 * np.hypot(2 * w * run.y[1], g)
    assert np.linalg.norm(result["rail"].force, axis=1) == pytest.approx(push, rel=1e-3)


def test_an_inline_joint_takes_no_radius():
    model = ix.Model("rail")
    bead = model.add(ix.PointMass("bead", 1.0))
    rail = model.add(ix.Inline("rail", model.ground, bead, at=(0, 0, 0), axis=(1, 0, 0)))
    with pytest.raises(ix.ModelError, match="'rub' has radius, but Inline 'rail' never turns"):
        ix.JointFriction("rub", rail, 0.2, radius=0.1)
