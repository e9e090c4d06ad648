"""Sparse LU in a fixed order without pivoting: its table, its pivots, the elimination of any matrix.

`static_solver` sets up tables for a pattern; `static_ldl` eliminates symmetric matrices, `static_factor` chooses.

The matrix is [H P^T; P D] with n coordinates first and m rows below, by columns, D mostly zero. The order of
`linear.ordering` makes every pivot safe if the body blocks of H are definite; then a pivot that vanishes is that of a
redundant row (or a singular position), and its multiplier is set to 0: the *zero-pivot rule*. Three steps:

- augmentation: to H is added c g g^T for chosen rows g of P, to the right-hand side c g times that row's right-hand
  side, to g^T in the upper right c d g^T with that row's entry d of D. The solution stays the same; the body blocks
  become definite (Euler parameters: g is the normalisation row, singular inertia: g is the joint row that makes up for
  it);
- left-looking elimination over the fixed pattern, up to three columns of L of nested pattern (a panel) at a time, zero
  multipliers skipped;
- substitution (`static_substitution`), with one step of iterative refinement if asked for.
"""

from __future__ import annotations

import numpy as np

from index3.compiled.interface import OK, extended, helper, view
from index3.linear import contract
from index3.linear.contract import (
    AI,
    AP,
    BAD_SCALAR,
    BODY_SINGULAR,
    DIAGONAL,
    HEND,
    INDEX,
    INFO,
    N_COORDINATES,
    N_ZERO,
    NOT_FINITE,
    OFF,
    ZERO,
    A,
)

# fmt: off
(
    CI, PERM, PINV,                           # rows in elimination order; scalar of an elimination number, and back
    LP, LI, LX, WIDTH,                        # L by columns without its unit diagonal; columns of the panel from here
    UP, UI, UX, UD,                           # U by columns; reciprocal pivots, 0 for a zero pivot
    VALUES, LIMIT, NOISE, INVERSE,            # A as augmented; size of a zero pivot; error of pivots; 1 / |H_ii|
    AUG_ROW, AUG_WEIGHT, AUG_PTR, AUG_COORD,  # rows to augment with: number, c, where its entries start, coordinates
    AUG_POS, AUG_MAP, AUG_G,                  # places of g and of the products g g^T in A; c g as last factored
    RHS, RESIDUAL, WORK, SETTINGS,            # for refinement; zero between calls; numbers below
    KEPT_OUT, CHOICE,                         # rows left out at a point of the known rank; numbers below
    SLP, SLI, SLX, SUP, SUI, SUX,             # L and U without the entries that came out zero, if they are sifted
    NODE_FIRST, NODE_BELOW, NODE_ROWS, NODE_START, NODE_TARGETS,              # `supernodes`, for symmetric matrices
    TARGET, TARGET_ROW, TARGET_SHIFT, SHIFTS, SOURCE, SOURCE_ROW, SOURCE_P, SOURCE_AUG, PLACE, UPPER_P, UPPER_I, UPPER,
    PAIRS,                                    # what each pair of rows below a panel changes; empty: wider blocks
    BLOCKS, BUFFER,                           # of symmetric matrices: U transposed, in blocks; room for one row of them
) = OWN = extended(
    contract.SLOTS,
    ci=(INDEX, 1), perm=(INDEX, 1), pinv=(INDEX, 1),
    lp=(INDEX, 1), li=(INDEX, 1), lx=("f8", 1), width=(INDEX, 1),
    up=(INDEX, 1), ui=(INDEX, 1), ux=("f8", 1), ud=("f8", 1),
    values=("f8", 1), limit=("f8", 1), noise=("f8", 1), inverse=("f8", 1),
    aug_row=(INDEX, 1), aug_weight=("f8", 1), aug_ptr=(INDEX, 1), aug_coord=(INDEX, 1),
    aug_pos=(INDEX, 1), aug_map=(INDEX, 1), aug_g=("f8", 1),
    rhs=("f8", 1), residual=("f8", 1), work=("f8", 1), settings=("f8", 1),
    kept_out=("i8", 1), choice=("i8", 1),
    slp=(INDEX, 1), sli=(INDEX, 1), slx=("f8", 1), sup=(INDEX, 1), sui=(INDEX, 1), sux=("f8", 1),
    node_first=("i4", 1), node_below=("i4", 1), node_rows=("i4", 1), node_start=("i4", 1), node_targets=("i4", 1),
    target=("i4", 1), target_row=("i4", 1), target_shift=("i4", 1), shifts=("i4", 1),
    source=("i4", 1), source_row=("i4", 1), source_p=("i4", 1), source_aug=("i4", 1), place=("i4", 1),
    upper_p=("i4", 1), upper_i=("i4", 1), upper=("i4", 1),
    pairs=("i4", 1),
    blocks=("f8", 1), buffer=("f8", 1),
)
# fmt: on
SLOTS = contract.SLOTS + OWN
FOR_SYMMETRIC = OWN[OWN.index(NODE_FIRST) :]

