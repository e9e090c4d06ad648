"""A model linearised on its constraints: A, B, C, D, natural frequencies, damping ratios, mode shapes.

With Zq and Zv bases of what the position rows and what all rows leave free, orthonormal in the mass metric, a small
motion is dq = Zq xi, dv = W xi + Zv eta with Phi_q W = -(Phi_q v)_q Zq and Zv^T M W = 0. The state x = (xi, eta) obeys

    xi' = Zq^T M dv,    eta' = Zv^T M da,

where da and dlam follow from the exact derivatives of the equations of motion at the point. Without velocity-level rows
and first-order states Zq = Zv, and xi' = eta. First-order states are among eta; the coordinates of their blocks, which
nothing depends on, are left out. That is at rest; where the mechanism moves, the changes stand for displacements and
turns of the bodies along axes at rest or turning (`small_motion`), beside which a steady motion has constant equations:

    xi' = Zq^T M z',    eta' = Zv^T M (y' - y_xi xi'),    z' and y' as changes of coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.analysis.linear_model import Linear
from index3.analysis.modes import find_modes
from index3.analysis.ports import input_forces, output_columns
from index3.analysis.slow_modes import ROUNDING, Compliance
from index3.analysis.small_motion import SmallMotion, axes_rate, follow
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.engine.settings import check_model, check_time
from index3.engine.start import initial_or_at
from index3.errors import ModelError, SingularError
from index3.linear.reference import free_space
from index3.methods.state_space.jacobian import Parts, augmented, evaluate_parts, solve_change
from index3.model.model import Model
from index3.system import evaluate
from index3.system.state import State
from index3.system.system import System

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, InitialState

AT_REST = 1e-6
"""Unbalanced forces below this part of the largest force count as equilibrium."""


def linearize(
    model: Model,
    *,
    initial: InitialState | None = None,
    t: float | None = None,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    frame: str | ArrayLike | None = None,
    at: InitialState | None = None,
) -> Linear:
    """Linearise a model about a state on its constraints.

    Parameters
    ----------
    model : Model
    initial : an equilibrium from `static`, a result (its last instant), what `assemble` returned, (q, v), or None for
        the model's own initial state
    t : time [s]; by default that of `initial`, or 0
    inputs : generalised forces by name: "hinge" or "hinge.angle" (torque or force along a joint coordinate),
        "body.force.x", "body.torque.z" (at the body's origin, ground axes), the name of a `Force` or `Torque` (along
        its present direction) or "push.x" (its axes), of a `SpringDamper` (tension) or of a force on a joint coordinate
    outputs : quantities as `result.plot` knows them: "crank.position", "hinge.angle", "A.force.z", "energy.kinetic" ...

    frame : axes that see the small motion: ground by default, or turning with a body (its name), with a part of a
        linkage or with an angular velocity (3,) [rad/s]. Beside a steady motion choose them such that the motion looks
        the same at all times: ground for a bicycle that rolls straight on, its frame for one on a circle, the
        precession for a top
    at : other name of `initial`

    Frequencies and dampings are those of a small motion if the point is an equilibrium or a steady motion in these
    axes; elsewhere A is the derivative of the equations of motion at that instant, and a note says so.

    Raises
    ------
    ModelError : not a model, or a name that is no input or output.

    >>> import index3 as ix
    >>> model = ix.library.pendulum()
    >>> linear = ix.linearize(model, initial=ix.static(model), inputs=["pivot"], outputs=["pivot.angle"])
    >>> linear.frequencies.round(4).tolist()  # sqrt(3 g / 2)
    [3.8354]
    """
    check_model(model, "linearize")
    try:
        return linearized(model, initial_or_at(initial, at, "linearize"), t, inputs, outputs, frame)
    except np.linalg.LinAlgError:
        raise SingularError(
            "linearize: the equations of motion have no unique solution at this point within rounding. "
            "Look for bodies of very different size or mass, or for a position in which the mechanism locks."
        ) from None


def linearized(
    model: Model, initial: Any, t: float | None, inputs: Iterable[str], outputs: Iterable[str], frame: Any
) -> Linear:
    """The linear model at a point, as `linearize` says."""
    equations = Equations(model, "linearize")
    system, state = equations.system, equations.state
    start = equations.start(initial)
    assembly = equations.assemble(None if t is None else check_time(t, "linearize"), start)
    t = assembly.t
    state.run(evaluate.angles)
    angle = state[s.ANGLES].copy()
    q, v = assembly.q, assembly.v
    check_reactions_at_rest(model, system, v)
    state.move(t, q, v)
    parts = evaluate_parts(state)
    level = system.level[parts.partition.rows]
    zq = tangent_basis(parts.phi_q[level == 0], parts.metric, system.first_state)
    zv = tangent_basis(parts.phi_q, parts.metric, system.n)
    changes = state_changes(parts, zq, zv)
    forces = input_forces(model, system, q, t, inputs)
    pushed = respond(parts, np.column_stack([*forces.values()]) if forces else np.zeros((system.n, 0)))
    n = system.n
    metric_q, metric_v = zq.T @ parts.metric, zv.T @ parts.metric
    point: dict[str, Any] = {"t": t, "q": q, "v": v, "a": state[s.A].copy(), "lam": state[s.LAM].copy(), "angle": angle}
    rate = axes_rate(model, system, frame, q, v)
    motion = follow(system, point, changes, rate)
    top = metric_q @ motion.displacement_rate
    A = np.vstack([top, metric_v @ (motion.velocity_rate - motion.velocity[:, : len(top)] @ top)])
    B = np.vstack([np.zeros((zq.shape[1], pushed.shape[1])), metric_v @ pushed[:n]])
    unmoved = np.zeros((n, pushed.shape[1]))
    lines = {
        "q": np.hstack([changes["q"], unmoved]), "v": np.hstack([changes["v"], unmoved]),
        "a": np.hstack([changes["a"], pushed[:n]]),
        "lam": all_rows(system.m, parts, np.hstack([changes["lam"], pushed[n:]])),
    }  # fmt: skip
    notes = remarks(parts, state, level, motion)  # before the outputs, which move the state
    names, slopes = output_columns(model, equations.projection, point, lines, outputs)
    still = not v.any() and not np.any(level == 1) and system.first_state == n
    modes = find_modes(model, system, q, A, zq.shape[1], changes["q"], Compliance(parts, zq) if still else None)
    return Linear(
        model=model, t=t, q=q, v=v, A=A, B=B, C=slopes[:, : len(A)], D=slopes[:, len(A) :], inputs=list(forces),
        outputs=names, modes=modes, displacement=changes["q"], notes=notes,
    )  # fmt: skip


def check_reactions_at_rest(model: Model, system: System, v: np.ndarray) -> None:
    """Raise for forces that depend on reactions in a mechanism that moves: derivatives by reactions are missing."""
    if not system.reads_reactions or np.abs(v[: system.first_state]).max(initial=0.0) == 0.0:
        return
    labels = ", ".join(force.label for force in model.forces.values() if force.reads_reactions)
    raise ModelError(f"linearize: {labels}: a force that depends on reactions is linearised at rest alone. Use static.")


def tangent_basis(rows: np.ndarray, mass: np.ndarray, count: int) -> np.ndarray:
    """What independent rows leave free of the first `count` coordinates: columns, orthonormal in the mass metric."""
    import scipy.linalg

    free = np.zeros((len(mass), 0))
    if count:
        free = free_space(rows[:, :count])
        free = np.vstack([free, np.zeros((len(mass) - count, free.shape[1]))])
    if not free.shape[1]:
        return free
    factor = np.linalg.cholesky(free.T @ mass @ free)
    return scipy.linalg.solve_triangular(factor, free.T, lower=True).T


def state_changes(parts: Parts, zq: np.ndarray, zv: np.ndarray) -> dict[str, np.ndarray]:
    """Changes of q, v, a (n, k) and of the multipliers of the kept rows, for unit changes of each of the k states."""
    n = len(parts.mass)
    right = np.vstack([np.zeros((n, zq.shape[1])), -parts.phiv_q @ zq])
    along = np.linalg.solve(augmented(parts.metric, parts.phi_q), right)[:n]
    dq = np.hstack([zq, np.zeros_like(zv)])
    dv = np.hstack([along, zv])
    change = solve_change(parts, dq, dv)
    return {"q": dq, "v": dv, "a": change[:n], "lam": change[n:]}


def respond(parts: Parts, forces: np.ndarray) -> np.ndarray:
    """Changes of accelerations and multipliers under generalised forces (n, inputs)."""
    right = np.vstack([forces, np.zeros((len(parts.phi_q), forces.shape[1]))])
    return np.linalg.solve(augmented(parts.mass, parts.phi_q), right)


def all_rows(m: int, parts: Parts, kept: np.ndarray) -> np.ndarray:
    """Multipliers of all rows; those left out as redundant are zero."""
    full = np.zeros((m, kept.shape[1]))
    full[parts.partition.rows] = kept
    return full


@np.errstate(over="ignore", invalid="ignore")  # of forces beyond all bounds
def remarks(parts: Parts, state: State, level: np.ndarray, motion: SmallMotion) -> list[str]:
    """Notes: not an equilibrium, moving, redundant or velocity-level rows."""
    notes = []
    left, carried = (np.abs(parts.mass @ x).max(initial=0.0) for x in (motion.acceleration, motion.carried))
    weight = max(body.mass for body in state.system.bodies) * float(np.linalg.norm(state[s.GRAVITY]))
    inside = ROUNDING * (np.abs(parts.stiffness) @ np.abs(state[s.Q])).max(initial=0.0)  # of the forces in a beam
    unsteady = left > max(AT_REST * max(weight, carried, np.abs(state[s.MARKER_F]).max(initial=0.0)), inside)
    if unsteady:
        notes.append("the point is not an equilibrium: A is the derivative of the motion there")
    if np.abs(state[s.V][: state.system.first_state]).max(initial=0.0) > 0.0:
        notes.append(f"the mechanism moves at this point{'' if unsteady else ', steadily as these axes see it'}")
    if len(parts.partition.rows) < state.system.m:
        notes.append("redundant rows: changes of reactions are one choice of several")
    if np.any(level == 1):
        notes.append(f"{np.count_nonzero(level == 1)} velocity-level rows: more states for positions than for rates")
    return notes
