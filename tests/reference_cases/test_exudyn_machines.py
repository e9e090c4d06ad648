"""Machines of Exudyn's test models (github.com/jgerstmayr/EXUDYN, main/pythonDev/TestModels and Examples)."""

import warnings
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import index3 as ix

Z = (0, 0, 1)


def slider_crank(floating):
    """Driven by 0.1 N m, on ground or on a frame of 2 kg on springs; all bodies in line at the start."""
    model = ix.Model("slider-crank", gravity=(0, 0, 0))
    frame = model.ground
    if floating:
        frame = model.add(ix.PlanarBody("frame", 2.0, 1.0))
        springs = {"stiffness": (5e3, 5e3, 0, 0, 0, 5e3), "damping": (50, 50, 0, 0, 0, 50)}
        model.add(ix.Bushing("springs", model.ground, frame, at=(0, 0, 0), **springs))
    crank = model.add(ix.PlanarBody("crank", 0.2, 0.2 / 12 * 0.01, position=(0.05, 0)))
    rod = model.add(ix.PlanarBody("rod", 0.2, 0.2 / 12 * 0.09, position=(0.25, 0)))
    slider = model.add(ix.PlanarBody("slider", 0.4, 4e-4, position=(0.4, 0)))
    for name, pair, x in (("A", (frame, crank), 0.0), ("B", (crank, rod), 0.1), ("C", (rod, slider), 0.4)):
        model.add(ix.Revolute(name, *pair, at=(x, 0, 0), axis=Z))
    model.add(ix.Prismatic("guide", frame, slider, at=(0.4, 0, 0), axis=(1, 0, 0)))
    model.add(ix.Torque("drive", crank, (0, 0, 0.1)))
    return model


@pytest.mark.parametrize(
    ("method", "rtol", "limit"), [("auto", 1e-8, 2e-8), ("radau5", 1e-8, 2e-8), ("hht-i3", 1e-7, 1e-5)]
)
def test_slider_crank_on_a_floating_frame(method, rtol, limit):
    """sliderCrankFloatingTest: sum of the slider's positions after 0.3 s on ground and on the frame.

    Exudyn has 0.591649163 with 5000 steps, ours with tight tolerances 0.591649157; limits for the sum of both errors.
    """
    runs = [ix.simulate(slider_crank(floating), (0.0, 0.3), method, rtol=rtol) for floating in (False, True)]
    assert sum(run["slider"].position[-1, 0] for run in runs) == pytest.approx(0.591649160, abs=limit)


AREA, BULK, FLOW, SUPPLY, DAMPING, LENGTH = 0.01, 1e11, 2e-5, 200e5, 2e5, sqrt(2 * 0.25**2)


def flow(opening, pressure):
    """Into a chamber of 1 m^3 from the supply, or out of it to the tank, through a valve that is open so far."""
    head = SUPPLY - pressure if opening >= 0.0 else pressure
    return opening * FLOW * np.sign(head) * sqrt(abs(head))


def opening(t, length):
    """Of the valve: proportional to how far the cylinder is from where it should be."""
    return 2.0 * (LENGTH + 0.1 * (max(0.5, min(1.5, 1.0 - cos(pi * t))) - 0.5) - length)


def cylinder(t, r, A, v, w, p, out, x, rate):
    """Thrust and pressures of a cylinder with two chambers between two points."""
    d = r[1] - r[0]
    length = sqrt(d @ d)
    speed = d @ (v[1] - v[0]) / length
    out[1, :3] = (AREA * (x[0] - x[1]) - DAMPING * speed) * d / length
    out[0, :3] = -out[1, :3]
    rate[0] = BULK * (-AREA * speed + flow(opening(t, length), x[0]))
    rate[1] = BULK * (AREA * speed + flow(-opening(t, length), x[1]))


