"""Newmark's family, `HHT(alpha=0, newmark=(beta, gamma))`: stability at any step, order, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import Stepper, orders, oscillator

import index3 as ix

TRAPEZOIDAL = (0.25, 0.5)
DAMPED = [((gamma + 0.5) ** 2 / 4, gamma) for gamma in (0.6, 0.8, 1.5)]
ALL = [TRAPEZOIDAL, *DAMPED, (0.6, 0.7)]


def one_step(pair, phase):
    """The matrix that takes (x, h x') over one step of the oscillator x'' = -x with h = `phase`."""
    columns, small = [], 1.0 / max(1.0, phase**2)  # or the prediction would leave the spring's 10 m
    for x, speed in ((small, 0.0), (0.0, small / phase)):
        stepper = Stepper(oscillator(1.0, x=x, speed=speed), ix.HHT(alpha=0.0, newmark=pair))
        stepper.step(phase)
        columns.append((stepper.q[0] / small, phase * stepper.v[0] / small))
    return np.array(columns).T


@pytest.mark.parametrize("pair", ALL)
def test_no_step_makes_an_oscillation_grow(pair):
    """S2-16: both eigenvalues of a step lie in the unit circle, for h omega from 0.01 to 100.

    That is |det| <= 1 and |trace| <= 1 + det, which rounding does not blur where the two eigenvalues meet.
    """
    for phase in 10.0 ** np.arange(-2, 2.5, 0.5):
        matrix = one_step(pair, phase)
        det, trace = np.linalg.det(matrix), np.trace(matrix)
        # rounding of 10 m, relative to amplitudes of (h omega)^-2; some roundings each
        rounding = 1e-13 * max(1.0, phase**2)
        assert abs(det) <= 1.0 + rounding
        assert abs(trace) <= 1.0 + det + rounding
        if pair == TRAPEZOIDAL:
            assert det == pytest.approx(1.0, abs=rounding)  # it keeps the amplitude


def test_larger_gamma_damps_more():
    """S2-16: the amplitude that a step leaves, sqrt(det), falls with gamma on the border of stability."""
    left = [np.linalg.det(one_step(pair, 1.0)) for pair in (TRAPEZOIDAL, *DAMPED)]
    assert np.all(np.diff(left) < -0.01)


@pytest.mark.parametrize("pair", ALL)
def test_only_the_trapezoidal_pair_is_of_second_order(pair):
    """S2-16: error of an oscillation after 1 s, x and x' together (each alone passes through zero at times)."""
    errors = []
    for count in (200, 400, 800):
        result = ix.simulate(
            oscillator(9.0), (0, 1), "hht-i3", step=1 / count, t_eval=[1.0], project=False, alpha=0.0, newmark=pair
        )
        errors.append(np.hypot(result.q[-1, 0] - 0.1 * np.cos(3.0), result.v[-1, 0] / 3 + 0.1 * np.sin(3.0)))
    # the next term of the expansion is h = 1/800 times some units
    assert orders(np.array(errors))[-1] == pytest.approx(2.0 if pair == TRAPEZOIDAL else 1.0, abs=0.05)


def test_the_trapezoidal_pair_is_hht_without_damping():
    """S2-16: the same numbers, with chosen steps too."""
    plain = ix.simulate(oscillator(9.0), (0, 1), "hht-i3", alpha=0.0)
    named = ix.simulate(oscillator(9.0), (0, 1), "hht-i3", alpha=0.0, newmark=TRAPEZOIDAL)
    assert np.array_equal(plain.q, named.q)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"newmark": (0.25, 0.4)}, "gamma of newmark = 0.4"),
        ({"newmark": (0.25, 0.6)}, "beta of newmark = 0.25"),
        ({"newmark": (0.3025 - 1e-12, 0.6)}, "beta of newmark = 0.302"),
        ({"newmark": 0.25}, "Give a pair"),
        ({"newmark": (0.25, 0.5), "alpha": -0.1}, "alpha = -0.1. Leave alpha out"),
    ],
)
def test_pairs_that_are_refused(options, words):
    with pytest.raises(ix.ModelError, match="hht-i3") as error:
        ix.simulate(oscillator(1.0), (0, 1), "hht-i3", **options)
    assert words in str(error.value)


@pytest.mark.parametrize("gamma", [0.5, 0.6, 0.7, 0.9, 1.1])
def test_the_least_beta_may_be_written_in_decimals(gamma):
    """0.3025 is (0.6 + 0.5)^2 / 4 but for rounding."""
    beta = round((gamma + 0.5) ** 2 / 4.0, 6)
    assert ix.HHT(newmark=(beta, gamma)).parameters == (beta, gamma)


def test_alpha_follows_from_newmark():
    """Unless it is given: -0.3 by itself, none beside Newmark's own pair."""
    assert (ix.HHT().alpha, ix.HHT.options["alpha"]) == (-0.3, -0.3)
    assert ix.HHT(newmark=(0.25, 0.5)).alpha == 0.0
    assert ix.simulate(oscillator(1.0), (0, 1), ix.HHT(newmark=(0.3025, 0.6)), step=0.1).success
