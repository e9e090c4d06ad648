"""Every kind of force, several elements of each, between every pair of body kinds that takes it."""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import zoo

import index3 as ix
from index3 import forces, joints
from index3.compiled import slots as s
from index3.system.compile import compile_model

TURNS = 4 * math.pi  # how far measured angles are beyond one turn

BODIES = ("rigid", "planar", "point")
WITH_AXES = ("rigid", "planar", "euler", "natural", "linkage", "node chain", "ancf beam", "ancf beam 3d", "modal")
SPATIAL = (("rigid", "rigid"), ("rigid", "ground"))  # joints between planar bodies must lie in their plane
PAIRS = [(first, second) for first in BODIES for second in (*BODIES, "ground")]
PAIRS += [
    ("euler", "rigid"),
    ("euler", "ground"),
    ("natural", "ground"),
    ("linkage", "natural"),
    ("node chain", "rigid"),
    ("ancf beam", "rigid"),
    ("modal", "rigid"),
    ("ancf beam 3d", "rigid"),
]
# a force knows markers only: one pair shows that a kind gives them


def registered() -> list[str]:
    """Every module of the forces room that has kernels."""
    names = [f"{forces.__name__}.{module.name}" for module in pkgutil.iter_modules(forces.__path__)]
    return [name for name in names if hasattr(import_module(name), "STAGES")]


@dataclass(frozen=True)
class Maker:
    """How to put elements of a kind between two markers.

    `make` returns elements for a model; `pairs` are the body kinds it fits; `balanced` says whether its forces cancel;
    `tolerance` of its derivatives, relative, if they are not exact.
    """

    kind: str
    label: str
    make: Callable
    pairs: tuple[tuple[str, str], ...] = tuple(PAIRS)
    balanced: bool = True
    tolerance: float = 1e-6


def cube(x):
    """A hardening law."""
    return 0.5 * x**3 + 2.0 * x


def cube_slope(x):
    """Its derivative."""
    return 1.5 * x**2 + 2.0


def cube_area(x):
    """Its antiderivative."""
    return 0.125 * x**4 + x**2


TABLE = ix.Curve([-2.0, -1.0, 0.0, 0.7, 3.0], [-9.0, -2.0, 0.0, 3.0, 30.0])
CUBE = ix.Curve.from_function(cube, cube_slope, integral=cube_area)
BARE = ix.Curve.from_function(cube, cube_slope)  # without potential


class Hinge(zoo.LooseJoint):
    """A joint without rows whose angle can be measured."""

    measures = joints.ANGLE

    def __init__(self, name, first, second):
        super().__init__(name, first, second, [])


def springs(model, first, second, rng):
    """A spring, a damper, all parts together, negative ones, and one that starts beyond its free length."""
    settings = (
        {"stiffness": 30.0},
        {"damping": 4.0},
        {"stiffness": 20.0, "damping": 3.0, "force": 2.0, "length": 0.2},
        {"stiffness": ix.Curve([-1, 1], [5, -5]), "damping": -1.0, "length": 3.0},
        {"force": 7.0},
        {"stiffness": TABLE, "length": 0.5},
        {"stiffness": CUBE, "damping": TABLE},
        {"stiffness": BARE, "damping": CUBE, "length": 1.0},
    )
    return [ix.SpringDamper(f"s{k}", *again(first, second, rng), **given) for k, given in enumerate(settings)]


def rotational_springs(model, first, second, rng):
    """On two hinges: a spring alone; spring, damper and torque."""
    hinges = [model.add(Hinge(f"hinge{k}", *again(first, second, rng))) for k in range(2)]
    return [
        ix.RotationalSpringDamper("t0", hinges[0], stiffness=8.0, free_angle=0.3),
        ix.RotationalSpringDamper("t1", hinges[1], stiffness=8.0, damping=2.0, torque=1.5),
        ix.RotationalSpringDamper("t2", hinges[0], stiffness=TABLE, damping=CUBE),
        ix.RotationalSpringDamper("t3", hinges[1], stiffness=CUBE),
    ]


