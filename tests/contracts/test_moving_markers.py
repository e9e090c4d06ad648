"""Rows and forces on markers of ground that move: derivatives by time and by the state, against differences."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
import zoo

import index3 as ix
from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.compile import compile_model

FULL = (evaluate.forces, evaluate.jacobian, evaluate.levels)
PATH = (
    lambda t: (0.3 * sin(2 * t), 0.2 * t * t, 0.5 * cos(t)),
    lambda t: (0.6 * cos(2 * t), 0.4 * t, -0.5 * sin(t)),
    lambda t: (-1.2 * sin(2 * t), 0.4, -0.5 * cos(t)),
)
# a rotation vector that changes its direction; at t = 0.3 the formulas hold, the series near zero in the test below
TURN = (
    lambda t: (t + 1.0, 0.5 * sin(t), -0.3 * t * t),
    lambda t: (1.0, 0.5 * cos(t), -0.6 * t),
    lambda t: (0.0, -0.5 * sin(t), -0.6),
)
ANGLE = (lambda t: 2.0 * t + 0.1 * sin(t), lambda t: 2.0 + 0.1 * cos(t), lambda t: -0.1 * sin(t))
MOTIONS = {
    "path": {"path": PATH},
    "vector": {"position": (0.4, -0.2, 0.1), "rotation": TURN},
    "both": {"path": PATH, "rotation": ANGLE, "axis": (1.0, 2.0, -0.5)},
}
# rows that planar bodies can have at random places: points of different heights cannot coincide, wheels must stand
FLAT = ("perpendicular", "in_plane", "distance", "angle", "knife_edge")
CASES = [
    (kind, other, first, motion)
    for kind in zoo.PRIMITIVES
    for other in ("rigid", "planar", "point")
    for first in (True, False)
    for motion in MOTIONS
    if other != "point" or (kind in zoo.POINT_PRIMITIVES and (first or kind != "in_plane"))
    if other != "planar" or kind in FLAT
    if other == "rigid" or motion == "both"
]


def make_state(kind, other, first, motion):
    """A body of a kind tied by a primitive to a moving marker, which is the first or the second one."""
    rng = np.random.default_rng(5)
    model = ix.Model("moving")
    body = model.add(zoo.make_body(other, "body", rng))
    ends = [zoo.make_marker(body, rng), zoo.make_marker(body, rng)]
    moving = model.ground.moving_marker(**MOTIONS[motion], z=rng.normal(size=3), x=rng.normal(size=3), name="mover")
    for k, end in enumerate(ends):
        pair = (moving, end) if first else (end, moving)
        measures = zoo.SCREW if kind in ("coupler", "curve_coupler") else ()
        model.add(zoo.LooseJoint(f"joint{k}", *pair, [zoo.PRIMITIVES[kind]], measures))
    return zoo.random_state(compile_model(model), seed=6)


def check_rows(state, rows):
    """RATE and gamma of some rows along a motion that keeps |p| = 1, and their derivatives by q and v."""
    system, t, q, v = state.system, float(state[s.TIME][0]), state[s.Q].copy(), zoo.tangent_rates(state)
    assert state.run(*FULL, evaluate.derivatives) == 0
    phi_q, rate, gamma = zoo.blocks(state, s.PHI_Q), state[s.RATE].copy(), state[s.GAMMA].copy()
    assert np.allclose((phi_q @ v + state[s.PHI_T])[rows], rate[rows], atol=1e-12)  # rounding of a few terms
    exact = {slot: zoo.blocks(state, slot) for slot in (s.PHIV_Q, s.GAMMA_Q, s.GAMMA_V)}
    bend = np.zeros(system.n)
    for body, start in zip(system.bodies, system.starts, strict=False):
        if body.kind == "rigid":
            p = slice(start + 3, start + 7)
            bend[p] = -(v[p] @ v[p]) * q[p]
    h, values = 1e-4, []
    for k in (-1, 0, 1):
        state.move(t + k * h, zoo.step(system, q, v, k * h), v + k * h * bend)
        assert state.run(evaluate.forces) == 0
        values.append(state[s.PHI].copy())
    slope, second = (values[2] - values[0]) / (2 * h), (values[0] - 2 * values[1] + values[2]) / h**2
    position = (system.level == 0) & rows
    total = phi_q @ bend - gamma
    # as in test_derivatives: truncation h^2 = 1e-8, rounding 1e-16 / h^2 = 1e-8, of derivatives up to 100 times larger
    size = max(1.0, np.abs(second[position]).max(initial=0.0), np.abs(slope).max())
    assert np.abs(rate - slope)[position].max(initial=0.0) < 3e-6 * size
    assert np.abs(total - second)[position].max(initial=0.0) < 3e-6 * size
    assert np.abs(total - slope)[(system.level == 1) & rows].max(initial=0.0) < 3e-6 * size
    state.move(t, q, v)
    for d in zoo.tangents(system, q):  # as in test_derivatives
        for slot, of, by in ((s.GAMMA_Q, s.GAMMA, "q"), (s.GAMMA_V, s.GAMMA, "v"), (s.PHIV_Q, s.RATE, "q")):
            seen = zoo.difference(state, of, FULL, by, d)[rows]
            assert np.abs((exact[slot] @ d)[rows] - seen).max() <= 1e-6 * max(1.0, np.abs(seen).max()), slot


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{'ij'[not case[2]]}-{case[3]}")
def test_rows(case):
    state = make_state(*case)
    check_rows(state, np.array(["joint" in name for name in state.system.row_names]))


def test_users_rows_on_a_moving_marker():
    """A user's row knows nothing of it: it sees the marker where it is."""
    rng = np.random.default_rng(8)
    model = ix.Model("moving")
    body = model.add(zoo.make_body("rigid", "body", rng))
    ends = [model.ground.moving_marker(**MOTIONS["both"]), zoo.make_marker(body, rng)]

    def plane(t, r, A, v, w, p, out):
        out[0] = A[0][:, 2] @ (r[1] - r[0])

    model.add(ix.UserConstraint("user", ends, plane, rows=1, jacobian="differences"))
    model.add(ix.PointInPlane("exact", *ends))
    state = zoo.random_state(compile_model(model), seed=6)
    zoo.tangent_rates(state)
    assert state.run(*FULL) == 0
    first, second = (state.system.row_names.index(name) for name in ("user.out[0]", "exact.z1.d"))
    for slot, bound in ((s.PHI, 1e-14), (s.PHI_T, 1e-11), (s.RATE, 1e-11), (s.GAMMA, 1e-8)):  # see test_user_rows
        assert state[slot][first] == pytest.approx(state[slot][second], abs=bound)


