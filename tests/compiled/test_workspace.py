"""What runs hand on to each other: tables of zeros, each lent once."""

import math

import numpy as np
import pytest

import index3 as ix
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


def test_what_is_made_of_several_tables_is_kept_in_one_piece():
    workspace, made = Workspace(), []

    def make():
        made.append([workspace.filled("one", blank(), ROOM) for _ in range(2)])
        made[-1][0][X][0] = made[-1][1].handle  # which a table lent by itself would not keep
        return made[-1]

    workspace.begin()
    first = workspace.whole("pair", make)
    loose = workspace.filled("one", blank(), ROOM)
    assert loose not in first
    blocks = workspace.blocks()
    assert len(blocks) == 3
    for table in (*first, loose):
        table[X][:] = 9.0
    workspace.begin()
    assert workspace.filled("one", blank(), ROOM) is loose  # in another order: no part of the pair
    assert workspace.whole("pair", make) is first
    assert first[0][X].tolist() == [first[1].handle, 0.0, 0.0]
    assert not first[1][X].any()
    assert workspace.whole("pair", make) is not first
    assert len(made) == 2
    assert {id(block) for block in blocks} <= {id(block) for block in workspace.blocks()}
    assert workspace.is_small


def test_large_pieces_go_from_run_to_run_table_by_table():
    workspace, room = Workspace(), Room({X: (LARGEST_IMAGE,)})
    pieces = []
    for _ in range(2):
        workspace.begin()
        pieces.append(workspace.whole("pair", lambda: [workspace.filled("one", blank(), room) for _ in range(2)]))
    assert pieces[0] is not pieces[1]
    assert all(one is other for one, other in zip(*pieces, strict=True))


@pytest.mark.parametrize("method", ["dop853", "radau5", "hht-i3", "adams", "rosenbrock4"])
def test_runs_of_one_structure_do_not_disturb_each_other(method):
    """Drives by a number, the time and the state differ in their arrays; bodies and joints are the same."""

    def end(drive):
        model = ix.Model("rotor", gravity=(0, 0, 0))
        body = model.add(ix.RigidBody.cylinder("rotor", 0.2, 0.1, mass=1.0))
        pin = model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
        model.add(ix.Actuator("motor", pin, drive))
        result = ix.simulate(model, (0.0, 0.5), method, rtol=1e-7, t_eval=[0.5])
        return result["pin"].angle[-1]

    drives = 0.06, math.cos, lambda t, x, rate: 0.02 * (25.0 * (1.0 - x) - 10.0 * rate)
    exact = 1.5 * 0.25, 50.0 * (1.0 - math.cos(0.5)), 1.0 - 3.5 * math.exp(-2.5)
    for k in (0, 1, 2, 1, 0, 2, 0):
        assert end(drives[k]) == pytest.approx(exact[k], rel=1e-4)
