"""Linear and angular momentum of the parts of a model that nothing outside acts on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.engine.segments import Segment
from index3.methods import audit, run
from index3.results.audit import ADVICE, Check
from index3.results.kinematics import body_kinematics
from index3.system import evaluate
from index3.system.state import State
from index3.system.system import System

FIRST, LOOK = 100, 1000
"""Tried steps before the first look at the momenta, and between two looks at most; at first as many as before all of
them. A look takes as long as some steps."""
NEVER = 2**62
NOTHING = np.zeros((0, 2))
LOST = 0.5
"""Part of the scale beyond which a run is ended. No damping takes momentum, so that this is less than for energy."""
SPARED = 0.25
"""Part of the allowed drift that a run should have left at its end, if it goes on as since the last look."""
LINES = 5
"""Lines of output at which applied forces are asked whether they cancel."""
BALANCED = 1e-9
"""Part of the applied forces that their sum may be by rounding."""
WEIGHTS = 100.0
"""The least scale of a momentum, in momenta of bodies as fast as the absolute tolerance."""


class Momenta:
    """Momentum and angular momentum of the free parts of a model, from the start of a run on.

    They are looked at after every so many steps, and at the lines of output when the run is over.
    """

    def __init__(self, segment: Segment) -> None:
        whole = segment.variant.whole
        if "free parts" not in whole.found:
            whole.found["free parts"] = free_parts(whole)
        self.parts: list[list[int]] = whole.found["free parts"]
        self.start: dict[str, np.ndarray] = {}
        self.next_look, self.looked = NEVER, segment.first  # at the last look
        self.largest = self.drifts = NOTHING  # scales so far, drifts at the last look
        if self.parts:
            self.start, self.next_look = present(segment), FIRST
            self.largest, self.drifts = np.zeros((2, len(self.parts), 2))

    def look(self, segment: Segment, tried: int, last: bool) -> str:
        """What to tell of a part that has come to another momentum altogether, by more than its scale; or nothing.

        Momentum that drifts steadily, too fast to stay within its bound until the end, is met by smaller tolerances.
        `tried` is the number of steps tried so far, `last` whether these are all.
        """
        if not self.parts or (tried < self.next_look and not last):
            return ""
        self.next_look = tried + min(LOOK, max(FIRST, tried))
        mode = segment.run[run.AUDIT][audit.MODE]
        if mode < audit.WARN:
            return ""
        now = present(segment)
        both = {key: np.concatenate([self.start[key], now[key]]) for key in now}
        checks = momentum_checks(segment, self.parts, both, LOST, self.largest)
        drifts = np.array([check.value for check in checks]).reshape(-1, 2)
        too_fast = self.run_out(segment, drifts)
        self.drifts, self.looked = drifts, segment.run.t
        for k, check in enumerate(checks):
            if not (too_fast.flat[k] or not check.ok) or not balanced(segment, self.parts[k // 2], both):
                continue
            if not check.ok and mode == audit.FAIL:
                return lost(segment, check)
            if too_fast.flat[k]:
                progress = segment.run
                audit.cut_tolerances(progress[run.AUDIT], progress[run.TOLERANCE], progress[run.ATOL])
                break
        return ""

    def run_out(self, segment: Segment, drifts: np.ndarray) -> np.ndarray:
        """Whether each momentum would drift beyond its bound until the end of the run, at its rate since the last look.

        No method damps momentum, so its errors add up, and go on as they did.
        """
        clock, watched = segment.run[run.CLOCK], segment.run[run.AUDIT]
        passed, left = segment.run.t - self.looked, max(0.0, float(clock[run.T_END]) - segment.run.t)
        if min(passed, left) <= 0.0 or watched[audit.STRICT] >= audit.MOST_STRICT:
            return np.zeros(drifts.shape, bool)
        allowed, rates = watched[audit.PART] * self.largest, np.maximum(drifts - self.drifts, 0.0) / passed
        return (drifts + left * rates > (1.0 - SPARED) * allowed) & (rates > 0.0)


def lost(segment: Segment, check: Check) -> str:
    """Why a run was ended by a momentum."""
    return (
        f"The {check.name} should be constant, since no external force acts: by t = {segment.run.t:.6g} "
        f"the run by {segment.method.key} changed it by {check.value:.3g} {check.unit}, more than half "
        f"of what there was ({check.bound / LOST:.3g}). The motion there is wrong: {ADVICE}"
    )


def present(segment: Segment) -> dict[str, np.ndarray]:
    """The last accepted state of a run, as one line of output."""
    state = {"q": segment.run[run.NEW_Q], "v": segment.run[run.NEW_V], "a": segment.run[run.NEW_A]}
    return {key: values[None].copy() for key, values in state.items()} | {"t": np.array([segment.run.t])}


def momentum_checks(
    segment: Segment,
    parts: list[list[int]],
    arrays: Mapping[str, np.ndarray],
    part: float,
    largest: np.ndarray | None = None,
) -> list[Check]:
    """One check of each momentum per free part of the model; drifts from the first line of output.

    `largest` (parts, 2) holds scales found before and takes up those of these lines.
    """
    system, checks = segment.variant.whole, []
    allowed = float(np.max(segment.run[run.ATOL][: system.first_state], initial=0.0))
    largest = np.zeros((len(parts), 2)) if largest is None else largest
    for k, bodies in enumerate(parts):
        name = "" if len(bodies) == len(system.bodies) else f" of {system.bodies[bodies[0]].name}"
        linear, angular, sizes, least = momenta(system, bodies, arrays, allowed)
        for i, (label, history, unit) in enumerate(
            (("momentum", linear, "kg m/s"), ("angular momentum", angular, "kg m^2/s"))
        ):
            drifts = np.linalg.norm(history - history[0], axis=1)
            # the sizes are taken without what came from nowhere
            largest[k, i] = max(largest[k, i], least[i], float(np.max(sizes[i] - drifts)))
            checks.append(Check(f"{label}{name}", float(np.max(drifts)), part * float(largest[k, i]), unit))
    return checks


def free_parts(system: System) -> list[list[int]]:
    """Bodies tied to each other, by number, where nothing ties them to ground; those whose momentum is known."""
    gravity = np.asarray(system.fixed[s.GRAVITY]) if s.GRAVITY in system.fixed else np.zeros(3)
    if np.any(gravity[:2]) or (np.any(gravity) and not any(body.planar for body in system.bodies)):
        return []  # as `is_free` would say of each
    number = {id(body): k for k, body in enumerate(system.bodies)}
    owner, tied = list(range(len(system.bodies))), set()

    def root(k: int) -> int:
        while owner[k] != k:
            k = owner[k]
        return k

    for group in system.groups:
        members = np.array([number.get(id(marker.body), -1) for marker in group.markers], int)
        for own in [members] if group.ties is None else members[group.ties]:
            inside = [k for k in own.tolist() if k >= 0]
            for k in inside[1:]:
                owner[root(k)] = root(inside[0])
            if len(inside) < len(own) or (group.primitives and len(set(inside)) == 1):  # a row of one body is ground's
                tied.update(inside)
    parts: dict[int, list[int]] = {}
    for k in range(len(system.bodies)):
        parts.setdefault(root(k), []).append(k)
    lost = {root(k) for k in tied}
    return [part for key, part in parts.items() if key not in lost and is_free(system, part, gravity)]


def is_free(system: System, part: list[int], gravity: np.ndarray) -> bool:
    """Whether neither gravity nor rows of their own act on these bodies, and their frames tell their momentum."""
    bodies = [system.bodies[k] for k in part]
    flat = all(body.planar for body in bodies)
    if np.any(gravity[:2] if flat else gravity):
        return False
    if any(body.held or body.deforms or body.planar != flat for body in bodies):
        return False
    size = () if flat else (3, 3)
    return all(body.kind == "point" or np.shape(getattr(body, "inertia", (0.0,))) == size for body in bodies)


def inertia_of(body: Any) -> np.ndarray:
    """Its inertia (3, 3) in body axes; of a planar body what counts in its plane."""
    if body.kind == "point":
        return np.zeros((3, 3))
    return np.diag((0.0, 0.0, body.inertia)) if body.planar else np.asarray(body.inertia)


def balanced(segment: Segment, part: list[int], arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether the forces applied to these bodies cancel, and what users' rows do to them, at some lines of output.

    Reactions of all other joints do: what they put on one marker they take from another. A user's row of two bodies may
    hold them to a place in ground.
    """
    system, state = segment.variant.system, segment.variant.state
    inside = {id(segment.variant.whole.bodies[k]) for k in part}
    markers = sorted(
        {
            number
            for group in system.groups
            for marker, number in zip(group.markers, group.marker_numbers, strict=True)
            if id(marker.body) in inside
        }
    )
    own = [group for group in system.groups if any(primitive.kind == "user" for primitive in group.primitives)]
    if not markers or not (own or any(group.primitives == [] for group in system.groups)):
        return True
    kept, lam = state.save(), np.zeros(system.m)
    for group in own:
        lam[group.row : group.row + group.rows] = 1.0
    try:
        return forces_cancel(state, markers, arrays, lam)
    finally:
        state.restore(kept)


