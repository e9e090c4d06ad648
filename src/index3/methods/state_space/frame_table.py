"""The Python side of `frame`: its table at the start of a run."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Table
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.methods.state_space import frame
from index3.system import evaluate

FRAME_KERNELS = (frame.project_state, frame.set_reference, frame.fill_matrices)
"""Kernels that every frame calls."""


def frame_kernels(parametrization: str) -> tuple[Kernel, ...]:
    """Kernels of a frame with this parametrisation."""
    if parametrization != "partition":
        return FRAME_KERNELS
    from index3.methods.state_space import elimination, repartition

    return (*FRAME_KERNELS, repartition.choose, repartition.choose_sparse, elimination.eliminate)


class Frame:
    """Table and factorisations of the frame of a run."""

    def __init__(self, progress: Run, parametrization: str = "tangent-plane", near: float = 0.0) -> None:
        state, n, m = progress.state, progress.system.n, progress.system.m
        partition = parametrization == "partition"
        self.projector = Projector(state, progress.solver)
        table = self.table = Table(len(frame.SLOTS))
        handles = [progress.table.handle, self.projector.handle, *(kernel.address for kernel in FRAME_KERNELS)]
        dense = False
        if partition:
            from index3.methods.state_space.partition import DENSE, elimination_table

            dense = n <= DENSE
            choose, choose_sparse, eliminate = frame_kernels(parametrization)[len(FRAME_KERNELS) :]
            handles.append((choose if dense else choose_sparse).address)
            if not dense:
                state.run(evaluate.forces, evaluate.jacobian)
                self.rows = elimination_table(state)
                handles += [eliminate.address, self.rows.handle]
        table[frame.HANDLES] = np.array(handles, np.int64)
        table[frame.FLAGS] = np.array([0, 1, 0], np.int64)
        table[frame.SETTINGS] = np.zeros(frame.SETTINGS_SIZE)
        table[frame.SETTINGS][frame.NEAR] = near
        table[frame.HEAVY] = np.zeros(n if partition else 0)
        table[frame.DENSE] = np.zeros((m, n) if dense else (0, 0))
        table[frame.FIXED] = np.zeros(n, np.int64)
        table[frame.SHARED] = np.zeros(n if np.any(progress.system.level == 1) else 0)
        for slot in (frame.NORMAL_Q, frame.NORMAL_V):
            table[slot] = np.zeros(n)
        table[frame.SIZES] = np.zeros(m)
        for slot in (frame.MASS, frame.STIFF, frame.DAMP):
            table[slot] = np.zeros(len(state[s.MATRIX]))
