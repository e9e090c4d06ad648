"""Polynomials through nodes at which the power is known: the work between them, and what may be wrong with it.

Nodes are the ends of steps, a few of those before, and points inside the last step (NODE_T, NODE_POWER of a run).
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.methods import run

GAUSS = 0.15**0.5
"""Distance of the outer points of Gauss's rule of three from the middle."""
CLOSE = 0.08
"""Nodes nearer to the next than this part of a piece are no help for it: their rounding would be multiplied."""
RESOLVED = 0.3
"""Second difference of the power over a step, beside the first, up to which three nodes in it are believed to tell how
the power goes: a force that switches between them may leave the third and fourth difference as small as ever."""
FORETOLD = 0.3
"""Part of what the middle has changed that a parabola through the node before may not have told, where no force is
known to switch, if the power is only bent: as where it is largest."""
UNEVEN = 4.0
"""Ratio of steps up to which errors of reactions that alternate cancel in a polynomial through their ends."""
CAUTION = 10.0
"""Times the estimate by the fourth difference that is taken for the error of Simpson's rule: dense output has
derivatives of its own inside a step, and a force may switch anywhere in it."""


@helper
def divisible(R, i):
    """Whether there is a time between node i and the next, for where a force jumps, pieces shrink; and room for it."""
    t = view(R, run.NODE_T)
    middle = 0.5 * (t[i] + t[i + 1])
    return t[i] < middle and middle < t[i + 1] and view(R, run.NODES)[run.NODE_NEW] < run.MOST_NODES - 1


@helper
def open_node(R, i):
    """Room for a node in the middle of the piece from node i; its time."""
    nodes, t, power = view(R, run.NODES), view(R, run.NODE_T), view(R, run.NODE_POWER)
    middle = 0.5 * (t[i] + t[i + 1])
    nodes[run.NODE_NEW] += 1
    for k in range(nodes[run.NODE_NEW], i + 1, -1):
        t[k], power[k] = t[k - 1], power[k - 1]
    t[i + 1] = middle
    return middle


@helper
def next_node(t, i, a, b, first, last):
    """The nearer of the nodes beside a..b, around the piece from node i, that is of use; -1 if there is none."""
    least = CLOSE * (t[i + 1] - t[i])
    left = a > first and t[a] - t[max(a - 1, 0)] >= least
    right = b < last and t[min(b + 1, last)] - t[b] >= least
    if left and (not right or t[i] - t[a - 1] <= t[b + 1] - t[i + 1]):
        return a - 1
    return b + 1 if right else -1


@helper
def differences(R, i, most):
    """Newton's polynomial through nodes i, i + 1 and others around: its coefficients in NEWTON, and their number.

    With one node inside the step, those of other steps are left out: accelerations of dense output jump between steps.
    """
    t, power, nodes = view(R, run.NODE_T), view(R, run.NODE_POWER), view(R, run.NODES)
    last, first = nodes[run.NODE_NEW], nodes[run.NODE_OLD] if nodes[run.NODE_NEW] == nodes[run.NODE_OLD] + 2 else 0
    x, c, h, a, b = view(R, run.NEWTON)[0], view(R, run.NEWTON)[1], t[i + 1] - t[i], i, i + 1
    x[0], x[1], c[0], c[1] = 0.0, 1.0, power[i], power[i + 1] - power[i]
    for m in range(2, most):
        k = next_node(t, i, a, b, first, last)
        if k < 0:
            return m
        a, b = min(a, k), max(b, k)
        x[m] = (t[k] - t[i]) / h
        rest, product = power[k], 1.0
        for j in range(m):
            rest -= c[j] * product
            product *= x[m] - x[j]
        c[m] = rest / product
    return most


@helper
def shrink(c, count):
    """Whether differences of higher order are smaller, as those of a smooth function are."""
    scale, before, least = 1.0, 0.0, 0.0
    for m in range(1, count):
        scale *= m
        size = scale * abs(c[m])
        if m >= 3 and size > max(before, least):
            return False
        before, least = size, before
    return True


@helper
def mean_value(x, c, count):
    """The mean of Newton's polynomial from x = 0 to 1, and the sizes of the last two terms that make it up."""
    mean, term, before, early, middle, late = c[0], 0.0, 0.0, 1.0, 1.0, 1.0
    for m in range(1, count):
        early *= 0.5 - GAUSS - x[m - 1]
        middle *= 0.5 - x[m - 1]
        late *= 0.5 + GAUSS - x[m - 1]
        before, term = abs(term), c[m] * (5.0 * (early + late) + 8.0 * middle) / 18.0
        mean += term
    return mean, before, abs(term)


@helper
def piece(R, i):
    """Work from node i to the next, its error by the last difference, and by the last two, for the cautious.

    Where differences do not shrink a force switches: the mean power is then kept between those at the ends, and as
    much of it is in doubt as the second difference, which is half of a jump between two nodes.
    """
    h, count = view(R, run.NODE_T)[i + 1] - view(R, run.NODE_T)[i], differences(R, i, run.STENCIL)
    x, c = view(R, run.NEWTON)[0], view(R, run.NEWTON)[1]
    start, end = c[0], c[0] + c[1]
    if start == 0.0 and end == 0.0:  # nothing acts
        return 0.0, 0.0, 0.0
    mean, before, term = mean_value(x, c, count)
    if shrink(c, count):
        return h * mean, h * term, h * max(before, term)
    return h * min(max(mean, min(start, end)), max(start, end)), h * abs(c[2]), h * abs(c[2])


