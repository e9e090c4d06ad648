"""What functions of the user raise while compiled code calls them, kept until Python can show it.

A call says nothing of the run it belongs to, but it comes in the run's thread: so errors are kept by thread.
"""

from __future__ import annotations

import threading
from typing import Any


class Failures(threading.local):
    """What functions of the user raised in this thread, and in which function at which argument the last one did."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self.place: tuple[str, float] = ("f", 0.0)

    def keep(self, error: BaseException, what: str, x: float) -> None:
        """Keep the last error until Python can show it."""
        self.errors[:] = [error]
        self.place = (what, x)

    @property
    def ended(self) -> bool:
        """Whether the run is about to end, by KeyboardInterrupt or the like: no function is to be called any more.

        After an error a function is asked again: a smaller step may avoid it.
        """
        return bool(self.errors) and not isinstance(self.errors[-1], Exception)


class Failing:
    """Base of elements with functions of the user; keeps what these raise, thread by thread, until it can be shown."""

    @property
    def failures(self) -> Failures:
        """Of this element, in the thread that asks."""
        return self.__dict__.get("_failures") or self.__dict__.setdefault("_failures", Failures())

    @property
    def failure(self) -> BaseException | None:
        """The last error in this thread."""
        errors = self.failures.errors
        return errors[-1] if errors else None

    @failure.setter
    def failure(self, error: BaseException | None) -> None:
        self.failures.errors[:] = [] if error is None else [error]

    @property
    def failed_in(self) -> tuple[str, float]:
        """The function that failed last in this thread, and its argument."""
        return self.failures.place

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_failures"}  # tracebacks do not travel
