"""Problems of circuits and reactions from the Test Set for IVP Solvers (Mazzia and Magherini, University of Bari).

The values at the end are those printed there, computed by its authors with tolerances of 1e-14 or less.
"""

from math import exp, pi, sin, sqrt

import pytest

import index3 as ix

AMPLIFIED = (
    -0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1, 0.2926422536206241e1,
    0.2704617865010554e1, 0.2761837778393145e1, 0.4770927631616772e1, 0.1236995868091548e1,
)  # fmt: skip
"""Voltages at the eight nodes of the transistor amplifier after 0.2 s."""
REACTED = (
    0.1150794920661702, 0.1203831471567715e-2, 0.1611562887407974, 0.3656156421249283e-3, 0.1708010885264404e-1,
    0.4873531310307455e-2,
)  # fmt: skip
"""Concentrations of the chemical Akzo Nobel problem after 180 min; the last one is algebraic."""


def amplifier():
    """Index 1, dimension 8: states are the voltages over the five capacitors, the other three nodes are variables."""
    supply, thermal, gain, leak, resistance = 6.0, 0.026, 0.99, 1e-6, 9000.0

    def currents(t, r, A, v, w, p, x, rate, z, out, res):
        y2, y5, y8 = z
        y1, y3, y4, y6, y7 = x[0] + y2, x[1], x[2] + y5, x[3], x[4] + y8
        first, second = leak * (exp((y2 - y3) / thermal) - 1.0), leak * (exp((y5 - y6) / thermal) - 1.0)
        flow = [(k + 1) * 1e-6 * rate[k] for k in range(5)]
        res[0] = -flow[0] - (y1 - 0.1 * sin(200.0 * pi * t)) / 1000.0
        res[1] = flow[0] - y2 / resistance - (y2 - supply) / resistance - (1.0 - gain) * first
        res[2] = -flow[1] - y3 / resistance + first
        res[3] = -flow[2] - (y4 - supply) / resistance - gain * first
        res[4] = flow[2] - y5 / resistance - (y5 - supply) / resistance - (1.0 - gain) * second
        res[5] = -flow[3] - y6 / resistance + second
        res[6] = -flow[4] - (y7 - supply) / resistance - gain * second
        res[7] = flow[4] - y8 / resistance

    model = ix.Model("amplifier", gravity=(0, 0, 0))
    charge = model.add(ix.States("charge", (-3.0, 3.0, 3.0, 3.0, 6.0)))
    model.add(ix.UserEquations("circuit", model.ground.marker(), currents, states=charge, variables=(3.0, 3.0, 0.0)))
    return model


@pytest.mark.parametrize(("key", "rtol", "limit"), [("auto", 1e-4, 1e-3), ("bdf-si2", 1e-6, 1e-4)])
def test_transistor_amplifier(key, rtol, limit):
    """Off by 1e-5 and 1e-5; radau5 ended after 12 steps, since a full correction overflows an exponential function."""
    y = AMPLIFIED
    result = ix.simulate(amplifier(), (0.0, 0.2), key, rtol=rtol, t_eval=[0.2])
    assert result.success, result.message
    charge = (y[0] - y[1], y[2], y[3] - y[4], y[5], y[6] - y[7])
    assert result.states["charge"][-1] == pytest.approx(charge, abs=limit)


@pytest.mark.parametrize(("key", "limit"), [("auto", 1e-6), ("radau5", 1e-6), ("dopri5", 1e-5), ("bdf-si2", 1e-4)])
def test_chemical_akzo_nobel(key, limit):
    """Errors of 3e-8, 3e-8, 8e-7 and 8e-6, relative to each concentration."""

    def balance(t, r, A, v, w, p, y, rate, z, out, res):
        root = sqrt(y[1])
        r1, r2, r3 = 18.7 * y[0] ** 4 * root, 0.58 * y[2] * y[3], 0.58 / 34.4 * y[0] * y[4]
        r4, r5, inflow = 0.09 * y[0] * y[3] ** 2, 0.42 * z[0] ** 2 * root, 3.3 * (0.9 / 737.0 - y[1])
        res[0], res[1] = rate[0] + 2 * r1 - r2 + r3 + r4, rate[1] + 0.5 * r1 + r4 + 0.5 * r5 - inflow
        res[2], res[3] = rate[2] - r1 + r2 - r3, rate[3] + r2 - r3 + 2 * r4
        res[4], res[5] = rate[4] - r2 + r3 - r5, 115.83 * y[0] * y[3] - z[0]

    model = ix.Model("Akzo Nobel", gravity=(0, 0, 0))
    y = model.add(ix.States("y", (0.444, 0.00123, 0.0, 0.007, 0.0)))
    start = (115.83 * 0.444 * 0.007,)
    model.add(ix.UserEquations("reactor", model.ground.marker(), balance, states=y, variables=start))
    result = ix.simulate(model, (0.0, 180.0), key, t_eval=[180.0])
    assert result.success, result.message
    assert result.states["y"][-1] == pytest.approx(REACTED[:5], rel=limit)
