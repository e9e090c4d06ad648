"""Contact between all pairs of many shapes on markers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from index3.bodies.body import Body
from index3.bodies.marker import Marker
from index3.errors import ModelError, warn
from index3.fields import declare, field
from index3.forces import contact_kernels
from index3.forces.contact import Contact, can_touch, numbers_of, parts_of
from index3.forces.contact_settings import LAW_FIELDS, ContactLaw
from index3.forces.force import ForceElement, marker_of
from index3.forces.shapes import Cylinder, Shape
from index3.registry import register

if TYPE_CHECKING:
    from collections.abc import Iterable

    from index3.user_types import BodyOrMarker, Shape


class ContactSet(ForceElement):
    """Contact of every pair of shapes that can touch, those of one body and those both on ground left out.

    With `against` of every shape of the first list with every one of the second alone.

    Parameters
    ----------
    name : str
    shapes : list of (marker or body, shape)
    against : list of the same kind: pairs are then made between the two lists, none within one
    skip : list of pairs of bodies that do not touch each other, such as neighbours joined by a hinge
    stiffness, ... : the settings of `Contact`, the same for all pairs

    Pairs without a contact law between them, such as two boxes, pass through each other: a warning names them, unless
    they are in `skip`; if no other pair remains, that is an error. Pairs that are apart cost next to nothing in
    evaluations and factorisations, but setting up a run takes time and memory for each: give sets that are as small as
    they can be.

    Raises
    ------
    ModelError : names the set.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> from index3.forces.shapes import Plane, Sphere
    >>> balls = [RigidBody.sphere(f"ball{k}", 0.1, mass=1.0, position=(k, 0, 1)) for k in range(3)]
    >>> floor = [(Ground(), Plane())]
    >>> len(ContactSet("heap", floor + [(ball, Sphere(0.1)) for ball in balls], stiffness=1e5).pairs)
    6
    """

    kind = contact_kernels.__name__
    symbol = ""
    page = "elements/contact.md"
    fields = declare(LAW_FIELDS, shapes=field("surfaces"), against=field("surfaces"), skip=field("body_pairs"))

    def __init__(
        self,
        name: str,
        shapes: Sequence[tuple[BodyOrMarker, Shape]],
        *,
        against: Sequence[tuple[BodyOrMarker, Shape]] | None = None,
        skip: Iterable[tuple[Body, Body]] = (),
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
        self.law = ContactLaw(
            self.label, stiffness, exponent, damping, restitution, impact_velocity, onset,
            friction, static_friction, stick_velocity, decay_velocity,
        )  # fmt: skip
        self.shapes = self._ends(shapes)
        self.against = None if against is None else self._ends(against)
        ends, count = self.shapes + (self.against or []), len(self.shapes)
        self.skip = self._skip(skip)
        apart = {frozenset((id(first), id(second))) for first, second in self.skip}
        near = [
            (a, b)
            for a, b in itertools.combinations(range(len(ends)), 2)
            if (self.against is None or a < count <= b)
            and ends[a][0].body is not ends[b][0].body
            and {ends[a][0].body.kind, ends[b][0].body.kind} != {"ground"}
            and frozenset((id(ends[a][0].body), id(ends[b][0].body))) not in apart
        ]
        rings = [isinstance(shape, Cylinder) and shape.hollow for _, shape in ends]
        kinds = [(type(shape), ring) for (_, shape), ring in zip(ends, rings, strict=True)]
        lawful_kinds = {
            (one, other): can_touch(ends[kinds.index(one)][1], ends[kinds.index(other)][1])
            for one, other in itertools.product(dict.fromkeys(kinds), repeat=2)
        }
        lawful = [(a, b) for a, b in near if lawful_kinds[kinds[a], kinds[b]]]
        self.pairs: tuple[Contact, ...] = tuple(parts_of(name, ends, lawful, self.law))
        if not self.pairs:
            raise ModelError(f"{self.label} has no two shapes that can touch. Give shapes on different bodies.")
        self._tell(sorted(set(near) - set(lawful)))
        used = {id(marker): marker for pair in self.pairs for marker in pair.markers}
        self.markers = tuple(used.values())

    def _tell(self, left_out: list[tuple[int, int]]) -> None:
        """Warn of pairs that pass through each other, for want of a contact between their shapes."""
        if not left_out:
            return
        ends = self.shapes + (self.against or [])
        (first, one), (second, other) = (ends[k] for k in left_out[0])
        more = f" (and {len(left_out) - 1} more pairs)" if len(left_out) > 1 else ""
        warn(
            f"{self.label}: bodies '{first.body.name}' and '{second.body.name}'{more} pass through each other, "
            f"since there is no contact between {one!r} and {other!r}. Cover one of them with spheres, or name the "
            "bodies "
            "in skip if they never meet."
        )

    @property
    def parts(self) -> Sequence[Contact]:
        """Its pairs, each with equations of its own."""
        return self.pairs

    def solids(self) -> list[dict[str, Any]]:
        """All its shapes that can touch something."""
        numbers = {id(marker): k for k, marker in enumerate(self.markers)}
        ends = self.shapes + (self.against or [])
        used = [(numbers[id(marker)], shape) for marker, shape in ends if id(marker) in numbers]
        return [{"marker": number, **shape.solid()} for number, shape in used]

    @property
    def law_in_numbers(self) -> dict[str, Any]:
        """What a result needs to work out its histories again."""
        return numbers_of(self.pairs, self.markers)

    def _ends(self, shapes: Any) -> list[tuple[Marker, Shape]]:
        ends = []
        if not isinstance(shapes, Sequence) or isinstance(shapes, str):
            raise ModelError(f"{self.label} has shapes {short(shapes)}. Give a list of (marker or body, shape).")
        for entry in shapes:
            if not isinstance(entry, Sequence) or len(entry) != 2 or not isinstance(entry[1], Shape):
                raise ModelError(f"{self.label} has the entry {short(entry)}. Give (marker or body, shape).")
            ends.append((marker_of(self.label, entry[0]), entry[1]))
        return ends

    def _skip(self, skip: Any) -> list[tuple[Body, Body]]:
        pairs = []
        if not isinstance(skip, Sequence | set | frozenset):
            raise ModelError(f"{self.label} has skip {short(skip)}. Give pairs of bodies.")
        for entry in skip:
            if not isinstance(entry, Sequence) or len(entry) != 2:
                raise ModelError(f"{self.label} has {short(entry)} in skip. Give pairs of bodies.")
            first, second = (marker_of(self.label, end).body for end in entry)
            pairs.append((first, second))
        return pairs

    @property
    def damped(self) -> bool:
        """Whether it has derivatives by velocity."""
        return True

    @property
    def conservative(self) -> bool:
        """Whether it has neither damping nor friction."""
        return self.law.damping == 0.0 and self.law.static_friction == 0.0


register(ContactSet)
