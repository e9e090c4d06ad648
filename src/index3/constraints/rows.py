"""What constraint primitives share: their record, and the use of a row's second derivatives.

A primitive ties the markers of its group, mostly two, i and j. In their twists xi = (r_i, theta_i, r_j, theta_j, ...),
two 3-vectors per marker, a row has a value Phi, a gradient g (6 numbers per marker) and H = dg/dxi. Blocks of H are
numbered like the 3-vectors. The wrench of a row on its markers is -lam g, so joints are forces whose law is lam g.
"""

from __future__ import annotations

import numpy as np

from index3.algebra.vectors import add_at, put_at
from index3.compiled import slots as s
from index3.compiled.interface import helper, view

ROW_FIELDS = [
    ("markers", "i8"),  # of the group: first place in GROUP_MARKERS
    ("marker_count", "i8"),
    ("i", "i8"),  # the first two of them
    ("j", "i8"),
    ("row", "i8"),  # first constraint row
    ("gradient", "i8"),  # first place in ROW_G
    ("stiffness", "i8"),  # first place in GROUP_K of the group
]


def row_dtype(*fields: tuple) -> np.dtype:
    """The record of a primitive: the common fields and its own."""
    return np.dtype([*ROW_FIELDS, *fields])


@helper
def axis(A, marker, k):
    """Axis k of a marker, ground components."""
    return (A[marker, k], A[marker, 3 + k], A[marker, 6 + k])


@helper
def put_gradient(g, first, ri, ti, rj, tj):
    """Write the four vectors of a gradient."""
    for k in range(3):
        g[first + k] = ri[k]
        g[first + 3 + k] = ti[k]
        g[first + 6 + k] = rj[k]
        g[first + 9 + k] = tj[k]


@helper
def put_block(H, a, b, B, c):
    """Write c B into block (a, b) of H."""
    put_at(H, 3 * a, 3 * b, (c * B[0], c * B[1], c * B[2]))
    put_at(H, 3 * a + 1, 3 * b, (c * B[3], c * B[4], c * B[5]))
    put_at(H, 3 * a + 2, 3 * b, (c * B[6], c * B[7], c * B[8]))


@helper
def add_block(H, a, b, B, c):
    """Add c B to block (a, b) of H."""
    add_at(H, 3 * a, 3 * b, (c * B[0], c * B[1], c * B[2]))
    add_at(H, 3 * a + 1, 3 * b, (c * B[3], c * B[4], c * B[5]))
    add_at(H, 3 * a + 2, 3 * b, (c * B[6], c * B[7], c * B[8]))


@helper
def add_vector(g, first, a, c):
    """Add c a to three places of a flat array."""
    for k in range(3):
        g[first + k] += c * a[k]


@helper
def clear_hessian(T, count=2):
    """The room for one H of `count` markers, all zero; a kernel then writes the same blocks for each of its rows."""
    H = view(T, s.HESSIAN)
    for a in range(6 * count):
        for b in range(6 * count):
            H[a, b] = 0.0
    return H


@helper
def contract_twist(T, rows, e, H):
    """V^T H of row e alone."""
    gradient, width, members = rows[e].gradient, 6 * rows[e].marker_count, view(T, s.GROUP_MARKERS)
    V, vh = view(T, s.MARKER_V), view(T, s.ROW_VH)
    for a in range(gradient, gradient + width):
        vh[a] = 0.0
    for a in range(width):
        x = V[members[rows[e].markers + a // 6], a % 6]
        for b in range(width):
            vh[gradient + b] += H[a, b] * x


@helper
def use_hessian(T, rows, e, H):
    """Add lam H of row e to the group's stiffness; contract H with the twist V, with X = J a and with the bias B."""
    count, gradient, stiffness = rows[e].marker_count, rows[e].gradient, rows[e].stiffness
    members, first = view(T, s.GROUP_MARKERS), rows[e].markers
    group_k, lam, width = view(T, s.GROUP_K), view(T, s.LAM)[rows[e].row], 6 * count
    V, X, B = view(T, s.MARKER_V), view(T, s.MARKER_X), view(T, s.MARKER_B)
    if view(T, s.STATUS)[s.GAMMA_ALONE] == 1:
        contract_twist(T, rows, e, H)
        return
    vh, hv, xh, bh = view(T, s.ROW_VH), view(T, s.ROW_HV), view(T, s.ROW_XH), view(T, s.ROW_BH)
    for a in range(gradient, gradient + width):
        vh[a] = 0.0
        hv[a] = 0.0
        xh[a] = 0.0
        bh[a] = 0.0
    for a in range(width):
        marker_a, at_a = members[first + a // 6], a % 6
        for b in range(width):
            h = H[a, b]
            if h != 0.0:
                marker_b, at_b = members[first + b // 6], b % 6
                group_k[stiffness + width * a + b] += lam * h
                vh[gradient + b] += h * V[marker_a, at_a]
                hv[gradient + a] += h * V[marker_b, at_b]
                xh[gradient + b] += h * X[marker_a, at_a]
                bh[gradient + b] += h * B[marker_a, at_a]
