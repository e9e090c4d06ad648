"""Elements and analyses that the papers name, where no other test asks for just that: S0-..., S1-... of the page
docs/reference/reproduction_adams_al.md."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation

import index3 as ix
from index3.compiled import slots as s
from index3.engine.assembly import assemble_state
from index3.linear import contract, static_solver
from index3.linear import solver as solving
from index3.methods.projection import Projector
from index3.methods.registry import METHODS
from index3.methods.state_space.partition import dense_rows
from index3.system import evaluate, structure
from index3.system.compile import compile_model
from index3.system.state import State


def test_free_asymmetric_body_keeps_energy_and_momentum():
    """S0-01: a body has 7 coordinates and a row of its own; turning freely it keeps both to 1e-8 over some 10 turns."""
    model, inertia = ix.Model("top", gravity=(0, 0, 0)), np.array((0.5, 1.0, 1.4))
    model.add(ix.RigidBody("top", 2.0, inertia, velocity=(1, 2, 3), angular_velocity=(0.1, 6.0, 0.2)))
    model.add(ix.RigidBody("other", 1.0, (1, 1, 1), position=(5, 0, 0)))
    check = model.check()
    assert (check.coordinates, check.constraints, check.dof) == (14, 2, 12)
    result = ix.simulate(model, (0, 10), "dop853", rtol=1e-10, t_eval=0.1)
    top = result["top"]
    A = Rotation.from_quat(np.roll(top.orientation, -1, axis=1)).as_matrix()
    spin = np.einsum("kji,kj->ki", A, top.angular_velocity)
    momentum = np.einsum("kij,kj->ki", A, inertia * spin)
    assert np.ptp(spin[:, 1]) > 10.0  # it tumbles
    assert np.abs(momentum - momentum[0]).max() < 1e-8 * np.linalg.norm(momentum[0])
    assert np.ptp(result.energy.kinetic) < 1e-8 * result.energy.kinetic[0]


def test_ground_as_a_body_is_held_by_six_rows():
    """S0-02, S0-41: the printed counts of the mass-spring model have a frame with 7 coordinates, 6 rows and its own."""
    model = ix.library.mass_spring()
    assert len(model["hold"].row_labels) == 6
    check = model.check()
    assert (check.bodies, check.coordinates, check.constraints, check.dof) == (4, 28, 25, 3)
    held = ix.Model("held", gravity=(1, 2, 3))
    body = held.add(ix.RigidBody("body", 1.0, (1, 1, 1)))
    for name in ("x", "y", "z", "e1", "e2", "e3"):
        held.add(ix.CoordinateConstraint(f"hold {name}", body, name))
    assert held.check().dof == 0
    result = ix.simulate(held, (0, 1), "hht-i3", rtol=1e-4)
    assert np.abs(result.q - result.q[0]).max() < 1e-12
    state, q = State(compile_model(held)), np.array([0.1, -0.2, 0.3, 0.5, -0.5, 0.5, 0.5])

    def rows(q):
        state.move(0.0, q, np.zeros(7))
        assert state.run(evaluate.forces, evaluate.jacobian) == 0
        return state[s.PHI].copy(), dense_rows(state)

    numeric = np.array([(rows(q + x)[0] - rows(q - x)[0]) / 2e-6 for x in 1e-6 * np.eye(7)]).T
    assert np.abs(rows(q)[1] - numeric).max() < 1e-7  # the demand


def test_bracket_joint_keeps_the_relative_pose():
    """S0-06: six rows; two bodies that are joined move as one, to 1e-12 after projection."""
    model = ix.Model("bracket", gravity=(0, 0, -9.81))
    a = model.add(ix.RigidBody.box("a", (0.3, 0.2, 0.1), mass=2.0, angular_velocity=(1, 2, 3)))
    b = model.add(ix.RigidBody.box("b", (0.1, 0.2, 0.4), mass=1.0, position=(0.4, 0.1, 0.2)))
    weld = model.add(ix.Fixed("weld", a, b, at=(0.2, 0, 0)))
    assert len(weld.row_labels) == 6
    assert model.check().dof == 6
    result = ix.simulate(model, (0, 1), "hht-i3", rtol=1e-4, t_eval=0.05)
    A, B = (Rotation.from_quat(np.roll(result[name].orientation, -1, axis=1)) for name in "ab")
    turn = (A.inv() * B).as_rotvec()
    arm = A.inv().apply(result["b"].position - result["a"].position)
    assert np.abs(turn - turn[0]).max() < 1e-12
    assert np.abs(arm - arm[0]).max() < 1e-12


@pytest.mark.parametrize("key", METHODS)
def test_speed_ratio_is_kept_by_every_method(key):
    """S0-08: a row of velocities that keeps two speeds 2 rad/s apart, under a torque on one of them."""
    model = ix.Model("speeds", gravity=(0, 0, 0))
    z = (0, 0, 1)
    first = model.add(ix.RigidBody("first", 1.0, (1, 1, 1), angular_velocity=z))
    second = model.add(ix.RigidBody("second", 1.0, (1, 1, 2), position=(1, 0, 0), angular_velocity=(0, 0, 3)))
    model.add(ix.Revolute("pin1", model.ground, first, at=(0, 0, 0), axis=z))
    model.add(ix.Revolute("pin2", model.ground, second, at=(1, 0, 0), axis=z))
    model.add(ix.RelativeAngularVelocity("apart", first, second, axis=z, f=2.0, df=0.0))
    model.add(ix.Torque("drive", first, (0, 0, 1.5)))
    if not METHODS[key].takes_velocity_rows:
        with pytest.raises(ix.ModelError, match="apart"):
            ix.simulate(model, (0, 0.1), key)
        return
    result = ix.simulate(model, (0, 1), key, rtol=1e-6, t_eval=0.25)
    assert result.success, result.message
    speeds = [result[name].angular_velocity[:, 2] for name in ("first", "second")]
    assert speeds[1] - speeds[0] == pytest.approx(np.full(5, 2.0), abs=1e-9)
    assert speeds[0] == pytest.approx(1.0 + 0.5 * result.t, abs=1e-3)  # 1.5 N m on 3 kg m^2; BDF2 7e-4


@pytest.mark.parametrize("cosine", [0.0, 0.6, -0.3])
@pytest.mark.parametrize("key", ["hht-i3", "tlismni-adams3", "dopri5"])
def test_dot_product_of_two_axes_is_kept(key, cosine):
    """S0-12: two tumbling bodies keep the angle between an axis of each to 1e-12, while both axes go everywhere."""
    model = ix.Model("axes", gravity=(0, 0, 0))
    first = model.add(ix.RigidBody("first", 1.0, (1, 2, 3), angular_velocity=(1, 2, 3)))
    second = model.add(ix.RigidBody("second", 1.0, (3, 1, 2), position=(1, 0, 0), angular_velocity=(-2, 1, 0.5)))
    other = (0.0, cosine, np.sqrt(1 - cosine**2))
    model.add(ix.PerpendicularAxes("angle", first, second, at=(0, 0, 0), axes=((0, 1, 0), other), cosine=cosine))
    model.add(ix.Torque("turn", second, (0.5, -1.0, 0.3)))
    assert model.check().dof == 11
    result = ix.simulate(model, (0, 2), key, rtol=1e-5, t_eval=0.05)
    assert result.success, result.message
    turns = [Rotation.from_quat(np.roll(result[name].orientation, -1, axis=1)) for name in ("first", "second")]
    axes = [turn.apply(axis) for turn, axis in zip(turns, ((0, 1, 0), other), strict=True)]
    assert min(np.ptp(axis, axis=0).min() for axis in axes) > 0.3
    assert np.abs(np.einsum("ki,ki->k", *axes) - cosine).max() < 1e-12  # the demand


def test_strut_spring_keeps_its_energy():
    """S0-13: the front spring of the vehicle, 1.67071e5 N/m free at 0.33934 m, under 500 kg."""
    model = ix.Model("strut", gravity=(0, 0, -9.81))
    body = model.add(ix.PointMass("body", 500.0, position=(0, 0, 0.33934)))
    model.add(ix.SpringDamper("spring", model.ground.marker(), body.marker(), stiffness=1.67071e5, length=0.33934))
    result = ix.simulate(model, (0, 2), "dop853", rtol=1e-9)
    sag = 500 * 9.81 / 1.67071e5
    exact = 0.33934 - sag * (1 - np.cos(np.sqrt(1.67071e5 / 500) * result.t))
    assert result["body"].position[:, 2] == pytest.approx(exact, abs=1e-7)  # 100 rtol
    assert np.ptp(result.energy.total) < 1e-7 * 500 * 9.81 * sag


def test_reactions_at_rest_are_those_of_statics():
    """S0-20: a beam of 10 kg on a pin and a roller, 30 N at a third: reactions by hand to 1e-8."""
    model = ix.Model("beam", gravity=(0, -9.81, 0))
    beam = model.add(ix.PlanarBody.rod("beam", (0, 0), (3, 0), mass=10.0))
    model.add(ix.Revolute("pin", model.ground, beam, at=(0, 0, 0), axis=(0, 0, 1)))
    rail = model.ground.marker((3, 0, 0), z=(0, 1, 0))
    model.add(ix.PointInPlane("roller", rail, beam.marker_at((3, 0, 0))))
    model.add(ix.Force("load", beam, (0, -30.0, 0), at=(1, 0, 0)))
    found = ix.simulate(model, (0, 0.1), "dopri5", t_eval=[0.0, 0.1])
    assert found.violation.acceleration.max() < 1e-9
    assert found["pin"].force[0] == pytest.approx((0, 49.05 + 20.0, 0), abs=1e-8)
    assert found["roller"].force[0] == pytest.approx((0, 49.05 + 10.0, 0), abs=1e-8)


def two_sliders():
    """A slow and a fast block that know nothing of each other: coordinates 0 to 2 and 3 to 5."""
    model = ix.Model("two sliders", gravity=(0, 0, 0))
    for name, y, stiffness in (("slow", 0.0, 4.0), ("fast", 1.0, 400.0)):
        block = model.add(ix.PlanarBody(name, 1.0, 1.0, position=(0.1, y)))
        model.add(ix.Prismatic(f"{name} rail", model.ground, block, at=(0, y, 0), axis=(1, 0, 0)))
        wall = model.ground.marker((-10, y, 0))
        law = {"stiffness": stiffness, "damping": 1.0, "length": 10.0}
        model.add(ix.SpringDamper(f"{name} spring", wall, block.marker(), **law))
    return model


def by_energy(key):
    return METHODS[key].family == "augmented"


@pytest.mark.filterwarnings("ignore:Energy of")  # formulas that grow by 1 mm in a step may, where that is allowed
@pytest.mark.parametrize("key", METHODS)
def test_tolerances_by_coordinate(key):
    """S0-39: atol is a number or one per coordinate, for every method, and each one counts for its own coordinate.

    Augmented Lagrangian methods bound the change of the energy, which belongs to no coordinate, by the smallest one.
    rtol is one number: what it would allow for a coordinate can be given as that one's atol.
    """
    model, tight = two_sliders(), np.full(6, 1e-6)
    slow, fast = np.r_[tight[:3] * 1e3, tight[3:]], np.r_[tight[:3], tight[3:] * 1e3]
    whole, numbers, loose_slow, loose_fast, loose = (
        ix.simulate(model, (0, 2), key, rtol=1e-9, atol=atol, audit="off").stats["steps"]  # else gains cut tolerances
        for atol in (1e-6, tight, slow, fast, tight * 1e3)
    )
    print(key, whole, loose_slow, loose_fast, loose)
    assert numbers == whole
    assert loose_slow == pytest.approx(whole, rel=0.05)  # the fast block asks for the steps
    assert loose < 0.6 * whole
    assert loose_fast == pytest.approx(whole, rel=0.05) if by_energy(key) else loose_fast < 0.6 * whole
    with pytest.raises(ix.ModelError, match="atol"):
        ix.simulate(model, (0, 0.3), key, atol=np.full(5, 1e-6))
    with pytest.raises(ix.ModelError, match="rtol"):
        ix.simulate(model, (0, 0.3), key, rtol=tight)


@pytest.fixture
def analyses(monkeypatch):
    """A list that grows with every analysis of a pattern."""
    made, analyse = [], static_solver.elimination_order

    def counted(*arguments):
        made.append(arguments)
        return analyse(*arguments)

    monkeypatch.setattr(static_solver, "elimination_order", counted)
    monkeypatch.setattr(structure, "_kept", [])
    return made


@pytest.mark.parametrize("key", ["tlismni-adams4", "hht-i3"])
def test_one_analysis_serves_a_whole_run(key, analyses):
    """S0-40: all matrices of the vehicle with 50 bodies, for positions, velocities, accelerations and steps."""
    model = ix.library.hmmwv50(settled=False)
    analyses.clear()  # building it has closed its joints
    structure._kept.clear()
    result = ix.simulate(model, (0, 2e-4), key, rtol=1e-4)
    assert result.success, result.message
    assert result.stats["factorisations"] > 3
    assert len(analyses) == 1


def test_sparse_elimination_at_the_size_of_the_vehicle():
    """S0-40: 50 spatial bodies, 670 unknowns: 2.9 % of the entries are not zero; elimination and solution take 0.3 %
    of the operations of a dense one."""
    state = State(compile_model(ix.library.hmmwv50(settled=False)))
    projector = Projector(state)
    assemble_state(state, projector, 0.0)
    size = state.system.n + state.system.m
    sparsity = state.system.sparsity
    assert size == 670
    assert len(sparsity.indices) < 0.03 * size**2  # the demand
    state[s.COEF][:] = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
    dense = np.zeros((size, size))
    dense[sparsity.indices, np.repeat(np.arange(size), np.diff(sparsity.indptr))] = state[s.MATRIX][:-1]
    right = np.sin(np.arange(size) + 1.0)
    assert solving.factor(projector.factors) == 0
    projector.factors[contract.X][:] = right
    solving.solve(projector.factors)
    x, expected = projector.factors[contract.X], scipy.linalg.solve(dense, right)
    for part in (slice(0, state.system.n), slice(state.system.n, None)):
        assert np.abs(x[part] - expected[part]).max() < 1e-8 * np.abs(expected[part]).max()  # condition of 1e7
    pattern = projector.solver.pattern
    operations = pattern.flops + 2 * (len(pattern.li) + len(pattern.ui) + size)
    assert operations < 0.005 * (2 * size**3 / 3 + 2 * size**2)  # demanded: a fifth of the time
