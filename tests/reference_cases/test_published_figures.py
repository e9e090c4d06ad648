"""Mechanisms with figures that others have published: IVP test set, SUNDIALS, Exudyn, Corke's robots."""

from math import asin, cos, pi, radians, sin, sqrt

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import index3 as ix


def car_axis():
    """The car axis of the IVP test set (Mazzia, Magherini, release 2.4): a bar on two springs, one over a bump."""
    mass, length, free, r, w = 10.0 * 1e-2**2 / 2.0, 1.0, 0.5, 0.1, 10.0

    def bump(t):
        return r * sin(w * t), r * w * cos(w * t), -r * w * w * sin(w * t)

    def path(t):
        y, dy, ddy = bump(t)
        x = sqrt(length**2 - y * y)
        dx = -y * dy / x
        return (x, y, 0), (dx, dy, 0), ((-dy * dy - y * ddy - dx * dx) / x, ddy, 0)

    def lean(t):
        y, dy, ddy = bump(t)
        x = sqrt(length**2 - y * y)
        return asin(y / length), dy / x, ddy / x + y * dy * dy / x**3

    def parts(f):
        return tuple(lambda t, k=k: f(t)[k] for k in range(3))

    model = ix.Model("car axis", gravity=(0, -1.0, 0))
    left, right = (
        model.add(ix.PointMass(name, mass, position=(x, free, 0), velocity=(-free / length, 0, 0)))
        for name, x in (("left", 0.0), ("right", length))
    )
    wheel = model.ground.moving_marker(path=parts(path), name="wheel")
    frame = model.ground.moving_marker(rotation=parts(lean), axis=(0, 0, 1), z=(1, 0, 0), x=(0, 1, 0), name="frame")
    model.add(ix.SpringDamper("left spring", model.ground.marker((0, 0, 0)), left.marker(), stiffness=1.0, length=free))
    model.add(ix.SpringDamper("right spring", wheel, right.marker(), stiffness=1.0, length=free))
    model.add(ix.Distance("bar", left, right, points=((0, free, 0), (length, free, 0))))
    model.add(ix.InPlane("strut", frame, left.marker()))  # the left end moves across the line to the wheel
    for body in (left, right):
        model.add(ix.CoordinateConstraint(f"{body.name} in plane", body, "z"))
    return model


AXIS_AT_3 = {
    "left": (0.0493455784275402809, 0.496989460230171154, -0.0770583684040972358, 0.00744686658723778553),
    "right": (1.04174252488542152, 0.373911027265361257, 0.0175568157537232222, 0.770341043779251976),
}


@pytest.mark.parametrize(
    ("method", "rtol", "limit"),
    [("auto", 1e-8, 1e-6), ("bdf-si2", 1e-6, 1e-3)],  # about three times the errors seen
)
def test_car_axis(method, rtol, limit):
    result = ix.simulate(car_axis(), (0.0, 3.0), method, rtol=rtol, atol=rtol / 100, t_eval=3.0)
    assert result.success, result.message
    for name, (x, y, dx, dy) in AXIS_AT_3.items():
        assert result[name].position[-1] == pytest.approx((x, y, 0), abs=limit)
        assert result[name].velocity[-1] == pytest.approx((dx, dy, 0), abs=limit)


SLIDER_CRANK = {
    1.0: (1.3154, 1.0015, -0.50497),
    3.0: (-0.44711, 1.4272, 0.21790),
    5.0: (-1.4300, 0.93903, 0.51790),
    7.0: (-0.31828, 1.4626, 0.15711),
    9.0: (1.2363, 1.0456, -0.49189),
    10.0: (1.2757, 1.0236, -0.49881),
}
"""Time -> crank angle, slider, rod angle: output of SUNDIALS' example idaSlCrank_dns (rtol = 1e-6, five digits)."""


