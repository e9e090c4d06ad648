"""The belt drive and the crawler track: counts, geometry, and short runs by the methods of the paper."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError
from index3.library.belt_drive import belt_loop
from index3.library.loops import Loop

METHODS = ("hht-i3", "bdf-i3", "bdf-si2")


def count(model, kind):
    return sum(type(element) is kind for element in model.forces.values())


def pairs(model):
    return {e.name: len(e.pairs) for e in model.forces.values() if isinstance(e, ix.ContactSet)}


def test_elements_of_the_belt():
    """S2-09, S2-10, S2-37: 400 forces of three components, 400 candidates of contact, 5 hinges, as the paper has."""
    model = ix.library.belt_drive()
    assert count(model, ix.Bushing) == 400
    assert all(force.size == 3 for force in model.forces.values() if isinstance(force, ix.Bushing))
    assert pairs(model) == {"ribs": 300, "back": 100}
    assert Counter(type(joint) for joint in model.joints.values()) == {ix.Revolute: 5}
    assert sum(body.mass for name, body in model.bodies.items() if "segment" in name) == pytest.approx(
        0.11 * 1.05469118
    )


def test_line_of_the_belt():
    """Wraps and spans in mm, worked out independently with the data of the model; a curve closed to rounding."""
    loop = belt_loop()
    lengths = [1e3 * piece[1] for piece in loop.pieces]
    spans, arcs = lengths[::2], lengths[1::2]
    assert spans == pytest.approx([215.40659229, 186.88231591, 90.79647570, 68.33008122], abs=1e-7)
    assert arcs == pytest.approx([117.96829969, 74.92602408, 52.15570399, 248.22568607], abs=1e-7)
    assert np.allclose(loop.at(loop.length - 1e-13)[0], loop.at(0.0)[0], atol=1e-12)


def test_the_belt_starts_without_slip_under_its_tension():
    """Each link carries 300 N along its segment; pulleys turn with the belt; no rib is in a pulley.

    Where a straight span meets an arc the two segments turn at different rates, and dampers add to the force.
    """
    model = ix.library.belt_drive(segments=40)
    result = ix.simulate(model, (0.0, 1e-9), "hht-i3", t_eval=[0.0])
    spin = [round(model[f"segment {k}"].v0[3:] @ model[f"segment {k}"].v0[3:], 6) for k in range(1, 41)]
    steady = [k for k in range(1, 40) if spin[k - 1] == spin[k]]
    assert len(steady) > 25
    for k in steady:
        force = sum(result[f"link {k} {corner}"].force[0] for corner in range(1, 5))
        along = model[f"segment {k}"].pose()[1][:, 0]
        assert -force @ along == pytest.approx(300.0, rel=1e-9)
    assert result["ribs"].depth.max() < 1e-12  # rounding of 0.1 m
    assert result["alternator"].angular_velocity[0, 2] == pytest.approx(375.0)
    assert result["tensioner"].angular_velocity[0, 2] == pytest.approx(-150.0 * 75 / 35)


def test_elements_of_the_track():
    """S2-08, S2-39: the joints of the paper, and 704 candidates of contact where it has 690."""
    model = ix.library.crawler_track()
    joints = Counter(type(joint) for joint in model.joints.values())
    assert joints == {ix.Revolute: 54, ix.Planar: 1, ix.Prismatic: 1, ix.Fixed: 4, ix.Inline: 1}
    assert len(model.motions) == 1
    assert pairs(model) == {"soil": 176, "rollers": 396, "idler rim": 44, "gearing": 44}
    stops = count(model, ix.JointLimit) + count(model, ix.Bushing)
    assert sum(pairs(model).values()) + stops == 704
    assert 9.81 * sum(body.mass for body in model.bodies.values()) == pytest.approx(147640.5)


@pytest.mark.parametrize("short", [False, True])
def test_the_chain_closes_and_stands(short):
    """Pins 0.3 m apart all around, in the gaps of the sprocket; nothing is in anything else at the start."""
    model = ix.library.crawler_track(short)
    shoes = [body for name, body in model.bodies.items() if name.startswith("shoe ")]
    pins = np.array([shoe.marker((-0.15, 0, 0.03)).pose()[0] for shoe in shoes])
    ends = np.array([shoe.marker((0.15, 0, 0.03)).pose()[0] for shoe in shoes])
    assert np.allclose(np.roll(pins, -1, axis=0), ends, atol=1e-12)
    result = ix.simulate(model, (0.0, 1e-9), "hht-i3", t_eval=[0.0])
    assert all(result[name].depth.max() < 1e-12 for name in pairs(model))
    seated = np.linalg.norm(pins - model["sprocket"].pose()[0], axis=1) < model["gearing"].against[0][1].radius + 1e-9
    assert seated.sum() >= (4 if short else 9)  # about half of the teeth
    assert min(shoe.marker((0, 0, -0.06)).pose()[0][2] for shoe in shoes) == pytest.approx(0.0, abs=1e-12)


def test_the_sprocket_follows_its_ramp():
    """At rest until 0.5 s, then to 0.4 rad/s along a cubic: 0.2 rad on the ramp."""
    f, df, ddf = ix.library.crawler_track(short=True).motions["drive"].functions
    assert [f(t) for t in (0.0, 0.5, 1.5, 2.5)] == pytest.approx([0.0, 0.0, 0.2, 0.6])
    assert [df(t) for t in (0.4, 0.5, 1.0, 1.5, 3.0)] == pytest.approx([0.0, 0.0, 0.2, 0.4, 0.4])
    assert [ddf(t) for t in (0.5, 1.0, 1.5)] == pytest.approx([0.0, 0.6, 0.0])


def test_a_loop_around_circles_on_both_sides():
    """A crossed belt: the second circle lies outside, so both lines cross between them; heading goes by curvature."""
    loop = Loop([((0.0, 0.0), 1.0), ((4.0, 0.0), -1.0), ((4.0, 3.0), 0.5)])
    for s in np.linspace(0.0, loop.length, 50):
        (p, heading, curvature), (q, turned, _) = loop.at(s), loop.at(s + 1e-6)
        assert np.allclose((q - p) / 1e-6, (math.cos(heading), math.sin(heading)), atol=2e-6)
        assert math.remainder(turned - heading, 2 * math.pi) == pytest.approx(1e-6 * curvature, abs=2e-6)


@pytest.mark.parametrize(("segments", "pretension"), [(39, 300.0), (60.5, 300.0), (100, 0.0)])
def test_what_no_belt_has_is_refused(segments, pretension):
    with pytest.raises(ModelError, match="belt_drive"):
        ix.library.belt_drive(segments, pretension=pretension)
