"""Events: passages through zero, located, counted, terminal or not."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix


def falling_ball():
    model = ix.Model("falling", gravity=(0, 0, -10))
    model.add(ix.PointMass("ball", 1.0, position=(0, 0, 5), velocity=(1, 0, 0)))
    return model


def ground(t, state):
    return state["ball"].position[2]


def test_terminal_event_ends_the_run_at_its_time():
    def hit(t, state):
        return ground(t, state)

    hit.terminal = True
    result = ix.simulate(falling_ball(), (0, 3), "hht-i3", rtol=1e-8, events=hit, t_eval=0.3)
    assert result.success
    assert "hit" in result.message
    assert result.t[-1] == pytest.approx(1.0, abs=1e-7)  # z = 5 - 5 t^2; the run's own accuracy
    assert result.t_events[0] == pytest.approx([1.0], abs=1e-7)
    assert np.array_equal(result.t[:-1], 0.3 * np.arange(4))
    assert abs(result["ball"].position[-1, 2]) < 1e-6
    assert result.y_events[0].shape == (1, 2, 3)


def test_nothing_is_shown_or_kept_after_a_terminal_event():
    def hit(t, state):
        return ground(t, state)

    hit.terminal = True
    seen = []
    result = ix.simulate(
        falling_ball(), (0, 3), "dopri5", events=hit, t_eval=0.01, dense_output=True,
        callback=lambda t, q, v: seen.append(t),
    )  # fmt: skip
    assert np.array_equal(seen, result.t)
    assert result.sol.t_max == result.t[-1] == result.t_events[0][0]


def test_events_of_reactions_and_accelerations():
    """A rod falls from the horizontal: 5/2 m g sin(angle) along it and m g cos(angle) / 4 across are on the pin."""
    model = ix.library.pendulum()
    pin = next(iter(model.joints))

    def load(t, state):
        assert state.lam.shape == (6,)  # the pin's five, and the normalisation
        assert np.all(np.isfinite(state.a))
        return np.linalg.norm(state[pin].force) - 9.80665

    result = ix.simulate(model, (0, 0.4), "dopri5", rtol=1e-8, events=load)
    (q,) = result.y_events[0][:, 0]
    angle = np.arctan2(-q[2], q[0])
    along, across = 2.5 * np.sin(angle), 0.25 * np.cos(angle)
    assert np.hypot(along, across) == pytest.approx(1.0, abs=1e-6)  # 100 times rtol


def test_events_of_states_and_of_histories_by_name():
    """A block of states had no name in an event, and the word about it named an attribute that did not exist."""
    model = falling_ball()
    clock = model.add(ix.States("clock", (0.0,), names=("s",)))

    def f(t, r, A, v, w, p, out, x, rate):
        rate[0] = 2.0

    model.add(ix.UserForce("quartz", model.ground.marker(), f, states=clock))
    events = [
        lambda t, state: state.states["clock"][0] - 1.0,
        lambda t, state: state["clock.s"] - 1.0,
        lambda t, state: state["ball.position.z"],
        lambda t, state: state["ball.acceleration.z"] + 5.0 + t,
    ]
    result = ix.simulate(model, (0, 6), rtol=1e-8, events=events)
    assert np.array(result.t_events) == pytest.approx(np.array([[0.5], [0.5], [1.0], [5.0]]))
    with pytest.raises(KeyError, match=r"Ask for \.states\['clock'\]"):
        ix.simulate(model, (0, 2), events=lambda t, state: state["clock"][0])


def test_direction_and_count():
    """A pendulum passes its lowest point in both directions; the third fall-through may end the run."""
    model = ix.library.pendulum()
    joint = next(iter(model.joints))

    def rate(t, state):
        return float(state[joint].angle_rate)

    def up(t, state):
        return rate(t, state)

    def down(t, state):
        return rate(t, state)

    up.direction, down.direction = 1, -1
    result = ix.simulate(model, (0, 4), "hht-i3", rtol=1e-6, events=[rate, up, down], t_eval=1.0)
    every, rises, falls = result.t_events
    assert len(every) == len(rises) + len(falls) > 2
    assert np.array_equal(np.sort(np.concatenate([rises, falls])), every)
    down.terminal = 1
    short = ix.simulate(model, (0, 4), "hht-i3", rtol=1e-6, events=[rate, down])
    assert short.t[-1] == falls[0]


def test_multi_turn_angle_event():
    """A driven rotor passes two and a half turns at the time it should: the angle is unwrapped."""
    model = ix.Model("rotor", gravity=(0, 0, 0))
    rotor = model.add(ix.RigidBody.cylinder("rotor", 0.1, 0.1, 1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("runner", pin, lambda t: 20.0 * t, lambda t: 20.0, lambda t: 0.0))
    result = ix.simulate(model, (0, 1.5), "hht-i3", events=lambda t, state: state["pin"].angle - 5.0 * np.pi)
    assert result.t_events[0] == pytest.approx([np.pi / 4], abs=1e-7)  # dense output at rtol 1e-6


@pytest.mark.parametrize("value", [None, "high", float("nan"), [1, 2]])
def test_bad_events_are_named(value):
    def strange(t, state):
        return value

    with pytest.raises(ix.errors.ModelError, match="strange"):
        ix.simulate(falling_ball(), (0, 1), "hht-i3", events=strange)


def test_not_a_function():
    with pytest.raises(ix.errors.ModelError, match="events"):
        ix.simulate(falling_ball(), (0, 1), "hht-i3", events=[3])


def test_files_keep_the_events(tmp_path):
    """Times and states of two functions, of which one never passes through zero."""

    def low(t, state):
        return state.q[2] - 4.5

    def never(t, state):
        return 1.0

    result = ix.simulate(falling_ball(), (0, 1), "dopri5", events=[low, never])
    result.save(tmp_path / "run.nc")
    loaded = ix.Result.load(tmp_path / "run.nc")
    assert [len(times) for times in loaded.t_events] == [1, 0]
    for name in ("t_events", "y_events"):
        for kept, found in zip(getattr(loaded, name), getattr(result, name), strict=True):
            assert kept.shape == found.shape
            assert np.array_equal(kept, found)


@pytest.mark.parametrize("value", [True, np.False_])
def test_conditions_are_refused(value):
    """They never change their sign, so that no event would be found."""
    with pytest.raises(ix.errors.ModelError, match="changes its sign"):
        ix.simulate(falling_ball(), (0, 1), events=lambda t, state: value)


@pytest.mark.parametrize(("name", "value"), [("terminal", "yes"), ("terminal", 0.5), ("direction", np.nan)])
def test_attributes_that_say_nothing_are_refused(name, value):
    def low(t, state):
        return state.q[2] - 4.5

    setattr(low, name, value)
    with pytest.raises(ix.errors.ModelError, match=f"event low has {name}"):
        ix.simulate(falling_ball(), (0, 1), events=low)


@pytest.mark.parametrize("method", ["auto", "radau5", "dop853", "hht-i3"])
@pytest.mark.parametrize("height", [3.0, 4.9, 4.999])
def test_a_height_is_passed_twice_within_one_step(method, height):
    """A ball that is thrown up to 5 m is above the height for 1.3 s to 0.03 s; free flight takes steps of any size."""
    model = ix.Model("throw", gravity=(0, 0, -10))
    model.add(ix.PointMass("ball", 1.0, velocity=(1, 0, 10)))
    result = ix.simulate(model, (0, 2.2), method, events=lambda t, state: ground(t, state) - height)
    half = np.sqrt((5.0 - height) / 5.0)
    # of a height just below the top the root doubles what the method is off by, 1e-6 of 5 m at most
    assert result.t_events[0] == pytest.approx([1.0 - half, 1.0 + half], abs=1e-5 / half)


def test_functions_of_time_are_asked_within_steps_over_many_of_their_periods():
    """A body at rest takes one step over all of them."""
    model = ix.Model("rest", gravity=(0, 0, 0))
    model.add(ix.PointMass("ball", 1.0))

    def strikes(t, state):
        return np.sin(2.0 * np.pi * (t - 0.3))

    strikes.direction = 1
    result = ix.simulate(model, (0, 10), events=strikes)
    assert result.stats["steps"] < 10  # else it proves nothing
    assert result.t_events[0] == pytest.approx(
        0.3 + np.arange(10), abs=1e-10
    )  # rounding of the location, 1e-12 of 10 s


def test_an_event_is_located_in_few_calls():
    asked = []

    def hit(t, state):
        asked.append(t)
        return ground(t, state)

    result = ix.simulate(falling_ball(), (0, 1.5), "dopri5", events=hit)
    assert len(result.t_events[0]) == 1
    # a look before and one behind, and the location to 1e-12; it took 36 calls by secants that were held inside
    assert len([t for t in asked if abs(t - 1.0) < 1.5 / 128]) <= 14


def test_all_of_an_instant_is_that_of_its_motion():
    """Energies, work, forces on single markers, multipliers and accelerations at joints: zeros, without a word."""
    model = ix.library.pendulum()
    pin = next(iter(model.joints))
    model.add(ix.Actuator("motor", model[pin], lambda t: 1.0 + t))
    seen = []

    def look(t, state):
        joint = state[pin]
        energies = [state[f"energy.{name}"] for name in ("kinetic", "total", "work")]
        reactions = [*joint.on(0)[0][0], *joint.lam, *joint.second.acceleration[0], *state["rod"].acceleration]
        seen.append((t, *energies, *reactions))
        return 1.0

    result = ix.simulate(model, (0, 1), "dop853", rtol=1e-8, events=look)
    seen = np.array(seen)
    lines = seen[np.isin(seen[:, 0], result.t)]
    assert len(lines) == len(result.t)  # every step is looked at
    lines = lines[np.argsort(lines[:, 0])]
    joint = result[pin]
    expected = np.column_stack([
        result.t, result.energy.kinetic, result.energy.total, result.energy.work, joint.on(0)[0], joint.lam,
        joint.second.acceleration, result["rod"].acceleration,
    ])  # fmt: skip
    assert lines == pytest.approx(expected, rel=1e-12, abs=1e-12)  # the same closing of the same states
