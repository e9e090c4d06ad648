"""A spatial four-bar linkage in closed form, as a solver would store it."""

from __future__ import annotations

import numpy as np

from index3.results.arrays import empty_arrays
from index3.results.layout import Layout
from index3.results.result import Result

CRANK, COUPLER, ROCKER, GROUND = 0.4, 1.0, 0.8, 1.0
SPEED = 3.0  # of the crank about +y, rad/s
BARS = {"crank": CRANK, "coupler": COUPLER, "rocker": ROCKER}
Y_AXIS = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]  # z = ground y; columns x, y, z of a marker


def bar_ends(t):
    """Points A, B, C, D of the linkage in the x-z plane as complex numbers x + i z."""
    t = np.asarray(t)
    B = CRANK * np.exp(1j * (np.pi / 2 - SPEED * t))  # +y turns z towards x
    D = np.full(t.shape, GROUND + 0j)
    d = D - B
    c = abs(d)
    along = (c**2 + COUPLER**2 - ROCKER**2) / (2 * c)
    C = B + d / c * (along + 1j * np.sqrt(COUPLER**2 - along**2))
    return np.zeros(t.shape, complex), B, C, D


def bar_coordinates(t):
    """q of the three bars, (n_t, 21): body x along the bar, angle about y by which x turns from ground x."""
    A, B, C, D = bar_ends(t)
    columns = []
    for start, end in ((A, B), (B, C), (C, D)):
        middle = (start + end) / 2
        half = -np.unwrap(np.angle(end - start)) / 2  # positive about +y turns x towards -z
        zero = np.zeros_like(half)
        columns += [middle.real, zero, middle.imag, np.cos(half), zero, np.sin(half), zero]
    return np.stack(columns, axis=1)


def bar_angles(t):
    """Angles of the bars about +y, (n_t, 3)."""
    A, B, C, D = bar_ends(t)
    return -np.unwrap(np.angle(np.stack([B - A, C - B, D - C], axis=1)), axis=0)


def marker(body, position):
    return {"body": body, "position": list(position), "axes": Y_AXIS}


def four_bar_layout():
    bodies = [
        {
            "name": name,
            "kind": "rigid",
            "start": 7 * k,
            "size": 7,
            "mass": 1.0,
            "shape": {"type": "rod", "ends": [[-length / 2, 0.0, 0.0], [length / 2, 0.0, 0.0]]},
        }
        for k, (name, length) in enumerate(BARS.items())
    ]
    ends = {name: ([-length / 2, 0, 0], [length / 2, 0, 0]) for name, length in BARS.items()}
    sides = {
        "A": (marker("ground", (0, 0, 0)), marker("crank", ends["crank"][0])),
        "B": (marker("crank", ends["crank"][1]), marker("coupler", ends["coupler"][0])),
        "C": (marker("coupler", ends["coupler"][1]), marker("rocker", ends["rocker"][0])),
        "D": (marker("rocker", ends["rocker"][1]), marker("ground", (GROUND, 0, 0))),
    }
    labels = ["x", "y", "z", "x1.z2", "y1.z2"]
    joints = [
        {
            "name": name,
            "type": "Revolute",
            "first": first,
            "second": second,
            "rows": list(range(5 * k, 5 * k + 5)),
            "row_labels": labels,
            "coordinates": ["angle"],
            "angle": k,
            "angle_zero": 0.0,
            "zeros": {},
            "unique": False,
        }
        for k, (name, (first, second)) in enumerate(sides.items())
    ]
    rows = [f"{name}.{label}" for name in sides for label in labels] + [f"{name}.norm" for name in BARS]
    return Layout("four-bar", bodies, joints, [], rows)


def four_bar_result(n_t=201, t_end=4.0):
    """A `Result` of the linkage: rates by central differences of the closed form, made-up but smooth reactions."""
    t = np.linspace(0.0, t_end, n_t)
    layout = four_bar_layout()
    arrays = empty_arrays(n_t, 21, 23, 4, 4)
    h = 1e-4
    q, after, before = bar_coordinates(t), bar_coordinates(t + h), bar_coordinates(t - h)
    angles = bar_angles(t)
    zero = np.zeros((n_t, 1))
    relative = np.diff(np.hstack([zero, angles, zero]), axis=1)
    for k, joint in enumerate(layout.joints):
        joint["angle_zero"] = float(relative[0, k])
    arrays |= {"t": t, "q": q, "v": (after - before) / (2 * h), "a": (after - 2 * q + before) / h**2, "angle": relative}
    phase = np.arange(4)[:, None] + np.arange(6)
    arrays["wrench"] = 10.0 * np.cos(SPEED * t[:, None, None] + phase)
    arrays["lam"] = np.cos(t[:, None] + np.arange(23))
    arrays["potential"] = 9.80665 * (q[:, 2] + q[:, 9] + q[:, 16])
    arrays["kinetic"] = 25.0 - arrays["potential"] + 1e-4 * np.sin(5 * t)
    arrays["work"] = 2.0 * t
    arrays["kinetic"] += arrays["work"]
    noise = np.random.default_rng(7).lognormal(0.0, 0.4, (n_t, 3))
    arrays["violation"] = noise * np.array([2e-15, 4e-14, 6e-13])
    arrays["violation_scaled"] = noise * np.array([1e-15, 2e-14, 1e-13])
    stats = {"steps": 812, "rejected": 13, "newton": 1730, "newton_failed": 0, "factorisations": 96, "seconds": 0.0412}
    info = {
        "status": 0,
        "message": "The end of the time span was reached.",
        "success": True,
        "stats": stats,
        "method": "hht-i3",
        "options": {"rtol": 1e-6, "atol": 1e-8, "alpha": -0.3, "max_step": np.inf},
    }
    return Result(layout, arrays, info)
