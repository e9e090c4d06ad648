"""Joints and motions as recipes: rows, coordinates, short and long form, and what is refused by name."""

import inspect
import math
import pickle
import re
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import index3 as ix
from index3 import joints
from index3.bodies.ground import Ground
from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError
from index3.joints import (
    ConstantVelocity,
    CoordinateConstraint,
    Coupler,
    Cylindrical,
    Distance,
    Fixed,
    Gear,
    Inline,
    InPlane,
    Joint,
    KnifeEdge,
    Motion,
    Orientation,
    ParallelAxes,
    PerpendicularAxes,
    Planar,
    PointCoincidence,
    PointInPlane,
    PointOnCurve,
    Primitive,
    Prismatic,
    RackPinion,
    RelativeAngularVelocity,
    RelativeCoordinate,
    Revolute,
    Rolling,
    RollingBall,
    RollingCylinder,
    RollingDisc,
    Screw,
    ShaftCoupling,
    Spherical,
    TwoAxes,
    Universal,
    UserConstraint,
)

ROUNDING = 1e-14  # a few operations on numbers of size 1
nan, inf = math.nan, math.inf
AT, AXIS = (0.3, -0.2, 0.5), (1.0, 2.0, -1.0)
AXES = ((1, 0, 0), (0, 1, 1))

# joint: settings of the short form, row labels, coordinates
JOINTS = {
    Spherical: ({"at": AT}, "x y z", ""),
    PointCoincidence: ({"at": AT}, "x y z", ""),
    Revolute: ({"at": AT, "axis": AXIS}, "x y z x1.z2 y1.z2", "angle"),
    Prismatic: ({"at": AT, "axis": AXIS}, "x1.d y1.d x1.z2 y1.z2 x1.y2", "displacement"),
    Cylindrical: ({"at": AT, "axis": AXIS}, "x1.d y1.d x1.z2 y1.z2", "angle displacement"),
    Universal: ({"at": AT, "axes": AXES}, "x y z z1.z2", ""),
    Planar: ({"at": AT, "axis": AXIS}, "z1.d x1.z2 y1.z2", "angle x y"),
    Fixed: ({"at": AT}, "x y z x1.y2 x1.z2 y1.z2", ""),
    PerpendicularAxes: ({"at": AT, "axes": AXES}, "z1.z2", ""),
    PointInPlane: ({"at": AT, "axis": AXIS}, "z1.d", "x y"),
    InPlane: ({"at": AT, "axis": AXIS}, "z1.d", "x y"),
    Inline: ({"at": AT, "axis": AXIS}, "x1.d y1.d", "displacement"),
    Orientation: ({}, "x1.z2 y1.z2 x1.y2", ""),
    ParallelAxes: ({"axis": AXIS}, "x1.z2 y1.z2", "angle"),
    ConstantVelocity: ({"at": AT, "axes": ((1, 0, 0), (2, 1, 0))}, "x y z turn", ""),
    ShaftCoupling: ({"at": AT, "axes": ((1, 0, 0), (2, 1, 0))}, "turn", ""),
    Distance: ({"points": (AT, (1, 1, 1))}, "length", "length"),
    KnifeEdge: ({"at": AT, "axis": AXIS}, "sideways", ""),
}
SHARED_POSE = [joint for joint, (settings, _, _) in JOINTS.items() if "at" in settings and "axes" not in settings]
ELSEWHERE = {  # joints with more to say than two ends: tests of their own
    Coupler, Gear, RackPinion, Screw, RelativeCoordinate, RelativeAngularVelocity,
    RollingDisc, RollingBall, RollingCylinder, PointOnCurve, UserConstraint,
}  # fmt: skip


def body(name="b"):
    return RigidBody(name, 1.0, (1, 1, 1), position=(1, 2, 3), orientation=Rotation.from_rotvec((0.4, -0.3, 0.8)))


def refused(text):
    return pytest.raises(ModelError, match=re.escape(text))


def short(joint, first=None, second=None, **settings):
    return joint("j", first or Ground(), second or body(), **(JOINTS[joint][0] | settings))


