"""Loads along beams: deflections, reactions and section forces as beam theory has them."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import index3 as ix

SPAN, LOAD = 2.0, 40.0
STEEL = {"height": 0.02, "width": 0.03, "young": 2e11, "poisson": 0.0, "density": 7800.0, "elements": 6}
BENDING = STEEL["young"] * STEEL["width"] * STEEL["height"] ** 3 / 12.0
KINDS = {
    "planar": lambda: ix.AncfBeam("beam", (0, 0), (SPAN, 0), law="elastic-line", **STEEL),
    "space": lambda: ix.AncfBeam3D("beam", (0, 0, 0), (SPAN, 0, 0), **STEEL),
}
SMALL = 2e-3
"""Relative: shear, which the formulas leave out, gives 1e-3 of the deflection, (h/L)^2 and more."""


def weightless(beam):
    """A model with one beam, without gravity."""
    model = ix.Model("loaded", gravity=(0, 0, 0))
    return model, model.add(beam)


@pytest.mark.parametrize("kind", KINDS)
def test_simply_supported(kind):
    """5 w L^4 / (384 EI) in the middle, half of the load on each support, w L^2 / 8 in the middle."""
    model, beam = weightless(KINDS[kind]())
    model.add(ix.Revolute("left", model.ground, beam, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Inline("right", model.ground.marker((SPAN, 0, 0), z=(1, 0, 0)), beam.marker(SPAN)))
    model.add(ix.DistributedLoad("snow", beam, (0, -LOAD, 0)))
    found = ix.static(model).result
    exact = 5.0 * LOAD * SPAN**4 / (384.0 * BENDING)
    assert -found.marker(beam.marker(0.5 * SPAN)).position[0, 1] == pytest.approx(exact, rel=SMALL)
    for support in ("left", "right"):
        assert found[support].force[0, 1] == pytest.approx(0.5 * LOAD * SPAN, rel=1e-6)  # statics stops at 1e-8
    assert found["snow"].force[0] == pytest.approx((0.0, -LOAD * SPAN, 0.0), abs=1e-12 * LOAD * SPAN)
    bending = found["beam"].moment(0.5 * SPAN)[0, 0]
    bending = bending if beam.planar else bending[2]
    assert abs(bending) == pytest.approx(LOAD * SPAN**2 / 8.0, rel=1e-3)  # the ends approach each other


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("start", "end"), [(0.0, None), (0.37, 1.13)])
def test_clamped(kind, start, end):
    """Force and moment at the wall; shear force and moment of the loaded part at any place, not at nodes alone."""
    model, beam = weightless(KINDS[kind]())
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    model.add(ix.DistributedLoad("snow", beam, (0, -LOAD, 0), start=start, end=end))
    found = ix.static(model).result
    low, high = start, SPAN if end is None else end
    total = LOAD * (high - low)
    assert found["wall"].force[0] == pytest.approx((0.0, total, 0.0), abs=1e-6 * total)
    assert found["wall"].torque[0, 2] == pytest.approx(0.5 * LOAD * (high**2 - low**2), rel=SMALL)
    s = np.array([0.0, 0.1, 0.4, 0.7, 0.83, 1.1, 1.3, 1.9])
    beyond = np.clip(high - np.maximum(s, low), 0.0, None)
    shear, bending = found["beam"].shear_force(s)[0], found["beam"].moment(s)[0]
    if not beam.planar:
        shear, bending = shear[:, 0], bending[:, 2]
    near = {"abs": 5e-3 * total}  # sections turn by w L^3 / (6 EI), 1/75
    assert -shear == pytest.approx(LOAD * beyond, **near)
    middle = 0.5 * (np.maximum(s, low) + high) - s
    assert -bending == pytest.approx(LOAD * beyond * middle, **near)


def test_nodal_forces_do_the_work_of_the_load():
    """A node between two elements of length l gets w l and no couple; an end w l / 2 and w l^2 / 12."""
    model, beam = weightless(KINDS["planar"]())
    model.add(ix.DistributedLoad("snow", beam, (0, -LOAD, 0)))
    length = SPAN / STEEL["elements"]
    rows = sum(
        part.weight * np.pad(row, (3 * mark.element, 3 * (STEEL["elements"] - 1 - mark.element)))
        for part in model["snow"].parts
        for mark in [beam.mark(part.markers[0])]
        for row in [mark.point]
    )
    forces = rows.reshape(-1, 3)
    assert forces[1:-1, 0] == pytest.approx(length, rel=1e-12)
    assert forces[1:-1, 1] == pytest.approx(0.0, abs=1e-15)
    assert forces[0] == pytest.approx((0.5 * length, length**2 / 12.0, 0.0), rel=1e-12)


def test_function_of_time():
    """The centre of a free beam moves as the sum of the load says; its work is that of the load."""
    soft = {"height": 0.05, "width": 0.03, "young": 2e7, "poisson": 0.2, "density": 900.0, "elements": 3}
    calls = []

    def gust(t):
        calls.append(t)
        return 0.0, 3.0 * t, math.cos(5.0 * t)

    model, beam = weightless(ix.AncfBeam3D("beam", (0, 0, 0), (1, 0, 0), **soft))
    model.add(ix.DistributedLoad("gust", beam, gust, end=0.5))
    result = ix.simulate(model, (0, 0.4), "dop853", rtol=1e-8, atol=1e-10, t_eval=0.1)
    t = result.t
    assert len(calls) < 2 * len(set(calls))  # asked once for all four points, not once for each
    expected = 0.5 * np.stack([0.0 * t, 3.0 * t, np.cos(5.0 * t)], 1)
    assert result["gust"].force == pytest.approx(expected, abs=1e-14)
    assert result["beam"].velocity[:, 1] == pytest.approx(0.75 * t**2 / beam.mass, abs=1e-6)  # of the run
    assert result["beam"].velocity[:, 2] == pytest.approx(0.1 * np.sin(5.0 * t) / beam.mass, abs=1e-6)
    assert np.ptp(result.energy.balance) < 1e-6 * result.energy.kinetic.max()
    assert result["gust"].power[-1] > 0.0
    with pytest.raises(AttributeError, match="no history 'torque'"):
        _ = result["gust"].torque


@pytest.mark.parametrize("space", [False, True])
def test_pressure_turns_with_the_sections(space):
    """The sum of a pressure on an arc is that on its chord."""
    angle = np.linspace(0.0, 1.2, 13)
    arc = np.stack([np.sin(angle), 1.0 - np.cos(angle)], 1)
    soft = {"height": 0.05, "width": 0.03, "young": 2e7, "poisson": 0.2, "density": 900.0, "elements": 3}
    beam = (
        ix.AncfBeam3D("beam", points=np.c_[arc, 0 * angle], **soft)
        if space
        else ix.AncfBeam("beam", points=arc, law="elastic-line", **soft)
    )
    model, beam = weightless(beam)
    model.add(ix.DistributedLoad("pressure", beam, (0, 7.0, 0), frame="tangent"))
    result = ix.simulate(model, (0, 1e-4), "dop853")
    chord = arc[-1] - arc[0]
    # cubics of 0.4 rad: the arc to 1e-5
    assert np.abs(result["pressure"].force[0, :2]) == pytest.approx(7.0 * np.abs(chord[::-1]), rel=1e-4)


def test_cable_hangs_in_a_parabola():
    """Of sag f with f^3 = 3 w L^4 / (64 EA) and thrust w L^2 / (8 f), while f / L is small."""
    radius, young = 2e-3, 1e9
    model, cable = weightless(
        ix.AncfCable("cable", (0, 0, 0), (SPAN, 0, 0), radius=radius, elements=10, young=young, density=1000.0)
    )
    for name, at in (("left", 0.0), ("right", SPAN)):
        model.add(ix.Spherical(name, model.ground.marker((at, 0, 0)), cable.marker(at)))
    model.add(ix.DistributedLoad("weight", cable, (0, 0, -10.0)))
    found = ix.static(model).result
    points = found["cable"].points(np.linspace(0.0, SPAN, 21))[0]
    sag = -points[10, 2]
    assert sag == pytest.approx((30.0 * SPAN**4 / (64.0 * math.pi * radius**2 * young)) ** (1 / 3), rel=0.01)
    x = points[:, 0]
    parabola = -4.0 * sag * x * (SPAN - x) / SPAN**2
    assert points[:, 2] == pytest.approx(parabola, abs=5e-3 * sag)  # (f / L)^2 is 2e-3
    assert found["cable"].axial_force(0.5 * SPAN)[0, 0] == pytest.approx(10.0 * SPAN**2 / (8.0 * sag), rel=0.01)


def test_refused_by_name():
    model, beam = weightless(KINDS["planar"]())
    rope = ix.AncfCable("rope", (0, 0, 0), (1, 0, 0), radius=0.01, elements=2, young=1e9, density=1000)
    block = ix.RigidBody.sphere("block", 0.1, mass=1.0)
    for wrong, words in (
        (lambda: ix.DistributedLoad("w", block, (0, 1, 0)), "'w' cannot act along.*Give an AncfBeam"),
        (lambda: ix.DistributedLoad("w", beam, (0, 1)), "'w' has load"),
        (lambda: ix.DistributedLoad("w", beam, (0, 0, 1)), "'w' has load.*cannot move along z"),
        (lambda: ix.DistributedLoad("w", beam, (0, 1, 0), start=-0.1), "'w' goes from start = -0.1"),
        (lambda: ix.DistributedLoad("w", beam, (0, 1, 0), end=2.1), "'w' goes from.*length of AncfBeam 'beam'"),
        (lambda: ix.DistributedLoad("w", beam, (0, 1, 0), start=1.0, end=1.0), "Give 0 <= start < end"),
        (lambda: ix.DistributedLoad("w", beam, (0, 1, 0), frame="axis"), "'w' has frame 'axis'"),
        (lambda: ix.DistributedLoad("w", rope, (0, 1, 0), frame="section"), "'w' cannot turn with AncfCable 'rope'"),
    ):
        with pytest.raises(ix.ModelError, match=words):
            wrong()
    snow = model.add(ix.DistributedLoad("snow", beam, (0, -LOAD, 0)))
    snow.end = 1.0
    assert sum(part.weight for part in snow.parts) == pytest.approx(1.0, rel=1e-14)
    copied = pickle.loads(pickle.dumps(model))["snow"]
    assert copied.parts[0].markers[0].body is copied.beam


def wedge(t, s):
    """Largest at the wall, nothing at the end."""
    return 0.0, -LOAD * (1.0 + t) * (1.0 - s / SPAN), 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_function_of_time_and_place(kind):
    """A wedge on a cantilever: w L^4 / (30 EI) at the end, w L / 2 and w L^2 / 6 at the wall; twice that at 1 s."""
    model, beam = weightless(KINDS[kind]())
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    model.add(ix.DistributedLoad("sand", beam, wedge))
    for t in (0.0, 1.0):
        found, w = ix.static(model, t=t).result, (1.0 + t) * LOAD
        assert -found.marker(beam.marker(SPAN)).position[0, 1] == pytest.approx(w * SPAN**4 / (30 * BENDING), rel=SMALL)
        assert found["wall"].force[0, 1] == pytest.approx(0.5 * w * SPAN, rel=1e-6)
        assert found["sand"].force[0, 1] == pytest.approx(-0.5 * w * SPAN, rel=1e-9)
        moment = found["beam"].moment(0.0)[0].ravel()[-1]
        assert abs(moment) == pytest.approx(w * SPAN**2 / 6.0, rel=SMALL)
    assert pickle.loads(pickle.dumps(model))["sand"].varies


def test_functions_across_a_planar_beam_are_refused():
    beam = KINDS["planar"]()
    for load in (lambda t: (0.0, 0.0, 1.0), lambda t, s: (0.0, 1.0, s), (0.0, 0.0, lambda t: 2.0)):
        with pytest.raises(ix.ModelError, match="cannot move along z"):
            ix.DistributedLoad("gust", beam, load)


def test_a_controller_sets_it():
    """It carries the weight of a beam of little stiffness for 0.1 s, then nothing, until the end has sunk by 5 mm."""
    model = ix.Model("held", gravity=(0, -9.81, 0))
    soft = {"height": 0.02, "width": 0.03, "young": 2e8, "poisson": 0.0, "density": 1000.0, "elements": 3}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), law="elastic-line", damping=0.02, **soft))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    lift = model.add(ix.DistributedLoad("lift", beam, (0, 0, 0)))
    weight = 0.02 * 0.03 * 1000.0 * 9.81

    def hold(t, u, memory):
        return 0.0, weight if t < 0.099 or u[0] < -0.005 else 0.0, 0.0

    model.add(ix.Controller("pilot", 0.02, hold, ["beam.position.y"], [lift]))
    result = ix.simulate(model, (0.0, 0.3), "hht-i3", t_eval=0.01)
    first, load = result.t < 0.099, result["lift"].force[:, 1]
    assert load[first] == pytest.approx(weight, rel=1e-9)
    assert result["beam"].position[first, 1] == pytest.approx(0.0, abs=1e-9)  # falls 0.05 m without
    assert load[np.argmin(np.abs(result.t - 0.11))] == 0.0
    assert result["beam"].position[:, 1].min() < -0.005
    assert load[np.argmin(result["beam"].position[:, 1])] == pytest.approx(weight, rel=1e-9)
    model.remove("pilot")
    assert lift.load.tolist() == lift.points[0].vector.tolist() == [0.0, 0.0, 0.0]  # given back
