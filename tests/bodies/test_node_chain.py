"""A body kind from outside the package, whose markers span a few of its coordinates: equations, results, page."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
import scipy.linalg
import zoo
from marker_histories import histories_against_kernels
from node_chain import NodeChain
from test_derivatives import check_matrix

import index3 as ix
from index3.bodies.body import KINDS
from index3.compiled import slots as s
from index3.linear import contract
from index3.linear.registry import solver_of
from index3.results.html import payload
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

# Sums of a few products of numbers of size 1..10.
ROUNDING = 1e-12
Z = (0, 0, 1)
METHODS = ["hht-i3", "dopri5", "bdf-si2", "radau5", "al-index3", "rosenbrock4", "hem4", "tlismni-adams4"]


def displaced(seed=1, size=0.1, nodes=5):
    """Starts off rest, the last gradient excepted."""
    away = size * np.random.default_rng(seed).normal(size=(nodes, 8))
    away[-1, 5:] = 0.0
    return away


def hanging():
    """A chain that hangs from a ball at one end and carries a rod on a hinge at the other, with a spring in between."""
    model = ix.Model("hanging", gravity=(0, -9.81, 0))
    chain = model.add(NodeChain("chain", displaced=displaced(size=0.05)))
    root, tip, waist = (chain.marker((0.1, 0.0, 0.1), node=n, z=Z) for n in (0, 4, 2))
    place = tip.pose()[0]
    rod = model.add(ix.RigidBody.rod("rod", place, place + np.array((0.5, 0, 0)), mass=0.5, radius=0.05))
    model.add(ix.Spherical("root", model.ground.marker(root.pose()[0]), root))
    model.add(ix.Revolute("hinge", tip, rod.marker_at_pose(*tip.pose())))
    model.add(ix.SpringDamper("spring", model.ground.marker((0.5, 1.0, 0.2)), waist, stiffness=30.0, damping=0.5))
    return model


@pytest.fixture(scope="module")
def system():
    return compile_model(hanging())


@pytest.fixture(scope="module")
def result():
    """One second, by a method of high order."""
    return ix.simulate(hanging(), (0, 1), "dop853", rtol=1e-9, atol=1e-11, t_eval=0.05)


def test_markers_span_the_coordinates_of_their_node(system):
    chain = system.bodies[0]
    markers, spans = system.fixed[s.MARKERS], system.fixed[s.SPANS]
    groups = {group.name: group for group in system.groups}
    for name, place, node in (("root", 1, 0), ("hinge", 0, 4), ("spring", 1, 2)):
        marker = markers[groups[name].marker_numbers[place]]
        span = spans[marker["span"] : marker["span"] + marker["count"]].tolist()
        assert span == [5 * component + node for component in (3, 0, 6, 1, 4, 7, 2, 5)]
    assert chain.size == 40
    assert State(system)[s.MARKER_J].size == 6 * (8 + 8 + 8 + 7)  # three nodes and the rod; ground has none


def test_the_pattern_follows_the_spans(system):
    """Rows touch one node, springs couple a node with itself, the body its neighbours; nothing else is coupled."""
    n, sparsity = system.n, system.sparsity
    columns = np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))
    entries = set(zip(sparsity.indices.tolist(), columns.tolist(), strict=True))
    node = [k % 5 for k in range(40)]
    far = [(i, j) for i in range(40) for j in range(40) if abs(node[i] - node[j]) > 1]
    assert far
    assert not entries.intersection(far)
    root = next(group for group in system.groups if group.name == "root")
    touched = {column for row, column in entries if n + root.row <= row < n + root.row + root.rows and column < n}
    assert touched == {k for k in range(40) if node[k] == 0}


def sharing():
    """A chain and a force on four of its markers, whose spans have all, some or no coordinates in common."""
    model = ix.Model("sharing")
    chain = model.add(NodeChain("chain", displaced=displaced()))
    places = (((0.1, 0, 0.3), 1, False), ((0, 0.2, 0), 1, False), ((0.2, 0, 0), 1, True), ((0, 0.1, 0.1), 2, True))
    markers = [chain.marker(place, node=node, wide=wide) for place, node, wide in places]

    def pull(t, r, A, v, w, p, out):
        d = r[1] - r[0] + 2.0 * (r[2] - r[3]) + 0.3 * (v[3] - v[0])
        for k, c in enumerate((1.0, -0.5, -2.0, 1.5)):
            out[k, :3] = c * d

    model.add(ix.UserForce("pull", markers, pull, jacobian="differences"))
    return model


def test_a_group_has_each_coordinate_once():
    system = compile_model(sharing())
    (group,) = (group for group in system.groups if group.name == "pull")
    assert len(group.coordinates) == len(set(group.coordinates)) == 24  # nodes 1, 2 and 3
    record = system.fixed[s.GROUPS][0]
    columns = system.fixed[s.GROUP_COLUMNS][record["columns"] :].tolist()
    assert columns[:16] == [*range(8), *range(8)]  # the second marker has the places of the first
    assert columns[16:32] == [*range(8, 16), *range(8)]  # a neighbour, then the node itself
    assert columns[32:] == [*range(16, 24), *range(8, 16)]


def test_derivatives_where_spans_overlap():
    state = zoo.random_state(compile_model(sharing()), seed=7)
    check_matrix(state, 1e-5)  # differences inside, as in the zoo


def test_every_node_is_a_block(system):
    node = system.node_of_scalar
    assert system.n_blocks == 6
    assert node[:40].tolist() == [0, 1, 2, 3, 4] * 8
    assert node[40:47].tolist() == [5] * 7
    assert node[system.n : system.n + 2].tolist() == [4, 5]  # the row of the last gradient, that of Euler parameters
    assert system.joint_blocks == [[-1, 0], [-1, 4, 5]]  # a body that deforms counts as tied to ground
    assert system.joint_bodies == [[-1, 0], [-1, 0, 1]]


def test_work_grows_with_the_number_of_nodes():
    """Twice the nodes, twice the operations; a body eliminated as one dense block takes eight times as many."""

    def flops(nodes):
        model = ix.Model("long")
        chain = model.add(NodeChain("chain", nodes=nodes))
        model.add(ix.Spherical("root", model.ground, chain, at=(0, 0, 0)))
        return solver_of(compile_model(model)).pattern.flops

    counts = [flops(nodes) for nodes in (10, 20, 40)]
    assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=0.05)  # the ends differ a little


def looped():
    """Two chains and two rods in a loop, ball by ball, hung from ground at a node between."""
    model = ix.Model("looped")
    corners = np.array(((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)), float)
    low, high = (model.add(NodeChain(name, position=corners[k])) for name, k in (("low", 0), ("high", 3)))
    left = model.add(ix.RigidBody.rod("left", corners[0], corners[3], mass=1.0))
    right = model.add(ix.RigidBody.rod("right", corners[1], corners[2], mass=1.0))
    ends = ((low, left), (right, low), (high, right), (left, high))
    for number, ((first, second), at) in enumerate(zip(ends, corners, strict=True)):
        model.add(ix.Spherical(f"ball{number}", first, second, at=at))
    model.add(ix.Spherical("hook", model.ground, high, at=(0.5, 1, 0)))
    return model


@pytest.mark.jit_off
@pytest.mark.parametrize("build", [hanging, looped])
def test_the_solver_agrees_with_a_dense_one(build):
    system = compile_model(build())
    state, solver = State(system), solver_of(system)
    state[s.COEF][:] = (1.0, 1e-4, 1e-4, 1e-2, 0.0, 0.0)
    state[s.LAM][:] = 1.0
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
    sparsity = system.sparsity
    dense = np.zeros((sparsity.size, sparsity.size))
    dense[sparsity.indices, np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))] = state[s.MATRIX][:-1]
    right = np.random.default_rng(3).normal(size=sparsity.size)
    assert solver.factor(state[s.MATRIX][:-1]) == 0
    assert not solver.own[contract.ZERO].any()  # no row is redundant
    x = solver.solve(right, refine=True)
    exact = np.linalg.solve(dense, right)
    assert np.abs(x - exact).max() < 1e-9 * np.abs(exact).max()  # condition 1e5 times rounding


def test_free_vibrations_are_those_of_the_matrices():
    """A chain on nothing, gradients at rest: q(t) by the matrix exponential."""
    away = displaced()
    away[:, 5:] = 0.0
    model = ix.Model("free", gravity=(0, 0, -9.81))
    chain = model.add(NodeChain("chain", displaced=away))
    result = ix.simulate(model, (0, 1), "dop853", rtol=1e-10, atol=1e-12, t_eval=0.1)
    M, K = chain.mass_matrix, chain.stiffness_matrix
    fall = np.kron((0, 0, 1, 0, 0, 0, 0, 0), np.ones(5)) * -9.81
    A = np.zeros((81, 81))
    A[:40, 40:80], A[40:80, :40] = np.eye(40), -np.linalg.solve(M, K)
    A[40:80, 80] = fall
    start = np.concatenate([chain.q0 - chain.rest, np.zeros(40), [1.0]])
    for t, q in zip(result.t, result.q, strict=True):
        exact = (scipy.linalg.expm(t * A) @ start)[:40] + chain.rest
        assert np.abs(q - exact).max() < 1e-8  # a hundred times the tolerance


@pytest.mark.parametrize("method", METHODS)
def test_every_family_of_methods(method, result):
    other = ix.simulate(hanging(), (0, 1), method, rtol=1e-6, t_eval=0.05)
    assert other.success, other.message
    # the augmented Lagrangian controls energy only: 1e-4 seen, the others below 3e-5
    assert np.abs(other["rod"].position - result["rod"].position).max() < 3e-4
    assert other.violation.scaled.position.max() < 1e-10


def test_energy_is_kept(result):
    assert result.success
    assert np.ptp(result.energy.balance) < 1e-7 * np.ptp(result.energy.kinetic) + 1e-7  # as tight as the tolerance
    shares = result.energy.audit().elements
    assert set(shares) >= {"chain", "rod", "spring"}


def test_histories_of_markers_are_what_the_kernels_have(system, result):
    """Pose, twist and acceleration J a + (J v)_q v of every marker at every time."""
    pose, twist, acceleration = histories_against_kernels(system, result)
    assert pose < ROUNDING
    assert twist < 10 * ROUNDING
    assert acceleration < 1e-11  # of accelerations of size 100; rows of the rod to 1e-11


def test_markers_start_where_their_pose_says():
    chain = NodeChain("chain", displaced=displaced())
    point, axes = np.array((0.5, 0.1, -0.2)), np.array(((0.0, 0, 1), (1, 0, 0), (0, 1, 0)))
    marker = chain.marker_at_pose(point, axes)
    assert marker.part == "node2"
    assert np.abs(marker.pose()[0] - point).max() < ROUNDING
    assert np.abs(marker.pose()[1] - axes).max() < ROUNDING


def test_forces_take_hold_where_they_are_told():
    chain = NodeChain("chain", displaced=displaced())
    force = ix.Force("push", chain, (1, 0, 0), at=(0.5, 0.1, -0.2))
    assert np.abs(force.markers[0].pose()[0] - (0.5, 0.1, -0.2)).max() < ROUNDING
    np.testing.assert_array_equal(force.markers[0].axes, np.eye(3))


@pytest.mark.parametrize("wrong", [[0, 1, 1], [0, -1, 2], [0, 40]])
def test_spans_and_blocks_that_kernels_could_not_follow_are_refused(wrong, monkeypatch):
    """Kernels write where spans say, so a wrong one must not reach them."""
    model = hanging()
    with monkeypatch.context() as patch:
        patch.setattr(NodeChain, "span", lambda self, marker: wrong)
        with pytest.raises(ix.ModelError, match=r"The span of <Marker on 'chain'.*each once"):
            compile_model(model)
    with monkeypatch.context() as patch:
        patch.setattr(NodeChain, "blocks", [wrong, [3]])
        with pytest.raises(ix.ModelError, match="The list of the blocks of NodeChain 'chain'"):
            compile_model(model)
    monkeypatch.setattr(NodeChain, "blocks", [[0, 1, 2]])
    with pytest.raises(ix.ModelError, match="NodeChain 'chain' has coordinates in none of its blocks"):
        compile_model(model)


def test_joints_report_the_motion_of_their_markers(result):
    hinge = result["hinge"]
    assert np.abs(hinge.first.position - hinge.second.position).max() < 1e-9  # closed to 1e-10
    assert np.ptp(hinge.angle) > 0.1
    away = np.abs(result["chain"].part("node4").position - result["chain"].position).max()
    assert away > 0.5  # the body's own frame is that of the first node


def test_results_are_read_back(result, tmp_path):
    """A file keeps what the motion of a kind needs; who has not imported the kind is told so."""
    result.save(tmp_path / "run.nc")
    again = ix.Result.load(tmp_path / "run.nc")
    assert np.array_equal(again["hinge"].first.acceleration, result["hinge"].first.acceleration)
    assert "chain.stretch3" in again.to_xarray().coordinate
    del KINDS["node chain"]
    try:
        with pytest.raises(ix.Index3Error, match="'chain' is of the kind 'node chain', which is not known here"):
            again["chain"].position  # noqa: B018 (asking is what fails)
    finally:
        KINDS["node chain"] = NodeChain


def test_analyses_take_it():
    """Counts, equilibrium, eigenvalues."""
    model = hanging()
    check = model.check()
    assert (check.coordinates, check.constraints, check.redundant) == (47, 2 + 3 + 5, [])
    rest = ix.static(model)
    assert np.abs(rest.v).max() == 0.0
    found = ix.linearize(model, at=rest).eigenvalues
    assert found.real.max() < 1e-9
    with pytest.raises(ix.ModelError, match=r"NodeChain 'chain' deforms\. Leave frame out"):
        ix.linearize(model, at=rest, frame=(0, 0, 1.0))


def test_eigenvalues_are_those_of_the_matrices():
    """Of a free chain at rest, its last gradient held in length: x M^-1 K x."""
    model = ix.Model("free", gravity=(0, 0, 0))
    chain = model.add(NodeChain("chain"))
    keep = np.delete(np.eye(40), chain.number(4, 5), axis=1)  # along the gradient (1, 0, 0) nothing moves
    squares = scipy.linalg.eigh(keep.T @ chain.stiffness_matrix @ keep, keep.T @ chain.mass_matrix @ keep)[0]
    found = np.sort(ix.linearize(model).eigenvalues.imag)
    # three translations are free; rounding of squares up to 1e3
    assert found[-36:] == pytest.approx(np.sqrt(squares[3:]), rel=1e-9)
    assert np.abs(found[:-36]).max() < 1e-3


def decode(text, *shape):
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)


def test_the_page_gets_the_line_and_the_markers(result):
    data = payload(result, "hanging")
    n_t = len(decode(data["times"], -1))
    assert n_t == len(result)
    points = decode(data["points"], n_t, 5, 3)
    for node in range(5):
        assert np.array_equal(points[:, node], result["chain"].part(f"node{node}").position.astype("f4"))
    (line,) = data["bodies"][0]["parts"]
    assert line == {"type": "line", "first": 0, "count": 5, "radius": 0.02}
    poses = decode(data["poses"], n_t, -1, 7)
    assert poses.shape[1] == 2 + 3  # two bodies, and the three markers on the chain
    hinge = next(joint for joint in data["joints"] if joint["name"] == "hinge")
    own, riding = hinge["markers"]
    assert own["at"] == [0.0, 0.0, 0.0]
    assert np.array_equal(poses[:, own["body"], :3], result["hinge"].first.position.astype("f4"))
    assert riding["body"] == 1
    assert np.all(points.min(axis=(0, 1)) >= np.array(data["low"]) - 1e-6)  # float32 of numbers of size 1
    assert np.all(points.max(axis=(0, 1)) <= np.array(data["high"]) + 1e-6)


NODE = shutil.which("node")
BROWSER = """
const nothing = new Proxy({}, {get: () => () => 0});
const pen = new Proxy({}, {get: () => () => nothing, set: () => true});
const element = {textContent: TEXT, getContext: () => pen};
const document = {getElementById: () => element, documentElement: {}};
const getComputedStyle = () => ({getPropertyValue: () => "#808080"});
const rgb = () => [0, 0, 0];
"""
ASK = """
readTheme(); prepare(); resetCamera(); width = 800; height = 600;
const drawn = [];
tube = (points, radius) => drawn.push(points);
const line = data.bodies[0].parts[0];
moveTo(0.5 * (times[3] + times[4]));
drawPart(0, line, theme.bodies[0]);
const spots = spotsOf(line);
moveTo(times[3]);
console.log(JSON.stringify({tubes: drawn, spots, joint: ends(data.joints[1])}));
"""


@pytest.mark.skipif(NODE is None, reason="no node on the path to run the scripts of the page with")
def test_the_page_draws_the_line_between_frames(result, tmp_path):
    """A tube along the line at a time between two frames, where a cubic curve through the frames has its points."""
    data = payload(result, "hanging")
    room = files("index3.results")
    names = ("page_motion.js", "page_scene.js", "page_draw.js", "page_parts.js")
    scripts = "\n".join(room.joinpath(name).read_text("utf-8") for name in names)
    browser = BROWSER.replace("TEXT", json.dumps(json.dumps(data)))
    (tmp_path / "page.js").write_text(f"{browser}\n{scripts}\n{ASK}", "utf-8")
    ran = subprocess.run([NODE, tmp_path / "page.js"], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    nodes = np.stack([result["chain"].part(f"node{n}").position for n in range(5)], axis=1)
    h, slopes = 0.05, np.gradient(nodes, 0.05, axis=0)
    middle = 0.5 * (nodes[3] + nodes[4]) + h / 8 * (slopes[3] - slopes[4])
    assert np.abs(np.array(seen["spots"]) - middle).max() < 1e-6  # float32 of numbers of size 1
    assert np.abs(np.array(seen["tubes"]) - middle).max() < 1e-6
    assert np.abs(np.subtract(*seen["joint"])).max() < 1e-6  # both ends of the hinge, at a frame


def test_a_linkage_is_drawn_by_its_parts():
    """Its points are joined part by part, and markers on parts follow them."""
    linkage = ix.NaturalLinkage("bars", planar=True)
    A, D = linkage.fixed("A", (0, 0)), linkage.fixed("D", (1, 0))
    B, C = linkage.point("B", (0, 0.4), velocity=(1.2, 0)), linkage.point("C", (0.91833, 0.79582))
    for name, ends in {"crank": [A, B], "coupler": [B, C], "rocker": [C, D]}.items():
        linkage.rigid(name, ends, mass=1.0)
    model = ix.Model("bars", gravity=(0, -9.81, 0))
    model.add(linkage)
    tip = linkage["coupler"].marker_at((0.5, 0.6, 0))
    model.add(ix.SpringDamper("spring", model.ground.marker((0, 1, 0)), tip, stiffness=5.0, length=0.1))
    result = ix.simulate(model, (0, 0.5), rtol=1e-6, t_eval=0.1)
    data = payload(result, "bars")
    assert [(part["first"], part["count"]) for part in data["bodies"][0]["parts"]] == [(0, 2), (2, 2), (4, 2)]
    points = decode(data["points"], len(result), 6, 3)
    lengths = np.linalg.norm(points[:, 1::2] - points[:, ::2], axis=2)
    assert lengths == pytest.approx(np.tile((0.4, 1.0, 0.8), (len(result), 1)), abs=1e-5)  # given to five digits
    marker = data["forces"][0]["markers"][1]
    pose = decode(data["poses"], len(result), -1, 7)[:, marker["body"]]
    assert np.array_equal(pose[:, :3], result.marker(tip).position.astype("f4"))
