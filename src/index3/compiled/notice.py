"""What a user sees while kernels are built."""

from __future__ import annotations

import sys
import time

from index3.compiled import target


def say(text: str) -> None:
    """Print a line to the user, on a terminal in the place of one that is not finished."""
    before, after = ("\r", "\x1b[K") if sys.stderr.isatty() else ("", "")
    print(f"{before}index3: {text}{after}", file=sys.stderr, flush=True)


class Notice:
    """One line on a terminal that follows a build; elsewhere one line at the start and one at the end."""

    def __init__(self, count: int) -> None:
        self.count, self.done, self.start = count, 0, time.perf_counter()
        self.live = sys.stderr.isatty()
        made_for = f"once for these sources, Numba {target.version('numba')} and llvmlite {target.version('llvmlite')}"
        self.say(f"building {count} kernels ({made_for}) ...", "" if self.live else "\n")

    def say(self, text: str, end: str) -> None:
        """Print, on a terminal over what was there."""
        before, after = ("\r", "\x1b[K") if self.live else ("", "")
        print(f"{before}index3: {text}{after}", end=end, file=sys.stderr, flush=True)

    def report(self, name: str) -> None:
        """Count a kernel that is done."""
        self.done += 1
        if self.live:
            self.say(f"building kernels: {self.done} of {self.count}, {name.removeprefix('index3.')}", "")

    def finish(self) -> None:
        """The last word."""
        self.say(f"kernels built in {time.perf_counter() - self.start:.0f} s", "\n")
