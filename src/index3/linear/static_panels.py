"""Elimination of symmetric matrices in panels of one to three columns: L D L^T as in `static_ldl`, for sparse factors.

A panel has its columns' rows below in common (`supernodes`). Each pair of these rows is one number further on that the
panel changes, and its place is kept: a mechanism of few bodies has so few of them that dense blocks, however well they
stream, would spend most of their time on bookkeeping. Blocks hold U^T = L D row by row, as there.
"""

from __future__ import annotations

from index3.compiled.interface import OK, helper, view
from index3.linear.contract import INFO, N_COORDINATES
from index3.linear.static_lu import (
    BLOCKS,
    LIMIT,
    NODE_BELOW,
    NODE_FIRST,
    NODE_ROWS,
    NODE_START,
    NOISE,
    PAIRS,
    PERM,
    UD,
    is_usable,
    quiet_noise,
    take_pivot,
)  # fmt: skip


@helper
def reduce_second(x, at, width, count, u):
    """Subtract the first column of a panel from its second one, in rows from a place on."""
    for _ in range(count):
        x[at + 1] -= x[at] * u
        at += width


@helper
def reduce_third(x, at, count, u, v):
    """Subtract the first two columns of a panel from its third one, in rows from a place on."""
    for _ in range(count):
        x[at + 2] -= x[at] * u + x[at + 1] * v
        at += 3


@helper
def change_by_one(x, low, count, pairs, at, u):
    """Subtract the products of the rows below a panel of one column from the numbers that belong to their pairs."""
    for i in range(count):
        p = x[low + i] * u
        for j in range(i, count):
            x[pairs[at]] -= x[low + j] * p
            at += 1
    return at


@helper
def change_by_two(x, low, count, pairs, at, u, v):
    """As `change_by_one`, for two columns."""
    end = low + 2 * count
    for _ in range(count):
        p, q, j = x[low] * u, x[low + 1] * v, low
        while j < end:
            x[pairs[at]] -= x[j] * p + x[j + 1] * q
            at += 1
            j += 2
        low += 2
    return at


@helper
def change_by_three(x, low, count, pairs, at, u, v, w):
    """As `change_by_one`, for three columns."""
    end = low + 3 * count
    for _ in range(count):
        p, q, r, j = x[low] * u, x[low + 1] * v, x[low + 2] * w, low
        while j < end:
            x[pairs[at]] -= x[j] * p + x[j + 1] * q + x[j + 2] * r
            at += 1
            j += 3
        low += 3
    return at


@helper
def eliminate(S):
    """Fill the blocks panel by panel, with the matrix in them; returns the status."""
    x, ud, perm, pairs, below = view(S, BLOCKS), view(S, UD), view(S, PERM), view(S, PAIRS), view(S, NODE_BELOW)
    firsts, start, worst, pair = view(S, NODE_FIRST), view(S, NODE_START), 0.0, 0
    limit, noise, n, quiet = view(S, LIMIT), view(S, NOISE), view(S, INFO)[N_COORDINATES], quiet_noise(S)
    for a in range(firsts.shape[0] - 1):
        first, at, count = firsts[a], start[a], below[a + 1] - below[a]
        width = firsts[a + 1] - first
        for k in range(first, first + width):
            if k == first + 1:
                reduce_second(x, at, width, width - 1 + count, x[at] * ud[first])
                pivot = x[at + 1]
            elif k == first + 2:
                reduce_third(x, at, 1 + count, x[at] * ud[first], x[at + 1] * ud[first + 1])
                pivot = x[at + 2]
            else:
                pivot = x[at]
            at += width
            scalar = perm[k]
            if is_usable(pivot, limit[k]) and (scalar < n or worst <= quiet):
                ud[k] = 1.0 / pivot
                if scalar >= n:
                    noise[k] *= abs(ud[k])  # from here on the relative error
                    worst = max(worst, noise[k])
            else:
                status, worst = take_pivot(S, k, scalar, pivot, worst)
                if status != OK:
                    return status
        if width == 1:
            pair = change_by_one(x, at, count, pairs, pair, ud[first])
        elif width == 2:
            pair = change_by_two(x, at, count, pairs, pair, ud[first], ud[first + 1])
        else:
            pair = change_by_three(x, at, count, pairs, pair, ud[first], ud[first + 1], ud[first + 2])
    return OK


@helper
def solve_lower(S, b):
    """b = D^-1 L^-1 b, each number in its own place."""
    x, rows, below, perm = view(S, BLOCKS), view(S, NODE_ROWS), view(S, NODE_BELOW), view(S, PERM)
    firsts, start, ud = view(S, NODE_FIRST), view(S, NODE_START), view(S, UD)
    for a in range(firsts.shape[0] - 1):
        k, at, width = firsts[a], start[a], firsts[a + 1] - firsts[a]
        u = b[perm[k]] * ud[k]
        b[perm[k]] = u
        if width == 1:
            at += 1
            for r in range(below[a], below[a + 1]):
                b[rows[r]] -= x[at] * u
                at += 1
            continue
        v = (b[perm[k + 1]] - x[at + width] * u) * ud[k + 1]
        b[perm[k + 1]] = v
        if width == 2:
            at += 4
            for r in range(below[a], below[a + 1]):
                b[rows[r]] -= x[at] * u + x[at + 1] * v
                at += 2
            continue
        w = (b[perm[k + 2]] - (x[at + 6] * u + x[at + 7] * v)) * ud[k + 2]
        b[perm[k + 2]] = w
        at += 9
        for r in range(below[a], below[a + 1]):
            b[rows[r]] -= x[at] * u + x[at + 1] * v + x[at + 2] * w
            at += 3


@helper
def solve_upper(S, b):
    """b = L^-T b."""
    x, rows, below, perm = view(S, BLOCKS), view(S, NODE_ROWS), view(S, NODE_BELOW), view(S, PERM)
    firsts, start, ud = view(S, NODE_FIRST), view(S, NODE_START), view(S, UD)
    for a in range(firsts.shape[0] - 2, -1, -1):
        k, at, width = firsts[a], start[a], firsts[a + 1] - firsts[a]
        u, v, w = 0.0, 0.0, 0.0
        if width == 1:
            at += 1
            for r in range(below[a], below[a + 1]):
                u += x[at] * b[rows[r]]
                at += 1
        elif width == 2:
            at += 4
            for r in range(below[a], below[a + 1]):
                y = b[rows[r]]
                u += x[at] * y
                v += x[at + 1] * y
                at += 2
            y = b[perm[k + 1]] - v * ud[k + 1]
            b[perm[k + 1]] = y
            u += x[start[a] + 2] * y
        else:
            at += 9
            for r in range(below[a], below[a + 1]):
                y = b[rows[r]]
                u += x[at] * y
                v += x[at + 1] * y
                w += x[at + 2] * y
                at += 3
            at = start[a]
            z = b[perm[k + 2]] - w * ud[k + 2]
            y = b[perm[k + 1]] - (v + x[at + 7] * z) * ud[k + 1]
            b[perm[k + 2]] = z
            b[perm[k + 1]] = y
            u += x[at + 6] * z + x[at + 3] * y
        b[perm[k]] -= u * ud[k]
