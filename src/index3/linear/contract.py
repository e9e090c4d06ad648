"""What a solver of the bordered system is to the kernels that use one: the slots every table of factors begins with.

    [ H  P^T ] [ x   ]   [ r ]        H = c_M M + c_Ma (M a)_q + c_K ((Phi_q^T lam)_q - Q_q) - c_D Q_v
    [ P  D   ] [ lam ] = [ b ]        P = Phi_q (P^T may differ from it, see C_R in `compiled.slots`), D mostly zero

A table of factors belongs to one matrix at a time. `factor` reads A and keeps what later calls need, so A may be filled
anew, or shared with another table, at any time; `solve` replaces X by the solution for the matrix last factored. Where
rows are redundant, a solver that finds the rank leaves some out: ZERO is 1 there, and their multipliers become 0. What
a solver offers, and how tables are made, is in `linear.solver`; no other room knows more of a solver than these two.

Complex matrices (COMPLEX_SLOTS) have tables of their own beside a real one, which is factored first: the rows left out
are its.
"""

from __future__ import annotations

from index3.compiled.interface import call, helper, slots, view

INDEX = "u4"  # unsigned: a signed index costs a test for negative values at every access, half of a solver's time
(
    KERNELS,                     # addresses of the solver's kernels, in the order below
    X, A,                        # right-hand side, then solution; values by columns, and one place nobody reads
    AP, AI, HEND, DIAGONAL,      # pattern of A: columns, rows, end of H in a column, diagonal entries
    ZERO, INFO, MARGIN, OFF,     # 1 where the last factorisation left a row out; numbers below
) = SLOTS = slots(
    kernels=("i8", 1), x=("f8", 1), a=("f8", 1),
    ap=(INDEX, 1), ai=(INDEX, 1), hend=(INDEX, 1), diagonal=(INDEX, 1),
    zero=("i8", 1), info=("i8", 1), margin=("f8", 1), off=("f8", 1),
)  # fmt: skip
COMPLEX_KERNELS, COMPLEX_X, COMPLEX_A = COMPLEX_SLOTS = slots(kernels=("i8", 1), x=("c16", 1), a=("c16", 1))

FACTOR, SOLVE, SOLVE_REFINED, DETERMINE = range(4)
"""Places in KERNELS; a complex matrix has the first two."""
N_COORDINATES, N_FACTOR, N_ZERO, FEWEST_ZERO, BAD_SCALAR, STATUS, SYMMETRIC, INFO_SIZE = range(8)
"""Places in INFO: number of coordinates; factorisations tried; rows left out by the last one; fewest left out by any
at a point on the constraints: the rows known to be redundant; scalar at which the last one failed, or -1; its status;
1 if H is made of the mass matrix and a diagonal alone and the matrix symmetric, with D = 0: whoever fills A may say so,
and a solver may make do with half of it; `factor` sets it back to 0.
MARGIN holds one number: how far the row closest to redundancy is from being left out, 1 at the limit. OFF holds one
number: how far the point of the matrix in A is off the constraints, as an angle; whoever fills A sets it, `factor` sets
it back to 0. Rows that depend on each other on the constraints are apart by about that angle off them."""
ON = 3e-6
"""Points with OFF below this tell the rank: rows are apart there by less than what counts as redundant."""
NOT_FINITE, BODY_SINGULAR, ROW_REDUNDANT, UNSUITABLE = range(1, 5)
"""Status of a factorisation that leaves nothing to solve with: a number is not finite; a coordinate has no inertia
(BAD_SCALAR); a row (BAD_SCALAR) is redundant or close to it, and the solver cannot tell or take that; the matrix is not
of the kind that the solver takes."""


@helper
def factor(T, S):
    """Factor the matrix in A; OK or one of the statuses above."""
    return call(view(S, KERNELS)[FACTOR], T, S)


@helper
def solve(T, S):
    """Replace X by the solution for the matrix last factored."""
    return call(view(S, KERNELS)[SOLVE], T, S)


@helper
def solve_refined(T, S):
    """As `solve`, with one step of iterative refinement."""
    return call(view(S, KERNELS)[SOLVE_REFINED], T, S)


@helper
def determine(T, S):
    """Replace the multipliers in X by those with the same forces at the matrix last factored, 0 on rows left out."""
    return call(view(S, KERNELS)[DETERMINE], T, S)


@helper
def lost_rank(S):
    """Whether the last factorisation left out more rows than another before: a matrix to be used once only."""
    info = view(S, INFO)
    return info[N_ZERO] > info[FEWEST_ZERO]


@helper
def begin(S):
    """For compiled solvers, before a factorisation: nothing is left out and nothing has failed."""
    zero, info = view(S, ZERO), view(S, INFO)
    info[N_FACTOR] += 1
    info[N_ZERO] = 0
    info[BAD_SCALAR] = -1
    for k in range(zero.shape[0]):
        zero[k] = 0


@helper
def end(S, status):
    """For compiled solvers, after a factorisation: note its status and, if it is OK, its rank."""
    info = view(S, INFO)
    info[STATUS] = status
    if status == 0:
        info[BAD_SCALAR] = -1
        if view(S, OFF)[0] <= ON:
            info[FEWEST_ZERO] = min(info[FEWEST_ZERO], info[N_ZERO])
    view(S, OFF)[0] = 0.0
    info[SYMMETRIC] = 0
    return status
