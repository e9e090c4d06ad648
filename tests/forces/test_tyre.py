"""Tyres: words, curves of the slip forces, and wheels that stand, bounce, roll, brake and corner."""

import math
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import index3 as ix
from index3.bodies.ground import Ground
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.road import Road
from index3.forces.tyre import Tyre

GROUND = Ground()
G = 9.80665
R = 0.3
BASIC = {"radius": R, "stiffness": 2e5}
SLIP = {"longitudinal_stiffness": 1e5, "cornering_stiffness": 6e4, "friction": 0.8}
UPRIGHT = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)  # z of the body along y


def wheel(speed=0.0, load=400.0, stiffness=BASIC["stiffness"], **more):
    """A wheel at rest on its tyre, rolling along x at a speed."""
    model = ix.Model("wheel")
    height = R - load * G / stiffness
    spin = (0.0, speed / height, 0.0)
    body = ix.RigidBody.cylinder(
        "wheel", R, 0.2, mass=load, position=(0, 0, height), orientation=UPRIGHT,
        velocity=(speed, 0, 0), angular_velocity=more.pop("spin", spin),
    )  # fmt: skip
    model.add(body)
    model.add(Tyre("tyre", body, model.ground, more.pop("road", None), **{**BASIC, "stiffness": stiffness, **more}))
    return model


def on_the_bench(bench, u=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0), deflection=0.02, **more):
    """Wrench on an upright wheel with given velocities at its centre."""
    body = ix.RigidBody.cylinder("wheel", R, 0.2, mass=1.0)
    b = bench([Tyre("tyre", body, Ground(), **{**BASIC, **more})])
    b[s.MARKER_R][:] = (5.0, 1.0, R - deflection), (0, 0, 0)
    b[s.MARKER_A][:] = [1, 0, 0, 0, 0, 1, 0, -1, 0], np.eye(3).ravel()
    b[s.MARKER_V][:] = (*u, *w), np.zeros(6)
    return b.forces()[0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"radius": 0.0}, "Tyre 'tyre' has radius 0.0. Give a positive number"),
        ({"stiffness": -1.0}, "has stiffness -1.0"),
        ({"damping": -1.0}, "has damping -1.0. Give at least 0"),
        ({"cornering_stiffness": -1.0}, "has cornering_stiffness -1.0"),
        ({"friction": 0.0}, "has friction 0.0"),
        ({"exponent": 0.5}, "has exponent 0.5"),
        ({"exponent": 1.5, "pulls": True}, "Only a linear spring can pull"),
        ({"normal": "up"}, "has normal 'up'. Give 'road' or 'vertical'"),
        ({"road": 5.0}, "has road 5.0. Give a Road"),
        ({"road": Road.half_cylinder(0.0, 0.1)}, "Give normal='vertical', or a Road.bump"),
        ({"low_speed": 0.0}, "has low_speed 0.0"),
        ({"relaxation": 0.5}, "has relaxation but no slip forces"),
        ({"relaxation": -0.5, **SLIP}, "has relaxation -0.5. Give a positive number"),
        ({"relaxation": (1.0, 2.0, 3.0), **SLIP}, "Give one length or two"),
    ],
)
def test_errors_name_the_tyre(more, message):
    with pytest.raises(ModelError) as error:
        wheel(**more)
    assert message in str(error.value)


