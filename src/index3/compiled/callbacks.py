"""Users' functions as C functions that kernels call by address: plain Python, Numba-compiled, or C from elsewhere.

Such a function is `int64 run(double t, double *block)`. What a block holds, row by row, and which parts of it each
function of an element takes, is the element's `Form`; parts that no function takes are the kernels' own. Every run has
blocks of its own (`CallbackTable`).
"""

from __future__ import annotations

import copy
import ctypes
import functools
import inspect
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import prod
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from index3.compiled.failures import Failing
from index3.compiled.interface import JIT, Slot, Table, plain_address
from index3.compiled.unread import unread
from index3.errors import Index3Error, ModelError

C_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_void_p)
C_SIGNATURES = [f"{result}(double,{block}*)" for result in ("int64", "int64_t", "long") for block in ("double", "void")]


class Form(NamedTuple):
    """The parts of a block.

    Attributes
    ----------
    names, shapes : of the parts, in order
    filled : names of the parts that functions write to; they can only read the others
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    filled: tuple[str, ...]

    @property
    def starts(self) -> list[int]:
        """Where the parts begin, and where the last one ends."""
        return [0, *accumulate(map(prod, self.shapes))]

    def parts(self, names: Sequence[str]) -> Iterator[tuple[str, int, int, tuple[int, ...]]]:
        """Name, beginning, end and shape of some parts."""
        starts = self.starts
        for name in names:
            k = self.names.index(name)
            yield name, starts[k], starts[k + 1], self.shapes[k]

    def views(self, block: np.ndarray, names: Sequence[str]) -> list[np.ndarray]:
        """Some parts of a block as arrays of their shapes, those that are not to be filled read-only."""
        views = []
        for name, first, end, shape in self.parts(names):
            part = block[first:end].reshape(shape)
            part.setflags(write=name in self.filled)
            views.append(part)
        return views


class CallbackTable(Table):
    """A table that owns the callbacks whose addresses it holds; these find the arrays of every copy by address."""

    keep: list[Any]

    def __setitem__(self, slot: Slot, array: np.ndarray) -> None:
        super().__setitem__(slot, array)
        _ARRAYS[array.ctypes.data] = array


_ARRAYS: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()
BLOCKS_KNOWN = 64
"""Blocks of which a Python function keeps its arguments at hand; as many runs may use it at once without delay."""


class UserFunctions(Failing):
    """Base of elements whose functions take blocks.

    `arguments` names, for each function of the element, its arguments after t; the last ones are those it fills.
    """

    arguments: Mapping[str, tuple[str, ...]]
    f: Any

    @property
    def label(self) -> str:
        """How messages call the element."""
        raise NotImplementedError

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy that shares the functions, which need not be copyable."""
        functions = (getattr(self, what, None) for what in self.arguments)
        memo |= {id(function): function for function in functions if function is not None}
        memo[id(self)] = other = object.__new__(type(self))
        other.__dict__.update(copy.deepcopy(self.__getstate__(), memo))
        return other

    @property
    def uses_time(self) -> bool:
        """Whether what it says may follow the time, for all that the code of its function tells."""
        return "t" not in unread(self.f, self.arguments["f"])

    def explain_function(self, what: str, t: float) -> str:
        """What went wrong in the user's function `what`."""
        failure = self.failure
        if isinstance(failure, Index3Error):
            return str(failure)
        if failure is not None:
            what, t = self.failed_in
            raised = f"{type(failure).__name__} at t = {t:.6g}: {failure}"
            return f"{self.label}: its function {what} raised {raised}"
        return (
            f"{self.label}: its function {what} gave numbers that are not finite at t = {t:.6g}, or failed there as "
            "compiled code. Check it at that state; a plain Python function shows its own error."
        )

    def check_function(self, what: str, function: Any) -> None:
        """Raise unless kernels can call `function` as the element's function `what`."""
        form = f"{what}(t, {', '.join(self.arguments[what])})"
        if callable(function):
            try:
                inspect.signature(getattr(function, "py_func", function)).bind(*range(1 + len(self.arguments[what])))
            except TypeError:
                raise ModelError(f"{self.label} has a function {what} with other arguments. Give {form}.") from None
            except ValueError:  # not written in Python: its arguments are not known before the call
                return
            return
        from scipy import LowLevelCallable

        if not isinstance(function, LowLevelCallable):
            raise ModelError(f"{self.label} has {what} {short(function)}. Give a function {form}.")
        if function.signature.replace(" ", "") not in C_SIGNATURES or function.user_data is not None:
            raise ModelError(
                f"{self.label} has {what} with the C signature '{function.signature}'. "
                "Give 'int64 (double, double *)', without user_data."
            )


