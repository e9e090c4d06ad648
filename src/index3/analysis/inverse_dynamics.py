"""Inverse dynamics: the forces and torques in the joints that a wanted motion needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.analysis.instants import coordinate_rates, distinguish, free_directions, snapshots
from index3.analysis.kinematics import along, follow
from index3.bodies.smooth import SmoothFunction
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.engine.layout import describe
from index3.engine.settings import check_model, check_span
from index3.errors import ModelError
from index3.joints.drives import Motion
from index3.model.model import Model
from index3.results.result import Result
from index3.system import evaluate
from index3.system.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from index3.user_types import ArrayLike, Trajectory


DEGREE = 5
"""Of the splines through samples: their second derivatives are then good to the fourth power of the interval."""


class Sampled(SmoothFunction):
    """A function of time through values, rates and second derivatives at some times.

    Pieces of degree 5 in powers of the time since their start, where they are exact however short they are; one more
    piece behind the last time makes that a start, too.
    """

    def __init__(self, times: np.ndarray, x: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        from scipy.interpolate import PPoly

        h = np.diff(times)
        place, rate = np.diff(x) - h * v[:-1] - 0.5 * h**2 * a[:-1], h * (np.diff(v) - h * a[:-1])
        bend = h**2 * np.diff(a)
        high = [
            (6.0 * place - 3.0 * rate + 0.5 * bend) / h**5,
            (-15.0 * place + 7.0 * rate - bend) / h**4,
            (10.0 * place - 4.0 * rate + 0.5 * bend) / h**3,
        ]
        powers = np.vstack([np.pad(high, ((0, 0), (0, 1))), 0.5 * a, v, x])
        self._curve = PPoly(powers, np.append(times, times[-1] + 1.0))
        self._rate, self._second = self._curve.derivative(1), self._curve.derivative(2)

    def __call__(self, t: float) -> float:
        return float(self._curve(t))

    def derivative(self, t: float) -> float:
        return float(self._rate(t))

    def second_derivative(self, t: float) -> float:
        return float(self._second(t))


@dataclass
class InverseDynamics:
    """Drive forces of a motion; prints as a table.

    Attributes
    ----------
    t : times (n_t,)
    drives : name -> (n_t,) torque [N m] or force [N] along a joint coordinate, on the second body; names are
        "joint.coordinate" of given trajectories and those of the model's own motions
    powers : name -> (n_t,) power of each drive [W]
    result : the motion, with all reactions, as `kinematics` returns it
    """

    t: np.ndarray
    drives: dict[str, np.ndarray]
    powers: dict[str, np.ndarray]
    result: Result = field(repr=False)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.drives:
            raise ModelError(f"inverse_dynamics: there is no drive '{name}'. There are: {', '.join(self.drives)}.")
        return self.drives[name]

    def __str__(self) -> str:
        lines = [f"inverse dynamics of '{self.result.layout.model}', t = {self.t[0]:g} to {self.t[-1]:g} s"]
        lines.append(f"{'drive':<28}{'largest':>13}{'RMS':>13}{'largest power':>15}")
        for name, force in self.drives.items():
            rms, power = float(np.sqrt(np.mean(force**2))), float(np.abs(self.powers[name]).max())
            lines.append(f"{name:<28}{np.abs(force).max():>13.6g}{rms:>13.6g}{power:>15.6g}")
        return "\n".join(lines)


def inverse_dynamics(
    model: Model,
    motion: Result | Mapping[str, Trajectory] | None = None,
    t_span: tuple[float, float] | None = None,
    *,
    t_eval: float | ArrayLike | None = None,
    coordinates: Sequence[str] | None = None,
) -> InverseDynamics:
    """Compute the joint torques and forces that make a mechanism follow a motion.

    Parameters
    ----------
    model : Model; its own motions drive as they are, and their forces are reported too
    motion : what the other joint coordinates do. A dict "joint" or "joint.coordinate" -> trajectory: a function of t,
        three functions (f, f', f''), or samples at the times `t_eval`, interpolated by a quintic spline. A
        `Result` whose joint coordinates are to be followed, with their rates and accelerations: at its own times the
        drives are those of its motion to rounding, between them of a polynomial through both ends. None: the
        model's motions determine everything
    t_span : (t0, t1) [s]; may be left out where `motion` is a result or `t_eval` an array
    t_eval : as for `kinematics`; by default the times of the result
    coordinates : with a result: which joint coordinates are driven ("hinge", "slide.displacement"); by default a set
        that determines the motion

    Trajectories are of joint coordinates, which are zero at the model's initial configuration. A model with bodies that
    deform takes a result, whose deformations are kept, at its own times.

    Raises
    ------
    ModelError : something is left free, driven twice, or not a trajectory.

    >>> import index3 as ix
    >>> import numpy as np
    >>> arm = ix.library.pendulum()
    >>> lift = ix.inverse_dynamics(arm, {"pivot": (lambda t: 0.0, 0.0, 0.0)}, (0.0, 1.0), t_eval=0.5)
    >>> lift["pivot.angle"].round(6).tolist()  # holds the rod's weight: -m g l / 2 about y
    [-4.903325, -4.903325, -4.903325]
    """
    check_model(model, "inverse_dynamics")
    driven = model.copy()
    initial = None
    if isinstance(motion, Result):
        if len(motion) < 2:
            raise ModelError(f"inverse_dynamics: the result has {len(motion)} times. Give one with at least 2.")
        t_eval = motion.t if t_eval is None else t_eval
        t_span = (motion.t[0], motion.t[-1]) if t_span is None else t_span
        initial = (motion.q[0], motion.v[0])
        trajectories = from_result(driven, motion, coordinates)
    elif coordinates is not None:
        raise ModelError("inverse_dynamics: coordinates go with a result. Name them in the dict of trajectories.")
    elif motion is None:
        trajectories = {}
    elif isinstance(motion, Mapping):
        trajectories = {key: as_functions(key, value, t_eval) for key, value in motion.items()}
    else:
        raise ModelError(f"inverse_dynamics: motion is {motion!r}. Give a dict of trajectories, or a result.")
    names = add_motions(driven, trajectories)
    if not driven.motions:
        raise ModelError("inverse_dynamics: nothing is driven. Give trajectories, or add motions to the model.")
    times: Any = t_eval
    if t_span is None and np.ndim(times) == 1 and len(times) > 1:
        t_span = (times[0], times[-1])
    span = check_span(t_span, "inverse_dynamics")
    if isinstance(motion, Result) and np.array_equal(times, motion.t):
        result = along(driven, motion)
    elif isinstance(motion, Result) and any(body.deforms for body in driven.bodies.values()):
        raise ModelError(
            "inverse_dynamics: bodies deform between the times of the result in ways that joint coordinates do not "
            "tell. Leave t_eval out."
        )
    else:
        result = follow(driven, span, t_eval, initial, "raise", "inverse_dynamics")
    drives, powers = {}, {}
    for element in driven.motions.values():
        key = names.get(element.name, element.name)
        drives[key] = 0.0 - result[element.name].lam[:, 0]  # the row is coordinate - f(t), its force -lam
        powers[key] = drives[key] * getattr(result[element.joint.name], f"{element.coordinate}_rate")
    return InverseDynamics(result.t, drives, powers, result)


def add_motions(
    model: Model, trajectories: Mapping[str, tuple[Any, Any, Any]], analysis: str = "inverse_dynamics"
) -> dict[str, str]:
    """Add a motion for each trajectory; name of the motion -> "joint.coordinate"."""
    names = {}
    for key, functions in trajectories.items():
        joint, coordinate = find_coordinate(model, key, analysis)
        name = f"drive of {joint.name} {coordinate}"
        model.add(Motion(name, joint, *functions, coordinate=coordinate))
        names[name] = f"{joint.name}.{coordinate}"
    return names


def find_coordinate(model: Model, key: str, analysis: str = "inverse_dynamics") -> tuple[Any, str]:
    """The joint and its coordinate that a name such as "hinge" or "slide.displacement" means."""
    owner, _, coordinate = str(key).partition(".")
    if owner not in model.joints:
        raise ModelError(f"{analysis}: '{key}' is not a joint. There are: {', '.join(model.joints) or 'none'}.")
    joint = model.joints[owner]
    if not coordinate and len(joint.coordinates) == 1:
        coordinate = joint.coordinates[0]
    if coordinate not in joint.coordinates:
        known = ", ".join(f"'{owner}.{name}'" for name in joint.coordinates) or "none"
        raise ModelError(f"{analysis}: '{key}' is not a joint coordinate. Coordinates of {joint.label}: {known}.")
    return joint, coordinate


def as_functions(key: str, trajectory: Any, times: Any) -> tuple[Any, Any, Any]:
    """Value, rate and second derivative of a trajectory as functions of time, or None where they are to be found."""
    if callable(trajectory):
        return trajectory, None, None
    if isinstance(trajectory, tuple) and len(trajectory) == 3 and any(callable(part) for part in trajectory):
        return trajectory
    try:
        samples, points = np.asarray(trajectory, float), np.asarray(times, float)
    except (TypeError, ValueError, OverflowError):
        samples, points = np.empty(0), np.empty(0)
    if samples.ndim != 1 or samples.shape != points.shape or not np.all(np.isfinite(samples)):
        raise ModelError(
            f"inverse_dynamics: the trajectory of '{key}' is neither a function of t, nor three functions (f, f', "
            "f''), nor finite samples at the times of t_eval, one each."
        )
    return spline(key, points, samples)


def spline(key: str, times: np.ndarray, samples: np.ndarray) -> tuple[Any, Any, Any]:
    """A quintic spline through samples, and its derivatives."""
    from scipy.interpolate import make_interp_spline

    if len(times) <= DEGREE or np.any(np.diff(times) <= 0.0):
        raise ModelError(f"inverse_dynamics: '{key}' has {len(times)} samples. Give at least 6, at increasing times.")
    curve = make_interp_spline(times, samples, k=DEGREE)
    return curve, curve.derivative(1), curve.derivative(2)


def from_result(model: Model, result: Result, coordinates: Any) -> dict[str, tuple[Any, Any, Any]]:
    """The joint coordinates of a result as functions of time: those named, or a set that determines the motion."""
    if coordinates is None:
        pairs = independent_coordinates(model, result)
    else:
        keys = [coordinates] if isinstance(coordinates, str) else list(coordinates)
        pairs = [(joint.name, name) for joint, name in (find_coordinate(model, key) for key in keys)]
    if np.any(np.diff(result.t) <= 0.0):
        raise ModelError("inverse_dynamics: the motion of the result jumps. Give a result without events that act.")
    keys = [f"{joint}.{name}" for joint, name in pairs]
    views = [(result[joint], name) for joint, name in pairs]
    samples = [(getattr(joint, name), getattr(joint, f"{name}_rate")) for joint, name in views]
    return {
        key: (Sampled(result.t, *known, second), None, None)
        for key, known, second in zip(keys, samples, second_derivatives(model, result, keys), strict=True)
    }


def second_derivatives(model: Model, result: Result, keys: list[str]) -> np.ndarray:
    """Second derivatives (keys, n_t) of joint coordinates along a result: Phi_q a - gamma of rows that hold them."""
    held = model.copy()
    names = add_motions(held, {key: (lambda t: 0.0, 0.0, 0.0) for key in keys})
    system = Equations(held, "inverse_dynamics").system
    state, found = State(system), np.zeros((len(keys), len(result)))
    joints = describe(held, system).joints
    rows = {names[joint["name"]]: joint["rows"][0] for joint in joints if joint["name"] in names}
    for k, t in enumerate(result.t):
        state.move(float(t), result.q[k], result.v[k])
        if state.run(evaluate.forces, evaluate.jacobian, evaluate.levels):
            raise ModelError(f"inverse_dynamics: {system.explain(state)}")
        moved = np.bincount(state[s.BLOCK_ROW], state[s.PHI_Q] * result.a[k][state[s.BLOCK_COL]], system.m)
        found[:, k] = [moved[rows[key]] - state[s.GAMMA][rows[key]] for key in keys]
    return found


def independent_coordinates(model: Model, result: Result) -> list[tuple[str, str]]:
    """Joint coordinates that together determine the motion at the first instant of a result."""
    equations = Equations(model, "inverse_dynamics")
    assembly = equations.assemble(float(result.t[0]), equations.start((result.q[0], result.v[0])))
    free = free_directions(equations.state)
    if not free.shape[1]:
        return []
    motions = snapshots(model, equations.system, np.tile(assembly.q, (free.shape[1], 1)), free.T)
    driven = {(motion.joint.name, motion.coordinate) for motion in model.motions.values()}
    rates = {key: rate for key, rate in coordinate_rates(motions).items() if key not in driven}
    most = max((float(np.linalg.norm(rate)) for rate in rates.values()), default=0.0)
    return distinguish(rates, np.eye(free.shape[1]), most)[0]
