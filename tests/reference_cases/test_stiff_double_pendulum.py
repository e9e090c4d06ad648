"""The stiff double pendulum of the thesis against a table and against the values implied by the thesis."""

import json
from pathlib import Path

import numpy as np
import pytest

import index3 as ix

DATA = json.loads((Path(__file__).parents[1] / "reference" / "stiff_double_pendulum" / "data.json").read_text())
ROWS = np.array(DATA["rows"])


@pytest.fixture(scope="module")
def result():
    times = sorted({*ROWS[:, 0], *(row["t"] for row in DATA["thesis_tables_20_23"])})
    return ix.simulate(ix.library.double_pendulum(), (0.0, 2.0), rtol=1e-8, atol=1e-10, t_eval=times)


def test_run_succeeds(result):
    assert result.success, result.message


def test_angles_of_the_table(result):
    at = np.searchsorted(result.t, ROWS[:, 0])
    assert np.array_equal(result.t[at], ROWS[:, 0])
    angles = np.column_stack((result["rod1"].angle, result["rod2"].angle))[at]
    assert np.max(np.abs(angles - ROWS[:, 1:3])) < 1e-4  # demanded accuracy


def test_rates_of_the_table(result):
    at = np.searchsorted(result.t, ROWS[:, 0])
    rates = np.column_stack((result["rod1"].spin, result["rod2"].spin))[at]
    assert np.max(np.abs(rates - ROWS[:, 3:5])) < 1e-3  # the motion turns angles into rates at about 10 1/s


@pytest.fixture(scope="module")
def references():
    """Two runs of methods that share no formula, at tight tolerances."""
    times = sorted({*ROWS[:, 0], *(row["t"] for row in DATA["thesis_tables_20_23"])})
    return [
        ix.simulate(ix.library.double_pendulum(), (0.0, 2.0), key, rtol=rtol, t_eval=times)
        for key, rtol in (("radau5", 1e-10), ("firstorder-sdirk4", 1e-9))
    ]


@pytest.mark.parametrize(("quantity", "limit"), [("theta1", 1e-5), ("|omega1|", 1e-4)])
def test_values_of_the_thesis(references, quantity, limit):
    """S4-16, S4-80: the sixteen values that Tables 20 to 23 imply; off by 3e-6 rad and 2.4e-5 rad/s at most.

    They belong to a start at rest, not to the velocity of 10 rad/s in Table 19 (X-28).
    """
    rows = [row for row in DATA["thesis_tables_20_23"] if row["quantity"] == quantity]
    assert len(rows) == 8
    for result in references:
        assert not result.v[0].any()
        values = {"theta1": result["rod1"].angle, "|omega1|": np.abs(result["rod1"].spin)}[quantity]
        found = values[np.searchsorted(result.t, [row["t"] for row in rows])]
        assert np.abs(found - [row["thesis_value"] for row in rows]).max() < limit  # the demand


def test_two_references_agree(references):
    """S4-80: Radau IIA on the constraints and SDIRK on the tangent plane, angle and rate over 2 s."""
    one, other = references
    assert np.array_equal(one.t, other.t)
    assert one.t[-1] == 2.0
    assert np.abs(one["rod1"].angle - other["rod1"].angle).max() < 1e-7  # the demand; seen 2e-10
    assert np.abs(one["rod1"].spin - other["rod1"].spin).max() < 1e-7  # seen 7e-8


def test_the_stiff_eigenvalue():
    """S4-16: dominant, real, -1e5 1/s: the damper of 5e4 N m s/rad on what both rods oppose to it."""
    values = ix.linearize(ix.library.double_pendulum()).eigenvalues
    stiff = values[np.argmax(np.abs(values))]
    assert stiff.imag == 0.0
    assert stiff.real == pytest.approx(-9.987e4, rel=1e-3)  # the value of an independent program
    assert np.sort(np.abs(values))[-2] < 1e-3 * abs(stiff)


def test_stiffness_does_not_cost_steps(result):
    # An explicit method needs about 2 s * 1e5 1/s / 3 steps for stability alone.
    assert result.stats["steps"] < 30_000