def translational_springs(model, first, second, rng):
    """On two slides: a spring alone; spring, damper and force; curves."""
    slides = [model.add(Slide(f"slide{k}", *again(first, second, rng))) for k in range(2)]
    return [
        ix.TranslationalSpringDamper("p0", slides[0], stiffness=8.0, free_displacement=0.3),
        ix.TranslationalSpringDamper("p1", slides[1], stiffness=8.0, damping=2.0, force=1.5),
        ix.TranslationalSpringDamper("p2", slides[0], stiffness=TABLE, damping=CUBE),
        ix.TranslationalSpringDamper("p3", slides[1], stiffness=CUBE),
    ]


def bushings(model, first, second, rng):
    """Along the axes alone, if the second is a point; else numbers, curves, and full matrices with all there is."""
    if second.body.kind == "point":
        return [
            ix.Bushing("b0", *near(first, second, rng), stiffness=(3.0, 4.0, 5.0)),
            ix.Bushing("b1", *near(first, second, rng), stiffness=(TABLE, 4.0, CUBE), damping=(1.0, CUBE, 2.0)),
        ]
    stiffness, damping = rng.normal(size=(2, 6, 6))
    everything = {"stiffness": stiffness + stiffness.T, "damping": damping, "preload": range(6), "free": [0.2] * 6}
    return [
        ix.Bushing("b0", *near(first, second, rng), stiffness=(3.0, 4.0, 5.0, 6.0, 7.0, 8.0)),
        ix.Bushing("b1", *near(first, second, rng), stiffness=[TABLE] * 6, free="initial", preload=range(6)),
        ix.Bushing("b2", *near(first, second, rng), stiffness=[BARE] * 6, damping=[CUBE] * 6),
        ix.Bushing("b3", *near(first, second, rng), **everything),
        ix.Bushing("b4", *near(first, second, rng), stiffness=(3.0, 4.0, 5.0)),
        ix.Bushing("b5", *again(first, second, rng), damping=damping, free="initial"),  # no limit of its turns
    ]


def attractions(model, first, second, rng):
    """Of a body, by a point of the other and by a point in ground: of the first body, unless it is a beam."""
    beam = hasattr(first.body, "lengths")  # which is not attracted, but attracts
    ends = again(first, second, rng)
    body, centre = (second.body, ends[0]) if beam else (first.body, ends[1])
    made = [ix.PointGravity("g0", body, centre, mu=9.0)]
    return [*made, ix.PointGravity("g1", body, (3.0, 1.0, -2.0), mu=20.0)]


def drags(model, first, second, rng):
    """In still air and in wind, at the origin and elsewhere."""
    settings = {"coefficient": 0.8, "area": 3.0}
    return [
        ix.Drag("d0", first.body, **settings),
        ix.Drag("d1", again(first, second, rng)[0], wind=(3.0, -1.0, 0.5), density=0.7, **settings),
        ix.Drag("d2", first, wind=wave, **settings),
    ]


def added_masses(model, first, second, rng):
    """On the first body: the same in all directions, along three axes, and a full matrix; a point mass has no axes."""
    made = [ix.AddedMass("a0", again(first, second, rng)[0], 2.0), ix.AddedMass("a1", first, (1.0, 2.0, 0.5))]
    if first.body.kind != "point":
        half = rng.normal(size=(6, 6))
        made.append(ix.AddedMass.from_matrix("a2", again(first, second, rng)[0], half @ half.T))
    return made


def frictions(model, first, second, rng):
    """In a revolute, a prismatic, a cylindrical joint and on a line, at speeds around the one of regularisation."""
    law = {"static_friction": 0.5, "stick_velocity": 0.8, "decay_velocity": 2.0}
    made = []
    for k, (joint, own) in enumerate(
        (
            (ix.Revolute, {"radius": 0.3}),
            (ix.Prismatic, {"arm": 0.7, "preload": 0.4}),
            (ix.Cylindrical, {"radius": 0.2, "preload": 1.0}),
            (ix.Inline, {"preload": 0.3}),
        )
    ):
        ends = again(first, second, rng)
        made.append(ix.JointFriction(f"r{k}", model.add(joint(f"joint{k}", *ends)), 0.3, **law, **own))
    return made


