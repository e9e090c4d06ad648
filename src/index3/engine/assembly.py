"""Closing a state: consistent positions, velocities, accelerations and multipliers near a start."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.marker import Marker
from index3.bodies.moving_marker import MovingMarker
from index3.compiled import slots as s
from index3.compiled.interface import Slot
from index3.engine.start import Start
from index3.errors import AssemblyError, ModelError, first_lines
from index3.methods import projection_kernels
from index3.methods.completion import CONTRADICTION
from index3.methods.output import Output
from index3.methods.projection import Projector
from index3.record import Record
from index3.system.state import State
from index3.system.system import System

HEAVY = 1e8
"""How much heavier coordinates become that are to stay: they move 1e-8 of what others do, and once more 1e-8."""
PASSES = 5
"""How often held coordinates are put back and the others closed again; each time less moves them, down to rounding."""
HELD = 1e-6
"""Movement of a held coordinate beyond which it counts as not held: far above what `HEAVY` leaves [m, or 1]."""


class Assembly(Record, eq=True):
    """A consistent state, and what had to move for it; `assembly["crank"].acceleration` and the like are values there.

    Attributes
    ----------
    t : time [s]
    q, v, a, lam : coordinates, rates, accelerations, multipliers
    moved : body name -> (distance [m], turn [rad]) of what moved by more than rounding
    changed : body name -> (change of velocity [m/s], of angular velocity [rad/s])
    redundant : number of redundant rows
    iterations : corrections of the positions
    result : the same as a `Result` of one time, as `index3.assemble` gives it
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
    result: Any = None

    def __getitem__(self, name: str) -> Any:
        return self._instant()[name]

    def marker(self, marker: Marker | MovingMarker) -> Any:
        """The motion of a marker."""
        return self._instant().marker(marker)

    def _instant(self) -> Any:
        from index3.engine.instant import Instant  # here: every run assembles, and hardly any asks

        return Instant(self.result)

    def __str__(self) -> str:
        lines = [f"assembled at t = {self.t:g} in {self.iterations} corrections"]
        moved = [f"  {name} moved by {d:.3g} m, turned by {w:.3g} rad" for name, (d, w) in self.moved.items()]
        changed = [
            f"  {name} changed its velocity by {d:.3g} m/s, {w:.3g} rad/s" for name, (d, w) in self.changed.items()
        ]
        lines += [*first_lines(moved, "see .moved"), *first_lines(changed, "see .changed")]
        return "\n".join(lines)


def assemble_state(
    state: State, projector: Projector, t: float, held: np.ndarray | None = None, start: Start | None = None
) -> Assembly:
    """Close a state at time t, as `project_state` does, and tell what had to move for it."""
    redundant, iterations = project_state(state, projector, t, held, start)
    system = state.system
    q0, v0 = (system.q0, system.v0) if start is None else (start.q, start.v)
    q, v, a, lam = (state[slot].copy() for slot in (s.Q, s.V, s.A, s.LAM))
    moved, changed = displacements(system, q, v, q0, v0)
    return Assembly(t, q, v, a, lam, moved, changed, redundant, iterations)


def project_state(
    state: State, projector: Projector, t: float, held: np.ndarray | None = None, start: Start | None = None
) -> tuple[int, int]:
    """Close a state at time t, starting from the system's initial coordinates or from `start`; it is left there.

    The number of redundant rows, and that of corrections of the positions.
    """
    system = state.system
    q0, v0 = (system.q0, system.v0) if start is None else (start.q, start.v)
    state.move(t, q0, v0)
    if start is not None and start.angle is not None:
        state[s.ANGLE_REF][:] = start.angle
    if held is None or not held.any():
        iterations = project_freely(state, projector, t)
    else:
        iterations = project_positions(state, projector, t, held, q0)
    given = system.held_rates if start is None else start.given
    if given is not None and given.any() and not given.all():
        hold_fast(projector, projection_kernels.HEAVY_V, typical_masses(system), given)
        for _ in range(2):
            state[s.V][given] = v0[given]
            _check(projector, state.call(projection_kernels.assemble_velocities, projector.handle), t)
    projector.table[projection_kernels.HEAVY_V][:] = 0.0
    _check(projector, state.call(projection_kernels.assemble_accelerations, projector.handle), t)
    redundant = int(projector.table[projection_kernels.REPORT][projection_kernels.N_REDUNDANT])
    if redundant and system.reads_reactions:
        check_reactions(system, projector)
    if redundant or projector.table[projection_kernels.REPORT][projection_kernels.UNBOUNDED]:
        check_consistency(state, projector, t)
    state[s.Q_MASS][:] = state[s.Q]
    projector.forget_directions()
    return redundant, iterations


def hold_fast(projector: Projector, slot: Slot, masses: np.ndarray, held: np.ndarray) -> None:
    """Make coordinates or rates that are not to move far heavier than the rest."""
    with np.errstate(over="ignore"):  # of masses near the largest number: the solution then is not finite, and says so
        projector.table[slot][:] = np.where(held, HEAVY * masses, 0.0)


def project_freely(state: State, projector: Projector, t: float) -> int:
    """Close the positions near those of the state; the number of corrections."""
    projector.table[projection_kernels.HEAVY_Q][:] = 0.0
    _check(projector, state.call(projection_kernels.assemble_positions, projector.handle), t)
    if projector.table[projection_kernels.REPORT][projection_kernels.UNBOUNDED] and not np.isfinite(state[s.Q]).all():
        raise AssemblyError(f"Assembly at t = {t:.6g} ran off to infinity. Check the geometry of the joints.")
    return int(projector.table[projection_kernels.REPORT][projection_kernels.N_ITERATIONS])


