"""One model for each word that files can hold, with settings other than the usual ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import index3 as ix
from index3.bodies.smooth import Components

EXAMPLES: dict[str, Callable[[], ix.Model]] = {}
TURN = (0.8, 0.1, -0.5, 0.3)
MEASURED = {"f": ix.Expression("0.3*sin(2*t) + step(t, 0, 0, 1, 0.2)")}
DAMPER = ix.Curve([-1.0, 0.0, 0.4, 1.0], [-800.0, 0.0, 500.0, 1500.0])
RUBBER = ix.Curve.from_function(
    ix.Expression("1e3*x + 5e4*x**3", "x"), integral=ix.Expression("500*x**2 + 1.25e4*x**4", "x")
)


def example(name: str):
    """Register the model of a word."""

    def register(make: Callable[[], ix.Model]) -> Callable[[], ix.Model]:
        EXAMPLES[name] = make
        return make

    return register


def rigid(name: str = "a", **pose) -> ix.RigidBody:
    """A body at a general pose with general rates."""
    usual = {"position": (0.3, -0.2, 0.7), "orientation": TURN, "velocity": (1.0, 0.2, 0.1)}
    return ix.RigidBody(name, 1.3, (0.11, 0.23, 0.29), **{**usual, "angular_velocity": (0.3, 0.7, -1.1), **pose})


def two() -> tuple[ix.Model, ix.RigidBody, ix.RigidBody]:
    """A model with two bodies."""
    model = ix.Model("two bodies", gravity=(0.1, 0.2, -9.7))
    inertia = [[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.35]]
    other = ix.RigidBody("b", 0.7, inertia, position=(1.1, 0.1, 0.2), orientation=(0.2, 0.9, 0.1, 0.4))
    return model, model.add(rigid()), model.add(other)


def body_example(make: Callable[[], object]) -> Callable[[], ix.Model]:
    """A model of one body and a marker on it."""

    def build() -> ix.Model:
        model = ix.Model("one body")
        body = model.add(make())
        model.add(ix.Force("push", body, (1.0, 2.0, ix.Expression("3*cos(5*t)"))))
        return model

    return build


POSE = {"position": (0.3, -0.2, 0.7), "orientation": TURN, "velocity": (1, 2, 3), "angular_velocity": (0.1, 0.2, 0.3)}
FLAT = {"position": (0.3, -0.2), "angle": 0.4, "velocity": (1.0, 2.0), "spin": 3.0}
EXAMPLES["RigidBody"] = body_example(rigid)
EXAMPLES["EulerAngleBody"] = body_example(lambda: ix.EulerAngleBody.box("a", (1, 2, 3), density=7.0, **POSE))
EXAMPLES["NaturalBody"] = body_example(
    lambda: ix.NaturalBody("a", 1.0, (0.1, 0.1, 0.02), points=((0, 0, -0.5), (0, 0, 0.5)), **POSE)
)
EXAMPLES["PlanarBody"] = body_example(lambda: ix.PlanarBody("a", 1.0, 0.1, **FLAT))
EXAMPLES["NaturalPlanarBody"] = body_example(
    lambda: ix.NaturalPlanarBody("a", 1.0, 0.1, points=((-0.5, 0), (0.5, 0.1)), **FLAT)
)
BEAM = {"height": 0.04, "width": 0.03, "elements": 3, "young": 2e7, "poisson": 0.3, "density": 7800.0}
EXAMPLES["AncfBeam"] = body_example(
    lambda: ix.AncfBeam(
        "a", points=((0, 0, 1), (0.2, 0.05, 1), (0.4, 0, 1)), law="elastic-line", plane="strain", damping=(0.1, 0.02),
        gravity_across="ignore", velocity=(1, 2), spin=3.0, **BEAM
    )
)  # fmt: skip
ALONG = {"points": ((0, 0, 1), (0.2, 0.05, 1), (0.4, 0, 1.1)), "velocity": (1, 2, 3), "angular_velocity": (0, 1, 2)}
EXAMPLES["AncfCable"] = body_example(
    lambda: ix.AncfCable(
        "a", radius=0.01, elements=3, young=2e7, density=900.0, bending_stiffness=0.1, damping=0.02, **ALONG
    )
)
EXAMPLES["AncfBeam3D"] = body_example(
    lambda: ix.AncfBeam3D(
        "a", y=(0, 1, 1), torsion_constant=1e-7, shear_factor=0.8, damping=(0.1, 0.02), **ALONG, **BEAM
    )
)
EXAMPLES["PointMass"] = body_example(lambda: ix.PointMass("a", 2.0, position=(1, 2, 3), velocity=(0, 0, 0)))


@example("ModalBody")
def flexible() -> ix.Model:
    """A tube with markers on its nodes, deformed at the start."""
    ends = {"A": (0, 0, 0), "B": (1, 0, 0)}
    tube = {"outer_diameter": 0.03, "wall": 0.003, "young": 2e11, "density": 7800.0}
    model = ix.Model("flexible")
    structure = ix.flexible.frame(ends, ["AB"], elements=2, **tube)
    body = model.add(structure.body("a", interface=["A", "B"], modes=1, damping=lambda f: 1e-5 * f, **POSE))
    body.q0[7:] = 1e-3
    model.add(ix.Force("push", body.marker((0.1, 0, 0), node="B", z=(1, 2, 3)), (1.0, 2.0, 3.0)))
    return model


@example("NaturalLinkage")
def linkage() -> ix.Model:
    model = ix.Model("linkages")
    bars = ix.NaturalLinkage("bars", planar=True)
    A, D = bars.fixed("A", (0, 0)), bars.fixed("D", (3, 0))
    B, C = bars.point("B", (0, 1), velocity=(0.5, 0)), bars.point("C", (2, 2))
    for name, ends in (("AB", [A, B]), ("BC", [B, C]), ("CD", [C, D])):
        bars.rigid(name, ends, mass=1.5)
    bars.length("AC", A, C)
    bars.component("height", C, (0, 1), 0.1)
    model.add(bars)
    model.add(ix.SpringDamper("spring", model.ground.marker((1, 0, 0)), bars.point_marker(C), stiffness=10.0))
    solid = ix.NaturalLinkage("solid")
    members = [solid.point("P", (0, 0, 1)), solid.point("Q", (1, 0, 1)), solid.vector("u", (0, 1, 0.1)),
               solid.vector("w", (0, 0, 2))]  # fmt: skip
    part = solid.rigid("body", members, mass=2.0, inertia=(0.2, 0.3, 0.25), centre=(0.4, 0.1, 1.0))
    model.add(solid)
    model.add(ix.Revolute("pin", model.ground.marker((0, 0, 1)), part.marker_at((0, 0, 1), z=(0, 1, 0))))
    return model


@example("States")
def states() -> ix.Model:
    model, *_ = two()
    model.add(ix.States("filter", (0.5, -0.25), names=("slow", "fast")))
    return model


for joint_name in ("Revolute", "Prismatic", "Cylindrical", "Planar", "KnifeEdge", "Inline", "ParallelAxes",
                   "PointInPlane", "InPlane"):  # fmt: skip

    @example(joint_name)
    def with_axis(word=joint_name) -> ix.Model:
        model, a, b = two()
        offset = {"offset": 0.1} if word in ("PointInPlane", "InPlane") else {}
        model.add(getattr(ix, word)("j", a, b, at=(0.5, 0.4, 0.3), axis=(1, 2, -1), **offset))
        return model


for joint_name in ("Spherical", "PointCoincidence", "Fixed", "Orientation"):

    @example(joint_name)
    def without_axis(word=joint_name) -> ix.Model:
        model, a, b = two()
        model.add(getattr(ix, word)("j", a, b, at=(0.5, 0.4, 0.3)))
        return model


for joint_name in ("Universal", "ConstantVelocity", "ShaftCoupling", "PerpendicularAxes"):

    @example(joint_name)
    def with_axes(word=joint_name) -> ix.Model:
        model, a, b = two()
        settings = {"cosine": 0.2} if word == "PerpendicularAxes" else {}
        axes = ((1, 2, -1), (2, -1, 0)) if word == "Universal" else ((1, 2, -1), (1, 2, -0.5))
        model.add(getattr(ix, word)("j", a, b, at=(0.5, 0.4, 0.3), axes=axes, **settings))
        return model


@example("Distance")
def distance() -> ix.Model:
    model, a, b = two()
    model.add(ix.Distance("j", a, b, **MEASURED, points=((0, 0, 0), (1, 1, 1))))
    return model


@example("Rope")
def rope() -> ix.Model:
    model, a, b = two()
    points = [a.marker((0.1, 0.2, 0.3)), model.ground.marker((1, 1, 1)), b, a.marker((0.4, 0.2, 0.3))]
    model.add(ix.Rope("j", points, **MEASURED, length=5.0))
    return model


@example("CurveCoupler")
def curve_coupler() -> ix.Model:
    model, a, b = two()
    first = model.add(ix.Revolute("first", model.ground, a, at=(0.3, -0.2, 0.7), axis=(1, 2, -1)))
    second = model.add(ix.Cylindrical("second", model.ground, b, at=(1, 0, 0), axis=(0, 0, 1)))
    x, y = (0.0, 1.0, 3.0, 4.0, 6.0), (0.0, 0.2, -0.1, 0.3, 0.5)
    model.add(ix.CurveCoupler("j", first, second, x, y, period=6.0, coordinates=("angle", "displacement")))
    return model


@example("Screw")
def screw() -> ix.Model:
    model, a, b = two()
    model.add(ix.Screw("j", a, b, at=(0.5, 0.4, 0.3), axis=(1, 2, -1), pitch=0.02))
    return model


@example("RelativeCoordinate")
def relative_coordinate() -> ix.Model:
    model, a, b = two()
    model.add(ix.RelativeCoordinate("j", a, b, **MEASURED, at=(0, 0, 0), axis=(1, 0, 1)))
    return model


@example("RelativeAngularVelocity")
def relative_angular_velocity() -> ix.Model:
    model, a, b = two()
    model.add(ix.RelativeAngularVelocity("j", a, b, **MEASURED, axis=(1, 0, 1), at=(0, 0, 0)))
    return model


@example("PointOnCurve")
def point_on_curve() -> ix.Model:
    model, a, b = two()
    points = [(math.cos(k), math.sin(k), 0.1 * math.sin(2 * k)) for k in (2 * math.pi * i / 12 for i in range(12))]
    model.add(ix.PointOnCurve("j", a.marker(), b.marker((0.1, 0, 0)), points, closed=True))
    return model


for joint_name in ("RollingDisc", "RollingCylinder", "RollingBall"):

    @example(joint_name)
    def rolling(word=joint_name) -> ix.Model:
        model, a, _ = two()
        axis = {} if word == "RollingBall" else {"axis": (0, 1, 0)}
        tread = {"tread": 0.02} if word == "RollingDisc" else {}
        model.add(
            getattr(ix, word)("j", model.ground, a, radius=0.3, at=(0, 0, 0.3), normal=(0, 0, 1), **axis, **tread)
        )
        return model


def two_pins() -> tuple[ix.Model, ix.Revolute, ix.Prismatic]:
    """A revolute and a prismatic joint to ground."""
    model, a, b = two()
    pin = model.add(ix.Revolute("pin", model.ground, a, at=(0.3, -0.2, 0.7), axis=(0, 0, 1)))
    return model, pin, model.add(ix.Prismatic("slide", model.ground, b, at=(1.1, 0.1, 0.2), axis=(1, 0, 0)))


@example("Gear")
def gear() -> ix.Model:
    model, pin, _ = two_pins()
    wheel = model.add(rigid("wheel"))
    axle = model.add(ix.Revolute("axle", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Gear("gear", pin, axle, ratio=-0.4))
    return model


@example("RackPinion")
def rack() -> ix.Model:
    model, pin, slide = two_pins()
    model.add(ix.RackPinion("rack", pin, slide, radius=0.03))
    return model


@example("Coupler")
def coupler() -> ix.Model:
    model, pin, slide = two_pins()
    model.add(ix.Coupler("coupler", [(1.0, slide), (-0.1, pin, "angle")], constant=0.01))
    return model


@example("CoordinateConstraint")
def coordinate_constraint() -> ix.Model:
    model, a, _ = two()
    model.add(ix.CoordinateConstraint("level", a, "z", 0.6))
    return model


@example("Motion")
def motion() -> ix.Model:
    model, pin, slide = two_pins()
    model.add(ix.Motion("turn", pin, **MEASURED))
    table = ix.TimeTable([0.0, 0.3, 0.7, 1.0], [0.0, 0.1, 0.4, 0.5], extrapolation="linear")
    model.add(ix.Motion("push", slide, table, ix.Expression("0.5*t"), 0.5))
    return model


@example("SpringDamper")
def spring() -> ix.Model:
    model, a, b = two()
    shared = a.marker((0.1, 0.2, 0.3), z=(1, 1, 0), name="eye")
    model.add(ix.SpringDamper("one", shared, b.marker(), stiffness=RUBBER, damping=DAMPER, length=0.8, force=3.0))
    model.add(ix.SpringDamper("two", model.ground.marker(), shared, stiffness=100.0, damping=2.0))
    return model


@example("RotationalSpringDamper")
def rotational_spring() -> ix.Model:
    model, pin, _ = two_pins()
    model.add(ix.RotationalSpringDamper("one", pin, stiffness=5.0, damping=DAMPER, free_angle=0.1, torque=0.3))
    return model


@example("TranslationalSpringDamper")
def translational_spring() -> ix.Model:
    model, _, slide = two_pins()
    model.add(
        ix.TranslationalSpringDamper("one", slide, stiffness=5.0, damping=DAMPER, free_displacement=-0.1, force=2)
    )
    return model


@example("Bushing")
def bushing() -> ix.Model:
    model, a, b = two()
    stiffness = (1e3, RUBBER, 2e3, 10.0, 20.0, 30.0)
    model.add(ix.Bushing("six", a, b, at=(0.1, 0, 0), axis=(1, 1, 0), stiffness=stiffness, preload=(1, 2, 3, 4, 5, 6)))
    matrix = [[1e3, 10, 0], [10, 2e3, 0], [0, 0, 3e3]]
    model.add(ix.Bushing("three", a, b, at=(0.1, 0, 0), stiffness=matrix, damping=(1, DAMPER, 3), free="initial"))
    return model


@example("Force")
def force() -> ix.Model:
    model, a, b = two()
    model.add(ix.Force("plain", a, (1, 2, 3), at=(0.5, 0.5, 0.5), follower=True, reaction=b))
    model.add(ix.Force("timed", b.marker((0.1, 0, 0)), (0.0, ix.Expression("sin(t)"), 1.0)))
    return model


@example("DistributedLoad")
def distributed_load() -> ix.Model:
    model = ix.Model("loaded line")
    material = {"radius": 0.02, "elements": 3, "young": 2e7, "density": 900.0}
    rope = model.add(ix.AncfCable("rope", (0, 0, 0), (1, 0.2, 0.1), **material))
    beam = model.add(ix.AncfBeam3D("beam", (0, 1, 0), (1, 1.2, 0.1), poisson=0.3, **material))
    model.add(ix.DistributedLoad("wind", rope, (1.0, ix.Expression("sin(3*t)"), 2.0)))
    model.add(ix.DistributedLoad("pressure", beam, (0.0, 3.0, 1.0), start=0.25, end=0.8, frame="tangent"))
    return model


@example("Torque")
def torque() -> ix.Model:
    model, a, b = two()
    model.add(ix.Torque("plain", a, (1, 2, 3), follower=True, reaction=b))
    model.add(ix.Torque("timed", a, (ix.TimeTable([0, 1, 2], [0, 1, 0]), 0, 0)))
    return model


@example("UniformGravity")
def uniform_gravity() -> ix.Model:
    model, a, b = two()
    model.add(ix.UniformGravity("tilt", a, (0.1, 0.2, 0.3)))
    model.add(ix.UniformGravity("shake", b, (0.1, ix.Expression("sin(20*t)"), 0.3)))
    return model


@example("PointGravity")
def point_gravity() -> ix.Model:
    model, a, b = two()
    model.add(ix.PointGravity("one", a, (5.0, 0, 0), mu=3.0))
    model.add(ix.PointGravity("two", a, b, mu=4.0))
    return model


@example("Drag")
def drag() -> ix.Model:
    model, a, _ = two()
    wind = (1.0, ix.Expression("sin(t)"), 0.0)
    model.add(ix.Drag("air", a, coefficient=0.3, area=0.2, density=1.1, wind=wind, at=(0.4, 0, 0)))
    return model


@example("AddedMass")
def added_mass() -> ix.Model:
    model, a, b = two()
    model.add(ix.AddedMass("water", a, 0.4, (0.1, 0.2, 0.3), at=(0.4, 0, 0)))
    coupling = [[0.0, 0.01, 0.0], [0.02, 0.0, 0.0], [0.0, 0.0, 0.0]]
    model.add(ix.AddedMass("mud", b, [[0.4, 0.1, 0], [0.1, 0.5, 0], [0, 0, 0.3]], 0.1, coupling=coupling))
    return model


@example("JointFriction")
def friction() -> ix.Model:
    model, pin, slide = two_pins()
    model.add(ix.JointFriction("one", pin, 0.1, static_friction=0.2, radius=0.01, stick_velocity=2e-3))
    model.add(ix.JointFriction("two", slide, 0.1, decay_velocity=0.1, arm=0.2, preload=3.0))
    return model


@example("JointLimit")
def limit() -> ix.Model:
    model, pin, slide = two_pins()
    model.add(ix.JointLimit("one", pin, lower=-0.5, stiffness=1e3, exponent=1.5))
    model.add(ix.JointLimit("two", slide, lower=-0.5, upper=0.7, stiffness=1e3, damping=3.0, onset=2e-3))
    return model


@example("Actuator")
def actuator() -> ix.Model:
    model, pin, slide = two_pins()
    model.add(ix.Actuator("one", pin, 3.0))
    model.add(ix.Actuator("two", slide, ix.Expression("2*tanh(t)")))
    return model


@example("LineActuator")
def line_actuator() -> ix.Model:
    model, a, b = two()
    model.add(ix.LineActuator("one", a.marker((0.1, 0.2, 0.3)), b.marker(), 3.0))
    model.add(ix.LineActuator("two", model.ground, b, ix.Expression("2*tanh(t)"), points=((0, 0, -3), (1, 2, 3))))
    return model


@example("Contact")
def contact() -> ix.Model:
    model, a, b = two()
    law = {"stiffness": 1e5, "friction": 0.3, "static_friction": 0.4}
    model.add(ix.Contact("floor", model.ground, a, (ix.Plane(), ix.Box((0.1, 0.2, 0.3))), restitution=0.7,
                         impact_velocity=2.0, **law))  # fmt: skip
    model.add(ix.Contact("ring", a, b, (ix.Cylinder(0.1, 0.2), ix.Cylinder(0.5, 0.2, hollow=True)), damping=10.0,
                         onset=1e-3, exponent=1.2, stick_velocity=0.02, **law))  # fmt: skip
    model.add(ix.Contact("face", a, b, (ix.Strip(0.3), ix.Cylinder(0.1, 0.2)), **law))
    model.add(ix.Contact("pin", a, b, (ix.Sphere(0.02), ix.Sprocket(0.9, 18)), **law))
    return model


@example("ContactSet")
def contact_set() -> ix.Model:
    model, a, b = two()
    c = model.add(rigid("c", position=(2, 2, 2)))
    shapes = [
        (model.ground, ix.Plane()),
        (a.marker((0.1, 0, 0)), ix.Sphere(0.1)),
        (b, ix.Sphere(0.2)),
        (c, ix.Sphere(1)),
    ]
    model.add(ix.ContactSet("heap", shapes, skip=[(a, c)], stiffness=1e4, damping=0.3))
    model.add(ix.ContactSet("floor", shapes[1:], against=shapes[:1], stiffness=1e4))
    return model


@example("Tyre")
def tyre() -> ix.Model:
    model = ix.Model("tyre")
    roads = [None, ix.Road.bump(1, 2, 0.1, speed=3.0), ix.Road.ramp(1, 2, 0.1), ix.Road.sine(2.0, 0.1, 0.3),
             ix.Road.half_cylinder(1.0, 0.1), ix.Road.table([0, 1, 3], [0, 0.1, 0.05])]  # fmt: skip
    for k, road in enumerate(roads):
        pose = {"position": (0, k, 0.3), "orientation": (1, -1, 0, 0)}
        wheel = model.add(ix.RigidBody.cylinder(f"wheel{k}", 0.3, 0.2, mass=20.0, **pose))
        slips = {"longitudinal_stiffness": 1e5, "cornering_stiffness": 5e4, "relaxation": (0.3, 0.5)} if k == 1 else {}
        normal = {"normal": "vertical"} if k == 4 else {}
        model.add(
            ix.Tyre(f"tyre{k}", wheel, model.ground, road, radius=0.3, stiffness=2e5, damping=1e3, **slips, **normal)
        )
    return model


def moving_ground() -> ix.Model:
    """A joint to a marker of ground that moves."""
    model, a, b = two()
    path = (0.0, ix.Expression("0.1*sin(t)"), 0.2)
    shaker = model.ground.moving_marker(path=Components("MovingMarker", "path", path), name="shaker", z=(0, 1, 1))
    model.add(ix.Spherical("one", shaker, a.marker((0.1, 0, 0))))
    turn = model.ground.moving_marker((0.1, 0, 0), rotation=ix.Expression("0.2*t"), axis=(1, 1, 0.3))
    model.add(ix.Spherical("two", turn, b.marker((0.1, 0, 0))))
    return model
