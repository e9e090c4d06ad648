"""Forms of the thesis for any formula: state-space reduction, the descriptor form's matrix, columns; what they cost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from oscillator import orders
from scipy.integrate import solve_ivp
from test_state_space import MODELS, consistent_state, recover
from thesis_formulas import by_reduction, descriptor

import index3 as ix
from index3.compiled import slots as s
from index3.linear.registry import solver_of
from index3.methods.state_space import jacobian
from index3.system import evaluate

FORMULAS = {  # name: order, weights of past values, of the new rate, of past rates
    "backward Euler": (1, (1,), 1, ()),
    "trapezoidal": (2, (1,), 1 / 2, (1 / 2,)),
    "BDF2": (2, (4 / 3, -1 / 3), 2 / 3, ()),
    "Adams-Moulton": (3, (1,), 5 / 12, (8 / 12, -1 / 12)),
    "BDF3": (3, (18 / 11, -9 / 11, 2 / 11), 6 / 11, ()),
}


def integrate(problem, past, h, count, formula):
    """(3.9)-(3.12): w = known + beta h^2 w'', w' = known + gamma h w'', iterated on w'' with J1, J2 of the last point.

    gamma is the weight of the new rate, beta its square. `past` has lines (w, w', w''), the last one first. Returns the
    last one of the steps, and the most corrections in one of them.
    """
    _, values, gamma, rates = FORMULAS[formula]
    beta, size, most = gamma**2, past.shape[2], 0

    def known(past, kind):
        values_part = sum(x * past[j, kind] for j, x in enumerate(values))
        return values_part + h * sum(x * past[j, kind + 1] for j, x in enumerate(rates))

    for _ in range(count):
        speed = known(past, 1)
        place = known(past, 0) + h * gamma * speed
        a, J = past[0, 2].copy(), problem.jacobian(0.0, past[0, :2].ravel())[size:]
        matrix = np.eye(size) - beta * h**2 * J[:, :size] - gamma * h * J[:, size:]
        corrections, change = 0, np.inf
        while corrections < 10 and np.abs(change).max() > 1e-10 * (1 + np.abs(a).max()):
            y = np.concatenate([place + beta * h**2 * a, speed + gamma * h * a])
            change = np.linalg.solve(matrix, problem(0.0, y)[size:] - a)
            a += change
            corrections += 1
        most = max(most, corrections)
        new = np.array([place + beta * h**2 * a, speed + gamma * h * a, a])
        past = np.concatenate([new[None], past[:-1]])
    return past[0], most


@pytest.fixture(scope="module")
def swing():
    """A double pendulum in its independent coordinates, and its motion."""
    problem = ix.FirstOrder(ix.library.free_double_pendulum())
    run = solve_ivp(problem, (0, 0.1), problem.y0, "DOP853", rtol=1e-10, atol=1e-11, dense_output=True)
    return problem, run.sol


@pytest.mark.parametrize("formula", FORMULAS)
def test_state_space_reduction_takes_any_formula(formula, swing):
    """S4-27: a pair (gamma, beta) and a history are all that the independent equations of motion know of a formula.

    With J1 and J2 of `FirstOrder`, taken once a step, six corrections are enough.
    """
    (problem, exact), errors = swing, []
    size = len(problem.y0) // 2
    for steps in (10, 20, 40):
        h = 0.1 / steps
        lines = [exact(k * h) for k in (2, 1, 0)]
        past = np.array([[y[:size], y[size:], problem(0.0, y)[size:]] for y in lines])
        found, most = integrate(problem, past, h, steps - 2, formula)
        errors.append(np.linalg.norm(found[:2].ravel() - exact(0.1)))
        assert most <= 6
    print(formula, errors, orders(np.array(errors)))
    assert orders(np.array(errors))[-1] == pytest.approx(FORMULAS[formula][0], abs=0.2)


@pytest.mark.parametrize("name", list(MODELS))
def test_matrix_of_the_descriptor_form_against_differences(name):
    """S4-32: all accelerations and multipliers are unknown, only independent coordinates follow from them."""
    state = consistent_state(MODELS[name](), 5)
    parts = jacobian.evaluate_parts(state)
    rows, w, n = parts.partition.rows, parts.partition.independent, state.system.n
    beta, gamma = 0.25 * 0.1**2, 0.5 * 0.1
    q, v, a, lam = (state[slot].copy() for slot in (s.Q, s.V, s.A, s.LAM))

    def residual(x):
        state[s.Q][:], state[s.V][:] = q, v
        state[s.Q][w] += beta * (x[:n] - a)[w]
        state[s.V][w] += gamma * (x[:n] - a)[w]
        recover(state, parts)
        state[s.LAM][:] = 0.0
        state[s.LAM][rows] = x[n:]
        state[s.Q_MASS][:] = state[s.Q]
        assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
        motion = jacobian.bordered(state, 1.0, 0.0, 0.0) @ x[:n] + state[s.G]
        return np.concatenate([motion, jacobian.dense_rows(state)[rows] @ x[:n] - state[s.GAMMA][rows]])

    exact, x = descriptor(parts, beta, gamma), np.concatenate([a, lam[rows]])
    assert np.abs(residual(x)).max() < 1e-8 * max(1.0, np.abs(parts.stiffness).max())  # solves at the state itself
    numeric = np.empty_like(exact)
    for k in range(len(x)):
        change = 1e-6 * max(1.0, abs(x[k])) * np.eye(len(x))[k]
        numeric[:, k] = (residual(x + change) - residual(x - change)) / (2 * change[k])
    scale = np.abs(exact).max()
    assert np.abs(exact - numeric).max() < 1e-6 * scale  # truncation, and rounding of the recovery by 1e-6
    plain = jacobian.augmented(parts.mass, parts.phi_q)
    assert np.abs(exact - plain)[:, w].max() > 1e-4 * scale  # what the integration adds


def beads(count):
    """Rods on ball joints, straight along x."""
    model = ix.Model("beads")
    last = model.ground
    for k in range(count):
        rod = model.add(ix.RigidBody("rod" + str(k), 1.0, (0.1, 0.2, 0.2), position=(k + 0.5, 0, 0)))
        model.add(ix.Spherical(f"joint{k}", last, rod, at=(k, 0, 0)))
        last = rod
    return model


def test_columns_are_independent_tasks():
    """S4-108: halves of the columns of J1 and J2 found in two threads are those of one, with 42 degrees of freedom.

    Gain in time: `benchmarks/columns.py`.
    """
    parts = jacobian.evaluate_parts(consistent_state(beads(14), 6))
    q_k, v_k = jacobian.recovered(parts)
    assert q_k.shape[1] == 42
    whole = jacobian.solve_columns(parts, q_k, v_k)
    halves = np.array_split(np.arange(q_k.shape[1]), 2)
    with ThreadPoolExecutor(2) as pool:
        pieces = list(pool.map(lambda k: jacobian.solve_columns(parts, q_k[:, k], v_k[:, k]), halves))
    for j in range(2):
        joined = np.hstack([piece[j] for piece in pieces])
        assert np.abs(joined - whole[j]).max() <= 1e-9 * np.abs(whole[j]).max()  # blocks of BLAS differ
    reduced = by_reduction(parts)
    for mine, other in zip(whole, reduced, strict=True):
        assert np.abs(mine[parts.partition.independent] - other).max() <= 1e-8 * np.abs(other).max()  # as S4-71


def elimination(state):
    """Products of a factorisation and of a solution with the sparse factors of the bordered matrix of a model."""
    solver, size = solver_of(state.system), state.system.n + state.system.m
    pattern = solver.pattern
    below, right = np.diff(pattern.lp), np.bincount(pattern.ui, minlength=size)
    return below @ right + below.sum(), below.sum() + right.sum() + size


@pytest.fixture(scope="module")
def vehicle():
    """The stiff vehicle of the thesis: 98 coordinates, 80 rows, 18 degrees of freedom."""
    model = ix.library.hmmwv14()
    state = consistent_state(model, 0)
    return model, state, model.check().dof


def test_forming_the_descriptor_matrix_costs_next_to_nothing(vehicle):
    """S4-99: the matrix of 178 rows takes three products for each of its entries, M, K and D.

    J1 and J2 of 18 rows take K and D times 36 columns, and 54 solutions with the factors: the ratio of the products
    is 0.02 (asked for: 0.7, of the time).
    """
    _, state, dof = vehicle
    entries = len(state.system.sparsity.indices)
    assert (state.system.n + state.system.m, dof) == (178, 18)
    factoring, solution = elimination(state)
    columns = factoring + 3 * dof * solution + 3 * dof * entries  # K q_k, D v_k, D q_k
    print("descriptor over state space:", 3 * entries / columns)
    assert 3 * entries < 0.7 * columns
    assert 3 * entries == pytest.approx(0.02 * columns, rel=0.3)


def test_share_of_the_jacobian_in_a_step(vehicle):
    """S4-98: columns of J1 and J2, formed once a step by `rosenbrock4`, take 41 % of a step's products (thesis: 55 %).

    Iterated methods, which have the bordered matrix instead, take two of them in 95 steps.
    """
    model, state, dof = vehicle
    settings = {"rtol": 1e-3, "atol": 1e-3, "discontinuities": (0.5, 1.24)}
    run = ix.simulate(model, (0, 1), "rosenbrock4", **settings).stats
    factoring, solution = elimination(state)
    mine = run["jacobians"] * 3 * dof * solution
    rest = run["factorisations"] * factoring + run["evaluations"] * solution
    print("share of the columns:", mine / (mine + rest))
    assert 0.3 < mine / (mine + rest) < 0.8  # the demand, of time
    iterated = ix.simulate(model, (0, 1), "firstorder-sdirk4", **settings).stats
    assert iterated["jacobians"] < 0.1 * iterated["steps"]


def test_derivatives_by_differences_cost_evaluations(vehicle):
    """S4-92: Radau IIA of SciPy on the first-order form of the vehicle, with exact derivatives and with differences.

    Over 0.1 s 3.3 times the evaluations (thesis: 4.6 to 5.0 times the time); an explicit method takes 2359 in 2 ms.
    """
    model, _, dof = vehicle
    problem, counts = ix.FirstOrder(model), []
    for derivatives in (problem.jacobian, None):
        seen = []
        run = solve_ivp(
            lambda t, y, seen=seen: (seen.append(t), problem(t, y))[1], (0, 0.1), problem.y0, "Radau", rtol=1e-4,
            atol=1e-4, jac=derivatives,
        )  # fmt: skip
        assert run.success
        counts.append(len(seen))
    explicit = 50 * ix.simulate(model, (0, 2e-3), "dopri5", rtol=1e-4, atol=1e-4).stats["evaluations"]
    print(counts, explicit, dof)
    assert 2 < counts[1] / counts[0] < 20  # the demand
    assert explicit > 10 * counts[1]
