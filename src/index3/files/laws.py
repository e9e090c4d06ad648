"""Kinds of fields that hold functions: of time, and laws of forces. Formulas and tables, never code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field as Checked

from index3.bodies.smooth import Components
from index3.bodies.time_functions import Constant
from index3.errors import ModelError
from index3.fields import Dimension
from index3.files.expressions import LONGEST, Expression
from index3.files.kinds import LEFT_OUT, Float, Floats, Kind, Place, Strict
from index3.files.time_table import TimeTable
from index3.forces.curve import Curve

Formula = Annotated[str, Checked(min_length=1, max_length=LONGEST)]
Extrapolation = Literal["linear", "constant", "error"]


class ExpressionEntry(Strict):
    """A formula of t, or of another `variable`."""

    expression: Formula
    variable: str = LEFT_OUT


class TimePoints(Strict):
    """Points of a function of time; a cubic spline passes through them."""

    t: Floats
    y: Floats
    extrapolation: Extrapolation = LEFT_OUT


class TimeTableEntry(Strict):
    """A function of time by points."""

    table: TimePoints


class LawEntry(Strict):
    """A law as a formula of x, or of another `variable`; `integral` is a formula of its antiderivative."""

    expression: Formula
    variable: str = LEFT_OUT
    integral: Formula = LEFT_OUT


class CurvePoints(Strict):
    """Points of a law."""

    x: Floats
    y: Floats
    interpolation: Literal["monotone", "linear"] = LEFT_OUT
    extrapolation: Extrapolation = LEFT_OUT


class CurveEntry(Strict):
    """A law by points."""

    table: CurvePoints


Timed = Float | ExpressionEntry | TimeTableEntry
FUNCTION_WORDS = "a number, {expression: '...'} or {table: {t, y}}"


def read_function(value: Any, place: Place, factor: float) -> Any:
    """A number or function of time from a checked entry."""
    if not isinstance(value, dict):
        return factor * value
    time = place.factor("time")
    if "expression" in value:
        return Expression(value["expression"], value.get("variable", "t")).scaled(factor, time)
    table = value["table"]
    settings = {key: word for key, word in table.items() if key == "extrapolation"}
    return TimeTable(time * np.array(table["t"], float), factor * np.array(table["y"], float), **settings)


def write_function(value: Any, place: Place) -> Any:
    """A number or function of time as it stands in a file."""
    if isinstance(value, Constant):
        return float(value.value)
    if isinstance(value, Expression):
        return {"expression": value.text} | ({} if value.variable == "t" else {"variable": value.variable})
    if isinstance(value, TimeTable):
        table = {"t": value.t.tolist(), "y": value.y.tolist()}
        return {"table": table | ({} if value.extrapolation == "error" else {"extrapolation": value.extrapolation})}
    if callable(value):
        raise ModelError("a file cannot hold a Python function. Give an Expression or a TimeTable.")
    return float(value)


@dataclass(frozen=True)
class TimeFunction(Kind):
    """A number, or a function of time."""

    type: Any = Timed
    wanted: str = FUNCTION_WORDS
    dimension: Dimension = None

    def read(self, value: Any, place: Place) -> Any:
        """The number or function in SI."""
        return read_function(value, place, place.factor(self.dimension))

    def write(self, value: Any, place: Place) -> Any:
        """The entry."""
        return write_function(value, place)


@dataclass(frozen=True)
class TimeVector(Kind):
    """Three numbers or functions of time."""

    type: Any = Annotated[list[Timed], Checked(min_length=3, max_length=3)]
    wanted: str = f"three, each {FUNCTION_WORDS}"
    dimension: Dimension = None

    def read(self, value: Any, place: Place) -> Any:
        """Three numbers or functions in SI."""
        factor = place.factor(self.dimension)
        return [read_function(part, place, factor) for part in value]

    def write(self, value: Any, place: Place) -> Any:
        """The three entries."""
        if isinstance(value, Components):
            return [write_function(part, place) for part in value.parts]
        if callable(value):
            raise ModelError("a file cannot hold a Python function. Give three numbers, Expressions or TimeTables.")
        return np.asarray(value, float).tolist()


@dataclass(frozen=True)
class Law(Kind):
    """A number, its dimension out/by; or a curve with y of the dimension `out` and x of `by`."""

    type: Any = Float | LawEntry | CurveEntry
    wanted: str = "a number, {table: {x, y}} or {expression: '...'}"
    out: str = "1"
    by: str = "1"

    def read(self, value: Any, place: Place) -> Any:
        """The number or curve in SI."""
        out, by = place.factor(self.out), place.factor(self.by)
        if not isinstance(value, dict):
            return value * out / by
        if "table" in value:
            table = dict(value["table"])
            x, y = by * np.array(table.pop("x"), float), out * np.array(table.pop("y"), float)
            return Curve(x, y, **table)
        f = Expression(value["expression"], value.get("variable", "x"))
        integral = value.get("integral")
        if integral is not None:
            integral = Expression(integral, f.variable).scaled(out * by, by)
        f = f.scaled(out, by)
        return Curve.from_function(f, integral=integral)

    def write(self, value: Any, place: Place) -> Any:
        """The number, or the entry of the curve."""
        if not isinstance(value, Curve):
            return float(value)
        if value.functions is None:
            data = value.to_dict()
            usual = {"interpolation": "monotone", "extrapolation": "linear"}
            return {"table": {key: part for key, part in data.items() if usual.get(key) != part}}
        f, df, integral = value.functions
        if not isinstance(f, Expression) or df != f.derivative or not isinstance(integral, Expression | None):
            raise ModelError(
                "a file cannot hold a curve of Python functions. Make a table of it with tabulate(x), or give "
                "Curve.from_function an Expression."
            )
        entry = {"expression": f.text} | ({} if f.variable == "x" else {"variable": f.variable})
        return entry if integral is None else entry | {"integral": integral.text}


Row = Annotated[list[Float], Checked(min_length=3, max_length=6)]
Rows = Annotated[list[Row], Checked(min_length=3, max_length=6)]


@dataclass(frozen=True)
class Laws(Kind):
    """Of a bushing: three or six laws, or a matrix; the last three of six are about the axes."""

    type: Any = Annotated[list[Law.type], Checked(min_length=3, max_length=6)] | Rows
    wanted: str = "three or six laws (numbers, {table: {x, y}} or {expression: '...'}), or a 3x3 or 6x6 matrix"
    rate: str = ""

    def pairs(self) -> list[tuple[str, str]]:
        """What each direction gives, by what."""
        return [("force", f"length{self.rate}")] * 3 + [("force*length", f"angle{self.rate}")] * 3

    def read(self, value: Any, place: Place) -> Any:
        """Laws or rows of a matrix in SI."""
        if isinstance(value[0], list):
            out, by = ([place.factor(pair[k]) for pair in self.pairs()] for k in (0, 1))
            return [[x * out[i] / by[j] for j, x in enumerate(row)] for i, row in enumerate(value)]
        return [Law(out=out, by=by).read(x, place) for x, (out, by) in zip(value, self.pairs(), strict=False)]

    def write(self, value: Any, place: Place) -> Any:
        """Laws, or the rows of the matrix."""
        rows = self.argument(value)
        return rows.tolist() if isinstance(rows, np.ndarray) else [Law().write(law, place) for law in rows]

    def argument(self, value: Any) -> Any:
        """Laws, or the matrix; `value` is (matrix, laws, number of directions)."""
        matrix, laws, size = value
        part = matrix[:size, :size]
        if np.any(part - np.diag(np.diag(part))):
            return part
        return [law if isinstance(law, Curve) else slope for law, slope in zip(laws, np.diag(part), strict=False)]


@dataclass(frozen=True)
class Six(Kind):
    """Of a bushing: three or six numbers, the last three of another dimension."""

    type: Any = Row | Literal["initial"]
    wanted: str = "three or six numbers"
    first: str = "1"
    last: str = "1"

    def read(self, value: Any, place: Place) -> Any:
        """The numbers in SI, or a word as it is."""
        if isinstance(value, str):
            return value
        return [x * place.factor(self.first if k < 3 else self.last) for k, x in enumerate(value)]

    def write(self, value: Any, place: Place) -> Any:
        """The numbers."""
        return np.asarray(value, float).tolist()
