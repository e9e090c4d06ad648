"""Dry friction in a joint, from the joint's own reaction.

With n = z of the first marker, d = r_j - r_i, the sliding speed v = g_s . V and the spin w = g_t . V, where
g_s = (-n, n x d, n, 0) and g_t = (0, -n, 0, n), the wrench on the two markers is f g_s + tau g_t:

    f = -mu(v) L,    L = preload + sqrt(|F - n n.F|^2 + |M - n n.M|^2 / arm^2)         along the axis
    tau = -radius mu(radius w) L_t,    L_t = preload + |F - n n.F|                       about the axis

mu: the coefficient of `friction_law`, with the sign of the speed. F, M: reaction of the joint on its second marker,
-sum of lam g over the joint's rows. Derivatives by lam go beside Phi_q^T (ROW_R), those by pose use the joint's own sum
of lam H, which stands in GROUP_K.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from index3.algebra.vectors import cross, dot, load, scale, skew, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.constraints.products import turn_first
from index3.constraints.rows import axis, put_gradient
from index3.forces.force import Place, add_block, element_table
from index3.forces.friction_law import FRICTION_FIELDS, friction_ratio

FRICTION = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("row", "i8"),  # rows of the joint, and its places in ROW_G and GROUP_K
        ("rows", "i8"),
        ("gradient", "i8"),
        ("joint", "i8"),
        ("sliding", "f8"),  # 1 if it slides along its axis, else 0
        ("turning", "f8"),  # 1 if it turns about its axis, else 0
        *FRICTION_FIELDS,
        ("radius", "f8"),
        ("lever", "f8"),  # 1 / arm
        ("preload", "f8"),
    ]
)
FRICTIONS, ROOM = slots(frictions=(FRICTION, 1), room=("f8", 2))
MEMORY = (ROOM,)
SLIDE, TURN, REACTION, BY_POSE, BY_POSE_TURN = range(5)
"""Rows of ROOM, 12 numbers each: g_s, g_t, reaction (6) and the derivatives of f and tau by pose."""


def table(elements: Sequence[Any], places: Sequence[Place]) -> Table:
    """The table of all frictions of a system."""
    result = Table(2)
    result[FRICTIONS] = element_table(FRICTIONS, elements, places)[FRICTIONS]
    result[ROOM] = np.zeros((5, 12))
    return result


@helper
def coefficient(friction, v):
    """mu(v)."""
    return friction_ratio(friction, abs(v))[0] * v


@helper
def slope_of(T, friction, v):
    """The derivative of mu(v), or its secant through rest."""
    secant, slope = friction_ratio(friction, abs(v))
    view(T, s.STATUS)[s.SLIDES] = 1
    return secant if view(T, s.STATUS)[s.SECANTS] == 1 else secant + slope * v * v


@helper
def fill_room(T, E, friction):
    """Fill g_s, g_t and the reaction in ROOM; returns n, d, sliding speed and spin."""
    A, r, V, room = view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V), view(E, ROOM)
    lam, g, zero = view(T, s.LAM), view(T, s.ROW_G), (0.0, 0.0, 0.0)
    i, j = friction.i, friction.j
    n, d = axis(A, i, 2), sub(load(r, j), load(r, i))
    put_gradient(room[SLIDE], 0, scale(-1.0, n), cross(n, d), n, zero)
    put_gradient(room[TURN], 0, zero, scale(-1.0, n), zero, n)
    for c in range(6):
        room[REACTION, c] = 0.0
    for k in range(friction.rows):
        for c in range(6):
            room[REACTION, c] -= lam[friction.row + k] * g[friction.gradient + 12 * k + 6 + c]
    v, w = 0.0, 0.0
    for c in range(6):
        v += room[SLIDE, c] * V[i, c] + room[SLIDE, 6 + c] * V[j, c]
        w += room[TURN, c] * V[i, c] + room[TURN, 6 + c] * V[j, c]
    return n, d, v, w


@helper
def across(room, first, n):
    """The part across n of the reaction's force (first = 0) or moment (3)."""
    x = (room[REACTION, first], room[REACTION, first + 1], room[REACTION, first + 2])
    return sub(x, scale(dot(n, x), n))


@helper
def loads(room, friction, n):
    """Force and moment across n, and the sizes L - preload, L_t - preload."""
    F, M = across(room, 0, n), across(room, 3, n)
    return F, M, sqrt(dot(F, F) + dot(M, M) * friction.lever * friction.lever), sqrt(dot(F, F))


@helper
def pulls(friction, v, w, load_s, load_t):
    """f and tau."""
    along = -friction.sliding * coefficient(friction, v) * (friction.preload + load_s)
    about = coefficient(friction, friction.radius * w) * (friction.preload + load_t)
    return along, -friction.turning * friction.radius * about


@helper
def act(T, E, friction):
    """Sliding speed, spin, f and tau, with ROOM filled by `look`."""
    n, _, v, w = fill_room(T, E, friction)
    _, _, load_s, load_t = loads(view(E, ROOM), friction, n)
    along, about = pulls(friction, v, w, load_s, load_t)
    return v, w, along, about


@kernel
def forces(T, E):
    """The friction of every joint on its two bodies."""
    frictions, room, f = view(E, FRICTIONS), view(E, ROOM), view(T, s.MARKER_F)
    for e in range(frictions.shape[0]):
        _, _, along, about = act(T, E, frictions[e])
        for c in range(6):
            f[frictions[e].i, c] += along * room[SLIDE, c] + about * room[TURN, c]
            f[frictions[e].j, c] += along * room[SLIDE, 6 + c] + about * room[TURN, 6 + c]
    return OK


