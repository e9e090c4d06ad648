"""Declared discontinuities, and how well every method locates events."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipk

import index3 as ix
from index3.methods.registry import METHODS

STEP_TIME = 0.5
FORCE = 12.0


def pushed(late=False):
    """A mass on a spring (2 rad/s) that a constant force pushes from 0.5 s on; `late`: it is still 0 at 0.5 s."""
    model = ix.Model("pushed", gravity=(0, 0, 0))
    bob = model.add(ix.PointMass("bob", 1.0, position=(2.0, 0.0, 0.0)))
    points = ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    model.add(ix.SpringDamper("spring", model.ground, bob, points=points, stiffness=4.0, length=1.0))

    def force(t):
        on = t > STEP_TIME if late else t >= STEP_TIME
        return (FORCE if on else 0.0, 0.0, 0.0)

    model.add(ix.Force("push", bob, force))
    return model


def place(t):
    """Where the mass is: its free motion and the answer to the step."""
    since = np.maximum(np.asarray(t) - STEP_TIME, 0.0)
    return 1.0 + np.cos(2.0 * np.asarray(t)) + FORCE / 4.0 * (1.0 - np.cos(2.0 * since))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    "key", ["hht-i3", "bdf-i3", "radau5", "adams", "dopri5", "tlismni-adams4", "firstorder-sdirk4"]
)
def test_constant_steps_keep_their_accuracy_across_a_declared_step(key, late):
    """Steps of 0.03 s miss 0.5 s: an error of the size of h times the step; declared, that of smooth motion."""
    model, t, errors = pushed(late), np.linspace(0, 1, 11), []
    for declared in ((), (STEP_TIME,)):
        result = ix.simulate(model, (0, 1), key, step=0.03, t_eval=t, discontinuities=declared)
        assert result.success, result.message
        assert np.array_equal(result.t, t)
        errors.append(np.abs(result["bob"].position[:, 0] - place(t)).max())
    assert errors[0] > 1e-2
    assert errors[1] < 4e-3  # measured: 3e-3 for HHT-I3 with its damping, 1e-5 and less for orders 4 and 5
    if METHODS[key].order != 2:
        assert errors[1] < 1e-4
    assert np.ptp(result.energy.balance) < 0.05 * np.ptp(result.energy.total)  # the work of the push is found


@pytest.mark.parametrize("key", ["adams", "bdf-i3", "bdf-si2", "hht-i3"])
def test_a_step_in_time_is_found_as_if_it_were_declared(key):
    """No step is rejected at it; 8 to 28 were before it was looked for."""
    model, results = pushed(), []
    for declared in (None, STEP_TIME):
        settings = {} if declared is None else {"discontinuities": declared}
        result = ix.simulate(model, (0, 1), key, rtol=1e-6, **settings)
        assert result.success, result.message
        results.append(result)
    assert np.array_equal(results[0].q, results[1].q)
    assert abs(result["bob"].position[-1, 0] - place(1.0)) < 1e-3  # 1000 times rtol: HHT-I3 at 1e-6 has 2e-4
    # one line on each side: the acceleration jumps by the force
    at = np.flatnonzero(result.t == STEP_TIME)
    assert len(at) == 2
    assert np.diff(result["bob"].acceleration[at, 0]) == pytest.approx(FORCE, abs=1e-6)
    assert result.jumps == []  # no velocity changed


def test_step_that_begins_at_a_discontinuity_does_not_look_back():
    """Rosenbrock's differences in time reach forward only; its stage beyond the step is left to the error control."""
    result = ix.simulate(pushed(), (0, 1), "rosenbrock4", rtol=1e-7, discontinuities=STEP_TIME)
    assert result["bob"].position[-1, 0] == pytest.approx(place(1.0), abs=1e-5)  # 100 times rtol
    assert result.stats["steps"] < 100  # measured: 87


