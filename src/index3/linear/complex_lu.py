"""Complex matrices on the pattern of a real one: the elimination of `static_lu` once more, with complex numbers.

For methods whose Newton matrix splits into one real and one complex matrix of the same kind, M + z D + z^2 K bordered
by Phi_q (Radau IIA). The real matrix is factored first: order, pattern, the rows that are augmented with and the rows
that are skipped (the zero-pivot rule) are its; what is redundant does not depend on z. If x^H M x > 0 and x^H K x >= 0
no pivot of a body vanishes unless z^2 is real and negative.
"""

from __future__ import annotations

from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.linear import contract, static_lu, static_substitution
from index3.linear.contract import COMPLEX_A as A
from index3.linear.contract import COMPLEX_X as X

(REAL, LX, UX, UD, WORK) = OWN = extended(
    contract.COMPLEX_SLOTS,
    real=("i8", 1),  # handle of the real solver's table
    lx=("c16", 1), ux=("c16", 1), ud=("c16", 1),  # factors; reciprocal pivots
    work=("c16", 1),  # zero between calls
)  # fmt: skip
SLOTS = contract.COMPLEX_SLOTS + OWN


@helper
def augment(S, values):
    """Add c g (row) to the body blocks and borders, with the c g of the real factorisation; A is changed in place."""
    ptr, pos, place = view(S, static_lu.AUG_PTR), view(S, static_lu.AUG_POS), view(S, static_lu.AUG_MAP)
    row, ap, diagonal = view(S, static_lu.AUG_ROW), view(S, contract.AP), view(S, contract.DIAGONAL)
    g, product = view(S, static_lu.AUG_G), 0
    for r in range(ptr.shape[0] - 1):
        d, upper = values[diagonal[row[r]]], ap[row[r]]
        for i in range(ptr[r], ptr[r + 1]):
            for j in range(ptr[r], ptr[r + 1]):
                values[place[product]] += g[i] * values[pos[j]]
                product += 1
            values[upper + (i - ptr[r])] += g[i] * d


@helper
def reciprocal(z):
    """1 / z; zero or something that is not finite gives a number that is not finite."""
    size = z.real * z.real + z.imag * z.imag
    return complex(z.real / size, -z.imag / size)


@helper
def eliminate(S, C):
    """Fill L and U column by column; whether all pivots are finite."""
    ap, ci, perm = view(S, contract.AP), view(S, static_lu.CI), view(S, static_lu.PERM)
    lp, li, up, ui = view(S, static_lu.LP), view(S, static_lu.LI), view(S, static_lu.UP), view(S, static_lu.UI)
    zero, values, lx, ux, ud, x = (
        view(S, contract.ZERO), view(C, A), view(C, LX), view(C, UX), view(C, UD), view(C, WORK),
    )  # fmt: skip
    finite = True
    for k in range(perm.shape[0]):
        for p in range(ap[perm[k]], ap[perm[k] + 1]):
            x[ci[p]] = values[p]
        for at in range(up[k], up[k + 1]):
            j = ui[at]
            u = x[j]
            x[j] = 0.0
            ux[at] = u
            if u != 0.0:
                for p in range(lp[j], lp[j + 1]):
                    x[li[p]] -= lx[p] * u
        ud[k] = 0.0 if zero[perm[k]] == 1 else reciprocal(x[k])
        if not abs(ud[k].real) + abs(ud[k].imag) <= static_lu.LARGEST:
            finite = False
        x[k] = 0.0
        for p in range(lp[k], lp[k + 1]):
            lx[p] = x[li[p]] * ud[k]
            x[li[p]] = 0.0
    return finite


@kernel
def factor(T, C):
    """Factor the matrix in A, after its real companion; OK or NOT_FINITE."""
    S = view(C, REAL)[0]
    augment(S, view(C, A))
    return OK if eliminate(S, C) else contract.NOT_FINITE


@kernel
def solve(T, C):
    """Replace X by the solution for the matrix last factored; unknowns of skipped rows become 0."""
    S, b, y = view(C, REAL)[0], view(C, X), view(C, WORK)
    perm, pinv = view(S, static_lu.PERM), view(S, static_lu.PINV)
    lp, li, up, ui = view(S, static_lu.LP), view(S, static_lu.LI), view(S, static_lu.UP), view(S, static_lu.UI)
    lx, ux, ud = view(C, LX), view(C, UX), view(C, UD)
    static_substitution.augment_right_side(S, b)
    static_substitution.solve_factors(perm, pinv, lp, li, lx, up, ui, ux, ud, y, b)
    return OK
