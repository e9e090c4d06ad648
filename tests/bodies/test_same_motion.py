"""One mechanism in every kind of coordinates: the same motion, the same reactions, by methods of all families."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix

SPATIAL = {
    "euler parameters": ix.RigidBody,
    "euler angles": ix.EulerAngleBody,
    "natural": ix.NaturalBody,
}
Y, Z = (0, 1, 0), (0, 0, 1)
# dop853 with rtol 1e-9 on motions of a second: errors of 1e-9 in positions of size 1, more in what is derived from them
RUN = {"method": "dop853", "rtol": 1e-9, "atol": 1e-11, "t_eval": 0.05}
POSITION, REACTION = 1e-7, 1e-5
QUANTITIES = ("position", "velocity", "acceleration", "rotation", "angular_velocity", "angular_acceleration")


def four_bar(kind):
    """The four-bar of the library with bodies of a kind: spatial, with three redundant rows."""
    A, B, C, D = (0, 0, 0), (0, 0, 0.4), (0.91833, 0, 0.79582), (1, 0, 0)
    model = ix.Model("four-bar")
    crank = model.add(kind.rod("crank", A, B, mass=1.0, angular_velocity=(0, 3, 0), velocity=(0.6, 0, 0)))
    coupler, rocker = model.add(kind.rod("coupler", B, C, mass=1.0)), model.add(kind.rod("rocker", C, D, mass=1.0))
    chain = (model.ground, crank, coupler, rocker, model.ground)
    for name, first, second, at in zip("ABCD", chain, chain[1:], (A, B, C, D), strict=False):
        model.add(ix.Revolute(name, first, second, at=at, axis=Y))
    return model


def slider_crank(kind):
    """A spatial slider-crank: crank about x, rod with two balls at its ends and a held spin, slider along x."""
    A, B, C = (0, 0.1, 0.12), (0, 0.1, 0.2), (0.2, 0, 0)
    model = ix.Model("slider-crank")
    rates = {"angular_velocity": (6, 0, 0), "velocity": (0, -0.24, 0)}
    if kind is ix.EulerAngleBody:  # it turns about x all the way round, so its angles have to start with x
        rates["reference"] = ((0, 0, 1), (1, 0, 0), (0, 1, 0))
    crank = model.add(kind.rod("crank", A, B, mass=0.12, **rates))
    rod = model.add(kind.rod("rod", B, C, mass=0.5, radius=0.02))
    slider = model.add(kind.box("slider", (0.05, 0.03, 0.03), 2.0, position=C))
    model.add(ix.Revolute("A", model.ground, crank, at=A, axis=(1, 0, 0)))
    model.add(ix.Spherical("B", crank, rod, at=B))
    model.add(ix.Universal("C", rod, slider, at=C, axes=(Z, Y)))
    model.add(ix.Prismatic("D", model.ground, slider, at=C, axis=(1, 0, 0)))
    return model


def double_pendulum(kind):
    """Two rods with hinges across each other, off their axes, with a spring and a torque."""
    model = ix.Model("double pendulum")
    first = model.add(kind.rod("first", (0, 0, 0), (1, 0, 0), mass=1.0, radius=0.1))
    second = model.add(kind.rod("second", (1, 0, 0), (1, 1, 0.2), mass=1.0, radius=0.1))
    model.add(ix.Revolute("a", model.ground, first, at=(0, 0, 0.1), axis=Y))
    model.add(ix.Revolute("b", first, second, at=(1, 0, 0), axis=(1, 0, 1)))
    model.add(ix.SpringDamper("s", model.ground, second, points=((0, 2, 0), (1, 1, 0.2)), stiffness=20.0, damping=1.0))
    model.add(ix.Torque("t", second, (0.3, 0, 0.1), follower=True, reaction=first))
    return model


def heavy_top(kind):
    """A top with its tip held, starting with spin, precession and nutation."""
    model = ix.Model("top")
    p = (np.cos(0.4), -np.sin(0.4), 0, 0)
    inertia = ((0.1, 0.01, 0.0), (0.01, 0.12, 0.0), (0.0, 0.0, 0.05))
    place = {"position": (0, 0.36, 0.35), "orientation": p, "angular_velocity": (0.3, 7, 7)}
    top = model.add(kind("top", 1.0, inertia, **place))
    model.add(ix.Spherical("tip", model.ground, top, at=(0, 0, 0)))
    return model


MECHANISMS = {"four-bar": four_bar, "slider-crank": slider_crank, "double pendulum": double_pendulum, "top": heavy_top}


@pytest.fixture(scope="module")
def expected():
    """Each mechanism in Euler parameters, run once."""
    return {name: ix.simulate(build(ix.RigidBody), (0, 1), **RUN) for name, build in MECHANISMS.items()}


def agree(result, reference, model):
    """Assert that two runs tell the same story."""
    for name in model.bodies:
        for quantity in QUANTITIES:
            a, b = getattr(result[name], quantity), getattr(reference[name], quantity)
            assert np.abs(a - b).max() <= POSITION * max(10.0, np.abs(b).max()) * 10, (name, quantity)
        assert np.abs(result[name].position - reference[name].position).max() <= POSITION, name
    for name, joint in model.joints.items():
        if reference[name].unique:
            size = max(1.0, np.abs(reference[name].force).max(), np.abs(reference[name].torque).max())
            assert np.abs(result[name].force - reference[name].force).max() <= REACTION * size, name
            assert np.abs(result[name].torque - reference[name].torque).max() <= REACTION * size, name
        for coordinate in joint.coordinates:
            a, b = getattr(result[name], coordinate), getattr(reference[name], coordinate)
            assert np.abs(a - b).max() <= 10 * POSITION, (name, coordinate)


@pytest.mark.parametrize("kind", [kind for kind in SPATIAL if kind != "euler parameters"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_spatial_mechanisms(name, kind, expected):
    """S2-01: The same motion and reactions in Euler angles and natural coordinates as in Euler parameters."""
    model = MECHANISMS[name](SPATIAL[kind])
    result = ix.simulate(model, (0, 1), **RUN)
    assert result.success, result.message
    agree(result, expected[name], model)
    assert np.ptp(result.energy.balance) < 1e-7  # as the positions
    quaternions = result[next(iter(model.bodies))].orientation
    assert np.abs(np.linalg.norm(quaternions, axis=1) - 1.0).max() < 1e-9


@pytest.mark.parametrize("basis", [((0, 0, 0), (0, 0, 1)), ((0, 0, 1), (1, 0, 0), (0, 1, 0)), tuple(np.eye(4)[:, :3])])
def test_natural_bodies_of_any_points(basis, expected):
    """Two points and two vectors, three and one, four points: the same top."""
    rates = {"velocity": np.cross((0.3, 7, 7), (0, 0.36, 0.35))}  # with points off the centre both rates are needed
    model = heavy_top(lambda *given, **pose: ix.NaturalBody(*given, points=basis, **pose, **rates))
    assert (model["top"].size, len(model["top"].own_rows)) == (12, 6)
    agree(ix.simulate(model, (0, 1), **RUN), expected["top"], model)


@pytest.mark.parametrize(
    "method", ["hht-i3", "bdf-si2", "radau5", "al-index3", "dopri5", "hem4", "tlismni-adams4", "rosenbrock4"]
)
@pytest.mark.parametrize("kind", [kind for kind in SPATIAL if kind != "euler parameters"])
def test_every_family_of_methods(kind, method, expected):
    """Redundant rows included: they are none of the body kind's business."""
    result = ix.simulate(four_bar(SPATIAL[kind]), (0, 0.5), method, rtol=1e-6, t_eval=0.05)
    assert result.success, result.message
    error = np.abs(result["rocker"].position - expected["four-bar"]["rocker"].position[: len(result)]).max()
    assert error < 1e-3  # the augmented Lagrangian controls energy only: 2e-4 seen, the others below 2e-5
    assert result.violation.scaled.position.max() < 1e-10


