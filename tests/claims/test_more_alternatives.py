"""More formulations and formulas that the papers' reviews name and that are no methods of index3: extrapolation,
differential null spaces, index 1 with more multipliers or more equations than unknowns, RODAS."""

from __future__ import annotations

import numpy as np
import pytest
from formulations import EULER, Equations, half_explicit, rod, runge_kutta, two_rods, two_sliders
from scipy.integrate import solve_ivp
from scipy.optimize import root

import index3 as ix


def columns(results, numbers, power):
    """Last line of the extrapolation table of results with so many substeps, expansions in powers of h^power."""
    line, found = [results[0]], [results[0]]
    for j in range(1, len(results)):
        new = [results[j]]
        for k in range(j):
            new.append(new[k] + (new[k] - line[k]) / ((numbers[j] / numbers[j - k - 1]) ** power - 1))
        line, found = new, new
    return found


def slopes(errors):
    """Orders of local errors, a line for a step and for half of it."""
    return np.log2(np.array(errors[0]) / np.array(errors[1]))


def test_extrapolated_half_explicit_steps():
    """A-08: the half-explicit Euler method in 1, 2, 3 and 4 substeps: each column of the table is one order better.

    Local errors of one basic step, which fall with h^2, h^3, h^4, h^5. Left as it is: in `hem4` index3 has a
    half-explicit method of order 4 with an error estimate, which takes five evaluations where the table takes ten.
    """
    equations, model, errors = Equations(rod(spin=2.0)), rod(spin=2.0), []
    for h in (0.02, 0.01):
        exact = ix.simulate(model, (0, h), "dop853", rtol=1e-13, atol=1e-15, t_eval=[h])
        results = [np.concatenate(half_explicit(equations, EULER, h / n, n)[:2]) for n in (1, 2, 3, 4)]
        wanted = np.concatenate([exact.q[-1], exact.v[-1]])
        errors.append([np.linalg.norm(x - wanted) for x in columns(results, (1, 2, 3, 4), 1)])
    print(errors, slopes(errors))
    assert slopes(errors) == pytest.approx([2, 3, 4, 5], abs=0.35)  # the next power is relative 2 h


@pytest.fixture(scope="module")
def swing():
    """A double pendulum as y' = f(y), a state of its motion, and where that leads to in short times."""
    problem = ix.FirstOrder(ix.library.free_double_pendulum())

    def end(y, h):
        return solve_ivp(problem, (0, h), y, "DOP853", rtol=1e-13, atol=1e-15).y[:, -1]

    start = end(problem.y0, 0.15)
    return problem, start, {h: end(start, h) for h in (0.01, 0.02, 0.1)}


def modified_midpoint(problem, start, h, n):
    """Gragg's method with n substeps, n even."""
    before, y = start, start + h / n * problem(0.0, start)
    for _ in range(n - 1):
        before, y = y, before + 2 * h / n * problem(0.0, y)
    return 0.5 * (before + y + h / n * problem(0.0, y))


def linearly_implicit(problem, start, h, n):
    """Euler steps with the matrix I - h/n J of the start."""
    y, matrix = start, np.eye(len(start)) - h / n * problem.jacobian(0.0, start)
    for _ in range(n):
        y = y + np.linalg.solve(matrix, h / n * problem(0.0, y))
    return y


@pytest.mark.parametrize(("way", "numbers", "power", "wanted"), [
    (modified_midpoint, (2, 4, 6), 2, [3, 5, 7]), (linearly_implicit, (1, 2, 3), 1, [2, 3, 4]),
])  # fmt: skip
def test_extrapolation_on_the_state_space_form(way, numbers, power, wanted, swing):
    """A-15: ODEX gains two orders a column, SEULEX one, on the first-order form of a double pendulum.

    Left as they are: `dop853` has order 8 for 12 evaluations, where ODEX takes 21 for its fourth column; what SEULEX
    is for, `radau5` and `bdf-si2` do.
    """
    (problem, start, ends), errors = swing, []
    for h in (0.02, 0.01):
        results = [way(problem, start, h, n) for n in numbers]
        errors.append([np.linalg.norm(x - ends[h]) for x in columns(results, numbers, power)])
    print(way.__name__, errors, slopes(errors))
    assert slopes(errors) == pytest.approx(wanted, abs=0.4)


def gram_schmidt(rows, before):
    """An orthonormal basis of the null space of the rows, made of the one before: as near to it as can be."""
    kept = []
    for vector in (*rows, *before.T):
        x = vector - sum((x @ vector) * x for x in kept)
        x -= sum((y @ x) * y for y in kept)  # twice is enough
        kept.append(x / np.linalg.norm(x))
    return np.array(kept[len(rows) :]).T


