"""Consistent states: what moves, what is held, what is kept, and that assembly always ends."""

import warnings

import numpy as np
import pytest
from small_models import Y, Z, displaced_four_bar, four_bar, impossible, particle, pendulum

import index3 as ix
from index3.engine.assembly import Assembly, assemble_state
from index3.methods import projection_kernels
from index3.methods.projection import Projector
from index3.system.compile import compile_model
from index3.system.state import State


def start(model):
    return np.concatenate([body.q0 for body in model.bodies.values()])


@pytest.mark.jit_off
def test_closes_a_displaced_loop_and_says_what_moved():
    """S4-26."""
    model = displaced_four_bar()
    assembly = ix.assemble(model)
    assert isinstance(assembly, Assembly)
    assert set(assembly.moved) == {"crank", "coupler", "rocker"}
    q = assembly.q.reshape(3, 7)
    for k, name in enumerate(model.bodies):
        body = model[name]
        distance, turn = assembly.moved[name]
        assert distance == pytest.approx(np.linalg.norm(q[k, :3] - body.q0[:3]), abs=1e-12)
        cosine = min(1.0, abs(q[k, 3:] @ body.q0[3:]) / np.linalg.norm(body.q0[3:]))
        assert turn == pytest.approx(2 * np.arccos(cosine), abs=1e-7)  # arccos near 1 keeps half of the digits
        assert f"{name} moved by {distance:.3g} m" in str(assembly)
    assert np.linalg.norm(q[:, 3:], axis=1) == pytest.approx(np.ones(3), abs=1e-12)
    assert assembly.redundant == 3
    assert 0 < assembly.iterations < 20


def test_the_assembled_state_is_consistent_and_where_a_run_starts():
    model = displaced_four_bar()
    assembly = ix.assemble(model)
    result = ix.simulate(model, (0.0, 0.01), t_eval=0.01)
    assert np.array_equal(result.q[0], assembly.q)
    assert np.abs(result.v[0] - assembly.v).max() < 1e-12  # projected once more: rounding
    assert result.a[0] == pytest.approx(assembly.a, abs=1e-9)
    assert result.lam[0] == pytest.approx(assembly.lam, abs=1e-9)
    assert result.violation.scaled.position[0] < 1e-12


def test_accelerations_and_reactions_by_name_are_those_of_a_run_that_starts_there():
    model = displaced_four_bar()
    assembly = ix.assemble(model)
    result = ix.simulate(model, (0.0, 0.01), t_eval=0.01)
    for name in model.joints:
        assert assembly[name].force == pytest.approx(result[name].force[0], abs=1e-9)
        assert assembly[name].unique == result[name].unique
    assert assembly["crank"].acceleration == pytest.approx(result["crank"].acceleration[0], abs=1e-9)
    assert assembly.result.energy.kinetic[0] == pytest.approx(result.energy.kinetic[0], abs=1e-12)
    tip = model["crank"].marker((0.1, 0, 0))
    assert assembly.marker(tip).position == pytest.approx(result.marker(tip).position[0], abs=1e-12)


def test_nothing_moves_where_nothing_must():
    assembly = ix.assemble(pendulum())
    assert assembly.moved == {}
    assert assembly.changed == {}
    assert assembly.iterations == 0


@pytest.mark.parametrize("hold", ["crank", ["crank"], ("coupler.x",), ["crank", "rocker.x"], ["rocker.z"]])
def test_held_coordinates_stay(hold):
    model = displaced_four_bar()
    assembly = ix.assemble(model, hold=hold)
    for name in [hold] if isinstance(hold, str) else hold:
        owner, _, coordinate = name.partition(".")
        body = model[owner]
        first = 7 * list(model.bodies).index(owner)
        columns = [body.coordinate_names.index(coordinate)] if coordinate else range(7)
        for column in columns:
            assert assembly.q[first + column] == pytest.approx(body.q0[column], abs=1e-8)  # 1e-8 of what others move
    loose = ix.assemble(model)
    assert np.abs(assembly.q - loose.q).max() > 1e-3  # holding made a difference


def test_what_cannot_be_held_is_said():
    model = displaced_four_bar()
    with pytest.raises(ix.AssemblyError, match=r"'coupler\.x' by 0\.\d+, which is held\. Hold fewer"):
        ix.assemble(model, hold=list(model.bodies))
    with pytest.raises(ix.AssemblyError, match="Holding fewer coordinates may help"):
        ix.assemble(model, hold="coupler")


@pytest.mark.parametrize(
    ("hold", "words"),
    [
        ("crnk", "no body 'crnk'"), ("ground", "no body 'ground'"), ("crank.q", "RigidBody 'crank' has x, y, z, e0"),
        (3, "hold = 3"), ([3], "no body '3'"), ("A", "no body 'A'"),
    ],
)  # fmt: skip
def test_unknown_names_in_hold(hold, words):
    with pytest.raises(ix.ModelError, match="hold") as error:
        ix.assemble(four_bar(), hold=hold)
    assert words in str(error.value)


