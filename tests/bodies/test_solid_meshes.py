"""Flexible bodies from meshes of scikit-fem."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix

skfem = pytest.importorskip("skfem", reason="scikit-fem is not installed: index3[fe]")

STEEL = {"young": 2.0e11, "poisson": 0.3, "density": 7800.0}
LENGTH, WIDTH = 0.5, 0.05


def bar(kind):
    """A square bar along x, of tetrahedra or hexahedra."""
    x, y = np.linspace(0.0, LENGTH, 11), np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, 2)
    if kind == "tetrahedra":
        mesh, element = skfem.MeshTet.init_tensor(x, y, y), skfem.ElementTetP2()
    else:
        mesh, element = skfem.MeshHex.init_tensor(x, y, y), skfem.ElementHex2()
    return ix.flexible.from_mesh(skfem.Basis(mesh, skfem.ElementVector(element)), **STEEL)


@pytest.mark.parametrize("kind", ["tetrahedra", "hexahedra"])
def test_a_bar_bends_and_is_stressed_as_a_beam(kind):
    structure = bar(kind)
    ends = {
        "wall": structure.where(lambda x: x[:, 0] < 1e-9),
        "tip": structure.where(lambda x: x[:, 0] > LENGTH - 1e-9),
    }
    body = structure.body("bar", interface=ends, modes=2)
    assert body.mass == pytest.approx(7800.0 * LENGTH * WIDTH**2, rel=1e-12)
    exact = 22.3733 / (2.0 * np.pi) * np.sqrt(2e11 * WIDTH**2 / (12.0 * 7800.0 * LENGTH**4))
    assert body.frequencies[0] == pytest.approx(exact, rel=0.06)  # of a slender beam: shear takes 3 percent off here
    model = ix.Model("bar", gravity=(0, 0, 0))
    model.add(body)
    model.add(ix.Fixed("clamp", model.ground.marker(), body.marker(node="wall")))
    tip = body.marker(node="tip")
    model.add(ix.Force("load", tip, (0, 0, -100.0)))
    rest = ix.static(model)
    down = -100.0 * LENGTH**3 / (3.0 * 2e11 * WIDTH**4 / 12.0)
    assert rest.marker(tip).position[2] == pytest.approx(down, rel=0.03)  # shear adds 0.8 percent, rigid ends take some
    middle = structure.where(lambda x: (abs(x[:, 0] - 0.5 * LENGTH) < 1e-9) & (abs(x[:, 2] - 0.5 * WIDTH) < 1e-9))
    seen = rest.result["bar"].stress(middle)[0]
    bending = 100.0 * 0.5 * LENGTH * 0.5 * WIDTH / (WIDTH**4 / 12.0)
    assert seen == pytest.approx(bending, rel=0.05)  # two elements across an edge, stresses averaged at nodes
    corners = structure.nodes[body.data.faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    assert area == pytest.approx(4.0 * LENGTH * WIDTH + 2.0 * WIDTH**2, rel=1e-12)


def test_a_uniform_strain_gives_the_stress_of_the_material():
    """Stretch along x with free sides: E times the strain at every node, to rounding."""
    structure = bar("tetrahedra")
    x = structure.nodes
    d = 1e-3 * np.column_stack([x[:, 0], -0.3 * x[:, 1], -0.3 * x[:, 2]]).ravel()
    found = structure.stress.at_nodes(d[None], np.arange(len(x)))
    assert found == pytest.approx(np.full((1, len(x)), 2e8), rel=1e-9)


def test_a_basis_of_another_kind_is_refused():
    scalar = skfem.Basis(skfem.MeshTet(), skfem.ElementTetP1())
    with pytest.raises(ix.ModelError, match="The mesh has no basis of displacements in space"):
        ix.flexible.from_mesh(scalar, **STEEL)


@pytest.mark.parametrize("condition", [lambda x: x[0] < 0.5, lambda x: x < 0.5, lambda x: x[:, 0]])
def test_a_condition_that_does_not_ask_every_node_is_refused(condition):
    structure = ix.flexible.frame([(0, 0, 0), (1, 0, 0)], [(0, 1)], outer_diameter=0.1, young=1e9, density=1000.0)
    with pytest.raises(ix.ModelError, match="True or False for each of the 6 nodes"):
        structure.where(condition)
