"""Curves: tables and functions, values, slopes, areas, and what springs make of them."""

import json
import pickle
import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import PchipInterpolator

from index3.bodies.ground import Ground
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.compiled.interface import JIT
from index3.errors import ModelError
from index3.forces.coordinate_spring import RotationalSpringDamper
from index3.forces.curve import Curve
from index3.forces.spring_damper import SpringDamper
from index3.joints import Revolute

X = np.array([-1.5, -0.6, -0.5, 0.3, 1.0, 2.5])
Y = np.array([-900.0, -250.0, -250.0, 40.0, 1300.0, 1350.0])
GROUND = Ground()
BOX = RigidBody.box("box", (1, 1, 1), mass=1.0, position=(0, 0, -2))


def cube(x):
    return 3.0 * x**3 + 2.0 * x


def cube_slope(x):
    return 9.0 * x**2 + 2.0


def cube_area(x):
    return 0.75 * x**4 + x**2 + 5.0  # any constant


CUBE = Curve.from_function(cube, cube_slope, integral=cube_area)


@pytest.mark.parametrize("interpolation", ["monotone", "linear"])
@pytest.mark.parametrize("extrapolation", ["linear", "constant", "error"])
def test_points_are_reproduced(interpolation, extrapolation):
    """S0-14: points of a table to 1e-12."""
    curve = Curve(X, Y, interpolation=interpolation, extrapolation=extrapolation)
    assert np.abs(curve(X) - Y).max() <= 1e-12 * np.abs(Y).max()
    assert [curve(x) for x in X] == curve(X).tolist()


def test_monotone_pieces_are_those_of_scipy():
    curve, reference = Curve(X, Y), PchipInterpolator(X, Y)
    x = np.linspace(X[0], X[-1], 501)
    assert np.allclose(curve(x), reference(x), rtol=0, atol=1e-12 * 1350)  # rounding
    assert np.allclose(curve.derivative(x[:-1]), reference(x[:-1], 1), rtol=0, atol=1e-11 * 2000)  # rounding
    areas = [reference.integrate(0.0, b) for b in x]
    assert np.allclose(curve.integral(x), areas, rtol=0, atol=1e-12 * 3000)  # rounding


def test_monotone_pieces_rise_where_the_points_do():
    """S0-14: no overshoot between points."""
    values = Curve(X, Y)(np.linspace(-3.0, 4.0, 2001))
    assert np.diff(values).min() >= -1e-10  # rounding of values up to 2000


def test_linear_pieces():
    curve = Curve([0.0, 1.0, 3.0], [1.0, 3.0, -1.0], interpolation="linear")
    assert [curve(x) for x in (0.5, 1.0, 2.0, 4.0, -1.0)] == [2.0, 3.0, 1.0, -3.0, -1.0]
    assert [curve.derivative(x) for x in (0.5, 1.0, 2.0, 4.0)] == [2.0, -2.0, -2.0, -2.0]
    assert abs(curve.integral(0.0)) <= 1e-12  # rounding of areas of about 1000
    assert curve.integral(3.0) == pytest.approx(2.0 + 2.0, rel=1e-15)


@pytest.mark.parametrize("x", [X, X + 4.0, X - 7.0])  # zero inside, left and right of the table
@pytest.mark.parametrize("extrapolation", ["linear", "constant"])
def test_beyond_the_points(x, extrapolation):
    curve = Curve(x, Y, extrapolation=extrapolation)
    for end, y in ((x[0], Y[0]), (x[-1], Y[-1])):
        slope = 0.0 if extrapolation == "constant" else PchipInterpolator(x, Y)(end, 1)
        out = 2.0 if end == x[-1] else -2.0
        assert curve(end + out) == pytest.approx(y + slope * out, rel=1e-12)
        assert curve.derivative(end + out) == pytest.approx(slope, rel=1e-12)
    for at in (x[0] - 1.0, x[2], x[-1] + 1.0):
        area = quad(curve, 0.0, at, points=[p for p in x if min(0.0, at) < p < max(0.0, at)], limit=200)[0]
        assert curve.integral(at) == pytest.approx(area, rel=1e-9, abs=1e-6)  # accuracy of the quadrature


