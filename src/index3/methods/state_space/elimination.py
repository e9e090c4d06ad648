"""Sparse elimination of Phi_q row by row, for the choice of independent coordinates of large systems.

Rows come in a fixed order, those furthest from ground first. Each is reduced by the rows before it that touch it; what
is left gives its pivot, a dependent coordinate. A pivot stays with its row from call to call until the largest entry
left has grown by 1.25 beside it (so a partition changes only where the motion asks for it). A new one is, among the
entries of some size, a coordinate that no later row touches, if there is one: then nothing fills in, and along a tree
the work grows with the number of bodies. Among those, it is one with few entries in Phi_q: positions rather than
rotations. (By size alone positions of some bodies of a chain stay independent and rotations of others, and then
dependent coordinates move by a factor more from body to body.) Rows of which nothing is left are redundant.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view

(
    ORDER, START, ENTRY, LAST, COUNT, PIVOT, RATIO, PLACE, UP, UI, UX, WORK, LIST, MARK, INFO,
) = SLOTS = slots(
    order=("i8", 1), start=("i8", 1), entry=("i4", 1),  # rows as they are taken; entries of PHI_Q row by row
    last=("i4", 1),  # of each column: when the last row that touches it is taken
    count=("i4", 1),  # of each column: entries that are not zero now
    pivot=("i8", 1),  # of each row: column of its pivot, or -1
    ratio=("f8", 1),  # of each row: largest entry left beside the pivot when that was chosen
    place=("i4", 1),  # of each column: number of its reduced row, or -1
    up=("i8", 1), ui=("i4", 1), ux=("f8", 1),  # reduced rows, the pivot first
    work=("f8", 1), list=("i4", 1), mark=("i4", 1),  # one row; zero between calls
    info=("i8", 1),
)  # fmt: skip

RANK, PRODUCTS, ENTRIES, COUNTED = range(4)
"""Places in INFO: pivots, multiplications and entries of the reduced rows of the last elimination; whether COUNT is
filled."""
FULL = 1
ZERO = 1e-8
"""A row is redundant if less than this part of the terms that made it up is left (rounding leaves 1e-13)."""
GROWTH = 1.25
"""Growth of what a partition is judged by at which it is chosen anew ([NegrutThesis] 4.1.2, step 18)."""
SIZE = 0.1
"""A new pivot is at least this part of the largest entry left in its row (customary in sparse LU)."""
DUST = 1e-14
"""Entries below this part of the terms that made them up are zeros."""


@helper
def take_row(T, G, i):
    """Row i of Phi_q into WORK, its columns into LIST: their number, and the largest entry."""
    start, entry, work, columns, mark = view(G, START), view(G, ENTRY), view(G, WORK), view(G, LIST), view(G, MARK)
    phi_q, column, count, largest = view(T, s.PHI_Q), view(T, s.BLOCK_COL), 0, 0.0
    for p in range(start[i], start[i + 1]):
        x = phi_q[entry[p]]
        if x != 0.0:
            c = column[entry[p]]
            if mark[c] == 0:
                mark[c] = 1
                columns[count] = c
                count += 1
            work[c] += x
            largest = max(largest, abs(work[c]))
    return count, largest


@helper
def first_known(G, count, none):
    """The earliest reduced row whose pivot stands in WORK."""
    work, columns, place, found = view(G, WORK), view(G, LIST), view(G, PLACE), none
    for k in range(count):
        c = columns[k]
        if work[c] != 0.0 and 0 <= place[c] < found:
            found = place[c]
    return found


@helper
def reduce_row(G, count, largest, known):
    """Take the reduced rows off WORK, in the order of elimination: nothing already cleared comes back."""
    work, columns, mark, info = view(G, WORK), view(G, LIST), view(G, MARK), view(G, INFO)
    up, ui, ux = view(G, UP), view(G, UI), view(G, UX)
    r = first_known(G, count, known)
    while r < known:
        pivot = ui[up[r]]
        factor = work[pivot] / ux[up[r]]
        work[pivot] = 0.0
        for p in range(up[r] + 1, up[r + 1]):
            c, x = ui[p], factor * ux[p]
            if mark[c] == 0:
                mark[c] = 1
                columns[count] = c
                count += 1
            work[c] -= x
            largest = max(largest, abs(x))
            if abs(work[c]) <= DUST * largest:
                work[c] = 0.0
        info[PRODUCTS] += up[r + 1] - up[r]
        r = first_known(G, count, known)
    return count, largest


@helper
def is_better(G, c, other):
    """Whether column c makes a better pivot than another one, both being large enough."""
    last, entries, work = view(G, LAST), view(G, COUNT), view(G, WORK)
    if last[c] != last[other]:
        return last[c] < last[other]
    if entries[c] != entries[other]:
        return entries[c] < entries[other]
    return abs(work[c]) > abs(work[other])


@helper
def count_entries(T, G):
    """Fill COUNT, the first time that it is needed in an elimination."""
    entries, column, phi_q, info = view(G, COUNT), view(T, s.BLOCK_COL), view(T, s.PHI_Q), view(G, INFO)
    if info[COUNTED] == 1:
        return
    info[COUNTED] = 1
    for c in range(entries.shape[0]):
        entries[c] = 0
    for e in range(column.shape[0]):
        if phi_q[e] != 0.0:
            entries[column[e]] += 1


@helper
def choose_pivot(T, G, i, count, largest):
    """The column of the pivot of row i, or -1 if the row is redundant."""
    work, columns, ratio, kept, left = view(G, WORK), view(G, LIST), view(G, RATIO), view(G, PIVOT)[i], 0.0
    for k in range(count):
        left = max(left, abs(work[columns[k]]))
    if not left > ZERO * largest:
        return -1
    if kept >= 0 and abs(work[kept]) * GROWTH * ratio[i] >= left:
        return kept
    count_entries(T, G)
    best = -1
    for k in range(count):
        c = columns[k]
        if abs(work[c]) >= SIZE * left and (best < 0 or is_better(G, c, best)):
            best = c
    ratio[i] = left / abs(work[best])
    return best


@helper
def store_row(G, r, pivot, count):
    """Keep WORK as reduced row r."""
    work, columns, up, ui, ux = view(G, WORK), view(G, LIST), view(G, UP), view(G, UI), view(G, UX)
    at = up[r]
    ui[at] = pivot
    ux[at] = work[pivot]
    for k in range(count):
        c = columns[k]
        if c != pivot and work[c] != 0.0:
            at += 1
            ui[at] = c
            ux[at] = work[c]
    up[r + 1] = at + 1
    view(G, PLACE)[pivot] = r


@kernel
def eliminate(T, G):
    """PLACE and PIVOT for Phi_q as it stands: a column with a place is dependent; FULL if there is no room."""
    order, place, chosen, info = view(G, ORDER), view(G, PLACE), view(G, PIVOT), view(G, INFO)
    work, columns, mark, room, known, code = view(G, WORK), view(G, LIST), view(G, MARK), view(G, UI).shape[0], 0, OK
    for c in range(place.shape[0]):
        place[c] = -1
    info[PRODUCTS] = 0
    info[COUNTED] = 0
    for k in range(order.shape[0]):
        i = order[k]
        count, largest = take_row(T, G, i)
        count, largest = reduce_row(G, count, largest, known)
        pivot = choose_pivot(T, G, i, count, largest)
        if view(G, UP)[known] + count > room:
            code = FULL
        elif pivot >= 0:
            store_row(G, known, pivot, count)
            known += 1
        chosen[i] = pivot
        for c in range(count):
            work[columns[c]] = 0.0
            mark[columns[c]] = 0
        if code != OK:
            break
    info[RANK] = known
    info[ENTRIES] = view(G, UP)[known]
    return code
