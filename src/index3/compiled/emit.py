"""From a kernel to object code, in a worker process: by the quick way or by what Numba documents."""

from __future__ import annotations

import re
from typing import Any

from index3.compiled import target
from index3.compiled.interface import Kernel

ALLOWED = re.compile(  # what an object may leave open: the C library's arithmetic, Python's and Numba's error paths
    r"(llvm\..*|Py\w+|_Py\w+|memset|memcpy|memmove|pow|sqrt|sin|cos|tan|asin|acos|atan|atan2|exp|log|log10|fabs|fmod|hypot"
    r"|tanh|sinh|cosh|cbrt|floor|ceil|fmin|fmax|ldexp|frexp|numba_gil_ensure|numba_gil_release|numba_unpickle"
    r"|numba_runtime_build_excinfo_struct|numba_do_raise|NRT_Free|NRT_MemInfo_call_dtor|\.const\..*|\.numba\..*)"
)
OPEN = re.compile(r'^declare [^@]*@"?([^"( ]+)"?\(', re.MULTILINE)
RAISES = ".const.picklebuf"  # Numba keeps what is raised as a pickled constant of this name ...
RAISED = re.compile(r'^@"?\.const\.pickledata\.\w+"? = .*', re.MULTILINE)  # ... with its content in one of this
PICK = "tuple index out of range"  # what `x[i]` of a tuple would raise, the standard way; kernels stay inside


class Refused(Exception):
    """A kernel that must not be built, because of what it does."""


def compile_kernel(kernel: Kernel) -> tuple[str, bytes]:
    """Symbol and object code of one kernel; by the quick way, after `speed_up_numba`.

    Raises
    ------
    Refused : the kernel raises, or calls something that it must not need, such as Numba's memory allocator.
    """
    import llvmlite.binding as llvm
    import numba

    from index3.compiled.intrinsics import OPTIONS, WAY

    function: Any = numba.cfunc("int64(int64, int64)", **OPTIONS)(kernel.function)
    if WAY == target.QUICK:
        from index3.compiled.frontend import finish_kernel

        module, machine = finish_kernel(function._library, function.native_name), function._library._codegen._tm
    else:
        module = llvm.parse_assembly(function.inspect_llvm())
        machine = target_machine(module.triple)
    check_code(kernel, str(module))
    hide_helpers(module, function.native_name)
    return function.native_name, machine.emit_object(module)


def hide_helpers(module: Any, symbol: str) -> None:
    """Let an object show nothing but its kernel.

    Workers number versions of helpers and types of records by themselves, so that two objects may have helpers of one
    name for records of different layouts. Loaded together, one would call the other's.
    """
    from llvmlite.binding import Linkage

    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration and thing.name != symbol and thing.linkage != Linkage.private:
            thing.linkage = Linkage.internal


def check_code(kernel: Kernel, code: str) -> None:
    """Raise unless the kernel's code, as LLVM's text, is all that it needs."""
    name = f"kernel {kernel.module}.{kernel.name}"
    open_symbols = {symbol for symbol in OPEN.findall(code) if not ALLOWED.fullmatch(symbol)}
    if open_symbols:
        raise Refused(f"{name} must not use {', '.join(sorted(open_symbols))}")
    raised = RAISED.findall(code)
    if RAISES in code and not (raised and all(PICK in constant for constant in raised)):
        raise Refused(f"{name} can raise an exception. Return a status instead.")


def target_machine(triple: str) -> Any:
    """What makes machine code as Numba would: for any machine of the kind, to be loaded anywhere in memory."""
    import llvmlite.binding as llvm

    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=target.ENVIRONMENT["NUMBA_CPU_NAME"],
        features=target.ENVIRONMENT["NUMBA_CPU_FEATURES"],
        opt=int(target.ENVIRONMENT["NUMBA_OPT"]),
        reloc="static" if triple.startswith("x86_64") else "default",
        codemodel="jitdefault",
        jit=True,
    )
