"""Solids meshed by scikit-fem, as structures of finite elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from index3.bodies.marker import as_number, as_positive
from index3.bodies.modal_stress import Recovery
from index3.errors import ModelError
from index3.flexible.finite_elements import FiniteElements

OWNER = "The mesh"
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
"""Places of the stresses xx, yy, zz, xy, yz, zx."""


def from_mesh(basis: Any, *, young: float, poisson: float, density: float) -> FiniteElements:
    """An isotropic elastic solid on a mesh of scikit-fem; `.body(name, interface=...)` makes it a body.

    Parameters
    ----------
    basis : `skfem.Basis` of a vector element with values at points, for example
        Basis(MeshTet(...), ElementVector(ElementTetP2())) or of hexahedra with ElementHex1 or ElementHex2
    young, poisson, density : of the material [Pa, 1, kg/m^3]

    Nodes have three coordinates, so every interface is a spider of at least three; `.where(condition)` finds nodes.
    Needs scikit-fem (index3[fe]).
    """
    try:
        import skfem
        from skfem.models.elasticity import lame_parameters, linear_elasticity
    except ImportError:
        raise ModelError("from_mesh needs scikit-fem. Install index3[fe].") from None
    E, rho, nu = as_positive(young, OWNER, "young"), as_positive(density, OWNER, "density"), as_ratio(poisson)
    element = getattr(basis, "elem", None)
    places = getattr(getattr(element, "elem", None), "doflocs", None)
    if not isinstance(element, skfem.ElementVector) or places is None or places.shape[1] != 3:
        raise ModelError(
            f"{OWNER} has no basis of displacements in space: {basis!r:.60}. Give "
            "Basis(mesh, ElementVector(ElementTetP2())) or the like."
        )
    order = points_of(basis)
    lame = lame_parameters(E, nu)
    K = skfem.asm(linear_elasticity(*lame), basis)
    M = skfem.asm(skfem.BilinearForm(lambda u, v, w: rho * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])), basis)
    own = order.ravel()
    M, K = (sp.csc_matrix(x)[own][:, own] for x in (M, K))
    nodes = np.ascontiguousarray(basis.doflocs[:, order[:, 0]].T)
    return FiniteElements(M, K, nodes, faces=boundary(basis.mesh), stress=recovery(skfem, basis, order, lame))


def as_ratio(poisson: Any) -> float:
    """Poisson's ratio of a solid."""
    nu = as_number(poisson, OWNER, "poisson")
    if not -1.0 < nu < 0.5:
        raise ModelError(f"{OWNER} has poisson {nu}. Give a ratio between -1 and 0.5.")
    return nu


def points_of(basis: Any) -> np.ndarray:
    """The three coordinates of the basis at each of its points (N, 3): vertices first, then edges, facets, cells."""
    groups = (basis.nodal_dofs, basis.edge_dofs, basis.facet_dofs, basis.interior_dofs)
    rows = [x.reshape(-1, 3, x.shape[1]).transpose(0, 2, 1).reshape(-1, 3) for x in groups if x is not None and x.size]
    return np.concatenate(rows).astype(int)


def boundary(mesh: Any) -> np.ndarray:
    """The triangles of the surface, by their vertices; a face of four corners is two of them."""
    facets = mesh.facets[:, mesh.boundary_facets()].T
    if facets.shape[1] == 3:
        return facets
    around = [np.array(((0, 1, 2), (0, 2, 3))), np.array(((0, 1, 3), (0, 3, 2))), np.array(((0, 2, 1), (0, 1, 3)))]
    triangles = []
    for corners in facets:  # their order around the face is not given: the two diagonals cross
        x = mesh.p[:, corners].T
        sides = [np.linalg.norm(x[0] + x[k] - x[1:].sum(axis=0) + x[k]) for k in (2, 3, 1)]
        triangles += list(corners[around[int(np.argmin(sides))]])
    return np.array(triangles)


def recovery(skfem: Any, basis: Any, order: np.ndarray, lame: tuple[float, float]) -> Recovery:
    """Stresses at the nodes, each the mean of the elements around it."""
    count, local = len(order), basis.elem.elem.doflocs
    node_of = np.empty(3 * count, int)
    node_of[order.ravel()] = np.repeat(np.arange(count), 3)
    at_points = skfem.CellBasis(basis.mesh, basis.elem, quadrature=(local.T, np.ones(len(local))))
    dofs = basis.element_dofs  # (3 points, elements), the components of a point one after the other
    nodes = node_of[dofs[::3]]  # (points, elements)
    share = 1.0 / np.bincount(nodes.ravel(), minlength=count)
    position = np.empty(3 * count, int)
    position[order.ravel()] = np.arange(3 * count)
    rows, columns, values = [], [], []
    for i in range(len(dofs)):
        gradient = at_points.basis[i][0].grad  # (3, 3, elements, points)
        strain = 0.5 * (gradient + gradient.transpose(1, 0, 2, 3))
        stress = 2.0 * lame[1] * strain + lame[0] * np.einsum("kkep->ep", strain) * np.eye(3)[:, :, None, None]
        for c, pair in enumerate(PAIRS):
            at = nodes.T  # (elements, points)
            rows.append((6 * at + c).ravel())
            columns.append(np.repeat(position[dofs[i]], at.shape[1]))
            values.append((stress[pair] * share[at]).ravel())
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    matrix = sp.csr_matrix(entries, shape=(6 * count, 3 * count))
    return Recovery("solid", np.arange(count), matrix, np.zeros((count, 0)))
