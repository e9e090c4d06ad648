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
    result = ix.simulate(simple_pendulum(), (0.0, 10.0), rtol=1e-8, atol=1e-10, t_eval=rows[:, 0])
    assert result.success, result.message
    bob = result["bob"]
    assert np.max(np.abs(bob.position[:, :2] - rows[:, 1:3])) < 1e-4
    assert np.max(np.abs(bob.velocity[:, :2] - rows[:, 3:5])) < 4e-4
    assert np.max(np.abs(bob.position[:, 2])) < 1e-12  # nothing pulls it out of the plane


@pytest.mark.parametrize("n", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_row_of_four_bars_passes_its_singular_positions(n):
    data = DATA["A02"][f"N{n}"]
    result = ix.simulate(ix.library.parallelogram(n), (0.0, 10.0), rtol=1e-8, atol=1e-10, t_eval=data["t"])
    assert result.success, result.message
    tip = 2.0 * result["crank0"].position[:, :2]  # the pivot is the origin
    assert np.max(np.abs(tip - np.column_stack((data["B0x"], data["B0y"])))) < 1e-3
    theta = np.pi / 2 - result["crank0"].angle
    assert np.max(np.abs(theta - data["theta"])) < 1e-3
    assert np.max(np.abs(-result["crank0"].spin - data["thetad"])) < 1e-2


def test_cranks_stay_parallel():
    result = ix.simulate(ix.library.parallelogram(2), (0.0, 10.0), rtol=1e-6, t_eval=0.05)
    angles = np.column_stack([result[f"crank{k}"].angle for k in range(3)])
    # Output points are projected to 1e-10; next to a singular position a residual of eps moves an angle by sqrt(eps).
    assert np.max(np.ptp(angles, axis=1)) < 1e-5
