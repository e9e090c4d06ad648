"""The thesis, Tables 20 to 23: errors of two methods on the stiff double pendulum."""

from __future__ import annotations

import numpy as np

from index3 import library
from index3.reproduce.reproduction import Reproduction, Row, motion
from index3.results.result import Result

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5)
PRINTED = {
    "firstorder-sdirk4": ((3.28e-2, 3.79e-3, 7.55e-4, 1.71e-4), (2.29e-1, 3.13e-2, 6.41e-3, 1.49e-3)),
    "rosenbrock4": ((5.22e-3, 4.20e-4, 4.92e-5, 1.90e-5), (4.06e-2, 3.79e-3, 8.65e-4, 2.34e-4)),
}
"""Largest errors of the first angle [rad] and of its rate [rad/s] at the tolerances."""
TIMES = np.linspace(0.0, 2.0, 201)


def swing(method: str, rtol: float, atol: float) -> Result:
    """2 s of the pendulum."""
    return motion(library.double_pendulum(), 2.0, method, rtol=rtol, atol=atol, t_eval=TIMES)


def experiment() -> Reproduction:
    """Both methods at all tolerances, against radau5 at a tight one."""
    exact, rows = swing("radau5", 1e-10, 1e-12), []
    for method, (angles, rates) in PRINTED.items():
        for tolerance, angle, rate in zip(TOLERANCES, angles, rates, strict=True):
            found = swing(method, tolerance, tolerance)
            errors = [
                float(np.abs(getattr(found["rod1"], name) - getattr(exact["rod1"], name)).max())
                for name in ("angle", "spin")
            ]
            rows.append(Row(f"{method} at {tolerance:g}: error of angle 1 [rad]", angle, errors[0], factor=3.0))
            rows.append(Row(f"{method} at {tolerance:g}: error of its rate [rad/s]", rate, errors[1], factor=3.0))
    remark = (
        "The printed errors of the first method come from a looser iteration, those of the second from other\n"
        "coordinates and weights: docs/reference/reproduction_thesis.md."
    )
    return Reproduction("Thesis, Tables 20 to 23: stiff double pendulum, 2 s", rows, remark)