# SETTINGS: a row's pivot is zero if it is below this part of sum_i P_ki^2 / |H_ii| (0: the rule is off), a coordinate's
# if it is below this part of the largest entry of H in its column; 1 if zeros are sifted out of the factors
ROW_TOLERANCE, BODY_TOLERANCE, SIFT = range(3)
# CHOICE: 1 while the tolerances are the higher ones below; rows left out by these alone; 1 if the rank has been checked
# with the plain one; 1 if the factors are those of a symmetric matrix
PREFER, N_DOUBTFUL, CHECKED, HALVED, CHOICE_SIZE = range(5)
# Where rows are known to be redundant, those with pivots below 1e6 tolerances (angles of 2 degrees) are left out if
# that gives the known number: solving with smaller ones multiplies rounding by more than 1000. Off the constraints a
# row that was left out stays so up to 10 times OFF. There is no wider band in which a choice is kept: a method has
# several tables of factors, and where these choose different rows its points, slightly off the constraints, do not fit.
CHANGE, OFF_MARGIN, OFF_LIMIT = 1e6, 10.0, 0.3
BODY_PIVOT = 1e-13  # rounding of a sum of about a hundred products that cancel
# A small pivot carries its rounding error into later ones, so the limit also stays above that error. In 8000 matrices
# of tests/linear/mechanisms.py redundant rows left 0.8 times the error estimated (99.9 % of them), rows that count 60
# times or more; 1 matrix had the wrong rank, 8 without this rule.
NOISE_MARGIN = 10.0
NOISE_QUIET = 0.001  # errors are added up once a pivot's relative error exceeds this part of the tolerance
EPSILON = float(np.finfo(float).eps)
LARGEST = float(np.finfo(float).max)


@helper
def augment(a, diagonal, S):
    """Add c g g^T and c d g^T to the values in S, with g and d from the entries `a`; `diagonal`: their places in it."""
    row, ptr, pos, place = view(S, AUG_ROW), view(S, AUG_PTR), view(S, AUG_POS), view(S, AUG_MAP)
    ap, values, weight, g = view(S, AP), view(S, VALUES), view(S, AUG_WEIGHT), view(S, AUG_G)
    product = 0
    for r in range(weight.shape[0]):
        d, upper = a[diagonal[row[r]]], ap[row[r]]
        for i in range(ptr[r], ptr[r + 1]):
            g[i] = weight[r] * a[pos[i]]
            for j in range(ptr[r], ptr[r + 1]):
                values[place[product]] += g[i] * a[pos[j]]
                product += 1
            values[upper + (i - ptr[r])] += g[i] * d


@helper
def take_matrix(S):
    """Copy A and augment the copy; keep c g for the right-hand sides."""
    a, values = view(S, A), view(S, VALUES)
    broken = False
    for p in range(values.shape[0]):
        values[p] = a[p]
        if not abs(a[p]) <= LARGEST:
            broken = True
    if broken:
        return NOT_FINITE
    augment(a, view(S, DIAGONAL), S)
    return OK


@helper
def row_tolerance(S, scalar):
    """The relative size below which the pivot of a row counts as zero."""
    least = view(S, SETTINGS)[ROW_TOLERANCE]
    if view(S, CHOICE)[PREFER] == 0:
        return least
    angle = min(OFF_LIMIT, OFF_MARGIN * view(S, OFF)[0]) if view(S, KEPT_OUT)[scalar] == 1 else 0.0
    return max(CHANGE * least, angle * angle)


