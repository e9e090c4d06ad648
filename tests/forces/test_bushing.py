"""Bushings: words, law, derivatives, energy, and a body on springs."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import index3 as ix
from index3.bodies.ground import Ground
from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.bushing import Bushing
from index3.forces.curve import Curve
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

GROUND = Ground()
BOX = RigidBody.box("box", (1, 1, 1), mass=1.0, position=(0, 0, -2), orientation=(0.8, 0.6, 0, 0))
SIX = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
STIFFNESS = np.diag(SIX) + 0.3 * (np.eye(6, k=2) + np.eye(6, k=-2))
CUBIC = Curve.from_function(lambda x: 500 * x + 5e4 * x**3, lambda x: 500 + 15e4 * x**2)


def bushing(**settings):
    return Bushing("mount", GROUND, BOX, at=(0, 0, -1), **settings)


def test_short_form():
    mount = Bushing("mount", GROUND, BOX, at=(1, 2, 3), axis=(1, 0, 0), x=(0, 1, 0), stiffness=SIX)
    for marker in mount.markers:
        r, A = marker.pose()
        assert np.allclose(r, (1, 2, 3), atol=1e-15)  # rounding
        assert np.allclose(A, np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0)]).T, atol=1e-15)


def test_what_the_system_asks():
    assert bushing(stiffness=SIX, preload=SIX).conservative
    assert not bushing(stiffness=SIX).damped
    assert bushing(damping=SIX).damped
    assert not bushing(damping=(CUBIC, 0, 0)).conservative
    assert not bushing(stiffness=[CUBIC] * 3).conservative  # without antiderivative
    assert bushing(stiffness=[Curve([0, 1], [0, 1])] * 3).conservative
    assert bushing(stiffness=SIX[:3]).size == 3
    initial = Bushing("mount", GROUND.marker((0, 0, 1)), BOX.marker(), stiffness=SIX, free="initial")
    assert np.allclose(initial.free, [0, 0, -3, 2 * np.arctan2(0.6, 0.8), 0, 0], atol=1e-14)  # rounding


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bushing(), "Bushing 'mount' has no stiffness, damping or preload"),
        (lambda: bushing(stiffness=5.0), "stiffness 5.0. Give three numbers, or six"),
        (lambda: bushing(stiffness=(1, 2)), "Give three numbers, or six"),
        (lambda: bushing(stiffness=SIX, damping=(1, 2, 3)), "6 of stiffness, 3 of damping. Give as many of each"),
        (lambda: bushing(stiffness=(1, 2, np.nan)), "stiffness along z nan"),
        (lambda: bushing(stiffness=(1, 2, abs)), "Curve.from_function"),
        (lambda: bushing(stiffness=np.triu(np.ones((6, 6)))), "not symmetric"),
        (lambda: bushing(stiffness=np.ones((3, 2))), "row of stiffness"),
        (lambda: bushing(stiffness=SIX, preload=(1, 2, 3, 4, 5, "x")), "has preload"),
        (lambda: bushing(stiffness=SIX, free="never"), "has free 'never'"),
        (lambda: Bushing("mount", GROUND, BOX, stiffness=SIX), "without at"),
        (lambda: Bushing("mount", GROUND.marker(), BOX.marker(), at=(0, 0, 0), stiffness=SIX), "also at, axis or x"),
        (lambda: Bushing("mount", BOX, BOX, at=(0, 0, 0), stiffness=SIX), "to itself"),
        (
            lambda: Bushing("mount", PointMass("ball", 1.0), BOX, at=(0, 0, 0), stiffness=SIX[:3]),
            "takes its axes from PointMass 'ball'",
        ),
        (
            lambda: Bushing("mount", BOX, PointMass("ball", 1.0), at=(0, 0, 0), stiffness=SIX),
            "cannot turn PointMass 'ball'",
        ),
    ],
)
def test_errors_name_the_bushing(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.jit_off
def test_law_along_the_axes(bench):
    """First marker turned by 90 degrees about z: its x is ground y."""
    b = bench([bushing(stiffness=(10.0, 20.0, 30.0), damping=(1.0, 2.0, 3.0), preload=(0.5, 0, 0), free=(0.1, 0, 0))])
    b[s.MARKER_R][:] = (1, 1, 1), (1, 1.3, 1)
    b[s.MARKER_A][0] = Rotation.from_rotvec((0, 0, np.pi / 2)).as_matrix().ravel()
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][1, :3] = (0, 2.0, 0)
    force = 0.5 - 10.0 * 0.2 - 1.0 * 2.0
    expected = [[0, -force, 0, 0, 0, 0], [0, force, 0, 0, 0, 0]]
    assert np.allclose(b.forces(), expected, rtol=0, atol=1e-15 * 10)  # rounding
    assert b.energies() == pytest.approx((5.0 * 0.2**2 - 0.5 * 0.2, -4.0), rel=1e-14)


@pytest.mark.jit_off
@pytest.mark.parametrize("angle", [0.2, -1.0, 2.9])
def test_law_about_one_axis(bench, angle):
    """About one axis the rotation vector is the angle, and curves are torque over angle."""
    b = bench([bushing(stiffness=(0, 0, 0, 0, CUBIC, 0), damping=(0, 0, 0, 0, 0.5, 0))])
    b[s.MARKER_R][:] = 0.0
    b[s.MARKER_A][:] = np.eye(3).ravel(), Rotation.from_rotvec((0, angle, 0)).as_matrix().ravel()
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][1, 4] = 3.0
    torque = -(500 * angle + 5e4 * angle**3) - 0.5 * 3.0
    expected = np.zeros((2, 6))
    expected[:, 4] = -torque, torque
    # rounding of the angle, magnified by theta / sin(theta) = 12 at 2.9 rad
    assert np.allclose(b.forces(), expected, rtol=1e-13, atol=1e-12 * abs(torque))


@pytest.mark.jit_off
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_derivatives_and_energy(bench, seed):
    table = Curve([-2.0, -1.0, 0.0, 0.5, 2.0], [-9.0, -3.0, 0.0, 4.0, 5.0])
    b = bench(
        [
            bushing(stiffness=SIX[:3], damping=(1.0, -2.0, 3.0)),
            bushing(stiffness=SIX),
            bushing(stiffness=STIFFNESS, damping=STIFFNESS - 2 * np.eye(6, k=1), preload=SIX, free=[0.1] * 6),
            bushing(stiffness=[table] * 6, damping=[table, 1.0] * 3),
        ],
        seed=seed,
    )
    b.check_derivatives()
    b.check_energy()


@pytest.mark.jit_off
def test_straight_curves_are_numbers(bench):
    """S0-15: a straight torque-angle curve is a linear spring."""
    lines = [Curve([-1.0, 0.5, 1.0], [-k, 0.5 * k, k]) for k in SIX]
    by_curve, by_number = (bench([bushing(stiffness=laws, damping=laws)]) for laws in (lines, SIX))
    assert np.allclose(by_curve.forces(), by_number.forces(), rtol=1e-13, atol=1e-13)  # rounding
    assert np.allclose(by_curve.energies(), by_number.energies(), rtol=1e-13)
    assert np.allclose(by_curve.matrices(), by_number.matrices(), rtol=1e-12, atol=1e-12)


def test_four_bushings_at_the_corners_make_a_belt():
    """Axial stiffness EA and bending stiffness EA (h/2)^2 of segments tied at the corners of their end faces."""
    length, height, EA = 10.546911789554743e-3, 4.5e-3, 120e3  # of the belt in the reference data of the project
    axial = EA / length / 4
    model = ix.Model("belt", gravity=(0, 0, 0))
    link = model.add(RigidBody("link", 1.16e-3, (1e-8, 1e-8, 1e-8), position=(length, 0, 0)))
    for k in range(4):
        at = (0.5 * length, 5.25e-3 * (-1) ** k, 0.5 * height * (-1) ** (k // 2))
        model.add(Bushing(f"b{k}", model.ground, link, at=at, stiffness=(axial, 0.1 * axial, 0.1 * axial)))
    state = State(compile_model(model))
    stretch = 1e-6
    state[s.Q][0] += stretch
    assert state.run(evaluate.forces) == 0
    assert state[s.G][0] == pytest.approx(EA * stretch / length, rel=1e-12)  # rounding
    state[s.Q][0] -= stretch
    bend = 1e-4  # about y, through the common end face
    turn = Rotation.from_rotvec((0, bend, 0))
    state[s.Q][:3] = np.array([0.5 * length, 0, 0]) + turn.apply((0.5 * length, 0, 0))
    state[s.Q][3:7] = turn.as_quat(scalar_first=True)
    assert state.run(evaluate.forces, evaluate.energy) == 0
    # axial parts alone hold the bend: 4 corners h/2 away; the rest is of second order in the angle
    assert state[s.ENERGY][s.POTENTIAL] == pytest.approx(0.5 * EA * (height / 2) ** 2 / length * bend**2, rel=1e-6)


@pytest.mark.jit_off
def test_a_free_bushing_pulls_nowhere(bench):
    for turn in ((0, 0, 0), (0.3, -1.0, 0.5)):
        b = bench([bushing(stiffness=SIX, free=(0.1, 0.2, 0.3, *turn))])
        b[s.MARKER_V][:] = 0.0
        A = Rotation.from_rotvec((0.4, 0.5, -0.6))
        b[s.MARKER_A][:] = A.as_matrix().ravel(), (A * Rotation.from_rotvec(turn)).as_matrix().ravel()
        b[s.MARKER_R][1] = b[s.MARKER_R][0] + A.apply((0.1, 0.2, 0.3))
        assert np.abs(b.forces()).max() <= 1e-14  # rounding


@pytest.mark.jit_off
def test_turned_too_far_is_reported(bench):
    b = bench([bushing(stiffness=SIX[:3]), bushing(stiffness=SIX)])
    b[s.MARKER_A][2:] = np.eye(3).ravel(), Rotation.from_rotvec((3.1, 0, 0)).as_matrix().ravel()
    assert b.run("forces") == 2
    assert b.run("force_derivatives") == 2
    assert b.explain(1, "forces", 0.5).startswith("Bushing 'mount' has turned by more than 3 rad at t = 0.5")


@pytest.mark.jit_off
def test_a_curve_that_ends_is_named(bench):
    short = Curve([-0.1, 0.1], [-1.0, 1.0], extrapolation="error")
    b = bench([bushing(stiffness=(0, short, 0))])
    b[s.MARKER_A][:] = np.eye(3).ravel()
    b[s.MARKER_R][:] = (0, 0, 0), (0, 0.25, 0)
    assert b.run("forces") == 1
    assert "asks the curve of its stiffness along y for x = 0.25" in b.explain(0, "forces", 0.5)


def mounted():
    """A body on one bushing, pushed and turned away."""
    model = ix.Model("mounted", gravity=(0, 0, 0))
    turn = Rotation.from_rotvec((0.5, -0.3, 0.8))
    box = RigidBody("box", 2.0, (0.1, 0.2, 0.25), position=(0.1, 0.2, -0.1), orientation=turn)
    base = model.add(RigidBody("base", 5.0, (0.5, 0.6, 0.7), angular_velocity=(0.2, 0.1, 0.5)))
    model.add(box)
    stiffness = (200.0, 300.0, 400.0, 8.0, 9.0, 10.0)
    return model, base, box, stiffness


def test_a_free_pair_keeps_energy_and_angular_momentum():
    model, base, box, stiffness = mounted()
    model.add(Bushing("mount", base.marker((0.1, 0, 0)), box.marker((0, 0.1, 0)), stiffness=stiffness))
    result = ix.simulate(model, (0.0, 2.0), method="dop853", rtol=1e-10, atol=1e-12, t_eval=0.1)
    assert result.success
    total = result.energy.total
    # the method's tolerance 1e-10 over some ten oscillations; measured 1e-10
    assert np.ptp(total) <= 1e-8 * total[0]
    momentum = np.zeros((len(result.t), 3))
    for body in (base, box):
        view = result[body.name]
        A = np.array([Rotation.from_quat(p, scalar_first=True).as_matrix() for p in view.orientation])
        spin = np.einsum("tij,jk,tlk,tl->ti", A, body.inertia, A, view.angular_velocity)
        momentum += body.mass * np.cross(view.position, view.velocity) + spin
    assert np.abs(momentum - momentum[0]).max() <= 1e-7 * np.abs(momentum[0]).max()  # as above


def test_what_dampers_take_is_counted():
    model, base, box, stiffness = mounted()
    ends = base.marker((0.1, 0, 0)), box.marker((0, 0.1, 0))
    model.add(Bushing("mount", *ends, stiffness=stiffness, damping=(2.0, 2.0, 2.0, 0.1, 0.1, 0.1)))
    result = ix.simulate(model, (0.0, 2.0), rtol=1e-7, t_eval=0.1)
    assert result.success
    assert result.energy.total[-1] < 0.5 * result.energy.total[0]
    # the method's tolerance 1e-7 over some ten oscillations; measured 5e-8
    assert np.ptp(result.energy.balance) <= 1e-6 * result.energy.total[0]


def test_frequencies_of_a_mounted_body():
    """Along z and about z of a body on a bushing at its centre: sqrt(k/m), sqrt(k/I)."""
    model = ix.Model("mounted", gravity=(0, 0, 0))
    turn = Rotation.from_rotvec((0, 0, 0.2))
    box = model.add(RigidBody("box", 2.0, (0.1, 0.2, 0.25), position=(0, 0, 0.1), orientation=turn))
    model.add(Bushing("mount", model.ground.marker(), box.marker(), stiffness=(9, 9, 32.0, 9, 9, 4.0)))
    result = ix.simulate(model, (0.0, 3.0), method="dop853", rtol=1e-10, atol=1e-12, t_eval=0.1)
    angle = 2 * np.arctan2(result["box"].orientation[:, 3], result["box"].orientation[:, 0])
    # the method's tolerance over two oscillations
    assert np.allclose(result["box"].position[:, 2], 0.1 * np.cos(4.0 * result.t), rtol=0, atol=1e-8)
    assert np.allclose(angle, 0.2 * np.cos(4.0 * result.t), rtol=0, atol=1e-8)


def test_planar_bodies_and_points_take_bushings():
    model = ix.Model("flat", gravity=(0, -9.81, 0))
    plate = model.add(PlanarBody("plate", 1.0, 0.1, position=(0, 0)))
    ball = model.add(PointMass("ball", 0.5, position=(0.5, 0, 0)))
    model.add(Bushing("mount", model.ground, plate, at=(0, 0, 0), stiffness=SIX, damping=(4.0,) * 6))
    model.add(Bushing("string", plate, ball, at=(0.5, 0, 0), stiffness=(50.0,) * 3, damping=(4.0,) * 3))
    result = ix.simulate(model, (0.0, 0.5))
    assert result.success


def test_stiff_bushing_hangs_with_the_weight_on_it():
    """Strongly damped: the deflection settles at m g / k."""
    model = ix.Model("hanging", gravity=(0, 0, -9.81))
    box = model.add(RigidBody.box("box", (0.1, 0.1, 0.1), mass=3.0))
    k, c = (2.0e6, 2.0e6, 2.0952e6, 500.0, 500.0, 500.0), (1e4, 1e4, 1e4, 2.0, 2.0, 2.0)
    model.add(Bushing("mount", model.ground, box, at=(0, 0, 0), stiffness=k, damping=c))
    result = ix.simulate(model, (0.0, 0.5), method="bdf-i3", rtol=1e-6, atol=1e-12)
    assert result.success
    # 0.5 s is hundreds of time constants; what is left is the method's absolute tolerance
    assert result["box"].position[-1, 2] == pytest.approx(-3.0 * 9.81 / 2.0952e6, rel=1e-5)


@pytest.mark.parametrize("method", ["auto", "radau5"])
def test_damping_alone_has_no_limit_of_turns(method):
    """A top that tumbles on a damped ball joint: J w' + w x J w = -c w in body axes, 15 rad in all."""
    inertia, c = np.array([1.0, 2.0, 2.5]), 0.5
    model = ix.Model("ball", gravity=(0, 0, 0))
    top = model.add(ix.RigidBody("top", 1.0, inertia, angular_velocity=(1, 2, 3)))
    model.add(ix.Spherical("ball", model.ground, top, at=(0, 0, 0)))
    model.add(ix.Bushing("drag", model.ground, top, at=(0, 0, 0), damping=(0, 0, 0, c, c, c), free=[0.5] * 6))
    result = ix.simulate(model, (0.0, 6.0), method, rtol=1e-8, t_eval=0.5)
    spin = solve_ivp(
        lambda t, w: (-np.cross(w, inertia * w) - c * w) / inertia, (0, 6), (1, 2, 3), rtol=1e-11, atol=1e-12,
        t_eval=result.t,
    ).y.T  # fmt: skip
    found = np.einsum("tij,ti->tj", result["top"].rotation, result["top"].angular_velocity)
    assert found == pytest.approx(spin, abs=1e-7)  # 1e-8 seen
    assert result.energy.work == pytest.approx(result.energy.kinetic - result.energy.kinetic[0], abs=1e-6)
