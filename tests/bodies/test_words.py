"""Bodies and markers as the user describes them: numbers in, coordinates out, nonsense refused by name."""

import copy
import math
import pickle
import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from index3.algebra.rotations import rotation, spin
from index3.bodies.ancf_beam import AncfBeam
from index3.bodies.body import Body
from index3.bodies.ground import Ground
from index3.bodies.marker import Marker, frame
from index3.bodies.pairs import check_pair
from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError

ROUNDING = 1e-14  # a few operations on numbers of size 1
nan, inf = math.nan, math.inf
components = st.floats(-1.0, 1.0)
vectors = st.tuples(components, components, components)


def rigid(**settings):
    return RigidBody("b", settings.pop("mass", 1.0), settings.pop("inertia", (1, 1, 1)), **settings)


def refused(text):
    return pytest.raises(ModelError, match=re.escape(text))


# kinds of bodies


@pytest.mark.parametrize(
    ("body", "kind", "names"),
    [
        (rigid(), "rigid", ("x", "y", "z", "e0", "e1", "e2", "e3")),
        (PlanarBody("b", 1, 1), "planar", ("x", "y", "angle")),
        (PointMass("b", 1), "point", ("x", "y", "z")),
        (Ground(), "ground", ()),
    ],
)
def test_kind_size_and_coordinates(body, kind, names):
    assert (body.kind, body.coordinate_names, body.size) == (kind, names, len(names))
    assert body.q0.shape == body.v0.shape == (len(names),)
    assert body.q0.dtype == body.v0.dtype == float
    assert body.element == "body"
    assert body.model is None
    assert body.shape == {"type": "none"}
    assert not body.velocity_given
    assert not body.angular_velocity_given


def test_ground_is_the_ground_frame():
    r, A = Ground().pose()
    assert Ground().name == "ground"
    assert r.tolist() == [0, 0, 0]
    assert A.tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("name", ["", "  ", "a.b", "ground", None, 3])
@pytest.mark.parametrize(
    "make", [lambda n: RigidBody(n, 1, (1, 1, 1)), lambda n: PlanarBody(n, 1, 1), lambda n: PointMass(n, 1)]
)
def test_bad_names_are_refused(make, name):
    with pytest.raises(ModelError, match="has the name"):
        make(name)


def test_body_takes_a_name_and_a_kind():
    assert Body("b", "point").size == 3
    assert repr(rigid()) == "RigidBody('b')"


# rigid bodies


def test_rigid_body_keeps_what_was_given():
    body = rigid(mass=2, inertia=(1, 2, 3), position=(1, 2, 3), velocity=(4, 5, 6))
    assert body.mass == 2.0
    assert body.inertia.tolist() == np.diag([1, 2, 3]).tolist()
    assert body.q0.tolist() == [1, 2, 3, 1, 0, 0, 0]
    assert body.v0.tolist() == [4, 5, 6, 0, 0, 0, 0]
    assert (body.velocity_given, body.angular_velocity_given) == (True, False)


def test_zero_given_is_told_from_not_given():
    assert rigid(velocity=(0, 0, 0)).velocity_given
    assert rigid(angular_velocity=(0, 0, 0)).angular_velocity_given
    assert not rigid(angular_velocity=(0, 3, 0)).velocity_given


@given(st.tuples(components, components, components, components))
def test_orientation_as_quaternion_matrix_or_rotation(quaternion):
    assume(math.hypot(*quaternion) > 1e-3)
    w, x, y, z = quaternion
    turn = Rotation.from_quat((x, y, z, w))
    for orientation in (quaternion, turn.as_matrix(), turn):
        body = rigid(orientation=orientation)
        assert np.linalg.norm(body.q0[3:]) == pytest.approx(1.0, abs=ROUNDING)
        # 1e-13: dividing by a quaternion as short as 1e-3 keeps its relative digits; matrices are formed from it
        np.testing.assert_allclose(body.pose()[1], turn.as_matrix(), atol=1e-13)


@pytest.mark.parametrize("scale", [1e-300, 3.0, 1e300])
def test_length_of_a_quaternion_does_not_matter(scale):
    np.testing.assert_allclose(
        rigid(orientation=(0.6 * scale, 0.0, 0.8 * scale, 0.0)).q0[3:], (0.6, 0, 0.8, 0), atol=ROUNDING
    )


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0)])
def test_half_turns_have_parameters(axis):
    turn = Rotation.from_rotvec(math.pi * np.array(axis) / np.linalg.norm(axis))
    np.testing.assert_allclose(rigid(orientation=turn.as_matrix()).pose()[1], turn.as_matrix(), atol=ROUNDING)