class Slide(zoo.LooseJoint):
    """A joint without rows with a displacement that can be measured."""

    measures = joints.DISPLACEMENT

    def __init__(self, name, first, second):
        super().__init__(name, first, second, [])


def joint_and_coordinate(model, first, second, rng):
    """A hinge and a slide, each with the value of its coordinate in `force_state`."""
    return [
        (model.add(Hinge("hinge", *again(first, second, rng))), TURNS),
        (model.add(Slide("slide", *again(first, second, rng))), 0.0),
    ]


def limits(model, first, second, rng):
    """Stops that are pressed: springs, and with damping that is still setting in; upper and lower; one that is not."""
    made = []
    for k, (joint, x) in enumerate(joint_and_coordinate(model, first, second, rng)):
        made += [
            ix.JointLimit(f"a{k}", joint, upper=x - 0.3, stiffness=20.0),
            ix.JointLimit(f"b{k}", joint, lower=x + 0.4, stiffness=60.0, damping=0.5, exponent=1.5, onset=1.0),
            ix.JointLimit(f"c{k}", joint, lower=x - 9.0, upper=x - 0.3, stiffness=90.0, damping=0.5, onset=0.2),
            ix.JointLimit(f"d{k}", joint, lower=x - 9.0, upper=x + 9.0, stiffness=90.0),
        ]
    return made


def steer(t, x, rate):
    """A law that is not linear in anything."""
    return 3.0 * math.sin(x) * (1.0 + t) - 0.5 * rate * abs(rate) + 0.2 * x * rate


def steer_slopes(t, x, rate):
    """The derivatives of `steer`."""
    return 3.0 * math.cos(x) * (1.0 + t) + 0.2 * rate, -abs(rate) + 0.2 * x


def actuators(derivatives):
    """A maker of drives: constant, of time, of the state."""

    def make(model, first, second, rng):
        made = []
        for k, (joint, _) in enumerate(joint_and_coordinate(model, first, second, rng)):
            made += [
                ix.Actuator(f"a{k}", joint, 2.5),
                ix.Actuator(f"b{k}", joint, math.cos),
                ix.Actuator(f"c{k}", joint, steer, derivatives=derivatives),
            ]
        return made

    return make


def line_actuators(derivatives):
    """A maker of thrusts: constant, of time, of the state."""

    def make(model, first, second, rng):
        laws = ((2.5, None), (math.cos, None), (steer, derivatives))
        return [
            ix.LineActuator(f"l{k}", *again(first, second, rng), law, derivatives=slopes)
            for k, (law, slopes) in enumerate(laws)
        ]

    return make


def wave(t):
    """A vector function of time."""
    return 3.0 * math.cos(2.0 * t), 1.0 + t, -2.0 * math.sin(t)


def loads(model, first, second, rng):
    """Forces and torques on the first body: constant and in time, fixed and turning, without reaction."""
    marker, turning = first, first.body.kind != "point"
    made = [
        ix.Force("f0", marker, (1.0, -2.0, 3.0)),
        ix.Force("f1", marker, wave),
        ix.UniformGravity("f3", marker.body, wave),
        ix.UniformGravity("f4", marker.body, (0.0, 2.0, -1.0)),
    ]
    if turning:
        made += [
            ix.Force("f2", marker, (1.0, -2.0, 3.0), follower=True),
            ix.Torque("m0", marker, (1.0, -2.0, 3.0)),
            ix.Torque("m1", marker, wave, follower=True),
        ]
    return made


