"""Curves inside kernels.

A law of a force is a number (its slope) or a curve. Records hold both, the slope 0 where there is a curve, the number
of the curve NONE where there is none, and kernels add the two. A kind whose elements have curves keeps three more slots
in its table, `curves=(CURVE, 1), pieces=("f8", 2), asked=("f8", 1)`, filled by a `CurveSet`; the last is memory: where
each curve had no finite value when it was last asked, else NaN.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.algebra.cubics import cubic, cubic_area, cubic_slope
from index3.bodies.marker import as_number
from index3.compiled import slots as s
from index3.compiled.failures import Failing
from index3.compiled.interface import JIT, Slot, Table, call_time, helper, plain_address
from index3.errors import Index3Error, ModelError
from index3.forces.curve import STEP, Curve
from index3.forces.force import ForceElement, Place, element_table

NONE = -1
CURVE = np.dtype(
    [
        ("first", "i8"),  # row of its first piece, if it is a table
        ("count", "i8"),
        ("f", "i8"),  # addresses of its functions, NONE if it has none
        ("df", "i8"),
        ("integral", "i8"),
        ("potential", "i8"),  # 1 if its antiderivative is known
        ("zero", "f8"),  # what `integral` gives at 0
    ]
)
BAND = np.dtype([("record", "i8"), ("axis", "i8"), ("lower", "f8"), ("upper", "f8")])
"""Of an elastic curve with a dead band: the record and, of a bushing, the axis it belongs to; and where it ends."""
C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


class CurvedForce(ForceElement, Failing):
    """Base of the forces whose laws may be curves."""

    def explain(self, stage: str, t: float) -> str:
        """What the function of a curve raised."""
        failure = self.failure
        if isinstance(failure, Index3Error):
            return str(failure)
        if failure is not None:
            what, x = self.failed_in
            raised = f"{type(failure).__name__}: {failure}"
            return f"{self.label}: the function of its {what} raised at x = {x:.6g}, t = {t:.6g}: {raised}"
        return super().explain(stage, t)


def as_law(value: Any, owner: str, what: str) -> float | Curve:
    """A curve as it is, or a finite number."""
    if isinstance(value, Curve):
        return value
    if callable(value):
        raise ModelError(f"{owner} has {what} {short(value)}. Give a number, or a curve: Curve.from_function(f, df).")
    return as_number(value, owner, what)


def as_stiffness(value: Any, owner: str, what: str = "stiffness") -> float | Curve:
    """A curve as it is, or a number of at least 0: a sign that slipped in would blow the motion up."""
    law = as_law(value, owner, what)
    if not isinstance(law, Curve) and law < 0.0:
        raise ModelError(
            f"{owner} has {what} {law}. Give at least 0; for a spring that pushes away on purpose, a falling curve: "
            f"Curve([-1, 1], [{-law:g}, {law:g}])."
        )
    return law


def slope_of(law: float | Curve) -> float:
    """The number of a law that is one, else 0."""
    return 0.0 if isinstance(law, Curve) else law


def has_potential(law: float | Curve) -> bool:
    """Whether a spring with this law has a potential energy."""
    return not isinstance(law, Curve) or law.has_integral


def acts(law: float | Curve) -> bool:
    """Whether a law is more than zero."""
    return isinstance(law, Curve) or law != 0.0


class CurveTable(Table):
    """A table with curves, which owns the callbacks whose addresses it holds."""

    keep: Sequence[Any] = ()
    owners: Sequence[tuple[CurvedForce, str, Curve]] = ()  # of each curve
    asked: Slot
    switches = 0  # numbers that its kernel of the stage "switches" fills

    def explain(self, element: Any, k: int, t: float) -> str | None:
        """Which curve of an element has no value, and where."""
        if element.failure is not None:
            return None
        for (owner, what, curve), x in zip(self.owners, self[self.asked], strict=True):
            if owner is not element or np.isnan(x):
                continue
            if curve.functions is not None:
                return (
                    f"{element.label}: the function of its {what} gave no finite number at x = {x:.6g}, t = {t:.6g}. "
                    "Return finite numbers throughout."
                )
            return (
                f"{element.label} asks the curve of its {what} for x = {x:.6g} at t = {t:.6g}, but its table goes "
                f"from {curve.x[0]:.6g} to {curve.x[-1]:.6g}. Add points, or let it extrapolate."
            )
        return None


class CurveSet:
    """Collects the curves of all elements of a kind."""

    def __init__(self) -> None:
        self.records: list[tuple[Any, ...]] = []
        self.pieces: list[np.ndarray] = [np.zeros((0, 6))]
        self.keep: list[Any] = []
        self.owners: list[tuple[CurvedForce, str, Curve]] = []

    def add(self, owner: CurvedForce, what: str, law: float | Curve) -> int:
        """The number of a law that is a curve, else NONE."""
        if not isinstance(law, Curve):
            return NONE
        f, df, integral, zero = NONE, NONE, NONE, 0.0
        if law.functions is not None:
            f, df, integral = (NONE if g is None else self.address(owner, what, g) for g in law.functions)
            zero = 0.0 if law.functions[2] is None else float(law.functions[2](0.0))
        first = sum(map(len, self.pieces))
        self.pieces.append(law.pieces)
        self.records.append((first, len(law.pieces), f, df, integral, int(law.has_integral), zero))
        self.owners.append((owner, what, law))
        return len(self.records) - 1

    def address(self, owner: CurvedForce, what: str, function: Any) -> int:
        """Address of a user's function of one number."""
        if hasattr(function, "py_func"):
            if JIT:
                self.keep.append(compile_for(owner, what, function))
                return self.keep[-1].address
            function = function.py_func
        value = guarded(owner, what, function)
        if not JIT:
            return plain_address(value)
        callback = C_FUNCTION(value)
        self.keep.append(callback)
        return ctypes.cast(callback, ctypes.c_void_p).value or 0

    def fill(self, table: CurveTable, curves: Slot, pieces: Slot, asked: Slot) -> None:
        """Put the curves into a table."""
        table.keep, table.owners, table.asked = self.keep, self.owners, asked
        table[curves] = np.array(self.records, CURVE)
        table[pieces] = np.ascontiguousarray(np.concatenate(self.pieces))
        table[asked] = np.full(len(self.records), np.nan)
        for owner, _, _ in self.owners:
            owner.failure = None


