"""Users' functions of time: constants, derivatives by differences where none are given, components of vectors."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from reprlib import repr as short
from threading import get_ident
from typing import Any

import numpy as np

from index3.bodies.marker import as_number, as_vector
from index3.bodies.smooth import derivatives_of
from index3.errors import ModelError, warn

Function = Callable[[float], Any]

# Step of the differences that stand in for missing derivatives [s], the same at all times: for a function of size and
# rate 1 the first derivative is good to about 1e-12, the second to about 1e-9 (rounding, eps / h^2).
DIFFERENCE_STEP = 1e-3


class Constant:
    """A function of time with one value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"

    def __eq__(self, other: object) -> bool:
        """Of vectors as well."""
        return isinstance(other, Constant) and np.array_equal(self.value, other.value)

    def __hash__(self) -> int:
        return hash(np.asarray(self.value, float).tobytes())

    def __call__(self, t: float) -> Any:
        """The value."""
        return self.value


def is_zero(f: Function) -> bool:
    """Whether a function of time is sure to be zero always."""
    return isinstance(f, Constant) and not np.any(f.value)


class Derived:
    """A function of time made of another; equal to those that are made alike.

    Written by hand, as these classes are: dataclasses take a millisecond of the start of every process.
    """

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, vars(self).values()))})"


class Difference(Derived):
    """First or second derivative of `f` by five-point central differences with `DIFFERENCE_STEP`."""

    def __init__(self, f: Function, order: int = 1) -> None:
        self.f, self.order = f, order

    def __call__(self, t: float) -> Any:
        """The derivative at `t`; `f` is evaluated up to two steps before and after."""
        h = DIFFERENCE_STEP
        far_left, left, right, far_right = (self.f(t + k * h) for k in (-2, -1, 1, 2))
        if self.order == 1:
            return (far_left - 8.0 * left + 8.0 * right - far_right) / (12.0 * h)
        return (16.0 * (left + right) - far_left - far_right - 30.0 * self.f(t)) / (12.0 * h * h)


class Vector(Derived):
    """A function of time that returns three numbers, as an array."""

    def __init__(self, owner: str, f: Function) -> None:
        self.owner, self.f = owner, f

    def __call__(self, t: float) -> np.ndarray:
        """The vector at `t`."""
        value = self.f(t)
        try:
            x, y, z = value
            return np.array((float(x), float(y), float(z)))
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{self.owner}: its function of t returned {short(value)}. Return three numbers."
            ) from None


class Sampler:
    """Components of a vector function of time, asked for in turn: the first asks the function, the others reuse that.

    A function may change its mind at one time, as that of a controller at its instant, and hold something else in
    another thread.
    """

    def __init__(self, owner: str, f: Function) -> None:
        self.f = Vector(owner, f)
        self.last = (np.nan, 0, (0.0, 0.0, 0.0))  # time, thread and value, in one: threads do not wait for each other

    def __call__(self, t: float) -> tuple[float, float, float]:
        """The vector at `t`, asked anew."""
        x, y, z = self.f(t).tolist()
        self.last = (t, get_ident(), (x, y, z))
        return x, y, z

    def component(self, k: int) -> Function:
        """One component as a function of time."""
        return (lambda t: self(t)[0]) if k == 0 else (lambda t: self.kept(t)[k])

    def kept(self, t: float) -> tuple[float, float, float]:
        """The vector at `t` as it was last asked for, if that was here."""
        time, thread, value = self.last
        return value if time == t and thread == get_ident() else self(t)


def as_function(owner: str, what: str, f: Any, size: int) -> Function:
    """A function of t as given, one of vectors wrapped, a constant for a number or for three."""
    if callable(f):
        return f if size == 1 else Vector(owner, f)
    if size == 1 and isinstance(f, Real):
        return Constant(as_number(f, owner, what))
    if size == 1:
        raise ModelError(f"{owner} has {what} {short(f)}. Give a function of t, or a number.")
    return Constant(as_vector(f, owner, what))


def derivative(f: Function, order: int = 1) -> Function:
    """A derivative of a function of time: its own if it knows it, exact for constants, differences otherwise."""
    own = derivatives_of(f.f if isinstance(f, Vector) else f)[order - 1]
    if own is not None:
        return Vector(f.owner, own) if isinstance(f, Vector) else own
    return Constant(0.0 * f.value) if isinstance(f, Constant) else Difference(f, order)


def complete(
    owner: str, names: tuple[str, str, str], given: tuple[Any, Any, Any], size: int = 1
) -> tuple[Function, Function, Function]:
    """A function of time and its two derivatives; those missing are constant where that is sure, else differences.

    `names` are those of the three arguments; differences give a warning.
    """
    value = as_function(owner, names[0], given[0], size)
    rate = derivative(value) if given[1] is None else as_function(owner, names[1], given[1], size)
    if given[2] is not None:
        second = as_function(owner, names[2], given[2], size)
    else:
        second = derivative(value, 2) if given[1] is None else derivative(rate)
    missing = [key for key, g in zip(names[1:], (rate, second), strict=True) if isinstance(g, Difference)]
    if missing:
        warn(
            f"{owner} has no {' and '.join(missing)}: taken by differences with step {DIFFERENCE_STEP} s. "
            "Give exact derivatives for full accuracy.",
        )
    return value, rate, second
