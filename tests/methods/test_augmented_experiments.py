"""The multi-index augmented Lagrangian paper: its equations in its own coordinates, its experiments and claims.

S1-... are the numbers under which docs/reference/reproduction_adams_al.md lists what was found.
"""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import Stepper
from scipy.stats import spearmanr

import index3 as ix
from index3.analysis.local_error import take_steps
from index3.compiled import slots as s
from index3.engine.variants import Variant
from index3.methods import run
from index3.methods.augmented import penalty
from index3.methods.projection import KERNELS
from index3.methods.state_space.partition import dense_rows
from index3.reproduce.multi_index import PRINTED, bars
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

INDICES = ("al-index1", "al-index3")


@pytest.fixture(scope="module")
def pendulum():
    return ix.library.free_double_pendulum()


def dense_parts(model, t, q, v):
    """Mass matrix, constraint rows, forces (without reactions) and gamma at a state, dense, with the evaluator
    alone."""
    state = State(compile_model(model, KERNELS))
    state.move(t, q, v)
    state[s.LAM][:] = 0.0
    state[s.Q_MASS][:] = state[s.Q]
    state[s.COEF][:] = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.matrix) == 0
    n, sparsity = state.system.n, state.system.sparsity
    matrix = np.zeros((n + state.system.m,) * 2)
    matrix[sparsity.indices, np.repeat(np.arange(len(matrix)), np.diff(sparsity.indptr))] = state[s.MATRIX][:-1]
    return matrix[:n, :n], dense_rows(state), -state[s.G].copy(), state[s.GAMMA].copy()


def index_one(M, P, Q, gamma):
    """Accelerations and multipliers of the augmented system (4)."""
    m = len(P)
    solution = np.linalg.solve(np.block([[M, P.T], [P, np.zeros((m, m))]]), np.concatenate([Q, gamma]))
    return solution[: len(M)], solution[len(M) :]


def test_double_pendulum_in_the_coordinates_of_the_paper():
    """S1-01, S1-02: 4 coordinates, 2 lengths, constant M with blocks m/6 [2, 1; 1, 2], no energy at the start."""
    model = bars()
    check = model.check()
    assert (check.coordinates, check.constraints, check.dof) == (4, 2, 2)
    M, _, Q, _ = dense_parts(model, 0.0, np.array([1.0, 0, 2, 0]), np.zeros(4))
    bar = np.array([[2, 1], [1, 2]]) / 6
    expected = np.kron(bar, np.eye(2))
    expected[:2, :2] += np.eye(2) / 3  # P ends both bars
    assert pytest.approx(expected, abs=1e-15) == M
    other, _, still, _ = dense_parts(model, 0.0, np.array([0.6, -0.8, 0.6, -1.8]), np.array([0.8, 0.6, 1.0, 0.0]))
    assert np.array_equal(M, other)
    assert np.array_equal(Q, still)  # rates add no inertia force
    energy = ix.simulate(model, (0, 0.01), "al-index3", step=0.01).energy
    assert abs(energy.total[0]) < 1e-14


@pytest.mark.parametrize("key", INDICES)
def test_table_1_in_the_coordinates_of_the_paper(key):
    """S1-23: 4.658e-3 and 4.335e-5 J with index 1, 4.636e-3 and 4.253e-5 with index 3 (printed: 4.680e-3,
    4.421e-5, 4.854e-3, 4.399e-5).

    What is left may be the iteration: index 3 is sensitive to where its corrections stop.
    """
    errors = []
    for dt in (1e-3, 1e-4):
        result = ix.simulate(bars(), (0, 10), key, step=dt, t_eval=1e-3, project=False)
        assert result.success, result.message
        errors.append(np.abs(result.energy.total).max())
        assert errors[-1] == pytest.approx(PRINTED[key][dt], rel=0.05)  # seen: 0.5 to 4.5 %
    assert 80 < errors[0] / errors[1] < 125


def test_small_steps_do_not_spoil_index_3(pendulum):
    """S1-23, S1-31: at 1e-6 s the printed 1.1e-4 J of index 3 do not come back: some 1e-11 J in 0.1 s.

    They are rounding of the unknown q. So the rule "index 1 below 1e-4 s" has no reason here but the last digit.
    """
    errors = {}
    for key in INDICES:
        for dt in (1e-5, 1e-6):
            result = ix.simulate(pendulum, (0, 0.1), key, step=dt, t_eval=1e-3, project=False)
            errors[key, dt] = np.abs(result.energy.total - result.energy.total[0]).max()
    # rounding of 1e5 steps; a hundred times smaller than at 1e-5 would be 4e-12
    assert errors["al-index3", 1e-6] < 1e-9
    assert errors["al-index1", 1e-6] < errors["al-index3", 1e-6]


