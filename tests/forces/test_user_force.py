"""Forces by users' functions: Python, Numba and C; derivatives; failures."""

import copy
import ctypes
import pickle
import re
import warnings
from math import sqrt

import numpy as np
import pytest

import index3 as ix
from index3.bodies.ground import Ground
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.compiled.interface import JIT
from index3.errors import ModelError
from index3.forces.user import UserForce

GROUND = Ground()
BOX = RigidBody.box("box", (1, 1, 1), mass=1.0)
BALL = PointMass("ball", 1.0)
C_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.POINTER(ctypes.c_double))


def strut(t, r, A, v, w, p, out):
    """A spring and damper, a torque that depends on both axes and rates, and one that depends on time."""
    d0, d1, d2 = r[1, 0] - r[0, 0], r[1, 1] - r[0, 1], r[1, 2] - r[0, 2]
    length = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    rate = (d0 * (v[1, 0] - v[0, 0]) + d1 * (v[1, 1] - v[0, 1]) + d2 * (v[1, 2] - v[0, 2])) / length
    tension = (p[0] * (length - 1.0) + p[1] * rate) / length
    out[0, 0], out[0, 1], out[0, 2] = tension * d0, tension * d1, tension * d2
    out[1, 0], out[1, 1], out[1, 2] = -tension * d0, -tension * d1, -tension * d2
    out[0, 5] = A[0, 0, 1] * A[1, 2, 2] * w[1, 0] + t
    out[1, 3] = w[0, 2] * A[1, 0, 0]


def spin_brake(t, r, A, v, w, p, out):
    for c in range(3):
        out[0, 3 + c] = -p[0] * w[0, c]


def spin_brake_jacobian(t, r, A, v, w, p, K, D):
    for c in range(3):
        D[3 + c, 3 + c] = -p[0]


def two(f=strut, **settings):
    return UserForce("mine", [GROUND.marker(), BOX], f, parameters=(10.0, 3.0), **settings)


def brake(**settings):
    return UserForce("brake", BOX, spin_brake, [2.5], **settings)