@given(vectors, vectors)
def test_angular_velocity_is_in_ground_axes(turn, w):
    body = rigid(orientation=Rotation.from_rotvec(turn), angular_velocity=w)
    p, rate = body.q0[3:], body.v0[3:]
    np.testing.assert_allclose(spin(p, rate), w, atol=ROUNDING)
    assert p @ rate == pytest.approx(0.0, abs=ROUNDING)
    # A' = skew(w) A, by a central difference: A is quadratic in p, so only rounding (eps / 1e-3) is left
    h = 1e-3
    slope = (np.array(rotation(p + h * rate)) - np.array(rotation(p - h * rate))).reshape(3, 3) / (2 * h)
    np.testing.assert_allclose(slope, np.cross(w, body.pose()[1], axisb=0, axisc=0), atol=1e-12)


@pytest.mark.parametrize("mass", [0, -1, nan, inf, "heavy", None])
@pytest.mark.parametrize(
    "make",
    [
        lambda m: rigid(mass=m),
        lambda m: PlanarBody("b", m, 1),
        lambda m: PointMass("b", m),
        lambda m: RigidBody.rod("b", (0, 0, 0), (1, 0, 0), m),
        lambda m: PlanarBody.rod("b", (0, 0), (1, 0), m),
    ],
)
def test_mass_must_be_positive_and_finite(make, mass):
    with pytest.raises(ModelError, match=r"'b' has mass"):
        make(mass)


@pytest.mark.parametrize(
    ("inertia", "text"),
    [
        ((1, nan, 1), "finite"),
        ((1, 1, inf), "finite"),
        ((-1, 1, 1), "negative"),
        ([[1, 0, 0], [0, 1, 2], [0, 2, 1]], "negative"),
        ([[2, 0.1, 0], [0.2, 2, 0], [0, 0, 2]], "not symmetric"),
        ((1, 1, 2.001), "no rigid body can have these"),
        ((1, 1, 2 * (1 + 3e-9)), "no rigid body can have these"),
        ((1, 1), "3x3"),
        (1.0, "3x3"),
        (np.ones((3, 4)), "3x3"),
        ("round", "3x3"),
        ([[1, 2], [3]], "3x3"),
    ],
)
def test_impossible_inertia_is_refused(inertia, text):
    with pytest.raises(ModelError, match=rf"RigidBody 'b' has .*inertia.*{text}"):
        rigid(inertia=inertia)


@pytest.mark.parametrize("inertia", [(0, 0, 0), (0, 1, 1), (1, 1, 2), (1, 1, 2 * (1 + 2e-10)), np.diag([0, 1, 1])])
def test_limits_of_inertia_are_allowed(inertia):
    assert rigid(inertia=inertia).inertia.shape == (3, 3)


@given(vectors)
def test_turned_inertia_of_a_thin_rod_is_allowed(turn):
    A = Rotation.from_rotvec(turn).as_matrix()
    given_inertia = A @ np.diag([0, 1, 1]) @ A.T
    inertia = rigid(inertia=given_inertia).inertia
    assert np.array_equal(inertia, inertia.T)
    np.testing.assert_allclose(inertia, given_inertia, atol=ROUNDING)


@pytest.mark.parametrize(
    ("orientation", "text"),
    [
        ((0, 0, 0, 0), "not a rotation"),
        ((1, 0, nan, 0), "finite"),
        ((1, 0, 0), "quaternion"),
        ("up", "quaternion"),
        (Rotation.identity(2), "quaternion"),
        (np.diag([1, 1, -1]), "not a rotation"),
        (np.diag([1, 1, 1.001]), "not a rotation"),
        (np.full((3, 3), nan), "finite"),
        (np.zeros((3, 3)), "not a rotation"),
    ],
)
def test_bad_orientations_are_refused(orientation, text):
    with pytest.raises(ModelError, match=rf"RigidBody 'b' has .*orientation(.|\n)*{text}"):
        rigid(orientation=orientation)


