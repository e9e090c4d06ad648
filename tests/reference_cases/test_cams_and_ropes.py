"""A Geneva drive, a cam, a tackle: against trigonometry and equations in the least coordinates."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix

Z = (0, 0, 1)


def geneva():
    """A wheel with four slots, which a pin on a crank turns by a quarter in each second; held between."""
    radius, speed = np.sin(np.pi / 4), 2 * np.pi
    model = ix.Model("Geneva drive", gravity=(0, 0, 0))
    crank = model.add(ix.PlanarBody("crank", 1.0, 0.1, angle=-np.pi / 2, spin=speed))
    wheel = model.add(ix.PlanarBody("wheel", 1.0, 0.05, position=(1, 0)))
    axle = model.add(ix.Revolute("axle", model.ground, crank, at=(0, 0, 0), axis=Z))
    model.add(ix.Revolute("pivot", model.ground, wheel, at=(1, 0, 0), axis=Z))
    model.add(ix.Motion("drive", axle, lambda t: speed * t, speed, 0.0))
    for k in range(4):
        angle = np.pi / 4 + k * np.pi / 2
        slot = wheel.marker((0, 0, 0), z=(np.cos(angle), np.sin(angle), 0), x=Z)
        model.add(ix.Inline(f"slot{k}", slot, crank.marker((radius, 0, 0))))
        model.add(ix.CoordinateConstraint(f"lock{k}", wheel, "angle", value=-k * np.pi / 2))
    return model


@pytest.mark.parametrize("method", ["auto", "hht-i3", "radau5", "descriptor-sdirk4"])
def test_a_geneva_drive_turns_and_rests(method):
    """The wheel's angle by trigonometry. Where it rests nothing is free, and steps are longer than it rests.

    Without looks into long steps the next pin was missed: the run succeeded, half a turn behind.
    """
    quarter = iter(range(8))
    now = [0]

    def enters(t, state):
        return np.sin(2 * np.pi * (t - 0.125))

    def leaves(t, state):
        return np.sin(2 * np.pi * (t - 0.375))

    def engage(switch):
        now[0] = next(quarter)
        switch.open(f"lock{now[0]}")
        switch.close(f"slot{(now[0] + 2) % 4}")

    def release(switch):
        switch.open(f"slot{(now[0] + 2) % 4}")
        switch.close(f"lock{now[0] + 1}")

    enters.direction = leaves.direction = 1
    enters.action, leaves.action = engage, release
    still = [f"slot{k}" for k in range(4)] + [f"lock{k}" for k in (1, 2, 3)]
    result = ix.simulate(
        geneva(),
        (0, 3.1),
        method,
        rtol=1e-5,
        t_eval=np.linspace(0.13, 3.1, 298),
        events=[enters, leaves],
        open_joints=still,
    )
    assert result.success, result.message
    turns = np.floor(result.t - 0.125)
    angle = np.minimum(2 * np.pi * (result.t - 0.25 - turns), np.pi / 4)  # of the crank, from the line of centres
    radius = np.sin(np.pi / 4)
    slot = np.arctan2(radius * np.sin(angle), 1 - radius * np.cos(angle))
    expected = -turns * np.pi / 2 - (slot + np.pi / 4)
    # output is closed onto the constraints, which leave nothing free: rounding, 5e-12 seen
    assert result["pivot"].angle == pytest.approx(expected, abs=1e-9)
    assert len(result.jumps) == 6
    assert result.stats["kinetic_lost"] < 1e-9  # the pin enters and leaves along the slot: no impact


@pytest.mark.parametrize(
    ("method", "limit"), [("auto", 1.5e-5), ("hht-i3", 2e-3), ("radau5", 1e-7), ("al-index3", 5e-4)]
)
def test_a_tackle_swings(method, limit):
    """A weight swings on a rope over two pulleys that carries a block on two strands (a spatial tendon of MuJoCo).

    Two degrees of freedom: the length and the angle of the swing. Limits: about three times what was seen.
    """
    g, light, heavy = 9.81, 1.0, 2.5
    start, angle = np.hypot(0.2, 1.0), np.arctan2(0.2, 1.0)
    whole = start + 1.0 + 1.6
    model = ix.Model("tackle", gravity=(0, 0, -g))
    weight = model.add(ix.PointMass("weight", light, position=(0.2, 0, -1)))
    block = model.add(ix.PointMass("block", heavy, position=(1, 0, -0.8)))
    points = [model.ground.marker(place) for place in ((0, 0, 0), (1, 0, 0), (1, 0, 0))]
    model.add(ix.Rope("rope", [weight, *points[:2], block, points[2]]))
    assert model["rope"].length == pytest.approx(whole, rel=1e-14)

    def rates(t, y):
        s, turn, v, w = y
        return [
            v, w, (light * s * w * w + light * g * np.cos(turn) - heavy * g / 2) / (light + heavy / 4),
            -(g * np.sin(turn) + 2 * v * w) / s,
        ]  # fmt: skip

    result = ix.simulate(model, (0, 3), method, rtol=1e-6, t_eval=0.1)
    s, turn, _, _ = solve_ivp(
        rates, (0, 3), [start, angle, 0, 0], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=result.t
    ).y
    assert result["weight"].position == pytest.approx(
        np.column_stack([s * np.sin(turn), 0 * s, -s * np.cos(turn)]), abs=limit
    )
    assert result["block"].position[:, 2] == pytest.approx((s - start) / 2 - 0.8, abs=limit)
    assert result.energy.balance == pytest.approx(result.energy.balance[0], abs=20 * limit)
