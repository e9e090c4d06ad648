"""The tube frame of an all-terrain vehicle: frequencies after reduction."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import index3 as ix

DATA = json.loads((Path(__file__).parents[1] / "reference/atv_frame/data.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def structure():
    material, tube = DATA["material"], DATA["tube"]
    return ix.flexible.frame(
        DATA["nodes"], DATA["members"], **tube, young=material["E"], poisson=material["nu"], density=material["rho"],
        elements=DATA["elements_per_member"],
    )  # fmt: skip


def test_frequencies_after_reduction(structure):
    """S2-12: 134 modes from 56.7 Hz to 13.1 kHz."""
    between = [structure.along(f"{side}L", f"{side}R")[1] for side in "BC"]
    frame = structure.body("frame", interface=[*range(14), *between], modes=44)
    assert len(structure.nodes) == 114
    assert frame.modes == 134
    expected = np.array(DATA["frequencies_Hz_after_reduction"])
    assert np.abs(frame.frequencies - expected).max() < 2e-4  # printed with four decimals; 1e-4 of 13 kHz is 1.3 Hz


def test_frequencies_of_the_whole_structure(structure):
    """The lowest, where modes up to 5 kHz are kept with one interface."""
    frame = structure.body("frame", interface=["AL"], max_frequency=5000.0)
    expected = np.array(DATA["frequencies_Hz_full_model_first_34"])
    assert frame.frequencies[:34] == pytest.approx(expected, rel=1e-4)  # what modes above 5 kHz add to those below 410
