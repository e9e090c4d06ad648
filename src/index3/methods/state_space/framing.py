"""The Python side of `frame`: its table at the start of a run."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.errors import ModelError
from index3.methods.closing import Closer
from index3.methods.runner import Run
from index3.methods.state_space import frame, repartition
from index3.methods.state_space.partition import DENSE

FRAME_KERNELS = (frame.settle, frame.refer, frame.fill_matrices)
"""Kernels that every frame calls."""


class Frame:
    """Table and factorisations of the frame of a run.

    Raises
    ------
    ModelError : a partition was asked for and the system has too many coordinates for dense elimination.
    """

    def __init__(self, progress: Run, parametrization: str = "tangent-plane") -> None:
        state, n, m = progress.state, progress.system.n, progress.system.m
        partition = parametrization == "partition"
        if partition and n > DENSE:
            raise ModelError(
                f"parametrization='partition' takes systems of up to {DENSE} coordinates; this one has {n}. "
                "Use parametrization='tangent-plane'."
            )
        self.closer = Closer(state, progress.solver)
        table = self.table = Table(len(frame.SLOTS))
        kernels = (*FRAME_KERNELS, *((repartition.choose,) if partition else ()))
        handles = [progress.table.handle, self.closer.handle, *(kernel.address for kernel in kernels)]
        table[frame.HANDLES] = np.array(handles, np.int64)
        table[frame.FLAGS] = np.array([0, 1], np.int64)
        table[frame.SETTINGS] = np.zeros(3)
        table[frame.HEAVY] = np.zeros(n if partition else 0)
        table[frame.DENSE] = np.zeros((m, n) if partition else (0, 0))
        table[frame.FIXED] = np.zeros(n, np.int64)
        for slot in (frame.NORMAL_Q, frame.NORMAL_V):
            table[slot] = np.zeros(n)
        for slot in (frame.MASS, frame.STIFF, frame.DAMP):
            table[slot] = np.zeros(len(state[s.MATRIX]))
