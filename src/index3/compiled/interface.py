"""The pointer table: how kernels reach arrays and call each other, compiled or as plain Python.

A `Table` is a row of named slots; each slot holds the address and shape of one NumPy array that the table owns.
A kernel is a function `kernel(T, E) -> status`: `T` is the handle of the system's table, `E` that of the element kind
(or method, or solver) the kernel belongs to. `view(T, SLOT)` is the array of a slot, `call(address, T, E)` runs another
kernel. Three modes share every kernel's source:

- run (default): kernels are object code from the store; handles are addresses; this module only passes numbers on;
- build (`INDEX3_BUILDING=1`, set in the store's worker processes): `view` and `call` are Numba intrinsics;
- plain (`INDEX3_JIT=0`): handles are numbers of Python objects and kernels run as the Python functions they are.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np

JIT = os.environ.get("INDEX3_JIT", "1") != "0"
BUILDING = os.environ.get("INDEX3_BUILDING") == "1"
OK = 0  # the status of a kernel that found nothing wrong
ALIGNED = 64  # bytes: where the arrays of `Table.fill` begin
WORDS = 4  # int64 words of a slot: address and up to three extents
C_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class Slot:
    """A named place in a table: its number, the array's element type and number of dimensions.

    Not a dataclass: to make one takes half a millisecond of the start of every process.
    """

    __slots__ = ("dtype", "index", "name", "ndim")

    def __init__(self, index: int, dtype: np.dtype, ndim: int, name: str = "") -> None:
        self.index, self.dtype, self.ndim, self.name = index, dtype, ndim, name

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Slot) and (self.index, self.dtype, self.ndim) == (other.index, other.dtype, other.ndim)

    def __hash__(self) -> int:  # to hash the types of records takes a tenth of the set-up of a short run
        return self.index

    def __repr__(self) -> str:
        return f"Slot({self.index}, {self.dtype!r}, {self.ndim}, {self.name!r})"


def slots(**kinds: tuple[Any, int]) -> tuple[Slot, ...]:
    """Number the slots of one table in the order given, each as (dtype, ndim).

    >>> SPRINGS, LENGTHS = slots(springs=("f8", 2), lengths=("f8", 1))
    >>> LENGTHS.index
    1
    """
    return extended((), **kinds)


def extended(base: tuple[Slot, ...], **kinds: tuple[Any, int]) -> tuple[Slot, ...]:
    """More slots of one table, behind those of `base`.

    >>> base = slots(x=("f8", 1))
    >>> [slot.index for slot in extended(base, y=("f8", 1), z=("f8", 2))]
    [1, 2]
    """
    numbered = enumerate(kinds.items(), len(base))
    return tuple(Slot(k, np.dtype(dtype), ndim, name) for k, (name, (dtype, ndim)) in numbered)


class Record(np.record):  # type: ignore[misc]  # final to the stubs, not to NumPy
    """A record whose fields come before the attributes of NumPy's scalars, as in compiled code: `size`, `T`, `real`.

    >>> row = np.zeros(2, np.dtype((Record, [("size", "f8")])))[0]
    >>> row.size = 3.0
    >>> float(row.size)
    3.0
    """

    def __getattribute__(self, name: str) -> Any:
        fields = np.void.__getattribute__(self, "dtype").fields
        return np.void.__getitem__(self, name) if name in fields else np.record.__getattribute__(self, name)


class Records(np.ndarray):
    """An array of `Record`, its columns to be had by name."""

    def __getattr__(self, name: str) -> Any:
        if name in (self.dtype.names or ()):
            return self[name].view(np.ndarray)
        raise AttributeError(name)


def plain_records(array: np.ndarray) -> np.ndarray:
    """The same data for plain kernels, which read fields of records as attributes, as compiled ones do."""
    return np.asarray(array).view(np.dtype((Record, array.dtype))).view(Records)


_address, _first_byte = ctypes.addressof, ctypes.c_char.from_buffer
_NOTHING = ctypes.create_string_buffer(ALIGNED)
_NOWHERE = ctypes.addressof(_NOTHING)
"""What stands for the address of arrays of length 0: to ask NumPy for one takes longer than all else together."""


def address_of(array: Any) -> int:
    """Where the data of an array begins; what NumPy itself offers takes several times as long."""
    if not len(array):
        return _NOWHERE
    try:
        return _address(_first_byte(array))
    except (TypeError, ValueError):  # of an array that is read-only or empty
        return int(array.__array_interface__["data"][0])


class Room:
    """Where arrays of some shapes stand in one piece of memory, worked out once for many tables.

    >>> X, Y = slots(x=("f8", 1), y=("i8", 2))
    >>> room = Room({X: (3,), Y: (2, 1)})
    >>> room.size
    128
    """

    def __init__(self, shapes: Mapping[Slot, tuple[int, ...]]) -> None:
        self.places: dict[int, tuple[tuple[int, ...], np.dtype, int]] = {}
        numbers: list[int] = []  # of each array: the word of its address, and where it begins
        words: list[int] = []  # of each extent: its word, and its value
        first = 0
        for slot, shape in shapes.items():
            index, dtype = slot.index, slot.dtype
            self.places[index] = shape, dtype, first
            k, size = index * WORDS, dtype.itemsize
            numbers += k, first
            for extent in shape:
                k += 1
                words += k, extent
                size *= extent
            first += -(-size // ALIGNED) * ALIGNED
        self.size = first
        self.addresses, self.firsts = np.array(numbers, np.int64).reshape(-1, 2).T
        self.words, self.extents = np.array(words, np.int64).reshape(-1, 2).T

    def array(self, index: int, block: np.ndarray) -> np.ndarray:
        """The array of a slot in a piece of memory."""
        shape, dtype, first = self.places[index]
        array: np.ndarray = np.ndarray(shape, dtype, block, first)
        return plain_records(array) if dtype.names and not JIT else array


class Table:
    """Arrays in slots; owns every array whose address it stores.

    >>> (X,) = slots(x=("f8", 1))
    >>> table = Table(1)
    >>> table[X] = np.zeros(3)
    >>> table[X].shape
    (3,)

    Attributes
    ----------
    kind, memory : of a kind's table: the name of its module, and the slots that its kernels write to
    """

    kind: str = ""
    memory: tuple[Slot, ...] = ()

    def __init__(self, size: int) -> None:
        # one list for good, which who works with the table may hold; arrays in rooms are made when first asked for
        self._arrays: list[np.ndarray | None] = [None] * size
        self._rooms: tuple[tuple[Room, np.ndarray], ...] = ()
        self._take(np.zeros(max(size, 1) * WORDS, np.int64))

    @property
    def arrays(self) -> list[np.ndarray | None]:
        """The arrays of all slots, None where there is none."""
        return [self._find(index) for index in range(len(self._arrays))]

    def _take(self, words: np.ndarray) -> None:
        """Let these be the words, and so the handle, of the table."""
        self.words = words
        self.handle = address_of(words)
        if not JIT:
            _TABLES[self.handle] = self

    def _find(self, index: int) -> np.ndarray | None:
        """The array of a slot, if there is one."""
        array = self._arrays[index]
        if array is None:
            for room, block in reversed(self._rooms):
                if index in room.places:
                    array = self._arrays[index] = room.array(index, block)
                    break
        return array

    def sharing(self, own: Iterable[Slot] = ()) -> Self:
        """A table over the same arrays, with copies in the slots `own`.

        >>> X, Y = slots(x=("f8", 1), y=("f8", 1))
        >>> table = Table(2)
        >>> table[X], table[Y] = np.zeros(3), np.zeros(3)
        >>> other = table.sharing([Y])
        >>> other[X] is table[X], other[Y] is table[Y]
        (True, False)
        """
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__.copy()  # far quicker than `update`
        other._arrays = list(self._arrays)  # what stands in rooms is found there by both
        other._take(self.words.copy())
        for slot in own:
            other[slot] = self[slot].copy()
        return other

    def explain(self, element: Any, k: int, t: float) -> str | None:
        """What the memory of the table tells about a failure of its k-th element; None: ask the element."""
        return None

    def fill(self, shapes: Mapping[Slot, tuple[int, ...]] | Room) -> None:
        """Put zeros into many slots, all in one piece of memory: far quicker than one array after the other.

        >>> X, Y = slots(x=("f8", 1), y=("i8", 2))
        >>> table = Table(2)
        >>> table.fill({X: (3,), Y: (2, 1)})
        >>> table[Y].tolist()
        [[0], [0]]
        """
        room = shapes if isinstance(shapes, Room) else Room(shapes)
        block = np.zeros(room.size, np.uint8)
        self.words[room.addresses] = room.firsts + address_of(block)
        self.words[room.words] = room.extents
        self._rooms = (*self._rooms, (room, block))
        for index in room.places:
            self._arrays[index] = None if JIT else room.array(index, block)

    def share(self, blank: Table) -> None:
        """Hold the arrays of another table in all slots but those that `fill` gave zeros."""
        own, self._arrays[:] = list(self._arrays), blank.arrays if blank._rooms else blank._arrays
        self.words[:] = blank.words
        for room, block in self._rooms:
            self.words[room.addresses] = room.firsts + address_of(block)
            self.words[room.words] = room.extents
            for index in room.places:
                self._arrays[index] = own[index]

    def clear(self) -> None:
        """Put zeros again wherever `fill` has."""
        for _, block in self._rooms:
            block.fill(0)

    @property
    def room_size(self) -> int:
        """Bytes that `fill` has put zeros into."""
        return sum(room.size for room, _ in self._rooms)

    def __setitem__(self, slot: Slot, array: np.ndarray) -> None:
        if array.ndim != slot.ndim or array.dtype != slot.dtype or not array.flags.c_contiguous:
            wanted, given = f"{slot.ndim}-d {slot.dtype}", f"{array.ndim}-d {array.dtype}"
            raise TypeError(f"slot {slot.index} takes a contiguous {wanted} array, not {given}")
        self._arrays[slot.index] = plain_records(array) if array.dtype.names and not JIT else array
        k, words = slot.index * WORDS, self.words
        words[k] = address_of(array)
        for extent in array.shape:  # quicker than all at once
            k += 1
            words[k] = extent

    def __getitem__(self, slot: Slot) -> np.ndarray:
        array = self._arrays[slot.index]
        if array is None:
            array = self._find(slot.index)
        if array is None:
            raise KeyError(f"slot {slot.index} is empty")
        return array


_TABLES: weakref.WeakValueDictionary[int, Table] = weakref.WeakValueDictionary()
_CALLABLES: dict[int, Callable[..., Any]] = {}
_NUMBERS = itertools.count(1)  # 0 means that there is no function


def plain_address(function: Callable[..., Any]) -> int:
    """Give a Python function a number that `call` understands in plain mode."""
    address = next(_NUMBERS)
    _CALLABLES[address] = function
    return address


class Kernel:
    """A function `f(T, E) -> status` of a kernel module; called or addressed, it is compiled unless JIT is off."""

    def __init__(self, function: Callable[[int, int], int]) -> None:
        self.function = function
        self.module = function.__module__
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self._address: int | None = None
        self._compiled: Callable[[int, int], int] | None = None

    @property
    def address(self) -> int:
        """The number by which other kernels call this one."""
        if self._address is None:
            if JIT:
                from index3.compiled import store

                self._address = store.address(self.module, self.name)
            else:
                self._address = plain_address(self.function)
        return self._address

    def alone(self, T: int, E: int) -> int:
        """As a call, where no function of a user can be asked, whose warnings of NumPy would have to be kept quiet."""
        return self(T, E) if self._compiled is None else self._compiled(T, E)

    def __call__(self, T: int, E: int) -> int:
        if JIT and self._compiled is None:
            self._compiled = C_KERNEL(self.address)
        with np.errstate(all="ignore"):  # functions of users are as compiled code: NaN is checked where it matters
            if self._compiled is not None:
                return self._compiled(T, E)  # releases the GIL
            return int(self.function(T, E))


def kernel(function: Callable[[int, int], int]) -> Kernel:
    """Declare a kernel: compiled once, stored as an object, reached by address."""
    return Kernel(function)


if BUILDING:
    from index3.compiled.intrinsics import call, call_block, call_time, helper, view
else:

    def helper(function: Any) -> Any:
        """Declare a function that kernels inline; takes scalars, tuples and arrays."""
        return function

    def view(T: int, slot: Slot) -> np.ndarray:
        """The array in a slot of the table with handle `T`."""
        return _TABLES[T]._arrays[slot.index]  # type: ignore[return-value]

    def call(address: int, T: int, E: int) -> int:
        """Run the kernel at an address."""
        return int(_CALLABLES[address](T, E))

    def call_time(address: int, t: float) -> float:
        """Value at `t` of a user's function of time."""
        return float(_CALLABLES[address](float(t)))  # Python's number, as from compiled code: 1 / t raises at 0

    def call_block(address: int, t: float, block: np.ndarray) -> int:
        """Run a user's function on a flat block of doubles; returns its status."""
        return int(_CALLABLES[address](float(t), block))
