"""The pattern of the bordered matrix, and the maps into it."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.system.compile import compile_model
from index3.system.sparsity import CROWDED, pattern, square_keys
from index3.system.state import State

MODELS = {
    "four_bar": ix.library.four_bar,
    "andrews": ix.library.andrews,
    "chain": lambda: ix.library.chain(4, springs=True),
    "mass_spring": ix.library.mass_spring,
    "spinning_top": ix.library.spinning_top,
}


@pytest.fixture(params=MODELS)
def system(request):
    return compile_model(MODELS[request.param]())


def entries(sparsity):
    """All (row, column) of a pattern."""
    columns = np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))
    return set(zip(sparsity.indices.tolist(), columns.tolist(), strict=True))


def test_a_pattern_is_symmetric_with_a_full_diagonal_and_sorted():
    made = pattern(4, [np.array([0, 3])], [np.array([2, 1])])
    assert entries(made) == {(0, 2), (2, 0), (3, 1), (1, 3), (0, 0), (1, 1), (2, 2), (3, 3)}
    assert made.indptr.tolist() == [0, 2, 4, 6, 8]
    assert made.indices.tolist() == [0, 2, 1, 3, 0, 2, 1, 3]


def test_repeated_entries_stand_once():
    made = pattern(2, [np.array([0, 0, 1])], [np.array([1, 1, 0])])
    assert len(made.indices) == 4


def test_places_find_every_entry():
    made = pattern(5, [np.array([0, 3, 4])], [np.array([2, 1, 0])])
    columns = np.repeat(np.arange(5), np.diff(made.indptr))
    np.testing.assert_array_equal(made.places(made.indices, columns), np.arange(len(made.indices)))


def test_keys_go_row_by_row():
    (keys,) = square_keys(np.array([[4, 7]]), 10)
    assert keys.tolist() == [[44, 74], [47, 77]]  # column * size + row


def test_a_part_that_is_symmetric_may_be_given_by_its_keys():
    rows, columns = np.array([0, 3, 4]), np.array([2, 1, 0])
    keys = np.concatenate([columns * 5 + rows, rows * 5 + columns])
    assert np.array_equal(pattern(5, [], [], keys).keys, pattern(5, [rows], [columns]).keys)


def test_the_matrix_pattern_is_symmetric(system):
    places = entries(system.sparsity)
    assert places == {(column, row) for row, column in places}
    assert {(k, k) for k in range(system.n + system.m)} <= places


def test_rows_stand_where_their_map_says(system):
    """BLOCK_MAP leads to (n + row, column) and to its mirror."""
    sparsity, fixed = system.sparsity, system.fixed
    row, column, places = fixed[s.BLOCK_ROW], fixed[s.BLOCK_COL], fixed[s.BLOCK_MAP]
    columns = np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))
    np.testing.assert_array_equal(sparsity.indices[places[:, 0]], system.n + row)
    np.testing.assert_array_equal(columns[places[:, 0]], column)
    np.testing.assert_array_equal(sparsity.indices[places[:, 1]], column)
    np.testing.assert_array_equal(columns[places[:, 1]], system.n + row)


def test_stiffness_stands_where_its_map_says(system):
    """GROUP_MAP leads to pairs of the group's own coordinates, or nowhere (the last place of MATRIX)."""
    sparsity, nowhere = system.sparsity, len(system.sparsity.indices)
    columns = np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))
    for group in system.groups:
        if not group.markers or not (group.curved or group.damped):
            continue
        spans = []
        for marker in group.markers:
            number = next((k for k, body in enumerate(system.bodies) if body is marker.body), None)
            start = 0 if number is None else int(system.starts[number])
            spans += range(start, start + marker.body.size)
        places = system.fixed[s.GROUP_MAP][group.map : group.map + group.count**2].reshape(group.count, group.count)
        for i, row in enumerate(spans):
            for j, column in enumerate(spans):
                if places[i, j] != nowhere:
                    assert (sparsity.indices[places[i, j]], columns[places[i, j]]) == (row, column)


def test_bodies_without_a_common_element_are_not_coupled(system):
    """An entry between two bodies, or a body and a row, needs a group that touches both."""
    node, count = system.node_of_scalar, len(system.bodies)
    numbers = {id(body): k for k, body in enumerate(system.bodies)}
    touched = [{numbers.get(id(marker.body), -1) for marker in group.markers} for group in system.groups]
    for row, column in entries(system.sparsity):
        a, b = node[row], node[column]
        if a != b and a < count and b < count:
            assert any({a, b} <= bodies for bodies in touched)


def test_entries_grow_linearly_with_a_chain():
    counts = [len(compile_model(ix.library.chain(n)).sparsity.indices) for n in (10, 20, 40)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


@pytest.mark.parametrize("count", [8, 60])
def test_crowded_and_sparse_patterns_are_found_alike(count):
    """Few entries are sorted and searched, many are looked up in a table of all places."""
    rng, size = np.random.default_rng(0), 12
    rows, columns = rng.integers(0, size, (2, count))
    found = pattern(size, [rows[:3], rows[3:]], [columns[:3], columns[3:]])
    assert (size * size <= CROWDED * len(found.keys)) == (count == 60)  # both ways are taken
    full = np.eye(size, dtype=bool)
    full[rows, columns] = full[columns, rows] = True
    by_columns, by_rows = np.nonzero(full.T)
    assert np.array_equal(found.indices, by_rows)
    assert np.array_equal(np.repeat(np.arange(size), np.diff(found.indptr)), by_columns)
    assert np.array_equal(found.indices[found.places(rows, columns)], rows)
    assert np.array_equal(by_columns[found.places(rows, columns)], columns)


def test_entries_of_constraint_rows_have_places_of_their_own(system):
    """So the evaluator writes them into the matrix and adds nothing; what belongs to ground shares the last place."""
    state = State(system)
    places, last = state[s.BLOCK_MAP].ravel(), len(state[s.MATRIX]) - 1
    own = places[places != last]
    assert len(own) > 0
    assert len(np.unique(own)) == len(own)
