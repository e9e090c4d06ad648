"""Where an analysis starts: the model's own initial state, or one that another analysis found."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from index3.errors import ModelError
from index3.results.result import Result
from index3.system.system import System

SHORT = 0.1
"""Length of Euler parameters, 1 by nature, below which they are a mistake rather than an orientation."""


class Start(NamedTuple):
    """Coordinates and rates to start from; the measured joint angles and the time, where they are known."""

    q: np.ndarray
    v: np.ndarray
    angle: np.ndarray | None = None
    t: float | None = None
    given: np.ndarray | None = None  # a mask of the rates to keep, all of them by default


def initial_or_at(initial: Any, at: Any, analysis: str) -> Any:
    """What was given as `initial`, or by its other name `at`.

    Raises
    ------
    ModelError : both were given.
    """
    if initial is not None and at is not None:
        raise ModelError(f"{analysis} is given initial and at, which mean the same. Give initial alone.")
    return at if initial is None else initial


def starting_point(system: System, at: Any, analysis: str) -> Start | None:
    """What `at` means: None, a result (its last instant), anything else with `.q` and `.v`, or a pair (q, v).

    Raises
    ------
    ModelError : it is none of these, or belongs to a model with other bodies.
    """
    if at is None:
        return None
    angle = t = None
    if isinstance(at, Result):
        if not len(at):
            raise ModelError(f"{analysis}: the result to start from has no output. Run it again.")
        names = [body["name"] for body in at.layout.bodies]
        if names != [body.name for body in system.bodies if body.kind != "states"] or at.q.shape[1] != system.n:
            raise ModelError(
                f"{analysis}: the result to start from has the bodies {short(names)}, model '{system.name}' has others."
            )
        q, v, angle, t = at.q[-1], at.v[-1], at.arrays["angle"][-1], float(at.t[-1])
    elif hasattr(at, "q") and hasattr(at, "v"):
        q, v, angle, t = at.q, at.v, getattr(at, "angle", None), getattr(at, "t", None)
    else:
        try:
            q, v = at
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{analysis}: cannot start from {short(at)}. Give a static equilibrium, a result, (q, v), or joint "
                "coordinates such as {'pin.angle': 0.3}."
            ) from None
    if angle is not None and len(angle) != len(system.angle_joints):
        angle = None  # of a model with other joints: turns are counted from the initial ones
    start = Start(_vector(system, q, "q", analysis), _vector(system, v, "v", analysis), angle, t)
    check_orientations(system, start.q, analysis)
    return start


def check_orientations(system: System, q: np.ndarray, analysis: str) -> None:
    """Refuse Euler parameters that tell no orientation.

    Raises
    ------
    ModelError : those of a body are all but zero.
    """
    for body, first in zip(system.bodies, system.starts.tolist(), strict=False):
        if "normalisation" in body.own_rows:
            p = q[first + 3 : first + 7]
            if p.dot(p) < SHORT**2:
                raise ModelError(
                    f"{analysis}: q to start from has the Euler parameters {p.tolist()} for {body.label}. Give four "
                    "numbers whose squares add up to 1, such as 1, 0, 0, 0 for the axes of ground."
                )


def _vector(system: System, x: Any, name: str, analysis: str) -> np.ndarray:
    try:
        array = np.array(x, float)
    except (TypeError, ValueError, OverflowError):
        array = np.full(1, np.nan)
    if array.shape != (system.n,) or not np.all(np.isfinite(array)):
        raise ModelError(
            f"{analysis}: {name} to start from is {short(x)}. Model '{system.name}' needs {system.n} finite numbers."
        )
    return array