def test_slider_crank_of_sundials():
    a, tilt = 0.5, asin(-0.5)
    model = ix.Model("slider-crank", gravity=(0, 0, 0))
    crank = model.add(ix.PlanarBody("crank", 1.0, 1.0, angle=pi / 2))
    rod = model.add(ix.PlanarBody("rod", 1.0, 2.0, position=(cos(tilt), 0), angle=tilt))
    model.add(ix.Revolute("O", model.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Revolute("A", crank.marker((a, 0, 0)), rod.marker((-1, 0, 0))))
    model.add(ix.Inline("slide", model.ground.marker((0, 0, 0), z=(1, 0, 0)), rod.marker((0, 0, 0))))
    ends = crank.marker((a / 2, 0, 0)), rod.marker((-0.5, 0, 0))
    model.add(ix.SpringDamper("spring", *ends, stiffness=1.0, damping=1.0, length=1.0))
    model.add(ix.Force("push", rod.marker((1, 0, 0)), (1.0, 0, 0)))
    result = ix.simulate(model, (0.0, 10.0), rtol=1e-8, t_eval=[0.0, *SLIDER_CRANK])
    assert result.success, result.message
    found = np.column_stack([result["crank"].angle, result["rod"].position[:, 0], result["rod"].angle])
    # printed to five digits, made with errors of 1e-6 a step
    assert found[1:] == pytest.approx(np.array([*SLIDER_CRANK.values()]), rel=1e-4, abs=1e-4)


def test_stiff_flyball_governor_of_exudyn():
    """The governor of Exudyn's test stiffFlyballGovernor: joints and rods as bushings, the rod's speed after 1 ms."""
    tilt, spin, mass = radians(30), 0.32 * pi, 5.3
    centre = 0.5 * 5.0 / mass  # of a rod of 0.3 kg with 5 kg at its end
    arm = 0.5 + centre
    across = 0.3 * (1.0 + 0.01**2) / 12 + 0.3 * centre**2 + 5.0 * (0.5 - centre) ** 2
    inertia = (0.3 * 2 * 0.01**2 / 12, across, across)
    model = ix.Model("governor", gravity=(0, 0, -9.81))
    going = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, spin)}
    shaft = model.add(ix.RigidBody.box("shaft", (0.01, 0.01, 1.0), 0.3, position=(0, 0, 0.5), **going))
    slider = model.add(ix.RigidBody.box("slider", (0.1, 0.1, 0.1), 3.0, position=(0, 0, 0.5), **going))
    k, turn = 2e4, 1e3
    model.add(
        ix.Bushing(
            "base", model.ground.marker(), shaft.marker((0, 0, -0.5)), stiffness=(k, k, k, turn, turn, 0),
            damping=(0.05 * k, 0.05 * k, 0.05 * k, 0.05 * turn, 0.05 * turn, 0),
        )
    )  # fmt: skip
    model.add(ix.Bushing("slide", shaft.marker(), slider.marker(), stiffness=(k, k, 0, turn, turn, turn)))
    for name, side in (("AC", 1.0), ("BD", -1.0)):
        at = np.array((side * (0.05 + arm * cos(tilt)), 0, 1.0 - arm * sin(tilt)))
        rod = model.add(
            ix.RigidBody(
                name, mass, inertia, position=at, orientation=Rotation.from_rotvec((0, side * tilt, 0)),
                velocity=(0, spin * at[0], 0), angular_velocity=(0, 0, spin),
            )
        )  # fmt: skip
        hinge = shaft.marker((side * 0.05, 0, 0.5)), rod.marker((-side * arm, 0, 0))
        model.add(ix.Bushing(f"hinge {name}", *hinge, stiffness=(k, k, k, turn, 0, turn)))
        ends = slider.marker((side * 0.05, 0, 0)), rod.marker((-side * centre, 0, 0))
        model.add(ix.SpringDamper(f"coupler {name}", *ends, stiffness=4e3, damping=200.0, length=0.5))
    result = ix.simulate(model, (0.0, 1e-3), rtol=1e-9, t_eval=1e-3)
    assert result.success, result.message
    assert result["AC"].velocity[-1, 1] == pytest.approx(0.8962488779114738, abs=1e-9)  # 6e-11 seen


SEVEN_STARS = (
    (3, 3, 0, 0, 0.3706139143970502, -3.943437585517392), (3, -3, 0, 0, 3.237284092057233, -3.271380973972550),
    (-1, 2, 0, 0, -3.222559032418324, 5.225081843456543), (-3, 0, 0, -1.25, 0.6597091455775310, -2.590612434977470),
    (2, 0, 0, 1, 0.3425581707156584, 1.198213693392275), (-2, -4, 1.75, 0, 1.562172101400631, -0.2429682344935824),
    (2, 4, -1.5, 0, -0.7003092922212495, 1.091449240428980),
)  # fmt: skip
"""x, y and their rates at 0, x and y at t = 3: the Pleiades of the IVP test set (masses 1 to 7, three near misses)."""


@pytest.mark.parametrize(("rtol", "limit"), [(1e-6, 5e-3), (1e-9, 1e-6)])  # three times what is seen
def test_seven_stars(rtol, limit):
    model = ix.Model("Pleiades", gravity=(0, 0, 0))
    stars = [
        model.add(ix.PointMass(f"star{k + 1}", k + 1.0, position=(x, y, 0), velocity=(dx, dy, 0)))
        for k, (x, y, dx, dy, _, _) in enumerate(SEVEN_STARS)
    ]
    for i, star in enumerate(stars):
        for other in stars[:i]:
            model.add(ix.PointGravity(f"{star.name} to {other.name}", star, other, mu=other.mass))
    result = ix.simulate(model, (0.0, 3.0), rtol=rtol, atol=rtol, t_eval=3.0)
    assert result.success, result.message
    for star, (*_, x, y) in zip(stars, SEVEN_STARS, strict=True):
        assert result[star.name].position[-1] == pytest.approx((x, y, 0), abs=limit)


