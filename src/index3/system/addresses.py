"""The kernel addresses of a system: built together before a run, as far as it is known what a run calls.

What a method calls is read from the sources: a kernel module that names `s.CORE_LEVELS`, or imports one that does, may
call that kernel of the evaluator, which runs the stages in `STAGES_OF`. Kernels beyond that are not built. In their
places are stand-ins: a stand-in builds its kernel when first called, puts it in the place, and passes the call on. So
no guess can lead to a wrong call, only to a later build.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from index3.compiled import memory, store
from index3.compiled.failures import Failures
from index3.compiled.interface import C_KERNEL, JIT, Kernel
from index3.errors import Index3Error
from index3.system import evaluate

CORE = (
    evaluate.forces, evaluate.mass, evaluate.jacobian, evaluate.matrix,
    evaluate.levels, evaluate.derivatives, evaluate.energy, evaluate.poses, evaluate.angles, evaluate.rates,
    evaluate.rows, evaluate.gamma, evaluate.gradients, evaluate.switches, evaluate.power,
    evaluate.passes, evaluate.working,
)  # fmt: skip
"""The evaluator's kernels, in the order of their numbers in `compiled.slots`."""
OF_CORE = frozenset(CORE)

STAGES_OF = {
    "forces": ("poses", "constraints", "forces", "gather"),
    "mass": ("mass",),
    "jacobian": ("jacobians", "own_rows"),
    "gradients": ("jacobians", "own_rows"),
    "matrix": ("hessians", "force_derivatives", "body_matrix"),
    "levels": ("hessians", "bias"),
    "gamma": ("hessians", "bias"),
    "derivatives": ("second_derivatives", "hessians"),
    "energy": ("energies",),
    "power": ("energies",),
    "poses": ("poses",),
    "rows": ("poses", "constraints", "gather"),
    "angles": ("measure",),
    "switches": ("switches",),
    "passes": ("passes",),
    "working": ("poses", "forces"),
}
"""The stages that kernels of the evaluator run."""
INERTIAL_STAGES = {"forces": ("jacobians",), "matrix": ("second_derivatives",)}
"""Those that they run besides where forces depend on accelerations."""

USES = re.compile(r"\bs\.CORE_(\w+)")
NOT_BUILT = 902  # status of a stand-in whose kernel cannot be built


def with_core(kernels: Iterable[Kernel]) -> list[Kernel]:
    """These kernels, and those of the evaluator that they may call."""
    found = list(kernels)
    used = {name for kernel in found for name in core_used_by(kernel.module)}
    return [*found, *(kernel for kernel in CORE if kernel.name in used)]


@functools.cache
def core_used_by(module: str) -> frozenset[str]:
    """Names of the evaluator's kernels that those of a module may call."""
    return frozenset(word.lower() for word in memory.words(module, USES))


class Addresses:
    """The arrays in CORE and STAGES; they change when a kernel is built, and never lead to a wrong one.

    All that share a system share them, also threads that run: an address is written at once, as one word, and the
    stand-in that was there before does as well.

    Parameters
    ----------
    lines : stage and kernel of each line of STAGES
    failures : where a build that fails during a run leaves its error
    inertial : whether forces depend on accelerations
    """

    def __init__(self, lines: Sequence[tuple[str, Kernel]], failures: Failures, inertial: bool = False) -> None:
        self.lines, self.failures = lines, failures
        more = INERTIAL_STAGES if inertial else {}
        self.stages_of = {name: (*stages, *more.get(name, ())) for name, stages in STAGES_OF.items()}
        self.keep: list[Any] = []  # the stand-ins: the arrays hold their addresses
        self.ready: set[Kernel] = set()
        self.loaded: set[tuple[Kernel, ...]] = set()  # lists that `load_once` was given
        self.refused = False  # whether a build failed during a run
        self.stand_ins: list[tuple[np.ndarray, int, Kernel]] = []  # where they are, and for which kernel
        self.core = self.first_addresses([(None, kernel) for kernel in CORE])
        self.stages = self.first_addresses(lines)

    def of_stage(self, wanted: str) -> list[Kernel]:
        """All kernels of a stage."""
        return [kernel for stage, kernel in self.lines if stage == wanted]

    def first_addresses(self, lines: Sequence[tuple[str | None, Kernel]]) -> np.ndarray:
        """The addresses of kernels that are loaded already, else those of stand-ins, which load their stage."""
        places = np.zeros(len(lines), np.int64)
        for k, (stage, kernel) in enumerate(lines):
            if not JIT or store.is_loaded(kernel.module, kernel.name):
                places[k] = kernel.address
                continue
            callback = C_KERNEL(self.stand_in(kernel, [kernel] if stage is None else self.of_stage(stage)))
            self.keep.append(callback)
            places[k] = ctypes.cast(callback, ctypes.c_void_p).value or 0
            self.stand_ins.append((places, k, kernel))
        return places

    def stand_in(self, kernel: Kernel, together: list[Kernel]) -> Callable[[int, int], int]:
        """A function that builds a kernel, lets it take its place, and calls it."""

        refused: list[Index3Error] = []

        def build_and_call(T: int, E: int) -> int:
            try:
                if refused:  # it will not be otherwise a step later
                    raise refused[0]
                self.load(together)
                return kernel(T, E)
            except BaseException as error:  # it cannot pass through compiled code: kept, and the loop returns
                if isinstance(error, Index3Error):
                    refused.append(error)
                    self.refused = True
                self.failures.errors.append(error)
                return NOT_BUILT

        return build_and_call

    def require(self, *kernels: Kernel) -> None:
        """Make sure that kernels of the evaluator, and the stages that they run, are loaded."""
        if not self.ready.issuperset(kernels):
            self.load(kernels)
            self.ready.update(kernels)

    def load_once(self, kernels: tuple[Kernel, ...]) -> None:
        """Load kernels and those of the evaluator that they may call, unless that was done for the same list."""
        if kernels not in self.loaded:
            self.load(with_core(kernels))
            self.loaded.add(kernels)

    def load(self, kernels: Iterable[Kernel]) -> None:
        """Load kernels and the stages that they run if they are the evaluator's; what is missing is built at once."""
        if not JIT:
            return
        wanted = list(kernels)
        stages = {stage for kernel in wanted if kernel in OF_CORE for stage in self.stages_of.get(kernel.name, ())}
        wanted += [kernel for stage, kernel in self.lines if stage in stages]
        store.prepare((kernel.module, kernel.name) for kernel in wanted)
        self.put_in_place()

    def put_in_place(self) -> None:
        """Write the addresses of all kernels that are loaded by now."""
        waiting = []
        for place in self.stand_ins:
            places, k, kernel = place
            if store.is_loaded(kernel.module, kernel.name):
                places[k] = kernel.address
            else:
                waiting.append(place)
        self.stand_ins = waiting
