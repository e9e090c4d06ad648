"""Wrenches and power of force elements, as a result and its file hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from index3.results.layout import Layout


FORCES = ("force_wrench", "force_power")
"""What a file calls them."""


@dataclass(frozen=True)
class Applied:
    """Forces of a run: `wrench` (n_t, markers, 6) on the markers of all forces but sets, `power` (n_t, forces)."""

    wrench: np.ndarray
    power: np.ndarray


def columns(layout: Layout) -> dict[str, range]:
    """Where the wrenches on the markers of each force stand in `Applied.wrench`; sets of pairs have none."""
    places, start = {}, 0
    for force in layout.forces:
        count = 0 if force.get("set") else len(force.get("markers", ()))
        places[force["name"]] = range(start, start + count)
        start += count
    return places


def stored(arrays: dict[str, np.ndarray]) -> Applied | None:
    """Take the forces out of what a file holds; None if it holds none."""
    if not all(name in arrays for name in FORCES):
        return None
    wrench, power = (arrays.pop(name) for name in FORCES)
    return Applied(wrench, power)