def test_slip_needs_a_wheel_that_rolls():
    with pytest.raises(ModelError, match="PointMass 'mass', which does not roll"):
        Tyre("tyre", ix.PointMass("mass", 1.0), Ground(), **BASIC, **SLIP)
    with pytest.raises(ModelError, match="joins body 'ground' to itself"):
        Tyre("tyre", GROUND, GROUND.marker(), **BASIC)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Road.bump(0.0, -1.0, 0.1), "Road has length -1.0"),
        (lambda: Road.table([0, 1], [0, 1, 2]), "Give lists of one length"),
        (lambda: Road.table([0, 0], [0, 1]), "does not rise"),
        (lambda: Road.table([0, 1], [0, float("inf")]), "not finite"),
        (lambda: Road.table("a", "b"), "Give two lists of numbers"),
        (lambda: Road.sine(1.0, "high"), "Road has height 'high'"),
    ],
)
def test_errors_of_roads(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_heights():
    assert Road.bump(1.0, 2.0, 0.1)(2.0) == pytest.approx(0.1)
    assert Road.ramp(1.0, 2.0, 0.1)(2.0) == pytest.approx(0.05)
    assert [Road.ramp(1.0, 2.0, 0.1)(x) for x in (0.5, 9.0)] == [0.0, 0.1]
    assert Road.sine(4.0, 0.2)(1.0) == pytest.approx(0.2)
    assert Road.half_cylinder(1.0, 0.05)(1.03) == pytest.approx(0.04)
    x, z = [0.0, 0.5, 2.0], [0.1, 0.3, 0.2]
    table = Road.table(x, z)
    assert [table(a) for a in (-1.0, *x, 5.0)] == pytest.approx([0.1, *z, 0.2], abs=1e-12)  # knots: rounding
    assert pickle.loads(pickle.dumps(table)) == table


@pytest.mark.jit_off
def test_lateral_force_is_fialas(bench):
    """Slope, curve, saturation and aligning moment against the formulas, at constant load."""
    F, C, mu, a = 2e5 * 0.02, SLIP["cornering_stiffness"], SLIP["friction"], 0.08
    for tangent in (1e-6, 0.02, 0.1, 0.15, 0.5):
        u = (20.0, 20.0 * tangent, 0.0)
        rolling = (0.0, 20.0 / (R - 0.02), 0.0)
        force = on_the_bench(bench, u, rolling, low_speed=1e-6, patch=a, **SLIP)
        H = max(1.0 - C * tangent / (3.0 * mu * F), 0.0)
        assert force[1] == pytest.approx(-mu * F * (1.0 - H**3), rel=1e-9)  # low_speed is 1e-7 of the speed, squared
        assert force[0] == pytest.approx(0.0, abs=1e-6)  # rounding of the rolling speed times the stiffness
        # the moment of the lateral force about the wheel's centre is about x; what is left about z is the aligning one
        assert force[5] == pytest.approx(mu * F * a * H**3 * (1.0 - H), rel=1e-6, abs=1e-9)
        if tangent == 1e-6:
            assert force[1] == pytest.approx(-C * tangent, rel=1e-4)  # the slope is the cornering stiffness
        if tangent == 0.5:
            assert force[1] == pytest.approx(-mu * F, rel=1e-12)  # sliding


@pytest.mark.jit_off
def test_longitudinal_and_combined_slip(bench):
    """Driving pushes forward with the slope of the stiffness; together both stay in the circle of friction."""
    F, C, mu = 2e5 * 0.02, SLIP["longitudinal_stiffness"], SLIP["friction"]
    rho = R - 0.02
    for slip in (1e-6, 0.03, 0.4):
        force = on_the_bench(bench, (20.0, 0, 0), (0, 20.0 * (1 + slip) / rho, 0), low_speed=1e-6, **SLIP)
        H = max(1.0 - C * slip / (3.0 * mu * F), 0.0)
        assert force[0] == pytest.approx(mu * F * (1.0 - H**3), rel=1e-9)
        assert force[4] == pytest.approx(-rho * force[0], rel=1e-12)  # and brakes the wheel
    both = on_the_bench(bench, (20.0, 6.0, 0), (0, 26.0 / rho, 0), low_speed=1e-6, **SLIP)
    assert np.hypot(*both[:2]) == pytest.approx(mu * F, rel=1e-12)
    assert both[0] > 0.0 > both[1]


@pytest.mark.jit_off
def test_sliding_friction(bench):
    """A locked wheel slides at full slip: the lower coefficient."""
    given = {**SLIP, "friction": 0.9, "sliding_friction": 0.5, "low_speed": 1e-9}
    force = on_the_bench(bench, (20.0, 0, 0), **given)
    assert force[0] == pytest.approx(-0.5 * 2e5 * 0.02, rel=1e-12)


@pytest.mark.jit_off
def test_no_pull_unless_asked_for(bench):
    """S1-06: a tyre does not pull at the road."""
    assert np.abs(on_the_bench(bench, deflection=-0.01)).max() == 0.0
    assert on_the_bench(bench, (0, 0, 3.0), damping=1e5)[2] == 0.0
    assert on_the_bench(bench, deflection=-0.01, pulls=True)[2] == pytest.approx(-2e5 * 0.01)
    up = on_the_bench(bench, (0, 0, 3.0), damping=1e4, pulls=True)
    assert up[2] == pytest.approx(2e5 * 0.02 - 3e4)


def test_wheel_on_its_side_is_named():
    model = ix.Model("fallen")
    body = model.add(ix.RigidBody.cylinder("wheel", R, 0.2, mass=1.0, position=(0, 0, 0.1)))
    model.add(Tyre("tyre", body, model.ground, **BASIC))
    with pytest.raises(ix.Index3Error, match="Tyre 'tyre' has its wheel flat on its side at t = 0"):
        ix.simulate(model, (0.0, 0.1), progress=False, on_failure="raise")


def test_static_deflection():
    """A wheel let down from free height comes to rest at m g / k."""
    model = ix.Model("scales")
    body = model.add(ix.RigidBody.cylinder("wheel", R, 0.2, mass=100.0, position=(0, 0, R), orientation=UPRIGHT))
    model.add(Tyre("tyre", body, model.ground, **BASIC, damping=6e3, onset=1e-4))
    result = ix.simulate(model, (0.0, 2.0), progress=False)
    # decayed by exp(-30 * 2); the rest is the tolerance of the run, 1e-6 of the position
    assert result["wheel"].position[-1, 2] == pytest.approx(R - 100.0 * G / 2e5, abs=1e-6)


def test_quarter_car_over_a_bump():
    """Sprung and unsprung mass on a running road against the same equations integrated by SciPy."""
    M, m, k, c, kt, ct, v = 300.0, 40.0, 2e4, 1.5e3, 2e5, 100.0, 10.0
    road = Road.bump(start=2.0, length=1.5, height=0.05, speed=v)
    model = ix.Model("quarter car")
    low = R - (M + m) * G / kt
    body = model.add(ix.PointMass("body", M, position=(0, 0, low + 0.5)))
    hub = model.add(ix.PointMass("hub", m, position=(0, 0, low)))
    for name, mass in (("body", body), ("hub", hub)):
        for coordinate in "xy":
            model.add(ix.CoordinateConstraint(f"{name} {coordinate}", mass, coordinate, 0.0))
    rest = 0.5 + M * G / k
    model.add(ix.SpringDamper("strut", hub.marker(), body.marker(), stiffness=k, damping=c, length=rest))
    tyre = {"radius": R, "stiffness": kt, "damping": ct, "pulls": True, "normal": "vertical"}
    model.add(Tyre("tyre", hub, model.ground, road, camber=False, **tyre))
    # a step of 0.01 s sees a bump that passes in 0.15 s, also after a long time at rest
    result = ix.simulate(model, (0.0, 1.0), rtol=1e-8, max_step=0.01, t_eval=0.02, progress=False)

    def rates(t, y):
        zb, zh, vb, vh = y
        strut = k * (rest - (zb - zh)) - c * (vb - vh)
        x = v * t
        h = 0.025 * (1 - math.cos(2 * math.pi * (x - 2.0) / 1.5)) if 2.0 < x < 3.5 else 0.0
        return vb, vh, strut / M - G, (kt * (R - (zh - h)) - ct * vh - strut) / m - G

    start = (low + 0.5, low, 0.0, 0.0)
    reference = solve_ivp(rates, (0, 1), start, rtol=1e-10, atol=1e-12, t_eval=result.t, max_step=0.01).y
    # 1e-4 of a bump of 50 mm: a hundred steps with errors of 1e-8 each, and the kinks of the bump's curvature
    assert np.abs(result["body"].position[:, 2] - reference[0]).max() < 5e-6
    assert np.abs(result["hub"].position[:, 2] - reference[1]).max() < 5e-6
    assert np.ptp(reference[1]) > 0.05


def test_free_rolling_keeps_its_speed():
    result = ix.simulate(wheel(10.0, **SLIP), (0.0, 2.0), progress=False)
    assert result["wheel"].velocity[:, 0] == pytest.approx(10.0, rel=2e-5)  # no slip: a few times the tolerance
    assert result["wheel"].position[-1, 0] == pytest.approx(20.0, rel=2e-5)


def test_rolling_resistance_slows_down():
    """S0-16: Linear and angular momentum together: d/dt (m v + I w / rho) = -f m g."""
    f = 0.015
    result = ix.simulate(wheel(10.0, rolling_resistance=f, **SLIP), (0.0, 2.0), rtol=1e-7, progress=False)
    rho = R - 400.0 * G / 2e5
    v, w = result["wheel"].velocity[:, 0], result["wheel"].angular_velocity[:, 1]
    assert np.all(np.diff(v) < 0.0)
    momentum = v + 0.5 * R**2 * w / rho  # of 1 kg
    # low_speed 0.1 takes (0.1 / 10)^2 / 2 of the resistance
    assert momentum[0] - momentum[-1] == pytest.approx(2.0 * f * G, rel=2e-4)


def test_braking_distance():
    """A wheel that does not turn stops in v^2 / (2 mu g)."""
    model = ix.Model("braking")
    height = R - 400.0 * G / 2e5
    body = ix.RigidBody.cylinder("wheel", R, 0.2, mass=400.0, position=(0, 0, height), orientation=UPRIGHT,
                                 velocity=(10.0, 0, 0))  # fmt: skip
    model.add(body)
    model.add(ix.Prismatic("slide", model.ground, body, at=(0, 0, height), axis=(1, 0, 0)))
    model.add(Tyre("tyre", body, model.ground, **BASIC, **SLIP, low_speed=0.01))
    result = ix.simulate(model, (0.0, 2.0), rtol=1e-6, progress=False)
    # the last crawl below low_speed is about low_speed^2 / (mu g)
    assert result["wheel"].position[-1, 0] == pytest.approx(100.0 / (2 * 0.8 * G), rel=1e-3)
    assert abs(result["wheel"].velocity[-1, 0]) < 1e-4


def test_camber_moves_the_contact_point(bench):
    """A leaning wheel touches below its plane: delta = R - height / cos(camber)."""
    lean = 0.2
    body = ix.RigidBody.cylinder("wheel", R, 0.2, mass=1.0)
    b = bench([Tyre("tyre", body, Ground(), **BASIC)])
    turn = np.array([[1, 0, 0], [0, math.cos(lean), -math.sin(lean)], [0, math.sin(lean), math.cos(lean)]])
    b[s.MARKER_R][:] = (0, 0, 0.27), (0, 0, 0)
    b[s.MARKER_A][:] = (turn @ [[1, 0, 0], [0, 0, 1], [0, -1, 0]]).ravel(), np.eye(3).ravel()
    b[s.MARKER_V][:] = 0.0
    force = b.forces()[0]
    assert force[2] == pytest.approx(2e5 * (R - 0.27 / math.cos(lean)), rel=1e-12)
    assert force[3] == pytest.approx(0.27 * math.tan(lean) * force[2], rel=1e-12)  # arm to the side


@pytest.mark.jit_off
@pytest.mark.parametrize("height", [0.27, 0.4], ids=["on the road", "in the air"])
def test_derivatives_of_deflections(bench, height):
    body = ix.RigidBody.cylinder("wheel", R, 0.2, mass=1.0)
    given = {"radius": R, "stiffness": 100.0, "low_speed": 1.0, "friction": 0.8, "relaxation": (0.5, 0.4), "patch": 0.1}
    slip = {"longitudinal_stiffness": 30.0, "cornering_stiffness": 20.0, "rolling_resistance": 0.1}
    b = bench([Tyre("tyre", body, Ground(), Road.sine(3.0, 0.01), **given, **slip)])
    turn = np.linalg.qr(np.eye(3) + 0.1 * np.arange(9).reshape(3, 3) % 0.3)[0]
    turn *= np.linalg.det(turn)
    b[s.MARKER_R][:2] = (0.1, 0.2, height), (0, 0, 0)
    b[s.MARKER_A][:2] = (turn @ [[1, 0, 0], [0, 0, 1], [0, -1, 0]]).ravel(), np.eye(3).ravel()
    b[s.MARKER_V][2] = 0.01, -0.02, 0, 0, 0, 0
    assert (np.abs(b.forces()[0]).max() > 0.0) == (height < R)
    assert np.abs(b.forces()[2, :2]).min() > 0.0  # in the air they fade
    b.check_derivatives()


def skewed_wheel(angle, speed, **more):
    """A wheel on a fixed spin axis, turned from the direction of the running road by a slip angle, rolling freely."""
    model = ix.Model("test bench")
    depth = 0.02
    axis = (-math.sin(angle), math.cos(angle), 0.0)
    spin = np.array(axis) * speed * math.cos(angle) / (R - depth)
    body = ix.RigidBody("wheel", 20.0, (1.0, 1.0, 1.0), position=(0, 0, R - depth), angular_velocity=spin)
    model.add(body)
    model.add(ix.Revolute("hub", model.ground, body, at=(0, 0, R - depth), axis=axis))
    marker = body.marker_at((0, 0, R - depth), z=axis)
    road = Road.flat(speed=speed)
    model.add(Tyre("tyre", marker, model.ground, road, **{**BASIC, **SLIP, "low_speed": 1e-3, **more}))
    return model


def test_step_of_the_slip_angle():
    """The deflection follows sigma tan(angle) (1 - exp(-distance / sigma)), and the force its curve."""
    angle, speed, sigma = 0.03, 15.0, 0.6
    model = skewed_wheel(angle, speed, relaxation=(0.2, sigma))
    result = ix.simulate(model, (0.0, 0.2), rtol=1e-7, t_eval=0.01, progress=False)
    distance = speed * math.cos(angle) * result.t
    expected = sigma * math.tan(angle) * (1.0 - np.exp(-distance / sigma))
    deflection = result.states["tyre"][:, 1]
    # the tolerance of the run; the deflection is 18 mm
    assert np.abs(deflection) == pytest.approx(expected, abs=1e-6)
    F, C, mu = 2e5 * 0.02, SLIP["cornering_stiffness"], SLIP["friction"]
    curve = mu * F * (1.0 - (1.0 - C * expected / sigma / (3.0 * mu * F)) ** 3)
    side = result["hub"].force @ np.array([-math.sin(angle), math.cos(angle), 0.0])
    assert np.abs(side) == pytest.approx(curve, abs=1.0)  # 1e-6 m of 0.6 m times the stiffness is 0.1 N
    assert np.sign(deflection[-1]) == -np.sign(side[-1])  # the hub holds what the road pushes


def test_steady_and_transient_agree_in_the_end():
    """By an implicit method: explicit steps without deflections end at the limit of stability, where chance decides.

    Their forces at the end are off by up to 0.1 % at one tolerance and by 1e-7 at the next. Forces of 4 kN are right to
    4 rtol: 1.4 mN at rtol 1e-7, 0.03 mN here.
    """
    ends = []
    for more in ({}, {"relaxation": 0.3}):
        result = ix.simulate(skewed_wheel(0.05, 10.0, **more), (0.0, 1.0), "radau5", rtol=1e-8, progress=False)
        ends.append(result["hub"].force[-1])
    assert ends[0] == pytest.approx(ends[1], rel=1e-5, abs=1e-3)  # exp(-30) is left; tolerances


def test_parked_on_a_slope():
    """A braked wheel with deflections rests like a spring: C / sigma, without the creep of the steady model."""
    slope, sigma = 0.1, 0.5
    model = ix.Model("parked", gravity=(G * math.sin(slope), 0, -G * math.cos(slope)))
    height = R - 400.0 * G * math.cos(slope) / 2e5
    body = ix.RigidBody("wheel", 400.0, (9.0, 9.0, 9.0), position=(0, 0, height))
    model.add(body)
    model.add(ix.Prismatic("slide", model.ground, body, at=(0, 0, height), axis=(1, 0, 0)))
    model.add(ix.SpringDamper("drag", model.ground.marker((5, 0, height)), body.marker(), damping=2e4))
    marker = body.marker_at((0, 0, height), z=(0, 1, 0))
    model.add(Tyre("tyre", marker, model.ground, **BASIC, **SLIP, relaxation=sigma, low_speed=1e-4))
    result = ix.simulate(model, (0.0, 2.0), progress=False)
    force, C, mu = 400.0 * G * math.sin(slope), SLIP["longitudinal_stiffness"], SLIP["friction"]
    load = 2e5 * (R - height)
    slip = 3.0 * mu * load / C * (1.0 - (1.0 - force / (mu * load)) ** (1.0 / 3.0))
    # x' (1 - slip) = sigma slip' on the way; then it creeps at low_speed times the slip, 4e-7 m/s
    assert result["wheel"].position[-1, 0] == pytest.approx(-sigma * math.log(1.0 - slip), rel=1e-3)
    assert abs(result["wheel"].velocity[-1, 0]) < 1e-5


def test_a_quiet_run_does_not_leap_over_a_bump():
    """A settled wheel that rolls onto a bump of 0.1 m after half a second: every method sees it without settings."""

    def rolling(**road):
        model = ix.Model("wheel")
        wheel = model.add(ix.RigidBody.sphere("wheel", 0.3, mass=20.0, position=(0, 0, 0.3), velocity=(5, 0, 0)))
        model.add(ix.CoordinateConstraint("y", wheel, "y"))
        tyre = ix.Tyre("tyre", wheel, model.ground, radius=0.3, stiffness=2e5, damping=2e3, camber=False, **road)
        model.add(tyre)
        return model, tyre

    model, tyre = rolling(road=ix.Road.bump(start=2.5, length=0.1, height=0.05))
    assert tyre.longest_step == pytest.approx(0.01)
    assert rolling()[1].longest_step == np.inf
    for method in ("hht-i3", "dopri5", "bdf-i3"):
        result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-5, progress=False)
        assert result["wheel"].position[:, 2].max() > 0.32, method  # it jumps by some cm
        assert "Tyre 'tyre'" in result.message
    own = ix.simulate(model, (0.0, 1.0), "hht-i3", max_step=0.002, progress=False)
    assert "Tyre" not in own.message
