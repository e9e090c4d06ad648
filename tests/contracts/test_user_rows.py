"""Users' constraints against the exact primitives they rebuild, number by number, at random states."""

from __future__ import annotations

import numpy as np
import pytest
import zoo

import index3 as ix
from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.compile import compile_model

# What differences of values of size 1..10 leave (see the steps in index3.constraints.user_rows): gradients by five
# points 1e-12; second derivatives along the motion by five points 1e-10 times speeds squared; second derivatives by
# four points of the value 1e-8 and third ones 1e-8, times rates and multipliers of size 3, several terms each.
FIRST, ALONG, SECOND = 1e-10, 1e-8, 1e-6


def coincident(t, r, A, v, w, p, out):
    out[:] = r[1] - r[0]


def perpendicular(t, r, A, v, w, p, out):
    out[0] = A[0][:, 0] @ A[1][:, 2] - 0.3


def in_plane(t, r, A, v, w, p, out):
    out[0] = A[0][:, 1] @ (r[1] - r[0]) - 0.2


def distance(t, r, A, v, w, p, out):
    d = r[1] - r[0]
    out[0] = 0.5 * (d @ d / 1.3 - 1.3)


def knife_edge(t, r, A, v, w, p, out):
    out[0] = A[1][:, 1] @ (v[1] - v[0] - np.cross(w[0], r[1] - r[0]))


def coincident_jacobian(t, r, A, v, w, p, G):
    G[:, :3], G[:, 6:9] = -np.eye(3), np.eye(3)


def perpendicular_jacobian(t, r, A, v, w, p, G):
    n = np.cross(A[0][:, 0], A[1][:, 2])
    G[0, 3:6], G[0, 9:] = n, -n


def in_plane_jacobian(t, r, A, v, w, p, G):
    u, d = A[0][:, 1], r[1] - r[0]
    G[0] = np.concatenate([-u, np.cross(u, d), u, np.zeros(3)])


def distance_jacobian(t, r, A, v, w, p, G):
    d = r[1] - r[0]
    G[0, :3], G[0, 6:9] = -d / 1.3, d / 1.3


def knife_edge_jacobian(t, r, A, v, w, p, G):
    u, d = A[1][:, 1], r[1] - r[0]
    G[0] = np.concatenate([-u, -np.cross(d, u), u, np.zeros(3)])


ROWS = {
    "coincident": (coincident, coincident_jacobian, 3, 0),
    "perpendicular": (perpendicular, perpendicular_jacobian, 1, 0),
    "in_plane": (in_plane, in_plane_jacobian, 1, 0),
    "distance": (distance, distance_jacobian, 1, 0),
    "knife_edge": (knife_edge, knife_edge_jacobian, 1, 1),
}
CASES = [
    (kind, pair)
    for kind in ROWS
    for pair in zoo.PAIRS
    if not zoo.WITHOUT_AXES & set(pair) or kind in zoo.POINT_PRIMITIVES
]


def user_model(kind, pair, seed, given):
    """The model of `zoo.primitive_model` with users' constraints in place of the primitives."""
    f, jacobian, rows, level = ROWS[kind]
    exact, model = zoo.primitive_model(kind, pair, seed), zoo.primitive_model(kind, pair, seed)
    ends = {joint.name: (joint.first, joint.second) for joint in model.joints.values()}
    model.joints.clear()
    for name, pair_of_markers in ends.items():
        settings = {"rows": rows, "level": level, "jacobian": jacobian if given else "differences"}
        model.add(ix.UserConstraint(name, pair_of_markers, f, **settings))
    return exact, model


def evaluated(model):
    """A random state of a model with everything derived, and the matrix with the second derivatives of the rows."""
    state = zoo.random_state(compile_model(model), seed=7)
    matrix = zoo.dense_matrix(state, 1.0, 0.0, 1.0, 0.0, 1.0)
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.derivatives) == 0
    return state, matrix


def compare(given, exact, bound, what, size=1.0):
    assert np.abs(given - exact).max(initial=0.0) <= bound * max(size, np.abs(exact).max(initial=0.0)), what


