"""The Python side of `points`: its table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from index3.compiled.interface import Table
from index3.methods.explicit import points
from index3.methods.run_table import Run


def point_table(progress: Run, terms: Sequence[float] = ()) -> Table:
    """The table of `points.evaluate` for a run, which owns it; `terms` are Baumgarte's factors of Phi' and Phi."""
    table = Table(len(points.SLOTS))
    table[points.RUN] = np.array([progress.table.handle], np.int64)
    table[points.JOB], table[points.TOLERANCE] = np.zeros(3, np.int64), np.zeros(1)
    table[points.TERMS], table[points.FRAME] = np.array(terms, float), np.zeros(0, np.int64)
    progress.owned.append(table)
    return table
