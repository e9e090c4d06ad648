"""Small motions beside a motion, as displacements and turns of the bodies in axes at rest or turning.

Coordinates such as Euler parameters change with the turn of a body even where nothing else does: beside a wheel that
rolls steadily, equations in them depend on time. In the displacement and turn z and the change y of the velocity and
angular velocity of every body, along axes that turn with Omega, those beside a steady motion are constant:

    z' = d/dt (J dq) - Omega x z,    y' = d(V') - Omega x y,    V = J(q) v the twist of a body.

Where coordinates are vectors in ground axes, as those of beams, they are z themselves; modal coordinates count in the
axes of their body's frame, so that no axes turn beside them.

The derivatives along changes of the coordinates are taken with an imaginary step, so they are exact to rounding.
"""

from __future__ import annotations

from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from index3.bodies.kinematics import Kinematics
from index3.errors import ModelError
from index3.model.model import Model
from index3.system.system import System

STEP = 1e-30
"""The imaginary step: its square is lost in rounding, nothing is subtracted."""


class SmallMotion(NamedTuple):
    """z', y and y' as changes of coordinates, (n, k) each for k changes of the state; what the point itself does there.

    `acceleration` (n,) is what the axes see of the bodies' accelerations, zero in a steady motion; `carried` (n,), the
    twists times the rates of turning, is what such accelerations are to be compared with.
    """

    displacement_rate: np.ndarray
    velocity: np.ndarray
    velocity_rate: np.ndarray
    acceleration: np.ndarray
    carried: np.ndarray


