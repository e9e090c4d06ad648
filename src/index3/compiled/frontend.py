"""Numba made quick for kernels: the work that kernels have no use for is left out, and no type is looked up twice.

Numba serves every kind of program; kernels are loops over arrays that own nothing, without closures, exceptions or
allocation, and nothing calls their helpers but kernels. What follows changes how long Numba takes, not what the code
that comes out computes. It is called in the store's worker processes only, and `check_numba` first looks whether this
Numba is one that it knows; for another one kernels are built the standard way (`target`).
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
from typing import Any

import numba
from llvmlite.binding import Linkage, ffi, parse_assembly
from numba.core import base
from numba.core.base import BaseContext
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import Dispatcher
from numba.core.ir import Inst, Var
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import ConfigStack
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction
from numba.core.types.misc import unliteral
from numba.np import arrayobj

TESTED = (0, 62), (0, 69)  # the oldest, and the first that is too new; as in pyproject.toml
KNOWN = (  # what is replaced or called by this module and by `indexing`, and with which arguments
    (CPUCodeLibrary, "add_ir_module", "self ir_module"),
    (JITCodeLibrary, "finalize", "self"),
    (JITCodeLibrary, "get_pointer_to_function", "self name"),
    (JITCPUCodegen, "set_env", "self env_name env"),
    (JITCPUCodegen, "_module_pass_manager", "self kwargs"),
    (NRTContext, "incref", "self builder typ value"),
    (NRTContext, "decref", "self builder typ value"),
    (BaseFunction, "get_call_type", "self context args kws"),
    (BaseContext, "get_abi_sizeof", "self ty"),
    (BaseContext, "refresh", "self"),
    (base, "_has_loc", "fn"),
    (PostProcessor, "run", "self emit_dels extend_lifetimes"),
    (VariableLifetime, "__init__", "self blocks"),
    (Inst, "_rec_list_vars", "self val"),
    (DefaultPassBuilder, "define_nopython_pipeline", "state name"),
    (Dispatcher, "get_call_template", "self args kws"),
    (arrayobj, "getitem_arraynd_intp", "context builder sig args"),
    (arrayobj, "getitem_array_tuple", "context builder sig args"),
    (arrayobj, "setitem_array", "context builder sig args"),
    (arrayobj, "load_item", "context builder arrayty ptr"),
    (arrayobj, "store_item", "context builder arrayty val ptr"),
)
LEFT_OUT = {  # passes that find nothing without inner functions, `with` blocks, `raise` or array arithmetic
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "NoPythonSupportedFeatureValidation",
    "IRLegalization",  # marks where variables end, for reference counts
    "AnnotateTypes",
    "DumpParforDiagnostics",
}


class KernelCompiler(CompilerBase):
    """Numba's passes for compiled code without those left out; functions that hold functions get all of them."""

    def define_pipelines(self) -> list[PassManager]:
        """The passes, in order."""
        whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
        inner = [part for part in self.state.func_id.func.__code__.co_consts if hasattr(part, "co_code")]
        if inner:
            return [whole]
        lean = PassManager("kernel")
        lean.passes = [(one, text) for one, text in whole.passes if one.__name__ not in LEFT_OUT]
        lean.finalize()
        return [lean]


class UnknownNumba(Exception):
    """A Numba that works otherwise than those that this module was written for."""


def check_numba() -> None:
    """Raise `UnknownNumba` unless Numba is of a tested version and has what is replaced in it."""
    found = numba.version_info.short
    if not TESTED[0] <= found < TESTED[1]:
        raise UnknownNumba(
            f"tested are versions from {TESTED[0][0]}.{TESTED[0][1]} to below {TESTED[1][0]}.{TESTED[1][1]}"
        )
    for owner, name, parameters in KNOWN:
        function = getattr(owner, name, None)
        if function is None or " ".join(inspect.signature(function).parameters) != parameters:
            raise UnknownNumba(f"{owner.__name__}.{name}({parameters.replace(' ', ', ')}) is not there")


def take_plain_integers(helper: Any) -> Any:
    """Let a helper see an integer as an integer: by itself Numba compiles one version per literal value."""
    call = helper.get_call_template
    helper.get_call_template = lambda args, kws: call(
        tuple(unliteral(a) for a in args), {name: unliteral(a) for name, a in kws.items()}
    )
    return helper


def skip_helpers() -> None:
    """Leave helpers as they come from Numba until `finish_kernel` takes them in.

    By itself Numba would link into each helper what it calls, optimise it, and make machine code of it, although
    nothing calls helpers but kernels, which take in a copy and optimise it again.
    """

    def add_ir_module(library: Any, module: Any) -> None:
        parsed = parse_assembly(normalize_ir_text(str(module)))
        parsed.data_layout = library._codegen._data_layout
        library._final_module.link_in(parsed)

    def finalize(library: Any) -> None:
        library._finalized = True

    CPUCodeLibrary.add_ir_module = add_ir_module
    JITCodeLibrary.finalize = finalize
    JITCodeLibrary.get_pointer_to_function = lambda self, name: 0
    JITCPUCodegen.set_env = lambda self, name, env: None


