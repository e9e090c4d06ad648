"""A model as y' = f(t, y): integrators from elsewhere."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.sparse import csc_array

import index3 as ix
from index3.analysis import first_order

ROWS = np.array(
    json.loads((Path(__file__).parents[1] / "reference" / "stiff_double_pendulum" / "data.json").read_text())["rows"]
)


def stiff_pendulum():
    return ix.FirstOrder(ix.library.double_pendulum(), independent=["rod1.angle", "rod2.angle"])


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_stiff_solvers_of_scipy(method):
    """S4-35, S4-47, S4-48, A-13: Radau IIA, BDF and LSODA on the first-order reduction of the stiff pendulum."""
    problem = stiff_pendulum()
    assert problem.names == ["rod1.angle", "rod2.angle"]
    times = ROWS[ROWS[:, 0] <= 0.5, 0]
    run = solve_ivp(
        problem, (0.0, 0.5), problem.y0, method=method, t_eval=times, rtol=1e-7, atol=1e-9, jac=problem.jacobian
    )
    assert run.success
    assert run.nfev < 3000  # stiffness costs an explicit method some 20 000 in this time
    error = np.abs(run.y[0] - ROWS[: len(times), 1]).max()
    print(method, run.nfev, run.njev, error)
    assert error < 1e-5  # 100 times rtol: BDF's error control is loose


def test_order_of_radau():
    """S4-47: order 5 seen as a work-precision slope: 100 times smaller rtol, 2.5 times the steps (100^(1/5))."""
    problem, steps = ix.FirstOrder(ix.library.slider_crank()), []
    for rtol in (1e-5, 1e-7, 1e-9):
        run = solve_ivp(
            problem, (0.0, 0.2), problem.y0, method="Radau", rtol=rtol, atol=0.1 * rtol, jac=problem.jacobian
        )
        steps.append(len(run.t))
    assert 1.5 < steps[2] / steps[1] < 4.0  # its error estimate is of order 3: 100^(1/4) = 3.2 at most


def test_equations_and_jacobian():
    """S4-20, S4-36: f is the acceleration of the run; df/dy agrees with central differences."""
    problem = ix.FirstOrder(ix.library.slider_crank())
    run = ix.simulate(ix.library.slider_crank(), (0.0, 0.01), t_eval=[0.0])
    body, coordinate = problem.names[0].split(".")
    place = 7 * ["crank", "rod", "slider"].index(body) + ["x", "y", "z", "e0", "e1", "e2", "e3"].index(coordinate)
    assert problem(0.0, problem.y0)[1] == pytest.approx(run.a[0, place], rel=1e-10)  # the same linear system
    y = problem.y0 + 1e-3
    exact, step = problem.jacobian(0.0, y), 1e-6
    for k in range(len(y)):
        change = step * np.eye(len(y))[k]
        slope = (problem(0.0, y + change) - problem(0.0, y - change)) / (2 * step)
        assert slope == pytest.approx(exact[:, k], rel=1e-6, abs=1e-6 * np.abs(exact).max())  # truncation h^2, rounding


def test_same_motion_as_a_run():
    model = ix.library.slider_crank()
    model.add(ix.Force("push", model["slider"], lambda t: (np.sin(20 * t), 0.0, 0.0)))
    problem = ix.FirstOrder(model)
    run = solve_ivp(problem, (0.0, 0.2), problem.y0, method="DOP853", rtol=1e-9, atol=1e-11)
    q, v = problem.expand(0.2, run.y[:, -1])
    wanted = ix.simulate(model, (0.0, 0.2), "dop853", rtol=1e-10, atol=1e-12, t_eval=[0.2])
    assert np.abs(q - wanted.q[-1]).max() < 1e-7  # both at some 10 times their tolerances, rates of 6 rad/s
    assert np.abs(v - wanted.v[-1]).max() < 1e-5
    again = ix.simulate(model, (0.2, 0.21), initial=(q, v))
    assert again.success


def test_coordinates_that_fail_are_named():
    """Wrong names and numbers; the height of a rod at its lowest point."""
    pendulum = ix.library.pendulum()
    with pytest.raises(ix.ModelError, match=r"no coordinate 'rod\.height'"):
        ix.FirstOrder(pendulum, independent=["rod.height"])
    with pytest.raises(ix.ModelError, match="1 degrees of freedom"):
        ix.FirstOrder(pendulum, independent=["rod.x", "rod.z"])
    with pytest.raises(ix.ModelError, match="dense matrices are made for up to 3000"):
        ix.FirstOrder(ix.library.chain(231)).jacobian(0.0, np.zeros(462))
    with pytest.raises(ix.SingularError, match="no longer describe the motion"):
        fall(ix.FirstOrder(leaning(), independent=["rod.y"]))


def leaning():
    """A rod on a pin, 60 degrees above the horizontal."""
    model = ix.Model("leaning", gravity=(0, -9.81, 0))
    rod = model.add(ix.PlanarBody("rod", 1.0, 1 / 12, position=(0.25, 0.433), angle=np.pi / 3))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    return model


def fall(problem):
    """Until its lowest point, where its height tells nothing of its motion."""
    return solve_ivp(problem, (0.0, 3.0), problem.y0, rtol=1e-8)


def test_large_models():
    """280 coordinates, eliminated sparse: the same motion as by `simulate`."""
    model = ix.library.chain(40)
    problem = ix.FirstOrder(model)
    assert len(problem.y0) == 80
    run = solve_ivp(problem, (0.0, 0.1), problem.y0, method="DOP853", rtol=1e-8, atol=1e-10)
    q, v = problem.expand(0.1, run.y[:, -1])
    result = ix.simulate(model, (0.0, 0.1), "dop853", rtol=1e-10, t_eval=[0.1])
    assert np.abs(q - result.q[-1]).max() < 1e-8  # measured 1e-11
    assert np.abs(v - result.v[-1]).max() < 1e-6


def test_small_and_large_models_are_eliminated_alike(monkeypatch):
    """Dense factors up to some size, sparse ones beyond: the same rates; small models never make a sparse matrix."""
    problem = ix.FirstOrder(ix.library.slider_crank())
    y = problem.y0 + 1e-3
    monkeypatch.setattr(first_order, "sparse_rows", None)
    dense = problem(0.0, y)
    monkeypatch.undo()
    monkeypatch.setattr(first_order, "DENSE", 0)
    assert problem(0.0, y) == pytest.approx(dense, rel=1e-10)  # conditions of 100


def test_codes_of_the_survey():
    """S4-107: what SciPy has of the codes surveyed, on the slider-crank from 1e-4 to 1e-10: evaluations for an error.

    As said there, an explicit code of high order is the cheapest at tight tolerances where evaluations are cheap, and
    Adams' formulas (LSODA) the cheapest of the multistep ones. Implicit ones gain nothing without stiffness; with it
    (`test_stiff_solvers_of_scipy`) nothing else runs. RADAU5 on large systems: S4-85 has the vehicle.
    """
    problem, work = ix.FirstOrder(ix.library.slider_crank()), {}
    exact = solve_ivp(problem, (0.0, 0.2), problem.y0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    for method in ("RK45", "DOP853", "LSODA", "BDF", "Radau"):
        exact_derivatives = {"jac": problem.jacobian} if method in ("BDF", "Radau") else {}
        rows = []
        for rtol in (1e-4, 1e-7, 1e-10):
            run = solve_ivp(
                problem, (0.0, 0.2), problem.y0, method=method, rtol=rtol, atol=0.1 * rtol, **exact_derivatives
            )
            rows.append((np.log(np.abs(run.y[:, -1] - exact).max()), np.log(run.nfev)))
        line = np.polyfit(*np.transpose(rows), 1)
        work[method] = float(np.exp(np.polyval(line, np.log(1e-9))))
    print("evaluations for an error of 1e-9:", work)
    assert (
        work["DOP853"] < work["RK45"] < work["LSODA"] < 0.7 * min(work["Radau"], work["BDF"])
    )  # 115, 152, 172; 348, 563


@pytest.mark.parametrize("dense", [200, 0])
def test_coordinates_that_all_but_fail_are_refused(dense, monkeypatch):
    """A rod that hangs straight, but for rounding: its height tells nothing of its motion, though nothing is zero."""
    monkeypatch.setattr(first_order, "DENSE", dense)
    model = ix.Model("hangs", gravity=(0, -9.81, 0))
    angle = -0.5 * np.pi + 1e-12
    centre = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    rod = model.add(ix.PlanarBody("rod", 1.0, 1 / 12, position=centre, angle=angle))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(ix.SingularError, match=r"rod\.y do not describe the motion"):
        ix.FirstOrder(model, independent=["rod.y"])
    assert ix.FirstOrder(model, independent=["rod.x"]).names == ["rod.x"]


def test_condition_numbers_are_those_of_the_matrix():
    """Estimates in the 1-norm by dense and by sparse factors."""
    matrix = np.random.default_rng(2).normal(size=(12, 12))
    for factors in (first_order.DenseFactors(matrix), first_order.SparseFactors(csc_array(matrix))):
        assert factors.condition() == pytest.approx(np.linalg.cond(matrix, 1), rel=0.7)  # a lower bound, mostly exact
        assert matrix @ factors.solve(np.arange(12.0)) == pytest.approx(np.arange(12.0), abs=1e-10)
