"""The static LU on the part of a pattern that is in use: kernels (`partial_solver` sets their tables up).

Where bodies may touch but seldom do, most blocks of the matrix are zero most of the time. A table of this solver holds
the whole matrix, as assembly fills it, and an inner table of `static_lu` for the blocks that have been other than zero
of late. `factor` counts what is not zero in the matrix and in those blocks; if the counts differ, something new touches
and the part is chosen anew: blocks in use, an order of nodes by minimum degree under rule R of `linear.ordering`, the
pattern of the factors node by node (all scalars of a node alike). Everything else is done on the inner table.
"""

from __future__ import annotations

from index3.compiled.interface import OK, call, extended, helper, kernel, view
from index3.linear import contract, static_factor
from index3.linear import static_lu as lu
from index3.linear.contract import AI, AP, DIAGONAL, HEND, INDEX, INFO, KERNELS, N_COORDINATES, NOT_FINITE, A

# fmt: off
(
    INNER,                                    # handle of the inner table
    RUN_FIRST, RUN_START, RUN_BLOCK,          # entries of a column in one block: first run of a column, entry, block
    BLOCK_ONE, BLOCK_OTHER, ALWAYS,           # nodes of a block; 1 if it is always in use
    NODE_FIRST, NODE_SCALARS, WAIT_FIRST, WAITS,  # scalars of nodes; bodies that a joint's node follows
    PRODUCTS,                                 # places in A of the products of the augmentation
    IN_USE, LAST_USE,                         # of each block; the factorisation that last found it other than zero
    SOURCE, PLACE,                            # from entries of the part to those of A, and back
    NEAR, DEGREE, GONE, ORDER, START,         # graph of nodes, while they are ordered; number of a node's first scalar
    FRONT_FIRST, FRONT, BACK_FIRST, BACK,     # nodes below each node in L, and above it in U
    NUMBERS,
) = OWN = extended(
    lu.SLOTS,
    inner=("i8", 1),
    run_first=(INDEX, 1), run_start=(INDEX, 1), run_block=(INDEX, 1),
    block_one=(INDEX, 1), block_other=(INDEX, 1), always=("i8", 1),
    node_first=(INDEX, 1), node_scalars=(INDEX, 1), wait_first=(INDEX, 1), waits=(INDEX, 1),
    products=(INDEX, 1),
    in_use=("i8", 1), last_use=("i8", 1),
    source=(INDEX, 1), place=(INDEX, 1),
    near=("u1", 2), degree=("i8", 1), gone=("i8", 1), order=("i8", 1), start=("i8", 1),
    front_first=("i8", 1), front=(INDEX, 1), back_first=("i8", 1), back=(INDEX, 1),
    numbers=("i8", 1),
)
# fmt: on
SLOTS = lu.SLOTS + OWN
N_ENTRIES, N_FACTORED, N_ANALYSES, NUMBERS_SIZE = range(4)
"""Places in NUMBERS: entries of the part, factorisations, how often the part was chosen."""
MEMORY = 20
"""Factorisations for which a block that became zero stays in use: bodies that bounce touch again."""
PANEL = 3
"""As in `linear.symbolic`."""


@helper
def holds_all(S, N, j):
    """Whether the part holds all entries of a column that are not zero."""
    a, ap, source, own_ap, count = view(S, A), view(S, AP), view(S, SOURCE), view(N, AP), 0
    for p in range(ap[j], ap[j + 1]):
        if a[p] != 0.0:
            count += 1
    for p in range(own_ap[j], own_ap[j + 1]):
        if a[source[p]] != 0.0:
            count -= 1
    return count == 0


@helper
def mark_blocks(S, N):
    """Which blocks are in use: those that are not zero, or were so lately."""
    a, use, last, now = view(S, A), view(S, IN_USE), view(S, LAST_USE), view(S, NUMBERS)[N_FACTORED]
    first, start, block, always = view(S, RUN_FIRST), view(S, RUN_START), view(S, RUN_BLOCK), view(S, ALWAYS)
    for j in range(first.shape[0] - 1):
        known = holds_all(S, N, j)
        for r in range(first[j], first[j + 1]):
            b = block[r]
            if last[b] != now and not (known and use[b] == 0):
                for p in range(start[r], start[r + 1]):
                    if a[p] != 0.0:
                        last[b] = now
    for b in range(use.shape[0]):
        use[b] = 1 if always[b] == 1 or last[b] > now - MEMORY else 0


