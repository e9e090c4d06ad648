"""Equilibria of flexible bodies whose joints have gaps at the start: the gaps are closed step by step.

Rigid bodies begin at the nearest position without gaps, nearest in the metric of the mass matrix. That would crumple
the end of a beam or cable. So the gaps Phi(q) of the start are kept at first, and the equilibrium follows while they
shrink to zero, as if the ends were led to their places by hand.
"""

from __future__ import annotations

import numpy as np

from index3.analysis.rest_state import RestState, is_unstable, stiffness_modes
from index3.analysis.static_iterations import newton, plain_newton, relax
from index3.compiled import slots as s
from index3.errors import AssemblyError
from index3.system import evaluate

OPEN = 1e-6
"""Gap of a row [m, or cosine or radian of an angle] below which the nearest position without gaps is as good."""
FIRST, LAST, MOST, GROWTH = 1e-6, 1e-8, 0.1, 3.0
"""The first and the smallest part of the gaps that is closed at a time."""
LOOSE = 1e-9
"""Unbalanced force allowed on the way, as a part of the largest force."""

EXAMINED = 300
"""Coordinates up to which equilibria on the way are examined for stability."""


def open_rows(rest: RestState, q: np.ndarray) -> np.ndarray | None:
    """Position rows at a point, or None where there are no gaps or nothing deforms."""
    if not rest.deforms or rest.states.any():
        return None
    rest.place(q)
    rest.equations.evaluate(evaluate.forces)
    gap = np.where(rest.state[s.LEVEL] == 0, rest.state[s.PHI], 0.0)
    return gap if np.abs(gap).max(initial=0.0) > OPEN else None


def close_gaps(rest: RestState, q: np.ndarray, most: int) -> bool:
    """Move from q, where joints have gaps, to a balanced state without any, by small steps; whether that worked."""
    gap = open_rows(rest, q)
    if gap is None:
        return False
    left, step = 1.0, FIRST
    try:
        rest.gap = gap
        rest.return_to(q)
        relax(rest, LOOSE, most)
        while left > 0.0:
            u, now = rest.point, max(0.0, left - step)
            rest.update_stiffness()
            dq = rest.step(0.0, (now - left) * gap)
            rest.gap = now * gap
            if dq is not None and rest.move(u + dq) and balance_again(rest, most):
                left, step = now, min(MOST, GROWTH * step)
                continue
            rest.gap = left * gap
            rest.return_to(u)
            step *= 0.25
            if step < LAST:
                return False
        return True
    except (AssemblyError, ValueError):  # no value, or singular, on the way
        rest.state.system.take_failures()
        return False
    finally:
        rest.gap = None


def balance_again(rest: RestState, most: int) -> bool:
    """Find an equilibrium near the present state, a stable one if possible; whether there is one."""
    u = rest.point
    for way in (newton, plain_newton):
        if way(rest, LOOSE) and not known_unstable(rest):
            return True
        rest.return_to(u)
    return relax(rest, LOOSE, most)


def known_unstable(rest: RestState) -> bool:
    """Whether some direction has negative stiffness; not asked where the answer takes long."""
    return rest.n <= EXAMINED and is_unstable(stiffness_modes(rest))
