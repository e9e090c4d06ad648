"""A spring and damper along the line between two points.

With d = r_j - r_i, length L = |d|, direction u = d / L: the tension s = k (L - L0) + c L' + f pulls the ends together.
"""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.algebra.vectors import add, add_at, dot, load, norm, outer, scale, sub
from index3.bodies.body import check_pair, distance
from index3.bodies.marker import as_number, as_vector
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.constraints.turning_angle import combine
from index3.errors import ModelError
from index3.forces.force import ForceElement, Place, add_block, element_table

SPRING = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("stiffness", "f8"),
        ("damping", "f8"),
        ("length", "f8"),
        ("force", "f8"),
    ]
)
SPRINGS, SEEN = slots(
    springs=(SPRING, 1),
    seen=("f8", 2),  # time and d of each spring at the last evaluation, and at the last one of another time before that
)
MET = 1e-2
"""Two evaluations pass through zero length if d turns back on a line that misses zero by less than this part of its
length: smaller steps bring a real passage ever closer to zero, and tell a narrow miss from it."""
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class SpringDamper(ForceElement):
    """A spring and damper between two points; tension = stiffness (L - length) + damping dL/dt + force.

    Parameters
    ----------
    name : str
    first, second : two markers, or two bodies together with `points`
    points : (on the first body, on the second body) in ground at the initial configuration [m]
    stiffness : float [N/m], may be negative
    damping : float [N s/m], may be negative
    length : float >= 0, free length [m]; by default the initial distance of the points
    force : float, constant tension on top [N]; its work is potential energy like that of the spring

    Raises
    ------
    ModelError : names the spring.

    >>> from index3.bodies.body import Ground
    >>> from index3.bodies.point_mass import PointMass
    >>> bob = PointMass("bob", 1.0, position=(0, 0, -2))
    >>> SpringDamper("spring", Ground(), bob, points=((0, 0, 0), (0, 0, -2)), stiffness=100.0).length
    2.0
    """

    kind = __name__

    def __init__(
        self,
        name: str,
        first: Any,
        second: Any,
        *,
        points: Any = None,
        stiffness: float = 0.0,
        damping: float = 0.0,
        length: float | None = None,
        force: float = 0.0,
    ) -> None:
        super().__init__(name)
        if check_pair(self.label, first, second, "points=..."):
            start, end = self._points(points)
            first, second = first.marker_at(start), second.marker_at(end)
        elif points is not None:
            raise ModelError(f"{self.label} has two markers and also points. Leave points out, or give two bodies.")
        self.markers = (first, second)
        self.stiffness = as_number(stiffness, self.label, "stiffness")
        self.damping = as_number(damping, self.label, "damping")
        self.force = as_number(force, self.label, "force")
        self.length = self._free_length(length)

    def _points(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        if points is None:
            raise ModelError(
                f"{self.label} joins two bodies without points. Give points=(first, second), or two markers."
            )
        try:
            start, end = points
        except (TypeError, ValueError):
            raise ModelError(f"{self.label} has points {short(points)}. Give two: points=(first, second).") from None
        return as_vector(start, self.label, "point"), as_vector(end, self.label, "point")

    def _free_length(self, length: float | None) -> float:
        if length is None:
            first, second = (marker.pose()[0] for marker in self.markers)
            start = distance(first, second)
            if start == 0.0:
                raise ModelError(
                    f"{self.label} starts with both ends at one point, so its free length is not known. "
                    "Give length=..., or move the ends apart."
                )
            return start
        number = as_number(length, self.label, "length")
        if number < 0.0:
            raise ModelError(f"{self.label} has length {number}. Give a free length of at least 0.")
        return number

    @property
    def damped(self) -> bool:
        """Whether it has a damper."""
        return self.damping != 0.0

    @property
    def conservative(self) -> bool:
        """Whether it has no damper."""
        return self.damping == 0.0

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of springs."""
        i, j = place.markers
        return (i, j, place.stiffness, self.stiffness, self.damping, self.length, self.force)

    def explain(self, stage: str, t: float) -> str:
        """The only way it breaks: both ends at one point."""
        return (
            f"{self.label} has both ends at one point at t = {t:.6g}, so its force has no direction. "
            "Keep the ends apart, or replace it by springs along fixed directions."
        )


def table(elements: Sequence[SpringDamper], places: Sequence[Place]) -> Table:
    """The table of all springs of a system."""
    result = Table(2)
    result[SPRINGS] = element_table(SPRINGS, elements, places)[SPRINGS]
    result[SEEN] = np.full((len(elements), 8), np.nan)
    return result


@helper
def stretch(T, spring):
    """Length L, direction u (zero where there is none) and d' of a spring."""
    r, V = view(T, s.MARKER_R), view(T, s.MARKER_V)
    d = sub(load(r, spring.j), load(r, spring.i))
    length = norm(d)
    u = scale(1.0 / length, d) if length > 0.0 else (0.0, 0.0, 0.0)
    return length, u, sub(load(V, spring.j), load(V, spring.i))


@helper
def tension(spring, length, rate):
    """The force that pulls the ends together."""
    return spring.stiffness * (length - spring.length) + spring.damping * rate + spring.force


@helper
def ends_met(seen, t, length, u):
    """While a method steps: whether the ends met since the last evaluation at another time; if not, remember d.

    Steps hardly ever end at zero length itself, beyond which the force would act the other way round.
    """
    if t < seen[0]:  # a step is tried anew, or its stages are not in the order of time: nothing to compare with
        seen[5] = np.nan
    elif t != seen[0]:  # also where nothing is remembered, as NaN
        for k in range(4):
            seen[4 + k] = seen[k]
    d, before = scale(length, u), (seen[5], seen[6], seen[7])
    if dot(d, before) < 0.0:
        line = sub(d, before)
        along = dot(d, line) / dot(line, line)
        if norm(sub(d, scale(along, line))) < MET * norm(line):
            return True
    seen[0] = t
    seen[1] = d[0]
    seen[2] = d[1]
    seen[3] = d[2]
    return False


@kernel
def push(T, E):
    """Pull the ends of every spring together."""
    springs, seen, f, t = view(E, SPRINGS), view(E, SEEN), view(T, s.MARKER_F), view(T, s.TIME)[0]
    stepping = view(T, s.STATUS)[s.STEPPING] == 1
    for e in range(springs.shape[0]):
        length, u, v = stretch(T, springs[e])
        if length == 0.0:
            return e + 1
        if stepping and tension(springs[e], 0.0, 0.0) != 0.0 and ends_met(seen[e], t, length, u):
            return e + 1
        pull = tension(springs[e], length, dot(u, v))
        add_at(f, springs[e].i, 0, scale(pull, u))
        add_at(f, springs[e].j, 0, scale(-pull, u))
    return OK


@helper
def add_pair(group, first, B):
    """Add B to the diagonal blocks of the two points and -B off the diagonal."""
    add_block(group, first, 12, 0, 0, B, 1.0)
    add_block(group, first, 12, 2, 2, B, 1.0)
    add_block(group, first, 12, 0, 2, B, -1.0)
    add_block(group, first, 12, 2, 0, B, -1.0)


@kernel
def stiffen(T, E):
    """Derivatives of s u: k u u^T + s / L (I - u u^T) + c u (d' - L' u)^T / L by d, and c u u^T by d'."""
    springs, K, D = view(E, SPRINGS), view(T, s.GROUP_K), view(T, s.GROUP_D)
    for e in range(springs.shape[0]):
        length, u, v = stretch(T, springs[e])
        if length == 0.0:
            return e + 1
        k, c, rate = springs[e].stiffness, springs[e].damping, dot(u, v)
        across = tension(springs[e], length, rate) / length
        row = add(scale(k - across, u), scale(c / length, sub(v, scale(rate, u))))
        add_pair(K, springs[e].group, combine(1.0, outer(u, row), across, IDENTITY))
        if c != 0.0:
            add_pair(D, springs[e].group, outer(scale(c, u), u))
    return OK


@kernel
def energy(T, E):
    """Energy of springs and constant tensions, zero at the free length; power of dampers."""
    springs, values = view(E, SPRINGS), view(T, s.ENERGY)
    for e in range(springs.shape[0]):
        length, u, v = stretch(T, springs[e])
        extension, rate = length - springs[e].length, dot(u, v)
        values[s.POTENTIAL] += (0.5 * springs[e].stiffness * extension + springs[e].force) * extension
        values[s.POWER] -= springs[e].damping * rate * rate
    return OK


STAGES = {"push": push, "stiffen": stiffen, "energies": energy}
