"""Coefficients of the implicit one-step methods of the thesis, exact, and what follows from them.

[NegrutThesis] Tables 13, sections 4.1, 4.5.1; docs/reference/papers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

Row = tuple[Fraction, ...]
APART = Fraction(1, 5)
"""Part of a step that stages must be apart to be extrapolated from: nearer ones would get large weights."""


def fractions(*rows: str) -> tuple[Row, ...]:
    """Rows of fractions from words.

    >>> fractions("1/2 1/4")
    ((Fraction(1, 2), Fraction(1, 4)),)
    """
    return tuple(tuple(Fraction(word) for word in row.split()) for row in rows)


@dataclass(frozen=True)
class Tableau:
    """A diagonally implicit Runge-Kutta formula whose last stage is the result, with embedded weights.

    `lower` holds the rows of A up to the diagonal, `embedded` the weights of the formula it is compared with.
    """

    lower: tuple[Row, ...]
    embedded: Row

    @property
    def stages(self) -> int:
        """Number of stages, an explicit first one included."""
        return len(self.lower)

    @property
    def gamma(self) -> Fraction:
        """The diagonal entry of the implicit stages."""
        return self.lower[-1][-1]

    @cached_property
    def A(self) -> list[list[Fraction]]:
        """The square matrix."""
        return [[*row, *([Fraction(0)] * (self.stages - len(row)))] for row in self.lower]

    @property
    def b(self) -> list[Fraction]:
        """Weights of the result: the last row (stiffly accurate)."""
        return self.A[-1]

    @property
    def c(self) -> list[Fraction]:
        """Places of the stages in the step."""
        return [sum(row, Fraction(0)) for row in self.A]

    def product(self, left: Sequence[Fraction]) -> list[Fraction]:
        """left^T A."""
        return [sum((left[j] * self.A[j][k] for j in range(self.stages)), Fraction(0)) for k in range(self.stages)]

    @property
    def mu(self) -> list[list[Fraction]]:
        """A A: weights of the stages' accelerations in the positions."""
        return [self.product(row) for row in self.A]

    @property
    def error(self) -> list[Fraction]:
        """b minus the embedded weights."""
        return [x - y for x, y in zip(self.b, self.embedded, strict=True)]

    @property
    def start_gap(self) -> list[Fraction]:
        """Weights of (a_n, stages): by how much a_n differs from the polynomial through stages APART from each other.

        Times the part of the step before the first stage, in which no stage sees a force that jumps; empty if the first
        stage is the start itself.

        >>> [str(x) for x in SDIRK4_16.start_gap]
        ['1/4', '-1', '-1', '0', '3/2', '1/4']
        """
        c = self.c
        if c[0] == 0:
            return []
        kept: list[int] = []
        for k in sorted(range(self.stages), key=c.__getitem__):
            if not kept or c[k] - c[kept[-1]] >= APART or k == self.stages - 1:
                kept.append(k)
        weights = [Fraction(1), *([Fraction(0)] * self.stages)]
        for k in kept:
            weights[k + 1] = -prod((-c[j] / (c[k] - c[j]) for j in kept if j != k), start=Fraction(1))
        return [min(c) * x for x in weights]

    def starts(self, embedded_last: bool) -> np.ndarray:
        """Starting values: weights of (a_n, stages before) for each stage, by the polynomial through them.

        With `embedded_last` the last stage starts where the embedded formula ends (4.5.2, step 8): then
        gamma a_s = sum_j (bhat_j - b_j) a_j over the stages before.
        """
        c, s = [float(x) for x in self.c], self.stages
        weights = np.zeros((s, s + 1))
        for i in range(s):
            points = [(0, 0.0)] + [(j + 1, c[j]) for j in range(i) if c[j] != 0.0]
            for place, x in points:
                others = [y for k, y in points if k != place]
                weights[i, place] = np.prod([(c[i] - y) / (x - y) for y in others])
        if embedded_last:
            weights[-1] = 0.0
            weights[-1, 1:s] = [float((y - x) / self.gamma) for x, y in zip(self.b, self.embedded, strict=True)][:-1]
        return weights


