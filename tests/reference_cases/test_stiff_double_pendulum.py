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


def test_values_of_the_thesis(result):
    """S4-16, S4-80."""
    for row in DATA["thesis_tables_20_23"]:
        k = int(np.searchsorted(result.t, row["t"]))
        value = {"theta1": result["rod1"].angle, "|omega1|": np.abs(result["rod1"].spin)}[row["quantity"]][k]
        tolerance = 1e-4 if row["quantity"] == "theta1" else 1e-3  # as above
        assert value == pytest.approx(row["thesis_value"], abs=tolerance + row["resolution_from_6_digit_time"]), row


def test_stiffness_does_not_cost_steps(result):
    # An explicit method needs about 2 s * 1e5 1/s / 3 steps for stability alone.
    assert result.stats["steps"] < 30_000
