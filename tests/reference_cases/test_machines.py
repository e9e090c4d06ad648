"""Gear trains, threads, ropes, governors and pendulums against their equations in the least coordinates."""

from math import acos, cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import index3 as ix

G = 9.81
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
ORIGIN = (0, 0, 0)


def run(model, end, **settings):
    result = ix.simulate(model, (0.0, end), **{"rtol": 1e-9} | settings)
    assert result.success, result.message
    return result


def reference(f, start, t):
    """The solution of y' = f(t, y) at the times t, (n_t, n)."""
    return solve_ivp(f, (0.0, t[-1]), start, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=t).y.T


def test_planetary_gear():
    """Ring held, sun driven by a torque: ratio 1 + ring/sun, and the inertia that the sun feels."""
    sun, planet, torque = 0.1, 0.05, 0.05
    ring, arm = sun + 2 * planet, sun + planet
    model = ix.Model("planetary", gravity=(0, 0, 0))
    wheel = model.add(ix.RigidBody.cylinder("sun", sun, 0.02, 1.0))
    carrier = model.add(ix.RigidBody.rod("carrier", ORIGIN, (arm, 0, 0), 0.5))
    small = model.add(ix.RigidBody.cylinder("planet", planet, 0.02, 0.3, position=(arm, 0, 0)))
    model.add(ix.Revolute("main", model.ground, carrier, at=ORIGIN, axis=Z))
    pin = model.add(ix.Revolute("pin", carrier, small, at=(arm, 0, 0), axis=Z))
    inner = model.add(ix.Revolute("inner", carrier, wheel, at=ORIGIN, axis=Z))
    outer = model.add(ix.Revolute("outer", carrier, model.ground, at=ORIGIN, axis=Z))
    model.add(ix.Gear("sun mesh", inner, pin, ratio=-sun / planet))
    model.add(ix.Gear("ring mesh", outer, pin, ratio=ring / planet))
    model.add(ix.Torque("drive", wheel, (0, 0, torque)))
    assert model.check().dof == 1
    result = run(model, 2.0, t_eval=2.0)
    ratio = 1 + ring / sun
    turn = result["main"].angle[-1]
    assert result["inner"].angle[-1] + turn == pytest.approx(ratio * turn, rel=1e-12)
    spin = (1 - ring / planet) / ratio
    inertia = 0.5 * sun**2 + (0.5 * arm**2 / 3 + 0.3 * arm**2) / ratio**2 + 0.15 * planet**2 * spin**2
    assert ratio * turn == pytest.approx(0.5 * torque / inertia * 4.0, rel=1e-5)  # 15 rad; 2e-7 seen


def test_differential():
    inertia = {"cage": 0.1, "left": 0.2, "right": 0.4}
    model = ix.Model("differential", gravity=(0, 0, 0))
    joints = []
    for k, (name, value) in enumerate(inertia.items()):
        body = model.add(ix.RigidBody(name, 1.0, (value,) * 3, position=(k, 0, 0)))
        joints.append(model.add(ix.Revolute(f"{name} axle", model.ground, body, at=(k, 0, 0), axis=X)))
    terms = [(c, joint, "angle") for c, joint in zip((2.0, -1.0, -1.0), joints, strict=True)]
    model.add(ix.Coupler("gears", terms))
    model.add(ix.Torque("engine", model["cage"], (1.0, 0, 0)))
    result = run(model, 2.0, t_eval=2.0)
    each = 1.0 / (2.0 + 0.05 * (1 / 0.2 + 1 / 0.4))  # torque on either wheel
    for name in ("left", "right"):
        assert result[f"{name} axle"].angle[-1] == pytest.approx(2.0 * each / inertia[name], rel=1e-7)


