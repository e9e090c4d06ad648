"""Derivatives of forces by users' functions (`user`) by differences of their values."""

from __future__ import annotations

from index3.compiled.interface import OK, helper, view
from index3.constraints.user_block import shift
from index3.forces.user_blocks import BLOCKS, MEMBERS, ask, load

# Step of the central differences, relative to max(1, |value|): for smooth forces on the scale of metres truncation
# (h^2) and rounding (eps / h) are both below 1e-9 of the force.
STEP = 1e-6
# A function may bend within that: a law of concentrations of 1e-9, the root of a level of 1e-8. Where its values on
# both sides and in the middle are off a straight line by more than BENT of their difference, or it has no value on a
# side, steps SHORTER are tried, down to LEAST of the value itself, MOST in all. Values that differ by less than PLAIN
# of their size do not count: that may be rounding.
BENT, SHORTER, LEAST, MOST, PLAIN = 0.02, 0.01, 1e-4, 8, 1e-8
AHEAD, BEHIND, FOUND = range(3)
"""Rows of the room for K, which differences leave free."""
ONE_SIDED = 1e6
"""How much a difference over one side only counts as bent: any over both is better."""


@helper
def place_of(user, c):
    """Where in its block component c of what a force sees stands, or -1 of a rotation.

    Components are 18 for each marker (its twist, its velocity, its acceleration), then the states, then the reaction.
    """
    states = 18 * user.bodies
    if c >= states:
        count = user.out - user.x
        return user.x + c - states if c < states + count else user.F + c - states - count
    m, c = c // 18, c % 18
    if 3 <= c < 6:
        return -1
    first = user.r if c < 3 else user.v if c < 9 else user.w if c < 12 else user.dv if c < 15 else user.dw
    return first + 3 * m + c % 3


@helper
def ask_beside(T, E, user, c, h, row):
    """The wrenches where component c is more by h, into a row of the room for K."""
    blocks, members, at, width = view(E, BLOCKS), view(E, MEMBERS), place_of(user, c), 6 * user.count
    if at < 0:
        shift(blocks, user, 6 * (c // 18) + c % 18, 0.0, h)
    else:
        blocks[at] += h
    code = ask(T, blocks, user, user.function, user.out, user.K)
    load(T, members, blocks, user)
    for k in range(width):
        blocks[user.K + row * width + k] = blocks[user.out + k]
    return code


@helper
def bend(blocks, user):
    """How far values ahead and behind are off a line through that in the middle; and how many tell so."""
    width, worst, rows = 6 * user.count, 0.0, 0
    for k in range(width):
        ahead, behind = blocks[user.K + AHEAD * width + k], blocks[user.K + BEHIND * width + k]
        apart = abs(ahead - behind)
        if apart > PLAIN * (abs(ahead) + abs(behind)):
            rows += 1
            worst = max(worst, abs(ahead + behind - 2.0 * blocks[user.wrench + k]) / apart)
    return worst, rows


@helper
def note(blocks, user, ahead, behind, h):
    """Keep the difference over a step h to both sides, or to the one where there is a value."""
    width, span = 6 * user.count, 2.0 * h if ahead == behind else h
    for k in range(width):
        above = blocks[user.K + AHEAD * width + k] if ahead == OK else blocks[user.wrench + k]
        below = blocks[user.K + BEHIND * width + k] if behind == OK else blocks[user.wrench + k]
        blocks[user.K + FOUND * width + k] = (above - below) / span


@helper
def differ(T, E, user, c):
    """The derivative of the wrenches by component c, in row FOUND of the room for K; OK, or what the function said."""
    blocks, at = view(E, BLOCKS), place_of(user, c)
    posed = at < 0 or (c < 18 * user.bodies and c % 18 < 6)  # a pose has no size: its origin is anywhere
    size = 0.0 if posed else abs(blocks[at])
    h, best, told = STEP * max(1.0, size), 1e300, 0
    for _ in range(MOST):
        ahead, behind = ask_beside(T, E, user, c, h, AHEAD), ask_beside(T, E, user, c, -h, BEHIND)
        bent, rows = bend(blocks, user) if ahead == OK and behind == OK else (ONE_SIDED, told)
        if rows < told:
            break
        told = rows
        if bent < best and (ahead == OK or behind == OK):
            best = bent
            note(blocks, user, ahead, behind, h)
        if bent <= BENT or h <= LEAST * size or (bent == ONE_SIDED and size == 0.0 and best < 1e300):
            break
        h = max(SHORTER * h, LEAST * size)
    return OK if best < 1e300 else ahead