def test_null_space_that_moves_on():
    """A-09: a basis by Gram and Schmidt, each made of the last one: orthonormal, continuous, and the motion is that of
    coordinate partitioning.

    Left as it is: the tangent plane of the state-space methods is such a basis, by elimination, with sparse factors.
    """
    equations, changes = Equations(two_rods()), []
    for count in (200, 400):
        h, q, v, changed = 1.0 / count, equations.q0, equations.v0, 0.0
        _, P, _, _ = equations.at(q, v)
        V = gram_schmidt(P, np.linalg.svd(P)[2][len(P) :].T)

        def rates(y, V=V):
            n = len(y) // 2
            _, P, gamma, force = equations.at(y[:n], y[n:])
            W = gram_schmidt(P, V)
            particular = np.linalg.lstsq(P, gamma, rcond=None)[0]
            force = force - equations.mass @ particular
            a = W @ np.linalg.solve(W.T @ equations.mass @ W, W.T @ force) + particular
            return np.concatenate([W @ (W.T @ y[n:]), a])

        for _ in range(count):
            q, v = np.split(runge_kutta(lambda y, V=V: rates(y, V), np.concatenate([q, v]), h), 2)
            _, P, _, _ = equations.at(q, v)
            new = gram_schmidt(P, V)
            changed = max(changed, np.abs(new - V).max())
            V = new
            assert np.abs(V.T @ V - np.eye(2)).max() < 1e-12
            assert np.abs(P @ V).max() < 1e-12
            v = V @ (V.T @ v)
        changes.append(changed)
    assert np.log2(changes[0] / changes[1]) == pytest.approx(1.0, abs=0.2)  # continuous: changes are as steps
    result = ix.simulate(two_rods(), (0, 1), "adams", rtol=1e-9, atol=1e-11, t_eval=[1.0], parametrization="partition")
    assert np.abs(q - result.q[-1]).max() < 1e-6  # order 4 at h = 1/400


def backward_differences(step, start, h, count):
    """(q, v, ...) after so many BDF2 steps, the first one by backward Euler: `step(h b, known q, known v, x)`."""
    n = len(start[0])
    before, x = None, np.concatenate([start[0], start[1], start[2]])
    for _ in range(count):
        q, v = x[:n], x[n : 2 * n]
        if before is None:
            new = step(h, q, v, x)
        else:
            known = [4 / 3 * now - 1 / 3 * old for now, old in zip((q, v), before, strict=True)]
            new = step(2 / 3 * h, *known, x)
        before, x = (q, v), new
    return x


def test_index_1_with_two_more_multipliers():
    """A-04: q' = v - P^T mu, M v' = Q - P^T (lam + eta), with the rows at three levels: BDF2 keeps all of them.

    mu and eta vanish with h^2, as the error does. Left as it is: `bdf-si2` with its one more multiplier, and outputs
    that solve the accelerations' rows, give the same for fewer unknowns.
    """
    model = rod(spin=2.0)
    equations, found = Equations(model), []
    exact = ix.simulate(model, (0, 0.5), "dop853", rtol=1e-12, t_eval=[0.5])

    def step(hb, known_q, known_v, x):
        def residual(x):
            q, v, lam, mu, eta = np.split(x, [3, 6, 8, 10])
            phi, P, gamma, force = equations.at(q, v)
            a = np.linalg.solve(equations.mass, force - P.T @ lam)
            extra = np.linalg.solve(equations.mass, P.T @ eta)
            return np.concatenate(
                [q - known_q - hb * (v - P.T @ mu), v - known_v - hb * (a - extra), phi, P @ v, P @ a - gamma]
            )

        solution = root(residual, x, tol=1e-13)
        assert np.abs(solution.fun).max() < 1e-10
        return solution.x

    for count in (50, 100):
        x = backward_differences(step, (equations.q0, equations.v0, np.zeros(6)), 0.5 / count, count)
        q, v, lam = x[:3], x[3:6], x[6:8]
        phi, P, gamma, force = equations.at(q, v)
        a = np.linalg.solve(equations.mass, force - P.T @ lam)
        assert max(np.abs(phi).max(), np.abs(P @ v).max(), np.abs(P @ a - gamma).max()) < 1e-10
        found.append((np.abs(q - exact.q[-1]).max(), np.abs(x[8:]).max()))
    print(found)
    assert slopes(found) == pytest.approx([2, 2], abs=0.5)


