"""The columns of output: what a line of a result holds, declared once.

Everything that writes, closes, stores, checks or reads lines follows this list. The kernels reach the columns through
the table of an output, with one slot for each column and four more for how it is filled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from index3.compiled.interface import extended, slots

METHOD, CLOSURE = "method", "closure"
"""Who writes a column: the step loop (and the closing of constraints corrects it), or the closing alone, because it
follows from the rest of the line."""


class Column(NamedTuple):
    """One number or array per line: dimensions of a line of it, unit, meaning, and who writes it."""

    name: str
    dimensions: tuple[str, ...]
    unit: str
    meaning: str
    writer: str


COLUMNS = (
    Column("t", (), "s", "time", METHOD),
    Column("q", ("coordinate",), "m, rad or 1", "coordinates", METHOD),
    Column("v", ("coordinate",), "m/s, rad/s or 1/s", "rates of the coordinates", METHOD),
    Column("a", ("coordinate",), "m/s2, rad/s2 or 1/s2", "second derivatives of the coordinates", METHOD),
    Column("lam", ("row",), "N or N m", "Lagrange multipliers", METHOD),
    Column("wrench", ("joint", "component"), "N, N m", "on the second body at its marker, ground axes", CLOSURE),
    Column("angle", ("measured_angle",), "rad", "measured joint angles, unwrapped, as measured", METHOD),
    Column("kinetic", (), "J", "kinetic energy", CLOSURE),
    Column("potential", (), "J", "potential energy", CLOSURE),
    Column("work", (), "J", "work of motions and non-conservative forces since the start", METHOD),
    Column("violation", ("level",), "SI", "largest constraint residual", CLOSURE),
    Column("violation_scaled", ("level",), "1", "the same, rows divided by max(1, sum of absolute terms)", CLOSURE),
)
FIXED = {"component": 6, "level": 3}
"""Sizes that are the same for every model; those of the other dimensions are its `sizes`."""

T, Q, V, A, LAM, WRENCH, ANGLE, KINETIC, POTENTIAL, WORK, VIOLATION, SCALED = STORED = slots(
    **{column.name: ("f8", 1 + len(column.dimensions)) for column in COLUMNS}
)
COUNT, PLACES, REDUNDANT, STAGE = extended(
    STORED,
    count=("i8", 1),  # lines written so far
    places=("i8", 1),  # where each row of the equations stands among those of the output
    redundant=("i8", 1),  # of each line: rows that were skipped when its accelerations were found
    stage=("i8", 1),  # of each line: how far it is, one of those below
)
SLOTS = (*STORED, COUNT, PLACES, REDUNDANT, STAGE)
PLACED, SOLVED, COMPLETE = range(3)
"""Values of STAGE: t, q, v, angle and work are final; a and lam, too; all columns are."""
LATE = ("a", "lam", "wrench", "kinetic", "potential", "violation", "violation_scaled")
"""Columns that follow from t, q, v and angle of a line where neither forces nor rows ask functions of the user."""


def shapes(lines: int, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of every column, by name, for a number of lines.

    >>> shapes(5, {"coordinate": 7, "row": 6, "joint": 1, "measured_angle": 0})["wrench"]
    (5, 1, 6)
    """
    known = {**FIXED, **sizes}
    return {column.name: (lines, *(known[name] for name in column.dimensions)) for column in COLUMNS}


def zeros(lines: int, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Every column by name, filled with zeros."""
    return {name: np.zeros(shape) for name, shape in shapes(lines, sizes).items()}
