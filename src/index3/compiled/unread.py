"""Arguments that a user's function never looks at: nothing depends on them, and no derivative by them is taken."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

ALL_AT_ONCE = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"})
"""Names in a function that may look at its arguments without naming them."""


def unread(function: Any, names: Sequence[str]) -> frozenset[str]:
    """Those of its arguments, t and those called `names` here, that the code of a function never mentions.

    None of them for anything but a plain function of that many arguments (or one compiled by Numba).

    >>> sorted(unread(lambda t, r, A, out: out.fill(r[0, 2]), ("r", "A", "out")))
    ['A', 't']
    """
    plain, names = getattr(function, "py_func", function), ("t", *names)
    if type(plain) is not FunctionType or plain.__code__.co_argcount < len(names):
        return frozenset()
    code: CodeType = plain.__code__
    if ALL_AT_ONCE & set(code.co_names):
        return frozenset()
    mentioned = mentioned_in(code)
    return frozenset(name for name, own in zip(names, code.co_varnames, strict=False) if own not in mentioned)


@lru_cache(maxsize=256)
def mentioned_in(code: CodeType) -> frozenset[str]:
    """Names that the instructions of a function mention."""
    mentioned: set[str] = set()
    for instruction in dis.get_instructions(code):  # later versions name two in one instruction
        value = instruction.argval
        mentioned.update(value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ())
    return frozenset(mentioned)


def looks_at(function: Any, names: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...]:
    """For each of some arguments 0 if the function never looks at it, else 1."""
    never = unread(function, names)
    return tuple(int(name not in never) for name in wanted)
