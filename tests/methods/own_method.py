"""A method outside the package: a Taylor step of second order, its end projected onto the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import index3 as ix
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, call, kernel, slots, view
from index3.methods import projection_kernels as pk
from index3.methods import run
from index3.methods.projection import Projector

RUN, PROJECTOR = SLOTS = slots(run=("i8", 1), projector=("i8", 1))


@kernel
def attempt(T, E):
    """q + h v + h^2/2 a and v + h a, then projected."""
    R, P = view(E, RUN)[0], view(E, PROJECTOR)[0]
    t, h = run.step_tried(R)
    q, v, q0, v0, a0 = view(T, s.Q), view(T, s.V), view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    for k in range(q.shape[0]):
        q[k] = q0[k] + h * (v0[k] + 0.5 * h * a0[k])
        v[k] = v0[k] + h * a0[k]
    view(T, s.TIME)[0] = t
    link = view(P, pk.LINK)
    code = call(link[pk.LINK_POSITIONS], T, P)
    if code == OK:
        code = call(link[pk.LINK_RATES], T, P)
    if code != OK:
        return run.NEWTON_FAILED
    if run.evaluate_forces(T, R) != OK:
        return run.EVALUATION_FAILED
    return run.accept(T, R)


@dataclass(frozen=True)
class Taylor(ix.Method):
    """For constant steps."""

    newton_tol: float = 1e-11

    key: ClassVar[str] = "own-taylor"
    family: ClassVar[str] = "explicit"
    order: ClassVar[int] = 1
    implicit: ClassVar[bool] = False
    stiff: ClassVar[bool] = False
    paper: ClassVar[str] = ""
    summary: ClassVar[str] = "an example"
    kernel: ClassVar = attempt

    def start(self, progress, first_step):
        """The method's table."""
        self.prepare(progress)
        projector, table = Projector(progress.state, progress.solver), Table(len(SLOTS))
        table[RUN] = np.array([progress.table.handle], np.int64)
        table[PROJECTOR] = np.array([projector.handle], np.int64)
        progress.owned.append(projector)
        clock = progress[run.CLOCK]
        clock[run.H_NEXT] = clock[run.STEP] or first_step or 1e-3
        return table
