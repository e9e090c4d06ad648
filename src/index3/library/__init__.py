"""Mechanisms ready to run: each is a function that returns a new Model.

>>> from index3 import library
>>> model = library.four_bar(speed=3.0)
>>> "chain" in library.names()
True

A mechanism is imported when it is first asked for: a pendulum needs neither beams nor tyres.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from index3.library.ancf_pendulum import ancf_pendulum
    from index3.library.andrews import andrews
    from index3.library.atv import atv
    from index3.library.belt_drive import belt_drive
    from index3.library.chain import chain
    from index3.library.crawler_track import crawler_track
    from index3.library.double_pendulum import double_pendulum
    from index3.library.flexible_slider_crank import flexible_slider_crank
    from index3.library.four_bar import four_bar
    from index3.library.free_double_pendulum import free_double_pendulum
    from index3.library.hmmwv14 import hmmwv14
    from index3.library.hmmwv50 import hmmwv50
    from index3.library.iltis import iltis
    from index3.library.mass_spring import mass_spring
    from index3.library.parallelogram import parallelogram
    from index3.library.pendulum import pendulum
    from index3.library.slider_crank import slider_crank
    from index3.library.spinning_top import spinning_top

__all__ = [
    "ancf_pendulum",
    "andrews",
    "atv",
    "belt_drive",
    "chain",
    "crawler_track",
    "double_pendulum",
    "flexible_slider_crank",
    "four_bar",
    "free_double_pendulum",
    "hmmwv14",
    "hmmwv50",
    "iltis",
    "mass_spring",
    "names",
    "parallelogram",
    "pendulum",
    "slider_crank",
    "spinning_top",
]


def names() -> list[str]:
    """Return the names of all mechanisms, in alphabetical order."""
    return [name for name in __all__ if name != "names"]


class _Library(ModuleType):
    """The package `index3.library`. A mechanism and its module share one name: the function stands for both."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in names():  # an import puts the module here
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in names():
            raise AttributeError(f"module 'index3.library' has no attribute {name!r}. There are: {', '.join(names())}.")
        found: Callable[..., Any] = getattr(importlib.import_module(f"index3.library.{name}"), name)
        return found

    def __dir__(self) -> list[str]:
        return list(__all__)


sys.modules[__name__].__class__ = _Library
