"""Flexible bodies: what a user may say of them, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse as sp
from flexible_models import beam, lumps

import index3 as ix
from index3.bodies.modal_data import rigid_motions

# Sums of a few hundred products of numbers of size 1..10.
ROUNDING = 1e-12


def test_spiders_are_nodes():
    """A spider of three nodes moves as they do: its six coordinates give their displacements exactly."""
    nodes, _, M, K = lumps(6)
    interface = {"hub": [0, 1, 2], "rim": [3, 4, 5]}
    body = ix.ModalBody("lumps", M, K, nodes, interface=interface)
    assert body.modes == 6  # two rigid spiders: twelve coordinates, six of them rigid
    hub, shapes = body.marker(node="hub"), body.data.shapes
    assert np.abs(hub.pose()[0] - nodes[:3].mean(axis=0)).max() < ROUNDING
    arms = rigid_motions(nodes[:3], nodes[:3].mean(axis=0), 3).reshape(3, 3, 6)
    assert np.abs(arms @ shapes[6] - shapes[:3, :3]).max() < ROUNDING
    assert body.marker(node=0).oriented is False
    assert hub.oriented is True


@pytest.mark.parametrize("kind", ["array", "sparse", "mtx", "npz", "sparse npz"])
def test_matrices_from_everywhere(kind, tmp_path):
    nodes, _, M, K = lumps(6)
    given = [M, K]
    if kind == "sparse":
        given = [sp.csr_matrix(x) for x in given]
    for k, name in enumerate(("mass", "stiffness")):
        path = tmp_path / f"{name}.{'mtx' if kind == 'mtx' else 'npz'}"
        if kind == "mtx":
            scipy.io.mmwrite(path, sp.coo_matrix(given[k]), precision=17)
        elif kind == "npz":
            np.savez(tmp_path / "both.npz", mass_matrix=M, stiffness_matrix=K)
            path = tmp_path / "both.npz"
        elif kind == "sparse npz":
            sp.save_npz(path, sp.csc_matrix(given[k]))
        given[k] = path if "mtx" in kind or "npz" in kind else given[k]
    body = ix.ModalBody("lumps", *given, nodes, interface=[[0, 1, 2], [3, 4, 5]])
    exact = ix.ModalBody("lumps", M, K, nodes, interface=[[0, 1, 2], [3, 4, 5]])
    assert body.frequencies == pytest.approx(exact.frequencies, rel=1e-12)


def test_modes_are_kept_by_number_or_frequency():
    structure = beam(8)
    counts = [structure.body("tube", interface=["A", "B"], modes=k).modes for k in (0, 5)]
    assert counts == [6, 11]
    held = structure.body("tube", interface=["A", "B"], max_frequency=400.0)
    # bending with both ends clamped: two of 22.373/(2 pi) sqrt(EI/(m L^4)) = 171 Hz, two of 2.757 times that, at 471 Hz
    assert held.modes == 6 + 2


def test_damping_by_number_list_and_function():
    structure = beam(2)
    bodies = [
        structure.body("tube", interface=["A", "B"], modes=0, damping=damping)
        for damping in (0.02, [0.02] * 6, lambda f: 0.02 if f > 0.0 else 1.0)
    ]
    for body in bodies:
        assert body.damping == pytest.approx(2.0 * 0.02 * 2.0 * np.pi * body.frequencies)


def wrong_mass():
    nodes, _, M, K = lumps()
    M[4, 4] = -1.0
    return M, K, nodes


NODES, _, MASS, STIFFNESS = lumps()
SPIDERS = [[0, 1, 2], [3, 4, 5]]
BAD = {
    "has too few interface nodes in [0, 1]": {"interface": [[0, 1]]},
    "has too few interface nodes in 3": {"interface": [3]},
    "has too few interface nodes: none": {"interface": []},
    "has no node 17": {"interface": [[0, 1, 17]]},
    "has node 2 in two interfaces": {"interface": [[0, 1, 2], [2, 3, 4]]},
    "asks for 40 modes": {"interface": SPIDERS[:1], "modes": 40},
    "has modes -1": {"modes": -1},
    "has no way to deform": {"interface": SPIDERS[:1], "modes": 0},
    "has a mass matrix that is not positive": {"mass_matrix": wrong_mass()[0]},
    "has a mass matrix with the masses": {"mass_matrix": np.diag(np.tile((1.0, 1.0, 2.0), 6))},
    "has a mass matrix of 17 rows for 6 nodes": {"mass_matrix": np.eye(17)},
    "has a stiffness matrix that resists rigid motions": {"stiffness_matrix": STIFFNESS + np.eye(18)},
    "has a stiffness matrix that is not symmetric": {"stiffness_matrix": STIFFNESS + np.triu(np.ones((18, 18)))},
    "can move in 6 ways besides": {"stiffness_matrix": 0.0 * STIFFNESS},
    "has too few interface nodes, or parts": {"stiffness_matrix": 0.0 * STIFFNESS, "interface": [[0, 1, 2]]},
    "has a stiffness matrix that is not positive: some": {"stiffness_matrix": -STIFFNESS},
    "cannot read its mass matrix from 'nowhere.mtx'": {"mass_matrix": "nowhere.mtx"},
    "has damping ratios that are negative": {"damping": -0.1},
    "has damping [0.1, 0.1] for 6 modes": {"damping": [0.1, 0.1]},
    "has damping [0.1] for 6 modes": {"damping": [0.1]},
    "has a stiffness matrix array([": {"stiffness_matrix": 1j * STIFFNESS},
    "has the name 'far' for node 6": {"names": {"far": 6}},
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_told_by_name(words):
    settings = {"mass_matrix": MASS, "stiffness_matrix": STIFFNESS, "nodes": NODES, "interface": SPIDERS} | BAD[words]
    with pytest.raises(ix.ModelError) as caught:
        ix.ModalBody("lumps", **settings)
    assert str(caught.value).startswith(f"ModalBody 'lumps' {words}"), str(caught.value)


def test_modes_with_a_rigid_motion_are_refused():
    rng = np.random.default_rng(1)
    turn = rigid_motions(NODES, np.zeros(3), 3) @ rng.normal(size=6)
    own = rng.normal(size=18)
    modes = np.column_stack([own, turn + own])
    with pytest.raises(ix.ModelError, match="'lumps' has modes that contain a rigid motion"):
        ix.ModalBody.from_modes("lumps", modes, MASS, STIFFNESS, NODES)


def test_given_modes_need_stiffness():
    shape = np.random.default_rng(1).normal(size=(18, 2))
    for modes, stiffness, words in (
        (shape, -STIFFNESS, "stiffness matrix that is not positive"),
        (shape, 0.0 * STIFFNESS, "can move in 2 ways"),
        (shape[:, :0], STIFFNESS, "has no modes"),
    ):
        with pytest.raises(ix.ModelError, match=f"'lumps' .*{words}"):
            ix.ModalBody.from_modes("lumps", modes, MASS, stiffness, NODES)


@pytest.mark.parametrize("count", [0, -3, 2.5, True])
def test_hot_spots_are_counted(count):
    model = ix.Model("free", gravity=(0, 0, 0))
    model.add(beam(2).body("tube", interface=["A"], modes=1))
    result = ix.simulate(model, (0.0, 1e-3), "hht-i3")
    with pytest.raises(ix.ModelError, match="'tube': hot_spots of"):
        result["tube"].hot_spots(count)


def test_markers_that_no_node_carries_are_refused():
    tube = beam(4).body("tube", interface=["A", "B"], modes=0)
    with pytest.raises(ix.ModelError, match="'tube' has no node 'C'"):
        tube.marker(node="C")
    with pytest.raises(ix.ModelError, match="is on no node"):
        tube.marker((0.1, 0, 0))
    with pytest.raises(ix.ModelError, match="has no node within a tenth of its size"):
        ix.Spherical("far", ix.Model().ground, tube, at=(0, 0, 1))
    lump = ix.ModalBody("lumps", MASS, STIFFNESS, NODES, interface=SPIDERS)
    with pytest.raises(ix.ModelError, match="on an arm at node 0, which has no rotations"):
        lump.marker((0.1, 0, 0), node=0)


@pytest.mark.parametrize("count", [3, 12])
def test_frequencies_of_given_modes_are_those_of_the_free_body(count):
    """Shapes that move the centre of mass: Rayleigh and Ritz with these and the rigid motions; all 12: exact."""
    nodes, _, M, K = lumps()
    shapes = np.linalg.eigh(K)[1][:, 6 : 6 + count]  # orthogonal to rigid motions without regard to mass
    body = ix.ModalBody.from_modes("lumps", shapes, M, K, nodes)
    basis = np.c_[rigid_motions(nodes, np.zeros(3), 3), shapes]
    exact = np.sqrt(scipy.linalg.eigh(basis.T @ K @ basis, basis.T @ M @ basis, eigvals_only=True)[6:]) / (2 * np.pi)
    assert body.frequencies == pytest.approx(exact, rel=1e-9)
    assert body.frequencies != pytest.approx(np.sqrt(body.stiffness) / (2 * np.pi), rel=1e-3)
