"""Cables and spatial beams in absolute nodal coordinates: derivatives, strain, markers, joints, files of results."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from test_derivatives import check_matrix

import index3 as ix
from index3.compiled import slots as s
from index3.linear.registry import solver_of
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

KINDS = tuple(zoo.LINES)
STRAIGHT = {"start": (0.3, 0.1, 0.2), "end": (1.3, 0.6, 0.4)}
SOFT = {"height": 0.1, "width": 0.15, "young": 2e4, "poisson": 0.3, "density": 100.0}


def turned(seed):
    """A random rotation matrix."""
    return ix.RigidBody("a", 1.0, (1, 1, 1), orientation=zoo.random_rotation(np.random.default_rng(seed))).pose()[1]


def pulled(kind, damping, seed=4):
    """A curved line far from its undeformed shape, with torques, a force and two weldings to a rigid body."""
    rng = np.random.default_rng(seed)
    model = ix.Model("pulled", gravity=(1.0, -2.0, -9.0))
    line = model.add(zoo.make_line(kind, "line", rng, damping=damping))
    line.q0[:] += 0.1 * rng.normal(size=line.size)
    model.add(ix.Torque("torque", line.marker(0.37), (1.0, 2.0, -1.0)))
    model.add(ix.Torque("end", line.marker(line.length), (1.0, 0.5, -1.0)))
    model.add(ix.Force("force", line.marker(0.1), (1.0, 2.0, -1.0)))
    body = model.add(ix.RigidBody("body", 1.0, (1, 1, 1), orientation=zoo.random_rotation(rng)))
    model.add(ix.Fixed("one", body.marker((0.1, 0, 0), z=(1, 1, 0)), line.marker(0.2)))
    model.add(ix.Fixed("two", line.marker(float(line.lengths[0]), x=(1, 2, 3)), body.marker((0, 0, 0.3))))
    model.add(ix.Fixed("clamp", body.marker((0, 0.3, 0.3)), line.marker(0.5), clamp=True))
    return model


@pytest.mark.jit_off
@pytest.mark.parametrize("damping", [0.0, (0.5, 0.02)], ids=["free", "damped"])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_far_from_rest(kind, damping):
    """Tangent of elastic and damping forces, of torques; rows of weldings and clamps; by q and by v."""
    check_matrix(zoo.random_state(compile_model(pulled(kind, damping)), seed=7))


@pytest.mark.parametrize("kind", KINDS)
def test_force_is_the_gradient_of_the_energy(kind):
    rng = np.random.default_rng(2)
    model = ix.Model("alone", gravity=(0.4, -2.0, 1.0))
    line = model.add(zoo.make_line(kind, "line", rng, damping=(0.3, 0.1)))
    line.q0[:] += 0.1 * rng.normal(size=line.size)
    state = zoo.random_state(compile_model(model), seed=7)
    v = state[s.V].copy()
    assert state.run(evaluate.forces, evaluate.energy) == 0
    moving, power = state[s.G].copy(), state[s.ENERGY][s.POWER]
    state[s.V][:] = 0.0
    assert state.run(evaluate.forces) == 0
    still = state[s.G].copy()
    for d in np.eye(line.size):
        slope = zoo.difference(state, s.ENERGY, (evaluate.forces, evaluate.energy), "q", d)[s.POTENTIAL]
        assert still @ d == pytest.approx(slope, abs=1e-7 * max(1.0, np.abs(still).max()))  # differences of 1e-6
    assert -(moving - still) @ v == pytest.approx(power, rel=1e-10)  # sums of a hundred terms
    assert power < 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["straight", "curved"])
def test_no_strain_under_any_rotation(kind, shape):
    """Strain 1e-14 after any rotation, and 1e-15 d/l more at a distance d."""
    ends = STRAIGHT if shape == "straight" else {"points": ((0, 0, 0), (0.4, 0.2, 0.1), (0.8, 0.1, 0.3))}
    line = zoo.LINES[kind]("line", elements=4, **ends, **SOFT)
    A, far = turned(3), 50.0
    vectors = line.q0.reshape(-1, line.node_vectors, 3) @ A.T
    vectors[:, 0] += (far, 0.0, -far)
    q, zero = vectors.reshape(1, -1), np.zeros((1, line.size))
    constants, places = line.constants(), np.linspace(0.0, line.length, 9)
    allowed = 1e-14 + 1e-15 * 1.5 * far / line.lengths.min()
    stiffness = constants.get("axial_stiffness") or constants["stiffness"]["axial"]
    assert np.abs(line.quantities["axial_force"](constants, q, zero, zero, places)).max() < 3 * allowed * stiffness
    before, after = (line.quantities["curvature"](constants, x, zero, zero, places) for x in (line.q0[None], q))
    assert np.abs(after - before).max() < 30 * allowed / line.lengths.min()  # second derivatives: 6/l times as much
    model = ix.Model("turned", gravity=(0, 0, 0))
    model.add(line)
    line.q0[:] = q
    state = State(compile_model(model))
    assert state.run(evaluate.forces, evaluate.energy) == 0
    assert abs(state[s.ENERGY][s.POTENTIAL]) < 50 * stiffness * allowed**2  # a square, over all points


@pytest.mark.parametrize("kind", KINDS)
def test_histories_of_markers_are_what_the_kernels_have(kind):
    """Pose, twist and acceleration of every marker."""
    model = pulled(kind, 0.0)
    system = compile_model(model)
    state = zoo.random_state(system, seed=5)
    line = system.bodies[0]
    q, v, a = (state[slot][: line.size].copy()[None] for slot in (s.Q, s.V, s.A))
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.derivatives) == 0
    for group in system.groups:
        for number, marker in zip(group.marker_numbers, group.markers, strict=True):
            if marker.body is not line:
                continue
            entry = {"position": marker.position, "axes": marker.axes, "part": marker.part}
            seen = line.marker_motion(line.constants(), entry, q, v, a)
            assert np.abs(seen.position[0] - state[s.MARKER_R][number]).max() < 1e-12  # rounding, here and below
            assert np.abs(seen.rotation[0].ravel() - state[s.MARKER_A][number]).max() < 1e-12
            twist = np.concatenate([seen.velocity[0], seen.angular_velocity[0]])
            assert np.abs(twist - state[s.MARKER_V][number]).max() < 1e-11
            rate = np.concatenate([seen.acceleration[0], seen.angular_acceleration[0]])
            assert np.abs(rate - state[s.MARKER_X][number] - state[s.MARKER_B][number]).max() < 1e-10


@pytest.mark.parametrize("kind", KINDS)
def test_a_free_line_moves_as_its_momentum_says(kind):
    """Centre of mass in free fall; angular momentum and energy kept, by every coordinate's own equations."""
    model = ix.Model("thrown", gravity=(0, 0, -9.81))
    line = model.add(
        zoo.LINES[kind]("line", elements=3, **STRAIGHT, **SOFT, velocity=(1, 2, 3), angular_velocity=(3, -1, 4))
    )
    result = ix.simulate(model, (0, 0.3), "dop853", rtol=1e-9, atol=1e-11, t_eval=0.05)
    t = result.t[:, None]
    fallen = result["line"].position[0] + t * (1, 2, 3) - 0.5 * 9.81 * t**2 * (0, 0, 1)
    assert np.abs(result["line"].position - fallen).max() < 1e-8  # ten times the tolerance
    assert np.ptp(result.energy.balance) < 1e-7 * result.energy.kinetic.max()
    n = line.size
    state = State(compile_model(model))
    state[s.COEF][:] = 0.0
    spins = []
    M = zoo.dense_matrix(state, 1, 0, 0, 0, 0)[:n, :n]
    for q, v in zip(result.q, result.v, strict=True):
        p, x = (M @ v).reshape(-1, 3), q.reshape(-1, 3)
        spins.append(np.cross(x, p).sum(axis=0) - line.mass * np.cross(line.centre @ x, line.centre @ v.reshape(-1, 3)))
    assert np.ptp(spins, axis=0).max() < 1e-8 * np.abs(spins).max() + 1e-8
    assert np.abs(spins).max() > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_work_grows_with_the_number_of_elements(kind):
    """Twice the elements, twice the operations."""

    def flops(elements):
        model = ix.Model("long")
        line = model.add(zoo.LINES[kind]("line", elements=elements, **STRAIGHT, **SOFT))
        model.add(ix.Spherical("root", model.ground, line, at=STRAIGHT["start"]))
        return solver_of(compile_model(model)).pattern.flops

    counts = [flops(elements) for elements in (10, 20, 40)]
    assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=0.05)  # the ends differ a little


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"start": (1, 1, 1), "end": (1, 1, 1)}, "length zero"),
        ({"end": None}, "has no end"),
        ({"elements": 0}, "elements 0"),
        ({"density": -1.0}, "density -1.0"),
        ({"young": 0.0}, "young 0.0"),
        ({"poisson": 0.5}, "poisson 0.5"),
        ({"height": None}, "no section"),
        ({"radius": 0.1}, "a radius and also"),
        ({"damping": -1.0}, "adds energy"),
    ],
    ids=lambda x: str(next(iter(x))) if isinstance(x, dict) else "",
)
def test_bad_input_by_name(kind, wrong, message):
    settings = {**STRAIGHT, **SOFT, "elements": 2, **wrong}
    with pytest.raises(ix.ModelError, match=f"'line'.*{message}"):
        zoo.LINES[kind]("line", **settings)


