"""Consistent initial positions, velocities, accelerations and multipliers of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from index3.analysis.instants import one_line
from index3.engine.assembly import Assembly
from index3.engine.equations import Equations
from index3.engine.settings import check_model, check_time, listed
from index3.engine.start import initial_or_at
from index3.errors import ModelError
from index3.model.model import Model
from index3.system.system import System

if TYPE_CHECKING:
    from index3.user_types import InitialState


def assemble(
    model: Model,
    t: float = 0.0,
    *,
    hold: Iterable[str] = (),
    initial: InitialState | None = None,
    at: InitialState | None = None,
) -> Assembly:
    """Find a consistent state near the one that the model describes.

    Parameters
    ----------
    model : Model
    t : time at which motions are to hold
    hold : names of bodies, or of coordinates such as "crank.x", that stay where they are
    initial : where to start instead: what `static`, `assemble` or `simulate` returned (its last instant), (q, v), or
        joint coordinates and rates by name, {"pin.angle": 0.3, "pin.angle_rate": 2.0}, which are then met
    at : other name of `initial`

    `assembly["crank"].acceleration`, `assembly["A"].force` and the like are values there, `assembly.result.energy` too.
    Positions and velocities move as little as possible in the kinetic-energy norm; velocities that the user gave stay,
    where the constraints allow it.

    Raises
    ------
    AssemblyError : no consistent state was found, or none without moving what is held; the worst rows are named.
    ModelError : not a model, an unknown name in `hold`, or a function of the user that fails at `t`.
    """
    check_model(model, "assemble")
    t = check_time(t, "assemble")
    equations = Equations(model, "assemble")
    start = equations.start(initial_or_at(initial, at, "assemble"), t)
    assembly = equations.assemble(t, start, held_coordinates(equations.system, hold))
    info = {"method": "assemble", "message": f"Assembled in {assembly.iterations} corrections."}
    assembly.result = one_line(model, equations, assembly.a, info)
    return assembly


def held_coordinates(system: System, names: Iterable[str]) -> np.ndarray:
    """A mask of the coordinates named by bodies or by "body.coordinate"."""
    held = np.zeros(system.n, bool)
    bodies = {body.name: (body, int(start)) for body, start in zip(system.bodies, system.starts, strict=False)}
    for name in listed(names, "assemble: hold =", "Give names of bodies, or of coordinates such as 'crank.x'."):
        owner, _, coordinate = str(name).partition(".")
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
