"""The order of elimination keeps its promise, and the pattern of the factors is exact."""

from __future__ import annotations

import numpy as np
import pytest
from mechanisms import GROUND, Matrix, Mechanism, chain, four_bars, lattice, random_mechanism

from index3.compiled.interface import Table
from index3.linear import ordering_table, symbolic_kernels
from index3.linear.ordering import RULES, chosen, elimination_order
from index3.linear.reference import rank
from index3.linear.symbolic import PANEL, Entries, Pattern, analyse

pytestmark = pytest.mark.jit_off


def analysed(matrix: Matrix, rule: str | None = None) -> Table:
    return chosen(matrix.indptr, matrix.indices, matrix.node_of_scalar, matrix.n_bodies, matrix.joint_bodies, rule)


def nodes_in_order(matrix: Matrix, rule: str) -> list[int]:
    return analysed(matrix, rule)[ordering_table.NODES][ordering_table.ORDER, :-1].tolist()


def order_nodes(
    graph: list[set[int]], weights: list[int], n_bodies: int, joint_bodies: list[list[int]], rule: str
) -> list[int]:
    """The order of a graph whose nodes have as many scalars as their weights say."""
    node = np.repeat(np.arange(len(graph)), weights)
    coupled = np.eye(len(graph), dtype=bool)
    for k, neighbours in enumerate(graph):
        coupled[k, list(neighbours)] = True
    full = coupled[np.ix_(node, node)]
    indptr, indices = np.concatenate([[0], np.cumsum(full.sum(axis=0))]), np.nonzero(full.T)[1]
    table = chosen(indptr, indices, node, n_bodies, joint_bodies, rule)
    return table[ordering_table.NODES][ordering_table.ORDER, :-1].tolist()


class Gate:
    """Rule F as the module's text says it, with sets: components of bodies that are gone, and what each is tied to."""

    def __init__(self, n_bodies: int, joint_bodies: list[list[int]]) -> None:
        self.touched = [set(bodies) | ({GROUND} if len(bodies) < 2 else set()) for bodies in joint_bodies]
        self.components: list[tuple[set[int], set[int]]] = [({GROUND}, {GROUND})]

    def met(self, joint: int) -> list[tuple[set[int], set[int]]]:
        return [one for one in self.components if one[0] & self.touched[joint]]

    def remaining(self, joint: int) -> set[int]:
        return self.touched[joint] - set().union(*(bodies for bodies, _ in self.components))

    def allows(self, joint: int) -> bool:
        left = self.remaining(joint)
        if len(left) > 1 or (left and len(self.touched[joint]) > 2):
            return False
        return sum(len(ties) for _, ties in self.met(joint)) + len(left) <= 1

    def join(self, parts: list[tuple[set[int], set[int]]], bodies: set[int], ties: set[int]) -> None:
        self.components = [one for one in self.components if one not in parts]
        self.components.append((bodies.union(*(one for one, _ in parts)), ties.union(*(other for _, other in parts))))

    def pass_body(self, body: int) -> None:
        parts = [one for one in self.components if body in one[1]]
        self.join([], {body}, set())
        self.join([*parts, self.components[-1]], set(), set())
        self.components[-1][1].discard(body)

    def pass_joint(self, joint: int) -> None:
        self.join(self.met(joint), set(), self.remaining(joint))


def plain_order(matrix: Matrix, rule: str) -> list[int]:
    """Least weight of neighbours first, then the smallest number, of all nodes that the rule allows; with sets."""
    n_bodies, joints = matrix.n_bodies, matrix.joint_bodies
    nodes, node = n_bodies + len(joints), np.asarray(matrix.node_of_scalar)
    weights = np.bincount(node, minlength=nodes)
    near: list[set[int]] = [set() for _ in range(nodes)]
    columns = np.repeat(node, np.diff(matrix.indptr))
    for i, j in zip(node[matrix.indices].tolist(), columns.tolist(), strict=True):
        near[i].add(j)
    gate, left, order = Gate(n_bodies, joints), set(range(nodes)), []

    def allowed(k: int) -> bool:
        if k < n_bodies:
            return True
        if rule == "R":
            return not set(joints[k - n_bodies]) & left
        return gate.allows(k - n_bodies)

    while left:
        k = min(filter(allowed, left), key=lambda k: (sum(weights[i] for i in (near[k] & left) - {k}), k))
        left.discard(k)
        order.append(k)
        for i in near[k] & left:
            near[i] |= near[k]
        if k < n_bodies:
            gate.pass_body(k)
        else:
            gate.pass_joint(k - n_bodies)
    return order


