"""Pairs of a set are made all at once: each is what a contact of its two shapes alone would be."""

from types import SimpleNamespace

import numpy as np
import pytest

import index3 as ix
from index3.forces import contact_table
from index3.forces.contact import Contact

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
    skip = [(bodies[3], other) for other in bodies if other is not bodies[3]]
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


def test_rows_and_points_are_those_of_single_contacts(heap):
    places = [SimpleNamespace(markers=(k, k + 1), group=2 * k, stiffness=36 * k) for k in range(len(heap.pairs))]
    table = contact_table.table(heap.pairs, places)
    rows, points = table[contact_table.PAIRS], table[contact_table.POINTS]
    assert points.shape == (sum(len(pair.points()) for pair in heap.pairs),)
    for pair, place, row in zip(heap.pairs, places, rows, strict=True):
        own = points[row["first"] : row["first"] + row["count"]]
        assert np.array_equal(own, np.array(pair.points(), contact_table.POINT))
        numbers = (*place.markers, place.group, place.stiffness, row["first"], len(own), *pair.record(None))
        assert row.tolist() == np.array([numbers], contact_table.PAIR)[0].tolist()


def test_a_result_makes_the_same_table_of_plain_numbers(heap):
    law = heap.law_in_numbers
    restored = contact_table.restored(law)
    places = {id(marker): k for k, marker in enumerate(heap.markers)}
    ends = [SimpleNamespace(markers=[places[id(m)] for m in pair.markers], group=0, stiffness=0) for pair in heap.pairs]
    table = contact_table.table(heap.pairs, ends)
    for slot in (contact_table.PAIRS, contact_table.POINTS, contact_table.MARKS):
        assert np.array_equal(restored[slot], table[slot])


def test_parts_under_gravity_are_not_searched_for_free_ones():
    from index3.engine.momentum import free_parts
    from index3.system.compile import compile_model

    model = ix.library.pendulum()
    assert free_parts(compile_model(model)) == []
    floating = ix.Model("floating", gravity=(0.0, 0.0, 0.0))
    floating.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0))
    assert free_parts(compile_model(floating)) == [[0]]