@pytest.mark.parametrize("given", [True, False], ids=["jacobian", "differences"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
def test_rebuilt_primitives(case, given):
    exact_model, model = user_model(*case, CASES.index(case), given)
    (exact, exact_matrix), (user, matrix) = evaluated(exact_model), evaluated(model)
    assert np.array_equal(exact[s.Q], user[s.Q])
    assert np.array_equal(exact[s.LEVEL], user[s.LEVEL])
    for slot, bound in ((s.PHI, 1e-14), (s.PHI_T, FIRST), (s.PHI_Q, FIRST), (s.RATE, FIRST)):
        compare(user[slot], exact[slot], bound, slot)
    square = max(1.0, np.abs(user[s.MARKER_V]).max() ** 2)  # a random state of natural bodies may turn very fast
    compare(user[s.GAMMA], exact[s.GAMMA], ALONG, "gamma", square)
    for slot in (s.PHIV_Q, s.PHIA_Q, s.GAMMA_Q, s.GAMMA_V):
        compare(zoo.blocks(user, slot), zoo.blocks(exact, slot), SECOND, slot, square)
    compare(matrix, exact_matrix, SECOND, "matrix", square)


def path(t):
    return np.array((0.3 * np.sin(2.0 * t), 0.2 * t**2, 0.5 * np.cos(t)))


def turned(t):
    """Axes of a frame that turns about two axes at once."""
    a, b = 0.7 * t, 0.4 * np.sin(t)
    c, s_ = np.cos(a), np.sin(a)
    return np.array([[c, -s_, 0], [s_, c, 0], [0, 0, 1]]) @ np.array(
        [[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]]
    )


def moving_plane(t, r, A, v, w, p, out):
    out[0] = turned(t)[:, 1] @ (r[0] - path(t))


def moving_blade(t, r, A, v, w, p, out):
    out[0] = A[0][:, 0] @ (v[0] + np.cross((0, 0, 1.0 + t), r[0])) + np.sin(t) * r[0, 0]


@pytest.mark.parametrize(("f", "level"), [(moving_plane, 0), (moving_blade, 1)], ids=["positions", "velocities"])
def test_rows_that_depend_on_time(f, level):
    """RATE and gamma are the derivatives of the row along a motion, and their derivatives those by differences."""
    rng = np.random.default_rng(1)
    model = ix.Model("timed")
    body = model.add(zoo.make_body("rigid", "body", rng))
    marker = body.marker(rng.normal(size=3))
    model.add(ix.UserConstraint("row", marker, f, rows=1, level=level, jacobian="differences"))
    state = zoo.random_state(compile_model(model), seed=2)
    system, t, q, v = state.system, float(state[s.TIME][0]), state[s.Q].copy(), zoo.tangent_rates(state)
    full = (evaluate.forces, evaluate.jacobian, evaluate.levels)
    assert state.run(*full, evaluate.derivatives) == 0
    row = int(np.flatnonzero(np.array(system.row_names) == "row.out[0]")[0])
    phi_q = zoo.blocks(state, s.PHI_Q)
    exact = {slot: zoo.blocks(state, slot) for slot in (s.PHIV_Q, s.GAMMA_Q, s.GAMMA_V)}
    rate, gamma = state[s.RATE][row], state[s.GAMMA][row]
    bend = np.zeros(system.n)
    bend[3:7] = -(v[3:7] @ v[3:7]) * q[3:7]
    h, values = 1e-4, []
    for k in (-1, 0, 1):
        state.move(t + k * h, zoo.step(system, q, v, k * h), v + k * h * bend)
        assert state.run(evaluate.forces) == 0
        values.append(state[s.PHI][row])
    slope = (values[2] - values[0]) / (2 * h)  # truncation h^2 = 1e-8
    if level == 0:
        assert rate == pytest.approx(slope, abs=1e-6)
        bending = (values[0] - 2 * values[1] + values[2]) / h**2  # rounding 1e-16 / h^2 = 1e-8
        assert (phi_q @ bend)[row] - gamma == pytest.approx(bending, abs=1e-5)
    else:
        assert (phi_q @ bend)[row] - gamma == pytest.approx(slope, abs=1e-6)
    state.move(t, q, v)
    for d in zoo.tangents(system, q):  # of gamma, good to 1e-9, with step 1e-3: truncation and rounding 1e-6
        for slot, of, by in ((s.GAMMA_Q, s.GAMMA, "q"), (s.GAMMA_V, s.GAMMA, "v"), (s.PHIV_Q, s.RATE, "q")):
            seen = zoo.difference(state, of, full, by, d, h=1e-3)[row]
            assert (exact[slot] @ d)[row] == pytest.approx(seen, rel=5e-6, abs=5e-5)
