"""Supernodes of a pattern, compiled (`supernodes` says what they are, and makes the arrays)."""

from __future__ import annotations

from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.linear import symbolic_kernels as symbolic
from index3.linear.symbolic_kernels import INDICES, INDPTR, LI, LP, PERM, PINV, UI, UP, USED, WIDTH

(
    WEIGHTS, WORK, SIZES,
    FIRST, BELOW, ROWS, START, TARGETS, TARGET, ROW, SHIFT, SHIFTS,
    SOURCE, SOURCE_ROW, SOURCE_COLUMNS, PLACE, UPPER_COLUMNS, UPPER_ROWS, UPPER, PAIRS,
) = OWN = extended(
    symbolic.SLOTS,
    weights=("i8", 1), work=("i8", 2), sizes=("i8", 1),  # below
    first=("i4", 1), below=("i4", 1), rows=("i4", 1), start=("i4", 1), targets=("i4", 1),
    target=("i4", 1), row=("i4", 1), shift=("i4", 1), shifts=("i4", 1),
    source=("i4", 1), source_row=("i4", 1), source_columns=("i4", 1), place=("i4", 1),
    upper_columns=("i4", 1), upper_rows=("i4", 1), upper=("i4", 1), pairs=("i4", 1),
)  # fmt: skip
SLOTS = symbolic.SLOTS + OWN
NODE, CHANGE, COLUMN, WEIGHTS_SIZE = range(4)
"""WEIGHTS: what elimination takes besides its products."""
WIDE, PANELS, OF_COLUMN, MARK, LINES = range(5)
"""Lines of WORK: where supernodes begin; the cost of each, then where panels begin; the supernode of each column."""
(
    N_NODES,
    N_ROWS,
    N_TARGETS,
    N_SHIFTS,
    N_SOURCES,
    N_PAIRS,
    WIDEST,
    IN_PANELS,
    PRODUCTS,
    SPARE,
    N_COORDINATES,
    SIZES_SIZE,
) = range(12)
"""SIZES of the arrays, spare rows included; most columns of a supernode; whether they are panels; work of an
elimination; spare rows below each block; coordinates of the matrix."""


@helper
def panel_cost(E, width, below):
    """Work to eliminate a panel, in products."""
    return view(E, WEIGHTS)[COLUMN] * width + 2 * below * (width - 1) + below * (below + 1) * (width + 6) // 6


@helper
def wide_cost(E, width, below):
    """Work to eliminate a wide supernode, in products."""
    weights = view(E, WEIGHTS)
    inside = width * (width - 1) * (width + 1) // 6 + below * width * (width - 1) // 2
    return weights[NODE] + inside + below * (below + 1) // 2 * (width + weights[CHANGE])


@helper
def count_below(E, column):
    """Rows below the diagonal of a column of L."""
    lp = view(E, LP)
    return lp[column + 1] - lp[column]


@helper
def holds(E, last, before):
    """Whether all rows below column `before` that are not above `last` are rows below column `last`."""
    lp, li, p = view(E, LP), view(E, LI), view(E, LP)[last]
    for q in range(lp[before], lp[before + 1]):
        if li[q] > last:
            while p < lp[last + 1] and li[p] < li[q]:
                p += 1
            if p == lp[last + 1] or li[p] != li[q]:
                return False
    return True


@helper
def merge_columns(E):
    """WIDE: runs of nested columns, merged where that saves work; their number and cost.

    One may be merged with the next if its rows below are among columns and rows of that: then all that it changes is
    there. Coordinates of a body that are not coupled with each other come together so, with zeros between them.
    """
    work, size, count, begin, total = view(E, WORK), view(E, PERM).shape[0], 0, 0, 0
    for last in range(size):
        if not symbolic.is_nested(E, last):
            first, below = begin, count_below(E, last)
            price, trying = wide_cost(E, last + 1 - begin, below), True
            while trying and count > 0:
                together = wide_cost(E, last + 1 - work[WIDE, count - 1], below)
                trying = together <= work[PANELS, count - 1] + price and holds(E, last, first - 1)
                if trying:
                    count -= 1
                    first, price, total = work[WIDE, count], together, total - work[PANELS, count]
            work[WIDE, count], work[PANELS, count] = first, price
            count, begin, total = count + 1, last + 1, total + price
    work[WIDE, count] = size
    return count, total


