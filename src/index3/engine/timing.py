"""CPU seconds of a run by part: set-up, steps, output."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class CpuSeconds:
    """CPU seconds of this thread since the start, by part; the time inside another part is that part's alone."""

    def __init__(self) -> None:
        self.spent = {"setup": 0.0, "steps": 0.0, "output": 0.0}
        self._now, self._since = "setup", time.thread_time()

    def _enter(self, part: str) -> str:
        """Charge what was spent to the present part; that part."""
        before, now = self._now, time.thread_time()
        self.spent[before] += now - self._since
        self._now, self._since = part, now
        return before

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what is done inside as this part."""
        before = self._enter(name)
        try:
            yield
        finally:
            self._enter(before)

    def stats(self) -> dict[str, float]:
        """The seconds so far, by the names of `Result.stats`."""
        self._enter(self._now)
        return {f"seconds_{part}": seconds for part, seconds in self.spent.items()}