def test_orientation_with_six_digits_is_normalised():
    A = np.round(Rotation.from_rotvec((0.3, -0.2, 0.5)).as_matrix(), 7)
    A_body = rigid(orientation=A).pose()[1]
    np.testing.assert_allclose(A_body.T @ A_body, np.eye(3), atol=ROUNDING)


@pytest.mark.parametrize("what", ["position", "velocity", "angular_velocity"])
@pytest.mark.parametrize("value", [(1, 2), 1.0, (1, 2, nan), "abc", (1, 2, 3, 4), (1, "a", 2)])
def test_vectors_of_a_rigid_body_are_three_finite_numbers(what, value):
    with pytest.raises(ModelError, match=f"RigidBody 'b' has {what.replace('_', ' ')} .*3 .*numbers"):
        rigid(**{what: value})


def test_given_arrays_are_copied():
    position, inertia = np.zeros(3), np.eye(3)
    body = rigid(position=position, inertia=inertia)
    position[0] = inertia[0, 0] = 7.0
    assert body.q0[0] == 0.0
    assert body.inertia[0, 0] == 1.0


# solids


def test_thin_rod():
    start, end = np.array((1, 2, 3.0)), np.array((3, 2, 4.0))
    rod = RigidBody.rod("b", start, end, 6.0, angular_velocity=(0, 3, 0))
    length = math.sqrt(5)
    r, A = rod.pose()
    np.testing.assert_allclose(r, (2, 2, 3.5), atol=ROUNDING)
    np.testing.assert_allclose(A[:, 0], (end - start) / length, atol=ROUNDING)
    ends = np.array(rod.shape["ends"])
    np.testing.assert_allclose(r + ends @ A.T, (start, end), atol=ROUNDING)
    slender = 6.0 * (length / 100) ** 2 / 2
    np.testing.assert_allclose(rod.inertia, np.diag([slender, 2.5, 2.5]), atol=ROUNDING)
    assert (rod.velocity_given, rod.angular_velocity_given) == (False, True)
    assert rod.v0[:3].tolist() == [0, 0, 0]
    np.testing.assert_allclose(spin(rod.q0[3:], rod.v0[3:]), (0, 3, 0), atol=ROUNDING)


def test_rod_with_radius_is_a_cylinder():
    rod = RigidBody.rod("b", (0, 0, 0), (0, 0, 2), 3.0, radius=0.5, velocity=(1, 0, 0))
    cylinder = RigidBody.cylinder("c", 0.5, 2.0, 3.0)
    assert sorted(rod.inertia.diagonal()) == sorted(cylinder.inertia.diagonal())
    assert rod.inertia[0, 0] == cylinder.inertia[2, 2]
    assert rod.velocity_given
    assert rod.shape["type"] == "rod"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"end": (0, 0, 0)}, "two different points"),
        ({"radius": -1}, "radius"),
        ({"radius": nan}, "radius"),
        ({"start": (0, 0)}, "start"),
        ({"end": (0, inf, 0)}, "end"),
    ],
)
def test_impossible_rods_are_refused(settings, text):
    with pytest.raises(ModelError, match=f"RigidBody 'b' .*{text}"):
        RigidBody.rod("b", **({"start": (0, 0, 0), "end": (1, 0, 0), "mass": 1.0} | settings))


def moments(points):
    """Inertia about the origin of unit mass spread evenly over points (n, 3)."""
    return np.trace(points.T @ points) / len(points) * np.eye(3) - points.T @ points / len(points)


def grid(half_sizes):
    n = 60
    steps = (np.arange(n) + 0.5) / n * 2 - 1
    return np.stack(np.meshgrid(*(h * steps for h in half_sizes)), axis=-1).reshape(-1, 3)


def test_solids_have_the_inertia_of_their_points():
    # 2e-3: midpoint sums over 60 cells an edge; curved borders cut cells, measured error below 1e-3
    points = grid((0.5, 1.0, 1.5))
    np.testing.assert_allclose(RigidBody.box("b", (1, 2, 3), 1.0).inertia, moments(points), atol=2e-3)
    points = grid((1.0, 1.0, 1.5))
    inside = points[np.hypot(points[:, 0], points[:, 1]) < 1.0]
    np.testing.assert_allclose(RigidBody.cylinder("b", 1.0, 3.0, 1.0).inertia, moments(inside), atol=2e-3)
    points = grid((1.0, 1.0, 1.0))
    inside = points[np.linalg.norm(points, axis=1) < 1.0]
    np.testing.assert_allclose(RigidBody.sphere("b", 1.0, 1.0).inertia, moments(inside), atol=2e-3)


