"""The order of elimination, compiled (`ordering` says what it must keep to, and makes the arrays).

A node that is gone stands for its neighbours at that time, which it couples with each other: they are its *set*. The
neighbours of a node are those nodes that an entry couples it with and no set does, and the sets that it is in. So the
graph never takes more room than it did at first. A node's set holds those of earlier nodes that it was in itself; these
are then given up.
"""

from __future__ import annotations

from index3.compiled.interface import OK, helper, kernel, view
from index3.linear import symbolic_kernels as symbolic
from index3.linear.ordering_gate import (
    open_gate,
    pass_body,
    pass_joint,
    refuses,
)
from index3.linear.ordering_table import (
    AT,
    BEST,
    COUPLED,
    DEGREE,
    FIRST,
    KEPT,
    LAST,
    MARK,
    N_BODIES,
    NEAR,
    NODE,
    NODES,
    NUMBERS,
    ORDER,
    ORDERS,
    PLACE,
    REFUSED,
    RULE,
    SCALAR_FIRST,
    SCALARS,
    SET_FIRST,
    SET_SIZE,
    SETS,
    STAMP,
    WAITING,
    WANTED,
    WEIGHT,
    put,
    sift,
    take_first,
)


@helper
def sort_scalars(E):
    """SCALARS, and the weights of nodes."""
    node, nodes, scalars = view(E, NODE), view(E, NODES), view(E, SCALARS)
    count = nodes.shape[1] - 1  # one more column than nodes, for the end of the last
    for k in range(count + 1):
        nodes[SCALAR_FIRST, k], nodes[PLACE, k] = 0, 0
    for i in range(node.shape[0]):
        nodes[SCALAR_FIRST, node[i] + 1] += 1
    for k in range(count):
        nodes[WEIGHT, k] = nodes[SCALAR_FIRST, k + 1]
        nodes[SCALAR_FIRST, k + 1] += nodes[SCALAR_FIRST, k]
    for i in range(node.shape[0]):
        k = node[i]
        scalars[nodes[SCALAR_FIRST, k] + nodes[PLACE, k]] = i
        nodes[PLACE, k] += 1


@helper
def link_nodes(E):
    """The graph: nodes with an entry of the matrix between them."""
    indptr, indices = view(E, symbolic.INDPTR), view(E, symbolic.INDICES)
    node, nodes, scalars, near, at = view(E, NODE), view(E, NODES), view(E, SCALARS), view(E, NEAR), 0
    count, numbers = nodes.shape[1] - 1, view(E, NUMBERS)
    for k in range(count):
        nodes[MARK, k] = -1
    for k in range(count):
        nodes[FIRST, k], nodes[SETS, k], nodes[SET_SIZE, k], nodes[DEGREE, k], nodes[MARK, k] = at, 0, 0, 0, k
        for s in range(nodes[SCALAR_FIRST, k], nodes[SCALAR_FIRST, k + 1]):
            j = scalars[s]
            for p in range(indptr[j], indptr[j + 1]):
                other = node[indices[p]]
                if nodes[MARK, other] != k:
                    nodes[MARK, other] = k
                    nodes[DEGREE, k] += nodes[WEIGHT, other]
                    near[at] = other
                    at += 1
        nodes[LAST, k], nodes[COUPLED, k] = at, at - nodes[FIRST, k]
    numbers[AT], numbers[STAMP] = at, count


@helper
def make_room(E, done, wanted):
    """Move the sets in NEAR together unless there is room for one more behind them."""
    nodes, near, numbers = view(E, NODES), view(E, NEAR), view(E, NUMBERS)
    if numbers[AT] + wanted <= near.shape[0]:
        return
    at = nodes[LAST, nodes.shape[1] - 2]
    for r in range(done):
        k = nodes[ORDER, r]
        first = nodes[SET_FIRST, k]
        if nodes[SET_SIZE, k] > 0:
            nodes[SET_FIRST, k] = at
            for p in range(first, first + nodes[SET_SIZE, k]):
                near[at] = near[p]
                at += 1
    numbers[AT] = at


@helper
def couple(E, k):
    """Make the set of a node that goes: all its neighbours, marked by the number that is returned."""
    nodes, near, numbers = view(E, NODES), view(E, NEAR), view(E, NUMBERS)
    stamp, begin = numbers[STAMP] + 1, numbers[AT]
    at = begin
    nodes[MARK, k] = stamp
    for p in range(nodes[FIRST, k], nodes[FIRST, k] + nodes[COUPLED, k]):
        nodes[MARK, near[p]] = stamp
        near[at] = near[p]
        at += 1
    for e in range(1, nodes[SETS, k] + 1):
        other = near[nodes[LAST, k] - e]
        for p in range(nodes[SET_FIRST, other], nodes[SET_FIRST, other] + nodes[SET_SIZE, other]):
            i = near[p]
            if nodes[MARK, i] != stamp:
                nodes[MARK, i] = stamp
                near[at] = i
                at += 1
        nodes[SET_SIZE, other] = 0
    nodes[SET_FIRST, k], nodes[SET_SIZE, k] = begin, at - begin
    numbers[STAMP], numbers[AT] = stamp, at
    return stamp


