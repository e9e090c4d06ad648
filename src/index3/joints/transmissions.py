"""Relations between joint coordinates: gears, racks, couplers; and the screw, which relates its own two."""

from __future__ import annotations

import math
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import Marker, as_number
from index3.errors import ModelError
from index3.fields import JOINT, LENGTH, RATIO, Field, declare, field, number
from index3.joints.base import ANGLE, DISPLACEMENT, PARALLEL_Z, Joint, Primitive, X, Y, in_plane
from index3.registry import register

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index3.user_types import ArrayLike, BodyOrMarker

LINEAR = ("angle", "in_plane")
"""Kinds of primitives whose coordinates a coupler can relate."""


def coupler(label: str, terms: tuple[tuple[float, Joint | None, str], ...], constant: float = 0.0) -> Primitive:
    """Coefficients times joint coordinates (of the joint itself for None) add up to a constant."""
    return Primitive("coupler", (label,), {"terms": terms, "offset": constant})


def joint_of_term(index: int) -> Field:
    """The joint of a term as a field."""
    return JOINT.found(lambda coupler: coupler.terms[index][1])


@register
class Coupler(Joint):
    """A linear relation of two or three joint coordinates: a1 x1 + a2 x2 (+ a3 x3) = constant, 1 row.

    Coordinates are zero at assembly; angles count full turns. The reactions are generalised forces -lam a_k on the
    coordinates: a torque about the axis of a joint for its angle, a force along it for its displacement, on its second
    body, and the opposite on its first. `result[name].on(k)` gives them by marker, two for each term in order.

    Parameters
    ----------
    name : str
    terms : two or three of (coefficient, joint) or (coefficient, joint, coordinate); the coordinate is one of
        `joint.coordinates`, needed only if the joint has several
    constant : float

    Raises
    ------
    ModelError : names the coupler; too few terms, a joint without such a coordinate, a coordinate given twice.
    """

    fields = declare(terms=field("terms"), constant=number(None))

    def __init__(self, name: str, terms: Iterable[Sequence[Any]], *, constant: float = 0.0) -> None:
        self._set_name(name)
        try:
            given = [tuple(term) for term in terms]
        except TypeError:
            given = []
        if len(given) not in (2, 3) or any(len(term) not in (2, 3) for term in given):
            raise ModelError(f"{self.label} has terms {short(terms)}. Give two or three of (coefficient, joint).")
        self._couple(*(self._term(*term) for term in given), constant=constant)

    def _couple(self, *terms: tuple[float, Joint, str], constant: float = 0.0) -> None:
        """Keep the terms; their joints' markers are this one's."""
        places = [(id(joint), coordinate) for _, joint, coordinate in terms]
        if len(set(places)) < len(places):
            raise ModelError(f"{self.label} names a coordinate twice. Give each once, with one coefficient.")
        self.terms, self.constant = terms, as_number(constant, self.label, "constant")
        self.recipe = (coupler("ratio", terms, self.constant),)
        self.first, self.second = self.markers[:2]

    def _term(self, coefficient: Any, joint: Any, coordinate: str | None = None) -> tuple[float, Joint, str]:
        """A checked term."""
        if not isinstance(joint, Joint):
            raise ModelError(f"{self.label} cannot relate {short(joint)}. Give a joint.")
        number = as_number(coefficient, self.label, "coefficient")
        if number == 0.0:
            raise ModelError(f"{self.label} has coefficient 0 for {joint.label}. Leave that term out.")
        if coordinate is None:
            if len(joint.coordinates) != 1:
                known = " or ".join(f"'{key}'" for key in joint.coordinates) or "a joint that has one"
                raise ModelError(f"{self.label}: which coordinate of {joint.label}? Name {known}.")
            coordinate = joint.coordinates[0]
        if joint.coordinate_primitive(coordinate).kind not in LINEAR:
            raise ModelError(
                f"{self.label} cannot relate the {coordinate} of {joint.label}, which that joint keeps constant."
            )
        return number, joint, coordinate

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints whose coordinates it relates."""
        return tuple(dict.fromkeys(joint for _, joint, _ in self.terms))

    @property
    def markers(self) -> tuple[Marker, ...]:
        """First and second marker of the joint of each term."""
        return tuple(marker for _, joint, _ in self.terms for marker in (joint.first, joint.second))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {', '.join(repr(joint.name) for joint in self.joints)})"


@register
class Gear(Coupler):
    """Two angles in a fixed ratio: angle of `second` = `ratio` * angle of `first`, over any number of turns, 1 row.

    `first` and `second` are joints with the coordinate `angle`, each between a carrier (its first body) and a wheel
    (its second); the angles are relative to the carriers, so a planetary gear has its arm as carrier of both. Wheels
    with teeth outside turn in opposite senses: with axes in one sense the ratio is -r1/r2. The torque on the second
    wheel is -lam, on the first ratio * lam, and the opposite on the carriers; forces of teeth are not resolved.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.planar_body import PlanarBody
    >>> from index3.joints.standard import Revolute
    >>> ground, small, large = Ground(), PlanarBody("small", 1.0, 0.1), PlanarBody("large", 2.0, 0.4, position=(3, 0))
    >>> first = Revolute("first", ground, small, at=(0, 0, 0), axis=(0, 0, 1))
    >>> second = Revolute("second", ground, large, at=(3, 0, 0), axis=(0, 0, 1))
    >>> Gear("gear", first, second, ratio=-0.5)
    Gear('gear', 'first', 'second')
    """

    symbol = ""
    fields = declare(first=joint_of_term(0), second=joint_of_term(1), ratio=RATIO)

    def __init__(self, name: str, first: Joint, second: Joint, *, ratio: float) -> None:
        self._set_name(name)
        self.ratio = as_number(ratio, self.label, "ratio")
        if self.ratio == 0.0:
            raise ModelError(f"{self.label} has ratio 0. Give angle of the second per angle of the first.")
        self._couple(self._term(-self.ratio, first, "angle"), self._term(1.0, second, "angle"))

    def solids(self) -> list[dict[str, Any]]:
        """The two wheels, if their axes are parallel and apart; a ring with teeth inside if they turn in one sense."""
        poses = [joint.first.pose() for _, joint, _ in self.terms]
        axes = [pose[1][:, 2] for pose in poses]
        apart = poses[1][0] - poses[0][0]
        distance = float(np.linalg.norm(apart - (apart @ axes[0]) * axes[0]))
        ratio = self.ratio * float(np.sign(axes[0] @ axes[1]))  # -r1/r2 for wheels with teeth outside
        if abs(axes[0] @ axes[1]) < 1.0 - 1e-9 or ratio == 1.0 or distance < 1e-9 * (1.0 + np.linalg.norm(apart)):
            return []
        second = distance / abs(1.0 - ratio)
        radii = [abs(ratio) * second, second]
        wheel = {"type": "gear", "length": 0.3 * min(radii)}
        return [
            {"marker": 2 * k + 1, **wheel, "radius": r, "teeth": round(16 * r / min(radii)),
             "inside": ratio > 0.0 and r == max(radii)}
            for k, r in enumerate(radii)
        ]  # fmt: skip


@register
class RackPinion(Coupler):
    """A rack and a pinion: displacement of `rack` = `radius` * angle of `pinion`, over any number of turns, 1 row.

    `pinion` is a joint with the coordinate `angle`, `rack` one with `displacement`; a negative radius reverses the
    sense. The force on the rack along its axis is -lam, the torque on the pinion radius * lam.
    """

    symbol = ""
    fields = declare(pinion=joint_of_term(0), rack=joint_of_term(1), radius=number("length/angle"))

    def __init__(self, name: str, pinion: Joint, rack: Joint, *, radius: float) -> None:
        self._set_name(name)
        self.radius = as_number(radius, self.label, "radius")
        if self.radius == 0.0:
            raise ModelError(f"{self.label} has radius 0. Give displacement of the rack per angle of the pinion.")
        self._couple(self._term(-self.radius, pinion, "angle"), self._term(1.0, rack, "displacement"))

    def solids(self) -> list[dict[str, Any]]:
        """The pinion, and a rack along the axis of its joint that touches it."""
        radius = abs(self.radius)
        pinion, rack = self.markers[1].pose(), self.markers[3].pose()
        centre, along = rack[1].T @ (pinion[0] - rack[0]), np.array([0.0, 0.0, 1.0])  # in the axes of the rack
        across = centre - centre[2] * along
        if np.linalg.norm(across) < 1e-9 * radius:
            across = np.array([1.0, 0.0, 0.0])
        across = across / np.linalg.norm(across)
        axes = np.column_stack([along, across, np.cross(along, across)])
        pitch, length = 2.0 * np.pi * radius / 16, 0.3 * radius
        rack_solid = {"marker": 3, "type": "rack", "pitch": pitch, "from": -10 * pitch, "to": 10 * pitch}
        return [
            {"marker": 1, "type": "gear", "radius": radius, "teeth": 16, "length": length, "inside": False},
            {**rack_solid, "depth": 0.14 * radius, "length": length, "at": (centre - radius * across).tolist(),
             "axes": axes.tolist()},
        ]  # fmt: skip


@register
class Screw(Joint):
    """The second body screws along z of the first marker: 5 rows; coordinates `angle`, `displacement`.

    displacement = pitch * angle / (2 pi), counted over full turns; `pitch` [m per turn] is positive for a right-handed
    thread.
    """

    measures = ANGLE | DISPLACEMENT
    fields = declare(Joint.fields, pitch=LENGTH)

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        *,
        pitch: float,
        at: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        x: ArrayLike | None = None,
    ) -> None:
        self._set_name(name)
        self.pitch = as_number(pitch, self.label, "pitch")
        thread = ((1.0, None, "displacement"), (-self.pitch / (2.0 * math.pi), None, "angle"))
        if self.pitch == 0.0:
            raise ModelError(f"{self.label} has pitch 0. Use Revolute for a joint that does not advance.")
        self.recipe = (in_plane(X), in_plane(Y), *PARALLEL_Z, coupler("pitch", thread))
        super().__init__(name, first, second, at=at, axis=axis, x=x)
