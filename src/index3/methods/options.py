"""Checks of a method's settings: nothing out of range passes, nothing is clamped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from index3.errors import ModelError


def check_range(owner: str, name: str, value: Any, low: float, high: float, whole: bool = False) -> None:
    """Raise unless `value` is a number from `low` to `high` (a whole one if asked for)."""
    word = "a whole number" if whole else "a number"
    is_number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= float(value) <= high:
        raise ModelError(f"{owner}: {name} = {value!r}. Give {word} from {low:.6g} to {high:.6g}.")


def check_choice(owner: str, name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise unless `value` is one of the choices."""
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        raise ModelError(f"{owner}: {name} = {value!r}. Choose {' or '.join(map(repr, choices))}.")
