"""Constraints by users' functions: joints rebuilt, many markers, time, Numba and C, failures, words."""

import ctypes
import pickle
import warnings

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

C_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.POINTER(ctypes.c_double))


def link(t, r, A, v, w, p, out):
    d = r[1] - r[0]
    out[0] = 0.5 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - p[0] * p[0]) / p[0]


def link_jacobian(t, r, A, v, w, p, G):
    for c in range(3):
        d = (r[1, c] - r[0, c]) / p[0]
        G[0, c], G[0, 6 + c] = -d, d


def together(t, r, A, v, w, p, out):
    out[:] = r[1] - r[0]


def blade(t, r, A, v, w, p, out):
    out[0] = A[1][:, 2] @ (v[1] - v[0] - np.cross(w[0], r[1] - r[0]))


def arm(make):
    """A body that swings from ground, tied by what `make` returns for two markers."""
    model = ix.Model("arm")
    body = model.add(
        ix.RigidBody(
            "body", 1.0, (0.1, 0.2, 0.15), position=(1, 0, 0), angular_velocity=(1, 0.5, 2), velocity=(0, 1, 0)
        )
    )
    model.add(make([model.ground.marker((0, 0, 0.2)), body.marker((-0.4, 0.1, 0), z=(0, 1, 0))]))
    return model


def sledge(make):
    """A body that slides on a tilted plane on a blade."""
    model = ix.Model("sledge", gravity=(0, -2.0, -9.0))
    body = model.add(ix.RigidBody("body", 1.0, (0.1, 0.2, 0.15), angular_velocity=(0, 0, 1), velocity=(1, 0, 0)))
    model.add(ix.Planar("floor", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(make([model.ground.marker(), body.marker((-0.1, 0, 0), z=(0, 1, 0))]))
    return model


def user(f, rows=1, **settings):
    """What `arm` and `sledge` take, with the same parameters for all."""
    length = float(np.linalg.norm((0.6, 0.1, -0.2)))

    def make(markers):
        return ix.UserConstraint("tie", markers, f, rows=rows, parameters=(length,), **settings)

    return make


REBUILT = {
    "distance": (arm, lambda ends: ix.Distance("tie", *ends), user(link, jacobian="differences")),
    "distance with jacobian": (arm, lambda ends: ix.Distance("tie", *ends), user(link, jacobian=link_jacobian)),
    "spherical": (arm, lambda ends: ix.Spherical("tie", *ends), user(together, 3, jacobian="differences")),
    "knife edge": (sledge, lambda ends: ix.KnifeEdge("tie", *ends), user(blade, level=1, jacobian="differences")),
}


@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name in REBUILT
        for method in ("hht-i3", "dop853", "rosenbrock4")
        if (name, method) != ("knife edge", "rosenbrock4")  # which takes no rows of velocities
    ],
)
def test_rebuilt_joints_move_the_same(name, method):
    model, exact, rebuilt = REBUILT[name]
    results = [ix.simulate(model(make), (0.0, 0.3), method, rtol=1e-6, t_eval=0.1) for make in (exact, rebuilt)]
    for result in results:
        assert result.success, result.message
    # the same steps of the same method: what is left are gradients good to 1e-12 and gamma good to 1e-9
    assert np.abs(results[0].q - results[1].q).max() < 1e-8
    assert np.abs(results[0].v - results[1].v).max() < 1e-8
    assert results[1]["tie"].force == pytest.approx(results[0]["tie"].force, abs=1e-6)
    assert results[1]["tie"].torque == pytest.approx(results[0]["tie"].torque, abs=1e-6)
    assert np.abs(results[0].energy.balance - results[1].energy.balance).max() < 1e-7


def test_three_markers():
    """A point mass kept halfway between two others: the reactions are as 1 : 1 : -2."""

    def halfway(t, r, A, v, w, p, out):
        out[:] = r[0] + r[1] - 2.0 * r[2]

    model = ix.Model("three")
    masses = [model.add(ix.PointMass(f"m{k}", 1.0 + k, position=(k, 0, 0), velocity=(0, k * k, 1))) for k in (0, 2, 1)]
    model.add(ix.UserConstraint("mean", masses, halfway, rows=3, jacobian="differences", time_step=None))
    assert model.check().dof == 6
    result = ix.simulate(model, (0.0, 1.0), rtol=1e-8, t_eval=0.25)
    mean = 0.5 * (result["m0"].position + result["m2"].position)
    assert np.abs(mean - result["m1"].position).max() < 1e-11  # closed at output points
    assert ix.simulate(model, (0.0, 0.1), events=lambda t, state: t - 0.05).t_events[0] == pytest.approx([0.05])
    forces = [result["mean"].on(k)[0] for k in range(3)]
    assert np.abs(forces[0]).max() < 1e-8  # all fall alike: nothing to do once the velocities agree
    assert forces[2] == pytest.approx(-2.0 * forces[0], abs=1e-8)


