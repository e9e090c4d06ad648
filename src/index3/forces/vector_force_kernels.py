"""The table and kernels of forces by a user's function of a relative motion (`index3.forces.relative`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from index3.algebra.rotation_vectors import log_coefficients, log_matrix
from index3.algebra.vectors import apply, apply_transposed, load_at
from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.constraints.user_block import DIFFERENCES, FUNCTION, NONE, run, user_table
from index3.forces.force import Place
from index3.forces.line import IDENTITY
from index3.forces.relative import (
    LIMIT,
    add_product,
    add_rows,
    add_turning,
    add_wrench,
    axes_of,
    clear_rows,
    fill_gradient,
    fill_rate_gradient,
    relative_point,
    relative_rotation,
    relative_spin,
)

USER = np.dtype(
    [
        ("first", "i8"),  # place of its first marker in MEMBERS
        ("count", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("mode", "i8"),  # how its derivatives are made
        ("function", "i8"),  # addresses
        ("derivative", "i8"),
        *((name, "i8") for name in ("r", "v", "p", "out", "K", "D", "wrench", "end")),  # parts of its block; r is x
    ]
)
USERS, MEMBERS, BLOCKS, FAR, TWISTS, GRADIENT, RATE_GRADIENT, STIFFNESS, DAMPING, PRODUCT = slots(
    users=(USER, 1),
    members=("i8", 1),
    blocks=("f8", 1),
    far=("i8", 1),  # 1 if the markers of a force are turned too far
    twists=("f8", 2),  # v = TWISTS V
    gradient=("f8", 2),  # dx/dxi
    rate_gradient=("f8", 2),  # dv/dxi
    stiffness=("f8", 2),  # minus the derivatives of `out` by x ...
    damping=("f8", 2),  # ... and by v
    product=("f8", 2),
)
ROOM = (TWISTS, GRADIENT, RATE_GRADIENT, STIFFNESS, DAMPING, PRODUCT)
MEMORY = (BLOCKS, FAR, *ROOM)
# Step of the central differences, relative to max(1, |value|): for smooth forces on the scale of metres truncation
# (h^2) and rounding (eps / h) are both below 1e-9 of the force.
STEP = 1e-6
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class VectorTable(CallbackTable):
    """The table of vector forces, which knows whose markers are turned too far."""

    def by_differences(self) -> VectorTable:
        """The same with all derivatives taken by differences."""
        other = self.sharing([USERS])
        other[USERS]["mode"] = DIFFERENCES
        return other

    def explain(self, element: Any, k: int, t: float) -> str | None:
        """That the markers of a force are turned too far, if no function failed."""
        if element.failure is not None or self[FAR][k] == 0:
            return None
        return (
            f"{element.label} has its markers turned by more than {LIMIT:g} rad at t = {t:.6g}, the limit of "
            "rotation vectors. Keep turns below that, or use a UserForce."
        )


def table(elements: Sequence[Any], places: Sequence[Place]) -> VectorTable:
    """The table of all vector forces of a system; here their functions become callable from kernels."""
    slots, forms = (USERS, MEMBERS, BLOCKS, FAR, *ROOM), [element.form() for element in elements]
    result = user_table(slots, elements, places, forms, VectorTable)
    result[FAR] = np.zeros(len(elements), np.int64)
    for slot in ROOM:
        result[slot] = np.zeros((6, 6 if slot in (STIFFNESS, DAMPING) else 12))
    return result


@helper
def load_motion(T, E, users, e):
    """Write x and v of a force into its block; returns whether its markers are within their range."""
    blocks, members, user = view(E, BLOCKS), view(E, MEMBERS), users[e]
    i, j = members[user.first], members[user.first + 1]
    A, (d, u), (phi, theta) = axes_of(T, i), relative_point(T, i, j), relative_rotation(T, i, j)
    position, rate = apply_transposed(A, d), apply_transposed(A, u)
    w = apply_transposed(A, relative_spin(T, i, j))
    for k in range(3):
        blocks[user.r + k] = position[k]
        blocks[user.r + 3 + k] = phi[k]
        blocks[user.v + k] = rate[k]
        blocks[user.v + 3 + k] = w[k]
    view(E, FAR)[e] = 0 if theta < LIMIT else 1
    return theta < LIMIT


@helper
def wrench(T, E, user):
    """d, force and torque on the second marker in ground axes, from what the function last said in `forces`."""
    blocks, members = view(E, BLOCKS), view(E, MEMBERS)
    A, at = axes_of(T, members[user.first]), user.wrench
    d, _ = relative_point(T, members[user.first], members[user.first + 1])
    force = (blocks[at], blocks[at + 1], blocks[at + 2])
    return d, apply(A, force), apply(A, (blocks[at + 3], blocks[at + 4], blocks[at + 5]))


@kernel
def forces(T, E):
    """Put what each function says on its markers, and keep it."""
    users, members, blocks, t = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS), view(T, s.TIME)[0]
    for e in range(users.shape[0]):
        user = users[e]
        if not load_motion(T, E, users, e) or run(blocks, user, user.function, t, user.out, user.K) != OK:
            return e + 1
        for k in range(6):
            blocks[user.wrench + k] = blocks[user.out + k]
        d, force, torque = wrench(T, E, user)
        add_wrench(T, members[user.first], members[user.first + 1], d, force, torque)
    return OK


@helper
def fill_differences(T, E, user):
    """STIFFNESS and DAMPING by differences, one column at a time."""
    blocks, t = view(E, BLOCKS), view(T, s.TIME)[0]
    for c in range(12):
        at = user.r + c if c < 6 else user.v + c - 6
        matrix = view(E, STIFFNESS) if c < 6 else view(E, DAMPING)
        x = blocks[at]
        h = STEP * max(1.0, abs(x))
        for k in range(6):
            matrix[k, c % 6] = 0.0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            blocks[at] = x + sign * h
            code = run(blocks, user, user.function, t, user.out, user.K)
            blocks[at] = x
            if code != OK:
                return code
            for k in range(6):
                matrix[k, c % 6] -= sign * blocks[user.out + k] / (2.0 * h)
    return OK


@helper
def fill_derivatives(T, E, user):
    """STIFFNESS and DAMPING from the user's own function."""
    blocks, stiffness, damping = view(E, BLOCKS), view(E, STIFFNESS), view(E, DAMPING)
    code = run(blocks, user, user.derivative, view(T, s.TIME)[0], user.K, user.wrench)
    for k in range(6):
        for m in range(6):
            stiffness[k, m] = -blocks[user.K + 6 * k + m]
            damping[k, m] = -blocks[user.D + 6 * k + m]
    return code