def pattern_of(matrix: Matrix, rule: str | None = None) -> tuple[str, Pattern]:
    return elimination_order(
        matrix.indptr, matrix.indices, matrix.node_of_scalar, matrix.n_bodies, matrix.joint_bodies, rule
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(20))
def test_every_node_once(rule: str, seed: int) -> None:
    matrix = random_mechanism(np.random.default_rng(seed)).matrix()
    order = nodes_in_order(matrix, rule)
    assert sorted(order) == list(range(matrix.n_bodies + len(matrix.joint_bodies)))


@pytest.mark.parametrize("seed", range(10))
def test_rule_r_puts_joints_after_their_bodies(seed: int) -> None:
    matrix = random_mechanism(np.random.default_rng(seed)).matrix()
    place = np.argsort(nodes_in_order(matrix, "R"))
    for joint, bodies in enumerate(matrix.joint_bodies):
        assert all(place[b] < place[matrix.n_bodies + joint] for b in bodies if b != GROUND)


def test_rule_f_lets_joints_follow_one_body() -> None:
    matrix = chain(6, np.random.default_rng(0)).matrix()
    place = np.argsort(nodes_in_order(matrix, "F"))
    early = [
        joint
        for joint, bodies in enumerate(matrix.joint_bodies)
        if any(place[b] > place[matrix.n_bodies + joint] for b in bodies if b != GROUND)
    ]
    assert early


def restricted_rows_are_independent(matrix: Matrix, order: list[int]) -> bool:
    """At every stage, the rows eliminated so far have full rank in the coordinates eliminated so far."""
    P = matrix.constraint_rows()
    coordinates, rows = np.zeros(matrix.n, bool), np.zeros(matrix.m, bool)
    for node in order:
        mine = matrix.node_of_scalar == node
        coordinates |= mine[: matrix.n]
        rows |= mine[matrix.n :]
        if rank(P[np.ix_(rows, coordinates)]) < rows.sum():
            return False
    return True


@pytest.mark.parametrize("rule", RULES)
def test_no_stage_is_singular_if_the_rows_are_independent(rule: str) -> None:
    tried = 0
    for seed in range(80):
        matrix = random_mechanism(np.random.default_rng(seed)).matrix()
        if rank(matrix.constraint_rows()) == matrix.m:
            assert restricted_rows_are_independent(matrix, nodes_in_order(matrix, rule)), seed
            tried += 1
    assert tried >= 20  # the generator makes about one in three without redundant rows


def test_free_order_would_be_singular() -> None:
    """The check above can fail: a body after both joints that hold it."""
    matrix = chain(2, np.random.default_rng(0)).matrix()
    assert not restricted_rows_are_independent(matrix, [2, 3, 0, 1])


@pytest.mark.parametrize("rule", RULES)
def test_rows_on_three_bodies_come_last(rule: str) -> None:
    mech = chain(3, np.random.default_rng(1))
    gear = mech.gear(0, 1, 2, ratio=1.5)
    place = np.argsort(nodes_in_order(mech.matrix(), rule))
    assert place[3 + gear] > max(place[:3])


HEAVY = {1: {2, 3}, 2: {1, 3}, 3: {1, 2}}  # springs to two big bodies keep body 1 from going early
WEIGHTS = [3, 3, 100, 100, 2, 2]


def test_row_on_one_body_ties_it_to_ground() -> None:
    """The joint of bodies 0 and 1 may follow body 0 alone, but not if a coordinate of body 0 is driven."""
    free = order_nodes([{4}, HEAVY[1] | {4}, HEAVY[2], HEAVY[3], {0, 1}], WEIGHTS[:5], 4, [[0, 1]], "F")
    assert free.index(4) < free.index(1)
    graph = [{4, 5}, HEAVY[1] | {5}, HEAVY[2], HEAVY[3], {0}, {0, 1}]
    driven = order_nodes(graph, WEIGHTS, 4, [[0], [0, 1]], "F")
    assert driven.index(4) < driven.index(1) < driven.index(5)


