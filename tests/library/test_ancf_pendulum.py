"""The flexible pendulum of [HusseinHHT] against an independent solution, and what its beams do under load."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import index3 as ix
from index3 import library

DATA = Path(__file__).parents[1] / "reference" / "ancf_beam"
CASES = json.loads((DATA / "pendulum.json").read_text())["cases"]


def deflection(result):
    """Tip, and signed distance of the middle from the chord between the ends."""
    ends = result["beam"].points([0.0, 0.2, 0.4])[:, :, :2]
    chord, middle = ends[:, 2] - ends[:, 0], ends[:, 1] - ends[:, 0]
    cross = chord[:, 0] * middle[:, 1] - chord[:, 1] * middle[:, 0]
    return ends[:, 2], cross / np.linalg.norm(chord, axis=1)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['plane']}-{case['young']:.0e}")
def test_tip_and_middle_follow_the_reference(case):
    """S3-24: nine cases by dop853 at rtol 1e-11, to 1e-7 m."""
    rows = np.array(case["rows"])
    rows = rows[rows[:, 0] <= (0.1 if case["young"] > 1e9 else 1.0)]  # the stiffest takes ten seconds for all of it
    model = library.ancf_pendulum(case["young"], plane=case["plane"])
    assert model["beam"].mass == pytest.approx(4.992, rel=1e-12)
    result = ix.simulate(model, (0, rows[-1, 0]), "dop853", rtol=1e-11, atol=1e-13, t_eval=rows[:, 0])
    tip, middle = deflection(result)
    assert np.abs(tip - rows[:, 1:3]).max() < 1e-7
    assert np.abs(middle - rows[:, 3]).max() < 1e-7
    assert np.ptp(result.energy.balance) < 1e-9


def test_all_moduli_of_the_paper():
    """S3-24: the model builds for all seven."""
    assert [library.ancf_pendulum(young=2 * 10.0**k).check().dof for k in range(5, 12)] == [16] * 7
