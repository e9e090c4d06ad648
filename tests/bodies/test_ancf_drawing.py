"""What pages show of beams: bending solids, coloured by stress."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.results.page_motion import PageMotion

SOFT = {"height": 0.04, "width": 0.06, "young": 2e8, "poisson": 0.3, "density": 1500.0, "elements": 4}
KINDS = {
    "planar": lambda: ix.AncfBeam("beam", (0, 0), (1, 0), law="elastic-line", **SOFT),
    "cholesky": lambda: ix.AncfBeam("beam", (0, 0), (1, 0), law="elastic-line", coordinates="cholesky", **SOFT),
    "space": lambda: ix.AncfBeam3D("beam", (0, 0, 0), (1, 0, 0), **SOFT),
}


@pytest.mark.parametrize("kind", KINDS)
def test_beams_are_solids_coloured_by_stress(kind):
    """A closed surface of the beam's volume about its axis; stress M h / (2 I) at its corners; at rest undeformed."""
    model = ix.Model("cantilever", gravity=(0, -9.81, 0))
    beam = model.add(KINDS[kind]())
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    result = ix.static(model).result
    shape = result.layout.bodies[0]["shape"]
    seen = PageMotion(result)
    faces, places = np.array(shape["faces"]), seen.points(np.array([0]))[0]
    a, b, c = (places[faces[:, k]] for k in range(3))
    volume = (a * np.cross(b, c)).sum() / 6.0
    assert volume == pytest.approx(0.04 * 0.06 * 1.0, rel=1e-2)  # corners of a bent solid; positive: seen from outside
    rest = np.array(shape["rest"])
    assert np.abs(rest).max(axis=0) == pytest.approx([0.5, 0.02, 0.03], abs=1e-12)
    root = np.array([node["position"][0] == 0.0 for node in shape["nodes"]])
    moment = result["beam"].moment(0.0)[0, 0]
    moment = np.abs(moment).max()
    axial = np.abs(np.max(result["beam"].axial_force(0.0)))
    bending = moment * 0.02 / (0.06 * 0.04**3 / 12)
    assert seen.values["beam"][0, root] == pytest.approx(bending, abs=2e-3 * bending + axial / (0.04 * 0.06))


def test_stress_of_a_spatial_beam():
    """Bending in two directions and tension at once, by beam theory."""
    model = ix.Model("cantilever", gravity=(0, 0, 0))
    beam = model.add(ix.AncfBeam3D("beam", (0, 0, 0), (1, 0, 0), **{**SOFT, "young": 2e11}))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    model.add(ix.Force("pull", beam.marker(s=1.0), (50.0, 7.0, -5.0)))
    found = ix.static(model)["beam"]
    second = 0.06 * 0.04**3 / 12, 0.04 * 0.06**3 / 12
    expected = 50.0 / 0.0024 - 7.0 * 0.5 * 0.01 / second[0] + 5.0 * 0.5 * 0.02 / second[1]
    assert found.stress(0.5, 0.01, 0.02)[0, 0] == pytest.approx(expected, abs=50.0)  # of terms of 1e5
    assert found.von_mises([[0.5, 0.01, 0.02]])[0, 0] == pytest.approx(abs(expected), abs=50.0)


def test_cables_are_bars_coloured_by_stress():
    """A wire under its own weight, hanging: stress rho g (L - s) along it; at rest straight."""
    model = ix.Model("plumb", gravity=(0, 0, -9.81))
    wire = model.add(ix.AncfCable("wire", (0, 0, 0), (0, 0, -2), radius=0.002, elements=3, young=2e11, density=7800.0))
    model.add(ix.Spherical("hook", model.ground, wire, at=(0, 0, 0)))
    result = ix.static(model).result
    shape, seen = result.layout.bodies[0]["shape"], PageMotion(result)
    s = np.array([node["position"][0] for node in shape["nodes"]])
    assert shape["members"] == [[k, k + 1] for k in range(len(s) - 1)]
    assert shape["radius"] == 0.002
    assert seen.values["wire"][0] == pytest.approx(7800.0 * 9.81 * (2.0 - s), rel=1e-6, abs=1.0)
    assert np.linalg.norm(np.array(shape["rest"]), axis=1) == pytest.approx(np.abs(s - 1.0), abs=1e-12)
    assert seen.points(np.array([0]))[0][:, 2] == pytest.approx(-s, abs=1e-6)
