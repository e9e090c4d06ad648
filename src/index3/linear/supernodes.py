"""Columns of the factors taken together: what the elimination of symmetric matrices works through.

A supernode is a run of columns that have the same rows below them, such as those of a body or a joint. Its block holds
the columns row by row: first the rows of the columns themselves, then the rows below. Eliminating it changes blocks of
later supernodes: those that its rows below are columns of, its *targets*. There are two ways, and the one is taken that
costs less: wide supernodes by `static_ldl`, with indices for rows of targets, and *panels* of up to three columns by
`static_panels`, with an index for each number that is changed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from index3.linear.symbolic import PANEL, Entries, Pattern, analyse

# What elimination takes besides its products, counted in products: for a supernode, and for each number that it changes
# in another one; for a column of a panel. By instructions counted on chains, Andrews' mechanism, pendulums and cars.
NODE, CHANGE, COLUMN = 320, 3, 24
SPARE = 3  # rows of zeros below each block, since elimination takes four rows at a time


class Supernodes(NamedTuple):
    """Supernodes of the factors of a symmetric matrix; pointers have one entry more than there are pieces."""

    first: np.ndarray  # columns first[a] : first[a + 1] make supernode a
    below: np.ndarray  # its rows below are rows[below[a] : below[a + 1] - SPARE], ascending
    rows: np.ndarray  # those that stand for spare ones are 0
    start: np.ndarray  # its block is at start[a] : start[a + 1]
    targets: np.ndarray  # its targets are targets[a] : targets[a + 1] of the next three
    target: np.ndarray  # the supernode
    row: np.ndarray  # place in `rows` of the first row that is one of its columns
    shift: np.ndarray  # place in `shifts` of that row
    shifts: np.ndarray  # where each row from there on begins in the block of the target; zeros for spare rows
    source: np.ndarray  # entries of the matrix on and above its diagonal but for D, by columns
    source_row: np.ndarray  # their rows
    source_columns: np.ndarray  # where each column begins
    place: np.ndarray  # where in the blocks these belong
    upper_columns: np.ndarray  # columns of U, as in a pattern
    upper_rows: np.ndarray
    upper: np.ndarray  # where in the blocks its entries stand
    widest: int  # most columns of a supernode
    pairs: np.ndarray  # of panels: what each pair of a panel's rows below changes; empty for wide supernodes
    work: int  # of an elimination, in products

    @property
    def size(self) -> int:
        """Numbers in all blocks, and one: two columns are written at a time, and the last block may have an odd one."""
        return int(self.start[-1]) + 1


def find_supernodes(whole: Pattern, entries: Entries, used: np.ndarray, n: int) -> Supernodes:
    """The supernodes of a matrix in the order of a pattern of factors, if no more of its entries than `used` are there.

    `n` coordinates come first in the matrix; between the rows below them there is nothing (D = 0).

    Raises
    ------
    ValueError : an entry that is used has no counterpart across the diagonal.
    """
    size = len(whole.perm)
    column = np.repeat(np.arange(size), np.diff(entries.indptr))[used]
    begins = np.searchsorted(column, np.arange(size + 1))
    pattern = whole if used.all() else analyse(size, begins, entries.indices[used], whole.perm)
    wide, narrow = merged(pattern), panels(pattern)
    work = [int(price(*sizes(pattern, starts)).sum()) for price, starts in ((cost, wide), (panel_cost, narrow))]
    in_panels = work[1] < work[0] and bool(sizes(pattern, narrow)[1].any())
    first, spare = (narrow, 0) if in_panels else (wide, SPARE)
    width, count = sizes(pattern, first)
    last = first[1:] - 1
    above = np.concatenate(([0], np.cumsum(count)))
    below = np.concatenate(([0], np.cumsum(count + spare)))
    rows = pattern.li[ragged(pattern.lp[last], count)].astype(np.int64)
    start = np.concatenate(([0], np.cumsum((width + count + spare) * width)))
    node = np.repeat(np.arange(len(width)), width)
    keys = np.repeat(np.arange(len(width)), count) * size + rows  # ascending: supernode by supernode, row by row

    def find(nodes: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Where a row begins in the block of a supernode."""
        inside = row < first[nodes + 1]
        at = np.searchsorted(keys, nodes * size + row) - above[nodes] + width[nodes]
        return np.where(inside, row - first[nodes], at) * width[nodes]

    owner, aim = np.repeat(np.arange(len(width)), count), node[rows]
    begins = np.flatnonzero(np.diff(owner * size + aim, prepend=-1))  # first row of each target
    if in_panels:
        length, begins = above[owner + 1] - np.arange(len(rows)), begins[:0]
        one, other = np.repeat(np.arange(len(rows)), length), ragged(np.arange(len(rows)), length)
        pairs = start[aim[one]] + find(aim[one], rows[other]) + rows[one] - first[aim[one]]
    else:
        pairs = np.zeros(0, np.int64)
    length = above[owner[begins] + 1] - begins
    shift = np.concatenate(([0], np.cumsum(length + SPARE)))
    shifts = np.zeros(shift[-1], np.int64)
    shifts[ragged(shift[:-1], length)] = find(np.repeat(aim[begins], length), rows[ragged(begins, length)])
    source_row = entries.indices[used]
    half = (source_row <= column) & (source_row < n)
    source_row, source_column = source_row[half], column[half]
    one, other = pattern.pinv[source_row], pattern.pinv[source_column]
    at, under = np.minimum(one, other), np.maximum(one, other)
    spaced = np.zeros(below[-1], np.int64)
    spaced[ragged(below[:-1], count)] = pattern.perm[rows] if in_panels else rows
    over, right = pattern.ui.astype(np.int64), np.repeat(np.arange(size), np.diff(pattern.up))
    return Supernodes(
        first, below, spaced, start,
        targets=np.searchsorted(owner[begins], np.arange(len(width) + 1)),
        target=aim[begins],
        row=begins + spare * owner[begins],
        shift=shift,
        shifts=shifts,
        source=np.flatnonzero(used)[half],
        source_row=source_row,
        source_columns=np.searchsorted(source_column, np.arange(size + 1)),
        place=start[node[at]] + find(node[at], under) + at - first[node[at]],
        upper_columns=pattern.up,
        upper_rows=pattern.ui,
        upper=start[node[over]] + find(node[over], right) + over - first[node[over]],
        widest=int(width.max()),
        pairs=pairs,
        work=min(work),
    )  # fmt: skip