def test_a_table_that_ends():
    curve = Curve(X, Y, extrapolation="error")
    with pytest.raises(ModelError, match=r"no value at 2\.6"):
        curve(2.6)
    with pytest.raises(ModelError, match=r"no value at -1\.6"):
        curve(np.array([0.0, -1.6]))
    assert abs(curve.integral(0.0)) <= 1e-12  # rounding of areas of about 1000
    assert Curve(X + 9.0, Y, extrapolation="error").integral(X[0] + 9.0) == 0.0


def test_functions():
    assert (CUBE(2.0), CUBE.derivative(2.0), CUBE.integral(2.0)) == (28.0, 38.0, 16.0)
    assert CUBE(np.array([0.0, 1.0])).tolist() == [0.0, 5.0]
    with pytest.warns(UserWarning, match="Curve of cube has no df: taken by differences") as caught:
        curve = Curve.from_function(cube)
    assert len(caught) == 1
    assert curve.derivative(2.0) == pytest.approx(38.0, rel=1e-9)  # central differences, step 2e-6
    assert not curve.has_integral
    with pytest.raises(ModelError, match="no antiderivative"):
        curve.integral(1.0)
    table = CUBE.tabulate([0.0, 1.0, 2.0], extrapolation="constant")
    assert table.y.tolist() == [0.0, 5.0, 28.0]


def test_files_and_copies():
    curve = Curve(X, Y, interpolation="linear", extrapolation="error")
    again = Curve.from_dict(json.loads(json.dumps(curve.to_dict())))
    assert np.array_equal(again.pieces, curve.pieces, equal_nan=True)
    assert np.array_equal(pickle.loads(pickle.dumps(curve)).pieces, curve.pieces, equal_nan=True)
    assert pickle.loads(pickle.dumps(CUBE))(2.0) == 28.0
    with pytest.raises(ModelError, match="made of functions"):
        CUBE.to_dict()
    with pytest.raises(ValueError, match="read-only"):
        curve.y[0] = 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Curve([0, 1], [0, 1, 2]), "Curve has 2 x and 3 y"),
        (lambda: Curve([0], [1]), "at least two"),
        (lambda: Curve([0, 1e-300, 1], [0, 1e300, 0]), "no finite slopes"),
        (lambda: Curve([0, 1e-300, 1], [0, 1e300, 0], interpolation="linear"), "no finite slopes"),
        (lambda: Curve([0, 2, 2], [0, 1, 2]), "x[2] = 2.0 after x[1] = 2.0"),
        (lambda: Curve([0, np.nan], [0, 1]), "x[1] = nan"),
        (lambda: Curve([0, 1], [0, np.inf]), "y[1] = inf"),
        (lambda: Curve("ab", [0, 1]), "Give a list of numbers"),
        (lambda: Curve([[0, 1]], [0, 1]), "Give a list of numbers"),
        (lambda: Curve([0, 1], [0, 1], interpolation="cubic"), "interpolation 'cubic'"),
        (lambda: Curve([0, 1], [0, 1], extrapolation=None), "extrapolation None"),
        (lambda: Curve.from_function(3.0), "f 3.0"),
        (lambda: Curve.from_function(cube, 2.0), "df 2.0"),
        (lambda: spring(stiffness=cube), "Curve.from_function(f, df)"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


def spring(**settings):
    return SpringDamper("strut", GROUND, BOX, points=((0, 0, 0), (0, 0, -2)), **settings)


def coil(**settings):
    return RotationalSpringDamper("coil", Revolute("pin", GROUND, BOX, at=(0, 0, 0), axis=(0, 0, 1)), **settings)


def place(b, length, rate):
    """One spring along z."""
    b[s.MARKER_R][:] = (0, 0, 0), (0, 0, length)
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][1, 2] = rate


