"""Columns of a finished run that are worked out when somebody asks for them.

They follow from t, q, v and angle of their line where no function of a user is asked; then they come out the same, to
the last bit, whenever that happens (`methods.completion`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable
from index3.engine.variants import Variant
from index3.methods.completion import Completion
from index3.methods.output import Output
from index3.results.lazy import LateArrays
from index3.system.system import System

ENERGIES = ("kinetic", "potential")
"""Columns that need no factorisation."""


def may_be_late(system: System) -> bool:
    """Whether evaluations ask nobody outside the package: no function of a user, no element from elsewhere."""
    if np.any(system.fixed[s.FUNCTIONS]):
        return False
    for _, _, table in system.stages:
        curves = (curve for _, _, curve in getattr(table, "owners", ()))
        if isinstance(table, CallbackTable) or any(curve.functions is not None for curve in curves):
            return False
        if table.kind and not table.kind.startswith("index3."):
            return False
    return True


class Filler:
    """Fills the late columns of the lines of a run: energies alone, or everything."""

    def __init__(self, output: Output, completion: Completion) -> None:
        self.output, self.energies = output, False
        self.completion: Completion | None = completion  # until all is done: it holds the equations of the run

    def __call__(self, name: str) -> None:
        """Fill a column.

        Raises
        ------
        ModelError, AssemblyError, SingularError : the equations have no solution at a line.
        """
        if self.completion is None or (name in ENERGIES and self.energies):
            return
        alone = name in ENERGIES
        error = self.completion.fill(self.output, 0, self.output.count, check=True, energies=alone)[1]
        if error is not None:
            raise error
        self.energies = True
        if not alone:
            self.completion = None


def late_arrays(
    arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int], stage: np.ndarray, variant: Variant
) -> LateArrays:
    """The columns of lines that are complete or not, as their stages tell; the others belong to a variant that has
    every joint closed."""
    whole = variant.at(frozenset())
    return LateArrays(arrays, Filler(Output.over(arrays, sizes, stage), whole.projection.completion))
