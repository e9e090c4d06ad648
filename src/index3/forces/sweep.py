"""Ways between the two ends of a step: where two shapes, or a coordinate and its stop, met and parted again; helpers.

A way is a cubic, by values at both ends (e0, e1) and velocities there times the step (m0, m1).

A stop whose damper holds a body back pushes nothing where the body leaves it faster than the spring follows. At a
smaller depth the damper, which sets in with the depth, is weaker: there the stop pushes again (`pushes_again`).
"""

from __future__ import annotations

from math import sqrt

from index3.algebra.vectors import add, dot, norm, scale, sub
from index3.compiled.interface import helper

PIECES, HALVINGS = 16, 40
"""Pieces of the way that are looked at one by one; steps of the search in one of them."""
LANDING = 0.1
"""Where a step is to end: this part of the way from the first touch to the deepest point."""
SHALLOW = 0.02
"""Part of the distance of touching shapes that counts as a graze at most, whatever errors are allowed."""


@helper
def between(e0, m0, e1, m1, x):
    """The cubic from e0 to e1 at a part x of the step; m0 and m1 are velocities times the step."""
    y, way = 1.0 - x, sub(e1, e0)
    bend = add(scale(y, sub(m0, way)), scale(x, sub(way, m1)))
    return add(add(e0, scale(x, way)), scale(x * y, bend))


@helper
def distance(e, half):
    """The length of e beyond half the sides of a strip or a block."""
    x, y, z = max(abs(e[0]) - half[0], 0.0), max(abs(e[1]) - half[1], 0.0), max(abs(e[2]) - half[2], 0.0)
    return sqrt(x * x + y * y + z * z)


@helper
def crossed(e0, e1, half):
    """Whether e1 is on the other side of the shape, which e0 is beyond: of a point, or of one with sides."""
    if half[0] == 0.0:
        return dot(e0, e1) < 0.0
    x = abs(e0[0]) > half[0] and e0[0] * e1[0] < 0.0
    y = abs(e0[1]) > half[1] and e0[1] * e1[1] < 0.0
    return x or y or (abs(e0[2]) > half[2] and e0[2] * e1[2] < 0.0)


@helper
def bend_of(e0, m0, e1, m1):
    """Sum of the two vectors by which velocities differ from those of a straight way, times the step."""
    way = sub(e1, e0)
    return norm(sub(m0, way)) + norm(sub(way, m1))


@helper
def doubt(e0, m0, e1, m1):
    """By how much a way may leave its cubic: four times what it does on a circle of radius R.

    Gone round by an angle y at constant speed, that is R y^4 / 384, the bend is R y^2, and y is the bend beside the
    way. A pendulum, whose speed changes, leaves it by twice as much.
    """
    bend, way = bend_of(e0, m0, e1, m1), max(norm(m0), norm(m1))
    return bend * (bend / way) ** 2 / 96.0 if way > 0.0 else 0.0


@helper
def surely_apart(e0, m0, e1, m1, half, reach):
    """Whether no point of the way can be nearer than reach: the way to it and on would be too long."""
    longest = norm(sub(e1, e0)) + 8.0 / 27.0 * bend_of(e0, m0, e1, m1)  # a cubic leaves its chord by 4/27 of the bend
    return distance(e0, half) + distance(e1, half) - longest >= 2.0 * reach


@helper
def nearest(e0, m0, e1, m1, half, low, high):
    """The part of the step between low and high where the distance is least, for a nearly straight piece."""
    golden = 0.6180339887498949
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = distance(between(e0, m0, e1, m1, a), half), distance(between(e0, m0, e1, m1, b), half)
    for _ in range(HALVINGS):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = distance(between(e0, m0, e1, m1, a), half)
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = distance(between(e0, m0, e1, m1, b), half)
    return 0.5 * (low + high)


@helper
def first_touch(e0, m0, e1, m1, half, low, high, reach):
    """The part of the step where the distance falls below reach, between low, where it has not, and high."""
    for _ in range(HALVINGS):
        x = 0.5 * (low + high)
        if distance(between(e0, m0, e1, m1, x), half) > reach:
            low = x
        else:
            high = x
    return low