def residual(primitive, first, second):
    """The left side minus the right side of a primitive at marker poses (r, A), written independently of any kernel."""
    (r1, A1), (r2, A2) = first, second
    f = primitive.fields
    match primitive.kind:
        case "coincident":
            return list(r2 - r1)
        case "perpendicular":
            return [A1[:, f["axis_first"]] @ A2[:, f["axis_second"]] - f["cosine"]]
        case "in_plane":
            return [A1[:, f["axis_first"]] @ (r2 - r1) - f["offset"]]
        case "distance":
            return [np.linalg.norm(r2 - r1) - f["length"]]
        case "knife_edge":
            return [0.0]  # a row on velocities: any pose satisfies it
        case "constant_velocity":
            return [0.5 * (A1[:, 0] @ A2[:, 1] - A1[:, 1] @ A2[:, 0])]
        case "angle":
            return [math.atan2(A1[:, 1] @ A2[:, 0], A1[:, 0] @ A2[:, 0]) - f["offset"]]
    raise AssertionError(primitive.kind)


def residuals(joint, first=None, second=None):
    first, second = first or joint.first.pose(), second or joint.second.pose()
    return [value for primitive in joint.primitives() for value in residual(primitive, first, second)]


def test_every_joint_of_the_module_is_tested_here():
    words = {word for _, word in inspect.getmembers(joints, inspect.isclass) if issubclass(word, Joint)}
    assert words - set(JOINTS) - ELSEWHERE == {Joint, TwoAxes, Rolling, CoordinateConstraint}


@pytest.mark.parametrize("joint", JOINTS)
def test_rows_and_coordinates(joint):
    made = short(joint)
    _, rows, coordinates = JOINTS[joint]
    assert made.element == "joint"
    assert made.name == "j"
    assert made.row_labels == tuple(rows.split())
    assert made.coordinates == tuple(coordinates.split())
    assert all(isinstance(primitive, Primitive) for primitive in made.primitives())
    assert len(residuals(made)) == len(made.row_labels)
    assert [b.name for b in made.bodies] == ["ground", "b"]
    assert repr(made) == f"{joint.__name__}('j', 'ground', 'b')"


@pytest.mark.parametrize("joint", JOINTS)
def test_short_form_starts_satisfied(joint):
    np.testing.assert_allclose(residuals(short(joint)), 0.0, atol=ROUNDING)


@pytest.mark.parametrize("joint", JOINTS)
def test_coordinates_start_at_zero_in_short_form(joint):
    made = short(joint)
    for name in made.coordinates:
        primitive = made.coordinate_primitive(name)
        assert primitive.labels == (name,)
        value = residual(primitive, made.first.pose(), made.second.pose())
        assert value == pytest.approx([0.0], abs=ROUNDING)


@pytest.mark.parametrize("joint", SHARED_POSE)
def test_short_form_gives_both_markers_one_pose(joint):
    made = short(joint, body("a"), body("b"), axis=AXIS, x=(0, 0, 1))
    for marker in (made.first, made.second):
        r, A = marker.pose()
        np.testing.assert_allclose(r, AT, atol=ROUNDING)
        np.testing.assert_allclose(A[:, 2], np.array(AXIS) / math.sqrt(6), atol=ROUNDING)
        assert A[:, 0] @ (0, 0, 1) > 0
        assert A[:, 1] @ (0, 0, 1) == pytest.approx(0.0, abs=ROUNDING)


@pytest.mark.parametrize("joint", JOINTS)
def test_long_form_takes_the_markers_as_they_are(joint):
    first, second = Ground().marker((1, 0, 0)), body().marker((0, 1, 0), z=(1, 1, 0))
    made = joint("j", first, second)
    assert made.first is first
    assert made.second is second


# what each joint leaves free: a screw (displacement along z, turn about z) and others, seen from the first marker
FREE = {
    Revolute: [((0, 0, 0), (0, 0, 0.7))],
    Prismatic: [((0, 0, 0.4), (0, 0, 0))],
    Cylindrical: [((0, 0, 0.4), (0, 0, 0.7))],
    Planar: [((0.3, -0.6, 0), (0, 0, 0.7))],
    Spherical: [((0, 0, 0), (0.2, -0.5, 0.7))],
    PointInPlane: [((0.3, -0.6, 0), (0.2, -0.5, 0.7))],
    Inline: [((0, 0, 0.4), (0.2, -0.5, 0.7))],
    Orientation: [((0.3, -0.6, 0.4), (0, 0, 0))],
    ParallelAxes: [((0.3, -0.6, 0.4), (0, 0, 0.7))],
    Fixed: [],
}
FREEDOMS = {
    Revolute: 1, Prismatic: 1, Cylindrical: 2, Planar: 3, Spherical: 3, PointInPlane: 5, Inline: 4, Orientation: 3,
    ParallelAxes: 4, Fixed: 0,
}  # fmt: skip


