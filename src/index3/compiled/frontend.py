"""Numba made quick for kernels: the work that kernels have no use for is left out, and no type is looked up twice.

Numba serves every kind of program; kernels are loops over arrays that own nothing, without closures, exceptions or
allocation, and nothing calls their helpers but kernels. What follows changes how long Numba takes, not the code that
comes out. It is called in the store's worker processes only.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core.base import BaseContext
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction
from numba.core.types.misc import unliteral

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


def take_plain_integers(helper: Any) -> Any:
    """Let a helper see an integer as an integer: by itself Numba compiles one version per literal value."""
    call = helper.get_call_template
    helper.get_call_template = lambda args, kws: call(
        tuple(unliteral(a) for a in args), {name: unliteral(a) for name, a in kws.items()}
    )
    return helper


def spare_helpers() -> None:
    """Leave helpers as they are until a kernel has taken them in.

    By itself Numba would optimise every helper and make machine code of it, although nothing calls helpers but kernels,
    which take in a copy and optimise it again.
    """
    JITCodeLibrary._optimize_final_module = lambda self: None
    JITCodeLibrary._finalize_specific = lambda self: None
    JITCodeLibrary.get_pointer_to_function = lambda self, name: self._ensure_finalized() or 0
    JITCPUCodegen.set_env = lambda self, name, env: None


def spare_declarations() -> None:
    """Run the passes on single functions only where there is something to simplify."""

    def optimize_functions(library: Any, module: Any) -> None:
        module.data_layout = library._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = library._codegen._function_pass_manager()
                passes.run(function, builder)

    CPUCodeLibrary._optimize_functions = optimize_functions


def spare_reference_counts() -> None:
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


def make_quick() -> None:
    """Change Numba in this process."""
    spare_helpers()
    spare_declarations()
    spare_reference_counts()
    remember_types()
    remember_sizes()
    gc.collect()
    gc.freeze()  # what Numba is made of stays; looking through it again and again took a fifth of the time
    gc.set_threshold(500_000, 20, 50)
