"""Plots: panels, labels, the axes they return, and what is said when something is missing."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pytest

import index3 as ix
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


def cantilever(kind):
    model = ix.Model("cantilever", gravity=(0, -9.81, 0))
    soft = {"height": 0.02, "width": 0.03, "young": 2e9, "density": 1200.0, "elements": 2}
    if kind == "planar":
        beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), poisson=0.3, law="elastic-line", **soft))
    elif kind == "space":
        beam = model.add(ix.AncfBeam3D("beam", (0, 0, 0), (1, 0, 0), poisson=0.3, **soft))
    else:
        beam = model.add(ix.AncfCable("beam", (0, 0, 0), (1, 0, 0), **soft))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0)))
    model.add(ix.RigidBody("stone", 1.0, (1, 1, 1)))
    return ix.simulate(model, (0.0, 0.02), "hht-i3", t_eval=0.01)


@pytest.mark.parametrize("kind", ["planar", "space", "cable"])
def test_quantities_along_a_beam(kind):
    """Against s, at the outputs nearest to the times asked for; all that the body has along its axis."""
    result = cantilever(kind)
    axes = result.plot_along("beam.moment", "beam.shear_force", "beam.axial_force", "beam.stress", t=[0.0101, 0.02])
    assert [axis.get_xlabel() for axis in axes] == ["s [m]"] * 4
    assert axes[0].get_ylabel() == "beam moment [N m]"
    s = np.linspace(0.0, 1.0, 201)
    if kind == "space":
        assert labels(axes[0])[:2] == ["torsion, t = 0.01 s", "y, t = 0.01 s"]
        one = result.plot_along("beam.moment.z", t=0.01)
        assert one.lines[0].get_ydata() == pytest.approx(result["beam"].moment(s)[1, :, 2])
    else:
        assert labels(axes[0]) == ["t = 0.01 s", "t = 0.02 s"]
        assert axes[0].lines[1].get_ydata() == pytest.approx(result["beam"].moment(s)[2])
    _, ax = pyplot.subplots()
    assert result.plot_along("beam.points.y", ax=ax) is ax
    assert ax.lines[0].get_ydata() == pytest.approx(result["beam"].points(s)[-1, :, 1])
    assert ax.get_xlim() == (0.0, 1.0)


@pytest.mark.parametrize(
    ("names", "t", "words"),
    [
        ((), None, "no names"),
        (("bean.moment",), None, "names no body"),
        (("stone.moment",), None, "has no axis"),
        (("beam.torque",), None, "axial_force"),
        (("beam.moment.z",), None, "one column"),
        (("beam.points.w",), None, "columns x, y, z"),
        (("beam.moment",), 0.5, "from 0 to 0.02 s"),
        (("beam.moment",), float("nan"), "from 0 to 0.02 s"),
        (("beam.moment",), "end", "from 0 to 0.02 s"),
    ],
)
def test_what_cannot_be_drawn_along_a_beam(names, t, words):
    with pytest.raises(ModelError, match=words):
        cantilever("planar").plot_along(*names, t=t)
