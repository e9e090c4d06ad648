"""Records of forces by users' functions (`user`), their blocks of doubles, and how functions are called with them.

To the kernels the markers of a block of states stand behind the others, six states each, so that rates follow the
wrenches in a block of doubles, and states are twists.
"""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import helper, slots, view
from index3.constraints.user_block import POSES, load_marker, run

PARTS = (*POSES, "dv", "dw", "F", "T", "x", "out", "rate", "pad", "K", "D", "M", "L", "wrench", "memory", "before")
"""Of a block; "pad", "wrench" and "before" are the kernels' own, "memory" is what a function keeps from one call to the
next."""
USER = np.dtype(
    [
        ("first", "i8"),  # place of its first marker in MEMBERS
        ("count", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("bodies", "i8"),  # markers on bodies; the others are those of the states
        ("mode", "i8"),  # how its derivatives are made
        ("row", "i8"),  # rows of the joint whose reaction it reads, and the joint's places in ROW_G and GROUP_K
        ("rows", "i8"),
        ("gradient", "i8"),
        ("joint", "i8"),
        ("function", "i8"),  # addresses
        ("derivative", "i8"),
        *((name, "i8") for name in (*PARTS, "end")),  # first places of the parts of its block in BLOCKS
    ]
)
USERS, MEMBERS, BLOCKS, COLUMNS = slots(
    users=(USER, 1), members=("i8", 1), blocks=("f8", 1),
    columns=("i8", 2),  # for each of MEMBERS the components of `change` by which the force has derivatives
)  # fmt: skip


@helper
def ask(T, blocks, user, address, first, end):
    """Call a user's function, which fills blocks[first:end]; beside the steps, what it keeps stays as it was."""
    count = user.end - user.before if view(T, s.STATUS)[s.ASIDE] == 1 else 0
    for k in range(count):
        blocks[user.before + k] = blocks[user.memory + k]
    code = run(blocks, user, address, view(T, s.TIME)[0], first, end)
    for k in range(count):
        blocks[user.memory + k] = blocks[user.before + k]
    return code


@helper
def load_state(T, members, blocks, user, k):
    """Write state k of a force into its block."""
    blocks[user.x + k] = view(T, s.MARKER_V)[members[user.first + user.bodies + k // 6], k % 6]


@helper
def load_motion(T, blocks, user, m, marker):
    """Write pose, velocity and, if they matter, accelerations of the m-th marker of a force into its block."""
    load_marker(T, blocks, user, m, marker)
    if user.dw > user.dv:
        W = view(T, s.MARKER_W)
        for c in range(3):
            blocks[user.dv + 3 * m + c] = W[marker, c]
            blocks[user.dw + 3 * m + c] = W[marker, 3 + c]


@helper
def load_reaction(T, blocks, user):
    """Write the reaction on the second marker of its joint, -sum of lam g, into the block of a force that reads it."""
    if user.T > user.F:
        lam, g = view(T, s.LAM), view(T, s.ROW_G)
        for c in range(6):
            x = 0.0
            for k in range(user.rows):
                x -= lam[user.row + k] * g[user.gradient + 12 * k + 6 + c]
            blocks[user.F + c] = x


@helper
def load(T, members, blocks, user):
    """Write the motion of all markers, all states and the reaction of a force into its block."""
    load_reaction(T, blocks, user)
    for m in range(user.bodies):
        load_motion(T, blocks, user, m, members[user.first + m])
    for k in range(user.out - user.x):
        load_state(T, members, blocks, user, k)
