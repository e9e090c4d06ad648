"""Values, gradients and derivatives along the motion of users' constraint rows, by differences where nothing is given.

`displace` puts the poses in an element's block where a difference wants them; every helper starts from those in T.
"""

from __future__ import annotations

import math

import numpy as np

from index3.algebra.vectors import load_at, norm, scale
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, slots, view
from index3.constraints.rows import row_dtype
from index3.constraints.user_block import POSES, load_markers, move, run, shift

PARTS = (*POSES, "out", "G", "D", "P", "H", "K")  # of a block; from D on they are the kernels' own
SEEN = ("r", "A", "v", "w")
USER = np.dtype(
    [
        ("first", "i8"),  # place of its first marker in MEMBERS
        ("count", "i8"),
        ("line", "i8"),  # place of its first row in ROWS
        ("rows", "i8"),
        ("level", "i8"),  # 0: of positions, 1: of velocities
        ("given", "i8"),  # 1: the user gives the gradient
        ("length", "f8"),  # over which its function changes [m]
        ("time_step", "f8"),  # of differences by t; 0: t is not used
        *((f"by_{name}", "i8") for name in SEEN),  # 0: its functions never look at this argument
        ("function", "i8"),  # addresses
        ("gradient", "i8"),
        *((name, "i8") for name in (*PARTS, "end")),  # first places of the parts of its block in BLOCKS
    ]
)
USERS, MEMBERS, BLOCKS, ROWS, MOVES = slots(
    users=(USER, 1), members=("i8", 1), blocks=("f8", 1), rows=(row_dtype(("owner", "i8")), 1),
    moves=("i8", 2),  # for each of MEMBERS the components of its twist that are ever anything but zero
)  # fmt: skip
# Steps of differences, as parts of `length` or rad. Five points by pose: truncation h^4/30, rounding eps/h, both 1e-13.
STEP = 1e-3
# Along the motion, second derivatives of five points: truncation h^4/90, rounding 5 eps/h^2, both 1e-10 at most.
STRIDE = 4e-3
OFFSETS = (-2.0, -1.0, 1.0, 2.0, 0.0)
FIRST = (1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0, 0.0)
SECOND = (-1.0 / 12.0, 16.0 / 12.0, 16.0 / 12.0, -1.0 / 12.0, -30.0 / 12.0)


@helper
def value(T, E, user, t, first, h, second, k, stride):
    """The rows, into the part `out` of the block, at displaced poses; h = 0, k = 0 and stride = 0: at those in T.

    Component `first` of the twists is moved by h, then component `second` by k (in parts of `length`, or rad), then all
    markers go on for the time `stride` with the twists they have.
    """
    blocks = view(E, BLOCKS)
    displace(T, E, user, first, h, second, k, stride)
    return run(blocks, user, user.function, t, user.out, user.G)


@helper
def displace(T, E, user, first, h, second, k, stride):
    """Fill in poses and velocities, the poses displaced as `value` says."""
    blocks, members, V = view(E, BLOCKS), view(E, MEMBERS), view(T, s.MARKER_V)
    load_markers(T, members, blocks, user)
    if h != 0.0:
        shift(blocks, user, first, h * user.length, h)
    if k != 0.0:
        shift(blocks, user, second, k * user.length, k)
    if stride != 0.0:
        for m in range(user.count):
            marker = members[user.first + m]
            dr, dtheta = scale(stride, load_at(V, marker, 0)), scale(stride, load_at(V, marker, 3))
            move(blocks, user, m, dr, dtheta)


@helper
def unit_of(user, c):
    """What one step of component c of the twists measures: m or rad."""
    return user.length if c % 6 < 3 else 1.0


@helper
def seen(user, c):
    """Whether a function looks at what component c of the twists moves."""
    return (user.by_r if c % 6 < 3 else user.by_A) == 1


