"""Beams of Exudyn's test models (github.com/jgerstmayr/EXUDYN, main/pythonDev/TestModels), against beam theory."""

import pytest

import index3 as ix

FRAME = (1.85865439, 0.08582064)
"""Where the free end of the L comes to: Cosserat's line with EA and EI, rigid in shear, by SciPy's `solve_bvp` to 1e-9.
Exudyn's LShapeGeomExactBeam2D has -0.9181 for the second, less 1, with 4 elements an arm (with shear: -0.9141)."""


@pytest.mark.parametrize(("elements", "limit"), [(4, 2e-5), (16, 3e-6)])
def test_frame_in_the_shape_of_an_L(elements, limit):
    """Two steel beams at a right angle, pulled at the end by 1 MN: the corner stays as it is, however fine the mesh.

    Held by their sections, which only the shear of a node ties to the axes, the corner opened: 0.13 % off with 4
    elements, 0.6 % with 16. Limits: 1.3e-5 and 1.3e-6 seen.
    """
    model = ix.Model("L", gravity=(0, 0, 0))
    steel = {"height": 0.05, "width": 0.1, "young": 2.1e11, "poisson": 0.3, "density": 7800.0, "law": "elastic-line"}
    first = model.add(ix.AncfBeam("first", (0, 0), (1, 0), elements=elements, **steel))
    second = model.add(ix.AncfBeam("second", (1, 0), (1, 1), elements=elements, **steel))
    model.add(ix.Fixed("wall", model.ground, first, at=(0, 0, 0)))
    model.add(ix.Fixed("corner", first, second, at=(1, 0, 0)))
    model.add(ix.Force("pull", second.marker(s=1.0), (1e6, 0, 0)))
    end = ix.static(model)["second"].points(1.0).ravel()
    assert tuple(end[:2]) == pytest.approx(FRAME, abs=2 * limit)
