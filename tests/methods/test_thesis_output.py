"""Values inside steps: the thesis's continuous weights of its SDIRK formulas beside the polynomial used here."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oscillator import orders, oscillator

import index3 as ix
from index3.methods.tableaus import SDIRK4_15, SDIRK4_16, fractions

PRINTED_16 = fractions(  # (4.12): weights of the stages in powers of theta from 1 to 4
    "11/3 11/2 -125/18 0 -11/9",
    "-463/72 -385/16 20125/432 -85/4 557/108",
    "217/36 661/24 -8875/216 85/6 -359/54",
    "-20/9 -10 250/27 0 80/27",
)
PRINTED_15 = np.array([  # section 4.5.1: the same for z = h A k
    [24.74416644927758, -4.325375951824688, 41.39683763286316, -61.04144619901784, -3.391332232917013],
    [-51.98245719616925, 10.52501981094525, -154.2067922191855, 214.3082125319825, 14.71166018088679],
    [33.14347947522142, -19.72986789558523, 230.4878502285804, -287.6629744338197, -18.99932366302254],
    [-5.905188728329743, 13.53022403646467, -117.6778956422581, 134.3962081008550, 8.678995715052762],
])  # fmt: skip


def conditions(tableau, rows):
    """What rows of weights by power of theta leave of the conditions b c^k = theta^(k+1)/(k+1), b A c = theta^3/6."""
    A, c, size = tableau.A, tableau.c, range(tableau.stages)
    Ac = [sum((A[i][j] * c[j] for j in size), Fraction(0)) for i in size]
    wanted = [([x**k for x in c], k, Fraction(1, k + 1)) for k in range(4)] + [(Ac, 2, Fraction(1, 6))]
    return [
        sum(row[i] * values[i] for i in size) - (value if power == j else 0)
        for values, power, value in wanted
        for j, row in enumerate(rows)
    ]


def test_continuous_weights_of_sdirk4_16():
    """S4-44: (4.12) in fractions: the conditions hold for every theta, and theta = 1 gives the formula itself."""
    assert conditions(SDIRK4_16, PRINTED_16) == [0] * 20
    assert [sum(column) for column in zip(*PRINTED_16, strict=True)] == SDIRK4_16.b


def test_continuous_weights_of_sdirk4_15():
    """S4-45: the printed decimals: conditions to rounding, and theta = 1 gives y1 = y0 + z5 to 1e-13."""
    A = np.array(SDIRK4_15.A, float)
    left = np.array([float(x) for x in conditions(SDIRK4_15, PRINTED_15 @ A)])
    assert np.abs(left).max() < 1e-11  # twelve digits of numbers up to 290 are printed right
    z = np.array([1e-1, 3e-1, 2e-1, 15e-2, 4e-1])
    assert PRINTED_15.sum(axis=0) @ z == pytest.approx(z[4], abs=1e-13)  # the demand; seen 1e-14


def middle_of_a_step(h):
    """(4.12) at half a step of h of SDIRK4/16 on x'' = -x from x = 0.1: its error."""
    A, J = np.array(SDIRK4_16.A, float), np.array([[0.0, 1.0], [-1.0, 0.0]])
    stages = np.linalg.solve(np.eye(10) - h * np.kron(A, J), np.tile(J @ (0.1, 0.0), 5)).reshape(5, 2)
    weights = np.array([0.5, 0.25, 0.125, 0.0625]) @ np.array(PRINTED_16, float)
    return abs(0.1 + h * weights @ stages[:, 0] - 0.1 * np.cos(0.5 * h))


@pytest.mark.parametrize("key", ["descriptor-sdirk4", "firstorder-sdirk4"])
def test_values_inside_a_step_are_better_than_by_continuous_weights(key):
    """S4-44, S4-45: the polynomial of degree 5 through q, v and a at both ends is one order better than (4.12).

    In the middle of a first step its error falls with h^5 or faster, that of (4.12) with h^4; S4-44's conditions are
    those of quadrature, not of order 4.
    """
    steps, ours = (0.4, 0.2, 0.1), []
    for h in steps:
        result = ix.simulate(oscillator(1.0), (0, h), key, step=h, t_eval=[0.5 * h], project=False)
        ours.append(abs(result.q[0, 0] - 0.1 * np.cos(0.5 * h)))
    thesis = [middle_of_a_step(h) for h in steps]
    print(key, ours, thesis, orders(np.array(ours)), orders(np.array(thesis)))
    assert np.all(orders(np.array(ours)) > 4.7)
    assert np.all(np.abs(orders(np.array(thesis)) - 4.0) < 0.3)
    assert ours[-1] < thesis[-1]


@pytest.mark.parametrize(("key", "order"), [
    ("descriptor-sdirk4", 4), ("firstorder-sdirk4", 4), ("rosenbrock4", 4), ("dopri5", 5), ("dop853", 8),
    ("statespace-trapezoidal", 2),
])  # fmt: skip
def test_steps_go_on_with_the_higher_order(key, order):
    """S4-57: local extrapolation: the error of one step falls with the order of the better formula of a pair, plus 1.

    The embedded ones have orders 3, 3, 3, 4, 5 and 1.
    """
    errors = []
    for h in (1.0, 0.5) if order == 8 else (0.2, 0.1):
        result = ix.simulate(oscillator(1.0), (0, h), key, step=h, t_eval=[h], project=False)
        exact = 0.1 * np.cos(h), -0.1 * np.sin(h)
        errors.append(np.hypot(result.q[0, 0] - exact[0], result.v[0, 0] - exact[1]))
    print(key, errors, orders(np.array(errors)))
    assert orders(np.array(errors))[0] == pytest.approx(order + 1, abs=0.5)
