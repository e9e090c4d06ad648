"""Accelerations through the reduced matrix: multipliers first, then body by body.

[NegrutThesis] section 3.4.2: with B = Phi_q M^-1 Phi_q^T, B lam = Phi_q M^-1 Q - gamma, then M a = Q - Phi_q^T lam
(3.108)-(3.111). M is block diagonal, so nothing larger than a body's block or B is factored. B is positive definite if
no row is redundant; it is assembled body by body (3.109), (3.110) into the envelope of the order of `linear.envelope`
and factored there (Algorithm 3).

Ours differs: Euler parameters stay, with the body's block made definite by its normalisation row as in `static_lu`
(the thesis goes over to angular velocities, Algorithm 2). It takes symmetric matrices whose upper block couples no two
bodies, and no redundant rows; `StaticLU` takes all others.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.linear import contract
from index3.linear.contract import AI, AP, BAD_SCALAR, INFO, MARGIN, N_COORDINATES, A, X

# fmt: off
(
    VALUES, RHS, COUPLING,                                               # A as factored; for refinement; zero entries
    SIZES, BLOCK_START, BLOCK_PLACE, BLOCK, WEIGHT, COORDINATE,          # bodies: size, place and values of M's block
    TOUCH_START, TOUCH_ROW, TOUCH_PLACE, Y_START, Y,                     # rows on a body, as eliminated; L_b^-1 Phi^T
    OWN, FIRST, ROW_START, L, LAM, TOLERANCE,                            # envelope of B by rows; multipliers; limit
) = OWN_SLOTS = extended(
    contract.SLOTS,
    values=("f8", 1), rhs=("f8", 1), coupling=("i8", 1),
    sizes=("i8", 1), block_start=("i8", 1), block_place=("i8", 1), block=("f8", 1),
    weight=("f8", 1), coordinate=("i8", 1),
    touch_start=("i8", 1), touch_row=("i8", 1), touch_place=("i8", 1), y_start=("i8", 1), y=("f8", 1),
    own=("i8", 1), first=("i8", 1), row_start=("i8", 1), l=("f8", 1), lam=("f8", 1), tolerance=("f8", 1),
)
# fmt: on
SLOTS = contract.SLOTS + OWN_SLOTS
LARGEST = float(np.finfo(float).max)


@helper
def take_matrix(S):
    """Copy A; OK unless a number is not finite or two bodies are coupled."""
    a, values, coupling = view(S, A), view(S, VALUES), view(S, COUPLING)
    for p in range(values.shape[0] - 1):  # the last place stays zero, for entries that the pattern lacks
        values[p] = a[p]
        if not abs(a[p]) <= LARGEST:
            return contract.NOT_FINITE
    for k in range(coupling.shape[0]):
        if values[coupling[k]] != 0.0:
            return contract.UNSUITABLE
    return OK


@helper
def factor_dense(a, at, n):
    """Cholesky of a dense block of n rows at `at`, in place; the number of the bad pivot + 1, or 0."""
    for i in range(n):
        for j in range(i + 1):
            x = a[at + i * n + j]
            for k in range(j):
                x -= a[at + i * n + k] * a[at + j * n + k]
            if j < i:
                a[at + i * n + j] = x / a[at + j * n + j]
            else:
                if not x > 0.0:
                    return i + 1
                a[at + i * n + i] = sqrt(x)
    return 0


@helper
def forward(a, at, n, y, first):
    """y := L^-1 y for a factored block."""
    for i in range(n):
        x = y[first + i]
        for k in range(i):
            x -= a[at + i * n + k] * y[first + k]
        y[first + i] = x / a[at + i * n + i]


@helper
def take_body(S, b):
    """Fill and factor the block of body b, and Y = L_b^-1 Phi^T of every row that touches it."""
    values, block, y, place = view(S, VALUES), view(S, BLOCK), view(S, Y), view(S, TOUCH_PLACE)
    n, at, source = view(S, SIZES)[b], view(S, BLOCK_START)[b], view(S, BLOCK_PLACE)
    first, last = view(S, TOUCH_START)[b], view(S, TOUCH_START)[b + 1]
    for k in range(n * n):
        block[at + k] = values[source[at + k]]
    start = view(S, Y_START)[b]
    for t in range(first, last):
        into = start + (t - first) * n
        for k in range(n):
            y[into + k] = values[place[into + k]]
        c = view(S, WEIGHT)[view(S, TOUCH_ROW)[t]]
        if c != 0.0:
            for i in range(n):
                for j in range(n):
                    block[at + i * n + j] += c * y[into + i] * y[into + j]
    if factor_dense(block, at, n) != 0:
        return b + 1
    for t in range(first, last):
        forward(block, at, n, y, start + (t - first) * n)
    return OK


@helper
def add_products(S, b):
    """B += Y^T Y of one body, lower half."""
    y, row, lower = view(S, Y), view(S, TOUCH_ROW), view(S, L)
    n, start, first, row_start = view(S, SIZES)[b], view(S, Y_START)[b], view(S, FIRST), view(S, ROW_START)
    begin, end = view(S, TOUCH_START)[b], view(S, TOUCH_START)[b + 1]
    for s in range(begin, end):
        for t in range(begin, s + 1):
            x = 0.0
            for k in range(n):
                x += y[start + (s - begin) * n + k] * y[start + (t - begin) * n + k]
            lower[row_start[row[s]] + row[t] - first[row[s]]] += x


@helper
def assemble(S):
    """Body blocks and the reduced matrix from the values of the bordered one."""
    lower = view(S, L)
    for k in range(lower.shape[0]):
        lower[k] = 0.0
    for b in range(view(S, SIZES).shape[0]):
        if take_body(S, b) != OK:
            view(S, INFO)[BAD_SCALAR] = view(S, COORDINATE)[b]
            return contract.BODY_SINGULAR
        add_products(S, b)
    return OK


@helper
def factor_envelope(S):
    """Cholesky inside the envelope, down to pivots that are those of redundant rows."""
    lower, first, start, closest = view(S, L), view(S, FIRST), view(S, ROW_START), LARGEST
    tolerance, info = view(S, TOLERANCE)[0], view(S, INFO)
    for i in range(first.shape[0]):
        for j in range(first[i], i + 1):
            at = start[i] + j - first[i]
            x = lower[at]
            for k in range(max(first[i], first[j]), j):
                x -= lower[start[i] + k - first[i]] * lower[start[j] + k - first[j]]
            if j < i:
                lower[at] = x / lower[start[j] + j - first[j]]
            else:
                limit = tolerance * lower[at]
                if not abs(x) <= LARGEST:
                    return contract.NOT_FINITE
                if not x > limit:
                    info[BAD_SCALAR] = info[N_COORDINATES] + view(S, OWN)[i]
                    return contract.ROW_REDUNDANT
                closest = min(closest, x / limit)
                lower[at] = sqrt(x)
    view(S, MARGIN)[0] = closest
    return OK


@kernel
def factor(T, S):
    """Factor body blocks and the reduced matrix."""
    contract.begin(S)
    status = take_matrix(S)
    if status == OK:
        status = assemble(S)
    if status == OK:
        status = factor_envelope(S)
    return contract.end(S, status)


@helper
def solve_envelope(S, x):
    """x := B^-1 x."""
    lower, first, start = view(S, L), view(S, FIRST), view(S, ROW_START)
    size = first.shape[0]
    for i in range(size):
        for k in range(first[i], i):
            x[i] -= lower[start[i] + k - first[i]] * x[k]
        x[i] /= lower[start[i] + i - first[i]]
    for i in range(size - 1, -1, -1):
        x[i] /= lower[start[i] + i - first[i]]
        for k in range(first[i], i):
            x[k] -= lower[start[i] + k - first[i]] * x[i]


@helper
def scale_forces(S, sign):
    """Right side of the multipliers: LAM += sign * Y^T z, or z -= Y lam for sign 0, body by body."""
    x, lam, y, row, coordinate = view(S, X), view(S, LAM), view(S, Y), view(S, TOUCH_ROW), view(S, COORDINATE)
    sizes, start, touch = view(S, SIZES), view(S, Y_START), view(S, TOUCH_START)
    for b in range(sizes.shape[0]):
        n, c = sizes[b], coordinate[b]
        for t in range(touch[b], touch[b + 1]):
            into = start[b] + (t - touch[b]) * n
            for k in range(n):
                if sign != 0.0:
                    lam[row[t]] += sign * y[into + k] * x[c + k]
                else:
                    x[c + k] -= y[into + k] * lam[row[t]]


@helper
def substitute(S):
    """Replace X = (forces, gamma) by (accelerations, multipliers in the caller's order)."""
    x, lam, own, first = view(S, X), view(S, LAM), view(S, OWN), view(S, FIRST)
    block, sizes, at, coordinate = view(S, BLOCK), view(S, SIZES), view(S, BLOCK_START), view(S, COORDINATE)
    n = x.shape[0] - lam.shape[0]
    for i in range(first.shape[0]):
        lam[i] = -x[n + own[i]]
    for b in range(sizes.shape[0]):
        forward(block, at[b], sizes[b], x, coordinate[b])
    scale_forces(S, 1.0)
    solve_envelope(S, lam)
    scale_forces(S, 0.0)
    for b in range(sizes.shape[0]):
        size, c = sizes[b], coordinate[b]
        for i in range(size - 1, -1, -1):
            x[c + i] /= block[at[b] + i * size + i]
            for k in range(i):
                x[c + k] -= block[at[b] + i * size + k] * x[c + i]
    for i in range(lam.shape[0]):
        x[n + own[i]] = lam[i] + view(S, WEIGHT)[i] * x[n + own[i]]  # the augmented block took c gamma of it


@kernel
def solve(T, S):
    """Replace X by the solution."""
    substitute(S)
    return OK


@kernel
def solve_refined(T, S):
    """As `solve`, with one step of iterative refinement."""
    ap, ai, values, x, b = view(S, AP), view(S, AI), view(S, VALUES), view(S, X), view(S, RHS)
    for i in range(x.shape[0]):
        b[i] = x[i]
    substitute(S)
    for j in range(x.shape[0]):
        for p in range(ap[j], ap[j + 1]):
            b[ai[p]] -= values[p] * x[j]
    for i in range(x.shape[0]):
        x[i], b[i] = b[i], x[i]
    substitute(S)
    for i in range(x.shape[0]):
        x[i] += b[i]
    return OK


@kernel
def determine(T, S):
    """Multipliers stay as they are: no row is ever left out."""
    return OK
