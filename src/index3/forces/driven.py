"""Forces that users drive: a number, a function of time, or one of time, a coordinate and its rate.

The coordinate is that of a joint (`index3.forces.actuator`) or the length of a line (`index3.forces.line_actuator`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from reprlib import repr as short
from typing import Any, ClassVar

import numpy as np

from index3.bodies.marker import as_number
from index3.bodies.time_functions import Constant
from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable, Form, UserFunctions, make_callable
from index3.compiled.interface import OK, Slot, call_block, helper, view
from index3.compiled.unread import unread
from index3.errors import ModelError
from index3.forces.force import ForceElement, Place
from index3.forces.load import zero

DRIVE_FIELDS = [
    ("timed", "i8"),  # row in FUNCTION_VALUES of a function of time alone, else -1
    ("given", "i8"),  # 1: the user gives the derivatives
    ("function", "i8"),  # addresses
    ("derivative", "i8"),
    ("first", "i8"),  # place of its block
]
FORM = Form(("state", "out", "slopes", "force"), ((2,), (1,), (2,), (1,)), ("out", "slopes"))
"""The block of a drive: coordinate and rate, what its functions fill, and the force of the last evaluation."""
OUT, SLOPES, FORCE, SIZE = FORM.starts[1:]
# Step of the central differences, relative to max(1, |value|): truncation h^2 and rounding eps / h below 1e-9.
STEP = 1e-6


class Driven(ForceElement, UserFunctions):
    """What a driven force knows of its function; `coordinate_name` is what messages call the coordinate."""

    coordinate_name = "x"
    arguments: Mapping[str, tuple[str, ...]] = {"f": ("state", "out"), "derivatives": ("state", "slopes")}
    f: Any
    derivatives: Any
    timed: bool

    def _drive_by(self, f: Any, derivatives: Any) -> None:
        """Take a number or a function, and the function of its derivatives."""
        self.f = Constant(as_number(f, self.label, "f")) if isinstance(f, Real) else f
        self.derivatives = derivatives
        self.timed = takes(self.f, 1)
        state = f"(t, {self.coordinate_name}, rate)"
        if not self.timed and not takes(f, 3):
            raise ModelError(f"{self.label} has f {short(f)}. Give a number, a function f(t), or a function f{state}.")
        if derivatives is not None and (self.timed or not takes(derivatives, 3)):
            advice = "Leave them out: f is of t alone." if self.timed else f"Give a function derivatives{state}."
            raise ModelError(f"{self.label} has derivatives {short(derivatives)}. {advice}")

    @property
    def curved(self) -> bool:
        """Always: the direction of the wrench turns with the markers."""
        return True

    @property
    def damped(self) -> bool:
        """Whether it may depend on the rate."""
        return not self.timed

    @property
    def functions_of_time(self) -> tuple[Any, ...]:
        """Its function, unless that asks for the coordinate."""
        return (self.f,) if self.timed else ()

    @property
    def uses_time(self) -> bool:
        """Whether a function that asks for the coordinate may follow the time too."""
        return not self.timed and "t" not in unread(self.f, (self.coordinate_name, "rate"))

    def explain(self, stage: str, t: float) -> str:
        """What went wrong in the user's function."""
        return self.explain_function(
            "derivatives" if stage == "force_derivatives" and self.derivatives is not None else "f", t
        )


def takes(function: Any, count: int) -> bool:
    """Whether something can be called with that many arguments, as far as is known."""
    if not callable(function):
        return False
    try:
        signature = inspect.signature(getattr(function, "py_func", function))
    except (TypeError, ValueError):  # not written in Python: such functions of the standard library take one number
        return count == 1
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


@dataclass(frozen=True)
class Filling:
    """A function that fills an array with what the function `what` of t, x and rate of a driven force returns."""

    owner: Driven
    what: str

    def __call__(self, t: float, state: np.ndarray, out: np.ndarray) -> None:
        """Fill `out`, which takes one number or two."""
        value = getattr(self.owner, self.what)(t, state[0], state[1])
        if value is None:
            raise ModelError(returns_nothing(self.owner, self.what))
        out[:] = value


@dataclass(frozen=True)
class Timed:
    """A function of time alone, which must return something."""

    owner: Driven

    def __call__(self, t: float) -> Any:
        """Its value."""
        value = self.owner.f(t)
        if value is None:
            raise ModelError(returns_nothing(self.owner, "f"))
        return value


