"""Energy by element: sums, single shares by hand, and what a result without its model says."""

import pickle

import numpy as np
import pytest
from small_models import G, four_bar, particle, pendulum, spatial_loop

import index3 as ix


def driven():
    model = four_bar(angular_velocity=None)
    model.add(ix.Motion("drive", model["A"], lambda t: 4 * t + t**2, lambda t: 4 + 2 * t, 2.0))
    return model


def several_springs():
    """Three springs of one kind with different data on one mass, and a drag of the user."""

    def drag(t, r, A, v, w, p, out):
        out[0, :3] = -p[0] * v[0]

    model, bob = particle(gravity=(0, 0, -G), position=(1, 0, 0), velocity=(0, 1, 0))
    for k, point in enumerate(((0, 0, 0), (1, 2, 0), (0, 1, 1))):
        ends = (point, (1, 0, 0))
        model.add(ix.SpringDamper(f"s{k}", model.ground, bob, points=ends, stiffness=20.0 * (k + 1), damping=k * 1.0))
    model.add(ix.UserForce("drag", bob, drag, parameters=(0.8,)))
    model.add(ix.UserForce("lift", bob, lambda t, r, A, v, w, p, out: out.__setitem__((0, 2), 1.0)))
    return model


def curved_springs():
    """Two springs with a curve each: as many curves as springs."""
    model, bob = particle(gravity=(0, 0, -G), position=(1, 0, 0))
    for k, point in enumerate(((0, 0, 0), (1, 2, 0))):
        law = ix.Curve((-1.0, 0.0, 1.0), (-20.0 * (k + 1), 0.0, 30.0))
        ends = (point, (1, 0, 0))
        model.add(ix.SpringDamper(f"s{k}", model.ground, bob, points=ends, stiffness=law))
    return model


def several_contacts():
    """Balls of different weight that lie on the floor at different depths, the first one above it."""
    model = ix.Model("balls")
    for k in range(3):
        ball = model.add(ix.RigidBody.sphere(f"ball{k}", 0.1, mass=1.0 + k, position=(k, 0, 0.102 - 0.002 * k)))
        shapes = (ix.Plane(), ix.Sphere(0.1))
        model.add(ix.Contact(f"floor{k}", model.ground, ball, shapes, stiffness=1e4, damping=0.1))
    return model


@pytest.mark.jit_off
@pytest.mark.parametrize("make", [pendulum, spatial_loop, driven, several_springs, curved_springs, several_contacts])
def test_shares_add_up(make):
    result = ix.simulate(make(), (0.0, 0.5), rtol=1e-8, t_eval=0.005)
    found = result.energy.audit()
    shares = found.elements.values()
    kinetic, potential = (np.sum([getattr(x, key) for x in shares], axis=0) for key in ("kinetic", "potential"))
    assert kinetic == pytest.approx(result.energy.kinetic, abs=1e-12 * max(1.0, result.energy.kinetic.max()))
    assert potential == pytest.approx(result.energy.potential, abs=1e-12 * np.abs(potential).max())
    scale = max(np.ptp(result.energy.work), 1e-12)
    assert np.abs(found.missing).max() < 1e-3 * scale  # Simpson's rule over 5 ms; hht's own work at rtol 1e-8
    assert set(found.elements) == {*make().bodies, *make().forces, *make().motions}


def test_springs_of_one_kind_are_told_apart():
    result = ix.simulate(several_springs(), (0.0, 0.5), t_eval=0.01)
    found = ix.energy_audit(several_springs(), result)
    bob = result["bob"].position
    for k, point in enumerate(((0, 0, 0), (1, 2, 0), (0, 1, 1))):
        lengths = np.linalg.norm(bob - np.array(point), axis=1)
        stretch = lengths - lengths[0]
        assert found[f"s{k}"].potential == pytest.approx(10.0 * (k + 1) * stretch**2, abs=1e-9)
    assert np.all(found["s0"].power == 0.0)
    assert found["s2"].work[-1] < 0.0
    assert found["drag"].power == pytest.approx(-0.8 * np.sum(result["bob"].velocity ** 2, axis=1), abs=1e-9)
    assert found["lift"].work == pytest.approx(bob[:, 2] - bob[0, 2], abs=1e-6)  # Simpson over 10 ms
    assert found["bob"].potential == pytest.approx(G * bob[:, 2], abs=1e-12)


