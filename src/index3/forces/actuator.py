"""Drives on a joint coordinate: a force or torque by a function of time, or of time, coordinate and rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.fields import JOINT, TEXT, declare, effort_dimension, time_function
from index3.forces.along_coordinate import (
    COORDINATE_FIELDS,
    ROOM,
    JointForce,
    add_derivatives_along,
    add_force_along,
    coordinate,
)
from index3.forces.driven import DRIVE_FIELDS, FORCE, SIZE, SLOPES, Driven, DrivenTable, drive, drive_slopes, drives
from index3.forces.force import Place
from index3.registry import register

if TYPE_CHECKING:
    from index3.joints.base import Joint
    from index3.user_types import TimeFunction, UserFunction

ACTUATOR = np.dtype([*COORDINATE_FIELDS, *DRIVE_FIELDS])
ACTUATORS, BLOCKS, SPACE = slots(actuators=(ACTUATOR, 1), blocks=("f8", 1), space=("f8", 2))
MEMORY = (BLOCKS, SPACE)


class Actuator(Driven, JointForce):
    """A generalised force on a joint coordinate: torque on an angle, force along a displacement.

    It acts on the second body in the direction of the growing coordinate, and opposite on the first.

    Parameters
    ----------
    name : str
    joint : a joint with an angle or displacement
    f : number, function f(t), or function f(t, x, rate) of the coordinate (zero at assembly, angles over full turns)
        and its rate, that returns the torque [N m] or force [N]; plain Python, or decorated with `numba.njit`
    derivatives : for a function of t, x and rate: function of the same that returns (df/dx, df/drate). By default they
        are taken by differences, four calls of f for each Jacobian.
    coordinate : name of the joint's coordinate; needed only if the joint has several

    Its work is counted as work. An exception in a Python function ends the run and is shown with its own traceback.

    Raises
    ------
    ModelError : names the actuator.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.planar_body import PlanarBody
    >>> from index3.joints.standard import Revolute
    >>> pin = Revolute("pin", Ground(), PlanarBody("arm", 1.0, 0.1), at=(0, 0, 0), axis=(0, 0, 1))
    >>> Actuator("servo", pin, lambda t, x, rate: 50.0 * (1.0 - x) - 2.0 * rate)
    Actuator('servo', 'ground', 'arm')
    """

    kind = __name__
    page = "elements/limits_and_actuators.md"
    fields = declare(joint=JOINT, f=time_function(effort_dimension), coordinate=TEXT)

    def __init__(
        self,
        name: str,
        joint: Joint,
        f: TimeFunction | UserFunction,
        *,
        derivatives: UserFunction | None = None,
        coordinate: str | None = None,
    ) -> None:
        super().__init__(name)
        self._act_on(joint, coordinate)
        self._drive_by(f, derivatives)

    @property
    def symbol(self) -> str:  # type: ignore[override]  # depends on the coordinate
        """A motor on an angle, a piston along a displacement."""
        return "motor" if self.turns else "piston"


class ActuatorTable(DrivenTable):
    """The table of actuators."""

    records = ACTUATORS


def table(elements: Sequence[Actuator], places: Sequence[Place]) -> ActuatorTable:
    """The table of all actuators of a system."""
    result = ActuatorTable(3)
    result[BLOCKS] = np.zeros(SIZE * len(elements))
    result[SPACE] = np.zeros(ROOM)
    found = [element.place_of_coordinate(place) for element, place in zip(elements, places, strict=True)]
    rows = zip(found, drives(result, elements, places), strict=True)
    result[ACTUATORS] = np.array([(*where, *how) for where, how in rows], ACTUATOR)
    return result


@kernel
def forces(T, E):
    """Put every drive on its joint, and keep its force for `energy` and `force_derivatives`."""
    actuators, blocks = view(E, ACTUATORS), view(E, BLOCKS)
    for e in range(actuators.shape[0]):
        x, rate, g = coordinate(T, actuators[e])
        if drive(T, blocks, actuators[e], x, rate) != OK:
            return e + 1
        add_force_along(T, actuators[e], blocks[actuators[e].first + FORCE], g)
    return OK


@kernel
def force_derivatives(T, E):
    """Derivatives of every drive."""
    actuators, blocks, room = view(E, ACTUATORS), view(E, BLOCKS), view(E, SPACE)
    for e in range(actuators.shape[0]):
        first = actuators[e].first
        x, rate, g = coordinate(T, actuators[e])
        if drive_slopes(T, blocks, actuators[e], x, rate) != OK:
            return e + 1
        by_x, by_rate = blocks[first + SLOPES], blocks[first + SLOPES + 1]
        add_derivatives_along(T, actuators[e], room, g, blocks[first + FORCE], by_x, by_rate)
    return OK


@kernel
def energy(T, E):
    """Power of every drive."""
    actuators, blocks, values = view(E, ACTUATORS), view(E, BLOCKS), view(T, s.ENERGY)
    for e in range(actuators.shape[0]):
        values[s.POWER] += blocks[actuators[e].first + FORCE] * coordinate(T, actuators[e])[1]
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(Actuator)
