"""What constraint primitives share: their record, and the use of a row's second derivatives.

A primitive ties two markers i, j. In their twists xi = (r_i, theta_i, r_j, theta_j), four 3-vectors, a row has a value
Phi, a gradient g (12 numbers) and H = dg/dxi (12 x 12). Blocks of H are numbered 0..3 like the four vectors.
The wrench of a row on its markers is -lam g, so joints are forces whose law is lam g.
"""

from __future__ import annotations

import numpy as np

from index3.algebra.vectors import put_at
from index3.compiled import slots as s
from index3.compiled.interface import helper, typed_helper, view

ROW_FIELDS = [
    ("i", "i8"),  # markers
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


@typed_helper("void(f8[:,::1], i8, i8, UniTuple(f8, 9), f8)")
def put_block(H, a, b, B, c):
    """Write c B into block (a, b) of H."""
    put_at(H, 3 * a, 3 * b, (c * B[0], c * B[1], c * B[2]))
    put_at(H, 3 * a + 1, 3 * b, (c * B[3], c * B[4], c * B[5]))
    put_at(H, 3 * a + 2, 3 * b, (c * B[6], c * B[7], c * B[8]))


@helper
def clear_hessian(T):
    """The room for one H, all zero; a kernel then writes the same blocks for each of its rows."""
    H = view(T, s.HESSIAN)
    for a in range(12):
        for b in range(12):
            H[a, b] = 0.0
    return H


@helper
def use_hessian(T, i, j, row, gradient, stiffness, H):
    """Add lam H to the group's stiffness; contract H with the twist V, with X = J a and with the bias B."""
    group_k, lam = view(T, s.GROUP_K), view(T, s.LAM)[row]
    V, X, B = view(T, s.MARKER_V), view(T, s.MARKER_X), view(T, s.MARKER_B)
    vh, hv, xh, bh = view(T, s.ROW_VH), view(T, s.ROW_HV), view(T, s.ROW_XH), view(T, s.ROW_BH)
    for a in range(12):
        vh[gradient + a] = 0.0
        hv[gradient + a] = 0.0
        xh[gradient + a] = 0.0
        bh[gradient + a] = 0.0
    for a in range(12):
        marker_a, at_a = (i, a) if a < 6 else (j, a - 6)
        for b in range(12):
            h = H[a, b]
            if h != 0.0:
                marker_b, at_b = (i, b) if b < 6 else (j, b - 6)
                group_k[stiffness + 12 * a + b] += lam * h
                vh[gradient + b] += h * V[marker_a, at_a]
                hv[gradient + a] += h * V[marker_b, at_b]
                xh[gradient + b] += h * X[marker_a, at_a]
                bh[gradient + b] += h * B[marker_a, at_a]
