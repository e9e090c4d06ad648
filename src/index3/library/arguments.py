"""Numbers that mechanisms of the library take."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

from index3.bodies.marker import as_number
from index3.errors import ModelError

MOST = 1_000_000
"""Parts of a mechanism that are made one by one."""


def as_whole(value: Any, owner: str, what: str) -> int:
    """A whole number, which may be given as a float."""
    number = as_number(value, owner, what)
    if number != int(number) or abs(number) > MOST:
        raise ModelError(f"{owner} has {what} {short(value)}. Give a whole number, at most {MOST}.")
    return int(number)