@pytest.mark.parametrize("t", ["now", np.nan, np.inf, None])
def test_time_must_be_a_number(t):
    with pytest.raises(ix.ModelError, match="assemble: t = "):
        ix.assemble(pendulum(), t)


def test_time_of_motions():
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], lambda t: 0.1 * t, 0.1, 0.0))
    assert ix.assemble(model, 2.0).moved["rod"][1] == pytest.approx(0.2, abs=1e-9)
    assert ix.assemble(model, 2.0).t == 2.0


def test_impossible_geometry_ends_soon():
    state = State(compile_model(impossible()))
    projector = Projector(state)
    with pytest.raises(ix.AssemblyError, match=r"No positions satisfy the constraints at t = 0: worst rows right\.x"):
        assemble_state(state, projector, 0.0)
    assert projector.table[projection_kernels.REPORT][projection_kernels.N_ITERATIONS] <= 50  # milliseconds


def test_far_from_closed_still_closes():
    """Both links start on top of each other, far from where they belong."""
    model = ix.Model("far")
    links = [model.add(ix.RigidBody.rod(f"link{k}", (0, 0, 0), (1, 0, 0), mass=1.0)) for k in range(2)]
    model.add(ix.Revolute("a", model.ground.marker(z=Y), links[0].marker((-0.5, 0, 0), z=Y)))
    model.add(ix.Revolute("b", links[0].marker((0.5, 0, 0), z=Y), links[1].marker((-0.5, 0, 0), z=Y)))
    model.add(ix.Spherical("c", links[1].marker((0.5, 0, 0)), model.ground.marker((1.2, 0, 0.3))))
    assembly = ix.assemble(model)
    result = ix.simulate(model, (0.0, 0.1))
    assert result.violation.scaled.position.max() < 1e-10
    assert assembly.moved["link1"][0] > 0.1


def test_given_velocities_are_kept_exactly():
    assembly = ix.assemble(four_bar())
    assert set(assembly.changed) == {"crank", "coupler", "rocker"}
    assert assembly.changed["crank"] == pytest.approx((0.6, 0.0), abs=1e-9)  # centre at 0.2 m, 3 rad/s; angle rate kept
    result = ix.simulate(four_bar(), (0.0, 0.01))
    assert result["crank"].angular_velocity[0] == pytest.approx((0.0, 3.0, 0.0), abs=1e-13)
    assert result["crank"].velocity[0] == pytest.approx((0.6, 0.0, 0.0), abs=1e-12)
    assert result["A"].angle_rate[0] == pytest.approx(3.0, abs=1e-13)


def test_velocity_given_to_another_body_is_kept_too():
    model = four_bar(angular_velocity=None)
    rocker = model["rocker"]
    rocker.velocity_given = True
    rocker.v0[:3] = (0.4, 0.0, 0.0414)  # across the rocker, up to rounding of the geometry
    result = ix.simulate(model, (0.0, 0.01))
    speed = np.linalg.norm(result["rocker"].velocity[0])
    assert speed == pytest.approx(np.hypot(0.4, 0.0414), rel=1e-2)  # the part along the rocker cannot stay


def test_velocities_that_the_joints_forbid_give_way():
    model = pendulum(velocity=(1, 0, 0), angular_velocity=(0, 2, 0))  # along the rod it cannot move
    with pytest.warns(UserWarning, match="joints do not allow the velocities given, and changed that of 'rod'"):
        result = ix.simulate(model, (0.0, 0.01))
    assert result["rod"].velocity[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert result.violation.scaled.velocity[0] < 1e-12


def slim(joint):
    """A rod without inertia about its own axis x."""
    model = ix.Model("slim")
    rod = model.add(ix.RigidBody("rod", 1.0, (0, 0.1, 0.1), position=(0.5, 0, 0)))
    joint(model, rod)
    return model


def on_revolute(model, rod):
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=Y))


def on_universal(model, rod):
    model.add(ix.Universal("pin", model.ground, rod, at=(0, 0, 0), axes=(Y, Z)))


@pytest.mark.parametrize("joint", [on_revolute, on_universal])
def test_no_inertia_is_needed_where_nothing_turns(joint):
    thin = ix.simulate(slim(joint), (0.0, 1.0), rtol=1e-7, t_eval=0.1)
    assert thin.success, thin.message
    model = slim(joint)
    model["rod"].inertia[0, 0] = 1e-3  # no rotation is left about x, so this changes nothing
    thick = ix.simulate(model, (0.0, 1.0), rtol=1e-7, t_eval=0.1)
    assert np.abs(thin["rod"].position - thick["rod"].position).max() < 1e-5  # rtol 1e-7 over some hundred steps
    assert np.abs(thin["pin"].force - thick["pin"].force).max() < 1e-3


