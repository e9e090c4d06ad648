"""Factorisation by `static_lu` or, where the matrix is symmetric, `static_ldl`: rank and choice of rows, the kernel."""

from __future__ import annotations

from index3.compiled.interface import OK, helper, kernel, view
from index3.linear import contract, static_ldl, static_lu, static_panels
from index3.linear.contract import BAD_SCALAR, FEWEST_ZERO, INFO, MARGIN, N_COORDINATES, N_ZERO, OFF, SYMMETRIC, ZERO
from index3.linear.static_lu import (
    CHECKED,
    CHOICE,
    HALVED,
    KEPT_OUT,
    LI,
    LIMIT,
    LP,
    LX,
    N_DOUBTFUL,
    NODE_START,
    PAIRS,
    PINV,
    PREFER,
    ROW_TOLERANCE,
    SETTINGS,
    SIFT,
    SLI,
    SLP,
    SLX,
    SUI,
    SUP,
    SUX,
    UD,
    UI,
    UP,
    UX,
    WORK,
    row_tolerance,
    set_limits,
    take_matrix,
)  # fmt: skip


@helper
def sift(p_from, i_from, x_from, p_to, i_to, x_to):
    """Copy the columns of a factor without its zeros."""
    at = 0
    for k in range(p_from.shape[0] - 1):
        p_to[k] = at
        for p in range(p_from[k], p_from[k + 1]):
            if x_from[p] != 0.0:
                i_to[at] = i_from[p]
                x_to[at] = x_from[p]
                at += 1
    p_to[p_from.shape[0] - 1] = at


@helper
def set_margin(S):
    """The smallest pivot of a row, in parts of what would count as zero; rows that are left out do not count."""
    ud, limit, pinv, closest = view(S, UD), view(S, LIMIT), view(S, PINV), 1e-300
    least = view(S, SETTINGS)[ROW_TOLERANCE]
    for k in range(view(S, INFO)[N_COORDINATES], pinv.shape[0]):
        part = least / row_tolerance(S, k) if least > 0.0 else 1.0
        closest = max(closest, abs(ud[pinv[k]]) * limit[pinv[k]] * part)
    view(S, MARGIN)[0] = 1.0 / closest


@helper
def try_elimination(S, prefer):
    """Eliminate, with a preference for the rows that were left out before or without."""
    zero, info, choice = view(S, ZERO), view(S, INFO), view(S, CHOICE)
    choice[PREFER] = prefer
    choice[N_DOUBTFUL] = 0
    info[N_ZERO] = 0
    info[BAD_SCALAR] = -1
    for k in range(zero.shape[0]):
        zero[k] = 0
    if choice[HALVED] == 1:
        static_ldl.fill_blocks(S)
        return static_ldl.eliminate(S) if view(S, PAIRS).shape[0] == 0 else static_panels.eliminate(S)
    set_limits(S)
    return static_lu.eliminate(S)


@helper
def eliminate_by_rank(S):
    """Eliminate so that as many rows are left out as are known to be redundant, those with small pivots.

    On the constraints a row that is left out by the higher tolerance alone raises a doubt: it may be another choice
    among dependent rows, or rows that were redundant at the singular position of the start may count again. An
    elimination with the plain tolerance tells. See docs/theory/linear_solver.md.
    """
    info, choice, zero, kept = view(S, INFO), view(S, CHOICE), view(S, ZERO), view(S, KEPT_OUT)
    known, on = info[FEWEST_ZERO], view(S, OFF)[0] <= contract.ON
    prefer = view(S, SETTINGS)[ROW_TOLERANCE] > 0.0 and 0 < known < zero.shape[0]
    status = try_elimination(S, 1 if prefer else 0)
    if prefer and status == OK:
        doubtful = on and info[N_ZERO] == known and choice[N_DOUBTFUL] > 0 and choice[CHECKED] == 0
        if doubtful or info[N_ZERO] > known:
            status = try_elimination(S, 0)
            if doubtful and status == OK and info[N_ZERO] >= known:
                status = try_elimination(S, 1)
                choice[CHECKED] = 1
    if status == OK and (info[N_ZERO] == known or (on and info[N_ZERO] < known)):
        for k in range(zero.shape[0]):
            if kept[k] != zero[k]:
                kept[k] = zero[k]
                choice[CHECKED] = 0
    return status


@kernel
def factor(T, S):
    """Factor the matrix in A; returns OK, NOT_FINITE or BODY_SINGULAR (then there is nothing to solve with)."""
    work, halves = view(S, WORK), view(S, INFO)[SYMMETRIC] == 1 and view(S, NODE_START).shape[0] > 0
    contract.begin(S)
    view(S, CHOICE)[HALVED] = 1 if halves else 0
    status = static_ldl.take_half(S) if halves else take_matrix(S)
    if status == OK:
        status = eliminate_by_rank(S)
    if status == OK:
        set_margin(S)
        if view(S, SETTINGS)[SIFT] == 1.0 and not halves:
            sift(view(S, LP), view(S, LI), view(S, LX), view(S, SLP), view(S, SLI), view(S, SLX))
            sift(view(S, UP), view(S, UI), view(S, UX), view(S, SUP), view(S, SUI), view(S, SUX))
    else:
        for k in range(work.shape[0]):
            work[k] = 0.0
    return contract.end(S, status)
