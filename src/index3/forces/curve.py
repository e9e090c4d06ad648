"""Curves: functions of one variable from a table or from a user's function, with slope and antiderivative.

A table becomes cubic pieces y = a0 + s (a1 + s (a2 + s a3)), s = x - x_ref, one for each interval and one on either
side for what lies beyond, so that kernels know nothing of interpolation. Monotone pieces are those of F. N. Fritsch and
R. E. Carlson, SIAM J. Numer. Anal. 17 (1980) 238-246, with the slopes of F. N. Fritsch and J. Butland, SIAM J. Sci.
Stat. Comput. 5 (1984) 300-304, as SciPy computes them: they have a continuous slope and no extrema of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.algebra.cubics import cubic, cubic_area, cubic_slope
from index3.bodies.marker import as_choice
from index3.bodies.smooth import derivatives_of
from index3.element_type import ElementType
from index3.errors import ModelError, warn

if TYPE_CHECKING:
    from index3.user_types import ArrayLike

INTERPOLATIONS = ("monotone", "linear")
EXTRAPOLATIONS = ("linear", "constant", "error")
# Step of the central differences for functions without df, relative to max(1, |x|): truncation (h^2) and rounding
# (eps / h) are both below 1e-9 of a function that is smooth on the scale of 1.
STEP = 1e-6


class Curve(metaclass=ElementType):
    """A function of one variable from a table of points; `Curve.from_function` takes a function instead.

    Parameters
    ----------
    x, y : at least two numbers each; x increases. The curve passes through all points.
    interpolation : "monotone": cubic pieces with a continuous slope that rise and fall only where the points do;
        "linear": straight lines, whose slope jumps at the points
    extrapolation : beyond the first and last point: "linear": on with the slope there; "constant": their values;
        "error": a force that asks for such a value ends the run, named, with the value

    The units are those of the element that uses it. A curve never changes once made.

    Raises
    ------
    ModelError : says which number is wrong.

    >>> damper = Curve([-1.0, 0.0, 1.0], [-800.0, 0.0, 1500.0])
    >>> damper(1.0)
    1500.0
    >>> damper(2.0) > 1500.0
    True
    """

    told: ClassVar[tuple[str, ...]] = ("x", "y", "interpolation", "extrapolation", "functions", "pieces")

    def __init__(
        self, x: ArrayLike, y: ArrayLike, *, interpolation: str = "monotone", extrapolation: str = "linear"
    ) -> None:
        self.x, self.y = numbers(x, "x"), numbers(y, "y")
        if len(self.x) != len(self.y):
            raise ModelError(f"Curve has {len(self.x)} x and {len(self.y)} y. Give one y for each x.")
        if len(self.x) < 2:
            raise ModelError(f"Curve has {len(self.x)} point. Give at least two.")
        check_increasing(self.x, "x")
        as_choice(interpolation, "Curve", "interpolation", INTERPOLATIONS)
        as_choice(extrapolation, "Curve", "extrapolation", EXTRAPOLATIONS)
        self.interpolation, self.extrapolation = interpolation, extrapolation
        self.functions: tuple[Any, Any, Any] | None = None  # f, df, integral of a curve by functions
        self.pieces = table_pieces(self.x, self.y, interpolation, extrapolation)

    @classmethod
    def from_function(
        cls,
        f: Callable[[float], float],
        df: Callable[[float], float] | None = None,
        *,
        integral: Callable[[float], float] | None = None,
    ) -> Curve:
        """A curve by functions of one number.

        Parameters
        ----------
        f : function of x; a plain Python function costs about 1 us a call, one decorated with `numba.njit` is compiled
            into the run
        df : its derivative; without it differences with a step of 1e-6 max(1, |x|) are taken, and a warning given; an
            `Expression` as f brings its own
        integral : its antiderivative, for the potential energy; without it the work of a spring with this curve is
            counted as work

        >>> cube = Curve.from_function(lambda x: x**3, lambda x: 3 * x**2)
        >>> cube(2.0), cube.derivative(2.0)
        (8.0, 12.0)
        """
        for what, function in (("f", f), ("df", df), ("integral", integral)):
            if not callable(function) and (what == "f" or function is not None):
                raise ModelError(f"Curve has {what} {short(function)}. Give a function of one number.")
        df = derivatives_of(f)[0] if df is None else df
        if df is None:
            warn(
                f"Curve of {getattr(f, '__name__', 'a function')} has no df: taken by differences. "
                "Give the derivative for full accuracy.",
            )
        curve = cls.__new__(cls)
        curve.x = curve.y = np.zeros(0)
        curve.interpolation = curve.extrapolation = "function"
        curve.functions, curve.pieces = (f, df, integral), np.zeros((0, 6))
        return curve

    def __repr__(self) -> str:
        if self.functions is not None:
            return f"Curve.from_function({getattr(self.functions[0], '__name__', '...')})"
        return f"Curve({len(self.x)} points, x from {self.x[0]:.6g} to {self.x[-1]:.6g})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Curve:
        return self  # never changes; and its functions need not be copyable

    @property
    def has_integral(self) -> bool:
        """Whether its antiderivative is known, so that a spring with it has a potential energy."""
        return self.functions is None or self.functions[2] is not None

    @property
    def dead_band(self) -> tuple[float, float] | None:
        """The widest range of x in which a table is zero, between its points or beyond them; None if there is none.

        A spring with such a curve is a stop: it does not act until its clearance is used up.
        """
        edges = np.concatenate([[-np.inf], self.x, [np.inf]])
        zero = np.concatenate([[False], (self.pieces[:, 1:5] == 0.0).all(axis=1), [False]])
        starts, ends = (np.flatnonzero(np.diff(zero.astype(int)) == sign) for sign in (1, -1))
        bands = [(float(edges[a]), float(edges[b])) for a, b in zip(starts, ends, strict=True)]
        bands = [(a, b) for a, b in bands if np.isfinite(a) or np.isfinite(b)]
        return max(bands, key=lambda band: band[1] - band[0], default=None)

    def __call__(self, x: ArrayLike) -> float | np.ndarray:
        """The value at a number or an array of numbers.

        Raises
        ------
        ModelError : outside of a table with extrapolation "error".
        """
        return self._evaluate(0, x)

    def derivative(self, x: ArrayLike) -> float | np.ndarray:
        """The slope at x; where straight pieces meet that of the piece to the right."""
        return self._evaluate(1, x)

    def integral(self, x: ArrayLike) -> float | np.ndarray:
        """The antiderivative at x, zero at x = 0 (or at the first point, if a table may not be asked at 0)."""
        if not self.has_integral:
            raise ModelError(f"{self!r} has no antiderivative. Give integral=..., or make a table of it.")
        return self._evaluate(2, x)

    def _evaluate(self, what: int, x: Any) -> Any:
        at = np.asarray(x, float)
        if self.functions is None:
            value = self._from_pieces(what, at)
        else:
            value = np.array([self._from_functions(what, float(one)) for one in at.ravel()]).reshape(at.shape)
        return float(value) if at.ndim == 0 else value

    def _from_pieces(self, what: int, x: np.ndarray) -> np.ndarray:
        if self.extrapolation == "error":
            wrong = x[(x < self.x[0]) | (x > self.x[-1])]
            if wrong.size:
                raise ModelError(
                    f"{self!r} has no value at {float(wrong.flat[0])!r}, and its extrapolation is 'error'."
                )
        rows = self.pieces[np.searchsorted(self.pieces[1:, 0], x, side="right")]
        ref, a0, a1, a2, a3, area = np.moveaxis(rows, -1, 0)
        s = x - ref
        if what == 0:
            return cubic(a0, a1, a2, a3, s)
        return cubic_slope(a1, a2, a3, s) if what == 1 else area + cubic_area(a0, a1, a2, a3, s)

    def _from_functions(self, what: int, x: float) -> float:
        assert self.functions is not None  # for type checkers
        f, df, integral = self.functions
        if what == 2:
            return float(integral(x)) - float(integral(0.0))
        if what == 0:
            return float(f(x))
        h = STEP * max(1.0, abs(x))
        return (float(f(x + h)) - float(f(x - h))) / (2.0 * h) if df is None else float(df(x))

    def tabulate(self, x: ArrayLike, *, interpolation: str = "monotone", extrapolation: str = "linear") -> Curve:
        """A table of this curve's values at x; the rest is as for `Curve`."""
        return Curve(x, self(numbers(x, "x")), interpolation=interpolation, extrapolation=extrapolation)

    def to_dict(self) -> dict[str, Any]:
        """What a file needs to make it again: lists of numbers and words.

        Raises
        ------
        ModelError : it is made of functions.

        >>> Curve.from_dict(Curve([0, 1], [0, 2]).to_dict())
        Curve(2 points, x from 0 to 1)
        """
        if self.functions is not None:
            raise ModelError(f"{self!r} cannot be written: it is made of functions. Make a table with tabulate(x).")
        words = {"interpolation": self.interpolation, "extrapolation": self.extrapolation}
        return {"x": self.x.tolist(), "y": self.y.tolist(), **words}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Curve:
        """The curve that `to_dict` described."""
        return cls(**data)


