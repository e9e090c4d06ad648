"""Differential equations of the first order beside the motion: states x with x' = f.

To the equations of motion a block of states is a body of unit mass whose *velocities* are the states: M a = Q reads
x' = f. So every method integrates states with the motion, forces see them as the twist of a marker, and their
derivatives are those of a damper. The coordinates of such a body are the integrals of the states; nothing depends on
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies import body_fields
from index3.bodies.body import Body, diagonal
from index3.bodies.marker import Marker, as_vector
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    pass

WIDTH = 6
"""States that one marker carries: the six components of its twist."""


@register
class States(Body):
    """A block of first-order states; elements that name it give their rates, such as `UserForce(states=...)`.

    Parameters
    ----------
    name : str
    initial : values at the start, one per state
    names : a name for each state; by default x0, x1, ...

    Their histories are `result.states[name]`, (n_t, number of states). A state that no element gives a rate stays.

    Raises
    ------
    ModelError : names the block.

    >>> States("controller", (0.0, 1.0)).v0.tolist()
    [0.0, 1.0]
    """

    element = "states"
    page = "howto/states.md"
    kernels = "index3.bodies.states_kernels"
    fields = body_fields.STATES
    kind_name = "states"
    mass = 1.0

    def __init__(self, name: str, initial: Sequence[float] | np.ndarray, *, names: Sequence[str] | None = None) -> None:
        super().__init__(name, self.kind_name)
        try:
            count = len(initial)
        except TypeError:
            raise ModelError(f"{self.label} has initial {short(initial)}. Give a list of numbers.") from None
        if count == 0:
            raise ModelError(f"{self.label} has no states. Give at least one initial value.")
        self.size = count
        self.v0 = as_vector(initial, self.label, "initial", count)
        self.q0 = np.zeros(count)
        self.velocity_given = True
        self.coordinate_names = tuple(f"x{k}" for k in range(count)) if names is None else self._names(names)
        self.couplings = diagonal(count)
        self.translations = count
        self.markers = tuple(self._marker(first) for first in range(0, count, WIDTH))

    def _names(self, names: Sequence[str]) -> tuple[str, ...]:
        given = tuple(names)
        if len(given) != self.size or len(set(given)) != len(given) or not all(isinstance(x, str) and x for x in given):
            raise ModelError(f"{self.label} has names {short(names)}. Give {self.size} different strings.")
        return given

    def _marker(self, first: int) -> Marker:
        """The marker whose twist is the states from `first` on; its position says which."""
        return Marker.placed(self, np.array([first, 0.0, 0.0]), np.eye(3), None)

    def span(self, marker: Marker) -> tuple[int, ...]:
        """The states that a marker carries: six, the last marker the rest."""
        first = int(marker.position[0])
        return tuple(range(first, min(first + WIDTH, self.size)))

    def is_oriented(self, part: str | None) -> bool:
        """Never: it is no body in space."""
        return False

    def marker(self, *arguments: Any, **settings: Any) -> Marker:
        """Refused: states are no body in space."""
        raise ModelError(f"{self.label} has no place in space, so no markers. Name it in UserForce(states=...).")

    marker_at = marker_at_pose = marker
