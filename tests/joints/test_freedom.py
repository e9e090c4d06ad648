"""Each joint removes exactly the rows it says and leaves the motions it says, at random assembled configurations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

import index3 as ix
from index3.compiled import slots as s
from index3.methods import projection_kernels
from index3.methods.projection import Projector
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

pytestmark = pytest.mark.jit_off
# Rows have entries of size 1 and are closed to 1e-12: motions that they allow give little more, others 0.01 and more.
ROUNDING, PRESENT = 1e-10, 1e-3
AT, AXIS = (0.3, -0.2, 0.5), (1.0, 2.0, -1.0)
TURNS = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
LOOP = np.column_stack([3.0 * np.cos(TURNS), 2.0 * np.sin(TURNS), 0.5 * np.sin(2.0 * TURNS)])
EVERY = [tuple(row) for row in np.eye(3)]
NONE = (0.0, 0.0, 0.0)


def across(*directions):
    """Two (or one) directions perpendicular to the given ones."""
    return list(np.linalg.svd(np.atleast_2d(directions))[2][len(directions) :])


def about(point, directions):
    """Twists (velocity of the second marker, angular velocity) of rotations about a point at `-point` from it."""
    return [(np.cross(w, point), w) for w in directions]


def free_turning(directions):
    return [(NONE, w) for w in directions]


def sliding(directions):
    return [(v, NONE) for v in directions]


def tangent(d, A1):
    """Direction of the loop at the point nearest to the second marker, found without the kernel."""
    knots = np.vstack([LOOP, LOOP[:1]])
    parameter = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    curve = CubicSpline(parameter, knots, bc_type="periodic")
    p, grid = A1.T @ d, np.linspace(0.0, parameter[-1], 400)
    start = grid[np.argmin(np.linalg.norm(curve(grid) - p, axis=1))]
    best = minimize_scalar(
        lambda x: np.linalg.norm(curve(x) - p),
        bounds=(start - 0.1, start + 0.1),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return A1 @ curve(best.x, 1)


def lowest(radius, tread, k, n):
    """From the centre of a wheel to its lowest point."""
    down = np.cross(np.cross(k, n), n)
    length = np.linalg.norm(down)
    return (radius * down / length if radius else 0.0) - tread * k


def disc(d, A1, A2):
    return about(-lowest(0.4, 0.1, A1[:, 2], A2[:, 2]), EVERY)


FORM = {"at": AT, "axis": AXIS}
WHEEL = {"at": AT, "axis": (0, 1, 0.3), "normal": (0, 0, 1)}
# joint: what makes it, and the twists of the second body that it leaves (d = second point minus first; marker axes)
JOINTS = {
    "Inline": (FORM, lambda d, A1, A2: sliding([A1[:, 2]]) + free_turning(EVERY)),
    "InPlane": (FORM, lambda d, A1, A2: sliding(A1[:, :2].T) + free_turning(EVERY)),
    "Orientation": ({}, lambda d, A1, A2: sliding(EVERY)),
    "ParallelAxes": ({"axis": AXIS}, lambda d, A1, A2: sliding(EVERY) + free_turning([A1[:, 2]])),
    "Screw": (FORM | {"pitch": 0.5}, lambda d, A1, A2: [(0.5 / (2.0 * np.pi) * A1[:, 2], A1[:, 2])]),
    "ConstantVelocity": (
        {"at": AT, "axes": ((1, 0, 0), (2, 1, 0))},
        lambda d, A1, A2: free_turning(across(A1[:, 2] + A2[:, 2])),
    ),
    "ShaftCoupling": (
        {"at": AT, "axes": ((1, 0, 0), (2, 1, 0))},
        lambda d, A1, A2: sliding(EVERY) + free_turning(across(A1[:, 2] + A2[:, 2])),
    ),
    "RelativeCoordinate": (FORM, lambda d, A1, A2: sliding(A1[:, :2].T) + free_turning(EVERY)),
    "RelativeAngularVelocity": (
        {"axis": AXIS},
        lambda d, A1, A2: sliding(EVERY) + free_turning(A1[:, :2].T),
    ),
    "RollingDisc": (WHEEL | {"radius": 0.4, "tread": 0.1}, disc),
    "RollingBall": (
        {"at": AT, "normal": (0, 0.2, 1), "radius": 0.4},
        lambda d, A1, A2: about(0.4 * A1[:, 2], EVERY),
    ),
    "RollingCylinder": (
        WHEEL | {"axis": (0, 1, 0), "radius": 0.4},
        lambda d, A1, A2: about(0.4 * A1[:, 2], [A2[:, 2]]),
    ),
    "PointOnCurve": (
        {"points": LOOP, "closed": True, "at": LOOP[3]},
        lambda d, A1, A2: sliding([tangent(d, A1)]) + free_turning(EVERY),
    ),
}


def closed_state(model, seed):
    """A state of a model away from where it was built, on its position rows, with the first body where it was."""
    rng = np.random.default_rng(seed)
    system = compile_model(model)
    state = State(system)
    projector = Projector(state)
    q = system.q0.copy()
    q[7:10] += 0.1 * rng.normal(size=3)
    p = Rotation.from_quat(np.roll(q[10:14], -1)) * Rotation.from_rotvec(0.4 * rng.normal(size=3))  # scalar last
    q[10:14] = np.roll(p.as_quat(), 1)
    state.move(0.0, q, system.v0)
    assert projection_kernels.assemble_positions(state.handle, projector.handle) == 0
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    return state


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", JOINTS)
def test_rows_and_the_motions_left(name, seed):
    rng = np.random.default_rng(seed)
    model = ix.Model(name)
    for body in ("a", "b"):
        turn = Rotation.from_rotvec(rng.normal(size=3))
        model.add(ix.RigidBody(body, 1.0, (1, 1, 1), position=0.3 * rng.normal(size=3), orientation=turn))
    form, motions = JOINTS[name]
    joint = model.add(getattr(ix, name)("j", model["a"], model["b"], **form))
    state = closed_state(model, seed)
    (group,) = state.system.groups
    rows = state[s.ROW_G][group.gradient : group.gradient + 12 * group.rows].reshape(-1, 12)
    i, j = group.marker_numbers
    assert group.rows == len(joint.row_labels)
    assert np.linalg.matrix_rank(rows[:, 6:], tol=PRESENT) == group.rows
    A1, A2 = (state[s.MARKER_A][k].reshape(3, 3) for k in (i, j))
    d = state[s.MARKER_R][j] - state[s.MARKER_R][i]
    twists = np.array([np.concatenate(twist) for twist in motions(d, A1, A2)])
    assert len(twists) == 6 - group.rows
    assert np.linalg.matrix_rank(twists, tol=PRESENT) == len(twists)
    tolerance = 1e-7 if name == "PointOnCurve" else ROUNDING  # the tangent of the test is from a search to 1e-10
    np.testing.assert_allclose(rows[:, 6:] @ twists.T, 0.0, atol=tolerance)
    # both bodies together move freely
    common = np.zeros((6, 12))
    common[:3, :3] = common[:3, 6:9] = np.eye(3)
    for k in range(3):
        common[3 + k, 3 + k] = common[3 + k, 9 + k] = 1.0
        common[3 + k, 6:9] = np.cross(np.eye(3)[k], d)
    np.testing.assert_allclose(rows @ common.T, 0.0, atol=ROUNDING)
    phi_q = np.zeros((state.system.m, state.system.n))
    np.add.at(phi_q, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), state[s.PHI_Q])
    assert np.linalg.matrix_rank(phi_q, tol=PRESENT) == 2 + group.rows