@pytest.mark.parametrize("alpha", [1e5, 1e6, 1e7])
def test_index_1_sweeps_meet_the_augmented_system(alpha):
    """S1-08, S1-11, S0-20: one update of the multipliers is enough for accelerations to 1e-9 (alpha 1e6, 1e7),
    two with 1e5."""
    model = bars()
    result = ix.simulate(model, (0, 0.7), "dop853", rtol=1e-9, t_eval=[0.7])
    M, P, Q, gamma = dense_parts(model, 0.7, result.q[-1], result.v[-1])
    a, lam = index_one(M, P, Q, gamma)
    assert result.a[-1] == pytest.approx(a, abs=1e-9)
    found, sweeps = np.zeros(2), 0
    penalised = M + alpha * P.T @ P
    rounding = np.finfo(float).eps * np.linalg.cond(penalised)  # 1e-9 with alpha = 1e7
    x = np.linalg.solve(penalised, Q + alpha * P.T @ gamma)
    while np.abs(x - a).max() > (1e-9 + rounding) * np.abs(a).max() and sweeps < 9:
        found = found + alpha * (P @ x - gamma)  # (7)
        x = np.linalg.solve(penalised, Q + P.T @ (alpha * gamma - found))  # (6)
        sweeps += 1
    assert 1 <= sweeps <= 2
    assert found == pytest.approx(lam, rel=1e-4)  # without the update that the last sweep would give


