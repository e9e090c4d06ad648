"""Dry friction in a joint, from the joint's own reaction; `joint_friction_kernels` holds the formulas."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from index3.bodies.marker import as_positive
from index3.errors import ModelError
from index3.fields import JOINT, LENGTH, RATIO, SPEED, declare, number
from index3.forces import joint_friction_kernels
from index3.forces.force import ForceElement, Place
from index3.forces.friction_law import friction_numbers, not_negative
from index3.registry import register

if TYPE_CHECKING:
    from index3.joints.base import Joint


class JointFriction(ForceElement):
    """Coulomb friction in a joint, with the normal load taken from the joint's own reaction.

    Parameters
    ----------
    name : str
    joint : Revolute (turns), Prismatic or Inline (slide) or Cylindrical (both)
    friction : float >= 0, coefficient of sliding friction
    static_friction : float >= friction, coefficient near rest; by default the same
    stick_velocity : float > 0, sliding speed at which friction is fully there [m/s]; what sticks creeps below it
    decay_velocity : float > 0, over which friction falls from static to sliding beyond that [m/s]; by default ten times
        `stick_velocity`
    radius : float > 0, of the pin, where the joint turns [m]
    arm : float > 0, length of the guide over which moments become forces, where the joint slides [m]; without it
        moments load the guide not at all
    preload : float >= 0, normal load in addition to that of the reaction [N]

    The friction is regularised: a joint at rest under load creeps at a speed below `stick_velocity`. Reactions must be
    determined: in a joint with redundant rows friction is refused.

    Raises
    ------
    ModelError : names the friction.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> from index3.joints.standard import Prismatic
    >>> block = RigidBody.box("block", (1, 1, 1), mass=1.0)
    >>> guide = Prismatic("guide", Ground(), block, at=(0, 0, 0), axis=(1, 0, 0))
    >>> JointFriction("rub", guide, 0.3)
    JointFriction('rub', 'ground', 'block')
    """

    kind = joint_friction_kernels.__name__
    symbol = ""
    page = "elements/friction.md"
    fields = declare(
        joint=JOINT,
        friction=RATIO,
        static_friction=RATIO,
        stick_velocity=SPEED,
        decay_velocity=SPEED,
        radius=LENGTH,
        arm=LENGTH,
        preload=number("force"),
    )
    damped = True
    reads_reactions = True

    def __init__(
        self,
        name: str,
        joint: Joint,
        friction: float,
        *,
        static_friction: float | None = None,
        stick_velocity: float = 1e-3,
        decay_velocity: float | None = None,
        radius: float | None = None,
        arm: float | None = None,
        preload: float = 0.0,
    ) -> None:
        super().__init__(name)
        kind = type(joint).__name__
        if kind not in ("Revolute", "Prismatic", "Cylindrical", "Inline"):
            raise ModelError(
                f"{self.label} cannot act on {short(joint)}. Give a Revolute, Prismatic, Cylindrical or Inline joint."
            )
        self.joint, self.markers = joint, (joint.first, joint.second)
        self.sliding, self.turning = kind != "Revolute", kind in ("Revolute", "Cylindrical")
        numbers = friction_numbers(self.label, friction, static_friction, stick_velocity, decay_velocity)
        self.static_friction, self.friction, self.stick_velocity, self.decay_velocity = numbers
        self.preload = not_negative(self.label, "preload", preload)
        self.radius = self._length(radius, "radius", self.turning, "turns", required=True)
        self.arm = self._length(arm, "arm", self.sliding, "slides", required=False)

    @property
    def along(self) -> tuple[Any, ...]:
        """All coordinates of its joint."""
        return tuple((self.joint, name) for name in self.joint.coordinates)

    def _length(self, value: Any, what: str, wanted: bool, does: str, required: bool) -> float | None:
        if value is None:
            if wanted and required:
                raise ModelError(f"{self.label} acts on {self.joint.label}, which {does}. Give {what}=...")
            return None
        if not wanted:
            raise ModelError(f"{self.label} has {what}, but {self.joint.label} never {does}. Leave it out.")
        return as_positive(value, self.label, what)

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table."""
        i, j = place.markers
        law = (self.static_friction, self.friction, self.stick_velocity, self.decay_velocity)
        lever = 0.0 if self.arm is None else 1.0 / self.arm
        rows = place.rows(self.joint)
        closed = rows[1] > 0  # a joint that an event has opened rubs no more, whatever its preload
        motions = (float(self.sliding and closed), float(self.turning and closed))
        return (i, j, place.stiffness, *rows, *motions, *law, self.radius or 0.0, lever, self.preload)


register(JointFriction)
