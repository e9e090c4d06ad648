"""Runs that cannot go on, or would go on for ever, end with a reason; long runs with short events are left alone."""

import math
import warnings

import pytest
from small_models import particle, pendulum

import index3 as ix
from index3.engine import stalling
from index3.methods.registry import METHODS


def on_a_spring(stiffness):
    """A particle on a spring that is far too stiff for the time it is watched; its steps are constant."""
    model, bob = particle(position=(1, 0, 0), velocity=(0, 0.3, 0))
    model.add(ix.SpringDamper("spring", model.ground.marker(), bob.marker(), stiffness=stiffness, length=0.5))
    return model


def test_steps_above_rounding_that_lead_nowhere_end_the_run(monkeypatch):
    monkeypatch.setattr(stalling, "WINDOW", 20_000)  # 0.1 s
    result = ix.simulate(on_a_spring(1.0), (0.0, 1.0), "dopri5", t_eval=0.1, max_step=2e-15)  # rounding is at 4e-16
    assert not result.success
    assert "step became too small" in result.message
    assert "at this rate the rest takes" in result.message
    assert result.stats["steps"] < 1_000_000


def test_a_slow_run_is_told_of_and_goes_on(monkeypatch):
    monkeypatch.setattr(stalling, "WINDOW", 20_000)
    monkeypatch.setattr(stalling, "BEHIND", 1e300)
    with pytest.warns(UserWarning, match="at this rate the rest takes"):
        result = ix.simulate(on_a_spring(1e20), (0.0, 1.0), "dopri5", t_eval=0.1, max_steps=100_000)
    assert "max_steps = 100000" in result.message


def test_steps_that_cannot_lead_to_the_end_are_not_all_taken():
    """The explicit method would need 1e10 steps: it is given up after a tenth of what it may take."""
    result = ix.simulate(on_a_spring(1e20), (0.0, 1.0), "dopri5", t_eval=0.1, max_steps=20_000)
    assert not result.success
    assert "At this rate the rest takes" in result.message
    assert "max_steps = 20000" in result.message
    assert result.stats["steps"] + result.stats["rejected"] == 2000  # counted: the same on every machine


def test_a_window_of_slow_steps_is_left_alone_where_the_rest_is_in_reach():
    watch = stalling.Allowance((0.0, 1.0), 20_000)
    assert not watch.is_short(1999, 1e-9)
    assert not watch.is_short(2000, 1e-4 * 1.1)  # at this pace 1.8e7 steps, 900 times as many as may be taken
    assert watch.is_short(4000, 1.1e-4 + 0.9e-4)
    assert stalling.Allowance((0.0, 1.0), None).next_look == float("inf")


def looks(advances):
    """What `Allowance` says at the end of each window of 2000 steps, in which time advances so far."""
    watch, t, said = stalling.Allowance((0.0, 1.0), 20_000), 0.0, []
    for k, advance in enumerate(advances):
        t += advance
        said.append(watch.is_short(2000 * (k + 1), t))
    return said


def test_steps_that_are_steadily_too_short_are_not_all_taken():
    """Half of them lead through 1 % of the time: the other half would not do either."""
    assert looks([2e-3] * 5) == [False] * 4 + [True]
    assert not any(looks([2e-3] * 4 + [2e-2] + [2e-3] * 4))  # a window that is long enough counts from anew
    assert not any(looks([2e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3]))  # they grow
    assert not any(looks([1.1e-2] * 10))  # ten times as many as may be taken, or less
    result = ix.simulate(on_a_spring(1e12), (0.0, 1.0), "dopri5", t_eval=0.1, max_steps=20_000)
    assert "the last 10000 steps that were tried" in result.message
    assert result.stats["steps"] + result.stats["rejected"] == 10_000


@pytest.mark.filterwarnings("error")
def test_weights_next_to_nothing_raise_no_warning_of_numpy():
    result = ix.simulate(pendulum(), (0.0, 0.01), "radau5", atol=1e-320, max_steps=100)
    assert "t = " in result.message


