"""Flexible bodies by a floating frame and component modes: inertia, motion, results."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
import zoo
from flexible_models import beam, lumps, modes_of_lumps, swinging
from marker_histories import histories_against_kernels
from test_derivatives import check_matrix

import index3 as ix
from index3.compiled import slots as s
from index3.results.html import payload
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

# Sums of a few hundred products of numbers of size 1..10.
ROUNDING = 1e-12


def decode(text, *shape):
    """Numbers as a page has them."""
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)


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


def tumbling(body):
    """A model of one free body."""
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


def test_histories_of_markers_are_what_the_kernels_have(swing):
    """Pose, twist and acceleration J a + (J v)_q v of every marker at every time."""
    assert swing.success, swing.message
    assert np.abs(swing["frame"].q[:, 7:]).max() > 1e-3
    pose, twist, acceleration = histories_against_kernels(compile_model(swinging()), swing)
    assert pose < ROUNDING
    assert twist < 10 * ROUNDING
    assert acceleration < 1e-8  # as tight as the multipliers of the run


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


def test_the_page_gets_nodes_members_and_stresses(swing):
    """Bars between nodes that move as the markers on them do, each end in the colour of its stress."""
    data = payload(swing, "swinging")
    (part,) = data["bodies"][0]["parts"]
    assert (part["type"], part["radius"], part["faces"]) == ("faces", 0.015, [])
    assert sorted(map(sorted, part["members"])) == sorted(map(sorted, swinging()["frame"].data.lines.tolist()))
    n_t = len(decode(data["times"], -1))
    points = decode(data["points"], n_t, -1, 3)[:, part["first"] : part["first"] + part["count"]]
    end = swing.marker(swinging()["frame"].marker(node="D")).position
    assert np.abs(points[:, 3] - end).max() < 1e-6  # float32 of numbers of size 1
    values = decode(data["values"], n_t, -1)[:, part["value"] : part["value"] + part["count"]]
    assert values == pytest.approx(swing["frame"].stress(), rel=1e-6)
    assert data["stress"] == pytest.approx(values.max(), rel=1e-6)


def test_bending_stays_in_its_plane_while_the_tube_spins_under_it():
    """Coriolis and centrifugal forces between modes: seen from ground, a tube bends as if it did not spin."""
    model = ix.Model("spinning", gravity=(0, 0, 0))
    structure = beam(4, young=2e9)
    body = model.add(structure.body("tube", interface=["A", "B"], modes=0, angular_velocity=(60.0, 0, 0)))
    end = body.marker(node="B")
    first = body.data.shapes[structure.node("B"), 1:3, :2]  # y and z of the lowest two modes, bending in two planes
    body.q0[7:9] = np.linalg.solve(first, (1e-4, 0.0))
    w = 2.0 * np.pi * body.frequencies[0]
    spin = np.array([[0.0, -60.0], [60.0, 0.0]])
    body.v0[7:9] = -np.linalg.solve(first, spin @ first @ body.q0[7:9])  # at rest in ground
    result = ix.simulate(model, (0, 2.0 * np.pi / w), "dop853", rtol=1e-9, atol=1e-12, t_eval=0.1 / w)
    moved = result.marker(end).position
    assert w * result.t[-1] > 6.0
    assert 60.0 * result.t[-1] > 2.0  # so far it turned, in radians
    assert np.abs(moved[:, 1] - 1e-4 * np.cos(w * result.t)).max() < 1e-8  # products of deflections of 1e-4
    assert np.abs(moved[:, 2]).max() < 1e-8


def test_spinning_stretches_as_theory_says():
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


NODE = shutil.which("node")
BROWSER = """
const nothing = new Proxy({}, {get: () => () => 0});
const pen = new Proxy({}, {get: () => () => nothing, set: () => true});
const element = {textContent: TEXT, getContext: () => pen};
const document = {getElementById: () => element, documentElement: {}};
const getComputedStyle = () => ({getPropertyValue: () => "#808080"});
const rgb = (colour) => Array.isArray(colour) ? colour : [0, 0, 0];
"""
ASK = """
readTheme(); prepare(); resetCamera();
let drawn = [];
tube = (points, radius, colours) => drawn.push([points, colours]);
moveTo(times[times.length - 1]);
const part = data.bodies[0].parts[0];
const twice = [1, 10].map((factor) => {
  options.exaggerate = factor;
  drawn = [];
  drawPart(0, part, theme.bodies[0]);
  return drawn;
});
console.log(JSON.stringify(twice));
"""


@pytest.mark.skipif(NODE is None, reason="no node on the path to run the scripts of the page with")
def test_the_page_exaggerates_and_colours(swing, tmp_path):
    """Bars between the nodes; ten times the deformation from where the rigid body would have them; colours differ."""
    room, names = files("index3.results"), ("page_motion.js", "page_scene.js", "page_draw.js", "page_parts.js")
    scripts = "\n".join(room.joinpath(name).read_text("utf-8") for name in names)
    browser = BROWSER.replace("TEXT", json.dumps(json.dumps(payload(swing, "swinging"))))
    (tmp_path / "page.js").write_text(f"{browser}\n{scripts}\n{ASK}", "utf-8")
    ran = subprocess.run([NODE, tmp_path / "page.js"], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    once, ten = json.loads(ran.stdout)
    body, view = swinging()["frame"], swing["frame"]
    places = np.array([swing.marker(body.marker(node=k)).position[-1] for k in range(10)])
    rigid = view.position[-1] + (body.nodes - body.data.centre) @ view.rotation[-1].T
    for k, (first, second) in enumerate(body.data.lines):
        ends = [first, second]
        assert np.abs(np.array(once[k][0]) - places[ends]).max() < 1e-6  # float32 of numbers of size 1
        exaggerated = rigid[ends] + 10.0 * (places - rigid)[ends]
        assert np.abs(np.array(ten[k][0]) - exaggerated).max() < 1e-5
    assert len({str(colour) for _, colours in once for colour in colours}) > 5


def test_spinning_lumps_move_as_point_masses_on_springs():
    """An independent formulation: absolute coordinates of masses on springs, free and tumbling.

    Stiff springs: what linear deformations leave out is of second order, 1e-3 of the deformation.
    """
    nodes, masses, M, K = lumps(seed=5)
    K = 1e3 * K
    spin, speed = np.array((3.0, -2.0, 5.0)), np.array((1.0, 0.5, -0.2))
    modal = ix.Model("modal")
    shapes = np.linalg.eigh(K)[1][:, 6:]
    body = modal.add(ix.ModalBody.from_modes("body", shapes, M, K, nodes, velocity=speed, angular_velocity=spin))
    loose, centre = ix.Model("loose"), masses @ nodes / masses.sum()
    points = [
        loose.add(ix.PointMass(f"p{k}", masses[k], position=x, velocity=speed + np.cross(spin, x - centre)))
        for k, x in enumerate(nodes)
    ]
    for i in range(len(nodes)):
        for j in range(i):
            block = K[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]  # -k u u^T
            length = np.linalg.norm(nodes[i] - nodes[j])
            settings = {"stiffness": -np.trace(block), "length": length}
            loose.add(ix.SpringDamper(f"{i} {j}", points[i].marker(), points[j].marker(), **settings))
    one, other = (ix.simulate(x, (0.0, 0.3), "dop853", rtol=1e-9, atol=1e-11, t_eval=0.05) for x in (modal, loose))
    rigid = ix.Model("rigid")
    block = rigid.add(
        ix.RigidBody("body", body.mass, body.inertia, position=centre, velocity=speed, angular_velocity=spin)
    )
    still = ix.simulate(rigid, (0.0, 0.3), "dop853", rtol=1e-9, atol=1e-11, t_eval=0.05)
    seen = np.stack([one.marker(body.marker(node=k)).position for k in range(len(nodes))])
    exact = np.stack([other[f"p{k}"].position for k in range(len(nodes))])
    stiff = np.stack([still.marker(block.marker(x - centre)).position for x in nodes])
    deformed = np.abs(exact - stiff).max()
    assert deformed > 1e-4
    assert np.abs(seen - exact).max() < 0.005 * deformed  # seen: 0.0011
