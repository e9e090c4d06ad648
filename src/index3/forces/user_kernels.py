"""Kernels of forces by users' functions (`user`): their functions called, and derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable
from index3.compiled.interface import OK, helper, kernel, view
from index3.compiled.unread import looks_at
from index3.constraints.user_block import DIFFERENCES, FUNCTION, moving_components, user_table
from index3.forces.force import Place
from index3.forces.user_blocks import BLOCKS, COLUMNS, MEMBERS, USERS, ask, load
from index3.forces.user_differences import FOUND, differ

SEEN = ("r", "A", "v", "w", "dv", "dw")
MEMORY = (BLOCKS,)


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
def add_differences(T, E, user, m, begin, end):
    """Add minus the derivatives by components `begin` ... of the motion of the m-th marker, one column at a time."""
    blocks, columns, width = view(E, BLOCKS), view(E, COLUMNS), 6 * user.count
    for c in range(begin, end):
        if columns[user.first + m, c] == 0:
            continue
        group = view(T, s.GROUP_K) if c < 6 else view(T, s.GROUP_D) if c < 12 else view(T, s.GROUP_M)
        code = differ(T, E, user, 18 * m + c)
        if code != OK:
            return code
        for row in range(width):
            group[user.group + row * width + 6 * m + c % 6] -= blocks[user.K + FOUND * width + row]
    return OK


@helper
def add_state_differences(T, E, user, k):
    """Add minus the derivatives by state k."""
    blocks, D, width = view(E, BLOCKS), view(T, s.GROUP_D), 6 * user.count
    code = differ(T, E, user, 18 * user.bodies + k)
    if code == OK:
        for row in range(width):
            D[user.group + row * width + 6 * user.bodies + k] -= blocks[user.K + FOUND * width + row]
    return code


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
    blocks, width = view(E, BLOCKS), 6 * user.count
    for c in range(6):
        code = differ(T, E, user, 18 * user.bodies + user.out - user.x + c)
        if code != OK:
            return code
        for row in range(width):
            add_by_reaction(T, user, c, row, blocks[user.K + FOUND * width + row])
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
                    code = add_differences(T, E, user, m, begin, end)
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