def test_two_weights_on_a_pulley():
    model = ix.Model("Atwood", gravity=(0, 0, -G))
    across = Rotation.from_rotvec((-pi / 2, 0, 0))
    pulley = model.add(ix.RigidBody.cylinder("pulley", 0.2, 0.05, 1.0, orientation=across))
    axle = model.add(ix.Revolute("axle", model.ground, pulley, at=ORIGIN, axis=Y))
    for name, mass, x in (("heavy", 3.0, -0.2), ("light", 2.0, 0.2)):
        weight = model.add(ix.PointMass(name, mass, position=(x, 0, 0)))
        line = model.add(ix.Inline(f"{name} line", model.ground.marker((x, 0, 0), z=Z), weight.marker()))
        model.add(ix.RackPinion(f"{name} rope", axle, line, radius=-x))
    result = run(model, 2.0, t_eval=2.0)
    assert result["heavy"].position[-1, 2] == pytest.approx(-0.5 * G * 1.0 / 5.5 * 4.0, rel=1e-7)


def test_nut_on_a_screw():
    pitch, mass, radius = 0.02, 1.0, 0.03
    model = ix.Model("screw", gravity=(0, 0, -G))
    nut = model.add(ix.RigidBody.cylinder("nut", radius, 0.02, mass))
    model.add(ix.Screw("thread", model.ground, nut, at=ORIGIN, axis=Z, pitch=pitch))
    result = run(model, 1.0, t_eval=1.0)
    fall = G / (1 + 0.5 * (radius * 2 * pi / pitch) ** 2)
    assert result["thread"].displacement[-1] == pytest.approx(-0.5 * fall, rel=1e-6)  # after five turns; 2e-8 seen
    assert result["thread"].angle[-1] == pytest.approx(-pi * fall / pitch, rel=1e-6)


def test_crane():
    """A trolley that starts with the acceleration a: the load swings as a/g (1 - cos w t), for a small against g."""
    a, length = 0.02, 5.0
    model = ix.Model("crane", gravity=(0, 0, -G))
    trolley = model.add(ix.PointMass("trolley", 10.0))
    load = model.add(ix.PointMass("load", 100.0, position=(0, 0, -length)))
    rail = model.add(ix.Inline("rail", model.ground.marker(ORIGIN, z=X), trolley.marker()))
    model.add(ix.Distance("rope", trolley, load, points=(ORIGIN, (0, 0, -length))))
    model.add(ix.Motion("drive", rail, lambda t: 0.5 * a * t * t, lambda t: a * t, lambda t: a))
    result = run(model, 5.0, t_eval=0.25)
    line = result["load"].position - result["trolley"].position
    swing = -a / G * (1 - np.cos(sqrt(G / length) * result.t))
    assert np.arctan2(line[:, 0], -line[:, 2]) == pytest.approx(swing, abs=2e-8)  # 4e-3 rad: cubed, over six
    assert result["drive"].force[0] == pytest.approx((10.0 * a, 0, 0), abs=1e-9)


def test_governor():
    """Balls that swing out, damped, to cos x = g / (w^2 L)."""
    rate, length = 6.0, 0.5
    model = ix.Model("governor", gravity=(0, 0, -G))
    shaft = model.add(ix.RigidBody.cylinder("shaft", 0.02, 1.0, 1.0))
    pivot = model.add(ix.Revolute("pivot", model.ground, shaft, at=ORIGIN, axis=Z))
    for k, side in enumerate((1.0, -1.0)):
        at = (side * length * sin(0.8), 0, -length * cos(0.8))
        ball = model.add(ix.RigidBody(f"ball{k}", 1.0, (1e-9,) * 3, position=at))
        hinge = model.add(ix.Revolute(f"hinge{k}", shaft, ball, at=ORIGIN, axis=Y))
        model.add(ix.RotationalSpringDamper(f"damper{k}", hinge, stiffness=0.0, damping=0.5))
    model.add(ix.Motion("drive", pivot, lambda t: rate * t, rate, 0.0))
    result = run(model, 20.0, rtol=1e-7, t_eval=20.0)
    for k in range(2):
        height = result[f"ball{k}"].position[-1, 2]
        assert acos(-height / length) == pytest.approx(acos(G / (rate**2 * length)), abs=1e-6)  # 1e-9 seen


