"""What a user's function sees of other users' forces: their wrenches and variables, worked out at the same state.

A force that reads others has their markers behind its own, and calls their functions with its own block; so whatever
they depend on it depends on, and differences give its derivatives in full. Equations (8b), (8c) of [NegrutHHT].
"""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from index3.bodies.marker import Marker
from index3.bodies.pairs import as_markers
from index3.errors import ModelError


class Seen(NamedTuple):
    """What another force says: its wrenches (k, 6), and its variables (m,)."""

    out: np.ndarray
    z: np.ndarray


def as_flag(value: Any, owner: str, what: str) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise ModelError(f"{owner} has {what} {short(value)}. Give True or False.")
    return value


def ends_of(owner: str, markers: Any) -> tuple[Any, tuple[Marker, ...]]:
    """A joint and its two markers, or None and the markers given."""
    if getattr(markers, "element", None) != "joint":
        return None, as_markers(owner, markers)
    if len(markers.markers) != 2:
        raise ModelError(f"{owner} acts on {markers.label}, which has {len(markers.markers)} markers. Give one of two.")
    return markers, tuple(markers.markers)


class Reading:
    """The forces that another one reads.

    others : the forces
    ends : their markers, one after the other; `own` are those of the reader before them
    memory : length of the reader's own memory
    states : the block of states that all share, or None
    """

    def __init__(self, owner: str, reads: Any, own: int, memory: int, states: Any, accelerations: bool) -> None:
        self.others: tuple[Any, ...] = tuple(reads) if isinstance(reads, Sequence) else (reads,)
        self.own, self.memory, self.states = own, memory, states
        for other in self.others:
            if not hasattr(other, "reading"):
                raise ModelError(f"{owner} reads {short(other)}. Give a UserForce or UserEquations.")
            if not callable(other.f):
                raise ModelError(f"{owner} reads {other.label}, which is C code. Give it a Python function.")
            if other.reactions:
                raise ModelError(
                    f"{owner} reads {other.label}, which depends on reactions. Put both laws into one function."
                )
            if other.accelerations and not accelerations:
                raise ModelError(
                    f"{owner} reads {other.label}, which depends on accelerations. Give accelerations=True."
                )
            if other.states is not None and self.states not in (None, other.states):
                raise ModelError(
                    f"{owner} reads {other.label}, whose states are another block. Keep all states in one block."
                )
            self.states = self.states if other.states is None else other.states
        self.ends = tuple(end for other in self.others for end in other.ends)

    def read(self, t: float, named: dict[str, Any]) -> tuple[list[Seen], dict[str, Any]]:
        """What the others say, and the reader's own part of every argument; `named` are those of the whole block."""
        moving = [key for key in ("r", "A", "v", "w", "dv", "dw", "out") if key in named]
        first, at, seen = self.own, self.memory, []
        for other in self.others:
            last, end = first + len(other.ends), at + len(other.memory)
            part = named | {key: named[key][first:last] for key in moving}
            part |= {"p": other.parameters, "out": np.zeros((last - first, 6))}
            if "memory" in named:
                part["memory"] = named["memory"][at:end]
            if other.states is not None:
                part["rate"] = np.zeros(other.states.size)  # its own rates are its own affair
            other.f(t, *(part[key] for key in other.arguments["f"]))
            most = other.variables_to or other.reading.memory
            variables = named["memory"][at + other.variables_from : at + most] if most else np.zeros(0)
            seen.append(Seen(part["out"][: other.reading.own], variables))
            first, at = last, end
        own = named | {key: named[key][: self.own] for key in moving}
        if self.memory:
            own["memory"] = named["memory"][: self.memory]
        return seen, own
