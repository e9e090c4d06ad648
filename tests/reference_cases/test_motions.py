"""Orbits, tops, rolling, sliding and bouncing with closed solutions."""

from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import index3 as ix

G = 9.81
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
ORIGIN = (0, 0, 0)


def run(model, end, **settings):
    result = ix.simulate(model, (0.0, end), **{"rtol": 1e-9} | settings)
    assert result.success, result.message
    return result


def test_kepler_orbit_closes():
    model = ix.Model("orbit", gravity=(0, 0, 0))
    moon = model.add(ix.PointMass("moon", 1.0, position=(0.4, 0, 0), velocity=(0, 2.0, 0)))  # e = 0.6, a = 1
    model.add(ix.PointGravity("sun", moon, ORIGIN, mu=1.0))
    result = run(model, 2 * pi, rtol=1e-10)
    assert result["moon"].position[-1] == pytest.approx((0.4, 0, 0), abs=1e-7)  # 2e-9 seen
    assert result["moon"].velocity[-1] == pytest.approx((0, 2.0, 0), abs=1e-7)


def test_two_masses_about_their_centre():
    model = ix.Model("pair", gravity=(0, 0, 0))
    rate = sqrt(3.0)
    heavy = model.add(ix.PointMass("heavy", 2.0, position=(-1 / 3, 0, 0), velocity=(0, -rate / 3, 0)))
    light = model.add(ix.PointMass("light", 1.0, position=(2 / 3, 0, 0), velocity=(0, 2 * rate / 3, 0)))
    model.add(ix.PointGravity("pull", light, heavy, mu=2.0))
    result = run(model, 0.5 * pi / rate, t_eval=0.5 * pi / rate)
    assert result["heavy"].position[-1] == pytest.approx((0, -1 / 3, 0), abs=1e-8)
    assert result["light"].position[-1] == pytest.approx((0, 2 / 3, 0), abs=1e-8)


def test_foucault_pendulum():
    """In axes that turn slowly, Coriolis' force alone: z = z0 exp(-i W t) (cos k t + i W/k sin k t)."""
    length, turn, start = 10.0, 0.05, 0.005

    def coriolis(t, r, A, v, w, p, out):
        out[0, 0], out[0, 1] = 2 * p[0] * v[0, 1], -2 * p[0] * v[0, 0]

    at = (start, 0, -sqrt(length**2 - start**2))
    model = ix.Model("Foucault", gravity=(0, 0, -G))
    bob = model.add(ix.PointMass("bob", 1.0, position=at))
    model.add(ix.Distance("wire", model.ground, bob, points=(ORIGIN, at)))
    model.add(ix.UserForce("Coriolis", bob, coriolis, parameters=(turn,)))
    result = run(model, 30.0, t_eval=0.5)
    k = sqrt(G / length + turn**2)
    z = start * np.exp(-1j * turn * result.t) * (np.cos(k * result.t) + 1j * turn / k * np.sin(k * result.t))
    found = result["bob"].position[:, 0] + 1j * result["bob"].position[:, 1]
    assert found == pytest.approx(z, abs=1e-8)  # amplitude cubed over L^2: 2e-9 seen


def test_a_handle_in_space_flips_at_its_period():
    """Torque-free, nearly about the middle axis: w2 changes its sign every 2 K(k) / p (Jacobi's elliptic functions)."""
    inertia, spin = np.array((1.0, 2.0, 2.6)), np.array((0.3, 2.0, 0.0))
    model = ix.Model("handle", gravity=(0, 0, 0))
    model.add(ix.RigidBody("handle", 1.0, inertia, angular_velocity=spin))

    def middle(t, state):
        return state["handle"].angular_velocity @ state["handle"].rotation[:, 1]

    result = run(model, 20.0, events=middle)
    energy, momentum = inertia @ spin**2, inertia**2 @ spin**2
    a, b, c = inertia
    pace = sqrt((b - a) * (energy * c - momentum) / (a * b * c))
    k2 = (c - b) * (momentum - energy * a) / ((b - a) * (energy * c - momentum))
    if k2 > 1.0:
        k2, pace = 1 / k2, pace * sqrt(k2)
    flips = result.t_events[0]
    assert len(flips) == 3
    assert np.diff(flips) == pytest.approx(np.full(2, 2 * ellipk(k2) / pace), abs=1e-6)
    assert flips[0] == pytest.approx(ellipk(k2) / pace, abs=1e-6)  # it starts at the largest w2


