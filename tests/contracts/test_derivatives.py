"""Every derivative of every element against central differences, along directions that keep the bodies' own rows."""

from __future__ import annotations

import force_zoo
import numpy as np
import pytest
import zoo

from index3.compiled import slots as s
from index3.registry import ELEMENTS, PRIMITIVES
from index3.system import evaluate
from index3.system.compile import compile_model

# Central differences with step 1e-6 of values of size 1..100: rounding 1e-10 / 1e-6, truncation 1e-12.
RELATIVE = 1e-6

CASES = [
    (kind, pair)
    for kind in PRIMITIVES
    for pair in zoo.PAIRS
    if not zoo.WITHOUT_AXES & set(pair) or kind in zoo.POINT_PRIMITIVES
]


def test_every_primitive_is_in_the_zoo():
    assert set(zoo.PRIMITIVES) == set(PRIMITIVES)


def test_every_kind_of_body_is_in_the_zoo():
    rng = np.random.default_rng(1)
    bodies = [cls for cls in ELEMENTS.values() if cls.element == "body"]
    assert {zoo.make_body(kind, "a", rng).kernels for kind in zoo.BODY_KINDS} == {cls.kernels for cls in bodies}


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
def state(request):
    model = zoo.primitive_model(*request.param, seed=CASES.index(request.param))
    return zoo.random_state(compile_model(model), seed=7)


def compare(analytic: np.ndarray, numeric: np.ndarray, what: str, relative: float = RELATIVE) -> None:
    scale = max(1.0, np.abs(numeric).max(initial=0.0))
    assert np.abs(analytic - numeric).max(initial=0.0) <= relative * scale, what


def test_rows(state):
    """S2-13, S4-03, S4-04: Phi_q, (Phi_q v)_q, (Phi_q a)_q and the derivatives of gamma."""
    system = state.system
    full = (evaluate.forces, evaluate.jacobian, evaluate.levels)
    assert state.run(*full, evaluate.derivatives) == 0
    phi_q = zoo.blocks(state, s.PHI_Q)
    exact = {slot: zoo.blocks(state, slot) for slot in (s.PHIV_Q, s.PHIA_Q, s.GAMMA_Q, s.GAMMA_V)}
    v, a = state[s.V].copy(), state[s.A].copy()
    assert np.allclose(state[s.RATE], phi_q @ v + state[s.PHI_T], atol=1e-12)  # rounding of sums of a few terms
    q, position = state[s.Q].copy(), system.level == 0
    for d in zoo.tangents(system, q):
        by_q = zoo.difference(state, s.PHI, (evaluate.forces,), "q", d)
        by_v = zoo.difference(state, s.PHI, (evaluate.forces,), "v", d)
        compare((phi_q @ d)[position], by_q[position], "Phi_q")
        compare((phi_q @ d)[~position], by_v[~position], "Psi_v")
        compare((exact[s.PHIV_Q] @ d)[~position], by_q[~position], "Psi_q")
        compare(exact[s.GAMMA_Q] @ d, zoo.difference(state, s.GAMMA, full, "q", d), "gamma_q")
        compare(exact[s.GAMMA_V] @ d, zoo.difference(state, s.GAMMA, full, "v", d), "gamma_v")
        change = zoo.difference(state, s.PHI_Q, full, "q", d)
        dense = np.zeros((system.m, system.n))
        np.add.at(dense, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), change)
        compare(exact[s.PHIV_Q] @ d, dense @ v, "(Phi_q v)_q")
        compare(exact[s.PHIA_Q] @ d, dense @ a, "(Phi_q a)_q")


def test_gamma_is_the_second_derivative(state):
    """S2-13: d2 Phi/dt2 = Phi_q a - gamma along a motion with a velocity that keeps |p| = 1."""
    system = state.system
    q, v = state[s.Q].copy(), zoo.tangent_rates(state)
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
    gamma, phi_q = state[s.GAMMA].copy(), zoo.blocks(state, s.PHI_Q)
    bend = zoo.bend(system, q, v)
    h, values = 1e-4, []
    for k in (-2, -1, 0, 1, 2):
        state[s.Q][:] = zoo.step(system, q, v, k * h)
        assert state.run(evaluate.forces) == 0
        values.append(state[s.PHI].copy())
    position = system.level == 0
    second = np.tensordot((-1, 16, -30, 16, -1), values, 1) / (12 * h**2)
    # five points with h = 1e-4: truncation h^4 of sixth derivatives, rounding 5e-16/h^2 = 5e-8, values up to 100
    error = np.abs(second - (phi_q @ bend - gamma))[position]
    assert error.max(initial=0.0) <= 3e-6 * max(1.0, np.abs(second).max())


def test_matrix(state):
    """(Phi_q^T lam)_q - Q_q, -Q_v, (M a)_q and M, in the bordered matrix."""
    check_matrix(state)


@pytest.mark.parametrize("case", force_zoo.CASES, ids=force_zoo.case_name)
def test_forces(case):
    """S2-09, S2-10, S4-04, S4-05, S4-06: -Q_q and -Q_v of every kind of force between every pair of bodies."""
    maker, pair = case
    check_matrix(force_zoo.force_state(maker, pair, seed=force_zoo.CASES.index(case)), maker.tolerance)


@pytest.mark.parametrize("kind", zoo.BODY_KINDS)
def test_body_alone(kind):
    """Inertia forces and gravity of every kind of body, two of each."""
    check_matrix(zoo.random_state(compile_model(zoo.body_model(kind, seed=3)), seed=7))


def check_matrix(state, relative=RELATIVE):
    system, n = state.system, state.system.n
    stiffness = zoo.dense_matrix(state, 0, 0, 1, 0, 0)[:n, :n]
    damping = zoo.dense_matrix(state, 0, 0, 0, 1, 0)[:n, :n]
    mass = zoo.dense_matrix(state, 1, 0, 0, 0, 0)
    change = zoo.dense_matrix(state, 0, 1, 0, 0, 0)[:n, :n]
    assert np.allclose(mass[n:, :n], zoo.blocks(state, s.PHI_Q))
    assert np.allclose(mass[:n, n:], zoo.blocks(state, s.PHI_Q).T)
    assert state.run(evaluate.mass) == 0
    assert np.allclose(mass[:n, :n] @ state[s.A], state[s.MA], rtol=1e-12, atol=1e-12)  # rounding
    if system.reads_reactions:
        by_lam = zoo.dense_matrix(state, 0, 0, 0, 0, 0, 1)[:n, n:]
        for r, d in enumerate(np.eye(system.m)):
            compare(by_lam[:, r], zoo.difference(state, s.G, (evaluate.forces,), "lam", d), "G_lam", relative)
    q = state[s.Q].copy()
    if system.reads_accelerations:
        by_a = zoo.dense_matrix(state, 1, 0, 0, 0, 0, 1)[:n, :n] - mass[:n, :n]
        assert np.abs(by_a).max() > 0.1
        for d in zoo.tangents(system, q):
            seen = zoo.difference(state, s.G, (evaluate.forces,), "a", d)
            compare((1.0 - state[s.SHARE][0]) * by_a @ d, seen, "G_a", relative)
    for d in zoo.tangents(system, q):
        compare(stiffness @ d, zoo.difference(state, s.G, (evaluate.forces,), "q", d), "K", relative)
        compare(damping @ d, zoo.difference(state, s.G, (evaluate.forces,), "v", d), "D", relative)
        compare(change @ d, zoo.difference(state, s.MA, (evaluate.mass,), "q_mass", d), "(M a)_q")
