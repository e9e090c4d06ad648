"""Counts, degrees of freedom, redundant rows by name."""

import numpy as np
import pytest
from small_models import Y, displaced_four_bar, four_bar, impossible, locked, particle, pendulum, spatial_loop

import index3 as ix


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("make", "counts"),
    [
        (pendulum, (1, 7, 6, 1, 0)),
        (four_bar, (3, 21, 23, 1, 3)),
        (spatial_loop, (3, 21, 20, 1, 0)),
        (lambda: particle()[0], (1, 3, 0, 3, 0)),
        (ix.library.andrews, (7, 21, 20, 1, 0)),
        (ix.library.slider_crank, None),
    ],
)
def test_counts(make, counts):
    """Bodies, coordinates, constraints with normalisation, degrees of freedom, redundant rows."""
    found = make().check()
    assert found.dof == found.coordinates - found.rank
    assert found.rank == found.constraints - len(found.redundant)
    if counts:
        rows = len(found.redundant)
        assert (found.bodies, found.coordinates, found.constraints, found.dof, rows) == counts
    assert found.closed


def test_text_names_redundant_rows_and_joints():
    model = four_bar()
    found = model.check()
    assert all(name.partition(".")[0] in model.joints for name in found.redundant)
    rows = {name.partition(".")[2] for name in found.redundant}
    assert rows == {"y", "x1.z2", "y1.z2"}  # one shift along, two tilts of the common axis
    text = str(found)
    for line in ("bodies 3", "coordinates 21", "constraints 23", "redundant 3", "degrees of freedom 1"):
        assert line in " ".join(text.split())
    assert "redundant rows" in text


def test_no_redundant_rows_no_line():
    assert "redundant rows" not in str(pendulum().check())


def test_a_doubled_joint_is_redundant_in_full():
    model = pendulum()
    model.add(ix.Revolute("twin", model.ground, model["rod"], at=(0, 0, 0), axis=Y))
    found = model.check()
    assert found.dof == 1
    assert len(found.redundant) == 5
    assert len({name.partition(".")[0] for name in found.redundant}) == 1


def test_motions_take_degrees_of_freedom():
    model = four_bar()
    model.add(ix.Motion("drive", model["A"], lambda t: 3 * t, 3.0))
    assert model.check().dof == 0
    assert model.check().constraints == 24


def test_a_locked_structure_has_none():
    model = ix.Model("welded")
    box = model.add(ix.RigidBody.box("box", (1, 1, 1), mass=1.0))
    model.add(ix.Fixed("weld", model.ground, box, at=(0, 0, 0)))
    found = model.check()
    assert (found.dof, found.redundant) == (0, [])
    assert ix.simulate(model, (0.0, 1.0)).success


def test_notes():
    assert pendulum().check().notes == []
    displaced = displaced_four_bar().check()
    assert displaced.closed
    assert "assembly moves coordinates by up to 0.0" in displaced.notes[0]
    assert displaced.notes[0] in str(displaced)
    assert displaced.dof == 1


def test_impossible_assembly_is_a_note():
    found = impossible().check()
    assert not found.closed
    assert "Spherical 'right'" in found.notes[0]


def test_contradictory_motion_is_a_note():
    found = locked(lambda t: t, 1.0, 0.0).check()
    assert "drive.angle" in found.redundant
    assert "Motion 'drive'" in found.notes[0]
    assert "contradict" in found.notes[0]


def test_check_changes_nothing():
    model = displaced_four_bar()
    before = [body.q0.copy() for body in model.bodies.values()]
    model.check()
    assert all((body.q0 == q0).all() for body, q0 in zip(model.bodies.values(), before, strict=True))


def test_both_spellings():
    assert str(ix.check(four_bar())) == str(four_bar().check())


def test_rank_at_another_configuration():
    """A parallelogram whose links are all in line has one degree of freedom more there."""
    model = ix.library.parallelogram()
    q = ix.assemble(model).q.reshape(3, 3)
    q[:, :2] = (0.5, 0.0), (1.5, 0.0), (1.5, 0.0)
    q[:2, 2] -= np.pi / 2
    aligned = ix.check(model, at=(q.ravel(), np.zeros(9)))
    assert aligned.closed
    assert (ix.check(model).dof, aligned.dof) == (1, 2)
    assert len(aligned.redundant) == 1


def test_rank_at_another_time():
    model = four_bar(angular_velocity=None)
    model.add(ix.Motion("drive", model["A"], lambda t: 0.5 * t, 0.5, 0.0))
    moved = ix.check(model, t=0.1)
    assert moved.dof == 0
    assert any("assembly moves coordinates" in note for note in moved.notes)
    with pytest.raises(ix.ModelError, match="check: cannot start from 5"):
        ix.check(model, at=5)
    with pytest.raises(ix.ModelError, match="check: t"):
        ix.check(model, t="now")
