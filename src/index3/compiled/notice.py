"""What a user sees while kernels are built: how many, about how long, how far."""

from __future__ import annotations

import os
import sys
import time

from index3.compiled import target

START, EACH = 2.5, 0.5  # seconds: start of a worker, a kernel on one processor; measured, of an idle PC
PERIOD = 10.0  # seconds between two lines in a pipe or a notebook, which cannot be written over


def say(text: str) -> None:
    """Print a line to the user, on a terminal in the place of one that is not finished."""
    before, after = ("\r", "\x1b[K") if sys.stderr.isatty() else ("", "")
    print(f"{before}index3: {text}{after}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A length of time as one says it, for an estimate: to 5 s, or minutes."""
    return f"{max(5, 5 * round(seconds / 5))} s" if seconds < 90 else f"{round(seconds / 60)} minutes"


class Notice:
    """One line on a terminal that follows a build; elsewhere a line at the start, every 10 s and at the end."""

    def __init__(self, count: int) -> None:
        self.count, self.done, self.start = count, 0, time.perf_counter()
        self.told = self.start
        self.live = sys.stderr.isatty()
        self.first = self.start  # when the first kernel was done: before that, workers start
        self.expected = START + EACH * count / min(os.cpu_count() or 1, count)
        made_for = f"once for these sources, Numba {target.version('numba')} and llvmlite {target.version('llvmlite')}"
        kernels = "1 kernel" if count == 1 else f"{count} kernels"
        self.say(f"building {kernels} ({made_for}): about {duration(self.expected)} ...", "" if self.live else "\n")

    def say(self, text: str, end: str) -> None:
        """Print, on a terminal over what was there."""
        before, after = ("\r", "\x1b[K") if self.live else ("", "")
        print(f"{before}index3: {text}{after}", end=end, file=sys.stderr, flush=True)

    def report(self, name: str) -> None:
        """Count a kernel that is done, and say how long the rest will take."""
        self.done += 1
        now = time.perf_counter()
        self.first = now if self.done == 1 else self.first
        if not self.live and now - self.told < PERIOD:
            return
        self.told = now
        rest = self.count - self.done
        left = (now - self.first) * rest / (self.done - 1) if self.done > 1 else self.expected * rest / self.count
        text = f"building kernels: {self.done} of {self.count}, about {duration(left)} left"
        self.say(text + (f" ({name.removeprefix('index3.')})" if self.live else ""), "" if self.live else "\n")

    def finish(self) -> None:
        """The last word."""
        self.say(f"kernels built in {time.perf_counter() - self.start:.0f} s", "\n")
