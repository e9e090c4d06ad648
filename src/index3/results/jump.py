"""What happened to a run at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Jump:
    """A change of the equations or velocities at one instant.

    Attributes
    ----------
    t : time [s]
    event : name of the event function; empty at a declared discontinuity
    opened, closed, struck : names of the joints and motions concerned
    gap : largest residual of the rows that closed [m, or cosine]
    kinetic_before, kinetic_after : kinetic energy [J]
    """

    t: float
    event: str
    opened: tuple[str, ...]
    closed: tuple[str, ...]
    struck: tuple[str, ...]
    gap: float
    kinetic_before: float
    kinetic_after: float

    @property
    def kinetic_lost(self) -> float:
        """Kinetic energy lost in the jump [J]; negative if the action gave energy."""
        return self.kinetic_before - self.kinetic_after

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Jump:
        """The jump of which a file holds the fields."""
        values: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in data.items()}
        return cls(**values)
