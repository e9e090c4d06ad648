"""Tyres: a wheel on a road, with vertical spring and damper, slip forces of a brush model, rolling resistance."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import Marker, as_choice, as_flag, as_number, as_positive
from index3.bodies.states import States
from index3.errors import ModelError
from index3.fields import FLAG, LENGTH, RATIO, SPEED, choice, declare, exponent, field, marker, number
from index3.forces import tyre_kernels
from index3.forces.force import ForceElement, Place, marker_of
from index3.forces.road import HALF_CYLINDER, Road
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker


class Tyre(ForceElement):
    """A tyre on a road.

    Parameters
    ----------
    name : str
    wheel : marker at the wheel's centre, z along the spin axis (either way); a body stands for its own axes
    on : marker of the road, x along its profile and z up; a body, such as model.ground, stands for its own axes
    road : the profile, flat by default
    radius : of the unloaded tyre [m]
    stiffness, exponent : of the vertical force k deflection^exponent [N/m^exponent], exponent 1 by default
    damping : c [N s/m]
    onset : deflection over which the damper comes in when the wheel lands [m], by default a hundredth of the radius
    pulls : bool, True for a spring and damper that also pull the wheel down, as some reference models have it
    longitudinal_stiffness, cornering_stiffness : force per slip [N], and per tangent of the slip angle [N]; 0 for none
    friction, sliding_friction : coefficient at no slip, and at full slip (by default the same)
    patch : half the length of the contact patch [m], for the aligning moment; 0 for none
    rolling_resistance : coefficient
    relaxation : length [m], or two (longitudinal, lateral), over which the patch deflects until the slip is reached;
        the deflections are `result.states[name]` [m]. None: slips act at once.
    low_speed : speed [m/s] below which slips fade into sliding velocities, 0.1 by default
    normal : "road", or "vertical" for a force along z of the road marker in which the slope has no part
    camber : bool, False if the tyre meets the road straight below its centre however the wheel leans

    All its work counts as work.

    Raises
    ------
    ModelError : names the tyre.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> wheel = RigidBody.cylinder("wheel", 0.3, 0.2, mass=20.0, position=(0, 0, 0.3), orientation=(1, -1, 0, 0))
    >>> Tyre("front", wheel, Ground(), radius=0.3, stiffness=2e5, cornering_stiffness=5e4, longitudinal_stiffness=1e5)
    Tyre('front', 'wheel', 'ground')
    """

    kind = tyre_kernels.__name__
    reported = 0
    symbol = ""
    page = "elements/tyre.md"
    fields = declare(
        wheel=marker(0),
        on=marker(1),
        road=field("road"),
        radius=LENGTH,
        stiffness=number(lambda place: f"force/length^{exponent(place)}"),
        exponent=RATIO,
        damping=number("force*time/length"),
        onset=LENGTH,
        pulls=FLAG,
        longitudinal_stiffness=number("force"),
        cornering_stiffness=number("force"),
        friction=RATIO,
        sliding_friction=RATIO,
        patch=LENGTH,
        rolling_resistance=RATIO,
        relaxation=field("one_or_two", dimension="length"),
        low_speed=SPEED,
        normal=choice("road", "vertical"),
        camber=FLAG,
    )

    def __init__(
        self,
        name: str,
        wheel: BodyOrMarker,
        on: BodyOrMarker,
        road: Road | None = None,
        *,
        radius: float,
        stiffness: float,
        exponent: float = 1.0,
        damping: float = 0.0,
        onset: float | None = None,
        pulls: bool = False,
        longitudinal_stiffness: float = 0.0,
        cornering_stiffness: float = 0.0,
        friction: float = 1.0,
        sliding_friction: float | None = None,
        patch: float = 0.0,
        rolling_resistance: float = 0.0,
        relaxation: ArrayLike | None = None,
        low_speed: float = 0.1,
        normal: str = "road",
        camber: bool = True,
    ) -> None:
        super().__init__(name)
        ends: list[Marker] = [marker_of(self.label, end) for end in (wheel, on)]
        self.markers = tuple(ends)
        if ends[0].body is ends[1].body:
            raise ModelError(f"{self.label} joins body '{ends[0].body.name}' to itself. Give the wheel and the road.")
        self.road = Road() if road is None else road
        if not isinstance(self.road, Road):
            raise ModelError(f"{self.label} has road {short(road)}. Give a Road, such as Road.flat().")
        self.radius = as_positive(radius, self.label, "radius")
        self.stiffness = as_positive(stiffness, self.label, "stiffness")
        self.exponent = as_number(exponent, self.label, "exponent")
        self.damping = self._not_negative(damping, "damping")
        self.onset = as_positive(0.01 * self.radius if onset is None else onset, self.label, "onset")
        self.pulls = as_flag(pulls, self.label, "pulls")
        self.camber = as_flag(camber, self.label, "camber")
        self._check_vertical(normal)
        self.longitudinal_stiffness = self._not_negative(longitudinal_stiffness, "longitudinal_stiffness")
        self.cornering_stiffness = self._not_negative(cornering_stiffness, "cornering_stiffness")
        self.friction = as_positive(friction, self.label, "friction")
        sliding = self.friction if sliding_friction is None else sliding_friction
        self.sliding_friction = as_positive(sliding, self.label, "sliding_friction")
        self.patch = self._not_negative(patch, "patch")
        self.rolling_resistance = self._not_negative(rolling_resistance, "rolling_resistance")
        self.low_speed = as_positive(low_speed, self.label, "low_speed")
        self.relaxation = None if relaxation is None else self._lengths(relaxation)
        if self.relaxation is not None:
            self.own_states = (States(name, (0.0, 0.0), names=("longitudinal", "lateral")),)
            self.markers += self.own_states[0].markers
        if self.slips and ends[0].body.kind == "point":
            raise ModelError(
                f"{self.label} has slip forces on PointMass '{ends[0].body.name}', which does not roll. Use a "
                "RigidBody, or leave longitudinal_stiffness, cornering_stiffness and rolling_resistance out."
            )

    def _not_negative(self, value: Any, what: str) -> float:
        number = as_number(value, self.label, what)
        if number < 0.0:
            raise ModelError(f"{self.label} has {what} {number}. Give at least 0.")
        return number

    def _lengths(self, relaxation: Any) -> tuple[float, float]:
        """The two relaxation lengths."""
        if not self.slips:
            raise ModelError(f"{self.label} has relaxation but no slip forces. Give their stiffness, or leave it out.")
        both = relaxation if isinstance(relaxation, Sequence | np.ndarray) else (relaxation, relaxation)
        if len(both) != 2:
            raise ModelError(f"{self.label} has relaxation {short(relaxation)}. Give one length or two.")
        x, y = (as_positive(length, self.label, "relaxation") for length in both)
        return x, y

    def _check_vertical(self, normal: Any) -> None:
        """Settings of the vertical force that exclude each other."""
        self.normal = as_choice(normal, self.label, "normal", ("road", "vertical"))
        if self.exponent < 1.0:
            raise ModelError(f"{self.label} has exponent {self.exponent}. Give at least 1.")
        if self.pulls and self.exponent != 1.0:
            raise ModelError(f"{self.label} pulls, and has exponent {self.exponent}. Only a linear spring can pull.")
        if normal == "road" and self.road.kind == HALF_CYLINDER:
            raise ModelError(
                f"{self.label} follows the slope of a half cylinder, which is upright at its edges. "
                "Give normal='vertical', or a Road.bump."
            )

    @property
    def longest_step(self) -> float:
        """Half the shortest feature of the road, at the speed that the wheel starts with."""
        wheel, road = self.markers[0].body, self.markers[1]
        speed = abs(float(wheel.v0[:3] @ road.pose()[1][:, 0])) + abs(self.road.speed)
        return self.road.shortest / speed if speed > 0.0 else inf

    @property
    def obstacle(self) -> str:
        """What a constant step may pass over."""
        return f"A bump under {self.label}"

    @property
    def slips(self) -> bool:
        """Whether it has forces along the road."""
        return max(self.longitudinal_stiffness, self.cornering_stiffness, self.rolling_resistance) > 0.0

    @property
    def damped(self) -> bool:
        """Whether it has derivatives by velocity."""
        return self.damping > 0.0 or self.slips

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its own part of a row of `tyre_kernels.TYRE`, without the road."""
        onset = self.onset if self.damping > 0.0 else 0.0
        return (
            self.radius, self.stiffness, self.exponent, self.damping, onset, self.pulls,
            self.normal == "road", self.camber, self.slips, self.longitudinal_stiffness, self.cornering_stiffness,
            self.friction, self.sliding_friction, self.patch, self.rolling_resistance, self.low_speed,
            *(self.relaxation or (1.0, 1.0)),
        )  # fmt: skip

    def solids(self) -> list[dict[str, Any]]:
        """The wheel, and the road under it."""
        wheel = {"marker": 0, "type": "tyre", "radius": self.radius, "width": 0.6 * self.radius}
        return [wheel, {"marker": 1, "type": "road", "wheel": 0, **self.road.profile}]

    @property
    def law_in_numbers(self) -> dict[str, Any]:
        """What a result needs to work out its histories again."""
        count = len(self.markers)
        head = [0, 1, 2 if count > 2 else -1, 0, 6 * count]
        row = [*head, *self.record(None), *self.road.record(0)]  # type: ignore[arg-type]  # the place is not needed
        return {"kind": "tyre", "row": [float(x) for x in row], "knots": [list(knot) for knot in self.road.knots]}

    def explain(self, stage: str, t: float) -> str:
        """The only way it breaks: a wheel on its side."""
        return (
            f"{self.label} has its wheel flat on its side at t = {t:.6g}. Check the spin axis (z of the wheel's "
            "marker) and the road's z axis; camber=False without slip forces has no axis."
        )


register(Tyre)