def planar_four_bar(kind):
    """A four-bar in the plane."""
    model = ix.Model("planar", gravity=(0, -9.81, 0))
    A, B, C, D = (0, 0), (0, 0.4), (0.91833, 0.79582), (1, 0)
    crank = model.add(kind.rod("crank", A, B, mass=1.0, spin=-3.0, velocity=(0.6, 0)))
    coupler, rocker = model.add(kind.rod("coupler", B, C, mass=1.0)), model.add(kind.rod("rocker", C, D, mass=1.0))
    chain = (model.ground, crank, coupler, rocker, model.ground)
    for name, first, second, at in zip("ABCD", chain, chain[1:], (A, B, C, D), strict=False):
        model.add(ix.Revolute(name, first, second, at=(*at, 0), axis=Z))
    return model


def test_planar_four_bar():
    """By x, y and angle; by two points a body; by the two points B and C alone."""
    reference = ix.simulate(planar_four_bar(ix.PlanarBody), (0, 1), **RUN)
    model = planar_four_bar(ix.NaturalPlanarBody)
    check = model.check()
    assert (check.coordinates, check.constraints, check.dof, check.redundant) == (12, 11, 1, [])
    agree(ix.simulate(model, (0, 1), **RUN), reference, model)

    linkage = ix.NaturalLinkage("bars", planar=True)
    A, D = linkage.fixed("A", (0, 0)), linkage.fixed("D", (1, 0))
    B, C = linkage.point("B", (0, 0.4), velocity=(1.2, 0)), linkage.point("C", (0.91833, 0.79582))
    for name, ends in {"crank": [A, B], "coupler": [B, C], "rocker": [C, D]}.items():
        linkage.rigid(name, ends, mass=1.0)
    shared = ix.Model("shared", gravity=(0, -9.81, 0))
    shared.add(linkage)
    check = shared.check()
    assert (check.coordinates, check.constraints, check.dof, check.redundant) == (4, 3, 1, [])
    result = ix.simulate(shared, (0, 1), **RUN)
    for name in ("crank", "coupler", "rocker"):
        part = result["bars"].part(name)
        assert np.abs(part.position - reference[name].position).max() <= POSITION
        assert np.abs(part.angular_velocity - reference[name].angular_velocity).max() <= 100 * POSITION


