"""Loads along flexible beams and cables: a force per length, at Gauss points of their elements.

The axis of an element is a cubic of s, and so is the work of a load that is constant along it: two points integrate it
exactly, and the point forces are the work-equivalent forces on the nodes. Axes that turn along the beam are no
polynomial; loads in these have a third point, and so have loads that vary along the axis.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.ancf_beam import AncfBeam
from index3.bodies.ancf_shapes import gauss
from index3.bodies.ancf_space import SpaceLine
from index3.bodies.marker import Marker, as_choice, as_number
from index3.bodies.smooth import as_vector_law
from index3.errors import ModelError
from index3.fields import BODY, LENGTH, choice, declare, time_vector
from index3.forces import load as kernels
from index3.forces.force import ForceElement
from index3.forces.load import Load
from index3.registry import register

if TYPE_CHECKING:
    from index3.bodies.body import Body
    from index3.user_types import TimeVector, UserFunction

FRAMES = ("ground", "section", "tangent")
POINTS = {"ground": 2, "section": 3, "tangent": 3}
"""Gauss points in each element of a load that is alike along the beam; of others there are three."""
AT_NODE = 1e-12
"""How near to a node, as a part of the beam's length, an end of the load counts as being there: rounding."""


class DistributedLoad(ForceElement):
    """A given force per length along a flexible beam or cable.

    Parameters
    ----------
    name : str
    beam : AncfBeam, AncfBeam3D or AncfCable
    load : three numbers or functions of t [s], or a function of t, or of t and s [m], that returns three [N/m]: force
        per metre of the undeformed axis
    start, end : where it begins and ends, s [m] along the undeformed axis; by default it covers all of the beam
    frame : axes of `load`: "ground"; or "section" and "tangent", those of `beam.marker(s, frame=...)`, with which it
        turns. A cable has the first alone.

    The nodes get the forces that do the same work. In results `force` is that of the whole load, and section forces of
    the beam know it as spread. Its work is counted as work, not as potential energy. A planar beam does not feel a z
    component: numbers, and functions that have one at t = 0, are refused.

    Raises
    ------
    ModelError : names the load.

    >>> beam = AncfBeam(
    ...     "beam", (0, 0), (2, 0), height=0.1, width=0.1, elements=4, young=1e9, poisson=0.0, density=1e3
    ... )
    >>> snow = DistributedLoad("snow", beam, (0, -30.0, 0), end=1.5)
    >>> len(snow.parts), round(sum(part.weight for part in snow.parts), 12)
    (6, 1.5)
    """

    kind = kernels.__name__
    symbol = ""
    fields = declare(
        beam=BODY.found(lambda load: load.beam),
        load=time_vector("force/length"),
        start=LENGTH,
        end=LENGTH,
        frame=choice(*FRAMES),
    )

    def __init__(
        self,
        name: str,
        beam: Body,
        load: TimeVector | UserFunction,
        *,
        start: float = 0.0,
        end: float | None = None,
        frame: str = "ground",
    ) -> None:
        super().__init__(name)
        if not isinstance(beam, AncfBeam | SpaceLine):
            raise ModelError(
                f"{self.label} cannot act along {short(beam)}. Give an AncfBeam, an AncfBeam3D or an AncfCable."
            )
        self.beam = beam
        self.load = as_vector_law(load, self.label, "load")
        self.varies = callable(self.load) and takes_place(self.load)
        self.frame = as_choice(frame, self.label, "frame", FRAMES)
        if frame != "ground" and beam.line:
            raise ModelError(
                f"{self.label} cannot turn with {beam.label}, which has no axes across its tangent. Leave frame out."
            )
        self.start = as_number(start, self.label, "start")
        self.end = None if end is None else as_number(end, self.label, "end")
        self._spread()
        if beam.planar:
            self._check_plane()

    def _check_plane(self) -> None:
        """Raise if it pushes a planar beam along z, as far as one can see at t = 0."""
        for point in self.points:
            try:
                vector = point.vector(0.0) if callable(point.vector) else point.vector
                across = float(vector[2])
            except Exception:  # of a user's function: the run tells
                return
            if across != 0.0:
                raise ModelError(
                    f"{self.label} has load {[float(x) for x in vector]}, but {self.beam.label} cannot move along z. "
                    "Give a load in ground x-y, or use an AncfBeam3D."
                )
            if not self.varies:
                return

    def _spread(self) -> None:
        """Its points, and for each where its piece begins and ends, and which of how many points of that it is."""
        nodes = np.concatenate([[0.0], np.cumsum(self.beam.lengths)])
        length, count = float(nodes[-1]), 3 if self.varies else POINTS[self.frame]
        low, high = (at_node(s, nodes) for s in (self.start, length if self.end is None else self.end))
        if not 0.0 <= low < high <= length:
            raise ModelError(
                f"{self.label} goes from start = {low:.12g} to end = {high:.12g}. Give 0 <= start < end <= "
                f"{length:.12g}, the length of {self.beam.label} [m]."
            )
        settings: dict[str, Any] = {} if self.frame == "ground" else {"frame": self.frame}
        points: list[LoadPoint] = []
        self.pieces: list[tuple[float, float, int, int]] = []
        for first, last in zip(np.maximum(nodes[:-1], low).tolist(), np.minimum(nodes[1:], high).tolist(), strict=True):
            if first < last:
                places, weights = gauss(count, last - first)
                for k in range(count):
                    at = first + float(places[k])
                    point = LoadPoint(self, f"{self.name}[{len(points)}]", self.beam.marker(at, **settings), weights[k])
                    if self.varies:
                        object.__setattr__(point, "vector", AtPlace(self.load, at))
                    points.append(point)
                    self.pieces.append((first, last, k, count))
        self.points = tuple(points)
        self.markers = tuple(point.markers[0] for point in points)

    @property
    def vector(self) -> TimeVector | UserFunction:
        """Its force per length, as controllers set it: that of all its points."""
        return self.load

    @vector.setter
    def vector(self, law: Any) -> None:
        vars(self)["load"] = law
        for point in self.points:
            vars(point)["vector"] = law

    @property
    def parts(self) -> Sequence[LoadPoint]:
        """Its point forces."""
        return self.points

    @property
    def curved(self) -> bool:
        """Whether it turns with the beam."""
        return self.frame != "ground"

    @property
    def reported(self) -> int:
        """The marker in the middle, where pages draw it."""
        return len(self.points) // 2

    @property
    def spread(self) -> list[list[float]]:
        """Of each marker: where its piece begins and ends [m], which of its Gauss points it is, and of how many."""
        return [list(piece) for piece in self.pieces]

    @property
    def bodies(self) -> tuple[Any, ...]:
        """The beam."""
        return (self.beam,)


class LoadPoint(Load):
    """The force at one point of a distributed load."""

    def __init__(self, whole: DistributedLoad, name: str, marker: Marker, weight: float) -> None:
        super().__init__(name)
        self.markers, self.vector, self.weight = (marker,), whole.load, float(weight)
        self.follower = whole.curved
        self.whole = whole.label

    @property
    def label(self) -> str:
        """How messages call the load that it belongs to."""
        return self.whole


class AtPlace:
    """A function of t and s at one s, as a function of t."""

    def __init__(self, f: Callable[[float, float], Any], s: float) -> None:
        self.f, self.s = f, s

    def __call__(self, t: float) -> Any:
        """The vector at `t`."""
        return self.f(t, self.s)


def takes_place(f: Callable[..., Any]) -> bool:
    """Whether a function has a second argument, the place, that must be given."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # built in: a function of t
        return False
    ordered = [x for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD) and x.default is x.empty]
    return len(ordered) == 2


def at_node(s: float, nodes: np.ndarray) -> float:
    """A place, or that of a node which differs from it by rounding alone."""
    near = float(nodes[np.argmin(np.abs(nodes - s))])
    return near if abs(near - s) <= AT_NODE * nodes[-1] else s


register(DistributedLoad)