@helper
def by_reaction(friction, v, w, F, M, load_s, load_t):
    """f_L L_F, f_L L_M and tau_L L_F: how f and tau change with the force and moment across n."""
    mu_s = -friction.sliding * coefficient(friction, v)
    mu_t = -friction.turning * friction.radius * coefficient(friction, friction.radius * w)
    x = mu_s / load_s if load_s > 0.0 else 0.0
    y = mu_t / load_t if load_t > 0.0 else 0.0
    return scale(x, F), scale(x * friction.lever * friction.lever, M), scale(y, F)


@helper
def fill_pose_derivatives(T, E, friction, n, v, w):
    """Derivatives of f and tau by pose, with the reaction's own: rows BY_POSE and BY_POSE_TURN; those by lam: ROW_R."""
    room, K, V = view(E, ROOM), view(T, s.GROUP_K), view(T, s.MARKER_V)
    row_g, row_r = view(T, s.ROW_G), view(T, s.ROW_R)
    F, M, load_s, load_t = loads(room, friction, n)
    f_F, f_M, t_F = by_reaction(friction, v, w, F, M, load_s, load_t)
    for c in range(12):
        x, y = 0.0, 0.0
        for k in range(3):
            force, moment = K[friction.joint + 12 * (6 + k) + c], K[friction.joint + 12 * (9 + k) + c]
            x -= f_F[k] * force + f_M[k] * moment
            y -= t_F[k] * force
        room[BY_POSE, c] = x
        room[BY_POSE_TURN, c] = y
    # as n turns: dL = -(x . n)(F . dn) for the unit vector x along F, dn = dtheta_i x n
    R, S = load(room, REACTION), (room[REACTION, 3], room[REACTION, 4], room[REACTION, 5])
    turn_s = cross(n, sub(scale(-dot(n, R), f_F), scale(dot(n, S), f_M)))
    turn_t = cross(n, scale(-dot(n, R), t_F))
    # as g_s and g_t turn: V^T dg
    by_v = -friction.sliding * slope_of(T, friction, v) * (friction.preload + load_s)
    rate = friction.radius * friction.radius * slope_of(T, friction, friction.radius * w)
    by_w = -friction.turning * rate * (friction.preload + load_t)
    i, j = friction.i, friction.j
    moving = sub(sub(load(V, j), load(V, i)), cross((V[i, 3], V[i, 4], V[i, 5]), sub_points(T, i, j)))
    spinning = sub((V[j, 3], V[j, 4], V[j, 5]), (V[i, 3], V[i, 4], V[i, 5]))
    spin_n = cross((V[i, 3], V[i, 4], V[i, 5]), n)
    turned_s, turned_t = cross(n, moving), cross(n, spinning)
    for k in range(3):
        room[BY_POSE, k] -= by_v * spin_n[k]
        room[BY_POSE, 6 + k] += by_v * spin_n[k]
        room[BY_POSE, 3 + k] += by_v * turned_s[k] + turn_s[k]
        room[BY_POSE_TURN, 3 + k] += by_w * turned_t[k] + turn_t[k]
    for k in range(friction.rows):
        first = friction.gradient + 12 * k
        x, y = 0.0, 0.0
        for c in range(3):
            x -= f_F[c] * row_g[first + 6 + c] + f_M[c] * row_g[first + 9 + c]
            y -= t_F[c] * row_g[first + 6 + c]
        for c in range(12):
            row_r[first + c] -= x * room[SLIDE, c] + y * room[TURN, c]
    return by_v, by_w


@helper
def sub_points(T, i, j):
    """r_j - r_i."""
    r = view(T, s.MARKER_R)
    return sub(load(r, j), load(r, i))


@kernel
def force_derivatives(T, E):
    """-d(f g_s + tau g_t) by pose, by twist and by the multipliers of the joint."""
    frictions, room, K, D = view(E, FRICTIONS), view(E, ROOM), view(T, s.GROUP_K), view(T, s.GROUP_D)
    for e in range(frictions.shape[0]):
        first = frictions[e].group
        v, w, along, about = act(T, E, frictions[e])
        n, d = axis(view(T, s.MARKER_A), frictions[e].i, 2), sub_points(T, frictions[e].i, frictions[e].j)
        by_v, by_w = fill_pose_derivatives(T, E, frictions[e], n, v, w)
        for a in range(12):
            for b in range(12):
                at = first + 12 * a + b
                K[at] -= room[SLIDE, a] * room[BY_POSE, b] + room[TURN, a] * room[BY_POSE_TURN, b]
                D[at] -= by_v * room[SLIDE, a] * room[SLIDE, b] + by_w * room[TURN, a] * room[TURN, b]
        N = skew(n)  # dn = -N dtheta_i
        add_block(K, first, 12, 0, 1, N, -along)
        add_block(K, first, 12, 2, 1, N, along)
        add_block(K, first, 12, 1, 1, turn_first(n, d), -along)
        add_block(K, first, 12, 1, 0, N, along)
        add_block(K, first, 12, 1, 2, N, -along)
        add_block(K, first, 12, 1, 1, N, -about)
        add_block(K, first, 12, 3, 1, N, about)
    return OK


@kernel
def energy(T, E):
    """Power of friction: what it takes."""
    frictions, values = view(E, FRICTIONS), view(T, s.ENERGY)
    for e in range(frictions.shape[0]):
        v, w, along, about = act(T, E, frictions[e])
        values[s.POWER] += along * v + about * w
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}
