"""Velocities of methods that control positions alone: a force that jumps inside a step must not leave them to chance.

The error of q in a step is C h^2 (a_{n+1} - a_n). Where a force jumps by J, a step that keeps it below w may be as long
as sqrt(w / (C J)), and v is off by as much as h J = sqrt(w J / C): by metres per second where a ball meets a hard
floor. So a step is also tried again if its accelerations leave the line through those before by so much that v may be
off by more than sqrt(rtol) of the largest speed, or the root of what atol is of the largest coordinate. A smooth motion
never meets that bound, which is the root of the one of q: there v is off by h^3 a'', which is some rtol of the speed.
Rates of angles are speeds by a radius of gyration (LENGTHS), or it would matter in which unit lengths are given.
Where forces switch, a travel at the speed of the start does not count (`run.note_away`): a wheel that lands behind a
trough of the road does so at 0.1 m/s, whatever the speed of the car.

Accelerations also alternate in short steps, along constraints whose velocities the formulas do not satisfy: by the same
velocity over a shorter step. A jump leaps by less in a shorter step, such noise does not, and is left alone for a time.
Nor does an impact that is over within both steps, but it changes velocities by more than noise is believed to do.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.methods import run
from index3.methods.direct import newton

IGNORED, TRUSTED, DOUBTED = 0.0, 1.0, 2.0
"""Values of LEAPS: bodies without joints have no such noise; with joints there is too much of it for methods with
little damping, and for generalized-alpha."""
SHRINKS, LET_ALONE, MOST_NOISE = 0.7, 10, 0.1
"""Part of the leap of a longer step below which that of a shorter one must be; steps without a look at it if it is not;
part of the largest speed that noise may be."""
MOST_REFUSED = 12
"""Steps in a row that are refused for a leap: they have shrunk by up to 4e-9 then."""
PART = 0.5
"""Part of h J by which v is off on average, since the jump may be anywhere in the step."""


SHORT, MOST_CARRIED = 5.0, 10.0
"""How many times shorter than usual a step may be before its error of positions counts more; how many times more it
counts at most where accelerations may be noise, whose velocity does not shrink with the step."""


@helper
def carried(E, R, h):
    """How many times more the error of positions in a step of size h counts, for the velocity that it leaves.

    A position off by e leaves a velocity off by about e / h, and a step of the usual size H carries that e H / h far:
    where two bodies pass closely a step is hundreds of times shorter than those on the way there and back. The usual
    size is a mean that forgets, so a run that goes on in short steps gets used to them.
    """
    rule = view(E, newton.SETTINGS)[newton.LEAPS]
    if rule == IGNORED or view(E, newton.SETTINGS)[newton.PAPER_NORM] == 1.0:
        return 1.0
    more = max(1.0, view(R, run.CLOCK)[run.H_USUAL] / (SHORT * h))
    return more if rule == TRUSTED else min(more, MOST_CARRIED)


@helper
def largest_coordinate(R):
    """The largest magnitude of all coordinates so far, as a length."""
    largest, lengths, size = view(R, run.LARGEST), view(R, run.LENGTHS), 0.0
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        size = max(size, lengths[k] * largest[k])
    return size


@helper
def largest_speed(R, v):
    """That of the run so far and of the rates v, or the one that takes the largest coordinate through the span."""
    clock, largest_v, lengths, speed = view(R, run.CLOCK), view(R, run.LARGEST_V), view(R, run.LENGTHS), 0.0
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        speed = max(speed, lengths[k] * max(largest_v[k], abs(v[k])))
    return max(speed, largest_coordinate(R) / (clock[run.T_END] - clock[run.T_START]))


@helper
def part_of_allowed(R, k, size, speed, error):
    """An error of the rate of coordinate k in parts of what is allowed: the root of its own error, of the speed.

    Where forces switch, lengths and speeds are those beside a motion at the rates of the start, unless it is an angle.
    """
    rtol, length, clock = view(R, run.TOLERANCE)[run.RTOL], view(R, run.LENGTHS)[k], view(R, run.CLOCK)
    if length == 1.0 and clock[run.AWAY] > 0.0:
        size = min(size, clock[run.AWAY])
        speed = min(speed, max(clock[run.AWAY_V], clock[run.AWAY] / (clock[run.T_END] - clock[run.T_START])))
    part = sqrt(max(rtol, length * run.weight(R, k) / size)) if size > 0.0 else sqrt(rtol)
    return length * error / (part * speed) if speed > 0.0 else 0.0


@helper
def velocity_leap(T, E, R, h):
    """By how much v may be off because accelerations jump in the step tried, in parts of what is allowed."""
    clock, a, new, old = view(R, run.CLOCK), view(T, s.A), view(R, run.NEW_A), view(R, run.OLD_A)
    if view(E, newton.SETTINGS)[newton.LEAPS] == IGNORED:
        return 0.0
    before = clock[run.T_NEW] - clock[run.T_OLD]
    ratio, worst = h / before if view(R, run.COUNTS)[run.N_STEPS] > 0 and before > 0.0 else 0.0, 0.0
    change, off = view(E, newton.GUESS_A), view(E, newton.GUESS_Q)  # free between two steps
    for k in range(a.shape[0]):
        change[k] = a[k] - new[k]
        off[k] = change[k] - ratio * (new[k] - old[k])
    if view(E, newton.SETTINGS)[newton.LEAPS] == TRUSTED:
        drop_along_norms(T, E, change)
        drop_along_norms(T, E, off)
    speed, size = largest_speed(R, view(T, s.V)), largest_coordinate(R)
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        worst = max(worst, part_of_allowed(R, k, size, speed, min(abs(change[k]), abs(off[k]))))
    return PART * h * worst


@helper
def drop_along_norms(T, E, x):
    """Take out of x what points along the gradients of the rows, which have no coordinates in common.

    Without joints these are norms of Euler parameters: what accelerations do along them is no motion, and alternates.
    """
    phi_q, row, column = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL)
    along, squares = view(E, newton.GUESS_LAM), view(E, newton.STEP_LAM)  # free between two steps
    for i in range(along.shape[0]):
        along[i] = squares[i] = 0.0
    for b in range(row.shape[0]):
        along[row[b]] += phi_q[b] * x[column[b]]
        squares[row[b]] += phi_q[b] * phi_q[b]
    for b in range(row.shape[0]):
        if squares[row[b]] > 0.0:
            x[column[b]] -= phi_q[b] * along[row[b]] / squares[row[b]]


@helper
def judged(E, R, leap):
    """The leap of the step tried, or 0 if it is noise."""
    memory, rule = view(E, newton.MEMORY), view(E, newton.SETTINGS)[newton.LEAPS]
    if rule != DOUBTED:
        return leap if rule == TRUSTED else 0.0
    if memory[newton.NOISY] > 0.0:
        memory[newton.NOISY] -= 1.0
        return 0.0
    small = leap * sqrt(view(R, run.TOLERANCE)[run.RTOL]) < MOST_NOISE
    stays = memory[newton.LEAP] > 0.0 and leap > SHRINKS * memory[newton.LEAP]
    if leap > 1.0 and ((small and stays) or memory[newton.REFUSED] == MOST_REFUSED):
        memory[newton.NOISY] = LET_ALONE
        leap = 0.0
    memory[newton.LEAP] = leap if leap > 1.0 else 0.0
    memory[newton.REFUSED] = memory[newton.REFUSED] + 1.0 if leap > 1.0 else 0.0
    return leap