@helper
def add_set(E, a, k, stamp, inside):
    """Put a new set, of `inside` scalars, among the neighbours of a node that is in it, and find the node's degree."""
    nodes, near, numbers = view(E, NODES), view(E, NEAR), view(E, NUMBERS)
    first, last, degree, kept = nodes[FIRST, a], nodes[LAST, a], inside - nodes[WEIGHT, a], 0
    for p in range(first, first + nodes[COUPLED, a]):
        i = near[p]
        if nodes[MARK, i] != stamp:
            near[first + kept] = i
            kept += 1
            degree += nodes[WEIGHT, i]
    nodes[COUPLED, a], kept = kept, 0
    numbers[STAMP] += 1
    mine = numbers[STAMP]
    for e in range(1, nodes[SETS, a] + 1):
        other = near[last - e]
        if nodes[SET_SIZE, other] > 0:
            kept += 1
            near[last - kept] = other
            for p in range(nodes[SET_FIRST, other], nodes[SET_FIRST, other] + nodes[SET_SIZE, other]):
                i = near[p]
                if nodes[MARK, i] != stamp and nodes[MARK, i] != mine:
                    nodes[MARK, i] = mine
                    degree += nodes[WEIGHT, i]
    near[last - kept - 1] = k
    nodes[SETS, a], nodes[DEGREE, a] = kept + 1, degree


@helper
def drop(E, k, rank):
    """Take a node out of the graph."""
    nodes, near, numbers, inside = view(E, NODES), view(E, NEAR), view(E, NUMBERS), 0
    make_room(E, rank, nodes.shape[1])
    stamp = couple(E, k)
    begin, end = nodes[SET_FIRST, k], nodes[SET_FIRST, k] + nodes[SET_SIZE, k]
    for p in range(begin, end):
        inside += nodes[WEIGHT, near[p]]
    for p in range(begin, end):
        a = near[p]
        add_set(E, a, k, stamp, inside)
        if nodes[PLACE, a] >= 0:
            sift(nodes, nodes[PLACE, a], numbers[WAITING])


@helper
def order_nodes(E, forest):
    """ORDER: least weight of remaining neighbours first among the nodes that the rule allows."""
    nodes, numbers, rank = view(E, NODES), view(E, NUMBERS), 0
    link_nodes(E)
    open_gate(E)
    numbers[WAITING] = 0
    for k in range(nodes.shape[1] - 1):
        put(E, k)
    while numbers[WAITING] > 0:
        k = take_first(E)
        joint = k - numbers[N_BODIES]
        if joint < 0 or not refuses(E, joint, forest):
            nodes[ORDER, rank] = k
            drop(E, k, rank)
            rank += 1
            if joint < 0:
                pass_body(E, k)
            elif forest:
                pass_joint(E, joint)
    return rank == nodes.shape[1] - 1


@helper
def order_scalars(E):
    """PERM and PINV: scalars in the order of their nodes; inside a node ascending, so that coordinates precede rows."""
    nodes, scalars, perm, pinv = view(E, NODES), view(E, SCALARS), view(E, symbolic.PERM), view(E, symbolic.PINV)
    at = 0
    for r in range(nodes.shape[1] - 1):
        k = nodes[ORDER, r]
        for p in range(nodes[SCALAR_FIRST, k], nodes[SCALAR_FIRST, k + 1]):
            perm[at], pinv[scalars[p]] = scalars[p], at
            at += 1


@helper
def is_known(E):
    """Whether ORDER is that of the rule before; keeps it."""
    nodes, same = view(E, NODES), True
    for r in range(nodes.shape[1] - 1):
        same = same and nodes[KEPT, r] == nodes[ORDER, r]
        nodes[KEPT, r] = nodes[ORDER, r]
    return same


@kernel
def choose(T, E):
    """PERM, PINV, COUNTS and the number of operations by the rule that takes fewer."""
    numbers, info, best = view(E, NUMBERS), view(E, symbolic.INFO), view(E, BEST)
    perm, pinv, counts = view(E, symbolic.PERM), view(E, symbolic.PINV), view(E, symbolic.COUNTS)
    if not symbolic.is_symmetric(E):
        return symbolic.NOT_SYMMETRIC
    sort_scalars(E)
    numbers[ORDERS] = 0
    for rule in range(2):
        if numbers[WANTED] == rule or numbers[WANTED] == 2:
            if not order_nodes(E, rule == 1):
                return REFUSED
            if not is_known(E) or numbers[ORDERS] == 0:
                order_scalars(E)
                symbolic.visit_rows(E, False)
                flops = symbolic.count_flops(E)
                if numbers[ORDERS] == 0 or flops < info[symbolic.FLOPS]:
                    info[symbolic.FLOPS], numbers[RULE] = flops, rule
                    for k in range(perm.shape[0]):
                        best[0, k], best[1, k], best[2, k] = perm[k], pinv[k], counts[k]
                numbers[ORDERS] += 1
    for k in range(perm.shape[0]):
        perm[k], pinv[k], counts[k] = best[0, k], best[1, k], best[2, k]
    return OK