def test_furuta_pendulum():
    arm, rod, mass, start = 0.3, 0.5, 0.1, 0.4
    model = ix.Model("Furuta", gravity=(0, 0, -G))
    thin = mass * rod**2 / 12
    beam = model.add(ix.RigidBody.rod("arm", ORIGIN, (arm, 0, 0), 0.2))
    upright = Rotation.from_rotvec((-start, 0, 0))
    at = (arm, 0.5 * rod * sin(start), 0.5 * rod * cos(start))
    stick = model.add(ix.RigidBody("rod", mass, (thin, thin, 0.0), position=at, orientation=upright))
    model.add(ix.Revolute("base", model.ground, beam, at=ORIGIN, axis=Z))
    model.add(ix.Revolute("hinge", beam, stick, at=(arm, 0, 0), axis=X))
    result = run(model, 2.0, t_eval=0.05)
    base, tip, cross = 0.2 * arm**2 / 3 + mass * arm**2, 0.25 * mass * rod**2 + thin, 0.5 * mass * arm * rod

    def rates(t, y):
        s, c, da, dx = sin(y[1]), cos(y[1]), y[2], y[3]
        mass_matrix = [[base + tip * s * s, cross * c], [cross * c, tip]]
        forces = [-2 * tip * s * c * da * dx + cross * s * dx * dx, tip * s * c * da * da + 0.5 * mass * G * rod * s]
        return [da, dx, *np.linalg.solve(mass_matrix, forces)]

    expected = reference(rates, (0, start, 0, 0), result.t)
    assert result["base"].angle == pytest.approx(expected[:, 0], abs=1e-6)  # swings over: errors grow; 2e-8 seen
    assert result["hinge"].angle == pytest.approx(start - expected[:, 1], abs=1e-6)


def test_chain_of_five_rods():
    n = 5
    start = np.linspace(1.0, 2.0, n)
    model = ix.Model("chain", gravity=(0, -G, 0))
    before, at = model.ground, np.zeros(2)
    for k, x in enumerate(start):
        end = at + np.array((sin(x), -cos(x)))
        rod = model.add(ix.PlanarBody.rod(f"rod{k}", at, end, 1.0))
        model.add(ix.Revolute(f"pin{k}", before, rod, at=(*at, 0), axis=Z))
        before, at = rod, end
    result = run(model, 1.5, rtol=1e-10, t_eval=0.1)
    i, j = np.indices((n, n))
    weight = n - 1 - np.maximum(i, j) + np.where(i == j, 1 / 3, 1 / 2)

    def rates(t, y):
        x, w = y[:n], y[n:]
        gap = x[:, None] - x
        forces = (weight * np.sin(gap)) @ w**2 + G * (n - 0.5 - np.arange(n)) * np.sin(x)
        return [*w, *-np.linalg.solve(weight * np.cos(gap), forces)]

    x = reference(rates, (*start, *np.zeros(n)), result.t)[:, :n]
    expected = np.column_stack([np.sin(x).sum(axis=1), -np.cos(x).sum(axis=1)])
    found = result.marker(before.marker_at((*at, 0))).position[:, :2]
    assert found == pytest.approx(expected, abs=1e-8)  # 6e-12 seen


