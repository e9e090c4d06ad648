"""HHT-I3: order, damping, error estimate, control, corrector, work counts."""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import Stepper, orders, oscillator

import index3 as ix
from index3.compiled import slots as s
from index3.methods import run
from index3.methods.direct import hht
from index3.system import evaluate

SPAN = 0.5


@pytest.fixture(scope="module")
def chain():
    return ix.library.chain(3, springs=True)


@pytest.fixture(scope="module")
def reference(chain):
    return constant_steps(chain, 16000, project=True)  # its own multipliers carry rounding of 1e-16 / h^2


def constant_steps(model, count, **options):
    options = {"alpha": -0.1, **options}
    options = {"project": False, **options}
    result = ix.simulate(model, (0, SPAN), "hht-i3", step=SPAN / count, t_eval=[SPAN], **options)
    assert result.success, result.message
    return result.q[-1], result.v[-1], result.lam[-1]


def table_of_errors(model, reference, counts, **options):
    runs = [constant_steps(model, count, **options) for count in counts]
    return np.array([[np.linalg.norm(x - y) for x, y in zip(run_, reference, strict=True)] for run_ in runs])


def test_second_order_in_q_v_and_lam(chain, reference):
    """S2-17, S2-18: With mass matrix, forces and acceleration of one instant; constant steps."""
    seen = orders(table_of_errors(chain, reference, (100, 200, 400, 800)))
    assert np.all(np.abs(seen - 2.0) < 0.1)  # the reference has 0.25 % of the finest error


def test_printed_mass_term_is_first_order(chain, reference):
    """S2-18: The printed pairing of M and a costs one order with Euler parameters."""
    seen = orders(table_of_errors(chain, reference, (800, 1600, 3200), mass="end"))
    assert seen[-1, 1] < 1.3  # towards 1: M(q_{n+1}) meets an acceleration of t_{n+1} + alpha h


@pytest.mark.parametrize(("rtol", "most"), [(1e-3, 0.1), (1e-4, 0.03), (1e-6, 2e-3)])
def test_a_slender_rod_does_not_turn_about_its_own_axis(rtol, most):
    """On a ball joint, its inertia about that axis 6e-4 of the others; with forces of two configurations it was off by
    0.55, 0.70 and 0.05, by 2 rad/s."""
    model = ix.Model("arm and rod")
    arm = model.add(ix.RigidBody.rod("arm", (0, 0, 0), (1, 0, 0), mass=1.0))
    rod = model.add(ix.RigidBody.rod("rod", (1, 0, 0), (1.5, 0.3, 0.2), mass=0.3))
    model.add(ix.Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Spherical("ball", arm, rod, at=(1, 0, 0)))
    exact = ix.simulate(model, (0.0, 2.0), "dop853", rtol=1e-10, t_eval=0.1)
    found = ix.simulate(model, (0.0, 2.0), "hht-i3", rtol=rtol, t_eval=0.1)
    assert np.abs(found.q - exact.q).max() < most  # 0.064, 0.019 and 9e-4; generalized-alpha 0.053, 0.022 and 1e-3
    turn = np.einsum("ni,nij->nj", found["rod"].angular_velocity, found["rod"].rotation)[:, 0]
    assert np.abs(turn).max() < 0.05 * np.abs(found["rod"].angular_velocity).max()


@pytest.mark.parametrize(("shift", "low", "high"), [(True, 1.9, 2.1), (False, 0.8, 1.3)])
def test_order_with_alternating_steps(chain, reference, shift, low, high):
    """Steps 1:2 keep second order with the shifted acceleration, and lose it without."""
    errors = []
    for count in (150, 300, 600):
        stepper = Stepper(chain, ix.HHT(alpha=-0.1, shift=shift))
        for _ in range(count):
            stepper.step(SPAN / (1.5 * count))
            stepper.step(SPAN / (3.0 * count))
        errors.append((np.linalg.norm(stepper.q - reference[0]), np.linalg.norm(stepper.v - reference[1])))
    seen = orders(np.array(errors))
    velocity = seen[-1, 1]
    assert low < velocity < high
    if shift:
        assert np.all(np.abs(seen - 2.0) < 0.1)