def make_callable(owner: UserFunctions, what: str, function: Any, form: Form, first: int) -> tuple[int, Any]:
    """Address of a user's function for kernels, and the object that must live as long as the address is used.

    `first` is the place of the element's block in its array of a `CallbackTable`.
    """
    if not callable(function):
        return low_level(function)
    if hasattr(function, "py_func"):
        if JIT:
            return compile_for(owner, what, function, form)
        function = function.py_func
    run = guarded(owner, what, function, form, first)
    if not JIT:
        return plain_address(run), run
    callback = C_BLOCK(run)
    return ctypes.cast(callback, ctypes.c_void_p).value or 0, callback


def returned_something(owner: UserFunctions, what: str, returned: str, filled: Sequence[str]) -> str:
    """The message for a function that returns a value instead of filling its last arguments."""
    names = " and ".join(name for name in owner.arguments[what] if name in filled)
    return f"{owner.label}: its function {what} returns {returned}. It must fill {names} and return None."


def guarded(
    owner: UserFunctions, what: str, function: Callable[..., Any], form: Form, first: int
) -> Callable[[float, Any], int]:
    """A function of (t, block) that keeps what `function` raises, since nothing may pass through compiled code.

    A block is an array in plain mode, else its address, of which the views are kept: these own the array, so that
    no other can come to stand there meanwhile.
    """
    failures, names, known = owner.failures, owner.arguments[what], dict[int, list[np.ndarray]]()
    untried = [functools.partial(call_strictly, function)]

    def find(block: Any) -> list[np.ndarray]:
        if not JIT:
            return form.views(block, names)
        if len(known) >= BLOCKS_KNOWN:
            known.clear()
        array = _ARRAYS[block - 8 * first]
        known[block] = views = form.views(array[first : first + form.starts[-1]], names)
        return views

    def run(t: float, block: Any) -> int:
        if failures.errors and failures.ended:
            return 1
        try:
            call = untried.pop() if untried else function
            returned = call(t, *((JIT and known.get(block)) or find(block)))
            if returned is not None:
                raise ModelError(returned_something(owner, what, short(returned), form.filled))
        except BaseException as error:  # KeyboardInterrupt too: ctypes would print it and go on
            failures.keep(error, what, t)
            return 1
        return 0

    return run


def call_strictly(function: Callable[..., Any], t: float, *parts: np.ndarray) -> Any:
    """Call a function; numbers of which NumPy would keep the real part alone, with a warning, are an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        return function(t, *parts)


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


def compile_for(owner: UserFunctions, what: str, function: Any, form: Form) -> tuple[int, Any]:
    """Address of a function compiled by Numba."""
    from numba.core.errors import NumbaError

    try:
        compiled, returned = compile_callback(function, owner.arguments[what], form)
    except (NumbaError, TypeError) as error:  # TypeError: an explicit signature that does not fit
        raise ModelError(f"{owner.label}: Numba could not compile its function {what}. {error}") from error
    if returned != "none":
        raise ModelError(returned_something(owner, what, returned, form.filled))
    return compiled.address, compiled


@functools.lru_cache(maxsize=256)  # several elements may share a function
def compile_callback(function: Any, names: tuple[str, ...], form: Form) -> tuple[Any, str]:
    """A C function around a Numba-compiled one, and the type that the latter returns; found on disk, or kept there."""
    from index3.compiled import kept

    digest = kept.digest(function, names, form)
    found = None if digest is None else kept.load(digest)
    if found is not None:
        return found, found.returned
    compiled, returned = wrap(function, names, form)
    if digest is not None:
        kept.keep(digest, compiled, returned)
    return compiled, returned


def wrap(function: Any, names: tuple[str, ...], form: Form) -> tuple[Any, str]:
    """A C function around a Numba-compiled one, and the type that the latter returns."""
    import numba

    size, places = form.starts[-1], [part[1:] for part in form.parts(names)]

    @numba.njit
    def cut(x, place):
        return x[place[0] : place[1]].reshape(place[2])

    def called_with(rest, place):
        """`rest` with the part at `place` put before its other arguments."""

        @numba.njit
        def call(t, x, *others):
            return rest(t, x, cut(x, place), *others)

        return call

    @numba.njit
    def bare(t, x, *parts):
        return function(t, *parts)

    call = functools.reduce(called_with, places, bare)

    def call_function(t, pointer):
        return call(t, numba.carray(pointer, size))

    signature = "(float64, CPointer(float64))"
    inner = numba.njit(signature)(call_function)

    def run(t, pointer):
        try:
            inner(t, pointer)
        except Exception:
            return 1
        return 0

    return numba.cfunc(f"int64{signature}")(run), str(inner.nopython_signatures[0].return_type)
