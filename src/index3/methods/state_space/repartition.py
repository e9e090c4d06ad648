"""The choice of independent coordinates while a run goes on, by elimination of Phi_q.

[NegrutThesis] 4.1.2, step 18: a partition is kept until the condition number of Phi_u has grown by 1.25. Ours: small
systems are eliminated densely with full pivoting, when the largest entry of H = -Phi_u^-1 Phi_w has grown so much,
which the reference gives with one solution per degree of freedom. Large ones are eliminated in every step, sparse, and
each pivot is judged by itself, beside the largest entry of its row (`elimination`): in a long chain H has entries of
the chain's length, beside which a single body whose coordinates went bad would not be seen.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, view
from index3.linear import contract
from index3.methods import projection_kernels
from index3.methods.state_space import elimination, frame
from index3.methods.state_space.elimination import GROWTH, ZERO

HEAVY, HEAVY_EACH = 1e4, 1e2
"""Mass of an independent coordinate in parts of the largest entry of M: a number, and one for each coordinate. It bears
what hangs on it: the recovery's directions are off by 1e-4 or so, which costs little, for independent coordinates are
not moved at all. More would do harm: a row between light and heavy coordinates has a pivot smaller by that factor, and
1e-9 counts as redundant."""


@helper
def largest_response(T, F):
    """Largest entry of H: how far a dependent coordinate moves when an independent one moves by 1."""
    fixed, heavy, most = view(F, frame.FIXED), view(F, frame.HEAVY), 0.0
    link = view(view(F, frame.HANDLES)[frame.PROJECTOR], projection_kernels.LINK)
    x = view(link[projection_kernels.LINK_SOLVER], contract.X)
    for j in range(fixed.shape[0]):
        if fixed[j] == 1:
            for k in range(x.shape[0]):
                x[k] = 0.0
            x[j] = heavy[j]
            contract.solve(T, link[projection_kernels.LINK_SOLVER])
            for k in range(fixed.shape[0]):
                if fixed[k] == 0:
                    most = max(most, abs(x[k]))
    return max(most, 1.0)


@helper
def fill_dense(T, F):
    """Phi_q as a dense matrix; its largest entry."""
    a, phi_q, row, column = view(F, frame.DENSE), view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL)
    largest = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.0
    for e in range(phi_q.shape[0]):
        a[row[e], column[e]] += phi_q[e]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            largest = max(largest, abs(a[i, j]))
    return largest


@helper
def eliminate(F, limit):
    """Full pivoting; FIXED is 0 for pivot columns afterwards. A used row is zero and so is a used column."""
    a, fixed = view(F, frame.DENSE), view(F, frame.FIXED)
    rows, columns = a.shape[0], a.shape[1]
    for j in range(columns):
        fixed[j] = 1
    for _ in range(rows):
        p, c = 0, 0
        for i in range(rows):
            for j in range(columns):
                if abs(a[i, j]) > abs(a[p, c]):
                    p, c = i, j
        pivot = a[p, c]
        if not abs(pivot) > limit:
            return
        fixed[c] = 0
        for i in range(rows):
            if i != p and a[i, c] != 0.0:
                x = a[i, c] / pivot
                for j in range(columns):
                    a[i, j] -= x * a[p, j]
                a[i, c] = 0.0
        for j in range(columns):
            a[p, j] = 0.0


@helper
def weigh(T, F):
    """HEAVY for a new choice in FIXED; MATRIX stands as last factored."""
    fixed, heavy, settings = view(F, frame.FIXED), view(F, frame.HEAVY), view(F, frame.SETTINGS)
    matrix, largest = view(T, s.MATRIX), 0.0
    diagonal = view(
        view(view(F, frame.HANDLES)[frame.PROJECTOR], projection_kernels.LINK)[projection_kernels.LINK_SOLVER],
        contract.DIAGONAL,
    )
    for k in range(fixed.shape[0]):
        largest = max(largest, abs(matrix[diagonal[k]]) - heavy[k])
    for k in range(fixed.shape[0]):
        heavy[k] = (HEAVY + HEAVY_EACH * fixed.shape[0]) * largest if fixed[k] == 1 else 0.0
    settings[frame.GROWN] = -1.0
    view(F, frame.FLAGS)[frame.PARTITIONS] += 1


@kernel
def choose(T, F):
    """1 if a new partition was chosen, for which the reference must be factored; Phi_q stands at T's point."""
    settings = view(F, frame.SETTINGS)
    if settings[frame.GROWN] > 0.0 and largest_response(T, F) <= GROWTH * settings[frame.GROWN]:
        return 0
    if settings[frame.GROWN] == -1.0:  # just chosen: note how large H is
        settings[frame.GROWN] = largest_response(T, F)
        return 0
    eliminate(F, ZERO * fill_dense(T, F))
    weigh(T, F)
    return 1


@kernel
def choose_sparse(T, F):
    """As `choose`, for large systems; without room for the elimination the partition stays."""
    settings, fixed, handles = view(F, frame.SETTINGS), view(F, frame.FIXED), view(F, frame.HANDLES)
    if settings[frame.GROWN] == -1.0:  # just chosen
        settings[frame.GROWN] = 1.0
        return 0
    if call(handles[frame.ELIMINATE], T, handles[frame.ELIMINATION]) != OK:
        return 0
    place, changed = view(handles[frame.ELIMINATION], elimination.PLACE), 0
    for k in range(fixed.shape[0]):
        free = 1 if place[k] < 0 else 0
        if fixed[k] != free:
            fixed[k] = free
            changed = 1
    if changed == 1:
        weigh(T, F)
    return changed