def recurrence(positions):
    """Coefficients of the linear recurrence over four positions, and its largest mismatch relative to each position."""
    x = np.array(positions)
    rows = np.stack([x[2:-1], x[1:-2], x[:-3]], axis=1) / np.abs(x[:-3])[:, None]
    right = x[3:] / np.abs(x[:-3])
    coefficients, *_ = np.linalg.lstsq(rows, right, rcond=None)
    return coefficients, np.abs(rows @ coefficients - right).max()


@pytest.mark.parametrize("alpha", [0.0, -0.1, -0.3, -1.0 / 3.0])
def test_spectral_radius_at_infinity(alpha):
    """S2-17: A very stiff oscillator shrinks by (1 + alpha)/(1 - alpha) per step in the end."""
    # a small start: the acceleration of a large one would predict the mass beyond the spring's other end
    stepper, positions = Stepper(oscillator(1e9, x=1e-7), ix.HHT(alpha=alpha)), []
    for _ in range(12):
        stepper.step(1e-2)
        positions.append(stepper.q[0])
    coefficients, _ = recurrence(positions)
    seen = np.abs(np.roots([1.0, *-coefficients])).max()
    # the root is double: rounding of 1e-7 (positions 1e-7, spring 10 m) moves it by some 1e-3,
    # a triple one (alpha = -1/3) by 1e-2
    assert seen == pytest.approx((1 + alpha) / (1 - alpha), abs=0.03)


@pytest.mark.parametrize(("alpha", "ratio"), [(0.0, 1.0), (-0.1, 1.37), (-0.3, 1.74)])
def test_error_estimate_against_true_local_error(alpha, ratio):
    """S2-24: C h^2 (a1 - a0) over (1/12 + alpha^2/4) h^3 q''' is 1, 1.37, 1.74; in the first step it is 1."""
    h, omega = 1e-3, 3.0
    stepper = Stepper(oscillator(omega**2, x=0.0, speed=0.1), ix.HHT(alpha=alpha))
    beta = (1 - alpha) ** 2 / 4
    constant = beta - 1 / (6 * (1 + alpha))
    for k in range(3):
        before = stepper.table[hht.PAST_A][0, 0]
        stepper.step(h)
        estimate = constant * h**2 * (stepper.table[hht.PAST_A][0, 0] - before)
        if k == 0:
            true = 0.1 / omega * np.sin(omega * h) - stepper.q[0]
            assert abs(abs(estimate / true) - 1.0) < 0.02  # h omega = 3e-3, next term relative h omega
    t = 2.5 * h
    jerk = 0.1 * omega**2 * np.cos(omega * t)
    true = (1 / 12 + alpha**2 / 4) * h**3 * jerk
    assert abs(abs(estimate / true) - ratio) < 0.05 * ratio  # 5 %: the ledger's allowance


@pytest.mark.parametrize(("alpha", "ratio"), [(0.0, 1.0), (-0.1, 1.37), (-0.3, 1.74)])
def test_error_estimate_of_a_flexible_body(alpha, ratio):
    """S3-19: as S2-24 with the constant mass of absolute nodal coordinates: all 18 of a soft pendulum, after 0.02 s."""
    h, count = 1e-4, 200
    model = ix.library.ancf_pendulum(2e5)
    stepper = Stepper(model, ix.HHT(alpha=alpha))
    for _ in range(count):
        before = stepper.table[hht.PAST_A][0].copy()
        stepper.step(h)
    constant = (1 - alpha) ** 2 / 4 - 1 / (6 * (1 + alpha))
    estimate = constant * h**2 * (stepper.table[hht.PAST_A][0] - before)
    times = (count - 0.5 + np.array([-1.0, 0.0])) * h
    exact = ix.simulate(model, (0, count * h), "dop853", rtol=1e-11, atol=1e-13, t_eval=times)
    true = (1 / 12 + alpha**2 / 4) * h**2 * (exact.a[1] - exact.a[0])
    seen = estimate @ true / (true @ true)
    assert np.linalg.norm(estimate - seen * true) < 0.02 * np.linalg.norm(estimate)  # in the right coordinates
    assert seen == pytest.approx(ratio, rel=0.05)  # that of S2-24; h omega up to 0.05


