"""Features of a road that a wheel rolls over within one step."""

import warnings

import numpy as np
import pytest

import index3 as ix
from index3.forces.road import ROAD_FIELDS
from index3.forces.tyre_sweep import feature

TIMES = np.linspace(0.0, 2.0, 101)
BUMP = ix.Road.bump(20.3, 0.5, 0.05)
TABLE = ix.Road.table([0.0, 20.3, 20.55, 20.8, 100.0], [0.0, 0.0, 0.05, 0.0, 0.0])
METHODS = ("dopri5", "dop853", "adams", "hht-i3", "bdf-si2", "radau5", "al-index3", "descriptor-sdirk4", "auto")


def wheel(road, speed, push=0.0, above=0.0):
    """A wheel of 200 kg that stands on its tyre, rolls, and is pushed; or it is in the air."""
    model = ix.Model("wheel", gravity=(0, 0, -9.81))
    place = (0.0, 0.0, 0.3 - 200 * 9.81 / 2e5 + above)
    body = model.add(
        ix.RigidBody("wheel", 200.0, (2, 2, 3), position=place, orientation=(1, -1, 0, 0), velocity=(speed, 0, 0))
    )
    model.add(ix.Force("push", body, (push, 0, 0)))
    model.add(ix.Tyre("tyre", body, model.ground, road, radius=0.3, stiffness=2e5, damping=2e3))
    return model


def height(model, method, **settings):
    result = ix.simulate(model, (0.0, 2.0), method, t_eval=TIMES, progress=False, **settings)
    assert result.success, result.message
    return result["wheel"].position[:, 2], result.stats


@pytest.mark.parametrize("road", [BUMP, TABLE, ix.Road.bump(20.3, 0.5, 0.05, speed=20.0)])
@pytest.mark.parametrize("method", METHODS)
def test_a_short_bump_is_met(road, method):
    """From 1 m/s to 28 m/s at the bump: steps of 0.25 s, which are right for 1 m/s, are 7 m. All of it was missed."""
    model = wheel(road, 1.0, 4000.0)
    exact, _ = height(model, "dop853", rtol=1e-9, max_step=1e-3)
    rtol = 1e-4 if method == "hht-i3" else 1e-3  # of second order, and of the whole height of the wheel
    found, _ = height(model, method, rtol=rtol, max_step=1.0)
    assert np.abs(found - exact).max() < 0.25 * np.ptp(exact)  # 0.66 if it is missed


def test_a_trough_is_met():
    model = wheel(ix.Road.bump(20.3, 0.5, -0.05), 30.0)
    exact, _ = height(model, "dop853", rtol=1e-9, max_step=1e-3)
    for method in ("dopri5", "radau5", "bdf-si2"):
        found, stats = height(model, method, rtol=1e-3, max_step=1.0)
        assert stats["passed"] > 0
        assert np.abs(found - exact).max() < 0.15 * np.ptp(exact)  # 0.62 if it is missed


@pytest.mark.parametrize(
    "road",
    [ix.Road.flat(), ix.Road.bump(99.0, 0.5, 0.05), ix.Road.ramp(20.3, 0.5, 0.0), ix.Road.table([0, 1, 2], [0, 0, 0])],
)
def test_nothing_to_see_costs_no_step(road):
    steps = [height(wheel(x, 30.0), "dopri5", rtol=1e-4, max_step=1.0)[1] for x in (ix.Road.flat(), road)]
    assert steps[0]["steps"] == steps[1]["steps"]
    assert steps[1]["passed"] == 0


def test_a_wheel_in_the_air_passes_over():
    """Thrown 25 m up, it is above the bump all the time."""
    stats = [
        height(wheel(road, 30.0, above=25.0), "dopri5", rtol=1e-4, max_step=1.0)[1] for road in (ix.Road.flat(), BUMP)
    ]
    assert stats[0]["steps"] == stats[1]["steps"]


def test_constant_steps_are_warned_of():
    with pytest.warns(UserWarning, match=r"A bump under Tyre 'tyre' was met and left again within the constant step"):
        height(wheel(BUMP, 30.0), "hht-i3", step=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        height(wheel(BUMP, 30.0), "hht-i3", step=0.005)
        height(wheel(BUMP, 30.0, above=25.0), "hht-i3", step=0.05)


@pytest.mark.parametrize(
    ("road", "low", "high", "expected"),
    [
        (BUMP, 20.0, 21.0, (0.05, 0.05, 0.25, 20.3, 20.8)),
        (BUMP, 20.6, 21.0, None),  # behind its peak
        (ix.Road.ramp(20.3, 0.5, 0.05), 20.0, 21.0, None),
        (ix.Road.half_cylinder(5.0, 0.1), 4.0, 6.0, (0.1, 0.1, 0.1, 4.9, 5.1)),
        (ix.Road.sine(2.0, 0.1), 3.0, 7.0, (-0.1, 0.1, 1.0, 3.0, 7.0)),
        (TABLE, 20.0, 21.0, (0.0, 0.05, 0.25, 20.3, 20.8)),
        (TABLE, 30.0, 40.0, None),
        (TABLE, 90.0, 110.0, (0.0, 0.0, np.inf, 110.0, 90.0)),  # level: no feature is short
    ],
)
def test_features(road, low, high, expected):
    row = np.zeros(1, ROAD_FIELDS).view(np.recarray)
    row[0] = road.record(0)
    found = feature(row[0], np.array(road.knots or [(0.0, 0.0, 0.0)]), low, high)
    if expected is None:
        assert found[0] > found[1]
    else:
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("method", ["hht-i3", "generalized-alpha", "bdf-i3"])
@pytest.mark.parametrize(("start", "depth"), [(20.3, -0.05), (20.41, -0.05), (20.3, 0.05)])
def test_the_speed_of_travel_is_no_measure_of_a_landing(method, start, depth):
    """A wheel lands behind a trough at 0.1 m/s: errors of v beside the 30 m/s of its travel left up to 3.5 of z."""
    model = wheel(ix.Road.bump(start, 0.5, depth), 30.0)
    exact, _ = height(model, "dop853", rtol=1e-9, max_step=1e-3)
    for rtol, part in ((1e-3, 0.2), (1e-4, 0.06)):  # 0.14 and 0.04 are the most seen, of bdf-i3
        assert np.abs(height(model, method, rtol=rtol)[0] - exact).max() < part * np.ptp(exact)


def test_rounding_at_rest_is_no_energy_from_nowhere():
    """A wheel at rest, its weight borne by its tyre, holds 569 J: 1e-13 J ended the run."""
    model = wheel(ix.Road.bump(20.3, 0.5, -0.05, speed=30.0), 0.0)
    result = ix.simulate(model, (0.0, 0.2), "dop853", rtol=1e-9, max_step=2e-4, t_eval=[0.2], progress=False)
    assert result.audit.ok
