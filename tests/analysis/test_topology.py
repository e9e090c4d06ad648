"""The graph of a model: tree, cut joints, orders."""

import random

import pytest

import index3 as ix

MODELS = {name: getattr(ix.library, name) for name in ("andrews", "four_bar", "slider_crank", "pendulum", "iltis")}
MODELS["chain"] = lambda: ix.library.chain(6)


@pytest.mark.parametrize("name", list(MODELS))
def test_tree_properties(name):
    """S4-121: every body has one inboard body, every path ends at ground, descendants come before ancestors."""
    model = MODELS[name]()
    graph = ix.topology(model)
    assert sorted(graph.bodies) == sorted(model.bodies) == sorted(graph.inboard)
    assert sorted(graph.joints) == sorted(model.joints)
    used = [joint for _, joint in graph.inboard.values() if joint is not None]
    assert len(set(used)) == len(used)
    assert sorted([*used, *graph.cut]) == sorted(model.joints)
    for body, (before, joint) in graph.inboard.items():
        assert graph.path(body)[0] == body
        assert len(set(graph.path(body))) == len(graph.path(body))
        if before != "ground":
            assert graph.bodies.index(body) < graph.bodies.index(before)
        if joint is not None:
            assert set(graph.edges[joint].bodies) == {body, before}
    found = model.check()
    assert graph.dof == found.dof - len(found.redundant)


def shuffled(model, seed):
    """The same model, written in another order."""
    other = ix.Model(model.name, gravity=tuple(model.gravity))
    vars(other)["ground"] = model.ground
    numbers = random.Random(seed)
    for table, mine in ((model.bodies, other.bodies), (model.joints, other.joints)):
        names = list(table)
        numbers.shuffle(names)
        mine.update((name, table[name]) for name in names)
    return other


@pytest.mark.parametrize("name", list(MODELS))
def test_the_order_of_writing_does_not_matter(name):
    """S4-121: the same tree, cut joints and orders."""
    model = MODELS[name]()
    wanted = ix.topology(model)
    for seed in range(5):
        found = ix.topology(shuffled(model, seed))
        assert (found.inboard, found.cut, found.bodies, found.joints) == (
            wanted.inboard, wanted.cut, wanted.bodies, wanted.joints,
        )  # fmt: skip


def test_andrews():
    """S4-17, S4-121: seven bodies, three loops of two rows each."""
    graph = ix.topology(ix.library.andrews())
    assert (graph.coordinates, graph.cut_rows, len(graph.cut), graph.dof) == (7, 6, 3, 1)
    assert graph.bases == ()
    assert graph.work() < graph.work(graph.edges)
    assert len(graph.pattern().splitlines()) == 10
    assert graph.bandwidth() == 4
    assert "cut joints            E4, E6, F" in str(graph)


def test_floating_parts_and_odd_rows():
    """A base that floats; motions, gears and held coordinates are never part of the tree."""
    model = ix.Model("odd")
    a, b, c = (model.add(ix.RigidBody(name, 1.0, (1, 1, 1), position=(k, 0, 0))) for k, name in enumerate("abc"))
    model.add(ix.Revolute("ab", a, b, at=(0.5, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Revolute("bc", b, c, at=(1.5, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("drive", model["ab"], 0.0, 0.0, 0.0))
    model.add(ix.CoordinateConstraint("hold", a, "x"))
    graph = ix.topology(model)
    assert graph.bases == ("b",)
    assert graph.cut == ("hold",)
    assert graph.driven == 1
    assert graph.coordinates == 8
    assert graph.dof == 6 == model.check().dof
    assert "b (free)" in str(graph)
    with pytest.raises(ix.ModelError, match="topology: the model is 3"):
        ix.topology(3)