@pytest.mark.parametrize(("key", "step"), [("al-index1", 1e-3), ("al-index3", 1e-2), ("multi-index", None)])
def test_accelerations_belong_to_their_state(key, step):
    """S1-11, S1-16: the method's own a solves the index-1 equations at its own (q, v), also right after a
    change of index."""
    model, span, options = bars(), 1.5, {"step": step}
    if step is None:
        model, span, options = ix.library.free_double_pendulum(), 4, {"rtol": 1e-6, "h_switch": 1e-3}
    result = ix.simulate(model, (0, span), key, project=False, **options)
    assert result.stats["switches"] >= (2 if step is None else 0)
    for k in range(1, len(result.t), max(1, len(result.t) // 40)):
        a, lam = index_one(*dense_parts(model, result.t[k], result.q[k], result.v[k]))
        assert result.a[k] == pytest.approx(a, abs=1e-9 * np.abs(a).max())
        assert result.lam[k] == pytest.approx(lam, abs=1e-7 * np.abs(lam).max())  # alpha times rounding of rows


@pytest.mark.parametrize("alpha", [1e8, 1e9])
def test_index_3_closes_positions_within_its_corrections(alpha):
    """S1-12: one update of the multipliers a correction; 4 to 6 corrections bring r0 to 1e-12 at steps of 1e-3
    and 1e-2 s.

    The printed 1 to 2 updates hold for loose corrections. A constant 1e7 diverges at 1e-3 s.
    """
    for step in (1e-2, 1e-3):
        result = ix.simulate(bars(), (0, 1), "al-index3", step=step, penalty_3=alpha, project=False)
        assert result.success, result.message
        assert result.violation.position.max() < 1e-10
        assert result.stats["newton"] < 6.5 * result.stats["steps"]
    weak = ix.simulate(bars(), (0, 1), "al-index3", step=1e-3, penalty_3=1e7)
    assert not weak.success


def test_projections_are_mass_orthogonal():
    """S1-13: what a step of no length adds to a state off the constraints has no M-product with motions along them."""
    model, random = bars(), np.random.default_rng(4)
    stepper = Stepper(model, ix.METHODS["al-index1"]())
    stepper.q[:] += 1e-4 * random.normal(size=4)
    before = stepper.q.copy()
    M, P, _, _ = dense_parts(model, 0.0, before, np.zeros(4))  # where the matrix of the step is factored
    tangent = np.linalg.svd(P)[2][2:].T
    stepper.step(1e-12)
    assert np.abs(stepper.q - before).max() > 1e-5
    assert np.abs(tangent.T @ M @ (stepper.q - before)).max() < 1e-10
    assert np.abs(stepper.state[s.PHI]).max() < 1e-12
    M, P, _, _ = dense_parts(model, 0.0, np.array([1.0, 0, 2, 0]), np.zeros(4))
    tangent = np.linalg.svd(P)[2][2:].T
    stepper = Stepper(model, ix.METHODS["al-index1"]())
    stepper.v[:] = random.normal(size=4)
    before = stepper.v.copy()
    stepper.step(1e-12)
    assert np.abs(stepper.v - before).max() > 0.1
    assert np.abs(tangent.T @ M @ (stepper.v - before)).max() < 1e-10  # accelerations of some 10 m/s^2 over 1e-12 s
    assert np.abs(P @ stepper.v).max() < 1e-10


def test_change_of_the_invariant_stays_in_its_band(pendulum):
    """S1-18, S1-19: between L and U in 98 % of the accepted steps at rtol 1e-6 (95 % at 1e-4), never above U."""
    for rtol, share in ((1e-4, 0.9), (1e-6, 0.97)):
        result = ix.simulate(pendulum, (0, 10), "multi-index", rtol=rtol)
        change = np.abs(np.diff(result.energy.total))
        upper = rtol * np.maximum.accumulate(result.energy.kinetic)[1:] + 0.01 * rtol
        assert np.all(change <= 1.001 * upper)  # output is projected once more: rounding
        assert np.mean(change >= upper / 250) > share


def test_rejected_step_is_shortened_by_the_rule(pendulum):
    """S1-18: eta = (0.8 U / change)^(1/3), here with exponent 1/3 because the change over a step is of third
    order; at most 1/2."""
    stepper = Stepper(pendulum, ix.METHODS["al-index3"](upper=1e-9, lower=1e-12))
    clock, memory = stepper.run[run.CLOCK], stepper.table[penalty.MEMORY]
    clock[[run.STEP, run.T_END, run.H_NEXT]] = 0.0, 1.0, 2e-3
    while stepper.run.counters()["rejected"] == 0:
        h, energy = clock[run.H_NEXT], memory[penalty.ENERGY_OLD]
        stepper.run.advance(stepper.method.kernel, stepper.table, 1)
    change = abs(memory[penalty.ENERGY_TRIAL] - energy)
    eta = (0.8 * 1e-9 / change) ** (1 / 3)
    assert clock[run.H_NEXT] / h == pytest.approx(max(0.1, min(0.5, eta)), rel=1e-9)


@pytest.mark.parametrize("key", INDICES)
@pytest.mark.parametrize("dt", [1e-2, 1e-3, 1e-4])
def test_energy_tells_where_errors_arise(pendulum, key, dt):
    """S1-25: rank correlation of the energy's change in a step with its error by halving, over 10 s: 0.87-0.89
    (q), 0.93 (v)."""
    result = ix.simulate(pendulum, (0, 10), key, step=dt, project=False)
    at = np.arange(len(result.t) - 1)[:: max(1, (len(result.t) - 1) // 200)]
    change = np.abs(np.diff(result.energy.total))[at]
    lines = ix.simulate(pendulum, (0, 10), key, step=dt, t_eval=result.t[at])
    errors = ix.local_errors(pendulum, lines, key, dt)
    assert spearmanr(change, np.abs(errors.q).max(axis=1))[0] > 0.8  # asked for: 0.6
    assert spearmanr(change, np.abs(errors.v).max(axis=1))[0] > 0.8


def test_penalty_energy_tells_less(pendulum):
    """S1-10: the velocity residual that the trapezoidal rule leaves, as HHT without damping shows it, never projected.

    Its square hardly correlates with the error of a step (0.19), where the change of the energy does (0.88).
    """
    dt = 2e-3
    result = ix.simulate(pendulum, (0, 4), "hht-i3", step=dt, alpha=0.0, project=False)
    assert result.success, result.message
    at = np.arange(0, 2000, 10)
    lines = ix.simulate(pendulum, (0, 4), "al-index3", step=dt, t_eval=result.t[at])
    error = np.abs(ix.local_errors(pendulum, lines, "al-index3", dt).q).max(axis=1)
    by_penalty = spearmanr(result.violation.velocity[at + 1] ** 2, error)[0]
    assert by_penalty < 0.6  # far below what is asked of the invariant


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_variable_steps_beat_as_many_equal_ones(pendulum, rtol):
    """S1-26: 0.117 J in 1379 steps against 0.234, 7.1e-3 J in 6744 steps against 9.0e-3; no gain in time on so
    small a model."""
    variable = ix.simulate(pendulum, (0, 10), "multi-index", rtol=rtol)
    fixed = ix.simulate(pendulum, (0, 10), "al-index3", step=10 / variable.stats["steps"])
    drift = [np.abs(result.energy.total).max() for result in (variable, fixed)]
    assert drift[0] < 0.9 * drift[1]  # 0.50 and 0.79 seen
    assert variable.stats["evaluations"] < 1.1 * fixed.stats["evaluations"]


def test_condition_numbers_of_the_formulations():
    """S1-21: the first-order backward formula with unknowns q, v, lam: cond of its matrix as h^-3, h^-2, h^-1
    for index 3, 2, 1.

    None of this is in the matrices that index3 solves with: they are scaled by powers of h (test_hht: condition).
    """
    model = bars()
    result = ix.simulate(model, (0, 0.7), "dop853", rtol=1e-9, t_eval=[0.7])
    M, P, _, _ = dense_parts(model, 0.7, result.q[-1], result.v[-1])
    n, m = len(M), len(P)
    steps = 10.0 ** -np.arange(2, 6.5, 0.5)
    slopes = []
    for index in (3, 2, 1):
        conditions = []
        for h in steps:
            kinematic = np.hstack([np.eye(n) / h, -np.eye(n), np.zeros((n, m))])
            balance = np.hstack([np.zeros((n, n)), M / h, P.T])
            rows = np.zeros((m, 2 * n + m))
            at, value = {3: (0, P), 2: (n, P), 1: (n, P / h)}[index]
            rows[:, at : at + n] = value
            conditions.append(np.linalg.cond(np.vstack([kinematic, balance, rows])))
        slopes.append(np.polyfit(np.log(steps), np.log(conditions), 1)[0])
    assert slopes[0] == pytest.approx(-3, abs=0.3)
    assert slopes[1:] == pytest.approx([-2, -1], abs=0.1)


def doubling(model, span, tolerance):
    """Steps tried, and the end, of al-index3 with steps by halving: the two half steps are kept, the whole one
    judges."""
    method = ix.METHODS["al-index3"]()
    kernels = (*KERNELS, method.kernel, *method.helpers)
    stage = Variant(model, lambda opened: compile_model(model, kernels, without=opened))
    start = ix.assemble(model)
    t, h, tried = 0.0, 1e-3, 0
    line = t, start.q, start.v, np.zeros(len(stage.system.angle_joints))
    while t < span - 1e-12:
        h = min(h, span - t)
        one, two = (take_steps(stage, method, line, h, count) for count in (1, 2))
        tried += 3
        error = np.abs(one[run.NEW_Q] - two[run.NEW_Q]).max() / tolerance
        if error <= 1.0:
            t += h
            line = t, two[run.NEW_Q].copy(), two[run.NEW_V].copy(), stage.state[s.ANGLE_REF].copy()
        h *= min(2.0, max(0.2, 0.9 * error ** (-1 / 3)))
    return tried, line[1]


def test_energy_costs_less_than_halving(pendulum):
    """S1-32: steps tried at equal error at 2 s, by the invariant over by halving: 0.63, where less than 0.5 is claimed.

    Errors 1.1e-3, 2.4e-4, 5.8e-5 in 477, 978, 2043 tries against 3.4e-4, 7.5e-5 in 1323, 2814. Halving tries three
    steps for two that it keeps, which alone makes 0.67; it also chooses its steps a little better.
    """
    exact = ix.simulate(pendulum, (0, 2), "dop853", rtol=1e-11, t_eval=[2.0]).q[-1]
    energy = []
    for rtol in (1e-5, 1e-6, 1e-7):
        result = ix.simulate(pendulum, (0, 2), "al-index3", rtol=rtol)
        energy.append((result.stats["steps"] + result.stats["rejected"], np.abs(result.q[-1] - exact).max()))
    tried, q = doubling(pendulum, 2.0, 1e-6)
    error = np.abs(q - exact).max()
    count, errors = np.log(energy).T
    ratio = np.exp(np.interp(np.log(error), errors[::-1], count[::-1])) / tried
    assert 0.5 < ratio < 0.75
