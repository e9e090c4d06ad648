"""Experiments of the papers, run again: what is printed beside what is found here.

>>> from index3 import reproduce
>>> print(reproduce.run("counts").rows[0])
three masses on springs: coordinates                          28          28  as printed

`index3 reproduce` lists them. Each takes seconds; longer ones are in `benchmarks`, and all claims of the papers with
their tests in docs/reference/reproduction_*.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from index3.errors import ModelError
from index3.reproduce.reproduction import Reproduction, Row

__all__ = ["EXPERIMENTS", "Reproduction", "Row", "run"]

EXPERIMENTS = {
    "counts": ("models", "all papers: coordinates, constraints and degrees of freedom of their models"),
    "springs": ("tlismni", "TLISMNI/Adams, Table 1: work on three masses at two tolerances"),
    "pendulum-energy": ("multi_index", "multi-index augmented Lagrangian, Table 1: energy errors of a double pendulum"),
    "hht-order": ("hht", "HHT for index 3, sections 2 and 3: order and damping"),
    "flexible-pendulum": ("ancf", "HHT against Adams: work on a beam as its modulus grows"),
    "stiff-pendulum": ("thesis", "thesis, Tables 20 to 23: errors on the stiff double pendulum"),
}
"""Name -> module of this package and what is shown."""


def run(name: str) -> Reproduction:
    """Run an experiment of `EXPERIMENTS`.

    Raises
    ------
    ModelError : there is no experiment of that name.
    """
    if name not in EXPERIMENTS:
        raise ModelError(f"There is no experiment {name!r}. There are {', '.join(EXPERIMENTS)}.")
    experiment: Callable[[], Reproduction] = importlib.import_module(f"{__name__}.{EXPERIMENTS[name][0]}").experiment
    return experiment()
