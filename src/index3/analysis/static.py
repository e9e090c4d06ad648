"""Static equilibrium: where a mechanism stays at rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.analysis.gaps import close_gaps
from index3.analysis.instants import movement, name_motions, one_line
from index3.analysis.rest_state import (
    HELD,
    ROUNDED,
    THIN,
    RestState,
    StiffnessModes,
    flutters,
    is_unstable,
    stiffness_modes,
)
from index3.analysis.static_iterations import SMALL, newton, plain_newton, relax
from index3.compiled import slots as s
from index3.engine.assembly import displacements
from index3.engine.equations import Equations
from index3.engine.instant import Instant
from index3.engine.settings import check_model, check_time, is_number, listed
from index3.errors import AssemblyError, ModelError, first_lines
from index3.joints.drives import Motion
from index3.joints.primitive import CoordinateConstraint
from index3.methods.projection import kernels_for
from index3.model.model import Model
from index3.results.result import Result
from index3.system.unchanged import system_of

if TYPE_CHECKING:
    from index3.user_types import InitialState

METHODS = ("auto", "newton", "relaxation")
EDGES = 8
"""Unstable equilibria that a relaxation leaves before it gives up on a stable one."""
UNMOVED = 1e-12
"""Movement, measured in the same way, that is rounding of the coordinates of the start."""
NUDGE = 0.02
"""How far to move off an unstable equilibrium, as `instants.movement` measures it."""


@dataclass
class Static:
    """An equilibrium; `static["crank"].position`, `static["A"].force` and the like are values there.

    Attributes
    ----------
    model : name of the model
    t : time at which motions and forces were taken [s]
    q, v, a, lam : coordinates, rates and accelerations (zero; first-order states are in v), multipliers
    angle : measured joint angles, for a run that starts here
    residual : largest unbalanced force as a part of the largest force
    method : "newton" or "relaxation"; `iterations`, configurations tried
    stable : whether every free direction is held by positive stiffness; None if that was not examined
    free : directions without stiffness, by name: they were left where they were
    moved : body name -> (distance [m], turn [rad]) from the start
    notes : what a user should know
    result : the same as a `Result` of one time, for plots and pages
    """

    model: str
    t: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    lam: np.ndarray
    angle: np.ndarray
    residual: float
    method: str
    iterations: int
    stable: bool | None
    free: list[str]
    moved: dict[str, tuple[float, float]]
    result: Result = field(repr=False)
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        return Instant(self.result)[name]

    def marker(self, marker: Any) -> Any:
        """Position and orientation of a marker in equilibrium."""
        return Instant(self.result).marker(marker)

    def __str__(self) -> str:
        kind = {True: "stable", False: "UNSTABLE", None: "stability not examined"}[self.stable]
        lines = [
            f"static equilibrium of model '{self.model}' at t = {self.t:g}: {kind}",
            f"  found by {self.method} in {self.iterations} steps, unbalanced force {self.residual:.1e} of the largest",
        ]
        lines += [f"  held where it was: {word} (no stiffness)" for word in self.free]
        moved = [f"  {name} moved by {d:.6g} m, turned by {w:.6g} rad" for name, (d, w) in self.moved.items()]
        lines += first_lines(moved, "see .moved")
        lines += first_lines([self._reaction(joint) for joint in self.result.layout.joints], "see ['name'].force")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _reaction(self, joint: dict[str, Any]) -> str:
        """A line about the reaction of a joint."""
        view = self[joint["name"]]
        vectors = (np.array2string(x + 0.0, precision=6, suppress_small=True) for x in (view.force, view.torque))
        open_ = "" if joint["unique"] else " (not unique)"
        return "  {} {}: force {} N, torque {} N m{}".format(joint["type"], joint["name"], *vectors, open_)


def static(
    model: Model,
    *,
    t: float = 0.0,
    hold: Iterable[str] = (),
    initial: InitialState | None = None,
    method: str = "auto",
    tolerance: float = 1e-11,
    max_iterations: int = 500,
) -> Static:
    """Find where a mechanism stays at rest under its forces at time t.

    Parameters
    ----------
    model : Model; its initial velocities are ignored
    t : time at which motions and time-dependent forces are evaluated [s]
    hold : what to hold fixed: bodies ("crank"), their coordinates ("crank.x"), joint coordinates ("hinge.angle")
    initial : where to start: another equilibrium, a result (its last instant), (q, v), joint coordinates by name such
        as {"pin.angle": 0.3}; by default the model's own
    method : "newton" finds an equilibrium near the start, stable or not; "relaxation" follows the overdamped motion
        downhill; "auto" tries Newton and relaxes where that fails or ends in an unstable equilibrium
    tolerance : unbalanced force that counts as balanced, as a fraction of the largest force; where rounding
        prevents that, 1e-8 is accepted, of flexible bodies that are very stiff for their loads up to 1e-3, with a note
        (`residual` says what was reached)
    max_iterations : limit on the steps of relaxation

    Directions without stiffness, such as the free spin of a wheel, stay where they are and are named in `.free`.
    `simulate(model, ..., initial=equilibrium)` starts a run there.

    Raises
    ------
    AssemblyError : the model cannot be assembled, or no equilibrium was found; the message names bodies.
    ModelError : not a model, an unknown name in `hold`, or a setting out of range.

    >>> import index3 as ix
    >>> hanging = ix.static(ix.library.pendulum())
    >>> hanging["rod"].position.round(9).tolist(), hanging.stable
    ([0.0, 0.0, -0.5], True)
    """
    check_model(model, "static")
    t = check_time(t, "static")
    check_settings(method, tolerance, max_iterations)
    held = with_holds(model, hold)
    known = system_of(model, kernels_for(model), frozenset()) if held is model else None  # a run of it comes next
    equations = Equations(held, "static", known)
    system, state = equations.system, equations.state
    start = equations.start(initial, t)
    begin = system.q0 if start is None else start.q
    rest, v0 = start_at_rest(equations, start, t, int(max_iterations))
    first = rest.point
    used, notes, values = find(rest, method, tolerance, int(max_iterations))
    if not used and without_load(rest, first):
        used, notes, values = (
            "newton",
            [f"nothing is loaded: forces of {rest.scale:.1e} are rounding"],
            stiffness_modes(rest),
        )
    if not used:
        raise AssemblyError(unbalanced(held, rest))
    stable, free = judge(held, rest, values)
    q, v = state[s.Q].copy(), state[s.V].copy()  # rates are zero, but for first-order states
    if stable is None:
        what = "first-order states" if rest.states.any() else "many coordinates"
        notes.append(f"stability was not examined, because of {what}; `linearize` can tell")
    if rest.residual > max(tolerance, ROUNDED):
        notes.append(
            f"forces balance to {rest.residual:.1e} of the largest: bodies so stiff for their loads allow no "
            "better, by the rounding of their coordinates"
        )
    moved, _ = displacements(system, q, v0, begin, v0)
    state[s.LAM][:] = rest.lam
    info = {"method": f"static ({used})", "message": f"Balanced to {rest.residual:.1e} of the largest force."}
    result = one_line(held, equations, np.zeros(system.n), info)
    return Static(
        model=model.name, t=t, q=q, v=v, a=np.zeros(system.n), lam=result.lam[0],
        angle=result.arrays["angle"][0], residual=rest.residual, method=used, iterations=rest.iterations,
        stable=stable, free=free, moved=moved, result=result, notes=notes,
    )  # fmt: skip


def start_at_rest(equations: Equations, start: Any, t: float, most: int) -> tuple[RestState, np.ndarray]:
    """The state to begin with, on the constraints, and its rates before; gaps of flexible bodies close slowly."""
    equations.close(t, start)
    v0 = equations.state[s.V].copy()
    rest = RestState(equations)
    assembled = rest.point
    if not close_gaps(rest, equations.system.q0 if start is None else start.q, most):
        rest.return_to(assembled)
    return rest, v0


def check_settings(method: Any, tolerance: Any, max_iterations: Any) -> None:
    """Raise for settings out of range."""
    if not isinstance(method, str) or method not in METHODS:
        raise ModelError(f"static: method = {short(method)}. Choose from {', '.join(METHODS)}.")
    if not (is_number(tolerance) and 1e-14 <= tolerance <= 1e-3):
        raise ModelError(f"static: tolerance = {tolerance!r}. Give a number from 1e-14 to 1e-3.")
    if not (is_number(max_iterations) and max_iterations == int(max_iterations) > 0):
        raise ModelError(f"static: max_iterations = {max_iterations!r}. Give a positive whole number.")


def with_holds(model: Model, hold: Iterable[str]) -> Any:
    """The model, or a copy of it in which what is named stays where it is."""
    names = listed(hold, "static: hold =", "Give names of bodies, coordinates or joints, such as 'crank' or 'pin'.")
    if not names:
        return model
    copy = model.copy()
    for name in names:
        owner, _, coordinate = str(name).partition(".")
        if owner in copy.bodies:
            body = copy.bodies[owner]
            for each in [coordinate] if coordinate else body.coordinate_names:
                copy.add(CoordinateConstraint(f"hold {owner} {each}", body, each))
        elif owner in copy.joints:
            joint = copy.joints[owner]
            for each in [coordinate] if coordinate else joint.coordinates:
                copy.add(Motion(f"hold {owner} {each}", joint, 0.0, coordinate=each))
        else:
            raise ModelError(f"static: hold names '{name}', but model '{model.name}' has no body or joint '{owner}'.")
    return copy


def find(rest: RestState, method: str, tolerance: float, most: int) -> tuple[str, list[str], StiffnessModes | None]:
    """Balance the state; what did it ("" if nothing), notes on the way, and the stiffness of what is free there."""
    notes: list[str] = []
    start = rest.point
    edge: tuple[np.ndarray, StiffnessModes | None, str] | None = (
        None  # the first unstable equilibrium, and what found it
    )
    if method != "relaxation":
        found = newton(rest, tolerance) or (rest.deforms and find_again(rest, start, tolerance))
        values = stiffness_modes(rest) if found else None
        if method == "newton" or (found and not is_unstable(values)):
            return "newton" if found else "", notes, values
        if found and rest.iterations == 0:
            notes.append("the start was an unstable equilibrium")
        edge = (rest.point, values, "newton") if found else None
        rest.return_to(start)
    sigma = 0.0
    for _ in range(EDGES):
        if not relax(rest, tolerance, most, sigma):
            if edge is None:
                return "", notes, None
            return back_to(rest, edge, notes)
        values = stiffness_modes(rest)
        if values is None or not is_unstable(values):
            break
        edge = edge or (rest.point, values, "relaxation")
        direction = values.directions[:, 0].real  # an unstable equilibrium: over the edge
        rest.move(rest.point + NUDGE / movement(rest.state, direction) * direction)
        sigma = 2.0 * abs(values.rate)
    if edge is not None and flutters(values):  # no better than the one that was found first, and far from it
        return back_to(rest, edge, notes)
    return "relaxation", notes, values


def without_load(rest: RestState, start: np.ndarray) -> bool:
    """Whether the forces at the start are rounding: what would balance them moves nothing. No iteration ends there."""
    failed = rest.point
    rest.return_to(start)
    rest.update_stiffness()
    dq = rest.step(0.0)
    if dq is not None and movement(rest.state, dq) <= UNMOVED:
        rest.residual = 0.0
        return True
    rest.return_to(failed)
    return False


def back_to(rest: RestState, edge: tuple[np.ndarray, Any, str], notes: list[str]) -> tuple[str, list[str], Any]:
    """Return to an unstable equilibrium, and say so."""
    point, values, used = edge
    rest.return_to(point)
    return used, [*notes, "it is unstable, and no stable equilibrium was found near"], values


def find_again(rest: RestState, start: np.ndarray, tolerance: float) -> bool:
    """Newton's iteration for bodies that deform, by small steps; then with the least that holds what is free."""
    usual = rest.weakest
    for rest.weakest in (usual, THIN * HELD):
        for largest in SMALL:
            rest.return_to(start)
            if plain_newton(rest, tolerance, largest):
                rest.weakest = usual
                return True
    rest.weakest = usual
    return False