def overdetermined(equations):
    """A BDF step by least squares: formulas of q and v, and rows at three levels, for q, v and lam."""
    n, m = len(equations.q0), len(equations.at(equations.q0, equations.v0)[0])

    def residual(x, hb, known_q, known_v):
        q, v, lam = np.split(x, [n, 2 * n])
        phi, P, gamma, force = equations.at(q, v)
        a = np.linalg.solve(equations.mass, force - P.T @ lam)
        return np.concatenate([q - known_q - hb * v, v - known_v - hb * a, phi, P @ v, P @ a - gamma])

    def step(hb, known_q, known_v, x):
        x = x.copy()
        for _ in range(12):
            r = residual(x, hb, known_q, known_v)
            changes = 1e-6 * np.eye(len(x))
            J = np.array([residual(x + c, hb, known_q, known_v) - residual(x - c, hb, known_q, known_v)
                          for c in changes]).T / 2e-6  # fmt: skip
            assert J.shape == (2 * n + 3 * m, 2 * n + m)
            x -= np.linalg.lstsq(J, r, rcond=None)[0]
        left.append(np.abs(residual(x, hb, known_q, known_v)).max())
        return x

    left: list[float] = []
    return step, left, np.zeros(m)


def test_more_equations_than_unknowns():
    """A-05: 2 n + 3 m equations for 2 n + m unknowns. On straight rails they have a solution, that of BDF on the
    independent coordinates to 1e-10; on a pendulum they have none, and least squares leave some of each.

    Left as it is: what is left of the rows then is why the methods here recover or project coordinates instead.
    """
    equations, h, count = Equations(two_sliders()), 0.02, 10
    step, left, none = overdetermined(equations)
    full = backward_differences(step, (equations.q0, equations.v0, none), h, count)[:6]
    assert max(left) < 1e-10
    along = np.zeros((6, 2))
    along[0, 0], along[3:5, 1] = 1.0, (0.6, 0.8)

    def reduced(hb, known_w, known_z, x):
        def residual(z):
            w = known_w + hb * z
            a = equations.accelerations(equations.q0 + along @ w, along @ z)
            return z - known_z - hb * along.T @ a

        z = root(residual, known_z, tol=1e-13).x
        return np.concatenate([known_w + hb * z, z])

    w = backward_differences(reduced, (np.zeros(2), np.zeros(2), np.zeros(0)), h, count)[:2]
    assert np.abs(w).max() > 0.05  # it moves
    assert full == pytest.approx(equations.q0 + along @ w, abs=1e-10)  # the demand
    curved = Equations(rod(spin=2.0))
    step, left, none = overdetermined(curved)
    backward_differences(step, (curved.q0, curved.v0, none), h, count)
    assert max(left) > 1e-6


RODAS_A = np.zeros((6, 6))
RODAS_A[1, :1] = 1.544
RODAS_A[2, :2] = 0.9466785280815826, 0.2557011698983284
RODAS_A[3, :3] = 3.314825187068521, 2.896124015972201, 0.9986419139977817
RODAS_A[4, :4] = 1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950
RODAS_A[5, :5] = *RODAS_A[4, :4], 1.0
RODAS_C = np.zeros((6, 6))
RODAS_C[1, :1] = -5.6688
RODAS_C[2, :2] = -2.430093356833875, -0.2063599157091915
RODAS_C[3, :3] = -0.1073529058151375, -9.594562251023355, -20.47028614809616
RODAS_C[4, :4] = 7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160
RODAS_C[5, :5] = 8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054


def rodas(f, J, y, h):
    """A step of RODAS [Hairer, Wanner 1996], gamma = 1/4, six stages: what the last one adds is the error estimate."""
    matrix, k = np.eye(len(y)) * 4.0 / h - J, []
    for i in range(6):
        at = y + sum((RODAS_A[i, j] * k[j] for j in range(i)), np.zeros(len(y)))
        right = f(at) + sum((RODAS_C[i, j] / h * k[j] for j in range(i)), np.zeros(len(y)))
        k.append(np.linalg.solve(matrix, right))
    return at + k[5]


def test_rodas(swing):
    """A-17: order 4 on the first-order form of a double pendulum, and nothing left of an infinitely fast part.

    Left as it is: `rosenbrock4` is of that kind with three evaluations a step instead of six, and its dense Jacobian is
    what it costs; `radau5` is the method for very stiff motions.
    """
    (problem, start, ends), errors = swing, []
    for count in (4, 8, 16):
        y = start
        for _ in range(count):
            y = rodas(lambda x: problem(0.0, x), problem.jacobian(0.0, y), y, 0.1 / count)
        errors.append(np.linalg.norm(y - ends[0.1]))
    seen = np.log2(np.array(errors[:-1]) / errors[1:])
    print(errors, seen)
    assert seen[-1] == pytest.approx(4.0, abs=0.3)
    rate = -1e9
    assert abs(rodas(lambda x: rate * x, np.array([[rate]]), np.ones(1), 1.0)[0]) < 1e-7  # L-stable
    for y in np.logspace(-2, 4, 50):
        turn = np.array([[0.0, y], [-y, 0.0]])
        ends = [rodas(lambda x, turn=turn: turn @ x, turn, start, 1.0) for start in np.eye(2)]
        assert np.linalg.norm(np.array(ends), 2) <= 1.0 + 1e-12  # A-stable
