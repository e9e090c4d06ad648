"""From marker twists to coordinates: rows and blocks of derivatives times marker matrices, into their places.

Elements give derivatives in the twists of their markers, group by group (`slots`); a marker's ragged matrix, such as
its Jacobian J, says what its twist is in the coordinates of its span, and GROUP_COLUMNS where these stand in the group.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import helper, view


@helper
def carry_row(groups, k, members, columns, markers, gradient, first, ragged, out, block, c):
    """Add to a row's block of `out` c times (row in twists) x (ragged marker matrices)."""
    at, member = groups[k].columns, groups[k].markers
    for o in range(groups[k].marker_count):
        m = members[member + o]
        count, start = markers[m].count, markers[m].jacobian
        if count > 0:  # not of ground
            for i in range(6):
                x = c * gradient[first + 6 * o + i]
                if x != 0.0:
                    for j in range(count):
                        out[block + columns[at + j]] += x * ragged[start + i * count + j]
            at += count


@helper
def add_row_products(values, row, column, x, out):
    """out += (matrix by its entries, those of a row one behind the other) x; sums stay in a register along a row."""
    e, count = 0, values.shape[0]
    while e < count:
        r = row[e]
        total = out[r]
        while e < count and row[e] == r:
            total += values[e] * x[column[e]]
            e += 1
        out[r] = total


@helper
def add_pair(
    matrix, places, first, columns, row, col, count, stiffness, start, width, si, sj, left, li, ni, right, rj, nj, c
):
    """matrix[places] += c left^T S right for markers si, sj of a group, S the (6, 6) piece of its stiffness."""
    for i in range(6):
        for j in range(6):
            x = c * stiffness[start + (6 * si + i) * width + 6 * sj + j]
            if x != 0.0:
                for p in range(ni):
                    y = x * left[li + i * ni + p]
                    if y != 0.0:
                        at = first + columns[row + p] * count
                        for o in range(nj):
                            matrix[places[at + columns[col + o]]] += y * right[rj + j * nj + o]


@helper
def add_stiff_pair(T, k, si, sj, row, col):
    """matrix += J^T (c_K (K J + D N) + c_D D J) for markers si, sj of a group, by the rows of K, D that are not zero.

    With J^T B J + J^T F N, a row of B = c_K K + c_D D and of F = c_K D at a time. A torsion spring has one such row in
    the plane, a spring between points three.
    """
    groups, members, markers = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.MARKERS)
    K, D, J, N = view(T, s.GROUP_K), view(T, s.GROUP_D), view(T, s.MARKER_J), view(T, s.MARKER_NV)
    places, columns, matrix, c = view(T, s.GROUP_MAP), view(T, s.GROUP_COLUMNS), view(T, s.MATRIX), view(T, s.COEF)
    group = groups[k]
    mi, mj = markers[members[group.markers + si]], markers[members[group.markers + sj]]
    width, count, c_k, c_d = 6 * group.marker_count, group.count, c[s.C_K], c[s.C_D]
    at, li, ni, rj, nj = group.stiffness + 6 * si * width + 6 * sj, mi.jacobian, mi.count, mj.jacobian, mj.count
    if ni == 0 or nj == 0:  # of ground
        return
    for i in range(6):
        b0, b1, b2, f0, f1, f2 = weigh(K, D, at, c_k, c_d)
        b3, b4, b5, f3, f4, f5 = weigh(K, D, at + 3, c_k, c_d)
        at += width
        turns = f0 != 0.0 or f1 != 0.0 or f2 != 0.0 or f3 != 0.0 or f4 != 0.0 or f5 != 0.0
        if not turns and b0 == 0.0 and b1 == 0.0 and b2 == 0.0 and b3 == 0.0 and b4 == 0.0 and b5 == 0.0:
            continue
        for o in range(nj):
            r = rj + o
            x = b0 * J[r] + b1 * J[r + nj] + b2 * J[r + 2 * nj]
            x += b3 * J[r + 3 * nj] + b4 * J[r + 4 * nj] + b5 * J[r + 5 * nj]
            if turns:
                x += f0 * N[r] + f1 * N[r + nj] + f2 * N[r + 2 * nj]
                x += f3 * N[r + 3 * nj] + f4 * N[r + 4 * nj] + f5 * N[r + 5 * nj]
            if x != 0.0:
                place = group.map + columns[col + o]
                for p in range(ni):
                    y = J[li + i * ni + p]
                    if y != 0.0:
                        matrix[places[place + columns[row + p] * count]] += y * x