def test_the_drive_gives_what_the_links_get():
    result = ix.kinematics(driven(), (0.0, 0.5), t_eval=0.005)
    found = result.energy.audit()
    assert found["drive"].work == pytest.approx(
        result.energy.total - result.energy.total[0], abs=5e-5
    )  # Simpson over 5 ms
    text = str(found)
    assert "drive" in text
    assert "balance" in text


def test_supports_without_a_name_are_numbered():
    model = ix.Model("shaken")
    for k in range(2):
        path = (lambda t: (0, 0, np.sin(t)), lambda t: (0, 0, np.cos(t)), lambda t: (0, 0, -np.sin(t)))
        bob = model.add(ix.PointMass(f"bob{k}", 1.0, position=(0, 0, -1)))
        support = model.ground.moving_marker(path=path)
        model.add(ix.SpringDamper(f"s{k}", support, bob.marker(), stiffness=10.0 * (k + 1)))
    found = ix.simulate(model, (0.0, 0.5), t_eval=0.1).energy.shares()
    assert {"MovingMarker 1", "MovingMarker 2"} <= set(found.elements)
    assert "MovingMarker 2" in str(found)


def test_a_loaded_result_needs_its_model(tmp_path):
    result = ix.simulate(pendulum(), (0.0, 0.1), t_eval=0.05)
    result.save(tmp_path / "run.nc")
    loaded = ix.Result.load(tmp_path / "run.nc")
    with pytest.raises(ix.Index3Error, match=r"energy_audit\(model, result\)"):
        loaded.energy.audit()
    with pytest.raises(ix.Index3Error, match="energy_audit"):
        pickle.loads(pickle.dumps(result)).energy.audit()
    assert ix.energy_audit(pendulum(), loaded)["rod"].kinetic == pytest.approx(loaded.energy.kinetic, abs=1e-12)
    with pytest.raises(ix.ModelError, match="has others"):
        ix.energy_audit(four_bar(), loaded)
    with pytest.raises(ix.ModelError, match="no element 'rd'"):
        result.energy.audit()["rd"]


def lifted():
    """A mass on a support that rises."""
    model = ix.Model("lift")
    mass = model.add(ix.PointMass("mass", 2.0))
    way = (lambda t: 0.5 * t * t, lambda t: t, 1.0)
    model.add(ix.RelativeCoordinate("lift", model.ground, mass, *way, at=(0, 0, 0), axis=(0, 0, 1)))
    return model, "lift"


def hauled():
    """A mass on a rope that is hauled in."""
    model = ix.Model("winch")
    mass = model.add(ix.PointMass("mass", 2.0, position=(0.6, 0, -0.8)))
    ends = ((0, 0, 0), (0.6, 0, -0.8))
    model.add(ix.Distance("rope", model.ground, mass, points=ends, f=lambda t: -0.2 * t, df=-0.2, ddf=0.0))
    return model, "rope"


def shaken():
    """A pendulum whose pivot moves."""
    model = ix.Model("shaken")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    path = (lambda t: (0, 0, 0.1 * t * t), lambda t: (0, 0, 0.2 * t), lambda t: (0, 0, 0.2))
    pivot = model.ground.moving_marker(path=path, z=(0, 1, 0), name="pivot")
    model.add(ix.Revolute("pin", pivot, rod.marker_at((0, 0, 0), z=(0, 1, 0))))
    return model, "pin"


@pytest.mark.parametrize("make", [lifted, hauled, shaken])
def test_joints_that_are_driven_have_a_share(make):
    model, name = make()
    shares = ix.simulate(model, (0.0, 0.5), rtol=1e-8, t_eval=0.005).energy.shares()
    assert shares[name].work[-1] > 0.05
    assert abs(shares.missing[-1]) < 1e-6 * shares[name].work[-1]  # of Simpson's rule over 100 intervals
