"""Stops of a joint coordinate: springs and dampers beyond its limits.

With the depth d = x - upper, or lower - x, where that is positive, the stop pushes back with
N = k d^e + c s(d) d', never less than zero; s rises smoothly from 0 to 1 as the depth reaches `onset`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import as_number, as_positive
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.errors import ModelError
from index3.fields import JOINT, RATIO, TEXT, coordinate_dimension, declare, effort_dimension, exponent, number
from index3.forces.along_coordinate import (
    COORDINATE_FIELDS,
    ROOM,
    JointForce,
    add_derivatives_along,
    add_force_along,
    coordinate,
)
from index3.forces.force import Place, element_table, next_switches
from index3.forces.sweep import SHALLOW, dip, pushes_again
from index3.registry import register

if TYPE_CHECKING:
    from index3.joints.base import Joint

LIMIT = np.dtype(
    [
        *COORDINATE_FIELDS,
        ("lower", "f8"),
        ("upper", "f8"),
        ("stiffness", "f8"),
        ("exponent", "f8"),
        ("damping", "f8"),
        ("onset", "f8"),
    ]
)
LIMITS, SPACE, START = slots(limits=(LIMIT, 1), space=("f8", 2), start=("f8", 2))
"""START: the coordinates and their rates at the last accepted state."""
MEMORY = (SPACE, START)


class JointLimit(JointForce):
    """Compliant stops of a joint coordinate.

    Beyond a limit, at the depth d > 0, the stop pushes the coordinate back with stiffness d^exponent + damping s(d) d',
    never less than zero: it does not pull. s(d) rises smoothly from 0 at contact to 1 at the depth `onset`, so that
    damping sets in without a jump.

    Parameters
    ----------
    name : str
    joint : a joint with an angle or displacement; it counts from assembly, angles over full turns
    lower, upper : float [rad or m], one of them may be left out
    stiffness : float, positive [N m/rad^exponent or N/m^exponent]
    damping : float, at least 0 [N m s/rad or N s/m]
    exponent : float, at least 1; above 1 the stiffness too sets in without a jump
    onset : float, positive [rad or m], the depth from which damping acts in full
    coordinate : name of the joint's coordinate; needed only if the joint has several

    The stop's elastic energy is potential energy, the work of its damping is counted as work.

    Raises
    ------
    ModelError : names the limit.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.planar_body import PlanarBody
    >>> from index3.joints.standard import Revolute
    >>> pin = Revolute("pin", Ground(), PlanarBody("arm", 1.0, 0.1), at=(0, 0, 0), axis=(0, 0, 1))
    >>> JointLimit("stop", pin, lower=-1.0, upper=1.0, stiffness=1e4, damping=10.0)
    JointLimit('stop', 'ground', 'arm')
    """

    kind = __name__
    symbol = ""
    page = "elements/limits_and_actuators.md"
    fields = declare(
        joint=JOINT,
        lower=number(coordinate_dimension).found(lambda limit: None if isinf(limit.lower) else limit.lower),
        upper=number(coordinate_dimension).found(lambda limit: None if isinf(limit.upper) else limit.upper),
        stiffness=number(lambda place: f"{effort_dimension(place)}/{coordinate_dimension(place)}^{exponent(place)}"),
        damping=number(lambda place: f"{effort_dimension(place)}*time/{coordinate_dimension(place)}"),
        exponent=RATIO,
        onset=number(coordinate_dimension),
        coordinate=TEXT,
    )

    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        lower: float | None = None,
        upper: float | None = None,
        stiffness: float,
        damping: float = 0.0,
        exponent: float = 1.0,
        onset: float = 1e-3,
        coordinate: str | None = None,
    ) -> None:
        super().__init__(name)
        self._act_on(joint, coordinate)
        if lower is None and upper is None:
            raise ModelError(f"{self.label} has no limits. Give lower, upper, or both.")
        self.lower = -inf if lower is None else as_number(lower, self.label, "lower")
        self.upper = inf if upper is None else as_number(upper, self.label, "upper")
        if self.lower >= self.upper:
            raise ModelError(f"{self.label} has lower {self.lower} and upper {self.upper}. Give lower below upper.")
        self.stiffness = as_positive(stiffness, self.label, "stiffness")
        self.damping = as_number(damping, self.label, "damping")
        if self.damping < 0.0:
            raise ModelError(f"{self.label} has damping {self.damping}. Give at least 0.")
        self.exponent = as_number(exponent, self.label, "exponent")
        if self.exponent < 1.0:
            raise ModelError(f"{self.label} has exponent {self.exponent}. Give at least 1.")
        self.onset = as_positive(onset, self.label, "onset")

    @property
    def damped(self) -> bool:
        """Whether it has a damper."""
        return self.damping != 0.0

    @property
    def conservative(self) -> bool:
        """Whether it has no damper."""
        return self.damping == 0.0

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of limits."""
        own = (self.lower, self.upper, self.stiffness, self.exponent, self.damping, self.onset)
        return (*self.place_of_coordinate(place), *own)