@pytest.mark.parametrize("joint", FREE)
def test_rows_hold_along_the_free_motions_only(joint):
    """S0-03, S0-04, S0-05, S0-06, S0-07: rows, rank and freedoms of each joint (its derivatives: tests/contracts)."""
    made = short(joint)
    r, A = made.first.pose()

    def moved(shift, turn):
        return r + A @ shift, A @ Rotation.from_rotvec(turn).as_matrix()

    for shift, turn in FREE[joint]:
        np.testing.assert_allclose(residuals(made, (r, A), moved(shift, turn)), 0.0, atol=ROUNDING)
    h = 1e-6  # rows are smooth functions of size 1: the difference quotient is good to about 1e-9
    screws = h * np.eye(6)
    slope = np.array([residuals(made, (r, A), moved(s[:3], s[3:])) for s in screws]) / h
    rank = np.linalg.matrix_rank(slope, tol=1e-4)
    assert rank == len(made.row_labels) == 6 - FREEDOMS[joint]


def test_coordinates_measure_the_second_body_relative_to_the_first():
    made = short(Cylindrical)
    r, A = made.first.pose()
    second = r + A @ (0, 0, 0.4), A @ Rotation.from_rotvec((0, 0, 0.7)).as_matrix()
    assert residual(made.coordinate_primitive("angle"), (r, A), second) == pytest.approx([0.7], abs=ROUNDING)
    assert residual(made.coordinate_primitive("displacement"), (r, A), second) == pytest.approx([0.4], abs=ROUNDING)
    made = short(Planar)
    r, A = made.first.pose()
    second = r + A @ (0.2, -0.3, 0), A
    assert residual(made.coordinate_primitive("x"), (r, A), second) == pytest.approx([0.2], abs=ROUNDING)
    assert residual(made.coordinate_primitive("y"), (r, A), second) == pytest.approx([-0.3], abs=ROUNDING)


def test_unknown_coordinates_are_refused():
    with refused("Revolute 'j' has no coordinate 'displacement'. Its coordinates: angle."):
        short(Revolute).coordinate_primitive("displacement")
    with refused("Spherical 'j' has no coordinate 'angle'. It has none."):
        short(Spherical).coordinate_primitive("angle")


@pytest.mark.parametrize("joint", JOINTS)
def test_primitives_are_a_new_list(joint):
    made = short(joint)
    made.primitives().clear()
    assert made.row_labels


# what all joints refuse


@pytest.mark.parametrize("joint", JOINTS)
def test_a_body_is_not_joined_to_itself(joint):
    b = body("crank")
    with refused(f"{joint.__name__} 'j' joins body 'crank' to itself. Give it two different bodies."):
        short(joint, b, b)
    with refused(f"{joint.__name__} 'j' joins body 'crank' to itself. Give it markers on two different bodies."):
        joint("j", b.marker(), b.marker((1, 0, 0)))


@pytest.mark.parametrize("joint", JOINTS)
def test_bodies_and_markers_do_not_mix(joint):
    with refused(f"{joint.__name__} 'j' mixes a body and a marker. Give two bodies with "):
        short(joint, Ground(), body().marker())
    with refused("or two markers"):
        short(joint, Ground().marker(), body())


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("end", [None, "crank", 3, RigidBody])
def test_only_bodies_and_markers_are_joined(joint, end):
    with refused(f"{joint.__name__} 'j' cannot join "):
        joint("j", Ground(), end, **JOINTS[joint][0])


@pytest.mark.parametrize("joint", JOINTS)
def test_short_form_needs_its_settings(joint):
    settings = JOINTS[joint][0]
    for key in settings:
        with refused(f"{joint.__name__} 'j' joins two bodies without {key}. Give "):
            short(joint, **{key: None})


