"""The Python side of `points`: its table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from index3.compiled.interface import Slot, Table
from index3.methods.explicit import points
from index3.methods.run_table import Run

BLANK, NO_FRAME = Table(len(points.SLOTS)), np.zeros(0, np.int64)
SHAPES: dict[Slot, tuple[int, ...]] = {points.RUN: (1,), points.JOB: (3,), points.TOLERANCE: (1,)}


def point_table(progress: Run, terms: Sequence[float] = ()) -> Table:
    """The table of `points.evaluate` for a run, which owns it; `terms` are Baumgarte's factors of Phi' and Phi."""
    room = progress.system.structure.room(f"points {len(terms)}", SHAPES | {points.TERMS: (len(terms),)})
    table = progress.state.workspace.filled(("points", len(terms)), BLANK, room)
    table[points.RUN][0] = progress.table.handle
    table[points.TERMS][:] = terms
    table[points.FRAME] = NO_FRAME
    progress.owned.append(table)
    return table
