"""Natural coordinates: members, rows, mass, shared points, refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

ROUNDING = 1e-12


def rates_of(body, velocity, w):
    """Rates of points at q and of vectors of a rigid motion about the centre of mass."""
    r = body.pose()[0]
    q = body.q0.reshape(4, 3)
    points = sum(name.startswith("P") for name in body.coordinate_names) // 3
    return np.concatenate([np.cross(w, x - r) + velocity if k < points else np.cross(w, x) for k, x in enumerate(q)])


@pytest.mark.parametrize("points", [((0, 0, 0),), ((0.1, 0.2, 0.3), (1, 0, 0)), ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
                                    ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))])  # fmt: skip
def test_mass_matrix_gives_the_kinetic_energy_of_every_rigid_motion(points):
    rng = np.random.default_rng(3)
    inertia = np.array(((0.5, 0.1, 0.0), (0.1, 0.6, 0.05), (0.0, 0.05, 0.7)))
    p = rng.normal(size=4)
    body = ix.NaturalBody("b", 2.0, inertia, points=points, position=(1, 2, 3), orientation=p)
    M, A = body.structure.mass_matrix(), body.pose()[1]
    np.testing.assert_allclose(M, M.T, atol=ROUNDING)
    for _ in range(5):
        u, w = rng.normal(size=(2, 3))
        v = rates_of(body, u, w)
        energy = 0.5 * 2.0 * u @ u + 0.5 * w @ A @ inertia @ A.T @ w
        assert 0.5 * v @ M @ v == pytest.approx(energy, rel=1e-11)  # rounding of 12 x 12 products
        for row in body.structure.rows:
            assert abs(row.gradient(body.q0) @ v) < ROUNDING


def test_a_uniform_bar_has_its_consistent_mass_matrix():
    """S1-01: M = m/6 [2I, I; I, 2I], in space and in the plane; also of a thin rod as a body."""
    for planar, size in ((False, 3), (True, 2)):
        linkage = ix.NaturalLinkage("bar", planar=planar)
        ends = [linkage.point("P", (0.1, 0.2, 0.0)), linkage.point("Q", (1.1, 0.5, 0.0))]
        linkage.rigid("bar", ends, mass=3.0)
        expected = np.kron(np.array(((2, 1), (1, 2))) * 0.5, np.eye(size))
        np.testing.assert_allclose(linkage.structure.mass_matrix(), expected, atol=ROUNDING)
    rod = ix.NaturalPlanarBody.rod("rod", (0, 0), (1, 1), mass=3.0, points=((-(0.5**0.5), 0), (0.5**0.5, 0)))
    np.testing.assert_allclose(rod.structure.mass_matrix(), expected, atol=ROUNDING)


def test_mass_is_constant_and_there_is_no_inertia_force():
    """S1-01: At two configurations the same bits; and no forces without gravity, whatever the rates."""
    model = ix.Model("free", gravity=(0, 0, 0))
    body = model.add(ix.NaturalBody("b", 2.0, (0.5, 0.6, 0.7)))
    state = State(compile_model(model))
    masses = []
    for q in (body.q0, body.q0 + 0.3):
        state.move(0.0, q, np.ones(12))
        state[s.COEF][:] = 0.0
        state[s.COEF][[s.C_M, s.C_MA]] = 1.0
        assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
        assert not state[s.G].any()
        n, sparsity = 12, state.system.sparsity
        columns = np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))
        block = (sparsity.indices < n) & (columns < n)
        masses.append(state[s.MATRIX][:-1][block].tobytes())
    assert masses[0] == masses[1]


def test_rows_of_joints_know_every_direction():
    """Phi_q of joints is exact also for changes that stretch the axes, so that Newton's method sees no surprise."""
    model = ix.Model("pair")
    first, second = (
        model.add(ix.NaturalBody(name, 1.0, (1, 1, 1), points=((0.3, 0, 0), (1, 0.5, 0)), orientation=p))
        for name, p in (("a", (1, 0.2, 0.3, 0.1)), ("b", (0.3, 1, 0.2, 0.4)))
    )
    model.add(ix.Fixed("joint", first.marker((1, 2, 3), z=(1, 1, 0)), second.marker((3, 2, 1), z=(0, 1, 1))))
    state = State(compile_model(model))
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    phi_q = np.zeros((state.system.m, state.system.n))
    np.add.at(phi_q, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), state[s.PHI_Q])
    q, h = state[s.Q].copy(), 1e-6
    for k in range(state.system.n):
        values = []
        for sign in (1, -1):
            state[s.Q][:] = q
            state[s.Q][k] += sign * h
            assert state.run(evaluate.forces) == 0
            values.append(state[s.PHI].copy())
        difference = (values[0] - values[1]) / (2 * h)
        assert np.abs(difference - phi_q[:, k]).max() < 1e-8  # rounding 1e-16 / 1e-6, truncation 1e-12