def law_table(size: int, slots: Sequence[Slot], elements: Sequence[Any], places: Sequence[Place]) -> CurveTable:
    """A table with `size` slots for elements with two laws, `stiffness` and `damping`.

    `slots` are those of the records, the three of curves and that of dead bands; numbers of curves go into the
    records' fields `elastic` and `viscous`.
    """
    result, curves = CurveTable(size), CurveSet()
    result[slots[0]] = records = element_table(slots[0], elements, places)[slots[0]]
    for k, element in enumerate(elements):
        records["elastic"][k] = curves.add(element, "stiffness", element.stiffness)
        records["viscous"][k] = curves.add(element, "damping", element.damping)
    curves.fill(result, *slots[1:4])
    fill_bands(result, slots[4], [(k, 0, element.stiffness) for k, element in enumerate(elements)])
    return result


def fill_bands(table: CurveTable, slot: Slot, laws: Sequence[tuple[int, int, float | Curve]]) -> None:
    """Put the dead bands of elastic laws, each with its record and axis, into a table."""
    bands = [(k, axis, law.dead_band) for k, axis, law in laws if isinstance(law, Curve)]
    table[slot] = np.array([(k, axis, *band) for k, axis, band in bands if band is not None], BAND)
    table.switches = len(table[slot])


def guarded(owner: CurvedForce, what: str, function: Any) -> Any:
    """A function of x that keeps what `function` raises and returns NaN, since nothing may pass through kernels."""

    failures = owner.failures

    def value(x: float) -> float:
        if failures.ended:
            return np.nan
        try:
            return float(function(x))
        except BaseException as error:  # KeyboardInterrupt too: ctypes would print it and go on
            failures.keep(error, what, x)
            return np.nan

    return value


