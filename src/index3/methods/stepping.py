"""Output and acceptance as kernels of their own: a method that calls them by address need not compile them again."""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import kernel, view
from index3.methods import run


@kernel
def emit(T, R):
    """`run.emit`: write the output times of the last accepted step."""
    return run.emit(T, R)


@kernel
def accept(T, R):
    """`run.accept_state`: the state in T, at its time, becomes the new one."""
    t = view(T, s.TIME)[0]
    return run.accept_state(T, R, t, t - view(R, run.CLOCK)[run.T_NEW])
