"""Several rigid parts in natural coordinates that share points and vectors, so that joints need no rows."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from index3.bodies import body_fields
from index3.bodies.body import kept
from index3.bodies.marker import Marker, as_direction, as_number, as_vector, frame
from index3.bodies.natural_body import Natural, full_frame
from index3.bodies.natural_structure import (
    UNIT,
    Frame,
    Member,
    Structure,
    check_new,
    checked_mass,
    combine,
    dot,
    halved,
    in_its_plane,
    linear,
    weighted,
)
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike

Made = TypeVar("Made")
# Distance of a centre of mass from the span of its part's members, relative to their size, that counts as none.
INSIDE = 1e-9


def recorded(build: Callable[..., Made]) -> Callable[..., Made]:
    """A building method of a linkage that keeps what it was called with as one of the linkage's `steps`."""

    @functools.wraps(build)
    def keep(self: NaturalLinkage, *arguments: Any, **settings: Any) -> Made:
        made = build(self, *arguments, **settings)
        named = inspect.signature(build).bind(self, *arguments, **settings).arguments
        self.steps.append({"kind": build.__name__, **{key: kept(x) for key, x in named.items() if key != "self"}})
        return made

    return keep


class NaturalPart:
    """A rigid part of a linkage: gives markers that move with it."""

    def __init__(self, linkage: NaturalLinkage, name: str) -> None:
        self.linkage, self.name = linkage, name

    def __repr__(self) -> str:
        return f"NaturalPart({self.name!r} of {self.linkage.name!r})"

    def marker_at(self, point: Any, *, z: Any = None, x: Any = None, name: str | None = None) -> Marker:
        """A marker given in ground at the initial configuration: `point` and directions of z and x in ground axes."""
        owner = f"Marker of part '{self.name}' of {self.linkage.label}"
        r, A = self.linkage.part_pose(self.name)
        position, axes = as_vector(point, owner, "point"), frame(z, x, owner)
        if not self.linkage.is_oriented(self.name):
            raise ModelError(
                f"{owner}: the part is a bar or a plate, whose members give no axes. Use point_marker at one of its "
                "points, or add a unit vector to the part."
            )
        return Marker.placed(self.linkage, A.T @ (position - r), A.T @ axes, name, self.name)