def finish_kernel(library: Any, symbol: str) -> Any:
    """Take every helper that a kernel needs into its module, once, and optimise the whole; returns the module.

    Nothing but the kernel of this name is seen from outside: what is called from one place is part of its caller then.
    """
    module, waiting, seen = library._final_module, [library], {library}
    while waiting:
        for helper in waiting.pop()._linking_libraries:
            if helper not in seen:
                seen.add(helper)
                waiting.append(helper)
                for function in helper._final_module.functions:
                    if not function.is_declaration and function.linkage == Linkage.external:
                        function.linkage = Linkage.linkonce_odr  # to be inlined and dropped
                module.link_in(helper._final_module, preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = Linkage.internal
    module.verify()
    passes, builder = library._codegen._module_pass_manager()
    passes.run(module, builder)
    return module


def skip_reference_counts() -> None:
    """Views own nothing, and a kernel that allocates is refused: there is nothing to count."""
    NRTContext.incref = NRTContext.decref = lambda self, builder, kind, value: None


def remember_types() -> None:
    """Look up the signature of a built-in function for given types once, not at each of its calls."""
    functions: Any = BaseFunction
    find = functions.get_call_type
    known: dict[Any, Any] = {}

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        flags = ConfigStack.top_or_none()
        key = function, tuple(args), tuple(kws.items()), flags and flags.error_model
        if key not in known:
            known[key] = find(function, context, args, kws)
        return known[key]

    functions.get_call_type = get_call_type


def remember_sizes() -> None:
    """Ask LLVM for the size of a type once: each question is a module written, parsed and thrown away."""
    ask: Any = BaseContext.get_abi_sizeof
    known: dict[str, int] = {}

    def get_abi_sizeof(context: Any, kind: Any) -> int:
        text = str(kind)
        if text not in known:
            known[text] = ask(context, kind)
        return known[text]

    BaseContext.get_abi_sizeof = get_abi_sizeof


def skip_scipy() -> None:
    """Numba looks whether SciPy is there, for linear algebra that kernels have no use for; loading it takes 0.4 s."""
    sys.modules.setdefault("scipy.linalg", None)  # type: ignore[arg-type]


def skip_events() -> None:
    """Do not announce each call of LLVM: nobody listens."""
    ffi.lib._lock._cblist.clear()


def remember_signatures() -> None:
    """Look once whether a built-in function wants to know where it is called from."""
    base._has_loc = functools.cache(base._has_loc)


def skip_lifetimes() -> None:
    """Find out how long variables live only if a pass asks for it: it matters to reference counts alone."""

    def run(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        function = processor.func_ir
        function.blocks = canonicalize_cfg(function.blocks)
        function.variable_lifetime = VariableLifetime(function.blocks)
        function.generator_info = None

    PostProcessor.run = run


def skip_registries() -> None:
    """Look for new built-in functions when modules were imported or some were added, not at each call of one.

    Numba adds one for each number of arguments of `min` and `max`, when that is first met.
    """
    contexts: Any = BaseContext
    refresh = contexts.refresh
    seen: set[tuple[int, int, int]] = set()

    def refresh_once(context: Any) -> None:
        known = id(context), len(sys.modules), sum(len(registry.functions) for registry in context._registries)
        if known not in seen:
            refresh(context)
            seen.add(known)

    contexts.refresh = refresh_once


def list_variables_quickly() -> None:
    """Find the variables of an instruction without a recursion into fields that hold none."""

    def find(instruction: Any, value: Any) -> list[Any]:
        found = []
        for part in value.values() if type(value) is dict else (value,):
            if type(part) is Var:
                found.append(part)
            elif isinstance(part, Inst):
                found += part.list_vars()
            elif type(part) is dict:
                found += find(instruction, part)
            elif type(part) in (list, tuple):
                for one in part:
                    found += find(instruction, one)
        return found

    Inst._rec_list_vars = find


def speed_up_numba() -> None:
    """Change Numba in this process.

    Raises
    ------
    UnknownNumba : this is none that can be changed so.
    """
    check_numba()
    skip_scipy()
    skip_events()
    remember_signatures()
    skip_lifetimes()
    skip_registries()
    list_variables_quickly()
    skip_helpers()
    skip_reference_counts()
    remember_types()
    remember_sizes()
    gc.collect()
    gc.freeze()  # what Numba is made of stays; looking through it again and again took a fifth of the time
    gc.set_threshold(500_000, 20, 50)