def test_one_marker_and_time():
    """A bead on a sphere that grows: r = 1 + t^2 / 2, pushed out along a straight line by the constraint alone."""

    def sphere(t, r, A, v, w, p, out):
        out[0] = np.sqrt(r[0] @ r[0]) - p[0] - 0.5 * t**2

    model = ix.Model("balloon", gravity=(0, 0, 0))
    bead = model.add(ix.PointMass("bead", 2.0, position=(1, 0, 0)))
    model.add(ix.UserConstraint("skin", bead, sphere, rows=1, parameters=(1.0,), jacobian="differences"))
    result = ix.simulate(model, (0.0, 2.0), "dop853", rtol=1e-8, t_eval=0.5)
    assert result["bead"].position[:, 0] == pytest.approx(1.0 + 0.5 * result.t**2, abs=1e-9)
    assert result["bead"].velocity[:, 0] == pytest.approx(result.t, abs=1e-9)
    assert result["skin"].force[:, 0] == pytest.approx(np.full(5, 2.0), abs=1e-7)  # m a; gamma is good to 1e-8
    assert result.energy.work[-1] == pytest.approx(0.5 * 2.0 * 4.0, abs=1e-6)  # all its energy is work of the skin
    assert np.ptp(result.energy.balance) < 1e-6