@helper
def list_panels(E):
    """PANELS; their number and cost, and the most rows below any of them."""
    work, width, size, count, start, total, most = view(E, WORK), view(E, WIDTH), view(E, PERM).shape[0], 0, 0, 0, 0
    while start < size:
        work[PANELS, count] = start
        columns = width[start]
        below = count_below(E, start + columns - 1)
        most = max(most, below)
        total += panel_cost(E, columns, below)
        count += 1
        start += columns
    work[PANELS, count] = size
    return count, total, most


@helper
def choose_nodes(E):
    """Take the way of elimination that costs less, and note where its supernodes begin: the line of WORK."""
    sizes = view(E, SIZES)
    count, wide = merge_columns(E)
    panels, narrow, most = list_panels(E)
    in_panels = most > 0 and narrow < wide
    sizes[N_NODES], sizes[PRODUCTS], sizes[IN_PANELS] = count, wide, int(in_panels)
    if in_panels:
        sizes[N_NODES], sizes[PRODUCTS], sizes[SPARE] = panels, narrow, 0
    return PANELS if in_panels else WIDE


@kernel
def measure(T, E):
    """Choose the supernodes; sizes of all arrays."""
    sizes, work, lp, li = view(E, SIZES), view(E, WORK), view(E, LP), view(E, LI)
    line = choose_nodes(E)
    spare, rows, targets, shifts, pairs, widest = sizes[SPARE], 0, 0, 0, 0, 0
    for a in range(sizes[N_NODES]):
        work[WIDE, a] = work[line, a]
        for k in range(work[line, a], work[line, a + 1]):
            work[OF_COLUMN, k] = a
        widest = max(widest, work[line, a + 1] - work[line, a])
    work[WIDE, sizes[N_NODES]] = work[PANELS, sizes[N_NODES]] = view(E, PERM).shape[0]
    for a in range(sizes[N_NODES]):
        last, aim = work[WIDE, a + 1] - 1, -1
        below = count_below(E, last)
        rows += below + spare
        pairs += below * (below + 1) // 2
        for r in range(below):
            b = work[OF_COLUMN, li[lp[last] + r]]
            if b != aim:
                aim = b
                targets += 1
                shifts += below - r + spare
    sizes[N_ROWS], sizes[WIDEST], sizes[N_PAIRS] = rows, widest, pairs
    sizes[N_TARGETS], sizes[N_SHIFTS] = targets, shifts
    if sizes[IN_PANELS] == 1:
        sizes[N_TARGETS], sizes[N_SHIFTS] = 0, 0
    else:
        sizes[N_PAIRS] = 0
    sizes[N_SOURCES] = count_sources(E)
    return OK


@helper
def count_sources(E):
    """SOURCE_COLUMNS: entries of the matrix on and above its diagonal but for those between rows."""
    indptr, indices, used, begins = view(E, INDPTR), view(E, INDICES), view(E, USED), view(E, SOURCE_COLUMNS)
    n, count = view(E, SIZES)[N_COORDINATES], 0
    for j in range(indptr.shape[0] - 1):
        begins[j] = count
        for p in range(indptr[j], indptr[j + 1]):
            if used[p] != 0 and indices[p] <= j and indices[p] < n:
                count += 1
    begins[indptr.shape[0] - 1] = count
    return count


@helper
def place_of(E, a, row):
    """Where a row begins in the block of supernode a."""
    first, lp, li = view(E, FIRST), view(E, LP), view(E, LI)
    begin, end = first[a], first[a + 1]
    if row < end:
        return (row - begin) * (end - begin)
    low, high = lp[end - 1], lp[end]
    start = low
    while high - low > 1:
        middle = (low + high) // 2
        if li[middle] <= row:
            low = middle
        else:
            high = middle
    return (low - start + end - begin) * (end - begin)


@helper
def place_entry(E, row, column):
    """Where the entry of L in a row and a column stands in the blocks."""
    a = view(E, WORK)[OF_COLUMN, column]
    return view(E, START)[a] + place_of(E, a, row) + column - view(E, FIRST)[a]


