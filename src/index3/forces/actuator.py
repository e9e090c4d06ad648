"""Drives on a joint coordinate: a force or torque by a function of time, or of time, coordinate and rate."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.marker import as_number
from index3.bodies.time_functions import Constant
from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable, Form, UserFunctions, make_callable
from index3.compiled.interface import OK, call_block, helper, kernel, slots, view
from index3.errors import ModelError
from index3.fields import JOINT, TEXT, declare, effort_dimension, time_function
from index3.forces.along_coordinate import (
    COORDINATE_FIELDS,
    ROOM,
    JointForce,
    coordinate,
    push_along,
    stiffen_along,
)
from index3.forces.force import Place
from index3.forces.load import zero
from index3.registry import register

ACTUATOR = np.dtype(
    [
        *COORDINATE_FIELDS,
        ("timed", "i8"),  # row in FUNCTION_VALUES of a function of time alone, else -1
        ("given", "i8"),  # 1: the user gives the derivatives
        ("function", "i8"),  # addresses
        ("derivative", "i8"),
        ("first", "i8"),  # place of its block in BLOCKS
    ]
)
ACTUATORS, BLOCKS, SPACE = slots(actuators=(ACTUATOR, 1), blocks=("f8", 1), space=("f8", 2))
MEMORY = (BLOCKS, SPACE)
FORM = Form(("state", "out", "slopes", "force"), ((2,), (1,), (2,), (1,)), ("out", "slopes"))
"""The block of an actuator: coordinate and rate, what its functions fill, and the force of the last evaluation."""
OUT, SLOPES, FORCE, SIZE = FORM.starts[1:]
# Step of the central differences, relative to max(1, |value|): truncation h^2 and rounding eps / h below 1e-9.
STEP = 1e-6


class Actuator(JointForce, UserFunctions):
    """A generalised force on a joint coordinate: torque on an angle, force along a displacement.

    It acts on the second body in the direction of the growing coordinate, and opposite on the first.

    Parameters
    ----------
    name : str
    joint : a joint with an angle or displacement
    f : number, function f(t), or function f(t, x, rate) of the coordinate (zero at assembly, angles over full turns)
        and its rate, that returns the torque [N m] or force [N]; plain Python, or decorated with `numba.njit`
    derivatives : for a function of t, x and rate: function of the same that returns (df/dx, df/drate). By default they
        are taken by differences, four calls of f for each Jacobian.
    coordinate : name of the joint's coordinate; needed only if the joint has several

    Its work is counted as work. An exception in a Python function ends the run and is shown with its own traceback.

    Raises
    ------
    ModelError : names the actuator.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.planar_body import PlanarBody
    >>> from index3.joints.standard import Revolute
    >>> pin = Revolute("pin", Ground(), PlanarBody("arm", 1.0, 0.1), at=(0, 0, 0), axis=(0, 0, 1))
    >>> Actuator("servo", pin, lambda t, x, rate: 50.0 * (1.0 - x) - 2.0 * rate)
    Actuator('servo', 'ground', 'arm')
    """

    kind = __name__
    page = "elements/limits_and_actuators.md"
    fields = declare(joint=JOINT, f=time_function(effort_dimension), coordinate=TEXT)
    arguments: Mapping[str, tuple[str, ...]] = {"f": ("state", "out"), "derivatives": ("state", "slopes")}

    def __init__(
        self, name: str, joint: Any, f: Any, *, derivatives: Any = None, coordinate: str | None = None
    ) -> None:
        super().__init__(name)
        self._act_on(joint, coordinate)
        self.f = Constant(as_number(f, self.label, "f")) if isinstance(f, Real) else f
        self.derivatives = derivatives
        self.timed = takes(self.f, 1)
        if not self.timed and not takes(f, 3):
            raise ModelError(
                f"{self.label} has f {short(f)}. Give a number, a function f(t), or a function f(t, x, rate)."
            )
        if derivatives is not None and (self.timed or not takes(derivatives, 3)):
            advice = "Leave them out: f is of t alone." if self.timed else "Give a function derivatives(t, x, rate)."
            raise ModelError(f"{self.label} has derivatives {short(derivatives)}. {advice}")

    @property
    def symbol(self) -> str:  # type: ignore[override]  # depends on the coordinate
        """A motor on an angle, a piston along a displacement."""
        return "motor" if self.turns else "piston"

    @property
    def curved(self) -> bool:
        """Always: the direction of the wrench turns with the markers."""
        return True

    @property
    def damped(self) -> bool:
        """Whether it may depend on the rate."""
        return not self.timed

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
    """A function that fills an array with what the function `what` of t, x and rate of an actuator returns."""

    owner: Actuator
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

    owner: Actuator

    def __call__(self, t: float) -> Any:
        """Its value."""
        value = self.owner.f(t)
        if value is None:
            raise ModelError(returns_nothing(self.owner, "f"))
        return value


def returns_nothing(owner: Actuator, what: str) -> str:
    """The message for a function without `return`."""
    wanted = "the torque or force" if what == "f" else "(df/dx, df/drate)"
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


class ActuatorTable(CallbackTable):
    """The table of actuators."""

    def by_differences(self) -> ActuatorTable:
        """The same with all derivatives taken by differences."""
        other = self.sharing([ACTUATORS])
        other[ACTUATORS]["given"] = 0
        return other


def table(elements: Sequence[Actuator], places: Sequence[Place]) -> ActuatorTable:
    """The table of all actuators of a system; here their functions become callable from kernels."""
    result = ActuatorTable(3)
    result.keep = []
    result[BLOCKS] = np.zeros(SIZE * len(elements))
    result[SPACE] = np.zeros(ROOM)
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
        given = int(element.derivatives is not None)
        records.append((*element.place_of_coordinate(place), row, given, *addresses, SIZE * k))
    result[ACTUATORS] = np.array(records, ACTUATOR)
    return result


@helper
def ask(T, blocks, first, address, x, rate, begin, end):
    """Call a function of the user at a coordinate and rate; it fills blocks[begin:end]. OK if these are finite."""
    blocks[first] = x
    blocks[first + 1] = rate
    code = call_block(address, view(T, s.TIME)[0], blocks[first : first + SIZE])
    for k in range(first + begin, first + end):
        if not abs(blocks[k]) < 1e300:  # also catches NaN
            code = 1
    return code


@kernel
def forces(T, E):
    """Put every drive on its joint, and keep its force for `energy` and `force_derivatives`."""
    actuators, blocks, values = view(E, ACTUATORS), view(E, BLOCKS), view(T, s.FUNCTION_VALUES)
    for e in range(actuators.shape[0]):
        first = actuators[e].first
        x, rate, g = coordinate(T, actuators[e])
        if actuators[e].timed >= 0:
            force = values[actuators[e].timed, 0]
        else:
            if ask(T, blocks, first, actuators[e].function, x, rate, OUT, SLOPES) != OK:
                return e + 1
            force = blocks[first + OUT]
        blocks[first + FORCE] = force
        push_along(T, actuators[e], force, g)
    return OK


@helper
def fill_slopes(T, blocks, actuator, x, rate):
    """Derivatives of the force by coordinate and rate, by differences, into its block."""
    first = actuator.first
    for c in range(2):
        h = STEP * max(1.0, abs(x if c == 0 else rate))
        slope = 0.0
        for side in range(2):
            step = h - 2.0 * h * side
            at, speed = x + step * (c == 0), rate + step * (c == 1)
            if ask(T, blocks, first, actuator.function, at, speed, OUT, SLOPES) != OK:
                return 1
            slope += blocks[first + OUT] / (2.0 * step)
        blocks[first + SLOPES + c] = slope
    return OK


@kernel
def force_derivatives(T, E):
    """Derivatives of every drive."""
    actuators, blocks, room = view(E, ACTUATORS), view(E, BLOCKS), view(E, SPACE)
    for e in range(actuators.shape[0]):
        first, code = actuators[e].first, OK
        x, rate, g = coordinate(T, actuators[e])
        if actuators[e].given == 1:
            code = ask(T, blocks, first, actuators[e].derivative, x, rate, SLOPES, FORCE)
        elif actuators[e].timed < 0:
            code = fill_slopes(T, blocks, actuators[e], x, rate)
        if code != OK:
            return e + 1
        by_x, by_rate = blocks[first + SLOPES], blocks[first + SLOPES + 1]
        stiffen_along(T, actuators[e], room, g, blocks[first + FORCE], by_x, by_rate)
    return OK


@kernel
def energy(T, E):
    """Power of every drive."""
    actuators, blocks, values = view(E, ACTUATORS), view(E, BLOCKS), view(T, s.ENERGY)
    for e in range(actuators.shape[0]):
        values[s.POWER] += blocks[actuators[e].first + FORCE] * coordinate(T, actuators[e])[1]
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(Actuator)