@helper
def weigh(K, D, at, c_k, c_d):
    """Three entries of c_K K + c_D D, and of c_K D."""
    k0, k1, k2, d0, d1, d2 = K[at], K[at + 1], K[at + 2], D[at], D[at + 1], D[at + 2]
    return c_k * k0 + c_d * d0, c_k * k1 + c_d * d1, c_k * k2 + c_d * d2, c_k * d0, c_k * d1, c_k * d2


@helper
def add_group(T, k):
    """Scatter c_K (J^T K J + J^T D N(v)) + c_D J^T D J of one group.

    With S the derivative by the rate of the twist J a + b: c_M c_R J^T S J + c_K J^T S (N(a) + b_q) + c_D J^T S b_v.
    """
    groups, members, markers = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.MARKERS)
    places, marker_j, matrix, c = view(T, s.GROUP_MAP), view(T, s.MARKER_J), view(T, s.MATRIX), view(T, s.COEF)
    inertia, marker_na = view(T, s.GROUP_M), view(T, s.MARKER_NA)
    marker_bq, marker_bv = view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    count, width = groups[k].count, 6 * groups[k].marker_count
    start, first, columns = groups[k].stiffness, groups[k].map, view(T, s.GROUP_COLUMNS)
    row, stiff = groups[k].columns, c[s.C_K] != 0.0 or c[s.C_D] != 0.0
    for si in range(groups[k].marker_count):
        mi = markers[members[groups[k].markers + si]]
        col = groups[k].columns
        for sj in range(groups[k].marker_count):
            mj = markers[members[groups[k].markers + sj]]
            li, ni, rj, nj = mi.jacobian, mi.count, mj.jacobian, mj.count
            if stiff and (groups[k].curved == 1 or groups[k].damped == 1):
                add_stiff_pair(T, k, si, sj, row, col)
            if groups[k].inertial == 1:
                add_pair(matrix, places, first, columns, row, col, count, inertia, start, width, si, sj,
                         marker_j, li, ni, marker_j, rj, nj, c[s.C_M] * c[s.C_R])  # fmt: skip
                add_pair(matrix, places, first, columns, row, col, count, inertia, start, width, si, sj,
                         marker_j, li, ni, marker_na, rj, nj, c[s.C_K])  # fmt: skip
                add_pair(matrix, places, first, columns, row, col, count, inertia, start, width, si, sj,
                         marker_j, li, ni, marker_bq, rj, nj, c[s.C_K])  # fmt: skip
                add_pair(matrix, places, first, columns, row, col, count, inertia, start, width, si, sj,
                         marker_j, li, ni, marker_bv, rj, nj, c[s.C_D])  # fmt: skip
            col += nj
        row += mi.count


@helper
def fill_velocity_derivative(T, gradient, ragged, out):
    """out = gradient . J + ROW_G . ragged, row by row: the shape of (Phi_q v)_q and (Phi_q a)_q."""
    groups, members, markers = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.MARKERS)
    row_g, marker_j, columns = view(T, s.ROW_G), view(T, s.MARKER_J), view(T, s.GROUP_COLUMNS)
    for k in range(groups.shape[0]):
        for r in range(groups[k].row_count):
            first = groups[k].gradient + 6 * groups[k].marker_count * r
            block = groups[k].block + groups[k].count * r
            carry_row(groups, k, members, columns, markers, gradient, first, marker_j, out, block, 1.0)
            carry_row(groups, k, members, columns, markers, row_g, first, ragged, out, block, 1.0)


@helper
def add_reaction_derivatives(T):
    """Scatter -c_R Q_lam beside Phi_q^T: forces that depend on reactions act on the bodies of the joint they read."""
    groups, members, markers = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.MARKERS)
    row_r, out, marker_j, c = view(T, s.ROW_R), view(T, s.Q_LAM), view(T, s.MARKER_J), view(T, s.COEF)[s.C_R]
    values, places, columns = view(T, s.MATRIX), view(T, s.BLOCK_MAP), view(T, s.GROUP_COLUMNS)
    if row_r.shape[0] == 0:
        return
    for e in range(out.shape[0]):
        out[e] = 0.0
    for k in range(groups.shape[0]):
        for r in range(groups[k].row_count):
            first = groups[k].gradient + 6 * groups[k].marker_count * r
            block = groups[k].block + groups[k].count * r
            carry_row(groups, k, members, columns, markers, row_r, first, marker_j, out, block, c)
    for e in range(out.shape[0]):
        values[places[e, 1]] += out[e]
