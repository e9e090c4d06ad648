"""The stiff double pendulum of the thesis to 1e-5 rad: index3 in words, CVODES on the minimal equations by hand.

Both rods swing in the ground x-y plane; angles from x. The second spring-damper (3e5 N m/rad, 5e4 N m s/rad) makes it
stiff. Rod 2 starts at 10 rad/s.
"""

from __future__ import annotations

import functools
import math

import numpy as np

import index3 as ix
from peer_rows.row import Row, Way

HALF, MASSES, G = (1.0, 1.5), (3.0, 0.3), 9.81
STIFFNESS, DAMPING, REST, END = (400.0, 3e5), (15.0, 5e4), 1.5 * math.pi, 2.0
START = (2.0 * math.pi, 23.0 * math.pi / 12.0, 0.0, 10.0)
INERTIAS = tuple(m * half**2 / 3.0 for m, half in zip(MASSES, HALF, strict=True))


def accelerations(a, b, u, w, m=math):
    """Angular accelerations of the rods, from the equations of motion solved by hand."""
    (l1, l2), (m1, m2), (j1, j2) = HALF, MASSES, INERTIAS
    second = -STIFFNESS[1] * (b - a) - DAMPING[1] * (w - u)
    first = -STIFFNESS[0] * (a - REST) - DAMPING[0] * u - second
    s, c = m.sin(a - b), m.cos(a - b)
    A, B, D = j1 + (m1 + 4.0 * m2) * l1**2, 2.0 * m2 * l1 * l2 * c, j2 + m2 * l2**2
    f1 = first - (m1 + 2.0 * m2) * G * l1 * m.cos(a) - 2.0 * m2 * l1 * l2 * s * w**2
    f2 = second - m2 * G * l2 * m.cos(b) + 2.0 * m2 * l1 * l2 * s * u**2
    determinant = A * D - B * B
    return (D * f1 - B * f2) / determinant, (A * f2 - B * f1) / determinant


@functools.cache
def reference():
    """The first angle at the end, by SciPy's Radau at 1e-12."""
    from scipy.integrate import solve_ivp

    right = lambda t, y: (y[2], y[3], *accelerations(*y))  # noqa: E731
    return float(solve_ivp(right, (0.0, END), START, method="Radau", rtol=1e-12, atol=1e-13).y[0, -1])


def build():
    """The same in words."""
    model = ix.Model("stiff double pendulum", gravity=(0.0, -G, 0.0))
    ends, speeds = np.zeros(2), np.zeros(2)
    rods = []
    for k in (0, 1):
        along, across = (
            np.array([math.cos(START[k]), math.sin(START[k])]),
            np.array([-math.sin(START[k]), math.cos(START[k])]),
        )
        rates = {"velocity": speeds + HALF[k] * START[2 + k] * across, "spin": START[2 + k]}
        place = ends + HALF[k] * along
        rods.append(
            model.add(ix.PlanarBody(f"rod{k + 1}", MASSES[k], INERTIAS[k], position=place, angle=START[k], **rates))
        )
        pin = (*ends, 0.0)
        pair = (rods[k - 1] if k else model.ground, rods[k])
        joint = model.add(ix.Revolute(f"pin{k + 1}", *pair, at=pin, axis=(0, 0, 1)))
        offset = REST - START[0] if k == 0 else START[0] - START[1]
        spring = {"stiffness": STIFFNESS[k], "damping": DAMPING[k], "free_angle": offset}
        model.add(ix.RotationalSpringDamper(f"spring{k + 1}", joint, **spring))
        ends, speeds = ends + 2.0 * HALF[k] * along, speeds + 2.0 * HALF[k] * START[2 + k] * across
    return model


def ways(prepared):
    """index3, compiled anew in each run or once before."""
    model = build()
    for method in ("radau5", "bdf-i3", "hht-i3", "rosenbrock4"):
        simulation = ix.prepare(model, method, progress=False)
        for rtol in (1e-3, 2e-4, 1.3e-4, 1e-4, 1e-5, 1e-6, 5e-7, 1e-7):
            yield way(model, simulation if prepared else None, method, rtol)


def way(model, simulation, method, rtol):
    """One tolerance."""
    last = {}

    def run():
        settings = {"rtol": rtol, "t_eval": [END]}
        if simulation is not None:
            result = simulation.run((0.0, END), **settings)
        else:
            result = ix.simulate(model, (0.0, END), method, progress=False, **settings)
        last["loop"] = result.stats["seconds_steps"]
        return abs(float(result["pin1"].angle[-1]) + START[0] - reference()) if result.success else np.inf

    return Way(f"{method} {rtol:.2g}", run, loop=lambda: last["loop"])


def cvodes():
    """CVODES on the minimal equations, with exact derivatives; its set-up is left out."""
    import casadi as ca

    x = ca.SX.sym("x", 4)
    ode = {"x": x, "ode": ca.vertcat(x[2], x[3], *accelerations(x[0], x[1], x[2], x[3], ca))}
    for tol in (1e-4, 1e-5, 5e-6, 2e-6, 1e-6, 5e-7, 1e-7, 1e-8):
        options = {"reltol": tol, "abstol": tol, "max_num_steps": 1_000_000}
        integrator = ca.integrator("run", "cvodes", ode, 0.0, END, options)
        yield Way(f"cvodes {tol:.0e}", lambda go=integrator: abs(float(go(x0=START)["xf"][0]) - reference()))


CODES = {"index3": lambda: ways(False), "index3 prepared": lambda: ways(True), "CasADi CVODES": cvodes}
ROWS = [Row("stiff double pendulum to 1e-5", 1e-5, CODES, {"index3": 3e-3, "index3 prepared": 1.5e-3})]
