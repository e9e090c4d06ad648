"""Problems A01 and A02 of the multibody benchmark library."""

import json
from pathlib import Path

import numpy as np
import pytest

import index3 as ix

DATA = json.loads((Path(__file__).parents[1] / "reference" / "mbs_benchmark" / "data.json").read_text())


def simple_pendulum():
    """Problem A01: a point mass on a massless rod."""
    model = ix.Model("simple pendulum", gravity=(0.0, -9.81, 0.0))
    bob = model.add(ix.PointMass("bob", 1.0, position=(-1.0, 0.0, 0.0)))
    model.add(ix.Distance("rod", model.ground, bob, points=((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0))))
    return model


def test_simple_pendulum_counts():
    report = simple_pendulum().check()
    assert (report.bodies, report.coordinates, report.constraints, report.dof) == (1, 3, 1, 2)


def test_simple_pendulum():
    rows = np.array(DATA["A01"]["rows"])
    result = ix.simulate(simple_pendulum(), (0.0, 10.0), rtol=1e-11, atol=1e-13, t_eval=rows[:, 0])
    assert result.success, result.message
    bob = result["bob"]
    assert np.max(np.abs(bob.position[:, :2] - rows[:, 1:3])) < 4e-6  # about three times the errors seen
    assert np.max(np.abs(bob.velocity[:, :2] - rows[:, 3:5])) < 1.5e-5  # as the positions
    assert np.max(np.abs(bob.position[:, 2])) < 1e-12  # nothing pulls it out of the plane


@pytest.mark.parametrize(("n", "rtol"), [(2, 1e-8), (40, 1e-7)])
def test_row_of_four_bars_passes_its_singular_positions(n, rtol):
    data = DATA["A02"][f"N{n}"]
    result = ix.simulate(ix.library.parallelogram(n), (0.0, 10.0), rtol=rtol, atol=rtol / 100, t_eval=data["t"])
    assert result.success, result.message
    # Two to three times the errors seen, 1.3e-3 rad (n = 2) and 4.1e-3 rad (n = 40), which go with rtol^(2/3).
    limit = 600 * rtol ** (2 / 3)
    tip = 2.0 * result["crank0"].position[:, :2]  # the pivot is the origin
    assert np.max(np.abs(tip - np.column_stack((data["B0x"], data["B0y"])))) < limit
    theta = np.pi / 2 - result["crank0"].angle
    assert np.max(np.abs(theta - data["theta"])) < limit
    assert np.max(np.abs(-result["crank0"].spin - data["thetad"])) < 5 * limit  # theta'' reaches 12 rad/s^2


def test_cranks_stay_parallel():
    result = ix.simulate(ix.library.parallelogram(2), (0.0, 10.0), rtol=1e-6, t_eval=0.05)
    angles = np.column_stack([result[f"crank{k}"].angle for k in range(3)])
    # Output points are projected to 1e-10; next to a singular position a residual of eps moves an angle by sqrt(eps).
    assert np.max(np.ptp(angles, axis=1)) < 1e-5