def test_hanging_chain():
    """Forty links between two points: the force at the ends as of a chain of hinged rods, nearly a catenary."""
    n, length, span, link = 40, 2.0, 1.6, 0.1
    depth = sqrt((length / 2) ** 2 - (span / 2) ** 2)
    points = [(span * k / n, -depth * (1 - abs(2 * k / n - 1)), 0.0) for k in range(n + 1)]
    model = ix.Model("chain", gravity=(0, -G, 0))
    before = model.ground
    for k in range(n):
        rod = model.add(ix.PlanarBody.rod(f"rod{k}", points[k][:2], points[k + 1][:2], link))
        model.add(ix.Revolute(f"pin{k}", before, rod, at=points[k], axis=Z))
        before = rod
    model.add(ix.Revolute("end", before, model.ground, at=points[-1], axis=Z))
    rest = ix.static(model)
    weights = link * G * (np.arange(n // 2) + 0.5)  # below the middle of each rod of one half
    pull = brentq(lambda h: np.sum(1 / np.sqrt(1 + (weights / h) ** 2)) - n / 2 * span / length, 0.1, 99)
    assert rest["pin0"].force == pytest.approx((-pull, n * link * G / 2, 0), rel=1e-8)  # each rod along the pull at it
    size = brentq(lambda a: 2 * a * np.sinh(span / (2 * a)) - length, 0.1, 10)
    low = min(rest[f"rod{k}"].position[1] for k in range(n))
    assert low == pytest.approx(-size * (np.cosh(span / (2 * size)) - 1), rel=2e-3)  # (1/40)^2 of a link's sag


def test_cart_and_pole():
    cart, pole, half = 1.0, 0.3, 0.5
    model = ix.Model("cart", gravity=(0, -G, 0))
    box = model.add(ix.PlanarBody("cart", cart, 0.1))
    rod = model.add(ix.PlanarBody.rod("pole", (0, 0), (0, 1), pole))
    model.add(ix.Prismatic("track", model.ground, box, at=ORIGIN, axis=X))
    model.add(ix.Revolute("hinge", box, rod, at=ORIGIN, axis=Z))
    linear = ix.linearize(model, inputs=["track"], outputs=["hinge.angle"])
    whole = (cart + pole) * (pole * half**2 * 4 / 3) - (pole * half) ** 2
    square = (cart + pole) * pole * G * half / whole
    assert np.sort(linear.eigenvalues.real) == pytest.approx([-sqrt(square), 0.0, sqrt(square)], abs=1e-9)
    gain = linear.C @ np.linalg.solve(2j * np.eye(4) - linear.A, linear.B)  # a push of 2 rad/s on the cart
    assert gain[0, 0] == pytest.approx(pole * half / whole / (-4.0 - square), rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "hht-i3", "bdf-si2", "radau5", "tlismni-adams4"])
def test_a_block_in_a_turning_slot(method):
    """Friction by Coriolis' force alone: r'' + 2 mu w r' - w^2 r = 0 (Coulomb, in a horizontal slot)."""
    mu, w, start, speed, mass = 0.4, 3.0, 0.2, 0.05, 0.5
    model = ix.Model("slot", gravity=(0, 0, 0))
    arm = model.add(ix.RigidBody("arm", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, w)))
    motion = {"velocity": (speed, start * w, 0), "angular_velocity": (0, 0, w)}
    block = model.add(ix.RigidBody("block", mass, (0.01, 0.01, 0.01), position=(start, 0, 0), **motion))
    pin = model.add(ix.Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    slot = model.add(ix.Prismatic("slot", arm, block, at=(start, 0, 0), axis=(1, 0, 0)))
    model.add(ix.Motion("drive", pin, lambda t: w * t, w, 0.0))
    model.add(ix.JointFriction("rub", slot, mu, stick_velocity=1e-5))
    result = ix.simulate(model, (0.0, 1.0), method, t_eval=0.1)
    assert result.success, result.message
    roots = -mu * w + np.array([1, -1]) * w * np.sqrt(1 + mu**2)
    parts = np.linalg.solve([[1, 1], roots], [start, speed]) * np.exp(np.outer(result.t, roots))
    r, rate = parts.sum(axis=1), parts @ roots
    error = 3e-4 if method == "hht-i3" else 3e-5  # seen at rtol 1e-6; of second order and of others
    assert start + result["slot"].displacement == pytest.approx(r, abs=2 * error * r[-1])
    torque = 2 * mass * w * rate * r
    assert result["drive"].torque[:, 2] == pytest.approx(torque, abs=4 * error * torque[-1])


@pytest.mark.parametrize("method", ["auto", "hht-i3", "radau5", "firstorder-sdirk4", "al-index3"])
def test_a_mass_hauled_in_on_a_turning_rod(method):
    """Angular momentum stays: w = L / (I + m x(t)^2), and the pull is m (x'' - w^2 x)."""
    mass, inertia, start, rate = 0.5, 0.1, 0.5, 2.0
    model = ix.Model("rod", gravity=(0, 0, 0))
    rod = model.add(ix.RigidBody("rod", 1.0, (0.05, 0.06, inertia), angular_velocity=(0, 0, rate)))
    bead = model.add(ix.PointMass("bead", mass, position=(start, 0, 0), velocity=(0, start * rate, 0)))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Inline("rail", rod, bead, at=(start, 0, 0), axis=(1, 0, 0)))
    way = (lambda t: 0.2 * (np.cos(t) - 1), lambda t: -0.2 * np.sin(t), lambda t: -0.2 * np.cos(t))
    model.add(ix.RelativeCoordinate("haul", rod, bead, *way, at=(start, 0, 0), axis=(1, 0, 0)))
    result = ix.simulate(model, (0.0, 5.0), method, t_eval=0.25)
    assert result.success, result.message
    x = start + way[0](result.t)
    w = (inertia + mass * start**2) * rate / (inertia + mass * x**2)
    error = {"hht-i3": 2e-3, "al-index3": 2e-3}.get(method, 1e-5)  # at rtol 1e-6: of second order (1.4e-3), and others
    assert result["rod"].angular_velocity[:, 2] == pytest.approx(w, abs=error)
    pull = np.einsum("ti,ti->t", result["haul"].force, result["bead"].position) / x
    assert pull == pytest.approx(mass * (way[2](result.t) - w**2 * x), abs=3 * error)


