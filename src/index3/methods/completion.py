"""The Python side of `output_kernels.complete_lines`: columns of output that follow from the others of their line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from index3.compiled import columns
from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.errors import Index3Error, warn
from index3.linear import contract
from index3.linear.solver import Solver
from index3.methods import output_kernels, projection_kernels
from index3.methods.output import Output
from index3.methods.output_kernels import CONTRADICTION
from index3.methods.projection_errors import COPY, failure, scaled_rows
from index3.system import evaluate
from index3.system.state import State

NEAR_SINGULAR = 1e-3
"""The same near a singular position, where a row that is skipped is no exact copy of others. Its pivot is below 1e-9 of
its square, so what is left of it may be some 1e-4 of its terms."""
TOLD = 1e-6
"""The same of a line near a singular position from which on a warning tells of it."""
FOLDED = 1e-2
"""Singular value of the rows that count, as a part of the largest, below which a position is near a singular one too:
what closing leaves of rows, 1e-12, comes back in accelerations divided by its square."""


class Completion:
    """Fills the columns of lines of output that follow from t, q, v and angle, with factors of its own.

    From the same numbers come the same bits, at once or later: of the run only its state is used, for the length of a
    call, and nothing that an earlier evaluation has left there.

    Parameters
    ----------
    state : to evaluate at
    solver : what the factors are of
    table : of the projector that places the lines
    own : another of such a projector, whose factors are given to it

    `tell` is what gets to hear of lines near a singular position: it warns, unless told otherwise.
    """

    def __init__(self, state: State, solver: Solver, table: Table, own: Table) -> None:
        self.state, self.report, self.table = state, table[projection_kernels.REPORT], own
        self.factors = solver.lend(state.workspace, state[s.MATRIX])
        self.factors[contract.INFO][contract.FEWEST_ZERO] = 0  # rows that are redundant everywhere go the longer way
        for slot in (projection_kernels.SETTINGS, projection_kernels.LINK):
            self.table[slot][:] = table[slot]
        self.table[projection_kernels.LINK][projection_kernels.LINK_SOLVER] = self.factors.handle
        self.tell: Callable[[str], None] = warn

    def fill(
        self, output: Output, first: int, end: int, *, check: bool, energies: bool = False
    ) -> tuple[int, Index3Error | None]:
        """Complete the lines that are not yet, or find their energies alone.

        Returns the number of the first line that cannot be completed, or `end`, and why; `check` tells whether rows
        that contradict each other are a reason.
        """
        state, table = self.state, self.table
        table[projection_kernels.LINES][:] = output.handle, first, end, int(energies)
        accepted, late = state[s.ANGLE_REF].copy(), output.table[columns.STAGE][first:end] != columns.COMPLETE
        code = state.call(output_kernels.complete_lines, table.handle)
        worst = projection_kernels.WORST_ROW
        self.report[worst] = table[projection_kernels.REPORT][worst]  # whoever is not content names it
        good = end if code == 0 else int(table[projection_kernels.REPORT][projection_kernels.FAILED_LINE])
        if check and not energies and table[projection_kernels.REPORT][projection_kernels.N_CONTRADICTIONS]:
            scaled = output.arrays["violation_scaled"][first:good, 1:].max(axis=1)
            late = late[: good - first]
            worst_line = -1
            for k in np.flatnonzero(late & ~(scaled <= CONTRADICTION)):
                if not (scaled[k] <= NEAR_SINGULAR and self.is_nearly_singular(output, first + int(k))):
                    good, code = first + int(k), projection_kernels.CONTRADICTION
                    break
                if scaled[k] > TOLD and (worst_line < 0 or scaled[k] > scaled[worst_line]):
                    worst_line = int(k)
            if worst_line >= 0:
                self.tell(inaccurate_line(float(output.arrays["t"][first + worst_line]), float(scaled[worst_line])))
        state[s.ANGLE_REF][:] = accepted
        if not code:
            return end, None
        return good, failure(code, float(output.arrays["t"][good]), state, table, self.factors)

    def is_nearly_singular(self, output: Output, line: int) -> bool:
        """Whether a row that was skipped at a line is a little independent of the others, or these hardly are of each
        other; seldom asked. Where none was skipped, none contradicts: closing leaves it beside larger rates of others.
        """
        state, arrays = self.state, output.arrays
        left = int(output.table[columns.REDUNDANT][line])
        if not left:
            return True
        state.move(float(arrays["t"][line]), arrays["q"][line], arrays["v"][line])
        state[s.ANGLE_REF][:] = arrays["angle"][line]
        if state.run(evaluate.rows, evaluate.jacobian):
            return False
        sizes = np.linalg.svd(scaled_rows(state), compute_uv=False)
        rank = state.system.m - left
        folded = sizes[rank - 1] < FOLDED * sizes[0]
        return bool(folded or (rank < len(sizes) and sizes[rank] > COPY * sizes[0]))


def inaccurate_line(t: float, residual: float) -> str:
    """What to say of a line of output near a singular position."""
    return (
        f"Output at t = {t:.6g} is near a singular position, or rates differ by many orders: rates, accelerations "
        f"and reactions there fit the constraints to {residual:.1g} of their terms only."
    )