@pytest.mark.parametrize("joint", JOINTS)
def test_long_form_refuses_settings_of_the_short_form(joint):
    for key, value in JOINTS[joint][0].items():
        with refused(f"{joint.__name__} 'j' has two markers and also {key}."):
            joint("j", Ground().marker(), body().marker(), **{key: value})


def test_long_form_refuses_x():
    with refused("Revolute 'j' has two markers and also x."):
        Revolute("j", Ground().marker(), body().marker(), x=(1, 0, 0))


@pytest.mark.parametrize("joint", JOINTS)
def test_numbers_must_be_finite(joint):
    for key, value in JOINTS[joint][0].items():
        bad = ((nan, 0, 0), value[1]) if key in ("axes", "points") else (0, inf, 0)
        with pytest.raises(ModelError, match=f"{joint.__name__} 'j' has .* finite numbers"):
            short(joint, **{key: bad})


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("name", ["", "a.b", "ground", None])
def test_bad_names_are_refused(joint, name):
    with refused(f"{joint.__name__} has the name"):
        joint(name, Ground(), body(), **JOINTS[joint][0])


def test_zero_axes_are_refused():
    with refused("Revolute 'j' has axis (0, 0, 0), which has no direction"):
        short(Revolute, axis=(0, 0, 0))
    with refused("Universal 'j' has axis (0, 0, 0), which has no direction"):
        short(Universal, axes=((1, 0, 0), (0, 0, 0)))
    with refused("Revolute 'j' has parallel x and z axes"):
        short(Revolute, x=AXIS)


OF_POINTS = (Spherical, PointCoincidence, Distance, PointInPlane, InPlane, Inline)


@pytest.mark.parametrize("joint", [j for j in JOINTS if j not in OF_POINTS])
def test_joints_that_need_axes_refuse_a_point_mass(joint):
    point = PointMass("bob", 1, position=AT)
    for first, second in ((Ground(), point), (point, body())):
        with refused(f"{joint.__name__} 'j' needs the axes of PointMass 'bob', which has no orientation."):
            short(joint, first, second)
        with refused("Use a RigidBody there"):
            joint("j", first.marker(), second.marker())


@pytest.mark.parametrize("joint", [Spherical, PointCoincidence, Distance])
def test_joints_of_points_take_point_masses(joint):
    short(joint, PointMass("a", 1, position=AT), PointMass("b", 1, position=AT if joint is not Distance else (1, 1, 1)))


def test_point_mass_in_a_plane():
    point, other = PointMass("bob", 1, position=AT), PointMass("bib", 1, position=AT)
    short(PointInPlane, Ground(), point)
    with refused(
        "PointInPlane 'j' takes its plane from PointMass 'bob', which has no orientation. Swap first and second."
    ):
        short(PointInPlane, point, Ground())
    with refused("Put ground or a body with axes first."):
        short(PointInPlane, point, other)


def test_planar_bodies_are_joined_like_others():
    made = Revolute("j", Ground(), PlanarBody("b", 1, 1, position=(1, 2), angle=0.5), at=(1, 0, 0), axis=(0, 0, 1))
    np.testing.assert_allclose(residuals(made), 0.0, atol=ROUNDING)


def test_joints_can_be_pickled():
    made = pickle.loads(pickle.dumps(short(Distance, length=2.0)))
    assert made.length == 2.0
    assert made.primitives() == short(Distance, length=2.0).primitives()


# single joints