@pytest.mark.parametrize("method", ["auto", "hht-i3", "radau5", "bdf-si2", "rosenbrock4"])
def test_a_pendulum_on_a_winch(method):
    """The length l(t) = 1 + 0.3 sin 3 t is given: l th'' + 2 l' th' + g sin th = 0, the pull and the work follow."""
    mass, a, w, th0 = 2.0, 0.3, 3.0, 0.5
    haul = (lambda t: a * np.sin(w * t), lambda t: a * w * np.cos(w * t), lambda t: -a * w * w * np.sin(w * t))
    start = (sin(th0), 0, -cos(th0))
    model = ix.Model("winch", gravity=(0, 0, -G))
    load = model.add(ix.PointMass("load", mass, position=start))
    model.add(ix.InPlane("plane", model.ground, load, at=start, axis=Y))
    f, df, ddf = haul
    model.add(ix.Distance("rope", model.ground, load, points=(ORIGIN, start), f=f, df=df, ddf=ddf))
    result = run(model, 5.0, method=method, rtol=1e-7, t_eval=0.25)
    length, rate, second = 1.0 + f(result.t), df(result.t), ddf(result.t)
    th, om = reference(
        lambda t, y: (y[1], -(G * np.sin(y[0]) + 2 * df(t) * y[1]) / (1.0 + f(t))), (th0, 0.0), result.t
    ).T
    error = {"hht-i3": 1e-3}.get(method, 3e-5)  # seen 3e-4, which is of second order; others up to 1e-5
    assert result["load"].position[:, 0] == pytest.approx(length * np.sin(th), abs=error)
    assert result["rope"].length == pytest.approx(length, abs=1e-11)
    pull = mass * (G * np.cos(th) + length * om**2 - second)
    assert np.einsum("ti,ti->t", result["rope"].force, -result["load"].position) / length == pytest.approx(
        pull, abs=100 * error
    )
    assert np.ptp(result.energy.balance) < 30 * error  # of 20 J
    assert result["load"].velocity[0] == pytest.approx(np.array(start) * rate[0], abs=1e-12)  # as the winch starts