@pytest.mark.parametrize("t", [0.0, 1e-3, 0.12, 0.2, 1.0, 4.0])
def test_twist_and_acceleration_of_a_turning_marker(t):
    """Near a zero rotation vector too, where series take over from formulas."""
    turn = (
        lambda t: (t, 0.3 * t * t, -0.2 * sin(t)),
        lambda t: (1.0, 0.6 * t, -0.2 * cos(t)),
        lambda t: (0.0, 0.6, 0.2 * sin(t)),
    )
    marker = ix.Model("m").ground.moving_marker(rotation=turn, z=(1, 1, 0))
    h = 1e-3
    A = marker.motion(np.array([t + k * h for k in (-2, -1, 1, 2)]))[3]
    w_near = marker.motion(np.array([t + k * h for k in (-2, -1, 1, 2)]))[4]
    _, _, _, at, w, w_dot = (x[0] for x in marker.motion(np.array([t])))
    weights = np.array((1.0, -8.0, 8.0, -1.0)) / (12 * h)
    spin = np.tensordot(weights, A, 1) @ at.T
    # five points: truncation h^4 / 30, rounding 1e-16 / h
    assert np.array((spin[2, 1], spin[0, 2], spin[1, 0])) == pytest.approx(w, abs=1e-11)
    assert weights @ w_near == pytest.approx(w_dot, abs=1e-11)


def test_power_balances_energy():
    """The change of energy along a free motion is the power, with springs, dampers and loads on moving markers."""
    rng = np.random.default_rng(4)
    model = ix.Model("moving")
    body = model.add(zoo.make_body("rigid", "body", rng))
    moving = model.ground.moving_marker(**MOTIONS["both"], name="mover")
    model.add(ix.SpringDamper("spring", moving, zoo.make_marker(body, rng), stiffness=30.0, damping=2.0, length=0.3))
    model.add(ix.Force("push", zoo.make_marker(body, rng), (1.0, -2.0, 0.5), reaction=moving))
    state = zoo.random_state(compile_model(model), seed=9)
    assert not state.system.conservative
    system, t, v = state.system, float(state[s.TIME][0]), zoo.tangent_rates(state)
    state[s.LAM][:] = 0.0
    n, q = system.n, state[s.Q].copy()
    mass = zoo.dense_matrix(state, 1, 0, 0, 0, 0)
    right = np.concatenate([-state[s.G], -np.array([v[3:7] @ v[3:7]])])
    a = np.linalg.solve(mass, right)
    state[s.LAM][:] = a[n:]
    assert state.run(evaluate.forces, evaluate.energy) == 0
    power, h, totals = state[s.ENERGY][s.POWER], 1e-5, []
    for k in (1, -1):
        state.move(t + k * h, q + k * h * v + 0.5 * h * h * a[:n], v + k * h * a[:n])
        assert state.run(evaluate.forces, evaluate.energy) == 0
        totals.append(state[s.ENERGY][[s.KINETIC, s.POTENTIAL]].sum())
    assert (totals[0] - totals[1]) / (2 * h) == pytest.approx(power, rel=1e-7)  # truncation h^2, rounding 1e-15 / h
    assert abs(power) > 0.1
    last = state[s.ENERGY][s.POWER]
    assert state.run(evaluate.power) == 0
    assert state[s.ENERGY][s.POWER] == last