def test_gyroscope_in_steady_precession():
    across, along, mass, arm, tilt, spin = 0.1, 0.05, 1.0, 0.5, 0.6, 150.0
    about = (across + mass * arm**2) * cos(tilt)
    rate = (along * spin - sqrt((along * spin) ** 2 - 4 * about * mass * G * arm)) / (2 * about)
    axis = np.array((sin(tilt), 0, cos(tilt)))
    w = rate * np.array(Z) + (spin - rate * cos(tilt)) * axis
    turned = Rotation.from_rotvec((0, tilt, 0))
    model = ix.Model("gyroscope", gravity=(0, 0, -G))
    top = ix.RigidBody(
        "top", mass, (across, across, along), position=arm * axis, orientation=turned,
        velocity=np.cross(w, arm * axis), angular_velocity=w,
    )  # fmt: skip
    model.add(top)
    model.add(ix.Spherical("tip", model.ground, top, at=ORIGIN))
    result = run(model, 2.0, t_eval=0.1)
    heading = np.unwrap(np.arctan2(result["top"].position[:, 1], result["top"].position[:, 0]))
    assert heading == pytest.approx(rate * result.t, abs=1e-7)
    assert np.ptp(result["top"].position[:, 2]) < 1e-8
    assert "steadily" in ix.linearize(model, frame=(0, 0, rate)).notes[0]


def test_a_disc_rolls_on_a_circle():
    """Leaning by 20 degrees, once round in 4.2 s; its spin from the balance of moments in the turning axes."""
    radius, mass, tilt, rate = 0.5, 1.0, np.radians(70), 1.5
    across, along, up = mass * radius**2 / 4, mass * radius**2 / 2, np.array(Z, float)
    axis = np.array((sin(tilt), 0, cos(tilt)))
    arm = radius * (cos(tilt) * axis - up) / sin(tilt)

    def state(spin):
        w = rate * up + (spin - rate * cos(tilt)) * axis
        return w, -np.cross(w, arm)

    def unbalance(spin):
        w, v = state(spin)
        force = mass * (np.cross(rate * up, v) + G * up)
        momentum = across * w + (along - across) * (w @ axis) * axis
        return (np.cross(rate * up, momentum) - np.cross(arm, force))[1]

    w, v = state(brentq(unbalance, -100, 100))
    turned = Rotation.from_rotvec((0, tilt, 0))
    model = ix.Model("disc", gravity=(0, 0, -G))
    disc = ix.RigidBody(
        "disc", mass, (across, across, along), position=-arm[2] * up, orientation=turned, velocity=v, angular_velocity=w
    )
    model.add(disc)
    model.add(ix.RollingDisc("rim", model.ground, disc, radius=radius, at=-arm[2] * up, axis=axis, normal=Z))
    result = run(model, 5.0, t_eval=0.25)
    heading = result["disc"].rotation[:, :, 2]
    assert np.unwrap(np.arctan2(heading[:, 1], heading[:, 0])) == pytest.approx(rate * result.t, abs=1e-7)
    assert np.ptp(result["disc"].position[:, 2]) < 1e-9


def test_a_ball_on_a_turntable_goes_in_circles():
    """At two sevenths of the table's rate, wherever it starts."""
    rate, radius = 2.0, 0.1
    at, v = np.array((0.5, 0, radius)), np.array((0.3, 0.1, 0))
    model = ix.Model("turntable")
    turning = (lambda t: rate * t, lambda t: rate, lambda t: 0.0)
    table = model.ground.moving_marker(rotation=turning, axis=Z, z=Z, name="table")
    slip = v - np.cross((0, 0, rate), at)
    w = np.array((-slip[1], slip[0], 0)) / radius
    ball = model.add(ix.RigidBody.sphere("ball", radius, 1.0, position=at, velocity=v, angular_velocity=w))
    model.add(ix.RollingBall("roll", table, ball.marker(ORIGIN), radius=radius))
    result = run(model, 10.0, t_eval=0.5)
    k = 2j / 7 * rate
    path = 0.5 + (v[0] + 1j * v[1]) * (np.exp(k * result.t) - 1) / k
    assert result["ball"].position[:, 0] + 1j * result["ball"].position[:, 1] == pytest.approx(path, abs=1e-6)  # 5e-8


