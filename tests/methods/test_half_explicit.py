"""Half-explicit Runge-Kutta: its formula, order, tolerance, constraints that move, and what it does without."""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import Stepper, check_falling_rod, orders, skate_errors
from thesis_formulas import order_conditions

import index3 as ix
from index3.compiled import slots as s
from index3.methods.explicit.half_explicit_method import error_weights
from index3.methods.explicit.tableaus import HEM4
from index3.system import evaluate

KEY = "hem4"


def test_formula():
    """Order 4 for ordinary equations; every row has what its linear system is divided by."""
    a, _ = HEM4.dense()
    A, b = a[:-1], a[-1]
    assert np.allclose(A.sum(axis=1), HEM4.nodes, rtol=0, atol=1e-14)  # rounding
    assert max(order_conditions(A, b).values()) < 1e-14
    assert np.abs(np.diag(a[1:])).min() > 0.04


def test_estimate_is_zero_for_accelerations_of_degree_two():
    weights, nodes = error_weights(), np.array(HEM4.nodes)
    for degree in range(3):
        assert weights @ nodes**degree == pytest.approx(0.0, abs=1e-14)  # rounding
    assert abs(weights @ nodes**3) > 1e-3
    assert weights[1] == 0.0  # the second stage is of low order


@pytest.mark.parametrize(("method", "same"), [(ix.Hem4(), True), (ix.Dopri5(), False)])
def test_motion_does_not_depend_on_acceleration_constraints(method, same):
    """A-07: with an evaluator that never fills gamma the steps are the same; those of dopri5 are not."""
    ends = []
    for broken in (False, True):
        stepper = Stepper(ix.library.free_double_pendulum(), method)
        if broken:
            own = stepper.state[s.CORE].copy()  # other states of the structure share it
            own[[s.CORE_LEVELS, s.CORE_GAMMA]] = evaluate.rates.address
            stepper.state.table[s.CORE] = own
        for _ in range(10):
            stepper.step(0.01)
        ends.append(np.concatenate([stepper.q, stepper.v]))
    assert np.array_equal(*ends) == same


@pytest.mark.parametrize("stages", ["free", "closed"])
def test_order_on_a_chain(stages):
    """Order 4 in q and v, with stages off the position constraints and on them."""
    model, errors = ix.library.chain(3), []
    exact = ix.simulate(model, (0, 0.5), "dop853", rtol=1e-13, atol=1e-14, t_eval=[0.5])
    for count in (40, 80, 160):
        result = ix.simulate(model, (0, 0.5), KEY, step=0.5 / count, t_eval=[0.5], project=False, stages=stages)
        assert result.violation.scaled.position.max() < 1e-12  # A-07 asks for this of the velocities
        assert result.violation.scaled.velocity.max() < 1e-12
        errors.append([np.linalg.norm(getattr(result, x)[-1] - getattr(exact, x)[-1]) for x in ("q", "v")])
    seen = orders(np.array(errors))
    print(stages, errors, seen)
    assert np.all(np.abs(seen[-1] - 4.0) < 0.3)


@pytest.mark.parametrize("name", ["andrews", "free_double_pendulum"])
def test_tolerance_sets_the_error(name):
    model, end = getattr(ix.library, name)(), {"andrews": 0.02}.get(name, 1.0)
    times, tolerances = np.linspace(0, end, 21), 10.0 ** -np.arange(3, 8)
    exact = ix.simulate(model, (0, end), "dop853", rtol=1e-11, atol=1e-12, t_eval=times).q
    runs = [ix.simulate(model, (0, end), KEY, rtol=rtol, atol=rtol / 100, t_eval=times) for rtol in tolerances]
    errors = np.array([np.abs(result.q - exact).max() for result in runs])
    fit = np.polyfit(np.log(tolerances), np.log(errors), 1)
    away = np.exp(np.abs(np.polyval(fit, np.log(tolerances)) - np.log(errors)).max())
    print(name, fit[0], away, errors / tolerances)
    assert np.all(np.diff(errors) < 0)
    assert 0.85 <= fit[0] <= 1.2  # a pair of orders 4 and 3: 1
    assert away <= 3.0


def test_velocity_level_rows_keep_the_order():
    seen = orders(skate_errors(KEY, (20, 40, 80)))
    print(seen)
    assert seen[-1] > 3.7


@pytest.mark.jit_off
def test_a_few_steps_of_a_spatial_pendulum():
    check_falling_rod(KEY)


def test_work_counts():
    """Five factorisations for the stages, one for the end, one at the start."""
    stats = ix.simulate(ix.library.free_double_pendulum(), (0, 1), KEY, step=0.01).stats
    assert stats["factorisations"] == 6 * stats["steps"] + 1
    free = ix.simulate(ix.library.free_double_pendulum(), (0, 1), KEY, rtol=1e-6).stats
    assert free["rejected"] < 0.15 * free["steps"]


@pytest.mark.parametrize(
    ("options", "words"), [({"stages": "some"}, "stages = 'some'"), ({"newton_tol": 1.0}, "newton_tol")]
)
def test_options_out_of_range_are_refused(options, words):
    with pytest.raises(ix.errors.ModelError, match=words):
        ix.simulate(ix.library.free_double_pendulum(), (0, 1), KEY, **options)
