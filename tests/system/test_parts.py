"""Numbered parts: which rows planar bodies keep, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.system.compile import compile_model
from index3.system.parts import coordinate_starts, force_group, joint_group, measured, motion_group, number_markers

AT, X, Y, Z = (1.0, 0.0, 0.0), (1, 0, 0), (0, 1, 0), (0, 0, 1)

KEPT = [
    ("Revolute", {"at": AT, "axis": Z}, ["x", "y"]),
    ("Spherical", {"at": AT}, ["x", "y"]),
    ("Prismatic", {"at": AT, "axis": X, "x": Y}, ["x1.d", "x1.z2"]),
    ("Prismatic", {"at": AT, "axis": X, "x": Z}, ["y1.d", "y1.z2"]),
    ("Prismatic", {"at": AT, "axis": Z}, ["x1.d", "y1.d", "x1.y2"]),
    ("Cylindrical", {"at": AT, "axis": Z}, ["x1.d", "y1.d"]),
    ("Cylindrical", {"at": AT, "axis": X, "x": Y}, ["x1.d", "x1.z2"]),
    ("Planar", {"at": AT, "axis": Z}, []),
    ("Planar", {"at": AT, "axis": X, "x": Y}, ["z1.d", "x1.z2"]),
    ("Fixed", {"at": AT}, ["x", "y", "x1.y2"]),
    ("Universal", {"at": AT, "axes": (Z, X)}, ["x", "y"]),
    ("Universal", {"at": AT, "axes": (X, Y)}, ["x", "y", "z1.z2"]),
    ("PerpendicularAxes", {"at": AT, "axes": (X, Y)}, ["z1.z2"]),
    ("PerpendicularAxes", {"at": AT, "axes": (X, Z)}, []),
    ("PointInPlane", {"at": AT, "axis": Y}, ["z1.d"]),
    ("PointInPlane", {"at": AT, "axis": Z}, []),
    ("Distance", {"points": ((0, 0, 0), (2, 0, 0))}, ["length"]),
]


@pytest.mark.parametrize(("kind", "form", "labels"), KEPT, ids=lambda value: value if isinstance(value, str) else "")
def test_rows_between_planar_bodies(planar_pair, kind, form, labels):
    joint = planar_pair.add(getattr(ix, kind)("j", planar_pair["p0"], planar_pair["p1"], **form))
    group = joint_group(joint)
    assert [label for primitive in group.primitives for label in primitive.labels] == labels
    system = compile_model(planar_pair)
    assert system.m == group.rows == len(labels)
    assert system.row_names == [f"j.{label}" for label in labels]


@pytest.mark.parametrize(("kind", "form", "labels"), KEPT, ids=lambda value: value if isinstance(value, str) else "")
def test_a_planar_body_on_ground_keeps_the_same_rows(kind, form, labels):
    model = ix.Model("on ground")
    body = model.add(ix.PlanarBody("p", 1.0, 0.1, position=(2.0, 0.0)))
    group = joint_group(model.add(getattr(ix, kind)("j", model.ground, body, **form)))
    assert [label for primitive in group.primitives for label in primitive.labels] == labels


@pytest.mark.parametrize(("kind", "form"), [(kind, form) for kind, form, _ in KEPT], ids=lambda value: str(value)[:12])
def test_spatial_bodies_keep_all_rows(mixed, kind, form):
    for other in ("p0", "r1"):
        joint = getattr(ix, kind)(f"to {other}", mixed["r0"], mixed[other], **form)
        assert joint_group(joint).rows == len(joint.row_labels)


def test_a_row_out_of_the_plane_that_cannot_close_is_named(planar_pair):
    first, second = planar_pair["p0"].marker((0, 0, 0)), planar_pair["p1"].marker((0, 0, 0.5))
    planar_pair.add(ix.Spherical("pin", first, second))
    with pytest.raises(ix.ModelError, match=r"Spherical 'pin' cannot be assembled: its row z is off by 0\.5"):
        compile_model(planar_pair)


def test_an_axis_out_of_the_plane_that_cannot_turn_is_named(planar_pair):
    first = planar_pair["p0"].marker((1, 0, 0), z=(1, 0, 0), x=(0, 0, 1))
    second = planar_pair["p1"].marker((-1, 0, 0), z=(3, 0, 4), x=(0, 1, 0))
    planar_pair.add(ix.Revolute("hinge", first, second))
    with pytest.raises(ix.ModelError, match=r"Revolute 'hinge' cannot be assembled: its row x1\.z2 is off by 0\.8"):
        compile_model(planar_pair)


def test_a_motion_out_of_the_plane_is_named(planar_pair):
    joint = planar_pair.add(ix.Cylindrical("slide", planar_pair["p0"], planar_pair["p1"], at=AT, axis=X))
    motion = ix.Motion("turn", joint, 1.0, coordinate="angle")
    with pytest.raises(ix.ModelError, match=r"Motion 'turn' turns Cylindrical 'slide' out of the plane"):
        motion_group(motion, 0)


def test_a_driven_length_is_named(mixed):
    rod = mixed.add(ix.Distance("rod", mixed["r0"], mixed["r1"], points=((0, 0, 0), (3, 0, 0))))
    with pytest.raises(ix.ModelError, match=r"Motion 'stretch' drives the length that Distance 'rod' sets itself"):
        motion_group(ix.Motion("stretch", rod, 3.0), 0)


def test_a_motion_starts_where_the_joint_stands(planar_pair):
    joint = planar_pair.add(
        ix.Revolute("hinge", planar_pair["p0"].marker((1, 0, 0)), planar_pair["p1"].marker((-1, 0, 0)))
    )
    assert measured(joint, "angle") == pytest.approx(0.3)  # the second body's angle
    group = motion_group(ix.Motion("turn", joint, 0.0), 4)
    (primitive,) = group.primitives
    assert primitive.fields["offset"] == pytest.approx(0.3)
    assert primitive.fields["function"] == 4
    assert group.rows == 1


def test_coordinates_are_numbered_in_the_order_of_bodies(mixed):
    assert coordinate_starts(list(mixed.bodies.values())).tolist() == [0, 7, 10, 13, 20]


def test_markers_of_a_body_stand_together_and_ground_last(mixed):
    mixed.add(ix.Spherical("a", mixed.ground, mixed["r1"], at=(3, 0, 0)))
    mixed.add(ix.Spherical("b", mixed["r0"], mixed["m0"], at=(2, 0, 0)))
    mixed.add(ix.Spherical("c", mixed["r1"], mixed["r0"], at=(1, 0, 0)))
    groups = [joint_group(joint) for joint in mixed.joints.values()]
    markers = number_markers(mixed, groups)
    assert [marker.body.name for marker in markers] == ["r0", "r0", "m0", "r1", "r1", "ground"]
    for group in groups:
        assert tuple(markers[k] for k in group.marker_numbers) == group.markers


def test_forces_apart_have_markers_of_their_own(mixed):
    pin = mixed.add(ix.Revolute("pin", mixed["r0"], mixed["r1"], at=(0, 0, 0), axis=(0, 0, 1)))
    groups = [joint_group(pin), *(force_group(ix.Actuator(name, pin, 1.0)) for name in ("a", "b"))]
    assert len(number_markers(mixed, groups)) == 2
    markers = number_markers(mixed, groups, apart=True)
    assert len(markers) == 6
    assert sorted(k for group in groups for k in group.marker_numbers) == list(range(6))
    assert all(tuple(markers[k] for k in group.marker_numbers) == group.markers for group in groups)


def test_a_group_tells_rotations_from_translations(mixed):
    hinge = joint_group(ix.Revolute("hinge", mixed["r0"], mixed["r1"], at=AT, axis=Y))
    rod = joint_group(ix.Distance("rod", mixed["r0"], mixed["r1"], points=((0, 0, 0), (3, 0, 0))))
    assert hinge.turning
    assert not rod.turning
    assert hinge.curved
    assert np.sum([len(p.labels) for p in hinge.primitives]) == hinge.rows == 5