SOLIDS = {
    "box": (((1, 2, 3),), 6.0, {"type": "box", "size": [1, 2, 3]}),
    "cylinder": ((0.5, 2), math.pi / 2, {"type": "cylinder", "radius": 0.5, "length": 2, "axis": "z"}),
    "sphere": ((3,), 36 * math.pi, {"type": "sphere", "radius": 3}),
}


@pytest.mark.parametrize("solid", SOLIDS)
def test_solids_by_mass_or_density(solid):
    sizes, volume, shape = SOLIDS[solid]
    make = getattr(RigidBody, solid)
    by_density = make("b", *sizes, density=10.0, position=(1, 2, 3), angular_velocity=(1, 0, 0))
    by_mass = make("b", *sizes, by_density.mass)
    assert by_density.mass == pytest.approx(10.0 * volume, rel=ROUNDING)
    np.testing.assert_array_equal(by_density.inertia, by_mass.inertia)
    assert by_density.shape == by_mass.shape == shape
    assert by_density.q0[:3].tolist() == [1, 2, 3]
    assert by_density.angular_velocity_given


@pytest.mark.parametrize("solid", SOLIDS)
@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "neither mass nor density"),
        ({"mass": 1, "density": 1}, "both mass and density"),
        ({"mass": 0}, "mass 0"),
        ({"density": -1}, "density -1"),
        ({"density": inf}, "density inf"),
    ],
)
def test_solids_need_exactly_one_of_mass_and_density(solid, settings, text):
    with refused(text) as caught:
        getattr(RigidBody, solid)("b", *SOLIDS[solid][0], **settings)
    assert str(caught.value).startswith("RigidBody 'b'")


@pytest.mark.parametrize(
    ("solid", "sizes", "text"),
    [
        ("box", ((1, 2, 0),), "edge 0"),
        ("box", ((1, 2),), "size (1, 2)"),
        ("cylinder", (-1, 1), "radius -1"),
        ("cylinder", (1, 0), "length 0"),
        ("sphere", (nan,), "radius nan"),
    ],
)
def test_solids_without_volume_are_refused(solid, sizes, text):
    with refused(f"RigidBody 'b' has {text}"):
        getattr(RigidBody, solid)("b", *sizes, 1.0)


# planar bodies and points


def test_planar_body():
    body = PlanarBody("b", 2, 0, position=(1, 2), angle=0.3, velocity=(3, 4), spin=5)
    assert (body.mass, body.inertia) == (2.0, 0.0)
    assert body.q0.tolist() == [1, 2, 0.3]
    assert body.v0.tolist() == [3, 4, 5]
    assert body.velocity_given
    assert body.angular_velocity_given
    r, A = body.pose()
    assert r.tolist() == [1, 2, 0]
    np.testing.assert_allclose(A, Rotation.from_rotvec((0, 0, 0.3)).as_matrix(), atol=ROUNDING)


def test_planar_rod():
    rod = PlanarBody.rod("b", (1, 1), (1, 3), 3.0, spin=2.0)
    assert rod.inertia == pytest.approx(1.0, rel=ROUNDING)
    np.testing.assert_allclose(rod.q0, (1, 2, math.pi / 2), atol=ROUNDING)
    r, A = rod.pose()
    np.testing.assert_allclose(r + np.array(rod.shape["ends"]) @ A.T, ((1, 1, 0), (1, 3, 0)), atol=ROUNDING)
    assert (rod.velocity_given, rod.angular_velocity_given) == (False, True)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"inertia": -1}, "inertia -1"),
        ({"inertia": nan}, "inertia nan"),
        ({"inertia": (1, 1, 1)}, "inertia (1, 1, 1)"),
        ({"position": (1, 2, 3)}, "position (1, 2, 3). Give 2 numbers"),
        ({"velocity": (nan, 0)}, "velocity"),
        ({"angle": inf}, "angle"),
        ({"spin": "fast"}, "spin 'fast'"),
    ],
)
def test_bad_planar_bodies_are_refused(settings, text):
    with refused(f"PlanarBody 'b' has {text}"):
        PlanarBody("b", **({"mass": 1, "inertia": 1} | settings))


