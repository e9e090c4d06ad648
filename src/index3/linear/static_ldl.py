"""Elimination of symmetric matrices in dense blocks: L D L^T in the order of `static_lu`, with its pivots.

Of the matrix only the entries on and above its diagonal are read, and none of D, which is zero: VALUES begins with
these, column by column (SOURCE_P), rows in SOURCE_ROW; those of constraint rows are of P^T.
Elimination takes half of the products of an LU, and hardly an index beside them. The blocks (`supernodes`) hold
U^T = L D row by row: entry (i, k) is what was subtracted so far from that of the matrix, and from the time of its
column on an entry of U^T.
A pivot of zero has the reciprocal 0 and so no part in anything, as in `static_lu`.
"""

from __future__ import annotations

from index3.compiled.interface import OK, helper, view
from index3.linear.contract import INFO, N_COORDINATES, NOT_FINITE, A
from index3.linear.static_lu import (
    AUG_G,
    AUG_PTR,
    AUG_ROW,
    AUG_WEIGHT,
    BLOCKS,
    BUFFER,
    INVERSE,
    LARGEST,
    LIMIT,
    NODE_BELOW,
    NODE_FIRST,
    NODE_ROWS,
    NODE_START,
    NODE_TARGETS,
    NOISE,
    PERM,
    PINV,
    PLACE,
    SHIFTS,
    SOURCE,
    SOURCE_AUG,
    SOURCE_P,
    SOURCE_ROW,
    TARGET,
    TARGET_ROW,
    TARGET_SHIFT,
    UD,
    VALUES,
    WORK,
    is_usable,
    quiet_noise,
    set_limits_of_coordinate,
    set_limits_of_row,
    take_pivot,
)  # fmt: skip
from index3.linear.supernodes import SPARE


@helper
def take_half(S):
    """Copy the half of A that is read and augment the copy; keep c g for the right-hand sides."""
    a, values, source, broken = view(S, A), view(S, VALUES), view(S, SOURCE), False
    for p in range(source.shape[0]):
        x = a[source[p]]
        values[p] = x
        if not abs(x) <= LARGEST:
            broken = True
    if broken:
        return NOT_FINITE
    row, ptr, columns, place = view(S, AUG_ROW), view(S, AUG_PTR), view(S, SOURCE_P), view(S, SOURCE_AUG)
    weight, g, product = view(S, AUG_WEIGHT), view(S, AUG_G), 0
    for r in range(weight.shape[0]):
        shift = columns[row[r]] - ptr[r]
        for i in range(ptr[r], ptr[r + 1]):
            g[i] = weight[r] * values[shift + i]
            for j in range(i, ptr[r + 1]):
                values[place[product]] += g[i] * values[shift + j]
                product += 1
    return OK


@helper
def fill_blocks(S):
    """The entries into the blocks, and what pivots are compared with, as in `static_lu.set_limits`."""
    blocks, values, place = view(S, BLOCKS), view(S, VALUES), view(S, PLACE)
    columns, rows, inverse = view(S, SOURCE_P), view(S, SOURCE_ROW), view(S, INVERSE)
    n, largest = view(S, INFO)[N_COORDINATES], view(S, WORK)
    for k in range(blocks.shape[0]):
        blocks[k] = 0.0
    for j in range(n):
        most = 0.0
        for p in range(columns[j], columns[j + 1]):
            x, i = values[p], rows[p]
            blocks[place[p]] = x
            most = max(most, abs(x))
            largest[i] = max(largest[i], abs(x))
        largest[j] = max(largest[j], most)
    for j in range(n):
        set_limits_of_coordinate(S, j, largest[j], values[columns[j + 1] - 1])
        largest[j] = 0.0
    for k in range(n, columns.shape[0] - 1):
        scale = 0.0
        for p in range(columns[k], columns[k + 1]):
            x = values[p]
            blocks[place[p]] = x
            scale += x * x * inverse[rows[p]]
        set_limits_of_row(S, k, scale)


@helper
def subtract_product(S, x, residual):
    """residual -= A x, with the half of A that was taken."""
    values, columns, rows = view(S, VALUES), view(S, SOURCE_P), view(S, SOURCE_ROW)
    for j in range(x.shape[0]):
        u, total = x[j], 0.0
        for p in range(columns[j], columns[j + 1]):
            i = rows[p]
            residual[i] -= values[p] * u
            if i != j:
                total += values[p] * x[i]
        residual[j] -= total


