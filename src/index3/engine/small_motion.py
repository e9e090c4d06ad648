"""Motions that are so small that the default `atol`, not `rtol`, decides on their errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from index3.engine.segments import Plan

SHARE = 1e-3
"""Part of the motion that `atol` may allow in a step without a word; 100 rtol if that is more."""
REST = 0.1
"""Part of `atol` below which a mechanism is at rest: what is left of an equilibrium moves it by some 1e-10. And part of
it above which the error that `rtol` allows in rates counts."""
TURNED, SETTLED = 0.3, 0.1
"""Part of speed times duration that a motion is at most once it has turned back: a pendulum that is looked at for a
millisecond has hardly begun. And part of it in the second half of a run below which a stiff support has given way to
a weight, and is at rest."""


def allowed_motion(plan: Plan) -> float:
    """The motion of which the default `atol` may be a part without a word."""
    return 0.01 * plan.rtol / max(SHARE, 100.0 * plan.rtol)


def may_be_small(plan: Plan, q: np.ndarray, count: int) -> bool:
    """Whether the first `count` coordinates end near where they began; of one line nobody knows."""
    if plan.step or len(q) < 2:
        return False
    moved, allowed = q[-1, :count] - q[0, :count], allowed_motion(plan)
    if np.vdot(moved, moved) > count * allowed**2:  # far quicker than to look at each
        return False
    return bool(np.max(np.abs(moved), initial=0.0) <= allowed)


def small_motion(plan: Plan, arrays: Mapping[str, np.ndarray], count: int, speed: float, controlled: bool) -> str:
    """What to say if the default `atol` is much of what the first `count` coordinates do; else empty.

    speed : the largest rate; `controlled` if errors of rates are: where `rtol` decides on these, positions follow
    """
    atol, q = 0.01 * plan.rtol, arrays["q"]
    allowed = allowed_motion(plan)
    if not may_be_small(plan, q, count):
        return ""
    motion = float(np.max(np.ptp(q[:, :count], axis=0), initial=0.0))
    t = arrays["t"]
    short = motion > TURNED * speed * float(t[-1] - t[0])
    late = q[min(int(np.searchsorted(t, 0.5 * (t[0] + t[-1]))), len(t) - 1) :, :count]
    settled = np.max(np.ptp(late, axis=0), initial=0.0) < SETTLED * motion
    decided = controlled and plan.rtol * speed > REST * atol
    if short or settled or decided or not REST * atol <= motion <= allowed or not np.all(plan.atol == atol):
        return ""
    return (
        f"No coordinate changes by more than {motion:.2g} (m, rad), and atol = {atol:g}, the default, allows errors of "
        f"{100.0 * atol / motion:.2g} % of that in each step. If that motion matters, give atol={atol * motion:.0e}."
    )
