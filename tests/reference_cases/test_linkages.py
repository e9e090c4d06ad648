"""Linkages with closed forms: overconstrained loops, ellipses, Cardan's error, a cam, a platform on six legs."""

from math import atan, cos, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import index3 as ix

G = 9.81
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def closed_loop(name, points, axes, body, gravity=(0, 0, 0)):
    """Links from point to point, ground from the last to the first, a revolute at every point."""
    model = ix.Model(name, gravity=gravity)
    before = model.ground
    for k in range(len(points) - 1):
        link = model.add(body(f"link{k}", points[k], points[k + 1]))
        model.add(ix.Revolute(f"j{k}", before, link, at=points[k], axis=axes[k]))
        before = link
    model.add(ix.Revolute(f"j{len(points) - 1}", before, model.ground, at=points[-1], axis=axes[-1]))
    return model


def beam(name, start, end):
    """1 kg, 1 m along a ground axis, 0.1 m thick."""
    start, end = np.array(start, float), np.array(end, float)
    return ix.RigidBody.box(name, np.where(np.abs(end - start) > 0.5, 1.0, 0.1), 1.0, position=0.5 * (start + end))


@pytest.mark.parametrize("method", ["auto", "hht-i3", "al-index3"])
def test_bricard(method):
    """Problem A04 of the multibody benchmark library: six revolutes along the edges of a cube, one of 35 rows too many.

    Every second angle is the same; two neighbours obey cos a + cos b + cos a cos b = 0 with right angles at the start.
    """
    points = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    model = closed_loop("Bricard", points, [Y, Z, X, Y, Z, X], beam, gravity=(0, -G, 0))
    report = model.check()
    assert (report.coordinates, report.constraints, report.dof, len(report.redundant)) == (35, 35, 1, 1)
    result = ix.simulate(model, (0.0, 10.0), method, rtol=1e-6, t_eval=0.1)
    assert result.success, result.message
    angles = np.array([result[f"j{k}"].angle for k in range(6)])
    assert np.ptp(angles[0]) > 3.1  # folds to either side
    # rows hold to 1e-12; next to the flat positions an angle moves by the root of that
    assert angles[[2, 3, 4, 5]] == pytest.approx(angles[[0, 1, 0, 1]], abs=1e-6)
    a, b = np.cos(angles[:2] - pi / 2)
    assert np.abs(a + b + a * b).max() < 1e-6
    assert np.ptp(result.energy.balance) < 0.05  # J, of 20; hht-i3 damps: 1e-2 seen at this tolerance


def test_bennett():
    """Four skew axes, lengths as sines of twists: tan(a/2) tan(b/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2)."""
    alpha, beta = radians(40), radians(75)
    sides = [(1.0, alpha), (sin(beta) / sin(alpha), beta)] * 2
    ratio = sin((beta + alpha) / 2) / sin((beta - alpha) / 2)
    first = 0.9
    second = 2 * atan(ratio / tan(first / 2))
    frame, points, axes = np.eye(4), [], []
    for turn, (length, twist) in zip((first, second, -first, -second), sides, strict=True):
        points.append(frame[:3, 3].copy())
        axes.append(frame[:3, 2].copy())
        step = np.eye(4)
        step[:3, :3] = Rotation.from_euler("ZX", (turn, twist)).as_matrix()
        step[:3, 3] = length * np.array((cos(turn), sin(turn), 0))
        frame = frame @ step
    assert frame == pytest.approx(np.eye(4), abs=1e-12)
    model = closed_loop("Bennett", points, axes, lambda *x: ix.RigidBody.rod(*x, mass=1.0))
    report = model.check()
    assert (report.dof, len(report.redundant)) == (1, 3)
    model.add(ix.Motion("drive", model["j0"], lambda t: t, 1.0, 0.0))
    result = ix.kinematics(model, (0.0, 6.2), t_eval=0.1)
    assert result.success, result.message
    product = np.tan((first + result["j0"].angle) / 2) * np.tan((second + result["j1"].angle) / 2)
    assert product == pytest.approx(np.full(len(result), ratio), rel=1e-9)  # 3e-12 seen