def test_a_long_transient_is_left_alone():
    """A brake that takes some 7000 of 20000 steps for a thousandth of the span, and lets go."""
    model, bob = particle(velocity=(1, 0, 0))

    def brake(t, r, A, v, w, p, out):
        out[0, :3] = -2e7 * v[0] if t < 1e-3 else 0.0

    model.add(ix.UserForce("brake", bob.marker(), brake))
    result = ix.simulate(model, (0.0, 1.0), "dopri5", t_eval=0.1, max_steps=20_000)
    assert result.success, result.message
    assert result.stats["steps"] > 5000


def test_auto_changes_its_method_before_it_gives_up(monkeypatch):
    """Where an explicit method comes on by 3e-8 s in a step, a stiff one takes over with the steps that are left."""
    monkeypatch.setattr("index3.engine.automatic.RECONSIDER", 10**9)  # else stiffness is noticed earlier
    model, bob = particle(velocity=(1, 0, 0))

    def brake(t, r, A, v, w, p, out):
        out[0, :3] = -1e8 * v[0] if t > 0.1 else 0.0

    model.add(ix.UserForce("brake", bob.marker(), brake))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1, max_steps=20_000)
    assert result.success, result.message
    assert "(the steps led nowhere)" in result.message


def wheel(gain):
    """A wheel whose drive feeds on its speed: the faster it turns, the smaller its steps."""
    model = ix.Model("wheel", gravity=(0, 0, 0))
    body = model.add(ix.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 0.1)))
    pin = model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.RotationalSpringDamper("drive", pin, damping=-gain))
    return model


def test_a_motion_that_grows_while_its_steps_shrink_is_told_of_and_ended(monkeypatch):
    monkeypatch.setattr(stalling, "GROWING", 500)
    monkeypatch.setattr(stalling, "LAST", 30_000)
    with pytest.warns(UserWarning, match="check the signs and gains"):
        result = ix.simulate(wheel(10.0), (0.0, 10.0), "dopri5", t_eval=1.0)
    assert result.status == -17
    assert "grew without bound" in result.message
    assert "steps shrink with them" in result.message
    assert result.stats["steps"] + result.stats["rejected"] == 32_000  # 500 doubled


@pytest.mark.parametrize(
    ("end", "motion"),
    [
        (1e6, lambda n: (n**0.5, n**0.5)),  # a constant torque
        (1e6, lambda n: (math.log(n), n**0.01)),  # steps that shrink while the motion does not grow with them
        (10.0, lambda n: (math.log(n), n)),  # grows in time to end
        (1e6, lambda n: (n, math.exp(min(n, 100.0)))),  # grows, and steps stay as they are
        (1e6, lambda n: (n, 1.0)),
    ],
)
def test_other_motions_are_left_alone(end, motion):
    watch = stalling.Growth((0.0, end))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(1, 4000):
            assert not watch.is_endless(1000 * n, *motion(float(n)))