def test_a_section_that_overlaps_itself_is_refused():
    """A half circle of radius 0.5 m, given by points, of a beam 1.2 m thick; one 0.3 m thick is fine."""
    angle = np.linspace(0.0, np.pi, 9)
    arc = {"points": 0.5 * np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1), "elements": 4}
    steel = {"young": 2e11, "density": 7800.0}
    with pytest.raises(ix.ModelError, match=r"'line' has inverted gradients in element 0: it is curved more than"):
        ix.AncfBeam3D("line", radius=0.6, **arc, **steel)
    assert ix.AncfBeam3D("line", radius=0.15, **arc, **steel).size == 60


@pytest.mark.parametrize("kind", [*KINDS, "planar"])
def test_places_that_results_cannot_know_are_refused(kind):
    """Along the axis and across the section, by name of the argument."""
    settings = {"height": 0.02, "width": 0.03, "young": 1e9, "poisson": 0.3, "density": 1000.0, "elements": 1}
    model = ix.Model("m", gravity=(0, 0, 0))
    make = zoo.LINES.get(kind, ix.AncfBeam)
    model.add(make("line", (0, 0, 0), (1, 0, 0), **settings))
    found = ix.simulate(model, (0.0, 0.01), "hht-i3", t_eval=0.01)["line"]
    for wrong in (-0.1, 1.1, np.nan, "a", [[0.1, 0.2]]):
        for quantity in (found.points, found.axial_force, found.moment, found.curvature, found.stress):
            with pytest.raises(ix.Index3Error, match="s is"):
                quantity(wrong)
    with pytest.raises(ix.Index3Error, match=r"y is 0\.02\. Give y from -0\.01 to 0\.01 m"):
        found.stress(0.5, 0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_places_beyond_the_ends_are_refused(kind):
    line = zoo.LINES[kind]("line", elements=2, **STRAIGHT, **SOFT)
    with pytest.raises(ix.ModelError, match=r"'line' has s = 2\. Give s from 0 to 1\.13"):
        line.marker(s=2.0)
    with pytest.raises(ix.ModelError, match=r"m from the line of .* 'line'"):
        ix.Spherical("ball", ix.Model("m").ground, line, at=(0, 0, 5))
    line.q0.reshape(-1, line.node_vectors, 3)[1, 1] *= 0.0 if kind == "ancf cable" else -1.0
    model = ix.Model("broken")
    model.add(line)
    with pytest.raises(ix.ModelError, match=r"'line' starts with.* at node 1"):
        compile_model(model)


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_read_back(kind, tmp_path):
    model = ix.Model("hung", gravity=(0, -9.81, 0))
    line = model.add(zoo.LINES[kind]("line", elements=2, **STRAIGHT, **SOFT, damping=0.01))
    model.add(ix.Spherical("root", model.ground, line, at=STRAIGHT["start"]))
    result = ix.simulate(model, (0, 0.1), "hht-i3", rtol=1e-4, t_eval=0.05)
    result.save(tmp_path / "run.nc")
    again = ix.Result.load(tmp_path / "run.nc")
    places = [0.0, 0.3, line.length]
    for name in line.quantities:
        seen = getattr(again["line"], name)(places)
        assert seen.shape[:2] == (3, 3)
        assert np.array_equal(seen, getattr(result["line"], name)(places))
    assert np.abs(result["line"].points(0.0)[:, 0] - STRAIGHT["start"]).max() < 1e-9  # held by the ball


@pytest.mark.parametrize("elements", [True, 0, 2.5, 10**9])
@pytest.mark.parametrize("kind", [ix.AncfBeam, ix.AncfCable, ix.AncfBeam3D])
def test_counts_of_elements_are_counts(kind, elements):
    settings = {"height": 0.01, "width": 0.01, "young": 1e9, "density": 1e3, "poisson": 0.3}
    with pytest.raises(ix.ModelError, match="'line' has elements"):
        kind("line", (0, 0), (1, 0), elements=elements, **settings)


SLENDER = {"elements": 3, "height": 0.02, "width": 0.03, "young": 2e7, "density": 1000.0}


def damped(kind, damping):
    """A line along x, straight and 0.5 m long."""
    if kind == "planar":
        return ix.AncfBeam("line", (0, 0), (0.5, 0), poisson=0.3, law="elastic-line", damping=damping, **SLENDER)
    more = {"poisson": 0.3} if kind == "space" else {}
    made = ix.AncfBeam3D if kind == "space" else ix.AncfCable
    return made("line", (0, 0, 0), (0.5, 0, 0), damping=damping, **more, **SLENDER)


@pytest.mark.parametrize("kind", ["planar", "cable", "space"])
def test_damping_is_per_mass_and_per_stiffness(kind):
    """C = a M + b K: an oscillation of w decays by (a + b w^2) / 2; one number is b."""
    found = []
    for damping in (0.0, (3.0, 0.0), (0.0, 1e-3), 1e-3):
        model = ix.Model("cantilever", gravity=(0, 0, 0))
        line = model.add(damped(kind, damping))
        model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0), clamp=True))
        roots = ix.linearize(model).eigenvalues
        roots = roots[roots.imag > 0]
        found.append(roots[np.argmin(np.abs(roots))])
    w = abs(found[0])
    wanted = np.array((0.0, 3.0, 1e-3 * w**2, 1e-3 * w**2)) / 2
    assert -np.real(found) == pytest.approx(wanted, rel=1e-6, abs=1e-9)  # rounding of eigenvalues of stiff matrices


@pytest.mark.parametrize("axis", range(3))
def test_sections_of_a_turning_beam_have_their_inertia(axis):
    """Kinetic energy of a straight beam that turns about its centre is that of a box."""
    spin = 7.0 * np.eye(3)[axis]
    model = ix.Model("turning", gravity=(0, 0, 0))
    model.add(ix.AncfBeam3D("line", (0, 0, 0), (0.5, 0, 0), poisson=0.3, angular_velocity=spin, **SLENDER))
    mass, squares = 1000.0 * 0.02 * 0.03 * 0.5, np.array((0.5, 0.02, 0.03)) ** 2 / 12
    kinetic = ix.simulate(model, (0.0, 1e-6), "hht-i3", progress=False).energy.kinetic[0]
    assert kinetic == pytest.approx(0.5 * 49.0 * mass * (squares.sum() - squares[axis]), rel=1e-12)
