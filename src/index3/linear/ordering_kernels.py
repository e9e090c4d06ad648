"""The order of elimination, compiled (`ordering` says what it must keep to, and makes the arrays).

A node that is gone stands for its neighbours at that time, which it couples with each other: they are its *set*. The
neighbours of a node are those nodes that an entry couples it with and no set does, and the sets that it is in. So the
graph never takes more room than it did at first. A node's set holds those of earlier nodes that it was in itself; these
are then given up.
"""

from __future__ import annotations

from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.linear import symbolic_kernels as symbolic

NODE, TOUCHED_FIRST, TOUCHED, NODES, BODIES, JOINTS, TIES, NEAR, SCALARS, BEST, NUMBERS = OWN = extended(
    symbolic.SLOTS,
    node=("i8", 1),  # of each scalar
    touched_first=("i8", 1), touched=("i8", 1),  # bodies that each joint touches; ground is the one behind the last
    nodes=("i8", 2), bodies=("i8", 2), joints=("i8", 2), ties=("i8", 2),  # lines below
    near=("i4", 1),  # room for the graph
    scalars=("i8", 1),  # node by node
    best=("i8", 2),  # PERM, PINV and COUNTS of the best order
    numbers=("i8", 1),
)  # fmt: skip
SLOTS = symbolic.SLOTS + OWN
(
    WEIGHT, DEGREE, MARK,                     # scalars of the node, and of all its neighbours; who was here last
    FIRST, LAST, COUPLED, SETS,               # its piece of NEAR: neighbours from the front, sets from the back
    SET_FIRST, SET_SIZE,                      # its own set in NEAR; of size 0 once another one holds it
    HEAP, PLACE,                              # nodes that wait, the next one first; where a node stands there, or -1
    ORDER, KEPT, SCALAR_FIRST, NODE_LINES,    # as found, and by the rule before; place of the first of SCALARS
) = range(15)  # fmt: skip
GONE, LINK, ANCHOR, ANCHORED, ASKING, BODY_LINES = range(6)
"""Lines of BODIES: 1 if it is gone; towards the body that stands for its component; of that one: the body to which the
component is tied, or -1; the first joint that ties a component to a body, and the first tie that waits for it."""
MEMBER, NEXT_MEMBER, JOINT_LINES = range(3)
"""Lines of JOINTS: a body of the component that it ties to a body; the next joint that ties one to the same."""
JOINT, WAITS_FOR, NEXT, BEFORE, TIE_LINES = range(5)
"""Lines of TIES, one for each of TOUCHED: its joint; the body for which that waits by it, or -1; others that do."""
N_BODIES, WANTED, RULE, WAITING, STAMP, AT, ORDERS, NUMBERS_SIZE = range(8)
"""NUMBERS: of bodies; 0 or 1 for rule R or F, 2 for either; the rule taken; nodes in HEAP; the last mark; where NEAR is
free; how many orders were eliminated."""
REFUSED = 2


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
def precedes(nodes, one, other):
    """Whether a node is taken before another: by degree, then by number."""
    a, b = nodes[DEGREE, one], nodes[DEGREE, other]
    return a < b or (a == b and one < other)


@helper
def swap(nodes, i, j):
    """Swap two places of the heap."""
    one, other = nodes[HEAP, i], nodes[HEAP, j]
    nodes[HEAP, i], nodes[HEAP, j] = other, one
    nodes[PLACE, one], nodes[PLACE, other] = j, i