@helper
def products(x, at, width, y, count):
    """The products of four rows of blocks, the first at a place of x, with two vectors that stand in turns in y."""
    second, third, fourth = at + width, at + 2 * width, at + 3 * width
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        u, v = y[2 * j], y[2 * j + 1]
        p, q, r, s = x[at + j], x[second + j], x[third + j], x[fourth + j]
        a += p * u
        b += p * v
        c += q * u
        d += q * v
        e += r * u
        f += r * v
        g += s * u
        h += s * v
    return a, b, c, d, e, f, g, h


@helper
def products_of_one(x, at, y, count):
    """As `products`, of one row: the last, if it is alone."""
    a, b = 0.0, 0.0
    for j in range(count):
        p = x[at + j]
        a += p * y[2 * j]
        b += p * y[2 * j + 1]
    return a, b


@helper
def weigh(x, one, other, both, ud, first, out, count):
    """out = D^-1 times the first numbers of two rows of a block, in turns; zeros for the second without `both`."""
    part = 1.0 if both else 0.0
    for j in range(count):
        d = ud[first + j]
        out[2 * j] = x[one + j] * d
        out[2 * j + 1] = x[other + j] * d * part


@helper
def reduce_columns(S, base, width, size, first, k):
    """Subtract from columns k and k + 1 of a block the products of the columns before them, four rows at a time."""
    blocks, y, ud = view(S, BLOCKS), view(S, BUFFER), view(S, UD)
    row = base + k * width
    weigh(
        blocks, row, row + width, k + 1 < width, ud, first, y, k
    )  # one column: nothing is subtracted from the next row
    i = k
    while i < size - 1:
        at = base + i * width
        a, b, c, d, e, f, g, h = products(blocks, at, width, y, k)
        at += k
        blocks[at] -= a
        blocks[at + 1] -= b
        blocks[at + width] -= c
        blocks[at + width + 1] -= d
        blocks[at + 2 * width] -= e
        blocks[at + 2 * width + 1] -= f
        blocks[at + 3 * width] -= g
        blocks[at + 3 * width + 1] -= h
        i += 4
    if i < size:
        at = base + i * width
        a, b = products_of_one(blocks, at, y, k)
        blocks[at + k] -= a
        blocks[at + k + 1] -= b


@helper
def change_targets(S, node, width, first):
    """Subtract the products of the rows below a supernode from the blocks of its targets, by two columns and four rows.

    What is past the last row is zero, and places above the diagonal are nobody's.
    """
    blocks, y, ud, rows = view(S, BLOCKS), view(S, BUFFER), view(S, UD), view(S, NODE_ROWS)
    below, start, firsts = view(S, NODE_BELOW), view(S, NODE_START), view(S, NODE_FIRST)
    targets, target, row = view(S, NODE_TARGETS), view(S, TARGET), view(S, TARGET_ROW)
    shift, shifts = view(S, TARGET_SHIFT), view(S, SHIFTS)
    end = below[node + 1] - SPARE
    low = start[node] + (width - below[node]) * width
    for n in range(targets[node], targets[node + 1]):
        until = row[n + 1] if n + 1 < targets[node + 1] else end
        aim, back = start[target[n]] - firsts[target[n]], shift[n] - row[n]
        for r in range(row[n], until, 2):
            after = r + 1 if r + 1 < until else r
            weigh(blocks, low + r * width, low + after * width, after > r, ud, first, y, width)
            one, other = aim + rows[r], aim + rows[after]
            i = r
            while i < end - 1:
                p, q, s, t = shifts[back + i], shifts[back + i + 1], shifts[back + i + 2], shifts[back + i + 3]
                a, b, c, d, e, f, g, h = products(blocks, low + i * width, width, y, width)
                blocks[one + p] -= a
                blocks[other + p] -= b
                blocks[one + q] -= c
                blocks[other + q] -= d
                blocks[one + s] -= e
                blocks[other + s] -= f
                blocks[one + t] -= g
                blocks[other + t] -= h
                i += 4
            if i < end:
                p = shifts[back + i]
                a, b = products_of_one(blocks, low + i * width, y, width)
                blocks[one + p] -= a
                blocks[other + p] -= b


