"""First-order states beside the motion: closed solutions, every method, implicit equations, files, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix
from index3.forces.user_equations import SINGULAR, inverse_of

LAG = 0.5  # time constant [s]


def lagged_spring(t, r, A, v, w, p, out, x, rate):
    """A spring that sees the position through a first-order lag."""
    rate[0] = (r[0, 0] - x[0]) / p[0]
    out[0, 0] = -4.0 * x[0]


def lagged_spring_jacobian(t, r, A, v, w, p, K, D, x):
    K[6, 0] = 1.0 / p[0]
    D[6, 6] = -1.0 / p[0]
    D[0, 6] = -4.0


def lagged_model(jacobian="differences"):
    model = ix.Model("lag", gravity=(0, 0, 0))
    mass = model.add(ix.PointMass("mass", 1.0, position=(1, 0, 0)))
    lag = model.add(ix.States("lag", (0.2,), names=("seen",)))
    model.add(ix.UserForce("spring", mass, lagged_spring, (LAG,), jacobian, states=lag))
    return model


@pytest.fixture(scope="module")
def exact():
    """Position and state at t = 2 by SciPy, to 1e-11."""
    rates = lambda t, y: [y[1], -4.0 * y[2], (y[0] - y[2]) / LAG]  # noqa: E731
    y = solve_ivp(rates, (0.0, 2.0), [1.0, 0.0, 0.2], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return y[0], y[2]


@pytest.mark.parametrize("method", ix.METHODS)
def test_every_method_integrates_states(method, exact):
    """Constant steps of 2 ms: what is left is the error of the formula, below that of order 1 with a margin."""
    result = ix.simulate(lagged_model(), (0.0, 2.0), method, step=2e-3)
    assert result.success, result.message
    assert result["mass"].position[-1, 0] == pytest.approx(exact[0], abs=2e-5)
    assert result.states["lag"][-1, 0] == pytest.approx(exact[1], abs=2e-5)


@pytest.mark.parametrize(
    "method", ["hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5", "dopri5", "firstorder-sdirk4"]
)
def test_error_of_states_follows_the_tolerance(method, exact):
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8):
        result = ix.simulate(lagged_model(lagged_spring_jacobian), (0.0, 2.0), method, rtol=rtol)
        errors.append(abs(result.states["lag"][-1, 0] - exact[1]))
    # a second-order method with a third-order estimate gains 10^(2/3) per decade: 21 per two decades; half for chance
    assert errors[1] < errors[0] / 8
    assert errors[2] < errors[1] / 8


def test_hht_is_of_second_order_in_states(exact):
    """S2-20: States are velocities of their integrals, so that Newmark's formulas apply."""
    errors = []
    for step in (0.02, 0.01, 0.005):
        result = ix.simulate(lagged_model(lagged_spring_jacobian), (0.0, 2.0), "hht-i3", step=step, alpha=-0.1)
        errors.append(abs(result.states["lag"][-1, 0] - exact[1]))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.1), orders  # terms of the next order at these steps


def test_a_state_alone_decides_the_step():
    """S2-03: A fast filter on a body at rest: nothing moves, only the state, and it is followed."""
    model = ix.Model("filter", gravity=(0, 0, 0))
    mass = model.add(ix.PointMass("mass", 1.0))
    block = model.add(ix.States("filter", (1.0,)))

    def decay(t, r, A, v, w, p, out, x, rate):
        rate[0] = -10.0 * x[0]

    model.add(ix.UserForce("decay", mass, decay, jacobian="differences", states=block))
    for method in ("hht-i3", "bdf-i3", "dopri5", "adams"):
        result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-6, t_eval=0.1)
        # hundred times the tolerance of 1e-6 of the largest value, 1, as for positions
        assert np.abs(result.states["filter"][:, 0] - np.exp(-10.0 * result.t)).max() < 1e-4, method


def test_more_states_than_one_marker_carries():
    """Eight states in a ring, against the exponential of its matrix."""
    ring = np.roll(np.eye(8), 1, axis=1) - np.eye(8)
    model = ix.Model("ring")
    mass = model.add(ix.PointMass("mass", 1.0))
    start = np.arange(8.0)
    block = model.add(ix.States("ring", start))

    def flow(t, r, A, v, w, p, out, x, rate):
        rate[:] = ring @ x

    model.add(ix.UserForce("flow", mass, flow, jacobian="differences", states=block))
    values, vectors = np.linalg.eig(ring)
    exact = (vectors * np.exp(values)) @ np.linalg.solve(vectors, start)
    for method in ("dopri5", "hht-i3"):
        result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-8)
        assert result.states["ring"].shape[1] == 8
        # values up to 7; a second-order method with a third-order estimate is off by rtol^(2/3) = 5e-6 of that
        assert np.abs(result.states["ring"][-1] - exact.real).max() < 7 * 5e-6, method


