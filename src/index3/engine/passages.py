"""Where a function of time passes through zero, inside a step too: what events look for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

LOCATION = 1e-12
"""A passage is located to this part of its step: rounding of the dense output."""
PARTS = 128
"""Values are at most this part of the span of the run apart."""
NEAR = 2.0
"""How many times the bend of a parabola between two values they may be from zero for a turn to be looked for."""
STANDING = 1e-12
"""Values below this part of the largest so far are roundings of zero, between which no turns are looked for."""

Ask = Callable[[float], float]
Point = tuple[float, float]
Piece = tuple[float, float, float, float]


def passes(before: float, after: float, direction: float) -> bool:
    """Whether a value went through zero in the wanted direction; standing at zero is no passage."""
    rising, falling = before < 0.0 <= after, before > 0.0 >= after
    return (rising and direction >= 0) or (falling and direction <= 0)


def times_within(t0: float, t1: float, span: float) -> list[float]:
    """Times at which a step is looked at, its end last: steps that resolve the motion may be longer than a period of
    a function of time."""
    count = int(min(max(np.ceil(abs(t1 - t0) * PARTS / span), 1.0), PARTS)) if span > 0.0 else 1
    return [*(t0 + (t1 - t0) * k / count for k in range(1, count)), t1]


def pieces_between(ask: Ask, earlier: Point | None, start: Point, end: Point, largest: float) -> list[Piece]:
    """Parts of a time between two values, so that a function that turns round in it passes zero once in each.

    A ball that is thrown through a height and falls back within one step has both its passages there. Where the ends
    are on one side, and near zero for what the function bends, it is asked where a parabola turns: that through the
    value `earlier` and both ends, then that through both ends and the value found.
    """
    whole, (t0, f0), (t1, f1) = [(*start, *end)], start, end
    if f0 * f1 <= 0.0 or max(abs(f0), abs(f1)) <= STANDING * largest:
        return whole
    t, f = 0.5 * (t0 + t1), f0
    if earlier is not None:
        t, lowest, bend = turn((earlier, start, end), t0, t1)
        if min(abs(f0), abs(f1)) > NEAR * bend:
            return whole
    for _ in range(2):
        f = ask(t)
        if f * f0 <= 0.0:
            return [(t0, f0, t, f), (t, f, t1, f1)]
        t, lowest, bend = turn((start, (t, f), end), t0, t1)
        if lowest * f0 > 0.0 and abs(lowest) > abs(f - lowest):
            break
    return whole


def turn(points: Sequence[Point], t0: float, t1: float) -> tuple[float, float, float]:
    """Where a parabola through three points turns within a time (or its middle), its value there, and how far it is
    from its chord at most."""
    (ta, fa), (tb, fb), (tc, fc) = points
    slope = (fb - fa) / (tb - ta)
    curvature = ((fc - fb) / (tc - tb) - slope) / (tc - ta)
    t = 0.5 * (t0 + t1)
    if curvature != 0.0:
        at = 0.5 * (ta + tb) - 0.5 * slope / curvature
        t = at if t0 < at < t1 else t
    return t, fa + (t - ta) * (slope + curvature * (t - tb)), abs(curvature) * (t1 - t0) ** 2 / 4.0


def first_zero(ask: Ask, piece: Piece, width: float) -> float:
    """A passage in a piece, to `width`, on the side behind it: inverse quadratic interpolation or bisection
    (Chandrupatla 1997, Advances in Engineering Software 28(3))."""
    x2, f2, x1, f1 = piece
    part = 0.5
    for _ in range(100):
        if f1 == 0.0 or abs(x2 - x1) <= width:
            break
        x = x1 + part * (x2 - x1)
        f = ask(x)
        if f == 0.0:
            return x
        if f * f1 > 0.0:
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, f
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        part = 0.5
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            part = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        least = min(0.5 * width / abs(x2 - x1), 0.5)
        part = min(max(part, least), 1.0 - least)
    return max(x1, x2)
