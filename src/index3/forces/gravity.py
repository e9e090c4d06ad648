"""Gravity besides that of the model: uniform but changing in time, or towards a point.

That of a point is mu m / L^2 along the line of `index3.forces.line` between the centre and a body's origin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.ancf_beam import AncfBeam
from index3.bodies.ancf_space import SpaceLine
from index3.bodies.body import Body
from index3.bodies.ground import Ground
from index3.bodies.marker import Marker, as_positive, as_vector, check_name
from index3.bodies.smooth import as_vector_law
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, kernel, slots, view
from index3.errors import ModelError
from index3.fields import BODY, declare, marker, number, time_vector
from index3.forces.distributed_load import DistributedLoad
from index3.forces.force import ForceElement, Place, element_table, marker_of
from index3.forces.line import add_line_stiffness, pull_together, stretch
from index3.forces.load import Force, Known, Sampler
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker

ATTRACTION = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("group", "i8"),  # first place in GROUP_K
        ("strength", "f8"),  # mu m
    ]
)
(ATTRACTIONS,) = slots(attractions=(ATTRACTION, 1))


class UniformGravity(Force):
    """Weight of a body in a uniform field of gravity that may change in time, on top of the gravity of the model.

    Parameters
    ----------
    name : str
    body : the body that it acts on, at its centre of mass; a beam or cable everywhere along its axis
    acceleration : of free fall, in ground axes: three numbers or functions of t [s], or a function of t
        that returns three [m/s^2]

    For a model whose gravity is a function of time give `Model(gravity=(0, 0, 0))` and add what
    `UniformGravity.field` makes, one for each body. Its work is counted as work, not as potential energy.

    Raises
    ------
    ModelError : names the element.

    >>> from index3.bodies.point_mass import PointMass
    >>> UniformGravity("lift", PointMass("cargo", 2.0), lambda t: (0.0, 0.0, 1.0 - t)).vector(3.0)
    (0.0, 0.0, -4.0)
    """

    fields = declare(
        body=BODY.found(lambda gravity: gravity.markers[0].body),
        acceleration=time_vector("length/time^2"),
    )

    def __init__(self, name: str, body: Body, acceleration: ArrayLike) -> None:
        check_name(name, type(self).__name__)
        owner = f"{type(self).__name__} '{name}'"
        mass = mass_of(owner, body)
        self.acceleration = as_vector_law(acceleration, owner, "acceleration")
        super().__init__(name, body, self._weight(owner, mass))
        self._weighed, self._made_of_it = mass, self.vector
        self._along: BeamWeight | None = None
        if isinstance(body, AncfBeam | SpaceLine):
            self._along = BeamWeight(name, body, self._weight(owner, mass / float(np.sum(body.lengths))))
            self.markers = self._along.markers

    @property
    def weighs(self) -> Body:
        """The body whose mass its force depends on."""
        return self.markers[0].body

    def _weigh(self) -> None:
        """Follow the mass of the body, which may have changed since; not where a controller sets the force."""
        body = self.markers[0].body
        if body.mass == self._weighed or self.vector is not self._made_of_it:
            return
        self._weighed, vars(self)["vector"] = body.mass, self._weight(self.label, body.mass)
        self._made_of_it = self.vector
        if self._along is not None:
            beam: Any = body
            self._along.vector = self._weight(self.label, beam.mass / float(np.sum(beam.lengths)))

    def record(self, place: Place, known: Known | None = None) -> tuple[Any, ...]:
        """Its row in the table of loads, with the present mass."""
        self._weigh()
        return super().record(place, known)

    def _weight(self, owner: str, mass: float) -> Any:
        """The vector, or the function of time, for a mass."""
        return Weight(owner, mass, self.acceleration) if callable(self.acceleration) else mass * self.acceleration

    @property
    def parts(self) -> Sequence[ForceElement]:
        """Its point forces: one at the centre of mass, or several along a beam."""
        self._weigh()
        return (self,) if self._along is None else self._along.parts

    @property
    def reported(self) -> int:  # type: ignore[override]
        """The marker where pages draw it."""
        return 0 if self._along is None else self._along.reported

    @property
    def spread(self) -> list[list[float]]:
        """Of each marker along a beam: its piece, as of a `DistributedLoad`."""
        return [] if self._along is None else self._along.spread

    @property
    def bodies(self) -> tuple[Any, ...]:
        """The body."""
        return (self.markers[0].body,)

    @property
    def functions_of_time(self) -> tuple[Callable[[float], Any], ...]:
        """The acceleration, where it is a function: bodies in one field share it."""
        return (self.acceleration,) if callable(self.acceleration) else ()

    @classmethod
    def field(cls, name: str, bodies: Sequence[Body], acceleration: ArrayLike) -> list[UniformGravity]:
        """One for each of several bodies, named "name body"; `model.add` each of them."""
        return [cls(f"{name} {body.name}", body, acceleration) for body in bodies]


class BeamWeight(DistributedLoad):
    """The weight of a beam along its axis; what points out of the plane of a planar one has no effect."""

    @property
    def label(self) -> str:
        """How messages call the gravity that it belongs to."""
        return f"UniformGravity '{self.name}'"

    def _check_plane(self) -> None:
        """As of a body in the plane: nothing."""


class Weight:
    """A function of time: mass times an acceleration."""

    def __init__(self, owner: str, mass: float, acceleration: Callable[[float], Any]) -> None:
        self.mass = mass
        self.acceleration = Sampler(owner, acceleration)

    def __call__(self, t: float) -> tuple[float, float, float]:
        x, y, z = self.acceleration(t)
        return (self.mass * x, self.mass * y, self.mass * z)


def mass_of(owner: str, body: Any) -> float:
    """The mass of a body that gravity can act on."""
    if not isinstance(body, Body) or isinstance(body, Ground) or not hasattr(body, "mass"):
        raise ModelError(f"{owner} cannot attract {short(body)}. Give a body with a mass.")
    return float(body.mass)


class PointGravity(ForceElement):
    """Attraction of a body, at its centre of mass, by a point: mu mass / L^2 along the line between them.

    Parameters
    ----------
    name : str
    body : the body that is attracted
    centre : what attracts: a marker, another body (at its origin), or, once the body is in a model, a point in ground
        [m]. If it can move it takes the opposite force, as Newton's third law wants.
    mu : float > 0, standard gravitational parameter of the centre, G times its mass [m^3/s^2]

    It acts on top of the gravity of the model: give `Model(gravity=(0, 0, 0))` for space. Its potential energy,
    -mu mass / L, is zero at infinity. The field is that at the centre of mass: no gravity gradient turns the body. For
    several bodies `PointGravity.field` makes one for each.

    Raises
    ------
    ModelError : names the element.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.point_mass import PointMass
    >>> moon = PointMass("moon", 7.3e22, position=(3.84e8, 0, 0), velocity=(0, 1022.0, 0))
    >>> PointGravity("earth", moon, Ground(), mu=3.986e14)
    PointGravity('earth', 'ground', 'moon')
    """

    kind = __name__
    along = ("line",)
    fields = declare(
        body=BODY.found(lambda gravity: gravity.markers[1].body),
        centre=marker(0),
        mu=number("length^3/time^2"),
    )

    def __init__(self, name: str, body: Body, centre: ArrayLike | BodyOrMarker, *, mu: float) -> None:
        super().__init__(name)
        mass_of(self.label, body)
        if isinstance(body, AncfBeam | SpaceLine):
            raise ModelError(
                f"{self.label} cannot attract {body.label}: it would pull at one section. Give UniformGravity, or "
                "forces of your own along it."
            )
        if not isinstance(centre, Marker | Body):
            point = as_vector(centre, self.label, "centre")
            if body.model is None:
                raise ModelError(
                    f"{self.label} has a point for centre, but {body.label} is in no model yet. Add the body first, or "
                    "give a marker of the model's ground."
                )
            end = body.model.ground.marker(point)
        else:
            end = marker_of(self.label, centre)
        self.markers = (end, body.marker())
        if self.markers[0].body is body:
            raise ModelError(f"{self.label} attracts body '{body.name}' to itself. Give another centre.")
        self.mu = as_positive(mu, self.label, "mu")

    @property
    def weighs(self) -> Body:
        """The body whose mass its force depends on."""
        return self.markers[1].body

    @property
    def mass(self) -> float:
        """That of the body at present [kg]."""
        return mass_of(self.label, self.weighs)

    @classmethod
    def field(
        cls, name: str, bodies: Sequence[Body], centre: ArrayLike | BodyOrMarker, *, mu: float
    ) -> list[PointGravity]:
        """One for each of several bodies, named "name body"; `model.add` each of them."""
        return [cls(f"{name} {body.name}", body, centre, mu=mu) for body in bodies]

    @property
    def conservative(self) -> bool:
        """Always."""
        return True

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of attractions."""
        return (*place.markers, place.stiffness, self.mu * self.mass)

    def explain(self, stage: str, t: float) -> str:
        """The only way it breaks: the body has reached the centre."""
        body = self.markers[1].body.name
        return f"{self.label}: body '{body}' is at the centre at t = {t:.6g}, where the force is infinite."


