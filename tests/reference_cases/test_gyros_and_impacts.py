"""A gyrocompass, a body on a bushing that turns far, a rod caught at its end, a ball that slides until it rolls."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import index3 as ix

G = 9.80665


def followed(f, y0, t):
    """The equations of one's own, at times t."""
    return solve_ivp(f, (t[0], t[-1]), y0, "DOP853", t_eval=t, rtol=1e-9, atol=1e-10).y


@pytest.mark.parametrize(("method", "rtol", "limit"), [("radau5", 1e-6, 1e-5), ("dop853", 1e-6, 1e-5)])
def test_gyrocompass(method, rtol, limit):
    """A wheel in a ring that may turn about the vertical of a turning earth swings about the meridian.

    In axes of the earth, with the rate W at latitude l and a from north: (A + R) a'' = A W_N^2 sin a cos a
    - C n W_N sin a, where W_N = W cos l and n, the spin about the axis of the wheel, is constant.
    """
    rate, latitude, a0, spin = 0.5, np.radians(40.0), 0.3, 50.0
    north, across, about = rate * np.cos(latitude), 0.02, 0.03
    axis = np.array([0.0, np.cos(latitude), np.sin(latitude)])
    model = ix.Model("gyrocompass", gravity=(0, 0, 0))
    turning = (lambda t: rate * t, lambda t: rate, lambda t: 0.0)
    earth = model.ground.moving_marker(rotation=turning, axis=axis, z=(0, 0, 1), name="earth")
    x, z = np.array([np.cos(a0), np.sin(a0), 0.0]), np.array([-np.sin(a0), np.cos(a0), 0.0])
    ring = model.add(ix.RigidBody("ring", 1.0, (0.01, 0.01, 0.015), angular_velocity=rate * axis))
    wheel = ix.RigidBody(
        "wheel", 2.0, (across, across, about), orientation=np.column_stack([x, np.cross(z, x), z]),
        angular_velocity=rate * axis + spin * z,
    )  # fmt: skip
    model.add(wheel)
    model.add(ix.Revolute("vertical", earth, ring.marker((0, 0, 0), z=(0, 0, 1))))
    model.add(ix.Revolute("axle", ring, wheel, at=(0, 0, 0), axis=z))
    result = ix.simulate(model, (0.0, 2.5), method, rtol=rtol, t_eval=0.1)
    drive = about * (spin + north * np.cos(a0)) * north

    def swing(t, y):
        return y[1], (across * north**2 * np.sin(y[0]) * np.cos(y[0]) - drive * np.sin(y[0])) / (across + 0.015)

    angle, speed = followed(swing, (a0, 0.0), result.t)
    # 10 rtol of the swing from +0.3 to -0.3
    np.testing.assert_allclose(result["vertical"].angle, angle - a0, rtol=0, atol=limit)
    np.testing.assert_allclose(result["vertical"].angle_rate, speed, rtol=0, atol=3 * limit)


@pytest.mark.parametrize(("method", "limit"), [("radau5", 1e-6), ("dopri5", 1e-5), ("descriptor-sdirk4", 1e-5)])
def test_a_body_turns_far_on_a_bushing(method, limit):
    """Three translations and the rotation vector, up to 1.9 rad about no fixed axis: torques follow from its rates."""
    stiffness, inertia = np.array([50.0, 80.0, 60.0, 0.6, 0.4, 0.8]), np.array([0.1, 0.2, 0.15])
    v0, w0 = np.array([0.5, 0.2, -0.3]), np.array([1.5, -2.0, 3.0])
    model = ix.Model("bushing", gravity=(0, 0, 0))
    body = model.add(ix.RigidBody("body", 1.0, inertia, velocity=v0, angular_velocity=w0))
    model.add(ix.Bushing("mount", model.ground, body, at=(0, 0, 0), stiffness=tuple(stiffness)))
    result = ix.simulate(model, (0.0, 1.5), method, rtol=1e-6, t_eval=0.1)

    def motion(t, y):
        x, v, p, w = np.split(y, (3, 6, 10))
        turn = Rotation.from_quat(p)
        phi, axes = turn.as_rotvec(), turn.as_matrix()
        size, cross = np.linalg.norm(phi), np.cross(np.eye(3), phi)
        c = 1 / 12 if size < 1e-4 else 1 / size**2 - (1 + np.cos(size)) / (2 * size * np.sin(size))
        rates = np.eye(3) - cross / 2 + c * cross @ cross  # phi' = rates w, and cross is phi x
        J = axes @ np.diag(inertia) @ axes.T
        torque = -rates.T @ (stiffness[3:] * phi)
        dp = 0.5 * np.append(p[3] * w + np.cross(w, p[:3]), -w @ p[:3])
        return np.concatenate([v, -stiffness[:3] * x, dp, np.linalg.solve(J, torque - np.cross(w, J @ w))])

    y = followed(motion, np.concatenate([np.zeros(3), v0, (0, 0, 0, 1), w0]), result.t)
    assert Rotation.from_quat(y[6:10].T).magnitude().max() > 1.5
    np.testing.assert_allclose(result["body"].position, y[:3].T, rtol=0, atol=limit)  # 10 rtol of what moves 1
    np.testing.assert_allclose(result["body"].rotation, Rotation.from_quat(y[6:10].T).as_matrix(), atol=2 * limit)
    np.testing.assert_allclose(result["mount"].force, -stiffness[:3] * y[:3].T, rtol=0, atol=100 * limit)


