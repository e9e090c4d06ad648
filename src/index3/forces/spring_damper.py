"""A spring and damper along the line between two points.

Along the line of `index3.forces.line` acts the tension s = k (L - L0) + c L' + f; curves may stand for k x and c x.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.vectors import dot, norm, outer, scale
from index3.bodies.marker import as_number
from index3.bodies.pairs import distance
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.constraints.meeting import ends_met
from index3.constraints.turning_angle import combine
from index3.errors import ModelError
from index3.fields import ENDS, LENGTH, TWO_POINTS, declare, law, number
from index3.forces.curve import Curve
from index3.forces.curve_kernels import (
    BAND,
    CURVE,
    NONE,
    CurvedForce,
    CurveTable,
    acts,
    add_curve_energy,
    as_law,
    as_stiffness,
    clearance,
    has_potential,
    is_curved,
    law_table,
    slope_at,
    slope_of,
    value_of,
)
from index3.forces.force import Place, next_switches
from index3.forces.line import (
    IDENTITY,
    add_line_stiffness,
    add_pair,
    ends_meet,
    pull_together,
    stretch,
    two_ends,
)
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import BodyOrMarker, PointPair

SPRING = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("stiffness", "f8"),
        ("damping", "f8"),
        ("length", "f8"),
        ("force", "f8"),
        ("elastic", "i8"),  # curves in place of stiffness and damping, or NONE
        ("viscous", "i8"),
    ]
)
SPRINGS, SEEN, CURVES, PIECES, ASKED, BANDS = slots(
    springs=(SPRING, 1),
    seen=("f8", 2),  # time and d of each spring at the last evaluation, and at the last one of another time before that
    curves=(CURVE, 1),
    pieces=("f8", 2),
    asked=("f8", 1),
    bands=(BAND, 1),
)
MEMORY = (SEEN, ASKED)


class SpringDamper(CurvedForce):
    """A spring and damper between two points; tension = stiffness (L - length) + damping dL/dt + force.

    Tension pulls the points together. A curve in place of a number gives that part of the tension itself.

    Parameters
    ----------
    name : str
    first, second : two markers, or two bodies together with `points`
    points : (on the first body, on the second body) in ground at the initial configuration [m]
    stiffness : float >= 0 [N/m]; or a Curve: tension [N] as function of the extension L - length [m]
    damping : float [N s/m], may be negative; or a Curve: tension [N] as function of the rate dL/dt [m/s]
    length : float >= 0, free length [m]; by default the initial distance of the points. With 0 the ends may meet: the
        force is then stiffness d + damping d' of the difference d of the points
    force : float, constant tension on top [N]; its work is potential energy like that of the spring

    Raises
    ------
    ModelError : names the spring.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.point_mass import PointMass
    >>> bob = PointMass("bob", 1.0, position=(0, 0, -2))
    >>> SpringDamper("spring", Ground(), bob, points=((0, 0, 0), (0, 0, -2)), stiffness=100.0).length
    2.0
    """

    kind = __name__
    symbol = "coil"
    along = ("line",)
    fields = declare(
        ENDS,
        TWO_POINTS,
        stiffness=law("force", "length"),
        damping=law("force", "length/time"),
        length=LENGTH,
        force=number("force"),
    )

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        *,
        points: PointPair | None = None,
        stiffness: float | Curve = 0.0,
        damping: float | Curve = 0.0,
        length: float | None = None,
        force: float = 0.0,
    ) -> None:
        super().__init__(name)
        self.markers = two_ends(self.label, first, second, points)
        self.stiffness = as_stiffness(stiffness, self.label)
        self.damping = as_law(damping, self.label, "damping")
        self.force = as_number(force, self.label, "force")
        self.length = self._free_length(length)

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
        return acts(self.damping)

    @property
    def conservative(self) -> bool:
        """Whether it has no damper, and a potential energy."""
        return not acts(self.damping) and has_potential(self.stiffness)

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of springs."""
        i, j = place.markers
        laws = (slope_of(self.stiffness), slope_of(self.damping))
        return (i, j, place.stiffness, *laws, self.length, self.force, NONE, NONE)

    def explain(self, stage: str, t: float) -> str:
        """What the function of a curve raised, or both ends at one point."""
        if self.failure is not None:
            return super().explain(stage, t)
        return ends_meet(self.label, t)


def table(elements: Sequence[SpringDamper], places: Sequence[Place]) -> CurveTable:
    """The table of all springs of a system."""
    result = law_table(6, (SPRINGS, CURVES, PIECES, ASKED, BANDS), elements, places)
    result[SEEN] = np.full((len(elements), 8), np.nan)
    return result


