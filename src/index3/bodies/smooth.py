"""Functions of time that know their derivatives, and vectors of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from index3.bodies.marker import as_number, as_vector
from index3.element_type import ElementType
from index3.errors import ModelError


class SmoothFunction(metaclass=ElementType):
    """A function of time with its first two derivatives; elements that need them take them from here.

    `finest` is the time over which it changes most quickly, if `breaks` tells all times at which it jumps or begins to
    act; None lets others look for these.
    """

    finest: float | None = None

    def __call__(self, t: float) -> Any:
        """The value at `t`."""
        raise NotImplementedError

    def derivative(self, t: float) -> Any:
        """The first derivative at `t`."""
        raise NotImplementedError

    def second_derivative(self, t: float) -> Any:
        """The second derivative at `t`."""
        raise NotImplementedError

    def breaks(self, span: tuple[float, float]) -> list[float]:
        """Times at which it is known to jump, to bend or to begin to act: steps end there."""
        return []


class Components(SmoothFunction):
    """Three numbers or functions of time as one function that returns three numbers.

    >>> Components("Force 'push'", "vector", (0.0, 2.0, lambda t: 3.0 * t))(2.0)
    (0.0, 2.0, 6.0)
    """

    told: ClassVar[tuple[str, ...]] = ("owner", "what", "parts")

    def __init__(self, owner: str, what: str, parts: Sequence[Any]) -> None:
        if len(parts) != 3:
            raise ModelError(f"{owner} has {len(parts)} components of {what}. Give three numbers or functions of t.")
        self.owner, self.what = owner, what
        self.parts = tuple(part if callable(part) else as_number(part, owner, f"{what}[{k}]")
                           for k, part in enumerate(parts))  # fmt: skip

    def __call__(self, t: float) -> tuple[float, float, float]:
        """The vector at `t`."""
        x, y, z = (part if isinstance(part, float) else part(t) for part in self.parts)
        return x, y, z

    @property
    def is_smooth(self) -> bool:
        """Whether all components know their derivatives."""
        return all(isinstance(part, float | SmoothFunction) for part in self.parts)

    def derivative(self, t: float) -> tuple[float, float, float]:
        """The first derivative at `t`, if all components know theirs."""
        x, y, z = (0.0 if isinstance(part, float) else part.derivative(t) for part in self.parts)
        return x, y, z

    def second_derivative(self, t: float) -> tuple[float, float, float]:
        """The second derivative at `t`, if all components know theirs."""
        x, y, z = (0.0 if isinstance(part, float) else part.second_derivative(t) for part in self.parts)
        return x, y, z


QUIET, BURST = 8, 30.0
"""Pieces that tell how much a function changes before a piece, as many others between them and it, and the factor by
which it must change more to be said to begin to act."""


def onsets(change: np.ndarray, least: float) -> list[int]:
    """Pieces in which a function begins to act; `change` is by how much it changes in each, rounding being `least`.

    >>> onsets(np.array([0.0] * 20 + [1.0] * 20), 1e-9)
    [20]
    """
    if len(change) <= 2 * QUIET:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(change, QUIET).max(axis=1)
    acts = change[2 * QUIET :] > BURST * windows[: len(change) - 2 * QUIET] + least
    return (np.flatnonzero(acts & ~np.concatenate([[False], acts[:-1]])) + 2 * QUIET).tolist()


def derivatives_of(f: Any) -> tuple[Callable[[float], Any] | None, Callable[[float], Any] | None]:
    """First and second derivative of a function that knows them, else None and None."""
    if isinstance(f, SmoothFunction) and not (isinstance(f, Components) and not f.is_smooth):
        return f.derivative, f.second_derivative
    return None, None


def as_vector_law(value: Any, owner: str, what: str) -> Any:
    """Three finite numbers as an array, or a function of t that returns three: one function, or three of them."""
    if callable(value):
        return value
    if isinstance(value, list | tuple) and any(callable(part) for part in value):
        wrong = [part for part in value if not callable(part) and not isinstance(part, Real)]
        if not wrong:
            return Components(owner, what, value)
    return as_vector(value, owner, what)