@pytest.mark.parametrize(("method", "limit"), [("auto", 1e-6), ("radau5", 1e-6), ("bdf-si2", 1e-5), ("hht-i3", 1e-4)])
def test_arm_lifted_by_a_hydraulic_cylinder(method, limit):
    """hydraulicActuatorSimpleTest, with a valve that follows all the time, against SciPy: angle, pressures in 100 bar.

    Pressures of 1e7 Pa beside angles of 1e-3 rad, and rates of 1e9 Pa/s: no warning is called for.
    """

    def rates(t, y):
        angle, spin, first, second = y
        d = 0.25 * np.array([cos(angle), sin(angle) + 1.0])
        length, arm = sqrt(d @ d), 0.25 * np.array([-sin(angle), cos(angle)])
        speed = spin * (d @ arm) / length
        thrust = AREA * (first - second) - DAMPING * speed
        valve = opening(t, length)
        turn = (thrust * (d @ arm) / length - 120 * 9.81 * 0.5 * cos(angle)) / 40.0
        pressures = BULK * (-AREA * speed + flow(valve, first)), BULK * (AREA * speed + flow(-valve, second))
        return [spin, turn, *pressures]

    exact = solve_ivp(rates, (0.0, 2.0), [0, 0, 2e6, 2e6], "Radau", rtol=1e-9, atol=1e-9, max_step=0.02).y[:, -1]
    model = ix.Model("arm", gravity=(0, -9.81, 0))
    arm = model.add(ix.PlanarBody("arm", 120.0, 10.0, position=(0.5, 0)))
    model.add(ix.Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=Z))
    oil = model.add(ix.States("oil", (2e6, 2e6)))
    ends = model.ground.marker((0, -0.25, 0)), arm.marker((-0.25, 0, 0))
    model.add(ix.UserForce("cylinder", ends, cylinder, states=oil))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        ix.simulate(model, (0.0, 2.0), method, rtol=1e-3)
    result = ix.simulate(model, (0.0, 2.0), method, rtol=1e-5)
    assert result["pin"].angle[-1] == pytest.approx(exact[0], abs=limit)
    np.testing.assert_allclose(1e-7 * result.states["oil"][-1], 1e-7 * exact[2:], atol=limit)


@pytest.mark.parametrize(("method", "limit"), [("auto", 2e-5), ("radau5", 2e-5), ("hht-i3", 2e-4), ("al-index3", 2e-4)])
def test_a_mass_bounces_on_a_spring(method, limit):
    """postNewtonStepContactTest: flight and contact with a linear spring have closed solutions."""
    z, v, t, g, w = 0.01, -1.0, 0.0, 9.81, sqrt(20000 / 0.25)

    def depth(s, v):
        return g / w**2 * (cos(w * s) - 1.0) + v / w * sin(w * s)

    while True:
        fall = (v + sqrt(v * v + 2 * g * z)) / g
        if t + fall > 0.5:
            break
        v, t = v - g * fall, t + fall
        touch = brentq(depth, 0.3 * pi / w, 1.9 * pi / w, (v,))
        z, v, t = 0.0, -g / w * sin(w * touch) + v * cos(w * touch), t + touch
    height = z + v * (0.5 - t) - 0.5 * g * (0.5 - t) ** 2
    model = ix.Model("bounce", gravity=(0, 0, -g))
    ball = model.add(ix.RigidBody.sphere("ball", 0.05, 0.25, position=(0, 0, 0.06), velocity=(0, 0, -1)))
    shapes = (ix.Sphere(0.05), ix.Plane())
    model.add(ix.Contact("floor", ball, model.ground, shapes, stiffness=20000.0, exponent=1.0))
    result = ix.simulate(model, (0.0, 0.5), method, rtol=1e-7)
    assert result["ball"].position[-1, 2] - 0.05 == pytest.approx(height, abs=limit)


@pytest.mark.parametrize(("method", "limit"), [("auto", 1e-4), ("adams", 1e-4), ("radau5", 1e-4), ("bdf-si2", 1e-2)])
def test_a_rotor_runs_up_through_its_critical_speed(method, limit):
    """After rigidRotor3Drunup: a disc 1 mm off its shaft, which bends, driven by 0.6 N m; against SciPy."""
    mass, inertia, k, c, e, torque = 2.0, 0.04, 2e4, 8.0, 1e-3, 0.6

    def rates(t, y):
        x, y_, angle, vx, vy, spin = y
        arm = e * np.array([cos(angle), sin(angle)])
        fx = -k * (x - arm[0]) - c * (vx + spin * arm[1])
        fy = -k * (y_ - arm[1]) - c * (vy - spin * arm[0])
        return [vx, vy, spin, fx / mass, fy / mass, (torque - arm[0] * fy + arm[1] * fx) / inertia]

    exact = solve_ivp(rates, (0.0, 10.0), [e, 0, 0, 0, 0, 0], "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    model = ix.Model("rotor", gravity=(0, 0, 0))
    disc = model.add(ix.RigidBody("disc", mass, (0.02, 0.02, inertia), position=(e, 0, 0)))
    shaft = model.ground.marker(), disc.marker_at((0, 0, 0))
    model.add(ix.Bushing("shaft", *shaft, stiffness=(k, k, k), damping=(c, c, c)))
    model.add(ix.ParallelAxes("bearing", model.ground, disc, axis=Z))
    model.add(ix.Torque("motor", disc, (0, 0, torque)))
    result = ix.simulate(model, (0.0, 10.0), method, rtol=1e-7)
    assert result["disc"].angular_velocity[-1, 2] == pytest.approx(exact[5], abs=10 * limit)
    np.testing.assert_allclose(1e3 * result["disc"].position[-1, :2], 1e3 * exact[:2], atol=10 * limit)
