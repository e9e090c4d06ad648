"""Linear and angular momentum of the parts of a model that nothing outside acts on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from index3.compiled import slots as s
from index3.engine.segments import Segment
from index3.methods import run
from index3.results.audit import Check
from index3.results.kinematics import body_kinematics
from index3.system import evaluate
from index3.system.system import System

LINES = 5
"""Lines of output at which applied forces are asked whether they cancel."""
BALANCED = 1e-9
"""Part of the applied forces that their sum may be by rounding."""
WEIGHTS = 100.0
"""The least scale of a momentum, in momenta of bodies as fast as the absolute tolerance."""


def momentum_checks(segment: Segment, arrays: Mapping[str, np.ndarray], part: float) -> list[Check]:
    """One check of each momentum per free part of the model; drifts from the first line of output."""
    system, checks = segment.variant.whole, []
    allowed = float(np.max(segment.run[run.ATOL][: system.first_state], initial=0.0))
    for bodies in free_parts(system):
        if not balanced(segment, bodies, arrays):
            continue
        name = "" if len(bodies) == len(system.bodies) else f" of {system.bodies[bodies[0]].name}"
        linear, angular, scales = momenta(system, bodies, arrays, allowed)
        for label, history, scale, unit in (
            ("momentum", linear, scales[0], "kg m/s"), ("angular momentum", angular, scales[1], "kg m^2/s"),
        ):  # fmt: skip
            drift = float(np.max(np.linalg.norm(history - history[0], axis=1)))
            checks.append(Check(f"{label}{name}", drift, part * scale, unit))
    return checks


def free_parts(system: System) -> list[list[int]]:
    """Bodies tied to each other, by number, where nothing ties them to ground; those whose momentum is known."""
    gravity = np.asarray(system.fixed[s.GRAVITY]) if s.GRAVITY in system.fixed else np.zeros(3)
    number = {id(body): k for k, body in enumerate(system.bodies)}
    owner, tied = list(range(len(system.bodies))), set()

    def root(k: int) -> int:
        while owner[k] != k:
            k = owner[k]
        return k

    for group in system.groups:
        members = [number.get(id(marker.body), -1) for marker in group.markers]
        inside = [k for k in members if k >= 0]
        for k in inside[1:]:
            owner[root(k)] = root(inside[0])
        if -1 in members or not members:
            tied.update(inside)
    parts: dict[int, list[int]] = {}
    for k in range(len(system.bodies)):
        parts.setdefault(root(k), []).append(k)
    lost = {root(k) for k in tied}
    return [part for key, part in parts.items() if key not in lost and is_free(system, part, gravity)]


def is_free(system: System, part: list[int], gravity: np.ndarray) -> bool:
    """Whether neither gravity nor rows of their own act on these bodies, and their frames tell their momentum."""
    bodies = [system.bodies[k] for k in part]
    if np.any(gravity) or any(body.planar or body.held or body.deforms for body in bodies):
        return False
    known = [body.kind == "point" or np.shape(getattr(body, "inertia", 0.0)) == (3, 3) for body in bodies]
    return all(known)


def balanced(segment: Segment, part: list[int], arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether the forces applied to these bodies cancel, at some lines of output."""
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
    if not markers or not any(group.primitives == [] for group in system.groups):
        return True
    for k in np.unique(np.linspace(0, len(arrays["t"]) - 1, LINES).astype(int)):
        state.move(float(arrays["t"][k]), arrays["q"][k], arrays["v"][k])
        state[s.A][:], state[s.LAM][:] = arrays["a"][k], 0.0
        if state.run(evaluate.forces):
            system.take_failures()
            return False
        force, r = state[s.MARKER_F][markers], state[s.MARKER_R][markers]
        torque = force[:, 3:] + np.cross(r, force[:, :3])
        for wrench in (force[:, :3], torque):
            if np.linalg.norm(wrench.sum(axis=0)) > BALANCED * np.linalg.norm(wrench, axis=1).sum():
                return False
    return True


def momenta(
    system: System, part: list[int], arrays: Mapping[str, np.ndarray], allowed: float
) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Momentum and angular momentum about the common centre of mass, (n_t, 3) each, and the scales of both."""
    m, r, v, spin, turning = [], [], [], [], 0.0
    for k in part:
        body, first = system.bodies[k], int(system.starts[k])
        columns = slice(first, first + body.size)
        entry = {"name": body.name, "kind": body.kind, "constants": body.constants()}
        moves = body_kinematics(entry, arrays["q"][:, columns], arrays["v"][:, columns], arrays["a"][:, columns], None)
        m.append(body.mass)
        r.append(moves.position)
        v.append(moves.velocity)
        inertia = np.zeros((3, 3)) if body.kind == "point" else body.inertia
        A = moves.rotation
        spin.append(np.einsum("tij,jk,tlk,tl->ti", A, inertia, A, moves.angular_velocity))
        turning += float(np.trace(inertia))
    mass = np.array(m)[:, None, None]
    whole, places, speeds = mass.sum(), np.array(r), np.array(v)
    linear = (mass * speeds).sum(axis=0)
    arms, rates = places - (mass * places).sum(axis=0) / whole, speeds - linear / whole
    orbits = np.cross(arms, mass * rates)
    size = float(np.max((np.linalg.norm(orbits, axis=2) + np.linalg.norm(spin, axis=2)).sum(axis=0)))
    least = WEIGHTS * allowed * (turning + float(np.max((mass[:, :, 0] * np.linalg.norm(arms, axis=2)).sum(axis=0))))
    speed = float(np.max((mass[:, :, 0] * np.linalg.norm(speeds, axis=2)).sum(axis=0)))
    scales = max(speed, WEIGHTS * allowed * float(whole)), max(size, least)
    return linear, orbits.sum(axis=0) + np.sum(spin, axis=0), scales