def ragged(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The numbers starts[i] ... starts[i] + counts[i] - 1, list after list."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - counts), counts)


def sizes(pattern: Pattern, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the supernodes that begin at `first`, and rows below them."""
    return np.diff(first), pattern.lp[first[1:]] - pattern.lp[first[1:] - 1]


def panels(pattern: Pattern) -> np.ndarray:
    """Where panels begin, and the number of columns."""
    inside = np.zeros(len(pattern.perm) + PANEL, bool)
    for further in range(1, PANEL):
        inside[further:-PANEL] |= pattern.width[:-further] > further
    return np.append(np.flatnonzero(~inside[:-PANEL]), len(pattern.perm))


def merged(pattern: Pattern) -> np.ndarray:
    """Where supernodes begin, and the number of columns: runs of nested columns, merged where that saves work.

    One may be merged with the next if its rows below are among columns and rows of that: then all that it changes is
    there. Coordinates of a body that are not coupled with each other come together so, with zeros between them.
    """
    counts, size = np.diff(pattern.lp), len(pattern.perm)
    heads = np.append(pattern.li, size)[pattern.lp[:-1]]
    nested = (heads[:-1] == np.arange(1, size)) & (counts[:-1] == counts[1:] + 1)
    ends = [*(np.flatnonzero(~nested) + 1).tolist(), size]
    lp, li = pattern.lp.tolist(), pattern.li.tolist()
    done: list[tuple[int, set[int], int]] = []  # first column, rows below, cost
    for begin, end in pairwise([0, *ends]):
        rows = set(li[lp[end - 1] : lp[end]])
        entry = (begin, rows, cost(end - begin, len(rows)))
        while done:
            first, others, apart = done[-1]
            together = cost(end - first, len(rows))
            if together > apart + entry[2] or any(i >= end and i not in rows for i in others):
                break
            done.pop()
            entry = (first, rows, together)
        done.append(entry)
    return np.array([first for first, _, _ in done] + [size], np.int64)


def panel_cost(width: Any, below: Any) -> Any:
    """Work to eliminate a panel, in products."""
    return COLUMN * width + 2 * below * (width - 1) + below * (below + 1) * (width + 6) // 6


def cost(width: Any, below: Any) -> Any:
    """Work to eliminate a wide supernode, in products."""
    inside = width * (width - 1) * (width + 1) // 6 + below * width * (width - 1) // 2
    pairs = below * (below + 1) // 2
    return NODE + inside + pairs * (width + CHANGE)
