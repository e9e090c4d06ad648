"""Columns of a finished run that are worked out when somebody asks for them.

They follow from t, q, v and angle of their line where no function of a user is asked; then they come out the same, to
the last bit, whenever that happens (`methods.completion`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from index3.engine.variants import Variant
from index3.linear import contract
from index3.linear.solver import Solver
from index3.methods.completion import Completion
from index3.methods.output import Output
from index3.methods.projection import Projector
from index3.results.lazy import LateArrays
from index3.system.state import State
from index3.system.system import System

ENERGIES = ("kinetic", "potential")
"""Columns that need no factorisation."""


class Filler:
    """Fills the late columns of the lines of a run: energies alone, or everything.

    Of the run it has the equations, and how many rows were redundant; its state is its own, made when it is needed.
    """

    def __init__(self, output: Output, make: Callable[[], Completion]) -> None:
        self.output, self.energies = output, False
        self.make: Callable[[], Completion] | None = make  # until all is done: it holds the equations of the run
        self.completion: Completion | None = None

    def __call__(self, name: str) -> None:
        """Fill a column.

        Raises
        ------
        ModelError, AssemblyError, SingularError : the equations have no solution at a line.
        """
        if self.make is None or (name in ENERGIES and self.energies):
            return
        alone = name in ENERGIES
        if self.completion is None:
            self.completion = self.make()
        error = self.completion.fill(self.output, 0, self.output.count, check=True, energies=alone)[1]
        if error is not None:
            raise error
        self.energies = True
        if not alone:
            self.completion = self.make = None


def late_arrays(
    arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int], stage: np.ndarray, variant: Variant
) -> LateArrays:
    """The columns of lines that are complete or not, as their stages tell; the others belong to a variant that has
    every joint closed."""
    whole = variant.at(frozenset())
    usual = int(whole.projection.factors[contract.INFO][contract.FEWEST_ZERO])
    make = partial(completion_of, whole.system, whole.projection.solver, usual)
    return LateArrays(arrays, Filler(Output.over(arrays, sizes, stage), make))


def completion_of(system: System, solver: Solver, usual: int) -> Completion:
    """What completes lines of a run that has ended, in which at least `usual` rows were redundant."""
    projector = Projector(State(system), solver)
    projector.factors[contract.INFO][contract.FEWEST_ZERO] = usual
    return projector.completion
