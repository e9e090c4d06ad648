"""Component modes: frequencies, mass and statics of reduced structures."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse as sp
from flexible_models import beam, bent_frame, lumps

import index3 as ix

# Sums of a few hundred products of numbers of size 1..10.
ROUNDING = 1e-12


def free_frequencies(M, K):
    """Of a free structure [Hz], without its six rigid motions."""
    dense = [x.toarray() if sp.issparse(x) else x for x in (K, M)]
    return np.sqrt(scipy.linalg.eigh(*dense, eigvals_only=True)[6:]) / (2.0 * np.pi)


def test_all_modes_kept_have_the_frequencies_of_the_finite_elements():
    """S2-02: whichever nodes are interfaces."""
    structure = bent_frame()
    exact = free_frequencies(structure.mass_matrix, structure.stiffness_matrix)
    for interface in (["A"], ["B", "D"], [0, 3, 5]):
        found = structure.body("frame", interface=interface).frequencies
        assert found == pytest.approx(exact, rel=1e-6)  # rounding of eigenvalues over four decades


@pytest.mark.parametrize("size", [1e-7, 1e-3, 1e5])
def test_bodies_of_any_size(size):
    """Of one shape and material, frequencies go with one over the size."""
    section = {"outer_diameter": 0.03 * size, "wall": 0.003 * size}
    found = beam(4, size, **section).body("tube", interface=["A", "B"], modes=3).frequencies
    usual = beam(4).body("tube", interface=["A", "B"], modes=3).frequencies
    assert found * size == pytest.approx(usual, rel=1e-6)  # as above


def test_eigenvalues_of_the_equations_are_the_frequencies():
    """S2-02: through the compiled equations, of a free body at rest."""
    model = ix.Model("free", gravity=(0, 0, 0))
    body = model.add(beam(3).body("beam", interface=["A", "B"], orientation=(0.5, 0.5, 0.5, 0.5)))
    found = np.sort(ix.linearize(model).eigenvalues.imag)
    assert found[-body.modes :] / (2.0 * np.pi) == pytest.approx(body.frequencies, rel=1e-6)
    # six rigid motions: square roots of the rounding of squares up to 1e11
    assert np.abs(found[: -body.modes]).max() < 1e-2


def test_mass_properties_are_those_of_the_structure():
    nodes, masses, M, K = lumps()
    body = ix.ModalBody("lumps", M, K, nodes, interface=[[0, 1, 2], [3, 4, 5]], position=(1, 2, 3))
    rigid = ix.RigidBody.from_points("rigid", nodes, masses)
    assert body.mass == pytest.approx(rigid.mass, rel=1e-14)
    assert np.abs(body.inertia - rigid.inertia).max() < ROUNDING
    assert np.abs(body.q0[:3] - rigid.q0[:3] - (1, 2, 3)).max() < ROUNDING
    tube, length = beam(), 1.0
    area = np.pi * (0.015**2 - 0.012**2)
    inertia = tube.body("tube", interface=["A"]).inertia
    assert tube.body("tube", interface=["A"]).mass == pytest.approx(7800.0 * area * length, rel=1e-12)
    assert inertia[1, 1] == pytest.approx(7800.0 * area * length**3 / 12.0, rel=1e-12)  # no rotary inertia in bending


def test_a_clamped_tube_bends_as_a_beam():
    """S2-02: static modes of the interfaces are exact for loads at them, with no other mode kept."""
    model = ix.Model("cantilever", gravity=(0, 0, 0))
    tube = model.add(beam(4).body("tube", interface=["A", "B"], modes=0))
    model.add(ix.Fixed("wall", model.ground, tube, at=(0, 0, 0)))
    tip = tube.marker(node="B", z=(1, 0, 0))
    model.add(ix.Force("load", tip, (0, -10.0, 0)))
    rest = ix.static(model)
    inertia = 0.25 * np.pi * (0.015**4 - 0.012**4)
    moved = rest.marker(tip).position - (1, 0, 0)
    down = -10.0 / (3.0 * 2e11 * inertia)
    assert moved[1] == pytest.approx(down, rel=1e-6)  # deflections of 1e-3 turn the tube by as much: second order
    slope = rest.marker(tip).rotation[1, 2]
    assert slope == pytest.approx(1.5 * down, rel=1e-5)


def test_modes_about_an_equilibrium_are_played(tmp_path):
    """A clamped tube: the lowest frequency of a cantilever, as a result whose nodes move and which has a page."""
    model = ix.Model("cantilever")
    tube = model.add(beam(6).body("tube", interface=["A", "B"], modes=6))
    model.add(ix.Fixed("wall", model.ground, tube, at=(0, 0, 0)))
    found = ix.linearize(model, at=ix.static(model))
    area, inertia = np.pi * (0.015**2 - 0.012**2), 0.25 * np.pi * (0.015**4 - 0.012**4)
    exact = 3.51602 * np.sqrt(2e11 * inertia / (7800.0 * area))
    lowest = np.sort(found.eigenvalues.imag[found.eigenvalues.imag > 1.0])[0]
    assert lowest == pytest.approx(exact, rel=1e-3)  # shear and rotary inertia are in neither; weight bends it a little
    played = found.mode(0, amplitude=0.01)
    end = played.marker(tube.marker(node="B")).position
    assert np.ptp(end, axis=0).max() > 1e-3
    played.to_html(tmp_path / "mode.html")
    assert (tmp_path / "mode.html").stat().st_size > 10_000
