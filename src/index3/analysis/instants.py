"""What several analyses ask of a compiled model: its size, directions by name, results made of given lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.body import box_of
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.engine.layout import describe
from index3.linear import contract
from index3.linear.reference import null_space
from index3.methods import projection_kernels
from index3.methods.state_space.partition import dense_rows
from index3.model.model import Model
from index3.results.applied import ModelOfRun
from index3.results.arrays import empty_arrays, wrench_names
from index3.results.layout import Layout
from index3.results.result import Result
from index3.system import evaluate
from index3.system.state import State
from index3.system.system import System

SAME = 1e-6
"""A joint coordinate that moves by less than this part of the largest one does not count as moving."""


def in_space(state: State) -> np.ndarray:
    """A mask of the markers that are points in space, on bodies or ground: not those of first-order states."""
    spatial = [body.kind != "states" for body in state.system.bodies]
    return np.array([*spatial, True])[state[s.MARKERS]["body"]]  # -1, ground, is the last


def extent(state: State) -> float:
    """Size of a mechanism: of the box around its markers, an arm on a body, a body that deforms; 1 without any [m]."""
    spatial = in_space(state)
    points = state[s.MARKER_R][spatial]
    if not len(points):
        return 1.0
    arm = np.linalg.norm(state[s.LOCAL_R][spatial & (state[s.MARKERS]["body"] >= 0)], axis=1).max(initial=0.0)
    soft = max((body.extent for body in state.system.bodies if body.deforms), default=0.0)  # its markers may be close
    size = max(box_of(points), float(arm), soft)
    return size if size > 1e-9 else 1.0  # less is rounding of markers at one point


@np.errstate(over="ignore", invalid="ignore")  # what is beyond all bounds is no small movement
def movement(state: State, direction: np.ndarray) -> float:
    """How much a change of the coordinates moves the mechanism: largest turn of a marker [rad], or shift by `extent`.

    Markers that move with time alone count as still; bodies that deform move by their frames as well, since all of
    their markers may be held. The velocities of the state are kept.
    """
    keep, spatial = state[s.V].copy(), in_space(state)
    state[s.V][:] = 0.0
    state.run(evaluate.poses)
    by_time = state[s.MARKER_V][spatial].copy()
    state[s.V][:] = direction
    code = state.run(evaluate.poses)
    twists = np.vstack([state[s.MARKER_V][spatial] - by_time, *frame_twists(state, direction)])
    state[s.V][:] = keep
    state.run(evaluate.poses)
    if code or not len(twists):
        return float(np.abs(direction[: state.system.first_state]).max(initial=0.0))
    shift, turn = (np.linalg.norm(part, axis=1).max() for part in (twists[:, :3], twists[:, 3:]))
    return float(max(shift / extent(state), turn))


def frame_twists(state: State, direction: np.ndarray) -> list[np.ndarray]:
    """Twists (6,) of the frames of all bodies that deform, for these rates of the coordinates."""
    system, twists = state.system, []
    for body, start in zip(system.bodies, system.starts, strict=False):
        if body.deforms:
            q, v = (x[None, start : start + body.size] for x in (state[s.Q], direction))
            motion = body.frame_motion(body.constants(), None, q, v, np.zeros_like(v))
            twists.append(np.concatenate([motion.velocity[0], motion.angular_velocity[0]]))
    return twists


def deflections(system: System, q: np.ndarray, directions: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of each body that deforms the places of its sections (k, 3), and how they move (lines, k, 3) along directions.

    By central differences: places are smooth in the coordinates, and a thousandth of the step is lost to rounding.
    """
    found = {}
    for body, start in zip(system.bodies, system.starts, strict=False):
        sections = body.sections()
        if not sections:
            continue
        own, lines = q[start : start + body.size], directions[:, start : start + body.size]
        step = 1e-6 / np.maximum(np.abs(lines).max(axis=1, initial=0.0), 1e-300)[:, None]
        constants = body.constants()
        ahead, behind = (body.section_places(constants, sections, own + sign * step * lines) for sign in (1.0, -1.0))
        moved = (ahead - behind) / (2.0 * step[:, :, None])
        found[body.name] = body.section_places(constants, sections, own[None])[0], moved
    return found


