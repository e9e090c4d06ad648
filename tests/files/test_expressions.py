"""Formulas and tables as functions: values, exact derivatives, and nothing but formulas."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from file_examples import two_pins
from hypothesis import given
from hypothesis import strategies as st

import index3 as ix

FORMULAS = {
    "0.5*sin(2*t)": lambda t: 0.5 * math.sin(2 * t),
    "exp(-t)*cos(3*t)": lambda t: math.exp(-t) * math.cos(3 * t),
    "t**3 - 2*t**2 + 1": lambda t: t**3 - 2 * t**2 + 1,
    "sqrt(1 + t**2) / (2 + t)": lambda t: math.sqrt(1 + t**2) / (2 + t),
    "atan2(sin(t), 2 + cos(t))": lambda t: math.atan2(math.sin(t), 2 + math.cos(t)),
    "tanh(t) + sinh(t)*cosh(t)": lambda t: math.tanh(t) + math.sinh(t) * math.cosh(t),
    "asin(t/5) - acos(t/4)": lambda t: math.asin(t / 5) - math.acos(t / 4),
    "2**t + t**t + (1 + t)**-2.5": lambda t: 2**t + t**t + (1 + t) ** -2.5,
    "log(2 + t)*tan(t/3) + atan(t)": lambda t: math.log(2 + t) * math.tan(t / 3) + math.atan(t),
    "where(0 < t <= 1.2, t**2, sin(t))": lambda t: t**2 if t <= 1.2 else math.sin(t),
    "min(t**2, t) + max(t, 2, t**3) + abs(-t*pi*e)": lambda t: min(t**2, t) + max(t, 2, t**3) + t * math.pi * math.e,
    "step(t, 0, 1, 2*t + 1, 5)": lambda t: 1 + 4 * (t / (2 * t + 1)) ** 2 * (3 - 2 * t / (2 * t + 1)),
    "step5(t, 0, 1, 2, 5)": lambda t: 1 + 4 * (t / 2) ** 3 * (10 - 15 * t / 2 + 6 * (t / 2) ** 2),
    "-(+t)": lambda t: -t,
}


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("t", [0.3, 0.8, 1.7])
def test_value_and_derivatives(text, t):
    f, h = ix.Expression(text), 1e-4
    assert f(t) == pytest.approx(FORMULAS[text](t), rel=1e-14)  # a few roundings
    # 1e-6: central differences with h = 1e-4 of functions on the scale of 1 are good to h^2 times a third derivative
    assert f.derivative(t) == pytest.approx((f(t + h) - f(t - h)) / (2 * h), rel=1e-6, abs=1e-6)
    second = (f.derivative(t + h) - f.derivative(t - h)) / (2 * h)
    assert f.second_derivative(t) == pytest.approx(second, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["step", "step5"])
def test_steps_stay_outside(name):
    f = ix.Expression(f"{name}(t, 1, 2, 3, 5)")
    assert [f(t) for t in (0.0, 1.0, 2.0, 3.0, 9.0)] == [2.0, 2.0, 3.5, 5.0, 5.0]
    assert f.derivative(9.0) == f.second_derivative(0.0) == 0.0


def test_powers_at_zero():
    assert ix.Expression("t**2 + 3*t**1 + t**0").jet(0.0) == (1.0, 3.0, 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os').system('true')", "column 1: a dot has no meaning"),
        ("__import__('os')", "column 1: unknown function '__import__'"),
        ("1 + t.real", "column 5: a dot"),
        ("t[0]", "column 1: \\[ \\] has no meaning"),
        ("lambda x: x", "lambda has no meaning"),
        ("2*x", "column 3: unknown name 'x'. There are: t, pi, e"),
        ("sni(t)", "unknown function 'sni'. Did you mean sin"),
        ("sin", "needs its arguments in parentheses"),
        ("sin(t, t)", "sin takes 1 arguments, not 2"),
        ("sin(x=t)", "without names"),
        ("sin(*t)", "a star"),
        ("1 if t else 2", "if has no meaning"),
        ("t < 1", "belongs in where"),
        ("where(t, 1, 2)", "a comparison"),
        ("where(t == 1, 1, 2)", "only < <= > >="),
        ("t^2", "Write \\*\\* for a power"),
        ("t // 2", "only \\+ - \\* / \\*\\* are known"),
        ("'a'", "is not a number"),
        ("True", "is not a number"),
        ("2j", "is not a number"),
        ("1e999", "too large"),
        ("9" * 400, "too large"),
        ("9" * 5000, "digits|no formula has"),  # versions of Python differ in what they raise
        ("t\0", "null bytes|no formula has"),
        ("sin(t", "at column 4"),
        ("t; t", "at column 2"),
        ("", "Give a formula"),
        ("(" * 150 + "t" + ")" * 150 + " +", "nested|syntax"),
        ("-" * 5000 + "t", "nested"),
        ("+".join(["t"] * 3000), "nested"),
        ("t" + "+1" * 300, "nested more than 200"),
        ("1" * 20_000, "more than 10000"),
        ("[t for t in (1, 2)]", "has no meaning"),
        ("(t := 3)", ":= has no meaning"),
    ],
)
def test_what_is_no_formula_is_refused(text, message):
    with pytest.raises(ix.ModelError, match=message) as caught:
        ix.Expression(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@given(st.text(max_size=60))
def test_any_text_is_a_formula_or_a_named_error(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python's parser, about odd numbers
        with contextlib.suppress(ix.ModelError):
            ix.Expression(text)


@pytest.mark.parametrize(
    "text", ["1/t", "log(t)", "sqrt(t - 1)", "(t - 1)**0.5", "step(1, 1, 0, t, 1)", "exp(800 + t)"]
)
def test_formula_without_a_value_says_where(text):
    with pytest.raises(ix.ModelError, match="has no value at t = 0"):
        ix.Expression(text)(0.0)


def test_huge_power_ends_at_once():
    with pytest.raises(ix.ModelError, match="too large"):
        ix.Expression("t**9**9**9")(2.0)


def test_expression_travels():
    f = ix.Expression("x**2", "x")
    for other in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        assert other == f
        assert other(3.0) == 9.0
    assert repr(f) == "Expression('x**2', 'x')"


@pytest.mark.parametrize("variable", ["sin", "pi", "2", "", 3])
def test_odd_variable_is_refused(variable):
    with pytest.raises(ix.ModelError, match="variable"):
        ix.Expression("1", variable)


def test_scaled_is_the_function_in_other_units():
    f, g = ix.Expression("90*sin(t) + exp(0.001*t)"), ix.Expression("90*sin(t) + exp(0.001*t)").scaled(0.5, 1e-3)
    assert g(0.002) == pytest.approx(0.5 * f(2.0), rel=1e-15)  # t / 0.001 is 2 up to one rounding
    assert f.scaled(1.0, 1.0) is f


TABLE = ([0.0, 0.5, 1.0, 2.0, 3.0], [0.0, 0.2, -0.1, 0.4, 0.5])


def test_time_table_is_the_spline_of_scipy():
    from scipy.interpolate import CubicSpline

    table, spline = ix.TimeTable(*TABLE), CubicSpline(*TABLE)
    for t in np.linspace(0.0, 3.0, 31).tolist():
        # 1e-14: the same polynomials, summed in another order
        assert table(t) == pytest.approx(float(spline(t)), abs=1e-14)
        assert table.derivative(t) == pytest.approx(float(spline(t, 1)), abs=1e-13)
        assert table.second_derivative(t) == pytest.approx(float(spline(t, 2)), abs=1e-13)
    assert [table(t) for t in TABLE[0][:-1]] == TABLE[1][:-1]


def test_time_table_outside():
    with pytest.raises(ix.ModelError, match=r"has no value at t = 3\.1"):
        ix.TimeTable(*TABLE)(3.1)
    assert ix.TimeTable(*TABLE)(3.0 + 1e-12) == pytest.approx(0.5, abs=1e-15)  # roundings of times are forgiven
    held = ix.TimeTable(*TABLE, extrapolation="constant")
    assert (held(-1.0), held.derivative(9.0)) == (0.0, 0.0)
    line = ix.TimeTable(*TABLE, extrapolation="linear")
    assert line(4.0) - line(3.5) == pytest.approx(0.5 * line.derivative(3.0), rel=1e-12)  # differences of roundings
    assert line.second_derivative(4.0) == 0.0


@pytest.mark.parametrize(
    ("t", "y", "message"),
    [
        ([0, 1], [0], "2 t and 1 y"),
        ([0], [0], "at least two"),
        ([0, 1, 1], [0, 1, 2], "Give t that increase"),
        ([0, math.nan], [0, 1], "TimeTable has t\\[1\\] = nan"),
        ("ab", [0, 1], "Give a list of numbers"),
        ([0, 1e-300], [0, 1e300], "no spline with finite slopes"),
    ],
)
def test_bad_time_table_is_named(t, y, message):
    with pytest.raises(ix.ModelError, match=message):
        ix.TimeTable(t, y)


@pytest.mark.parametrize("f", [ix.Expression("sin(t)"), ix.TimeTable(*TABLE)])
def test_motion_takes_the_derivatives_without_a_warning(f):
    _, pin, _ = two_pins()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = ix.Motion("drive", pin, f)
    value, rate, second = motion.functions
    assert (value(0.7), rate(0.7), second(0.7)) == (f(0.7), f.derivative(0.7), f.second_derivative(0.7))


def test_derivative_of_a_given_rate_is_its_own():
    _, pin, _ = two_pins()
    motion = ix.Motion("drive", pin, lambda t: math.sin(t), ix.Expression("cos(t)"))
    assert motion.functions[2](0.3) == pytest.approx(-math.sin(0.3), rel=1e-15)  # exact, not by differences


def test_curve_of_an_expression_needs_no_df():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = ix.Curve.from_function(ix.Expression("x**3", "x"))
    assert curve.derivative(2.0) == 12.0


def test_run_driven_by_an_expression():
    model, pin, _ = two_pins()
    model.add(ix.Motion("drive", pin, ix.Expression("0.5*step5(t, 0, 0, 0.2, 1)")))
    result = ix.simulate(model, (0.0, 0.3), t_eval=0.1)
    assert result["pin"].angle == pytest.approx([0.0, 0.25, 0.5, 0.5], abs=1e-9)  # held to the Newton tolerance
