"""The table of `ordering_kernels`, and the nodes that wait for their turn: a heap."""

from __future__ import annotations

from index3.compiled.interface import extended, helper, view
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