def test_platform_on_six_legs():
    """Legs driven as a wanted motion of the platform asks: the platform makes that motion."""
    base = [np.array((cos(a), sin(a), 0.0)) for a in np.radians((0, 20, 120, 140, 240, 260))]
    plate = [np.array((0.4 * cos(a), 0.4 * sin(a), 1.0)) for a in np.radians((-40, 60, 80, 180, 200, 300))]
    model = ix.Model("hexapod", gravity=(0, 0, -G))
    top = model.add(ix.RigidBody.cylinder("top", 0.4, 0.05, 10.0, position=(0, 0, 1)))

    def wanted(t):
        return np.array((0.05 * sin(t), 0.0, 1.0 + 0.1 * sin(2 * t))), 0.3 * sin(t)

    for k, (a, b) in enumerate(zip(base, plate, strict=True)):

        def extension(t, a=a, b=b):
            centre, turn = wanted(t)
            arm = Rotation.from_rotvec((0, 0, turn)).apply(b - (0, 0, 1))
            return float(np.linalg.norm(centre + arm - a) - np.linalg.norm(b - a))

        along, half = (b - a) / np.linalg.norm(b - a), 0.5 * (a + b)
        side = np.cross(along, Z)
        lower = model.add(ix.RigidBody.rod(f"lower{k}", a, half, 1.0))
        upper = model.add(ix.RigidBody.rod(f"upper{k}", half, b, 0.5))
        model.add(ix.Universal(f"foot{k}", model.ground, lower, at=a, axes=(side, np.cross(along, side))))
        slide = model.add(ix.Prismatic(f"slide{k}", lower, upper, at=half, axis=along))
        model.add(ix.Spherical(f"ball{k}", upper, top, at=b))
        with pytest.warns(UserWarning, match="differences"):
            model.add(ix.Motion(f"drive{k}", slide, extension))
    assert model.check().dof == 0
    result = ix.kinematics(model, (0.0, 3.0), t_eval=0.25)
    assert result.success, result.message
    places = [wanted(t) for t in result.t]
    assert result["top"].position == pytest.approx(np.array([x for x, _ in places]), abs=1e-10)  # closed to 1e-12
    turns = Rotation.from_matrix(result["top"].rotation).as_rotvec()
    assert turns == pytest.approx(np.array([(0, 0, x) for _, x in places]), abs=1e-10)


def test_sarrus():
    """Two pairs of hinged plates, hinges across each other: the top goes straight up and down."""
    length, bar, top = 0.5, 0.5, 2.0
    model = ix.Model("Sarrus", gravity=(0, 0, -G))
    height = sqrt(2) * length
    plate = model.add(ix.RigidBody.box("top", (0.4, 0.4, 0.05), top, position=(0, 0, height)))
    for k, (out, axis) in enumerate(((np.array(X), Y), (np.array(Y), X))):
        points = 0.2 * out, (0.2 + 0.5 * height) * out + (0, 0, 0.5 * height), 0.2 * out + (0, 0, height)
        lower = model.add(ix.RigidBody.rod(f"lower{k}", *points[:2], bar))
        upper = model.add(ix.RigidBody.rod(f"upper{k}", *points[1:], bar))
        for joint, pair, at in zip("abc", ((model.ground, lower), (lower, upper), (upper, plate)), points, strict=True):
            model.add(ix.Revolute(f"{joint}{k}", *pair, at=at, axis=axis))
    report = model.check()
    assert (report.dof, len(report.redundant)) == (1, 1)
    result = ix.simulate(model, (0.0, 0.3), rtol=1e-9, t_eval=0.02)
    assert result.success, result.message
    assert np.abs(result["top"].position[:, :2]).max() < 1e-11
    # One coordinate: E = A(x) x'^2 / 2 + V(x), height z = 2 l sin x, from rest at 45 degrees.
    s, c = result["top"].position[:, 2] / (2 * length), 0.5 * result["top"].velocity[:, 2] / length
    cosine = np.sqrt(1 - s**2)
    inertia = 2 * bar * length**2 * (0.25 + 1 / 6 + 0.25 * s**2 + 2.25 * cosine**2) + 4 * top * (length * cosine) ** 2
    fallen = (4 * bar + 2 * top) * G * length * (sqrt(0.5) - s)
    assert 0.5 * inertia * (c / cosine) ** 2 == pytest.approx(fallen, abs=1e-7)  # J, of 14


def test_trammel_draws_an_ellipse():
    a, x = 0.6, 0.5
    ends = np.array((a * cos(x), 0)), np.array((0, a * sin(x)))
    model = ix.Model("trammel", gravity=(0, -G, 0))
    rod = model.add(ix.PlanarBody.rod("rod", *ends, mass=1.0))
    for name, end, axis in zip(("level", "upright"), ends, (X, Y), strict=True):
        model.add(ix.Inline(name, model.ground.marker((0, 0, 0), z=axis), rod.marker_at((*end, 0))))
    result = ix.simulate(model, (0.0, 2.0), rtol=1e-7, t_eval=0.05)
    pen = result.marker(rod.marker_at((*(1.5 * ends[0] - 0.5 * ends[1]), 0))).position
    assert (pen[:, 0] / (1.5 * a)) ** 2 + (pen[:, 1] / (0.5 * a)) ** 2 == pytest.approx(np.ones(len(pen)), abs=1e-10)


