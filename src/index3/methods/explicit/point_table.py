"""The Python side of `points`: its table."""

from __future__ import annotations

import numpy as np

from index3.compiled.interface import Slot, Table
from index3.methods.explicit import points
from index3.methods.run_table import Run

BLANK = Table(len(points.SLOTS))
BLANK[points.FRAME] = np.zeros(0, np.int64)
SHAPES: dict[Slot, tuple[int, ...]] = {points.RUN: (1,), points.JOB: (3,), points.TOLERANCE: (1,)}


def point_table(progress: Run, terms: tuple[float, ...] = (), frame: Table | None = None) -> Table:
    """The table of `points.evaluate` for a run, which must own it.

    `terms` are Baumgarte's factors of Phi' and Phi, `frame` the table of a partition.
    """

    def begin(table: Table) -> None:
        table[points.TERMS][:] = terms

    room = progress.system.structure.room(
        ("points", len(terms)), lambda: SHAPES | {points.TERMS: (len(terms),)}
    )  # fmt: skip
    table = progress.state.workspace.filled(("points", *terms, frame is None), BLANK, room, begin)
    table[points.RUN][0] = progress.table.handle
    if frame is not None:
        table[points.FRAME] = np.array([frame.handle], np.int64)
    return table