def forces_cancel(state: State, markers: list[int], arrays: Mapping[str, np.ndarray], lam: np.ndarray) -> bool:
    """Whether what acts at these markers, with these multipliers, has neither a sum nor a moment, at some lines."""
    for k in sorted(set(np.linspace(0, len(arrays["t"]) - 1, LINES).astype(int).tolist())):
        state.move(float(arrays["t"][k]), arrays["q"][k], arrays["v"][k])
        state[s.A][:], state[s.LAM][:] = arrays["a"][k], lam
        if state.run(evaluate.forces):
            state.system.take_failures()
            return False
        force, r = state[s.MARKER_F][markers], state[s.MARKER_R][markers]
        torque = force[:, 3:] + np.cross(r, force[:, :3])
        for wrench in (force[:, :3], torque):
            if np.linalg.norm(wrench.sum(axis=0)) > BALANCED * np.linalg.norm(wrench, axis=1).sum():
                return False
    return True


def momenta(
    system: System, part: list[int], arrays: Mapping[str, np.ndarray], allowed: float
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray], tuple[float, float]]:
    """Momentum and angular momentum about the common centre of mass, (n_t, 3) each.

    Then the sums of the bodies' own momenta, (n_t,) each, and the least scales of both.
    """
    m, r, v, spin, turning = [], [], [], [], 0.0
    for k in part:
        body, first = system.bodies[k], int(system.starts[k])
        columns = slice(first, first + body.size)
        entry = {"name": body.name, "kind": body.kind, "constants": body.constants()}
        moves = body_kinematics(entry, arrays["q"][:, columns], arrays["v"][:, columns], arrays["a"][:, columns], None)
        m.append(body.mass)
        r.append(moves.position)
        v.append(moves.velocity)
        inertia, A = inertia_of(body), moves.rotation
        spin.append(np.einsum("tij,jk,tlk,tl->ti", A, inertia, A, moves.angular_velocity))
        turning += float(np.trace(inertia))
    mass = np.array(m)[:, None, None]
    whole, places, speeds = mass.sum(), np.array(r), np.array(v)
    linear = (mass * speeds).sum(axis=0)
    arms, rates = places - (mass * places).sum(axis=0) / whole, speeds - linear / whole
    orbits = np.cross(arms, mass * rates)
    turns = (np.linalg.norm(orbits, axis=2) + np.linalg.norm(spin, axis=2)).sum(axis=0)
    reach = float(np.max((mass[:, :, 0] * np.linalg.norm(arms, axis=2)).sum(axis=0)))
    own = (mass[:, :, 0] * np.linalg.norm(speeds, axis=2)).sum(axis=0)
    least = WEIGHTS * allowed * float(whole), WEIGHTS * allowed * (turning + reach)
    return linear, orbits.sum(axis=0) + np.sum(spin, axis=0), (own, turns), least
