"""First-order states in small units, and rates that have no value beyond zero: levels, concentrations, currents."""

from __future__ import annotations

import math

import numpy as np
import pytest

import index3 as ix


def run(rates, start, end, method, **settings):
    def fill(t, r, A, v, w, p, out, x, rate):
        rate[:] = rates(t, x)

    model = ix.Model("states")
    block = model.add(ix.States("x", tuple(start)))
    model.add(ix.UserForce("rates", model.ground.marker(), fill, states=block))
    result = ix.simulate(model, (0.0, end), method, t_eval=[0.0, end], **settings)
    assert result.success, result.message
    return result.states["x"][-1], result.stats["steps"] + result.stats["rejected"]


def enzyme(y):
    """Michaelis and Menten: the rate bends where a concentration is a tenth."""
    flow = 3.0 * y[0] / (0.1 + y[0])
    return np.array([0.5 * y[1] - flow, flow - 200.5 * y[1] + 1.0])


@pytest.mark.parametrize("unit", [1e-9, 1e-5])
@pytest.mark.parametrize("method", ["radau5", "bdf-si2", "bdf-i3", "descriptor-sdirk4"])
def test_laws_that_bend_within_a_millionth(method, unit):
    """Differences over 1e-6 missed the law: 8142 steps of `radau5` in place of 22, and 7 % off."""
    start, settings = (1.0, 0.0), {"rtol": 1e-3}
    right, steps = run(lambda t, y: enzyme(y), start, 3.0, method, atol=1e-5, **settings)
    small, more = run(lambda t, y: unit * enzyme(y / unit), (unit, 0.0), 3.0, method, atol=1e-5 * unit, **settings)
    assert more <= steps + 5  # roundings differ
    assert small / unit == pytest.approx(right, rel=1e-3)  # the same motion, within rtol


def brusselator(y):
    return np.array([1.0 + y[0] ** 2 * y[1] - 4.0 * y[0], 3.0 * y[0] - y[0] ** 2 * y[1]])


@pytest.mark.parametrize("method", ["radau5", "bdf-si2", "descriptor-sdirk4", "firstorder-sdirk4"])
def test_corrections_of_small_states_are_no_roundings(method):
    """They were, below 1e-14 in whatever unit: 3e-5 off at rtol 1e-6 by twice the steps (`firstorder-sdirk4`)."""
    right, steps = run(lambda t, y: brusselator(y), (1.5, 3.0), 3.0, method, rtol=1e-6, atol=1e-8)
    small, more = run(lambda t, y: 1e-12 * brusselator(1e12 * y), (1.5e-12, 3e-12), 3.0, method, rtol=1e-6, atol=1e-20)
    assert more <= steps + 3
    assert 1e12 * small == pytest.approx(right, rel=3e-6)  # remainders of the iterations, by 50 to 90 steps of rtol


@pytest.mark.parametrize("method", ["radau5", "hht-i3", "bdf-i3", "bdf-si2", "descriptor-sdirk4"])
def test_a_tank_runs_empty(method):
    """Torricelli: sqrt(h) falls linearly. Differences beyond zero ended the run of `bdf-i3` at a level of 8e-7."""
    (level,), _ = run(lambda t, h: [-0.1 * math.sqrt(h[0])], [1.0], 19.995, method, rtol=1e-8, atol=1e-14)
    assert level == pytest.approx(0.25**2 * 1e-6, rel=0.05)  # 1e-8 of the start, 6e-8 at the end


@pytest.mark.parametrize("method", ["radau5", "hht-i3", "generalized-alpha", "bdf-si2", "descriptor-sdirk4"])
def test_a_tank_fills_from_empty(method):
    """The rate has no value on one side of the start: implicit methods ended there."""
    (level,), _ = run(lambda t, h: [1.0 - math.sqrt(h[0])], [0.0], 3.0, method, rtol=1e-6)
    root = math.sqrt(level)
    # the solution is t = -2 (root + ln(1 - root)); a method of second order is off by some rtol^(2/3)
    assert -2.0 * (root + math.log(1.0 - root)) == pytest.approx(3.0, abs=1e-3)


@pytest.mark.parametrize("method", ["descriptor-sdirk4", "firstorder-sdirk4"])
def test_what_was_once_seen_of_convergence_counts_for_less(method):
    """Rates of 1e11 1/s that come to rest: first corrections were believed for ever, and two states drifted apart.

    After [EnrightHullLindberg] F5; at rest x1 - x2 stays. It was 54 % (descriptor) and 202 % (first order) off.
    """

    def rates(t, y):
        back = 0.0012e11 * y[3]
        first, second = 3e11 * y[0] * y[1], 9e11 * y[0] * y[2]
        return [
            back - first - second,
            back - first + 2e7 * y[3],
            1e8 * y[3] - second,
            first + second - back - 1.2e8 * y[3],
        ]

    start, settings = (3.365e-7, 8.261e-3, 1.642e-3, 9.38e-6), {"rtol": 1e-3, "atol": 1e-13}
    end, _ = run(rates, start, 100.0, method, **settings)
    # 8.26604058e-3 and 1.64633942e-3 by SciPy's Radau at rtol 1e-12; what is left drifts by 1.3e-4
    assert end[1] == pytest.approx(8.26604e-3, abs=2e-4)
    assert end[2] == pytest.approx(1.64634e-3, abs=2e-4)


@pytest.mark.parametrize("unit", [1e-9, 1e-15])
@pytest.mark.parametrize("method", ["radau5", "bdf-si2", "dopri5"])
def test_unknowns_of_equations_in_small_units(method, unit):
    """z + z^3 = x, x' = -z, in units of 1e-9: differences over 1e-7 met the cube alone, and the run was 80 % off."""

    def residual(t, r, A, v, w, p, x, rate, z, out, res):
        current = z[0] / unit
        res[0] = rate[0] / unit + current
        res[1] = current + current**3 - x[0] / unit

    model = ix.Model("law")
    block = model.add(ix.States("x", (2.0 * unit,)))
    model.add(ix.UserEquations("law", model.ground.marker(), residual, states=block, variables=(0.0,)))
    result = ix.simulate(model, (0.0, 2.0), method, rtol=1e-6, atol=1e-8 * unit)
    end = result.states["x"][-1, 0] / unit
    # x' = -z makes (1 + 3 z^2) z' = -z: ln z + 3/2 z^2 falls as t, from z = 1
    z = float(np.real(next(root for root in np.roots([1.0, 0.0, 1.0, -end]) if abs(root.imag) < 1e-9)))
    assert math.log(z) + 1.5 * z * z == pytest.approx(1.5 - 2.0, abs=1e-4)  # 1e-6 of x, by 36 steps at most
    assert result.stats["steps"] < 60