def table(elements: Sequence[PointGravity], places: Sequence[Place]) -> Table:
    """The table of all attractions of a system."""
    return element_table(ATTRACTIONS, elements, places)


@kernel
def forces(T, E):
    """Pull every body and its centre together."""
    attractions = view(E, ATTRACTIONS)
    for e in range(attractions.shape[0]):
        length, u, _ = stretch(T, attractions[e].i, attractions[e].j)
        if length == 0.0:
            return e + 1
        pull_together(T, attractions[e].i, attractions[e].j, attractions[e].strength / (length * length), u)
    return OK


@kernel
def force_derivatives(T, E):
    """The tension falls at the rate -2 mu m / L^3."""
    attractions, K = view(E, ATTRACTIONS), view(T, s.GROUP_K)
    for e in range(attractions.shape[0]):
        length, u, v = stretch(T, attractions[e].i, attractions[e].j)
        if length == 0.0:
            return e + 1
        tension = attractions[e].strength / (length * length)
        add_line_stiffness(K, attractions[e].group, length, u, v, tension, -2.0 * tension / length, 0.0)
    return OK


@kernel
def energy(T, E):
    """-mu m / L."""
    attractions, values = view(E, ATTRACTIONS), view(T, s.ENERGY)
    for e in range(attractions.shape[0]):
        length, _, _ = stretch(T, attractions[e].i, attractions[e].j)
        if length == 0.0:
            return e + 1
        values[s.POTENTIAL] -= attractions[e].strength / length
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(UniformGravity)
register(PointGravity)