def axes_rate(model: Model, system: System, frame: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The angular velocity (3,) of the axes that `frame` means.

    None, a body's name, a body, a part of a linkage, or the vector itself.
    """
    if frame is None:
        return np.zeros(3)
    part = frame.name if hasattr(frame, "linkage") else None
    name = getattr(getattr(frame, "linkage", frame), "name", frame)
    if isinstance(name, str):
        if name not in model.bodies:
            model[name]  # raises for an unknown name, with the nearest ones
            raise ModelError(f"linearize: frame = '{name}' is not a body. Give a body or an angular velocity.")
        starts = dict(zip((body.name for body in system.bodies), system.starts, strict=False))
        body = model.bodies[name]
        columns = slice(starts[name], starts[name] + body.size)
        frames = list(body.constants().get("frames", ("",)))
        if part is None and len(frames) > 1:
            raise ModelError(
                f"linearize: frame = '{name}' is a linkage of several parts. Give one of them, as in "
                f"frame=model['{name}']['part'], or an angular velocity."
            )
        if part is not None and not body.is_oriented(part):
            raise ModelError(f"linearize: part '{part}' of {body.label} has no axes. Give an angular velocity.")
        first = 0 if part is None else 6 * frames.index(part)
        turning = twists(body, q[None, columns], v[None, columns], 0.0 * v[None, columns])[0]
        return turning[0, first + 3 : first + 6]
    try:
        rate = np.array(frame, float)
    except (TypeError, ValueError, OverflowError):
        rate = np.empty(0)
    if rate.shape != (3,) or not np.all(np.abs(rate) < 1e100):  # squares of larger ones are no numbers
        raise ModelError(
            f"linearize: frame = {short(frame)}. Give the name of a body or three finite numbers in rad/s."
        )
    return rate


def twists(body: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and angular velocity, and their rates, (k, 6) each for lines (k, size) of a body's coordinates.

    A linkage of p parts has (k, 6 p), part by part.
    """
    constants, inner = body.constants(), inner_coordinates(body)
    motions: list[Kinematics] = [
        body.frame_motion(constants, part, q, v, a) for part in constants.get("frames", (None,))
    ]
    rates = [x for motion in motions for x in (motion.velocity, motion.angular_velocity)]
    changes = [x for m in motions for x in (m.acceleration, m.angular_acceleration)]
    return np.hstack([*rates, v[:, inner]]), np.hstack([*changes, a[:, inner]])


def inner_coordinates(body: Any) -> np.ndarray:
    """Numbers of the coordinates of a body that deforms in a frame which say how: those of its modes."""
    if not body.deforms:
        return np.zeros(0, int)
    places = body.places
    frame = [*places.vectors.ravel(), *(range(places.quaternion, places.quaternion + 4))]
    return np.setdiff1d(np.arange(body.size), frame)


def turn_with(rate: np.ndarray, lines: np.ndarray, inner: int = 0) -> np.ndarray:
    """Omega x each of the vectors that lie side by side in (k, 3 j + inner), but for the last columns: zero."""
    vectors = lines[:, : lines.shape[1] - inner]
    turned = np.cross(rate, vectors.reshape(-1, 3)).reshape(vectors.shape)
    return np.hstack([turned, np.zeros((len(lines), inner), turned.dtype)])


def turn_coordinates(body: Any, rate: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """Omega x each of the vectors that the coordinates (k, size) of a beam are."""
    vectors = body.places.vectors
    spatial = np.zeros((len(lines), len(vectors), 3))
    spatial[:, :, : vectors.shape[1]] = lines[:, vectors]
    turned = np.zeros_like(lines)
    turned[:, vectors] = np.cross(rate, spatial)[:, :, : vectors.shape[1]]
    return turned


def follow(system: System, point: dict[str, Any], changes: dict[str, np.ndarray], rate: np.ndarray) -> SmallMotion:
    """Changes of q, v, a (n, k) beside the point q, v, a as a small motion in axes that turn with `rate`.

    First-order states stand for themselves, and in axes at rest so do the coordinates of bodies that deform.
    Raises a ModelError for bodies of other packages that deform and do not say which of their coordinates are vectors.
    """
    dq, dv, da = changes["q"], changes["v"], changes["a"]
    motion = SmallMotion(dv.copy(), dv.copy(), da.copy(), point["a"].copy(), np.zeros_like(point["a"]))
    for body, start in zip(system.bodies, system.starts, strict=False):
        columns = slice(start, start + body.size)
        if body.kind == "states" or (body.deforms and not rate.any()):
            continue
        if body.deforms and body.places is None:
            raise ModelError(f"linearize: {body.label} deforms. Leave frame out: its small motion needs axes at rest.")
        here = tuple(point[key][columns] for key in ("q", "v", "a"))
        way = follow_vectors if body.deforms and body.places.vectors.size == body.size else follow_body
        found = way(body, here, (dq[columns].T, dv[columns].T, da[columns].T), rate)
        for whole, part in zip(motion, found, strict=True):
            whole[columns] = part
    return motion


def follow_vectors(body: Any, here: tuple[Any, ...], changes: tuple[Any, ...], rate: np.ndarray) -> tuple[Any, ...]:
    """The columns in a `SmallMotion` of a body whose coordinates are vectors in ground axes."""
    (_, v, a), (dq, dv, da) = here, changes
    z_rate, y_rate = (x - turn_coordinates(body, rate, y) for x, y in ((dv, dq), (da, dv)))
    seen = a - turn_coordinates(body, rate, v[None])[0]
    return z_rate.T, dv.T, y_rate.T, seen, np.linalg.norm(rate) * v


def follow_body(body: Any, here: tuple[Any, ...], changes: tuple[Any, ...], rate: np.ndarray) -> tuple[Any, ...]:
    """The columns of one body in a `SmallMotion`."""
    (q, v, a), (dq, dv, da) = here, changes
    inner = len(inner_coordinates(body))
    lines = np.ones((body.size, 1)) * q
    jacobian = twists(body, lines, np.eye(body.size), 0.0 * lines)[0]  # V = v J
    back = np.linalg.pinv(jacobian)
    z = dq @ jacobian
    z_rate = twists(body, q + 1j * STEP * v + 0.0 * dq, dq + 1j * STEP * dv, 0.0 * dv)[0].imag / STEP
    changed = twists(body, q + 1j * STEP * dq, v + 1j * STEP * dv, a + 1j * STEP * da)
    y, y_rate = (x.imag / STEP for x in changed)
    now, now_rate = twists(body, q[None], v[None], a[None])
    seen = now_rate - turn_with(rate, now, inner)
    spins = now[0, : now.shape[1] - inner].reshape(-1, 2, 3)[:, 1]
    carried = (np.linalg.norm(rate) + np.linalg.norm(spins, axis=1).max()) * now
    found = (z_rate - turn_with(rate, z, inner), y, y_rate - turn_with(rate, y, inner))
    return *((x @ back).T for x in found), (seen @ back)[0], (carried @ back)[0]
