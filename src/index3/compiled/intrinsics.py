"""The Numba side of the pointer table; imported only while kernels are built."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model, typeof_impl
from numba.np import numpy_support

from index3.compiled import interface, target

WAY = target.ways()[0]
OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": False, "fastmath": False}
if WAY == target.QUICK:
    from index3.compiled import indexing  # noqa: F401 (says how elements are read and written)
    from index3.compiled.frontend import KernelCompiler, take_plain_integers

    OPTIONS["pipeline_class"] = KernelCompiler
I64, F64 = ir.IntType(64), ir.DoubleType()


class SlotType(types.Dummy):
    """A slot is known while compiling, so its type says everything and nothing is left for the code."""

    def __init__(self, slot: interface.Slot) -> None:
        self.slot = slot
        super().__init__(name=f"Slot({slot.index}, {slot.dtype!r}, {slot.ndim})")


register_model(SlotType)(models.OpaqueModel)


@typeof_impl.register(interface.Slot)
def _typeof_slot(value: interface.Slot, c: Any) -> SlotType:
    return SlotType(value)


def helper(function: Any) -> Any:
    """Compile a helper together with each kernel that uses it."""
    if WAY == target.QUICK:  # nothing but kernels calls it
        return take_plain_integers(numba.njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))
    return numba.njit(**OPTIONS)(function)


@intrinsic
def view(typingctx: Any, T: Any, slot: Any) -> Any:
    """An array over a slot's memory: no reference counting, no check."""
    if not isinstance(slot, SlotType):
        return None
    array_type = types.Array(numpy_support.from_dtype(slot.slot.dtype), slot.slot.ndim, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = ir.Constant(I64, 8 * interface.WORDS * slot.slot.index)
        words = builder.inttoptr(builder.add(args[0], first), I64.as_pointer())

        def word(k: int) -> Any:
            return builder.load(builder.gep(words, [ir.Constant(I64, k)]))

        element = context.get_data_type(array_type.dtype)
        size = ir.Constant(I64, context.get_abi_sizeof(element))
        shape = [word(1 + d) for d in range(array_type.ndim)]
        strides, count = [size] * array_type.ndim, shape[-1]
        for d in reversed(range(array_type.ndim - 1)):
            strides[d] = builder.mul(strides[d + 1], shape[d + 1])
            count = builder.mul(count, shape[d])
        model = context.data_model_manager[array_type]
        array = ir.Constant(model.get_value_type(), None)  # no owner, no parent
        for field, value in (
            ("nitems", count),
            ("itemsize", size),
            ("data", builder.inttoptr(word(0), element.as_pointer())),
            ("shape", cgutils.pack_array(builder, shape)),
            ("strides", cgutils.pack_array(builder, strides)),
        ):
            array = builder.insert_value(array, value, model.get_field_position(field))
        return array

    return array_type(types.int64, slot), codegen


def _call_pointer(builder: Any, address: Any, result: Any, values: list[Any]) -> Any:
    function = ir.FunctionType(result, [value.type for value in values])
    return builder.call(builder.inttoptr(address, function.as_pointer()), values)


@intrinsic
def call(typingctx: Any, address: Any, T: Any, E: Any) -> Any:
    """Run the kernel at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call_pointer(builder, args[0], I64, list(args[1:]))

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def call_time(typingctx: Any, address: Any, t: Any) -> Any:
    """Value at `t` of a user's function of time."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call_pointer(builder, args[0], F64, [args[1]])

    return types.float64(types.int64, types.float64), codegen


@intrinsic
def call_block(typingctx: Any, address: Any, t: Any, block: Any) -> Any:
    """Run a user's function on a flat block of doubles; returns its status."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(block)(context, builder, args[2]).data
        return _call_pointer(builder, args[0], I64, [args[1], data])

    return types.int64(types.int64, types.float64, block), codegen
