"""Lets Python look up from the compiled steps of a run: ten times a second, and at once upon Ctrl-C.

Compiled loops see a flag in the run's table before every step. When they return says nothing about what they compute.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Container
from contextlib import suppress
from typing import Any

from index3.methods import run
from index3.methods.run_table import Run

try:  # those of `signal` look numbers up in enumerations, which takes 12 us a run
    from _signal import getsignal  # type: ignore[import-not-found]
    from _signal import signal as set_signal
except ImportError:  # of another Python
    from signal import getsignal
    from signal import signal as set_signal

SIGINT = int(signal.SIGINT)


class Ticker:
    """A thread, shared by all runs, that asks those under way to return every so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.watches: set[Watch] = set()
        self.wanted = threading.Event()
        self.thread: threading.Thread | None = None

    def add(self, watch: Watch) -> None:
        """Ask a run from now on."""
        self.watches.add(watch)
        if not self.wanted.is_set():  # else the thread is up, and sees this watch
            self.wanted.set()
        if self.thread is None:
            self.thread = threading.Thread(target=self.tick, name="index3 ticker", daemon=True)
            self.thread.start()

    def tick(self) -> None:
        """Ask again and again; wait while there is no run."""
        while True:
            self.wanted.clear()
            if not self.watches:  # looked at after `clear`, so that no run is missed
                self.wanted.wait()
            time.sleep(self.seconds)
            for watch in list(self.watches):
                watch.request_return()


TICKER = Ticker(0.1)  # progress and Ctrl-C feel immediate


def begin_anew() -> None:
    """A forked process has no threads but its own."""
    global TICKER
    TICKER = Ticker(TICKER.seconds)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_anew)


def interrupt_runs(threads: Container[int | None]) -> None:
    """Let Ctrl-C end the runs under way in threads with these identities: it is raised in the main thread alone."""
    for watch in list(TICKER.watches):
        if watch.thread in threads:
            watch.interrupt()


class Watch:
    """Asks the run under way to return to Python, while it is entered.

    In the main thread, Ctrl-C is noted instead of raised, and the run ends before its next step: raised in a function
    that compiled code calls, it would be lost. It is raised where nothing compiled is under way, in the user's callback
    and progress function, and when it comes a second time. A handler of the user's own is left in place.

    Attributes
    ----------
    interrupted : whether Ctrl-C was noted
    thread : identity of the thread in which the run is
    """

    def __init__(self, present: Callable[[], Run]) -> None:
        self.present = present  # the run that steps now; segments change
        self.interrupted, self.inside, self.outside, self.thread = False, False, False, 0

    def __enter__(self) -> Watch:
        self.thread = threading.get_ident()
        TICKER.add(self)
        main = threading.current_thread() is threading.main_thread()
        self.replaced = main and getsignal(SIGINT) is signal.default_int_handler
        if self.replaced:
            set_signal(SIGINT, self.note)
        return self

    def __exit__(self, *_: object) -> None:
        if self.replaced:
            set_signal(SIGINT, signal.default_int_handler)
        TICKER.watches.discard(self)

    def stepping(self) -> Stepping:
        """While a method steps: Ctrl-C lets functions of the user fail, so that no step has to be finished."""
        return Stepping(self)

    def showing(self) -> Showing:
        """While a function of the user is shown what there is, and nothing compiled is under way."""
        return Showing(self)

    def request_return(self) -> None:
        """Ask the run to return before its next step."""
        with suppress(ReferenceError):  # it has just ended
            self.present()[run.LIMITS][run.LOOK_UP] = 1

    def stop_stepping(self) -> None:
        """Ask the run to return at once."""
        self.present().system.interrupt()
        self.request_return()

    def note(self, number: int, frame: Any) -> None:
        """The handler of Ctrl-C."""
        if self.interrupted or self.outside:
            raise KeyboardInterrupt
        self.interrupt()

    def interrupt(self) -> None:
        """Let the run end before its next step."""
        self.interrupted = True
        if self.inside:
            self.stop_stepping()


class Stepping:
    """See `Watch.stepping`; these two are classes, since generators take longer than a short run looks up."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __enter__(self) -> None:
        self.watch.inside = True
        if self.watch.interrupted:  # since the last step
            self.watch.stop_stepping()

    def __exit__(self, *_: object) -> None:
        self.watch.inside = False


class Showing:
    """See `Watch.showing`."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __enter__(self) -> None:
        self.watch.outside = True

    def __exit__(self, *_: object) -> None:
        self.watch.outside = False
