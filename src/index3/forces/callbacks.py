"""Users' functions as C functions that kernels call by address: plain Python, Numba-compiled, or C from elsewhere.

Such a function is `int64 run(double t, double *block)`. The block holds, row by row, for k markers: r (k, 3),
A (k, 3, 3), v (k, 3), w (k, 3), the parameters p, out (k, 6), K (6k, 6k), D (6k, 6k), and last `wrench` (k, 6), which
is the kernels' own.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Iterator
from itertools import accumulate
from reprlib import repr as short
from typing import Any, Protocol

import numpy as np

from index3.compiled.interface import JIT, plain_address
from index3.errors import ModelError

PARTS = ("r", "A", "v", "w", "p", "out", "K", "D", "wrench")
ARGUMENTS = {"f": ("r", "A", "v", "w", "p", "out"), "jacobian": ("r", "A", "v", "w", "p", "K", "D")}  # after t
FILLED = ("out", "K", "D")  # by the user's function; it cannot write to the others
C_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_void_p)
C_SIGNATURES = [f"{result}(double,{block}*)" for result in ("int64", "int64_t", "long") for block in ("double", "void")]


class Owner(Protocol):
    """The element that a function belongs to; what it raises is kept in `failure`, its name and time in `failed_in`."""

    failure: BaseException | None
    failed_in: tuple[str, float]

    @property
    def label(self) -> str:
        """How messages call the element."""


def check_function(owner: str, what: str, function: Any) -> None:
    """Raise unless kernels can call `function`, the owner's "f" or "jacobian"."""
    form = f"{what}(t, {', '.join(ARGUMENTS[what])})"
    if callable(function):
        try:
            inspect.signature(getattr(function, "py_func", function)).bind(*range(1 + len(ARGUMENTS[what])))
        except TypeError:
            raise ModelError(f"{owner} has a function {what} with other arguments. Give {form}.") from None
        except ValueError:  # not written in Python: its arguments are not known before the call
            return
        return
    from scipy import LowLevelCallable

    if not isinstance(function, LowLevelCallable):
        raise ModelError(f"{owner} has {what} {short(function)}. Give a function {form}.")
    if function.signature.replace(" ", "") not in C_SIGNATURES or function.user_data is not None:
        raise ModelError(
            f"{owner} has {what} with the C signature '{function.signature}'. "
            "Give 'int64 (double, double *)', without user_data."
        )


def layout(count: int, parameters: int) -> list[int]:
    """Where the parts of a block begin, and where the last one ends."""
    width = 6 * count
    sizes = (3 * count, 9 * count, 3 * count, 3 * count, parameters, width, width * width, width * width, width)
    return [0, *accumulate(sizes)]


def arguments(what: str, count: int, parameters: int) -> Iterator[tuple[str, int, int, tuple[int, ...]]]:
    """Name, beginning, end and shape of every part that a user's function sees."""
    width, vectors = 6 * count, (count, 3)
    shapes = {"r": vectors, "A": (count, 3, 3), "v": vectors, "w": vectors, "p": (parameters,)}
    shapes |= {"out": (count, 6), "K": (width, width), "D": (width, width)}
    starts = layout(count, parameters)
    for name in ARGUMENTS[what]:
        k = PARTS.index(name)
        yield name, starts[k], starts[k + 1], shapes[name]


def make_callable(
    owner: Owner, what: str, function: Any, block: np.ndarray, count: int, parameters: int
) -> tuple[int, Any]:
    """Address of a user's function for kernels, and the object that must live as long as the address is used."""
    if not callable(function):
        return low_level(function)
    if hasattr(function, "py_func"):
        if JIT:
            return compile_for(owner, what, function, count, parameters)
        function = function.py_func
    views = []
    for name, first, end, shape in arguments(what, count, parameters):
        part = block[first:end].reshape(shape)
        part.setflags(write=name in FILLED)
        views.append(part)
    run = guarded(owner, what, function, views)
    if not JIT:
        return plain_address(run), run
    callback = C_BLOCK(run)
    return ctypes.cast(callback, ctypes.c_void_p).value or 0, callback


def returned_something(owner: Owner, what: str, returned: str) -> str:
    """The message for a function that returns a value instead of filling its last arguments."""
    filled = " and ".join(name for name in ARGUMENTS[what] if name in FILLED)
    return f"{owner.label}: its function {what} returns {returned}. It must fill {filled} and return None."


def guarded(
    owner: Owner, what: str, function: Callable[..., Any], views: list[np.ndarray]
) -> Callable[[float, Any], int]:
    """A function of (t, block) that keeps what `function` raises, since nothing may pass through compiled code."""

    def run(t: float, block: Any) -> int:
        if owner.failure is not None:  # the run is about to end: do not go on calling a function that failed
            return 1
        try:
            returned = function(t, *views)
            if returned is not None:
                raise ModelError(returned_something(owner, what, short(returned)))
        except BaseException as error:  # KeyboardInterrupt too: ctypes would print it and go on
            owner.failure, owner.failed_in = error, (what, t)
            return 1
        return 0

    return run


def low_level(function: Any) -> tuple[int, Any]:
    """Address of a `scipy.LowLevelCallable`."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule = tuple.__getitem__(function, 0)  # its own [] is closed
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    if JIT:
        return address, function
    run = C_BLOCK(address)
    return plain_address(lambda t, block: run(t, block.ctypes.data)), (function, run)


def compile_for(owner: Owner, what: str, function: Any, count: int, parameters: int) -> tuple[int, Any]:
    """Address of a function compiled by Numba."""
    from numba.core.errors import NumbaError

    try:
        compiled, returned = compile_callback(function, what, count, parameters)
    except (NumbaError, TypeError) as error:  # TypeError: an explicit signature that does not fit
        raise ModelError(f"{owner.label}: Numba could not compile its function {what}. {error}") from error
    if returned != "none":
        raise ModelError(returned_something(owner, what, returned))
    return compiled.address, compiled


@functools.lru_cache(maxsize=256)  # several forces may share a function; compiling it takes about half a second
def compile_callback(function: Any, what: str, count: int, parameters: int) -> tuple[Any, str]:
    """A C function around a Numba-compiled one, and the type that the latter returns."""
    import numba

    size = layout(count, parameters)[-1]
    r, A, v, w, p, *filled = (part[1:] for part in arguments(what, count, parameters))
    first, last = filled[0], filled[-1]

    @numba.njit
    def cut(x, place):
        return x[place[0] : place[1]].reshape(place[2])

    def call_f(t, pointer):
        x = numba.carray(pointer, size)
        return function(t, cut(x, r), cut(x, A), cut(x, v), cut(x, w), cut(x, p), cut(x, first))

    def call_jacobian(t, pointer):
        x = numba.carray(pointer, size)
        return function(t, cut(x, r), cut(x, A), cut(x, v), cut(x, w), cut(x, p), cut(x, first), cut(x, last))

    signature = "(float64, CPointer(float64))"
    inner = numba.njit(signature)(call_f if what == "f" else call_jacobian)

    def run(t, pointer):
        try:
            inner(t, pointer)
        except Exception:
            return 1
        return 0

    return numba.cfunc(f"int64{signature}")(run), str(inner.nopython_signatures[0].return_type)