@helper
def set_limits_of_coordinate(S, i, largest, h):
    """The size of pivot that counts as zero and the relative rounding error to expect, and 1 / |H_ii|.

    From the largest entry of its column of H and the one on the diagonal.
    """
    k = view(S, PINV)[i]
    view(S, LIMIT)[k] = view(S, SETTINGS)[BODY_TOLERANCE] * largest
    view(S, NOISE)[k] = EPSILON
    view(S, INVERSE)[i] = 1.0 / abs(h) if abs(h) > 0.0 else 0.0


@helper
def set_limits_of_row(S, scalar, scale):
    """The size of pivot that counts as zero and the rounding error to expect, from the sum of P_ki^2 / |H_ii|."""
    k = view(S, PINV)[scalar]
    view(S, LIMIT)[k] = row_tolerance(S, scalar) * scale
    view(S, NOISE)[k] = EPSILON * scale


@helper
def set_limits(S):
    """What pivots are compared with."""
    ap, ai, hend, diagonal = view(S, AP), view(S, AI), view(S, HEND), view(S, DIAGONAL)
    values, inverse, n = view(S, VALUES), view(S, INVERSE), view(S, INFO)[N_COORDINATES]
    for i in range(n):
        largest = 0.0
        for p in range(ap[i], hend[i]):
            largest = max(largest, abs(values[p]))
        set_limits_of_coordinate(S, i, largest, values[diagonal[i]])
    for k in range(n, diagonal.shape[0]):
        scale = abs(values[diagonal[k]])
        for p in range(ap[k], hend[k]):
            scale += values[p] * values[p] * inverse[ai[p]]
        set_limits_of_row(S, k, scale)


@helper
def subtracted(S, k):
    """The sum of |u^2 / pivot| over column k of U, which its pivot is less than the matrix had; and that of the errors.

    Each u^2 / pivot was subtracted with the relative error of that pivot.
    """
    ud, noise, terms, errors = view(S, UD), view(S, NOISE), 0.0, 0.0
    if view(S, CHOICE)[HALVED] == 1:
        up, ui, upper, blocks = view(S, UPPER_P), view(S, UPPER_I), view(S, UPPER), view(S, BLOCKS)
        for p in range(up[k], up[k + 1]):
            term = blocks[upper[p]] * blocks[upper[p]] * abs(ud[ui[p]])
            terms += term
            errors += term * noise[ui[p]]
    else:
        up, ui, ux = view(S, UP), view(S, UI), view(S, UX)
        for p in range(up[k], up[k + 1]):
            term = ux[p] * ux[p] * abs(ud[ui[p]])
            terms += term
            errors += term * noise[ui[p]]
    return terms, errors


@helper
def weigh_noise(S, k):
    """Add to a row's rounding error what earlier pivots carry into it and raise its limit above that."""
    noise, limit = view(S, NOISE), view(S, LIMIT)
    noise[k] += subtracted(S, k)[1]
    limit[k] = max(limit[k], NOISE_MARGIN * noise[k])


@helper
def limit_by_terms(S, k, scalar):
    """Limit and noise of a row whose pivot is small against the bodies alone, from the terms that it is made of.

    What hangs on a body adds to its inertia before the row comes up (a heavy load on a light link, the far end of a
    long chain): the pivot is then small without any cancellation, and the row is not redundant.
    """
    noise, limit = view(S, NOISE), view(S, LIMIT)
    own = 0.0 if view(S, CHOICE)[HALVED] == 1 else view(S, VALUES)[view(S, DIAGONAL)[scalar]]
    terms = abs(own) + subtracted(S, k)[0]
    limit[k] = min(limit[k], row_tolerance(S, scalar) * terms)
    noise[k] = EPSILON * terms


