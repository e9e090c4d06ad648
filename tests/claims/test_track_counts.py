"""Counts of the track of the library, whose joints are those of the published model: 61 parts, as many freedoms."""

from __future__ import annotations

import numpy as np

import index3 as ix

ROWS = {ix.Planar: 3, ix.Revolute: 5, ix.Prismatic: 5, ix.Fixed: 6, ix.Inline: 2, ix.Motion: 1}


def test_degrees_of_freedom_of_the_track():
    """S2-08: 61 parts of six coordinates less 305 rows leave 61; none is redundant."""
    model = ix.library.crawler_track()
    elements = [*model.joints.values(), *model.motions.values()]
    count = {kind: sum(type(element) is kind for element in elements) for kind in ROWS}
    assert list(count.values()) == [1, 54, 1, 4, 1, 1]
    check = model.check()
    assert check.bodies == 61
    rows = check.constraints - 61  # without |p| = 1 of each body
    assert rows == sum(ROWS[kind] * number for kind, number in count.items()) == 305
    assert 6 * 61 - rows == check.dof == 61
    assert check.redundant == []


def test_the_track_drives():
    """S2-08, S2-39: the short one by HHT-I3. It carries its weight, its sprocket follows the motion, it rolls forward.

    At 2 s the sprocket has turned by 0.4 rad, on a pitch circle of 0.58 m. Chain and teeth give way by some
    millimetres, and the machine is not settled to the last: 10 mm, and 5 % of the weight in the mean of a second.
    """
    model = ix.library.crawler_track(short=True)
    result = ix.simulate(model, (0.0, 2.0), "hht-i3", rtol=1e-3, t_eval=0.01)
    assert result.success, result.message
    assert np.isclose(result["sprocket axle"].angle[-1], 0.4, atol=1e-9)  # closed at every output
    weight = 9.81 * sum(body.mass for body in model.bodies.values())
    assert np.isclose(result["soil"].normal.sum(axis=1)[100:].mean(), weight, rtol=0.05)
    moved = result["frame"].position[-1, 0] - result["frame"].position[50, 0]
    assert np.isclose(moved, 0.4 * model["gearing"].against[0][1].radius, atol=0.01)
    assert result.violation.scaled.position.max() < 1e-10
