"""Stresses of flexible bodies, and their hot spots."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_models import beam, bent_frame, lumps, swinging

import index3 as ix
from index3.bodies.modal_data import rigid_motions

NODES, _, MASS, STIFFNESS = lumps()
SPIDERS = [[0, 1, 2], [3, 4, 5]]


def loaded_cantilever(force, torque, gravity=(0, 0, 0)):
    """A clamped tube with a force and a torque at its end, in equilibrium: the model and the result."""
    model = ix.Model("cantilever", gravity=gravity)
    tube = model.add(beam(4).body("tube", interface=["A", "B"]))
    model.add(ix.Fixed("wall", model.ground, tube, at=(0, 0, 0)))
    model.add(ix.Force("push", tube.marker(node="B"), force))
    model.add(ix.Torque("twist", tube.marker(node="B"), torque))
    return tube, ix.static(model).result


def test_stress_of_a_tube_is_that_of_its_section_forces():
    """S2-12: normal force, bending in two planes and torsion together, at the wall and at the end."""
    area, inertia = np.pi * (0.015**2 - 0.012**2), 0.25 * np.pi * (0.015**4 - 0.012**4)
    _, result = loaded_cantilever((500.0, -2.0, 1.0), (3.0, 0, 0))
    normal = 500.0 / area + np.hypot(2.0, 1.0) * 0.015 / inertia
    shear = 3.0 * 0.015 / (2.0 * inertia)
    seen = result["tube"].stress(["A", "B"])
    assert seen.shape == (1, 2)
    # deflections of 1e-4 m at forces of 500 N change the moment of 2 N m by 3 percent: second order, so not exact
    assert seen[0, 0] == pytest.approx(np.hypot(normal, np.sqrt(3.0) * shear), rel=2e-2)
    assert seen[0, 1] == pytest.approx(np.hypot(500.0 / area, np.sqrt(3.0) * shear), rel=1e-3)
    _, light = loaded_cantilever((1e-3, -2e-3, 1e-3), (3e-3, 0, 0))
    normal = 1e-3 / area + np.hypot(2e-3, 1e-3) * 0.015 / inertia
    exact = np.hypot(normal, np.sqrt(3.0) * 3e-3 * 0.015 / (2.0 * inertia))
    assert light["tube"].stress("A")[0, 0] == pytest.approx(exact, rel=1e-6)


def test_stress_is_that_of_the_finite_elements():
    """S2-12: of all nodes of a frame, from displacements of a static solution of the whole structure."""
    structure = bent_frame()
    body = structure.body("frame", interface=["A", "D"])
    K = structure.stiffness_matrix.toarray()
    load = np.zeros(len(K))
    load[6 * structure.node("D") : 6 * structure.node("D") + 6] = (3.0, -2.0, 5.0, 0.3, 0.2, -0.4)
    load[:6] = -np.array((3.0, -2.0, 5.0, 0.0, 0.0, 0.0))
    rigid = rigid_motions(structure.nodes, structure.nodes[0], 6)
    load[3:6] -= (rigid.T @ load)[3:]
    d = np.linalg.lstsq(K, load, rcond=1e-12)[0]
    exact = structure.stress.at_nodes(d[None], np.arange(len(structure.nodes)))[0]
    modes = body.data.shapes.reshape(len(K), -1)
    eta = modes.T @ load / body.stiffness
    found = body.data.stress.at_nodes(eta[None], np.arange(len(structure.nodes)))[0]
    assert found == pytest.approx(exact, rel=1e-6)


def test_hot_spots_are_the_nodes_of_largest_stress(swing):
    """S2-15: highest first, each with the time of its largest stress."""
    view = swing["frame"]
    spots = view.hot_spots(3)
    stresses = view.stress()
    assert stresses.shape == (len(swing), 10)
    assert [spot.stress for spot in spots] == sorted(stresses.max(axis=0), reverse=True)[:3]
    for node, time, stress in spots:
        row = int(np.flatnonzero(swing.t == time)[0])
        assert view.stress(node)[row, 0] == stress
    assert np.array_equal(view.modal, view.q[:, 7:])
    with pytest.raises(ix.ModelError, match="ModalBody 'frame' has no node 'X'"):
        view.stress("X")
    with pytest.raises(AttributeError, match=r"It has position, .*, modal, stress, hot_spots"):
        view.strain  # noqa: B018 (asking is what fails)


def test_two_integrators_find_the_same_hot_spots(swing):
    """S2-15, S2-41: the same nodes in the same order."""
    other = ix.simulate(swinging(), (0, 0.2), "hht-i3", rtol=1e-6, t_eval=0.02)
    one, two = (result["frame"].hot_spots(10) for result in (swing, other))
    assert [spot.node for spot in one] == [spot.node for spot in two]
    assert [spot.stress for spot in one] == pytest.approx([spot.stress for spot in two], rel=5e-3)  # S2-41: 0.5 percent
    assert [spot.time for spot in one] == [spot.time for spot in two]


def test_a_body_without_stresses_says_so():
    model = ix.Model("lumps")
    model.add(ix.ModalBody("lumps", MASS, STIFFNESS, NODES, interface=SPIDERS))
    result = ix.simulate(model, (0, 0.01), "dopri5")
    with pytest.raises(ix.ModelError, match="ModalBody 'lumps' has no stresses"):
        result["lumps"].hot_spots()


def test_stresses_of_a_solid_by_a_matrix():
    """Six stresses for each node, linear in the displacements: von Mises' of uniaxial and pure shear."""
    matrix = np.zeros((36, 18))
    matrix[0, 0] = 2.0  # xx of node 0 from its displacement along x
    matrix[6 + 3, 3] = 3.0  # xy of node 1
    body = ix.ModalBody.from_modes("lumps", np.eye(18)[:, [0, 3]], MASS, STIFFNESS, NODES, stress=matrix)
    eta = np.linalg.lstsq(body.data.shapes[:2, :3].reshape(6, 2), np.array((0.5, 0, 0, 0.1, 0, 0)), rcond=None)[0]
    found = body.data.stress.at_nodes(eta[None], np.array((0, 1)))[0]
    assert found == pytest.approx((1.0, 0.3 * np.sqrt(3.0)), rel=1e-12)
    with pytest.raises(ix.ModelError, match=r"'lumps' has stress .* Give a matrix that maps 18 displacements"):
        ix.ModalBody.from_modes("lumps", np.eye(18)[:, [0, 3]], MASS, STIFFNESS, NODES, stress=matrix[:6])