@helper
def moves(E, user, c):
    """Whether component c of the twists is ever anything but zero, and seen; other derivatives are zero or not used."""
    return seen(user, c) and view(E, MOVES)[user.first + c // 6, c % 6] == 1


@helper
def fill_slope(T, E, user, t, first, h, into, every):
    """Derivatives of the rows by the components of the poses, by four points, into blocks[into:].

    `every`: 1 for all components, as reactions want them, 0 for those that move.
    """
    blocks, width = view(E, BLOCKS), 6 * user.count
    for k in range(user.rows * width):
        blocks[into + k] = 0.0
    for c in range(width):
        if not seen(user, c) or (every == 0 and not moves(E, user, c)):
            continue
        for side in range(4):
            code = value(T, E, user, t, first, h, c, OFFSETS[side] * STEP, 0.0)
            if code != OK:
                return code
            for r in range(user.rows):
                blocks[into + r * width + c] += FIRST[side] * blocks[user.out + r] / (STEP * unit_of(user, c))
    return OK


@helper
def fill_velocity_slope(T, E, user, t, first, h):
    """G of rows of velocities, which are affine in these: exact differences with unit steps from rest."""
    blocks, width = view(E, BLOCKS), 6 * user.count
    displace(T, E, user, first, h, 0, 0.0, 0.0)
    for k in range(width):
        blocks[user.v + k] = 0.0  # v and w follow each other
    code = run(blocks, user, user.function, t, user.out, user.G)
    for r in range(user.rows):
        for c in range(width):
            blocks[user.G + r * width + c] = -blocks[user.out + r]
    for c in range(width):
        at = (user.v if c % 6 < 3 else user.w) + 3 * (c // 6) + c % 3
        if (user.by_v if c % 6 < 3 else user.by_w) == 0:
            for r in range(user.rows):
                blocks[user.G + r * width + c] = 0.0
            continue
        blocks[at] = 1.0
        if code == OK:
            code = run(blocks, user, user.function, t, user.out, user.G)
        blocks[at] = 0.0
        for r in range(user.rows):
            blocks[user.G + r * width + c] += blocks[user.out + r]
    return code


@helper
def fill_gradient(T, E, user, t, first, h, every):
    """G, with component `first` of the twists moved by h; `every` as in `fill_slope`."""
    blocks = view(E, BLOCKS)
    if user.given == 1:
        displace(T, E, user, first, h, 0, 0.0, 0.0)
        return run(blocks, user, user.gradient, t, user.G, user.D)
    if user.level == 1:
        return fill_velocity_slope(T, E, user, t, first, h)
    return fill_slope(T, E, user, t, first, h, user.G, every)


@helper
def is_kept(E, user, t):
    """Whether what is kept belongs to what the functions look at, of this time and the poses in the block.

    K holds t, whether H is kept too, r and A, then G of all components, `out` and P. Constraints are closed by many
    evaluations at the same poses, and iterated with several matrices there.
    """
    blocks, kept = view(E, BLOCKS), user.K + 2
    same = blocks[user.K] == t  # NaN before the first one; also for functions that never look at t: users change them
    for k in range(3 * user.count):
        same = same and (user.by_r == 0 or blocks[kept + k] == blocks[user.r + k])
    for k in range(3 * user.count, 12 * user.count):
        same = same and (user.by_A == 0 or blocks[kept + k] == blocks[user.r + k])  # r and A follow each other
    return same


@helper
def recall(E, user):
    """What is kept: G, `out` and P."""
    blocks, size = view(E, BLOCKS), 6 * user.count * user.rows
    at = user.K + 2 + 12 * user.count
    for k in range(size):
        blocks[user.G + k] = blocks[at + k]
    for r in range(user.rows):
        blocks[user.out + r] = blocks[at + size + r]
        blocks[user.P + r] = blocks[at + size + user.rows + r]


@helper
def recalled(T, E, user, t):
    """Whether what is kept is of the poses in T; if so, it is recalled."""
    load_markers(T, view(E, MEMBERS), view(E, BLOCKS), user)
    known = is_kept(E, user, t)
    if known:
        recall(E, user)
    return known


@helper
def keep_values(E, user):
    """Keep `out` and P, which differences for G would overwrite."""
    blocks, at = view(E, BLOCKS), user.K + 2 + 12 * user.count + 6 * user.count * user.rows
    blocks[user.K] = math.nan
    for r in range(user.rows):
        blocks[at + r] = blocks[user.out + r]
        blocks[at + user.rows + r] = blocks[user.P + r]


@helper
def keep(T, E, user, t):
    """Keep G, which is of all components and of the poses in T, beside the values that are."""
    blocks, poses, size = view(E, BLOCKS), 12 * user.count, 6 * user.count * user.rows
    load_markers(T, view(E, MEMBERS), blocks, user)
    blocks[user.K] = t
    blocks[user.K + 1] = 0.0
    for k in range(poses):
        blocks[user.K + 2 + k] = blocks[user.r + k]
    for k in range(size):
        blocks[user.K + 2 + poses + k] = blocks[user.G + k]


@helper
def fill_along(T, E, user, t, first, h):
    """D, with component `first` of the twists moved by h."""
    blocks, members, V = view(E, BLOCKS), view(E, MEMBERS), view(T, s.MARKER_V)
    speed = 0.0
    for m in range(user.count):
        marker = members[user.first + m]
        speed = max(speed, norm(load_at(V, marker, 0)) / user.length, norm(load_at(V, marker, 3)))
    stride = user.time_step
    if speed > 0.0 and (stride == 0.0 or speed * stride > STRIDE):
        stride = STRIDE / speed
    for r in range(user.rows):
        blocks[user.D + r] = 0.0
    if stride == 0.0:  # at rest, and t is not used
        return OK
    if user.time_step == 0.0 and user.by_r == 0 and user.by_A == 0:  # the same all along
        return OK
    timed = 1.0 if user.time_step > 0.0 else 0.0
    for side in range(5):
        if side == 4 and user.level == 1:  # a first derivative does without the point in the middle
            return OK
        if side == 4 and h == 0.0 and recalled(T, E, user, t):
            code = OK
        else:
            code = value(T, E, user, t + timed * OFFSETS[side] * stride, first, h, 0, 0.0, OFFSETS[side] * stride)
        if code != OK:
            return code
        weight = FIRST[side] / stride if user.level == 1 else SECOND[side] / (stride * stride)
        for r in range(user.rows):
            blocks[user.D + r] += weight * blocks[user.out + r]
    return OK
