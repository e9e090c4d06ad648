"""Equilibria of bodies that deform where the start does not close: joints are drawn together step by step.

The nearest closed position, which rigid bodies begin with, is nearest by mass: it crumples the end of a beam or cable
whose joint is open. So the gaps Phi(q) of the start are kept at first, and what is in balance with them follows while
they shrink to zero, as if the ends were led to their places by hand.
"""

from __future__ import annotations

import numpy as np

from index3.analysis.balance import Balance, eigen, falls, newton, plain_newton, relax
from index3.compiled import slots as s
from index3.errors import AssemblyError
from index3.system import evaluate

OPEN = 1e-6
"""Gap of a row [m, or cosine or radian of an angle] below which the nearest closed position is as good."""
FIRST, LAST, MOST, GROWTH = 1e-6, 1e-8, 0.1, 3.0
"""The first and the smallest part of the gaps that is closed at a time."""
LOOSE = 1e-9
"""Balance on the way, as a part of the largest force."""

EXAMINED = 300
"""Coordinates up to which equilibria on the way are asked whether they are stable."""


def open_rows(balance: Balance, q: np.ndarray) -> np.ndarray | None:
    """Position rows at a point, or None where all are closed or nothing deforms."""
    if not balance.deforms or balance.states.any():
        return None
    balance.place(q)
    balance.equations.evaluate(evaluate.forces)
    gap = np.where(balance.state[s.LEVEL] == 0, balance.state[s.PHI], 0.0)
    return gap if np.abs(gap).max(initial=0.0) > OPEN else None


def draw_together(balance: Balance, q: np.ndarray, most: int) -> bool:
    """Lead a state that is open at q to a closed one near balance; whether that worked."""
    gap = open_rows(balance, q)
    if gap is None:
        return False
    left, step = 1.0, FIRST
    try:
        balance.gap = gap
        balance.back(q)
        relax(balance, LOOSE, most)
        while left > 0.0:
            u, now = balance.point, max(0.0, left - step)
            balance.stiffen()
            dq = balance.step(0.0, (now - left) * gap)
            balance.gap = now * gap
            if dq is not None and balance.move(u + dq) and settle(balance, most):
                left, step = now, min(MOST, GROWTH * step)
                continue
            balance.gap = left * gap
            balance.back(u)
            step *= 0.25
            if step < LAST:
                return False
        return True
    except (AssemblyError, ValueError):  # no value, or singular, on the way
        balance.state.system.take_failures()
        return False
    finally:
        balance.gap = None


def settle(balance: Balance, most: int) -> bool:
    """Come to rest near where the state is, at an equilibrium that holds."""
    u = balance.point
    for way in (newton, plain_newton):
        if way(balance, LOOSE) and not unstable(balance):
            return True
        balance.back(u)
    return relax(balance, LOOSE, most)


def unstable(balance: Balance) -> bool:
    """Whether some direction has negative stiffness; not asked where the answer takes long."""
    return balance.n <= EXAMINED and falls(eigen(balance), balance.finer)