def distributed(model, first, second, rng):
    """Loads along a beam: all of it and a part, constant and in time, fixed in ground and turning."""
    beam, flat = first.body, first.body.planar
    made = [
        ix.DistributedLoad("d0", beam, (1.0, -2.0, 0.0 if flat else 3.0)),
        ix.DistributedLoad("d1", beam, wave, start=0.2, end=1.1),
    ]
    if not beam.line:
        made += [
            ix.DistributedLoad("d2", beam, wave, frame="section"),
            ix.DistributedLoad("d3", beam, (1.0, -2.0, 0.0), end=0.3, frame="tangent"),
        ]
    return made


def loads_with_reaction(model, first, second, rng):
    """As `loads`, with the opposite on the second body, at the same point."""
    made = [ix.Force("f0", first, (1.0, -2.0, 3.0), reaction=second.body)]
    if first.body.kind != "point":
        made.append(ix.Force("f1", first, wave, follower=True, reaction=second.body))
        made.append(ix.Torque("m0", first, wave, reaction=second))
        made.append(ix.Torque("m1", first, (1.0, -2.0, 3.0), follower=True, reaction=second))
    return made


def skew(x):
    """The matrix of a cross product."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def strut(t, r, A, v, w, p, out):
    """F = d (p0 (1 + d.d) + p1 d.d') along d, a torque x0 x x1 and a drag on the relative spin."""
    d, rate = r[1] - r[0], v[1] - v[0]
    out[0, :3] = d * (p[0] * (1.0 + d @ d) + p[1] * (d @ rate)) * math.cos(t)
    out[0, 3:] = p[2] * np.cross(A[0][:, 0], A[1][:, 0]) + p[3] * (w[1] - w[0])
    out[1] = -out[0]


def strut_jacobian(t, r, A, v, w, p, K, D):
    """The derivatives of `strut`."""
    d, rate, c = r[1] - r[0], v[1] - v[0], math.cos(t)
    by_d = c * (p[0] * ((1.0 + d @ d) * np.eye(3) + 2.0 * np.outer(d, d)))
    by_d += c * p[1] * ((d @ rate) * np.eye(3) + np.outer(d, rate))
    by_rate = c * p[1] * np.outer(d, d)
    a, b = skew(A[0][:, 0]), skew(A[1][:, 0])
    K[:3, :3], K[:3, 6:9] = -by_d, by_d
    K[3:6, 3:6], K[3:6, 9:] = p[2] * b @ a, -p[2] * a @ b
    D[:3, :3], D[:3, 6:9] = -by_rate, by_rate
    D[3:6, 3:6], D[3:6, 9:] = -p[3] * np.eye(3), p[3] * np.eye(3)
    K[6:], D[6:] = -K[:6], -D[:6]


def bearing(t, r, A, v, w, p, out, F, T):
    """Drag by the size of a reaction, along the relative velocity, and a part of the reaction itself."""
    out[1, :3] = -p[0] * (F @ F) * (v[1] - v[0]) + p[1] * F
    out[1, 3:] = p[1] * T - p[0] * (T @ T) * (w[1] - w[0])
    out[0] = -out[1]


def bearing_jacobian(t, r, A, v, w, p, K, D, L, F, T):
    """Its derivatives."""
    D[6:9, 6:9], D[9:, 9:] = -p[0] * (F @ F) * np.eye(3), -p[0] * (T @ T) * np.eye(3)
    D[6:, :6] = -D[6:, 6:]
    D[:6] = -D[6:]
    L[6:9, :3] = p[1] * np.eye(3) - 2.0 * p[0] * np.outer(v[1] - v[0], F)
    L[9:, 3:] = p[1] * np.eye(3) - 2.0 * p[0] * np.outer(w[1] - w[0], T)
    L[:6] = -L[6:]


def bearings(jacobian):
    """A maker of user forces that see the reactions of two joints."""

    def make(model, first, second, rng):
        joined = [
            model.add(joint(f"joint{k}", *again(first, second, rng)))
            for k, joint in enumerate((ix.Revolute, ix.Cylindrical))
        ]
        return [
            ix.UserForce(f"u{k}", joint, bearing, (0.02, 0.1 + k), jacobian, reactions=True)
            for k, joint in enumerate(joined)
        ]

    return make


def echo(t, r, A, v, w, p, out, seen):
    """A part of what another force does, and some more."""
    out[0] = -p[0] * seen[0].out[1]
    out[0, :3] -= p[0] * (seen[0].out[0, :3] @ v[0]) * r[0]


def echoes(model, first, second, rng):
    """A user force, and one that sees what it does."""
    source = ix.UserForce("u", again(first, second, rng), strut, parameters=(2.0, 0.5, 1.5, 0.4))
    return [source, ix.UserForce("echo", [again(first, second, rng)[0]], echo, (0.3,), reads=source)]


def user(jacobian):
    """A maker of user forces with a source of derivatives; two, with their own parameters."""

    def make(model, first, second, rng):
        parameters = ((2.0, 0.5, 1.5, 0.4), (1.0, -0.3, 0.7, 0.2))
        return [
            ix.UserForce(f"u{k}", again(first, second, rng), strut, parameters=p, jacobian=jacobian)
            for k, p in enumerate(parameters)
        ]

    return make


def inerter(t, r, A, v, w, p, out, dv, dw):
    """`strut`, and forces that are not linear in the relative acceleration and depend on pose and velocity too."""
    strut(t, r, A, v, w, p, out)
    d, rate, spin = r[1] - r[0], dv[1] - dv[0], dw[1] - dw[0]
    share = 1.0 / (1.0 + 0.1 * rate @ rate)
    out[0, :3] += p[0] * d * (d @ rate) + p[1] * rate * (1.0 + share) + p[2] * np.cross(v[0], rate)
    out[0, 3:] += p[3] * A[0] @ (np.array((1.0, 2.0, 3.0)) * (A[0].T @ spin))
    out[1] = -out[0]


def inerter_jacobian(t, r, A, v, w, p, K, D, M, dv, dw):
    """The derivatives of `inerter`."""
    strut_jacobian(t, r, A, v, w, p, K, D)
    d, rate, spin = r[1] - r[0], dv[1] - dv[0], dw[1] - dw[0]
    by_d = p[0] * ((d @ rate) * np.eye(3) + np.outer(d, rate))
    K[:3, :3] -= by_d
    K[:3, 6:9] += by_d
    D[:3, :3] -= p[2] * skew(rate)
    share = 1.0 / (1.0 + 0.1 * rate @ rate)
    by_rate = p[0] * np.outer(d, d) + p[1] * ((1.0 + share) * np.eye(3) - 0.2 * share**2 * np.outer(rate, rate))
    by_rate += p[2] * skew(v[0])
    B = p[3] * A[0] @ np.diag((1.0, 2.0, 3.0)) @ A[0].T
    K[3:6, 3:6] += B @ skew(spin) - skew(B @ spin)
    M[:3, :3], M[:3, 6:9] = -by_rate, by_rate
    M[3:6, 3:6], M[3:6, 9:] = -B, B
    K[6:], D[6:], M[6:] = -K[:6], -D[:6], -M[:6]


def inerters(jacobian):
    """A maker of user forces of accelerations with a source of derivatives."""

    def make(model, first, second, rng):
        parameters = ((2.0, 0.5, 1.5, 0.4), (1.0, -0.3, 0.7, 0.2))
        return [
            ix.UserForce(f"u{k}", again(first, second, rng), inerter, p, jacobian, accelerations=True)
            for k, p in enumerate(parameters)
        ]

    return make


def servo(t, r, A, v, w, p, out, x, rate):
    """`strut` through seven states that follow it and each other."""
    strut(t, r, A, v, w, p, out)
    out[0, :3] += x[:3] * x[6]
    out[1, 3:] += x[3:6]
    rate[:3] = r[1] - r[0] - 2.0 * x[:3] * x[3]
    rate[3:6] = A[0][:, 1] + 0.3 * w[1]
    rate[6] = x[0] * x[5] + v[0, 2]


def servos(model, first, second, rng):
    """Two forces that give rates to one block of states."""
    block = model.add(ix.States("servo", rng.normal(size=7)))
    parameters = ((2.0, 0.5, 1.5, 0.4), (1.0, -0.3, 0.7, 0.2))
    return [
        ix.UserForce(f"u{k}", again(first, second, rng), servo, p, "differences", states=block)
        for k, p in enumerate(parameters)
    ]


def felt(t, r, A, v, w, p, out, x, rate, dv, dw):
    """An accelerometer: states that follow accelerations, and a force that follows both."""
    rate[:3] = A[0].T @ dv[0] - 2.0 * x[:3]
    rate[3] = dw[1, 2] * x[0]
    out[0, :3] = p[0] * x[:3] - p[1] * A[1] @ dv[1]
    out[1] = -out[0]


def sensors(model, first, second, rng):
    """A force with states that depends on accelerations."""
    block = model.add(ix.States("sensor", rng.normal(size=4)))
    ends = again(first, second, rng)
    return [ix.UserForce("u", ends, felt, (2.0, 0.5), "differences", states=block, accelerations=True)]


def coupled(t, x, v, p, out):
    """A law in the axes of the first in which every component matters."""
    for k in range(6):
        out[k] = p[0] * math.sin(x[k]) * x[(k + 1) % 6] - p[1] * v[k] * (1.0 + x[(k + 2) % 6] ** 2) + math.cos(t)


def coupled_jacobian(t, x, v, p, K, D):
    """The derivatives of `coupled`."""
    for k in range(6):
        K[k, k] = p[0] * math.cos(x[k]) * x[(k + 1) % 6]
        K[k, (k + 1) % 6] = p[0] * math.sin(x[k])
        K[k, (k + 2) % 6] = -2.0 * p[1] * v[k] * x[(k + 2) % 6]
        D[k, k] = -p[1] * (1.0 + x[(k + 2) % 6] ** 2)


def vector(jacobian):
    """A maker of vector forces with a source of derivatives; two, with their own parameters."""

    def make(model, first, second, rng):
        parameters = ((2.0, 0.5), (1.0, -0.3))
        return [
            ix.VectorForce(f"v{k}", *near(first, second, rng), coupled, p, jacobian) for k, p in enumerate(parameters)
        ]

    return make


def contacts(model, first, second, rng):
    """Every pair of shapes, deep in each other: elastic, damped either way, with friction, sticking and sliding."""
    elastic, hard = {"stiffness": 3.0, "exponent": 1.0}, {"stiffness": 2.0, "damping": 0.1}
    soft = {"stiffness": 4.0, "exponent": 1.0, "damping": 0.5, "onset": 30.0, "friction": 0.4, "stick_velocity": 30.0}
    rough = {**hard, "friction": 0.3, "static_friction": 0.5, "stick_velocity": 0.1, "decay_velocity": 2.0}
    ball, log = ix.Sphere(6.0), ix.Cylinder(5.0, 2.0)
    cases = [
        ((ball, ix.Plane()), elastic), ((ball, ix.Plane()), rough), ((ix.Box((9.0, 8.0, 7.0)), ix.Plane()), soft),
        ((log, ix.Plane()), rough), ((ball, ball), soft), ((ball, log), hard), ((log, log), rough),
        ((ball, ix.Cylinder(7.0, 1.0, hollow=True)), rough), ((ix.Plane(), log), elastic),
        ((ball, ix.Strip(20.0)), rough), ((log, ix.Strip(0.5)), soft), ((ball, ix.Sprocket(9.0, 11)), rough),
        ((ball, ix.Box((9.0, 8.0, 7.0))), rough), ((ball, ix.Box((0.1, 0.2, 0.3))), soft),
    ]  # fmt: skip
    return [ix.Contact(f"c{k}", *again(first, second, rng), shapes, **law) for k, (shapes, law) in enumerate(cases)]


def tyres(model, first, second, rng):
    """Every kind of road; springs that pull and do not; vertical forces alone, and slip forces, sliding or not."""
    points = ([-6.0, -2.0, 0.5, 3.0, 7.0], [0.5, 0.0, 1.0, 0.2, 0.8])
    spring = {"radius": 9.0, "stiffness": 5.0, "damping": 0.4}
    cases = [
        (ix.Road.flat(), {"pulls": True, "camber": False}),
        (ix.Road.half_cylinder(0.0, 9.0, speed=0.3), {"exponent": 1.2, "normal": "vertical", "camber": False}),
        (ix.Road.ramp(-6.0, 12.0, 1.5), {"onset": 40.0}),
    ]
    if first.body.kind != "point":
        slip = {"longitudinal_stiffness": 7.0, "cornering_stiffness": 9.0, "low_speed": 1.0, "patch": 0.5}
        cases += [
            (ix.Road.bump(-6.0, 12.0, 1.0, speed=0.5), {**slip, "rolling_resistance": 0.1, "sliding_friction": 0.6}),
            (ix.Road.sine(5.0, 0.4), {**slip, "friction": 0.05, "rolling_resistance": 0.1, "camber": False}),
            (ix.Road.table(*points), {**slip, "normal": "vertical", "friction": 0.8, "sliding_friction": 0.3}),
            (ix.Road.sine(6.0, 0.3), {**slip, "rolling_resistance": 0.1, "relaxation": (4.0, 3.0)}),
        ]
    return [
        ix.Tyre(f"t{k}", *again(first, second, rng), road, **{**spring, **given})
        for k, (road, given) in enumerate(cases)
    ]


def again(first, second, rng):
    """New markers on the same bodies."""
    return [zoo.make_marker(end.body, rng) for end in (first, second)]


def near(first, second, rng):
    """New markers on the same bodies, turned against each other by less than 2.5 rad."""
    while True:
        ends = again(first, second, rng)
        (_, Ai), (_, Aj) = (end.pose() for end in ends)
        if np.trace(Ai.T @ Aj) > 1.0 + 2.0 * math.cos(2.5):
            return ends


def between(*kinds):
    """The pairs of these kinds of bodies, the first not ground."""
    return tuple(pair for pair in PAIRS if set(pair) <= set(kinds))


BEAMS = tuple((kind, "ground") for kind in ("ancf beam", "ancf cable", "ancf beam 3d"))
VECTOR_PAIRS = between(*WITH_AXES, "ground")
MAKERS = [
    Maker("index3.forces.joint_friction_kernels", "frictions", frictions, pairs=SPATIAL),
    Maker("index3.forces.spring_damper", "springs", springs),
    Maker("index3.forces.coordinate_spring", "rotational", rotational_springs, pairs=between(*WITH_AXES, "ground")),
    Maker(
        "index3.forces.coordinate_spring", "translational", translational_springs, pairs=between(*WITH_AXES, "ground")
    ),
    Maker(  # axes of a point mass do not turn
        "index3.forces.bushing_kernels",
        "bushings",
        bushings,
        pairs=tuple(pair for pair in PAIRS if pair[0] != "point"),
    ),
    Maker(  # a linkage has no one centre of mass
        "index3.forces.gravity",
        "attractions",
        attractions,
        pairs=tuple(pair for pair in PAIRS if "linkage" not in pair),
    ),
    Maker("index3.forces.drag", "drags", drags, pairs=tuple((kind, "ground") for kind in BODIES), balanced=False),
    Maker("index3.forces.load", "loads", loads, pairs=tuple((kind, "ground") for kind in BODIES), balanced=False),
    Maker(  # a point mass has no place for the reaction at the same point
        "index3.forces.load",
        "reactions",
        loads_with_reaction,
        pairs=tuple(pair for pair in PAIRS if pair[1] != "point"),
    ),
    Maker("index3.forces.vector_force_kernels", "vector", vector(coupled_jacobian), pairs=VECTOR_PAIRS),
    # as for "differences" below
    Maker("index3.forces.vector_force_kernels", "vector-d", vector("differences"), pairs=VECTOR_PAIRS, tolerance=1e-5),
    Maker("index3.forces.contact_kernels", "contacts", contacts),
    Maker("index3.forces.tyre_kernels", "tyres", tyres),
    Maker("index3.forces.joint_limit", "limits", limits, pairs=between(*WITH_AXES, "ground")),
    Maker("index3.forces.actuator", "drives", actuators(steer_slopes), pairs=between(*WITH_AXES, "ground")),
    # differences of the law by its two arguments, step 1e-6: 1e-9 of a force of 10
    Maker(
        "index3.forces.actuator",
        "drives-differences",
        actuators(None),
        pairs=between(*WITH_AXES, "ground"),
        tolerance=1e-5,
    ),
    Maker("index3.forces.line_actuator", "thrusts", line_actuators(steer_slopes)),
    # as for "drives-differences"
    Maker("index3.forces.line_actuator", "thrusts-differences", line_actuators(None), tolerance=1e-5),
    Maker("index3.forces.user_kernels", "jacobian", user(strut_jacobian)),
    # differences inside (step 1e-6: 1e-10 of a force of 10) under differences outside (divided by 1e-6 again are only
    # the forces, which are exact): what is left is the truncation and rounding of the inner ones, 1e-8, with a margin
    Maker("index3.forces.user_kernels", "differences", user("differences"), tolerance=1e-5),
    Maker("index3.forces.user_kernels", "states", servos, balanced=False, tolerance=1e-5),
    Maker(
        "index3.forces.added_mass",
        "added",
        added_masses,
        pairs=(
            *((kind, "ground") for kind in BODIES),
            ("euler", "rigid"),
            ("natural", "ground"),
            ("linkage", "natural"),
            ("node chain", "rigid"),
        ),
        balanced=False,
    ),
    Maker(
        "index3.forces.user_kernels", "accelerations", inerters(inerter_jacobian), balanced=False
    ),  # moments do not cancel
    Maker("index3.forces.user_kernels", "accelerations-d", inerters("differences"), balanced=False, tolerance=1e-5),
    Maker("index3.forces.user_kernels", "accelerations-s", sensors, pairs=SPATIAL, balanced=False, tolerance=1e-5),
    Maker("index3.forces.user_kernels", "reactions", bearings(bearing_jacobian), pairs=SPATIAL, balanced=False),
    Maker("index3.forces.user_kernels", "reactions-d", bearings("differences"), SPATIAL, False, 1e-5),
    Maker("index3.forces.user_kernels", "reads", echoes, pairs=SPATIAL, balanced=False, tolerance=1e-5),
    Maker("index3.forces.load", "distributed", distributed, pairs=BEAMS, balanced=False),
]
CASES = [(maker, pair) for maker in MAKERS for pair in maker.pairs]
CASES.sort(key=lambda case: "ancf beam 3d" in case[1])  # a case's place is its seed: the others keep theirs


def case_name(case):
    """Such as "springs-rigid-ground"."""
    maker, pair = case
    return f"{maker.label}-{'-'.join(pair)}"


def force_state(maker, pair, seed, gravity=(0.0, 0.0, -9.80665)):
    """A random state of two bodies with the elements of a maker between them; angles are beyond one turn."""
    rng = np.random.default_rng(seed)
    model = ix.Model(f"{maker.label} {pair}", gravity=gravity)
    first, second = zoo.ends(model, pair, rng)
    for element in maker.make(model, first, second, rng):
        assert element.kind == maker.kind
        model.add(element)
    state = zoo.random_state(compile_model(model), seed + 1)
    state[s.ANGLE_REF][:] += TURNS
    return state
