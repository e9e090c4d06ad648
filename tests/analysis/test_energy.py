"""Energy, work and their balance."""

import numpy as np
import pytest
from small_models import G, X, Z, four_bar, particle, pendulum, spatial_loop

import index3 as ix


def drift(result):
    """Change of the balance as a part of the largest kinetic energy."""
    return np.ptp(result.energy.balance) / result.energy.kinetic.max()


def with_damper():
    model, bob = particle(gravity=(0, 0, -G), position=(1, 0, 0))
    model.add(ix.SpringDamper("strut", model.ground.marker(), bob.marker(), stiffness=50.0, damping=3.0))
    return model


def with_constant_load():
    model, bob = particle(position=(1, 0, 0))
    model.add(ix.Force("push", bob, (0.5, 0.0, 0.2)))
    return model


def with_load_of_time():
    model = pendulum()
    model.add(ix.Torque("motor", model["rod"], lambda t: (0.0, 10.0 * np.sin(5 * t), 0.0)))
    return model


def with_follower():
    model = pendulum()
    model.add(ix.Force("jet", model["rod"], (0.0, 0.0, 8.0), at=(1, 0, 0), follower=True))
    return model


def with_rotational_damper():
    model = pendulum()
    model.add(ix.RotationalSpringDamper("friction", model["pin"], stiffness=2.0, damping=0.5))
    return model


def with_motion():
    model = four_bar(angular_velocity=None)
    model.add(ix.Motion("drive", model["A"], lambda t: 4 * t + t**2, lambda t: 4 + 2 * t, 2.0))
    return model


def with_user_force():
    def drag(t, r, A, v, w, p, out):
        out[0, :3] = -p[0] * v[0]

    model, bob = particle(gravity=(0, 0, -G), velocity=(3, 0, 0))
    model.add(ix.UserForce("drag", bob, drag, parameters=(0.8,)))
    return model


WORKING = (
    with_damper, with_constant_load, with_load_of_time, with_follower, with_rotational_damper, with_motion,
    with_user_force, spatial_loop,
)  # fmt: skip


@pytest.mark.parametrize("make", WORKING, ids=lambda make: make.__name__)
def test_balance_is_constant_where_work_is_done(make):
    results = [ix.simulate(make(), (0.0, 1.0), rtol=rtol, t_eval=0.02) for rtol in (1e-6, 1e-8)]
    for result, bound in zip(results, (1e-2, 5e-4), strict=True):
        assert result.success, result.message
        assert np.ptp(result.energy.work) > 1e-3 * result.energy.kinetic.max()  # something works
        assert drift(result) < bound  # of a second-order method with damping: falls as rtol^(2/3)
    assert drift(results[1]) < 0.5 * drift(results[0]) or drift(results[1]) < 1e-6


@pytest.mark.parametrize("make", [pendulum, four_bar], ids=["pendulum", "four_bar"])
def test_no_work_where_nothing_works(make):
    result = ix.simulate(make(), (0.0, 1.0), t_eval=0.1)
    assert not result.energy.work.any()
    assert np.array_equal(result.energy.balance, result.energy.total)
    assert np.array_equal(result.energy.total, result.energy.kinetic + result.energy.potential)


def test_work_of_a_constant_load_is_force_times_way():
    result = ix.simulate(with_constant_load(), (0.0, 1.0), t_eval=0.1)
    way = result["bob"].position - result["bob"].position[0]
    # the exact motion is a parabola, which the method and Simpson's rule follow to rounding
    assert result.energy.work == pytest.approx(way @ (0.5, 0.0, 0.2), abs=1e-12)


def test_work_of_a_motion_is_torque_times_angle():
    """A rotor sped up at a constant rate: J a angle."""
    model = ix.Model("rotor", gravity=(0, 0, 0))
    rotor = model.add(ix.RigidBody.cylinder("rotor", 0.2, 0.1, mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=Z))
    model.add(ix.Motion("drive", pin, lambda t: 1.5 * t**2, lambda t: 3.0 * t, 3.0))
    result = ix.simulate(model, (0.0, 2.0), rtol=1e-8, t_eval=0.2)
    expected = 0.02 * 3.0 * 1.5 * result.t**2
    assert result.energy.kinetic == pytest.approx(expected, abs=1e-9)
    assert result.energy.work == pytest.approx(expected, abs=1e-5)  # lam of the method, rtol 1e-8
    assert result["drive"].torque[:, 2] == pytest.approx(np.full(11, 0.06), abs=1e-9)


def test_work_does_not_depend_on_the_output_times():
    few, many = (ix.simulate(with_damper(), (0.0, 1.0), t_eval=dt).energy.work for dt in (0.5, 0.01))
    assert few == pytest.approx(many[::50], abs=1e-15)  # counted at the steps


def test_kinetic_and_potential_by_hand():
    model = pendulum(angular_velocity=(0, 2, 0))
    model.add(
        ix.SpringDamper("spring", model.ground, model["rod"], points=((1, 0, 2), (1, 0, 0)), stiffness=10.0, length=1.5)
    )
    energy = ix.simulate(model, (0.0, 0.01)).energy
    assert energy.kinetic[0] == pytest.approx(0.5 * (1 / 3) * 4, rel=1e-12)
    assert energy.potential[0] == pytest.approx(0.5 * 10 * 0.25, rel=1e-12)  # the rod lies at z = 0


def test_gravity_points_where_it_is_told():
    model = ix.Model("sideways", gravity=(3.0, 0, 0))
    model.add(ix.PointMass("bob", 2.0, velocity=(0, 1, 0)))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.5)
    assert result["bob"].position[-1] == pytest.approx((1.5, 1.0, 0.0), abs=1e-9)
    assert np.ptp(result.energy.total) < 1e-9 * result.energy.kinetic.max()
    assert result["bob"].acceleration == pytest.approx(np.tile((3.0, 0, 0), (3, 1)), abs=1e-12)


def test_reaction_of_a_load_takes_its_share_of_work():
    """Two masses pushed apart: both gain energy, which the load and its reaction give."""
    model = ix.Model("apart", gravity=(0, 0, 0))
    bodies = [
        model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=m, position=(k, 0, 0))) for k, m in enumerate((1.0, 3.0))
    ]
    model.add(ix.Force("push", bodies[1], X, reaction=bodies[0]))
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.5)
    assert result.energy.work[-1] == pytest.approx(0.5 * 1.0 + 0.5 / 3.0, rel=1e-9)
    assert np.ptp(result.energy.balance) < 1e-9