TRAPEZOIDAL = Tableau(fractions("0", "1/2 1/2"), fractions("0 1")[0])
"""The trapezoidal rule as two stages, the first explicit; embedded is backward Euler (section 4.1.2)."""

SDIRK4_16 = Tableau(
    fractions(
        "1/4",
        "1/2 1/4",
        "17/50 -1/25 1/4",
        "371/1360 -137/2720 15/544 1/4",
        "25/24 -49/48 125/16 -85/12 1/4",
    ),
    fractions("59/48 -17/96 225/32 -85/12 0")[0],
)
"""Table 13: order 4, embedded order 3, L-stable [Hairer, Wanner, Solving ODEs II, Table IV.6.5]."""

SDIRK4_15 = Tableau(
    fractions(
        "4/15",
        "1/2 4/15",
        "51069/144200 -7809/144200 4/15",
        "12047244770625658/141474406359725325 -3057890203562191/47158135453241775 "
        "2239631894905804/28294881271945065 4/15",
        "181513/86430 -89074/116015 83636/34851 -69863904375173/23297141763930 4/15",
    ),
    fractions("33665407/11668050 -2284766/15662025 11244716/4704885 -96203066666797/23297141763930 0")[0],
)
"""Section 4.5.1: order 4, embedded order 3, L-stable."""


@dataclass(frozen=True)
class RosenbrockNystrom:
    """A Rosenbrock-Nystrom formula for y'' = f(t, y, y'): section 4.4, defined by (4.70), (4.71)."""

    a: np.ndarray  # strictly lower
    e: np.ndarray  # lower, its diagonal the root that makes R(infinity) = 0
    b: np.ndarray
    embedded: np.ndarray

    @property
    def root(self) -> float:
        """The diagonal entry of `e`."""
        return float(self.e[0, 0])

    def transformed(self) -> dict[str, np.ndarray]:
        """The coefficients of the recursion without products with J: (4.54)."""
        a, e, b = self.a, self.e, self.b
        inverse, error = np.linalg.inv(e), self.b - self.embedded
        return {
            "w": a @ inverse,
            "c": np.tril(np.eye(4) / self.root - inverse, -1),
            "d": np.tril(e + e @ a @ inverse, -1),
            "t": a + a @ a @ inverse,
            "s": b @ inverse,
            "p": b + b @ a @ inverse,
            "ev": error @ inverse,
            "ep": error + error @ a @ inverse,
            "e_i": e.sum(axis=1),
            "a_i": a.sum(axis=1),
        }


_ROOT = 0.57281606248213485540800138497677
_A31, _A32 = 0.520920789953603875506462889176, 0.13429418720886316056575486993504
_E21 = -2.3419931401930557300368433459856
_E31, _E32 = -0.027333762959520416173037208584522, 0.21381164547950611157807285149284
_E41, _E42 = -0.25908384205963720398519634100885, -0.19059580698576252285830011433486
_E43 = -0.2280310396446018914802191440878
_B1, _B2, _B4 = (
    0.32453470854676169685892874870123,
    0.049086543368356741609323318437127,
    0.62637874808488156153174793286164,
)
_C2, _C3, _C4 = (
    0.14454971261338148672257604181747,
    0.12455968651845054291541901199242,
    0.20996981091456409485554205701411,
)
ROSENBROCK4 = RosenbrockNystrom(
    a=np.array([[0, 0, 0, 0], [2 * _ROOT, 0, 0, 0], [_A31, _A32, 0, 0], [_A31, _A32, 0, 0]]),
    e=np.array([[_ROOT, 0, 0, 0], [_E21, _ROOT, 0, 0], [_E31, _E32, _ROOT, 0], [_E41, _E42, _E43, _ROOT]]),
    b=np.array([_B1, _B2, 0.0, _B4]),
    embedded=np.array([_A31, _C2, _C3, _C4]),  # its free parameter: bhat_1 = a_31
)
"""(4.70), (4.71) recomputed with the root e to full precision: four stages, three evaluations, order 4(3), L-stable."""
