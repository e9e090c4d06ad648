"""The heavy top against an analytic and a tight numerical solution."""

import json
from pathlib import Path

import numpy as np
import pytest

import index3 as ix

DATA = json.loads((Path(__file__).parents[1] / "reference" / "heavy_top" / "data.json").read_text())


# Limits are about three times the errors seen; errors of a second-order method go with rtol^(2/3).
@pytest.fixture(scope="module")
def result():
    return ix.simulate(ix.library.spinning_top(), (0.0, 2.0), rtol=1e-11, atol=1e-13, t_eval=DATA["t"])


def test_run_succeeds(result):
    assert result.success, result.message


def test_centre_of_mass(result):
    assert np.max(np.abs(result["top"].position - DATA["centre"])) < 4e-6


def test_orientation(result):
    p = result["top"].orientation
    p = p * np.sign(np.sum(p * DATA["orientation"], axis=1))[:, None]  # p and -p are one orientation
    assert np.max(np.abs(p - DATA["orientation"])) < 1e-4


def test_angular_velocity_in_body_axes(result):
    top = result["top"]
    omega = np.einsum("tij,ti->tj", top.rotation, top.angular_velocity)
    assert np.max(np.abs(omega - DATA["angular_velocity_body"])) < 1.5e-3


def test_centre_of_mass_comes_back_after_one_nutation():
    period = DATA["nutation_period"]
    result = ix.simulate(ix.library.spinning_top(), (0.0, period), rtol=1e-7, t_eval=[0.0, period / 2, period])
    # The height is stationary at both times, so that errors enter squared: 6e-6 m seen.
    height = result["top"].position[:, 2]
    assert height[1] == pytest.approx(-1.0, abs=2e-5)
    assert height[2] == pytest.approx(0.0, abs=2e-5)