def test_universal_corrects_axes_within_its_slack():
    made = short(Universal, axes=((1, 0, 0), (5e-7, 1, 0)))
    np.testing.assert_allclose(residuals(made), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(made.first.pose()[1][:, 2], (1, 0, 0), atol=ROUNDING)


@pytest.mark.parametrize("second", [(2e-6, 1, 0), (1, 0, 0), (1, 1, 0)])
def test_universal_needs_perpendicular_axes(second):
    with refused("Give perpendicular axes."):
        short(Universal, axes=((1, 0, 0), second))


@pytest.mark.parametrize("joint", [Universal, PerpendicularAxes])
@pytest.mark.parametrize("axes", [(1, 2, 3), ((1, 0, 0),), 5])
def test_two_axes_are_two(joint, axes):
    with refused(f"{joint.__name__} 'j' has axes"):
        short(joint, axes=axes)


def test_perpendicular_axes_with_a_cosine():
    """The dot product of two axes, as a recipe; in motion: `claims/test_elements_of_the_papers.py`."""
    made = short(PerpendicularAxes, axes=((1, 0, 0), (3, 4, 0)), cosine=0.6)
    assert made.primitives()[0].fields == {"axis_first": 2, "axis_second": 2, "cosine": 0.6}
    np.testing.assert_allclose(residuals(made), 0.0, atol=ROUNDING)


@pytest.mark.parametrize("cosine", [1, -1, 1.5, nan, "right"])
def test_impossible_cosines_are_refused(cosine):
    with refused("PerpendicularAxes 'j' has cosine"):
        short(PerpendicularAxes, cosine=cosine)


def test_point_in_plane_with_an_offset():
    made = short(PointInPlane, offset=0.25)
    assert made.primitives()[0].fields == {"axis_first": 2, "offset": 0.25}
    with refused("PointInPlane 'j' has offset nan"):
        short(PointInPlane, offset=nan)


def test_distance_keeps_the_initial_length_or_a_given_one():
    assert short(Distance, points=((0, 0, 0), (3, 4, 0))).length == pytest.approx(5.0, abs=ROUNDING)
    made = short(Distance, length=2)
    assert made.primitives()[0].fields == {"length": 2.0}
    assert made.coordinate_primitive("length") == made.primitives()[0]
    first, second = Ground().marker((1, 0, 0)), body().marker((0, 1, 0))
    initial = math.dist(first.pose()[0], second.pose()[0])
    assert Distance("j", first, second).length == pytest.approx(initial, abs=ROUNDING)


def test_distances_of_two_joints_are_apart():
    assert short(Distance, length=1).coordinate_primitive("length") != short(Distance, length=2).primitives()[0]


def test_zero_distance_suggests_spherical():
    for settings in ({"points": (AT, AT)}, {"length": 0}):
        with refused("Distance 'j' has length 0. Use Spherical"):
            short(Distance, **settings)
    b = body()
    with refused("Use Spherical"):  # equal up to rounding
        Distance("j", Ground().marker(AT), b.marker_at(AT))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"length": -1}, "length -1"),
        ({"length": nan}, "length nan"),
        ({"points": 5}, "points 5"),
        ({"points": (AT,)}, "points"),
    ],
)
def test_bad_distances_are_refused(settings, text):
    with refused(f"Distance 'j' has {text}"):
        short(Distance, **settings)


def test_driven_distances():
    made = short(Distance, length=2.0, f=lambda t: 0.1 * t, df=0.1, ddf=0.0)
    assert made.primitives()[0].fields == {"length": 2.0, "driven": True}
    assert made.functions[0](3.0) == pytest.approx(0.3, abs=ROUNDING)
    assert short(Distance).primitives()[0].fields == {"length": pytest.approx(short(Distance).length)}
    model = ix.Model("ram")
    ball = model.add(PointMass("ball", 1.0, position=(0, 0, -1)))
    model.add(Distance("ram", model.ground, ball, points=((0, 0, 0), (0, 0, -1)), f=lambda t: -t, df=-1.0, ddf=0.0))
    result = ix.simulate(model, (0.0, 2.0))
    assert not result.success
    assert "Distance 'ram' has no positive length at t = 1: its f takes away all of 1 m" in result.message
    assert result.t[-1] == pytest.approx(1.0, abs=1e-6)


def test_coordinate_constraint():
    b = body()
    made = CoordinateConstraint("c", b, "y")
    assert made.body is b
    assert made.bodies == (b,)
    assert made.primitives() == [Primitive("coordinate", ("y",), {"index": 1, "value": 2.0})]
    assert made.row_labels == ("y",)
    assert made.coordinates == ()
    assert repr(made) == "CoordinateConstraint('c', 'b')"
    planar = PlanarBody("p", 1, 1)
    assert CoordinateConstraint("c", planar, "angle", 0.5).primitives()[0].fields == {"index": 2, "value": 0.5}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((Ground(), "x"), "body 'ground' has no coordinate 'x'. Ground does not move."),
        ((PointMass("p", 1), "angle"), "body 'p' has no coordinate 'angle'. Choose from x, y, z."),
        ((PointMass("p", 1), "x", nan), "has value nan"),
        ((PointMass("p", 1).marker(), "x"), "cannot hold"),
    ],
)
def test_bad_coordinate_constraints_are_refused(arguments, text):
    with refused(text) as caught:
        CoordinateConstraint("c", *arguments)
    assert str(caught.value).startswith("CoordinateConstraint 'c'")