def test_joint_forces_keep_newtons_law():
    """m a and (J w)' of each natural body from the reactions of its joints, its weight and nothing else."""
    model = four_bar(ix.NaturalBody)
    result = ix.simulate(model, (0, 0.5), "hht-i3", rtol=1e-6, t_eval=0.1)
    coupler, B, C = result["coupler"], result["B"], result["C"]
    back_force, back_torque = C.on_first()
    force = B.force + back_force + model["coupler"].mass * model.gravity
    assert np.abs(force - model["coupler"].mass * coupler.acceleration).max() < 1e-9  # rounding of forces of 10 N
    arms = B.second.position - coupler.position, C.first.position - coupler.position
    torque = B.torque + np.cross(arms[0], B.force) + back_torque + np.cross(arms[1], back_force)
    J = coupler.rotation @ model["coupler"].inertia @ coupler.rotation.transpose(0, 2, 1)
    w, w_dot = coupler.angular_velocity, coupler.angular_acceleration
    momentum_rate = np.einsum("tij,tj->ti", J, w_dot) + np.cross(w, np.einsum("tij,tj->ti", J, w))
    assert np.abs(torque - momentum_rate).max() < 1e-9


def test_equilibria_modes_and_energies_do_not_depend_on_the_coordinates():
    """Static equilibrium, eigenvalues about it, and the share of each element in the energy of a run."""
    found = []
    for kind in SPATIAL.values():
        model = double_pendulum(kind)
        equilibrium = ix.static(model)
        eigenvalues = np.sort_complex(ix.linearize(model, at=equilibrium).eigenvalues)
        shares = ix.simulate(model, (0, 0.5), "dop853", rtol=1e-8, t_eval=0.1).energy.audit()
        energies = {name: np.array([share.kinetic, share.potential]) for name, share in shares.elements.items()}
        found.append((eigenvalues, energies))
    for eigenvalues, energies in found[1:]:
        np.testing.assert_allclose(eigenvalues, found[0][0], rtol=1e-6, atol=1e-9)  # equilibria found to 1e-9
        assert set(energies) == {"first", "second", "s", "t"}
        for name, values in energies.items():
            np.testing.assert_allclose(values, found[0][1][name], atol=1e-5)  # 1e3 times rtol of 10 J


@pytest.mark.parametrize("method", ["rosenbrock4", "descriptor-sdirk4"])
def test_the_work_does_not_depend_much_on_the_coordinates(method):
    """Rows and Jacobians that fit leave the steps to the motion: 170 to 190, and 125 to 130, when this was written."""
    runs = [ix.simulate(double_pendulum(kind), (0, 2), method, rtol=1e-6, t_eval=[2.0]) for kind in SPATIAL.values()]
    steps = [run.stats["steps"] for run in runs]
    assert max(steps) < 1.3 * min(steps), steps
    assert max(run.stats.get("rejected", 0) for run in runs) < 0.1 * min(steps)
