"""Columns of the factors taken together: what the elimination of symmetric matrices in dense blocks works through.

A supernode is a run of columns that have the same rows below them, such as those of a body or a joint. Its block holds
the columns row by row: first the rows of the columns themselves, then the rows below. Eliminating it changes blocks of
later supernodes: those that its rows below are columns of, its *targets*.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from index3.linear.symbolic import Entries, Pattern, analyse

# What elimination takes besides its products, counted in products: for a supernode, and for each number that it changes
# in another one (measured on chains, Andrews' mechanism, four-bars and a car, against the products of an LU alone).
NODE, CHANGE = 80, 3
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
    first = np.array(merged(pattern), np.int64)
    width = np.diff(first)
    last = first[1:] - 1
    count = pattern.lp[last + 1] - pattern.lp[last]
    above = np.concatenate(([0], np.cumsum(count)))
    below = np.concatenate(([0], np.cumsum(count + SPARE)))
    rows = pattern.li[ragged(pattern.lp[last], count)].astype(np.int64)
    start = np.concatenate(([0], np.cumsum((width + count + SPARE) * width)))
    node = np.repeat(np.arange(len(width)), width)
    keys = np.repeat(np.arange(len(width)), count) * size + rows  # ascending: supernode by supernode, row by row

    def find(nodes: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Where a row begins in the block of a supernode."""
        inside = row < first[nodes + 1]
        at = np.searchsorted(keys, nodes * size + row) - above[nodes] + width[nodes]
        return np.where(inside, row - first[nodes], at) * width[nodes]

    owner, aim = np.repeat(np.arange(len(width)), count), node[rows]
    begins = np.flatnonzero(np.diff(owner * size + aim, prepend=-1))  # first row of each target
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
    spaced[ragged(below[:-1], count)] = rows
    over, right = pattern.ui.astype(np.int64), np.repeat(np.arange(size), np.diff(pattern.up))
    return Supernodes(
        first, below, spaced, start,
        targets=np.searchsorted(owner[begins], np.arange(len(width) + 1)),
        target=aim[begins],
        row=begins + SPARE * owner[begins],
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
        work=sum(map(cost, width.tolist(), count.tolist())),
    )  # fmt: skip


def ragged(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The numbers starts[i] ... starts[i] + counts[i] - 1, list after list."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - counts), counts)


def merged(pattern: Pattern) -> list[int]:
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
    return [first for first, _, _ in done] + [size]


def cost(width: int, below: int) -> int:
    """Work to eliminate a supernode, in products."""
    inside = width * (width - 1) * (width + 1) // 6 + below * width * (width - 1) // 2
    pairs = below * (below + 1) // 2
    return NODE + inside + pairs * (width + CHANGE)
