"""Colours that users give to bodies."""

from __future__ import annotations

import re
from reprlib import repr as short
from typing import Any

from index3.errors import ModelError

NAMES = {
    "black": "#000000", "white": "#ffffff", "gray": "#808080", "grey": "#808080", "silver": "#c0c0c0",
    "red": "#d62728", "orange": "#ff7f0e", "yellow": "#e6c229", "green": "#2ca02c", "blue": "#1f77b4",
    "purple": "#9467bd", "pink": "#e377c2", "brown": "#8c564b", "cyan": "#17becf", "olive": "#bcbd22",
}  # fmt: skip
HEX = r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"


def as_color(value: Any, owner: str) -> str | None:
    """A colour as "#rrggbb"; None for one that the page chooses.

    >>> as_color("#F80", "b"), as_color("red", "b"), as_color((1, 0.5, 0), "b")
    ('#ff8800', '#d62728', '#ff8000')
    """
    if value is None:
        return None
    if isinstance(value, str):
        if value.lower() in NAMES:
            return NAMES[value.lower()]
        if re.fullmatch(HEX, value):
            digits = value[1:].lower()
            return "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))
    else:
        try:
            parts = [float(part) for part in value]
        except (TypeError, ValueError, OverflowError):
            parts = []
        if len(parts) == 3 and all(0.0 <= part <= 1.0 for part in parts):
            return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
    raise ModelError(
        f"{owner} has color {short(value)}. Give '#rrggbb', three numbers from 0 to 1, or one of {', '.join(NAMES)}."
    )
