"""The spatial four-bar: redundant rows, residuals and energy with no settings."""

import numpy as np
import pytest

import index3 as ix


@pytest.fixture(scope="module")
def result():
    return ix.simulate(ix.library.four_bar(), (0.0, 5.0), t_eval=0.01)


def energy_change(result):
    """Largest change of the energy balance as a fraction of the largest kinetic energy."""
    return np.ptp(result.energy.balance) / np.max(result.energy.kinetic)


def test_one_degree_of_freedom_and_three_redundant_rows_by_name():
    report = ix.library.four_bar().check()
    assert report.dof == 1
    assert len(report.redundant) == 3
    assert {name.split(".")[0] for name in report.redundant} <= {"A", "B", "C", "D"}


def test_run_succeeds_and_the_crank_turns_fully(result):
    assert result.success, result.message
    assert np.ptp(result["A"].angle) > 4 * np.pi


def test_residuals(result):
    scaled = result.violation.scaled
    assert np.max(scaled.position) < 1e-10  # limits of the contract
    assert np.max(scaled.velocity) < 1e-9
    assert np.max(scaled.acceleration) < 1e-9


def test_energy_follows_the_tolerance(result):
    tight = ix.simulate(ix.library.four_bar(), (0.0, 5.0), rtol=1e-8, t_eval=0.01)
    assert energy_change(result) < 3e-3  # limits of the contract
    assert energy_change(tight) < 1e-4
    assert energy_change(tight) < energy_change(result) / 16  # at least 4 times per decade


def test_start_is_what_the_library_says(result):
    # The start is consistent, so assembly leaves it alone up to rounding.
    assert np.allclose(result["crank"].angular_velocity[0], (0.0, 3.0, 0.0), rtol=0.0, atol=1e-12)
    assert np.allclose(result["crank"].position[0], (0.0, 0.0, 0.2), rtol=0.0, atol=1e-12)