def test_second_joint_to_the_anchor_waits() -> None:
    """Two joints between the same two bodies: one may go early, the other closes a loop."""
    graph = [{4, 5}, HEAVY[1] | {4, 5}, HEAVY[2], HEAVY[3], {0, 1}, {0, 1}]
    order = order_nodes(graph, WEIGHTS, 4, [[0, 1], [0, 1]], "F")
    assert order.index(4) < order.index(1) < order.index(5)


def test_rows_that_name_ground_wait_for_both_bodies() -> None:
    """Such as a joint of a planar and a spatial body."""
    graph = [{4}, HEAVY[1] | {4}, HEAVY[2], HEAVY[3], {0, 1}]
    order = order_nodes(graph, WEIGHTS[:5], 4, [[-1, 0, 1]], "F")
    assert order.index(1) < order.index(4)


def test_bodies_without_joints() -> None:
    assert order_nodes([set(), set()], [7, 7], 2, [], "F") == [0, 1]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("make", [random_mechanism, lambda rng: chain(9, rng), lambda rng: lattice((3, 3), rng)])
def test_order_is_that_of_plain_sets(make, rule: str) -> None:
    for seed in range(8):
        matrix = make(np.random.default_rng(seed)).matrix()
        assert nodes_in_order(matrix, rule) == plain_order(matrix, rule)


def test_order_of_a_grid_that_fills_all_room() -> None:
    """Sets of nodes that were given up make room for others: those of all nodes together take more than there is."""
    side = 20
    place = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((place[1:], place[:-1]), (place[:, 1:], place[:, :-1]))]
    )
    full = np.eye(side * side, dtype=bool)
    full[pairs[:, 0], pairs[:, 1]] = full[pairs[:, 1], pairs[:, 0]] = True
    indptr, indices = np.concatenate([[0], np.cumsum(full.sum(axis=0))]), np.nonzero(full)[1]
    grid = Matrix(side * side, 0, indptr, indices, np.ones(len(indices)), place.ravel(), side * side, [], [])
    table = analysed(grid, "R")
    free = len(table[ordering_table.NEAR]) - 2 * len(pairs)
    assert free < table[symbolic_kernels.COUNTS].sum()
    assert nodes_in_order(grid, "R") == plain_order(grid, "R")


def test_scalars_of_a_node_ascend() -> None:
    """Nodes of two, three and one scalars, which nothing couples: one, two, three of them."""
    table = chosen(np.arange(7), np.arange(6), np.array([0, 0, 1, 1, 1, 2])[[2, 0, 3, 5, 1, 4]], 3, [])
    node, perm = table[ordering_table.NODE], table[symbolic_kernels.PERM]
    assert node[perm].tolist() == [0, 0, 1, 1, 1, 2]
    assert perm.tolist() == [1, 4, 0, 2, 5, 3]
    assert perm[table[symbolic_kernels.PINV]].tolist() == list(range(6))


@pytest.mark.parametrize("make", [chain, four_bars])
def test_rule_with_fewer_operations_is_taken(make) -> None:
    matrix = make(12, np.random.default_rng(0)).matrix()
    rule, pattern = pattern_of(matrix)
    assert pattern.flops == min(pattern_of(matrix, name)[1].flops for name in RULES)
    assert pattern.flops == pattern_of(matrix, rule)[1].flops


def test_work_per_link_of_a_chain_is_constant() -> None:
    rule, pattern = pattern_of(chain(200, np.random.default_rng(0)).matrix())
    assert rule == "F"
    assert pattern.flops / 200 < 1600  # 1588 as built; rule R needs 2722
    assert len(pattern.li) / 200 < 95  # 92.7 as built


def test_work_of_a_lattice() -> None:
    rng = np.random.default_rng(0)
    _, pattern = pattern_of(lattice((8, 8), rng).matrix())
    assert len(pattern.li) < 16 * pattern.perm.size  # 12.4 as built for this seed


def dense_fill(matrix: Matrix, perm: np.ndarray) -> np.ndarray:
    """Pattern of L + U by elimination of a full array of booleans."""
    filled = np.zeros((len(perm),) * 2, bool)
    filled[matrix.indices, np.repeat(np.arange(len(perm)), np.diff(matrix.indptr))] = True
    filled = filled[np.ix_(perm, perm)]
    for k in range(len(perm)):
        after = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        filled[np.ix_(after, after)] = True
    return filled


