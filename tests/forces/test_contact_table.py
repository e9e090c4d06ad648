"""Pairs of a set are made all at once: each is what a contact of its two shapes alone would be."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import index3 as ix
from index3.forces import contact_pairs, contact_table
from index3.forces.contact import Contact
from index3.system.compile import compile_model

LAW = {"stiffness": 1e5, "damping": 0.2, "friction": 0.3}


@pytest.fixture(scope="module")
def heap():
    """Shapes of all kinds, some of them equal, on bodies and ground."""
    model = ix.Model("heap")
    shapes = [
        ix.Sphere(0.1), ix.Sphere(0.1), ix.Sphere(0.2), ix.Box((0.1, 0.2, 0.3)), ix.Cylinder(0.1, 0.3),
        ix.Cylinder(3.0, 0.5, hollow=True), ix.Strip(0.4), ix.Sprocket(0.3, 12),
    ]  # fmt: skip
    bodies = [ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=(k, 0, 1)) for k in range(len(shapes))]
    ends = [(model.add(body), shape) for body, shape in zip(bodies, shapes, strict=True)]
    skip = [(bodies[3], other) for other in bodies[4:]]
    skip += [(bodies[a], bodies[b]) for a, b in ((5, 6), (5, 7), (4, 7), (6, 7))]
    skip += [(model.ground, bodies[k]) for k in (5, 6, 7)]
    return ix.ContactSet("heap", [(model.ground, ix.Plane()), *ends], skip=skip, **LAW)


def test_pairs_are_those_of_single_contacts(heap):
    ends = {f"{heap.name}[{a}, {b}]": (a, b) for a in range(9) for b in range(a + 1, 9)}
    assert len(heap.pairs) > 15
    for pair in heap.pairs:
        (first, one), (second, other) = (heap.shapes[k] for k in ends[pair.name])
        alone = Contact("alone", first, second, (one, other), **LAW)
        assert (pair.markers, pair.shapes, pair.swapped) == (alone.markers, alone.shapes, alone.swapped)
        assert pair.law is heap.law


def sites(elements):
    """Places as a system would give them, each behind the one before."""
    group, stiffness, found = 3, 100, []
    for element in elements:
        count = 1 if element.ties is None else len(element.ties)
        markers = tuple(range(10 + group, 10 + group + len(element.markers)))
        found.append(SimpleNamespace(markers=markers, group=group, stiffness=stiffness))
        group, stiffness = group + count, stiffness + 144 * count
    return found


def test_rows_and_points_are_those_of_single_contacts(heap):
    """A set between two contacts: one row each, in the order of their groups."""
    alone = Contact("alone", *heap.pairs[0].markers, heap.pairs[0].shapes, **LAW)
    elements = [alone, heap, alone]
    places = sites(elements)
    table = contact_pairs.table(elements, places)
    rows, points = table[contact_table.PAIRS], table[contact_table.POINTS]
    pairs = [alone, *heap.pairs, alone]
    ends = [places[0].markers, *np.array(places[1].markers)[heap.ties].tolist(), places[2].markers]
    for k, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
        own = points[row["first"] : row["first"] + row["count"]]
        expected = contact_pairs.points_of(*pair.shapes)
        assert np.array_equal(own, np.array(expected, contact_table.POINT))
        first, second = pair.shapes
        side, radius, beyond, *halves = contact_pairs.numbers_of_second(second)
        numbers = (*ends[k], 3 + k, 100 + 144 * k, row["first"], len(own), contact_pairs.surface_of(first, second))
        numbers += (side, radius, first.reach + beyond, *pair.law.numbers(), *halves)
        assert row.tolist() == np.array([numbers], contact_table.PAIR)[0].tolist()


def test_markers_of_a_set_are_tied_as_its_pairs_say(heap):
    assert [tuple(heap.markers[k] for k in tie) for tie in heap.ties] == [pair.markers for pair in heap.pairs]
    assert len({id(marker) for marker in heap.markers}) == len(heap.markers)


def test_a_result_makes_the_same_table_of_plain_numbers(heap):
    law = json.loads(json.dumps(heap.law_in_numbers))
    place = SimpleNamespace(markers=tuple(range(len(heap.markers))), group=0, stiffness=0)
    table = contact_pairs.table([heap], [place])
    rows = table[contact_table.PAIRS]
    before = [list(row) for row in rows.tolist()]  # as results saved earlier have it
    older = {"points": law["points"], "signs": law["signs"], "pairs": before}
    for form in (law, older):
        restored = contact_table.restored(form)
        for slot in (contact_table.POINTS, contact_table.MARKS):
            assert np.array_equal(restored[slot], table[slot])
        for name in set(contact_table.PAIR.names) - {"group", "stiffness_at"}:
            assert np.array_equal(restored[contact_table.PAIRS][name], rows[name])
    assert law["signs"] == [1.0 if pair.swapped else -1.0 for pair in heap.pairs]


def test_setting_up_makes_no_object_for_each_pair(monkeypatch):
    """Candidate pairs are numbers in tables: what is asked of each in Python would be most of the set-up."""
    model = ix.Model("box")
    balls = [model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=(k, 0, 1))) for k in range(12)]
    shapes = [(ball, ix.Sphere(0.1 + 0.001 * k)) for k, ball in enumerate(balls)]
    made = []
    part = Contact.part.__func__
    monkeypatch.setattr(Contact, "part", classmethod(lambda *x: made.append(x) or part(*x)))
    heap = model.add(ix.ContactSet("heap", [*shapes, (model.ground, ix.Plane())], **LAW))
    assert len(heap.pairs) == 66 + 12
    ix.simulate(model, (0.0, 1e-3), "hht-i3", progress=False)
    assert len(made) <= 1  # one tells the layout that it is a set
    groups = [group for group in compile_model(model).groups if group.element is heap]
    assert [group.several for group in groups] == [78]


def test_a_pair_that_fails_is_named():
    """Two balls of a set at one place have no normal; a single contact stands before the set in the table."""
    model = ix.Model("box", gravity=(0, 0, 0))
    balls = [model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=(k // 2, 0, 1))) for k in range(4)]
    model.add(ix.Contact("alone", balls[0], model.ground, (ix.Sphere(0.1), ix.Plane()), **LAW))
    model.add(ix.ContactSet("heap", [(ball, ix.Sphere(0.1)) for ball in balls], skip=[balls[:2]], **LAW))
    with pytest.raises(ix.ModelError, match=r"Contact 'heap\[2, 3\]' has both centres at one point"):
        ix.simulate(model, (0.0, 0.1), "hht-i3", progress=False)


def test_shares_of_energy_are_those_of_pairs():
    model = ix.Model("box")
    balls = [model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=(0.19 * k, 0, 0.09))) for k in range(2)]
    model.add(ix.ContactSet("heap", [(ball, ix.Sphere(0.1)) for ball in balls] + [(model.ground, ix.Plane())], **LAW))
    result = ix.simulate(model, (0.0, 0.01), "hht-i3", progress=False)
    assert list(result.energy.shares().elements) == ["b0", "b1", "heap[0, 1]", "heap[0, 2]", "heap[1, 2]"]


def test_parts_under_gravity_are_not_searched_for_free_ones():
    from index3.engine.momentum import free_parts

    model = ix.library.pendulum()
    assert free_parts(compile_model(model)) == []
    floating = ix.Model("floating", gravity=(0.0, 0.0, 0.0))
    floating.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0))
    assert free_parts(compile_model(floating)) == [[0]]
