"""Whether a wheel rolled over a feature of its road between the two ends of a step; helpers of kernels.

A tyre asks for the height of the road at the ends of a step and at a few points inside. A bump between them is not
felt, and no error test knows. So the place on the road and the height of the wheel at each accepted state are kept, and
of a trial the road between is looked at: its highest and lowest points there against those under both ends.
"""

from __future__ import annotations

from math import inf

from index3.algebra.vectors import cross, dot, load, load_at, sub
from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.constraints.rows import axis
from index3.forces.road import FLAT, HALF_CYLINDER, SINE, TABLE, height_at
from index3.forces.sweep import SHALLOW

SPAN = 1.5
"""Halves of a feature that a step may cover: no feature lies between its ends, and `Tyre.longest_step` is one."""
ENTRY = 0.5
"""Where a step is to end, in halves of the feature behind its near edge."""
NEAR = 2.0
"""Radii above the highest point of the road from which on a wheel cannot touch it, on slopes of up to 60 degrees."""


@helper
def place_on_road(T, tyre):
    """(X, Z, Z'): the wheel's centre along its road, which may run, and above the road's marker, with its rate."""
    r, A, V, j = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V), tyre.j
    x, z, d = axis(A, j, 0), axis(A, j, 2), sub(load(r, tyre.i), load(r, j))
    dd = sub(load_at(V, tyre.i, 0), load_at(V, j, 0))
    rate = dot(z, dd) + dot(cross(load_at(V, j, 3), z), d)
    return dot(x, d) + tyre.speed * view(T, s.TIME)[0], dot(z, d), rate


@helper
def first_inside(tyre, knots, low):
    """The first knot of a table beyond low."""
    a, b = tyre.knots, tyre.knots + tyre.knot_count
    while a < b:
        middle = (a + b) // 2
        if knots[middle, 0] <= low:
            a = middle + 1
        else:
            b = middle
    return a


@helper
def feature(tyre, knots, low, high):
    """(least, most, half, near, far) of a road between two places: heights, half the shortest feature, its edges.

    The heights are those of its peaks and troughs there; without any least > most.
    """
    if tyre.road == SINE:
        return -abs(tyre.height), abs(tyre.height), 0.5 * tyre.length, low, high
    if tyre.road == TABLE:
        least, most, half, near, far = inf, -inf, inf, high, low
        k, end = first_inside(tyre, knots, low), tyre.knots + tyre.knot_count
        while k < end and knots[k, 0] < high:
            least, most = min(least, knots[k, 1]), max(most, knots[k, 1])
            for other in range(max(k - 1, tyre.knots), min(k + 1, end - 1)):  # the pieces beside it
                if knots[other, 1] != knots[other + 1, 1]:
                    half = min(half, knots[other + 1, 0] - knots[other, 0])
                    near, far = min(near, knots[other, 0]), max(far, knots[other + 1, 0])
            k += 1
        return least, most, half, near, far
    half = tyre.length if tyre.road == HALF_CYLINDER else 0.5 * tyre.length
    middle = tyre.start if tyre.road == HALF_CYLINDER else tyre.start + half
    if tyre.turns < 1.0 or middle <= low or middle >= high:  # a ramp has no peak
        return inf, -inf, half, low, high
    return tyre.height, tyre.height, half, middle - half, middle + half


@helper
def part_of_road(tyre, knots, start, X, Z, fall, h, room, sure):
    """The part of the step to try instead, because the wheel rolled over a feature of its road in it, or 1.

    `start`: X, Z and Z' at the start; fall: Z' at the end; `sure`: only of peaks.
    """
    low, high, way = min(start[0], X), max(start[0], X), abs(X - start[0])
    if tyre.road == FLAT or way == 0.0:
        return 1.0
    least, most, half, near, far = feature(tyre, knots, low, high)
    if way <= SPAN * half:
        return 1.0
    z0, _, _ = height_at(tyre, knots, start[0])
    z1, _, _ = height_at(tyre, knots, X)
    graze = min(room, SHALLOW * tyre.radius)
    peak, trough = most > max(z0, z1) + graze, least < min(z0, z1) - graze
    if not (peak or (trough and not sure)):
        return 1.0
    climb = Z - start[1]
    bow = 4.0 / 27.0 * (abs(h * start[2] - climb) + abs(climb - h * fall))  # by which a cubic leaves its chord
    if min(start[1], Z) - (0.0 if sure else bow) > max(most, z0, z1) + (1.0 if sure else NEAR) * tyre.radius:
        return 1.0
    ahead = near - start[0] if start[0] < X else start[0] - far
    return min((max(ahead, 0.0) + ENTRY * half) / way, 0.9)
