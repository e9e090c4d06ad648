"""The free double pendulum up to t = 2 s, against a minimal-coordinate solution."""

import json
from pathlib import Path

import numpy as np
import pytest

import index3 as ix

DATA = json.loads((Path(__file__).parents[1] / "reference" / "free_double_pendulum" / "data.json").read_text())
TIMES = [t for t in DATA["t"] if t <= 2.0]  # chaotic: later values tell of the tolerance, not of the model
REFERENCE = np.array(DATA["phi1_phi2_w1_w2"])[: len(TIMES)]


# Limits are about three times the errors seen; errors of a second-order method go with rtol^(2/3).
@pytest.fixture(scope="module")
def result():
    return ix.simulate(ix.library.free_double_pendulum(), (0.0, 2.0), rtol=1e-11, atol=1e-13, t_eval=[0.0, *TIMES])


def test_angles_and_rates(result):
    assert result.success, result.message
    rods = (result["rod1"], result["rod2"])
    angles = np.column_stack([rod.angle for rod in rods])[1:] + np.pi / 2  # the reference measures from the vertical
    rates = np.column_stack([rod.spin for rod in rods])[1:]
    assert np.max(np.abs(angles - REFERENCE[:, :2])) < 2e-6
    assert np.max(np.abs(rates - REFERENCE[:, 2:])) < 5e-6


def test_total_energy_stays_zero(result):
    assert result.energy.total[0] == pytest.approx(0.0, abs=1e-12)  # rods at the height of the pivot, at rest
    assert np.max(np.abs(result.energy.total)) < 6e-7 * np.max(result.energy.kinetic)
