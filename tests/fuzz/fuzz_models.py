"""Models drawn at random: trees, loops, redundant and singular mechanisms, planes, contacts, rolling, beams, states."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_draw import Bench, Draw
from fuzz_flexible import flexible

import index3 as ix

SOLIDS = (ix.RigidBody, ix.RigidBody, ix.RigidBody, ix.EulerAngleBody, ix.NaturalBody)
JOINTS = ("Revolute", "Revolute", "Spherical", "Prismatic", "Cylindrical", "Universal", "Fixed", "Planar", "Inline",
          "PointInPlane", "InPlane", "ParallelAxes", "Screw", "Distance", "ConstantVelocity", "PerpendicularAxes",
          "ShaftCoupling", "Orientation", "PointCoincidence", "KnifeEdge", "RelativeCoordinate",
          "RelativeAngularVelocity")  # fmt: skip
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def solid(bench: Bench, at: Any, size: float = 0.3, moving: bool = True, kinds: Any = SOLIDS) -> Any:
    """A box of any proportions and attitude, or now and then a point."""
    draw = bench.draw
    if draw.chance(0.04):
        return bench.body(ix.PointMass, bench.kilograms(), position=at)
    kind = draw.pick(kinds)
    edges = [bench.length * size * draw.power(-0.7, 0.3) for _ in range(3)]
    pose: dict[str, Any] = {"position": at}
    if draw.chance(0.5):
        pose["orientation"] = tuple(draw.rng.normal(size=4))
    if moving and draw.chance(0.5):
        pose |= {"velocity": bench.point(2.0), "angular_velocity": draw.vector(5.0)}
    return bench.body(kind.box, edges, bench.kilograms(), **pose)


def joint(bench: Bench, first: Any, second: Any, at: Any, kinds: Any = JOINTS) -> Any:
    """A joint of any kind at a point; a point mass, which has no axes, takes few of them, at itself."""
    draw, word = bench.draw, bench.draw.pick(kinds)
    for one in (first, second):
        if type(one) is ix.PointMass:
            word, at = draw.pick(("Spherical", "PointInPlane", "Inline")), one.q0
            first, second = (second, first) if one is first else (first, second)
    settings: dict[str, Any] = {"at": at}
    if word in ("Universal", "ConstantVelocity", "PerpendicularAxes", "ShaftCoupling"):
        settings["axes"] = draw.two_axes()
        if word == "ConstantVelocity":
            settings["axes"] = (draw.unit(),) * 2
    elif word == "Orientation":
        settings = {}
    elif word == "Distance":
        settings = {"points": (bench.point(), at)}
    elif word not in ("Spherical", "PointCoincidence", "Fixed"):
        settings["axis"] = draw.unit()
    if word == "ParallelAxes":
        del settings["at"]
    if word == "Screw":
        settings["pitch"] = bench.length * draw.pick((0.05, -0.3, 2.0))
    if word.startswith("Relative"):
        a, w = bench.length * draw.between(0.0, 0.3), draw.between(0.5, 5.0)
        settings["f"] = ix.Expression(f"{a}*sin({w}*t)")
    return bench.add(getattr(ix, word), first, second, **settings)


def tree(bench: Bench) -> None:
    """Bodies, each on an earlier one or on ground; some fly freely."""
    draw = bench.draw
    for _ in range(draw.pick((1, 1, 2, 2, 3, 4, 6, 10))):
        parent, at = bench.any_body(), bench.point()
        body = solid(bench, at)
        if draw.chance(0.9):
            joint(bench, parent, body, np.add(at, bench.point(0.3)))


def loop(bench: Bench) -> None:
    """A chain from ground to ground."""
    draw = bench.draw
    last: Any = bench.ground
    for _ in range(draw.whole(1, 5)):
        at = bench.point()
        body = solid(bench, at)
        joint(bench, last, body, np.add(at, bench.point(0.3)), ("Revolute", "Spherical", "Universal", "Cylindrical"))
        last = body
    joint(bench, last, bench.ground, bench.point())


def redundant(bench: Bench) -> None:
    """A four-bar with parallel hinges in space, cranks more than it needs, or joints that say the same twice."""
    draw, L = bench.draw, bench.length
    axis, kind = draw.pick((Y, Z, tuple(draw.unit()))), draw.pick((ix.RigidBody, ix.NaturalBody))
    across, up = np.linalg.svd(np.atleast_2d(axis))[2][1:]
    cranks, lean = draw.whole(2, 4), draw.between(0.2, 1.4)
    arm = L * (math.cos(lean) * across + math.sin(lean) * up)
    feet = [k * L * draw.pick((1.0, 1.0, 1.5)) * across for k in range(cranks)]
    coupler = bench.body(kind.rod, feet[0] + arm, feet[-1] + arm, mass=bench.kilograms())
    for foot in feet:
        crank = bench.body(kind.rod, foot, foot + arm, mass=bench.kilograms())
        bench.add(ix.Revolute, bench.ground, crank, at=foot, axis=axis)
        bench.add(ix.Revolute, crank, coupler, at=foot + arm, axis=axis)
    if draw.chance(0.4):
        joint(bench, bench.ground, bench.bodies[1], feet[0], ("Spherical", "Inline", "Cylindrical"))


def singular(bench: Bench) -> None:
    """Linkages in or near a position where they fold, lock or branch."""
    draw, L = bench.draw, bench.length
    lean = draw.pick((0.0, 1e-9, 1e-4, 0.1, math.pi / 2))
    tip = (L * math.cos(lean), 0.0, L * math.sin(lean))
    first = bench.body(ix.RigidBody.rod, (0, 0, 0), tip, mass=bench.kilograms())
    bench.add(ix.Revolute, bench.ground, first, at=(0, 0, 0), axis=Y)
    kind = draw.whole(0, 3)
    if kind == 0:  # a slider-crank with equal arms passes the foot of its crank
        second = bench.body(ix.RigidBody.rod, tip, (2 * tip[0], 0, 0), mass=bench.kilograms())
        axis = {"axis": Y} if draw.chance(0.6) else {}
        bench.add(ix.Revolute if axis else ix.Spherical, first, second, at=tip, **axis)
        bench.add(ix.Inline, bench.ground, second, at=(2 * tip[0], 0, 0), axis=(1, 0, 0))
    elif kind == 1:  # a parallelogram that may lie in a line
        end = (tip[0] + 2 * L, 0.0, tip[2])
        bar = bench.body(ix.RigidBody.rod, tip, end, mass=bench.kilograms())
        last = bench.body(ix.RigidBody.rod, (2 * L, 0, 0), end, mass=bench.kilograms())
        bench.add(ix.Revolute, first, bar, at=tip, axis=Y)
        bench.add(draw.pick((ix.Revolute, ix.Cylindrical)), bar, last, at=end, axis=Y)
        bench.add(ix.Revolute, bench.ground, last, at=(2 * L, 0, 0), axis=Y)
    elif kind == 2:  # a stretched string of points
        for k in range(1, draw.whole(2, 4)):
            bench.body(ix.PointMass, bench.kilograms(), position=np.multiply(tip, k + 1))
            bench.add(ix.Distance, bench.bodies[-2].marker(), bench.bodies[-1].marker())
        if draw.chance(0.3):
            bench.add(ix.Distance, bench.ground.marker(np.multiply(tip, 5)), bench.bodies[-1].marker())
    else:  # Euler angles whose first and third axes agree, shafts at right angles
        top = bench.body(ix.EulerAngleBody.box, (L, L, 2 * L), bench.kilograms(), angular_velocity=draw.vector(3.0))
        bench.add(ix.Universal, first, top, at=tip, axes=(Y, (-math.sin(lean), 0, math.cos(lean))))


def flat(bench: Bench) -> None:
    """Bodies of the x-y plane, as angles or as natural coordinates, open or closed."""
    draw, L = bench.draw, bench.length
    last, at = bench.ground, np.zeros(2)
    for _ in range(draw.whole(1, 5)):
        end = at + L * np.array(draw.vector(n=2))
        body = bench.body(draw.pick((ix.PlanarBody, ix.PlanarBody, ix.NaturalPlanarBody)).rod, (*at,), (*end,),
                          bench.kilograms())  # fmt: skip
        if draw.chance(0.85):
            bench.add(ix.Revolute, last, body, at=(*at, 0), axis=Z)
        else:
            bench.add(ix.Prismatic, last, body, at=(*at, 0), axis=(*draw.vector(n=2), 0))
        last, at = body, end
    if draw.chance(0.5):
        kind = draw.pick(("Revolute", "Distance", "Prismatic"))
        if kind == "Distance":
            bench.add(ix.Distance, last, bench.ground, points=((*at, 0), (2 * L, 0, 0)))
        else:
            bench.add(getattr(ix, kind), last, bench.ground, at=(*at, 0), axis=Z if kind == "Revolute" else (1, 0.5, 0))


def touching(bench: Bench) -> None:
    """Balls, boxes and cylinders that fall on a floor and on each other."""
    draw, L = bench.draw, bench.length
    weight = bench.mass * 10.0 * draw.power(1, 5) / L
    law: dict[str, Any] = {"stiffness": weight, "exponent": draw.pick((1.0, 1.5, 2.0))}
    law |= draw.pick(({"damping": draw.between(0.0, 1.0)}, {"restitution": 0.7, "impact_velocity": math.sqrt(10 * L)}))
    if draw.chance(0.5):
        law |= {"friction": draw.between(0.1, 0.8), "stick_velocity": draw.power(-3, -1)}
    shapes: list[Any] = [(bench.ground, ix.Plane())]
    for k in range(draw.whole(1, 5)):
        place = (*bench.draw.vector(0.2 * L, 2), L * (0.12 + 0.25 * k))
        if draw.chance(0.7):
            ball = bench.body(ix.RigidBody.sphere, 0.1 * L, mass=bench.mass, position=place, velocity=bench.point())
            shapes.append((ball, ix.Sphere(0.1 * L)))
        else:
            box = bench.body(ix.RigidBody.box, (0.2 * L,) * 3, bench.mass, position=place)
            shapes.append((box, ix.Box((0.2 * L,) * 3)))
    if draw.chance(0.5):
        bench.add(ix.ContactSet, shapes, **law)
    else:
        for body, shape in shapes[1:]:
            bench.add(ix.Contact, bench.ground, body, (ix.Plane(), shape), **law)


def rolling(bench: Bench) -> None:
    """Wheels and balls without slip, a wheel on a tyre."""
    draw, L = bench.draw, bench.length
    kind = draw.pick(("RollingDisc", "RollingCylinder", "RollingBall", "Tyre"))
    for k in range(draw.whole(1, 3)):
        at = (0.0, float(k) * L, 0.3 * L)
        pose: dict[str, Any] = {
            "position": at,
            "orientation": (1, -1, 0, 0),
            "velocity": (L * draw.between(0, 3), 0, 0),
        }
        wheel = bench.body(ix.RigidBody.cylinder, 0.3 * L, 0.1 * L, mass=bench.kilograms(), **pose)
        if kind == "Tyre":
            road = draw.pick((None, ix.Road.sine(2.0 * L, 0.01 * L), ix.Road.bump(0.5 * L, 0.2 * L, 0.02 * L)))
            slip = {"longitudinal_stiffness": 100 * bench.mass / L, "cornering_stiffness": 50 * bench.mass / L}
            bench.add(ix.Tyre, wheel, bench.ground, road, radius=0.301 * L, stiffness=1e4 * bench.mass / L,
                      damping=10 * bench.mass, low_speed=0.09 * L, **draw.pick(({}, slip)))  # fmt: skip
        else:
            axis = {} if kind == "RollingBall" else {"axis": Y}
            bench.add(getattr(ix, kind), bench.ground, wheel, radius=0.3 * L, at=at, normal=Z, **axis)


def linkage(bench: Bench) -> None:
    """Parts that share points: a plane frame or a solid one."""
    draw, L = bench.draw, bench.length
    bars = ix.NaturalLinkage("bars", planar=True)
    points = [bars.fixed("A", (0, 0))]
    for k in range(draw.whole(1, 4)):
        points.append(bars.point(f"P{k}", draw.vector(L, 2), velocity=draw.vector(L, 2)))
        bars.rigid(f"bar{k}", points[-2:], mass=bench.kilograms())
    if draw.chance(0.4):
        bars.rigid("last", [points[-1], bars.fixed("Z", (L, 0))], mass=bench.kilograms())
    bench.model.add(bars)
    bench.add(ix.SpringDamper, bench.ground.marker((L, L, 0)), bars.point_marker(points[-1]),
              stiffness=10 * bench.mass / L * draw.power(0, 4), damping=draw.pick((0.0, bench.mass)))  # fmt: skip


def rates(bench: Bench) -> None:
    """First-order states beside a body, or alone: relaxation, oscillation, growth."""
    draw = bench.draw
    states = bench.add(ix.States, draw.vector(n=2))
    stiffness, kind = draw.power(-1, 5), draw.whole(0, 2)

    def relax(t, r, A, v, w, p, out, x, rate):
        rate[0], rate[1] = -p[0] * (x[0] - math.cos(t)), x[0] - x[1]

    def pol(t, r, A, v, w, p, out, x, rate):
        rate[0], rate[1] = x[1], p[0] * (1.0 - x[0] ** 2) * x[1] - x[0]

    def push(t, r, A, v, w, p, out, x, rate):
        rate[0], rate[1] = v[0, 2] - x[0], -p[0] * (x[1] - x[0])
        out[0, 2] = -x[1]

    marker = bench.ground.marker() if kind < 2 else solid(bench, bench.point()).marker()
    bench.add(ix.UserForce, marker, (relax, pol, push)[kind], (min(stiffness, 1e3) if kind == 1 else stiffness,),
              states=states)  # fmt: skip


SHAPES: dict[str, tuple[float, Callable[[Bench], None]]] = {
    "tree": (0.2, tree), "loop": (0.17, loop), "redundant": (0.1, redundant), "singular": (0.1, singular),
    "flat": (0.1, flat), "touching": (0.1, touching), "rolling": (0.05, rolling), "linkage": (0.05, linkage),
    "states": (0.05, rates), "flexible": (0.08, flexible),
}  # fmt: skip
"""How often each is drawn, and what builds it."""


def draw_shape(draw: Draw) -> str:
    return str(draw.rng.choice(list(SHAPES), p=[part for part, _ in SHAPES.values()]))
