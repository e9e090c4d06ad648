"""Plots: panels, labels, the axes they return, and what is said when something is missing."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pytest

from index3.errors import Index3Error, ModelError

matplotlib.use("Agg")

from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def labels(ax):
    return [line.get_label() for line in ax.lines]


def test_overview_has_energy_and_residuals(four_bar):
    top, bottom = four_bar.plot()
    assert labels(top) == ["kinetic", "potential", "total", "work", "balance"]
    assert top.get_ylabel() == "energy [J]"
    assert top.get_title(loc="left") == "four-bar"
    assert labels(bottom) == ["position", "velocity", "acceleration"]
    assert bottom.get_yscale() == "log"
    assert bottom.get_ylabel() == "scaled residual"
    assert bottom.get_xlabel() == "time [s]"
    top.figure.canvas.draw()


def test_one_history(four_bar):
    ax = four_bar.plot("crank.position")
    assert labels(ax) == ["x", "y", "z"]
    assert ax.get_ylabel() == "crank position [m]"
    assert np.array_equal(ax.lines[2].get_ydata(), four_bar["crank"].position[:, 2])
    assert ax.get_xlim() == (0.0, 4.0)


def test_histories_of_one_unit_share_a_panel(four_bar):
    ax = four_bar.plot("crank.position.z", "coupler.position.z")
    assert labels(ax) == ["crank position z", "coupler position z"]
    assert ax.get_ylabel() == "position [m]"
    axes = four_bar.plot("B.force", "B.angle", "C.angle")
    assert [len(ax.lines) for ax in axes] == [3, 2]


def test_into_axes_of_the_user(four_bar):
    _, mine = pyplot.subplots()
    assert four_bar.plot("B.angle", ax=mine) is mine
    assert len(mine.lines) == 1
    with pytest.raises(ModelError, match="different units"):
        four_bar.plot("B.angle", "B.force", ax=mine)


def test_no_work_no_line(four_bar, monkeypatch):
    monkeypatch.setitem(four_bar.arrays, "work", np.zeros(201))
    assert labels(four_bar.plot("energy")) == ["kinetic", "potential", "balance"]


def test_residuals_that_are_zero_can_be_drawn(four_bar, monkeypatch):
    monkeypatch.setitem(four_bar.arrays, "violation", np.zeros((201, 3)))
    ax = four_bar.plot("violation")
    ax.figure.canvas.draw()
    assert ax.lines[0].get_ydata().min() > 0


def test_settings_of_the_user_stay(four_bar):
    before = matplotlib.rcParams["axes.grid"]
    four_bar.plot("energy")
    assert matplotlib.rcParams["axes.grid"] == before


def test_missing_matplotlib_says_what_to_install(four_bar, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Index3Error, match=r"pip install index3\[plot\]"):
        four_bar.plot()