@helper
def tension(spring, length, rate):
    """The force that pulls the ends together, without curves."""
    return spring.stiffness * (length - spring.length) + spring.damping * rate + spring.force


@helper
def curve_tension(E, spring, length, rate):
    """The part of the tension that curves give."""
    curves, pieces, asked = view(E, CURVES), view(E, PIECES), view(E, ASKED)
    elastic = value_of(curves, pieces, asked, spring.elastic, length - spring.length)
    return elastic + value_of(curves, pieces, asked, spring.viscous, rate)


@helper
def directed(spring, length, u, v):
    """Whether its force has a direction, and which.

    Where the ends meet, only one has that vanishes there without speed: against the velocity, k d + c d' in all.
    """
    if length > 0.0:
        return True, u
    speed = norm(v)
    smooth = tension(spring, 0.0, 0.0) == 0.0 and not is_curved(spring)
    return smooth, scale(1.0 / speed, v) if speed > 0.0 else u


@kernel
def forces(T, E):
    """Pull the ends of every spring together."""
    springs, seen, t = view(E, SPRINGS), view(E, SEEN), view(T, s.TIME)[0]
    stepping = view(T, s.STATUS)[s.STEPPING] == 1
    for e in range(springs.shape[0]):
        length, u, v = stretch(T, springs[e].i, springs[e].j)
        clear, u = directed(springs[e], length, u, v)
        if not clear:
            return e + 1
        curved = is_curved(springs[e])
        if stepping and (curved or tension(springs[e], 0.0, 0.0) != 0.0) and ends_met(seen[e], t, length, u):
            return e + 1
        pull = tension(springs[e], length, dot(u, v))
        if curved:
            pull += curve_tension(E, springs[e], length, dot(u, v))
            if not abs(pull) < 1e300:  # also catches NaN
                return e + 1
        pull_together(T, springs[e].i, springs[e].j, pull, u)
    return OK


@kernel
def force_derivatives(T, E):
    """Derivatives of s u by d, and c u u^T by d'."""
    springs, K, D = view(E, SPRINGS), view(T, s.GROUP_K), view(T, s.GROUP_D)
    curves, pieces = view(E, CURVES), view(E, PIECES)
    for e in range(springs.shape[0]):
        spring = springs[e]
        length, u, v = stretch(T, spring.i, spring.j)
        if length == 0.0:
            if not directed(spring, length, u, v)[0]:
                return e + 1
            add_pair(K, spring.group, combine(spring.stiffness, IDENTITY, 0.0, IDENTITY))
            add_pair(D, spring.group, combine(spring.damping, IDENTITY, 0.0, IDENTITY))
            continue
        k, c, rate = spring.stiffness, spring.damping, dot(u, v)
        pull = tension(spring, length, rate)
        if is_curved(spring):
            pull += curve_tension(E, spring, length, rate)
            k += slope_at(curves, pieces, spring.elastic, length - spring.length)
            c += slope_at(curves, pieces, spring.viscous, rate)
        add_line_stiffness(K, spring.group, length, u, v, pull, k, c)
        if c != 0.0:
            add_pair(D, spring.group, outer(scale(c, u), u))
    return OK


@kernel
def energy(T, E):
    """Energy of springs and constant tensions, zero at the free length; power of dampers."""
    springs, values = view(E, SPRINGS), view(T, s.ENERGY)
    curves, pieces, asked = view(E, CURVES), view(E, PIECES), view(E, ASKED)
    for e in range(springs.shape[0]):
        spring = springs[e]
        length, u, v = stretch(T, spring.i, spring.j)
        u = directed(spring, length, u, v)[1]
        extension, rate = length - spring.length, dot(u, v)
        values[s.POTENTIAL] += (0.5 * spring.stiffness * extension + spring.force) * extension
        values[s.POWER] -= (spring.damping * rate + value_of(curves, pieces, asked, spring.viscous, rate)) * rate
        if spring.elastic >= 0:
            add_curve_energy(values, curves, pieces, asked, spring.elastic, extension, rate)
    return OK


@kernel
def switches(T, E):
    """How far the extension of each spring with a dead band is from its nearer end, negative where the spring acts."""
    springs, bands, values = view(E, SPRINGS), view(E, BANDS), view(T, s.SWITCH)
    at = next_switches(T, bands.shape[0])
    for e in range(bands.shape[0]):
        spring = springs[bands[e].record]
        length, _, _ = stretch(T, spring.i, spring.j)
        values[at + e] = clearance(bands[e], length - spring.length)
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy, "switches": switches}

register(SpringDamper)
