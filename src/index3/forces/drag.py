"""Resistance of air or water, quadratic in the velocity relative to it: F = -b |u| u with u = v - wind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.vectors import add_at, dot, load, norm, outer, scale, sub
from index3.bodies.marker import as_number, as_positive
from index3.bodies.smooth import as_vector_law
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.constraints.turning_angle import combine
from index3.errors import ModelError
from index3.fields import POINT, RATIO, declare, marker, number, short_form, time_vector
from index3.forces.force import ForceElement, Place, add_block, element_table, moving_end
from index3.forces.line import IDENTITY
from index3.forces.load import CONSTANT, NO_VECTOR, Sampler, given_vector, zero
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker, TimeVector

DRAG = np.dtype(
    [
        ("i", "i8"),
        ("group", "i8"),  # first place in GROUP_D
        ("factor", "f8"),  # b
        ("wind", "f8", (3,)),
        ("functions", "i8", (3,)),  # rows in FUNCTION_VALUES of the wind's components, -1 for a constant wind
    ]
)
(DRAGS,) = slots(drags=(DRAG, 1))


class Drag(ForceElement):
    """Drag against the velocity relative to the wind, 1/2 density coefficient area |u|^2, the same in all directions.

    Parameters
    ----------
    name : str
    on : the marker, or the body, on which it acts; a body stands for its origin, or with `at` another point of it
    coefficient : float >= 0, drag coefficient
    area : float > 0, reference area [m^2]
    density : float > 0, of the fluid [kg/m^3]; by default that of air at sea level
    wind : velocity of the fluid in ground axes, three numbers or functions of t [s], or a function of
        t that returns three [m/s]
    at : point on a given body, in ground at the initial configuration [m]

    It has no torque about its point. Its work is counted as work.

    Raises
    ------
    ModelError : names the element.

    >>> from index3.bodies.point_mass import PointMass
    >>> Drag("air", PointMass("ball", 0.145), coefficient=0.3, area=0.0042).factor
    0.00077175
    """

    kind = __name__
    symbol = ""
    fields = declare(
        on=marker(0),
        coefficient=RATIO,
        area=number("length^2"),
        density=number("mass/length^3"),
        wind=time_vector("length/time"),
        at=short_form(POINT),
    )

    def __init__(
        self,
        name: str,
        on: BodyOrMarker,
        *,
        coefficient: float,
        area: float,
        density: float = 1.225,
        wind: TimeVector = (0.0, 0.0, 0.0),
        at: ArrayLike | None = None,
    ) -> None:
        super().__init__(name)
        self.markers = (moving_end(self.label, on, at),)
        self.coefficient = as_number(coefficient, self.label, "coefficient")
        if self.coefficient < 0.0:
            raise ModelError(f"{self.label} has coefficient {self.coefficient}. Give one of at least 0.")
        self.area = as_positive(area, self.label, "area")
        self.density = as_positive(density, self.label, "density")
        self.wind = as_vector_law(wind, self.label, "wind")

    @property
    def factor(self) -> float:
        """b of F = -b |u| u [kg/m]."""
        return 0.5 * self.density * self.coefficient * self.area

    @property
    def damped(self) -> bool:
        """Always."""
        return True

    @property
    def functions_of_time(self) -> tuple[Callable[[float], Any], ...]:
        """The wind, where it is a function."""
        return (self.wind,) if callable(self.wind) else ()

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of drags."""
        head = (place.markers[0], place.stiffness, self.factor)
        if not callable(self.wind):
            return (*head, tuple(self.wind), CONSTANT)
        sampler = Sampler(self.label, self.wind)
        return (*head, NO_VECTOR, tuple(place.function(sampler.component(k), zero, zero) for k in range(3)))


def table(elements: Sequence[Drag], places: Sequence[Place]) -> Table:
    """The table of all drags of a system."""
    return element_table(DRAGS, elements, places)


@helper
def relative_velocity(T, drag):
    """u of a drag."""
    return sub(load(view(T, s.MARKER_V), drag.i), given_vector(T, drag.wind, drag.functions))


@kernel
def forces(T, E):
    """Hold back every marker."""
    drags, f = view(E, DRAGS), view(T, s.MARKER_F)
    for e in range(drags.shape[0]):
        u = relative_velocity(T, drags[e])
        add_at(f, drags[e].i, 0, scale(-drags[e].factor * norm(u), u))
    return OK


@kernel
def force_derivatives(T, E):
    """By the velocity: b (|u| I + u u^T / |u|)."""
    drags, D = view(E, DRAGS), view(T, s.GROUP_D)
    for e in range(drags.shape[0]):
        u = relative_velocity(T, drags[e])
        speed = norm(u)
        if speed > 0.0:
            B = combine(speed, IDENTITY, 1.0 / speed, outer(u, u))
            add_block(D, drags[e].group, 6, 0, 0, B, drags[e].factor)
    return OK


@kernel
def energy(T, E):
    """Power of every drag."""
    drags, V, values = view(E, DRAGS), view(T, s.MARKER_V), view(T, s.ENERGY)
    for e in range(drags.shape[0]):
        u = relative_velocity(T, drags[e])
        values[s.POWER] -= drags[e].factor * norm(u) * dot(u, load(V, drags[e].i))
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(Drag)
