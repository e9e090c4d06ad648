"""Planar beams in absolute nodal coordinates: kinematics, mass, frequencies, markers, words."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.bodies import ancf_loads
from index3.bodies.ancf_shapes import gauss, planar
from index3.compiled import slots as s
from index3.linear.registry import solver_of
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

STEEL = {"height": 0.04, "width": 0.04, "young": 2e7, "poisson": 0.3, "density": 7800.0}
ARC = [(np.sin(a), 1 - np.cos(a)) for a in np.linspace(0.0, 1.2, 9)]
LAWS = ["continuum", "elastic-line"]


def beam(name="beam", start=(0, 0), end=(0.4, 0), elements=2, **settings):
    return ix.AncfBeam(name, start, end, elements=elements, **{**STEEL, **settings})


def alone(body, gravity=(0, 0, 0)):
    model = ix.Model("alone", gravity=gravity)
    model.add(body)
    return model


def state_of(model):
    return State(compile_model(model))


def matrix(state, place):
    """M (C_M) or K (C_K) as a dense array."""
    n, sparsity = state.system.n, state.system.sparsity
    state[s.COEF][:] = 0.0
    state[s.COEF][place] = 1.0
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
    dense = np.zeros((sparsity.size, sparsity.size))
    dense[sparsity.indices, np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))] = state[s.MATRIX][:-1]
    return dense[:n, :n]


def test_shape_functions():
    """S3-02: partition of unity, the linear field r = x e_x + y e_y is kept, nodes have their own values."""
    x, y, length = np.linspace(0, 0.3, 7), np.linspace(-0.1, 0.1, 7), 0.3
    rows = planar(x, y, length)
    assert rows[:, [0, 3]].sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    straight = np.array(((0, 0), (1, 0), (0, 1), (length, 0), (1, 0), (0, 1)), float)
    assert rows @ straight == pytest.approx(np.column_stack([x, y]), abs=1e-16)
    for by in ((1, 0), (0, 1), (2, 0), (3, 0)):
        h = 1e-5
        back, ahead = (planar(x + d * (by[0] > 0), y + d * (by[1] > 0), length, max(by[0] - 1, 0)) for d in (-h, h))
        # differences of cubics: third derivatives up to 2e3 times h^2
        assert planar(x, y, length, *by) == pytest.approx((ahead - back) / (2 * h), abs=1e-6 * 12 / length ** by[0])


def test_mass_matrix():
    """S3-03: the printed one; total mass and first moments; the same at any configuration."""
    b = beam(elements=1, end=(0.3, 0))
    h, length = 0.04, 0.3
    printed = np.zeros((6, 6))
    upper = {
        (0, 0): 13 / 35, (0, 1): 11 * length / 210, (0, 3): 9 / 70, (0, 4): -13 * length / 420,
        (1, 1): length**2 / 105, (1, 3): 13 * length / 420, (1, 4): -(length**2) / 140, (2, 2): h**2 / 36,
        (2, 5): h**2 / 72, (3, 3): 13 / 35, (3, 4): -11 * length / 210, (4, 4): length**2 / 105, (5, 5): h**2 / 36,
    }  # fmt: skip
    for (i, j), value in upper.items():
        printed[i, j] = printed[j, i] = 7800 * length * h * h * value
    state = state_of(alone(b))
    M = matrix(state, s.C_M)
    assert np.kron(printed, np.eye(2)) == pytest.approx(M, abs=1e-14)
    np.linalg.cholesky(M)
    assert 7800 * length * h * h * np.array((0.5, length / 12, 0, 0.5, -length / 12, 0)) == pytest.approx(
        b.rules[0].moment, abs=1e-15
    )
    state.move(0.0, np.random.default_rng(1).normal(size=12), np.zeros(12))
    np.testing.assert_array_equal(matrix(state, s.C_M), M)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("points", [None, ARC])
def test_a_rotation_strains_nothing(law, points):
    """S3-01: at any angle strain 1e-14 and force 1e-10 EA; far from the origin rounding of the position is added."""
    settings = {"elements": 5, "law": law}
    b = ix.AncfBeam("beam", points=points, **settings, **STEEL) if points else beam(**settings)
    state = state_of(alone(b))
    s_, y = np.meshgrid(np.linspace(0, b.length, 23), (-0.02, 0.0, 0.02))
    short = b.lengths.min()
    for angle in np.linspace(0.0, 6.0, 9):
        for away in (0.0, 100.0):
            z = (b.q0.reshape(-1, 2) @ (1, 1j)) * np.exp(1j * angle)
            z[::3] += away * (1 + 2j)
            q = np.column_stack([z.real, z.imag]).ravel()
            e = ancf_loads.strain(ancf_loads.deformation(b.constants(), q[None], s_.ravel(), y.ravel()))
            slack = 1e-14 + 1e-15 * away / short
            assert np.abs(e).max() < slack
            state.move(0.0, q, np.zeros(b.size))
            assert state.run(evaluate.forces) == 0
            assert np.abs(state[s.G]).max() < 1e4 * slack * 2e7 * 0.04**2


def frequencies(model):
    """Circular frequencies [rad/s], ascending."""
    return np.sort(np.abs(ix.linearize(model).eigenvalues))


def pinned(elements, **settings):
    model = ix.library.ancf_pendulum(elements=elements, **settings)
    model.gravity[:] = 0.0
    return model


@pytest.mark.parametrize(
    ("settings", "two", "many"),
    [({}, 71.75, 63.65), ({"plane": "stress"}, 65.07, 57.68), ({"poisson": 0.0}, 62.38, 55.23)],
)
def test_bending_frequencies_show_the_locking_of_the_element(settings, two, many):
    """S3-04, S3-12: first pinned-free bending frequency, to the digits of the formula sheet (one zero: rotation)."""
    assert frequencies(pinned(2, **settings))[1] == pytest.approx(two, abs=0.005)
    assert frequencies(pinned(32, **settings))[1] == pytest.approx(many, abs=0.005)


def test_largest_frequency_grows_with_the_root_of_the_modulus():
    """S3-12: 5193.7 rad/s at E = 2e7; all of them in proportion to sqrt(E) from 2e5 to 2e11."""
    soft, stiff = frequencies(pinned(2, young=2e5)), frequencies(pinned(2, young=2e11))
    assert frequencies(pinned(2, young=2e7))[-1] == pytest.approx(5193.7, abs=0.05)
    assert stiff[1:] == pytest.approx(1000.0 * soft[1:], rel=1e-6)


@pytest.mark.parametrize(("ends", "factors"), [("free", (22.3733, 61.6728)), ("clamped", (3.51602, 22.0345))])
def test_slender_beams_vibrate_as_euler_and_bernoulli_say(ends, factors):
    """Frequencies of the law "elastic-line"; the free beam has three motions without stiffness and no other."""
    h, length, young = 0.01, 1.0, 2e11
    model = ix.Model("slender", gravity=(0, 0, 0))
    b = model.add(beam(end=(length, 0), elements=16, law="elastic-line", height=h, width=0.01, young=young))
    if ends == "clamped":
        model.add(ix.Fixed("wall", model.ground, b, at=(0, 0, 0), clamp=True))
    found = frequencies(model)
    zero = 3 if ends == "free" else 0
    assert found[zero - 1] < 1e-2 * found[zero] or not zero
    unit = np.sqrt(young * h**2 / 12 / 7800) / length**2
    assert found[zero : zero + 2] == pytest.approx(unit * np.array(factors), rel=3e-3)  # 16 elements; seen 2e-3


def test_work_grows_with_the_number_of_elements():
    """A block per node: twice the elements, twice the operations."""

    def flops(elements):
        model = alone(beam(elements=elements))
        model.add(ix.Spherical("pin", model.ground, model["beam"], at=(0, 0, 0)))
        return solver_of(compile_model(model)).pattern.flops

    counts = [flops(n) for n in (20, 40, 80)]
    assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=0.02)  # the ends differ a little


@pytest.mark.parametrize("law", LAWS)
def test_markers_move_as_the_kernels_have_it(law):
    """Pose, twist and acceleration of markers of every sort, histories against kernels."""
    rng = np.random.default_rng(5)
    model = ix.Model("markers", gravity=(0, 0, 0))
    b = model.add(ix.AncfBeam("beam", points=ARC, elements=3, law=law, **STEEL))
    b.q0[:] += 0.05 * rng.normal(size=b.size)
    b.v0[:] = rng.normal(size=b.size)
    made = [b.marker(0.31, 0.01), b.marker(0.0, frame="tangent"), b.marker(b.length, -0.02, frame="tangent")]
    made += [b.marker(b.lengths[0]), b.marker_beside(b.marker(0.2), np.array((0.1, -0.3, 0.0)))]
    for k, marker in enumerate(made):
        model.add(ix.Force(f"force{k}", marker, (0, 0, 0)))
    state = state_of(model)
    q, v, a = b.q0, b.v0, rng.normal(size=b.size)
    state.move(0.0, q, v)
    state[s.A][:] = a
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.derivatives) == 0
    for group in state.system.groups:
        (marker,), (k,) = group.markers, group.marker_numbers
        entry = {"position": marker.position, "axes": marker.axes, "part": marker.part}
        seen = b.marker_motion(b.constants(), entry, q[None], v[None], a[None])
        assert seen.position[0] == pytest.approx(state[s.MARKER_R][k], abs=1e-14)
        assert seen.rotation[0].ravel() == pytest.approx(state[s.MARKER_A][k], abs=1e-14)
        twist = np.concatenate([seen.velocity[0], seen.angular_velocity[0]])
        assert twist == pytest.approx(state[s.MARKER_V][k], abs=1e-12)
        rate = np.concatenate([seen.acceleration[0], seen.angular_acceleration[0]])
        assert rate == pytest.approx(state[s.MARKER_X][k] + state[s.MARKER_B][k], abs=1e-11)
    spans = {len(b.span(marker)) for marker in made}
    assert spans == {6, 12}  # those of a node, and of an element


def test_axes_of_markers():
    b = beam(start=(0, 0), end=(0, 0.4))
    _, section = b.marker(0.1).pose()
    assert section[:, 1] == pytest.approx((-1, 0, 0), abs=1e-15)  # r_y
    assert section[:, 2] == pytest.approx((0, 0, 1), abs=0.0)
    b.q0.reshape(-1, 6)[:, 4:] = (-1.0, 0.5)  # sheared
    point, section = b.marker(0.1, 0.01).pose()
    assert point == pytest.approx((-0.01, 0.105, 0), abs=1e-15)
    assert section[:, 1] == pytest.approx(np.array((-1, 0.5, 0)) / np.sqrt(1.25), abs=1e-15)
    _, tangent = b.marker(0.1, frame="tangent").pose()
    assert tangent[:, 0] == pytest.approx((0, 1, 0), abs=1e-15)


def test_joints_take_the_nearest_point_of_the_axis():
    model = alone(beam())
    pin = model.add(ix.Revolute("pin", model.ground, model["beam"], at=(0.11, 0.015, 0), axis=(0, 0, 1)))
    for marker in pin.markers:
        assert marker.pose()[0] == pytest.approx((0.11, 0, 0), abs=1e-15)
    assert pin.second.position[0] == pytest.approx(0.11, abs=1e-15)
    with pytest.raises(ix.ModelError, match=r"Revolute 'far' cannot be placed.*0.03 m from the axis of AncfBeam"):
        ix.Revolute("far", model.ground, model["beam"], at=(0.11, 0.03, 0), axis=(0, 0, 1))


def test_undeformed_axis_of_a_curved_beam():
    """Through its points, s is the arc length, and it is free of stress."""
    b = ix.AncfBeam("arc", points=ARC, elements=8, **STEEL)
    assert b.length == pytest.approx(1.2, abs=2e-5)  # spline of 9 points
    places = np.linspace(0, b.length, 50)
    points = np.array([b.marker(float(x)).pose()[0] for x in places])
    assert np.linalg.norm(points[:, :2] - (0, 1), axis=1) == pytest.approx(1.0, abs=2e-5)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert steps == pytest.approx(places[1], rel=3e-4)  # chords are shorter by 2.5e-5; the cubic's own speed
    x, w = gauss(8)
    for n, length in enumerate(b.lengths):
        slope = planar(x * length, 0.0, length, 1) @ b.nodes[n : n + 2].reshape(6, 2)
        assert length * (w @ np.hypot(*slope.T)) == pytest.approx(length, rel=1e-12)
    assert b.mass == pytest.approx(7800 * 0.04**2 * b.length, rel=1e-12)


BAD = {
    "length zero": {"start": (0.1, 0), "end": (0.1, 0)},
    "has density -1": {"density": -1.0},
    "has height 0": {"height": 0.0},
    "has young nan": {"young": float("nan")},
    "has poisson 0.5": {"poisson": 0.5},
    "has elements 0": {"elements": 0},
    "has elements 2.0": {"elements": 2.0},
    "has law 'linear'": {"law": "linear"},
    "has plane 'both'": {"plane": "both"},
    "leaves its plane": {"start": (0, 0, 1), "end": (1, 0, 2)},
    "adds energy": {"damping": -0.1},
    "has damping": {"damping": (1, 2, 3)},
    "has gravity_across 'yes'": {"gravity_across": "yes"},
    "has no end": {"end": None},
    "has points and also": {"points": [(0, 0), (1, 1)]},
    "has velocity": {"velocity": (1, 2, 3)},
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_refused_by_name(words):
    with pytest.raises(ix.ModelError, match=r"^AncfBeam 'b'") as refused:
        beam("b", **BAD[words])
    assert words in str(refused.value)


def test_beams_that_are_inside_out_are_refused():
    tight = [(0, 0), (0.005, 0.01), (0, 0.02), (-0.005, 0.01)]
    with pytest.raises(ix.ModelError, match="AncfBeam 'b' has inverted gradients in element"):
        ix.AncfBeam("b", points=tight, elements=8, **STEEL)
    b = beam("b")
    b.q0.reshape(-1, 6)[1, 4:] = (0, -1)
    with pytest.raises(ix.ModelError, match="AncfBeam 'b' starts with inverted gradients at node 1"):
        compile_model(alone(b))


def test_gravity_across_the_plane_is_refused():
    with pytest.raises(ix.ModelError, match="AncfBeam 'beam' lies in ground x-y, and the gravity"):
        compile_model(alone(beam(), gravity=(0, 0, -9.81)))
    compile_model(alone(beam(gravity_across="ignore"), gravity=(0, -1, -9.81)))


@pytest.mark.parametrize(
    ("place", "words"), [({"s": 0.5}, "has s = 0.5"), ({"s": -1e-3}, "from 0 to 0.4"), ({"s": 0, "y": 0.1}, "y = 0.1")]
)
def test_markers_outside_are_refused(place, words):
    with pytest.raises(ix.ModelError, match=words):
        beam().marker(**place)
    with pytest.raises(ix.ModelError, match="has frame 'node'"):
        beam().marker(0.1, frame="node")


def test_files_keep_it(tmp_path):
    model = ix.Model("two beams", gravity=(0, -9.81, 0))
    straight = model.add(beam(law="elastic-line", damping=(0.1, 0.01), velocity=(1, 2), spin=3.0))
    arc = model.add(ix.AncfBeam("arc", points=ARC, elements=3, plane="stress", damping=0.02, **STEEL))
    model.add(ix.Fixed("wall", model.ground, arc, at=(0, 0, 0), clamp=True))
    ends = straight.marker(0.3, 0.01, frame="tangent", name="tip"), arc.marker(0.5)
    model.add(ix.SpringDamper("spring", *ends, stiffness=10.0))
    for name in ("beams.json", "beams.toml"):
        model.save(tmp_path / name)
        again = ix.load_model(tmp_path / name)
        one, two = compile_model(model), compile_model(again)
        np.testing.assert_array_equal(one.q0, two.q0)
        np.testing.assert_array_equal(one.v0, two.v0)
        states = State(one), State(two)
        for state in states:
            state.move(0.0, one.q0 + 0.01, one.v0)
            assert state.run(evaluate.forces, evaluate.energy) == 0
        np.testing.assert_array_equal(states[0][s.G], states[1][s.G])
        np.testing.assert_array_equal(states[0][s.PHI], states[1][s.PHI])
