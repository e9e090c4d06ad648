"""Functions of time, and the motions that follow them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from reprlib import repr as short
from typing import Any

from index3.bodies.marker import as_number, check_name
from index3.errors import ModelError
from index3.joints.base import Joint

Function = Callable[[float], float]

# Step of the differences that stand in for a motion's missing derivatives [s], the same at all times: for a motion of
# size and rate 1 the first derivative is good to about 1e-12, the second to about 1e-9 (rounding, eps / h^2).
DIFFERENCE_STEP = 1e-3


@dataclass(frozen=True)
class Constant:
    """A function of time with one value."""

    value: float

    def __call__(self, t: float) -> float:
        """The value."""
        return self.value


@dataclass(frozen=True)
class Difference:
    """First or second derivative of `f` by five-point central differences with `DIFFERENCE_STEP`."""

    f: Callable[[float], float]
    order: int = 1

    def __call__(self, t: float) -> float:
        """The derivative at `t`; `f` is evaluated up to two steps before and after."""
        h = DIFFERENCE_STEP
        far_left, left, right, far_right = (self.f(t + k * h) for k in (-2, -1, 1, 2))
        if self.order == 1:
            return (far_left - 8.0 * left + 8.0 * right - far_right) / (12.0 * h)
        return (16.0 * (left + right) - far_left - far_right - 30.0 * self.f(t)) / (12.0 * h * h)


def derivative(f: Function, order: int = 1) -> Function:
    """A derivative of a function of time: exact for constants, differences otherwise."""
    return Constant(0.0) if isinstance(f, Constant) else Difference(f, order)


def complete_functions(label: str, f: Any, df: Any, ddf: Any) -> tuple[Function, Function, Function]:
    """All three functions of an element; those missing are constant where that is sure, else differences.

    Differences warn. To be called from the element's `__init__`, so that the warning names the line of the user.
    """
    value = as_function(f, label, "f")
    rate = derivative(value) if df is None else as_function(df, label, "df")
    if ddf is not None:
        second = as_function(ddf, label, "ddf")
    else:
        second = derivative(value, 2) if isinstance(rate, Difference) else derivative(rate)
    missing = [key for key, g in (("df", rate), ("ddf", second)) if isinstance(g, Difference)]
    if missing:
        warnings.warn(
            f"{label} has no {' and '.join(missing)}: taken by differences with step {DIFFERENCE_STEP} s. "
            "Give exact derivatives for full accuracy.",
            stacklevel=3,
        )
    return value, rate, second


def as_function(g: Any, label: str, what: str) -> Function:
    """A function of time, from one or from a number."""
    if isinstance(g, Real):
        return Constant(as_number(g, label, what))
    if not callable(g):
        raise ModelError(f"{label} has {what} {short(g)}. Give a function of t, or a number.")
    return g


class Motion:
    """A coordinate of a joint follows a function of time.

    Parameters
    ----------
    name : str
    joint : Joint with a coordinate
    f, df, ddf : functions of t [s], or numbers for constants: value, rate and second derivative. Missing derivatives
        are taken by differences with a step of 0.001 s, so f must be smooth and defined 0.002 s beyond the run; this
        warns, except for constants.
    coordinate : name of the joint's coordinate; needed only if the joint has several

    Attributes `name`, `joint`, `coordinate` and `functions` = (f, df, ddf).

    Raises
    ------
    ModelError : names the motion; no coordinate, or which one is not clear, or not a function.
    """

    element = "motion"

    def __init__(
        self, name: str, joint: Joint, f: Any, df: Any = None, ddf: Any = None, *, coordinate: str | None = None
    ) -> None:
        check_name(name, "Motion")
        self.name = name
        if not isinstance(joint, Joint):
            raise ModelError(f"{self.label} cannot drive {short(joint)}. Give a joint.")
        if not joint.coordinates:
            raise ModelError(f"{self.label}: {joint.label} has no coordinate to drive. Use a joint that has one.")
        if coordinate is None and len(joint.coordinates) > 1:
            choice = " or ".join(f"coordinate='{key}'" for key in joint.coordinates)
            raise ModelError(f"{self.label}: {joint.label} has several coordinates. Give {choice}.")
        self.joint = joint
        self.coordinate = joint.coordinates[0] if coordinate is None else coordinate
        joint.coordinate_primitive(self.coordinate)  # raises if there is no such coordinate
        self.functions = complete_functions(self.label, f, df, ddf)

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {self.joint.name!r}, coordinate={self.coordinate!r})"

    @property
    def label(self) -> str:
        """How messages call this motion."""
        return f"Motion '{self.name}'"