def test_a_cylinder_rolls_down():
    slope, radius, mass = np.radians(20), 0.1, 2.0
    normal, down = np.array((sin(slope), 0, cos(slope))), np.array((cos(slope), 0, -sin(slope)))
    model = ix.Model("incline", gravity=(0, 0, -G))
    across = Rotation.from_rotvec((-pi / 2, 0, 0))
    roller = ix.RigidBody.cylinder("roller", radius, 0.3, mass, position=radius * normal, orientation=across)
    model.add(roller)
    model.add(
        ix.RollingCylinder("line", model.ground, roller, radius=radius, at=radius * normal, axis=Y, normal=normal)
    )
    result = run(model, 1.0)
    assert (result["roller"].position[-1] - radius * normal) @ down == pytest.approx(G * sin(slope) / 3, abs=1e-8)
    assert result["line"].force[0] == pytest.approx(mass * G * (cos(slope) * normal - sin(slope) / 3 * down), abs=1e-9)


@pytest.mark.parametrize("start", [0.3, 1.2, 2.0])
def test_every_way_down_a_cycloid_takes_the_same_time(start):
    radius = 0.5
    x = np.linspace(-0.98 * pi, 0.98 * pi, 81)
    wire = radius * np.column_stack([x + np.sin(x), -1 - np.cos(x)])
    model = ix.Model("tautochrone", gravity=(0, -G, 0))
    bead = model.add(ix.PointMass("bead", 1.0, position=(radius * (start + sin(start)), -radius * (1 + cos(start)), 0)))
    model.add(ix.PointOnCurve("wire", model.ground.marker(ORIGIN), bead.marker(), wire))

    def bottom(t, state):
        return state["bead"].position[0]

    bottom.terminal = True
    result = ix.simulate(model, (0.0, 2.0), events=bottom, rtol=1e-7)
    assert result.t_events[0][0] == pytest.approx(pi * sqrt(radius / G), abs=1e-6)  # the spline: 6e-8 seen


def test_a_ladder_leaves_the_wall():
    """Without friction at two thirds of the height from which it started."""
    length, start = 2.0, 1.2
    foot, top = (length * cos(start), 0, 0), (0, length * sin(start), 0)
    model = ix.Model("ladder", gravity=(0, -G, 0))
    ladder = model.add(ix.PlanarBody.rod("ladder", foot[:2], top[:2], 1.0))
    model.add(ix.InPlane("floor", model.ground.marker(ORIGIN, z=Y), ladder.marker_at(foot)))
    model.add(ix.InPlane("wall", model.ground.marker(ORIGIN, z=X), ladder.marker_at(top)))

    def push(t, state):
        return state["wall"].force[0]

    push.terminal, push.direction = True, -1
    result = ix.simulate(model, (0.0, 3.0), events=push, rtol=1e-9)
    assert 2 * result["ladder"].position[-1, 1] == pytest.approx(2 / 3 * length * sin(start), rel=1e-8)


def test_times_of_a_bouncing_ball():
    height, back = 1.0, 0.8
    model = ix.Model("ball", gravity=(0, 0, -G))
    ball = model.add(ix.PointMass("ball", 1.0, position=(0, 0, height)))
    model.add(ix.InPlane("floor", model.ground.marker(ORIGIN), ball.marker()))

    def floor(t, state):
        return state["ball"].position[2]

    floor.direction, floor.action = -1, ix.impact("floor", restitution=back)
    result = ix.simulate(model, (0.0, 3.0), events=floor, open_joints=["floor"])
    fall = sqrt(2 * height / G)
    times = fall * (1 + 2 * np.cumsum([0, *back ** np.arange(1, 6)]))
    assert [jump.t for jump in result.jumps] == pytest.approx(times, abs=1e-9)  # parabolas: 2e-12 seen


def test_a_block_slides_to_a_stop():
    """v^2 / (2 mu g) by the friction of a joint, which takes the weight from its reaction."""
    model = ix.Model("block", gravity=(0, 0, -G))
    block = model.add(ix.RigidBody.box("block", (0.2, 0.2, 0.2), 1.0, velocity=(2, 0, 0)))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=ORIGIN, axis=X))
    model.add(ix.JointFriction("rub", guide, 0.3))
    result = run(model, 1.0, rtol=1e-6, t_eval=[0.5, 1.0])
    assert result["guide"].displacement == pytest.approx([1 - 0.15 * G / 4, 4 / (0.6 * G)], abs=1e-6)
    # 1e-6: below its stick velocity v0 = 1e-3 the block creeps by about v0^2 / (mu g)