def test_rates_are_those_of_the_body():
    body = ix.NaturalBody("b", 1.0, (1, 1, 1), points=((1, 0, 0),), velocity=(1, 0, 0), angular_velocity=(0, 0, 2))
    np.testing.assert_allclose(body.v0, rates_of(body, (1, 0, 0), (0, 0, 2)), atol=ROUNDING)
    assert body.given_rates().all()
    assert not ix.NaturalBody("b", 1.0, (1, 1, 1)).given_rates().any()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"points": ((0, 0, 0), (1, 0, 0)), "vectors": ((1, 0, 0), (0, 1, 0))}, "in one plane"),
        ({"points": ((0, 0, 0), (1, 0, 0)), "vectors": ((0, 1, 0),)}, "2 points and 1 vectors"),
        ({"points": ((0, 0, 0), (0, 0, 0))}, "two members at one place"),
        ({"points": ((0, 0, 0), (1e200, 0, 0))}, "m long. Check its points"),
        ({"points": 3}, "Give a list of points"),
        ({"vectors": ((0, 0, 0), (1, 0, 0), (0, 1, 0))}, "no direction"),
    ],
)
def test_bad_members_are_refused_by_name(settings, words):
    with pytest.raises(ModelError, match=f"NaturalBody 'b'.*{words}"):
        ix.NaturalBody("b", 1.0, (1, 1, 1), **settings)


def hinged_plate(inertia):
    """A door on two fixed points by one more point."""
    linkage = ix.NaturalLinkage("door")
    A, B = linkage.fixed("A", (0, 0, 0)), linkage.fixed("B", (0, 0, 1))
    C = linkage.point("C", (0.5, 0, 0.3))
    linkage.rigid("plate", [A, B, C], mass=3.0, inertia=inertia, centre=(0.4, 0, 0.5))
    return linkage


def test_a_plate_on_a_hinge_has_its_full_inertia_about_it():
    """I = Izz + m 0.4^2, whatever lies across the plate: m_C 0.5^2 w^2 = I w^2."""
    linkage = hinged_plate((0.2, 0.3, 0.25))
    np.testing.assert_allclose(linkage.structure.mass_matrix()[1, 1], (0.25 + 3.0 * 0.16) / 0.25, rtol=1e-12)


def test_a_free_plate_with_mass_across_is_refused():
    linkage = ix.NaturalLinkage("plate")
    members = [linkage.point(name, place) for name, place in zip("ABC", np.eye(3), strict=True)]
    with pytest.raises(ModelError, match=r"Part 'p' of NaturalLinkage 'plate' has mass outside the span.*vector"):
        linkage.rigid("p", members, mass=1.0, inertia=(1, 1, 1))


def test_pendulum_of_two_bars_has_no_joints():
    """A spatial double pendulum of two bars: two points, two rows, four degrees of freedom; as two distances."""
    linkage = ix.NaturalLinkage("bars")
    R, P, Q = linkage.fixed("R", (0, 0, 0)), linkage.point("P", (1, 0, 0)), linkage.point("Q", (1, 1, 0))
    linkage.rigid("upper", [R, P], mass=1.0)
    linkage.rigid("lower", [P, Q], mass=1.0)
    model = ix.Model("bars")
    model.add(linkage)
    check = model.check()
    assert (check.coordinates, check.constraints, check.dof) == (6, 2, 4)
    bodies = ix.Model("bodies")
    upper = bodies.add(ix.RigidBody("upper", 1.0, (0, 1 / 12, 1 / 12), position=(0.5, 0, 0)))
    lower = bodies.add(ix.RigidBody("lower", 1.0, (1 / 12, 0, 1 / 12), position=(1, 0.5, 0)))
    bodies.add(ix.Universal("O", bodies.ground, upper, at=(0, 0, 0), axes=((0, 1, 0), (0, 0, 1))))
    bodies.add(ix.Universal("P", upper, lower, at=(1, 0, 0), axes=((0, 0, 1), (1, 0, 0))))
    settings = {"method": "dop853", "rtol": 1e-8, "t_eval": 0.1}
    result, expected = ix.simulate(model, (0, 0.6), **settings), ix.simulate(bodies, (0, 0.6), **settings)
    for name in ("upper", "lower"):  # slender bodies by Euler parameters: 1e-7 seen
        difference = result["bars"].part(name).position - expected[name].position
        assert np.abs(difference).max() < 1e-6