def test_pid_controller_meets_its_set_point():
    """S2-03: A weight that only the integral part can carry; closed loop s^3 + 6 s^2 + 11 s + 6, poles -1, -2, -3."""
    model = ix.Model("pid", gravity=(0, 0, -10.0))
    mass = model.add(ix.PointMass("mass", 1.0))
    integral = model.add(ix.States("integral", (0.0,)))

    def control(t, r, A, v, w, p, out, x, rate):
        error = p[0] - r[0, 2]
        rate[0] = error
        out[0, 2] = 11.0 * error - 6.0 * v[0, 2] + 6.0 * x[0]

    model.add(ix.UserForce("control", mass, control, (1.0,), "differences", states=integral))
    result = ix.simulate(model, (0.0, 3.0), "dopri5", rtol=1e-8, t_eval=0.1)
    system = np.array([[0.0, 1.0, 0.0], [-11.0, -6.0, 6.0], [-1.0, 0.0, 0.0]])  # of (z - 1, z', x - 10/6)
    values, vectors = np.linalg.eig(system)
    modes = np.linalg.solve(vectors, [-1.0, 0.0, -10.0 / 6.0])
    exact = np.array([(vectors * np.exp(values * t)) @ modes for t in result.t]).real
    assert np.abs(result["mass"].position[:, 2] - 1.0 - exact[:, 0]).max() < 1e-6  # a hundred times the tolerance
    assert np.abs(result.states["integral"][:, 0] - 10.0 / 6.0 - exact[:, 2]).max() < 1e-6


def test_implicit_equations_and_a_loop_of_variables():
    """S2-03, S2-04: 2 x' + x' z0 = -x with a loop z0 = cos(z1), z1 = sin(z0) / 2: x decays at rate 1 / (2 + z0)."""
    z = 0.7
    for _ in range(100):
        z = math.cos(0.5 * math.sin(z))
    model = ix.Model("loop")
    mass = model.add(ix.PointMass("mass", 1.0))
    block = model.add(ix.States("x", (1.0,)))

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = 2.0 * rate[0] + rate[0] * z[0] + x[0]
        res[1] = z[0] - math.cos(z[1])
        res[2] = z[1] - 0.5 * math.sin(z[0])
        out[0, 0] = z[0]

    model.add(ix.UserEquations("loop", mass, residual, states=block, variables=(0.5, 0.5)))
    for method in ("dopri5", "hht-i3", "radau5", "hem4", "rosenbrock4"):
        result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-8)
        # rtol^(2/3) for the second-order method, less for the others
        assert result.states["x"][-1, 0] == pytest.approx(math.exp(-1.0 / (2.0 + z)), abs=5e-6), method
        assert result["mass"].acceleration[-1, 0] == pytest.approx(z, abs=1e-10), method


def test_copies_of_equations_are_apart():
    model = ix.Model("copy")
    mass = model.add(ix.PointMass("mass", 1.0))

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = z[0] - p[0]
        out[0, 0] = z[0]

    model.add(ix.UserEquations("push", mass, residual, variables=(0.0,), parameters=(3.0,)))
    other = model.copy()
    other["push"].parameters[:] = 5.0
    accelerations = [ix.simulate(m, (0.0, 0.1), "dopri5")["mass"].acceleration[-1, 0] for m in (model, other)]
    assert accelerations == pytest.approx([3.0, 5.0])


def test_equations_start_anew_with_every_run():
    model, seen = ix.Model("twice"), []
    mass = model.add(ix.PointMass("mass", 1.0))

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        seen.append(float(z[0]))
        res[0] = z[0] ** 2 - 4.0

    model.add(ix.UserEquations("root", mass, residual, variables=(1.0,)))
    for _ in range(2):
        seen.clear()
        ix.simulate(model, (0.0, 0.1), "dopri5")
        assert seen[0] == 1.0
        assert seen[-1] == pytest.approx(2.0, abs=1e-12)  # of the iteration


def test_units_of_equations_do_not_matter():
    """A capacitance of 1 pF beside a pressure of 1e6 Pa: the equations were said to leave a rate open."""
    model = ix.Model("units")
    block = model.add(ix.States("charge", (1.0,)))

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = 1e-12 * rate[0] + 1e-12 * x[0]
        res[1] = 1e6 * (z[0] - x[0])

    model.add(ix.UserEquations("circuit", model.ground.marker(), residual, states=block, variables=(1.0,)))
    result = ix.simulate(model, (0.0, 1.0), t_eval=[1.0])
    assert result.states["charge"][-1, 0] == pytest.approx(math.exp(-1.0), abs=1e-6)


def test_equations_with_large_terms_are_solved_to_their_rounding():
    model = ix.Model("large")
    mass = model.add(ix.PointMass("mass", 1.0))

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = (3e6 + z[0] * (1.0 + z[1])) ** 2 - 9e12 - 1.8000000007e6  # with errors of 2e-3: those of z are 3e-10
        res[1] = z[1] - 0.1 * math.sin(z[0])
        out[0, 0] = z[0]

    model.add(ix.UserEquations("law", mass, residual, variables=(1.0, 0.0)))
    result = ix.simulate(model, (0.0, 0.1), "dopri5", t_eval=[0.0])
    z = result["mass"].acceleration[0, 0]
    assert z * (1.0 + 0.1 * math.sin(z)) == pytest.approx(0.3, abs=1e-6)


