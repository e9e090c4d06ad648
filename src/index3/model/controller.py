"""Controllers: functions that are asked at fixed intervals and whose answers forces hold in between."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import as_numbers, as_positive, check_name
from index3.bodies.time_functions import Constant
from index3.element_type import ElementType, nearest
from index3.errors import ModelError
from index3.forces.distributed_load import DistributedLoad
from index3.forces.driven import Driven
from index3.forces.load import Force, Torque

if TYPE_CHECKING:
    from index3.user_types import ArrayLike

MOST_MEMORY = 10**7
"""Numbers that a controller may keep; more is a slip, and would fill the machine's memory."""


class Held(threading.local):
    """The outputs that a controller holds at present, in the run of this thread; copies of a model share it."""

    def __init__(self, size: int) -> None:
        self.values = np.zeros(size)

    def __deepcopy__(self, memo: dict[int, Any]) -> Held:
        return self  # runs that share a thread set it before they step

    def __reduce__(self) -> tuple[Any, ...]:
        return Held, (len(self.values),)


@dataclass(frozen=True)
class Signal:
    """The law of a force that a controller sets: a function of time that gives what is held."""

    owner: str
    held: Held
    first: int
    count: int

    def __call__(self, t: float) -> Any:
        """One number, or a vector."""
        values = self.held.values
        return float(values[self.first]) if self.count == 1 else tuple(values[self.first : self.first + self.count])


