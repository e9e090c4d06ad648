"""What acts inside beams and cables, along their axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from index3.errors import ModelError

if TYPE_CHECKING:
    from index3.results.result import Result

UNITS = {"points": "m", "axial_force": "N", "shear_force": "N", "moment": "N m", "curvature": "1/m", "stress": "N/m^2"}
"""What can be drawn along an axis, with its unit."""
COLUMNS = {("moment", 3): ("torsion", "y", "z"), ("stress", 3): ("xx", "yy", "xy"), ("shear_force", 2): ("y", "z")}
"""Names of columns, where they are not x, y, z."""


def along(result: Result, name: str, places: int) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
    """Places along the axis, names of columns, and values (n_t, n_s, columns), of "beam.moment" and the like.

    Raises
    ------
    ModelError : an unknown name, or a body without an axis.
    """
    owner, _, rest = str(name).partition(".")
    word, _, column = rest.partition(".")
    body = next((body for body in result.layout.bodies if body["name"] == owner), None)
    if body is None:
        raise ModelError(f"{name!r} names no body. Give one such as 'beam.moment'.")
    lengths = body.get("constants", {}).get("lengths")
    if lengths is None:
        raise ModelError(f"{name!r}: body '{owner}' has no axis. Beams and cables have one.")
    if word not in UNITS:
        raise ModelError(f"{name!r}: along its axis '{owner}' has {', '.join(UNITS)}.")
    s = np.linspace(0.0, float(np.sum(lengths)), places)
    values = getattr(result[owner], word)(s)
    values = values.reshape(*values.shape[:2], -1)
    count = values.shape[-1]
    columns: Sequence[str] = ("",) if count == 1 else COLUMNS.get((word, count), ("x", "y", "z"))
    if column:
        if column not in columns or count == 1:
            has = f"the columns {', '.join(columns)}" if count > 1 else "one column"
            raise ModelError(f"{name!r}: '{owner}.{word}' has {has}.")
        k = list(columns).index(column)
        return s, ("",), values[..., k : k + 1]
    return s, tuple(columns), values