def test_words():
    force = two()
    assert force.kind == "index3.forces.user_kernels"
    assert [marker.body for marker in force.markers] == [GROUND, BOX]
    assert force.damped
    assert force.curved
    assert not force.conservative
    assert two(jacobian="differences").damped
    assert not two(jacobian="none").damped
    assert not two(jacobian="none").curved
    assert brake(jacobian=spin_brake_jacobian).curved
    assert force.parameters.tolist() == [10.0, 3.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UserForce("mine", [], strut), "UserForce 'mine' has markers []"),
        (lambda: UserForce("mine", 5, strut), "Give a marker or body, or a list of them"),
        (lambda: UserForce("mine", ["box"], strut), "UserForce 'mine' cannot act on 'box'"),
        (lambda: UserForce("mine", BOX, 5), "UserForce 'mine' has f 5. Give a function f(t, r, A, v, w, p, out)"),
        (lambda: UserForce("mine", BOX, lambda t: None), "has a function f with other arguments"),
        (lambda: UserForce("mine", BOX, strut, (1, float("nan"))), "Give 2 finite numbers"),
        (lambda: UserForce("mine", BOX, strut, 1.0), "has parameters 1.0. Give a list of numbers"),
        (lambda: UserForce("mine", BOX, strut, np.array(1.0)), "Give a list of numbers"),
        (lambda: two(jacobian="exact"), "has jacobian 'exact'. Give a function jacobian(t, r, A, v, w, p, K, D)"),
        (lambda: two(jacobian=strut), "has a function jacobian with other arguments"),
    ],
)
def test_errors_name_the_force(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.jit_off
def test_what_the_function_sees(bench):
    seen = []

    def look(t, r, A, v, w, p, out):
        seen.append((t, *(np.array(x) for x in (r, A, v, w, p, out))))
        assert not any(x.flags.writeable for x in (r, A, v, w, p))
        out[1, 4] = 5.0

    b = bench([brake(), UserForce("look", [BOX, BALL], look, (4.0,))])
    forces = b.forces()
    assert forces[2].tolist() == [0, 0, 0, 0, 5.0, 0]
    assert not forces[1].any()
    (t, r, A, v, w, p, out), V = seen[0], b[s.MARKER_V][1:]
    assert t == 0.7
    assert np.array_equal(r, b[s.MARKER_R][1:])
    assert np.array_equal(A, b[s.MARKER_A][1:].reshape(2, 3, 3))
    assert np.array_equal(v, V[:, :3])
    assert np.array_equal(w, V[:, 3:])
    assert p.tolist() == [4.0]
    assert out.shape == (2, 6)
    assert not out.any()
    b.check_energy()
    assert not seen[-1][-1].any()  # cleared again


@pytest.mark.jit_off
def test_differences(bench):
    b = bench([two(jacobian="differences"), brake(jacobian="differences")])
    b.check_derivatives()
    b.check_energy()


@pytest.mark.jit_off
def test_energy_is_that_of_the_last_push(bench):
    """Differences between push and energy leave the wrench alone."""
    b = bench([two(jacobian="differences")])
    total = float(np.sum(b.forces() * b[s.MARKER_V]))
    b.matrices()
    assert b.energies()[1] == pytest.approx(total, rel=1e-13)  # rounding of twelve products


@pytest.mark.jit_off
def test_own_jacobian(bench):
    b = bench([two(jacobian="none"), brake(jacobian=spin_brake_jacobian)])
    K, D = b.matrices(1)
    assert not K.any()
    assert np.array_equal(D, np.diag([0, 0, 0, 2.5, 2.5, 2.5]))
    K, D = b.matrices(0)
    assert not K.any()  # left out
    assert not D.any()


@pytest.mark.jit_off
def test_differences_are_the_default(bench):
    matrices = [bench([two(**settings)]).matrices() for settings in ({}, {"jacobian": "differences"})]
    for default, asked in zip(*matrices, strict=True):
        assert np.array_equal(default, asked)
        assert default.any()


@pytest.mark.jit_off
def test_numba_functions_give_the_same(bench):
    numba = pytest.importorskip("numba")
    compiled, law = numba.njit(strut), numba.njit(spin_brake)
    forces = [
        two(compiled, jacobian="differences"),
        UserForce("brake", BOX, law, [2.5], numba.njit(spin_brake_jacobian)),
    ]
    b, plain = bench(forces), bench([two(), brake()])
    assert np.allclose(b.forces(), plain.forces(), rtol=1e-14, atol=1e-14)  # rounding in another order
    b.check_derivatives()
    assert np.array_equal(b.matrices(1)[1], np.diag([0, 0, 0, 2.5, 2.5, 2.5]))


@pytest.mark.skipif(not JIT, reason="without compilation a Numba function runs as Python")
def test_numba_functions_that_fail(bench):
    numba = pytest.importorskip("numba")

    @numba.njit
    def broken(t, r, A, v, w, p, out):
        if t > 1.0:
            raise ValueError("late")

    @numba.njit
    def returning(t, r, A, v, w, p, out):
        return t

    @numba.njit
    def mistyped(t, r, A, v, w, p, out):
        out[0, 0] = r.length

    b = bench([two(broken)])
    assert b.run("forces") == 0
    b[s.TIME][0] = 2.0
    assert b.run("forces") == 1
    assert "failed there as compiled code" in b.explain(0, "forces", 2.0)
    with pytest.raises(ModelError, match=r"UserForce 'mine': its function f returns float64\. It must fill out"):
        bench([two(returning)])
    with pytest.raises(ModelError, match="UserForce 'mine': Numba could not compile its function f"):
        bench([two(mistyped)])


@pytest.mark.jit_off
def test_low_level_callables(bench):
    scipy = pytest.importorskip("scipy")

    @C_BLOCK
    def c_brake(t, block):
        for c in range(3):
            block[19 + 3 + c] = -block[18] * block[15 + c]  # 18 numbers of the marker, one parameter, then out
        return 0 if t < 1.0 else 7

    force = UserForce("brake", BOX, scipy.LowLevelCallable(c_brake), [2.5], "differences")
    b = bench([force])
    assert np.array_equal(b.forces(), bench([brake()]).forces())
    b.check_derivatives()
    b[s.TIME][0] = 2.0
    assert b.run("forces") == 1
    assert copy.deepcopy(force).f is force.f


def test_low_level_callables_are_checked():
    scipy = pytest.importorskip("scipy")
    other = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda t: t)
    with pytest.raises(ModelError, match=r"C signature 'double \(double\)'. Give 'int64 \(double, double \*\)'"):
        UserForce("brake", BOX, scipy.LowLevelCallable(other))


