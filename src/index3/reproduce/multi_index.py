"""The paper on the multi-index augmented Lagrangian method, Table 1: a double pendulum at constant steps."""

from __future__ import annotations

import numpy as np

from index3.bodies.natural_linkage import NaturalLinkage
from index3.model.model import Model
from index3.reproduce.reproduction import Reproduction, Row, motion

PRINTED = {"al-index1": {1e-3: 4.680e-3, 1e-4: 4.421e-5}, "al-index3": {1e-3: 4.854e-3, 1e-4: 4.399e-5}}
"""Largest error of the energy [J] over 10 s, by method and step [s]."""


def bars() -> Model:
    """Two uniform bars of 1 m and 1 kg by their end points, released from rest in line along x."""
    linkage = NaturalLinkage("bars", planar=True)
    support, P, Q = linkage.fixed("O", (0, 0)), linkage.point("P", (1, 0)), linkage.point("Q", (2, 0))
    linkage.rigid("upper", [support, P], mass=1.0)
    linkage.rigid("lower", [P, Q], mass=1.0)
    model = Model("bars", gravity=(0, -9.81, 0))
    model.add(linkage)
    return model


def energy_error(method: str, step: float) -> float:
    """Largest energy of a motion that has none, as the method gives it [J]."""
    result = motion(bars(), 10.0, method, step=step, t_eval=1e-3, project=False)
    return float(np.abs(result.energy.total).max())


def experiment() -> Reproduction:
    """Both indices, two steps."""
    rows = [
        Row(f"{method}, steps of {step:g} s: energy error [J]", printed, energy_error(method, step), factor=1.05)
        for method, errors in PRINTED.items()
        for step, printed in errors.items()
    ]
    return Reproduction("Multi-index augmented Lagrangian, Table 1: double pendulum, 10 s", rows)
