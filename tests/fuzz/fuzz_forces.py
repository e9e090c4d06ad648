"""Forces, drives and functions of the user, drawn at random and added to a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_draw import Bench, Planned

import index3 as ix


def spring(bench: Bench, stiff: float) -> None:
    draw, L = bench.draw, bench.length
    body = bench.solid_body()
    points = (bench.point(2.0), bench.point_of(body))
    rate = bench.mass * 10.0 / L * draw.power(0, 2) * stiff
    law: Any = rate
    if draw.chance(0.2):
        law = ix.Curve([-L, 0.0, L, 2 * L], [-rate * L, 0.0, rate * L, 3 * rate * L])
    damping = draw.pick((0.0, 0.1, 1.0, 1.0) if stiff == 1.0 else (0.3, 1.0, 3.0)) * math.sqrt(rate * bench.mass)
    bench.add(ix.SpringDamper, bench.ground, body, points=points, stiffness=law, damping=damping)


def bushing(bench: Bench, stiff: float) -> None:
    draw, L = bench.draw, bench.length
    k = bench.mass * 10.0 / L * draw.power(0, 2) * stiff
    six = (k, k, 2 * k, k * L * L, k * L * L, 0.0)
    second = bench.solid_body()
    first = bench.any_body(second)
    bench.add(ix.Bushing, first, second, at=bench.point_of(second), stiffness=six, damping=tuple(0.01 * x for x in six))


def load(bench: Bench, stiff: float) -> None:
    draw = bench.draw
    kind = draw.pick((ix.Force, ix.Torque))
    size = bench.mass * 10.0 * (1.0 if kind is ix.Force else bench.length)
    vector: list[Any] = list(draw.vector(size))
    if draw.chance(0.5):
        vector[draw.whole(0, 2)] = draw.pick(
            (
                ix.Expression(f"{size}*sin({draw.between(1, 20)}*t)"),
                ix.Expression(f"{size}*step(t, 0.1, 0, 0.2, 1)"),
                ix.TimeTable([0.0, 0.1, 100.0], [0.0, size, -size]),
                lambda t: size * math.cos(3.0 * t),
            )
        )
    body = bench.solid_body()
    where = {"at": bench.point_of(body)} if kind is ix.Force else {}
    bench.add(kind, body, tuple(vector), follower=draw.chance(0.5), **where)


def air(bench: Bench, stiff: float) -> None:
    draw = bench.draw
    area = bench.mass / bench.length * draw.power(-1, 1)
    bench.add(ix.Drag, draw.pick(bench.bodies), coefficient=1.0, area=area, density=1.0, wind=bench.point())


def attraction(bench: Bench, stiff: float) -> None:
    draw, L = bench.draw, bench.length
    centre: Any = bench.point(3.0)
    body = draw.pick([one for one in bench.bodies if not hasattr(one, "lengths")] or [None])
    if body is None:  # beams alone, which are not attracted
        return
    others = [one for one in bench.bodies if one is not body and hasattr(one, "mass")]
    if others and draw.chance(0.5):
        centre = draw.pick(others)
    bench.add(ix.PointGravity, body, centre, mu=10.0 * L * L * draw.power(-1, 1))


def shake(bench: Bench, stiff: float) -> None:
    bench.add(ix.UniformGravity, bench.draw.pick(bench.bodies), (0.0, ix.Expression("5*sin(20*t)"), 1.0))


def water(bench: Bench, stiff: float) -> None:
    body = bench.solid_body()
    bench.add(ix.AddedMass, body, bench.kilograms(), 0.1 * bench.mass * bench.length**2)


def jointed(bench: Bench, *wanted: str) -> tuple[Any, str] | None:
    """A joint with one of these coordinates."""
    found = [(one, name) for one in bench.model.joints.values() for name in getattr(one, "coordinates", ())]
    found = [pair for pair in found if not wanted or pair[1] in wanted]
    return bench.draw.pick(found) if found else None


def coil(bench: Bench, stiff: float) -> None:
    if pair := jointed(bench, "angle"):
        k = bench.mass * bench.length**2 * bench.draw.power(0, 3) * stiff
        bench.add(ix.RotationalSpringDamper, pair[0], stiffness=k, damping=0.01 * k)


def stop(bench: Bench, stiff: float) -> None:
    if pair := jointed(bench):
        unit = 1.0 if pair[1] == "angle" else bench.length
        k = bench.mass * bench.length**2 / unit**2 * bench.draw.power(2, 4) * stiff
        bench.add(ix.JointLimit, pair[0], lower=-0.3 * unit, upper=0.4 * unit, stiffness=k, damping=0.01 * k,
                  exponent=bench.draw.pick((1.0, 1.5)), coordinate=pair[1])  # fmt: skip


def rub(bench: Bench, stiff: float) -> None:
    found = [one for one in bench.model.joints.values() if type(one) in (ix.Revolute, ix.Prismatic, ix.Cylindrical)]
    if found:
        one = bench.draw.pick(found)
        size = {"arm": 0.1 * bench.length} if type(one) is ix.Prismatic else {"radius": 0.02 * bench.length}
        bench.add(ix.JointFriction, one, bench.draw.between(0.05, 0.5), stick_velocity=bench.draw.power(-3, -1), **size)


def drive(bench: Bench, stiff: float) -> None:
    """An actuator: a number, a function of time, feedback of either sign, or one that fails."""
    if pair := jointed(bench):
        draw = bench.draw
        unit = bench.mass * bench.length ** (2 if pair[1] == "angle" else 1)
        gain = unit * draw.power(0, 2) * stiff
        laws: tuple[Any, ...] = (
            gain,
            lambda t: gain * math.sin(7.0 * t),
            ix.Expression(f"{gain}*tanh(t)"),
            lambda t, x, rate: gain * (0.3 - x) - 0.1 * gain * rate,
            lambda t, x, rate: gain * x + 0.01 * gain * rate,
            lambda t, x, rate: -gain * np.sign(rate),
        )
        bench.add(ix.Actuator, pair[0], draw.pick(laws), coordinate=pair[1])


def motion(bench: Bench, stiff: float) -> None:
    """A joint coordinate that is prescribed."""
    if pair := jointed(bench):
        draw = bench.draw
        unit, w = (1.0 if pair[1] == "angle" else bench.length), draw.between(0.5, 10.0)
        three = (lambda t: unit * math.sin(w * t), lambda t: unit * w * math.cos(w * t),
                 lambda t: -unit * w * w * math.sin(w * t))  # fmt: skip
        given = draw.pick((three, (ix.Expression(f"{unit}*sin({w}*t)"),), (three[0],)))
        bench.add(ix.Motion, pair[0], *given, coordinate=pair[1])


def transmission(bench: Bench, stiff: float) -> None:
    """A gear, rack or coupler between joints that may share bodies."""
    first, second = jointed(bench), jointed(bench)
    if first and second and first[0] is not second[0]:
        terms = [(1.0, *first), (bench.draw.between(-2, 2), *second)]
        bench.add(ix.Coupler, terms)


def own_force(bench: Bench, stiff: float) -> None:
    """A function of the user: smooth, with a jump, raising, not finite, or writing nonsense."""
    draw, L = bench.draw, bench.length
    size, late = bench.mass * 10.0 * stiff, draw.between(0.0, 1.0)

    def smooth(t, r, A, v, w, p, out):
        out[0, :3] = -size * (r[0] / L + 0.1 * v[0] / L)

    def jumps(t, r, A, v, w, p, out):
        out[0, 2] = size if r[0, 2] < 0 else -size

    def fails(t, r, A, v, w, p, out):
        if t > late:
            raise Planned("a force that fails")

    def not_finite(t, r, A, v, w, p, out):
        out[0, 0] = math.nan if t > late else 0.0

    def wrong(t, r, A, v, w, p, out):
        out[5, 7] = 1.0

    kind = draw.pick((smooth, smooth, smooth, jumps, fails, not_finite, wrong))
    jacobian = draw.pick((None, "differences", "none"))
    bench.add(ix.UserForce, draw.pick(bench.bodies).marker(), kind, (), jacobian)


def mount(bench: Bench, stiff: float) -> None:
    size = bench.mass * 10.0 / bench.length * stiff

    def law(t, x, v, p, out):
        out[:3] = -size * (x[:3] + 0.05 * v[:3])

    body = bench.solid_body()
    bench.add(ix.VectorForce, bench.ground, body, law, at=bench.point_of(body))


def own_rows(bench: Bench, stiff: float) -> None:
    """A constraint of the user: a sphere, or a row of velocities."""
    draw = bench.draw
    body = draw.pick(bench.bodies)
    far = float(np.linalg.norm(getattr(body, "position", (1.0, 0.0, 0.0)))) or 1.0

    def sphere(t, r, A, v, w, p, out):
        out[0] = (r[0] @ r[0]) / far**2 - 1.0

    def rolls(t, r, A, v, w, p, out):
        out[0] = (v[0, 0] - v[0, 1]) / bench.length

    f, level = draw.pick(((sphere, 0), (rolls, 1)))
    bench.add(ix.UserConstraint, body.marker(), f, rows=1, level=level, jacobian="differences", scale=bench.length,
              time_step=None)  # fmt: skip


def support(bench: Bench, stiff: float) -> None:
    """A body held by a support that shakes."""
    draw, L, w = bench.draw, bench.length, bench.draw.between(1.0, 20.0)
    path = (lambda t: (0, 0, 0.05 * L * math.sin(w * t)), lambda t: (0, 0, 0.05 * L * w * math.cos(w * t)),
            lambda t: (0, 0, -0.05 * L * w * w * math.sin(w * t)))  # fmt: skip
    shaker = bench.ground.moving_marker(path=path)
    body = bench.solid_body()
    if draw.chance(0.5):
        bench.add(ix.SpringDamper, shaker, body.marker(), stiffness=100 * bench.mass / L, damping=bench.mass)
    else:
        bench.add(ix.Spherical, shaker, body.marker_at(bench.spots.get(body.name, (0, 0, 0))))


def sampled(bench: Bench, stiff: float) -> None:
    """A controller that holds a load from sample to sample: at rest, following, with memory, failing or wrong."""
    draw = bench.draw
    body, unit = bench.solid_body(), bench.mass * 10.0
    load = bench.add(ix.Force, body, (0.0, 0.0, 0.0))
    late, period = draw.between(0.0, 1.0), bench.length**0.5 * draw.pick((0.003, 0.05, 0.3, 2.0))

    def follows(t, u, memory):
        memory[0] += u[0]
        return (-0.1 * unit * u[0], 0.0, unit * math.sin(memory[0]))

    def fails(t, u, memory):
        if t > late:
            raise Planned("a controller that fails")
        return (0.0, 0.0, unit)

    def not_finite(t, u, memory):
        return (math.nan if t > late else 0.0, 0.0, 0.0)

    kind = draw.pick(
        (follows, follows, follows, fails, not_finite, lambda t, u, memory: 1.0, lambda t, u, memory: None)
    )
    inputs = [f"{body.name}.{draw.pick(('velocity.x', 'position.z', 'kinetic_energy', 'angular_velocity'))}"]
    inputs += draw.pick(([], [], [f"{load.name}.power"], ["energy.kinetic"], ["nobody.position"]))
    bench.add(ix.Controller, period, kind, inputs, [load], memory=1)


def own_equations(bench: Bench, stiff: float) -> None:
    """Equations of the user: a lagging force, and a variable that is solved for on the way."""
    quick = bench.draw.power(0, 3)
    states = bench.add(ix.States, (0.0,))

    def lag(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = rate[0] + quick * (x[0] - v[0, 2] / bench.length)
        res[1] = z[0] + 0.1 * z[0] ** 3 - x[0]
        out[0, 2] = -bench.mass * z[0]

    marker = bench.draw.pick(bench.bodies).marker()
    bench.add(ix.UserEquations, marker, lag, states=states, variables=(0.0,))


FORCES: tuple[Callable[[Bench, float], None], ...] = (
    spring, spring, spring, spring, bushing, bushing, load, load, air, air, attraction, shake, shake, water, coil, coil,
    stop, rub, drive, drive, motion, motion, transmission, own_force, own_force, mount, own_rows, support,
    sampled, sampled, own_equations,
)  # fmt: skip


def add_forces(bench: Bench, count: int, stiff: float) -> None:
    """Some forces of any kind, as stiff as said."""
    for _ in range(count):
        if bench.bodies:
            bench.draw.pick(FORCES)(bench, stiff)
