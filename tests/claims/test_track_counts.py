"""Counts of a tracked vehicle side with the joints of the published model: 61 parts, 61 degrees of freedom."""

from __future__ import annotations

import numpy as np

import index3 as ix

ROWS = {ix.Planar: 3, ix.Revolute: 5, ix.Prismatic: 5, ix.Fixed: 6, ix.Inline: 2, ix.Motion: 1}
WHEELS, LINKS = 10, 44


def track():
    """A hull on rails of a test rig, ten wheels with hinges, links pinned in a chain, brackets welded on.

    The published joint set: 1 planar, 54 revolute, 1 translational, 4 fixed, 1 inline primitive, 1 motion. Which part
    is where is not printed, so the arrangement is ours: the chain of links is open at its end.
    """
    model = ix.Model("track")
    box = lambda name, at, size=0.1: model.add(ix.RigidBody.box(name, (size,) * 3, 1.0, position=at))  # noqa: E731
    hull = box("hull", (0, 0, 1), 1.0)
    model.add(ix.Planar("heading", model.ground, hull, at=(0, 0, 1), axis=(0, 1, 0)))
    wheels = []
    for k in range(WHEELS):
        place = (0.4 * k - 2.0, 0.3, 0.4)
        wheels.append(box(f"wheel{k}", place))
        model.add(ix.Revolute(f"axle{k}", hull, wheels[-1], at=place, axis=(0, 1, 0)))
    model.add(ix.Motion("drive", model["axle0"], lambda t: 5.0 * t, 5.0, 0.0))
    idler = box("idler carrier", (2.5, 0.3, 0.4))
    model.add(ix.Prismatic("tension", hull, idler, at=(2.5, 0.3, 0.4), axis=(1, 0, 0)))
    for k in range(4):
        place = (0.5 * k, -0.3, 1.2)
        model.add(ix.Fixed(f"weld{k}", hull, box(f"bracket{k}", place), at=place))
    gauge = box("gauge", (0, 0, 2))
    model.add(ix.Inline("gauge rail", model.ground, gauge, at=(0, 0, 2), axis=(1, 0, 0)))
    last = idler
    for k in range(LINKS):
        place = (2.6 + 0.1 * k, 0.3, 0.4)
        link = box(f"link{k}", place)
        model.add(ix.Revolute(f"pin{k}", last, link, at=place, axis=(0, 1, 0)))
        last = link
    return model


def test_degrees_of_freedom_of_the_track():
    """S2-08: 61 parts of six coordinates less 305 rows leave 61; none is redundant."""
    model = track()
    elements = [*model.joints.values(), *model.motions.values()]
    count = {kind: sum(type(element) is kind for element in elements) for kind in ROWS}
    assert list(count.values()) == [1, 54, 1, 4, 1, 1]
    check = model.check()
    assert check.bodies == 61
    rows = check.constraints - 61  # without |p| = 1 of each body
    assert rows == sum(ROWS[kind] * number for kind, number in count.items()) == 305
    assert 6 * 61 - rows == check.dof == 61
    assert check.redundant == []


def test_the_track_runs():
    """S2-08: the same model by HHT-I3 with no settings, its driven wheel at its speed."""
    result = ix.simulate(track(), (0.0, 0.1), "hht-i3", t_eval=0.05)
    assert result.success, result.message
    assert np.allclose(result["axle0"].angle, 5.0 * result.t, atol=1e-9)  # closed at every output
    assert result.violation.scaled.position.max() < 1e-10
