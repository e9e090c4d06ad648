"""How much a piece of Python does, in calls: a count that a busy machine does not change."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def count_calls(function: Callable[[], Any]) -> tuple[int, Any]:
    """Calls of functions, Python's and built-in ones, while one runs; and its answer."""
    calls = 0

    def notice(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        answer = function()
    finally:
        sys.setprofile(before)
    return calls, answer
