"""Contact between all pairs of many shapes on markers."""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import Marker
from index3.errors import ModelError, warn
from index3.fields import declare, field
from index3.forces import contact_kernels
from index3.forces.contact import Contact
from index3.forces.contact_pairs import ShapePairs, is_ring, law_of, numbered, surface_table
from index3.forces.contact_settings import LAW_FIELDS, ContactLaw
from index3.forces.force import ForceElement, marker_of
from index3.forces.shapes import Shape
from index3.registry import register

if TYPE_CHECKING:
    from collections.abc import Iterable

    from index3.user_types import BodyOrMarker


class Pairs(Sequence[Contact]):
    """The pairs of a set: a table of numbers, from which a pair is made when it is asked for.

    Attributes
    ----------
    name, law : of the set
    ends : markers and shapes of the set
    places : (pairs, 2) numbers of their ends, in the order in which the kernels take them
    swapped : (pairs,) whether that is not the order of the user's list
    ties : (pairs, 2) numbers of their markers among those of the set
    """

    ties: np.ndarray

    def __init__(
        self, name: str, ends: list[tuple[Marker, Shape]], places: np.ndarray, swapped: np.ndarray, law: ContactLaw
    ) -> None:
        self.name, self.ends, self.places, self.swapped, self.law = name, ends, places, swapped, law

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, k: int) -> Contact: ...

    @overload
    def __getitem__(self, k: slice) -> Sequence[Contact]: ...

    def __getitem__(self, k: int | slice) -> Contact | Sequence[Contact]:
        if isinstance(k, slice):
            return [self[number] for number in range(len(self))[k]]
        a, b = self.places[k].tolist()
        if self.swapped[k]:
            a, b = b, a
        (first, one), (second, other) = self.ends[a], self.ends[b]
        return Contact.part(f"{self.name}[{a}, {b}]", [first, second], [one, other], self.law)


class ContactSet(ForceElement):
    """Contact of every pair of shapes that can touch, except for pairs on one body and pairs on ground.

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
    evaluations and factorisations, but each takes 10 KB and 5 us where a run is set up. `pairs` are made into contacts
    when they are asked for.

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
    switched = True
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
        self.skip = self._skip(skip)
        ends = self.shapes + (self.against or [])
        one, other = self._near(ends)
        family, surfaces = surface_table([shape for _, shape in ends])
        swapped = surfaces[family[one], family[other]] < 0
        lawful = ~swapped | (surfaces[family[other], family[one]] >= 0)
        places = np.stack([np.where(swapped, other, one), np.where(swapped, one, other)], 1)[lawful]
        if not len(places):
            raise ModelError(f"{self.label} has no two shapes that can touch. Give shapes on different bodies.")
        self.pairs = Pairs(name, ends, places, swapped[lawful], self.law)
        self._check_rings(ends, places)
        self._tell(ends, one[~lawful], other[~lawful])
        self.markers, self.pairs.ties = tied([marker for marker, _ in ends], places)
        self.ties = self.pairs.ties

    def _near(self, ends: list[tuple[Marker, Shape]]) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of all two ends that are on different bodies, not both on ground, and not to be skipped."""
        bodies = [marker.body for marker, _ in ends]
        known: dict[int, int] = {}
        body = np.array([known.setdefault(id(x), len(known)) for x in bodies], np.int64)
        apart = np.eye(len(known), dtype=bool)
        on_ground = [known[id(x)] for x in bodies if x.kind == "ground"]
        apart[np.ix_(on_ground, on_ground)] = True
        for first, second in self.skip:
            if id(first) in known and id(second) in known:
                a, b = known[id(first)], known[id(second)]
                apart[a, b] = apart[b, a] = True
        wanted = np.triu(~apart[np.ix_(body, body)], 1)
        if self.against is not None:
            wanted[:, : len(self.shapes)] = wanted[len(self.shapes) :] = False
        one, other = np.nonzero(wanted)
        return one, other

    def _check_rings(self, ends: list[tuple[Marker, Shape]], places: np.ndarray) -> None:
        """Raise, as a single contact does, if a shape is as large as the ring around it."""
        rings = np.array([is_ring(shape) for _, shape in ends])
        radii = np.array([getattr(shape, "radius", 0.0) for _, shape in ends])
        first, second = places.T
        for k in np.flatnonzero(rings[second] & (radii[first] >= radii[second]))[:1].tolist():
            self.pairs[k]

    @property
    def in_numbers(self) -> ShapePairs:
        """Its pairs, without their markers."""
        shapes, number = numbered([shape for _, shape in self.pairs.ends])
        first, second = number[self.pairs.places].T
        return ShapePairs(shapes, first, second, [self.law], np.zeros(len(first), np.int64))

    def _tell(self, ends: list[tuple[Marker, Shape]], left_out: np.ndarray, beside: np.ndarray) -> None:
        """Warn of pairs that pass through each other, for want of a contact between their shapes."""
        if not len(left_out):
            return
        (first, one), (second, other) = ends[left_out[0]], ends[beside[0]]
        more = f" (and {len(left_out) - 1} more pairs)" if len(left_out) > 1 else ""
        warn(
            f"{self.label}: bodies '{first.body.name}' and '{second.body.name}'{more} pass through each other, "
            f"since there is no contact between {one!r} and {other!r}. Cover one of them with spheres, or name the "
            "bodies "
            "in skip if they never meet."
        )

    @property
    def parts(self) -> Sequence[Contact]:
        """Its pairs, each with a record of its own."""
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
        return law_of(self.in_numbers, self.pairs.ties, self.pairs.swapped)

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


def tied(markers: list[Marker], places: np.ndarray) -> tuple[tuple[Marker, ...], np.ndarray]:
    """The markers that pairs of ends use, each once in the order of their use, and which of them each pair joins."""
    known: dict[int, int] = {}
    number = np.array([known.setdefault(id(marker), len(known)) for marker in markers], np.int64)
    used = list(dict.fromkeys(number[places].ravel().tolist()))
    order = np.zeros(len(known), np.int64)
    order[used] = np.arange(len(used))
    first = {k: marker for k, marker in zip(number.tolist(), markers, strict=True)}
    return tuple(first[k] for k in used), order[number[places]]


register(ContactSet)
