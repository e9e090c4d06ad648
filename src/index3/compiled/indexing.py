"""Reading and writing array elements in kernels: an address, a load or a store.

By itself Numba lets an index count from the end when it is negative, and goes through a copy of the array's description
at each access. Kernels index forwards only, over arrays without gaps, so what is left is the arithmetic of the address.
Imported only while kernels are built the quick way; it makes them quicker to build and quicker.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import builtin_registry, lower_builtin, lower_getattr
from numba.core.types.containers import BaseTuple, UniTuple
from numba.cpython import tupleobj  # noqa: F401 (declares what `replace_pick` replaces)
from numba.np.arrayobj import getitem_array_tuple, getitem_arraynd_intp, load_item, setitem_array, store_item


def field(context: Any, builder: Any, kind: Any, array: Any, name: str) -> Any:
    """One part of an array's description."""
    return builder.extract_value(array, context.data_model_manager[kind].get_field_position(name))


def is_plain(kind: Any, indices: tuple[Any, ...]) -> bool:
    """Whether these indices denote one element of an array without gaps."""
    return kind.layout == "C" and len(indices) == kind.ndim and all(isinstance(one, types.Integer) for one in indices)


def element_address(context: Any, builder: Any, kind: Any, array: Any, kinds: tuple[Any, ...], indices: Any) -> Any:
    """The address of the element at these indices."""
    data = field(context, builder, kind, array, "data")
    place = None
    for d, (own, index) in enumerate(zip(kinds, indices, strict=True)):
        number = context.cast(builder, index, own, types.intp)
        if place is None:
            place = number
        else:
            extent = builder.extract_value(field(context, builder, kind, array, "shape"), d)
            place = builder.add(builder.mul(place, extent), number)
    return builder.gep(data, [place], inbounds=True)


@lower_builtin(operator.getitem, types.Array, types.Integer)
def read_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """a[i]."""
    kind, own = sig.args
    if not is_plain(kind, (own,)):
        return getitem_arraynd_intp(context, builder, sig, args)
    return load_item(context, builder, kind, element_address(context, builder, kind, args[0], (own,), (args[1],)))


@lower_builtin(operator.getitem, types.Array, UniTuple)
def read_element_of_table(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """a[i, j]."""
    kind, own = sig.args
    if not is_plain(kind, own.types):
        return getitem_array_tuple(context, builder, sig, args)
    indices = cgutils.unpack_tuple(builder, args[1], count=len(own))
    return load_item(context, builder, kind, element_address(context, builder, kind, args[0], own.types, indices))


@lower_builtin(operator.setitem, types.Array, types.Integer, types.Any)
@lower_builtin(operator.setitem, types.Array, UniTuple, types.Any)
def write_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """a[i] = x, a[i, j] = x."""
    kind, own, value = sig.args
    tuple_of = isinstance(own, BaseTuple)
    kinds = own.types if tuple_of else (own,)
    if not is_plain(kind, kinds):
        return setitem_array(context, builder, sig, args)
    indices = cgutils.unpack_tuple(builder, args[1], count=len(own)) if tuple_of else (args[1],)
    place = element_address(context, builder, kind, args[0], kinds, indices)
    store_item(context, builder, kind, context.cast(builder, args[2], value, kind.dtype), place)
    return None


@lower_getattr(types.Array, "shape")
def read_shape(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The extents of an array."""
    return field(context, builder, kind, array, "shape")


def pick_from_tuple(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """x[i] of numbers x, for i inside; Numba's own would raise outside, which kernels must not."""
    picked = builder.extract_value(args[0], 0)
    for k in range(1, len(sig.args[0])):
        here = builder.icmp_signed("==", args[1], ir.Constant(args[1].type, k))
        picked = builder.select(here, builder.extract_value(args[0], k), picked)
    return picked


def replace_pick() -> None:
    """Put `pick_from_tuple` in the place of Numba's function, before it is first used."""
    known: Any = builtin_registry.functions
    wanted = operator.getitem, (UniTuple, types.intp)
    (place,) = (k for k, (_, function, kinds) in enumerate(known) if (function, kinds) == wanted)
    known[place] = (pick_from_tuple, *wanted)


replace_pick()
