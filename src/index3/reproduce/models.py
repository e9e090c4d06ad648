"""Counts of the papers' models."""

from __future__ import annotations

from collections.abc import Callable

from index3 import library
from index3.model.model import Model
from index3.reproduce.reproduction import Reproduction, Row

PRINTED: dict[str, tuple[Callable[[], Model], dict[str, int]]] = {
    "three masses on springs": (library.mass_spring, {"coordinates": 28, "constraints": 25, "dof": 3}),
    "vehicle with 50 bodies": (library.hmmwv50, {"coordinates": 350, "constraints": 320, "dof": 30}),
    "vehicle with 14 bodies": (library.hmmwv14, {"coordinates": 98, "constraints": 80, "dof": 18}),
    "seven-body mechanism": (library.andrews, {"coordinates": 21, "constraints": 20}),
    "crawler track": (library.crawler_track, {"dof": 61}),
    "all-terrain vehicle": (library.atv, {"dof": 145}),
}
"""Mechanism and what its paper counts: the TLISMNI/Adams paper, the thesis, the paper on HHT."""


def experiment() -> Reproduction:
    """Build every model and count."""
    rows = []
    for name, (build, counts) in PRINTED.items():
        found = build().check()
        for quantity, printed in counts.items():
            words = "degrees of freedom" if quantity == "dof" else quantity
            rows.append(Row(f"{name}: {words}", printed, getattr(found, quantity)))
    return Reproduction("Counts of the papers' models", rows)
