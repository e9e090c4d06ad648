"""The Rosenbrock-Nystrom formula alone, on equations written out by hand: why its steps shrink with the stiffness.

The stiff double pendulum in its two angles has a flat set of slow motions, theta2 - theta1 = const. In coordinates in
which this set is curved the same equations cost the same formula far more steps: a property of the method.
"""

from __future__ import annotations

import numpy as np
import pytest

from index3.methods.tableaus import ROSENBROCK4

TABLE, ROOT = ROSENBROCK4.transformed(), ROSENBROCK4.root


def pendulum(c2, bend):
    """Accelerations in (theta1, theta2 - bend cos theta1); `double_pendulum` of the library in minimal coordinates."""

    def f(z, z_t):
        a, b = z[0], z[1] + bend * np.cos(z[0])
        a_t, b_t = z_t[0], z_t[1] - bend * np.sin(z[0]) * z_t[0]
        m, g, spring = 0.9 * np.cos(a - b), 0.9 * np.sin(a - b), -3e5 * (b - a) - c2 * (b_t - a_t)
        q1 = -g * b_t**2 - 3.6 * 9.81 * np.cos(a) - 400.0 * (a - 1.5 * np.pi) - 15.0 * a_t - spring
        q2 = g * a_t**2 - 0.45 * 9.81 * np.cos(b) + spring
        a_tt, b_tt = (0.9 * q1 - m * q2) / (5.2 * 0.9 - m * m), (5.2 * q2 - m * q1) / (5.2 * 0.9 - m * m)
        return np.array([a_tt, b_tt + bend * (np.cos(a) * a_t**2 + np.sin(a) * a_tt)])

    return f


def derivatives(f, y, v):
    """df/dy and df/dv by complex steps: exact."""
    tiny = 1e-30j * np.eye(2)
    by_y = [f(y + d, v + 0j).imag / 1e-30 for d in tiny]
    by_v = [f(y + 0j, v + d).imag / 1e-30 for d in tiny]
    return np.array(by_y).T, np.array(by_v).T


def step(f, y, v, h, J1, J2, filtered=True):
    """The recursion: y, v after h, and the difference to the embedded formula."""
    w, c, d, t = (np.array(TABLE[name]) for name in "wcdt")
    S, u, value = np.eye(2) - h * ROOT * J2 - (h * ROOT) ** 2 * J1, np.zeros((4, 2)), f(y, v)
    for i in range(4):
        if i in (1, 2):
            value = f(y + h * TABLE["a_i"][i] * v + h * t[i] @ u, v + w[i] @ u)
        right = h * (value + h * TABLE["e_i"][i] * J1 @ v) + c[i] @ u + h * h * J1 @ (d[i] @ u)
        u[i] = np.linalg.solve(S, ROOT * right)
    error_y, error_v = h * TABLE["ep"] @ u, TABLE["ev"] @ u
    if filtered:
        error_v = np.linalg.solve(S, error_v + h * ROOT * J1 @ error_y)
        error_y = error_y + h * ROOT * error_v
    return y + h * v + h * TABLE["p"] @ u, v + TABLE["s"] @ u, error_y, error_v


def count_steps(c2, bend, rtol=1e-4):
    """Accepted steps in 2 s with the package's weights and controller."""
    f, t, h, steps, grow = pendulum(c2, bend), 0.0, 1e-6, 0, 5.0
    y, v = np.array([2 * np.pi, 23 * np.pi / 12 - bend]), np.zeros(2)
    largest = np.abs(np.concatenate([y, v]))
    J = derivatives(f, y, v)
    while t < 2.0:
        h = min(h, 2.0 - t)
        y1, v1, *errors = step(f, y, v, h, *J)
        error = np.sqrt(np.mean((np.concatenate(errors) / (0.01 * rtol + rtol * largest)) ** 2))
        factor = 0.9 * max(error, 1e-10) ** -0.25
        if error > 1.0:
            h, grow = h * max(0.2, min(0.9, factor)), 1.0
            continue
        t, y, v, steps = (2.0 if h == 2.0 - t else t + h), y1, v1, steps + 1
        J, largest = derivatives(f, y, v), np.maximum(largest, np.abs(np.concatenate([y, v])))
        h, grow = h * max(0.2, min(grow, factor)), 5.0
    return steps


def test_flat_slow_set_costs_nothing():
    soft, stiff = (count_steps(c2, bend=0.0) for c2 in (5e4, 5e8))
    print("steps:", soft, stiff)
    assert stiff <= soft < 100  # 75 and 59; the library's tangent plane takes 102 and 1544


def test_curved_slow_set_costs_the_fourth_root_of_the_stiffness():
    soft, stiff = (count_steps(c2, bend=0.1) for c2 in (5e6, 5e8))
    print("steps:", soft, stiff)
    assert stiff / soft == pytest.approx(100**0.25, rel=0.2)  # 177 and 491: 2.8 against 3.2
