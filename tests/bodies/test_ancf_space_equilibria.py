"""Cables and spatial beams against exact solutions: elastica, roll-up, 45-degree bend, catenary; small vibrations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import zoo

import index3 as ix

REFERENCE = Path(__file__).parents[1] / "reference" / "ancf_beam"
KINDS = tuple(zoo.LINES)
YOUNG, THICK = 2.07e11, 0.01
BENDING = YOUNG * THICK**4 / 12
THIN = {"height": THICK, "width": THICK, "young": YOUNG, "poisson": 0.0, "density": 7800.0}


@pytest.fixture(scope="module")
def reference():
    return json.loads((REFERENCE / "large_deflection.json").read_text("utf-8"))


def cantilever(kind, elements, force=0.0, moment=0.0):
    """A thin beam of length 1 along x, held at the origin, loaded at its end."""
    model = ix.Model("cantilever", gravity=(0, 0, 0))
    line = model.add(zoo.LINES[kind]("line", (0, 0, 0), (1, 0, 0), elements=elements, **THIN))
    model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0)))
    if force:
        model.add(ix.Force("force", line.marker(s=1.0), (0, -force, 0)))
    if moment:
        model.add(ix.Torque("moment", line.marker(s=1.0), (0, 0, moment)))
    return model, line


def tip(found):
    return found["line"].points(1.0)[0, 0]


@pytest.mark.parametrize(("elements", "most"), [(8, 2.0), (32, 10.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_elastica(kind, elements, most, reference):
    """S3-37, without plates: 1e-4 of the length, with 8 elements up to P L^2 / E I = 2, with 32 up to 10.

    The largest of these is run.
    """
    row = next(x for x in reference["elastica"] if x[0] == most)
    load, angle, x, y = map(float, row)
    model, line = cantilever(kind, elements, force=load * BENDING)
    found = ix.static(model)
    assert np.abs(tip(found) - (x, -y, 0.0)).max() < 1e-4
    tangent = found.marker(line.marker(s=1.0)).rotation[:, 0]
    assert np.arctan2(-tangent[1], tangent[0]) == pytest.approx(angle, abs=2e-4)
    moment = found["line"].moment(0.0)
    assert np.linalg.norm(moment) == pytest.approx(
        load * BENDING * x, rel=1e-3
    )  # of 8 cubics, outside their Gauss points
    axial = found["line"].axial_force(1.0).ravel()[0]
    assert axial == pytest.approx(load * BENDING * np.sin(angle), rel=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_roll_up(kind, reference):
    """A quarter and, in steps, a full circle with 16 elements, to 1e-3 of the length; order 4 in the elements."""
    rows = {share: (x, y) for share, x, y in reference["roll_up"]}
    errors = []
    for elements in (4, 8):
        model, _ = cantilever(kind, elements, moment=0.25 * 2 * np.pi * BENDING)
        errors.append(np.abs(tip(ix.static(model))[:2] - rows[0.25]).max())
    assert np.log2(errors[0] / errors[1]) > 3.5  # 4 seen
    q = None
    for part in np.linspace(0.125, 1.0, 8):
        model, line = cantilever(kind, 16, moment=part * 2 * np.pi * BENDING)
        if q is not None:
            line.q0[:] = q
        found = ix.static(model, method="newton")  # a moment about a fixed axis tips the circle out of its plane
        q = found.q
    assert np.abs(tip(found)[:2] - rows[1.0]).max() < 1e-3
    assert found["line"].curvature(0.4).ravel()[0] == pytest.approx(2 * np.pi, rel=1e-3)


@pytest.mark.parametrize("load", ["300", "600"])
def test_bend_of_45_degrees(load):
    """A curved beam that bends and twists: converged tip to 0.1 with 16 elements [Bathe and Bolourchi]."""
    given = json.loads((REFERENCE / "bend.json").read_text("utf-8"))
    angle = np.linspace(0.0, np.pi / 4, 17)
    points = 100.0 * np.stack([np.sin(angle), 1.0 - np.cos(angle), 0.0 * angle], axis=1)
    model = ix.Model("bend", gravity=(0, 0, 0))
    line = model.add(
        ix.AncfBeam3D("line", points=points, height=1.0, width=1.0, elements=16, young=1e7, poisson=0.0, density=1.0)
    )
    model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0)))
    model.add(ix.Force("force", line.marker(s=line.length), (0, 0, float(load))))
    found = ix.static(model)
    assert np.abs(found["line"].points(line.length)[0, 0] - given["tip"][load]).max() < 0.1
    force, torque = found["wall"].force, found["wall"].torque
    assert np.abs(force - (0, 0, -float(load))).max() < 1e-6 * float(load)  # on the beam
    # what the sections say at the wall: shear along z, moments about y and z, torsion
    assert found["line"].shear_force(0.0)[0, 0, 1] == pytest.approx(float(load), rel=2e-2)
    assert (
        np.abs(found["line"].moment(0.0)[0, 0] + torque).max() < 4e-2 * np.abs(torque).max()
    )  # torsion half an element off


def test_torsion():
    """A round bar twists by T L / (G J), also far; its torque is constant along it."""
    model = ix.Model("shaft", gravity=(0, 0, 0))
    bar = model.add(
        ix.AncfBeam3D("line", (0, 0, 0), (0, 0, 1), radius=0.02, elements=8, young=2e11, poisson=0.25, density=7800)
    )
    stiffness = 0.8e11 * np.pi * 0.02**4 / 2
    model.add(ix.Fixed("wall", model.ground, bar, at=(0, 0, 0)))
    model.add(ix.Torque("torque", bar.marker(s=1.0), (0, 0, 0.5 * stiffness)))
    found = ix.static(model)
    start, end = (found.marker(bar.marker(s=x)).rotation for x in (0.0, 1.0))
    turn = start.T @ end
    assert np.arctan2(turn[2, 1], turn[1, 1]) == pytest.approx(0.5, rel=1e-3)  # chords of the turn of an element
    assert found["line"].moment([0.1, 0.9])[0, :, 0] == pytest.approx(0.5 * stiffness, rel=1e-3)


def test_a_hanging_cable_is_a_catenary():
    """Length 1.2 between points 1 apart, without bending stiffness: sag and tension of the catenary."""
    arc = np.linspace(0.0, np.pi, 9)
    model = ix.Model("catenary", gravity=(0, 0, -9.81))
    points = np.stack([0.5 - 0.5 * np.cos(arc), 0 * arc, -0.28 * np.sin(arc)], axis=1)
    rope = model.add(
        ix.AncfCable("line", points=points, radius=0.01, elements=16, young=1e9, density=1e3, bending_stiffness=0.0)
    )
    for name, at in (("left", points[0]), ("right", points[-1])):
        model.add(ix.Spherical(name, model.ground, rope, at=at))
    found = ix.static(model)
    length = rope.length
    a = scipy.optimize.brentq(lambda x: 2 * x * np.sinh(0.5 / x) - length, 0.1, 10.0)
    sag = a * (np.cosh(0.5 / a) - 1.0)
    assert found["line"].points(0.5 * length)[0, 0, 2] == pytest.approx(-sag, rel=2e-3)  # 16 cubics; stretches by 1e-5
    weight = rope.mass / length * 9.81
    tension = found["line"].axial_force([0.25 * length, 0.5 * length])[0]
    assert tension[1] == pytest.approx(weight * a, rel=1e-2)
    assert found["left"].force[2] == pytest.approx(0.5 * rope.mass * 9.81, rel=1e-6)


def test_a_cable_stretches_as_its_stiffness_says():
    """F L / (E A), exactly, however far; a torque about the tangent does nothing."""
    model = ix.Model("pull", gravity=(0, 0, 0))
    rope = model.add(
        ix.AncfCable("line", (0, 0, 0), (2, 0, 0), height=0.1, width=0.1, elements=3, young=1e5, density=1e3)
    )
    model.add(ix.Fixed("wall", model.ground, rope, at=(0, 0, 0)))
    model.add(ix.Force("force", rope.marker(s=2.0), (300.0, 0, 0)))
    model.add(ix.Torque("twist", rope.marker(s=2.0), (5.0, 0, 0)))
    found = ix.static(model)
    assert found["line"].points(2.0)[0, 0] == pytest.approx([2.6, 0.0, 0.0], abs=1e-9)
    assert found["line"].axial_force([0.1, 1.0])[0] == pytest.approx([300.0, 300.0], rel=1e-9)


ROOTS = {"free": (4.730040745, 7.853204624), "pinned": (np.pi, 2 * np.pi), "held": (1.875104069, 4.694091133)}


@pytest.mark.parametrize("ends", ROOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_frequencies(kind, ends):
    """S3-37: bending frequencies of a thin beam, (beta L)^2 sqrt(E I / (rho A)) / L^2, in both directions across."""
    model = ix.Model("vibrates", gravity=(0, 0, 0))
    line = model.add(zoo.LINES[kind]("line", (0, 0, 0), (1, 0, 0), elements=8, **THIN))
    if ends == "held":
        model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0)))
    if ends == "pinned":
        model.add(ix.Spherical("left", model.ground, line, at=(0, 0, 0)))
        model.add(ix.Inline("right", model.ground.marker((1, 0, 0), z=(1, 0, 0)), line.marker(s=1.0)))
    unit = np.sqrt(YOUNG * THICK**2 / 12 / 7800.0)
    seen = np.sort(np.abs(ix.linearize(model).eigenvalues.imag))
    seen = seen[seen > 0.1 * unit]  # rigid motions are zero but for rounding
    exact = np.repeat(np.square(ROOTS[ends]), 2) * unit
    found = np.unique(np.round(seen / unit, 4))[:2] * unit
    assert found == pytest.approx(exact[::2], rel=3e-3)  # rotary inertia and shear, 8 elements


def test_oriented_joints_of_a_cable_are_refused_by_name():
    model = ix.Model("refused")
    rope = model.add(ix.AncfCable("rope", (0, 0, 0), (1, 0, 0), elements=2, **THIN))
    block = model.add(ix.RigidBody("block", 1.0, (1, 1, 1)))
    with pytest.raises(ix.ModelError, match=r"Revolute 'pin' needs the axes of AncfCable 'rope'"):
        ix.Revolute("pin", block, rope, at=(0, 0, 0), axis=(0, 0, 1))
    with pytest.raises(ix.ModelError, match=r"Torque 'turn' cannot turn with AncfCable 'rope'.*Leave follower out"):
        ix.Torque("turn", rope.marker(s=1.0), (0, 0, 1), follower=True)
    other = model.add(ix.AncfCable("other", (1, 0, 0), (2, 0, 0), elements=2, **THIN))
    with pytest.raises(ix.ModelError, match=r"Fixed 'weld' holds the tangent of AncfCable 'rope' to AncfCable 'other'"):
        ix.Fixed("weld", rope, other, at=(1, 0, 0))


@pytest.mark.parametrize("method", ["hht-i3", "bdf-si2", "radau5", "dopri5", "al-index3"])
def test_methods_agree(method):
    """A soft rope and a soft beam that swing together, welded to a block; against tight steps."""

    def model():
        made = ix.Model("swing", gravity=(0, 0, -9.81))
        soft = {"height": 0.02, "width": 0.02, "young": 1e5, "density": 1000.0}
        rope = made.add(ix.AncfCable("rope", (0, 0, 0), (0.5, 0, 0), elements=2, **soft))
        block = made.add(ix.RigidBody("block", 0.1, (1e-4, 1e-4, 1e-4), position=(0.5, 0, 0)))
        beam = made.add(ix.AncfBeam3D("beam", (0.5, 0, 0), (0.5, 0.4, 0), elements=2, **soft))
        made.add(ix.Spherical("hook", made.ground, rope, at=(0, 0, 0)))
        made.add(ix.Fixed("one", rope, block, at=(0.5, 0, 0)))
        made.add(ix.Fixed("two", block, beam, at=(0.5, 0, 0)))
        return made

    end = ix.simulate(model(), (0, 0.2), "dop853", rtol=1e-9, atol=1e-11)["block"].position[-1]
    seen = ix.simulate(model(), (0, 0.2), method, rtol=1e-5)
    assert seen.success, seen.message
    assert np.abs(seen["block"].position[-1] - end).max() < 1e-3  # of a fall of 0.15 m; second order and damping


def test_a_cable_rolls_up_at_once():
    """To a half circle in one call: the plane arc, which a torque about a fixed axis leaves unstable, and a note of it.

    What a relaxation would find far from there is no more stable.
    """
    model, _ = cantilever("ancf cable", 8, moment=np.pi * BENDING)
    found = ix.static(model)
    assert tip(found) == pytest.approx((0.0, 2.0 / np.pi, 0.0), abs=2e-4)
    assert found.stable is False
    assert any("no stable equilibrium was found near" in note for note in found.notes)


def test_a_clamped_beam_rolls_up_at_once():
    """To a full circle in one call, where small steps of Newton's go astray."""
    model = ix.Model("roll", gravity=(0, 0, 0))
    line = model.add(ix.AncfBeam3D("line", (0, 0, 0), (1, 0, 0), elements=16, **THIN))
    model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0), clamp=True))
    model.add(ix.Torque("moment", line.marker(s=1.0), (0, 0, 2 * np.pi * BENDING)))
    assert np.abs(tip(ix.static(model, method="newton"))).max() < 1e-3
