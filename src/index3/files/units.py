"""Units of model files: what a number of a given dimension has to be multiplied with to be SI."""

from __future__ import annotations

import difflib
import functools
import math
from collections.abc import Mapping
from reprlib import repr as short
from typing import Any

from index3.errors import ModelError

UNITS: dict[str, dict[str, float]] = {
    "length": {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "um": 1e-6, "in": 0.0254, "ft": 0.3048},
    "mass": {"kg": 1.0, "g": 1e-3, "t": 1e3, "mg": 1e-6, "lb": 0.45359237, "slug": 14.593902937206364},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0},
    "angle": {"rad": 1.0, "deg": math.pi / 180.0, "rev": 2.0 * math.pi},
    "force": {"N": 1.0, "kN": 1e3, "mN": 1e-3, "MN": 1e6, "lbf": 4.4482216152605, "kgf": 9.80665},
}
"""The units that a file can name, for each base quantity, in SI; the first is the one without `units`."""
NONE = "1"
"""The dimension of what has none."""


class Units:
    """The units of one file.

    >>> Units({"length": "mm"}).factor("force/length")  # N/mm
    1000.0
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = dict(given)
        self.scales = {quantity: 1.0 for quantity in UNITS}
        for quantity, unit in given.items():
            if quantity not in UNITS:
                raise ModelError(f"units: unknown quantity {short(quantity)}. {near(quantity, UNITS)}")
            if not isinstance(unit, str) or unit not in UNITS[quantity]:
                raise ModelError(f"units: unknown unit {short(unit)} of {quantity}. {near(str(unit), UNITS[quantity])}")
            self.scales[quantity] = UNITS[quantity][unit]

    @property
    def is_si(self) -> bool:
        """Whether nothing has to be converted."""
        return all(scale == 1.0 for scale in self.scales.values())

    def factor(self, dimension: str) -> float:
        """The SI value of 1 in these units, of a dimension such as "force*time/length"."""
        over, under = 1.0, 1.0
        for quantity, exponent in parse(dimension):
            scale = self.scales[quantity] ** abs(exponent)
            if exponent > 0:
                over *= scale
            else:
                under *= scale
        return over / under  # not over * (1 / under): N/mm must be 1000.0


@functools.cache
def parse(dimension: str) -> tuple[tuple[str, float], ...]:
    """A dimension such as "mass*length^2/time" as quantities with exponents."""
    powers = []
    for k, part in enumerate(dimension.split("/")):
        for word in part.split("*"):
            quantity, _, exponent = word.partition("^")
            if quantity != NONE:
                powers.append((quantity, (float(exponent) if exponent else 1.0) * (1 if k == 0 else -1)))
    return tuple(powers)


def near(word: str, known: Any) -> str:
    """A sentence that helps with a misspelt word."""
    close = difflib.get_close_matches(word, [str(key) for key in known], n=1)
    listed = ", ".join(known)
    return f"Did you mean '{close[0]}'?" if close else f"There are: {listed}." if listed else "There is none."