PUMA = (  # d, a, twist, mass, principal inertias, centre of mass in the link's axes
    (0.0, 0.0, pi / 2, 1e-9, (0.2, 0.35, 0.2), (0, 0, 0)),
    (0.0, 0.4318, 0.0, 17.4, (0.13, 0.524, 0.539), (-0.3638, 0.006, 0.2275)),
    (0.15005, 0.0203, -pi / 2, 4.8, (0.0735, 0.086, 0.0125), (-0.0203, -0.0141, 0.07)),
    (0.4318, 0.0, pi / 2, 0.82, (1.8e-3, 1.3e-3, 1.8e-3), (0, 0.019, 0)),
    (0.0, 0.0, -pi / 2, 0.34, (0.3e-3, 0.4e-3, 0.3e-3), (0, 0, 0)),
    (0.0, 0.0, 0.0, 0.09, (0.15e-3, 0.15e-3, 0.04e-3), (0, 0, 0.032)),
)
"""The arm Puma 560 (Corke, Armstrong-Helouvry, ICRA 1994). Its third link was measured with Ixx = 0.066, which no rigid
body can have beside the others; 0.0735 here, felt by the inertia about the first axis and by what it throws out."""


def puma(angles):
    """The arm in a position, joints 'j1' to 'j6'."""
    model, pose, last = ix.Model("Puma", gravity=(0, 0, -9.81)), np.eye(4), None
    for k, (d, a, twist, mass, inertia, centre) in enumerate(PUMA):
        at, axis, c, s = pose[:3, 3].copy(), pose[:3, 2].copy(), cos(twist), sin(twist)
        turn = Rotation.from_rotvec((0, 0, angles[k])).as_matrix()
        step = np.eye(4)
        step[:3, :3] = turn @ np.array(((1, 0, 0), (0, c, -s), (0, s, c)))
        step[:3, 3] = turn @ (a, 0, d)
        pose = pose @ step
        turned = pose[:3, :3]
        link = ix.RigidBody(f"link{k + 1}", mass, inertia, position=pose[:3, 3] + turned @ centre, orientation=turned)
        model.add(link)
        model.add(ix.Revolute(f"j{k + 1}", last or model.ground, link, at=at, axis=axis))
        last = link
    return model


PUMA_AT_REST = {
    "zero": ((0, 0, 0, 0, 0, 0), (0, 37.4837, 0.2489, 0, 0, 0)),
    "ready": ((0, pi / 2, -pi / 2, 0, 0, 0), (0, -0.7752, 0.2489, 0, 0, 0)),
    "stretch": ((0, 0, -pi / 2, 0, 0, 0), (0, 46.0069, 8.7722, 0, 0.0283, 0)),
    "nominal": ((0, pi / 4, pi, 0, pi / 4, 0), (0, 31.6399, 6.0351, 0, 0.0283, 0)),
}
"""Angles -> torques against gravity: Corke, Robotics, Vision and Control, 9.2; tests of his Robotics Toolbox."""


STILL = {f"j{k}": (lambda t: 0.0, lambda t: 0.0, lambda t: 0.0) for k in range(1, 7)}


@pytest.mark.parametrize("position", PUMA_AT_REST)
def test_puma_carries_its_weight(position):
    angles, torques = PUMA_AT_REST[position]
    needed = ix.inverse_dynamics(puma(angles), STILL, t_eval=[0.0, 0.1])
    assert [needed[f"j{k + 1}.angle"][0] for k in range(6)] == pytest.approx(torques, abs=6e-5)  # four digits printed


def test_puma_turns():
    """Torques for 1 rad/s of the first joint (friction left out), and the inertia about the first three axes."""
    model = puma(PUMA_AT_REST["nominal"][0])
    model.gravity = (0, 0, 0)
    steady = {"j1": (lambda t: t, lambda t: 1.0, lambda t: 0.0)}
    needed = ix.inverse_dynamics(model, STILL | steady, t_eval=[0.0, 0.1])
    assert [needed[f"j{k}.angle"][0] for k in (2, 3, 4)] == pytest.approx((0.6280, -0.3607, -0.0003), abs=4e-3)  # PUMA
    starting = {"j1": (lambda t: 0.5 * t * t, lambda t: t, lambda t: 1.0)}
    needed = ix.inverse_dynamics(model, STILL | starting, t_eval=[0.0, 0.1])
    motor = 200e-6 * 62.6111**2
    assert needed["j1.angle"][0] + motor == pytest.approx(3.6594, abs=4e-3)
    assert [needed[f"j{k}.angle"][0] for k in (2, 3, 4)] == pytest.approx((-0.4044, 0.1006, -0.0025), abs=6e-5)
