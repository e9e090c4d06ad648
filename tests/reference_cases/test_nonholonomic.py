"""Bodies on blades and wheels against equations of their few velocities, and bodies that roll on moving ones."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix

G = 9.80665
Z = (0, 0, 1)
METHODS = ["auto", "hht-i3", "radau5", "bdf-si2", "descriptor-sdirk4", "tlismni-adams3"]


def solution(rates, start, end):
    """The end of an ordinary differential equation by SciPy, to about 1e-11."""
    return solve_ivp(rates, (0.0, end), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def limit(method):
    """Of errors at rtol 1e-6: global ones of order 2 and 3 methods are about 1e-4 here."""
    return 1e-3 if method in ("hht-i3", "tlismni-adams3") else 5e-5


@pytest.mark.parametrize("method", METHODS)
def test_car_with_a_steered_front_blade(method):
    """Two blades 1 m apart, the front one steered by d(t): one speed u of the rear blade, turning u tan(d)."""
    model = ix.Model("car", gravity=(0, 0, 0))
    car = model.add(ix.PlanarBody("car", 10.0, 2.0, position=(0.5, 0), velocity=(2.0, 0)))
    fork = model.add(ix.PlanarBody("fork", 1.0, 0.1, position=(1.0, 0), velocity=(2.0, 0)))
    head = model.add(ix.Revolute("head", car, fork, at=(1, 0, 0), axis=Z))
    model.add(ix.Motion("steer", head, ix.Expression("0.3*sin(t)**2")))
    model.add(ix.KnifeEdge("rear", model.ground, car, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.KnifeEdge("front", model.ground, fork, at=(1, 0, 0), axis=(0, 1, 0)))
    result = ix.simulate(model, (0.0, 4.0), method, rtol=1e-6)

    def rates(t, y):
        _, _, heading, u = y
        d, d1, d2 = 0.3 * np.sin(t) ** 2, 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t)
        k, k1 = np.tan(d), d1 / np.cos(d) ** 2
        turn, mass, force = u * k, (2.0 + 0.1) * k * k, 2.0 * k * u * k1 + 0.1 * k * (u * k1 + d2)
        for m, x in ((10.0, 0.5), (1.0, 1.0)):  # d'Alembert along (1, x k), accelerations in axes of the car
            mass += m * (1.0 + (x * k) ** 2)
            force += m * (-x * turn**2 + x * k * (x * u * k1 + u * turn))
        return u * np.cos(heading), u * np.sin(heading), turn, -force / mass

    x, y, heading, _ = solution(rates, (0, 0, 0, 2.0), 4.0)
    exact = x + 0.5 * np.cos(heading), y + 0.5 * np.sin(heading)
    np.testing.assert_allclose(result["car"].position[-1, :2], exact, atol=10 * limit(method))  # a way of 8 m


@pytest.mark.parametrize("method", METHODS)
def test_cylinder_rolls_down_a_wedge_that_slides(method):
    """Coordinates X of the wedge and s along it: [M + m, m cos a; m cos a, 3 m / 2] (X'', s'') = (0, m g sin a)."""
    slope, radius = 0.4, 0.2
    normal = np.array([np.sin(slope), 0, np.cos(slope)])
    model = ix.Model("wedge", gravity=(0, 0, -G))
    wedge = model.add(ix.RigidBody.box("wedge", (1, 1, 1), mass=4.0, position=(0, 0, -0.5)))
    model.add(ix.Prismatic("guide", model.ground, wedge, at=(0, 0, 0), axis=(1, 0, 0)))
    at = radius * normal
    roller = model.add(ix.RigidBody.cylinder("roller", radius, 0.3, mass=2.0, axis=(0, 1, 0), position=at))
    model.add(ix.RollingCylinder("rolls", wedge, roller, radius=radius, at=at, axis=(0, 1, 0), normal=normal))
    result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-6)
    matrix = [[6.0, 2.0 * np.cos(slope)], [2.0 * np.cos(slope), 3.0]]
    back = np.linalg.solve(matrix, [0.0, 2.0 * G * np.sin(slope)])[0]
    assert result["guide"].displacement[-1] == pytest.approx(back / 2, rel=limit(method))
    assert result["wedge"].acceleration[-1, 0] == pytest.approx(back, rel=limit(method))


def ellipsoid_contact(A, squares):
    """From the centre of an ellipsoid to its lowest point, and the height of the centre."""
    n = A[2]  # the vertical in body axes
    height = np.sqrt(n @ (squares * n))
    return -A @ (squares * n) / height, height


@pytest.mark.parametrize("method", ["auto", "hht-i3", "radau5"])
def test_rattleback(method):
    """An ellipsoid whose axes of inertia are turned rolls on a plane by rows of a user: Newton and Euler about it."""
    squares, mass = np.array([0.2, 0.03, 0.02]) ** 2, 1.0
    inertia = np.array([[2e-4, -2e-5, 0], [-2e-5, 1.6e-3, 0], [0, 0, 1.7e-3]])
    spin, start = np.array([0.1, 0, -5.0]), np.array([0, 0, 0.02])

    def touches(t, r, A, v, w, p, out):
        out[0] = r[0, 2] - ellipsoid_contact(A[0], squares)[1]

    def rolls(t, r, A, v, w, p, out):
        out[:] = (v[0] + np.cross(w[0], ellipsoid_contact(A[0], squares)[0]))[:2]

    model = ix.Model("rattleback", gravity=(0, 0, -G))
    velocity = -np.cross(spin, (0, 0, -0.02))
    stone = model.add(ix.RigidBody("stone", mass, inertia, position=start, velocity=velocity, angular_velocity=spin))
    model.add(ix.UserConstraint("touches", stone, touches, rows=1, jacobian="differences"))
    model.add(ix.UserConstraint("rolls", stone, rolls, rows=2, level=1, jacobian="differences"))
    result = ix.simulate(model, (0.0, 0.5), method, rtol=1e-6)

    def skew(a):
        return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    def rates(t, y):
        A, w = y[3:12].reshape(3, 3), y[12:]
        turned, h = skew(w) @ A, 1e-6
        arm = ellipsoid_contact(A, squares)[0]
        moved = ellipsoid_contact(A + h * turned, squares)[0] - ellipsoid_contact(A - h * turned, squares)[0]
        J = A @ inertia @ A.T
        force = -mass * np.cross(w, moved / (2 * h)) + mass * np.array([0, 0, G])  # without the angular acceleration
        beta = np.linalg.solve(J - mass * skew(arm) @ skew(arm), np.cross(arm, force) - np.cross(w, J @ w))
        return np.concatenate([-np.cross(w, arm), turned.ravel(), beta])

    exact = solution(rates, np.concatenate([start, np.eye(3).ravel(), spin]), 0.5)
    np.testing.assert_allclose(result["stone"].position[-1], exact[:3], atol=limit(method))
    np.testing.assert_allclose(result["stone"].angular_velocity[-1], exact[12:], atol=10 * limit(method))  # of 5