@helper
def sift(nodes, i, count):
    """Let the node at a place of the heap go up or down to where it belongs."""
    while i > 0 and precedes(nodes, nodes[HEAP, i], nodes[HEAP, (i - 1) // 2]):
        swap(nodes, i, (i - 1) // 2)
        i = (i - 1) // 2
    down = True
    while down:
        least, down = i, False
        for child in range(2 * i + 1, min(2 * i + 3, count)):
            if precedes(nodes, nodes[HEAP, child], nodes[HEAP, least]):
                least, down = child, True
        if down:
            swap(nodes, i, least)
            i = least


@helper
def put(E, k):
    """Let a node wait for its turn."""
    nodes, numbers = view(E, NODES), view(E, NUMBERS)
    count = numbers[WAITING]
    nodes[HEAP, count], nodes[PLACE, k] = k, count
    numbers[WAITING] = count + 1
    sift(nodes, count, count + 1)


@helper
def take_first(E):
    """The node whose turn it is."""
    nodes, numbers = view(E, NODES), view(E, NUMBERS)
    k, last = nodes[HEAP, 0], numbers[WAITING] - 1
    swap(nodes, 0, last)
    nodes[PLACE, k] = -1
    numbers[WAITING] = last
    sift(nodes, 0, last)
    return k


@helper
def root(bodies, body):
    """The body that stands for a component."""
    while bodies[LINK, body] != body:
        bodies[LINK, body] = bodies[LINK, bodies[LINK, body]]
        body = bodies[LINK, body]
    return body


@helper
def open_gate(E):
    """No body is gone but ground, which joints are tied to."""
    bodies, ties, first = view(E, BODIES), view(E, TIES), view(E, TOUCHED_FIRST)
    ground = view(E, NUMBERS)[N_BODIES]
    for b in range(ground + 1):
        bodies[GONE, b], bodies[LINK, b], bodies[ANCHOR, b], bodies[ANCHORED, b], bodies[ASKING, b] = 0, b, -1, -1, -1
    bodies[GONE, ground] = 1
    for joint in range(first.shape[0] - 1):
        for t in range(first[joint], first[joint + 1]):
            ties[JOINT, t], ties[WAITS_FOR, t] = joint, -1


@helper
def wait_for(E, t, body):
    """Let a joint wait for a body by one of its ties."""
    bodies, ties = view(E, BODIES), view(E, TIES)
    after = bodies[ASKING, body]
    ties[WAITS_FOR, t], ties[NEXT, t], ties[BEFORE, t] = body, after, -1
    if after >= 0:
        ties[BEFORE, after] = t
    bodies[ASKING, body] = t


@helper
def wait_no_more(E, joint):
    """Let a joint wait for no body."""
    bodies, ties, first = view(E, BODIES), view(E, TIES), view(E, TOUCHED_FIRST)
    for t in range(first[joint], first[joint + 1]):
        body, before, after = ties[WAITS_FOR, t], ties[BEFORE, t], ties[NEXT, t]
        if body >= 0:
            ties[WAITS_FOR, t] = -1
            if before >= 0:
                ties[NEXT, before] = after
            else:
                bodies[ASKING, body] = after
            if after >= 0:
                ties[BEFORE, after] = before


@helper
def count_ties(E, joint):
    """To how many bodies, ground included, the components that a joint touches are tied."""
    bodies, touched, first, count = view(E, BODIES), view(E, TOUCHED), view(E, TOUCHED_FIRST), 0
    ground = root(bodies, view(E, NUMBERS)[N_BODIES])
    for t in range(first[joint], first[joint + 1]):
        if bodies[GONE, touched[t]] == 1:
            r, known = root(bodies, touched[t]), False
            for other in range(first[joint], t):
                known = known or (bodies[GONE, touched[other]] == 1 and root(bodies, touched[other]) == r)
            if not known:
                count += int(bodies[ANCHOR, r] >= 0) + int(r == ground)
    return count


@helper
def refuses(E, joint, forest):
    """Whether a joint must wait; then it does so for the bodies whose elimination can change that."""
    bodies, touched, first = view(E, BODIES), view(E, TOUCHED), view(E, TOUCHED_FIRST)
    begin, end, remaining = first[joint], first[joint + 1], 0
    for t in range(begin, end):
        if bodies[GONE, touched[t]] == 0:
            remaining += 1
            if not forest:
                wait_for(E, t, touched[t])
                return True
    if not forest:
        return False
    of_all = remaining > 1 or (remaining > 0 and end - begin > 2)
    if not of_all and count_ties(E, joint) + remaining <= 1:
        return False
    for t in range(begin, end):
        if bodies[GONE, touched[t]] == 0:
            wait_for(E, t, touched[t])
        elif not of_all:
            anchor = bodies[ANCHOR, root(bodies, touched[t])]
            if anchor >= 0:
                wait_for(E, t, anchor)
    return True


@helper
def pass_body(E, body):
    """Note that a body is gone: the components tied to it become one with it, and joints that waited ask again."""
    bodies, joints, ties = view(E, BODIES), view(E, JOINTS), view(E, TIES)
    bodies[GONE, body] = 1
    joint = bodies[ANCHORED, body]
    while joint >= 0:
        r = root(bodies, joints[MEMBER, joint])
        bodies[ANCHOR, r] = -1
        bodies[LINK, r] = root(bodies, body)
        joint = joints[NEXT_MEMBER, joint]
    while bodies[ASKING, body] >= 0:
        joint = ties[JOINT, bodies[ASKING, body]]
        wait_no_more(E, joint)
        put(E, view(E, NUMBERS)[N_BODIES] + joint)


@helper
def pass_joint(E, joint):
    """Note that a joint is gone: it makes its eliminated bodies one component, and ties it to its remaining body."""
    bodies, joints, touched, first = view(E, BODIES), view(E, JOINTS), view(E, TOUCHED), view(E, TOUCHED_FIRST)
    whole, anchor = -1, -1
    for t in range(first[joint], first[joint + 1]):
        body = touched[t]
        if bodies[GONE, body] == 0:
            anchor = body
        else:
            r = root(bodies, body)
            if bodies[ANCHOR, r] >= 0:
                anchor = bodies[ANCHOR, r]
                bodies[ANCHOR, r] = -1
            if whole < 0:
                whole = r
            bodies[LINK, r] = whole
    if anchor >= 0:
        bodies[ANCHOR, whole] = anchor
        joints[MEMBER, joint], joints[NEXT_MEMBER, joint] = whole, bodies[ANCHORED, anchor]
        bodies[ANCHORED, anchor] = joint


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