def test_corrections_are_cut_short_where_the_residual_has_no_value():
    """A full correction from 10 ends at -13, where there is no logarithm, and the next one of exp overflows."""
    model = ix.Model("short")
    mass = model.add(ix.PointMass("mass", 1.0))

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = math.log(z[0])
        res[1] = math.exp(50.0 * z[1]) - 1e3
        out[0, :2] = z

    model.add(ix.UserEquations("law", mass, residual, variables=(10.0, 0.05)))
    result = ix.simulate(model, (0.0, 0.1), "dopri5")
    assert result["mass"].acceleration[-1, :2] == pytest.approx([1.0, math.log(1e3) / 50.0], abs=1e-10)


def test_equations_that_nothing_moves_do_no_work():
    """In a model of states alone no power is asked for: a quarter of the calls less."""
    model, calls = ix.Model("calm"), []
    block = model.add(ix.States("x", (1.0,)))

    def decay(t, r, A, v, w, p, out, x, rate):
        calls.append(t)
        rate[0] = -x[0]

    force = model.add(ix.UserForce("decay", model.ground.marker(), decay, states=block))
    assert force.conservative
    assert not ix.UserForce("other", ix.PointMass("ball", 1.0), decay, states=block).conservative
    assert ix.simulate(model, (0.0, 5.0), "radau5").stats["work_evaluations"] == 0


@pytest.mark.parametrize("ratio", [1.0, 1e-9, 2e-13, 5e-14, 0.0])
def test_inverses_are_told_from_singular_matrices(ratio, monkeypatch):
    """As by singular values, which are only asked for where a bound of their ratio is too large."""
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    matrix = turn @ np.diag([3.0, 3.0 * ratio]) @ turn
    inverse = inverse_of(matrix)
    assert (inverse is None) == (ratio < SINGULAR)
    if ratio > 1e-10:
        monkeypatch.setattr(np.linalg, "svd", None)  # not called
        assert inverse_of(matrix) @ matrix == pytest.approx(np.eye(2), abs=1e-6)


def test_equations_that_leave_a_rate_open():
    """S2-03: Equations that do not fix a rate are an error with a name."""
    model = ix.Model("open")
    mass = model.add(ix.PointMass("mass", 1.0))
    block = model.add(ix.States("x", (1.0,)))

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = x[0] - math.cos(t)  # says nothing about the rate

    model.add(ix.UserEquations("bad", mass, residual, states=block))
    with pytest.raises(ix.Index3Error, match=r"UserEquations 'bad'.*do not determine an unknown"):
        ix.simulate(model, (0.0, 1.0), "dopri5")


def test_states_in_files_and_plots(tmp_path):
    result = ix.simulate(lagged_model(), (0.0, 0.5), "dopri5", t_eval=0.1)
    result.save(tmp_path / "run.nc")
    again = ix.Result.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.states["lag"], result.states["lag"])
    result.to_csv(tmp_path / "run.csv", ["lag.seen"])
    assert (tmp_path / "run.csv").read_text().startswith("time,lag.seen")
    result.to_html(tmp_path / "run.html")
    with pytest.raises(KeyError, match=r".states\['lag'\]"):
        result["lag"]


def test_counts_leave_states_out():
    check = lagged_model().check()
    assert (check.bodies, check.coordinates, check.dof, check.states) == (1, 3, 3, 1)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ix.States("x", ()), "has no states"),
        (lambda: ix.States("x", 1.0), "Give a list"),
        (lambda: ix.States("x", (math.nan,)), "initial"),
        (lambda: ix.States("x", (1.0, 2.0), names=("a",)), "Give 2 different strings"),
        (lambda: ix.States("x", (1.0,)).marker((0, 0, 0)), "no place in space"),
        (lambda: ix.UserForce("f", ix.PointMass("b", 1.0), lagged_spring), "other arguments"),
        (lambda: ix.UserForce("f", ix.PointMass("b", 1.0), lagged_spring, states=3), "Give a block"),
        (lambda: ix.UserEquations("f", ix.PointMass("b", 1.0), lagged_spring), "neither states nor variables"),
    ],
)
def test_bad_input(make, match):
    with pytest.raises(ix.ModelError, match=match):
        make()


def test_states_of_another_model_are_refused():
    model = ix.Model("one")
    mass = model.add(ix.PointMass("mass", 1.0))
    with pytest.raises(ix.ModelError, match="States 'x', which is not in model 'one'"):
        model.add(ix.UserForce("f", mass, lagged_spring, states=ix.States("x", (0.0,))))


@pytest.mark.parametrize("method", sorted(ix.METHODS))
def test_rates_are_closed_to_rounding_beside_a_large_state(method):
    """A pressure of 1e8 Pa says nothing about the rounding of rows that do not read it."""
    model = ix.library.double_pendulum()
    model.add(ix.States("pressure", (1e8,)))
    result = ix.simulate(model, (0.0, 0.5), method, rtol=1e-4, t_eval=0.013)
    assert result.violation.scaled.velocity.max() < 1e-11  # 1e-12 seen; 1e-7 to 8e-6, with warnings, when it did
