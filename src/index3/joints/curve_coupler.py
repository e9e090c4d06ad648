"""A joint coordinate that is a function of another, given by points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from index3.bodies.marker import as_numbers, as_positive
from index3.constraints.curve_coupler import A0, A3, COLUMNS, START
from index3.errors import ModelError
from index3.fields import TEXTS, declare, number, numbers
from index3.joints.base import Joint, Primitive
from index3.joints.transmissions import Coupler, joint_of_term
from index3.registry import register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from index3.user_types import ArrayLike

CLOSED = 1e-9
"""Part of a period by which the range of x may differ from it: rounding."""


@register
class CurveCoupler(Coupler):
    """A coordinate of the second joint is a function of one of the first: x2 = y(x1), 1 row; cams, variable ratios.

    y is the cubic spline through the points, with continuous curvature: accelerations are continuous. Coordinates are
    zero at assembly; angles count full turns. The generalised force on x2 is -lam, that on x1 is lam times the slope of
    y.

    Parameters
    ----------
    name : str
    first, second : joints; x1 is an angle or displacement of the first, x2 of the second
    x, y : at least 4 numbers each, x increasing [rad or m]
    period : of x1, as of a cam (2 pi): the curve repeats itself, risen by y[-1] - y[0] in each turn; x[-1] - x[0] must
        be the period. Without it a run ends where x1 leaves the range of x
    coordinates : names of x1 and x2, where a joint has several

    Raises
    ------
    ModelError : names the coupler; points that are no curve.
    """

    symbol = ""
    fields = declare(
        first=joint_of_term(0),
        second=joint_of_term(1),
        x=numbers(),
        y=numbers(),
        period=number(None),
        coordinates=TEXTS.found(lambda coupler: [term[2] for term in coupler.terms]),
    )

    def __init__(
        self,
        name: str,
        first: Joint,
        second: Joint,
        x: ArrayLike,
        y: ArrayLike,
        *,
        period: float | None = None,
        coordinates: Sequence[str] | None = None,
    ) -> None:
        self._set_name(name)
        names = (None, None) if coordinates is None else tuple(coordinates)
        if len(names) != 2:
            raise ModelError(f"{self.label} has coordinates {coordinates!r}. Give two names, of x1 and of x2.")
        self._couple(*(self._term(1.0, joint, key) for joint, key in zip((first, second), names, strict=True)))
        self.x, self.y = (np.array(as_numbers(values, self.label, key)) for values, key in ((x, "x"), (y, "y")))
        self.period = None if period is None else as_positive(period, self.label, "period")
        self._check()
        pieces, advance = self._pieces()
        law = {"pieces": pieces, "period": self.period or 0.0, "advance": advance}
        self.recipe = (Primitive("curve_coupler", ("curve",), {"terms": self.terms, **law}),)

    def _check(self) -> None:
        """Raise unless the points are a curve."""
        if len(self.x) != len(self.y) or len(self.x) < 4:
            raise ModelError(
                f"{self.label} has {len(self.x)} numbers x and {len(self.y)} numbers y. Give as many, at least 4."
            )
        if not np.all(np.diff(self.x) > 0.0):
            raise ModelError(f"{self.label} has x that does not increase. Give each x once, in increasing order.")
        if self.period is not None and abs(self.x[-1] - self.x[0] - self.period) > CLOSED * self.period:
            raise ModelError(
                f"{self.label} has x over {self.x[-1] - self.x[0]:.9g}, and the period {self.period:.9g}. Give x from "
                "the beginning of a period to its end, both included."
            )

    def _pieces(self) -> tuple[np.ndarray, float]:
        """Rows of the table of its cubics, and how much the curve rises in a period."""
        from scipy.interpolate import CubicSpline  # here: 0.1 s that models without curves need not pay

        advance = 0.0 if self.period is None else float(self.y[-1] - self.y[0])
        mean = advance / (self.x[-1] - self.x[0])
        along = mean * (self.x - self.x[0])
        rest = self.y - along
        if self.period is not None:
            rest[-1] = rest[0]  # but for rounding
        c = CubicSpline(self.x, rest, bc_type="not-a-knot" if self.period is None else "periodic").c
        pieces = np.zeros((len(self.x), COLUMNS))
        pieces[:, START] = self.x
        pieces[:-1, A0 : A3 + 1] = c[::-1].T
        pieces[:-1, A0] += along[:-1]
        pieces[:-1, A0 + 1] += mean
        return pieces, advance

    @property
    def obstacle(self) -> str:
        """What a step may pass over."""
        return f"A part of the curve of {self.label}"

    def explain(self, stage: str, t: float) -> str:
        """What the kernels found wrong."""
        joint, coordinate = self.terms[0][1:]
        return (
            f"{self.label}: the {coordinate} of {joint.label} leaves the range of x, {self.x[0]:.6g} to "
            f"{self.x[-1]:.6g}, at t = {t:.6g}. Give more points, or period=... if the curve repeats itself."
        )