@pytest.mark.parametrize("kind", ["universal", "constant velocity"])
def test_shafts_at_an_angle(kind):
    """A universal joint: w2 = w1 cos b / (1 - sin^2 b sin^2 x), x from where its driving arm is across both shafts."""
    angle = radians(30)
    out = np.array((sin(angle), 0, cos(angle)))
    model = ix.Model("shafts", gravity=(0, 0, 0))
    first = model.add(ix.RigidBody.cylinder("first", 0.02, 0.5, 1.0, position=(0, 0, -0.5)))
    turned = Rotation.from_rotvec((0, angle, 0))
    second = model.add(ix.RigidBody.cylinder("second", 0.02, 0.5, 1.0, position=0.5 * out, orientation=turned))
    drive = model.add(ix.Revolute("in", model.ground, first, at=(0, 0, -0.5), axis=Z))
    model.add(ix.Revolute("out", model.ground, second, at=0.5 * out, axis=out))
    if kind == "universal":
        model.add(ix.Universal("joint", first, second, at=(0, 0, 0), axes=(Y, np.cross(out, Y))))
    else:
        model.add(ix.ConstantVelocity("joint", first, second, at=(0, 0, 0), axes=(Z, out)))
    model.add(ix.Motion("drive", drive, lambda t: 2 * t, 2.0, 0.0))
    result = ix.kinematics(model, (0.0, 3.2), t_eval=0.1)
    x = result["in"].angle
    ratio = cos(angle) / (1 - (sin(angle) * np.sin(x)) ** 2) if kind == "universal" else np.ones_like(x)
    assert result["out"].angle_rate == pytest.approx(2.0 * ratio, abs=1e-11)


def test_scotch_yoke():
    radius, rate, mass = 0.3, 5.0, 2.0
    model = ix.Model("yoke", gravity=(0, 0, 0))
    crank = model.add(ix.PlanarBody("crank", 1.0, 0.1))
    yoke = model.add(ix.PlanarBody("yoke", mass, 0.1, position=(radius, 0)))
    pin = model.add(ix.Revolute("pin", model.ground, crank, at=(0, 0, 0), axis=Z))
    model.add(ix.Prismatic("slide", model.ground, yoke, at=(radius, 0, 0), axis=X))
    model.add(ix.Inline("slot", yoke.marker((0, 0, 0), z=Y), crank.marker((radius, 0, 0))))
    model.add(ix.Motion("drive", pin, lambda t: rate * t, rate, 0.0))
    result = ix.kinematics(model, (0.0, 2.0), t_eval=0.05)
    x = rate * result.t
    assert result["slide"].displacement == pytest.approx(radius * (np.cos(x) - 1), abs=1e-12)
    torque = mass * (radius * rate) ** 2 * np.cos(x) * np.sin(x)
    assert result["drive"].torque[:, 2] == pytest.approx(torque, abs=1e-10)


def test_follower_on_an_eccentric_disc():
    radius, offset, rate = 0.5, 0.2, 3.0
    turns = np.linspace(0, 2 * pi, 60, endpoint=False)
    outline = np.column_stack([offset + radius * np.cos(turns), radius * np.sin(turns)])
    model = ix.Model("cam", gravity=(0, -G, 0))
    cam = model.add(ix.PlanarBody("cam", 1.0, 0.1))
    follower = model.add(ix.PlanarBody("follower", 1.0, 0.1, position=(0, sqrt(radius**2 - offset**2))))
    pin = model.add(ix.Revolute("pin", model.ground, cam, at=(0, 0, 0), axis=Z))
    model.add(ix.Prismatic("guide", model.ground, follower, at=(0, 0, 0), axis=Y))
    model.add(ix.PointOnCurve("edge", cam.marker((0, 0, 0)), follower.marker((0, 0, 0)), outline, closed=True))
    model.add(ix.Motion("drive", pin, lambda t: rate * t, rate, 0.0))
    result = ix.kinematics(model, (0.0, 2.0), t_eval=0.05)
    x = rate * result.t
    height = offset * np.sin(x) + np.sqrt(radius**2 - (offset * np.cos(x)) ** 2)
    assert result["follower"].position[:, 1] == pytest.approx(height, abs=1e-6)  # the spline through 60 points: 2e-7
