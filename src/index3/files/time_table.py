"""Functions of time through given points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.bodies.smooth import QUIET, SmoothFunction, onsets
from index3.errors import ModelError
from index3.forces.curve import EXTRAPOLATIONS, check_increasing, numbers

if TYPE_CHECKING:
    from index3.user_types import ArrayLike

# How far outside, relative to its length, a table still answers: the roundings of the times of a run.
SLACK = 1e-9
BETWEEN = 0.4
"""Part of the distance of two points that a first step may take: at the points themselves a spline does not swing."""
SMALL_VALUE = 1e-4
"""Part of the largest value below which a table does not begin to act; its spline swings that much far from a rise."""


class TimeTable(SmoothFunction):
    """A function of time through points, with continuous first and second derivative: a cubic spline.

    Parameters
    ----------
    t, y : at least two numbers each; t increases [s]
    extrapolation : before the first and after the last point: "error": ends the run, with the time; "constant": the
        values there; "linear": on with the slope there

    As f of a `Motion` it supplies the derivatives as well. Between points a spline may swing beyond them: give enough.

    Raises
    ------
    ModelError : says which number is wrong.

    >>> ramp = TimeTable([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0])
    >>> round(ramp(1.5), 12), round(ramp.derivative(1.5), 12)
    (1.5, 1.0)
    """

    told: ClassVar[tuple[str, ...]] = ("t", "y", "extrapolation", "pieces")  # what all else follows from

    def __init__(self, t: ArrayLike, y: ArrayLike, *, extrapolation: str = "error") -> None:
        self.t, self.y = numbers(t, "t", "TimeTable"), numbers(y, "y", "TimeTable")
        if len(self.t) != len(self.y) or len(self.t) < 2:
            raise ModelError(f"TimeTable has {len(self.t)} t and {len(self.y)} y. Give one y for each t, at least two.")
        check_increasing(self.t, "t", "TimeTable")
        if extrapolation not in EXTRAPOLATIONS:
            raise ModelError(f"TimeTable has extrapolation {extrapolation!r}. Give one of {EXTRAPOLATIONS}.")
        self.extrapolation, self.finest = extrapolation, BETWEEN * float(np.diff(self.t).min())
        from scipy.interpolate import CubicSpline  # here: SciPy takes time to load

        try:
            with np.errstate(over="ignore", invalid="ignore"):
                self.pieces = np.ascontiguousarray(CubicSpline(self.t, self.y).c.T)  # c3, c2, c1, c0 of each interval
        except ValueError:  # of slopes that are not finite
            self.pieces = np.full((1, 4), np.nan)
        if not np.isfinite(self.pieces).all():
            raise ModelError("TimeTable has no spline with finite slopes through its points. Give smaller values.")
        self.pieces.setflags(write=False)

    def __repr__(self) -> str:
        return f"TimeTable({len(self.t)} points, t from {self.t[0]:.6g} to {self.t[-1]:.6g})"

    def __deepcopy__(self, memo: dict[int, Any]) -> TimeTable:
        return self  # never changes

    def breaks(self, span: tuple[float, float]) -> list[float]:
        """Points where it begins to act, and the ends of the steepest piece that follows.

        Asked is the spline, which swings before a sudden rise, yet not at the points.
        """
        h = np.diff(self.t)
        middle = (self.pieces * np.stack([h**3 / 8.0, h**2 / 4.0, h / 2.0, np.ones_like(h)], axis=1)).sum(axis=1)
        change = np.abs(middle - self.y[:-1]) + np.abs(self.y[1:] - middle)
        starts = onsets(change, SMALL_VALUE * float(np.abs(self.y).max()))
        steepest = [k + int(np.argmax(change[k : k + 2 * QUIET])) for k in starts]
        return self.t[sorted({*starts, *steepest, *(k + 1 for k in steepest)})].tolist()

    def _at(self, t: float) -> tuple[float, float, float]:
        """Value and two derivatives."""
        start, end = float(self.t[0]), float(self.t[-1])
        at, slack = min(max(t, start), end), SLACK * (end - start)
        if at != t and self.extrapolation == "error" and not start - slack <= t <= end + slack:
            raise ModelError(f"{self!r} has no value at t = {t!r}. Add points, or let it extrapolate.")
        k = min(int(np.searchsorted(self.t, at, side="right")) - 1, len(self.pieces) - 1)
        c3, c2, c1, c0 = self.pieces[k].tolist()
        s = at - float(self.t[k])
        value, slope = c0 + s * (c1 + s * (c2 + s * c3)), c1 + s * (2.0 * c2 + 3.0 * s * c3)
        if at != t and self.extrapolation == "constant":
            return value, 0.0, 0.0
        if at != t and self.extrapolation == "linear":
            return value + slope * (t - at), slope, 0.0
        return value, slope, 2.0 * c2 + 6.0 * s * c3

    def __call__(self, t: float) -> float:
        """The value at `t`."""
        return self._at(t)[0]

    def derivative(self, t: float) -> float:
        """The first derivative at `t`."""
        return self._at(t)[1]

    def second_derivative(self, t: float) -> float:
        """The second derivative at `t`."""
        return self._at(t)[2]
