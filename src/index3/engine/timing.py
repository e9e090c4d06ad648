"""CPU seconds of a run by part: set-up, steps, output."""

from __future__ import annotations

import time


class CpuSeconds:
    """CPU seconds of this thread since the start, by part. The clock is read where another part begins: that takes as
    long as some steps of a small model."""

    def __init__(self) -> None:
        self.spent = {"setup": 0.0, "steps": 0.0, "output": 0.0}
        self._now, self._since = "setup", time.thread_time()

    def enter(self, part: str) -> None:
        """What is done from now on counts as this part."""
        if part != self._now:
            self._charge()
            self._now = part

    def _charge(self) -> None:
        """Charge what was spent to the present part."""
        now = time.thread_time()
        self.spent[self._now] += now - self._since
        self._since = now

    def stats(self) -> dict[str, float]:
        """The seconds so far, by the names of `Result.stats`."""
        self._charge()
        return {f"seconds_{part}": seconds for part, seconds in self.spent.items()}
