"""Passages of a function through zero between two times at which it is known."""

from __future__ import annotations

import math

import pytest

from index3.engine.passages import first_zero, pieces_between, times_within


def counted(f):
    times = []

    def ask(t):
        times.append(t)
        return f(t)

    return ask, times


@pytest.mark.parametrize(
    ("f", "a", "b"),
    [
        (lambda t: t - 0.3, 0.0, 1.0), (lambda t: t**3 - 0.1, -1.0, 1.0),
        (lambda t: math.atan(1e4 * (t - 0.7)), 0.0, 1.0),
        (lambda t: -1.0 if t < 0.123 else 1.0, 0.0, 1.0), (lambda t: (t - 0.5) ** 9, 0.0, 1.2),
        (lambda t: math.exp(20 * t) - 2.0, 0.0, 1.0),
    ],
)  # fmt: skip
def test_a_zero_is_found_on_the_side_behind_it(f, a, b):
    ask, times = counted(f)
    t = first_zero(ask, (a, f(a), b, f(b)), 1e-12)
    assert f(t) >= 0.0 or f(t) == pytest.approx(0.0, abs=1e-100)
    assert f(t - 2e-12) < 0.0 or abs(f(t - 2e-12)) < 1e-100  # the ninth power is rounding there
    assert len(times) <= 60  # bisection takes 40; a jump and the ninth power need as many


def test_a_turn_is_seen_by_the_value_before():
    """A parabola that dips below zero for a hundredth of the time; three values tell it, one call proves it."""
    ask, times = counted(lambda t: (t - 0.4) ** 2 - 2.5e-5)
    found = pieces_between(ask, (-0.2, 0.36), (0.0, 0.16), (1.0, 0.36), 1.0)
    assert len(times) == 1
    assert found == [
        (0.0, 0.16, pytest.approx(0.4), pytest.approx(-2.5e-5)),
        (pytest.approx(0.4), pytest.approx(-2.5e-5), 1.0, 0.36),
    ]


def test_a_line_costs_no_call():
    ask, times = counted(lambda t: 1.0 + t)
    assert pieces_between(ask, (-1.0, 0.0), (0.0, 1.0), (1.0, 2.0), 2.0) == [(0.0, 1.0, 1.0, 2.0)]
    assert not times


def test_roundings_of_zero_are_left_alone():
    ask, times = counted(lambda t: -1e-16)
    assert len(pieces_between(ask, None, (0.0, 1e-16), (1.0, 1e-16), 1.0)) == 1
    assert not times


def test_long_steps_are_looked_into():
    assert times_within(0.0, 1.0, 1.0)[63] == 0.5
    assert times_within(2.0, 2.001, 1.0) == [2.001]
    assert times_within(2.0, 2.0, 0.0) == [2.0]