@helper
def link_nodes(S):
    """The graph of nodes that blocks in use couple, and the scalars that stand beside each."""
    near, degree, gone, use = view(S, NEAR), view(S, DEGREE), view(S, GONE), view(S, IN_USE)
    one, other, first = view(S, BLOCK_ONE), view(S, BLOCK_OTHER), view(S, NODE_FIRST)
    for k in range(degree.shape[0]):
        degree[k] = 0
        gone[k] = 0
        for j in range(degree.shape[0]):
            near[k, j] = 0
    for b in range(use.shape[0]):
        i, j = one[b], other[b]
        if use[b] == 1 and i != j:
            near[i, j] = 1
            near[j, i] = 1
            degree[i] += first[j + 1] - first[j]
            degree[j] += first[i + 1] - first[i]


@helper
def next_node(S):
    """The node with the fewest scalars beside it, of those whose bodies are gone (rule R)."""
    degree, gone, first, waits = view(S, DEGREE), view(S, GONE), view(S, WAIT_FIRST), view(S, WAITS)
    best = -1
    for k in range(degree.shape[0]):
        if gone[k] == 0 and (best < 0 or degree[k] < degree[best]):
            free = True
            for w in range(first[k], first[k + 1]):
                free = free and gone[waits[w]] == 1
            if free:
                best = k
    return best


@helper
def order_nodes(S):
    """ORDER of elimination, and for each node in that order those it leaves coupled: FRONT."""
    near, degree, gone, order = view(S, NEAR), view(S, DEGREE), view(S, GONE), view(S, ORDER)
    first, front, at = view(S, FRONT_FIRST), view(S, FRONT), 0
    size = view(S, NODE_FIRST)
    for r in range(order.shape[0]):
        k = next_node(S)
        order[r], gone[k], first[r] = k, 1, at
        for j in range(order.shape[0]):
            if near[k, j] == 1 and gone[j] == 0:
                front[at] = j
                at += 1
        for p in range(first[r], at):
            i = front[p]
            degree[i] -= size[k + 1] - size[k]
            for q in range(first[r], at):
                j = front[q]
                if i != j and near[i, j] == 0:
                    near[i, j] = 1
                    degree[i] += size[j + 1] - size[j]
    first[order.shape[0]] = at


@helper
def sort_fronts(S):
    """Nodes by their rank in ORDER: those above each in U, then those below each in L, both ascending."""
    order, rank, count = view(S, ORDER), view(S, GONE), view(S, DEGREE)
    first, front, back_first, back = view(S, FRONT_FIRST), view(S, FRONT), view(S, BACK_FIRST), view(S, BACK)
    nodes = order.shape[0]
    for r in range(nodes):
        rank[order[r]] = r
        count[r] = 0
    for p in range(first[nodes]):
        front[p] = rank[front[p]]
        count[front[p]] += 1
    back_first[0] = 0
    for r in range(nodes):
        back_first[r + 1] = back_first[r] + count[r]
        count[r] = back_first[r]
    for r in range(nodes):
        for p in range(first[r], first[r + 1]):
            back[count[front[p]]] = r
            count[front[p]] += 1
    for r in range(nodes):
        count[r] = first[r]
    for r in range(nodes):
        for p in range(back_first[r], back_first[r + 1]):
            front[count[back[p]]] = r
            count[back[p]] += 1


@helper
def number_scalars(S, N):
    """PERM and PINV of the inner table, node after node, and the panels of columns that a node makes."""
    order, start, first, scalars = view(S, ORDER), view(S, START), view(S, NODE_FIRST), view(S, NODE_SCALARS)
    perm, pinv, width, at = view(N, lu.PERM), view(N, lu.PINV), view(N, lu.WIDTH), 0
    for r in range(order.shape[0]):
        start[r] = at
        begin, end = first[order[r]], first[order[r] + 1]
        for p in range(begin, end):
            perm[at] = scalars[p]
            pinv[scalars[p]] = at
            width[at] = min(PANEL, end - p) if (p - begin) % PANEL == 0 else 1
            at += 1
    start[order.shape[0]] = at


