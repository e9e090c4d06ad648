"""Substitution with the factors of `static_lu`, and refinement."""

from __future__ import annotations

from index3.compiled.interface import OK, helper, kernel, view
from index3.linear import static_ldl, static_panels
from index3.linear.contract import AI, AP, HEND, INFO, N_COORDINATES, X
from index3.linear.static_lu import (
    AUG_COORD,
    AUG_G,
    AUG_PTR,
    AUG_ROW,
    CHOICE,
    HALVED,
    LI,
    LP,
    LX,
    PAIRS,
    PERM,
    PINV,
    RESIDUAL,
    RHS,
    SETTINGS,
    SIFT,
    SLI,
    SLP,
    SLX,
    SOURCE_P,
    SOURCE_ROW,
    SUI,
    SUP,
    SUX,
    UD,
    UI,
    UP,
    UX,
    VALUES,
    WORK,
)


@helper
def augment_right_side(S, b):
    """Add c g b_r to b for each row that H was augmented with."""
    row, ptr, coord, g = view(S, AUG_ROW), view(S, AUG_PTR), view(S, AUG_COORD), view(S, AUG_G)
    for r in range(row.shape[0]):
        for i in range(ptr[r], ptr[r + 1]):
            b[coord[i]] += g[i] * b[row[r]]


@helper
def solve_factors(perm, pinv, lp, li, lx, up, ui, ux, ud, y, b):
    """Replace b by the solution of L U x = b, real or complex; unknowns of zero pivots become 0. y stays zero."""
    size = perm.shape[0]
    for i in range(size):
        y[pinv[i]] = b[i]
    for k in range(size):
        u = y[k]
        if u != 0.0:
            for p in range(lp[k], lp[k + 1]):
                y[li[p]] -= lx[p] * u
    for k in range(size - 1, -1, -1):
        u = y[k] * ud[k]
        b[perm[k]] = u
        y[k] = 0.0
        if u != 0.0:
            for p in range(up[k], up[k + 1]):
                y[ui[p]] -= ux[p] * u


@helper
def substitute(S, b):
    """Replace b by the solution for the matrix last factored."""
    if view(S, CHOICE)[HALVED] == 1:
        if view(S, PAIRS).shape[0] == 0:
            static_ldl.substitute(S, b)
        else:
            static_panels.solve_lower(S, b)
            static_panels.solve_upper(S, b)
        return
    perm, pinv, y = view(S, PERM), view(S, PINV), view(S, WORK)
    lp, li, lx = view(S, LP), view(S, LI), view(S, LX)
    up, ui, ux, ud = view(S, UP), view(S, UI), view(S, UX), view(S, UD)
    if view(S, SETTINGS)[SIFT] == 1.0:
        lp, li, lx = view(S, SLP), view(S, SLI), view(S, SLX)
        up, ui, ux = view(S, SUP), view(S, SUI), view(S, SUX)
    solve_factors(perm, pinv, lp, li, lx, up, ui, ux, ud, y, b)


@kernel
def solve(T, S):
    """Replace X by the solution for the matrix last factored."""
    x = view(S, X)
    augment_right_side(S, x)
    substitute(S, x)
    return OK


@kernel
def solve_refined(T, S):
    """As `solve`, with one step of iterative refinement; rows of zero pivots have no part in it."""
    ap, ai, values = view(S, AP), view(S, AI), view(S, VALUES)
    x, b, residual = view(S, X), view(S, RHS), view(S, RESIDUAL)
    augment_right_side(S, x)
    for i in range(x.shape[0]):
        b[i] = x[i]
    substitute(S, x)
    for i in range(x.shape[0]):
        residual[i] = b[i]
    if view(S, CHOICE)[HALVED] == 1:
        static_ldl.subtract_product(S, x, residual)
    else:
        for j in range(x.shape[0]):
            u = x[j]
            if u != 0.0:
                for p in range(ap[j], ap[j + 1]):
                    residual[ai[p]] -= values[p] * u
    substitute(S, residual)
    for i in range(x.shape[0]):
        x[i] += residual[i]
    return OK


@helper
def add_column(values, rows, first, end, x, k):
    """x += (column k of P^T) x_k, and x_k = 0."""
    u = x[k]
    x[k] = 0.0
    if u != 0.0:
        for p in range(first, end):
            x[rows[p]] += values[p] * u


@kernel
def determine(T, S):
    """Replace the multipliers in X by those with the same forces P^T lam, 0 on rows that were left out."""
    values, x, n = view(S, VALUES), view(S, X), view(S, INFO)[N_COORDINATES]
    for k in range(n):
        x[k] = 0.0
    if view(S, CHOICE)[HALVED] == 1:
        columns, rows = view(S, SOURCE_P), view(S, SOURCE_ROW)
        for k in range(n, x.shape[0]):
            add_column(values, rows, columns[k], columns[k + 1], x, k)
    else:
        ap, ai, hend = view(S, AP), view(S, AI), view(S, HEND)
        for k in range(n, x.shape[0]):
            add_column(values, ai, ap[k], hend[k], x, k)
    substitute(S, x)
    return OK
