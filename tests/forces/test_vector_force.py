"""Vector forces: words, law, derivatives, failures, and the same motion as a bushing."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import index3 as ix
from index3.bodies.ground import Ground
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.bushing import Bushing
from index3.forces.vector_force import VectorForce

GROUND = Ground()
BOX = RigidBody.box("box", (1, 1, 1), mass=1.0)


def law(t, x, v, p, out):
    """Stiff along x, a torque that couples everything, all growing with time."""
    out[0] = -p[0] * x[0] ** 3 * (1.0 + t) - p[1] * v[0]
    out[1] = -p[0] * x[1] + v[4]
    out[2] = np.sin(x[2]) * x[4]
    out[3] = -p[1] * x[3] - v[3] * x[0]
    out[4] = -x[4] + x[5] * x[3]
    out[5] = -v[5] * abs(v[5]) - x[2]


def law_derivatives(t, x, v, p, K, D):
    K[0, 0], D[0, 0] = -3.0 * p[0] * x[0] ** 2 * (1.0 + t), -p[1]
    K[1, 1], D[1, 4] = -p[0], 1.0
    K[2, 2], K[2, 4] = np.cos(x[2]) * x[4], np.sin(x[2])
    K[3, 3], K[3, 0], D[3, 3] = -p[1], -v[3], -x[0]
    K[4, 4], K[4, 5], K[4, 3] = -1.0, x[3], x[5]
    K[5, 2], D[5, 5] = -1.0, -2.0 * abs(v[5])


def force(f=law, jacobian="differences", parameters=(3.0, 0.5)):
    return VectorForce("pull", GROUND, BOX, f, parameters, jacobian, at=(0, 0, 0))


def test_what_the_system_asks():
    assert not force().conservative
    assert force().damped
    assert force(jacobian=None).damped
    assert not force(jacobian="none").damped
    assert [marker.body for marker in force().markers] == [GROUND, BOX]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: force(f=lambda t, x: None), "Give f(t, x, v, p, out)"),
        (lambda: force(f=3.0), "VectorForce 'pull' has f 3.0"),
        (lambda: force(jacobian=law), "Give jacobian(t, x, v, p, K, D)"),
        (lambda: force(parameters=(1.0, np.inf)), "parameters"),
        (lambda: VectorForce("pull", GROUND, BOX, law), "without at"),
        (lambda: VectorForce("pull", PointMass("ball", 1.0), BOX, law, at=(0, 0, 0)), "takes its axes from PointMass"),
        (lambda: VectorForce("pull", GROUND, PointMass("ball", 1.0), law, at=(0, 0, 0)), "Bushing with three"),
    ],
)
def test_errors_name_the_force(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.jit_off
def test_law(bench):
    """First marker turned by 90 degrees about z: its x is ground y; the first body spins, and takes the moment."""

    def follow(t, x, v, p, out):
        out[:3], out[3:] = 10.0 * x[:3] + v[:3], 2.0 * x[3:] + v[3:]

    b = bench([force(follow)])
    turn = Rotation.from_rotvec((0, 0, np.pi / 2))
    b[s.MARKER_R][:] = (1, 1, 1), (1, 1.5, 1)
    b[s.MARKER_A][:] = turn.as_matrix().ravel(), (turn * Rotation.from_rotvec((0.3, 0, 0))).as_matrix().ravel()
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][0, 5], b[s.MARKER_V][1, 1] = 2.0, 4.0
    # seen from the first: x = (0.5, 0, 0), velocity (4, 0, 0) - w x d with w x d = (-1, 0, 0) in ground
    expected_force = turn.apply((10.0 * 0.5 + 4.0, 0.0, 0.0)) + np.array([1.0, 0.0, 0.0])
    expected_torque = turn.apply((0.6, 0.0, 0.0)) - np.array([0.0, 0.0, 2.0])
    moment = expected_torque + np.cross((0, 0.5, 0), expected_force)
    expected = [[*-expected_force, *-moment], [*expected_force, *expected_torque]]
    assert np.allclose(b.forces(), expected, rtol=0, atol=1e-14 * 10)  # rounding


@pytest.mark.jit_off
@pytest.mark.parametrize("jacobian", [law_derivatives, "differences"])
def test_derivatives_and_energy(bench, jacobian):
    b = bench([force(jacobian=jacobian), force(jacobian=jacobian, parameters=(-1.0, 2.0))])
    b.forces()  # derivatives are taken where the force was
    b.check_derivatives()
    b.check_energy()


@pytest.mark.jit_off
def test_without_derivatives(bench):
    assert not np.any(bench([force(jacobian="none")]).matrices())


@pytest.mark.jit_off
def test_turned_too_far_is_reported(bench):
    b = bench([force()])
    b[s.MARKER_A][:] = np.eye(3).ravel(), Rotation.from_rotvec((3.1, 0, 0)).as_matrix().ravel()
    assert (b.run("forces"), b.run("force_derivatives")) == (1, 1)
    assert "markers turned by more than 3 rad at t = 0.5" in b.explain(0, "forces", 0.5)
    b[s.MARKER_A][:] = np.eye(3).ravel()
    assert b.run("forces") == 0


@pytest.mark.jit_off
def test_failures_are_named(bench):
    def broken(t, x, v, p, out):
        raise ValueError("no such place")

    def endless(t, x, v, p, out):
        out[2] = np.inf

    b = bench([force(broken), force(endless)])
    assert b.run("forces") == 1
    assert "its function f raised ValueError at t = 0.7: no such place" in b.explain(0, "forces", 0.7)
    b = bench([force(endless)])
    assert b.run("forces") == 1
    assert "not finite at t = 0.7" in b.explain(0, "forces", 0.7)


def test_copies(bench):
    b = bench([force()])
    other = pickle.loads(pickle.dumps(b.elements[0]))
    assert other.failure is None
    assert other.f is law


def linear(t, x, v, p, out):
    for k in range(3):
        out[k] = -p[k] * x[k] - p[3] * v[k]


@pytest.mark.parametrize("compiled", [False, True])
def test_same_motion_as_a_bushing(compiled):
    f = linear
    if compiled:
        f = pytest.importorskip("numba").njit(linear)
    results = []
    for kind in ("bushing", "function"):
        model = ix.Model("pair")
        base = model.add(RigidBody("base", 5.0, (0.5, 0.6, 0.7), angular_velocity=(0.2, 0.1, 0.5)))
        box = model.add(RigidBody("box", 2.0, (0.1, 0.2, 0.25), position=(0.1, 0.2, -0.1)))
        ends = base.marker((0.1, 0, 0)), box.marker((0, 0.1, 0))
        if kind == "bushing":
            model.add(Bushing("tie", *ends, stiffness=(200.0, 300.0, 400.0), damping=(2.0, 2.0, 2.0)))
        else:
            model.add(VectorForce("tie", *ends, f, (200.0, 300.0, 400.0, 2.0)))
        results.append(ix.simulate(model, (0.0, 0.5), method="hht-i3", step=0.0025))
        assert results[-1].success
    # the same equations; Newton's iterations end within 1e-11 relative, and their matrices differ by 1e-9
    assert np.allclose(results[0].q, results[1].q, rtol=0, atol=1e-9)
    # one counts the springs as potential energy, the other as work: apart by the start and the quadrature of the power
    bushing, function = (result.energy.balance - result.energy.balance[0] for result in results)
    assert np.allclose(bushing, function, rtol=0, atol=4.4e-5)  # rtol times the integral of |power|; 2.1e-5 measured