def test_a_short_event_in_a_long_run_is_left_alone():
    """1e4 s, in which 2e6 steps are spent on 1 ms."""
    watch = stalling.Stalling((0.0, 1e4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not watch.is_stalled(900_000, 100.0)
        assert not watch.is_stalled(2_000_000, 100.0005)
        assert not watch.is_stalled(3_000_000, 100.001)
        assert watch.is_stalled(4_000_000, 100.001 + 1e-7)


@pytest.mark.parametrize("spatial", [False, True], ids=["planar", "spatial"])
def test_a_singular_position_is_named(spatial):
    """A parallelogram that comes to lie in a line, from where it may go on as a parallelogram or crossed.

    DescriptorSDIRK4 chooses its coordinates anew there, again and again. In space, rows that are redundant everywhere
    are not what is told of.
    """
    model = ix.Model("parallelogram", gravity=(0, 0, 0))
    axis, B, C = (0, 0, 1), (0.6, 0.8, 0.0), (1.6, 0.8, 0.0)
    make = ix.RigidBody.rod if spatial else ix.PlanarBody.rod
    turning = {"angular_velocity": (0, 0, 2)} if spatial else {"spin": 2.0}
    ends = [(0, 0, 0), B, C, (1, 0, 0)] if spatial else [(0, 0), B[:2], C[:2], (1, 0)]
    left = model.add(make("left", ends[0], ends[1], mass=1.0, **turning))
    top = model.add(make("top", ends[1], ends[2], mass=1.0))
    right = model.add(make("right", ends[3], ends[2], mass=1.0, **turning))
    model.add(ix.Revolute("A", model.ground, left, at=(0, 0, 0), axis=axis))
    model.add(ix.Revolute("B", left, top, at=B, axis=axis))
    model.add(ix.Revolute("C", top, right, at=C, axis=axis))
    model.add(ix.Revolute("D", right, model.ground, at=(1, 0, 0), axis=axis))
    result = ix.simulate(model, (0.0, 10.0), "descriptor-sdirk4", t_eval=0.05)
    assert not result.success
    assert "singular position" in result.message
    assert all(f"{joint}.x" in result.message for joint in "ABCD")  # they share the loop along the line
    assert "A.y1.z2" not in result.message  # redundant everywhere in space
    assert ix.simulate(model, (0.0, 10.0), "dopri5", t_eval=0.05).success  # steps across


def test_a_jump_is_no_singular_position():
    model = pendulum()
    model.add(ix.Motion("runner", model["pin"], lambda t: 0.0 if t < 0.5 else 0.1, 0.0, 0.0))
    message = ix.simulate(model, (0.0, 1.0)).message
    assert "not smooth" in message
    assert "singular" not in message


CASES = [(0.3, method) for method in METHODS] + [(0.002, "auto"), (0.002, "hht-i3"), (0.002, "bdf-i3"), (0.8, "hht-i3")]


@pytest.mark.parametrize(("restitution", "method"), CASES)
def test_a_ball_that_bounces_ever_faster_does_not_fall_through_the_floor(restitution, method):
    """Falling from h, the bounces end at sqrt(2 h / g) (1 + e) / (1 - e).

    A free fall is exact at any step with most methods: a bounce must be found in the smallest part of one.
    """
    model, _ = particle(gravity=(0, 0, -10), position=(0, 0, 1))

    def floor(t, state):
        return state["bob"].position[2]

    def bounce(switch):
        switch.v[2] *= -restitution

    floor.direction, floor.action = -1, bounce
    result = ix.simulate(model, (0.0, 10.0), method, events=floor, rtol=1e-6, progress=False)
    assert not result.success
    assert "Event floor occurs ever faster" in result.message
    assert "close a joint" in result.message
    end = (0.2**0.5) * (1 + restitution) / (1 - restitution)
    assert result.t[-1] == pytest.approx(end, abs=1e-6)  # 1e-8 of 10 s remain, and rtol
    assert result["bob"].position[:, 2].min() > -1e-6


def test_a_ball_that_is_let_lie_bounces_to_the_end():
    model, bob = particle(gravity=(0, 0, -10), position=(0, 0, 1))
    model.add(ix.PointInPlane("table", model.ground.marker(), bob.marker()))

    def floor(t, state):
        return state["bob"].position[2]

    def bounce(switch):
        if abs(switch.v[2]) < 1e-2:
            switch.close("table")
        else:
            switch.v[2] *= -0.5

    floor.direction, floor.action = -1, bounce
    result = ix.simulate(model, (0.0, 10.0), events=floor, open_joints=["table"])
    assert result.success, result.message
    assert abs(result["bob"].position[-1, 2]) < 1e-6  # the gap that is closed


def test_events_that_keep_their_rhythm_are_left_alone():
    model, _ = particle(position=(0, 0, 1), velocity=(0, 0, 0))

    def tick(t, state):
        return ((t / 0.01) % 1.0) - 0.5

    tick.action = lambda switch: None
    result = ix.simulate(model, (0.0, 1.0), events=tick, max_step=0.003)
    assert result.success, result.message
    assert len(result.t_events[0]) >= 100