# motions


def minus_sine(t):
    return -math.sin(t)


def test_motion_keeps_its_functions():
    joint = short(Revolute)
    motion = Motion("m", joint, math.sin, math.cos, minus_sine)
    assert motion.element == "motion"
    assert motion.joint is joint
    assert motion.coordinate == "angle"
    assert motion.functions == (math.sin, math.cos, minus_sine)
    assert repr(motion) == "Motion('m', 'j', coordinate='angle')"


@pytest.mark.parametrize(
    ("given", "missing"), [((None, None), "df and ddf"), ((math.cos, None), "ddf"), ((None, minus_sine), "df")]
)
def test_missing_derivatives_come_from_differences_with_a_warning(given, missing):
    with pytest.warns(UserWarning, match=f"Motion 'm' has no {missing}: taken by differences") as caught:
        motion = Motion("m", short(Revolute), math.sin, *given)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    _, df, ddf = motion.functions
    for t in (0.0, 0.3, 2.0, 9.0):
        assert df(t) == pytest.approx(math.cos(t), abs=5e-12)  # h^4/30 and a few eps/h
        assert ddf(t) == pytest.approx(-math.sin(t), abs=2e-9)  # 6 eps/h^2


def test_differences_are_exact_for_polynomials_of_degree_four():
    with pytest.warns(UserWarning, match="differences"):
        _, df, ddf = Motion("m", short(Revolute), lambda t: t**4 - t**3).functions
    assert df(0.5) == pytest.approx(4 * 0.5**3 - 3 * 0.5**2, abs=1e-12)  # rounding, eps/h
    assert ddf(0.5) == pytest.approx(12 * 0.5**2 - 6 * 0.5, abs=1e-9)  # rounding, eps/h^2


def test_numbers_are_constants_and_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f, df, ddf = Motion("m", short(Revolute), np.float64(0.3)).functions
        assert (f(1.0), df(1.0), ddf(1.0)) == (0.3, 0.0, 0.0)
        f, df, ddf = Motion("m", short(Revolute), lambda t: 2 * t, 2).functions
        assert (f(1.0), df(1.0), ddf(1.0)) == (2.0, 2.0, 0.0)


def test_motion_of_a_named_coordinate():
    joint = short(Cylindrical)
    assert Motion("m", joint, 0, coordinate="displacement").coordinate == "displacement"
    with refused("Motion 'm': Cylindrical 'j' has several coordinates. Give coordinate='angle' or "):
        Motion("m", joint, 0)
    with refused("Cylindrical 'j' has no coordinate 'x'. Its coordinates: angle, displacement."):
        Motion("m", joint, 0, coordinate="x")


def test_motion_needs_a_joint_with_a_coordinate():
    for joint in (short(Spherical), CoordinateConstraint("j", body(), "x")):
        with refused("'j' has no coordinate to drive"):
            Motion("m", joint, 0)
    with refused("Motion 'm' cannot drive"):
        Motion("m", body(), 0)


@pytest.mark.parametrize("name", ["", "a.b", "ground"])
def test_motion_needs_a_name(name):
    with refused("Motion has the name"):
        Motion(name, short(Revolute), 0)


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("function", ["sin", nan, inf])
def test_motion_needs_functions_or_finite_numbers(position, function):
    functions = [0, 0, 0]
    functions[position] = function
    with refused(f"Motion 'm' has {('f', 'df', 'ddf')[position]} "):
        Motion("m", short(Revolute), *functions)


def test_motion_without_f_is_refused():
    with refused("Motion 'm' has f None. Give a function of t, or a number."):
        Motion("m", short(Revolute), None)


def test_functions_are_not_called_when_a_motion_is_made():
    def f(t):
        raise AssertionError("called")

    Motion("m", short(Revolute), f, f, f)


def test_motions_can_be_pickled_if_their_functions_can():
    with pytest.warns(UserWarning, match="differences"):
        motion = Motion("m", short(Revolute), math.sin)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = pickle.loads(pickle.dumps(motion))
    assert [f(0.3) for f in again.functions] == [f(0.3) for f in motion.functions]