@pytest.mark.parametrize("method", ["auto", "hht-i3", "bdf-si2", "al-index3"])
def test_a_rod_is_caught_at_its_end(method):
    """A flying rod of 2 m whose end is caught turns at 3 v / 2 L: a quarter of its energy is lost."""
    length, speed, mass = 2.0, 3.0, 2.0
    model = ix.Model("catch", gravity=(0, 0, 0))
    rod = model.add(ix.RigidBody.rod("rod", (-1, -1, 0), (-1, 1, 0), mass=mass, velocity=(speed, 0, 0)))
    model.add(ix.Spherical("hook", model.ground.marker((0, -1, 0)), rod.marker_at((-1, -1, 0))))

    def there(t, state):
        return state["rod"].position[0]

    there.action, there.direction = ix.close_joint("hook"), 1
    result = ix.simulate(model, (0.0, 2.0), method, rtol=1e-5, t_eval=0.05, events=there, open_joints=["hook"])
    (jump,) = result.jumps
    after, spin = result.t > 1 / 3, 1.5 * speed / length
    assert jump.t == pytest.approx(1 / 3, rel=1e-5)
    assert jump.kinetic_lost == pytest.approx(mass * speed**2 / 8, rel=1e-9)  # free flight is exact
    # 200 rtol: methods of order 2 follow quaternions for half a turn and more
    np.testing.assert_allclose(result["rod"].angular_velocity[after, 2], -spin, rtol=2e-3)
    force = np.linalg.norm(result["hook"].force[after], axis=1)
    np.testing.assert_allclose(force, mass * spin**2 * length / 2, rtol=4e-3)
    assert not result["hook"].force[~after].any()


@pytest.mark.parametrize("method", ["auto", "radau5", "bdf-si2"])
def test_a_ball_slides_until_it_rolls(method):
    """A bowling ball thrown without spin rolls from 2 v0 / 7 mu g on, at 5/7 of its speed."""
    radius, mass, friction, v0, stiffness = 0.11, 5.0, 0.2, 4.0, 1e7
    model, sunk = ix.Model("bowling"), (5.0 * G / 1e7) ** (2 / 3)
    ball = model.add(
        ix.RigidBody.sphere("ball", radius, mass=mass, position=(0, 0, radius - sunk), velocity=(v0, 0, 0))
    )
    shapes, lane = (ix.shapes.Sphere(radius), ix.shapes.Plane()), {"restitution": 0.5, "impact_velocity": 1.0}
    model.add(ix.Contact("lane", ball, model.ground, shapes, stiffness=stiffness, friction=friction, **lane))
    result = ix.simulate(model, (0.0, 3.0), method, rtol=1e-5, t_eval=0.1)
    t, until = result.t, 2 * v0 / (7 * friction * G)
    speed = np.where(t < until, v0 - friction * G * t, 5 / 7 * v0)
    spin = np.where(t < until, 2.5 * friction * G * t, 5 / 7 * v0) / radius
    # the depth and the last mm/s of sliding, where friction fades, are not in the textbook
    np.testing.assert_allclose(result["ball"].velocity[:, 0], speed, rtol=0, atol=0.02)
    np.testing.assert_allclose(result["ball"].angular_velocity[:, 1], spin, rtol=0, atol=0.02 / radius)
    assert result.energy.work[-1] == pytest.approx(-mass * v0**2 / 7, rel=5e-3)