def test_multipliers_oscillate_without_damping():
    """alpha = 0 leaves a sign-alternating part in lam; -0.3 removes it (S2-49)."""
    rough = {}
    for alpha in (0.0, -0.3):
        result = ix.simulate(ix.library.slider_crank(), (0, 0.2), "hht-i3", step=1e-3, project=False, alpha=alpha)
        second = np.diff(result.lam[100:], n=2, axis=0)
        alternating = second[1:] * second[:-1] < 0
        rough[alpha] = np.abs(second).max() * alternating.mean()
    assert rough[0.0] > 20 * rough[-0.3]


def test_condition_does_not_depend_on_step():
    """Constraints scaled by 1/(beta h^2): the matrix stays as well conditioned as h goes to 0 (S2-32, S2-34,
    S3-23)."""
    model = ix.library.free_double_pendulum()
    conditions = []
    for h in (1e-2, 1e-5, 1e-10):
        stepper = Stepper(model, ix.HHT())
        state, n = stepper.state, stepper.state.system.n + stepper.state.system.m
        beta, gamma = 1.3**2 / 4, 0.8
        state[s.COEF][:] = 1 / 0.7, beta * h**2, beta * h**2, gamma * h, beta * h / gamma, 1.0
        assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
        dense = np.zeros((n, n))
        sparsity = state.system.sparsity
        dense[sparsity.indices, np.repeat(np.arange(n), np.diff(sparsity.indptr))] = state[s.MATRIX][:-1]
        conditions.append(np.linalg.cond(dense))
    assert max(conditions) / min(conditions) < 1.01


@pytest.mark.parametrize("h", [1e-3, 1e-5, 1e-8])
def test_newton_converges_at_any_step(h):
    """At most 3 iterations a step from h = 1e-3 down to 1e-8 (S2-56); rounding is recognised, not halved away."""
    result = ix.simulate(ix.library.pendulum(), (0, 50 * h), "hht-i3", step=h)
    assert result.success, result.message
    assert result.stats["newton"] <= 3 * result.stats["steps"]


def test_tolerance_sets_the_error():
    """Monotone, near a power law, slope at least 0.6 (theory 2/3) from rtol 1e-3 to 1e-7."""
    model, tolerances = ix.library.free_double_pendulum(), 10.0 ** -np.arange(3, 8)
    exact = ix.simulate(model, (0, 1), "hht-i3", rtol=1e-10, t_eval=[1.0]).q[-1]
    runs = [ix.simulate(model, (0, 1), "hht-i3", rtol=rtol, t_eval=[1.0]) for rtol in tolerances]
    errors = np.array([np.linalg.norm(result.q[-1] - exact) for result in runs])
    print("error/rtol", errors / tolerances)
    fit = np.polyfit(np.log(tolerances), np.log(errors), 1)
    away = np.exp(np.abs(np.polyval(fit, np.log(tolerances)) - np.log(errors)).max())
    assert np.all(np.diff(errors) < 0)
    assert fit[0] >= 0.6
    assert away <= 3.0


def test_smooth_run_reuses_jacobians_and_rejects_little():
    """Work counts: a lost Jacobian reuse, a bad predictor or a bad controller show here (S2-22, S2-28, S2-35)."""
    model = ix.library.free_double_pendulum()
    stats = ix.simulate(model, (0, 1), "hht-i3", rtol=1e-6).stats
    assert stats["jacobians"] < 0.3 * stats["steps"]
    assert stats["rejected"] < 0.15 * stats["steps"]
    assert stats["newton"] < 3.2 * stats["steps"]
    assert stats["factorisations"] == stats["jacobians"]
    plain = ix.simulate(model, (0, 1), "hht-i3", rtol=1e-6, predictor_degree=0).stats
    assert stats["newton"] < 0.9 * plain["newton"]


