"""Other masses and inertias in a compiled model: the system that compiling the changed model would give."""

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.files.changes import apply, of_records
from index3.linear.registry import solver_of
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.renumbering import note_inertias, renumbered
from index3.system.state import State


def mixed():
    """Bodies of three kinds, two of one, tied to each other."""
    model = ix.Model("mixed")
    first = model.add(ix.RigidBody("first", 1.0, (0.1, 0.2, 0.3), position=(1, 0, 0)))
    second = model.add(ix.RigidBody("second", 2.0, (0.2, 0.2, 0.3), position=(2, 0, 0), velocity=(0, 0, 1)))
    bob = model.add(ix.PointMass("bob", 0.5, position=(3, 0, 0)))
    model.add(ix.Spherical("A", model.ground, first, at=(0, 0, 0)))
    model.add(ix.Revolute("B", first, second, at=(1.5, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Distance("C", second.marker(), bob.marker()))
    return model


def planar():
    """Two links in the plane."""
    model = ix.Model("planar", gravity=(0, -9.81, 0))
    first = model.add(ix.PlanarBody("first", 1.0, 0.1, position=(0.5, 0)))
    second = model.add(ix.PlanarBody("second", 1.0, 0.1, position=(1.5, 0)))
    model.add(ix.Revolute("A", model.ground, first, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Revolute("B", first, second, at=(1, 0, 0), axis=(0, 0, 1)))
    return model


CHANGES = {
    "rigid": (mixed, {"second.mass": 3.0, "second.inertia": (0.4, 0.5, 0.6), "bob.mass": 2.5}),
    "full": (mixed, {"first.inertia": ((0.1, 0.01, 0), (0.01, 0.2, 0), (0, 0, 0.25))}),
    "planar": (planar, {"first.mass": 7.0, "second.inertia": 0.3}),
}


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_it_is_the_system_of_the_changed_model(name, again):
    build, changes = CHANGES[name]
    model = build()
    system = compile_model(model)
    before = [array.tobytes() for _, _, table in system.stages for array in table.arrays if array is not None]
    note_inertias(system)
    lengths = system.lengths.copy()
    bodies = [model.bodies[name] for name in of_records(model, changes)]
    spare = None
    if again:  # over the records of a change before
        undo = apply(model, {f"{body.name}.mass": 11.0 * body.mass for body in bodies})
        spare = renumbered(system, bodies)
        undo()
    apply(model, changes)
    one, two = renumbered(system, bodies, spare), compile_model(model)
    assert np.array_equal(one.lengths, two.lengths)
    assert not np.array_equal(one.lengths, lengths)
    assert np.array_equal(system.lengths, lengths)
    for (stage, elements, table), (stage_two, elements_two, table_two) in zip(one.stages, two.stages, strict=True):
        assert (stage, elements) == (stage_two, elements_two)
        for array, other in zip(table.arrays, table_two.arrays, strict=True):
            assert (array is None and other is None) or array.tobytes() == other.tobytes()
    assert one.augmentation == two.augmentation
    assert solver_of(one).given.row_tolerance == solver_of(two).given.row_tolerance
    states = [State(system) for system in (one, two)]
    for state in states:
        state.move(0.3, system.q0, system.v0 + 0.1)
        assert state.run(evaluate.forces, evaluate.mass, evaluate.matrix) == 0
    for slot in (s.G, s.MA, s.MATRIX, s.PHI):
        np.testing.assert_array_equal(states[0][slot], states[1][slot])
    after = [array.tobytes() for _, _, table in system.stages for array in table.arrays if array is not None]
    assert before == after  # other runs may be using it


def test_what_more_follows_from_is_compiled_as_a_whole():
    model = mixed()
    for changes in (
        {"second.position": (2, 0, 0.1)},
        {"second.mass": 2.0, "gravity": (0, 0, -1)},
        {"A.first.position": (0, 0, 0)},
        {"second": 1.0},
    ):
        assert of_records(model, changes) is None

    class Own(ix.RigidBody):
        """A class may make more of its mass."""

    own = model.add(Own("own", 1.0, (1, 1, 1)))
    assert of_records(model, {"own.mass": 2.0}) is None
    assert own.of_record == ix.RigidBody.of_record


def test_a_body_without_inertia_is_left_to_the_compiler():
    model = planar()
    system = compile_model(model)
    note_inertias(system)
    apply(model, {"second.inertia": 0.0})
    assert renumbered(system, [model["second"]]) is None
    without = compile_model(model)
    note_inertias(without)
    assert renumbered(without, [model["first"]]) is None