@helper
def judge_small_pivot(S, scalar, size, limit):
    """The zero-pivot rule: OK if the scalar is a row to be left out."""
    info = view(S, INFO)
    info[BAD_SCALAR] = scalar
    if not size <= LARGEST:
        return NOT_FINITE
    if scalar < info[N_COORDINATES]:
        return BODY_SINGULAR
    if view(S, SETTINGS)[ROW_TOLERANCE] == 0.0:
        return NOT_FINITE
    view(S, ZERO)[scalar] = 1
    info[N_ZERO] += 1
    if size * row_tolerance(S, scalar) > limit * view(S, SETTINGS)[ROW_TOLERANCE]:
        view(S, CHOICE)[N_DOUBTFUL] += 1
    return OK


@helper
def is_usable(pivot, limit):
    """Whether a pivot is finite and above its limit."""
    return limit < abs(pivot) <= LARGEST


@helper
def quiet_noise(S):
    """The relative error of pivots from which on errors are added up."""
    tolerance = view(S, SETTINGS)[ROW_TOLERANCE]
    return NOISE_QUIET * tolerance if tolerance > 0.0 else LARGEST


@helper
def take_pivot(S, k, scalar, pivot, worst):
    """UD and NOISE of a row's column, or of one whose pivot is not usable; the status, and the worst noise so far."""
    limit, noise, ud, size = view(S, LIMIT), view(S, NOISE), view(S, UD), abs(pivot)
    ud[k] = 0.0  # makes the column of L zero too
    if scalar >= view(S, INFO)[N_COORDINATES]:
        if not limit[k] < size:
            limit_by_terms(S, k, scalar)
        if worst > quiet_noise(S):
            weigh_noise(S, k)
        if is_usable(pivot, limit[k]):
            ud[k] = 1.0 / pivot
            noise[k] /= size  # from here on the relative error
            return OK, max(worst, noise[k])
    return judge_small_pivot(S, scalar, size, limit[k]), worst


@helper
def eliminate(S):
    """Fill L and U column by column; returns the status and leaves `WORK` zero unless it fails."""
    ap, ci, values, perm = view(S, AP), view(S, CI), view(S, VALUES), view(S, PERM)
    lp, li, lx, width = view(S, LP), view(S, LI), view(S, LX), view(S, WIDTH)
    up, ui, ux, ud = view(S, UP), view(S, UI), view(S, UX), view(S, UD)
    x, limit, n, worst = view(S, WORK), view(S, LIMIT), view(S, INFO)[N_COORDINATES], 0.0
    for k in range(perm.shape[0]):
        scalar = perm[k]
        for p in range(ap[scalar], ap[scalar + 1]):
            x[ci[p]] = values[p]
        at = up[k]
        while at < up[k + 1]:
            j = ui[at]
            columns = min(width[j], up[k + 1] - at)  # fewer if column k itself lies in the panel
            first = lp[j]
            u = x[j]
            x[j] = 0.0
            ux[at] = u
            if columns == 1:
                if u != 0.0:
                    for p in range(first, lp[j + 1]):
                        x[li[p]] -= lx[p] * u
            elif columns == 2:
                second = lp[j + 1]
                v = x[j + 1] - lx[first] * u
                x[j + 1] = 0.0
                ux[at + 1] = v
                if u != 0.0 or v != 0.0:
                    back = second - (first + 1)
                    for p in range(second, lp[j + 2]):
                        x[li[p]] -= lx[np.uint32(p - back)] * u + lx[p] * v
            else:
                second, third = lp[j + 1], lp[j + 2]
                v = x[j + 1] - lx[first] * u
                w = x[j + 2] - lx[first + 1] * u - lx[second] * v
                x[j + 1] = 0.0
                x[j + 2] = 0.0
                ux[at + 1] = v
                ux[at + 2] = w
                if u != 0.0 or v != 0.0 or w != 0.0:
                    far, back = third - (first + 2), third - (second + 1)
                    for p in range(third, lp[j + 3]):
                        x[li[p]] -= lx[np.uint32(p - far)] * u + lx[np.uint32(p - back)] * v + lx[p] * w
            at = at + columns
        if scalar < n and is_usable(x[k], limit[k]):
            ud[k] = 1.0 / x[k]
        else:
            status, worst = take_pivot(S, k, scalar, x[k], worst)
            if status != OK:
                return status
        x[k] = 0.0
        for p in range(lp[k], lp[k + 1]):
            lx[p] = x[li[p]] * ud[k]
            x[li[p]] = 0.0
    return OK
