"""Drives along the line between two points: hydraulic cylinders, winches, muscles.

The thrust f pushes the points apart: it is the tension -f of `index3.forces.line`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from index3.algebra.vectors import dot, outer, scale
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.constraints.meeting import ends_met
from index3.fields import ENDS, TWO_POINTS, declare, time_function
from index3.forces.driven import DRIVE_FIELDS, FORCE, SIZE, SLOPES, Driven, DrivenTable, drive, drive_slopes, drives
from index3.forces.force import Place
from index3.forces.line import add_line_stiffness, add_pair, ends_meet, pull_together, stretch, two_ends
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import BodyOrMarker, PointPair, TimeFunction, UserFunction

CYLINDER = np.dtype([("i", "i8"), ("j", "i8"), ("group", "i8"), *DRIVE_FIELDS])
CYLINDERS, BLOCKS, SEEN = slots(cylinders=(CYLINDER, 1), blocks=("f8", 1), seen=("f8", 2))
MEMORY = (BLOCKS, SEEN)


class LineActuator(Driven):
    """A thrust along the line between two points, positive pushes them apart: a hydraulic cylinder, or a winch.

    Parameters
    ----------
    name : str
    first, second : two markers, or two bodies together with `points`
    f : number, function f(t), or function f(t, length, rate) of the distance of the points [m] and its rate [m/s], that
        returns the thrust [N]; plain Python, or decorated with `numba.njit`. Negative thrust pulls the points together
    points : (on the first body, on the second body) in ground at the initial configuration [m]
    derivatives : for a function of t, length and rate: function of the same that returns (df/dlength, df/drate). By
        default they are taken by differences, four calls of f for each Jacobian.

    Its work is counted as work. In results `tension` is -f. An exception in a Python function ends the run and is shown
    with its own traceback. `Actuator` drives the coordinate of a joint instead.

    Raises
    ------
    ModelError : names the actuator.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> boom = RigidBody.rod("boom", (0, 0, 2), (4, 0, 2), mass=200.0)
    >>> LineActuator("ram", Ground(), boom, lambda t, length, rate: 8e3 - 2e3 * rate, points=((1, 0, 0), (2, 0, 2)))
    LineActuator('ram', 'ground', 'boom')
    """

    kind = __name__
    page = "elements/limits_and_actuators.md"
    symbol = "piston"
    along = ("line",)
    coordinate_name = "length"
    fields = declare(ENDS, TWO_POINTS, f=time_function("force"))

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        f: TimeFunction | UserFunction,
        *,
        points: PointPair | None = None,
        derivatives: UserFunction | None = None,
    ) -> None:
        super().__init__(name)
        self.markers = two_ends(self.label, first, second, points)
        self._drive_by(f, derivatives)

    def explain(self, stage: str, t: float) -> str:
        """What went wrong in the user's function, or both ends at one point."""
        if self.failure is None and self.timed:
            return ends_meet(self.label, t)
        said = super().explain(stage, t)
        return said if self.failure is not None else f"{said} Or the ends meet: then the thrust has no direction."


class LineActuatorTable(DrivenTable):
    """The table of line actuators."""

    records = CYLINDERS


def table(elements: Sequence[LineActuator], places: Sequence[Place]) -> LineActuatorTable:
    """The table of all line actuators of a system."""
    result = LineActuatorTable(3)
    result[BLOCKS] = np.zeros(SIZE * len(elements))
    result[SEEN] = np.full((len(elements), 8), np.nan)
    rows = zip(places, drives(result, elements, places), strict=True)
    result[CYLINDERS] = np.array([(*place.markers, place.stiffness, *how) for place, how in rows], CYLINDER)
    return result


@kernel
def forces(T, E):
    """Push the ends of every line apart, and keep the thrust for `energy` and `force_derivatives`."""
    cylinders, blocks, seen, t = view(E, CYLINDERS), view(E, BLOCKS), view(E, SEEN), view(T, s.TIME)[0]
    stepping = view(T, s.STATUS)[s.STEPPING] == 1
    for e in range(cylinders.shape[0]):
        i, j = cylinders[e].i, cylinders[e].j
        length, u, v = stretch(T, i, j)
        if length == 0.0 or (stepping and ends_met(seen[e], t, length, u)):
            return e + 1
        if drive(T, blocks, cylinders[e], length, dot(u, v)) != OK:
            return e + 1
        pull_together(T, i, j, -blocks[cylinders[e].first + FORCE], u)
    return OK


@kernel
def force_derivatives(T, E):
    """Derivatives of every thrust."""
    cylinders, blocks, K, D = view(E, CYLINDERS), view(E, BLOCKS), view(T, s.GROUP_K), view(T, s.GROUP_D)
    for e in range(cylinders.shape[0]):
        cylinder, first = cylinders[e], cylinders[e].first
        length, u, v = stretch(T, cylinder.i, cylinder.j)
        if length == 0.0 or drive_slopes(T, blocks, cylinder, length, dot(u, v)) != OK:
            return e + 1
        k, c = -blocks[first + SLOPES], -blocks[first + SLOPES + 1]
        add_line_stiffness(K, cylinder.group, length, u, v, -blocks[first + FORCE], k, c)
        if cylinder.timed < 0:
            add_pair(D, cylinder.group, outer(scale(c, u), u))
    return OK


@kernel
def energy(T, E):
    """Power of every thrust."""
    cylinders, blocks, values = view(E, CYLINDERS), view(E, BLOCKS), view(T, s.ENERGY)
    for e in range(cylinders.shape[0]):
        _, u, v = stretch(T, cylinders[e].i, cylinders[e].j)
        values[s.POWER] += blocks[cylinders[e].first + FORCE] * dot(u, v)
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(LineActuator)
