"""The motion of a fully driven mechanism: positions, velocities, accelerations and reactions at given times.

Nothing is integrated: at each time the constraints alone say where everything is. Positions are predicted from those
before by q + h v + h^2/2 a and closed by Newton's iteration; where the prediction is poor, times between are added, so
that the mechanism stays on its branch and no turn is lost.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.analysis.audit import energy_audit, integrate
from index3.analysis.instants import free_directions, movement, name_motions
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.engine.layout import describe
from index3.engine.settings import check_choices, check_model, check_span, output_times
from index3.engine.start_warnings import check_motions, driven_functions
from index3.errors import AssemblyError, ModelError, SimulationFailed, warn
from index3.linear import contract
from index3.model.model import Model
from index3.results.applied import ModelOfRun
from index3.results.result import Result

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, InitialState

INTERVALS = 200
"""Output intervals if none are asked for."""
TURN = 0.5
"""Largest turn of any marker between two closures [rad]: far from the half turn at which angles become ambiguous."""
NEAR = 0.05
"""Largest correction of a prediction, as `instants.movement` measures it: a mechanism that jumps corrects by more."""
HALVINGS = 30
"""How often a step between two closures is halved before the mechanism is said to be stuck."""
ROUNDING = 4e-16
"""Part of the time below which a step is no step: forecasts agree up to a jump, and what is behind it is not met."""


def kinematics(
    model: Model,
    t_span: tuple[float, float],
    *,
    t_eval: ArrayLike | None = None,
    initial: InitialState | None = None,
    on_failure: str = "return",
) -> Result:
    """Move a fully driven mechanism along its motions, without integration and its errors.

    Parameters
    ----------
    model : Model with a `Motion` for every degree of freedom
    t_span : (t0, t1) [s], t0 < t1
    t_eval : a number for t0, t0 + dt, ... and t1, or an increasing array; by default 201 times
    initial : position near which to assemble at t0, instead of the model's own: a `static` equilibrium, a result, ...
    on_failure : "return" what there is with `success=False` if the mechanism cannot follow its motions any further, or
        "raise" SimulationFailed

    Returns
    -------
    Result : as `simulate` returns it; positions, velocities, accelerations and multipliers satisfy the equations of
        motion to rounding, and the reactions of the motions are the drive forces. `energy.work` is integrated over the
        output times by Simpson's rule.

    Raises
    ------
    ModelError : something is left free; the message says what.
    AssemblyError : no position at t0, or motions that contradict each other or a joint.

    >>> import index3 as ix
    >>> model = ix.library.pendulum()
    >>> drive = model.add(ix.Motion("drive", model["pivot"], lambda t: 0.5 * t**2, lambda t: t, 1.0))
    >>> round(float(ix.kinematics(model, (0.0, 1.0))["pivot"].angle[-1]), 9)
    0.5
    """
    check_model(model, "kinematics")
    return follow(model, t_span, t_eval, initial, on_failure, "kinematics")


def follow(
    model: Model, t_span: Any, t_eval: Any, initial: InitialState | None, on_failure: str, analysis: str
) -> Result:
    """`kinematics` of a model, for the analysis that errors name."""
    span = check_span(t_span, analysis)
    times = output_times((span[1] - span[0]) / INTERVALS if t_eval is None else t_eval, span, analysis)
    assert times is not None
    check_choices(True, None, on_failure, analysis)
    check_motions(driven_functions(model), span)
    equations = Equations(model, analysis)
    equations.close(span[0], equations.start(initial, span[0]))
    check_driven(equations)
    begin = time.perf_counter()
    follower = Follower(equations)
    message = follower.run(times)
    result = make_result(equations, follower, message, time.perf_counter() - begin)
    if message and on_failure == "raise":
        raise SimulationFailed(message, result)
    return result


def check_driven(equations: Equations) -> None:
    """Raise, naming what is free, unless the position rows determine all coordinates."""
    model, system, state = equations.model, equations.system, equations.state
    inverse = equations.analysis == "inverse_dynamics"
    if system.first_state < system.n:
        blocks = ", ".join(body.label for body in system.bodies if body.kind == "states")
        cure = "Leave them out of the model" if inverse else "Use simulate"
        raise ModelError(f"{equations.analysis}: {blocks}: states have to be integrated in time. {cure}.")
    rank = system.m - int(np.count_nonzero(equations.projection.factors[contract.ZERO][system.n :]))
    if rank == system.n and not np.any(system.level == 1):
        return
    free = free_directions(state)
    if free.shape[1]:
        count = free.shape[1]
        soft = [body.label for body in system.bodies if body.deforms]
        driven = [f"the {motion.coordinate} of {motion.joint.label}" for motion in model.motions.values()]
        known = [*(f"the {word} of {label}" for label in soft for word in ("position", "orientation")), *driven]
        rigid = [word for word in name_motions(model, system, state[s.Q], free) if not soft or word not in known]
        words = ", ".join([*rigid, *(f"the deformation of {label}" for label in soft)])
        cure = "Add a Motion for each, or use simulate"
        if soft:
            cure = "Bodies that deform move by their dynamics: use simulate, with the same motions"
        elif inverse:
            cure = "Give a trajectory for each, or add a Motion to the model"
        raise ModelError(
            f"{equations.analysis}: model '{model.name}' has {count} degree{'s' if count > 1 else ''} of freedom that "
            f"no motion drives: {words}. {cure}."
        )


def along(model: Model, motion: Result) -> Result:
    """The instants of a run, with the forces of `model`, that run's model with more motions, which agree with it.

    Each is closed near where the run was: what motions do between them does not count. Bodies that deform are where
    they were; accelerations and multipliers follow from the equations of motion.
    """
    equations = Equations(model, "inverse_dynamics")
    equations.close(float(motion.t[0]), equations.start((motion.q[0], motion.v[0]), float(motion.t[0])))
    if not any(body.deforms for body in equations.system.bodies):
        check_driven(equations)
    begin = time.perf_counter()
    follower = Follower(equations)
    message = follower.visit(motion)
    result = make_result(equations, follower, message, time.perf_counter() - begin)
    if message:
        raise SimulationFailed(message, result)
    return result


class Follower:
    """A mechanism that is moved from one time to the next; keeps the lines it was asked for."""

    def __init__(self, equations: Equations) -> None:
        self.state = state = equations.state
        self.projection = equations.projection
        self.steps = 0
        self.lines: list[dict[str, np.ndarray]] = []
        self.power: list[float] = []
        self.doubts: list[str] = []  # of the line closed last: what is only tried is no output
        self.projection.completion.tell = self.doubts.append
        self.told = False
        self.line = self.close(equations.t, state[s.Q], state[s.V], state[s.ANGLE_REF])

    def run(self, times: np.ndarray) -> str:
        """Visit all times; returns why it stopped early, or nothing."""
        for t in times:
            try:
                self.go(float(t))
            except AssemblyError as error:
                return f"The mechanism cannot follow its motions beyond t = {self.line['t'][0]:.6g}: {error}"
            self.keep()
        return ""

    def visit(self, motion: Result) -> str:
        """Close all lines of a result where they are; returns why it stopped early, or nothing."""
        angles = motion.arrays["angle"]  # of the same joints in the same order, whole turns included
        for t, q, v, angle in zip(motion.t.tolist(), motion.q, motion.v, angles, strict=True):
            try:
                self.line = self.close(t, q, v, angle)
            except AssemblyError as error:
                return f"The mechanism cannot follow the result at t = {t:.6g}: {error}"
            self.keep()
        return ""

    def keep(self) -> None:
        """Keep the present line, and warn of the first that is near a singular position."""
        if self.doubts and not self.told:
            warn(self.doubts[0])
            self.told = True
        self.lines.append(self.line)
        self.power.append(float(self.state[s.ENERGY][s.POWER]))

    def close(self, t: float, q: np.ndarray, v: np.ndarray, angle: np.ndarray) -> dict[str, np.ndarray]:
        """One consistent line near a prediction; the state is left there."""
        self.doubts.clear()
        a, lam = self.state[s.A], self.state[s.LAM]
        lines = (q[None], v[None], a[None], lam[None], angle[None])
        return self.projection.project_block(np.array([t]), *lines, project=True)

    def continues(self, line: dict[str, np.ndarray], guess: np.ndarray, q: np.ndarray, h: float) -> bool:
        """Whether a step is near its forecast, and its start near a forecast backwards from its end."""
        back = line["q"][0] - h * line["v"][0] + 0.5 * h * h * line["a"][0]
        return max(movement(self.state, line["q"][0] - guess), movement(self.state, back - q)) <= NEAR

    def go(self, end: float) -> None:
        """Move to a later time, in several steps where one would be too large."""
        halvings = 0
        while (start := float(self.line["t"][0])) < end:
            q, v, a = (self.line[name][0] for name in ("q", "v", "a"))
            turning = np.linalg.norm(self.state[s.MARKER_V][:, 3:], axis=1).max(initial=0.0)  # no states here
            h = min(end - start, TURN / turning if turning > 0.0 else np.inf) * 0.5**halvings
            t = end if h > 0.999 * (end - start) else start + h
            h = t - start
            guess = q + h * v + 0.5 * h * h * a
            problem, line = None, None
            try:
                line = self.close(t, guess, v + h * a, self.line["angle"][0])
            except AssemblyError as error:
                problem = error
            if line is not None and self.continues(line, guess, q, h):
                self.line, self.steps, halvings = line, self.steps + 1, max(halvings - 1, 0)
                continue
            halvings += 1
            if halvings > HALVINGS or h <= ROUNDING * abs(t):
                raise problem or AssemblyError("its position jumps there. Look for a motion that is not continuous.")
            self.close(start, q, v, self.line["angle"][0])  # back to where the step began


def make_result(equations: Equations, follower: Follower, message: str, seconds: float) -> Result:
    """All lines as a result."""
    model, system, projection = equations.model, equations.system, equations.projection
    lines = follower.lines
    none = {name: array[:0] for name, array in follower.line.items()}  # gives a result without lines its shapes
    joined = {name: np.concatenate([none[name], *(line[name] for line in lines)]) for name in none}
    joined["work"] = integrate(np.array([follower.power]), joined["t"])[0]
    unique = np.ones(system.m, bool)
    if projection.factors[contract.INFO][contract.N_ZERO] > 0:
        unique = ~projection.null_rows()
    count = len(lines)
    info = {
        "status": -1 if message else 0, "success": not message, "method": "kinematics",
        "message": message or f"Followed its motions to t = {joined['t'][-1]:g}: {count} times.",
        "stats": {"steps": follower.steps, "outputs": count, "seconds": seconds},
    }  # fmt: skip
    result = Result(describe(model, system, unique), joined, info)
    result.source = ModelOfRun(model)
    result.auditor = partial(energy_audit, model)
    return result