class Controller(metaclass=ElementType):
    """A function that is called every `period`; its outputs are held until the next call.

    Parameters
    ----------
    name : str
    period : float > 0 [s]; it is called at t0, t0 + period, ... from the start of the run. Steps end there and the
        method restarts, so that the instants are exact in every method
    function : function(t, u, memory) that returns the outputs: one number for each Actuator or LineActuator, three for
        each Force, Torque or DistributedLoad, in a sequence that may be nested. u (n,) holds the inputs, `memory`
        numbers that it may change and finds again the next time
    inputs : names as results have them: "pin.angle", "arm.velocity.z", "coil.tension", "A.force", ...; their columns
        one after the other are u. Values are those right before the instant
    outputs : Actuators, LineActuators, Forces, Torques and DistributedLoads of the model; the numbers they were given
        are replaced
    memory : how many numbers it keeps, zero at the start of a run; or the numbers to start with

    `result[name].inputs` and `.outputs` are what was held at each time, `.t`, `.u`, `.y` the samples themselves.

    Raises
    ------
    ModelError : names the controller.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.planar_body import PlanarBody
    >>> from index3.forces.actuator import Actuator
    >>> from index3.joints.standard import Revolute
    >>> pin = Revolute("pin", Ground(), PlanarBody("arm", 1.0, 0.1), at=(0, 0, 0), axis=(0, 0, 1))
    >>> Controller("hold", 0.01, lambda t, u, memory: -u[0], ["pin.angle"], [Actuator("motor", pin, 0.0)])
    Controller('hold', every 0.01 s)
    """

    element = "controller"
    guarded = True

    def __init__(
        self,
        name: str,
        period: float,
        function: Callable[..., Any],
        inputs: Sequence[str],
        outputs: Sequence[Any],
        memory: int | ArrayLike = 0,
    ) -> None:
        check_name(name, "Controller")
        self.name = name
        self.period, self.function, self.inputs = period, function, inputs
        self.outputs = self._outputs(outputs)
        self.counts = [1 if isinstance(force, Driven) else 3 for force in self.outputs]
        self.memory = self._memory(memory)
        self.held = Held(sum(self.counts))
        self.replaced: list[tuple[str, Any]] = []

    def __setattr__(self, key: str, value: Any) -> None:
        """Set an attribute; period, function, inputs and memory are checked, also once the controller is made.

        Raises
        ------
        ModelError : it is refused, there is no such attribute, or it follows from others.
        """
        if key in ("period", "function", "inputs", "memory"):
            value = getattr(self, f"_{key}")(value)
        elif "_made" in vars(self) and key != "_made":
            if key == "name":
                import_module("index3.files.changes").rename(self, value)  # in a room above this one
                return
            if key not in vars(self):
                known = ("name", "period", "function", "inputs", "memory")
                raise ModelError(
                    f"{self.label} has no attribute '{key}'. {nearest(key, known)}It has {', '.join(known)}."
                )
            raise ModelError(f"{self.label}: {key} is set when it is made. Remove it and add another one.")
        object.__setattr__(self, key, value)

    def _period(self, period: Any) -> float:
        return as_positive(period, self.label, "period")

    def _function(self, function: Any) -> Any:
        if not callable(function):
            raise ModelError(f"{self.label} has function {short(function)}. Give a function of (t, u, memory).")
        return function

    def _inputs(self, inputs: Any) -> tuple[str, ...]:
        listed = isinstance(inputs, Sequence) and not isinstance(inputs, bytes)
        words = (inputs,) if isinstance(inputs, str) else tuple(inputs) if listed else (None,)
        if not all(isinstance(word, str) and word for word in words):
            raise ModelError(f"{self.label} has inputs {short(inputs)}. Give names of results, such as 'pin.angle'.")
        return words

    def _outputs(self, outputs: Any) -> tuple[Any, ...]:
        given = tuple(outputs) if isinstance(outputs, Sequence) else (outputs,)
        for force in given:
            if not isinstance(force, Driven | Force | Torque | DistributedLoad):
                raise ModelError(
                    f"{self.label} cannot set {short(force)}. Give Actuators, LineActuators, Forces, Torques or "
                    "DistributedLoads."
                )
            law = force.f if isinstance(force, Driven) else force.vector
            if isinstance(law, Signal):
                raise ModelError(f"{self.label} cannot set {force.label}, which {law.owner} sets. Keep one of them.")
            if callable(law) and not isinstance(law, Constant):
                raise ModelError(f"{self.label} cannot set {force.label}, which has a function of its own. Give it 0.")
        if not given or len({id(force) for force in given}) < len(given):
            raise ModelError(f"{self.label} has outputs {short(outputs)}. Give at least one, each once.")
        return given

    def _memory(self, memory: Any) -> np.ndarray:
        if isinstance(memory, int) and not isinstance(memory, bool) and 0 <= memory < MOST_MEMORY:
            return np.zeros(memory)
        if isinstance(memory, Sequence | np.ndarray):
            return np.array(as_numbers(memory, self.label, "memory"), float)
        raise ModelError(
            f"{self.label} has memory {short(memory)}. Give a number of places below {MOST_MEMORY:g}, or the "
            "numbers to start."
        )

    def __repr__(self) -> str:
        return f"Controller({self.name!r}, every {self.period:g} s)"

    @property
    def label(self) -> str:
        """How messages call this controller."""
        return f"Controller '{self.name}'"

    def __deepcopy__(self, memo: dict[int, Any]) -> Controller:
        """A copy that shares the function, which need not be copyable."""
        memo[id(self.function)] = self.function
        memo[id(self)] = other = object.__new__(type(self))
        vars(other).update(copy.deepcopy(vars(self), memo))
        return other

    def connect(self) -> None:
        """Let its outputs give what it holds."""
        first, replaced = 0, []
        for force, count in zip(self.outputs, self.counts, strict=True):
            word = "f" if count == 1 else "vector"
            replaced.append((word, getattr(force, word)))
            setattr(force, word, Signal(self.label, self.held, first, count))
            first += count
        object.__setattr__(self, "replaced", replaced)

    def disconnect(self) -> None:
        """Give its outputs back what they had."""
        for force, (word, value) in zip(self.outputs, self.replaced, strict=True):
            setattr(force, word, value)

    def ask(self, t: float, u: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """What the function says to these inputs, one number after the other.

        Raises
        ------
        ModelError : these are not as many finite numbers as the outputs take.
        """
        answer = self.function(t, u, memory)
        try:
            parts = [np.ravel(np.asarray(part, float)) for part in np.atleast_1d(np.asarray(answer, object))]
            numbers = np.concatenate(parts)
        except (TypeError, ValueError, OverflowError):
            numbers = np.full(1, np.nan)
        if len(numbers) != sum(self.counts) or not np.isfinite(numbers).all():
            raise ModelError(
                f"{self.label} gave {short(answer)} at t = {t:.6g}. Return {sum(self.counts)} finite numbers: one for "
                "each Actuator or LineActuator, three for each Force, Torque or DistributedLoad."
            )
        return numbers