@pytest.mark.jit_off
@pytest.mark.parametrize("length", [0.2, 1.5, 1.8, 2.6, 4.5, 9.0])
def test_springs_follow_their_curves(bench, length):
    table, rate = Curve(X, Y), -0.7
    b = bench([spring(stiffness=table, damping=CUBE, length=2.0, force=3.0)])
    place(b, length, rate)
    tension = table(length - 2.0) + cube(rate) + 3.0
    assert b.forces()[1, 2] == pytest.approx(-tension, rel=1e-14)
    potential, power = b.energies()
    assert potential == pytest.approx(table.integral(length - 2.0) + 3.0 * (length - 2.0), rel=1e-13)
    assert power == pytest.approx(-cube(rate) * rate, rel=1e-14)


@pytest.mark.jit_off
def test_a_straight_curve_is_a_number(bench):
    line = Curve([-1.0, 0.5, 1.0], [-30.0, 15.0, 30.0])
    for make in (spring, coil):
        by_curve = bench([make(stiffness=line, damping=line)])
        by_number = bench([make(stiffness=30.0, damping=30.0)])
        assert np.allclose(by_curve.forces(), by_number.forces(), rtol=1e-13, atol=1e-13)  # rounding
        assert np.allclose(by_curve.energies(), by_number.energies(), rtol=1e-13)
        for a, c in zip(by_curve.matrices(), by_number.matrices(), strict=True):
            assert np.allclose(a, c, rtol=1e-12, atol=1e-11)


@pytest.mark.jit_off
def test_derivatives_and_energy(bench):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = Curve.from_function(cube)
    laws = ((Curve(X, Y), 0.0), (CUBE, Curve(X, Y)), (bare, CUBE), (2.0, bare))
    for make in (spring, coil):
        b = bench([make(stiffness=k, damping=c) for k, c in laws])
        b.check_derivatives()
        b.check_energy()


def test_what_the_system_asks():
    with pytest.warns(UserWarning, match="no df"):
        bare = Curve.from_function(cube)
    for make in (spring, coil):
        assert make(stiffness=CUBE).conservative
        assert not make(stiffness=bare).conservative
        assert not make(stiffness=bare).damped
        assert make(damping=CUBE).damped
        assert not make(damping=CUBE).conservative


def bad(x):
    raise ValueError("no such x")


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (
            Curve([-1, 1], [-1, 1], extrapolation="error"),
            "SpringDamper 'strut' asks the curve of its stiffness for x = 1.5 at t = 0.7, but its table goes from -1",
        ),
        (
            Curve.from_function(bad, bad),
            "the function of its stiffness raised at x = 1.5, t = 0.7: ValueError: no such x",
        ),
        (Curve.from_function(lambda x: np.inf, bad), "gave no finite number at x = 1.5, t = 0.7"),
        (Curve.from_function(lambda x: "much", bad), "raised at x = 1.5, t = 0.7: ValueError"),
    ],
)
def test_a_curve_without_a_value_is_named(bench, curve, message):
    b = bench([spring(stiffness=1.0), spring(stiffness=curve, length=2.0)])
    b[s.MARKER_R][2:] = (0, 0, 0), (0, 0, 3.5)
    assert b.run("forces") == 2
    assert message in b.explain(1, "forces", 0.7)
    copied = pickle.loads(pickle.dumps(b.elements[1])) if curve.functions is None else b.elements[0]
    assert copied.failure is None


def test_a_function_that_numba_cannot_compile(bench):
    numba = pytest.importorskip("numba")
    wrong = Curve.from_function(numba.njit(lambda x: x + "much"), cube_slope)
    if JIT:
        with pytest.raises(ModelError, match="SpringDamper 'strut': Numba could not compile the function of its stiff"):
            bench([spring(stiffness=wrong)])


def test_functions_compiled_by_numba(bench):
    numba = pytest.importorskip("numba")
    compiled = Curve.from_function(numba.njit(cube), numba.njit(cube_slope), integral=numba.njit(cube_area))
    fast, slow = (bench([spring(stiffness=curve, damping=curve)]) for curve in (compiled, CUBE))
    assert np.allclose(fast.forces(), slow.forces(), rtol=1e-14, atol=1e-14)  # rounding of powers
    assert np.allclose(fast.energies(), slow.energies(), rtol=1e-14)
    assert np.allclose(fast.matrices(), slow.matrices(), rtol=1e-13, atol=1e-13)