@pytest.mark.parametrize("seed", range(12))
def test_pattern_is_that_of_dense_elimination(seed: int) -> None:
    matrix = random_mechanism(np.random.default_rng(seed)).matrix()
    _, pattern = pattern_of(matrix)
    filled = dense_fill(matrix, pattern.perm)
    multiplications = 0
    for k in range(len(pattern.perm)):
        below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        assert pattern.li[pattern.lp[k] : pattern.lp[k + 1]].tolist() == below.tolist()
        assert pattern.ui[pattern.up[k] : pattern.up[k + 1]].tolist() == np.flatnonzero(filled[:k, k]).tolist()
        multiplications += len(below) ** 2
    assert pattern.flops == 2 * multiplications
    assert pattern.pinv[pattern.perm].tolist() == list(range(len(pattern.perm)))


def test_columns_of_a_panel_are_nested() -> None:
    _, pattern = pattern_of(lattice((4, 4), np.random.default_rng(3)).matrix())
    column = [pattern.li[a:b].tolist() for a, b in zip(pattern.lp[:-1], pattern.lp[1:], strict=True)]
    starts = 0
    while starts < len(column):
        width = int(pattern.width[starts])
        assert 1 <= width <= PANEL
        for k in range(starts, starts + width - 1):
            assert column[k] == [k + 1, *column[k + 1]]
        starts += width
    assert starts == len(column)
    assert pattern.width.max() == PANEL


def test_pattern_without_counterpart_is_refused() -> None:
    with pytest.raises(ValueError, match="not symmetric"):
        analyse(np.array([0, 2, 3]), np.array([0, 1, 1]), np.arange(2), np.arange(2))
    with pytest.raises(ValueError, match="not symmetric"):
        elimination_order(np.array([0, 2, 3]), np.array([0, 1, 1]), np.arange(2), 2, [])


def test_unsorted_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        Entries(np.array([0, 2, 4]), np.array([1, 0, 0, 1]))


def test_missing_entry_is_named() -> None:
    entries = Entries(np.array([0, 1, 2]), np.array([0, 1]))
    with pytest.raises(ValueError, match=r"\(1, 0\)"):
        entries.places(np.array([0, 1]), np.array([0, 0]))


def test_mechanism_rows_are_left_satisfied_by_rigid_motions() -> None:
    """The generator's own promise: what the forest rule relies on."""
    rng = np.random.default_rng(5)
    mech = Mechanism(rng)
    for _ in range(2):
        mech.spatial(rng.normal(size=3))
    mech.revolute(0, 1, rng.normal(size=3), rng.normal(size=3))
    P = mech.matrix().constraint_rows()[2:]
    at_origin = [np.linalg.pinv(mech.at(b, np.zeros(3))) for b in (0, 1)]  # coordinates' rates of one common twist
    assert abs(P @ np.vstack(at_origin)).max() < 1e-12  # rounding of sums of terms of order 1


def test_an_order_on_which_both_rules_agree_is_eliminated_once() -> None:
    """The pattern is that of the better order."""
    agreed = 0
    for seed in range(20):
        matrix = random_mechanism(np.random.default_rng(seed)).matrix()
        rule, found = pattern_of(matrix)
        orders = {name: nodes_in_order(matrix, name) for name in RULES}
        agreed += orders["R"] == orders["F"]
        eliminated = analysed(matrix)[ordering_table.NUMBERS][ordering_table.ORDERS]
        assert eliminated == (1 if orders["R"] == orders["F"] else 2)
        each = {name: pattern_of(matrix, name)[1] for name in RULES}
        assert found.flops == each[rule].flops == min(each["R"].flops, each["F"].flops)
        assert rule == ("R" if each["R"].flops <= each["F"].flops else "F")
        for one, other in zip(found, each[rule], strict=True):
            assert np.array_equal(one, other)
        again = analyse(matrix.indptr, matrix.indices, found.perm, found.pinv)
        for one, other in zip(found, again, strict=True):
            assert np.array_equal(one, other)
    assert 0 < agreed < 20
