"""Given forces and torques: constant or functions of time, fixed in ground or turning with a marker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.vectors import add_at, dot, load_at, scale, skew
from index3.bodies.body import Body
from index3.bodies.marker import Marker, as_flag
from index3.bodies.smooth import as_vector_law
from index3.bodies.time_functions import Sampler
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.errors import ModelError
from index3.fields import FLAG, POINT, declare, marker, short_form, time_vector
from index3.forces.force import ForceElement, Place, add_block, element_table, marker_of, turned
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker, TimeVector

LOAD = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),  # marker of the reaction, -1 without one
        ("group", "i8"),  # first place in GROUP_K
        ("part", "i8"),  # of the wrench: 0 force, 1 torque
        ("follower", "i8"),
        ("weight", "f8"),  # of the vector: metres of a load per length, else 1
        ("vector", "f8", (3,)),
        ("functions", "i8", (3,)),  # rows in FUNCTION_VALUES of the components, -1 for a constant vector
    ]
)
(LOADS,) = slots(loads=(LOAD, 1))
CONSTANT, NO_VECTOR = (-1, -1, -1), (0.0, 0.0, 0.0)
Known = dict[tuple[str, int], tuple[int, ...]]
"""Rows in FUNCTION_VALUES by the label of a load and its function."""


class Load(ForceElement):
    """Base of `Force` and `Torque`: a given vector on a marker, and its opposite on another if asked for."""

    kind = __name__
    fields = declare(on=marker(0), follower=FLAG, reaction=marker(1))
    part = 0
    reported = 0
    weight = 1.0

    def _apply(self, on: Marker, vector: Any, follower: bool, reaction: Marker | None) -> None:
        """Keep what is given, unless it has no effect."""
        self.markers = (on,) if reaction is None else (on, reaction)
        self.follower = follower
        self.vector = as_vector_law(vector, self.label, "vector")
        if on.body.kind == "ground":
            advice = "a body that moves" if reaction is None else "the body first and ground as reaction"
            raise ModelError(f"{self.label} acts on ground, which does not move. Give {advice}.")
        if len(set(map(id, self.bodies))) < len(self.bodies):
            raise ModelError(f"{self.label} has its reaction on the same body '{on.body.name}'. Give another body.")

    @property
    def curved(self) -> bool:
        """Whether the vector turns with its marker."""
        return self.follower

    @property
    def functions_of_time(self) -> tuple[Callable[[float], Any], ...]:
        """The vector, where it is a function."""
        return (self.vector,) if callable(self.vector) else ()

    def record(self, place: Place, known: Known | None = None) -> tuple[Any, ...]:
        """Its row in the table of loads; points of one load share the rows `known` of its function of time."""
        i, j = (*place.markers, -1)[:2]
        head = (i, j, place.stiffness, self.part, self.follower, self.weight)
        if not callable(self.vector):
            return (*head, tuple(self.vector), CONSTANT)
        known, key = {} if known is None else known, (self.label, id(self.vector))
        if key not in known:
            sampler = Sampler(self.label, self.vector)
            known[key] = tuple(place.function(sampler.component(k), zero, zero) for k in range(3))
        return (*head, NO_VECTOR, known[key])


class Force(Load):
    """A given force at a point.

    Parameters
    ----------
    name : str
    on : the marker, or the body, on which it acts; a body stands for a marker with the body's axes
    vector : three numbers or functions of t [s], or a function of t that returns three [N]: in ground axes, or with
        `follower` in those of the marker
    at : point on a given body, in ground at the initial configuration [m]; by default the body's origin
    follower : bool, whether the force turns with the marker
    reaction : marker or body that takes the opposite force, at its own point; a body takes it at the point where the
        force acts at the initial configuration

    Its work is counted as work, not as potential energy.

    Raises
    ------
    ModelError : names the force.

    >>> from index3.bodies.point_mass import PointMass
    >>> Force("push", PointMass("bob", 1.0), (0, 0, 5.0)).vector.tolist()
    [0.0, 0.0, 5.0]
    """

    fields = declare(Load.fields, vector=time_vector("force"), at=short_form(POINT))

    def __init__(
        self,
        name: str,
        on: BodyOrMarker,
        vector: TimeVector,
        *,
        at: ArrayLike | None = None,
        follower: bool = False,
        reaction: BodyOrMarker | None = None,
    ) -> None:
        super().__init__(name)
        follower = as_flag(follower, self.label, "follower")
        marker = marker_of(self.label, on, at)
        if follower and not marker.oriented:
            raise ModelError(
                f"{self.label} cannot turn with {marker.body.label}, which has no orientation. "
                "Leave follower out, or use a RigidBody."
            )
        if isinstance(reaction, Body):
            reaction = marker_of(self.label, reaction, marker.pose()[0])
        self._apply(marker, vector, follower, None if reaction is None else marker_of(self.label, reaction))


class Torque(Load):
    """A given torque on a body.

    Parameters
    ----------
    name : str
    on : the body, or a marker of it
    vector : three numbers or functions of t [s], or a function of t that returns three [N m]: in ground axes, or with
        `follower` in those of the marker; a body stands for a marker with the body's axes
    follower : bool, whether the torque turns with the body
    reaction : body or marker that takes the opposite torque

    Its work is counted as work, not as potential energy.

    Raises
    ------
    ModelError : names the torque.

    >>> from index3.bodies.planar_body import PlanarBody
    >>> Torque("motor", PlanarBody("rotor", 1.0, 0.1), lambda t: (0.0, 0.0, 2.0 * t))
    Torque('motor', 'rotor')
    """

    part = 1

    fields = declare(Load.fields, vector=time_vector("force*length"))

    def __init__(
        self,
        name: str,
        on: BodyOrMarker,
        vector: TimeVector,
        *,
        follower: bool = False,
        reaction: BodyOrMarker | None = None,
    ) -> None:
        super().__init__(name)
        follower = as_flag(follower, self.label, "follower")
        marker = marker_of(self.label, on)
        other = None if reaction is None else marker_of(self.label, reaction)
        for end in (marker, other):
            if end is not None and not end.oriented and not end.body.line:
                raise ModelError(
                    f"{self.label} cannot turn {end.body.label}, which has no orientation. Use a RigidBody."
                )
        if follower and marker.body.line:
            raise ModelError(
                f"{self.label} cannot turn with {marker.body.label}, which has no axes across its tangent. "
                "Leave follower out."
            )
        self._apply(marker, vector, follower, other)


def zero(t: float) -> float:
    """Stands for the derivatives of a load by time, which no equation needs."""
    return 0.0


def table(elements: Sequence[Load], places: Sequence[Place]) -> Table:
    """The table of all loads of a system."""
    return element_table(LOADS, elements, places, {})


@helper
def given_vector(T, x, f):
    """The vector x or, where there are any, that of the functions of time f."""
    values = view(T, s.FUNCTION_VALUES)
    if f[0] >= 0:
        return (values[f[0], 0], values[f[1], 0], values[f[2], 0])
    return (x[0], x[1], x[2])


@helper
def applied(T, load):
    """The vector of a load in ground axes."""
    vector = scale(load.weight, given_vector(T, load.vector, load.functions))
    if load.follower == 1:
        vector = turned(view(T, s.MARKER_A), load.i, vector)
    return vector


@kernel
def forces(T, E):
    """Put every load on its marker and its opposite on the other."""
    loads, f = view(E, LOADS), view(T, s.MARKER_F)
    for e in range(loads.shape[0]):
        vector = applied(T, loads[e])
        add_at(f, loads[e].i, 3 * loads[e].part, vector)
        if loads[e].j >= 0:
            add_at(f, loads[e].j, 3 * loads[e].part, scale(-1.0, vector))
    return OK


@kernel
def force_derivatives(T, E):
    """Loads that turn with marker i: d(vector) = dtheta_i x vector."""
    loads, K = view(E, LOADS), view(T, s.GROUP_K)
    for e in range(loads.shape[0]):
        if loads[e].follower == 1:
            B, first, part = skew(applied(T, loads[e])), loads[e].group, loads[e].part
            if loads[e].j >= 0:
                add_block(K, first, 12, part, 1, B, 1.0)
                add_block(K, first, 12, 2 + part, 1, B, -1.0)
            else:
                add_block(K, first, 6, part, 1, B, 1.0)
    return OK


@kernel
def energy(T, E):
    """Power of every load."""
    loads, V, values = view(E, LOADS), view(T, s.MARKER_V), view(T, s.ENERGY)
    for e in range(loads.shape[0]):
        vector, column = applied(T, loads[e]), 3 * loads[e].part
        values[s.POWER] += dot(vector, load_at(V, loads[e].i, column))
        if loads[e].j >= 0:
            values[s.POWER] -= dot(vector, load_at(V, loads[e].j, column))
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(Force)
register(Torque)