def test_joints_take_markers_of_parts_and_points():
    """A linkage hung on a rigid body: a ball at a point, a hinge on a part; forces at both."""
    linkage = ix.NaturalLinkage("carrier")
    P, Q = linkage.point("P", (1, 0, 0)), linkage.point("Q", (2, 0, 0))
    u, v = linkage.vector("u", (0, 1, 0)), linkage.vector("v", (0, 0, 1))
    part = linkage.rigid("body", [P, Q, u, v], mass=1.0, inertia=(0.1, 0.2, 0.2))
    model = ix.Model("mixed")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(linkage)
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Revolute("hinge", rod.marker_at((1, 0, 0), z=(0, 1, 0)), part.marker_at((1, 0, 0), z=(0, 1, 0))))
    tip = linkage.point_marker(Q)
    model.add(ix.SpringDamper("spring", model.ground.marker((2, 0, 1)), tip, stiffness=50.0, length=1.0))
    result = ix.simulate(model, (0, 0.5), "dop853", rtol=1e-8, t_eval=0.1)
    reference = ix.Model("rigid")
    rod = reference.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    body = reference.add(ix.RigidBody("body", 1.0, (0.1, 0.2, 0.2), position=(1.5, 0, 0)))
    reference.add(ix.Revolute("pin", reference.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    reference.add(ix.Revolute("hinge", rod, body, at=(1, 0, 0), axis=(0, 1, 0)))
    ends = reference.ground.marker((2, 0, 1)), body.marker_at((2, 0, 0))
    reference.add(ix.SpringDamper("spring", *ends, stiffness=50.0, length=1.0))
    expected = ix.simulate(reference, (0, 0.5), "dop853", rtol=1e-8, t_eval=0.1)
    assert np.abs(result["carrier"].part("body").position - expected["body"].position).max() < 1e-6  # 100 times rtol
    assert np.abs(result["hinge"].angle - expected["hinge"].angle).max() < 1e-6
    np.testing.assert_allclose(result.marker(tip).position, result["carrier"].part("Q").position)


def test_a_marker_of_a_bar_or_a_point_has_no_axes():
    linkage = ix.NaturalLinkage("bar")
    P, Q = linkage.point("P", (0, 0, 0)), linkage.point("Q", (1, 0, 0))
    bar = linkage.rigid("bar", [P, Q], mass=1.0)
    model = ix.Model("m")
    with pytest.raises(ModelError, match="Marker of part 'bar' of NaturalLinkage 'bar': the part is a bar or a plate"):
        bar.marker_at((0, 0, 0))
    with pytest.raises(ModelError, match="needs the axes of NaturalLinkage 'bar'"):
        ix.Revolute("pin", model.ground.marker(), linkage.point_marker(P))
    with pytest.raises(ModelError, match="has several parts"):
        ix.Spherical("ball", model.ground, linkage, at=(0, 0, 0))
    with pytest.raises(ModelError, match=r"has no part 'rod'\. It has bar"):
        linkage["rod"]


def test_bad_linkages_are_refused():
    linkage = ix.NaturalLinkage("l", planar=True)
    P = linkage.point("P", (0, 0))
    with pytest.raises(ModelError, match="'P' twice"):
        linkage.point("P", (1, 0))
    with pytest.raises(ModelError, match="the linkage is planar"):
        linkage.point("Q", (1, 0, 1))
    with pytest.raises(ModelError, match="not a point or vector of this linkage"):
        linkage.rigid("part", [P, (0, 0)])
    Q = linkage.point("Q", (1, 0))
    with pytest.raises(ModelError, match="mass -1"):
        linkage.rigid("part", [P, Q], mass=-1.0)
    with pytest.raises(ModelError, match="names a member twice"):
        linkage.rigid("part", [P, P])
    u = linkage.vector("u", (0, 2))
    assert u.value.tolist() == [0, 1, 0]
    with pytest.raises(ModelError, match="has mass but no inertia"):
        linkage.rigid("part", [P, u], mass=1.0)
    with pytest.raises(ModelError, match="cannot take the vector 'u'"):
        linkage.length("s", P, u)
    model = ix.Model("m")
    model.add(linkage)
    with pytest.raises(ModelError, match="in model 'm' already"):
        linkage.point("R", (2, 0))


def test_it_survives_pickling_saving_and_drawing(tmp_path):
    model = pickle.loads(pickle.dumps(ix.library.iltis()))
    model.add(ix.NaturalBody.box("b", (1, 2, 3), 1.0, position=(3, 0, 0), angular_velocity=(1, 2, 3)))
    result = ix.simulate(model, (0, 0.02), t_eval=0.01)
    result.save(tmp_path / "run.nc")
    loaded = ix.Result.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(loaded["b"].rotation, result["b"].rotation)
    np.testing.assert_array_equal(loaded["suspension"].part("P4").position, result["suspension"].part("P4").position)
    result.to_html(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 10000


@pytest.mark.jit_off
def test_angular_momentum_is_kept():
    """Of a free body, by the explicit method, also as plain Python; the rows stay closed."""
    model = ix.Model("free", gravity=(0, 0, 0))
    body = model.add(ix.NaturalBody.box("b", (1, 2, 3), 1.0, angular_velocity=(0.3, 0.2, 0.1)))
    result = ix.simulate(model, (0, 0.5), "dopri5", rtol=1e-9, t_eval=0.25)
    A, w = result["b"].rotation, result["b"].angular_velocity
    momentum = np.einsum("tij,jk,tlk,tl->ti", A, body.inertia, A, w)
    assert np.abs(momentum - momentum[0]).max() < 1e-8  # rtol with a margin
    assert result.violation.scaled.position.max() < 1e-12