@helper
def landing(e0, m0, e1, m1, half, reach, room):
    """The part of the step to try instead, or 1: where a way whose ends are apart comes nearer than reach - room.

    A start that touches is left to the error test, and so is an end that does, unless it lies on the other side.
    """
    free, deep = distance(e0, half), reach - room
    if free <= reach:
        return 1.0
    if distance(e1, half) <= reach:
        if not crossed(e0, e1, half):
            return 1.0
        deep = 0.5 * reach
    if surely_apart(e0, m0, e1, m1, half, deep):
        return 1.0
    bend, before, x0, p0, g0 = 0.5 * bend_of(e0, m0, e1, m1) / PIECES**2, 0.0, 0.0, e0, free
    for k in range(1, PIECES + 1):
        x1 = k / PIECES
        p1 = between(e0, m0, e1, m1, x1)
        g1 = distance(p1, half)
        if g0 + g1 - norm(sub(p1, p0)) - 2.0 * bend < 2.0 * deep:
            x = nearest(e0, m0, e1, m1, half, x0, x1)
            if distance(between(e0, m0, e1, m1, x), half) < deep:
                touch = first_touch(e0, m0, e1, m1, half, before, x, reach)
                return touch + LANDING * (x - touch)
        if g1 > reach:
            before = x1
        x0, p0, g0 = x1, p1, g1
    return 1.0


@helper
def gap_between(g0, m0, g1, m1, x):
    """The cubic of a gap at a part x of the step."""
    y, way = 1.0 - x, g1 - g0
    return g0 + x * way + x * y * (y * (m0 - way) + x * (way - m1))


@helper
def least_gap(g0, m0, g1, m1):
    """The part of the step where the cubic of a gap has its minimum inside, or 0."""
    way = g1 - g0
    a, b = 3.0 * (m0 + m1 - 2.0 * way), 2.0 * (3.0 * way - 2.0 * m0 - m1)  # its slope is a x^2 + b x + m0
    square = b * b - 4.0 * a * m0
    if not square > 0.0:
        return 0.0
    x = -2.0 * m0 / (b + sqrt(square)) if b > 0.0 else (sqrt(square) - b) / (2.0 * a) if a > 0.0 else 0.0
    return x if x > 0.0 and x < 1.0 else 0.0


@helper
def dip(g0, m0, g1, m1, room, unsure):
    """The part of the step to try instead, or 1: where a gap that is open at both ends is less than -room inside.

    If it may be so because the cubic is `unsure`, half of the step is to be tried.
    """
    if g0 <= 0.0 or g1 <= 0.0 or min(g0, g1) > 4.0 / 27.0 * (abs(m0 - g1 + g0) + abs(g1 - g0 - m1)) + unsure:
        return 1.0
    x = least_gap(g0, m0, g1, m1)
    if x == 0.0:
        return 1.0
    least = gap_between(g0, m0, g1, m1, x)
    if least >= -room:
        return 0.5 if unsure > room and least < unsure else 1.0
    low, high = 0.0, x
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if gap_between(g0, m0, g1, m1, middle) > 0.0:
            low = middle
        else:
            high = middle
    return low + LANDING * (x - low)


@helper
def distance_rate(e, m, half):
    """The rate of `distance` at e, times the step; 0 inside the sides."""
    far, rate = distance(e, half), 0.0
    for k in range(3):
        rate += max(abs(e[k]) - half[k], 0.0) * (m[k] if e[k] > 0.0 else -m[k])
    return rate / far if far > 0.0 else 0.0


@helper
def pushes(law, depth, rate):
    """Whether spring and damper together push, the damper setting in over `onset`."""
    part = min(depth / law.onset, 1.0)
    return law.stiffness * depth**law.exponent + law.damping * part * part * (3.0 - 2.0 * part) * rate > 0.0


@helper
def pushes_again(law, g0, m0, g1, m1, h, room):
    """The part of the step to try instead, or 1: where what touches, but does not push at either end, pushes inside."""
    if g0 >= 0.0 or law.onset == 0.0 or law.damping == 0.0:
        return 1.0
    if pushes(law, -g0, -m0 / h) or (g1 < 0.0 and pushes(law, -g1, -m1 / h)):
        return 1.0
    way, low, high = g1 - g0, 0.0, 1.0
    if g1 > 0.0:
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if gap_between(g0, m0, g1, m1, middle) < 0.0:
                low = middle
            else:
                high = middle
    for k in range(1, PIECES):
        x = high * k / PIECES
        depth = -gap_between(g0, m0, g1, m1, x)
        rate = -(m0 + x * (2.0 * (3.0 * way - 2.0 * m0 - m1) + 3.0 * x * (m0 + m1 - 2.0 * way))) / h
        if depth > room and pushes(law, depth, rate):
            return x
    return 1.0
