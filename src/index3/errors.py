"""Errors of index3: each message names the element, says what is wrong and what to do."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from index3.results.result import Result

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
LONGEST = 900
"""Characters of a message: the values that users give stand in it, and may be of any length."""
MOST_LINES = 20
"""Lines of one kind in a report: models may have hundreds of bodies."""


def shortened(text: str) -> str:
    """A text without its middle if it is long: what it is about stands at its head, what to do at its end.

    >>> len(shortened("There is no body '" + 100_000 * "x" + "'. There are: 'ground'.")) <= LONGEST
    True
    """
    if len(text) <= LONGEST:
        return text
    head, tail = LONGEST // 2, LONGEST // 3
    return f"{text[:head]} ... ({len(text) - head - tail} characters left out) ... {text[-tail:]}"


def first_lines(lines: list[str], where: str) -> list[str]:
    """Lines of a report, without those beyond the first `MOST_LINES`; `where` the others are found.

    >>> first_lines([f"  line {k}" for k in range(30)], ".moved")[-2:]
    ['  line 19', '  and 10 more: .moved']
    """
    if len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], f"  and {len(lines) - MOST_LINES} more: {where}"]


class Index3Error(Exception):
    """Base of every error that index3 raises on purpose; a long message is shortened."""

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(shortened(message) if isinstance(message, str) else message, *more)


class ModelError(Index3Error, ValueError):
    """The description of a mechanism, or a setting, is wrong."""


class AssemblyError(Index3Error):
    """No consistent position, velocity or acceleration could be found."""


class SingularError(Index3Error):
    """The equations have no unique solution where one is needed."""


class SimulationFailed(Index3Error):
    """A run ended early; `result` holds everything computed up to the failure."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class FileError(Index3Error, OSError):
    """A file cannot be written; also an `OSError`."""

    def __str__(self) -> str:  # OSError would print errno and strerror
        return str(self.args[0])


def warn(text: str) -> None:
    """Warn at the line of the user's own code that led here, however many functions of the package lie between."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(shortened(text), stacklevel=level)