def test_rate_of_a_motion_jumps():
    """A slider driven at 1 m/s, then 3 m/s: 2 kg gain 8 J at once, given by the drive; the balance knows."""
    model = ix.Model("driven", gravity=(0, 0, 0))
    slider = model.add(ix.RigidBody("slider", 2.0, (0.1, 0.1, 0.1)))
    rail = model.add(ix.Prismatic("rail", model.ground, slider, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(
        ix.Motion("drive", rail, lambda t: t if t < 1 else 3 * t - 2, lambda t: 1.0 if t < 1 else 3.0, lambda t: 0.0)
    )
    result = ix.simulate(model, (0, 2), "hht-i3", t_eval=0.25, discontinuities=[1.0], dense_output=True)
    assert result.success, result.message
    np.testing.assert_allclose(result["slider"].velocity[:, 0], np.where(result.t < 1, 1.0, 3.0), atol=1e-9)
    assert result.jumps[0].kinetic_lost == pytest.approx(-8.0)
    assert result.jumps[0].event == ""
    assert np.ptp(result.energy.balance) < 1e-6  # of 9 J: the work of a drive follows rtol
    assert result.sol([0.999, 1.0])[1][:, 0] == pytest.approx([1.0, 3.0])


def test_discontinuities_and_events_together():
    """An event between two declared times, and one at a declared time, are found once."""
    result = ix.simulate(
        pushed(), (0, 1), "adams", discontinuities=[0.25, 0.5, 0.75],
        events=[lambda t, state: t - 0.3, lambda t, state: t - 0.5],
    )  # fmt: skip
    assert result.t_events[0] == pytest.approx([0.3], abs=1e-12)
    assert result.t_events[1] == pytest.approx([0.5], abs=1e-12)
    assert result["bob"].position[-1, 0] == pytest.approx(place(1.0), abs=1e-5)


@pytest.mark.parametrize("roundings", [1, 8, 9, 10])
def test_times_that_differ_by_roundings(roundings):
    """Sums of 0.1 and multiples of it: nine roundings apart left a step of one, which is too small."""
    times = [0.5, 0.5 + roundings * np.spacing(0.5)]
    result = ix.simulate(ix.library.pendulum(), (0.0, 1.0), "dopri5", discontinuities=times)
    assert result.success, result.message
    assert result.t[-1] == 1.0


def test_times_outside_the_span_do_nothing():
    free, declared = (
        ix.simulate(pushed(), (0, 0.4), "adams", discontinuities=stops) for stops in ((), [-1.0, 0.0, 0.4, 7.0])
    )
    assert np.array_equal(free.q, declared.q)


@pytest.mark.parametrize("stops", ["soon", [float("nan")], [None]])
def test_bad_discontinuities(stops):
    with pytest.raises(ix.ModelError, match="discontinuities"):
        ix.simulate(pushed(), (0, 1), "adams", discontinuities=stops)


QUARTER = ellipk(0.5) / np.sqrt(1.5 * 9.80665)
"""Time in which a rod of 1 m falls from the horizontal to the lowest position [s]."""


def fall_time(key, **settings):
    model = ix.Model("rod")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))

    def lowest(t, state):
        return state["pin"].angle - 0.5 * np.pi

    lowest.terminal = True
    result = ix.simulate(model, (0, 1), key, events=lowest, t_eval=[1.0], **settings)
    return result.t_events[0][0]


@pytest.mark.parametrize("key", METHODS)
def test_event_times_are_as_good_as_the_method(key):
    rtol = 1e-5
    error = abs(fall_time(key, rtol=rtol) - QUARTER)
    print(f"{key}: {error / rtol:.2g} rtol")
    assert error < 100 * rtol


def test_events_use_the_dense_output_of_high_order():
    """Steps of 0.1 s: the formula itself is off by 3e-10 s, degree 5 between its steps would be by 3e-8 s."""
    assert abs(fall_time("dop853", step=0.1) - QUARTER) < 2e-9
    assert abs(fall_time("dop853", rtol=1e-10) - QUARTER) < 2e-11  # seen: 2e-12, with degree 5 1e-10
    assert abs(fall_time("adams", rtol=1e-10) - QUARTER) < 1e-9  # 10 times rtol


def needle():
    """A body without inertia about its length, which a guide keeps from spinning except where it lies along z."""
    model = ix.Model("needle", gravity=(0, 0, 0))
    model.add(ix.RigidBody("other", 1.0, (1, 1, 1), velocity=(1, 0, 0)))
    rod = model.add(ix.RigidBody("needle", 1.0, (0, 1 / 3, 1 / 3), angular_velocity=(0, 1, 0)))
    model.add(ix.Spherical("ball", model.ground, rod, at=(0, 0, 0)))
    model.add(ix.PerpendicularAxes("guide", model.ground, rod, at=(0, 0, 0), axes=((0, 0, 1), (0, 1, 0))))
    return model


@pytest.mark.parametrize(
    "key", ["adams", "dopri5", "tlismni-adams4", "descriptor-sdirk4", "firstorder-sdirk4", "rosenbrock4"]
)
def test_body_free_to_spin_without_inertia_is_named(key):
    """Constant steps that end where the needle lies along z: methods with factorisations of their own name it, too."""
    result = ix.simulate(needle(), (0, 2), key, step=np.pi / 400)
    assert not result.success
    assert "RigidBody 'needle' can turn about an axis about which it has no inertia" in result.message
    assert result.t[-1] < np.pi / 2


@pytest.mark.parametrize("key", ["hht-i3", "firstorder-sdirk4"])
def test_opening_what_held_a_body_without_inertia_is_named(key):
    def release(t, state):
        return t - 0.5

    release.action = ix.open_joint("guide")
    result = ix.simulate(needle(), (0, 2), key, events=release)
    assert not result.success
    assert "RigidBody 'needle' can turn about an axis about which it has no inertia" in result.message
    assert result.t[-1] == pytest.approx(0.5)
