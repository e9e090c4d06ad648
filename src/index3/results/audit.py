"""What was checked of a run, against which bounds, and with what margin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from index3.errors import ModelError
from index3.record import Record

ADVICE = "give a smaller rtol or step, or another method."


class Check(NamedTuple):
    """One quantity of a run: its worst value and the bound for it; an infinite bound reports only."""

    name: str
    value: float
    bound: float = math.inf
    unit: str = ""
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the value is within its bound; one that is no number is not."""
        return self.value <= self.bound

    @property
    def margin(self) -> float:
        """How many times the value would fit into its bound."""
        return self.bound / self.value if self.value > 0.0 else math.inf


class RunAudit(Record, frozen=True, eq=True):
    """The checks of a run; prints as a table.

    Attributes
    ----------
    checks : one `Check` per quantity; `audit["energy"]` finds one by name
    """

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every value is within its bound."""
        return all(check.ok for check in self.checks)

    @property
    def worst(self) -> Check:
        """The check with the least margin."""
        return min(self.checks, key=lambda check: check.margin if check.ok else -1.0)

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise ModelError(f"audit: '{name}' was not checked. Checked were {', '.join(x.name for x in self.checks)}.")

    def line(self) -> str:
        """The audit in one line."""
        missed = [check.name for check in self.checks if not check.ok]
        if missed:
            return f"audit: out of bounds: {', '.join(missed)}"
        bounded = [check for check in self.checks if check.bound < math.inf]
        worst = min(bounded, key=lambda check: check.margin, default=None)
        least = "" if worst is None else f", least margin {worst.margin:.2g} ({worst.name})"
        return f"audit: {len(bounded)} bounds kept{least}"

    def __str__(self) -> str:
        lines = [f"{'checked':<24}{'worst':>12}{'bound':>12}{'margin':>10}"]
        for check in self.checks:
            bounded = check.bound < math.inf
            bound, margin = (f"{check.bound:.3g}", f"{check.margin:.2g}") if bounded else ("-", "-")
            verdict = "" if check.ok else "  OUT OF BOUNDS"
            label = f"{check.name} [{check.unit}]" if check.unit else check.name
            note = f"  {check.note}" if check.note else ""
            lines.append(f"{label:<24}{check.value:>12.3g}{bound:>12}{margin:>10}{verdict}{note}")
        return "\n".join(lines)

    def to_list(self) -> list[dict[str, Any]]:
        """Plain numbers and words, for files."""
        return [check._asdict() for check in self.checks]

    @classmethod
    def from_list(cls, data: Iterable[Mapping[str, Any]]) -> RunAudit:
        """The audit that `to_list` described."""
        return cls(tuple(Check(**check) for check in data))