def judge(model: Model, rest: RestState, values: StiffnessModes | None) -> tuple[bool | None, list[str]]:
    """Whether an equilibrium is stable, and the names of its directions without stiffness."""
    if values is None:
        return None, []
    stiffness, directions = values.stiffness, values.directions
    if not len(stiffness):
        return True, []
    neutral = np.abs(stiffness) <= values.none
    free = name_motions(model, rest.state.system, rest.state[s.Q], directions[:, neutral].real)
    return not is_unstable(values) and not flutters(values), free


def unbalanced(model: Model, rest: RestState) -> str:
    """The message where nothing came to rest: the bodies with the largest forces left."""
    system = rest.state.system
    parts = []
    for body, start in zip(system.bodies, system.starts, strict=False):
        force = rest.force[start : start + body.size]
        k = int(np.argmax(np.abs(force)))
        parts.append((abs(force[k]), f"{body.label} ({force[k]:.3g} along {body.coordinate_names[k]})"))
    worst = ", ".join(text for size, text in sorted(parts, reverse=True)[:3] if size > 0.0)
    return (
        f"static: no equilibrium of model '{model.name}' at t = {rest.t:.6g} was found in {rest.iterations} "
        f"steps; largest unbalanced forces: {worst}. Check that springs or joints carry every body, start nearer, or "
        "hold what may move freely."
    )