def compile_for(owner: CurvedForce, what: str, function: Any) -> Any:
    """A Numba-compiled function of an element as a C function."""
    from numba.core.errors import NumbaError

    try:
        return compile_function(function)
    except (NumbaError, TypeError) as error:  # TypeError: an explicit signature that does not fit
        raise ModelError(f"{owner.label}: Numba could not compile the function of its {what}. {error}") from error


@functools.lru_cache(maxsize=256)  # elements may share a function; compiling it takes about half a second
def compile_function(function: Any) -> Any:
    """A C function of one double around a Numba-compiled one."""
    import numba

    def run(x):
        y = np.nan
        try:
            y = float(function(x))
        except Exception:
            y = np.nan
        return y

    return numba.cfunc("float64(float64)")(run)


@helper
def clearance(band, x):
    """How far a coordinate is from the nearer end of a dead band, negative where the element acts."""
    return min(band.upper - x, x - band.lower)


@helper
def is_curved(record):
    """Whether an element of a `law_table` has curves."""
    return record.elastic >= 0 or record.viscous >= 0


@helper
def find_piece(pieces, first, count, x):
    """The row of the piece that x lies in: row `first` is left of the table."""
    low, high = first, first + count
    while high - low > 1:
        middle = (low + high) // 2
        if pieces[middle, 0] <= x:
            low = middle
        else:
            high = middle
    return low


@helper
def curve_value(curves, pieces, asked, c, x):
    """The value of curve c at x."""
    if curves[c].f >= 0:
        y = call_time(curves[c].f, x)
    else:
        k = find_piece(pieces, curves[c].first, curves[c].count, x)
        y = cubic(pieces[k, 1], pieces[k, 2], pieces[k, 3], pieces[k, 4], x - pieces[k, 0])
    asked[c] = np.nan if abs(y) < 1e300 else x  # also if y is NaN
    return y


@helper
def curve_slope(curves, pieces, c, x):
    """The derivative of curve c at x."""
    if curves[c].df >= 0:
        return call_time(curves[c].df, x)
    if curves[c].f >= 0:
        h = STEP * max(1.0, abs(x))
        return (call_time(curves[c].f, x + h) - call_time(curves[c].f, x - h)) / (2.0 * h)
    k = find_piece(pieces, curves[c].first, curves[c].count, x)
    return cubic_slope(pieces[k, 2], pieces[k, 3], pieces[k, 4], x - pieces[k, 0])


@helper
def curve_integral(curves, pieces, c, x):
    """The antiderivative of curve c at x, for curves that have one."""
    if curves[c].integral >= 0:
        return call_time(curves[c].integral, x) - curves[c].zero
    k = find_piece(pieces, curves[c].first, curves[c].count, x)
    area = cubic_area(pieces[k, 1], pieces[k, 2], pieces[k, 3], pieces[k, 4], x - pieces[k, 0])
    return pieces[k, 5] + area


@helper
def value_of(curves, pieces, asked, c, x):
    """The value of curve c at x, 0 where there is none."""
    return curve_value(curves, pieces, asked, c, x) if c >= 0 else 0.0


@helper
def slope_at(curves, pieces, c, x):
    """The derivative of curve c at x, 0 where there is none."""
    return curve_slope(curves, pieces, c, x) if c >= 0 else 0.0


@helper
def add_curve_energy(values, curves, pieces, asked, c, x, rate):
    """Add what a spring that pulls back with a curve's value at x stores; without a potential, its power."""
    if curves[c].potential == 1:
        values[s.POTENTIAL] += curve_integral(curves, pieces, c, x)
    else:
        values[s.POWER] -= curve_value(curves, pieces, asked, c, x) * rate
