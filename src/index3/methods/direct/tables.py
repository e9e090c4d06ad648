"""Tables of the direct methods, and first steps."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Slot, Table
from index3.methods import run
from index3.methods.direct import alpha, leaps, newton, transient
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.system.system import System

RENEWAL = (0.25, 0.7, 1.4)
"""A Jacobian is renewed once corrections shrink by less than 4, or where the step is less than 0.7 or more than 1.4
times that of its factors; on long chains a matrix costs ten corrections."""


def newton_shapes(n: int, m: int) -> dict[Slot, tuple[int, ...]]:
    """Shapes of the arrays of `newton` that begin with zeros, for n coordinates and m rows."""
    vectors = (
        newton.Q_BASE, newton.V_BASE, newton.G_ADD, newton.WEIGHTS, newton.WEIGHTS_Q, newton.GUESS_A, newton.GUESS_Q,
        newton.STEP_A,
    )  # fmt: skip
    small = {newton.MEMORY: (newton.MEMORY_SPACE,), newton.FLAGS: (newton.FLAGS_SPACE,), newton.PROJECTOR: (1,)}
    return {**small, **dict.fromkeys(vectors, (n,)), newton.GUESS_LAM: (m,), newton.STEP_LAM: (m,)}


def newton_table(
    progress: Run,
    size: int,
    *,
    kappa: float,
    max_iterations: int,
    paper_norm: bool = False,
    stabilised: bool = False,
    renewal: tuple[float, float, float] = RENEWAL,
    doubted: float = leaps.DOUBTED,
) -> Table:
    """A table with `size` slots, of which those of `newton` are filled; `doubted` are leaps where there are joints."""
    n, m = progress.system.n, progress.system.m
    table = Table(size)
    table[newton.RUN] = np.array([progress.table.handle], np.int64)
    rule = leaps.IGNORED if paper_norm else leaps.TRUSTED if unjointed(progress.system) else doubted
    table[newton.SETTINGS] = np.array([kappa, max_iterations, paper_norm, *renewal, rule], float)
    table.fill(progress.system.structure.room("newton", lambda: newton_shapes(n, m)))
    table[newton.FLAGS][0] = 1
    progress[run.LIMITS][run.ROUGH_LAM] = not stabilised
    if stabilised:
        projector = Projector(progress.state, progress.solver)
        table[newton.PROJECTOR][0] = projector.handle
        table.owned = projector  # type: ignore[attr-defined]  # the table knows only its address
    return table


def fill_past(table: Table, progress: Run, max_degree: int) -> None:
    """The history of the alpha methods at the start: one point."""
    state, n, m = progress.state, progress.system.n, progress.system.m
    table[alpha.HISTORY] = np.array([1, 0, max_degree, 0], np.int64)
    table[alpha.LONGEST] = np.zeros(alpha.LONGEST_SPACE)
    table[alpha.A_START] = np.zeros(n)
    table[alpha.PAST_T] = np.full(alpha.PAST, progress.t)
    table[alpha.PAST_TL] = np.full(alpha.PAST, progress.t)
    table[alpha.PAST_A] = np.tile(state[s.A], (alpha.PAST, 1))
    table[alpha.PAST_LAM] = np.tile(state[s.LAM], (alpha.PAST, 1)).reshape(alpha.PAST, m)


def undamped_hint(code: int, cure: str) -> str:
    """Why a run without numerical damping ended early with this code, and what to do."""
    if code != run.STEP_TOO_SMALL:
        return ""
    return (
        "Without numerical damping reactions oscillate, and the error control takes that for an error. "
        f"Give {cure}, or a constant step."
    )


@np.errstate(over="ignore", invalid="ignore")  # the run itself says if numbers are beyond all bounds
def first_step(progress: Run, beta: float, table: Table | None = None) -> float:
    """A first step whose error is sure to be small: as if the acceleration began from nothing.

    In the `table` of an alpha method a transient is noted, so that velocities are controlled until it is over.
    """
    clock, w = progress[run.CLOCK], progress.weights
    size = np.sqrt(np.mean((progress[run.NEW_A] / w) ** 2))
    speed = np.sqrt(np.mean((progress[run.NEW_V] / w) ** 2))
    h = clock[run.MAX_STEP]
    if size > 0.0:
        h = min(h, np.sqrt(0.01 / (beta * size)))
    if speed > 0.0:  # a rate may start to change as fast as it is
        h = min(h, 10.0 / speed)
    short = within_transient(progress, h)
    if table is not None and short < h and unjointed(progress.system):
        table[alpha.HISTORY][alpha.TRANSIENT], table[alpha.LONGEST][alpha.STEADY] = MOST_TRANSIENT, h
    return short


MOST_TRANSIENT = 500
"""Steps that a transient may take: a vibration without damping never ends."""


def unjointed(system: System) -> bool:
    """Whether bodies have no rows but the norms of their rotations: in short steps rows make noise of accelerations."""
    return system.m <= len(system.bodies) and not any(group.primitives for group in system.groups)


def within_transient(progress: Run, h: float) -> float:
    """The step, shortened within a transient of the start; see `transient.shorten`."""
    clock = progress[run.CLOCK]
    clock[run.H_NEXT] = h
    if progress.state.call(transient.shorten, progress.table.handle):
        for error in progress.system.take_failures():  # of trials: no matter, but for Ctrl-C
            if not isinstance(error, Exception):
                raise error
    return float(clock[run.H_NEXT])
