"""Flexible bodies by a floating frame and component modes: reduction, inertia, motion, words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse as sp
import zoo
from test_derivatives import check_matrix

import index3 as ix
from index3.bodies.modal_data import rigid_motions
from index3.compiled import slots as s
from index3.results.html import payload
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.system import State

# Sums of a few hundred products of numbers of size 1..10.
ROUNDING = 1e-12
TUBE = {"outer_diameter": 0.03, "wall": 0.003, "density": 7800.0}
STEEL = {**TUBE, "young": 2.0e11}


def beam(elements=6, length=1.0, **settings):
    """A straight tube along x from the origin."""
    ends = {"A": (0, 0, 0), "B": (length, 0, 0)}
    return ix.flexible.frame(ends, ["AB"], elements=elements, **(STEEL | settings))


def bent_frame(**settings):
    """A frame of three tubes in space, with a free end."""
    places = {"A": (0, 0, 0), "B": (0.8, 0, 0), "C": (0.8, 0.5, 0.1), "D": (0.2, 0.6, 0.4)}
    return ix.flexible.frame(places, ["AB", "BC", "CD"], elements=3, **(STEEL | settings))


def lumps(seed=1, count=6):
    """Point masses at random places on random springs, three coordinates each."""
    rng = np.random.default_rng(seed)
    nodes, masses = rng.normal(size=(count, 3)), rng.uniform(0.5, 1.5, count)
    K = np.zeros((3 * count, 3 * count))
    for i in range(count):
        for j in range(i):
            u = (nodes[i] - nodes[j]) / np.linalg.norm(nodes[i] - nodes[j])
            row = np.zeros(3 * count)
            row[3 * i : 3 * i + 3], row[3 * j : 3 * j + 3] = u, -u
            K += rng.uniform(200.0, 400.0) * np.outer(row, row)
    return nodes, masses, np.diag(np.repeat(masses, 3)), K


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


def modes_of_lumps(seed, count=4):
    """A body of point masses in shapes that are orthogonal to nothing, and its masses."""
    nodes, masses, M, K = lumps(seed)
    shapes = np.random.default_rng(seed).normal(size=(len(M), count))
    return ix.ModalBody.from_modes("lumps", shapes, M, K, nodes), masses


@pytest.mark.jit_off
@pytest.mark.parametrize("seed", [1, 2])
def test_kinetic_energy_is_that_of_the_moving_masses(seed):
    """Every invariant of the inertia: point masses carried by large deformations and any motion of the frame."""
    body, masses = modes_of_lumps(seed)
    model = ix.Model("lumps", gravity=(1.0, -2.0, -9.0))
    model.add(body)
    for k in range(len(masses)):
        model.add(ix.Force(f"f{k}", body.marker(node=k), (0, 0, 0)))
    state = zoo.random_state(compile_model(model), seed)
    p = np.random.default_rng(seed).normal(size=4)
    state[s.Q][3:7], state[s.Q][7:] = p / np.linalg.norm(p), np.random.default_rng(seed).normal(size=4)
    zoo.tangent_rates(state)
    assert state.run(evaluate.forces, evaluate.energy) == 0
    r, v = state[s.MARKER_R], state[s.MARKER_V][:, :3]
    kinetic, eta = 0.5 * float(masses @ np.sum(v**2, axis=1)), state[s.Q][7:]
    weight = -float(masses @ (r @ model.gravity))
    assert state[s.ENERGY][s.KINETIC] == pytest.approx(kinetic, rel=1e-12)
    assert state[s.ENERGY][s.POTENTIAL] == pytest.approx(weight + 0.5 * body.stiffness @ eta**2, rel=1e-12)


@pytest.mark.jit_off
def test_derivatives_with_stiffness_and_damping():
    body, _ = modes_of_lumps(3)
    body.stiffness[:], body.damping[:] = (3.0, 5.0, 7.0, 9.0), (0.3, 0.2, 0.5, 0.1)
    body.q0[7:] = 0.3
    model = ix.Model("damped")
    model.add(body)
    state = zoo.random_state(compile_model(model), seed=5)
    check_matrix(state)
    assert state.run(evaluate.forces, evaluate.energy) == 0
    assert state[s.ENERGY][s.POWER] == pytest.approx(-body.damping @ state[s.V][7:] ** 2, rel=1e-12)


def tumbling(body, **settings):
    """A run of a free body that turns about all of its axes."""
    model = ix.Model("tumbling", gravity=(0, 0, 0))
    model.add(body)
    return model


def test_frozen_modes_make_a_rigid_body():
    """S2-02: held in a large deformation, it moves as the rigid body of the deformed masses."""
    body, masses = modes_of_lumps(4)
    held = 0.4 * np.random.default_rng(4).normal(size=4)
    body.q0[7:] = held
    places = np.array([body.marker(node=k).pose()[0] for k in range(len(masses))])
    w = np.array((1.0, 2.0, 0.5))
    rigid = ix.RigidBody.from_points("rigid", places, masses, velocity=(0.1, 0.2, 0.3), angular_velocity=w)
    arm = body.q0[:3] - rigid.q0[:3]
    body.v0[:3] = np.array((0.1, 0.2, 0.3)) + np.cross(w, arm)
    body.v0[3:7] = (0.0, *(0.5 * w))
    model = tumbling(body)
    for k, value in enumerate(held):
        model.add(ix.CoordinateConstraint(f"hold{k}", body, f"mode{k + 1}", value))
    run = {"method": "dop853", "rtol": 1e-10, "atol": 1e-12, "t_eval": 0.1}
    flexible, exact = ix.simulate(model, (0, 2), **run), ix.simulate(tumbling(rigid), (0, 2), **run)
    moved = flexible.marker(body.marker(node=2)).position
    expected = exact.marker(rigid.marker_at(places[2])).position
    assert np.abs(moved - expected).max() < 1e-8  # a hundred times the tolerance
    assert np.abs(flexible["lumps"].angular_velocity - exact["rigid"].angular_velocity).max() < 1e-7


def test_free_flight_keeps_momentum_and_energy():
    """With Coriolis and centrifugal terms: the centre of mass on a parabola, angular momentum about it constant."""
    body, masses = modes_of_lumps(5)
    body.q0[7:], body.v0[7:] = 0.1, (0.5, -1.0, 0.3, 0.2)
    body.v0[:3], body.v0[3:7] = (1.0, 2.0, 3.0), (0.0, 0.5, 1.0, -0.7)
    model = ix.Model("flight", gravity=(0, 0, -9.81))
    model.add(body)
    markers = [body.marker(node=k) for k in range(len(masses))]
    result = ix.simulate(model, (0, 1), "dop853", rtol=1e-10, atol=1e-12, t_eval=0.05)
    assert result.success, result.message
    r, v = (np.array([getattr(result.marker(m), what) for m in markers]) for what in ("position", "velocity"))
    whole = masses.sum()
    centre, speed = np.tensordot(masses, r, 1) / whole, np.tensordot(masses, v, 1) / whole
    fall = centre[0] + result.t[:, None] * speed[0] + 0.5 * result.t[:, None] ** 2 * model.gravity
    assert np.abs(centre - fall).max() < 1e-8  # a hundred times the tolerance
    spin = np.tensordot(masses, np.cross(r - centre, v), 1)
    assert np.abs(spin - spin[0]).max() < 1e-7
    assert np.ptp(result["lumps"].q[:, 7:], axis=0).min() > 0.1  # it did deform
    assert np.ptp(result.energy.balance) < 1e-7


def test_spinning_stretches_and_softens_as_theory_says():
    """A tube that spins about its middle: its ends move out by the stretch of a rod in its own centrifugal field."""
    structure = beam(12, young=1e8)
    spin, rho, E, half = 20.0, 7800.0, 1e8, 0.5
    model = ix.Model("spinning", gravity=(0, 0, 0))
    body = model.add(structure.body("tube", interface=["A", "B"], modes=12, angular_velocity=(0, 0, spin)))
    state = State(compile_model(model))
    state.move(0.0, body.q0, body.v0)
    assert state.run(evaluate.forces) == 0
    eta = -state[s.G][7:] / body.stiffness  # equilibrium of the modes with the centrifugal force, to first order
    stretch = (body.data.shapes[structure.node("B")] @ eta)[0]
    # rho w^2 (half^2 x - x^3/3)/(2 E) at x = half, and linear shapes of 12 elements are 1/12^2 off in the load
    assert stretch == pytest.approx(rho * spin**2 * half**3 / (3.0 * E), rel=1e-2)


@pytest.fixture(scope="module")
def pendulums():
    """A hinged tube that is nearly rigid, and a rigid body with its mass and inertia, over half a second."""
    results = []
    structure = beam(2, young=2e13)
    flexible = structure.body("tube", interface=["A", "B"], modes=0, damping=0.1)
    rigid = ix.RigidBody("tube", flexible.mass, flexible.inertia, position=flexible.q0[:3])
    for body, hook in ((flexible, {"node": "A"}), (rigid, {"position": (-0.5, 0, 0)})):
        model = ix.Model("pendulum")
        model.add(body)
        model.add(ix.Revolute("hinge", model.ground.marker(z=(0, 1, 0)), body.marker(**hook, z=(0, 1, 0))))
        results.append(ix.simulate(model, (0, 0.5), "hht-i3", rtol=1e-7, t_eval=0.05))
    return results


def test_a_nearly_rigid_body_moves_as_the_rigid_one(pendulums):
    flexible, rigid = pendulums
    assert flexible.success, flexible.message
    # static deflections of 1e-9 m, and twice the error of the runs
    assert np.abs(flexible["tube"].position - rigid["tube"].position).max() < 1e-5
    assert np.abs(flexible["hinge"].angle - rigid["hinge"].angle).max() < 2e-5


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


def swinging():
    """A frame on a ball with a rod hinged to it, a spring at a node between, and an arm from a node."""
    model = ix.Model("swinging")
    body = model.add(bent_frame(young=2e9).body("frame", interface=["A", "D"], modes=4, damping=0.02))
    model.add(ix.Spherical("ball", model.ground, body, at=(0, 0, 0)))
    place = body.marker((0.02, 0.01, 0.0), node="D").pose()[0]
    rod = model.add(ix.RigidBody.rod("rod", place, place + np.array((0.3, 0, 0)), mass=0.3, radius=0.02))
    model.add(
        ix.Revolute("hinge", body.marker((0.02, 0.01, 0.0), node="D", z=(0, 1, 0)), rod.marker_at(place, z=(0, 1, 0)))
    )
    model.add(
        ix.SpringDamper("spring", model.ground.marker((1, 0, 1)), body.marker(node="B"), stiffness=100.0, damping=1.0)
    )
    return model


@pytest.fixture(scope="module")
def swing():
    return ix.simulate(swinging(), (0, 0.2), "radau5", rtol=1e-8, atol=1e-10, t_eval=0.02)


def test_histories_of_markers_are_what_the_kernels_have(swing):
    """Pose, twist and acceleration J a + (J v)_q v of every marker at every time."""
    assert swing.success, swing.message
    assert np.abs(swing["frame"].q[:, 7:]).max() > 1e-3
    system = compile_model(swinging())
    state = State(system)
    for k in range(len(swing)):
        state.move(swing.t[k], swing.q[k], swing.v[k])
        state[s.A][:] = swing.a[k]
        assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.derivatives) == 0
        for group in system.groups:
            for number, marker in zip(group.marker_numbers, group.markers, strict=True):
                seen = swing.marker(marker)
                assert np.abs(seen.position[k] - state[s.MARKER_R][number]).max() < ROUNDING
                assert np.abs(seen.rotation[k].ravel() - state[s.MARKER_A][number]).max() < ROUNDING
                twist = np.concatenate([seen.velocity[k], seen.angular_velocity[k]])
                assert np.abs(twist - state[s.MARKER_V][number]).max() < 10 * ROUNDING
                rate = np.concatenate([seen.acceleration[k], seen.angular_acceleration[k]])
                expected = state[s.MARKER_X][number] + state[s.MARKER_B][number]
                assert np.abs(rate - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("method", ["hht-i3", "bdf-si2", "dopri5", "al-index3", "rosenbrock4", "tlismni-adams4"])
def test_every_family_of_methods(method, swing):
    other = ix.simulate(swinging(), (0, 0.2), method, rtol=1e-6, t_eval=0.02)
    assert other.success, other.message
    # the augmented Lagrangian controls energy only; the others are below 1e-5
    assert np.abs(other["rod"].position - swing["rod"].position).max() < 3e-4
    assert other.violation.scaled.position.max() < 1e-10


def test_results_are_read_back(swing, tmp_path):
    swing.save(tmp_path / "run.nc")
    again = ix.Result.load(tmp_path / "run.nc")
    assert np.array_equal(again["hinge"].first.acceleration, swing["hinge"].first.acceleration)
    assert "frame.mode3" in again.to_xarray().coordinate


def test_energy_balance_counts_the_damping(swing):
    assert np.ptp(swing.energy.balance) < 1e-5  # of 1 J, at a tolerance of 1e-8
    assert swing.energy.work[-1] < -1e-3


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
    "has a mass matrix that is not positive": {"mass_matrix": wrong_mass()[0]},
    "has a mass matrix with the masses": {"mass_matrix": np.diag(np.tile((1.0, 1.0, 2.0), 6))},
    "has a mass matrix of 17 rows for 6 nodes": {"mass_matrix": np.eye(17)},
    "has a stiffness matrix that resists rigid motions": {"stiffness_matrix": STIFFNESS + np.eye(18)},
    "has a stiffness matrix that is not symmetric": {"stiffness_matrix": STIFFNESS + np.triu(np.ones((18, 18)))},
    "can move in 6 ways besides": {"stiffness_matrix": 0.0 * STIFFNESS},
    "has too few interface nodes, or parts": {"stiffness_matrix": 0.0 * STIFFNESS, "interface": [[0, 1, 2]]},
    "cannot read its mass matrix from 'nowhere.mtx'": {"mass_matrix": "nowhere.mtx"},
    "has damping ratios that are negative": {"damping": -0.1},
    "has damping [0.1, 0.1] for 6 modes": {"damping": [0.1, 0.1]},
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


def test_markers_that_no_node_carries_are_refused():
    tube = beam(4).body("tube", interface=["A", "B"], modes=0)
    with pytest.raises(ix.ModelError, match="'tube' has no node 'C'"):
        tube.marker(node="C")
    with pytest.raises(ix.ModelError, match="stands on no node"):
        tube.marker((0.1, 0, 0))
    with pytest.raises(ix.ModelError, match="has no node within a tenth of its size"):
        ix.Spherical("far", ix.Model().ground, tube, at=(0, 0, 1))
    lump = ix.ModalBody("lumps", MASS, STIFFNESS, NODES, interface=SPIDERS)
    with pytest.raises(ix.ModelError, match="on an arm at node 0, which has no rotations"):
        lump.marker((0.1, 0, 0), node=0)


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
    with pytest.raises(AttributeError, match="It has modal, stress, hot_spots besides motion"):
        view.strain  # noqa: B018 (asking is what fails)


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
    with pytest.raises(ix.ModelError, match=r"'lumps' has stress .* Give a matrix that makes of 18 displacements"):
        ix.ModalBody.from_modes("lumps", np.eye(18)[:, [0, 3]], MASS, STIFFNESS, NODES, stress=matrix[:6])


def test_the_page_gets_its_members(swing):
    shape = swing.layout.bodies[0]["shape"]
    assert shape["type"] == "lines"
    assert [len(line) for line in shape["lines"]] == [10]  # three tubes of three elements, end to end
    assert shape["radius"] == 0.015
    points = payload(swing, "swinging")["points"]
    assert points
