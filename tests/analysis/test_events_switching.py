"""Actions of events: joints that open and close, impacts, what is lost in them, and one time axis through all of it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import index3 as ix
from index3.methods.registry import METHODS

G = 9.80665


def event(function, action=None, direction=0, terminal=False):
    """A fresh event function with attributes."""

    def asked(t, state):
        return function(t, state)

    asked.direction, asked.terminal = direction, terminal
    if action is not None:
        asked.action = action
    return asked


def ball_on_string(gravity=(0, 0, 0), **ball):
    model = ix.Model("string", gravity=gravity)
    bob = model.add(ix.PointMass("ball", 2.0, **ball))
    model.add(ix.Distance("string", model.ground.marker((0, 0, 0)), bob.marker((0, 0, 0)), length=1.0))
    return model


def taut(action=None):
    action = ix.close_joint("string") if action is None else action
    return event(lambda t, state: np.linalg.norm(state["ball"].position) - 1.0, action, direction=1)


@pytest.mark.parametrize("key", METHODS)
def test_ball_caught_by_a_string(key):
    """S4-116. At (0.6, 0.8) m the radial 0.8 of 1 m/s are lost; then a circle at 0.6 rad/s, tension 2 kg * 0.36."""
    model = ball_on_string(position=(0.6, 0, 0), velocity=(0, 1, 0))
    result = ix.simulate(model, (0, 2), key, rtol=1e-6, events=taut(), open_joints="string")
    assert result.success, result.message
    (jump,) = result.jumps
    assert jump.closed == ("string",)
    assert jump.t == pytest.approx(0.8, abs=1e-12)  # uniform motion, which every method follows to rounding
    assert jump.kinetic_lost == pytest.approx(0.64, abs=1e-10)  # half of 2 kg times 0.8^2; location of the event
    assert result.stats["kinetic_lost"] == jump.kinetic_lost
    assert np.ptp(result.energy.balance) < 1e-4  # 100 times rtol; without the account of the jump it would be 0.64
    before = result.t <= jump.t
    before[np.flatnonzero(before)[-1]] = False  # of two lines at the jump the second is after it
    assert np.all(result.lam[before] == 0.0)
    assert np.all(result["string"].force[before] == 0.0)
    force = np.linalg.norm(result["string"].force[~before], axis=1)
    np.testing.assert_allclose(force, 0.72, atol=1e-4)  # 100 times rtol
    assert result.violation.position.max() < 1e-10  # the contract's limit; the open string does not count
    angle = np.arctan2(0.8, 0.6) + 0.6 * 1.2
    # augmented-Lagrangian methods control the energy, not the position
    limit = 5e-3 if METHODS[key].family == "augmented" else 1e-4
    np.testing.assert_allclose(result.q[-1], (np.cos(angle), np.sin(angle), 0.0), atol=limit)


def test_slack_string_is_caught_where_parabola_and_circle_say():
    """A ball too slow for a full circle: tension ends at sin(a) = (v0^2/(g L) - 2)/3; the parabola meets the circle
    again at the angle -3a, for the two curves touch threefold and the angles of their four points add up to a turn."""
    v0 = np.sqrt(3.5 * G)
    model = ball_on_string((0, 0, -G), position=(0, 0, -1), velocity=(v0, 0, 0))

    def tension(t, state):
        return -state["string"].force @ state["ball"].position

    slack = event(tension, ix.open_joint("string"), direction=-1)
    result = ix.simulate(model, (0, 2.0), "dop853", rtol=1e-9, events=[slack, taut()])
    assert result.success, result.message
    opened, closed = result.jumps[:2]
    assert (opened.opened, closed.closed) == (("string",), ("string",))
    angles = [np.arctan2(y[0, 0, 2], y[0, 0, 0]) for y in result.y_events]
    a = np.arcsin(0.5)
    assert angles[0] == pytest.approx(a, abs=1e-7)  # 100 times rtol
    assert np.cos(angles[1] + 3 * a) == pytest.approx(1.0, abs=1e-12)  # the square of 1e-6: three contacts in one
    assert opened.kinetic_lost == pytest.approx(0.0, abs=1e-9)  # rounding of 34 J
    radial = result.y_events[1][0, 1] @ result.y_events[1][0, 0]
    assert closed.kinetic_lost == pytest.approx(radial**2, abs=1e-7)  # half of 2 kg; 100 times rtol
    assert np.ptp(result.energy.balance) < 1e-6 * 34  # 1000 times rtol of the energy


def test_plastic_collision_keeps_momentum_and_angular_momentum():
    """Two boxes stick together off centre; a Fixed joint closes all six rows at once."""
    model = ix.Model("collision", gravity=(0, 0, 0))
    left = model.add(ix.RigidBody.box("left", (0.2, 0.2, 0.2), 2.0, position=(-1, 0, 0), velocity=(1, 0, 0)))
    right = model.add(ix.RigidBody.box("right", (0.2, 0.2, 0.2), 3.0, position=(1, 0.1, 0), velocity=(-1, 0, 0)))
    model.add(ix.Fixed("weld", left.marker((0.1, 0, 0)), right.marker((-0.1, -0.1, 0))))
    touch = event(lambda t, s: s["right"].position[0] - s["left"].position[0] - 0.2, ix.close_joint("weld"))
    result = ix.simulate(model, (0, 2), "hht-i3", rtol=1e-7, events=touch, open_joints=["weld"])
    assert result.success, result.message
    (jump,) = result.jumps
    reduced = 2.0 * 3.0 / 5.0
    spin = reduced * 0.1 * 2.0 / ((2.0 + 3.0) * 0.04 / 6 + reduced * (0.2**2 + 0.1**2))
    v = result["left"].angular_velocity[-1]
    np.testing.assert_allclose(v, (0, 0, spin), atol=1e-6)  # 10 times rtol
    momentum = 2.0 * result["left"].velocity + 3.0 * result["right"].velocity
    np.testing.assert_allclose(momentum, np.tile((-1.0, 0, 0), (len(result), 1)), atol=1e-6)
    after = 0.5 * 1.0**2 / 5.0 + 0.5 * spin * reduced * 0.1 * 2.0
    assert jump.kinetic_lost == pytest.approx(2.5 - after, abs=1e-9)  # the place of the event
    assert np.ptp(result.energy.balance) < 1e-6


def test_latch_opens_and_the_rod_flies():
    """A swinging rod leaves its pin: its centre falls freely, its spin stays, the pin carries nothing."""
    model = ix.Model("release")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0, angular_velocity=(0, 9, 0)))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    release = event(lambda t, state: state["pin"].angle - 2.5 * np.pi, ix.open_joint("pin"))
    times = np.linspace(0, 2, 41)
    result = ix.simulate(model, (0, 2), "dop853", rtol=1e-9, events=release, t_eval=times)
    assert result.success, result.message
    assert np.array_equal(result.t, times)  # an action adds no line where times were asked for
    (t0,) = result.t_events[0]
    (q, v) = result.y_events[0][0]
    after = result.t > t0
    dt = (result.t[after] - t0)[:, None]
    fall = q[:3] + v[:3] * dt + 0.5 * np.array((0, 0, -G)) * dt**2
    np.testing.assert_allclose(result["rod"].position[after], fall, atol=1e-7)  # 100 times rtol
    spins = result["rod"].angular_velocity[after]
    np.testing.assert_allclose(spins, np.tile(spins[0], (len(spins), 1)), atol=1e-6)
    assert np.all(result["pin"].force[after] == 0.0)
    assert np.all(np.linalg.norm(result["pin"].force[~after], axis=1) > 1.0)
    assert result.jumps[0].kinetic_lost == pytest.approx(0.0, abs=1e-12)
    assert np.all(np.diff(result["pin"].angle) > 0.0)  # still measured, and unwrapped, in the air
    assert result["pin"].angle[-1] > 3.0 * np.pi


def bouncing(restitution, **settings):
    model = ix.Model("bouncing", gravity=(0, 0, -10))
    ball = model.add(ix.PointMass("ball", 1.0, position=(0, 0, 5), velocity=(1, 0, 0)))
    model.add(ix.PointInPlane("floor", model.ground.marker((0, 0, 0), z=(0, 0, 1)), ball.marker((0, 0, 0))))
    hit = event(lambda t, state: state["ball"].position[2], ix.impact("floor", restitution))
    return ix.simulate(model, (0, 4), events=hit, open_joints=["floor"], **settings)


@pytest.mark.parametrize("key", ["hht-i3", "bdf-i3", "adams", "dopri5", "tlismni-adams3", "auto"])
def test_bouncing_ball(key):
    """S0-61: Fall of 1 s, then flights of 2 e, 2 e^2 ... s; e^2 of the energy is left; one event each, in both
    directions."""
    e = 0.7
    result = bouncing(e, method=key, rtol=1e-7)
    assert result.success, result.message
    expected = 1.0 + 2.0 * np.cumsum([0, e, e**2])
    np.testing.assert_allclose(result.t_events[0], expected, atol=1e-5)  # 100 times rtol
    lost = [jump.kinetic_lost for jump in result.jumps]
    np.testing.assert_allclose(lost, 50 * (1 - e**2) * np.array([1, e**2, e**4]), rtol=1e-5)
    assert np.ptp(result.energy.balance) < 1e-5 * 50
    np.testing.assert_allclose(result["ball"].velocity[:, 0], 1.0, atol=1e-9)  # no friction
    assert result["ball"].position[:, 2].min() > -1e-9


def two_balls(second=5.0):
    """Balls that fall on a floor from 5 m and from `second`, at g = 10 m/s^2: the first after 1 s, at 10 m/s."""
    model = ix.Model("two balls", gravity=(0, 0, -10))
    for k, height in enumerate((5.0, second)):
        ball = model.add(ix.PointMass(f"ball{k}", 1.0, position=(k, 0, height)))
        model.add(ix.PointInPlane(f"floor{k}", model.ground.marker((0, 0, 0)), ball.marker()))
    return model


def lands(k, action=None, **settings):
    return event(lambda t, state: state[f"ball{k}"].position[2], action, direction=-1, **settings)


@pytest.mark.parametrize("key", METHODS)
def test_events_of_one_instant_all_act(key):
    """The second ball fell through the floor: after the restart for the first it had passed zero."""
    events = [lands(0, ix.impact("floor0", 1.0)), lands(1, ix.impact("floor1", 0.5)), lands(1)]
    result = ix.simulate(two_balls(), (0, 1.5), key, rtol=1e-6, events=events, open_joints=["floor0", "floor1"])
    (jump,) = result.jumps
    assert jump.struck == ("floor0", "floor1")
    assert jump.event == "asked and asked"
    heights = result["ball0"].position[-1, 2], result["ball1"].position[-1, 2]
    assert heights == pytest.approx((10 * 0.5 - 1.25, 5 * 0.5 - 1.25), abs=1e-6)  # constant force: rounding, location
    assert [len(times) for times in result.t_events] == [1, 1, 1]


@pytest.mark.parametrize("late", [1e-13, 1e-10, 1e-7])
def test_events_just_after_each_other_all_act(late):
    events = [lands(k, ix.impact(f"floor{k}", 1.0)) for k in (0, 1)]
    model = two_balls(5.0 + 10.0 * late)
    result = ix.simulate(model, (0, 1.5), "dop853", events=events, open_joints=["floor0", "floor1"])
    assert [name for jump in result.jumps for name in jump.struck] == ["floor0", "floor1"]
    assert result["ball1"].position[-1, 2] == pytest.approx(10 * 0.5 - 1.25, abs=1e-5)


def test_a_joint_is_struck_once_in_an_instant():
    events = [lands(0, ix.impact("floor0", 0.5)), lands(0, ix.impact("floor0", 0.5))]
    result = ix.simulate(two_balls(20.0), (0, 1.5), "dopri5", events=events, open_joints=["floor0", "floor1"])
    assert result.jumps[0].struck == ("floor0",)
    assert result["ball0"].position[-1, 2] == pytest.approx(5 * 0.5 - 1.25, abs=1e-9)


@pytest.mark.parametrize("order", [1, -1])
def test_an_event_beside_an_action_is_noted_once(order):
    """A mass that is turned back at x = 0.2 m gets there once."""
    model = ix.Model("turned back", gravity=(0, 0, 0))
    model.add(ix.PointMass("mass", 1.0, velocity=(1, 0, 0)))

    def turn(switch):
        switch.v[0] = -1.0

    events = [event(lambda t, state: state["mass"].position[0] - 0.2, action) for action in (turn, None)][::order]
    result = ix.simulate(model, (0, 1.0), "dopri5", events=events)
    assert [len(times) for times in result.t_events] == [1, 1]
    assert result["mass"].position[-1, 0] == pytest.approx(-0.6, abs=1e-9)


def test_an_end_comes_before_actions_of_its_instant():
    events = [lands(0, ix.impact("floor0", 1.0)), lands(1, terminal=True)]
    result = ix.simulate(two_balls(), (0, 1.5), "dopri5", events=events, open_joints=["floor0", "floor1"])
    assert result.t[-1] == pytest.approx(1.0, abs=1e-9)
    assert result.jumps == []
    assert result["ball0"].velocity[-1, 2] == pytest.approx(-10.0, abs=1e-9)


def test_audit_knows_the_jumps():
    """Bounces alone change the energy of the ball; with lines at every step and with times asked for."""
    for times in (None, 0.05, [0.0, 2.0, 4.0]):
        audit = bouncing(0.7, method="dopri5", rtol=1e-8, t_eval=times).energy.audit()
        np.testing.assert_allclose(audit["jumps"].work, audit.work, atol=1e-9)  # the place of the events


def test_lines_at_a_jump_and_dense_output():
    """Without output times the state before and after is there; `sol` has the later one, and no step in between."""
    result = bouncing(0.5, method="dopri5", rtol=1e-8, dense_output=True)
    (t0,) = result.t_events[0][:1]
    at = np.flatnonzero(np.abs(result.t - t0) < 1e-12)
    assert len(at) == 2
    np.testing.assert_allclose(result["ball"].velocity[at, 2], (-10, 5), atol=1e-6)
    assert np.all(np.diff(result.t) >= 0.0)
    t = np.linspace(0, 1.9, 77)
    height = np.where(t < t0, 5 - 5 * t**2, 5 * (t - t0) - 5 * (t - t0) ** 2)
    np.testing.assert_allclose(result.sol(t)[0][:, 2], height, atol=1e-7)  # 10 times rtol
    assert result.sol(t0)[1][2] == pytest.approx(5.0, abs=1e-6)
    assert "infinitely often" in result.message  # flights of 1, 1/2, 1/4 ... s: none is left at 3 s
    assert result.sol.t_max == pytest.approx(3.0, abs=1e-6)
    assert result["ball"].position[:, 2].min() > -1e-9  # it does not go on below the floor


def test_own_action_changes_velocities_and_joints():
    """A function of a Switch: kicks along x are kept, kicks that the string forbids are taken by it."""
    model = ball_on_string(position=(1, 0, 0), velocity=(0, 1, 0))

    def kick(switch):
        assert switch.state["ball"].position[0] == pytest.approx(np.cos(0.5), abs=1e-6)
        assert switch.opened == frozenset()
        switch.v[:] += 3.0 * switch.state.q

    result = ix.simulate(model, (0, 1), "dopri5", rtol=1e-8, events=event(lambda t, s: t - 0.5, kick), t_eval=[1.0])
    np.testing.assert_allclose(result.q[-1], (np.cos(1), np.sin(1), 0), atol=1e-6)  # a radial kick does nothing

    def cut(switch):
        switch.open("string")
        switch.v[:] *= 2.0

    result = ix.simulate(model, (0, 1), "dopri5", rtol=1e-8, events=event(lambda t, s: t - 0.5, cut), t_eval=[1.0])
    place = np.array((np.cos(0.5) - np.sin(0.5), np.sin(0.5) + np.cos(0.5), 0))
    np.testing.assert_allclose(result.q[-1], place, atol=1e-6)
    assert result.jumps[0].kinetic_lost == pytest.approx(-3.0)  # from 1 J to 4 J
    assert np.ptp(result.energy.balance) < 1e-6


def test_drive_is_disengaged():
    """A rotor driven at 20 rad/s coasts when its motion opens, against a damper."""
    model = ix.Model("clutch", gravity=(0, 0, 0))
    rotor = model.add(ix.RigidBody("rotor", 1.0, (0.1, 0.1, 0.2)))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.RotationalSpringDamper("drag", pin, damping=0.2))
    model.add(ix.Motion("drive", pin, lambda t: 20.0 * t, lambda t: 20.0, lambda t: 0.0))
    off = event(lambda t, state: t - 0.5, ix.open_joint("drive"))
    result = ix.simulate(model, (0, 1), "dop853", rtol=1e-8, events=off, t_eval=[0.25, 0.5, 1.0])
    assert result.success, result.message
    assert result["pin"].angle_rate == pytest.approx([20, 20, 20 * np.exp(-0.5)], rel=1e-6)  # decay rate 1/s
    assert result["pin"].angle[-1] == pytest.approx(10 + 20 * (1 - np.exp(-0.5)), rel=1e-6)
    assert np.ptp(result.energy.balance) < 1e-5  # 40 J; the work of the drive and of the drag
    whole = ix.simulate(model, (0, 1), "dop853", rtol=1e-8, events=off)  # two lines at 0.5 s
    assert whole.energy.audit()["drive"].work[-1] == pytest.approx(40.0, rel=1e-6)  # 80 W for half a second
    torque = result["drive"].torque[:, 2]
    assert torque == pytest.approx([4.0, 0.0, 0.0], abs=1e-6)


def test_joint_that_does_not_fit_ends_the_run_and_is_named():
    model = ball_on_string(position=(0.6, 0, 0), velocity=(0, 1, 0))
    early = event(lambda t, state: t - 0.5, ix.close_joint("string"))
    result = ix.simulate(model, (0, 1), "dopri5", events=early, open_joints=["string"], t_eval=0.1)
    assert not result.success
    assert "string" in result.message
    assert "0.0001" in result.message  # what is allowed
    assert result.t[-1] == pytest.approx(0.4)  # what came before the event is kept
    with pytest.raises(ix.SimulationFailed, match="cannot close"):
        ix.simulate(model, (0, 1), "dopri5", events=early, open_joints=["string"], on_failure="raise")
    early.action = ix.close_joint("string", gap=0.3)
    result = ix.simulate(model, (0, 1), "dopri5", events=early, open_joints=["string"])
    assert result.success
    assert result.jumps[0].gap == pytest.approx(0.5 * (1 - 0.6**2 - 0.5**2), rel=1e-6)  # of the row (d.d - L^2)/(2 L)


def test_terminal_count_goes_with_an_action():
    """The third hit ends the run, the first two bounce."""
    model = ix.Model("bouncing", gravity=(0, 0, -10))
    ball = model.add(ix.PointMass("ball", 1.0, position=(0, 0, 5)))
    model.add(ix.PointInPlane("floor", model.ground.marker((0, 0, 0), z=(0, 0, 1)), ball.marker((0, 0, 0))))
    hit = event(lambda t, state: state["ball"].position[2], ix.impact("floor", 1.0), direction=-1, terminal=3)
    result = ix.simulate(model, (0, 9), "dopri5", rtol=1e-8, events=hit, open_joints=["floor"])
    assert result.t[-1] == pytest.approx(5.0, abs=1e-6)
    assert len(result.jumps) == 2
    assert "asked" in result.message


def test_action_at_the_very_end():
    model = ball_on_string(position=(0.6, 0, 0), velocity=(0, 1, 0))
    result = ix.simulate(model, (0, 0.8), "dopri5", events=taut(), open_joints="string", t_eval=0.4)
    assert result.success
    assert np.array_equal(result.t, (0.0, 0.4, 0.8))


def test_steps_are_counted_through_all_legs():
    result = bouncing(0.7, method="dopri5", rtol=1e-7, max_steps=12)
    assert not result.success
    assert "max_steps = 12" in result.message
    assert result.stats["steps"] == 12
    assert len(result.jumps) >= 1


def test_held_coordinate_opens():
    model = ix.Model("held", gravity=(0, 0, -10))
    ball = model.add(ix.PointMass("ball", 1.0))
    model.add(ix.CoordinateConstraint("shelf", ball, "z"))
    drop = event(lambda t, state: t - 1.0, ix.open_joint("shelf"))
    result = ix.simulate(model, (0, 2), "hht-i3", events=drop, t_eval=[0.5, 2.0])
    assert result["ball"].position[:, 2] == pytest.approx([0.0, -5.0], abs=1e-9)
    assert result.lam[:, 0] == pytest.approx([-10.0, 0.0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ix.open_joint(), "at least one"),
        (lambda: ix.close_joint("pin", gap=-1.0), "gap"),
        (lambda: ix.impact("pin", restitution=1.5), "restitution"),
        (lambda: ix.impact(3), "names"),
    ],
)
def test_bad_actions_are_refused(make, words):
    with pytest.raises(ix.ModelError, match=words):
        make()


def test_bad_names_are_refused_before_the_run():
    model = ball_on_string(position=(1, 0, 0))
    with pytest.raises(ix.ModelError, match="rope"):
        ix.simulate(model, (0, 1), "dopri5", events=taut(ix.close_joint("rope")))
    with pytest.raises(ix.ModelError, match="rope"):
        ix.simulate(model, (0, 1), "dopri5", open_joints=["rope"])
    with pytest.raises(ix.ModelError, match="action"):
        ix.simulate(model, (0, 1), "dopri5", events=taut("string"))


def test_driven_joint_cannot_open_alone():
    model = ix.Model("driven")
    rotor = model.add(ix.RigidBody("rotor", 1.0, (0.1, 0.1, 0.2)))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("drive", pin, lambda t: t, lambda t: 1.0, lambda t: 0.0))
    with pytest.raises(ix.ModelError, match="'drive'"):
        ix.simulate(model, (0, 1), "dopri5", open_joints=["pin"])


def test_actions_can_be_pickled():
    action = ix.close_joint("string", gap=1e-3)
    assert pickle.loads(pickle.dumps(action)) == action


@pytest.mark.jit_off
def test_switching_in_plain_python():
    model = ball_on_string(position=(0.6, 0, 0), velocity=(0, 1, 0))
    result = ix.simulate(model, (0, 1), "hht-i3", step=0.05, events=taut(), open_joints="string")
    assert result.jumps[0].kinetic_lost == pytest.approx(0.64, abs=1e-10)