def test_velocity_row_with_drive():
    """A row of velocities that is not zero at rest: the spin about z is driven by cos t."""

    def spin(t, r, A, v, w, p, out):
        out[0] = w[0, 2] - np.cos(t)

    model = ix.Model("rotor", gravity=(0, 0, 0))
    rotor = model.add(ix.RigidBody("rotor", 1.0, (0.1, 0.1, 0.15)))
    model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.UserConstraint("motor", rotor, spin, rows=1, level=1, jacobian="differences"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as that nothing drives the rotor
        result = ix.simulate(model, (0.0, 2.0), "dop853", rtol=1e-9, t_eval=0.25)
    assert result["pin"].angle == pytest.approx(np.sin(result.t), abs=1e-7)
    assert result["motor"].torque[:, 2] == pytest.approx(-0.15 * np.sin(result.t), abs=1e-8)
    assert np.ptp(result.energy.balance) < 1e-7


def test_numba_and_c_give_the_same():
    numba = pytest.importorskip("numba")
    from scipy import LowLevelCallable

    def c_link(t, block):
        d = [block[3 + k] - block[k] for k in range(3)]
        p = block[36]  # after r 6, A 18, v 6, w 6
        block[37] = 0.5 * (sum(x * x for x in d) - p * p) / p
        return 0

    callback = C_BLOCK(c_link)
    address = ctypes.cast(callback, ctypes.c_void_p)
    ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
    ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    signature = b"int64 (double, double *)"
    low_level = LowLevelCallable(ctypes.pythonapi.PyCapsule_New(address, signature, None))
    ways = {
        "python": user(link, jacobian=link_jacobian),
        "numba": user(numba.njit(link), jacobian=numba.njit(link_jacobian)),
        "c": user(low_level, jacobian="differences"),
    }
    ends = {name: ix.simulate(arm(make), (0.0, 0.2), "hht-i3", t_eval=0.1).q[-1] for name, make in ways.items()}
    assert np.abs(ends["numba"] - ends["python"]).max() < 1e-12  # the same numbers but for the order of sums
    assert np.abs(ends["c"] - ends["python"]).max() < 1e-8


def test_what_a_function_raises_is_shown():
    def broken(t, r, A, v, w, p, out):
        if t > 0.05:
            raise ValueError("out of ink")
        link(t, r, A, v, w, p, out)

    result = ix.simulate(arm(user(broken, jacobian="differences")), (0.0, 0.2))
    assert not result.success
    assert "UserConstraint 'tie': its function f raised ValueError" in result.message
    with pytest.raises(ix.SimulationFailed) as caught:
        ix.simulate(arm(user(broken, jacobian="differences")), (0.0, 0.2), on_failure="raise")
    assert isinstance(caught.value.__cause__, ValueError)


def test_not_finite_and_returned_values_are_named():
    def undefined(t, r, A, v, w, p, out):
        out[0] = np.nan

    def returns(t, r, A, v, w, p, out):
        return 1.0

    with pytest.raises(ix.ModelError, match="UserConstraint 'tie': its function f gave numbers that are not finite"):
        ix.simulate(arm(user(undefined, jacobian="differences")), (0.0, 0.2))
    with pytest.raises(ix.ModelError, match=r"its function f returns 1\.0\. It must fill out and return None"):
        ix.simulate(arm(user(returns, jacobian="differences")), (0.0, 0.2))


def test_warning_without_jacobian():
    with pytest.warns(UserWarning, match="UserConstraint 'tie' has no jacobian: taken by differences"):
        arm(user(link))


def speed(t, r, A, v, w, p, out):
    out[0] = v[0] @ v[0] - 1.0


BALL = ix.PointMass("ball", 1.0, position=(1, 0, 0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ix.UserConstraint("c", [], link, rows=1), r"UserConstraint 'c' has markers \[\]"),
        (lambda: ix.UserConstraint("c", ["x"], link, rows=1), "cannot act on 'x'"),
        (lambda: ix.UserConstraint("c", BALL, link, rows=0), "has rows 0. Give the number of rows"),
        (lambda: ix.UserConstraint("c", BALL, link, rows=1.5), "has rows 1.5"),
        (lambda: ix.UserConstraint("c", BALL, link, rows=1, level=2), "has level 2. Give 0 for positions"),
        (lambda: ix.UserConstraint("c", BALL, 5, rows=1), r"has f 5. Give a function f\(t, r, A, v, w, p, out\)"),
        (lambda: ix.UserConstraint("c", BALL, lambda t: None, rows=1), "has a function f with other arguments"),
        (
            lambda: ix.UserConstraint("c", BALL, link, rows=1, jacobian="exact"),
            r"function jacobian\(t, r, A, v, w, p, G",
        ),
        (lambda: ix.UserConstraint("c", BALL, link, rows=1, scale=0.0), "has scale 0.0. Give a positive number"),
        (lambda: ix.UserConstraint("c", BALL, link, rows=1, time_step=-1), "has time_step -1.0"),
        (lambda: ix.UserConstraint("c", BALL, link, rows=1, parameters=3), "has parameters 3. Give a list"),
        (
            lambda: ix.UserConstraint("c", BALL, speed, rows=1, jacobian="differences"),
            "its row 0 changes with the velocities. Rows of level 0 restrain positions",
        ),
        (
            lambda: ix.UserConstraint("c", BALL, speed, rows=1, level=1, jacobian="differences"),
            "its row 0 is not affine in the velocities",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:UserConstraint")
def test_words_that_are_refused(make, message):
    with pytest.raises(ix.ModelError, match=message):
        make()


def test_copies_and_pickles():
    model = arm(user(link, jacobian=link_jacobian))
    for other in (model.copy(), pickle.loads(pickle.dumps(model))):
        tie = other["tie"]
        assert tie.f is link
        assert tie.markers[1].body is other["body"]
        assert tie.row_labels == ("out[0]",)
    assert repr(model["tie"]) == "UserConstraint('tie', 'ground', 'body')"


@pytest.mark.parametrize("given", [False, True], ids=["differences", "jacobian"])
@pytest.mark.parametrize("time_step", [None, 1e-3])
def test_calls_are_as_many_as_the_manual_says(given, time_step):
    """A marker on ground (0 components that move) and one on a point mass (3): n = 12, m = 3."""
    calls = {"f": 0, "jacobian": 0}

    def counted(t, r, A, v, w, p, out):
        calls["f"] += 1
        link(t, r, A, v, w, p, out)

    def counted_jacobian(t, r, A, v, w, p, G):
        calls["jacobian"] += 1
        link_jacobian(t, r, A, v, w, p, G)

    model = ix.Model("bead")
    bead = model.add(ix.PointMass("bead", 1.0, position=(1, 0, 0), velocity=(0, 1, 0)))
    jacobian = counted_jacobian if given else "differences"
    markers = [model.ground.marker(), bead.marker()]
    row = ix.UserConstraint("row", markers, counted, rows=1, parameters=(1.0,), jacobian=jacobian, time_step=time_step)
    model.add(row)
    state = State(compile_model(model, ()))
    state.move(0.0, state.system.q0, state.system.v0)
    state[s.LAM][:] = 1.0
    state[s.COEF][:] = 1.0
    seen = []
    for kernel in (evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.matrix):
        calls |= {"f": 0, "jacobian": 0}
        assert state.run(kernel) == 0
        seen.append((calls["f"], calls["jacobian"]))
    timed, n, m = int(time_step is not None), 12, 3
    residual = (1 + 4 * timed, 1) if given else (4 * n + 1 + 4 * timed, 0)
    matrix = (4, 2 * m + 4 * timed) if given else (2 * m * (m + 1) + 4 + 16 * m * timed, 0)
    assert seen == [residual, (0, 0), (4, 0), matrix]
    calls |= {"f": 0, "jacobian": 0}
    state[s.V][:] *= 2.0  # the gradient does not depend on it
    kept = state[s.ROW_G].copy()
    assert state.run(evaluate.forces) == 0
    assert (calls["f"], calls["jacobian"]) == (1 + 4 * timed, 0)
    assert state[s.ROW_G].tobytes() == kept.tobytes()
    state[s.Q][:] *= 1.5
    assert state.run(evaluate.forces) == 0
    assert state[s.ROW_G].tobytes() != kept.tobytes()