@register
class NaturalLinkage(Natural):
    """Rigid parts that share points and unit vectors: one body of a model, with a row for every length and angle held.

    Where two parts share a point they are joined by a ball; where they share a point and a vector, or two points, by a
    hinge. Points of ground take part as `fixed`. Everything is given in ground at the initial configuration.

    Parameters
    ----------
    name : str
    planar : bool, whether it moves in the ground x-y plane; points then have two coordinates

    Raises
    ------
    ModelError : names the linkage or its part.

    >>> bars = NaturalLinkage("four-bar", planar=True)
    >>> A, D = bars.fixed("A", (0, 0)), bars.fixed("D", (3, 0))
    >>> B, C = bars.point("B", (0, 1)), bars.point("C", (2, 2))
    >>> parts = [bars.rigid(n, [p, q], mass=1.0) for n, p, q in (("AB", A, B), ("BC", B, C), ("CD", C, D))]
    >>> bars.size, bars.own_rows
    (4, ('A-B.A-B', 'B-C.B-C', 'C-D.C-D'))
    """

    fields = body_fields.LINKAGE

    def __init__(self, name: str, *, planar: bool = False) -> None:
        super().__init__(name, self.kind_name)
        self.mass = 0.0
        self.members: dict[str, Member] = {}
        self.steps: list[dict[str, Any]] = []  # how it was built, for model files
        self._given = []
        self._take(Structure(bool(planar)))

    def __getitem__(self, name: str) -> NaturalPart:
        if name not in self.structure.frames or name in self.members:
            parts = [key for key in self.structure.frames if key not in self.members]
            raise ModelError(f"{self.label} has no part '{name}'. It has {', '.join(parts) or 'none'}.")
        return NaturalPart(self, name)

    @recorded
    def point(self, name: str, position: ArrayLike, *, velocity: ArrayLike | None = None) -> Member:
        """A point that moves; in the plane (x, y) is enough."""
        member = self._add(name, "point", self._vector(position, name, "position"))
        if velocity is not None:
            rate = self._vector(velocity, name, "velocity")
            for form, x in zip(member.form, rate, strict=True):
                for i in form:
                    self.v0[i] = x
                    self._given.append(i)
        return member

    @recorded
    def fixed(self, name: str, position: ArrayLike) -> Member:
        """A point of ground; it has no coordinates."""
        self.held = True
        return self._add(name, "fixed", self._vector(position, name, "position"))

    @recorded
    def vector(self, name: str, direction: ArrayLike) -> Member:
        """A unit vector, with a row that keeps its length."""
        flat = self._vector(direction, name, "direction")
        return self._add(name, "vector", np.array(as_direction(flat, f"{self.label}, '{name}'", "direction")))

    @recorded
    def length(self, name: str, first: Member, second: Member) -> Member:
        """A number that is the distance of two points, with the row that says so."""
        self._check_members([first, second], name, ("point", "fixed"))
        distance = float(np.linalg.norm(second.value - first.value))
        if distance == 0.0:
            raise ModelError(f"{self.label}, '{name}': the points are at one place. Give points apart.")
        edge = combine((1.0, second.form), (-1.0, first.form))
        return self._measure(name, distance, lambda s: {**halved(dot(edge, edge)), (s, s): -0.5})

    @recorded
    def component(self, name: str, point: Member, direction: ArrayLike, zero: float = 0.0) -> Member:
        """A number that is `zero` + `direction` . `point`, with the row that says so."""
        self._check_members([point], name, ("point",))
        n = self._vector(direction, name, "direction").tolist()
        zero = as_number(zero, f"{self.label}, '{name}'", "zero")
        form = weighted(*zip(n, point.form, strict=True))
        value = zero + float(np.dot(n, point.value))
        return self._measure(name, value, lambda s: linear({**form, s: -1.0}))

    @recorded
    def rigid(
        self,
        name: str,
        members: list[Member],
        *,
        mass: float = 0.0,
        inertia: ArrayLike | None = None,
        centre: ArrayLike | None = None,
    ) -> NaturalPart:
        """A rigid part of some points and vectors.

        Parameters
        ----------
        members : points, fixed points and unit vectors of this linkage; they keep their relative places
        mass : float [kg]
        inertia : about the centre of mass, ground axes at the initial configuration [kg m^2]: 3 values or 3x3, in the
            plane one value. By default that of a uniform bar, if the part has two members.
        centre : centre of mass in ground [m]; by default the middle of the points
        """
        owner = f"Part '{name}' of {self.label}"
        members = list(members)
        self._check_members(members, name, ("point", "fixed", "vector"))
        check_new(name, {**self.members, **self.structure.frames}, owner)
        structure = self.structure
        points = [member.value for member in members if member.type != "vector"]
        edges = structure.edges(members, owner)
        r = np.mean(points, axis=0) if centre is None else self._vector(centre, name, "centre")
        outside = np.linalg.norm(r - edges.origin.value - edges.values @ edges.within(r - edges.origin.value))
        if outside > INSIDE * max(1.0, float(np.abs(edges.values).max(initial=0.0))):
            raise ModelError(f"{owner} has its centre {outside:.3g} m away from the span of its members. Add a member.")
        if inertia is None:
            inertia = bar_inertia(points, mass, owner, structure.planar)
        number, tensor = checked_mass(mass, inertia, owner, structure.planar)
        structure.hold_together(edges, members, name)
        full = (structure.planar and len(edges.forms) == 2) or len(edges.forms) == 3
        if number > 0.0:
            tensor = tensor if full else in_its_plane(edges, tensor, owner)
            structure.add_mass(edges, number, tensor, r, np.eye(3))
        self.mass += number
        structure.frames[name] = (
            full_frame(edges, r, np.eye(3), structure.planar)
            if full
            else Frame(edges.point(r), UNIT, r, np.eye(3), oriented=False)
        )
        self._take(structure)
        return NaturalPart(self, name)

    def drawing(self) -> dict[str, Any]:
        """A line through the points of each rigid part that has two or more, unless `shape` says otherwise."""
        lines = []
        for step in self.steps:
            points = [m for m in step.get("members", ()) if m.type != "vector"]
            if len(points) > 1:
                lines.append([section(member) for member in points])
        return {"type": "lines", "lines": lines} if lines and self.shape["type"] == "none" else self.shape

    def point_marker(self, member: Member, name: str | None = None) -> Marker:
        """A marker at a point; it has ground's axes and does not turn."""
        self._check_members([member], "point_marker", ("point",))
        return Marker.placed(self, np.zeros(3), np.eye(3), name, member.name)

    def _place(self, position: np.ndarray, axes: np.ndarray, name: str | None) -> Marker:
        raise ModelError(
            f"{self.label} has several parts. Give a marker of one of them: linkage['part'].marker_at(...), or "
            "linkage.point_marker(point)."
        )

    def _vector(self, value: Any, name: Any, what: str) -> np.ndarray:
        owner = f"{self.label}, '{name}'"
        if self.structure.planar and np.shape(value) == (2,):
            value = (*value, 0.0)
        vector = as_vector(value, owner, what)
        if self.structure.planar and vector[2] != 0.0:
            raise ModelError(f"{owner} has {what} {vector.tolist()}, but the linkage is planar. Give (x, y).")
        return vector

    def _add(self, name: str, type_: str, value: np.ndarray) -> Member:
        if self.model is not None:
            raise ModelError(f"{self.label} is in model '{self.model.name}' already. Build it before it is added.")
        check_new(name, {**self.members, **self.structure.frames}, self.label)
        member = self.structure.add_member(name, type_, value)
        self.members[name] = member
        if type_ == "point":
            self.structure.frames[name] = Frame(member.form, UNIT, value, np.eye(3), oriented=False)
        self._take(self.structure)
        return member

    def _measure(self, name: str, value: float, terms: Any) -> Member:
        member = self._add(name, "scalar", np.array((value, 0.0, 0.0)))
        self.structure.add_row(name, terms(self.size - 1))
        self._take(self.structure)
        return member

    def _check_members(self, members: list[Any], name: str, types: tuple[str, ...]) -> None:
        for member in members:
            if not isinstance(member, Member) or self.members.get(member.name) is not member:
                raise ModelError(f"{self.label}, '{name}': {member!r} is not a point or vector of this linkage.")
            if member.type not in types:
                raise ModelError(f"{self.label}, '{name}' cannot take the {member.type} '{member.name}'.")
        if len({member.name for member in members}) < len(members):
            raise ModelError(f"{self.label}, '{name}' names a member twice. Give each once.")


def section(member: Member) -> dict[str, Any]:
    """A point of a linkage as a section of a line to draw."""
    axes = np.eye(3).tolist()
    if member.type == "fixed":
        return {"body": "ground", "position": member.value.tolist(), "axes": axes}
    return {"part": member.name, "position": [0.0, 0.0, 0.0], "axes": axes}


def bar_inertia(points: list[np.ndarray], mass: float, owner: str, planar: bool) -> Any:
    """The inertia of a uniform bar between two points; of a part without mass, none."""
    if len(points) != 2 and mass != 0.0:
        raise ModelError(f"{owner} has mass but no inertia. Give inertia=..., about its centre, in ground axes.")
    edge = points[-1] - points[0]
    square = mass * float(edge @ edge) / 12.0
    if planar:
        return square
    return square * np.eye(3) - mass * np.outer(edge, edge) / 12.0
