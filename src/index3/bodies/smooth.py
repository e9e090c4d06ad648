"""Functions of time that know their derivatives, and vectors of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from index3.bodies.marker import as_number, as_vector
from index3.element_type import ElementType
from index3.errors import ModelError


class SmoothFunction(metaclass=ElementType):
    """A function of time with its first two derivatives; elements that need them take them from here."""

    def __call__(self, t: float) -> Any:
        """The value at `t`."""
        raise NotImplementedError

    def derivative(self, t: float) -> Any:
        """The first derivative at `t`."""
        raise NotImplementedError

    def second_derivative(self, t: float) -> Any:
        """The second derivative at `t`."""
        raise NotImplementedError


class Components(SmoothFunction):
    """Three numbers or functions of time as one function that returns three numbers.

    >>> Components("Force 'push'", "vector", (0.0, 2.0, lambda t: 3.0 * t))(2.0)
    (0.0, 2.0, 6.0)
    """

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
