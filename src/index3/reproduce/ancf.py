"""The paper that compares HHT with explicit Adams on a flexible pendulum of growing modulus."""

from __future__ import annotations

import math

from index3 import library
from index3.methods.direct.hht_method import HHT
from index3.reproduce.reproduction import Reproduction, Row, motion

MODULI = tuple(2.0 * 10.0**k for k in range(5, 12))
STIFF = (2e8, 2e10)
"""Moduli between which the growth of the explicit work is taken [N/m^2]; 2e11 takes half a minute."""


def work(method: str | HHT, young: float, end: float, counter: str) -> int:
    """A counter of a run at the paper's tolerances."""
    return motion(library.ancf_pendulum(young), end, method, rtol=1e-5, atol=1e-8, t_eval=[end]).stats[counter]


def experiment() -> Reproduction:
    """Spread of HHT's Newton iterations over seven moduli, and growth of the evaluations of adams."""
    iterations = [work(HHT(alpha=-0.3), young, 1.0, "newton") for young in MODULI]
    low, high = (work("adams", young, 0.1, "evaluations") for young in STIFF)
    growth = math.log(high / low) / math.log(STIFF[1] / STIFF[0])
    rows = [
        Row("HHT: most over fewest Newton iterations, 2e5 to 2e11", 1.0, max(iterations) / min(iterations), factor=2.0),
        Row("adams: exponent of the modulus in its evaluations", 0.5, growth, factor=1.2),
    ]
    remark = (
        "The paper shows curves: work of HHT that hardly depends on the modulus, and explicit work that grows as the\n"
        "highest frequency, which is as the root of the modulus: docs/reference/reproduction_ancf.md."
    )
    return Reproduction("HHT against explicit Adams: pendulum of two ANCF beams, seven moduli", rows, remark)