def test_planar_rod_needs_two_points():
    with refused("PlanarBody 'b' starts and ends at"):
        PlanarBody.rod("b", (1, 1), (1, 1), 1.0)


def test_point_mass():
    body = PointMass("b", 2, position=(1, 2, 3), velocity=(4, 5, 6))
    assert body.q0.tolist() == [1, 2, 3]
    assert body.v0.tolist() == [4, 5, 6]
    assert body.velocity_given
    assert body.pose()[0].tolist() == [1, 2, 3]
    assert body.pose()[1].tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("what", ["position", "velocity"])
def test_bad_point_masses_are_refused(what):
    with refused(f"PointMass 'b' has {what}"):
        PointMass("b", 1, **{what: (0, nan, 0)})


def test_point_mass_has_no_arm():
    body = PointMass("b", 1, position=(1, 2, 3))
    assert body.marker().position.tolist() == [0, 0, 0]
    body.marker_at((1, 2, 3 + 1e-15))  # rounding of a computed point
    with refused("PointMass 'b' has no extent"):
        body.marker((0.1, 0, 0))
    with refused("PointMass 'b' has no extent"):
        body.marker_at((0, 0, 0))


# markers


def turned():
    return rigid(position=(1, 2, 3), orientation=Rotation.from_rotvec((0.4, -0.3, 0.8)))


def test_marker_defaults_to_the_frame_of_its_body():
    body = turned()
    r, A = body.marker().pose()
    assert np.array_equal(r, body.pose()[0])
    assert np.array_equal(A, body.pose()[1])
    assert body.marker(name="tip").name == "tip"


@given(vectors, vectors, vectors)
def test_marker_in_body_frame_and_in_ground_agree(point, z, x):
    assume(np.linalg.norm(np.cross(z, x)) > 1e-3)
    body = turned()
    r, A = body.marker_at(point, z=z, x=x).pose()
    # 1e-13: axes as close as 1e-3 to parallel lose three digits
    np.testing.assert_allclose(r, point, atol=1e-13)
    np.testing.assert_allclose(A[:, 2], z / np.linalg.norm(z), atol=1e-13)
    assert A[:, 0] @ x > 0
    marker = body.marker(point, z=z, x=x)
    np.testing.assert_allclose(marker.pose()[0], body.pose()[0] + body.pose()[1] @ point, atol=ROUNDING)
    np.testing.assert_allclose(body.pose()[1] @ marker.axes, marker.pose()[1], atol=ROUNDING)
    np.testing.assert_allclose(marker.axes, A, atol=1e-12)  # same directions, each read in its own frame


@given(vectors)
def test_frames_are_orthonormal_and_right_handed(direction):
    assume(any(direction))
    for axes, column in ((frame(direction, None, "m"), 2), (frame(None, direction, "m"), 0)):
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=ROUNDING)
        assert np.linalg.det(axes) == pytest.approx(1.0, abs=ROUNDING)
        largest = max(map(abs, direction))  # squares of tiny numbers vanish
        scaled = np.array(direction) / largest
        np.testing.assert_allclose(axes[:, column], scaled / np.linalg.norm(scaled), atol=ROUNDING)


@pytest.mark.parametrize(
    ("z", "x"), [((0, 0, 1), (1, 0, 0)), ((0, 5, 0), (1, 0, 0)), ((1, 0, 0), (0, 1, 0)), ((0, 0, -2), (1, 0, 0))]
)
def test_x_is_chosen_by_a_fixed_rule(z, x):
    assert Ground().marker(z=z).axes[:, 0].tolist() == list(x)


def test_huge_and_tiny_directions_are_directions():
    for size in (1e-320, 1e-200, 1e200, 1e308):
        np.testing.assert_allclose(
            Ground().marker(z=(size, size, 0)).axes[:, 2], (0.5**0.5, 0.5**0.5, 0), atol=ROUNDING
        )


@pytest.mark.parametrize("place", ["marker", "marker_at"])
@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"z": (0, 0, 0)}, "z axis (0, 0, 0)"),
        ({"x": (0, 0, 0)}, "x axis (0, 0, 0)"),
        ({"z": (0, nan, 0)}, "z axis"),
        ({"z": (0, 1)}, "z axis (0, 1)"),
        ({"z": (0, 1, 0), "x": (0, -2, 0)}, "parallel x and z axes"),
        ({"name": "a.b"}, "name 'a.b'"),
        ({"name": ""}, "name ''"),
    ],
)
def test_bad_markers_are_refused(place, settings, text):
    with refused(text) as caught:
        getattr(rigid(), place)((0, 0, 0), **settings)
    assert "RigidBody 'b'" in str(caught.value)


