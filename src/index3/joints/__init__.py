"""Joints and motions: recipes that list constraint primitives between markers; no formulas.

What a module of this room defines is found here by its name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from index3.names import ELEMENTS


def __getattr__(name: str) -> Any:
    own = [home for home in (place.partition(":")[0] for place in ELEMENTS.values()) if home.startswith(f"{__name__}.")]
    first = ELEMENTS.get(name, "").partition(":")[0]
    for home in (first, f"{__name__}.base", *dict.fromkeys(own)):
        if home.startswith(f"{__name__}.") and hasattr(import_module(home), name):
            globals()[name] = getattr(import_module(home), name)  # found directly next time
            return globals()[name]
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
