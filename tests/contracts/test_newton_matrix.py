"""The matrix of Newton's iteration against differences of the residual, with every class of unknowns at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
import zoo

import index3 as ix
from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State


def controlled(t, r, A, v, w, p, x, rate, z, out, res):
    """An implicit first-order state, two variables in a loop, and a force that follows from them."""
    res[0] = 2.0 * rate[0] + rate[0] * z[0] + x[0] - v[0, 2]
    res[1] = z[0] - math.cos(z[1]) - 0.1 * r[0, 0]
    res[2] = z[1] - 0.5 * math.sin(z[0])
    out[0, 0], out[0, 2] = 3.0 * z[0], -4.0 * x[0]


def model_with_everything():
    """Two links, a motion, a spring, friction by the reaction, added mass, states and variables of the user."""
    model = ix.Model("everything")
    first = model.add(ix.RigidBody.rod("first", (0, 0, 0), (1, 0, 0.2), mass=1.0, radius=0.1))
    second = model.add(ix.RigidBody.rod("second", (1, 0, 0.2), (1.5, 0.8, 0), mass=1.0, radius=0.1))
    pin = model.add(ix.Revolute("pin", model.ground, first, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Spherical("ball", first, second, at=(1, 0, 0.2)))
    model.add(ix.Motion("drive", pin, lambda t: math.sin(t), lambda t: math.cos(t), lambda t: -math.sin(t)))
    model.add(
        ix.SpringDamper("strut", model.ground, second, points=((0, 2, 0), (1.5, 0.8, 0)), stiffness=50.0, damping=2.0)
    )
    model.add(ix.JointFriction("rub", pin, 0.2, radius=0.05, stick_velocity=0.1))
    model.add(ix.AddedMass("water", second.marker((0.1, 0, 0.2)), (0.5, 1.0, 2.0), 0.1))
    block = model.add(ix.States("x", (0.3,)))
    model.add(ix.UserEquations("control", second.marker((0, 0, 0)), controlled, states=block, variables=(0.5, 0.5)))
    return model


@pytest.fixture
def state():
    rng = np.random.default_rng(5)
    state = State(compile_model(model_with_everything()))
    n, m = state.system.n, state.system.m
    state.move(0.3, state.system.q0, state.system.v0 + 0.5 * rng.normal(size=n))
    state[s.A][:], state[s.LAM][:] = rng.normal(size=n), 5.0 + rng.normal(size=m)
    return state


def test_newton_matrix_is_the_derivative_of_the_residual(state):
    """S2-21, S3-15: d(e1, e2)/d(a, lam) of (11) by central differences, 1e-6 of its largest entry.

    Variables and forces of the user are solved for inside the evaluation, so what the paper carries as unknowns V and F
    is in these blocks; rates of states are accelerations of their integrals. Directions keep |p| = 1.
    """
    alpha, h = -0.3, 0.01
    beta, gamma = (1 - alpha) ** 2 / 4, 0.5 - alpha
    system = state.system
    n, m = system.n, system.m
    q0, v0, a0, lam0 = (state[slot].copy() for slot in (s.Q, s.V, s.A, s.LAM))
    back = q0 - 0.01 * v0  # q_n of the mass configuration (1+alpha) q - alpha q_n
    state[s.A_PAST][:], state[s.SHARE][0] = 1.1 * a0, alpha / (1 + alpha)  # as the method has it

    def residual(da, dlam):
        state[s.Q][:], state[s.V][:] = q0 + beta * h * h * da, v0 + gamma * h * da
        state[s.A][:], state[s.LAM][:] = a0 + da, lam0 + dlam
        state[s.Q_MASS][:] = (1 + alpha) * state[s.Q] - alpha * back
        assert state.run(evaluate.forces, evaluate.mass) == 0
        e1 = state[s.MA] / (1 + alpha) + state[s.G]
        return np.concatenate([e1, state[s.PHI] / (beta * h * h)])

    residual(np.zeros(n), np.zeros(m))
    coefficients = (1 / (1 + alpha), beta * h * h, beta * h * h, gamma * h, beta * h / gamma, 1.0)
    matrix = zoo.dense_matrix(state, *coefficients)
    scale = np.abs(matrix).max()
    for d in zoo.tangents(system, q0):
        step = 1e-2  # positions then move by 4e-7, velocities by 8e-5; accelerations enter linearly
        seen = (residual(step * d, np.zeros(m)) - residual(-step * d, np.zeros(m))) / (2 * step)
        assert np.abs(matrix[:, :n] @ d - seen).max() < 1e-6 * scale  # rounding 1e-15 / (beta h^2 step) = 2e-9
    for k in range(m):
        e = np.eye(m)[k]
        seen = (residual(np.zeros(n), 1e-4 * e) - residual(np.zeros(n), -1e-4 * e)) / 2e-4
        assert np.abs(matrix[:, n + k] - seen).max() < 1e-6 * scale


def test_rows_of_a_motion_by_time(state):
    """S2-07, S2-13: Phi_t, Phi_qt and Phi_tt of a driven angle, by differences in time."""
    system, t, q = state.system, 0.3, state[s.Q].copy()
    full = (evaluate.forces, evaluate.jacobian, evaluate.levels)
    state.move(t, q, np.zeros(system.n))
    assert state.run(*full) == 0
    by_time, gamma, values, slopes = state[s.PHI_T].copy(), state[s.GAMMA].copy(), [], []
    h = 1e-4
    for k in (-1, 0, 1):
        state.move(t + k * h, q, np.zeros(system.n))
        assert state.run(*full) == 0
        values.append(state[s.PHI].copy())
        slopes.append(zoo.blocks(state, s.PHI_Q))
    # truncation h^2 / 6, rounding 1e-16 / h and 1e-16 / h^2 of values of size 1
    assert np.abs((values[2] - values[0]) / (2 * h) - by_time).max() < 1e-8
    assert np.abs((values[0] - 2 * values[1] + values[2]) / h**2 + gamma).max() < 1e-6  # at rest gamma = -Phi_tt
    assert np.abs(by_time).max() > 0.5
    assert np.abs(gamma).max() > 0.1
    mixed = (slopes[2] - slopes[0]) / (2 * h)
    state.move(t, q, np.ones(system.n))
    assert state.run(*full, evaluate.derivatives) == 0
    quadratic = zoo.blocks(state, s.PHIV_Q) @ np.ones(system.n)
    # gamma = -(Phi_q v)_q v - 2 Phi_qt v - Phi_tt
    expected = -quadratic - 2.0 * mixed @ np.ones(system.n) + gamma
    assert np.abs(state[s.GAMMA] - expected).max() < 1e-6
