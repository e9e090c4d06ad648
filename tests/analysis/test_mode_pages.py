"""Modes as pages: of rigid bodies, of bodies with modes, of beams in absolute nodal coordinates."""

import numpy as np
import pytest

import index3 as ix

TUBE = {"outer_diameter": 0.03, "wall": 0.003, "young": 2e11, "density": 7800.0, "elements": 4}


def rigid():
    model = ix.library.pendulum()
    return ix.linearize(model, initial=ix.static(model)), lambda shown: shown["rod"].position


def modal():
    model = ix.Model("free", gravity=(0, 0, 0))
    structure = ix.flexible.frame({"A": (0, 0, 0), "B": (1, 0, 0)}, ["AB"], **TUBE)
    body = model.add(structure.body("beam", interface=["A", "B"], modes=2))
    return ix.linearize(model), lambda shown: shown.marker(body.marker(node="B")).position


def nodal():
    model = ix.Model("free beam", gravity=(0, 0, 0))
    section = {"height": 0.02, "width": 0.02, "elements": 4, "young": 2e11, "poisson": 0.3, "density": 7800.0}
    model.add(ix.AncfBeam("beam", (0, 0), (1, 0), law="elastic-line", **section))
    return ix.linearize(model), lambda shown: shown["beam"].points([1.0])[:, 0]


@pytest.mark.parametrize(("make", "first"), [(rigid, 0), (modal, 6), (nodal, 3)])
def test_a_mode_moves_visibly_and_has_a_page(make, first, tmp_path):
    linear, place = make()
    assert linear.modes[first].frequency > 1.0
    shown = linear.mode(first, amplitude=0.1)
    assert 0.05 < np.ptp(place(shown), axis=0).max() <= 0.21  # back and forth by up to a tenth of the size, 1 m
    linear.to_html(tmp_path / "mode.html", mode=first, periods=1.0)
    text = (tmp_path / "mode.html").read_text("utf-8")
    assert f"mode {first}" in text
    assert len(text) > 10_000


@pytest.mark.parametrize("make", [modal, nodal])
def test_deformation_is_told_in_words(make):
    linear, _ = make()
    words = [mode.words for mode in linear.modes if mode.frequency > 1.0]
    assert words[0].startswith("beam: deforms along")
    assert not any("deforms" in mode.words for mode in linear.modes if mode.frequency < 1.0)
    assert max(np.abs(mode.shape).max() for mode in linear.modes) < 1e3  # by what is seen, not by a rounding
