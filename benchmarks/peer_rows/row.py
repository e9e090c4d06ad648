"""A row of the comparison: work that several codes do to the same accuracy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Way:
    """One code with one setting: `run` does the whole work once and returns its error, or None if it has none.

    `clock` gives the CPU seconds used so far; `loop`, if there is one, those of the step loop of the last run.
    """

    setting: str
    run: Callable[[], float | None]
    clock: Callable[[], float] = time.process_time
    loop: Callable[[], float] | None = None


@dataclass(frozen=True)
class Row:
    """Work, and who does it: each name gives the ways to try, of which the cheapest that is accurate enough counts.

    `error` is the largest error allowed; None where codes differ in their physics and only the cost is compared. `goal`
    is the CPU time that index3 is meant to reach, by name [s].
    """

    work: str
    error: float | None
    codes: dict[str, Callable[[], Iterable[Way]]]
    goal: dict[str, float] = field(default_factory=dict)
