"""Contact between two shapes on markers.

[HuntCrossley] gives the normal law; `contact_law`, `contact_geometry` and `contact_kernels` hold formulas and kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import Marker
from index3.errors import ModelError
from index3.fields import END, declare, field
from index3.forces import contact_kernels
from index3.forces.contact_pairs import is_ring, law_of, pairs_of, surface_of
from index3.forces.contact_settings import LAW_FIELDS, ContactLaw
from index3.forces.force import ForceElement, marker_of
from index3.forces.shapes import Shape
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import BodyOrMarker


class Contact(ForceElement):
    """Contact of two shapes: a normal force that never pulls, and friction.

    Parameters
    ----------
    name : str
    first, second : markers that carry the shapes, or bodies, which stand for markers with their own axes
    shapes : (of first, of second): sphere, box or cylinder against a plane; sphere or cylinder against a cylinder, also
        a hollow one; sphere against sphere; sphere or cylinder against a strip; sphere against sprocket or box. They
        may be given in either order, but of two cylinders a hollow one is the second. Cylinders touch each other along
        nearly parallel axes, at the ends of the first one, the second counts as endless; and so do a cylinder and a
        strip.
    stiffness, exponent : k [N/m^exponent] and n >= 1 of F = k depth^n (1 + b depth rate), 1.5 by default
    damping : b [s/m]; or with `onset` c [N s/m] of F = k depth^n + c s depth rate
    onset : depth [m] over which s grows from 0 to 1
    restitution, impact_velocity : instead of damping: ratio of the speeds after and before a free impact [m/s]
    friction : coefficient while sliding
    static_friction : coefficient at the stick velocity, by default the same
    stick_velocity : creep [m/s] at which friction is fully developed, 0.01 by default
    decay_velocity : over which static friction falls to friction [m/s], by default ten times the stick velocity

    Raises
    ------
    ModelError : names the contact.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> ball = RigidBody.sphere("ball", 0.1, mass=1.0, position=(0, 0, 1))
    >>> Contact("bounce", ball, Ground(), (Sphere(0.1), Plane()), stiffness=1e6, restitution=0.8, impact_velocity=4.0)
    Contact('bounce', 'ball', 'ground')
    """

    kind = contact_kernels.__name__
    symbol = ""
    page = "elements/contact.md"
    fields = declare(
        LAW_FIELDS,
        first=END.found(lambda contact: contact.markers[1 if contact.swapped else 0]),
        second=END.found(lambda contact: contact.markers[0 if contact.swapped else 1]),
        shapes=field("two_surfaces").found(lambda contact: contact.shapes[:: -1 if contact.swapped else 1]),
    )
    switched = True
    """Its derivatives are scattered only while it touches."""

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        shapes: tuple[Shape, Shape],
        *,
        stiffness: float,
        exponent: float = 1.5,
        damping: float | None = None,
        restitution: float | None = None,
        impact_velocity: float | None = None,
        onset: float | None = None,
        friction: float = 0.0,
        static_friction: float | None = None,
        stick_velocity: float = 1e-2,
        decay_velocity: float | None = None,
    ) -> None:
        super().__init__(name)
        ends = [marker_of(self.label, end) for end in (first, second)]
        if not isinstance(shapes, Sequence) or len(shapes) != 2 or not all(isinstance(x, Shape) for x in shapes):
            raise ModelError(f"{self.label} has shapes {short(shapes)}. Give two, such as (Sphere(0.1), Plane()).")
        law = ContactLaw(
            self.label, stiffness, exponent, damping, restitution, impact_velocity, onset,
            friction, static_friction, stick_velocity, decay_velocity,
        )  # fmt: skip
        self._join(ends, list(shapes), law)

    @classmethod
    def part(cls, name: str, ends: list[Marker], shapes: list[Shape], law: ContactLaw) -> Contact:
        """A pair of a set, whose name and law are known to be right."""
        made = cls.__new__(cls)
        made.name = name
        made._join(ends, shapes, law)
        return made

    def _join(self, ends: list[Marker], shapes: list[Shape], law: ContactLaw) -> None:
        """Keep markers and shapes, in the order in which the kernels take them."""
        if ends[0].body is ends[1].body:
            raise ModelError(f"{self.label} joins body '{ends[0].body.name}' to itself. Give two different bodies.")
        self.swapped = surface_of(*shapes) is None
        if self.swapped:
            ends, shapes = ends[::-1], shapes[::-1]
        if surface_of(*shapes) is None:
            words = " and ".join(repr(shape) for shape in shapes[::-1])
            raise ModelError(
                f"{self.label} has no contact between {words}. There is: sphere, box, cylinder - plane; "
                "sphere - sphere; sphere, cylinder - cylinder (also hollow), strip; sphere - sprocket, box."
            )
        self.markers, self.shapes, self.law = tuple(ends), tuple(shapes), law
        first, second = shapes
        if is_ring(second) and first.radius >= second.radius:  # type: ignore[union-attr]
            raise ModelError(f"{self.label} has a shape as large as the ring around it. Give the ring a larger radius.")

    @property
    def reported(self) -> int:
        """The marker of the second body as the user gave them."""
        return 0 if self.swapped else 1

    @property
    def damped(self) -> bool:
        """Whether it has derivatives by velocity."""
        return True  # while it touches

    @property
    def conservative(self) -> bool:
        """Whether it has neither damping nor friction."""
        return self.law.damping == 0.0 and self.law.static_friction == 0.0

    def solids(self) -> list[dict[str, Any]]:
        """Its two shapes."""
        return [{"marker": k, **shape.solid()} for k, shape in enumerate(self.shapes)]

    @property
    def law_in_numbers(self) -> dict[str, Any]:
        """What a result needs to work out its histories again."""
        ends, swapped = np.array([[0, 1]]), np.array([self.swapped])
        return law_of(pairs_of([self]), ends, swapped)

    def explain(self, stage: str, t: float) -> str:
        """The only way it breaks: one centre in the other."""
        return (
            f"{self.label} has both centres at one point at t = {t:.6g}, so there is no normal. Give it a larger "
            "stiffness, or start with the shapes apart."
        )


register(Contact)