def table(elements: Sequence[JointLimit], places: Sequence[Place]) -> Table:
    """The table of all joint limits of a system."""
    result = Table(3)
    result[LIMITS] = element_table(LIMITS, elements, places)[LIMITS]
    result[SPACE], result[START] = np.zeros(ROOM), np.zeros((len(elements), 2))
    return result


@helper
def contact(limit, x, rate):
    """Depth (not positive where there is no contact), its rate, and the direction in which the stop pushes."""
    if x > limit.upper:
        return x - limit.upper, rate, -1.0
    return limit.lower - x, -rate, 1.0


@helper
def law(limit, depth, speed):
    """The push of a stop, its derivatives by depth and speed, and its elastic part; no push where it would pull."""
    if depth <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    part = min(depth / limit.onset, 1.0)
    share, slope = part * part * (3.0 - 2.0 * part), 6.0 * part * (1.0 - part) / limit.onset
    spring = limit.stiffness * depth**limit.exponent
    push = spring + limit.damping * share * speed
    if push <= 0.0:
        return 0.0, 0.0, 0.0, spring
    return push, spring * limit.exponent / depth + limit.damping * slope * speed, limit.damping * share, spring


@kernel
def forces(T, E):
    """Push the coordinates that are beyond their limits back."""
    limits = view(E, LIMITS)
    for e in range(limits.shape[0]):
        x, rate, g = coordinate(T, limits[e])
        depth, speed, direction = contact(limits[e], x, rate)
        if depth > 0.0:
            add_force_along(T, limits[e], direction * law(limits[e], depth, speed)[0], g)
    return OK


@kernel
def force_derivatives(T, E):
    """Derivatives of the pushes: of direction N(d, d') with d = -direction x + ..., so by x it is -N_d."""
    limits, room = view(E, LIMITS), view(E, SPACE)
    for e in range(limits.shape[0]):
        x, rate, g = coordinate(T, limits[e])
        depth, speed, direction = contact(limits[e], x, rate)
        if depth > 0.0:
            force, by_depth, by_speed, _ = law(limits[e], depth, speed)
            add_derivatives_along(T, limits[e], room, g, direction * force, -by_depth, -by_speed)
    return OK


@kernel
def energy(T, E):
    """Elastic energy of the stops, power of the rest."""
    limits, values = view(E, LIMITS), view(T, s.ENERGY)
    for e in range(limits.shape[0]):
        x, rate, _ = coordinate(T, limits[e])
        depth, speed, _ = contact(limits[e], x, rate)
        if depth > 0.0:
            force, _, _, spring = law(limits[e], depth, speed)
            values[s.POTENTIAL] += spring * depth / (limits[e].exponent + 1.0)
            values[s.POWER] -= (force - spring) * speed
    return OK


@kernel
def switches(T, E):
    """How far each coordinate is from the nearer of its limits, negative beyond it."""
    limits, values = view(E, LIMITS), view(T, s.SWITCH)
    at = next_switches(T, limits.shape[0])
    for e in range(limits.shape[0]):
        x, _, _ = coordinate(T, limits[e])
        values[at + e] = min(limits[e].upper - x, x - limits[e].lower)
    return OK


@kernel
def passes(T, E):
    """Whether a stop was met and left, or pushed, within the step that ends at T's state, or keep that state: SWEEP."""
    limits, start, sweep = view(E, LIMITS), view(E, START), view(T, s.SWEEP)
    at, h = next_switches(T, limits.shape[0]), sweep[s.SWEEP_H]
    for e in range(limits.shape[0]):
        lower, upper = limits[e].lower, limits[e].upper
        x, rate, _ = coordinate(T, limits[e])
        if h == 0.0:
            start[e, 0], start[e, 1] = x, rate
        else:
            x0, m0, room = start[e, 0], h * start[e, 1], min(sweep[s.SWEEP_ROOM], SHALLOW * (upper - lower))
            if limits[e].angular == 1:
                room = min(room, SHALLOW)
            part = dip(upper - x0, -m0, upper - x, -h * rate, room, 0.0)
            part = min(part, dip(x0 - lower, m0, x - lower, h * rate, room, 0.0))
            if sweep[s.SWEEP_SURE] == 1.0:  # constant steps stay as they are
                pass
            elif x0 > upper:
                part = min(part, pushes_again(limits[e], upper - x0, -m0, upper - x, -h * rate, h, room))
            elif x0 < lower:
                part = min(part, pushes_again(limits[e], x0 - lower, m0, x - lower, h * rate, h, room))
            if part < sweep[s.SWEEP_PART]:
                sweep[s.SWEEP_PART], sweep[s.SWEEP_RECORD] = part, at + e
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy, "switches": switches} | {
    "passes": passes
}

register(JointLimit)