def returns_nothing(owner: Driven, what: str) -> str:
    """The message for a function without `return`."""
    wanted = "the torque or force" if what == "f" else f"(df/d{owner.coordinate_name}, df/drate)"
    return f"{owner.label}: its function {what} returns None. Let it return {wanted}; is a `return` missing?"


@functools.lru_cache(maxsize=256)
def compiled_filling(f: Any, count: int) -> Any:
    """The same for a function of Numba."""
    import numba

    if count == 1:

        @numba.njit
        def fill(t, state, out):
            out[0] = f(t, state[0], state[1])
    else:

        @numba.njit
        def fill(t, state, out):
            out[0], out[1] = f(t, state[0], state[1])

    return fill


def gives_none(f: Any) -> bool:
    """Whether a function of Numba that could not be used returns None."""
    if not hasattr(f, "py_func"):
        return False
    from numba import float64
    from numba.core.errors import NumbaError

    try:
        f.compile((float64,) * 3)
    except (NumbaError, RuntimeError, TypeError):  # its own fault is shown instead
        return False
    return any(str(signature.return_type) == "none" for signature in f.nopython_signatures)


class DrivenTable(CallbackTable):
    """A table of driven forces; `records` is the slot of their records."""

    records: ClassVar[Slot]

    def by_differences(self) -> DrivenTable:
        """The same with all derivatives taken by differences."""
        other = self.sharing([self.records])
        other[self.records]["given"] = 0
        return other


def drives(result: CallbackTable, elements: Sequence[Driven], places: Sequence[Place]) -> list[tuple[int, ...]]:
    """The numbers of DRIVE_FIELDS of all elements; here their functions become callable from kernels."""
    result.keep = []
    records = []
    for k, (element, place) in enumerate(zip(elements, places, strict=True)):
        element.failure = None
        row = place.function(Timed(element), zero, zero) if element.timed else -1
        addresses = []
        for what, f, count in (("f", element.f, 1), ("derivatives", element.derivatives, 2)):
            address = 0
            if f is not None and not element.timed:
                filling = compiled_filling(f, count) if hasattr(f, "py_func") else Filling(element, what)
                try:
                    address, owner = make_callable(element, what, filling, FORM, SIZE * k)
                except ModelError as error:
                    if gives_none(f):
                        raise ModelError(returns_nothing(element, what)) from error
                    raise
                result.keep.append(owner)
            addresses.append(address)
        records.append((row, int(element.derivatives is not None), *addresses, SIZE * k))
    return records


@helper
def call_checked(T, blocks, first, address, x, rate, begin, end):
    """Call a function of the user at a coordinate and rate; it fills blocks[begin:end]. OK if these are finite."""
    blocks[first] = x
    blocks[first + 1] = rate
    code = call_block(address, view(T, s.TIME)[0], blocks[first : first + SIZE])
    for k in range(first + begin, first + end):
        if not abs(blocks[k]) < 1e300:  # also catches NaN
            code = 1
    return code


@helper
def drive(T, blocks, record, x, rate):
    """Keep the force of a drive at a coordinate and rate in its block."""
    first = record.first
    if record.timed >= 0:
        blocks[first + FORCE] = view(T, s.FUNCTION_VALUES)[record.timed, 0]
        return OK
    code = call_checked(T, blocks, first, record.function, x, rate, OUT, SLOPES)
    blocks[first + FORCE] = blocks[first + OUT]
    return code


@helper
def drive_slopes(T, blocks, record, x, rate):
    """Keep the derivatives of the force by coordinate and rate in its block: the user's, or by differences."""
    first = record.first
    if record.timed >= 0:
        return OK
    if record.given == 1:
        return call_checked(T, blocks, first, record.derivative, x, rate, SLOPES, FORCE)
    for c in range(2):
        h = STEP * max(1.0, abs(x if c == 0 else rate))
        slope = 0.0
        for side in range(2):
            step = h - 2.0 * h * side
            at, speed = x + step * (c == 0), rate + step * (c == 1)
            if call_checked(T, blocks, first, record.function, at, speed, OUT, SLOPES) != OK:
                return 1
            slope += blocks[first + OUT] / (2.0 * step)
        blocks[first + SLOPES + c] = slope
    return OK
