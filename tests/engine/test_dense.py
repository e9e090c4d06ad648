"""Dense output: (q, v) at any time of a run, from the accepted steps."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import index3 as ix
from index3.engine.dense import DenseOutput

SPAN = (0.0, 1.0)


def oscillator():
    """A mass on a spring along x: x = 1 + cos(2 t) for k/m = 4, released 1 m beyond the free length of 1 m."""
    model = ix.Model("oscillator", gravity=(0, 0, 0))
    bob = model.add(ix.PointMass("bob", 1.0, position=(2.0, 0.0, 0.0)))
    points = ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    model.add(ix.SpringDamper("spring", model.ground, bob, points=points, stiffness=4.0, length=1.0))
    return model


@pytest.fixture(scope="module")
def four_bar():
    return ix.simulate(ix.library.four_bar(), SPAN, t_eval=0.1, dense_output=True)


def test_there_is_none_unless_asked_for():
    result = ix.simulate(ix.library.pendulum(), (0.0, 0.1))
    with pytest.raises(ix.ModelError, match=r"result.sol: .* no dense output.* dense_output=True"):
        _ = result.sol


def test_one_time_and_many(four_bar):
    q, v = four_bar.sol(0.35)
    assert q.shape == v.shape == (21,)
    qs, vs = four_bar.sol([0.1, 0.35, 0.9])
    assert qs.shape == vs.shape == (3, 21)
    np.testing.assert_array_equal(qs[1], q)
    np.testing.assert_array_equal(vs[1], v)


def test_covers_the_span_whatever_the_output_times():
    result = ix.simulate(oscillator(), SPAN, t_eval=[0.2, 0.4], dense_output=True)
    assert (result.sol.t_min, result.sol.t_max) == SPAN
    assert len(result.t) == 2
    assert len(result.sol.t) == result.stats["steps"] + 1


def test_output_and_steps_are_those_without_it():
    """Returning to Python after each step changes nothing."""
    model = ix.library.four_bar()
    plain, dense = (ix.simulate(model, SPAN, t_eval=0.1, dense_output=flag) for flag in (False, True))
    np.testing.assert_array_equal(dense.q, plain.q)
    counts = [{key: n for key, n in run.stats.items() if not key.startswith("seconds")} for run in (plain, dense)]
    assert counts[0] == counts[1]


def test_meets_the_steps_exactly():
    result = ix.simulate(oscillator(), SPAN, project=False, dense_output=True)
    q, v = result.sol(result.t)
    # rounding of the piecewise polynomials, of numbers up to 4
    np.testing.assert_allclose(q, result.q, atol=1e-14)
    np.testing.assert_allclose(v, result.v, atol=1e-12)


def test_agrees_with_output_between_steps():
    """Lines of output come from the same interpolation when they are not projected."""
    model = oscillator()
    result = ix.simulate(model, SPAN, "hht-i3", t_eval=0.01, project=False, dense_output=True)
    q, v = result.sol(result.t)
    np.testing.assert_allclose(q, result.q, atol=1e-13)  # rounding: two ways to evaluate one polynomial
    np.testing.assert_allclose(v, result.v, atol=1e-11)  # the same, divided by steps of some hundredths


def test_is_not_projected_but_close(four_bar):
    q, _ = four_bar.sol(four_bar.t)
    difference = np.abs(q - four_bar.q).max()
    assert 0.0 < difference < 1e-6  # of the size of the tolerance: rtol = 1e-6, coordinates of about 1


def observed_orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


@pytest.mark.parametrize(("derivatives", "order"), [(2, 4), (3, 6)])
def test_interpolation_error(derivatives, order):
    """Between exact steps: h^4 for q from (q, v), h^6 with a; one order less for v."""
    t_wanted, in_q, in_v = np.linspace(0.0, 1.0, 333), [], []
    for count in (5, 10, 20):
        t = np.linspace(0.0, 1.0, count + 1)
        waves = (np.cos(5 * t), -5 * np.sin(5 * t), -25 * np.cos(5 * t))
        q, v = DenseOutput(t, np.stack(waves[:derivatives], axis=1)[:, :, None])(t_wanted)
        in_q.append(np.abs(q[:, 0] - np.cos(5 * t_wanted)).max())
        in_v.append(np.abs(v[:, 0] + 5 * np.sin(5 * t_wanted)).max())
    # 0.3: h = 0.2 resolves a wave of period 1.3 only roughly, and the largest error is sampled
    np.testing.assert_allclose(observed_orders(in_q), order, atol=0.3)
    np.testing.assert_allclose(observed_orders(in_v), order - 1, atol=0.3)


def test_a_run_of_second_order_stays_so_between_steps():
    t, errors = np.linspace(0.0, 1.0, 333), []
    for step in (0.02, 0.01, 0.005):
        result = ix.simulate(oscillator(), SPAN, "hht-i3", step=step, dense_output=True)
        errors.append(np.abs(result.sol(t)[0][:, 0] - 1.0 - np.cos(2.0 * t)).max())
    np.testing.assert_allclose(observed_orders(errors), 2.0, atol=0.2)  # spread of two halvings


def test_rates_are_the_derivative_of_coordinates(four_bar):
    t, h = np.linspace(0.05, 0.95, 37), 1e-6
    difference = (four_bar.sol(t + h)[0] - four_bar.sol(t - h)[0]) / (2 * h)
    # rounding 1e-16 / 1e-6; second derivatives jump at steps by the error of a step
    np.testing.assert_allclose(four_bar.sol(t)[1], difference, atol=1e-6)


@pytest.mark.parametrize("t", [-1e-9, 1.0 + 1e-9, math.nan, [0.5, 2.0]])
def test_outside_the_span_is_an_error(four_bar, t):
    with pytest.raises(ix.ModelError, match=r"sol: a time is outside the run, 0 to 1 s"):
        four_bar.sol(t)


def test_a_table_of_times_is_an_error(four_bar):
    with pytest.raises(ix.ModelError, match="2 dimensions"):
        four_bar.sol(np.zeros((2, 2)))


@pytest.mark.parametrize("value", [1, "yes", None])
def test_setting_must_be_a_bool(value):
    with pytest.raises(ix.ModelError, match=r"dense_output = .* Choose True or False"):
        ix.simulate(ix.library.pendulum(), (0.0, 0.1), dense_output=value)


def test_pickles_but_is_not_saved(four_bar, tmp_path):
    again = pickle.loads(pickle.dumps(four_bar))
    np.testing.assert_array_equal(again.sol(0.5)[0], four_bar.sol(0.5)[0])
    four_bar.save(tmp_path / "run.nc")
    with pytest.raises(ix.ModelError, match="not written to files"):
        _ = ix.Result.load(tmp_path / "run.nc").sol


def test_a_stopped_run_keeps_what_it_has():
    result = ix.simulate(oscillator(), SPAN, callback=lambda t, q, v: t > 0.5, dense_output=True)
    assert result.t[-1] > 0.5
    assert result.sol.t_max == result.t[-1]


def test_quintic_through_accelerations():
    """Methods with accelerations at both ends: exact for polynomials of degree five."""
    t = np.array([0.0, 0.5, 2.0])
    p = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0, -1.0, 0.25])
    states = np.stack([p(t), p.deriv()(t), p.deriv(2)(t)], axis=1)[:, :, None]
    q, v = DenseOutput(t, states)(np.array([0.25, 1.0, 1.9]))
    np.testing.assert_allclose(q[:, 0], p(np.array([0.25, 1.0, 1.9])), rtol=1e-12)  # rounding
    np.testing.assert_allclose(v[:, 0], p.deriv()(np.array([0.25, 1.0, 1.9])), rtol=1e-12)


def settling() -> ix.Model:
    """Two masses that stand on each other and on the floor, on stiff damped springs."""
    model = ix.Model("settling")
    low, high = (model.add(ix.PointMass(name, mass)) for name, mass in (("low", 1.0), ("high", 4.0)))
    low.position, high.position = (0, 0, 0.1), (0, 0, 0.3)
    for body, z in ((low, 0.1), (high, 0.3)):
        model.add(ix.Inline(f"guide of {body.name}", model.ground, body, at=(0, 0, z), axis=(0, 0, 1)))
    floor = ix.Curve.from_function(lambda x: -1e6 * max(-x, 0.0) ** 1.5, lambda x: 1.5e6 * max(-x, 0.0) ** 0.5)
    below, between = ((0, 0, 0), (0, 0, 0.1)), ((0, 0, 0.1), (0, 0, 0.3))
    model.add(ix.SpringDamper("floor", model.ground, low, points=below, stiffness=floor, damping=300.0, length=0.1))
    model.add(ix.SpringDamper("joint", low, high, points=between, stiffness=1e6, damping=400.0, length=0.2))
    return model


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("method", ["radau5", "bdf-i3", "generalized-alpha", "descriptor-sdirk4", "al-index3"])
def test_nothing_moves_between_steps_over_a_rest(method, dense):
    """Steps of seconds over what vibrates at 1000 rad/s: rounding in accelerations is not the motion."""
    t = np.arange(0.0, 20.0, 0.25)
    result = ix.simulate(settling(), (0.0, 20.0), method, rtol=1e-3, t_eval=t, dense_output=True)
    z = result.sol(t)[0][:, 2] if dense else result["low"].position[:, 2]
    # the error allowed in a step; radau5 was at most 1.03 of it off at 500 tolerances from 5e-5 to 3e-3
    np.testing.assert_allclose(z[4:], 0.1 - (5 * 9.80665 / 1e6) ** (2 / 3), rtol=0, atol=1e-5 + 1e-3 * 0.1)
    assert np.ptp(result.energy.balance[4:]) < 0.01  # J, of 0.1 J while it settles


@pytest.mark.parametrize(("method", "limit"), [("dop853", 3e-5), ("adams", 6e-5), ("dopri5", 2e-5)])
def test_long_steps_are_as_accurate_inside_as_at_their_ends(method, limit):
    """13 steps of dop853 for ten radians of a vibration: ends are off by 7e-6, inside it was 4.5e-4."""
    model = ix.Model("states")
    block = model.add(ix.States("x", (1.0, 0.0)))

    def f(t, r, A, v, w, p, out, x, rate):
        rate[0], rate[1] = x[1], -x[0]

    model.add(ix.UserForce("spring", model.ground.marker(), f, states=block))
    result = ix.simulate(model, (0.0, 10.0), method, rtol=1e-5, dense_output=True)
    times = np.linspace(0.0, 10.0, 501)
    x = result.sol(times)[1]
    assert np.max(np.abs(x[:, 0] - np.cos(times))) < limit
    assert result.sol(result.t)[1] == pytest.approx(result.v, abs=1e-13)
    assert result.sol(result.t[1:-1] - 1e-9)[1] == pytest.approx(result.sol(result.t[1:-1] + 1e-9)[1], abs=1e-8)


def test_steps_before_a_change_of_the_method_are_asked_of_the_old_one():
    """`auto` goes on with dop853 after 100 steps; its tables know nothing of the last one of dopri5 (a crash)."""
    model = ix.Model("states")
    block = model.add(ix.States("x", (1.0, 0.0)))

    def f(t, r, A, v, w, p, out, x, rate):
        rate[0], rate[1] = x[1], -x[0]

    model.add(ix.UserForce("spring", model.ground.marker(), f, states=block))
    result = ix.simulate(model, (0.0, 200.0), dense_output=True, events=lambda t, state: state.states["x"][0] - 0.1)
    assert "from t = " in result.message
    times = np.linspace(0.0, 200.0, 2001)
    assert np.max(np.abs(result.sol(times)[1][:, 0] - np.cos(times))) < 1e-4


@pytest.mark.parametrize(
    "method", ["hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "al-index3", "tlismni-hht", "radau5"]
)
def test_first_order_states_inside_long_steps(method):
    """A ball that falls and bounces (BouncingBall of the Reference FMUs), written as two states: steps of a tenth of a
    second are exact, but what is inside followed from integrals of the states that no error test sees: 3 to 6 cm off
    in 1 m, with success, and `hht-i3` bounced 14 times in place of 4.
    """
    model = ix.Model("ball")
    block = model.add(ix.States("ball", (1.0, 0.0)))

    def fall(t, r, A, v, w, p, out, x, rate):
        rate[0], rate[1] = x[1], -9.81

    def floor(t, state):
        return state.states["ball"][0]

    def bounce(switch):
        switch.v[1] *= -0.7

    floor.direction, floor.action = -1, bounce
    model.add(ix.UserForce("fall", model.ground.marker(), fall, states=block))
    times = np.linspace(0.0, 0.45, 46)
    result = ix.simulate(model, (0.0, 0.45), method, t_eval=times, dense_output=True)
    height = 1.0 - 0.5 * 9.81 * times**2
    assert np.abs(result.states["ball"][:, 0] - height).max() < 1e-5  # some errors allowed, 1e-6
    assert np.abs(result.sol(times)[1][:, 0] - height).max() < 1e-5
    bounces = ix.simulate(model, (0.0, 2.0), method, events=floor).t_events[0]
    first, flights = np.sqrt(2.0 / 9.81), 2.0 * np.sqrt(2.0 / 9.81) * 0.7 ** np.arange(1.0, 4.0)
    assert bounces == pytest.approx(first + np.concatenate([[0.0], np.cumsum(flights)]), abs=1e-5)