def test_kappa_leaves_the_error_alone():
    """A corrector ten times stricter changes the error by less than 2 %, from the paper's c = 1e-3 on (S2-29,
    S3-21)."""
    model = ix.library.free_double_pendulum()
    exact = ix.simulate(model, (0, 1), "hht-i3", rtol=1e-10, t_eval=[1.0]).q[-1]
    errors = [
        np.linalg.norm(ix.simulate(model, (0, 1), "hht-i3", rtol=1e-6, t_eval=[1.0], kappa=kappa).q[-1] - exact)
        for kappa in (1e-3, 1e-4, 1e-5)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.02)  # 0.24 %
    assert errors[1] == pytest.approx(errors[2], rel=0.02)  # 0.03 %


def test_largest_step_is_respected():
    """S2-30: HMAX of the paper."""
    result = ix.simulate(oscillator(1.0), (0, 1), "hht-i3", rtol=1e-2, max_step=0.01)
    assert np.diff(result.t).max() <= 0.01 * (1 + 1e-12)  # rounding of t
    assert result.t[-1] == 1.0


def test_constant_steps_are_multiples():
    result = ix.simulate(oscillator(1.0), (0.5, 1.55), "hht-i3", step=0.1)
    assert np.array_equal(result.t[:-1], 0.5 + 0.1 * np.arange(11))
    assert result.t[-1] == 1.55


def test_failed_newton_ends_a_run_with_constant_steps():
    """Two collinear springs snap through in one huge step: no hidden substeps, a message, the result so far."""
    result = ix.simulate(ix.library.double_pendulum(), (0, 100), "hht-i3", step=50.0, max_iterations=2)
    assert not result.success
    assert result.status == -run.NEWTON_FAILED
    assert len(result.t) >= 1


def test_linear_scheme_is_a_three_step_formula():
    """For a linear oscillator HHT is a recurrence over four positions (S2-55): a fit of three coefficients is exact."""
    stepper = Stepper(oscillator(4.0, damping=0.3), ix.HHT(alpha=-0.2))
    positions = []
    for _ in range(40):
        stepper.step(0.05)
        positions.append(stepper.q[0])
    _, mismatch = recurrence(positions)
    assert mismatch < 1e-10


def test_skate_on_an_incline():
    """S2-06: A velocity-level row: a knife edge on a slope runs x = g sin / (2 w^2) sin^2(w t), spin w constant."""
    slope, spin = 2.0, 3.0
    model = ix.Model("skate", gravity=(slope, 0, 0))
    skate = model.add(ix.PlanarBody("skate", 1.0, 0.1, spin=spin))
    model.add(ix.KnifeEdge("edge", model.ground, skate, at=(0, 0, 0), axis=(0, 1, 0)))
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        result = ix.simulate(model, (0, 2), "hht-i3", step=step, t_eval=0.1, alpha=-0.1)
        assert result.success, result.message
        exact = slope / (2 * spin**2) * np.sin(spin * result.t) ** 2
        errors.append(np.abs(result["skate"].position[:, 0] - exact).max())
        sideways = -result.v[:, 0] * np.sin(result.q[:, 2]) + result.v[:, 1] * np.cos(result.q[:, 2])
        assert np.abs(sideways).max() < 1e-12  # projected: rounding
    assert np.all(np.abs(orders(np.array(errors)) - 2.0) < 0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": -0.4}, "alpha = -0.4"),
        ({"alpha": 0.1}, "alpha = 0.1"),
        ({"alpha": float("nan")}, "alpha = nan"),
        ({"max_iterations": 1}, "max_iterations"),
        ({"predictor_degree": 1.5}, "predictor_degree"),
        ({"mass": "middle"}, "mass = 'middle'"),
        ({"alfa": -0.1}, "Did you mean 'alpha'"),
    ],
)
def test_options_out_of_range_are_refused(options, words):
    with pytest.raises(ix.errors.ModelError, match="hht-i3") as error:
        ix.simulate(oscillator(1.0), (0, 1), "hht-i3", **options)
    assert words in str(error.value)
