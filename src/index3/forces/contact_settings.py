"""The settings of a contact: checked numbers for `contact_law`, and the damping that belongs to a restitution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from index3.bodies.marker import as_number, as_positive
from index3.errors import ModelError
from index3.fields import LENGTH, RATIO, SPEED, Field, Fields, number, short_form
from index3.forces.friction_law import friction_numbers, not_negative


@dataclass
class ContactLaw:
    """The settings of a contact, checked; `owner` begins messages. See `Contact`."""

    owner: str
    stiffness: float
    exponent: float = 1.5
    damping: float | None = None
    restitution: float | None = None
    impact_velocity: float | None = None
    onset: float | None = None
    friction: float = 0.0
    static_friction: float | None = None
    stick_velocity: float = 1e-2
    decay_velocity: float | None = None

    def __post_init__(self) -> None:
        owner = self.owner
        self.stiffness = as_positive(self.stiffness, owner, "stiffness")
        self.exponent = as_number(self.exponent, owner, "exponent")
        if self.exponent < 1.0:
            raise ModelError(f"{owner} has exponent {self.exponent}. Give at least 1, else the contact starts rigid.")
        self.onset = 0.0 if self.onset is None else as_positive(self.onset, owner, "onset")
        self.damping = self._damping()
        speeds = (self.stick_velocity, self.decay_velocity)
        numbers = friction_numbers(owner, self.friction, self.static_friction, *speeds)
        self.static_friction, self.friction, self.stick_velocity, self.decay_velocity = numbers

    def _damping(self) -> float:
        """The factor b or c, from a restitution if that is what was given."""
        if self.restitution is None:
            if self.impact_velocity is not None:
                raise ModelError(f"{self.owner} has impact_velocity but no restitution. Give both, or damping.")
            return 0.0 if self.damping is None else not_negative(self.owner, "damping", self.damping)
        if self.damping is not None:
            raise ModelError(f"{self.owner} has damping and restitution. Leave one out: each follows from the other.")
        if self.onset:
            raise ModelError(
                f"{self.owner} has restitution and onset. A restitution belongs to the Hunt-Crossley law: "
                "leave onset out."
            )
        if self.impact_velocity is None:
            raise ModelError(f"{self.owner} has a restitution. Give the impact_velocity at which it holds, too.")
        e = as_number(self.restitution, self.owner, "restitution")
        if not 0.0 < e <= 1.0:
            raise ModelError(f"{self.owner} has restitution {e}. Give one above 0 and up to 1.")
        return hunt_crossley_damping(e, as_positive(self.impact_velocity, self.owner, "impact_velocity"))

    def numbers(self) -> tuple[float, ...]:
        """The fields of `contact_law.LAW`."""
        return (
            self.stiffness, self.exponent, self.damping, self.onset,
            self.static_friction, self.friction, self.stick_velocity, self.decay_velocity,
        )  # type: ignore[return-value]  # fmt: skip


def of_law(key: str, kind: Field) -> Field:
    """A setting of the law of a contact in model files."""
    return kind.found(lambda contact: getattr(contact.law, key))


def stiffness_dimension(place: Any) -> str:
    """N/m^exponent, the exponent 1.5 by default."""
    return f"force/length^{float(place.entry.get('exponent', 1.5))}"


def damping_dimension(place: Any) -> str:
    """s/m of Hunt and Crossley, or N s/m of a damper with an onset."""
    return "force*time/length" if "onset" in place.entry else "time/length"


LAW_FIELDS: Fields = {
    "stiffness": of_law("stiffness", number(stiffness_dimension)),
    "exponent": of_law("exponent", RATIO),
    "damping": of_law("damping", number(damping_dimension)),
    "onset": LENGTH.found(lambda contact: contact.law.onset or None),
    "restitution": short_form(RATIO),
    "impact_velocity": short_form(SPEED),
    "friction": of_law("friction", RATIO),
    "static_friction": of_law("static_friction", RATIO),
    "stick_velocity": of_law("stick_velocity", SPEED),
    "decay_velocity": of_law("decay_velocity", SPEED),
}


def hunt_crossley_damping(e: float, v: float) -> float:
    """The b [s/m] that gives a restitution e at the impact velocity v: x (1 + e) = log((1 + x) / (1 - e x)), x = b v.

    From v dv / (1 + b v) = -(k / m) delta^n d(delta), whose right side is the same at touching and at leaving.

    >>> round(hunt_crossley_damping(0.748434931597, 1.0), 6)
    0.5
    """
    if e == 1.0:
        return 0.0
    low, high = 0.0, 1.0 / e  # the difference of both sides is positive just above 0, and goes to -inf at 1 / e
    for _ in range(200):
        x = 0.5 * (low + high)
        if x in (low, high):
            break
        if x * (1.0 + e) > math.log1p(x) - math.log1p(-e * x):
            low = x
        else:
            high = x
    return low / v
