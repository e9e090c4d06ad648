"""Explicit methods at their limits: an orbit with close passes, a motion that ends, and why a run stops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import ode, solve_ivp

import index3 as ix
from index3.methods import run

MU = 0.012277471
PERIOD = 17.0652165601579625588917206249
START = (0.994, 0.0, 0.0, -2.00158510637908252240537862224)


def pull(x, y, u, w):
    """Acceleration of a satellite in the frame that turns with earth and moon (Arenstorf's orbits)."""
    d1, d2 = ((x + MU) ** 2 + y * y) ** 1.5, ((x - 1.0 + MU) ** 2 + y * y) ** 1.5
    ax = x + 2.0 * w - (1.0 - MU) * (x + MU) / d1 - MU * (x - 1.0 + MU) / d2
    return ax, y - 2.0 * u - (1.0 - MU) * y / d1 - MU * y / d2


def satellite():
    """The orbit as a point mass under a user's force."""

    def push(t, r, A, v, w, p, out):
        out[0, 0], out[0, 1] = pull(r[0, 0], r[0, 1], v[0, 0], v[0, 1])

    model = ix.Model("satellite", gravity=(0, 0, 0))
    point = model.add(ix.PointMass("satellite", 1.0, position=(START[0], 0, 0), velocity=(0, START[3], 0)))
    model.add(ix.UserForce("pull", point, push))
    return model


def test_arenstorf_orbit_against_vode():
    """S3-14: evaluations at equal error on half an Arenstorf orbit, at most 1.25 times those of VODE's Adams mode.

    That the error be ten times the tolerance cannot be had here, by any code: the pass of the moon multiplies errors.
    """
    span, tables = 0.5 * PERIOD, {"vode": [], "adams": []}
    rates = lambda t, y: [y[2], y[3], *pull(*y)]  # noqa: E731
    exact = solve_ivp(rates, (0, span), START, "DOP853", rtol=1e-13, atol=1e-15).y[:2, -1]
    for rtol in 10.0 ** -np.arange(5, 11):
        count = [0]

        def counted(t, y, count=count):
            count[0] += 1
            return rates(t, y)

        vode = ode(counted).set_integrator("vode", method="adams", rtol=rtol, atol=rtol / 100, nsteps=10**5)
        vode.set_initial_value(START)
        tables["vode"].append((np.abs(vode.integrate(span)[:2] - exact).max(), count[0]))
        ours = ix.simulate(satellite(), (0, span), "adams", rtol=rtol, atol=rtol / 100, t_eval=[span])
        assert ours.success, ours.message
        tables["adams"].append((np.abs(ours.q[-1, :2] - exact).max(), ours.stats["factorisations"]))
    print(tables)
    work = {}
    for name, rows in tables.items():
        error, count = np.log(np.array(rows).T)
        work[name] = np.polyval(np.polyfit(error, count, 1), np.log([1e-3, 1e-5, 1e-7]))
    ratio = np.exp(work["adams"] - work["vode"])
    print("evaluations, adams over vode:", ratio)
    assert np.all(ratio < 1.25)


@pytest.mark.parametrize("method", ["adams", "dopri5", "dop853"])
def test_a_step_below_rounding_ends_the_run_with_its_reason(method):
    """S3-22: x'' = 6 x^2 has the solution 1/(1-t)^2: no step is small enough near t = 1, and the status says so."""

    def push(t, r, A, v, w, p, out):
        out[0, 0] = 6.0 * r[0, 0] ** 2

    model = ix.Model("runaway", gravity=(0, 0, 0))
    point = model.add(ix.PointMass("point", 1.0, position=(1, 0, 0), velocity=(2, 0, 0)))
    model.add(ix.UserForce("push", point, push))
    result = ix.simulate(model, (0, 2), method, rtol=1e-6, max_steps=20000, audit="off")  # which may end it before
    assert not result.success
    assert result.status == -run.STEP_TOO_SMALL
    assert "step" in result.message
    assert result.t[-1] == pytest.approx(1.0, abs=1e-3)  # errors of 1e-6 a step have moved the pole a little
    assert len(result.t) > 20  # and the motion so far is there
