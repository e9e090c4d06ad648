"""Lets Python look up from the compiled steps of a run: ten times a second, and at once upon Ctrl-C.

Compiled loops see a flag in the run's table before every step. When they return says nothing about what they compute.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from index3.methods import run
from index3.methods.runner import Run

TICK = 0.1
"""Seconds between two looks: progress feels immediate, and costs nothing."""


class Watch:
    """Asks the run under way to return to Python, while it is entered.

    In the main thread, a Ctrl-C that comes while a method steps is noted instead of raised, for compiled code would
    lose it; a second one is raised where Python stands. A handler of the user's own is left in place.

    Attributes
    ----------
    interrupted : whether Ctrl-C was noted
    """

    def __init__(self, present: Callable[[], Run]) -> None:
        self.present = present  # the run that steps now; segments change
        self.interrupted, self.inside = False, False
        self.done = threading.Event()

    def __enter__(self) -> Watch:
        self.thread = threading.Thread(target=self.tick, name="index3 watch", daemon=True)
        self.thread.start()
        main = threading.current_thread() is threading.main_thread()
        self.replaced = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self.replaced:
            signal.signal(signal.SIGINT, self.note)
        return self

    def __exit__(self, *_: object) -> None:
        if self.replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self.done.set()
        self.thread.join()

    @contextmanager
    def stepping(self) -> Iterator[None]:
        """While a method steps."""
        self.inside = True
        try:
            yield
        finally:
            self.inside = False

    def tick(self) -> None:
        """Ask for a look again and again."""
        while not self.done.wait(TICK):
            self.present()[run.LIMITS][run.LOOK_UP] = 1

    def note(self, number: int, frame: Any) -> None:
        """The handler of Ctrl-C."""
        if self.interrupted or not self.inside:
            raise KeyboardInterrupt
        self.interrupted = True
        present = self.present()
        present.system.interrupt()
        present[run.LIMITS][run.LOOK_UP] = 1
