"""CPU seconds of a run by part: set-up, steps, output."""

from __future__ import annotations

import time


class Part:
    """A part of a run while it lasts; a class of its own, since generators take longer than short parts."""

    def __init__(self, cpu: CpuSeconds, name: str) -> None:
        self.cpu, self.name = cpu, name

    def __enter__(self) -> None:
        self.before = self.cpu.enter(self.name)

    def __exit__(self, *_: object) -> None:
        self.cpu.enter(self.before)


class CpuSeconds:
    """CPU seconds of this thread since the start, by part; the time inside another part is that part's alone."""

    def __init__(self) -> None:
        self.spent = {"setup": 0.0, "steps": 0.0, "output": 0.0}
        self._now, self._since = "setup", time.thread_time()

    def enter(self, part: str) -> str:
        """Charge what was spent to the present part; that part."""
        before, now = self._now, time.thread_time()
        self.spent[before] += now - self._since
        self._now, self._since = part, now
        return before

    def part(self, name: str) -> Part:
        """A context: what is done inside counts as this part."""
        return Part(self, name)

    def stats(self) -> dict[str, float]:
        """The seconds so far, by the names of `Result.stats`."""
        self.enter(self._now)
        return {f"seconds_{part}": seconds for part, seconds in self.spent.items()}