@pytest.mark.parametrize("position", [(1, 2), (1, 2, nan), None])
def test_marker_positions_are_three_finite_numbers(position):
    with refused("Marker of RigidBody 'b' has position"):
        rigid().marker(position)
    with refused("Marker of RigidBody 'b' has point"):
        rigid().marker_at(position)


def test_marker_by_hand():
    axes = np.eye(3)[:, [1, 2, 0]]
    marker = Marker(rigid(), (1, 2, 3), axes, "m")
    assert marker.position.tolist() == [1, 2, 3]
    assert marker.axes.tolist() == axes.tolist()
    assert repr(marker) == "<Marker 'm' on 'b' at [1.0, 2.0, 3.0]>"


@pytest.mark.parametrize(
    "axes", [np.diag([1, 1, -1]), np.zeros((3, 3)), np.full((3, 3), nan), 2 * np.eye(3), [1, 2, 3], "xyz"]
)
def test_marker_axes_must_be_a_rotation(axes):
    with refused("Marker of body 'b' has axes"):
        Marker(rigid(), (0, 0, 0), axes)


@pytest.mark.parametrize("body", [None, "rod", RigidBody])
def test_marker_needs_a_body(body):
    with refused("A marker sits on a body"):
        Marker(body, (0, 0, 0), np.eye(3))


def test_marker_name_is_checked_by_hand_too():
    with refused("has the name 'ground'"):
        Marker(rigid(), (0, 0, 0), np.eye(3), "ground")


@pytest.mark.parametrize("again", [lambda m: m, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_markers_are_frozen(again):
    marker = again(rigid().marker((1, 2, 3), name="m"))
    assert marker.position.tolist() == [1, 2, 3]
    assert marker.body.name == "b"
    with pytest.raises(FrozenInstanceError):
        marker.name = "other"
    for array in (marker.position, marker.axes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_marker_does_not_freeze_or_share_what_it_was_given():
    position, axes = np.zeros(3), np.eye(3)
    for marker in (Marker(rigid(), position, axes), rigid().marker(position), rigid().marker_at(position)):
        position[0] = axes[0, 1] = 0.5
        assert marker.position[0] == 0.0
        assert marker.axes[0, 1] == 0.0
        position[0] = axes[0, 1] = 0.0


# pairs


def test_pairs_are_two_bodies_or_two_markers():
    first, second = rigid(), PointMass("c", 1)
    assert check_pair("Link 'l'", first, second, "at=...") is True
    assert check_pair("Link 'l'", first.marker(), second.marker(), "at=...") is False


def test_what_a_body_was_made_with_can_be_read():
    beam = AncfBeam("b", (0, 0), (1, 0), height=0.1, width=0.2, elements=2, young=1e9, poisson=0.3, density=1e3)
    assert (beam.young, beam.density, beam.law, beam.points) == (1e9, 1e3, "continuum", None)
    beam.density = 2e3
    assert beam.density == 2e3
    assert beam.mass == pytest.approx(40.0)
    with pytest.raises(AttributeError, match="AncfBeam has no attribute 'youngs'"):
        _ = beam.youngs


def test_axis_of_a_cylinder_stands_for_its_orientation():
    """The wheel of a car: z of the body along y of ground, and the inertia of a cylinder about it."""
    wheel = RigidBody.cylinder("wheel", 0.3, 0.2, mass=20.0, axis=(0, 2, 0))
    turned = RigidBody.cylinder("wheel", 0.3, 0.2, mass=20.0, orientation=(1, -1, 0, 0))
    assert np.allclose(wheel.pose()[1], turned.pose()[1], atol=1e-15)
    with pytest.raises(ModelError, match="RigidBody 'wheel' has an axis and also an orientation"):
        RigidBody.cylinder("wheel", 0.3, 0.2, mass=20.0, axis=(0, 1, 0), orientation=(1, -1, 0, 0))
    with pytest.raises(ModelError, match=r"has axis \(0, 0, 0\)|has no direction"):
        RigidBody.cylinder("wheel", 0.3, 0.2, mass=20.0, axis=(0, 0, 0))