def free_directions(state: State) -> np.ndarray:
    """Columns (n, dof) that span what the position rows leave free at the point where the Jacobian was evaluated."""
    system = state.system
    moving = dense_rows(state)[system.level == 0][:, : system.first_state]
    basis = null_space(moving) if len(moving) else np.eye(system.first_state)
    return np.vstack([basis, np.zeros((system.n - system.first_state, basis.shape[1]))])


def snapshots(model: Model, system: System, q: np.ndarray, v: np.ndarray) -> Result:
    """A result of given lines q, v (k, n): positions and rates are there, the rest is zero."""
    layout = describe(model, system)
    arrays = empty_arrays(len(q), system.n, system.m, len(wrench_names(layout)), len(system.angle_joints))
    return Result(layout, arrays | {"q": np.asarray(q, float), "v": np.asarray(v, float)})


def one_line(model: Model, equations: Equations, a: np.ndarray, info: dict[str, Any]) -> Result:
    """The state as one line of a result with accelerations `a`; the smallest multipliers where rows are redundant."""
    state, projection = equations.state, equations.projection
    unique = np.ones(state.system.m, bool)
    if projection.factors[contract.INFO][contract.N_ZERO] > 0:
        unique = ~projection.null_rows()
        projection_kernels.shorten(state.handle, projection.handle)
    q, v, lam, angle = (state[slot][None].copy() for slot in (s.Q, s.V, s.LAM, s.ANGLE_REF))
    line = projection.project_block(np.array([equations.t]), q, v, a[None].copy(), lam, angle, project=False)
    result = Result(describe(model, state.system, unique), line, info)
    result.source = ModelOfRun(model)
    return result


def gradients(model: Model, system: System, q: np.ndarray) -> Result:
    """A result with one line per coordinate, which alone has the rate 1: rates in it are gradients of what they rate.

    The velocity of a marker, say, is the derivative of its position by each coordinate in turn.
    """
    return snapshots(model, system, np.tile(q, (system.n, 1)), np.eye(system.n))


def coordinate_rates(result: Result) -> dict[tuple[str, str], np.ndarray]:
    """Rates of all joint coordinates of the joints (not of motions, which drive the same ones), (joint, coordinate)."""
    layout: Layout = result.layout
    return {
        (joint["name"], name): getattr(result[joint["name"]], f"{name}_rate")
        for joint in layout.joints
        if joint["type"] != "Motion"
        for name in joint["coordinates"]
    }


def name_motions(model: Model, system: System, q: np.ndarray, directions: np.ndarray) -> list[str]:
    """Words for independent motions, the columns of `directions` (n, k): joint coordinates first, then bodies."""
    result = snapshots(model, system, np.tile(q, (directions.shape[1], 1)), directions.T)
    bodies = {
        f"{word} of {body.label}": getattr(result[body.name], quantity)
        for body in model.bodies.values()
        for word, quantity in (("the position", "velocity"), ("the orientation", "angular_velocity"))
    }
    rates = coordinate_rates(result)
    most = max((float(np.linalg.norm(x)) for x in (*rates.values(), *bodies.values())), default=0.0)
    chosen, left = distinguish(rates, np.eye(directions.shape[1]), most)
    words = [f"the {name} of {model.joints[joint].label}" for joint, name in chosen]
    return words + distinguish(bodies, left, most)[0]


def distinguish(rates: dict[Any, np.ndarray], left: np.ndarray, most: float) -> tuple[list[Any], np.ndarray]:
    """Keys of `rates` that together tell motions apart, the clearest first, and what is then left.

    Each rate has one line per motion; `left` (k, k) projects onto the motions that are still to be told apart; `most`
    is the largest rate of anything, beside which others are rounding.
    """
    rows = {key: np.atleast_2d(np.transpose(x)) for key, x in rates.items()}
    chosen = []
    while rows and np.trace(left) > 0.5:
        key = max(rows, key=lambda name: float(np.linalg.norm(rows[name] @ left)))
        seen = rows.pop(key) @ left
        if np.linalg.norm(seen) <= SAME * most:
            break
        chosen.append(key)
        _, sizes, right = np.linalg.svd(seen, full_matrices=False)
        basis = right[sizes > SAME * most]
        left = left - basis.T @ basis
    return chosen, left
