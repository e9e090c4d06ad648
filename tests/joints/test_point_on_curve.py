"""Points that follow a curve: on it throughout, closed solutions, cams, ends, refusals."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from mechanics import newton_euler
from scipy.interpolate import CubicSpline

import index3 as ix

G = 9.80665
TURNS = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
RING = np.column_stack([np.cos(TURNS), np.sin(TURNS)])
LOOP = np.column_stack([np.cos(TURNS), 0.3 * np.sin(2.0 * TURNS), np.sin(TURNS)])


def refused(text):
    return pytest.raises(ix.ModelError, match=re.escape(text))


def spline(points, closed):
    """The curve by SciPy: through the points, by chord length."""
    knots = np.vstack([points, points[:1]]) if closed else np.asarray(points)
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    return CubicSpline(s, knots, bc_type="periodic" if closed else "not-a-knot")


def distance(curve, points):
    """Distances of points from a curve, by a search on a grid refined by parabolas."""
    s = np.linspace(curve.x[0], curve.x[-1], 4001)
    found = []
    for p in points:
        near = s[np.argmin(np.linalg.norm(curve(s) - p, axis=1))]
        for _ in range(5):
            e, c1, c2 = p - curve(near), curve(near, 1), curve(near, 2)
            near += (c1 @ e) / (c1 @ c1 - c2 @ e)
        found.append(np.linalg.norm(p - curve(near)))
    return np.array(found)


@pytest.mark.parametrize("method", ["auto", "hht-i3", "bdf-si2", "al-index3", "statespace-trapezoidal"])
def test_bead_stays_on_a_loop_in_space(method):
    model = ix.Model("bead")
    bead = model.add(ix.PointMass("bead", 0.5, position=LOOP[2], velocity=3.0 * (LOOP[3] - LOOP[1])))
    model.add(ix.PointOnCurve("wire", model.ground, bead, LOOP, closed=True, at=LOOP[2]))
    check = model.check()
    assert (check.constraints, check.dof) == (2, 1)
    result = ix.simulate(model, (0.0, 4.0), method=method, t_eval=0.05)
    assert result.success
    assert distance(spline(LOOP, True), result["bead"].position).max() < 1e-10  # closed at every output
    assert np.ptp(result["bead"].position[:, 0]) > 1.8  # all the way round
    # jumps of the third derivative at knots cost a method some accuracy: measured up to 1e-3 of the largest energy
    assert np.ptp(result.energy.total) < 3e-3 * np.abs(result.energy.kinetic).max()
    residual = 0.5 * (result["bead"].acceleration - model.gravity) - result["wire"].force
    assert np.abs(residual).max() < 1e-9 * max(1.0, np.abs(result["wire"].force).max())


@pytest.mark.parametrize("amplitude", [0.3, 0.9])
def test_bead_on_a_cycloid_has_one_period_for_all_amplitudes(amplitude):
    """Huygens: 2 pi sqrt(4 a / g) for any amplitude."""
    a = 0.25
    angle = np.linspace(-np.pi + 0.3, np.pi - 0.3, 60)
    points = np.column_stack([a * (angle + np.sin(angle)), a * (1.0 - np.cos(angle))])
    model = ix.Model("cycloid", gravity=(0, -G, 0))
    start = np.array([a * (amplitude + np.sin(amplitude)), a * (1.0 - np.cos(amplitude)), 0.0])
    bead = model.add(ix.PointMass("bead", 1.0, position=start))
    model.add(ix.PointOnCurve("wire", model.ground, bead, points, at=start))
    period = 2.0 * np.pi * np.sqrt(4.0 * a / G)
    result = ix.simulate(model, (0.0, 2.0 * period), rtol=1e-9, t_eval=np.linspace(0.0, 2.0 * period, 5))
    wanted = start[0] * np.array([1, -1, 1, -1, 1])
    np.testing.assert_allclose(result["bead"].position[:, 0], wanted, atol=1e-4)  # the spline is within 1e-6 of it


def test_cam_lifts_a_follower_between_planar_bodies():
    """A round cam, pivoted off its centre, lifts a sliding point: a formula, at every angle."""
    off, radius = 0.3, 1.0
    model = ix.Model("cam", gravity=(0, -G, 0))
    cam = model.add(ix.PlanarBody("cam", 1.0, 0.2, position=(0, 0)))
    follower = model.add(ix.PlanarBody("follower", 0.5, 0.1, position=(0, radius)))
    turn = model.add(ix.Revolute("turn", model.ground, cam, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Prismatic("guide", model.ground, follower, at=(0, radius, 0), axis=(0, 1, 0)))
    profile = radius * np.column_stack([np.cos(TURNS), np.sin(TURNS)]) + (off, 0.0)
    joint = model.add(ix.PointOnCurve("track", cam.marker(), follower.marker(), profile, closed=True))
    model.add(ix.Motion("drive", turn, lambda t: 2.0 * t, 2.0))
    assert joint.row_labels == ("across", "z1.d")
    assert model.check().dof == 0
    result = ix.simulate(model, (0.0, 5.0), t_eval=0.1)
    angle = 2.0 * result.t
    lift = off * np.sin(angle) + np.sqrt(radius**2 - (off * np.cos(angle)) ** 2)
    np.testing.assert_allclose(result["follower"].position[:, 1], lift, atol=3e-5)  # of the spline through 24 points
    assert newton_euler(model, result) < 1e-9


def test_the_run_ends_where_an_open_curve_ends():
    model = ix.Model("slide", gravity=(0, -G, 0))
    bead = model.add(ix.PointMass("bead", 1.0, position=(0, 0, 0), velocity=(1, 0, 0)))
    points = [(x, -0.1 * x * x) for x in np.linspace(-0.5, 2.0, 8)]
    model.add(ix.PointOnCurve("wire", model.ground, bead, points, at=(0, 0, 0)))
    result = ix.simulate(model, (0.0, 10.0))
    assert not result.success
    assert "PointOnCurve 'wire' finds no nearest point of its curve" in result.message
    assert result["bead"].position[-1, 0] == pytest.approx(2.0, abs=1e-2)  # steps shorten towards the end


def test_knots_are_on_the_curve():
    for point in LOOP[::5]:
        model = ix.Model("knot")
        bead = model.add(ix.PointMass("bead", 1.0, position=point))
        model.add(ix.PointOnCurve("wire", model.ground, bead, LOOP, closed=True, at=point))
        assert ix.assemble(model).moved == {}


def test_curves_can_be_pickled():
    joint = ix.PointOnCurve("wire", ix.Model().ground, ix.PointMass("p", 1, position=LOOP[0]), LOOP, at=LOOP[0])
    again = pickle.loads(pickle.dumps(joint))
    np.testing.assert_array_equal(again.primitives()[0].fields["segments"], joint.primitives()[0].fields["segments"])


@pytest.mark.parametrize("points", [RING[:3], [1, 2, 3], "curve", [[0.0]] * 5, None])
def test_too_few_points(points):
    with refused("PointOnCurve 'w' has points"):
        ix.PointOnCurve("w", ix.Model().ground.marker(), ix.PointMass("p", 1).marker(), points)


def test_refused_curves():
    ends = ix.Model().ground.marker(), ix.RigidBody("b", 1, (1, 1, 1)).marker()
    with refused("PointOnCurve 'w' has points that are not finite."):
        ix.PointOnCurve("w", *ends, np.where(RING > 0.9, np.nan, RING))
    with refused("PointOnCurve 'w' has neighbouring points that coincide."):
        ix.PointOnCurve("w", *ends, np.repeat(RING, 2, axis=0))
    with refused("PointOnCurve 'w' has neighbouring points that coincide."):  # the first repeated at the end
        ix.PointOnCurve("w", *ends, np.vstack([RING, RING[:1]]), closed=True)
    eight = np.column_stack([np.sin(TURNS), np.sin(2 * TURNS)])
    with refused("PointOnCurve 'w' has a curve that crosses or touches itself"):
        ix.PointOnCurve("w", *ends, eight, closed=True)
    with refused("PointOnCurve 'w' turns too sharply after point"):
        ix.PointOnCurve("w", *ends, [(0, 0), (1, 0), (1.001, 0.0), (0, 0.001), (-1, 0.3)])
    with refused(
        "PointOnCurve 'w' takes its curve from PointMass 'p', which has no orientation. Swap first and second."
    ):
        ix.PointOnCurve("w", ix.PointMass("p", 1).marker(), ends[1], RING)
    with refused("PointOnCurve 'w' joins two bodies without at."):
        ix.PointOnCurve("w", ends[0].body, ends[1].body, RING)


def test_a_curve_does_not_follow_a_beam():
    """The short form would fix it to the section nearest to the origin; a marker says that this is meant."""
    model = ix.Model("bead on a beam")
    steel = {"height": 0.02, "width": 0.02, "young": 2e11, "poisson": 0.3, "density": 7800.0}
    beam = model.add(ix.AncfBeam3D("beam", (0, 0, 0), (1, 0, 0), elements=2, **steel))
    bead = model.add(ix.PointMass("bead", 0.1, position=(0.25, 0, 0)))
    line = np.linspace([0, 0, 0], [1, 0, 0], 5)
    with refused("PointOnCurve 'path' takes its curve from AncfBeam3D 'beam', which deforms"):
        ix.PointOnCurve("path", beam, bead, line, at=(0.25, 0, 0))
    assert ix.PointOnCurve("path", beam.marker(s=0.0), bead.marker(), line).row_labels == ("across", "sideways")
