"""Evaluations beside the steps of a run, for lines of output inside one: they must not change the steps that follow.

A method says while it makes them. An element whose next evaluation starts from what the last one found leaves that as
it was.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import helper, view

ASIDE = s.STATUS_SIZE
"""Place in STATUS behind those of `slots`: 1 while evaluations are beside the steps."""
STATUS_SIZE = ASIDE + 1


@helper
def set_aside(T, value):
    """Say that evaluations from now on are beside the steps (1), or steps again (0)."""
    view(T, s.STATUS)[ASIDE] = value


@helper
def is_aside(T):
    """Whether evaluations are beside the steps."""
    return view(T, s.STATUS)[ASIDE] == 1