@helper
def eliminate(S):
    """Fill the blocks supernode by supernode, with the matrix in them; returns the status."""
    blocks, ud, perm = view(S, BLOCKS), view(S, UD), view(S, PERM)
    firsts, below, start, worst = view(S, NODE_FIRST), view(S, NODE_BELOW), view(S, NODE_START), 0.0
    limit, noise, n = view(S, LIMIT), view(S, NOISE), view(S, INFO)[N_COORDINATES]
    quiet = quiet_noise(S)
    for a in range(firsts.shape[0] - 1):
        first, base = firsts[a], start[a]
        width = firsts[a + 1] - first
        size = width + (below[a + 1] - SPARE - below[a])
        for k in range(width):
            if k > 0 and k % 2 == 0:
                reduce_columns(S, base, width, size, first, k)
            elif k % 2 == 1:
                y = blocks[base + k * width + k - 1] * ud[first + k - 1]
                for i in range(k, size):
                    blocks[base + i * width + k] -= blocks[base + i * width + k - 1] * y
            scalar, pivot = perm[first + k], blocks[base + k * width + k]
            if is_usable(pivot, limit[first + k]) and (scalar < n or worst <= quiet):
                ud[first + k] = 1.0 / pivot
                if scalar >= n:
                    noise[first + k] *= abs(ud[first + k])  # from here on the relative error
                    worst = max(worst, noise[first + k])
            else:
                status, worst = take_pivot(S, first + k, scalar, pivot, worst)
                if status != OK:
                    return status
        change_targets(S, a, width, first)
    return OK


@helper
def solve_lower(S, x):
    """x = D^-1 L^-1 x: two columns, then four rows below at a time; spare rows are zero."""
    blocks, rows, start, y = view(S, BLOCKS), view(S, NODE_ROWS), view(S, NODE_START), view(S, BUFFER)
    firsts, below, ud = view(S, NODE_FIRST), view(S, NODE_BELOW), view(S, UD)
    for a in range(firsts.shape[0] - 1):
        first, at = firsts[a], start[a]
        width = firsts[a + 1] - first
        for k in range(0, width, 2):
            u, v = 0.0, 0.0
            for j in range(k):
                u += blocks[at + j] * y[j]
                v += blocks[at + width + j] * y[j]
            y[k] = (x[first + k] - u) * ud[first + k]
            x[first + k] = y[k]
            if k + 1 < width:
                y[k + 1] = (x[first + k + 1] - v - blocks[at + width + k] * y[k]) * ud[first + k + 1]
                x[first + k + 1] = y[k + 1]
            at += 2 * width
        at = start[a] + width * width
        for r in range(below[a], below[a + 1] - SPARE, 4):
            p, q, s, t = 0.0, 0.0, 0.0, 0.0
            for k in range(width):
                u = y[k]
                p += blocks[at + k] * u
                q += blocks[at + width + k] * u
                s += blocks[at + 2 * width + k] * u
                t += blocks[at + 3 * width + k] * u
            x[rows[r]] -= p
            x[rows[r + 1]] -= q
            x[rows[r + 2]] -= s
            x[rows[r + 3]] -= t
            at += 4 * width


@helper
def solve_upper(S, x):
    """x = L^-T x."""
    blocks, rows, start, y = view(S, BLOCKS), view(S, NODE_ROWS), view(S, NODE_START), view(S, BUFFER)
    firsts, below, ud = view(S, NODE_FIRST), view(S, NODE_BELOW), view(S, UD)
    for a in range(firsts.shape[0] - 2, -1, -1):
        first = firsts[a]
        width = firsts[a + 1] - first
        for k in range(width):
            y[k] = 0.0
        at = start[a] + width * width
        for r in range(below[a], below[a + 1] - SPARE, 4):
            p, q, s, t = x[rows[r]], x[rows[r + 1]], x[rows[r + 2]], x[rows[r + 3]]
            for k in range(width):
                one = blocks[at + k] * p + blocks[at + width + k] * q
                y[k] += one + (blocks[at + 2 * width + k] * s + blocks[at + 3 * width + k] * t)
            at += 4 * width
        at = start[a] + width * width
        k = width - 1
        if width % 2 == 1:
            at -= width
            u = x[first + k] - ud[first + k] * y[k]
            x[first + k] = u
            for i in range(k):
                y[i] += blocks[at + i] * u
            k -= 1
        while k > 0:
            at -= 2 * width
            u = x[first + k] - ud[first + k] * y[k]
            v = x[first + k - 1] - ud[first + k - 1] * (y[k - 1] + blocks[at + width + k - 1] * u)
            x[first + k] = u
            x[first + k - 1] = v
            for i in range(k - 1):
                y[i] += blocks[at + width + i] * u + blocks[at + i] * v
            k -= 2


@helper
def substitute(S, b):
    """Replace b by the solution for the symmetric matrix last factored; unknowns of zero pivots become 0."""
    perm, pinv, x = view(S, PERM), view(S, PINV), view(S, WORK)
    for i in range(perm.shape[0]):
        x[pinv[i]] = b[i]
    solve_lower(S, x)
    solve_upper(S, x)
    for k in range(perm.shape[0]):
        b[perm[k]] = x[k]
        x[k] = 0.0