def project_positions(state: State, projector: Projector, t: float, held: np.ndarray, q0: np.ndarray) -> int:
    """Close the positions near `q0` without moving what is held; the number of corrections."""
    system, iterations = state.system, 0
    hold_fast(projector, projection_kernels.HEAVY_Q, typical_masses(system), held)
    for _ in range(PASSES if held.any() else 1):
        state[s.Q][held] = q0[held]
        code = state.call(projection_kernels.assemble_positions, projector.handle)
        if code == projection_kernels.POSITIONS and held.any():
            raise AssemblyError(f"{projector.failure(code, t)} Holding fewer coordinates may help.")
        _check(projector, code, t)
        iterations += int(projector.table[projection_kernels.REPORT][projection_kernels.N_ITERATIONS])
        if np.array_equal(state[s.Q][held], q0[held]):
            break
    projector.table[projection_kernels.HEAVY_Q][:] = 0.0
    if not np.all(np.isfinite(state[s.Q])):
        raise AssemblyError(f"Assembly at t = {t:.6g} ran off to infinity. Check the geometry of the joints.")
    drift = np.abs(state[s.Q] - q0) * held
    worst = int(np.argmax(drift))
    if drift[worst] > HELD:
        names = [f"{body.name}.{name}" for body in system.bodies for name in body.coordinate_names]
        raise AssemblyError(
            f"Assembly at t = {t:.6g} would have to move '{names[worst]}' by {drift[worst]:.3g}, which is held. "
            "Hold fewer coordinates, or correct their values."
        )
    return iterations


def typical_masses(system: System) -> np.ndarray:
    """A mass or inertia for every coordinate, by which to weigh it."""
    masses = np.empty(system.n)
    for body, start in zip(system.bodies, system.starts, strict=False):
        masses[start : start + body.size] = body.mass
    return masses


def check_consistency(state: State, projector: Projector, t: float) -> None:
    """Raise if rows that were skipped as redundant contradict the others."""
    q, v, a, lam = (state[slot].copy() for slot in (s.Q, s.V, s.A, s.LAM))
    line = state.workspace.kept.get("line")
    if line is None or line.sizes != projector.sizes:
        line = state.workspace.kept["line"] = Output(projector.sizes, 1)
    line.empty()
    line.add({"t": np.array([t]), "q": q, "v": v, "a": a, "lam": lam, "angle": state[s.ANGLE_REF]})
    error = projector.project_lines(line, 0, 1, project=False)[1]
    if error is not None:
        raise error
    state.move(t, q, v)
    state[s.A][:], state[s.LAM][:] = a, lam
    if not line.arrays["violation_scaled"].max() <= CONTRADICTION:
        raise projector.failure(projection_kernels.CONTRADICTION, t)


def check_reactions(system: System, projector: Projector) -> None:
    """Raise if a force depends on reactions that redundant rows leave open."""
    open_rows = projector.null_rows()
    for group in system.groups:
        if not getattr(group.element, "reads_reactions", False):
            continue
        joint = next(other for other in system.groups if other.element is group.element.joint)
        names = [system.row_names[k] for k in range(joint.row, joint.row + joint.rows) if open_rows[k]]
        if names:
            raise ModelError(
                f"{group.element.label} depends on the reactions of {joint.element.label}, which redundant rows "
                f"leave undetermined ({', '.join(names)}). Replace a joint of the loop by one with fewer rows."
            )


def displacements(
    system: System, q: np.ndarray, v: np.ndarray, q_start: np.ndarray, v_start: np.ndarray
) -> tuple[dict, dict]:
    """What moved and what changed its velocity by more than rounding, body by body."""
    moved: dict[str, tuple[float, float]] = {}
    changed: dict[str, tuple[float, float]] = {}
    for body, start in zip(system.bodies, system.starts, strict=False):
        part = slice(start, start + body.size)
        split = body.translations
        q_pair, v_pair = np.stack([q_start[part], q[part]]), np.stack([v_start[part], v[part]])
        line, faster = (float(np.linalg.norm((x[1] - x[0])[:split])) for x in (q_pair, v_pair))
        turn = speed_up = 0.0
        if split < body.size:
            motion = body.frame_motion(body.constants(), None, q_pair, v_pair, v_pair)
            turn = rotation_angle(motion.rotation[0].T @ motion.rotation[1])
            speed_up = float(np.linalg.norm(np.diff(motion.angular_velocity, axis=0)))
        elif body.deforms and line > 1e-9:  # its coordinates are not all lengths: the way of its centre of mass
            centre = body.frame_motion(body.constants(), None, q_pair, v_pair, v_pair).position
            line = float(np.linalg.norm(centre[1] - centre[0]))
        for target, change in ((moved, (line, turn)), (changed, (faster, speed_up))):
            if max(change) > 1e-9:
                target[body.name] = change
    return moved, changed


def rotation_angle(A: np.ndarray) -> float:
    """The angle of a rotation matrix, up to a factor, between 0 and pi; exact for small ones too."""
    axial = np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])
    return float(np.arctan2(np.linalg.norm(axial), np.trace(A) - np.cbrt(np.linalg.det(A))))


def _check(projector: Projector, code: int, t: float) -> None:
    if code:
        raise projector.failure(code, t)
