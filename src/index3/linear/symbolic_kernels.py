"""The pattern of the factors for a given order, compiled (`symbolic` says what it is and makes the arrays).

Row k of L holds the columns that are met from the entries of row k of the matrix by going from each column to its
parent, until k. So rows come one by one, ascending in each column, and nothing has to be merged or sorted.
"""

from __future__ import annotations

from index3.compiled.interface import OK, helper, kernel, slots, view

INDPTR, INDICES, USED, PERM, PINV, COLUMNS, COUNTS, LP, LI, UP, UI, WIDTH, INFO = SLOTS = slots(
    indptr=("i8", 1), indices=("i8", 1),  # the matrix by columns
    used=("u1", 1),  # which of its entries are there
    perm=("i8", 1), pinv=("i8", 1),
    columns=("i8", 2), counts=("i8", 1),  # below; entries below the diagonal of each column of L
    lp=("i8", 1), li=("i4", 1), up=("i8", 1), ui=("i4", 1), width=("i8", 1),  # as in a pattern
    info=("i8", 1),
)  # fmt: skip
PARENT, SEEN, FILLED, LINES = range(4)
"""Lines of COLUMNS: the first entry of each column of L; the last row that met it; entries filled."""
FLOPS, INFO_SIZE = range(2)
NOT_SYMMETRIC = 1
PANEL = 3  # columns handled at once: 1.3 times faster than 1 on chains, 1.6 on lattices; 4 gains nothing more


@helper
def is_symmetric(E):
    """Whether each entry has its counterpart across the diagonal: column by column, these come row by row."""
    indptr, indices, used, columns = view(E, INDPTR), view(E, INDICES), view(E, USED), view(E, COLUMNS)
    for j in range(indptr.shape[0] - 1):
        columns[FILLED, j] = indptr[j]
    for j in range(indptr.shape[0] - 1):
        for p in range(indptr[j], indptr[j + 1]):
            if used[p] != 0:
                i = indices[p]
                q = columns[FILLED, i]
                while q < indptr[i + 1] and used[q] == 0:
                    q += 1
                if q == indptr[i + 1] or indices[q] != j:
                    return False
                columns[FILLED, i] = q + 1
    return True


@helper
def visit_rows(E, fill):
    """Meet all entries of L row by row, to count them in COUNTS or to fill them in at LP."""
    indptr, indices, used, perm, pinv = view(E, INDPTR), view(E, INDICES), view(E, USED), view(E, PERM), view(E, PINV)
    columns, counts, lp, li = view(E, COLUMNS), view(E, COUNTS), view(E, LP), view(E, LI)
    for k in range(perm.shape[0]):
        columns[PARENT, k], columns[SEEN, k], columns[FILLED, k] = -1, k, 0
        for p in range(indptr[perm[k]], indptr[perm[k] + 1]):
            i = pinv[indices[p]]
            if used[p] == 0:
                i = k
            while i < k and columns[SEEN, i] != k:
                columns[SEEN, i] = k
                if columns[PARENT, i] < 0:
                    columns[PARENT, i] = k
                if fill:
                    li[lp[i] + columns[FILLED, i]] = k
                columns[FILLED, i] += 1
                i = columns[PARENT, i]
    if not fill:
        for k in range(perm.shape[0]):
            counts[k] = columns[FILLED, k]


@helper
def count_flops(E):
    """Multiplications and additions of one factorisation, by COUNTS."""
    counts, products = view(E, COUNTS), 0
    for k in range(counts.shape[0]):
        products += counts[k] * counts[k]
    return 2 * products


@helper
def transpose(E):
    """U by columns, which are the rows of L."""
    lp, li, up, ui, columns = view(E, LP), view(E, LI), view(E, UP), view(E, UI), view(E, COLUMNS)
    size = view(E, PERM).shape[0]
    for k in range(size + 1):
        up[k] = 0
    for p in range(li.shape[0]):
        up[li[p] + 1] += 1
    for k in range(size):
        up[k + 1] += up[k]
        columns[FILLED, k] = 0
    for k in range(size):
        for p in range(lp[k], lp[k + 1]):
            i = li[p]
            ui[up[i] + columns[FILLED, i]] = k
            columns[FILLED, i] += 1


@helper
def is_nested(E, k):
    """Whether a column of L is the next one plus that one's diagonal."""
    lp, li = view(E, LP), view(E, LI)
    if k + 2 > view(E, PERM).shape[0] or lp[k + 1] == lp[k]:
        return False
    return li[lp[k]] == k + 1 and lp[k + 1] + lp[k + 1] == lp[k] + lp[k + 2] + 1


@helper
def cut_panels(E):
    """Cut runs of nested columns into panels of up to PANEL columns."""
    width, size, start = view(E, WIDTH), view(E, PERM).shape[0], 0
    while start < size:
        end = start
        width[start] = 1
        while end - start < PANEL - 1 and is_nested(E, end):
            end += 1
            width[end] = 1
        width[start] = end - start + 1
        start = end + 1


@kernel
def count(T, E):
    """Fill in COUNTS and the number of operations."""
    if not is_symmetric(E):
        return NOT_SYMMETRIC
    visit_rows(E, False)
    view(E, INFO)[FLOPS] = count_flops(E)
    return OK


@kernel
def fill(T, E):
    """Fill in LP by COUNTS, and the pattern."""
    lp, counts = view(E, LP), view(E, COUNTS)
    lp[0] = 0
    for k in range(counts.shape[0]):
        lp[k + 1] = lp[k] + counts[k]
    visit_rows(E, True)
    transpose(E)
    cut_panels(E)
    return OK