@helper
def add_matrices(T, E, user):
    """K and D of a force whose STIFFNESS and DAMPING are filled."""
    members, blocks, K, D = view(E, MEMBERS), view(E, BLOCKS), view(T, s.GROUP_K), view(T, s.GROUP_D)
    B, Y, W, product = view(E, TWISTS), view(E, GRADIENT), view(E, RATE_GRADIENT), view(E, PRODUCT)
    i, j = members[user.first], members[user.first + 1]
    A, (d, u) = axes_of(T, i), relative_point(T, i, j)
    phi = (blocks[user.r + 3], blocks[user.r + 4], blocks[user.r + 5])
    fill_gradient(B, A, d, IDENTITY)
    fill_gradient(Y, A, d, log_matrix(phi, log_coefficients(phi)[0]))
    fill_rate_gradient(W, A, u, load_at(view(T, s.MARKER_V), i, 3), relative_spin(T, i, j), IDENTITY, NOTHING)
    clear_rows(product, 6)
    add_rows(product, 6, view(E, DAMPING), B)
    add_product(D, user.group, 6, B, product)
    clear_rows(product, 6)
    add_rows(product, 6, view(E, DAMPING), W)
    add_rows(product, 6, view(E, STIFFNESS), Y)
    add_product(K, user.group, 6, B, product)


@kernel
def force_derivatives(T, E):
    """Derivatives of the forces that have them."""
    users, K = view(E, USERS), view(T, s.GROUP_K)
    for e in range(users.shape[0]):
        user = users[e]
        if not load_motion(T, E, users, e):
            return e + 1
        d, force, torque = wrench(T, E, user)
        if user.mode != NONE:
            code = fill_derivatives(T, E, user) if user.mode == FUNCTION else fill_differences(T, E, user)
            if code != OK:
                return e + 1
            add_turning(K, user.group, d, force, torque)
            add_matrices(T, E, user)
    return OK


@kernel
def energy(T, E):
    """Power of every force."""
    users, blocks, values = view(E, USERS), view(E, BLOCKS), view(T, s.ENERGY)
    for e in range(users.shape[0]):
        for k in range(6):
            values[s.POWER] += blocks[users[e].wrench + k] * blocks[users[e].v + k]
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}
