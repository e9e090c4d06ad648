"""Consistent initial positions, velocities, accelerations and multipliers of a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.errors import AssemblyError, ModelError
from index3.linear.static_lu import StaticLU
from index3.methods import closure
from index3.methods.closing import CONTRADICTION, Closer
from index3.system.compile import compile_model
from index3.system.system import State, System

HEAVY = 1e8
"""How much heavier coordinates become that are to stay: they move 1e-8 of what others do, and once more 1e-8."""


@dataclass
class Assembly:
    """A consistent state, and what had to move for it.

    Attributes
    ----------
    t : time [s]
    q, v, a, lam : coordinates, rates, accelerations, multipliers
    moved : body name -> (distance [m], turn [rad]) of what moved by more than rounding
    changed : body name -> (change of velocity [m/s], of angular velocity [rad/s])
    redundant : number of redundant rows
    iterations : corrections of the positions
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    lam: np.ndarray
    moved: dict[str, tuple[float, float]]
    changed: dict[str, tuple[float, float]]
    redundant: int
    iterations: int

    def __str__(self) -> str:
        lines = [f"assembled at t = {self.t:g} in {self.iterations} corrections"]
        lines += [f"  {name} moved by {d:.3g} m, turned by {w:.3g} rad" for name, (d, w) in self.moved.items()]
        lines += [f"  {name} sped up by {d:.3g} m/s, {w:.3g} rad/s" for name, (d, w) in self.changed.items()]
        return "\n".join(lines)


def assemble(model: Any, t: float = 0.0, *, hold: Iterable[str] = ()) -> Assembly:
    """Find a consistent state near the one that the model describes.

    Parameters
    ----------
    model : Model
    t : time at which motions are to hold
    hold : names of bodies, or of coordinates such as "crank.x", that should stay where they are

    Positions and velocities move as little as possible in the kinetic-energy norm; velocities that the user gave stay,
    where the constraints allow it.

    Raises
    ------
    AssemblyError : no consistent state was found; the worst rows are named.
    """
    system = compile_model(model)
    state = State(system)
    return assemble_state(state, Closer(state), t, held_coordinates(system, hold))


def held_coordinates(system: System, names: Iterable[str]) -> np.ndarray:
    """A mask of the coordinates named by bodies or by "body.coordinate"."""
    held = np.zeros(system.n, bool)
    bodies = {body.name: (body, int(start)) for body, start in zip(system.bodies, system.starts, strict=False)}
    for name in [names] if isinstance(names, str) else names:
        owner, _, coordinate = name.partition(".")
        if owner not in bodies:
            raise ModelError(f"hold names '{name}', but there is no body '{owner}' in model '{system.name}'.")
        body, start = bodies[owner]
        if not coordinate:
            held[start : start + body.size] = True
        elif coordinate in body.coordinate_names:
            held[start + body.coordinate_names.index(coordinate)] = True
        else:
            raise ModelError(f"hold names '{name}'. {body.label} has {', '.join(body.coordinate_names)}.")
    return held


def given_velocities(system: System) -> np.ndarray:
    """A mask of the rates that the user gave."""
    given = np.zeros(system.n, bool)
    for body, start in zip(system.bodies, system.starts, strict=False):
        split = {"rigid": 3, "planar": 2}.get(body.kind, body.size)
        given[start : start + split] = body.velocity_given
        given[start + split : start + body.size] = body.angular_velocity_given
    return given


def assemble_state(state: State, closer: Closer, t: float, held: np.ndarray | None = None) -> Assembly:
    """Close a state at time t, starting from the system's initial coordinates; the state is left there."""
    system = state.system
    state.move(t, system.q0, system.v0)
    diagonal = typical_masses(system)
    if held is not None and held.any():
        closer.table[closure.HEAVY_Q][:] = HEAVY * diagonal * held
    iterations = 0
    for _ in range(2 if held is not None and held.any() else 1):
        if held is not None:
            state[s.Q][held] = system.q0[held]
        _check(closer, closure.assemble_positions(state.handle, closer.handle), t)
        iterations += int(closer.table[closure.REPORT][closure.N_ITERATIONS])
    closer.table[closure.HEAVY_Q][:] = 0.0
    if not np.all(np.isfinite(state[s.Q])):
        raise AssemblyError(f"Assembly at t = {t:.6g} ran off to infinity. Check the geometry of the joints.")
    given = given_velocities(system)
    if given.any() and not given.all():
        closer.table[closure.HEAVY_V][:] = HEAVY * diagonal * given
        for _ in range(2):
            state[s.V][given] = system.v0[given]
            _check(closer, closure.assemble_velocities(state.handle, closer.handle), t)
    closer.table[closure.HEAVY_V][:] = 0.0
    _check(closer, closure.assemble_accelerations(state.handle, closer.handle), t)
    redundant = int(closer.table[closure.REPORT][closure.N_REDUNDANT])
    check_consistency(state, closer, t)
    q, v, a, lam = (state[slot].copy() for slot in (s.Q, s.V, s.A, s.LAM))
    moved, changed = displacements(system, q, v)
    return Assembly(t, q, v, a, lam, moved, changed, redundant, iterations)


def typical_masses(system: System) -> np.ndarray:
    """A mass or inertia for every coordinate, by which to weigh it."""
    masses = np.empty(system.n)
    for body, start in zip(system.bodies, system.starts, strict=False):
        masses[start : start + body.size] = body.mass
    return masses


def check_consistency(state: State, closer: Closer, t: float) -> None:
    """Raise if rows that were skipped as redundant contradict the others."""
    empty = np.zeros((1, len(state[s.ANGLE_REF])))
    empty[0] = state[s.ANGLE_REF]
    q, v, a, lam = (state[slot].copy() for slot in (s.Q, s.V, s.A, s.LAM))
    lines = closer.close_block(np.array([t]), q[None], v[None], a[None], lam[None], empty, project=False)
    state.move(t, q, v)
    state[s.A][:], state[s.LAM][:] = a, lam
    if not lines["scaled"][0].max() <= CONTRADICTION:
        raise closer.failure(closure.CONTRADICTION, t)


def displacements(system: System, q: np.ndarray, v: np.ndarray) -> tuple[dict, dict]:
    """What moved and what changed its velocity by more than rounding, body by body."""
    moved, changed = {}, {}
    for body, start in zip(system.bodies, system.starts, strict=False):
        split = {"rigid": 3, "planar": 2}.get(body.kind, body.size)
        part = slice(start, start + body.size)
        factor = 2.0 if body.kind == "rigid" else 1.0  # an angle is twice the change of Euler parameters
        for change, target in ((q[part] - system.q0[part], moved), (v[part] - system.v0[part], changed)):
            line, turn = float(np.linalg.norm(change[:split])), factor * float(np.linalg.norm(change[split:]))
            if max(line, turn) > 1e-9:
                target[body.name] = (line, turn)
    return moved, changed


def _check(closer: Closer, code: int, t: float) -> None:
    if code:
        if closer.system.failures:
            raise AssemblyError(closer.system.explain(closer.state)) from closer.system.failures[0]
        raise closer.failure(code, t)


def solver_and_state(model: Any) -> tuple[State, Closer, StaticLU]:
    """A state of a model with its closer and solver: where every analysis begins."""
    state = State(compile_model(model))
    closer = Closer(state)
    return state, closer, closer.solver
