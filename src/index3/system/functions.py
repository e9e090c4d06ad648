"""Functions of time that users gave, as addresses that kernels call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from index3.bodies.time_functions import Constant
from index3.compiled.failures import Failures
from index3.compiled.interface import JIT, plain_address

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


class Functions:
    """The functions of time of a model: value, rate and second derivative of each, in the order of FUNCTION_VALUES.

    Parameters
    ----------
    failures : where exceptions that they raise are kept
    """

    def __init__(self, failures: Failures) -> None:
        self.failures = failures
        self.labels: list[str] = []  # of the elements that they belong to
        self.keep: list[Any] = []  # callbacks, which must live as long as their addresses
        self._addresses: list[tuple[int, int, int]] = []
        self._constants: list[list[float]] = []

    def __len__(self) -> int:
        return len(self._addresses)

    @property
    def addresses(self) -> np.ndarray:
        """The addresses (count, 3); 0 of a constant, which nobody asks."""
        return np.array(self._addresses, np.int64).reshape(-1, 3)

    @property
    def constants(self) -> np.ndarray:
        """What stands in FUNCTION_VALUES from the start: the values of constants, 0 for all else, and of no time."""
        return np.array([*self._constants, [np.nan, 0.0, 0.0]])

    def add(self, label: str, functions: tuple[Callable, ...]) -> int:
        """Give three functions of an element addresses; their number."""
        value, rate, second = (self._address(f) for f in functions)
        self._addresses.append((value, rate, second))
        self._constants.append([float(f.value) if isinstance(f, Constant) else 0.0 for f in functions])
        self.labels.append(label)
        return len(self._addresses) - 1

    def _address(self, f: Callable) -> int:
        """Where kernels find a function."""
        if isinstance(f, Constant):
            return 0
        if not JIT:
            return plain_address(guarded(f, self.failures))
        callback = C_FUNCTION(guarded(f, self.failures))
        self.keep.append(callback)
        return ctypes.cast(callback, ctypes.c_void_p).value or 0


def guarded(f: Callable, failures: Failures) -> Callable[[float], float]:
    """The function, but an exception inside it is kept and NaN returned."""

    def value(t: float) -> float:
        if failures.errors and failures.ended:
            return float("nan")
        try:
            return float(f(t))
        except BaseException as error:  # KeyboardInterrupt too: ctypes would print it and go on
            failures.keep(error, "f", t)
            return float("nan")

    return value