@helper
def begin_nodes(E):
    """FIRST, BELOW, ROWS and START."""
    sizes, work, lp, li, perm = view(E, SIZES), view(E, WORK), view(E, LP), view(E, LI), view(E, PERM)
    first, below, rows, start, at, block = view(E, FIRST), view(E, BELOW), view(E, ROWS), view(E, START), 0, 0
    for a in range(sizes[N_NODES]):
        begin, end = work[WIDE, a], work[WIDE, a + 1]
        first[a], below[a], start[a] = begin, at, block
        count = count_below(E, end - 1)
        for r in range(count):
            row = li[lp[end - 1] + r]
            rows[at + r] = perm[row] if sizes[IN_PANELS] == 1 else row
        for r in range(count, count + sizes[SPARE]):
            rows[at + r] = 0
        at += count + sizes[SPARE]
        block += (end - begin + count + sizes[SPARE]) * (end - begin)
    k = sizes[N_NODES]
    first[k], below[k], start[k] = perm.shape[0], at, block


@helper
def find_targets(E):
    """What a wide supernode changes: the supernodes of its rows below, and where these begin there."""
    sizes, work, lp, li, below = view(E, SIZES), view(E, WORK), view(E, LP), view(E, LI), view(E, BELOW)
    targets, target, row = view(E, TARGETS), view(E, TARGET), view(E, ROW)
    shift, shifts, k, at = view(E, SHIFT), view(E, SHIFTS), 0, 0
    for a in range(sizes[N_NODES]):
        targets[a] = k
        last, aim = work[WIDE, a + 1] - 1, -1
        begin, count = lp[last], count_below(E, last)
        for r in range(count):
            b = work[OF_COLUMN, li[begin + r]]
            if b != aim:
                aim = b
                target[k], row[k], shift[k] = b, below[a] + r, at
                for other in range(r, count):
                    shifts[at] = place_of(E, b, li[begin + other])
                    at += 1
                for _ in range(sizes[SPARE]):
                    shifts[at] = 0
                    at += 1
                k += 1
    targets[sizes[N_NODES]], shift[k] = k, at


@helper
def find_pairs(E):
    """What each pair of rows below a panel changes."""
    sizes, work, lp, li, pairs, at = view(E, SIZES), view(E, WORK), view(E, LP), view(E, LI), view(E, PAIRS), 0
    for a in range(sizes[N_NODES] + 1):
        view(E, TARGETS)[a] = 0
    view(E, SHIFT)[0] = 0
    for a in range(sizes[N_NODES]):
        last = work[WIDE, a + 1] - 1
        for p in range(lp[last], lp[last + 1]):
            for q in range(p, lp[last + 1]):
                pairs[at] = place_entry(E, li[q], li[p])
                at += 1


@helper
def place_sources(E):
    """The entries that are eliminated, and where these belong."""
    indptr, indices, used, pinv = view(E, INDPTR), view(E, INDICES), view(E, USED), view(E, PINV)
    source, source_row, place = view(E, SOURCE), view(E, SOURCE_ROW), view(E, PLACE)
    n, at = view(E, SIZES)[N_COORDINATES], 0
    for j in range(indptr.shape[0] - 1):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            if used[p] != 0 and i <= j and i < n:
                source[at], source_row[at] = p, i
                place[at] = place_entry(E, max(pinv[i], pinv[j]), min(pinv[i], pinv[j]))
                at += 1


@helper
def place_upper(E):
    """U by columns, and where in the blocks its entries stand."""
    up, ui = view(E, UP), view(E, UI)
    columns, rows, upper = view(E, UPPER_COLUMNS), view(E, UPPER_ROWS), view(E, UPPER)
    for k in range(up.shape[0]):
        columns[k] = up[k]
    for k in range(up.shape[0] - 1):
        for p in range(up[k], up[k + 1]):
            rows[p], upper[p] = ui[p], place_entry(E, k, int(ui[p]))


@kernel
def fill(T, E):
    """Fill in all arrays."""
    begin_nodes(E)
    if view(E, SIZES)[IN_PANELS] == 1:
        find_pairs(E)
    else:
        find_targets(E)
    place_sources(E)
    place_upper(E)
    return OK
