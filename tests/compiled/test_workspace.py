"""What runs hand on to each other: tables of zeros, each lent once."""

import numpy as np

from index3.compiled.interface import Room, Table, slots
from index3.compiled.workspace import LARGEST, LARGEST_IMAGE, MOST, Workspace

X, Y = slots(x=("f8", 1), y=("i8", 1))
ROOM = Room({X: (3,)})


def blank():
    table = Table(2)
    table[Y] = np.array([5], np.int64)
    return table


def test_a_run_gets_the_tables_of_the_one_before_in_their_order():
    workspace, common = Workspace(), blank()
    first = [workspace.filled("one", common, ROOM) for _ in range(2)]
    other = workspace.filled("other", common, ROOM)
    first[1][X][:] = 1.0
    workspace.begin()
    assert workspace.filled("other", common, ROOM) is other
    assert [workspace.filled("one", common, ROOM) is table for table in first] == [True, True]
    assert not first[1][X].any()
    assert first[0][Y] is common[Y]
    assert workspace.filled("one", common, ROOM) not in first


def test_what_restarts_ask_for_beyond_the_usual_is_not_kept():
    workspace = Workspace()
    made = [workspace.filled("one", blank(), ROOM) for _ in range(MOST + 3)]
    assert len({table.handle for table in made}) == MOST + 3
    assert [table for table, _ in workspace.made["one"]] == made[:MOST]


def test_large_ones_are_not_worth_keeping():
    for count, small in ((LARGEST // 8 - 100, True), (LARGEST // 8 + 100, False)):
        workspace = Workspace()
        workspace.filled("one", blank(), Room({X: (count,)}))
        assert workspace.is_small is small


def test_a_table_shares_what_another_has_and_keeps_its_own_zeros():
    table = blank().sharing()
    table.fill(ROOM)
    own, other = table[X], blank()
    own[0] = 2.0
    table.share(other)
    assert table[X] is own
    assert table[Y] is other[Y]
    assert table.words[Y.index * 4] == other.words[Y.index * 4]
    table.clear()
    assert not own.any()


def test_a_table_is_lent_again_as_it_began():
    """Small ones are copied from how they began, large ones written anew; `begin` writes to both."""
    for count, calls in ((3, 1), (LARGEST_IMAGE, 2)):
        workspace, written, room = Workspace(), [], Room({X: (count,)})

        def begin(table, written=written):
            written.append(table)
            table[X][0] = 7.0

        first = workspace.filled("one", blank(), room, begin)
        first[X][:2] = 1.0
        workspace.begin()
        assert workspace.filled("one", blank(), room, begin) is first
        assert first[X][:2].tolist() == [7.0, 0.0]
        assert len(written) == calls
