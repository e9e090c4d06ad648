"""Columns of the factors taken together: what the elimination of symmetric matrices works through.

A supernode is a run of columns that have the same rows below them, such as those of a body or a joint. Its block holds
the columns row by row: first the rows of the columns themselves, then the rows below. Eliminating it changes blocks of
later supernodes: those that its rows below are columns of, its *targets*. There are two ways, and the one is taken that
costs less: wide supernodes by `static_ldl`, with indices for rows of targets, and *panels* of up to three columns by
`static_panels`, with an index for each number that is changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from index3.compiled.interface import Table
from index3.linear import supernode_kernels as kernels
from index3.linear import symbolic_kernels as symbolic
from index3.linear.symbolic import OF_PATTERN, Entries, Pattern, analyse

# What elimination takes besides its products, counted in products: for a supernode, and for each number that it changes
# in another one; for a column of a panel. By instructions counted on chains, Andrews' mechanism, pendulums and cars.
NODE, CHANGE, COLUMN = 320, 3, 24
SPARE = 3  # rows of zeros below each block, since elimination takes four rows at a time


ARRAYS = (
    kernels.FIRST, kernels.BELOW, kernels.ROWS, kernels.START, kernels.TARGETS, kernels.TARGET, kernels.ROW,
    kernels.SHIFT, kernels.SHIFTS, kernels.SOURCE, kernels.SOURCE_ROW, kernels.SOURCE_COLUMNS, kernels.PLACE,
    kernels.UPPER_COLUMNS, kernels.UPPER_ROWS, kernels.UPPER, kernels.PAIRS,
)  # fmt: skip
"""Where a table has the arrays below."""


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
    pairs: np.ndarray  # of panels: what each pair of a panel's rows below changes; empty for wide supernodes
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
    pattern = whole if used.all() else analyse(entries.indptr, entries.indices, whole.perm, whole.pinv, used)
    table, size = Table(len(kernels.SLOTS)), len(pattern.perm)
    arrays: Any = pattern[: len(OF_PATTERN)]
    for slot, array in zip(OF_PATTERN, arrays, strict=True):
        table[slot] = array
    table[symbolic.INDPTR], table[symbolic.INDICES] = entries.indptr, entries.indices
    table[symbolic.USED] = used.view(np.uint8)
    table[kernels.WEIGHTS] = np.array([NODE, CHANGE, COLUMN], np.int64)
    table[kernels.WORK] = np.empty((kernels.LINES, size + 1), np.int64)
    sizes = table[kernels.SIZES] = np.zeros(kernels.SIZES_SIZE, np.int64)
    sizes[kernels.SPARE], sizes[kernels.N_COORDINATES] = SPARE, n
    table[kernels.SOURCE_COLUMNS] = np.empty(size + 1, np.int32)
    kernels.measure.alone(0, table.handle)
    found = sizes.tolist()
    nodes, rows, targets, shifts, sources, pairs = found[: kernels.WIDEST]
    for slot, count in (
        (kernels.FIRST, nodes + 1), (kernels.BELOW, nodes + 1), (kernels.ROWS, rows), (kernels.START, nodes + 1),
        (kernels.TARGETS, nodes + 1), (kernels.TARGET, targets), (kernels.ROW, targets), (kernels.SHIFT, targets + 1),
        (kernels.SHIFTS, shifts), (kernels.SOURCE, sources), (kernels.SOURCE_ROW, sources), (kernels.PLACE, sources),
        (kernels.UPPER_COLUMNS, size + 1), (kernels.UPPER_ROWS, len(pattern.ui)), (kernels.UPPER, len(pattern.ui)),
        (kernels.PAIRS, pairs),
    ):  # fmt: skip
        table[slot] = np.empty(count, np.int32)
    kernels.fill.alone(0, table.handle)
    return Supernodes._make([*(table[slot] for slot in ARRAYS), found[kernels.WIDEST], found[kernels.PRODUCTS]])