def test_the_rim_of_a_wheel_without_tyre():
    """McGeer's rimless wheel, whose spokes strike one by one: w+ = cos 2a sqrt(w^2 + 4 g/l sin a sin slope)."""
    half, slope, length, count = pi / 8, 0.08, 1.0, 8
    spacing, start = 2 * length * sin(half), 1.2
    model = ix.Model("rimless", gravity=(G * sin(slope), -G * cos(slope), 0))
    v = start * length * np.array((cos(half), sin(half), 0))
    hub = model.add(ix.PointMass("hub", 2.0, position=(-length * sin(half), length * cos(half), 0), velocity=v))
    model.add(ix.CoordinateConstraint("plane", hub, "z"))
    for k in range(count):
        foot = model.ground.marker((spacing * k, 0, 0))
        model.add(ix.Distance(f"spoke{k}", foot, hub.marker(), length=length))

    def next_spoke(k):
        def over(t, state):
            return state["hub"].position[0] - spacing * (k + 0.5)

        def strike(switch):
            switch.open(f"spoke{k}")
            switch.close(f"spoke{k + 1}")

        over.direction, over.action = 1, strike
        return over

    events = [next_spoke(k) for k in range(count - 1)]
    result = ix.simulate(model, (0, 5), events=events, open_joints=[f"spoke{k}" for k in range(1, count)], rtol=1e-9)
    rates, rate = [], start
    for _ in result.jumps:
        rate = cos(2 * half) * sqrt(rate**2 + 4 * G / length * sin(half) * sin(slope))
        rates.append(rate)
    assert len(rates) >= 5
    assert [sqrt(jump.kinetic_after) / length for jump in result.jumps] == pytest.approx(rates, abs=1e-8)


def test_an_impact_lasts_as_long_as_hertz_says():
    """Depth (5 m v^2 / 4 k)^(2/5), duration 2.9432757 times that over v."""
    mass, speed, stiffness = 0.1, 2.0, 3e7
    model = ix.Model("drop", gravity=(0, 0, 0))
    ball = model.add(ix.RigidBody.sphere("ball", 0.05, mass, position=(0, 0, 0.0501), velocity=(0, 0, -speed)))
    pair = (ix.shapes.Sphere(0.05), ix.shapes.Plane())
    model.add(ix.Contact("floor", ball, model.ground, pair, stiffness=stiffness, exponent=1.5))
    result = run(model, 0.003, t_eval=1e-6)
    touching = result["floor"].normal > 0.0
    depth = (1.25 * mass * speed**2 / stiffness) ** 0.4
    assert result["floor"].depth.max() == pytest.approx(depth, rel=1e-5)  # 1e-6: the grid of output
    assert np.count_nonzero(touching) * 1e-6 == pytest.approx(2.9432757 * depth / speed, abs=2e-6)
    assert result["ball"].velocity[-1, 2] == pytest.approx(speed, rel=1e-4)  # 5e-6 seen


def test_a_top_on_a_ball_keeps_the_integral_of_jellett():
    """Friction at the only point of contact has no moment along the line to it: L . (contact - centre of mass)."""
    radius, below, mass = 0.02, 0.004, 0.02
    inertia = 0.4 * mass * radius**2 * np.array((1.0, 1.0, 1.3))
    lean = Rotation.from_rotvec((0.9, 0, 0))
    at = np.array((0, 0, radius)) + lean.apply((0, 0, -below))
    model = ix.Model("tippe top", gravity=(0, 0, -G))
    spin = lean.apply((0, 0, 150.0))
    top = model.add(ix.RigidBody("top", mass, inertia, position=at, orientation=lean, angular_velocity=spin))
    pair = (ix.shapes.Sphere(radius), ix.shapes.Plane())
    contact = {"stiffness": 1e7, "exponent": 1.5, "damping": 1.0, "friction": 0.3}
    model.add(ix.Contact("tip", top.marker((0, 0, below)), model.ground.marker(), pair, **contact))
    result = run(model, 0.5, rtol=1e-7, t_eval=0.01)
    A, w = result["top"].rotation, result["top"].angular_velocity
    momentum = np.einsum("tij,j,tkj,tk->ti", A, inertia, A, w)
    arm = A @ (0, 0, below) - (0, 0, radius)
    jellett = np.einsum("ti,ti->t", momentum, arm)
    assert np.ptp(jellett) < 1e-4 * abs(jellett[0])  # 5e-5: the depth of contact, 7e-6 m
    assert np.ptp(momentum[:, 2]) > 1e-3 * abs(momentum[0, 2])  # which friction changes
