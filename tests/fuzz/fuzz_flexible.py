"""Flexible bodies drawn at random: ANCF beams and cables, bodies by modes; on ground or free, alone or with a load."""

from __future__ import annotations

from typing import Any

import numpy as np
from fuzz_draw import Bench

import index3 as ix


def flexible(bench: Bench) -> None:
    """A beam, cable or tube from a point to another, soft or hard, held or free, some with a body at the end."""
    draw, L = bench.draw, bench.length
    make = draw.pick((planar_beam, beam, beam, cable, cable, tube))
    start = np.array(bench.point(0.3))
    end = start + L * draw.power(-0.3, 0.3) * draw.unit()
    if make is planar_beam:
        start[2] = end[2] = 0.0
    body = make(bench, start, end)
    bench.spots[body.name] = end
    if draw.chance(0.75):
        hold(bench, bench.ground, body, start)
    if draw.chance(0.3):
        load = bench.body(ix.PointMass, bench.kilograms(), position=tuple(end))
        bench.add(ix.Spherical, body, load, at=end)
    elif draw.chance(0.4):
        size = (0.1 * L,) * 3
        load = bench.body(ix.RigidBody.box, size, bench.kilograms(), position=tuple(end))
        hold(bench, body, load, end)


def hold(bench: Bench, first: Any, second: Any, at: Any) -> None:
    """A joint at an end, some of them asking for axes that a cable does not have."""
    draw = bench.draw
    word = draw.pick(("Fixed", "Fixed", "Spherical", "Revolute", "Universal"))
    settings: dict[str, Any] = {"at": at}
    if word == "Fixed" and draw.chance(0.4):
        settings["clamp"] = True
    elif word == "Revolute":
        settings["axis"] = draw.pick(((0, 0, 1), draw.unit()))
    elif word == "Universal":
        settings["axes"] = draw.two_axes()
    bench.add(getattr(ix, word), first, second, **settings)


def material(bench: Bench, thick: float) -> dict[str, Any]:
    """Stiffness such that the end sinks by its own weight by a part of the length, from a little to far too much."""
    draw, L = bench.draw, bench.length
    density = bench.mass / (L * thick**2)
    return {"young": density * 10.0 * L**3 / thick**2 * draw.power(-1, 4), "density": density}


def some_damping(bench: Bench) -> Any:
    unit = bench.length**0.5
    return bench.draw.pick((0.0, 0.0, 1e-3 * unit, 0.1 * unit, (0.1 / unit, 1e-3 * unit)))


def planar_beam(bench: Bench, start: Any, end: Any) -> Any:
    draw = bench.draw
    thick = bench.length * draw.pick((0.02, 0.1, 0.3))
    where: dict[str, Any] = {"start": tuple(start[:2]), "end": tuple(end[:2])}
    if draw.chance(0.3):
        middle = 0.5 * (start + end)[:2] + bench.length * np.array(draw.vector(0.1, 2))
        where = {"points": (where["start"], tuple(middle), where["end"])}
    if draw.chance(0.3):
        where |= {"velocity": draw.vector(bench.length, 2), "spin": draw.between(-3, 3)}
    where |= {"law": draw.pick(("continuum", "elastic-line")), "plane": draw.pick((None, "stress", "strain"))}
    where |= {"damping": some_damping(bench), "gravity_across": "ignore", "poisson": 0.3, **material(bench, thick)}
    return bench.body(ix.AncfBeam, height=thick, width=thick, elements=draw.whole(1, 4), **where)


def slender(bench: Bench, start: Any, end: Any) -> tuple[float, dict[str, Any]]:
    """What cables and beams in space have in common."""
    draw = bench.draw
    thick = bench.length * draw.pick((0.02, 0.05, 0.2))
    where: dict[str, Any] = {"start": start, "end": end, "elements": draw.whole(1, 4), "damping": some_damping(bench)}
    where |= draw.pick(({"radius": 0.5 * thick}, {"height": thick, "width": 0.7 * thick}))
    if draw.chance(0.3):
        where |= {"velocity": bench.point(), "angular_velocity": draw.vector(3.0)}
    return thick, {**where, **material(bench, thick)}


def cable(bench: Bench, start: Any, end: Any) -> Any:
    thick, where = slender(bench, start, end)
    if bench.draw.chance(0.5):
        where["bending_stiffness"] = bench.draw.pick((0.0, 1e-3, 0.1)) * where["young"] * thick**4
    return bench.body(ix.AncfCable, **where)


def beam(bench: Bench, start: Any, end: Any) -> Any:
    _, where = slender(bench, start, end)
    where["elements"] = min(where["elements"], 3)
    if bench.draw.chance(0.3):
        where |= {"poisson": 0.3, "shear_factor": 5 / 6}
    return bench.body(ix.AncfBeam3D, **where)


def tube(bench: Bench, start: Any, end: Any) -> Any:
    """A body by modes, from finite elements of a tube."""
    draw, L = bench.draw, bench.length
    thick = 0.05 * L
    ends = {"A": tuple(start), "B": tuple(end)}
    structure = ix.flexible.frame(ends, ["AB"], elements=draw.whole(1, 2), outer_diameter=thick, wall=0.1 * thick,
                                  **material(bench, thick))  # fmt: skip
    held = draw.pick((["A"], ["B"], ["A", "B"]))
    rates = {"velocity": bench.point(), "angular_velocity": draw.vector(3.0)} if draw.chance(0.3) else {}
    make = structure.body
    return bench.body(make, interface=held, modes=draw.whole(0, 2), damping=draw.pick((0.0, 0.01, 0.1)), **rates)
