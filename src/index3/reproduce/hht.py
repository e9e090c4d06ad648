"""The paper on HHT for index 3: order of the method, and what its damping leaves of a fast motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3 import library
from index3.bodies.point_mass import PointMass
from index3.forces.spring_damper import SpringDamper
from index3.methods.direct.hht_method import HHT
from index3.model.model import Model
from index3.reproduce.reproduction import Reproduction, Row, motion

STEPS = (1e-3, 5e-4)
ALPHAS = (0.0, -0.1, -0.3)


def order(**options: Any) -> float:
    """Observed order in the positions of a slider-crank, from two constant steps and a reference."""
    model, end = library.slider_crank(), 0.2
    exact = motion(model, end, "dop853", rtol=1e-12, t_eval=[end]).q[-1]
    method = HHT(alpha=-0.3, **options)
    errors = [np.abs(motion(model, end, method, step=h, t_eval=[end]).q[-1] - exact).max() for h in STEPS]
    return float(np.log(errors[0] / errors[1]) / np.log(STEPS[0] / STEPS[1]))


def oscillator() -> Model:
    """A mass of 1 kg that a spring of 1e9 N/m holds in its place, a little off it."""
    model = Model("oscillator", gravity=(0, 0, 0))
    mass = model.add(PointMass("mass", 1.0, position=(1e-7, 0, 0)))  # small: predictions go 1e4 times as far
    far = model.ground.marker((-10, 0, 0))
    model.add(SpringDamper("spring", far, mass.marker(), stiffness=1e9, length=10.0))
    return model


def decay(alpha: float) -> float:
    """What a step leaves of a motion that is far too fast for it: the largest root of the recurrence of positions."""
    x = motion(oscillator(), 0.12, HHT(alpha=alpha), step=0.01, project=False, audit="off")["mass"].position[1:, 0]
    past = np.column_stack([x[2:-1], x[1:-2], x[:-3]])
    coefficients = np.linalg.lstsq(past, x[3:])[0]
    return float(np.abs(np.roots([1.0, *-coefficients])).max())


def experiment() -> Reproduction:
    """Orders, and the spectral radius at infinity (1+alpha)/(1-alpha)."""
    rows = [
        Row("order in q, mass matrix and forces of one instant", 2.0, order(), factor=1.05),
        Row("order in q, mass matrix as printed", 2.0, order(mass="end"), factor=1.05),
        *(Row(f"alpha = {a:g}: left of a fast motion after a step", (1 + a) / (1 - a), decay(a), 1.05) for a in ALPHAS),
    ]
    remark = (
        "As printed, the mass matrix of one instant meets the acceleration of another, which costs an order with\n"
        "Euler parameters (docs/theory/hht.md). The printed radius is that of the formula for h -> infinity."
    )
    return Reproduction("HHT for index 3: order and damping", rows, remark)