def check_increasing(x: np.ndarray, what: str, owner: str = "Curve") -> None:
    """Refuse numbers that do not increase."""
    falls = np.flatnonzero(np.diff(x) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise ModelError(
            f"{owner} has {what}[{k + 1}] = {x[k + 1]} after {what}[{k}] = {x[k]}. Give {what} that increase."
        )


def numbers(values: Any, what: str, owner: str = "Curve") -> np.ndarray:
    """A list of finite numbers as an array that cannot be written to."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner} has {what} {short(values)}. Give a list of numbers.") from None
    if array.ndim != 1:
        raise ModelError(f"{owner} has {what} {short(values)}. Give a list of numbers.")
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise ModelError(f"{owner} has {what}[{wrong[0]}] = {array[wrong[0]]}. Give finite numbers.")
    array.setflags(write=False)
    return array


def table_pieces(x: np.ndarray, y: np.ndarray, interpolation: str, extrapolation: str) -> np.ndarray:
    """Rows (x_ref, a0, a1, a2, a3, antiderivative at x_ref): left of the table, its intervals, right of it."""
    n = len(x)
    pieces = np.zeros((n + 1, 6))
    with np.errstate(over="ignore", invalid="ignore"):  # of slopes that are not finite, named below
        if interpolation == "linear":
            pieces[1:n, 2] = np.diff(y) / np.diff(x)
        else:
            from scipy.interpolate import PchipInterpolator

            try:
                pieces[1:n, 2:5] = PchipInterpolator(x, y).c[2::-1].T
            except ValueError:
                pieces[1:n, 2:5] = np.nan
    if not np.isfinite(pieces).all():
        raise ModelError("Curve has no finite slopes between its points. Give smaller values, or points farther apart.")
    pieces[0, 0], pieces[0, 1] = x[0], y[0]
    pieces[1:, 0], pieces[1:, 1] = x, y
    _, a0, a1, a2, a3, _ = pieces[1:n].T
    width = np.diff(x)
    if extrapolation == "linear":
        pieces[0, 2] = a1[0]
        pieces[n, 2] = cubic_slope(a1[-1], a2[-1], a3[-1], width[-1])
    areas = np.concatenate([[0.0], np.cumsum(cubic_area(a0, a1, a2, a3, width))])
    pieces[0, 5], pieces[1:, 5] = areas[0], areas
    if extrapolation != "error" or x[0] <= 0.0 <= x[-1]:  # zero at x = 0
        ref, *a, area = pieces[np.searchsorted(x, 0.0, side="right")]
        pieces[:, 5] -= area + cubic_area(*a, -ref)
    if extrapolation == "error":
        pieces[0, 1:], pieces[n, 1:] = np.nan, np.nan
        pieces[n, 0] = np.nextafter(x[-1], np.inf)  # the last point itself is inside
    pieces.setflags(write=False)
    return pieces