def test_slim_rods_in_a_loop():
    model = four_bar()
    for name in ("crank", "coupler", "rocker"):
        model[name].inertia[0, 0] = 0.0
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1)
    assert result.success, result.message
    reference = ix.simulate(four_bar(), (0.0, 1.0), t_eval=0.1)
    assert np.abs(result["coupler"].position - reference["coupler"].position).max() < 1e-4  # rtol 1e-6


@pytest.mark.parametrize(
    "joint",
    [
        lambda model, rod: model.add(ix.Spherical("pin", model.ground, rod, at=(0, 0, 0))),
        lambda model, rod: model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(1, 0, 0))),
        lambda model, rod: None,
    ],
)
def test_missing_inertia_is_named(joint):
    with pytest.raises(ix.SingularError, match="RigidBody 'rod' can turn about an axis about which it has no inertia"):
        ix.assemble(slim(joint))


def test_planar_bodies_without_inertia():
    model = ix.Model("flat", gravity=(0, -9.81, 0))
    bob = model.add(ix.PlanarBody("bob", 1.0, 0.0, position=(1, 0)))
    with pytest.raises(ix.SingularError, match="PlanarBody 'bob'"):
        ix.assemble(model)
    model.add(ix.Revolute("pin", model.ground, bob, at=(0, 0, 0), axis=Z))
    assert ix.simulate(model, (0.0, 0.1)).success


def test_free_bodies_need_no_assembly():
    model, _ = particle(velocity=(1, 2, 3))
    assembly = ix.assemble(model)
    assert assembly.v.tolist() == [1, 2, 3]
    assert assembly.lam.shape == (0,)


ANALYSES = [
    lambda model, **start: ix.assemble(model, **start).q,
    lambda model, **start: [ix.check(model, **start).dof],
    lambda model, **start: ix.linearize(model, **start).A,
    lambda model, **start: ix.FirstOrder(model, **start).y0,
    lambda model, **start: list(ix.differentiation_index(model, **start).index.values()),
]


@pytest.mark.parametrize("ask", ANALYSES, ids=["assemble", "check", "linearize", "FirstOrder", "differentiation_index"])
def test_initial_and_at_are_two_names_of_one_thing(ask):
    model = ix.library.pendulum()
    rest = ix.static(model)
    np.testing.assert_array_equal(ask(model, initial=rest), ask(model, at=rest))
    with pytest.raises(ix.ModelError, match="initial and at, which mean the same"):
        ask(model, initial=rest, at=rest)


def test_assembly_starts_where_it_is_told():
    model = ix.library.pendulum()
    rest = ix.static(model)
    assert not np.allclose(rest.q, start(model))
    np.testing.assert_allclose(ix.assemble(model, initial=rest).q, rest.q, atol=1e-9)  # found to Newton's tolerance


def test_masses_near_the_largest_number_are_told_by_name():
    """Velocities that are given are held by far larger masses, which overflow; no warning of NumPy tells that."""
    model = ix.Model("heavy")
    first = model.add(ix.RigidBody.box("first", (1, 1, 1), 1e307, velocity=(1, 0, 0)))
    second = model.add(ix.RigidBody.box("second", (1, 1, 1), 1.0))
    model.add(ix.Revolute("pin", first, second, at=(0, 0, 0), axis=(0, 0, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ix.SingularError, match="not finite"):
            ix.assemble(model)


def test_a_body_too_light_beside_its_neighbours_is_told_by_name():
    """Of two hinges in line one row is lost in rounding; nothing contradicts anything."""
    model = ix.Model("universal joint")
    first = model.add(ix.RigidBody.box("first", (0.2, 0.2, 0.2), 6.0))
    middle = model.add(ix.RigidBody("middle", 1e-12, (1e-15, 1e-15, 1e-15), position=(0.1, 0, 0)))
    second = model.add(ix.RigidBody.box("second", (0.2, 0.2, 0.2), 6.0, position=(0.2, 0, 0)))
    model.add(ix.Revolute("pin", model.ground, first, at=(-0.1, 0, 0), axis=Y))
    for name, pair, axis in (("tilt", (first, middle), Y), ("turn", (middle, second), Z)):
        hinge = model.add(ix.Revolute(name, *pair, at=(0.1, 0, 0), axis=axis))
        model.add(ix.Motion(f"drive {name}", hinge, lambda t: 0.5 * t * t, lambda t: t, 1.0))
    with pytest.raises(ix.AssemblyError, match="RigidBody 'middle' is too light beside its neighbours"):
        ix.simulate(model, (0.0, 1.0))


def test_accelerations_beyond_all_bounds_are_no_start():
    """Their squares are no numbers, and no row can tell what is left of it."""
    model = ix.Model("pushed")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Force("push", rod.marker((0.3, 0, 0.2)), (1.0, 1e200, 1e200)))
    with pytest.raises(ix.AssemblyError, match="no velocities or accelerations satisfy them all"):
        ix.assemble(model)