@pytest.mark.jit_off
def test_exceptions_are_kept_with_their_traceback(bench):
    calls = []

    def broken(t, r, A, v, w, p, out):
        calls.append(t)
        raise ZeroDivisionError("no road")

    b = bench([two(), two(broken)])
    assert b.run("forces") == 2
    assert b.run("forces") == 2
    assert len(calls) == 2  # asked again: a smaller step may avoid the error
    force = b.elements[1]
    assert "its function f raised ZeroDivisionError at t = 0.7: no road" in force.explain("forces", 0.7)
    assert isinstance(force.failure, ZeroDivisionError)
    assert force.failure.__traceback__.tb_next.tb_frame.f_code.co_name == "broken"


@pytest.mark.jit_off
def test_interrupts_are_kept_too(bench):
    calls = []

    def interrupted(t, r, A, v, w, p, out):
        calls.append(t)
        raise KeyboardInterrupt

    b = bench([two(interrupted)])
    assert b.run("forces") == 1
    assert b.run("forces") == 1
    assert len(calls) == 1  # not called again: the run is about to end
    assert isinstance(b.elements[0].failure, KeyboardInterrupt)


@pytest.mark.jit_off
def test_functions_must_return_none(bench):
    b = bench([two(lambda t, r, A, v, w, p, out: out)])
    assert b.run("forces") == 1
    failure = b.elements[0].failure
    assert isinstance(failure, ModelError)
    assert re.search(r"its function f returns .*It must fill out and return None", str(failure))


@pytest.mark.jit_off
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite(bench, value):
    def wild(t, r, A, v, w, p, out):
        out[1, 5] = value

    def wild_jacobian(t, r, A, v, w, p, K, D):
        D[11, 11] = value

    b = bench([two(), two(wild)])
    assert b.run("forces") == 2
    assert "its function f gave numbers that are not finite at t = 0.7" in b.explain(1, "forces", 0.7)
    b = bench([two(jacobian=wild_jacobian)])
    assert b.run("forces") == 0
    assert b.run("force_derivatives") == 1
    assert "its function jacobian gave" in b.explain(0, "force_derivatives", 0.7)


def test_pickle_and_copy():
    force = two(jacobian="differences")
    force.failure = ValueError("old")
    for other in (pickle.loads(pickle.dumps(force)), copy.deepcopy(force)):
        assert other.f is strut
        assert other.failure is None
        assert other.parameters.tolist() == [10.0, 3.0]
        assert other.markers[1].body is not BOX


def test_a_table_owns_its_callbacks(bench):
    b = bench([two(), brake(jacobian=spin_brake_jacobian)])
    assert len(b.own.keep) == 3


@pytest.mark.parametrize(("method", "most"), [("dopri5", 1.6), ("firstorder-sdirk4", 0.6), ("tlismni-hht", 1.6)])
def test_closing_constraints_asks_no_forces(method, most):
    """A force is asked where accelerations are wanted, not in every iteration that brings positions onto the rows."""
    model, calls = ix.library.four_bar(), 0

    def push(t, r, A, v, w, p, out):
        nonlocal calls
        calls += 1
        out[0, 0] = 3.0

    model.add(ix.UserForce("push", model["crank"].marker(), push, (), "none"))
    result = ix.simulate(model, (0.0, 0.2), method, rtol=1e-8, progress=False, t_eval=[0.0, 0.2])
    assert result.success
    assert calls < most * result.stats["evaluations"], (calls, result.stats["evaluations"])


def test_warnings_of_numpy_at_trial_points_stay_inside():
    """Where a trial goes too far, numbers of the user's function leave all bounds; the run sees that and says so."""
    model = ix.Model("runaway", gravity=(0, 0, 0))
    ball = model.add(ix.PointMass("ball", 1.0, position=(1.0, 0, 0)))

    def away(t, r, A, v, w, p, out):
        out[0, 0] = r[0, 0] ** 9 * r[0, 0] ** 200

    model.add(ix.UserForce("away", ball.marker(), away, (), "none"))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = ix.simulate(model, (0.0, 10.0), "dopri5", max_steps=2000, progress=False, step=1.0)
    assert not result.success
    assert [one.message for one in heard if one.category is RuntimeWarning] == []


def test_complex_numbers_are_refused():
    """NumPy keeps their real part: an oscillator written as x' = i x stood still, with success."""
    model = ix.Model("oscillator")
    block = model.add(ix.States("x", (1.0,)))

    def turn(t, r, A, v, w, p, out, x, rate):
        rate[:] = 1j * x

    model.add(ix.UserForce("turn", model.ground.marker(), turn, states=block))
    with pytest.raises(ix.ModelError, match=r"'turn'.*complex"):
        ix.simulate(model, (0.0, 1.0))
