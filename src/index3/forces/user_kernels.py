"""Kernels of forces by users' functions (`user`): their blocks filled, functions called, derivatives by differences.

To the kernels the markers of a block of states stand behind the others, six states each, so that rates follow the
wrenches in a block of doubles, and states are twists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.compiled.unread import looks_at
from index3.constraints.user_block import (
    DIFFERENCES,
    FUNCTION,
    POSES,
    load_marker,
    moving_components,
    run,
    shift,
    user_table,
)
from index3.forces.force import Place

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
SEEN = ("r", "A", "v", "w", "dv", "dw")
MEMORY = (BLOCKS,)
# Step of the central differences, relative to max(1, |value|): for smooth forces on the scale of metres truncation
# (h^2) and rounding (eps / h) are both below 1e-9 of the force.
STEP = 1e-6


class UserTable(CallbackTable):
    """The table of user forces."""

    def by_differences(self) -> UserTable:
        """The same with all derivatives taken by differences."""
        other = self.sharing([USERS])
        other[USERS]["mode"] = DIFFERENCES
        return other


def table(elements: Sequence[Any], places: Sequence[Place]) -> UserTable:
    """The table of all user forces of a system; here their functions become callable from kernels."""
    forms = [element.form() for element in elements]
    result = user_table((USERS, MEMBERS, BLOCKS, COLUMNS), elements, places, forms, UserTable)
    columns = [row for element in elements for row in changing_components(element)]
    result[COLUMNS] = np.array(columns, np.int64).reshape(-1, 18)
    for element, record in zip(elements, result[USERS], strict=True):
        result[BLOCKS][record["memory"] : record["before"]] = element.memory
    return result


def changing_components(element: Any) -> list[list[int]]:
    """For each marker and component of its motion 0 if it is always zero, or the function never looks at it."""
    seen = np.repeat(looks_at(element.f, element.arguments["f"], SEEN), 3)
    moving = [list(seen * np.tile(moving_components(marker), 3)) for marker in element.ends]
    return moving + [[0] * 18] * (len(element.markers) - len(element.ends))  # states are taken one by one


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


@kernel
def forces(T, E):
    """Put what each function says on its markers, and keep it for `energy`."""
    users, members, blocks = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS)
    f = view(T, s.MARKER_F)
    for e in range(users.shape[0]):
        user = users[e]
        load(T, members, blocks, user)
        if ask(T, blocks, user, user.function, user.out, user.K) != OK:
            return e + 1
        for m in range(user.count):
            for c in range(6):
                x = blocks[user.out + 6 * m + c]
                f[members[user.first + m], c] += x
                blocks[user.wrench + 6 * m + c] = x
    return OK


@helper
def change(blocks, user, m, c, sign):
    """Move the m-th marker along component c of its twist (0-5), or change its velocity (6-11) or acceleration (12-17).

    Returns the step.
    """
    if 3 <= c < 6:
        shift(blocks, user, 6 * m + c, 0.0, sign * STEP)
        return STEP
    first = user.r if c < 3 else user.v if c < 9 else user.w if c < 12 else user.dv if c < 15 else user.dw
    at = first + 3 * m + c % 3
    h = STEP * max(1.0, abs(blocks[at]))
    blocks[at] += sign * h
    return h


@helper
def add_differences(T, E, user, marker, m, begin, end):
    """Add minus the derivatives by components `begin` ... of the motion of the m-th marker, one column at a time."""
    blocks, columns, width = view(E, BLOCKS), view(E, COLUMNS), 6 * user.count
    for c in range(begin, end):
        if columns[user.first + m, c] == 0:
            continue
        group = view(T, s.GROUP_K) if c < 6 else view(T, s.GROUP_D) if c < 12 else view(T, s.GROUP_M)
        for side in range(2):
            sign = 1.0 - 2.0 * side
            h = change(blocks, user, m, c, sign)
            code = ask(T, blocks, user, user.function, user.out, user.K)
            load_motion(T, blocks, user, m, marker)
            if code != OK:
                return code
            for row in range(width):
                group[user.group + row * width + 6 * m + c % 6] -= sign * blocks[user.out + row] / (2.0 * h)
    return OK


@helper
def add_state_differences(T, E, user, k):
    """Add minus the derivatives by state k."""
    blocks, members, D = view(E, BLOCKS), view(E, MEMBERS), view(T, s.GROUP_D)
    width, h = 6 * user.count, STEP * max(1.0, abs(blocks[user.x + k]))
    for side in range(2):
        sign = 1.0 - 2.0 * side
        blocks[user.x + k] += sign * h
        code = ask(T, blocks, user, user.function, user.out, user.K)
        load_state(T, members, blocks, user, k)
        if code != OK:
            return code
        for row in range(width):
            D[user.group + row * width + 6 * user.bodies + k] -= sign * blocks[user.out + row] / (2.0 * h)
    return OK


@helper
def add_by_reaction(T, user, c, row, x):
    """Add minus x, the derivative of a row of a force by component c of the reaction: by multipliers and by pose."""
    g, R, K = view(T, s.ROW_G), view(T, s.ROW_R), view(T, s.GROUP_K)
    width = 6 * user.count
    if row < 12:  # the markers of the joint; rates of states have no place beside its rows
        for k in range(user.rows):
            R[user.gradient + 12 * k + row] += x * g[user.gradient + 12 * k + 6 + c]
    if user.rows > 0:
        for b in range(12):  # the joint's own sum of lam H
            K[user.group + row * width + b] += x * K[user.joint + 12 * (6 + c) + b]


@helper
def add_reaction_differences(T, E, user):
    """Add minus the derivatives by the reaction, by differences."""
    blocks = view(E, BLOCKS)
    for c in range(6):
        h = STEP * max(1.0, abs(blocks[user.F + c]))
        for side in range(2):
            sign = 1.0 - 2.0 * side
            blocks[user.F + c] += sign * h
            code = ask(T, blocks, user, user.function, user.out, user.K)
            load_reaction(T, blocks, user)
            if code != OK:
                return code
            for row in range(6 * user.count):
                add_by_reaction(T, user, c, row, sign * blocks[user.out + row] / (2.0 * h))
    return OK


@helper
def add_derivatives(T, E, user):
    """Add minus the derivatives that the user's own function gives."""
    blocks, K, D, size = view(E, BLOCKS), view(T, s.GROUP_K), view(T, s.GROUP_D), user.D - user.K
    M = view(T, s.GROUP_M)
    code = ask(T, blocks, user, user.derivative, user.K, user.wrench)
    if code == OK:
        for k in range(size):
            K[user.group + k] -= blocks[user.K + k]
            D[user.group + k] -= blocks[user.D + k]
        for k in range(user.L - user.M):
            M[user.group + k] -= blocks[user.M + k]
        for k in range(user.wrench - user.L):
            add_by_reaction(T, user, k % 6, k // 6, blocks[user.L + k])
    return code


@kernel
def force_derivatives(T, E):
    """Derivatives of the forces that have them; by q and v only if the matrix has a place for them."""
    users, members, blocks, c = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS), view(T, s.COEF)
    stiff = c[s.C_K] != 0.0 or c[s.C_D] != 0.0
    for e in range(users.shape[0]):
        user, code = users[e], OK
        load(T, members, blocks, user)
        if user.mode == FUNCTION:
            code = add_derivatives(T, E, user)
        else:
            begin, end = 0 if stiff and user.mode == DIFFERENCES else 12, 18 if user.dw > user.dv else 12
            for m in range(user.bodies):
                if code == OK:
                    code = add_differences(T, E, user, members[user.first + m], m, begin, end)
            if code == OK and user.T > user.F:
                code = add_reaction_differences(T, E, user)
        if stiff and user.mode == DIFFERENCES:
            for k in range(user.out - user.x):
                if code == OK:
                    code = add_state_differences(T, E, user, k)
        if code != OK:
            return e + 1
    return OK


@kernel
def energy(T, E):
    """Power of every force."""
    users, members, blocks = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS)
    V, values = view(T, s.MARKER_V), view(T, s.ENERGY)
    for e in range(users.shape[0]):
        user = users[e]
        for m in range(user.bodies):
            for c in range(6):
                values[s.POWER] += blocks[user.wrench + 6 * m + c] * V[members[user.first + m], c]
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}