@helper
def fill_factors(S, N):
    """The pattern of L and U: columns of a node hold what is left of it and all scalars of the nodes in its front."""
    start, nodes = view(S, START), view(S, ORDER).shape[0]
    first, front, back_first, back = view(S, FRONT_FIRST), view(S, FRONT), view(S, BACK_FIRST), view(S, BACK)
    lp, li, up, ui = view(N, lu.LP), view(N, lu.LI), view(N, lu.UP), view(N, lu.UI)
    below, above = 0, 0
    for r in range(nodes):
        for k in range(start[r], start[r + 1]):
            lp[k], up[k] = below, above
            for i in range(k + 1, start[r + 1]):
                li[below] = i
                below += 1
            for p in range(first[r], first[r + 1]):
                for i in range(start[front[p]], start[front[p] + 1]):
                    li[below] = i
                    below += 1
            for p in range(back_first[r], back_first[r + 1]):
                for j in range(start[back[p]], start[back[p] + 1]):
                    ui[above] = j
                    above += 1
            for j in range(start[r], k):
                ui[above] = j
                above += 1
    lp[start[nodes]], up[start[nodes]] = below, above


@helper
def fill_entries(S, N):
    """The entries of the blocks in use: where they stand in A, and the pattern that the inner table has of them."""
    first, start, block = view(S, RUN_FIRST), view(S, RUN_START), view(S, RUN_BLOCK)
    ai, use = view(S, AI), view(S, IN_USE)
    source, place, at, n = view(S, SOURCE), view(S, PLACE), 0, view(S, INFO)[N_COORDINATES]
    own_ap, own_ai, hend, diagonal = view(N, AP), view(N, AI), view(N, HEND), view(N, DIAGONAL)
    ci, pinv, products, own_products = view(N, lu.CI), view(N, lu.PINV), view(S, PRODUCTS), view(N, lu.AUG_MAP)
    for j in range(pinv.shape[0]):
        own_ap[j], hend[j] = at, at
        for r in range(first[j], first[j + 1]):
            if use[block[r]] == 1:
                for p in range(start[r], start[r + 1]):
                    i = ai[p]
                    source[at], place[p] = p, at
                    own_ai[at], ci[at] = i, pinv[i]
                    if i == j:
                        diagonal[j] = at
                    at += 1
                    if i < n:
                        hend[j] = at
    own_ap[pinv.shape[0]] = at
    view(S, NUMBERS)[N_ENTRIES] = at
    for k in range(products.shape[0]):
        own_products[k] = place[products[k]]


@helper
def choose_part(S, N):
    """Choose the blocks in use and analyse their pattern."""
    view(S, NUMBERS)[N_ANALYSES] += 1
    mark_blocks(S, N)
    link_nodes(S)
    order_nodes(S)
    sort_fronts(S)
    number_scalars(S, N)
    fill_factors(S, N)
    fill_entries(S, N)


@helper
def take_entries(S, N):
    """Copy the entries of the part; how many of them are not zero, and whether all are finite."""
    a, source, values, inside, finite = view(S, A), view(S, SOURCE), view(N, lu.VALUES), 0, True
    for p in range(view(S, NUMBERS)[N_ENTRIES]):
        x = a[source[p]]
        values[p] = x
        if x != 0.0:
            inside += 1
        if not abs(x) <= lu.LARGEST:
            finite = False
    return inside, finite


@helper
def count_entries(S):
    """How many entries of the whole matrix are not zero."""
    a, count = view(S, A), 0
    for p in range(view(S, AI).shape[0]):
        if a[p] != 0.0:
            count += 1
    return count


@kernel
def factor(T, S):
    """Factor the matrix in A; returns OK, NOT_FINITE or BODY_SINGULAR (then there is nothing to solve with)."""
    N, numbers = view(S, INNER)[0], view(S, NUMBERS)
    contract.begin(S)
    numbers[N_FACTORED] += 1
    inside, finite = take_entries(S, N)
    if inside != count_entries(S) or numbers[N_ANALYSES] == 0:
        choose_part(S, N)
        inside, finite = take_entries(S, N)
    status = NOT_FINITE
    if finite:
        lu.augment(view(S, A), view(S, DIAGONAL), N)
        status = static_factor.eliminate_by_rank(N)
    if status == OK:
        static_factor.set_margin(N)
    else:
        work = view(N, lu.WORK)
        for k in range(work.shape[0]):
            work[k] = 0.0
    return contract.end(S, status)


@kernel
def solve(T, S):
    """Replace X by the solution for the matrix last factored."""
    N = view(S, INNER)[0]
    return call(view(N, KERNELS)[contract.SOLVE], T, N)


@kernel
def solve_refined(T, S):
    """As `solve`, with one step of iterative refinement."""
    N = view(S, INNER)[0]
    return call(view(N, KERNELS)[contract.SOLVE_REFINED], T, N)


@kernel
def determine(T, S):
    """Replace the multipliers in X by those with the same forces, 0 on rows that were left out."""
    N = view(S, INNER)[0]
    return call(view(N, KERNELS)[contract.DETERMINE], T, N)