@helper
def add_pieces(R):
    """NODE_WORK of the step's nodes; the sums of both estimated errors, and the first node of the worst piece."""
    nodes, done = view(R, run.NODES), view(R, run.NODE_WORK)
    error, cautious, most, worst = 0.0, 0.0, -1.0, nodes[run.NODE_OLD]
    for i in range(nodes[run.NODE_OLD], nodes[run.NODE_NEW]):
        work, wrong, doubtful = piece(R, i)
        done[i + 1] = done[i] + work
        error += wrong
        cautious += doubtful
        if wrong > most:
            most, worst = wrong, i
    return error, cautious, worst


@helper
def alike(t, last):
    """Whether the times between the first nodes and the last differ by no more than UNEVEN."""
    least, most = t[1] - t[0], t[1] - t[0]
    for k in range(1, last):
        least, most = min(least, t[k + 1] - t[k]), max(most, t[k + 1] - t[k])
    return most <= UNEVEN * least


@helper
def recount(R, done):
    """What two more nodes behind it change in the work of the last step but two; `done` is that of the last step.

    Reactions of methods of index 3 alternate around those of the motion. In a polynomial through both sides of a step
    such errors cancel from step to step; in one through the nodes before it, each change of the step leaves some. Only
    in steps of like sizes: a power that falls in short steps, as where a slip ends, says nothing of a long one before.
    """
    nodes, work, h = view(R, run.NODES), view(R, run.WORK), view(R, run.NODE_T)
    first, change = nodes[run.NODE_OLD], 0.0
    work[run.PLAIN] = work[run.PLAIN] + 1.0 if nodes[run.NODE_NEW] == first + 1 else 0.0
    if first == run.HISTORY and work[run.PLAIN] >= run.HISTORY + 1 and alike(h, nodes[run.NODE_NEW]):
        i = first - 2
        count = differences(R, i, run.CENTRAL)
        c = view(R, run.NEWTON)[1]
        start, end, bend = c[0], c[0] + c[1], abs(c[2])
        mean, _, _ = mean_value(view(R, run.NEWTON)[0], c, count)
        mean = min(max(mean, min(start, end) - bend), max(start, end) + bend)  # where a force switches, no overshoot
        change = (h[i + 1] - h[i]) * mean - work[run.COUNTED_BEFORE]
    work[run.COUNTED_BEFORE], work[run.COUNTED] = work[run.COUNTED], done
    return change


@helper
def add_simpson(R):
    """NODE_WORK of a step with one node, in its middle: Simpson's rule, and the parabola's part up to the middle."""
    t, power, done = view(R, run.NODE_T), view(R, run.NODE_POWER), view(R, run.NODE_WORK)
    first = view(R, run.NODES)[run.NODE_OLD]
    h, a, m, b = t[first + 2] - t[first], power[first], power[first + 1], power[first + 2]
    done[first + 1] = done[first] + h * (5.0 * a + 8.0 * m - b) / 24.0
    done[first + 2] = done[first] + h * (a + 4.0 * m + b) / 6.0


@helper
def simpson_error(T, R):
    """Error of `add_simpson`; what the node has changed if that is all that is known; which half is the worse one.

    Two estimates: by the fourth difference of the power, over the step and two nodes before it, and by the square of
    what the node in the middle has changed, for the error of the trapezoidal rule is of half the order. The first one
    sees a force that switches, the second one a motion whose dense output has kinks between steps. Neither can be more
    than that change, or than what a parabola through the node before says, if the middle is on the line between the
    ends by chance.
    """
    t, power, middle = view(R, run.NODE_T), view(R, run.NODE_POWER), view(R, run.NODES)[run.NODE_OLD] + 1
    a, m, b = power[middle - 1], power[middle], power[middle + 1]
    h = t[middle + 1] - t[middle - 1]
    bend, size, worse = a - 2.0 * m + b, max(abs(a), abs(m), abs(b)), middle - 1 if abs(m - a) > abs(b - m) else middle
    if size == 0.0:
        return 0.0, 0.0, worse
    change = h * abs(bend) / 3.0
    unsolved = change if 4.0 * abs(bend) > RESOLVED * abs(b - a) else 0.0
    if middle < 3:
        return change, unsolved, worse
    x, c = view(R, run.NEWTON)[0], view(R, run.NEWTON)[1]
    for k in range(5):
        x[k], c[k] = (t[middle - 3 + k] - t[middle]) / h, power[middle - 3 + k]
    before = (b - a - (a - c[1]) / (x[2] - x[1])) / (x[4] - x[1])  # of the second order, without the middle
    unforetold = h * abs(before / 6.0 - bend / 3.0)
    if view(T, s.SWITCH).shape[0] == 0 and unforetold < FORETOLD * change:
        unsolved = 0.0
    most = max(change, unforetold)
    for j in range(1, 5):
        for k in range(4, j - 1, -1):
            c[k] = (c[k] - c[k - 1]) / (x[k] - x[k - j])
    return min(most, max(CAUTION * h * abs(c[4]) / 120.0, change * change / (h * size))), unsolved, worse
