"""What comes of an experiment: printed numbers beside those found here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from index3.analysis.simulate import simulate
from index3.model.model import Model
from index3.results.result import Result

WIDTH = 56


def motion(model: Model, end: float, method: Any, **settings: Any) -> Result:
    """A run from rest at t = 0 to the end; raises SimulationFailed if it does not get there."""
    return simulate(model, (0.0, end), method, progress=False, on_failure="raise", **settings)


@dataclass(frozen=True)
class Row:
    """One number of a paper.

    Attributes
    ----------
    what : what it is
    printed : as in the paper
    here : as found
    factor : how far the two may be apart, as a factor, and count as the same
    """

    what: str
    printed: float
    here: float
    factor: float = 1.0

    @property
    def agrees(self) -> bool:
        """Whether both are the same, up to the factor."""
        if self.printed == self.here:
            return True
        return self.printed * self.here > 0.0 and 1.0 / self.factor <= self.here / self.printed <= self.factor

    def __str__(self) -> str:
        verdict = "as printed"
        if not self.agrees:
            verdict = f"{self.here / self.printed:.3g} times what is printed" if self.printed else "not as printed"
        elif self.printed != self.here:
            verdict = f"as printed within a factor of {self.factor:g}"
        return f"{self.what:<{WIDTH}}{self.printed:>8.4g}{self.here:>12.4g}  {verdict}"


@dataclass(frozen=True)
class Reproduction:
    """An experiment and its numbers; prints as a table.

    Attributes
    ----------
    title : the paper, and what it shows
    rows : number by number
    remark : what is known about differences
    """

    title: str
    rows: list[Row] = field(default_factory=list)
    remark: str = ""

    def __str__(self) -> str:
        head = f"{'':<{WIDTH}}{'printed':>8}{'here':>12}"
        return "\n".join([self.title, head, *map(str, self.rows), *([self.remark] if self.remark else [])])
