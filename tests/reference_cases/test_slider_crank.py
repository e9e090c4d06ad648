"""The spatial slider-crank against a tight numerical solution."""

import json
from pathlib import Path

import numpy as np
import pytest

import index3 as ix

DATA = json.loads((Path(__file__).parents[1] / "reference" / "slider_crank" / "data.json").read_text())
ROWS = np.array(DATA["rows"])


# Limits are about three times the errors seen; errors of a second-order method go with rtol^(2/3).
@pytest.fixture(scope="module")
def result():
    return ix.simulate(ix.library.slider_crank(), (0.0, 5.0), rtol=1e-11, atol=1e-13, t_eval=ROWS[:, 0])


def test_run_succeeds(result):
    assert result.success, result.message


def test_slider(result):
    slider = result["slider"]
    assert np.max(np.abs(slider.position[:, 0] - ROWS[:, 3])) < 1e-5
    assert np.max(np.abs(slider.velocity[:, 0] - ROWS[:, 4])) < 4e-5
    assert np.max(np.abs(slider.position[:, 1:])) < 1e-12  # held by the guide; positions are projected at output


def test_crank_angle_and_rate(result):
    difference = result["A"].angle - ROWS[:, 1]
    difference -= 2 * np.pi * np.round(difference / (2 * np.pi))  # the reference is reduced to one turn
    assert np.max(np.abs(difference)) < 2e-4
    assert np.max(np.abs(result["crank"].angular_velocity[:, 0] - ROWS[:, 2])) < 1.2e-3


def test_rod(result):
    rod = result["rod"]
    assert np.max(np.abs(rod.position - ROWS[:, 5:8])) < 6e-6
    assert np.max(np.abs(rod.angular_velocity - ROWS[:, 8:11])) < 1.6e-3


def test_energy_is_constant(result):
    assert np.ptp(result.energy.total) < 4e-6 * np.max(result.energy.kinetic)
